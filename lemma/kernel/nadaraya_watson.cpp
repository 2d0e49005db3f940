// lemma/kernel/nadaraya_watson.cpp: the bandwidth, and what is said of the fit and of rows.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/finite.hpp>
#include <lemma/core/text.hpp>
#include <lemma/kernel/nadaraya_watson/smoother.hpp>
#include <lemma/kernel/shared/kept_order.hpp>
#include <lemma/model/comparison.hpp>
#include <lemma/model/one_vs_rest.hpp>
#include <mutex>
#include <numeric>

namespace lemma {
namespace nadaraya {

class Kept {
 public:
  const Smoother& get(const NadarayaWatsonModel& model) {
    std::call_once(once_, [&] {
      smoother_.emplace(model.points, model.response, model.weights, model.classes, model.bandwidth, model.spec.degree);
    });
    return *smoother_;
  }

 private:
  std::once_flag once_;
  std::optional<Smoother> smoother_;
};

}  // namespace nadaraya

namespace {

using nadaraya::Smoother;
constexpr double kTolerance = 1e-8;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool can_leave_out(const Smoother& smoother) { return smoother.count() > 1 || smoother.weight(0) > 1; }

std::vector<Index> all_rows(Index n) {
  std::vector<Index> out(static_cast<std::size_t>(n));
  std::iota(out.begin(), out.end(), Index{0});
  return out;
}

/// Σ w ‖y − f‖² / Σ w over some rows.
double mean_square(const Smoother& smoother, std::span<const Index> which, const Matrix& f) {
  double sum = 0, mass = 0;
  for (std::size_t i = 0; i < which.size(); ++i) {
    const Index row = which[i];
    sum += smoother.weight(row) * (smoother.y().row(row) - f.row(static_cast<Index>(i))).squaredNorm();
    mass += smoother.weight(row);
  }
  return sum / mass;
}

Vector response_of(const KernelRows& data) {
  if (data.label.empty()) return data.y;
  Vector out(data.count());
  for (Index i = 0; i < out.size(); ++i) out(i) = data.label_of(i);
  return out;
}

Vector spread_of(const KernelRows& data) {
  Vector out = data.points.variances(data.weights()).cwiseSqrt();
  for (double& each : out)
    if (!(each > 0)) each = 1;
  return out;
}

/// The best of kChoices multiples of the columns' standard deviations; of many rows every fourth is tried, then those beside the
/// best of them.
Vector chosen_bandwidth(const NadarayaWatson& spec, const KernelRows& data, Index classes, const Execution& execution) {
  constexpr int kChoices = 40;
  constexpr double kLeast = 0.02, kGreatest = 5;
  const Vector spread = spread_of(data), response = response_of(data);
  const Index n = data.count(), judged = std::min(n, NadarayaWatsonModel::kMostJudged);
  std::vector<Index> which(static_cast<std::size_t>(judged));
  for (Index i = 0; i < judged; ++i) which[static_cast<std::size_t>(i)] = i * n / judged;
  const auto factor = [&](int c) {
    return kLeast * std::pow(kGreatest / kLeast, static_cast<double>(c) / (kChoices - 1));
  };
  if (n == 1 && !(data.weight(0) > 1)) return spread;  // nothing is left without the row
  std::vector<double> error(kChoices, kInfinity);
  const auto try_choice = [&](int c, const Execution& part) {
    if (c < 0 || c >= kChoices || error[static_cast<std::size_t>(c)] < kInfinity) return;
    const Smoother smoother(data.points.dense(), response, data.weight, classes, factor(c) * spread, spec.degree);
    const double found = mean_square(smoother, which, smoother.own(which, part).left_out);
    if (found < kInfinity) error[static_cast<std::size_t>(c)] = found;
  };
  const auto best = [&] { return static_cast<int>(std::min_element(error.begin(), error.end()) - error.begin()); };
  const int stride = n > judged ? 4 : 1;
  const std::string message = "choosing the bandwidth";
  const double share = stride == 1 ? 1 : 0.6;
  for (int c = 0; c < kChoices; c += stride)
    try_choice(c, execution.part(share * c / kChoices, share * std::min(c + stride, kChoices) / kChoices, message));
  const int nearly = best();
  for (int off = 1; off < stride; ++off)
    for (const int c : {nearly - off, nearly + off}) try_choice(c, execution.part(share, 1, message));
  return error[static_cast<std::size_t>(best())] < kInfinity ? Vector(factor(best()) * spread) : spread;
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
double by_closed_form(const Smoother& smoother, const Smoother::Own& all, int degree, const Execution& execution) {
  if (!can_leave_out(smoother)) return NadarayaWatsonModel::kNone;
  std::vector<Index> unsafe;
  double sum = 0;
  for (Index i = 0; i < smoother.count(); ++i) {
    const double w = smoother.weight(i), left = 1 - all.share(i) / w;
    if (degree == 0 && w >= 1 && left > 1e-6)
      sum += w * (smoother.y().row(i) - all.fitted.row(i)).squaredNorm() / (left * left);
    else unsafe.push_back(i);
  }
  const Smoother::Own again = smoother.own(unsafe, execution);
  for (std::size_t i = 0; i < unsafe.size(); ++i)
    sum += smoother.weight(unsafe[i]) *
           (smoother.y().row(unsafe[i]) - again.left_out.row(static_cast<Index>(i))).squaredNorm();
  return sum / smoother.mass();
}

double residual_squares(const Smoother& smoother, const Smoother::Own& all) {
  double out = 0;
  for (Index i = 0; i < smoother.count(); ++i)
    out += smoother.weight(i) * (smoother.y().row(i) - all.fitted.row(i)).squaredNorm();
  return out;
}

Matrix smoothed(const NadarayaWatsonModel& model, const MatrixView& x) {
  require_width(model, x.cols());
  const Smoother& smoother = model.kept->get(model);
  return smoother.values(x * model.bandwidth.cwiseInverse().asDiagonal(), {}).array() + smoother.centre();
}

}  // namespace

std::shared_ptr<nadaraya::Kept> nadaraya::nothing_kept() { return std::make_shared<Kept>(); }

void NadarayaWatsonModel::check() const {
  const Index n = points.rows();
  require(n > 0 && response.size() == n && weights.size() == n && bandwidth.size() == points.cols(),
          "nadaraya_watson: the arrays do not fit together");
  require(all_finite(points) && response.allFinite() && weights.allFinite() && (weights.array() > 0).all(),
          "nadaraya_watson: a kept row is not usable");
  require(bandwidth.allFinite() && (bandwidth.array() > 0).all(), "nadaraya_watson: a bandwidth is not usable");
  require(classes == 0 || (classes >= 2 && spec.degree == 0), "nadaraya_watson: the classes are not usable");
  for (const double code : response)
    require(classes == 0 || (code >= 0 && code < static_cast<double>(classes) && code == std::floor(code)),
            "nadaraya_watson: a class is none of those there are");
}

Vector NadarayaWatsonModel::predict(const MatrixView& x) const {
  require(classes == 0,
          "nadaraya_watson: this model tells classes, not numbers: classify() and probabilities() give them");
  return smoothed(*this, x).col(0);
}

Matrix NadarayaWatsonModel::probabilities(const MatrixView& x) const {
  require(classes > 0, "nadaraya_watson: this model predicts numbers, not classes: predict() gives them");
  return smoothed(*this, x);
}

Labels NadarayaWatsonModel::classify(const MatrixView& x) const { return greatest_class(probabilities(x)); }

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
  const auto classes = static_cast<Index>(rows.classes.size());
  if (classes > 0 && spec->degree == 1)
    throw Error("nadaraya_watson: a line may leave the probabilities; of classes the degree is 0");
  const KernelRows data = dense_rows(rows, execution);
  if (classes > 0) class_counts(NadarayaWatson::name, data, rows.classes);
  NadarayaWatsonModel model;
  model.spec = *spec;
  model.classes = classes;
  model.bandwidth = spec->bandwidth.empty() ? chosen_bandwidth(*spec, data, classes, execution.part(0, 0.7))
                                            : bandwidth_for(spec->bandwidth, rows.width());
  require(model.bandwidth.allFinite(), "nadaraya_watson: the columns' squares are too large to be added up");
  model.spec.bandwidth.assign(model.bandwidth.begin(), model.bandwidth.end());
  model.points = data.points.dense();
  model.response = response_of(data);
  model.weights = data.weight;
  const Smoother& smoother = model.kept->get(model);
  const auto which = all_rows(smoother.count());
  const Smoother::Own all = smoother.own(which, execution.part(0.7, 0.95, "leaving rows out"));
  if (can_leave_out(smoother)) model.loocv_mse = mean_square(smoother, which, all.left_out);
  model.effective_df = all.share.sum();
  model.rss = residual_squares(smoother, all);
  require(std::isfinite(model.rss) && !std::isinf(model.loocv_mse),
          fmt::format("nadaraya_watson: the squares of '{}' are too large to be added up", rows.target));
  if (std::isnan(model.loocv_mse))
    model.warnings.emplace_back("of one row no leave-one-out error is known: without it nothing is left");
  model.certificate =
      certificate_of(model.loocv_mse, by_closed_form(smoother, all, spec->degree, execution.part(0.95, 1)));
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
    ties.given << response_of(given), given.weight;
    return ties;
  });
  require(data.count() == model.points.rows(),
          fmt::format("nadaraya_watson: the model keeps {} rows and there are {}", model.points.rows(), data.count()));
  Comparison same;
  const Vector bandwidth = bandwidth_for(model.spec.bandwidth, rows.width()), response = response_of(data);
  for (Index j = 0; j < bandwidth.size(); ++j) same.entry("bandwidth", j, model.bandwidth(j), bandwidth(j), 0);
  for (Index i = 0; i < data.count() && !same.finding(); ++i) {
    same.entry("response", i, model.response(i), response(i), 0);
    same.entry("weights", i, model.weights(i), data.weight(i), 0);
    for (Index j = 0; j < model.width(); ++j)
      same.entry("points", i * model.width() + j, model.points(i, j), data.points.dense()(i, j), 0);
  }
  const Smoother smoother(data.points.dense(), response, data.weight, model.classes, bandwidth, model.spec.degree);
  const auto which = all_rows(smoother.count());
  const Smoother::Own all = smoother.own(which, execution);
  Certificate out = certificate_of(model.loocv_mse, by_closed_form(smoother, all, model.spec.degree, execution));
  if (!out.holds()) return out;
  same.relative("effective_df", model.effective_df, all.share.sum());
  same.relative("rss", model.rss, residual_squares(smoother, all));
  if (same.finding()) same.report(out);
  return out;
}

template const Method& method_of<NadarayaWatson>();

}  // namespace lemma
