// lemma/reduce/ica.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/random.hpp>
#include <lemma/core/text.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/math/factorise.hpp>
#include <lemma/math/row_products.hpp>
#include <lemma/math/svd.hpp>
#include <lemma/optimize/minimise.hpp>
#include <lemma/reduce/ica.hpp>
#include <lemma/reduce/pca/parts.hpp>
#include <lemma/reduce/shared/telling.hpp>
#include <lemma/reduce/shared/usable_spread.hpp>
#include <numeric>

namespace lemma {
namespace {

constexpr double kSingular = 1e-12;  // a variance along an axis below this share of the first is rounding
constexpr double kSettled = 1e-13;   // what a rotation gains is rounding
/// Of columns that nearly depend on each other the covariance has lost digits of the least directions; the sources of the rows
/// themselves have them. Where these are so far from even, the search begins again from what they say.
constexpr double kUneven = 1e-10;
constexpr int kFastSteps = 100;  // of the fixed point, before the search takes over
constexpr int kTries = 5;        // of the search: where a source changes sides, its sign does

struct Shape {
  double value, slope, curvature;  // G, g, g'
};
Shape shape_of(Contrast contrast, double s) {
  if (contrast == Contrast::cube) return {0.25 * s * s * s * s, s * s * s, 3 * s * s};
  if (contrast == Contrast::exp) {
    const double e = std::exp(-0.5 * s * s);
    return {-e, s * e, (1 - s * s) * e};
  }
  const double t = std::tanh(s), size = std::abs(s);
  return {size + std::log1p(std::exp(-2 * size)) - std::log(2.0), t, 1 - t * t};
}

/// Means over the rows of sources s = W z, z the whitened row.
struct Sources {
  const Vector* mean;
  const Matrix *whitening, *rotation;  // z = whitening (x − mean)
  Contrast contrast;
  Matrix slopes;                   // E g(s) zᵀ
  Vector value, curvature, along;  // E G(s), E g'(s), E s g(s)
  double weight = 0;

  Sources(const Vector& of, const Matrix& k, const Matrix& w, Contrast how)
      : mean(&of), whitening(&k), rotation(&w), contrast(how), slopes(Matrix::Zero(w.rows(), w.rows())) {
    value = curvature = along = Vector::Zero(w.rows());
  }
  void accumulate(const Block& block) {
    const Matrix z = (block.x.rowwise() - mean->transpose()) * whitening->transpose();
    Matrix s = z * rotation->transpose();
    for (Index i = 0; i < s.rows(); ++i) {
      const double w = block.weight_of(i);
      weight += w;
      for (Index k = 0; k < s.cols(); ++k) {
        const Shape shape = shape_of(contrast, s(i, k));
        value(k) += w * shape.value;
        curvature(k) += w * shape.curvature;
        along(k) += w * s(i, k) * shape.slope;
        s(i, k) = w * shape.slope;
      }
    }
    slopes += s.transpose() * z;
  }
  void merge(const Sources& other) {
    slopes += other.slopes;
    value += other.value;
    curvature += other.curvature;
    along += other.along;
    weight += other.weight;
  }
  Vector signs() const {
    return (along - curvature).unaryExpr([](double v) { return v < 0 ? -1.0 : 1.0; });
  }
  /// What turning s_k towards s_l would gain, per radian.
  Matrix gains() const {
    const Matrix own = signs().asDiagonal() * slopes * rotation->transpose() / weight;
    return own - own.transpose();
  }
};

/// The nearest rotation: U Vᵀ.
Matrix nearest_rotation(const Matrix& a) {
  const Svd svd = thin_svd(a);
  return svd.u * svd.v.transpose();
}

/// Rotations around one of them by Cayley's map: W(A) = (I − A/2)⁻¹ (I + A/2) W₀ for A = −Aᵀ, whose upper triangle is the argument.
struct Turned {
  const Rows* rows;
  const Vector* mean;
  const Matrix *whitening, *start;
  Contrast contrast;
  Vector signs;
  const Execution* execution;

  struct At {
    Matrix inverse, rotation;  // (I − A/2)⁻¹, W
  };
  At at(const Vector& x) const {
    const Index d = start->rows();
    Matrix a = Matrix::Zero(d, d);
    for (Index k = 0, e = 0; k < d; ++k)
      for (Index l = k + 1; l < d; ++l, ++e) {
        a(k, l) = 0.5 * x(e);
        a(l, k) = -0.5 * x(e);
      }
    const Matrix unit = Matrix::Identity(d, d), r = *cholesky(unit + a.transpose() * a);  // (I − A/2)(I + A/2)
    At out;
    out.inverse = solve_upper(r, solve_upper_transposed(r, Matrix(unit + a)));
    out.rotation = out.inverse * (unit + a) * *start;
    return out;
  }
  double value(const Vector& x) const {
    Vector gradient;
    return value(x, gradient);
  }
  double value(const Vector& x, Vector& gradient) const {
    const At place = at(x);
    const Sources seen = scan(*rows, Sources(*mean, *whitening, place.rotation, contrast), *execution);
    const Matrix slope = -(signs.asDiagonal() * seen.slopes) / seen.weight,
                 whole = 0.5 * place.inverse.transpose() * slope * (place.rotation + *start).transpose();
    gradient.resize(x.size());
    for (Index k = 0, e = 0; k < whole.rows(); ++k)
      for (Index l = k + 1; l < whole.cols(); ++l, ++e) gradient(e) = whole(k, l) - whole(l, k);
    return -signs.dot(seen.value) / seen.weight;
  }
};

struct Found {
  Matrix rotation;
  long long steps = 0;
};

Found rotation_of(const Ica& spec, const Rows& rows, const Vector& mean, const Matrix& whitening, std::uint64_t seed,
                  const Execution& execution) {
  const Execution silent = execution.part(0, 0);
  const Index d = whitening.rows();
  Found out{nearest_rotation(normal_matrix(d, d, seed))};
  const auto look = [&] { return scan(rows, Sources(mean, whitening, out.rotation, spec.contrast), silent); };
  Sources seen = look();
  double gain = seen.gains().cwiseAbs().maxCoeff();
  for (; gain > kSettled && out.steps < std::min(kFastSteps, spec.max_iterations); ++out.steps) {
    execution.report(0.5 * static_cast<double>(out.steps) / kFastSteps, "sources");
    const Vector curvature = seen.curvature / seen.weight;
    const Matrix next = nearest_rotation(seen.slopes / seen.weight - curvature.asDiagonal() * out.rotation);
    const Matrix before = out.rotation;
    out.rotation = seen.signs().asDiagonal() * next;  // a source keeps its direction
    seen = look();
    const double now = seen.gains().cwiseAbs().maxCoeff();
    if (gain < spec.tolerance && now >= gain) {  // rounding decides
      out.rotation = before;
      break;
    }
    gain = now;
  }
  for (int attempt = 0; attempt < kTries && gain > kSettled && out.steps >= kFastSteps && d > 1; ++attempt) {
    const Matrix start = out.rotation;
    const Turned objective{&rows, &mean, &whitening, &start, spec.contrast, look().signs(), &silent};
    MinimiseOptions options;
    options.most_iterations = spec.max_iterations;
    options.tolerance = 0;
    options.stop = [&](const Iterate& at) {
      execution.report(0.5 + 0.5 * static_cast<double>(at.iteration) / spec.max_iterations, "rotations");
      return at.gradient.cwiseAbs().maxCoeff() <= kSettled;
    };
    const Minimum least = lbfgs(objective, Vector::Zero(d * (d - 1) / 2), options, 20);
    out.rotation = nearest_rotation(objective.at(least.x).rotation);
    out.steps += least.iterations;
    const double now = look().gains().cwiseAbs().maxCoeff();
    if (now >= 0.5 * gain) break;
    gain = now;
  }
  return out;
}

/// K, so that K (x − mean) has the identity as covariance: along the principal axes, or (of all of them) those of the correlations, which
/// do not depend on units.
Matrix whitening_of(const Ica& spec, const Rows& rows, const Matrix& covariance) {
  const Index p = rows.width();
  const Vector by = inverse_deviations(covariance);
  const Eigenpairs own = symmetric_eigen(Matrix(by.asDiagonal() * covariance * by.asDiagonal()));
  Index rank = 0;
  while (rank < p && own.values(rank) > kSingular * own.values(0) && own.values(rank) > 0) ++rank;
  if (rank == 0) throw Error("ica: no column varies");
  const Index count = spec.components.value_or(static_cast<int>(rank));
  if (count > rank)
    throw Error(
        fmt::format("ica: components is {}, must be at most {}: so many columns vary by themselves", count, rank));
  if (count == rank)
    return (own.vectors.leftCols(count) * own.values.head(count).cwiseSqrt().cwiseInverse().asDiagonal()).transpose() *
           by.asDiagonal();
  const Eigenpairs axes = symmetric_eigen(covariance, count);
  const Vector varies = (covariance.diagonal().array() > 0).cast<double>();  // of others rounding leaves a trace
  return (axes.vectors * axes.values.cwiseSqrt().cwiseInverse().asDiagonal()).transpose() * varies.asDiagonal();
}

/// Plain sums of the rows and of what the model says their sources are.
struct PlainSums {
  const IcaModel* model;
  double weight = 0;
  Vector sum, row_sum, along, curvature;
  Matrix sources, with_rows, rows, slopes;

  explicit PlainSums(const IcaModel& of) : model(&of) {
    const Index p = of.width(), d = of.components();
    sum = along = curvature = Vector::Zero(d);
    row_sum = Vector::Zero(p);
    sources = slopes = Matrix::Zero(d, d);
    with_rows = Matrix::Zero(p, d);
    rows = Matrix::Zero(p, p);
  }
  void accumulate(const Block& block) {
    const Index d = model->components();
    Vector g(d);
    for (Index i = 0; i < block.rows(); ++i) {
      const double w = block.weight_of(i);
      const Vector x = block.x.row(i).transpose() - model->mean, s = model->unmixing.transpose() * x;
      for (Index k = 0; k < d; ++k) {
        const Shape shape = shape_of(model->spec.contrast, s(k));
        g(k) = shape.slope;
        along(k) += w * s(k) * shape.slope;
        curvature(k) += w * shape.curvature;
      }
      weight += w;
      sum += w * s;
      row_sum += w * x;
      sources += w * s * s.transpose();
      slopes += w * g * s.transpose();
      with_rows += w * x * s.transpose();
      rows += w * x * x.transpose();
    }
  }
  void merge(const PlainSums& other) {
    weight += other.weight;
    sum += other.sum;
    row_sum += other.row_sum;
    along += other.along;
    curvature += other.curvature;
    sources += other.sources;
    with_rows += other.with_rows;
    rows += other.rows;
    slopes += other.slopes;
  }
};

/// How far what is told is from what the sums say; and how much more than the least kept variance a direction outside has.
void compare(const IcaModel& model, const PlainSums& seen, Comparison& same) {
  const Index p = model.width(), d = model.components();
  const Matrix covariance = seen.rows / (seen.weight - 1);
  const Vector deviation = covariance.diagonal().cwiseSqrt();
  for (Index j = 0; j < p; ++j)
    same.entry("mean", j, seen.row_sum(j) / seen.weight, 0, deviation(j) + 1e-6 * std::abs(model.mean(j)));
  const Matrix own = seen.sources / (seen.weight - 1), mixed = seen.with_rows / (seen.weight - 1);
  for (Index k = 0; k < d; ++k)
    for (Index l = 0; l < d; ++l) same.entry("unmixing", k * d + l, own(k, l), k == l ? 1 : 0, 1, 1e-8);
  for (Index j = 0; j < p; ++j)
    for (Index k = 0; k < d; ++k) {
      // A column that does not vary is told as 0.
      if (deviation(j) > 0) same.entry("mixing", j * d + k, model.mixing(j, k), mixed(j, k), deviation(j), 1e-8);
      else if (model.mixing(j, k) != 0 || model.unmixing(j, k) != 0) same.number("mixing", 1, 0, 1);
    }
  const double total = covariance.trace();
  for (Index k = 0; k < d; ++k)
    same.entry("explained", k, model.explained(k), model.mixing.col(k).squaredNorm() / total, 1);
  Matrix turned = model.mixing;
  turn_columns(turned);
  same.number("mixing", (turned - model.mixing).norm(), 0, std::sqrt(total));
  if (d == p) return;
  const Matrix left = covariance - model.mixing * model.mixing.transpose();
  const double outside = symmetric_eigen(left, 1).values(0);
  const Vector by = inverse_deviations(covariance);
  if ((by.asDiagonal() * left * by.asDiagonal()).cwiseAbs().maxCoeff() <= 1e-9) return;  // nothing is left out
  const Vector kept = symmetric_eigen(Matrix(model.mixing.transpose() * model.mixing)).values;
  same.number("components", std::max(0.0, outside - kept(d - 1)), 0, kept(0), 1e-8);
  // The principal axes: what is left has nothing to do with what is kept.
  same.number("components", (left * model.mixing).norm(), 0, kept(0) * std::sqrt(kept(0)), 1e-8);
}

/// own^-½: what makes sources of this covariance even.
Matrix inverse_root(const Matrix& own) {
  const Eigenpairs axes = symmetric_eigen(own);
  return axes.vectors * axes.values.cwiseSqrt().cwiseInverse().asDiagonal() * axes.vectors.transpose();
}

/// The sources in the order of the variance that they carry, each with the sign by which its largest share is positive.
void tell(IcaModel& model, const Matrix& covariance, const Matrix& unmixing) {
  const Matrix mixing = covariance.selfadjointView<Eigen::Upper>() * unmixing;
  const Vector share = mixing.colwise().squaredNorm().transpose() / covariance.trace();
  std::vector<Index> order(at(share.size()));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return share(a) > share(b); });
  model.mixing = mixing(Eigen::all, order);
  model.unmixing = unmixing(Eigen::all, order);
  model.explained = share(order);
  Matrix turned = model.mixing;
  turn_columns(turned);
  for (Index k = 0; k < turned.cols(); ++k)
    if (turned.col(k).dot(model.mixing.col(k)) < 0) model.unmixing.col(k) *= -1;
  model.mixing = turned;
}

Certificate certificate_of(const IcaModel& model, const PlainSums& seen) {
  const Vector signs = (seen.along - seen.curvature).unaryExpr([](double v) { return v < 0 ? -1.0 : 1.0; });
  const Matrix own = signs.asDiagonal() * seen.slopes / seen.weight;
  Certificate out;
  out.strength = Strength::stationary;
  out.kind = "gain of a rotation";
  out.value = (own - own.transpose()).cwiseAbs().maxCoeff();
  out.tolerance = 10 * model.spec.tolerance;
  out.stopped = out.value <= out.tolerance ? "converged" : "iteration limit";
  out.message =
      out.holds()
          ? fmt::format(
                "Sources are uncorrelated, of standard deviation 1, and no small rotation of two of them raises the "
                "contrast: "
                "{:.1e} per radian (allowed {:.0e}).",
                out.value, out.tolerance)
          : fmt::format(
                "A rotation of two sources would still raise the contrast by {:.1e} per radian (allowed {:.0e}); raise "
                "--max_iterations, or take another --contrast.",
                out.value, out.tolerance);
  return out;
}

}  // namespace

void IcaModel::check() const {
  const Index p = width(), d = components();
  require(p > 0 && d > 0 && d <= p && unmixing.rows() == p && unmixing.cols() == d && mean.size() == p &&
              explained.size() == d && spec.components && *spec.components == d,
          "ica: the sources do not fit together");
  require(mixing.allFinite() && unmixing.allFinite() && mean.allFinite() && explained.allFinite(),
          "ica: a number is not finite");
  for (Index k = 1; k < d; ++k)
    require(explained(k) <= explained(k - 1), "ica: the sources are not in the order of the variance that they carry");
}

Matrix IcaModel::transform(const MatrixView& x) const {
  require_width(*this, x.cols());
  return row_products(x.rowwise() - mean.transpose(), unmixing);
}
Matrix IcaModel::inverse(const MatrixView& z) const {
  return row_products_transposed(z, mixing).rowwise() + mean.transpose();
}
AffineMap IcaModel::affine() const {
  const Matrix a = unmixing.transpose();
  return {a, -(a * mean)};
}
std::vector<std::string> IcaModel::output_names(const std::vector<std::string>&) const {
  return numbered("IC", components());
}

std::string IcaModel::summary(const Names& names) const {
  const auto sources = output_names({});
  TextTable shares;
  shares.words("", sources).numbers("share of variance", {explained.begin(), explained.end()}, 4);
  return fmt::format("{} ({}):\n", count_of(components(), "independent component"), name_of(spec.contrast)) +
         shares.str() + "\nMixing:\n" + entries_table(shown_names(names.features, width()), sources, mixing);
}

IcaModel fit(const Valid<Ica>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  const Moments moments = pca::moments_of(rows, execution.part(0, 0.1, "scatter of the columns"));
  if (moments.rows() < 2 || moments.weight() <= 1)
    throw Error(fmt::format("ica: a covariance needs at least two rows, and there {} {}",
                            moments.rows() == 1 ? "is" : "are", moments.rows()));
  const Matrix covariance = moments.covariance(moments.weight() - 1);
  require_usable_spread(Ica::name, rows, covariance.diagonal(), execution);
  IcaModel model;
  model.spec = *spec;
  model.mean = moments.mean();
  Matrix whitening = whitening_of(*spec, rows, covariance);
  model.spec.components = static_cast<int>(whitening.rows());
  if (!spec->components && whitening.rows() < rows.width())
    model.warnings.push_back(fmt::format("columns depend on each other: there are {} for {}",
                                         count_of(whitening.rows(), "source"), count_of(rows.width(), "column")));
  Found found = rotation_of(*spec, rows, model.mean, whitening, options.seed, execution.part(0.1, 0.85));
  tell(model, covariance, (found.rotation * whitening).transpose());
  PlainSums seen = scan(rows, PlainSums(model), execution.part(0.85, 0.9));
  if (const Matrix own = seen.sources / (seen.weight - 1);
      (own - Matrix::Identity(own.rows(), own.cols())).cwiseAbs().maxCoeff() > kUneven) {
    whitening = inverse_root(own) * model.unmixing.transpose();
    found = rotation_of(*spec, rows, model.mean, whitening, options.seed, execution.part(0.9, 0.95));
    tell(model, covariance, (found.rotation * whitening).transpose());
    seen = scan(rows, PlainSums(model), execution.part(0.95, 1));
  }
  model.certificate = certificate_of(model, seen);
  model.certificate.iterations = found.steps;
  return model;
}

Certificate certify(const IcaModel& model, const Rows& rows, const Execution& execution) {
  require_finite(rows, execution.part(0, 0.2));
  const PlainSums seen = scan(rows, PlainSums(model), execution.part(0.2, 1));
  Comparison same;
  compare(model, seen, same);
  Certificate out = certificate_of(model, seen);
  report_told(same, out);
  return out;
}

template const Method& method_of<Ica>();

}  // namespace lemma
