// lemma/data/table.cpp
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <lemma/core/error.hpp>
#include <lemma/data/dates.hpp>
#include <lemma/data/table.hpp>
#include <limits>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

namespace lemma {
namespace {

template <class T>
std::vector<T> gather(const std::vector<T>& values, std::span<const Index> rows) {
  std::vector<T> chosen;
  chosen.reserve(rows.size());
  for (const Index i : rows) chosen.push_back(values[static_cast<std::size_t>(i)]);
  return chosen;
}

template <class T>
std::vector<T> part(const std::vector<T>& values, Index first, Index count) {
  return {values.begin() + first, values.begin() + first + count};
}

/// The same column with each of its vectors passed through `pick`; levels and name stay.
template <class Pick>
Column rebuild(const Column& column, Pick pick) {
  switch (column.type()) {
    case ColumnType::numeric: return {column.name, Numbers{pick(column.numbers().values), column.numbers().quantity}};
    case ColumnType::categorical:
      return {column.name, Categories{pick(column.categories().codes), column.categories().levels}};
    case ColumnType::text: break;
  }
  return {column.name, Texts{pick(column.texts().values), pick(column.texts().missing)}};
}

bool is_missing_at(const std::vector<bool>& missing, std::size_t i) { return !missing.empty() && missing[i]; }

void check_mask(std::string_view name, std::size_t values, std::size_t missing) {
  if (missing != 0 && missing != values)
    throw Error(fmt::format("column '{}': {} values, but {} marks for missing", name, values, missing));
}

}  // namespace

std::string_view name_of(ColumnType type) {
  switch (type) {
    case ColumnType::numeric: return "numeric";
    case ColumnType::categorical: return "categorical";
    case ColumnType::text: break;
  }
  return "text";
}

bool Numbers::operator==(const Numbers& other) const {
  return quantity == other.quantity &&
         std::equal(values.begin(), values.end(), other.values.begin(), other.values.end(),
                    [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); });
}

Index Column::rows() const {
  return std::visit(
      [](const auto& d) -> Index {
        if constexpr (std::is_same_v<std::decay_t<decltype(d)>, Categories>) return static_cast<Index>(d.codes.size());
        else return static_cast<Index>(d.values.size());
      },
      data);
}

bool Column::is_missing(Index row) const {
  const auto i = static_cast<std::size_t>(row);
  switch (type()) {
    case ColumnType::numeric: return std::isnan(numbers().values[i]);
    case ColumnType::categorical: return categories().codes[i] < 0;
    case ColumnType::text: break;
  }
  return is_missing_at(texts().missing, i);
}

Index Column::missing() const {
  Index count = 0;
  for (Index i = 0; i < rows(); ++i) count += is_missing(i);
  return count;
}

std::string to_text(double value) { return std::isnan(value) ? std::string() : fmt::format("{}", value); }

std::string to_text(double value, Quantity quantity) {
  return quantity == Quantity::number || std::isnan(value) ? to_text(value) : moment_text(value, quantity);
}

std::string Column::text(Index row) const {
  if (is_missing(row)) return {};
  const auto i = static_cast<std::size_t>(row);
  switch (type()) {
    case ColumnType::numeric: return to_text(numbers().values[i], numbers().quantity);
    case ColumnType::categorical: return categories().levels[static_cast<std::size_t>(categories().codes[i])];
    case ColumnType::text: break;
  }
  return texts().values[i];
}

Column categorical(std::string name, const std::vector<std::string>& values, const std::vector<bool>& missing) {
  check_mask(name, values.size(), missing.size());
  Categories made;
  std::unordered_map<std::string_view, std::int32_t> code;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!is_missing_at(missing, i)) code.emplace(values[i], 0);
  for (const auto& [level, unused] : code) made.levels.emplace_back(level);
  std::sort(made.levels.begin(), made.levels.end());
  for (std::size_t k = 0; k < made.levels.size(); ++k) code[made.levels[k]] = static_cast<std::int32_t>(k);
  made.codes.reserve(values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    made.codes.push_back(is_missing_at(missing, i) ? -1 : code[values[i]]);
  return {std::move(name), std::move(made)};
}

Column numeric(std::string name, std::vector<double> values) { return {std::move(name), Numbers{std::move(values)}}; }

Column text(std::string name, std::vector<std::string> values, std::vector<bool> missing) {
  check_mask(name, values.size(), missing.size());
  missing.resize(values.size());
  return {std::move(name), Texts{std::move(values), std::move(missing)}};
}

Table::Table(std::vector<Column> columns, std::string source) : source_(std::move(source)) {
  std::unordered_set<std::string_view> seen;
  for (const auto& column : columns) {
    if (!seen.insert(column.name).second) throw Error(fmt::format("two columns are called '{}'", column.name));
    if (column.rows() != columns.front().rows())
      throw Error(fmt::format("column '{}' has {} rows, but column '{}' has {}", column.name, column.rows(),
                              columns.front().name, columns.front().rows()));
  }
  rows_ = columns.empty() ? 0 : columns.front().rows();
  columns_ = std::move(columns);
  learn_places();
}

/// A search through the names is quadratic in the columns when each is asked for: a sparse file may have a million.
void Table::learn_places() {
  constexpr std::size_t kFew = 64;
  if (columns_.size() <= kFew) return;
  for (std::size_t j = place_.size(); j < columns_.size(); ++j) place_.emplace(columns_[j].name, j);
}

const Column* Table::find(std::string_view name) const {
  if (!place_.empty()) {
    const auto place = place_.find(std::string(name));
    return place == place_.end() ? nullptr : &columns_[place->second];
  }
  const auto found = std::find_if(columns_.begin(), columns_.end(), [&](const Column& c) { return c.name == name; });
  return found == columns_.end() ? nullptr : &*found;
}

const Column& Table::column(std::string_view name) const {
  if (const Column* found = find(name)) return *found;
  throw Error(fmt::format("{}there is no column '{}'{}", source_.empty() ? "" : source_ + ": ", name,
                          did_you_mean(name, names())));
}

std::vector<std::string> Table::names() const {
  std::vector<std::string> names;
  names.reserve(columns_.size());
  for (const auto& column : columns_) names.push_back(column.name);
  return names;
}

void Table::add(Column column) {
  if (find(column.name)) throw Error(fmt::format("there is a column '{}' already", column.name));
  if (!columns_.empty() && column.rows() != rows_)
    throw Error(fmt::format("column '{}' has {} rows, but the table has {}", column.name, column.rows(), rows_));
  rows_ = column.rows();
  columns_.push_back(std::move(column));
  learn_places();
}

Table Table::select(std::span<const Index> rows) const {
  for (const Index i : rows)
    if (i < 0 || i >= rows_) throw Error(fmt::format("there is no row {}: the table has {} rows", i + 1, rows_));
  Table chosen;
  chosen.source_ = source_;
  chosen.notes_ = notes_;
  chosen.place_ = place_;
  chosen.rows_ = columns_.empty() ? 0 : static_cast<Index>(rows.size());
  chosen.columns_.reserve(columns_.size());
  for (const auto& column : columns_)
    chosen.columns_.push_back(rebuild(column, [&](const auto& values) { return gather(values, rows); }));
  return chosen;
}

Table Table::slice(Index first, Index count) const {
  if (first < 0 || count < 0 || first > rows_ - count)
    throw Error(fmt::format("there are no rows {} to {}: the table has {} rows", first + 1, first + count, rows_));
  Table chosen;
  chosen.source_ = source_;
  chosen.notes_ = notes_;
  chosen.place_ = place_;
  chosen.rows_ = count;
  chosen.columns_.reserve(columns_.size());
  for (const auto& column : columns_)
    chosen.columns_.push_back(rebuild(column, [&](const auto& values) { return part(values, first, count); }));
  return chosen;
}

}  // namespace lemma
