// app/describe.cpp: what R's str and summary print, and correlations.
#include "column_summary.hpp"
#include "commands.hpp"
#include "data_options.hpp"
#include "flags.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/hearing.hpp>
#include <lemma/core/text.hpp>
#include <lemma/data/column_rows.hpp>
#include <lemma/data/expression.hpp>
#include <lemma/data/formula/removed.hpp>
#include <lemma/math/moments.hpp>
#include <limits>
#include <optional>
#include <span>

namespace lemma::app {
namespace {

struct Describe {
  DataOptions data;
  std::string formula;
  bool correlated = true;
  std::string correlations = "100", columns = "1000";
  int levels = 6;
};

/// "all", "none" or a number: so many of them.
Index most_of(const std::string& text, std::string_view flag) {
  if (text == "all") return std::numeric_limits<Index>::max();
  if (text == "none") return 0;
  Index most = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), most);
  require(error == std::errc() && end == text.data() + text.size() && most >= 0,
          fmt::format("{} is '{}', must be all, none or a number", flag, text));
  return most;
}

/// A statistic as JSON has it: a date is a text.
Value statistic(double value, Quantity quantity) {
  return quantity == Quantity::number ? Value(value) : Value(moment_shown(value, quantity));
}

Value describe_numbers(const Column& column, const Execution& execution) {
  const auto& [values, quantity] = column.numbers();
  const NumberSummary summary = summarise(values, execution);
  Value out = Value::object();
  if (summary.count == 0) return out;
  out.set("min", statistic(summary.min, quantity));
  out.set("q1", statistic(summary.q1, quantity));
  out.set("median", statistic(summary.median, quantity));
  out.set("mean", statistic(summary.mean, quantity));
  out.set("q3", statistic(summary.q3, quantity));
  out.set("max", statistic(summary.max, quantity));
  out.set("sd", summary.sd);
  out.set("distinct", count_distinct(values, execution));
  return out;
}

std::vector<Index> counts_of(const Categories& categories) {
  std::vector<Index> counts(categories.levels.size());
  for (const auto code : categories.codes)
    if (code >= 0) ++counts[static_cast<std::size_t>(code)];
  return counts;
}

Value describe_categories(const Column& column) {
  const auto& categories = column.categories();
  const auto counts = counts_of(categories);
  Value::Object levels;  // they are distinct: none is looked for before it is added
  levels.reserve(counts.size());
  for (std::size_t k = 0; k < counts.size(); ++k) levels.emplace_back(categories.levels[k], counts[k]);
  Value out = Value::object();
  out.set("levels", std::move(levels));
  return out;
}

Value describe_column(const Column& column, const Execution& execution) {
  Value out = Value::object();
  out.set("name", column.name);
  out.set("type", type_shown(column));
  out.set("missing", column.missing());
  Value more = Value::object();
  if (column.type() == ColumnType::numeric) more = describe_numbers(column, execution);
  if (column.type() == ColumnType::categorical) more = describe_categories(column);
  for (const auto& [key, value] : more.as_object()) out.set(key, value);
  return out;
}

/// Whole numbers as they are, others to six digits: enough to know them by.
std::string short_text(const Column& column, Index row) {
  if (column.is_missing(row)) return "NA";
  if (column.type() != ColumnType::numeric || column.numbers().quantity != Quantity::number) return column.text(row);
  const double number = column.numbers().values[static_cast<std::size_t>(row)];
  return number == std::floor(number) ? column.text(row) : fmt::format("{:.6g}", number);
}

/// The first columns of a table, as many as are shown.
std::span<const Column> shown_of(const Table& table, Index most) {
  return std::span(table.all()).first(static_cast<std::size_t>(std::min(most, table.columns())));
}

/// description(column) for each, on several threads.
template <class Description>
auto for_each_column(std::span<const Column> columns, const Execution& execution, Description&& description) {
  std::vector<decltype(description(columns[0]))> out(columns.size());
  parallel_for(static_cast<Index>(columns.size()), execution,
               [&](Index j) { out[static_cast<std::size_t>(j)] = description(columns[static_cast<std::size_t>(j)]); });
  return out;
}

/// "5, 3, NA, …", or "3 levels: a, b, c".
std::string glimpse(const Column& column) {
  std::vector<std::string> shown;
  std::string before;
  Index all = column.rows();
  if (column.type() == ColumnType::categorical) {
    const auto& levels = column.categories().levels;
    all = static_cast<Index>(levels.size());
    shown.assign(levels.begin(), levels.begin() + std::min<Index>(all, 6));
    before = fmt::format("{}: ", count_of(all, "level"));
  } else {
    for (Index i = 0; i < std::min<Index>(all, 6); ++i) shown.push_back(short_text(column, i));
  }
  for (std::size_t k = 0; k < std::min<std::size_t>(shown.size(), 6); ++k) before += (k ? ", " : "") + shown[k];
  return before + (all > 6 ? ", …" : "");
}

std::vector<std::string> names_of(std::span<const Column> columns) {
  std::vector<std::string> names;
  for (const auto& column : columns) names.push_back(column.name);
  return names;
}

/// Columns as str shows them: name, type, missing, and the first values or the levels.
std::string structure(std::span<const Column> columns, Index all, const Execution& execution) {
  std::vector<std::string> types, shown;
  const auto missing = for_each_column(columns, execution, [](const Column& c) { return std::to_string(c.missing()); });
  for (const auto& column : columns) {
    ask();
    types.emplace_back(type_shown(column));
    shown.push_back(glimpse(column));
  }
  const Index left = all - static_cast<Index>(columns.size());
  return TextTable()
             .words("column", names_of(columns))
             .words("type", types)
             .right("missing", missing)
             .words("first values, or levels", shown)
             .str() +
         (left > 0 ? fmt::format("… {} not shown: --show-columns all shows them, a FORMULA chooses\n",
                                 count_of(left, "more column"))
                   : "");
}

std::string statistic_shown(double value, Quantity quantity) {
  return quantity == Quantity::number ? format_significant(value, 4) : moment_shown(value, quantity);
}

std::string numeric_summary(std::span<const Column> columns, const Execution& execution) {
  using Member = double NumberSummary::*;
  constexpr std::array<std::pair<const char*, Member>, 6> kShown{{{"Min.", &NumberSummary::min},
                                                                  {"1st Qu.", &NumberSummary::q1},
                                                                  {"Median", &NumberSummary::median},
                                                                  {"Mean", &NumberSummary::mean},
                                                                  {"3rd Qu.", &NumberSummary::q3},
                                                                  {"Max.", &NumberSummary::max}}};
  const auto described = for_each_column(columns, execution, [&](const Column& column) {
    return column.type() == ColumnType::numeric ? summarise(column.numbers().values, execution) : NumberSummary();
  });
  std::vector<std::string> names, deviations;
  std::vector<std::vector<std::string>> cells(kShown.size());
  for (std::size_t j = 0; j < columns.size(); ++j) {
    if (columns[j].type() != ColumnType::numeric) continue;
    const NumberSummary& d = described[j];
    const Quantity quantity = columns[j].numbers().quantity;
    names.push_back(columns[j].name);
    for (std::size_t k = 0; k < kShown.size(); ++k)
      cells[k].push_back(d.count > 0 ? statistic_shown(d.*kShown[k].second, quantity) : "NA");
    const char* const unit = quantity == Quantity::number ? "" : " days";
    deviations.push_back(d.count > 0 ? format_significant(d.sd, 4) + unit : "NA");
  }
  if (names.empty()) return "";
  TextTable text;
  text.words("numeric", names);
  for (std::size_t k = 0; k < kShown.size(); ++k) text.right(kShown[k].first, cells[k]);
  text.right("sd", deviations);
  return "\n" + text.str();
}

std::string level_counts(std::span<const Column> columns, int most) {
  std::vector<std::string> names, all_counts;
  for (const auto& column : columns) {
    if (column.type() != ColumnType::categorical) continue;
    const auto& levels = column.categories().levels;
    const auto counts = counts_of(column.categories());
    const auto listed = std::min(levels.size(), static_cast<std::size_t>(std::max(0, most)));
    std::string shown;
    for (std::size_t k = 0; k < listed; ++k) shown += fmt::format("{}{} {}", k > 0 ? "   " : "", levels[k], counts[k]);
    if (levels.size() > listed) shown += fmt::format("   … {} more", levels.size() - listed);
    names.push_back(column.name);
    all_counts.push_back(shown);
  }
  return names.empty() ? "" : "\n" + TextTable().words("categorical", names).words("counts", all_counts).str();
}

struct Correlations {
  std::vector<std::string> names;
  Matrix values;
  Index rows = 0, omitted = 0;  // numeric columns that are left out
};

/// The rows in which no column is missing; nothing when that is so in all rows.
std::optional<std::vector<Index>> complete_rows(const std::vector<const double*>& columns, Index rows,
                                                const Execution& execution) {
  std::vector<char> complete(static_cast<std::size_t>(rows), 1);
  constexpr Index kBlock = Index{1} << 14;
  parallel_for((rows + kBlock - 1) / kBlock, execution, [&](Index b) {
    for (const double* column : columns)
      for (Index i = b * kBlock; i < std::min(rows, (b + 1) * kBlock); ++i)
        if (std::isnan(column[i])) complete[static_cast<std::size_t>(i)] = 0;
  });
  if (std::find(complete.begin(), complete.end(), 0) == complete.end()) return {};
  std::vector<Index> out;
  for (Index i = 0; i < rows; ++i)
    if (complete[static_cast<std::size_t>(i)]) out.push_back(i);
  return out;
}

/// Pearson's of the first `most` numeric columns, over the rows in which every numeric column is there.
Correlations correlate(const Table& table, Index most, const Context& context) {
  Correlations out;
  std::vector<const double*> columns;
  for (const auto& column : table.all())
    if (column.type() == ColumnType::numeric) {
      if (static_cast<Index>(columns.size()) < most) out.names.push_back(column.name);
      columns.push_back(column.numbers().values.data());
    }
  const auto p = static_cast<Index>(out.names.size());
  out.omitted = static_cast<Index>(columns.size()) - p;
  const auto complete = complete_rows(columns, table.rows(), context.execution());
  out.rows = complete ? static_cast<Index>(complete->size()) : table.rows();
  if (p < 2 || out.rows < 2) return out;
  columns.resize(out.names.size());
  const ColumnRows rows = complete ? ColumnRows(columns, *complete) : ColumnRows(columns, table.rows());
  const Matrix s = scan(rows, Moments(p), context.execution()).scatter();
  const Vector scale = s.diagonal().cwiseSqrt();
  out.values = s.cwiseQuotient(scale * scale.transpose());  // 0/0 for a constant column: NaN, printed NA
  return out;
}

std::string correlation_table(const Correlations& c) {
  if (c.values.size() == 0) return "";
  TextTable text;
  text.words(fmt::format("correlation ({})", count_of(c.rows, "row")), c.names);
  for (Index j = 0; j < c.values.cols(); ++j) {
    ask();
    std::vector<std::string> cells;
    for (Index i = 0; i < c.values.rows(); ++i) cells.push_back(j > i ? "" : format_fixed(c.values(i, j), 2));
    text.right(c.names[static_cast<std::size_t>(j)], cells);
  }
  TextTable::Layout layout;
  layout.width = 120;
  return "\n" + text.str(layout) +
         (c.omitted > 0
              ? fmt::format("… correlations of {} not shown: --correlations all shows them, a FORMULA chooses\n",
                            count_of(c.omitted, "more column"))
              : "");
}

/// Every column that a formula names, in its order.
std::vector<std::string> variables(const Formula& f) {
  std::vector<std::string> out;
  const auto add = [&](const Expression& expression) {
    for (const auto& name : columns_of(expression))
      if (std::find(out.begin(), out.end(), name) == out.end()) out.push_back(name);
  };
  for (const auto& response : f.response) add(response);
  for (const auto& term : f.terms)
    for (const auto& factor : term.factors) add(factor);
  return out;
}

/// The columns a formula uses, or all.
Table chosen(Table table, const std::string& text) {
  if (text.empty()) return table;
  const Formula f = formula(text).expand(table.names());
  check_removed(f, table);
  std::vector<Column> columns;
  for (const auto& name : variables(f)) columns.push_back(table.column(name));
  return Table(std::move(columns), table.source());
}

void describe(const Describe& options, Context& context) {
  const Index most_columns = most_of(options.columns, "--show-columns");
  const Index most_correlated = options.correlated ? most_of(options.correlations, "--correlations") : 0;
  const Execution execution = context.execution();
  const Hearing hearing(execution);
  const Table table = chosen(options.data.table(context), options.formula);
  if (context.json) {
    Value out = Value::object();
    out.set("data", table.source());
    out.set("rows", table.rows());
    const auto describe_one = [&](const Column& column) { return describe_column(column, context.execution()); };
    out.set("columns", for_each_column(table.all(), context.execution(), describe_one));
    const auto c = correlate(table, most_correlated, context);
    Value correlations = Value::object();
    correlations.set("names", c.names);
    correlations.set("rows", c.rows);
    correlations.set("values", c.values);
    correlations.set("omitted", c.omitted);
    out.set("correlations", correlations);
    context.print_json(out);
    return;
  }
  context.print(context.bold(fmt::format("{}: {}, {}", table.source(), count_of(table.rows(), "row"),
                                         count_of(table.columns(), "column"))) +
                "\n\n");
  const auto shown = shown_of(table, most_columns);
  context.print(structure(shown, table.columns(), context.execution()) + numeric_summary(shown, context.execution()) +
                level_counts(shown, options.levels));
  if (most_correlated > 0) context.print(correlation_table(correlate(table, most_correlated, context)));
}

}  // namespace

void add_describe(CLI::App& tool, Context& context) {
  auto options = std::make_shared<Describe>();
  auto* command = add_command(tool, "describe", "types, missing values, summaries and correlations of a table");
  options->data.add(*command);
  add_option(*command, "FORMULA", options->formula, "only the columns of a formula, such as 'y ~ a + b'");
  add_option(*command, "--correlations", options->correlations,
             "of how many numeric columns, the first ones: a number, all or none")
      ->capture_default_str();
  add_flag(*command, "!--no-correlations", options->correlated, "leave the correlations out: --correlations none");
  add_option(*command, "--show-columns", options->columns, "how many columns to list: a number, all or none")
      ->capture_default_str();
  add_option(*command, "--show-levels", options->levels, "how many levels of a category to count")
      ->capture_default_str();
  command->footer("Example: lemma describe crabs");
  command->callback([options, &context] { describe(*options, context); });
}

}  // namespace lemma::app
