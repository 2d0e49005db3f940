// lemma/neighbor/knn.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/finite.hpp>
#include <lemma/core/row_views.hpp>
#include <lemma/core/text.hpp>
#include <lemma/geometry/same_rows.hpp>
#include <lemma/math/moments.hpp>
#include <lemma/model/comparison.hpp>
#include <lemma/model/finite_or_missing.hpp>
#include <lemma/neighbor/knn/parts.hpp>

namespace lemma {
namespace knn {
Data gathered(const Metric& metric, const Rows& rows, const Execution& execution) {
  if (metric.takes_missing()) require_finite_or_missing(Knn::name, rows, execution.part(0, 0.5));
  else require_finite(rows, execution.part(0, 0.5));
  Matrix all = gather(rows, execution.part(0.5, 1));
  BlockBuffer buffer;
  const Block beside = rows.outcome(0, rows.count(), buffer);
  std::vector<Index> used;
  for (Index i = 0; i < rows.count(); ++i)
    if (beside.weight_of(i) > 0 && (rows.classes.empty() || beside.label[at(i)] >= 0)) used.push_back(i);
  require(!used.empty(), "knn: no row has a weight");
  const auto n = static_cast<Index>(used.size());
  Data out{n == rows.count() ? std::move(all) : Matrix(all(used, Eigen::all)), Vector(n), Vector(n)};
  Vector counts = Vector::Zero(static_cast<Index>(rows.classes.size()));
  for (Index r = 0; r < n; ++r) {
    const Index i = used[at(r)];
    out.weight(r) = beside.weight_of(i);
    out.response(r) = rows.classes.empty() ? beside.y[at(i)] : beside.label[at(i)];
    if (!rows.classes.empty()) counts(beside.label[at(i)]) += out.weight(r);
  }
  for (Index c = 0; c < counts.size(); ++c)
    if (!(counts(c) > 0))
      throw Error(fmt::format("knn: class '{}' has no rows; leave it out of the classes", rows.classes[at(c)]));
  return out;
}

Metric resolved(const Metric& metric, const Data& data, const Rows& rows, const Execution& execution) {
  if (const auto* mahalanobis = metric.get<MahalanobisMetric>(); mahalanobis && mahalanobis->covariance.size() == 0) {
    MemoryRows weighted(data.x);
    weighted.weights({data.weight.data(), at(data.weight.size())});
    const auto moments = scan(weighted, Moments(data.x.cols()), execution);
    require(moments.weight() > 1, "knn: one row alone has no covariance for the mahalanobis distance");
    const Vector mean = moments.mean();
    return MahalanobisMetric{moments.covariance(moments.weight() - 1), {mean.begin(), mean.end()}};
  }
  std::vector<Index> codes;
  for (Index j = 0; j < rows.width(); ++j)
    if (rows.holds_codes(j)) codes.push_back(j);
  return metric.resolved(data.x, codes, execution);
}

void take(KnnModel& model, Data data, Index classes) {
  model.of_classes = classes > 0;
  model.counts = Vector::Zero(std::max<Index>(classes, 1));
  for (Index i = 0; i < data.weight.size(); ++i)
    model.counts(model.of_classes ? static_cast<Index>(data.response(i)) : 0) += data.weight(i);
  model.points = std::move(data.x);
  model.response = std::move(data.response);
  model.weight = std::move(data.weight);
}

}  // namespace knn

namespace {

using namespace knn;

/// The errors that a second look found, in the model's own order.
Certificate certificate_of(const KnnModel& model, const Vector& found) {
  Certificate out;
  out.strength = Strength::consistent;
  out.kind = "difference of the leave-one-out error";
  out.tolerance = 1e-9;
  out.stopped = "closed form";
  if (model.leave_one_out.size() == 0) {
    out.message =
        "The rows that the model keeps are the rows; there are too many, or too few, to leave each out. There is no "
        "optimum to prove: the method is its rows.";
    return out;
  }
  if (found.size() != model.tried.size() + 1 || model.leave_one_out.size() != model.tried.size()) {
    out.value = 1;
  } else {
    for (Index t = 0; t < model.tried.size(); ++t) {
      const double own = model.leave_one_out(t), theirs = found(t);
      out.value = std::max(out.value, own == theirs ? 0 : std::abs(own - theirs) / std::max(own, theirs));
      if (std::isnan(own)) out.value = own;
    }
  }
  out.message = fmt::format(
      "The rows that the model keeps are the rows, and the errors of predicting each from the others are theirs up to "
      "{:.1e} (allowed {:.0e}); k is the first of the least. There is no other optimum to prove: the method is its "
      "rows.",
      out.value, out.tolerance);
  return out;
}

/// The k of least error, of equals the smallest.
double best_k(const Vector& tried, const Vector& errors) {
  Index best = 0;
  for (Index t = 1; t < errors.size(); ++t)
    if (errors(t) < errors(best)) best = t;
  return tried(best);
}

/// One search for all rows of x: who votes on each.
std::vector<Voters> voters_on(const KnnModel& model, const MatrixView& x) {
  require_width(model, x.cols());
  const auto k = static_cast<double>(model.k());
  const NeighborLists lists = model.kept->get(model).nearest(x, points_for(model.weight, k + 1));
  std::vector<Voters> out;
  for (Index i = 0; i < x.rows(); ++i)
    out.push_back(voters(model.weight, lists.rows_of(i), lists.distances_of(i), k + 1, -1));
  return out;
}

Matrix votes(const KnnModel& model, const MatrixView& x) {
  Matrix out(x.rows(), model.counts.size());
  const auto all = voters_on(model, x);
  for (Index i = 0; i < x.rows(); ++i)
    out.row(i) = say(model, all[at(i)], static_cast<double>(model.k()), x.row(i).data()).transpose();
  return out;
}

/// Of each row of x one of two numbers of each place that votes: of place j the row that holds the copies j to j + 1.
Matrix places(const KnnModel& model, const MatrixView& x, bool distances) {
  Matrix out = Matrix::Constant(x.rows(), model.k(), std::numeric_limits<double>::quiet_NaN());
  const auto all = voters_on(model, x);
  for (Index i = 0; i < x.rows(); ++i) {
    const Voters& who = all[at(i)];
    double end = 0;
    Index place = 0;
    for (std::size_t j = 0; j < who.row.size(); ++j)
      for (end += who.copies[j]; place < out.cols() && static_cast<double>(place) < end; ++place)
        out(i, place) = distances ? who.distance[j] : static_cast<double>(who.row[j] + 1);
  }
  return out;
}

}  // namespace

void Knn::check() const {
  require(!k.empty(), "knn: k is empty, must be one whole number or several");
  for (const double each : k)
    if (each != std::floor(each) || each > 1e9) throw Error(fmt::format("knn: k is {}, must be a whole number", each));
  check_prior(name, prior);
  if (local == LocalFit::line &&
      (metric.get<GowerMetric>() || metric.get<HammingMetric>() || metric.get<JaccardMetric>()))
    throw Error(
        fmt::format("knn: a local line goes along columns of numbers, and {} compares categories", metric.name()));
}

void KnnModel::check() const {
  const Index n = points.rows();
  require(n > 0 && points.cols() > 0 && response.size() == n && weight.size() == n,
          "knn: the rows, responses and weights do not fit together");
  require(response.allFinite() && weight.allFinite() && (weight.array() > 0).all() &&
              (spec.metric.takes_missing() ? none_infinite(points) : all_finite(points)),
          "knn: a row that is kept is not usable");
  require(counts.size() >= (of_classes ? 2 : 1) && counts.allFinite() && (counts.array() > 0).all(),
          "knn: the counts are not usable");
  require(spec.k.size() == 1 && static_cast<double>(k()) <= weight.sum() * (1 + 1e-12),
          "knn: k is not one number that the rows allow");
  require(tried.size() > 0 && tried.allFinite() && (tried.array() >= 1).all() &&
              (leave_one_out.size() == 0 || leave_one_out.size() == tried.size()),
          "knn: the errors do not fit the k that were tried");
  for (const double each : tried)
    require(each == std::floor(each) && each <= weight.sum() * (1 + 1e-12), "knn: a k that was tried is none");
  require(bayes_risk.size() == (of_classes && leave_one_out.size() > 0 ? 2 : 0), "knn: the Bayes risk is not usable");
  require(spec.local == LocalFit::mean || !of_classes, "knn: a local line is for numbers");
  if (of_classes) {
    check_prior(Knn::name, spec.prior, std::vector<std::string>(at(counts.size())));
    for (const double code : response)
      require(code >= 0 && code < static_cast<double>(counts.size()) && code == std::floor(code),
              "knn: the class of a row is none of the classes");
  }
  BoundMetric(spec.metric, width());  // Error where the metric does not suit the rows
}

Matrix KnnModel::probabilities(const MatrixView& x) const {
  require(of_classes, "knn: this model predicts numbers, not classes: predict() gives them");
  return votes(*this, x);
}

Labels KnnModel::classify(const MatrixView& x) const { return greatest_class(probabilities(x)); }

Vector KnnModel::predict(const MatrixView& x) const {
  require(!of_classes, "knn: this model tells classes, not numbers: classify() gives them");
  return votes(*this, x).col(0);
}

Prediction KnnModel::prediction(const MatrixView& x, const PredictOptions&) const {
  Prediction out;
  if (!of_classes) return out.add(kValuePart, predict(x));
  Matrix p = votes(*this, x);
  out.add(kClassPart, greatest_class(p));
  return out.add(kProbabilitiesPart, std::move(p));
}

Matrix KnnModel::neighbor_rows(const MatrixView& x) const { return places(*this, x, false); }
Matrix KnnModel::neighbor_distances(const MatrixView& x) const { return places(*this, x, true); }

std::string KnnModel::summary(const Names& names) const {
  std::string out =
      fmt::format("{} nearest of {} by {} distance", k(), count_of(points.rows(), "row"), spec.metric.name());
  const bool found = points.rows() <= kMostLeftOut;  // else to find out would take longer than the fit, and more memory
  out += found ? fmt::format("; found by {}\n", kept->get(*this).choice()) : "\n";
  if (spec.vote != VoteWeights::uniform) out += fmt::format("Votes: {}\n", name_of(spec.vote));
  if (spec.local == LocalFit::line) out += "A line through the rows that vote, not their mean\n";
  if (of_classes) {
    TextTable table;
    for (Index c = 0; c < counts.size(); ++c)
      table.right(at(c) < names.classes.size() ? names.classes[at(c)] : fmt::format("class {}", c + 1),
                  {format_significant(counts(c))});
    out += "\nRows of each class:\n" + table.str();
  }
  if (leave_one_out.size() == 0) return out;
  const std::string_view what = of_classes ? "Share of errors" : "Mean squared error";
  if (tried.size() == 1) {
    out +=
        fmt::format("\n{} of predicting each row from the others: {}\n", what, format_significant(leave_one_out(0), 5));
  } else {
    std::vector<std::string> mark;
    for (const double each : tried) mark.emplace_back(each == spec.k.front() ? "<- taken" : "");
    TextTable curve;
    curve.numbers("k", {tried.begin(), tried.end()}).numbers("error", {leave_one_out.begin(), leave_one_out.end()}, 5);
    curve.words("", mark);
    out += fmt::format("\n{} of predicting each row from the others:\n", what) + curve.str();
  }
  if (bayes_risk.size() == 2)
    out += fmt::format("\nBayes risk after Cover and Hart: from {} to {}, by the nearest row alone\n",
                       format_significant(bayes_risk(0), 3), format_significant(bayes_risk(1), 3));
  return out;
}

KnnModel fit(const Valid<Knn>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  check_prior(Knn::name, spec->prior, rows.classes);
  if (spec->local == LocalFit::line && !rows.classes.empty())
    throw Error(fmt::format("knn: a local line is for numbers, and '{}' holds classes", rows.target));
  Data data = gathered(spec->metric, rows, execution.part(0, 0.1));
  std::vector<double> tried = spec->k;
  std::sort(tried.begin(), tried.end());
  tried.erase(std::unique(tried.begin(), tried.end()), tried.end());
  if (tried.back() > data.weight.sum())
    throw Error(fmt::format("knn: k is {}, and there are {} rows: k must be at most that", tried.back(),
                            format_significant(data.weight.sum())));
  KnnModel model;
  model.spec = *spec;
  model.spec.metric = resolved(spec->metric, data, rows, execution.part(0.1, 0.15));
  take(model, std::move(data), static_cast<Index>(rows.classes.size()));
  model.tried = Eigen::Map<const Vector>(tried.data(), static_cast<Index>(tried.size()));
  model.spec.k = {tried.front()};
  if (tried.size() > 1 || model.points.rows() <= KnnModel::kMostLeftOut) {
    const Vector errors = left_out_errors(model, model.tried, false, execution.part(0.15, 1, "leaving each row out"));
    if (errors.size() > 0) {
      require(errors.allFinite(), fmt::format("knn: the squares of '{}' are too large to be added up", rows.target));
      model.leave_one_out = errors.head(model.tried.size());
      model.spec.k = {best_k(model.tried, model.leave_one_out)};
      if (model.of_classes) model.bayes_risk = cover_hart(errors(model.tried.size()), model.class_count());
    }
  }
  if (model.leave_one_out.size() == 0)
    model.warnings.emplace_back("no leave-one-out error was found: the rows are too many, or one alone");
  model.certificate =
      certificate_of(model, model.leave_one_out.size() == 0
                                ? Vector()
                                : Vector((Vector(model.tried.size() + 1) << model.leave_one_out, 0).finished()));
  return model;
}

Certificate certify(const KnnModel& model, const Rows& rows, const Execution& execution) {
  Data data = gathered(model.spec.metric, rows, execution.part(0, 0.1));
  if (data.x.rows() != model.points.rows()) {
    Certificate out = certificate_of(model, {});
    out.value = 1;
    out.message =
        fmt::format("The model keeps {} and there are {}.", count_of(model.points.rows(), "row"), data.x.rows());
    return out;
  }
  const auto order = found_again(Points(model.points), Points(data.x), [&] {
    Ties ties{Matrix(model.response.size(), 2), Matrix(data.response.size(), 2)};
    ties.kept << model.response, model.weight;
    ties.given << data.response, data.weight;
    return ties;
  });
  if (order) data = {Matrix(data.x(*order, Eigen::all)), Vector(data.response(*order)), Vector(data.weight(*order))};
  KnnModel anew = model;
  anew.kept = nothing_kept();
  take(anew, std::move(data), model.class_count());
  const Vector errors =
      model.leave_one_out.size() == 0 ? Vector() : left_out_errors(anew, model.tried, true, execution.part(0.1, 1));
  Certificate out = certificate_of(model, errors);
  Comparison same;
  for (Index i = 0; i < anew.points.rows(); ++i) {
    for (Index j = 0; j < anew.width(); ++j)
      same.entry("points", i * anew.width() + j, model.points(i, j), anew.points(i, j), 0);
    same.entry("response", i, model.response(i), anew.response(i), 0);
    same.entry("weight", i, model.weight(i), anew.weight(i), 0);
  }
  for (Index c = 0; c < anew.counts.size(); ++c) same.entry("counts", c, model.counts(c), anew.counts(c), 1);
  if (errors.size() > 0 && model.leave_one_out.size() == model.tried.size()) {
    same.number("k", model.spec.k.front(), best_k(model.tried, model.leave_one_out), 0);
    if (model.of_classes) {
      const Vector risk = cover_hart(errors(model.tried.size()), model.class_count());
      for (Index i = 0; i < 2; ++i) same.entry("bayes_risk", i, model.bayes_risk(i), risk(i), 1);
    }
  } else if (model.tried.size() != 1 || model.tried(0) != model.spec.k.front()) {
    same.number("k", model.spec.k.front(), model.tried(0), 0);
  }
  if (same.finding()) same.report(out);
  return out;
}

KnnModel updated(const KnnModel& model, const Rows& rows, const FitOptions& options) {
  require(rows.width() == model.width() && static_cast<Index>(rows.classes.size()) == model.class_count(),
          "knn: the rows do not have the columns and classes of the model");
  MemoryRows before(model.points);
  Labels codes;
  if (model.of_classes) {
    for (const double code : model.response) codes.push_back(static_cast<int>(code));
    before.labels(codes, rows.classes);
  } else {
    before.response({model.response.data(), at(model.response.size())});
  }
  before.weights({model.weight.data(), at(model.weight.size())});
  before.features = rows.features;
  before.levels = rows.levels;
  before.target = rows.target;
  return fit(Valid<Knn>(model.spec), StackedRows({&before, &rows}), options);
}

template const Method& method_of<Knn>();

}  // namespace lemma
