// lemma/kernel/nadaraya_watson.cpp: weights beside the largest, and the mean or the line that they give.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/kernel/nadaraya_watson.hpp>
#include <lemma/kernel/shared/kept_order.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/math/simd.hpp>
#include <lemma/model/comparison.hpp>

namespace lemma {
namespace {

constexpr Index kRows = 32;      // looked at together
constexpr double kFlat = 1e-12;  // a spread below this share of the squared bandwidth is none
constexpr double kTolerance = 1e-8;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The rows of the fit, in units of the bandwidth, and their responses about the mean of these: far from 0 few digits would be
/// left of a residual.
struct Smoother {
  Matrix points;
  double centre;
  Vector y;
  const Vector& weight;
  Vector log_weight;
  int degree;

  Smoother(const Matrix& rows, const Vector& response, const Vector& weights, const Vector& bandwidth, int degree_of)
      : points(rows * bandwidth.cwiseInverse().asDiagonal()),
        centre(weights.dot(response) / weights.sum()),
        y(response.array() - centre),
        weight(weights),
        log_weight(weights.array().log()),
        degree(degree_of) {}

  /// Of one place: f less the centre, and how much the response of row `own` counts in it (0 when there is none).
  struct At {
    double value, own_share;
  };
  /// `distance` holds squared distances to all rows and is overwritten. `leave_out`: one copy of row `own` is not there.
  At at(const MatrixView& x, std::span<double> distance, Index own, bool leave_out) const {
    const Index n = points.rows();
    Eigen::Map<Vector> k(distance.data(), n);
    k = -0.5 * k + log_weight;
    if (leave_out) k(own) = weight(own) > 1 ? std::log(weight(own) - 1) : -kInfinity;
    const double largest = k.maxCoeff();
    if (largest == -kInfinity)
      k = leave_out ? Vector(Vector::Ones(n) - Vector::Unit(n, own)) : weight;  // too far to tell
    else {
      k.array() -= largest;
      simd::exp(distance, distance);
    }
    const double sum = k.sum(), mean = k.dot(y) / sum;
    const double own_k = own >= 0 && !leave_out ? k(own) : 0;
    if (degree == 0) return {mean, own_k / sum};
    return line(x, k, sum, mean, own_k);
  }

 private:
  /// ȳ + (x − x̄)·b with b the slope of least squares, shortest where the rows nearby do not spread.
  At line(const MatrixView& x, const Eigen::Map<Vector>& k, double sum, double mean, double own_k) const {
    const Vector middle = points.transpose() * k / sum, off = x.row(0).transpose() - middle;
    const Matrix moved = points.rowwise() - middle.transpose();
    const Matrix spread = moved.transpose() * k.asDiagonal() * moved;
    const Vector pull = moved.transpose() * k.cwiseProduct((y.array() - mean).matrix());
    const Eigenpairs axes = symmetric_eigen(spread);
    double value = mean, own_share = own_k / sum;
    for (Index a = 0; a < axes.values.size() && axes.values(a) > kFlat * sum; ++a) {
      const double along = axes.vectors.col(a).dot(off);
      value += along * axes.vectors.col(a).dot(pull) / axes.values(a);
      own_share += own_k * along * along / axes.values(a);  // own rows: x is the row itself
    }
    return {value, own_share};
  }
};

/// visit(i, squared distances of row i of x to all points) on several threads. x is in units of the bandwidth.
void for_rows(const Matrix& x, const Matrix& points, const Execution& execution, auto&& visit) {
  parallel_for((x.rows() + kRows - 1) / kRows, execution, [&](Index tile) {
    const Index first = tile * kRows, rows = std::min(kRows, x.rows() - first);
    Matrix distance(rows, points.rows());
    simd::squared_distances(x.middleRows(first, rows), points, distance);
    for (Index i = 0; i < rows; ++i)
      visit(first + i, std::span<double>(distance.row(i).data(), static_cast<std::size_t>(points.rows())));
  });
}

double leave_one_out(const Smoother& smoother, const Execution& execution) {
  const Index n = smoother.points.rows();
  if (n == 1 && smoother.weight(0) <= 1) return NadarayaWatsonModel::kNone;
  Vector squares(n);
  for_rows(smoother.points, smoother.points, execution, [&](Index i, std::span<double> distance) {
    const double r = smoother.y(i) - smoother.at(smoother.points.row(i), distance, i, true).value;
    squares(i) = smoother.weight(i) * r * r;
  });
  return squares.sum() / smoother.weight.sum();
}

struct Fitted {
  Vector values, own_share;
};
Fitted fitted(const Smoother& smoother, const Execution& execution) {
  const Index n = smoother.points.rows();
  Fitted out{Vector(n), Vector(n)};
  for_rows(smoother.points, smoother.points, execution, [&](Index i, std::span<double> distance) {
    const auto [value, own_share] = smoother.at(smoother.points.row(i), distance, i, false);
    out.values(i) = value;
    out.own_share(i) = own_share;
  });
  return out;
}

Vector spread_of(const KernelRows& data) {
  Vector out = data.points.variances(data.weights()).cwiseSqrt();
  for (double& each : out)
    if (!(each > 0)) each = 1;
  return out;
}

/// The best of kChoices multiples of the columns' standard deviations.
Vector chosen_bandwidth(const NadarayaWatson& spec, const KernelRows& data, const Execution& execution) {
  constexpr int kChoices = 40;
  constexpr double kLeast = 0.02, kGreatest = 5;
  const Vector spread = spread_of(data);
  double best = kInfinity, chosen = 1;
  for (int c = 0; c < kChoices; ++c) {
    const double factor = kLeast * std::pow(kGreatest / kLeast, static_cast<double>(c) / (kChoices - 1));
    const Smoother smoother(data.points.dense(), data.y, data.weight, factor * spread, spec.degree);
    const double error = leave_one_out(
        smoother, execution.part(static_cast<double>(c) / kChoices, (c + 1.0) / kChoices, "choosing the bandwidth"));
    if (error < best) {
      best = error;
      chosen = factor;
    }
  }
  return chosen * spread;
}

Vector bandwidth_for(const std::vector<double>& given, Index width) {
  if (given.size() == 1) return Vector::Constant(width, given[0]);
  require(static_cast<Index>(given.size()) == width,
          fmt::format("nadaraya_watson: there are {} bandwidths for {}", given.size(), count_of(width, "column")));
  return Eigen::Map<const Vector>(given.data(), width);
}

KernelRows dense_rows(const Rows& rows, const Execution& execution) {
  KernelRows data = kernel_rows(NadarayaWatson::name, Kernel(), rows, execution);
  if (data.points.is_sparse()) data.points = Points(data.points.rows(0, data.points.count()));
  return data;
}

Certificate certificate_of(double stored, double expected) {
  Certificate out;
  out.strength = Strength::consistent;
  out.kind = "leave-one-out error by 1 - S";
  const bool both_missing = std::isnan(stored) && std::isnan(expected);
  out.value = both_missing || stored == expected ? 0 : std::abs(stored - expected) / std::max(stored, expected);
  out.tolerance = kTolerance;
  out.stopped = "closed form";
  out.message = fmt::format(
      "Nothing is minimised: the function is a mean of the kept rows by its definition. Its leave-one-out error "
      "follows "
      "from them up to {:.1e} (allowed {:.0e}).",
      out.value, out.tolerance);
  return out;
}

/// (y − f)/(1 − Sᵢᵢ) in the place of leaving out, where 1 − Sᵢᵢ has digits left; else leaving out.
double by_closed_form(const Smoother& smoother, const Fitted& all, const Execution& execution) {
  const Index n = all.values.size();
  if (n == 1 && smoother.weight(0) <= 1) return NadarayaWatsonModel::kNone;
  Vector squares(n);
  for_rows(smoother.points, smoother.points, execution, [&](Index i, std::span<double> distance) {
    const double w = smoother.weight(i), left = 1 - all.own_share(i) / w;
    const bool safe = smoother.degree == 0 && w >= 1 && left > 1e-6;
    const double r = safe ? (smoother.y(i) - all.values(i)) / left
                          : smoother.y(i) - smoother.at(smoother.points.row(i), distance, i, true).value;
    squares(i) = w * r * r;
  });
  return squares.sum() / smoother.weight.sum();
}

}  // namespace

void NadarayaWatsonModel::check() const {
  const Index n = points.rows();
  require(n > 0 && response.size() == n && weights.size() == n && bandwidth.size() == points.cols(),
          "nadaraya_watson: the arrays do not fit together");
  require(points.allFinite() && response.allFinite() && weights.allFinite() && (weights.array() > 0).all(),
          "nadaraya_watson: a kept row is not usable");
  require(bandwidth.allFinite() && (bandwidth.array() > 0).all(), "nadaraya_watson: a bandwidth is not usable");
}

Vector NadarayaWatsonModel::predict(const MatrixView& x) const {
  require_width(*this, x.cols());
  const Smoother smoother(points, response, weights, bandwidth, spec.degree);
  const Matrix scaled = x * bandwidth.cwiseInverse().asDiagonal();
  Vector out(x.rows());
  for_rows(scaled, smoother.points, {}, [&](Index i, std::span<double> distance) {
    out(i) = smoother.centre + smoother.at(scaled.row(i), distance, -1, false).value;
  });
  return out;
}

std::string NadarayaWatsonModel::summary(const Names& names) const {
  require(static_cast<Index>(names.features.size()) == width(), "nadaraya_watson: each column needs a name");
  TextTable table;
  table.words("", names.features).numbers("bandwidth", {bandwidth.begin(), bandwidth.end()});
  std::string out = fmt::format("{} of {}, Gaussian weights\n\n{}\n", spec.degree == 0 ? "Mean" : "Line",
                                count_of(points.rows(), "row"), table.str());
  if (!std::isnan(loocv_mse)) out += fmt::format("Leave-one-out mse: {}\n", format_significant(loocv_mse, 5));
  return out + fmt::format("Effective df: {}\n", format_significant(effective_df, 5));
}

NadarayaWatsonModel fit(const Valid<NadarayaWatson>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  const KernelRows data = dense_rows(rows, execution);
  NadarayaWatsonModel model;
  model.spec = *spec;
  model.bandwidth = spec->bandwidth.empty() ? chosen_bandwidth(*spec, data, execution.part(0, 0.9))
                                            : bandwidth_for(spec->bandwidth, rows.width());
  require(model.bandwidth.allFinite(), "nadaraya_watson: the columns' squares are too large to be added up");
  model.spec.bandwidth.assign(model.bandwidth.begin(), model.bandwidth.end());
  model.points = data.points.dense();
  model.response = data.y;
  model.weights = data.weight;
  const Smoother smoother(model.points, model.response, model.weights, model.bandwidth, spec->degree);
  model.loocv_mse = leave_one_out(smoother, execution.part(0.9, 0.95));
  const Fitted all = fitted(smoother, execution.part(0.95, 1));
  model.effective_df = all.own_share.sum();
  model.rss = data.weight.dot((smoother.y - all.values).cwiseAbs2());
  require(std::isfinite(model.rss) && !std::isinf(model.loocv_mse),
          fmt::format("nadaraya_watson: the squares of '{}' are too large to be added up", rows.target));
  if (std::isnan(model.loocv_mse))
    model.warnings.emplace_back("of one row no leave-one-out error is known: without it nothing is left");
  model.certificate = certificate_of(model.loocv_mse, by_closed_form(smoother, all, execution));
  return model;
}

Certificate certify(const NadarayaWatsonModel& model, const Rows& rows, const Execution& execution) {
  const KernelRows given = dense_rows(rows, execution);
  KeptRows kept;
  kept.dense = model.points;
  kept.width = model.width();
  const KernelRows data = in_kept_order(Kernel(), kept, given, [&] {
    Ties ties{Matrix(model.response.size(), 2), Matrix(given.count(), 2)};
    ties.kept << model.response, model.weights;
    ties.given << given.y, given.weight;
    return ties;
  });
  require(data.count() == model.points.rows(),
          fmt::format("nadaraya_watson: the model keeps {} rows and there are {}", model.points.rows(), data.count()));
  Comparison same;
  const Vector bandwidth = bandwidth_for(model.spec.bandwidth, rows.width());
  for (Index j = 0; j < bandwidth.size(); ++j) same.entry("bandwidth", j, model.bandwidth(j), bandwidth(j), 0);
  for (Index i = 0; i < data.count() && !same.finding(); ++i) {
    same.entry("response", i, model.response(i), data.y(i), 0);
    same.entry("weights", i, model.weights(i), data.weight(i), 0);
    for (Index j = 0; j < model.width(); ++j)
      same.entry("points", i * model.width() + j, model.points(i, j), data.points.dense()(i, j), 0);
  }
  const Smoother smoother(data.points.dense(), data.y, data.weight, bandwidth, model.spec.degree);
  const Fitted all = fitted(smoother, execution);
  Certificate out = certificate_of(model.loocv_mse, by_closed_form(smoother, all, execution));
  if (!out.holds()) return out;
  same.relative("effective_df", model.effective_df, all.own_share.sum());
  same.relative("rss", model.rss, data.weight.dot((smoother.y - all.values).cwiseAbs2()));
  if (same.finding()) same.report(out);
  return out;
}

template const Method& method_of<NadarayaWatson>();

}  // namespace lemma
