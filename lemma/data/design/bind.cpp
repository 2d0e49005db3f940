// lemma/data/design/bind.cpp: finding the columns of a table that a design needs, and the codes of their levels.
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

const double* present(const double& value) { return std::isnan(value) ? nullptr : &value; }

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

std::string some_of(const std::vector<std::string>& names, std::size_t most) {
  const std::size_t shown = std::min(most, names.size());
  std::string out =
      fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  if (names.size() > shown) out += fmt::format(" and {} more", names.size() - shown);
  return out;
}

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
        count, out, [=](Index i) { return present(values[i]); },
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

LocalCodes local_codes(const Variable& variable, const BoundRows& rows) {
  if (variable.takes_levels_of_column())
    return local_codes(rows.bound().column(variable.column()), rows.first(), rows.count());
  LocalCodes out;
  std::vector<double> values(static_cast<std::size_t>(rows.count()));
  evaluate(variable.value, rows, values.data());
  if (!variable.cuts && !variable.logical()) {
    number_the_levels<double>(
        rows.count(), out, [&](Index i) { return present(values[static_cast<std::size_t>(i)]); }, shortest);
    return out;
  }
  for (const double value : values)
    out.own_codes.push_back(variable.cuts ? variable.cut.piece_of(value) : std::isnan(value) ? -1 : value != 0);
  out.own_levels = variable.cuts ? variable.cut.labels : std::vector<std::string>{"FALSE", "TRUE"};
  out.codes = out.own_codes;
  out.levels = out.own_levels;
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
  const Column* found = variable.takes_levels_of_column() ? &column(variable.column()) : nullptr;
  if (!found || found->type() != ColumnType::categorical) {
    code_.emplace(&variable, std::move(code));
    return;
  }
  std::vector<std::int32_t> remap;
  for (const auto& level : found->categories().levels) {
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
    if (parts_.needs_numbers(name) && found->type() != ColumnType::numeric) {
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

BoundRows::BoundRows(const BoundTable& bound, Index first, Index count, Gaps gaps)
    : RowColumns(first, count), bound_(bound), gaps_(gaps) {
  if (gaps == Gaps::fill) raw_ = std::make_unique<BoundRows>(bound, first, count, Gaps::refuse);
}

const double* BoundRows::numbers(const std::string& name) const {
  const double* values = bound_.numbers(name, first());
  if (gaps_ != Gaps::fill || std::none_of(values, values + count(), [](double v) { return std::isnan(v); }))
    return values;
  const auto fill = bound_.parts().fills.find(name);
  if (fill == bound_.parts().fills.end()) return values;
  auto& copy = filled_[name];
  if (copy.empty()) {
    copy.assign(values, values + count());
    for (double& v : copy)
      if (std::isnan(v)) v = fill->second;
  }
  return copy.data();
}

const Column* BoundRows::words(const std::string& name) const {
  const auto& words = bound_.parts().word_columns;
  return std::find(words.begin(), words.end(), name) == words.end() ? nullptr : &bound_.column(name);
}

const std::string* BoundRows::stand_in(const std::string& name) const {
  if (gaps_ != Gaps::fill) return nullptr;
  const auto fill = bound_.parts().word_fills.find(name);
  return fill == bound_.parts().word_fills.end() ? nullptr : &fill->second;
}

const RowColumns& BoundRows::as_they_are() const { return raw_ ? *raw_ : *this; }

void BoundTable::codes(const Variable& variable, const BoundRows& rows, std::int32_t* out) const {
  const LocalCodes local = local_codes(variable, rows);
  const auto remap = remap_.find(&variable);
  std::vector<std::int32_t> own;
  if (remap == remap_.end())
    for (const auto& level : local.levels) {
      const auto& code = code_.at(&variable);
      const auto found = code.find(level);
      own.push_back(found == code.end() ? -2 : found->second);
    }
  const auto& known = remap == remap_.end() ? own : remap->second;
  for (Index i = 0; i < rows.count(); ++i) {
    const std::int32_t code = local.codes[static_cast<std::size_t>(i)];
    out[i] = code < 0 ? -1 : known[static_cast<std::size_t>(code)];
  }
}

std::string BoundTable::level(const Variable& variable, Index row) const {
  const LocalCodes local = local_codes(variable, BoundRows(*this, row, 1, Gaps::refuse));
  return local.codes[0] < 0 ? "" : local.levels[static_cast<std::size_t>(local.codes[0])];
}

void BoundTable::fail_unknown_level(const Variable& variable, Index row) const {
  const std::string unknown = level(variable, row);
  const bool all_shown = variable.levels.size() <= 10;
  throw Error(fmt::format("level '{}' of '{}' in row {} was not seen in training{}; known: {}{}", unknown,
                          variable.takes_levels_of_column() ? variable.column() : variable.label, row_number(row),
                          all_shown ? "" : did_you_mean(unknown, variable.levels), some_of(variable.levels, 10),
                          way_out(use_)));
}

std::vector<std::string> BoundTable::outcomes() const {
  std::vector<std::string> names;
  if (use_ == Use::prediction) return names;
  const auto add = [&](const std::string& name) {
    const bool is_there = !name.empty() && (use_ == Use::training || find(name));
    if (is_there && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  if (has_response_)
    for (const auto& name : parts_.response.required) add(name);
  add(parts_.weights);
  add(parts_.precision);
  if (use_ != Use::training) return names;
  add(parts_.cluster);
  for (const auto& name : parts_.complete)
    if (std::find(parts_.columns.begin(), parts_.columns.end(), name) == parts_.columns.end()) add(name);
  return names;
}

}  // namespace lemma
