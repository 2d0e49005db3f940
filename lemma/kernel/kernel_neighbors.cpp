// lemma/kernel/kernel_neighbors.cpp
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/geometry/kernel/shown.hpp>
#include <lemma/geometry/neighbors/vote.hpp>
#include <lemma/kernel/kernel_neighbors/parts.hpp>
#include <lemma/kernel/shared/kept_order.hpp>
#include <lemma/model/comparison.hpp>
#include <lemma/model/one_vs_rest.hpp>

namespace lemma {
namespace kernel_neighbors {

Vector say(const KernelNeighborsModel& model, const Neighbors& neighbors) {
  std::vector<double> response, counts = neighbors.copies;
  for (const Index row : neighbors.row) response.push_back(model.response(row));
  const bool by_distance = model.spec.vote == NeighborVote::distance;
  weigh(by_distance ? VoteWeights::distance : VoteWeights::uniform, neighbors.distance, 0, counts);
  return vote(response, counts, model.of_classes ? model.counts.size() : 0);
}

double leave_one_out_error(const KernelNeighborsModel& model, const Points& points, bool sort_all,
                           const Execution& execution) {
  if (points.count() > KernelNeighborsModel::kMostLeftOut || model.weight.sum() <= 1)
    return KernelNeighborsModel::kNone;
  Vector error(points.count());
  const Search search(model.spec.kernel, points, model.weight, model.spec.k);
  search.each_left_out(sort_all, execution, [&](Index i, const Neighbors& neighbors) {
    const Vector said = say(model, neighbors);
    Index best = 0;
    if (model.of_classes) said.maxCoeff(&best);
    const double off = said(0) - model.response(i);
    error(i) = model.of_classes ? (static_cast<double>(best) != model.response(i) ? 1.0 : 0.0) : off * off;
  });
  return model.weight.dot(error) / model.weight.sum();
}

}  // namespace kernel_neighbors

namespace {

using kernel_neighbors::Neighbors;
using kernel_neighbors::Search;

void take_response(KernelNeighborsModel& model, const KernelRows& data, const std::vector<std::string>& classes) {
  model.of_classes = !classes.empty();
  model.weight = data.weight;
  model.response = data.y;
  model.counts = Vector::Constant(1, data.mass());
  if (!model.of_classes) return;
  model.counts = class_counts(KernelNeighbors::name, data, classes);
  for (Index i = 0; i < data.count(); ++i) model.response(i) = data.label_of(i);
}

Certificate certificate_of(const KernelNeighborsModel& model, double found) {
  Certificate out;
  out.strength = Strength::consistent;
  out.kind = "difference of the leave-one-out error";
  out.tolerance = 1e-9;
  out.stopped = "closed form";
  const bool none = std::isnan(model.leave_one_out_error) && std::isnan(found);
  const double size = std::abs(found);
  out.value = none || model.leave_one_out_error == found ? 0 : std::abs(model.leave_one_out_error - found) / size;
  out.message =
      none ? std::string(
                 "The rows that the model keeps are the rows; there are too many, or too few, to leave "
                 "each out.")
           : fmt::format(
                 "The rows that the model keeps are the rows, and the error of predicting each from the others "
                 "is theirs up to {:.1e} of it (allowed {:.0e}). There is no optimum to prove: the method is "
                 "its rows.",
                 out.value, out.tolerance);
  return out;
}

}  // namespace

void KernelNeighbors::check() const {
  require(
      !kernel.contains<Precomputed>(),
      "kernel_neighbors: a precomputed kernel does not tell the value of a new row with itself, without which there "
      "are no distances; give the kernel and the rows");
}

void KernelNeighborsModel::check() const {
  points.check(KernelNeighbors::name, spec.kernel, response.size());
  require(response.size() > 0 && response.allFinite() && weight.size() == response.size() && weight.allFinite() &&
              (weight.array() > 0).all(),
          "kernel_neighbors: the responses and weights of the rows are not usable");
  require(counts.size() >= (of_classes ? 2 : 1) && counts.allFinite(), "kernel_neighbors: the counts are not usable");
  if (!of_classes) return;
  for (const double code : response)
    require(code >= 0 && code < static_cast<double>(counts.size()) && code == std::floor(code),
            "kernel_neighbors: the class of a row is none of the classes");
}

std::vector<Neighbors> KernelNeighborsModel::neighbors(const MatrixView& x) const {
  require_width(*this, x.cols());
  std::vector<Neighbors> out(static_cast<std::size_t>(x.rows()));
  const Search search(spec.kernel, points.points(spec.kernel, {}), weight, spec.k);
  search.each(x, {}, [&](Index i, const Neighbors& found) { out[static_cast<std::size_t>(i)] = found; });
  return out;
}

namespace {

/// What the neighbours say of each row: shares of the classes, or the mean of the numbers.
Matrix votes(const KernelNeighborsModel& model, const MatrixView& x) {
  Matrix out(x.rows(), model.counts.size());
  const auto found = model.neighbors(x);
  for (Index i = 0; i < x.rows(); ++i)
    out.row(i) = kernel_neighbors::say(model, found[static_cast<std::size_t>(i)]).transpose();
  return out;
}

}  // namespace

Matrix KernelNeighborsModel::probabilities(const MatrixView& x) const {
  require(of_classes, "kernel_neighbors: this model predicts numbers, not classes: predict() gives them");
  return votes(*this, x);
}

Labels KernelNeighborsModel::classify(const MatrixView& x) const { return greatest_class(probabilities(x)); }

Vector KernelNeighborsModel::predict(const MatrixView& x) const {
  require(!of_classes, "kernel_neighbors: this model tells classes, not numbers: classify() gives them");
  return votes(*this, x).col(0);
}

Prediction KernelNeighborsModel::prediction(const MatrixView& x, const PredictOptions&) const {
  Prediction out;
  if (!of_classes) return out.add(kValuePart, predict(x));
  Matrix votes = probabilities(x);
  out.add(kClassPart, greatest_class(votes));
  return out.add(kProbabilitiesPart, std::move(votes));
}

std::string KernelNeighborsModel::summary(const Names& names) const {
  std::string out =
      fmt::format("Kernel: {}\n{} nearest of {}\n", shown(spec.kernel), spec.k, count_of(response.size(), "row"));
  if (of_classes) {
    TextTable table;
    for (Index k = 0; k < counts.size(); ++k) {
      const auto at = static_cast<std::size_t>(k);
      table.right(at < names.classes.size() ? names.classes[at] : fmt::format("class {}", k + 1),
                  {format_significant(counts(k))});
    }
    out += "\nRows of each class:\n" + table.str();
  }
  if (!std::isnan(leave_one_out_error))
    out +=
        fmt::format("\n{} of predicting each row from the others: {}\n",
                    of_classes ? "Share of errors" : "Mean squared error", format_significant(leave_one_out_error, 5));
  return out;
}

KernelNeighborsModel fit(const Valid<KernelNeighbors>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  const KernelRows data = kernel_rows(KernelNeighbors::name, spec->kernel, rows, execution.part(0, 0.1));
  require(spec->k <= data.mass(),
          fmt::format("kernel_neighbors: k is {}, and there are {} rows: k must be at most that", spec->k,
                      format_significant(data.mass())));
  KernelNeighborsModel model;
  model.spec = *spec;
  model.spec.kernel = spec->kernel.resolved(data.points, data.weights());
  take_response(model, data, rows.classes);
  if (!model.spec.kernel.is_positive())
    if (const GramCheck check = check_gram(BoundKernel(model.spec.kernel, data.points), execution);
        !check.is_positive())
      model.warnings.push_back(
          fmt::format("the matrix of {} is not positive semidefinite ({}): these are no distances in any space",
                      model.spec.kernel.text(), check.text()));
  model.points = KeptRows::of(model.spec.kernel, data.points);
  model.leave_one_out_error =
      kernel_neighbors::leave_one_out_error(model, data.points, false, execution.part(0.1, 1, "leaving each row out"));
  if (data.mass() <= 1) model.warnings.emplace_back("there is one row alone: no leave-one-out error");
  require(!std::isinf(model.leave_one_out_error),
          fmt::format("kernel_neighbors: the squares of '{}' are too large to be added up", rows.target));
  model.certificate = certificate_of(model, model.leave_one_out_error);
  return model;
}

Certificate certify(const KernelNeighborsModel& model, const Rows& rows, const Execution& execution) {
  const KernelRows given = kernel_rows(KernelNeighbors::name, model.spec.kernel, rows, execution.part(0, 0.1));
  const KernelRows data = in_kept_order(model.spec.kernel, model.points, given, [&] {
    KernelNeighborsModel of_given;
    take_response(of_given, given, rows.classes);
    Ties ties{Matrix(model.response.size(), 2), Matrix(given.count(), 2)};
    ties.kept << model.response, model.weight;
    ties.given << of_given.response, of_given.weight;
    return ties;
  });
  require(
      data.count() == model.response.size(),
      fmt::format("kernel_neighbors: the model keeps {} rows and there are {}", model.response.size(), data.count()));
  KernelNeighborsModel anew = model;
  take_response(anew, data, rows.classes);
  Certificate out =
      certificate_of(model, kernel_neighbors::leave_one_out_error(anew, data.points, true, execution.part(0.1, 1)));
  Comparison same;
  compare_rows(same, model.spec.kernel, model.points, {}, data.points);
  for (Index i = 0; i < data.count(); ++i) {
    same.entry("response", i, model.response(i), anew.response(i), 0);
    same.entry("weight", i, model.weight(i), anew.weight(i), 0);
  }
  for (Index k = 0; k < anew.counts.size(); ++k) same.entry("counts", k, model.counts(k), anew.counts(k), 1);
  if (same.finding()) same.report(out);
  return out;
}

template const Method& method_of<KernelNeighbors>();

}  // namespace lemma
