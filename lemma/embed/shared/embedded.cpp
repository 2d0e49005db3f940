// lemma/embed/shared/embedded.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/finite.hpp>
#include <lemma/core/hash.hpp>
#include <lemma/core/text.hpp>
#include <lemma/embed/shared/embedded.hpp>
#include <lemma/embed/shared/way_back.hpp>
#include <lemma/math/eigen.hpp>

namespace lemma {
namespace {

std::vector<std::uint64_t> row_hashes(const Matrix& rows) {
  std::vector<std::uint64_t> out;
  for (Index i = 0; i < rows.rows(); ++i) out.push_back(hash_numbers({rows.row(i).data(), at(rows.cols())}));
  std::sort(out.begin(), out.end());
  return out;
}

bool same_number(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

}  // namespace

void Embedded::check_embedded(std::string_view method, Input input, const Metric& metric, int asked,
                              Index left_out) const {
  const auto fits = [&](bool condition, const char* what) { require(condition, fmt::format("{}: {}", method, what)); };
  const Index n = count(), all = n + left_out;
  fits(n >= 2 && dimensions() >= 1 && dimensions() == asked, "the coordinates do not fit the dimensions");
  fits(places.allFinite(), "a coordinate is not finite");
  fits(input == Input::rows ? things.empty() : static_cast<Index>(things.size()) == n && points.size() == 0,
       "the names of the things do not fit the coordinates");
  if (input == Input::rows) {
    fits(points.rows() == n && points.cols() == columns && columns > 0, "the rows do not fit the coordinates");
    fits(metric.takes_missing() || all_finite(points), "a row has a number that is not finite");
    fits(!points.array().isInf().any(), "a row has a number that is infinite");
  } else {
    fits(input == Input::pairs ? columns == 3 || columns == 4 : columns == all || columns == all - 1 || columns == 1,
         "the columns do not fit the things");
  }
  fits(std::isfinite(stress_1) && !std::isinf(trustworthiness + continuity + kept_neighbors),
       "a measure of the picture is not usable");
  fits(inverse_error.size() == 0 ||
           (inverse_error.size() == points.cols() && inverse_error.allFinite() && (inverse_error.array() >= 0).all()),
       "the error of the way back does not fit the columns");
  fits(neighbors >= 1 && shepard.cols() == 3 && shepard.rows() >= 1 && shepard.allFinite(),
       "the measures of the picture do not fit together");
}

void Embedded::describe(const Compared& data, Index width, const Execution& execution) {
  points = data.points;
  things = data.names;
  columns = width;
  inverse_error = way_back_error(*this, data.metric, execution.part(0, 0.1));
  take(quality_of(data.dissimilarities, data.weight, places, execution.part(0.1, 1)));
}

void Embedded::describe(const Matrix& rows, const BoundMetric& metric, const Execution& execution) {
  points = rows;
  columns = rows.cols();
  inverse_error = way_back_error(*this, metric.metric(), execution.part(0, 0.1));
  take(quality_of(Dissimilarities::on_demand(rows, metric), {}, places, execution.part(0.1, 1)));
}

void Embedded::take(const Quality& quality) {
  stress_1 = quality.stress_1;
  trustworthiness = quality.trustworthiness;
  continuity = quality.continuity;
  kept_neighbors = quality.kept_neighbors;
  neighbors = quality.neighbors;
  shepard = quality.shepard;
}

std::string Embedded::picture() const {
  std::string out = fmt::format("Picture of {} in {}: stress-1 {}", count_of(count(), "thing"),
                                count_of(dimensions(), "dimension"), format_fixed(stress_1, 4));
  if (!std::isnan(trustworthiness))
    out += fmt::format(", and of the {} nearest: trustworthiness {}, continuity {}, kept {}", neighbors,
                       format_fixed(trustworthiness, 4), format_fixed(continuity, 4), format_fixed(kept_neighbors, 4));
  return wrap(out + ".", 100) + "\n" + told_way_back(*this);
}

Compared compared_again(std::string_view method, const Embedded& model, Input input, const Metric& metric,
                        const Rows& rows, Comparison& same, const Execution& execution) {
  if (input != Input::rows) {
    Compared found = compare_known(method, input, metric, rows, execution);
    if (found.count() != model.count())
      throw Error(fmt::format("{}: the model is about {} and the data are about {}", method,
                              count_of(model.count(), "thing"), count_of(found.count(), "thing")));
    for (Index i = 0; i < found.count(); ++i)
      same.entry("things", i, model.things[at(i)] == found.names[at(i)] ? 0 : 1, 0, 1);
    return found;
  }
  const Matrix given = rows_again(method, model, rows, same, execution.part(0, 0.05));
  MemoryRows ordered(given);
  ordered.features = rows.features;
  ordered.levels = rows.levels;
  return compare(method, input, metric, ordered, execution.part(0.05, 1));
}

Matrix rows_again(std::string_view method, const Embedded& model, const Rows& rows, Comparison& same,
                  const Execution& execution) {
  if (rows.count() != model.count())
    throw Error(fmt::format("{}: the model was fitted on {} and is given {}", method, count_of(model.count(), "row"),
                            count_of(rows.count(), "row")));
  Matrix given = gather(rows, execution);
  if (row_hashes(given) == row_hashes(model.points)) given = model.points;
  for (Index i = 0; i < given.rows() && !same.finding(); ++i)
    for (Index j = 0; j < given.cols(); ++j)
      if (!same_number(given(i, j), model.points(i, j)))
        same.entry("points", i * given.cols() + j, model.points(i, j), given(i, j), std::abs(given(i, j)), 0);
  return given;
}

namespace {

void compare_picture(Comparison& same, const Embedded& model, const Dissimilarities& things,
                     const std::vector<double>& weight, const Metric& metric, const Execution& execution) {
  if (model.inverse_error.size() > 0) {  // older models do not tell it
    const Vector expected = way_back_error(model, metric, execution.part(0, 0.1));
    for (Index j = 0; j < model.inverse_error.size(); ++j)
      same.entry("inverse_error", j, model.inverse_error(j), j < expected.size() ? expected(j) : 0,
                 model.points.col(j).cwiseAbs().maxCoeff(), 1e-7);
  }
  const Quality expected = quality_of(things, weight, model.places, execution.part(0.1, 1));
  same.number("neighbors", static_cast<double>(model.neighbors), static_cast<double>(expected.neighbors), 1);
  same.number("stress_1", model.stress_1, expected.stress_1, 1);
  same.number("trustworthiness", model.trustworthiness, expected.trustworthiness, 1);
  same.number("continuity", model.continuity, expected.continuity, 1);
  same.number("kept_neighbors", model.kept_neighbors, expected.kept_neighbors, 1);
  if (model.shepard.rows() != expected.shepard.rows()) return same.number("shepard", 1, 0, 1);
  const double unit_of[] = {expected.shepard.col(0).maxCoeff(), expected.shepard.col(1).maxCoeff(),
                            expected.shepard.col(1).maxCoeff()};
  for (Index i = 0; i < expected.shepard.rows(); ++i)
    for (Index j = 0; j < 3; ++j)
      same.entry("shepard", 3 * i + j, model.shepard(i, j), expected.shepard(i, j), unit_of[j]);
}

}  // namespace

void compare_quality(Comparison& same, const Embedded& model, const Compared& data, const Execution& execution) {
  compare_picture(same, model, data.dissimilarities, data.weight, data.metric, execution);
}

void compare_quality(Comparison& same, const Embedded& model, const Dissimilarities& things,
                     const std::vector<double>& weight, const Execution& execution) {
  const PackedPoints* rows = things.points();
  compare_picture(same, model, things, weight, rows ? rows->metric().metric() : Metric(), execution);
}

void report(const Comparison& same, Certificate& certificate) {
  if (!same.finding()) return;
  same.report(certificate);
  certificate.message = fmt::format(
      "What the model tells is not what the data give: {}'{}' is off by {:.1e} of its size (allowed {:.0e}).",
      same.finding()->place, same.finding()->field, same.finding()->value, same.finding()->tolerance);
}

void for_each_new(std::string_view method, const Embedded& model, Input input, const Metric& metric,
                  const MatrixView& x, const std::function<void(Index, std::span<const double>)>& visit,
                  const std::vector<Index>& left_out) {
  require_width(method, model.columns, x.cols());
  if (input == Input::pairs)
    throw Error(fmt::format(
        "{}: a model of pairs does not place new things; give their dissimilarities as a square to it", method));
  const Index n = model.count();
  if (input == Input::square && model.columns != n + static_cast<Index>(left_out.size()))
    throw Error(fmt::format("{}: a model of a triangle does not place new things; fit it to the square", method));
  if (input == Input::square) {
    std::vector<double> far(at(n));
    for (Index i = 0; i < x.rows(); ++i) {
      auto skipped = left_out.begin();
      for (Index column = 0, j = 0; column < x.cols(); ++column) {
        if (skipped != left_out.end() && *skipped == column) {
          ++skipped;
          continue;
        }
        far[at(j)] = x(i, column);
        if (!(far[at(j)] >= 0 && std::isfinite(far[at(j)])))
          throw Error(fmt::format("{}: the dissimilarity of row {} and '{}' is {}, must be a number of at least 0",
                                  method, i + 1, model.things[at(j)], far[at(j)]));
        ++j;
      }
      visit(i, far);
    }
    return;
  }
  if (x.rows() == 0) return;
  const BoundMetric bound(metric, model.columns);
  const PackedPoints points(bound, model.points);
  const Matrix mapped = bound.mapped(x);
  std::vector<double> to(at(points.panels() * simd::kPanel));
  for (Index i = 0; i < x.rows(); ++i) {
    points.distances(mapped.row(i).data(), 1, 0, points.panels(), to.data());
    visit(i, {to.data(), at(n)});
  }
}

Matrix along_axes(const Matrix& x) {
  const Matrix centred = x.rowwise() - x.colwise().mean();
  const Eigenpairs axes = symmetric_eigen(Matrix(centred.transpose() * centred));
  Matrix out = centred * axes.vectors;
  turn_columns(out);
  return out;
}

Execution to_the_end(const Execution& execution) {
  Execution out;
  out.threads = execution.threads;
  return out;
}

void say_cancelled(Certificate& certificate, long long steps) {
  if (certificate.strength != Strength::none && certificate.holds())
    return;  // they were there before the search knew it
  certificate.stopped = "cancelled";
  certificate.message = fmt::format("Cancelled after {}. {}", count_of(steps, "step"), certificate.message);
}

std::vector<std::string> dimension_names(Index count) {
  std::vector<std::string> out;
  for (Index k = 1; k <= count; ++k) out.push_back(fmt::format("D{}", k));
  return out;
}

}  // namespace lemma
