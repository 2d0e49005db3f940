// app/describe.cpp: what R's str and summary print, and correlations.
#include "commands.hpp"
#include "data_options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/data/expression.hpp>
#include <lemma/data/formula.hpp>
#include <lemma/math/column_moments.hpp>
#include <lemma/math/moments.hpp>
#include <numeric>

namespace lemma::app {
namespace {

struct Describe {
  DataOptions data;
  std::string formula;
  bool correlations = true;
  int levels = 6;
};

/// R's quantile type 7 of sorted values.
double quantile(const std::vector<double>& sorted, double p) {
  const double at = p * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const auto high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (at - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

std::vector<double> present(const Numbers& numbers) {
  std::vector<double> values;
  for (const double v : numbers.values)
    if (!std::isnan(v)) values.push_back(v);
  std::sort(values.begin(), values.end());
  return values;
}

Value describe_numbers(const Column& column) {
  const auto values = present(column.numbers());
  Value out = Value::object();
  if (values.empty()) return out;
  const Matrix x = Eigen::Map<const Vector>(values.data(), static_cast<Index>(values.size()));
  const auto moments = scan(MemoryRows(x), ColumnMoments(1));
  out.set("min", values.front());
  out.set("q1", quantile(values, 0.25));
  out.set("median", quantile(values, 0.5));
  out.set("mean", moments.mean()(0));
  out.set("q3", quantile(values, 0.75));
  out.set("max", values.back());
  out.set("sd", moments.deviation()(0));
  Index distinct = 1;
  for (std::size_t i = 1; i < values.size(); ++i) distinct += values[i] != values[i - 1];
  out.set("distinct", distinct);
  return out;
}

Value describe_categories(const Column& column) {
  const auto& categories = column.categories();
  std::vector<Index> counts(categories.levels.size());
  for (const auto code : categories.codes)
    if (code >= 0) ++counts[static_cast<std::size_t>(code)];
  Value levels = Value::object();
  for (std::size_t k = 0; k < counts.size(); ++k) levels.set(categories.levels[k], counts[k]);
  Value out = Value::object();
  out.set("levels", levels);
  return out;
}

Value describe_column(const Column& column) {
  Value out = Value::object();
  out.set("name", column.name);
  out.set("type", name_of(column.type()));
  out.set("missing", column.missing());
  Value more = Value::object();
  if (column.type() == ColumnType::numeric) more = describe_numbers(column);
  if (column.type() == ColumnType::categorical) more = describe_categories(column);
  for (const auto& [key, value] : more.as_object()) out.set(key, value);
  return out;
}

/// "5, 3, NA, …", or "3 levels: a, b, c".
std::string glimpse(const Column& column) {
  std::vector<std::string> shown;
  std::string before;
  Index all = column.rows();
  if (column.type() == ColumnType::categorical) {
    shown = column.categories().levels;
    all = static_cast<Index>(shown.size());
    before = fmt::format("{}: ", count_of(all, "level"));
  } else {
    for (Index i = 0; i < std::min<Index>(all, 6); ++i) shown.push_back(column.is_missing(i) ? "NA" : column.text(i));
  }
  for (std::size_t k = 0; k < std::min<std::size_t>(shown.size(), 6); ++k) before += (k ? ", " : "") + shown[k];
  return before + (all > 6 ? ", …" : "");
}

/// Columns as str shows them: name, type, missing, and the first values or the levels.
std::string structure(const Table& table) {
  std::vector<std::string> types, missing, shown;
  for (const auto& column : table.all()) {
    types.emplace_back(name_of(column.type()));
    missing.push_back(std::to_string(column.missing()));
    shown.push_back(glimpse(column));
  }
  return TextTable()
      .words("column", table.names())
      .words("type", types)
      .right("missing", missing)
      .words("first values, or levels", shown)
      .str();
}

std::string numeric_summary(const Table& table) {
  constexpr std::array<std::pair<const char*, const char*>, 7> kShown{{{"Min.", "min"},
                                                                       {"1st Qu.", "q1"},
                                                                       {"Median", "median"},
                                                                       {"Mean", "mean"},
                                                                       {"3rd Qu.", "q3"},
                                                                       {"Max.", "max"},
                                                                       {"sd", "sd"}}};
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> cells(kShown.size());
  for (const auto& column : table.all()) {
    if (column.type() != ColumnType::numeric) continue;
    names.push_back(column.name);
    const Value d = describe_numbers(column);
    for (std::size_t k = 0; k < kShown.size(); ++k)
      cells[k].push_back(d.find(kShown[k].second) ? format_significant(d.at(kShown[k].second).as_double(), 4) : "NA");
  }
  if (names.empty()) return "";
  TextTable text;
  text.words("numeric", names);
  for (std::size_t k = 0; k < kShown.size(); ++k) text.right(kShown[k].first, cells[k]);
  return "\n" + text.str();
}

std::string level_counts(const Table& table, int most) {
  std::vector<std::string> names, counts;
  for (const auto& column : table.all()) {
    if (column.type() != ColumnType::categorical) continue;
    const auto described = describe_categories(column);
    const auto& levels = described.at("levels").as_object();
    std::string shown;
    int k = 0;
    for (const auto& [level, count] : levels) {
      if (k++ == most) break;
      shown += fmt::format("{}{} {}", k > 1 ? "   " : "", level, count.as_integer());
    }
    if (static_cast<int>(levels.size()) > most)
      shown += fmt::format("   … {} more", static_cast<int>(levels.size()) - most);
    names.push_back(column.name);
    counts.push_back(shown);
  }
  return names.empty() ? "" : "\n" + TextTable().words("categorical", names).words("counts", counts).str();
}

struct Correlations {
  std::vector<std::string> names;
  Matrix values;
  Index rows = 0;
};

/// Pearson's, over the rows in which every numeric column is there.
Correlations correlate(const Table& table, const Context& context) {
  Correlations out;
  std::vector<const Numbers*> columns;
  for (const auto& column : table.all())
    if (column.type() == ColumnType::numeric) {
      out.names.push_back(column.name);
      columns.push_back(&column.numbers());
    }
  const auto p = static_cast<Index>(columns.size());
  Matrix x(table.rows(), p);
  for (Index i = 0; i < table.rows(); ++i) {
    bool complete = true;
    for (Index j = 0; j < p; ++j) {
      x(out.rows, j) = columns[static_cast<std::size_t>(j)]->values[static_cast<std::size_t>(i)];
      complete = complete && !std::isnan(x(out.rows, j));
    }
    out.rows += complete;
  }
  if (p < 2 || out.rows < 2) return out;
  const Matrix kept = x.topRows(out.rows);
  const Matrix s = scan(MemoryRows(kept), Moments(p), context.execution()).scatter();
  const Vector scale = s.diagonal().cwiseSqrt();
  out.values = s.cwiseQuotient(scale * scale.transpose());  // 0/0 for a constant column: NaN, printed NA
  return out;
}

std::string correlation_table(const Correlations& c) {
  if (c.values.size() == 0) return "";
  TextTable text;
  text.words(fmt::format("correlation ({})", count_of(c.rows, "row")), c.names);
  for (Index j = 0; j < c.values.cols(); ++j) {
    std::vector<std::string> cells;
    for (Index i = 0; i < c.values.rows(); ++i) cells.push_back(j > i ? "" : format_fixed(c.values(i, j), 2));
    text.right(c.names[static_cast<std::size_t>(j)], cells);
  }
  TextTable::Layout layout;
  layout.width = 120;
  return "\n" + text.str(layout);
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
Table chosen(const Table& table, const std::string& text) {
  if (text.empty()) return table;
  const Formula f = formula(text).expand(table.names());
  std::vector<Column> columns;
  for (const auto& name : variables(f)) columns.push_back(table.column(name));
  return Table(std::move(columns), table.source());
}

void describe(const Describe& options, Context& context) {
  const Table table = chosen(options.data.table(context), options.formula);
  if (context.json) {
    Value::List columns;
    for (const auto& column : table.all()) columns.push_back(describe_column(column));
    Value out = Value::object();
    out.set("data", table.source());
    out.set("rows", table.rows());
    out.set("columns", columns);
    const auto c = correlate(table, context);
    Value correlations = Value::object();
    correlations.set("names", c.names);
    correlations.set("rows", c.rows);
    correlations.set("values", c.values);
    out.set("correlations", correlations);
    context.print_json(out);
    return;
  }
  context.print(context.bold(fmt::format("{}: {} rows, {} columns", table.source(), table.rows(), table.columns())) +
                "\n\n");
  context.print(structure(table) + numeric_summary(table) + level_counts(table, options.levels));
  if (options.correlations) context.print(correlation_table(correlate(table, context)));
}

}  // namespace

void add_describe(CLI::App& tool, Context& context) {
  auto options = std::make_shared<Describe>();
  auto* command = tool.add_subcommand("describe", "types, missing values, summaries and correlations of a table");
  options->data.add(*command);
  command->add_option("FORMULA", options->formula, "only the columns of a formula, such as 'y ~ a + b'");
  command->add_flag("!--no-correlations", options->correlations, "leave the correlations out");
  command->add_option("--show-levels", options->levels, "how many levels of a category to count")
      ->capture_default_str();
  command->footer("Example: lemma describe crabs");
  command->callback([options, &context] { describe(*options, context); });
}

}  // namespace lemma::app
