// lemma/data/design/complete.cpp: which rows of a bound table can be used, and what is missing in the others.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <lemma/data/design/parts.hpp>

namespace lemma {
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
  bound.codes(variable, BoundRows(bound, first, count, Gaps::refuse), codes.data());
  Index found = 0;
  for (std::size_t i = 0; i < codes.size(); ++i)
    if (codes[i] == -2) {
      mark[i] = 1;
      ++found;
    }
  return found;
}

/// Which rows can be used, found out column by column.
class Looking {
 public:
  Looking(const BoundTable& bound, Index first, Index count, const Execution& execution)
      : bound_(bound),
        rows_(bound, first, count, Gaps::refuse),
        execution_(execution),
        predictor_(size()),
        outcome_(size()) {}

  Completeness complete(Missing policy) {
    const DesignParts& parts = bound_.parts();
    for (const auto& name : bound_.predictors()) note(name, predictor_);
    for (const auto& variable : parts.variables) {
      note_soft(variable.value, predictor_);
      note_outside(variable, predictor_);
    }
    for (const auto& offset : parts.offsets) note_soft(offset, predictor_);
    if (bound_.use() != Use::training && (parts.unseen == Unseen::missing || policy == Missing::keep))
      for (const auto& variable : parts.variables) {
        const Index unseen =
            variable.categorical() ? mark_unseen(bound_, variable, rows_.first(), rows_.count(), predictor_) : 0;
        if (unseen > 0)
          found_.unseen.emplace_back(variable.takes_levels_of_column() ? variable.column() : variable.label, unseen);
      }
    if (policy == Missing::drop || policy == Missing::keep)
      for (const auto& variable : parts.variables)
        if (variable.pixels()) note_broken(bound_.column(variable.column()));
    for (const auto& name : bound_.outcomes()) note(name, outcome_);
    if (bound_.use() != Use::prediction && bound_.has_response()) {
      for (const auto& number : parts.response.numbers) note_soft(number, outcome_);
      for (const auto& part : parts.response.parts) {
        note_soft(part.value, outcome_);
        note_outside(part, outcome_);
      }
    }
    return result(policy);
  }

 private:
  std::size_t size() const { return static_cast<std::size_t>(rows_.count()); }

  void add(const std::string& name, Index count) {
    if (count == 0) return;
    const auto noted = std::find_if(found_.missing.begin(), found_.missing.end(),
                                    [&](const auto& each) { return each.first == name; });
    if (noted == found_.missing.end()) found_.missing.emplace_back(name, count);
    else noted->second += count;
  }

  void note(const std::string& name, std::vector<char>& mark) {
    const Index count = mark_missing(bound_.column(name), rows_.first(), rows_.count(), mark);
    if (count > 0) found_.missing.emplace_back(name, count);  // each column comes once
  }

  /// An expression that is not known, because a column is missing. Columns that others need are counted there.
  void note_soft(const Expression& value, std::vector<char>& mark) {
    if (!is_soft(value)) return;
    std::vector<double> values(size());
    evaluate(value, rows_, values.data());
    for (const auto& name : columns_of(value)) {
      const Column& column = bound_.column(name);
      Index count = 0;
      for (std::size_t i = 0; i < values.size(); ++i)
        if (std::isnan(values[i]) && column.is_missing(rows_.first() + static_cast<Index>(i))) {
          mark[i] = 1;
          ++count;
        }
      const auto& required = bound_.predictors();
      if (std::find(required.begin(), required.end(), name) == required.end()) add(name, count);
    }
  }

  void note_outside(const Variable& variable, std::vector<char>& mark) {
    if (!variable.cuts || variable.cut.breaks.empty()) return;  // none, or still to be learned
    std::vector<double> values(size());
    evaluate(variable.value, rows_, values.data());
    Index count = 0;
    for (std::size_t i = 0; i < values.size(); ++i)
      if (!std::isnan(values[i]) && variable.cut.piece_of(values[i]) < 0) {
        mark[i] = 1;
        ++count;
      }
    add(variable.label + ", outside its breaks", count);
  }

  /// Images that cannot be used. Two terms of one column look at the same ones.
  void note_broken(const Column& column) {
    if (std::find(looked_at_.begin(), looked_at_.end(), column.name) != looked_at_.end()) return;
    looked_at_.push_back(column.name);
    std::vector<std::string> why(size());
    parallel_for(rows_.count(), execution_, [&](Index i) {
      const Index row = rows_.first() + i;
      if (column.is_missing(row)) return;
      try {
        read_image(column.text(row));
      } catch (const BrokenImage& broken) { why[static_cast<std::size_t>(i)] = broken.what(); }
    });
    for (std::size_t i = 0; i < why.size(); ++i) {
      if (why[i].empty()) continue;
      predictor_[i] = 1;
      found_.broken.push_back(std::move(why[i]));
    }
  }

  Completeness result(Missing policy) {
    found_.kept.reserve(size());
    for (std::size_t i = 0; i < size(); ++i) {
      const bool x = predictor_[i], y = outcome_[i];
      found_.incomplete += x || y;
      if (!y && (!x || gaps_of(policy) != Gaps::refuse))  // an outcome is never imputed
        found_.kept.push_back(rows_.first() + static_cast<Index>(i));
    }
    return std::move(found_);
  }

  const BoundTable& bound_;
  BoundRows rows_;
  Execution execution_;
  std::vector<char> predictor_, outcome_;
  std::vector<std::string> looked_at_;  // columns of images
  Completeness found_;
};

}  // namespace

Completeness completeness(const BoundTable& bound, Missing policy, Index first, Index count,
                          const Execution& execution) {
  return Looking(bound, first, count, execution).complete(policy);
}

Completeness::Counts in_order(const DesignParts& parts, std::map<std::string, Index> counts) {
  Completeness::Counts out;
  for (const auto& name : parts.looked_at())
    if (const auto count = counts.find(name); count != counts.end()) {
      out.emplace_back(*count);
      counts.erase(count);
    }
  out.insert(out.end(), counts.begin(), counts.end());
  return out;
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
  if (const auto broken = std::ssize(found.broken); broken > 0) {
    values += fmt::format("{}{} broken {}", values.empty() ? "" : " and ", broken, broken == 1 ? "image" : "images");
    where += fmt::format("{}{}", where.empty() ? "" : "; ", some_of(found.broken, 10));
  }
  return fmt::format("{} in {} of {} rows: {}", values, found.incomplete, rows, where);
}

}  // namespace lemma
