// lemma/data/design/bind.cpp: finding the columns of a table that a design needs, and which rows are complete.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <lemma/core/error.hpp>
#include <lemma/data/design/parts.hpp>
#include <limits>

namespace lemma {
namespace {

std::string source_of(const Table& table) { return table.source().empty() ? "the table" : table.source(); }

/// "a, b, c and 7 more"
std::string some_of(const std::vector<std::string>& names, std::size_t most) {
  const std::size_t shown = std::min(most, names.size());
  std::string out =
      fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  if (names.size() > shown) out += fmt::format(" and {} more", names.size() - shown);
  return out;
}

/// What may be done with rows whose level is not known.
std::string_view way_out(Use use) {
  if (use == Use::training) return "";
  return use == Use::judging ? "; --missing keep leaves such rows out" : "; --missing keep leaves such rows empty";
}

bool reads_as_number(const std::string& text) {
  double ignored = 0;
  const auto [stop, status] = std::from_chars(text.data(), text.data() + text.size(), ignored);
  return status == std::errc() && stop == text.data() + text.size();
}

template <class Key, class Name>
void number_the_levels(Index count, LocalCodes& out, const std::function<const Key*(Index)>& value, const Name& name) {
  std::unordered_map<Key, std::int32_t> number;
  out.own_codes.resize(static_cast<std::size_t>(count));
  for (Index i = 0; i < count; ++i) {
    const Key* key = value(i);
    if (!key) {
      out.own_codes[static_cast<std::size_t>(i)] = -1;
      continue;
    }
    const auto [found, is_new] = number.try_emplace(*key, static_cast<std::int32_t>(out.own_levels.size()));
    if (is_new) out.own_levels.push_back(name(*key));
    out.own_codes[static_cast<std::size_t>(i)] = found->second;
  }
  out.codes = out.own_codes;
  out.levels = out.own_levels;
}

}  // namespace

LocalCodes local_codes(const Column& column, Index first, Index count) {
  LocalCodes out;
  if (column.type() == ColumnType::categorical) {
    out.codes =
        std::span(column.categories().codes).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
    out.levels = column.categories().levels;
  } else if (column.type() == ColumnType::numeric) {
    const double* values = column.numbers().values.data() + first;
    const Quantity quantity = column.numbers().quantity;
    number_the_levels<double>(
        count, out, [=](Index i) { return std::isnan(values[i]) ? nullptr : values + i; },
        [=](double value) { return quantity == Quantity::number ? shortest(value) : to_text(value, quantity); });
  } else {
    const Texts& texts = column.texts();
    number_the_levels<std::string>(
        count, out,
        [&](Index i) {
          const auto row = static_cast<std::size_t>(first + i);
          return row < texts.missing.size() && texts.missing[row] ? nullptr : &texts.values[row];
        },
        [](const std::string& text) { return text; });
  }
  return out;
}

BoundTable::BoundTable(const DesignParts& parts, const Table& table, Use use, Index base)
    : parts_(parts), table_(table), use_(use), base_(base) {
  for (const auto& column : table.all()) columns_.emplace(column.name, &column);
  for (const auto& name : parts.columns)
    if (!find(name))
      throw Error(fmt::format("column '{}' is missing from {}{}; it has: {}", name, source_of(table),
                              did_you_mean(name, table.names()), some_of(table.names(), 20)));
  for (const auto& name : parts.numeric_columns) bind_numbers(name);
  for (const auto& variable : parts.variables)
    if (variable.categorical()) bind_levels(variable);
    else if (variable.pieces()) counters_.emplace(&variable, PieceCounter(variable));
  has_response_ = parts.response.kind != Response::Kind::none && response_is_usable();
  if (!has_response_) return;
  for (const auto& part : parts.response.parts) bind_levels(part);
}

const Column* BoundTable::find(const std::string& name) const {
  const auto found = columns_.find(name);
  return found == columns_.end() ? nullptr : found->second;
}

const Column& BoundTable::column(const std::string& name) const {
  const Column* found = find(name);
  require(found != nullptr, fmt::format("column '{}' is missing from {}", name, source_of(table_)));
  return *found;
}

/// Numbers, or nothing at all: a column without any value has no type of its own.
void BoundTable::bind_numbers(const std::string& name) {
  const Column& found = column(name);
  if (found.type() == ColumnType::numeric) return;
  bool all_missing = true;
  for (Index row = 0; row < found.rows(); ++row) {
    if (found.is_missing(row)) continue;
    all_missing = false;
    if (!reads_as_number(found.text(row)))
      throw Error(fmt::format("column '{}' of {} must be numeric, but it is {}: '{}' stands in row {}", name,
                              source_of(table_), name_of(found.type()), found.text(row), row_number(row)));
  }
  if (!all_missing)
    throw Error(fmt::format("column '{}' of {} must be numeric, but it was read as {}; read it with --type {}=numeric",
                            name, source_of(table_), name_of(found.type()), name));
  nothing_.assign(static_cast<std::size_t>(table_.rows()), std::numeric_limits<double>::quiet_NaN());
}

void BoundTable::bind_levels(const Variable& variable) {
  std::unordered_map<std::string, std::int32_t> code;
  for (std::size_t i = 0; i < variable.levels.size(); ++i)
    code.emplace(variable.levels[i], static_cast<std::int32_t>(i));
  const Column& found = column(variable.column());
  if (found.type() != ColumnType::categorical) {
    code_.emplace(&variable, std::move(code));
    return;
  }
  std::vector<std::int32_t> remap;
  for (const auto& level : found.categories().levels) {
    const auto known = code.find(level);
    remap.push_back(known == code.end() ? -2 : known->second);
  }
  remap_.emplace(&variable, std::move(remap));
}

/// After training the response may be absent or of another kind: then there is none. For predictions it may be empty too.
bool BoundTable::response_is_usable() const {
  bool any = false;
  for (const auto& name : parts_.response.columns) {
    const Column* found = find(name);
    if (!found) {
      require(use_ != Use::training, fmt::format("the response column '{}' is missing from {}{}", name,
                                                 source_of(table_), did_you_mean(name, table_.names())));
      return false;
    }
    if (parts_.response.kind != Response::Kind::classes && found->type() != ColumnType::numeric) {
      require(use_ != Use::training, fmt::format("the response '{}' is {}, not numeric", name, name_of(found->type())));
      return false;
    }
    any = any || use_ != Use::prediction || found->missing() < found->rows();
  }
  return any;
}

const double* BoundTable::numbers(const std::string& name, Index first) const {
  const Column& found = column(name);
  return (found.type() == ColumnType::numeric ? found.numbers().values.data() : nothing_.data()) + first;
}

void BoundTable::codes(const Variable& variable, Index first, Index count, std::int32_t* out) const {
  const LocalCodes local = local_codes(column(variable.column()), first, count);
  if (const auto remap = remap_.find(&variable); remap != remap_.end()) {
    for (Index i = 0; i < count; ++i) {
      const std::int32_t code = local.codes[static_cast<std::size_t>(i)];
      out[i] = code < 0 ? -1 : remap->second[static_cast<std::size_t>(code)];
    }
    return;
  }
  const auto& code = code_.at(&variable);
  std::vector<std::int32_t> known;
  for (const auto& level : local.levels) {
    const auto found = code.find(level);
    known.push_back(found == code.end() ? -2 : found->second);
  }
  for (Index i = 0; i < count; ++i) {
    const std::int32_t c = local.codes[static_cast<std::size_t>(i)];
    out[i] = c < 0 ? -1 : known[static_cast<std::size_t>(c)];
  }
}

void BoundTable::fail_unknown_level(const Variable& variable, Index row) const {
  const std::string level = column(variable.column()).text(row);
  const bool all_shown = variable.levels.size() <= 10;
  throw Error(fmt::format("level '{}' of '{}' in row {} was not seen in training{}; known: {}{}", level,
                          variable.column(), row_number(row), all_shown ? "" : did_you_mean(level, variable.levels),
                          some_of(variable.levels, 10), way_out(use_)));
}

std::vector<std::string> BoundTable::outcomes() const {
  std::vector<std::string> names;
  if (use_ == Use::prediction) return names;
  const auto add = [&](const std::string& name) {
    const bool is_there = !name.empty() && (use_ == Use::training || find(name));
    if (is_there && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  if (has_response_)
    for (const auto& name : parts_.response.columns) add(name);
  add(parts_.weights);
  add(parts_.precision);
  if (use_ != Use::training) return names;
  add(parts_.cluster);
  for (const auto& name : parts_.complete)
    if (std::find(parts_.columns.begin(), parts_.columns.end(), name) == parts_.columns.end()) add(name);
  return names;
}

namespace {

/// Marks the rows in which the column is missing, and counts them.
Index mark_missing(const Column& column, Index first, Index count, std::vector<char>& mark) {
  Index found = 0;
  const auto each = [&](auto&& missing) {
    for (Index i = 0; i < count; ++i)
      if (missing(static_cast<std::size_t>(first + i))) {
        mark[static_cast<std::size_t>(i)] = 1;
        ++found;
      }
  };
  if (column.type() == ColumnType::numeric) {
    const auto& values = column.numbers().values;
    each([&](std::size_t row) { return std::isnan(values[row]); });
  } else if (column.type() == ColumnType::categorical) {
    const auto& codes = column.categories().codes;
    each([&](std::size_t row) { return codes[row] < 0; });
  } else {
    each([&](std::size_t row) { return column.is_missing(static_cast<Index>(row)); });
  }
  return found;
}

/// Marks the rows whose level the training rows did not have, and counts them.
Index mark_unseen(const BoundTable& bound, const Variable& variable, Index first, Index count,
                  std::vector<char>& mark) {
  std::vector<std::int32_t> codes(static_cast<std::size_t>(count));
  bound.codes(variable, first, count, codes.data());
  Index found = 0;
  for (std::size_t i = 0; i < codes.size(); ++i)
    if (codes[i] == -2) {
      mark[i] = 1;
      ++found;
    }
  return found;
}

}  // namespace

Completeness completeness(const BoundTable& bound, Missing policy, Index first, Index count) {
  Completeness result;
  std::vector<char> predictor(static_cast<std::size_t>(count)), outcome(static_cast<std::size_t>(count));
  const auto note = [&](const std::string& name, std::vector<char>& mark) {
    const Index missing = mark_missing(bound.column(name), first, count, mark);
    if (missing > 0) result.missing.emplace_back(name, missing);
  };
  for (const auto& name : bound.predictors()) note(name, predictor);
  if (bound.use() != Use::training && (bound.parts().unseen == Unseen::missing || policy == Missing::keep))
    for (const auto& variable : bound.parts().variables) {
      const Index unseen = variable.categorical() ? mark_unseen(bound, variable, first, count, predictor) : 0;
      if (unseen > 0) result.unseen.emplace_back(variable.column(), unseen);
    }
  for (const auto& name : bound.outcomes()) note(name, outcome);
  result.kept.reserve(static_cast<std::size_t>(count));
  for (Index i = 0; i < count; ++i) {
    const bool x = predictor[static_cast<std::size_t>(i)], y = outcome[static_cast<std::size_t>(i)];
    result.incomplete += x || y;
    if (!y && (!x || gaps_of(policy) != Gaps::refuse)) result.kept.push_back(first + i);  // an outcome is never imputed
  }
  return result;
}

std::string describe_missing(const Completeness& found, Index rows) {
  std::string values, where;
  const auto add = [&](const Completeness::Counts& counts, std::string_view one, std::string_view several) {
    if (counts.empty()) return;
    Index total = 0;
    std::vector<std::string> columns;
    for (const auto& [name, count] : counts) {
      total += count;
      columns.push_back(fmt::format("{} ({})", name, count));
    }
    values += fmt::format("{}{} {}", values.empty() ? "" : " and ", total, total == 1 ? one : several);
    where += fmt::format("{}{}", where.empty() ? "" : "; ", some_of(columns, 10));
  };
  add(found.missing, "missing value", "missing values");
  add(found.unseen, "level not seen in training", "levels not seen in training");
  return fmt::format("{} in {} of {} rows: {}", values, found.incomplete, rows, where);
}

}  // namespace lemma
