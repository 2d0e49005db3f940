// lemma/reduce/pca/certify.cpp: a second look at the rows: is S v = λ v, and is nothing larger left out?
#include <fmt/core.h>

#include <cmath>
#include <lemma/core/random.hpp>
#include <lemma/math/blas.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/math/factorise.hpp>
#include <lemma/math/multiply.hpp>
#include <lemma/model/comparison.hpp>
#include <lemma/reduce/pca/parts.hpp>

namespace lemma {
namespace pca {
namespace {

constexpr double kExact = 1e-10, kRandomized = 1e-3;
constexpr Index kWidestSpread = 2048;  // S is made up to this width, and only applied beyond
constexpr Index kTile = 64, kProbes = 8;

/// For products of small matrices beside the scans, which alone say how far the work is.
Execution quiet(const Execution& execution) { return execution.part(1, 1); }

double tolerance_of(const PcaModel& model) { return model.spec.solver == PcaSolver::randomized ? kRandomized : kExact; }

/// Plain sums over the rows about the model's own mean: no merged means, no block means, unlike the fit.
struct Sums {
  double weight = 0;
  Vector shift, squares;

  explicit Sums(Index p) : shift(Vector::Zero(p)), squares(Vector::Zero(p)) {}
  void add(const Matrix& a, const Block& block, Index from) {
    for (Index i = 0; i < a.rows(); ++i) {
      const double w = block.weight_of(from + i);
      weight += w;
      shift += std::sqrt(w) * a.row(i).transpose();
    }
    squares += a.colwise().squaredNorm().transpose();
  }
  void merge(const Sums& other) {
    weight += other.weight;
    shift += other.shift;
    squares += other.squares;
  }
};

/// Σ a aᵀ over the rows a in the frame, tile by tile.
struct Outer : Sums {
  const Frame* frame;
  Matrix upper;

  explicit Outer(const Frame& f) : Sums(f.mean.size()), frame(&f), upper(Matrix::Zero(f.mean.size(), f.mean.size())) {}
  void accumulate(const Block& block) {
    for (Index from = 0; from < block.rows(); from += kTile) {
      const Matrix a = frame->apply(block, from, std::min(kTile, block.rows() - from));
      add(a, block, from);
      blas::gram(a, upper, 1);
    }
  }
  void merge(const Outer& other) {
    Sums::merge(other);
    upper += other.upper;
  }
};

/// Σ a (aᵀ V): S applied to directions, without S.
struct Applied : Sums {
  const Frame* frame;
  const Matrix* directions;
  Matrix sum;

  Applied(const Frame& f, const Matrix& v)
      : Sums(f.mean.size()), frame(&f), directions(&v), sum(Matrix::Zero(v.rows(), v.cols())) {}
  void accumulate(const Block& block) {
    for (Index from = 0; from < block.rows(); from += kTile) {
      const Matrix a = frame->apply(block, from, std::min(kTile, block.rows() - from));
      add(a, block, from);
      Matrix along(a.rows(), sum.cols());
      blas::gemm(blas::Op::plain, a, blas::Op::plain, *directions, along);
      blas::gemm(blas::Op::transposed, a, blas::Op::plain, along, sum, 1, 1);
    }
  }
  void merge(const Applied& other) {
    Sums::merge(other);
    sum += other.sum;
  }
};

Vector variances_of(const PcaModel& model) { return model.sdev.cwiseAbs2(); }

/// The largest variance outside the axes, over λ₁, is at most `excess` above λ_k: (λ_k + excess λ₁) I − (S − VΛVᵀ) has a
/// Cholesky factor. Looked for at the tolerance first and, when that fails, at ten times, a hundred times, …
double excess_outside(const PcaModel& model, const Matrix& spread, double tolerance, const Execution& execution) {
  const Vector lambda = variances_of(model);
  const Matrix outside =
      spread - multiply_transposed(model.loadings * lambda.asDiagonal(), model.loadings, quiet(execution));
  for (double excess = tolerance; excess < 1e6; excess *= 10) {
    Matrix bounded = -outside / lambda(0);
    bounded.diagonal().array() += lambda(lambda.size() - 1) / lambda(0) + excess;
    if (cholesky(bounded)) return excess == tolerance ? 0 : excess;
  }
  return std::numeric_limits<double>::infinity();
}

/// Orthonormal columns, orthogonal to the axes (twice is enough).
Matrix outside_axes(const Matrix& axes, Matrix v, const Execution& execution) {
  for (int again = 0; again < 2; ++again) {
    v -= multiply(axes, transposed_multiply(axes, v, quiet(execution)), quiet(execution));
    v = divide_by_upper(v, triangle_of(v));
  }
  return v;
}

/// S V by a scan, and the greatest variance found outside the axes by one step of subspace iteration on random directions.
Look look_by_application(const PcaModel& model, const Frame& frame, const Rows& rows, const Execution& execution) {
  const Index p = model.width(), k = model.components(), probes = std::min(kProbes, p - k);
  Matrix directions(p, k + probes);
  directions.leftCols(k) = model.loadings;
  if (probes > 0) directions.rightCols(probes) = outside_axes(model.loadings, normal_matrix(p, probes, 2), execution);
  const auto first = fine_scan(rows, Applied(frame, directions), execution.part(0, 0.6));
  Look look;
  look.weight = first.weight;
  look.shift = first.shift;
  look.variances = first.squares / (first.weight - 1);
  look.applied = first.sum.leftCols(k) / (first.weight - 1);
  if (model.spec.center) {
    const Vector off = first.shift / first.weight;
    look.variances -= first.weight / (first.weight - 1) * off.cwiseAbs2();
    look.applied -= first.weight / (first.weight - 1) * off * (off.transpose() * model.loadings);
  }
  const Vector lambda = variances_of(model);
  const double left =
      look.variances.sum() - lambda.sum();  // all that is outside: none of it above λ_k proves the claim
  look.proved = left <= lambda(k - 1) * (1 + kExact) || left <= kExact * lambda(0);
  if (look.proved || probes == 0) return look;
  const Matrix turned = outside_axes(model.loadings, first.sum.rightCols(probes), execution);
  const auto second = fine_scan(rows, Applied(frame, turned), execution.part(0.6, 1));
  const Matrix ritz = transposed_multiply(turned, second.sum / (second.weight - 1), quiet(execution));
  look.missed = std::max(0.0, (symmetric_eigen(ritz, 1).values(0) - lambda(k - 1)) / lambda(0));
  return look;
}

/// How far mean and scale are from those of the rows: the mean in units of the column's spread, beyond the last digits that a
/// mean so large can have.
double frame_error(const PcaModel& model, const Look& look) {
  double worst = 0;
  for (Index j = 0; j < model.width(); ++j) {
    const double digits = 4 * std::numeric_limits<double>::epsilon() * std::abs(model.mean(j)) / model.scale(j);
    const double shift = std::abs(look.shift(j)) / look.weight - digits;
    if (model.spec.center && shift > 0) worst = std::max(worst, shift / std::sqrt(look.variances(j)));
    const bool no_spread = look.variances(j) <= kExact && model.scale(j) == 1;
    if (model.spec.scale && !no_spread) worst = std::max(worst, std::abs(std::sqrt(look.variances(j)) - 1));
  }
  return worst;
}

double axes_error(const PcaModel& model, const Look& look, const Execution& execution) {
  const Vector lambda = variances_of(model);
  const Matrix residual = look.applied / lambda(0) - model.loadings * (lambda / lambda(0)).asDiagonal();
  const Matrix products = transposed_multiply(model.loadings, model.loadings, quiet(execution));
  const double total = look.variances.sum();
  return std::max({residual.colwise().norm().maxCoeff(),
                   (products - Matrix::Identity(products.rows(), products.cols())).cwiseAbs().maxCoeff(),
                   std::abs(total - model.total_variance) / total,
                   (model.explained - lambda / total).cwiseAbs().maxCoeff()});
}

}  // namespace

Look look_at(const PcaModel& model, const Matrix& spread, double weight, const Vector& shift,
             const Execution& execution) {
  Look look;
  look.weight = weight;
  look.shift = shift;
  look.variances = spread.diagonal();
  look.applied = multiply(spread, model.loadings, quiet(execution));
  look.proved = true;
  if (model.components() < model.width()) look.missed = excess_outside(model, spread, tolerance_of(model), execution);
  return look;
}

Look look_at(const PcaModel& model, const Rows& rows, const Execution& execution) {
  const Frame frame{model.mean, model.scale};
  if (model.width() > kWidestSpread) return look_by_application(model, frame, rows, execution);
  auto look = scan(rows, Outer(frame), execution);
  Matrix spread = look.upper.selfadjointView<Eigen::Upper>();
  if (model.spec.center) spread -= look.shift * look.shift.transpose() / look.weight;  // about the mean of these rows
  return look_at(model, spread / (look.weight - 1), look.weight, look.shift, execution);
}

Certificate certificate_of(const PcaModel& model, const Look& look, const Execution& execution) {
  const double axes = axes_error(model, look, execution), frame = frame_error(model, look);
  Certificate out;
  out.strength = look.proved ? Strength::optimal : Strength::stationary;
  out.kind = "eigen-residual";
  out.value = axes + frame + look.missed;  // a sum: one NaN is enough
  out.tolerance = tolerance_of(model);
  out.iterations = model.spec.solver == PcaSolver::randomized ? model.spec.max_iterations : 1;
  out.stopped = model.spec.solver == PcaSolver::randomized ? "passes done" : "closed form";
  const auto advice = model.spec.solver == PcaSolver::randomized ? " Try more passes, or an exact solver." : "";
  if (out.holds())
    out.message = fmt::format("S v = lambda v holds to {:.1e} of the first variance (allowed {:.0e}), and {}.",
                              out.value, out.tolerance,
                              look.proved ? "no direction outside varies more than the last axis"
                                          : "no probed direction outside varies more than the last axis");
  else if (look.missed > out.tolerance)
    out.message = fmt::format(
        "A direction outside the axes varies more than the last axis, by up to {:.1e} of the first variance.{}",
        look.missed, advice);
  else if (frame > out.tolerance)
    out.message = fmt::format("The mean or the scale is not that of these rows: off by {:.1e} (allowed {:.0e}).", frame,
                              out.tolerance);
  else
    out.message = fmt::format("S v = lambda v is off by {:.1e} of the first variance (allowed {:.0e}).{}", out.value,
                              out.tolerance, advice);
  return out;
}

namespace {

/// What the rules say, found anew: all variances through a triangle, in the place of the solver's; the shuffles again.
void compare_rules(Comparison& same, const PcaModel& model, const Rows& rows, const Execution& execution) {
  Pca spec = model.spec;
  spec.components.reset();
  const Ground ground = ground_of(Valid<Pca>(spec), rows, execution.part(0, 0.1));
  const Vector variances = by_svd(rows, ground, execution.part(0.1, 0.3)).variances;
  const Matrix scree =
      scree_of(spec, rows, ground, variances, static_cast<std::uint64_t>(model.seed), execution.part(0.3, 1));
  if (scree.rows() < model.scree.rows()) return same.number("scree", 1, 0, 1);
  for (Index k = 0; k < model.scree.rows(); ++k)
    for (Index rule = 0; rule < 4; ++rule)
      same.entry("scree", 4 * k + rule, model.scree(k, rule), scree(k, rule), scree(0, 0));
  const Vector suggested = suggested_by(model.scree);
  for (Index rule = 0; rule < 3; ++rule) same.entry("suggested", rule, model.suggested(rule), suggested(rule), 1);
}

}  // namespace
}  // namespace pca

Certificate certify(const PcaModel& model, const Rows& rows, const Execution& execution) {
  Certificate out = pca::certificate_of(model, pca::look_at(model, rows, execution), execution);
  if (model.spec.rule && out.holds()) {
    Comparison same;
    pca::compare_rules(same, model, rows, execution.part(1, 1));
    if (same.finding()) same.report(out);
  }
  if (model.seen_mean.size() == 0 || !out.holds()) return out;
  const auto seen = scan(rows, Moments(model.width()), execution.part(1, 1));
  const Matrix scatter = seen.scatter();
  const Vector spread = (scatter.diagonal() / seen.weight()).cwiseSqrt();
  Comparison same;
  same.relative("seen_weight", model.seen_weight, seen.weight());
  for (Index j = 0; j < model.width(); ++j)
    same.entry("seen_mean", j, model.seen_mean(j), seen.mean()(j), spread(j) + 1e-6 * std::abs(seen.mean()(j)));
  for (Index i = 0; i < model.width(); ++i)
    for (Index j = 0; j < model.width(); ++j)
      same.entry("seen_scatter", i * model.width() + j, model.seen_scatter(i, j), scatter(i, j),
                 std::sqrt(scatter(i, i)) * std::sqrt(scatter(j, j)));
  if (same.finding()) same.report(out);
  return out;
}

}  // namespace lemma
