// lemma/validate/effect.cpp
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/validate/effect.hpp>
#include <numeric>

namespace lemma {
namespace {

void require_used(const TrainedModel& trained, std::string_view column) {
  const auto used = trained.design.columns();
  if (std::find(used.begin(), used.end(), column) != used.end()) return;
  throw Error(fmt::format("the model does not use a column '{}'; it uses {}", column, join_words(used)));
}

/// The same table with other values in one column.
Table with_column(const Table& table, Column column) {
  Table out({}, table.source());
  for (const Column& each : table.all()) out.add(each.name == column.name ? column : each);
  return out;
}
Column constant(const Column& like, const Column& values, Index k, Index rows) {
  Column out = like;
  if (like.type() == ColumnType::numeric)
    std::get<Numbers>(out.data).values.assign(at(rows), values.numbers().values[at(k)]);
  else std::get<Categories>(out.data).codes.assign(at(rows), values.categories().codes[at(k)]);
  return out;
}

/// What is said of each row: a number, or the probability of each class.
Matrix said_of(const TrainedModel& trained, const Table& table, const Execution& execution) {
  const Prediction said = trained.predict(table, {}, execution);
  if (said.probabilities().size() > 0) return said.probabilities();
  if (said.value().size() > 0) return said.value();
  if (const Matrix& several = said.matrix(kValuesPart.name); several.size() > 0) return several;
  throw Error(fmt::format("{} says neither numbers nor probabilities of rows, so that there is no effect to show",
                          trained.model->method().name()));
}

std::vector<std::string> output_names(const TrainedModel& trained, const Table& table) {
  const Prediction said = trained.predict(table.slice(0, std::min<Index>(1, table.rows())));
  for (const std::string_view name : {kProbabilitiesPart.name, kValuePart.name, kValuesPart.name})
    if (const PredictedPart* part = said.find(name)) return column_names(*part, trained.names());
  throw Error(fmt::format("{} says neither numbers nor probabilities of rows, so that there is no effect to show",
                          trained.model->method().name()));
}

/// Quantiles of the rows, those that are equal once: the least value and the greatest among them.
Column places_of(const Column& column, Index points) {
  Column out{column.name, column.data};
  if (column.type() == ColumnType::categorical) {
    auto& codes = std::get<Categories>(out.data).codes;
    std::sort(codes.begin(), codes.end());
    codes.erase(std::unique(codes.begin(), codes.end()), codes.end());
    std::erase(codes, -1);
    return out;
  }
  auto& values = std::get<Numbers>(out.data).values;
  std::erase_if(values, [](double v) { return std::isnan(v); });
  std::sort(values.begin(), values.end());
  std::vector<double> places;
  for (Index k = 0; k < points && !values.empty(); ++k) {
    const double share = static_cast<double>(k) / static_cast<double>(points - 1);
    const double place = values[static_cast<std::size_t>(std::llround(share * static_cast<double>(values.size() - 1)))];
    if (places.empty() || place > places.back()) places.push_back(place);
  }
  values = std::move(places);
  return out;
}

/// Of each row where its value lies: numbers in (v_{k-1}, v_k], the least with the second; categories at v_k. -1: missing.
std::vector<Index> interval_of(const Column& column, const Column& places) {
  std::vector<Index> out;
  if (column.type() == ColumnType::categorical) {
    const auto& codes = places.categories().codes;
    for (const auto code : column.categories().codes)
      out.push_back(code < 0 ? -1 : std::lower_bound(codes.begin(), codes.end(), code) - codes.begin());
    return out;
  }
  const auto& values = places.numbers().values;
  for (const double v : column.numbers().values)
    out.push_back(
        std::isnan(v) ? -1 : std::max<Index>(1, std::lower_bound(values.begin(), values.end(), v) - values.begin()));
  return out;
}

/// Steps from each place to the next, by the rows that lie there: those of the interval, or of either category.
Matrix accumulate(const TrainedModel& trained, const Table& table, const Column& column, const Effect& effect,
                  const std::vector<Index>& interval, const Execution& execution) {
  const Index points = effect.partial.rows();
  const bool categories = column.type() == ColumnType::categorical;
  Matrix out = Matrix::Zero(points, effect.partial.cols());
  for (Index k = 1; k < points; ++k) {
    std::vector<Index> rows;
    for (std::size_t i = 0; i < interval.size(); ++i)
      if (interval[i] == k || (categories && interval[i] == k - 1)) rows.push_back(static_cast<Index>(i));
    out.row(k) = out.row(k - 1);
    if (rows.empty()) continue;
    const Table here = table.select(rows);
    const auto count = static_cast<Index>(rows.size());
    const Column& own = here.column(column.name);
    const Matrix step = said_of(trained, with_column(here, constant(own, effect.at, k, count)), execution) -
                        said_of(trained, with_column(here, constant(own, effect.at, k - 1, count)), execution);
    out.row(k) += step.colwise().mean();
  }
  Eigen::RowVectorXd mean = Eigen::RowVectorXd::Zero(out.cols());  // a row counts as the middle of its interval
  double known = 0;
  for (const Index k : interval) {
    if (k < 0) continue;
    mean += categories ? Eigen::RowVectorXd(out.row(k)) : Eigen::RowVectorXd((out.row(k - 1) + out.row(k)) / 2);
    ++known;
  }
  return out.rowwise() - mean / known;
}

}  // namespace

Effect effect(const TrainedModel& trained, const Table& table, std::string_view column, const EffectOptions& options) {
  require_used(trained, column);
  require(options.points >= 2, fmt::format("points is {}; it must be at least 2", options.points));
  const Column& own = table.column(column);
  if (own.type() == ColumnType::text)
    throw Error(fmt::format("'{}' is text; effects are those of numbers and categories", column));
  Effect out;
  out.column = own.name;
  out.at = places_of(own, options.points);
  const Index points = out.at.rows();
  if (points < 2)
    throw Error(fmt::format("'{}' has {} in {}; an effect takes two values at least", column, count_of(points, "value"),
                            table.source().empty() ? "the table" : table.source()));
  out.outputs = output_names(trained, table);
  out.partial.resize(points, static_cast<Index>(out.outputs.size()));
  for (Index k = 0; k < points; ++k) {
    options.execution.report(0.5 * static_cast<double>(k) / static_cast<double>(points), "partial dependence");
    out.partial.row(k) =
        said_of(trained, with_column(table, constant(own, out.at, k, table.rows())), options.execution.part(0, 0))
            .colwise()
            .mean();
  }
  const auto interval = interval_of(own, out.at);
  out.rows.assign(at(points), 0.0);
  for (const Index k : interval)
    if (k >= 0) ++out.rows[at(k)];
  out.accumulated = accumulate(trained, table, own, out, interval, options.execution.part(0.5, 0.5));
  return out;
}

Table to_table(const Effect& effect) {
  Table out({}, effect.column);
  out.add(effect.at);
  out.add(numeric("rows", effect.rows));
  const auto add = [&](std::string_view kind, const Matrix& values) {
    for (Index j = 0; j < values.cols(); ++j) {
      const std::string& name = effect.outputs[at(j)];
      const std::string full = values.cols() == 1 ? std::string(kind) : fmt::format("{}_{}", kind, name);
      out.add(numeric(full, {values.col(j).begin(), values.col(j).end()}));
    }
  };
  add("partial", effect.partial);
  add("accumulated", effect.accumulated);
  return out;
}

}  // namespace lemma
