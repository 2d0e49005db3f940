// lemma/cluster/dp_means.cpp
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <lemma/cluster/dp_means.hpp>
#include <lemma/cluster/shared/centers_text.hpp>
#include <lemma/cluster/shared/measured_points.hpp>
#include <lemma/core/rounding_words.hpp>
#include <lemma/core/text.hpp>
#include <lemma/model/comparison.hpp>
#include <limits>

namespace lemma {
namespace {

constexpr double kTolerance = 1e-9;
constexpr double kRounding = 1e-12;  // of λ

double squared(const auto& x, Index i, const Matrix& centers, Index c) {
  double out = 0;
  for (Index j = 0; j < centers.cols(); ++j) out += (x(i, j) - centers(c, j)) * (x(i, j) - centers(c, j));
  return out;
}

struct Nearest {
  Index centre = 0;
  double squares = 0;
};
Nearest nearest_of(const auto& x, Index i, const Matrix& centers) {
  Nearest out{0, squared(x, i, centers, 0)};
  for (Index c = 1; c < centers.rows(); ++c)
    if (const double d = squared(x, i, centers, c); d < out.squares) out = {c, d};
  return out;
}

/// Rows with a weight above 0, and about what they lie.
struct Data {
  Matrix x;
  Vector w, mean;
  double total_ss = 0;
  double unit() const { return total_ss > 0 ? std::sqrt(total_ss / w.sum()) : 1.0; }
};
Data data_of(const Rows& rows, const Execution& execution) {
  require_finite(rows, execution.part(0, 0.5));
  const Vector all = weights_of(rows, execution.part(0.5, 0.5));
  std::vector<Index> there;
  for (Index i = 0; i < all.size(); ++i)
    if (all(i) > 0) there.push_back(i);
  if (there.empty()) throw Error("dp_means: all weights are 0, so there are no rows to learn from");
  Data out{rows_at(gather(rows, execution.part(0.5, 1)), there), all(there), {}, 0};
  const Vector first = out.x.row(0).transpose();  // means of differences keep their digits beside a large offset
  Vector sum = Vector::Zero(out.x.cols());
  for (Index i = 0; i < out.x.rows(); ++i) sum += out.w(i) * (out.x.row(i).transpose() - first);
  out.mean = first + sum / out.w.sum();
  for (Index i = 0; i < out.x.rows(); ++i)
    out.total_ss += out.w(i) * (out.x.row(i).transpose() - out.mean).squaredNorm();
  return out;
}

struct Clusters {
  Matrix centers;
  std::vector<Index> to;
  Vector sizes, within;
};

/// Means of the clusters; those without rows are left out.
void centre(const Data& data, Clusters& state) {
  const Index k = state.centers.rows();
  Matrix shift = Matrix::Zero(k, data.x.cols());
  Vector sizes = Vector::Zero(k);
  for (Index i = 0; i < data.x.rows(); ++i) {
    const Index c = state.to[at(i)];
    shift.row(c) += data.w(i) * (data.x.row(i) - state.centers.row(c));
    sizes(c) += data.w(i);
  }
  std::vector<Index> kept, number(at(k), -1);
  for (Index c = 0; c < k; ++c)
    if (sizes(c) > 0) {
      state.centers.row(c) += shift.row(c) / sizes(c);
      number[at(c)] = static_cast<Index>(kept.size());
      kept.push_back(c);
    }
  state.centers = rows_at(state.centers, kept);
  state.sizes = sizes(kept);
  for (Index& c : state.to) c = number[at(c)];
}

/// Rows to their nearest centres one after the other, those too far from all becoming centres. Whether any changed.
bool pass(const Data& data, double lambda, Clusters& state) {
  bool changed = false;
  for (Index i = 0; i < data.x.rows(); ++i) {
    Nearest found = nearest_of(data.x, i, state.centers);
    if (std::min(1.0, data.w(i)) * found.squares > lambda * (1 + kRounding)) {  // of a part of a row less is at stake
      found = {state.centers.rows(), 0};
      state.centers.conservativeResize(found.centre + 1, Eigen::NoChange);
      state.centers.row(found.centre) = data.x.row(i);
    }
    changed = changed || found.centre != state.to[at(i)];
    state.to[at(i)] = found.centre;
  }
  return changed;
}

struct Pair {
  Index a = -1, b = -1;
  double adds = std::numeric_limits<double>::infinity();
};
/// The two clusters whose joining adds least to the sum of squares.
Pair closest(const Matrix& centers, const Vector& sizes) {
  Pair out;
  for (Index a = 0; a < centers.rows(); ++a)
    for (Index b = a + 1; b < centers.rows(); ++b)
      if (const double adds = sizes(a) * sizes(b) / (sizes(a) + sizes(b)) * squared(centers, a, centers, b);
          adds < out.adds)
        out = {a, b, adds};
  return out;
}

/// From scratch: sizes, sums of squares, how far a centre would go, and how far beyond λ a row is.
struct OneStep {
  Vector sizes, within;
  double movement = 0, beyond = 0;
};
OneStep step_of(const Data& data, const Matrix& centers, double lambda) {
  const Index k = centers.rows();
  OneStep out{Vector::Zero(k), Vector::Zero(k)};
  Matrix shift = Matrix::Zero(k, centers.cols());
  for (Index i = 0; i < data.x.rows(); ++i) {
    const Nearest found = nearest_of(data.x, i, centers);
    out.sizes(found.centre) += data.w(i);
    out.within(found.centre) += data.w(i) * found.squares;
    shift.row(found.centre) += data.w(i) * (data.x.row(i) - centers.row(found.centre));
    out.beyond = std::max(out.beyond, std::min(1.0, data.w(i)) * found.squares / lambda - 1);
  }
  for (Index c = 0; c < k; ++c)
    out.movement = std::max(out.movement, out.sizes(c) > 0 ? shift.row(c).norm() / out.sizes(c) : HUGE_VAL);
  return out;
}

Certificate certificate_of(const DpMeansModel& model, const Data& data) {
  const double lambda = *model.spec.lambda;
  const OneStep found = step_of(data, model.centers, lambda);
  const double digits = 0x1p-50 * std::sqrt(static_cast<double>(model.width())) * model.centers.cwiseAbs().maxCoeff();
  const double movement = std::max(0.0, found.movement - digits) / data.unit();
  const double joining = model.k() > 1 ? 1 - closest(model.centers, found.sizes).adds / lambda : 0;
  Comparison same;
  const double unit = found.within.sum() + lambda * static_cast<double>(model.k());
  for (Index c = 0; c < model.k(); ++c) {
    same.entry("sizes", c, model.sizes(c), found.sizes(c), data.w.sum());
    same.entry("within", c, model.within(c), found.within(c), unit);
  }
  same.number("total_within", model.total_within, found.within.sum(), unit);
  same.number("objective", model.objective, unit, unit);
  Certificate out;
  out.strength = Strength::consistent;
  out.kind = "what one more step would better";
  out.value = std::max({movement, found.beyond, joining, 0.0});
  out.tolerance = kTolerance;
  out.stopped = out.holds() ? "converged" : "iteration limit";
  if (!out.holds())
    out.message = fmt::format("Not a fixed point: {}. Raise max_iterations ({}).",
                              joining > kTolerance        ? "joining two clusters lowers the objective"
                              : found.beyond > kTolerance ? "a row is farther from all centres than the root of lambda"
                                                          : "one more step moves a centre",
                              model.spec.max_iterations);
  else if (same.finding()) {
    same.report(out);
    out.message = fmt::format("What the model tells is not what the rows give: {}'{}' is off.", same.finding()->place,
                              same.finding()->field);
  } else {
    out.message = fmt::format(
        "No row is farther than the root of lambda from its centre, joining two of the {} lowers nothing, and one more "
        "step moves a "
        "centre by {} of the rows' spread (allowed {}).",
        count_of(model.k(), "cluster"), residue_text(out.value, out.tolerance), format_significant(out.tolerance, 2));
  }
  return out;
}

}  // namespace

void DpMeansModel::check() const {
  require(spec.lambda.has_value() && k() > 0 && width() > 0, "dp_means: there are no centres");
  require(sizes.size() == k() && within.size() == k() && centers.allFinite() && sizes.allFinite() &&
              within.allFinite() && std::isfinite(total_within) && std::isfinite(objective),
          "dp_means: a number is not usable");
}

Matrix DpMeansModel::distances(const MatrixView& x) const {
  require_width(*this, x.cols());
  Matrix out(x.rows(), k());
  for (Index i = 0; i < x.rows(); ++i)
    for (Index c = 0; c < k(); ++c) out(i, c) = std::sqrt(squared(x, i, centers, c));
  return out;
}

Labels DpMeansModel::assign(const MatrixView& x) const {
  require_width(*this, x.cols());
  Labels out(at(x.rows()), -1);
  for (Index i = 0; i < x.rows(); ++i)
    if (const Nearest found = nearest_of(x, i, centers); found.squares <= *spec.lambda * (1 + 2 * kTolerance))
      out[at(i)] = static_cast<int>(found.centre);
  return out;
}

std::string DpMeansModel::summary(const Names& names) const {
  const std::string out = fmt::format(
      "{} at a price of {} each\n\nCentres, sizes and within-cluster sums of squares:\n{}", count_of(k(), "cluster"),
      format_significant(*spec.lambda, 5), centers_text(centers, sizes, &within, names));
  return out + fmt::format("\ntotal within {}   with the price of the clusters {}\n",
                           format_significant(total_within, 7), format_significant(objective, 7));
}

DpMeansModel fit(const Valid<DpMeans>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  const Data data = data_of(rows, execution.part(0, 0.2));
  DpMeansModel model;
  model.spec = *spec;
  if (!spec->lambda) model.spec.lambda = data.total_ss > 0 ? data.total_ss / data.w.sum() : 1.0;
  const double lambda = *model.spec.lambda;
  Clusters state{Matrix(data.mean.transpose()), std::vector<Index>(at(data.x.rows()), 0), {}, {}};
  centre(data, state);
  bool cancelled = false, settled = false;
  int passes = 0;
  for (; passes < spec->max_iterations && !settled && !(cancelled = execution.cancelled()); ++passes) {
    execution.report(0.2 + 0.7 * passes / spec->max_iterations, "passes");
    const bool changed = pass(data, lambda, state);
    centre(data, state);
    if (changed) continue;
    const Pair joined = closest(state.centers, state.sizes);
    settled = !(joined.adds < lambda * (1 - kRounding));
    if (!settled) {
      for (Index& c : state.to) c = c == joined.b ? joined.a : c;
      centre(data, state);
    }
  }
  model.centers = state.centers;
  const OneStep found = step_of(data, model.centers, lambda);
  model.sizes = found.sizes;
  model.within = found.within;
  model.total_within = found.within.sum();
  model.objective = model.total_within + lambda * static_cast<double>(model.k());
  model.certificate = certificate_of(model, data);
  model.certificate.iterations = passes;
  if (cancelled) {
    model.warnings.push_back("cancelled: rows may still change their clusters");
    model.certificate.value = std::numeric_limits<double>::quiet_NaN();
    model.certificate.stopped = "cancelled";
    model.certificate.message =
        fmt::format("Cancelled after {}; 'lemma verify' looks at these centres.", count_of(passes, "pass"));
  }
  return model;
}

Certificate certify(const DpMeansModel& model, const Rows& rows, const Execution& execution) {
  return certificate_of(model, data_of(rows, execution));
}

template const Method& method_of<DpMeans>();

}  // namespace lemma
