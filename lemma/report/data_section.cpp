// lemma/report/data_section.cpp: the data described and drawn.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/hearing.hpp>
#include <lemma/core/text.hpp>
#include <lemma/plot/data.hpp>
#include <lemma/plot/parts.hpp>
#include <lemma/report/sections.hpp>
#include <map>

namespace lemma::reporting {
namespace {

constexpr Index kMostColumns = 100;  // in the table
constexpr std::size_t kMostPairs = 5, kMostCorrelated = 20, kMostAlone = 15;

std::string number(double value, Quantity quantity) {
  if (quantity == Quantity::number) return format_significant(value, 4);
  return to_text(quantity == Quantity::date ? std::floor(value) : value, quantity);
}

std::string levels_text(const Column& column) {
  constexpr std::size_t kMost = 4;
  const auto& levels = column.categories().levels;
  std::vector<Index> count(levels.size(), 0);
  for (const auto code : column.categories().codes)
    if (code >= 0) ++count[static_cast<std::size_t>(code)];
  std::string out;
  for (std::size_t k = 0; k < std::min(levels.size(), kMost); ++k)
    out += fmt::format("{}{} {}", k > 0 ? ", " : "", levels[k], format_count(count[k]));
  return out + (levels.size() > kMost ? fmt::format(", … {} more", levels.size() - kMost) : "");
}

Sheet columns_sheet(const Table& table) {
  const Index shown = std::min(table.columns(), kMostColumns);
  SheetColumn names{"column", {}}, types{"type", {}}, missing{"missing", {}, true}, least{"least", {}, true},
      median{"median", {}, true}, mean{"mean", {}, true}, greatest{"greatest", {}, true}, sd{"sd", {}, true},
      levels{"levels", {}};
  bool any_levels = false, any_numbers = false;
  for (Index j = 0; j < shown; ++j) {
    ask();
    const Column& column = table.column(j);
    names.cells.push_back(column.name);
    missing.cells.push_back(format_count(column.missing()));
    const bool numeric = column.type() == ColumnType::numeric;
    types.cells.emplace_back(!numeric                                        ? name_of(column.type())
                             : column.numbers().quantity == Quantity::number ? "numeric"
                             : column.numbers().quantity == Quantity::date   ? "date"
                                                                             : "time");
    levels.cells.push_back(column.type() == ColumnType::categorical ? levels_text(column) : "");
    any_levels = any_levels || column.type() == ColumnType::categorical;
    std::vector<double> sorted;
    if (numeric) sorted = plot::sorted_values(column.numbers().values);
    if (sorted.empty()) {
      for (SheetColumn* each : {&least, &median, &mean, &greatest, &sd}) each->cells.emplace_back("");
      continue;
    }
    any_numbers = true;
    double average = 0, squares = 0, count = 0;
    for (const double v : sorted) {
      const double gap = v - average;
      average += gap / ++count, squares += gap * (v - average);
    }
    const Quantity quantity = column.numbers().quantity;
    least.cells.push_back(number(sorted.front(), quantity)), greatest.cells.push_back(number(sorted.back(), quantity));
    median.cells.push_back(number(plot::quantile(sorted, 0.5), quantity));
    mean.cells.push_back(number(average, quantity));
    sd.cells.push_back(count > 1 ? format_significant(std::sqrt(squares / (count - 1)), 4) : "");
  }
  Sheet out{shown < table.columns() ? fmt::format("The first {} of {}", shown, count_of(table.columns(), "column"))
                                    : fmt::format("{} of {}", count_of(shown, "column"), table.source())};
  out.columns = {names, types, missing};
  if (any_numbers) out.columns.insert(out.columns.end(), {least, median, mean, greatest, sd});
  if (any_levels) out.columns.push_back(levels);
  return out;
}

Sheet alone_sheet(const Design& design, const AloneScores& scores) {
  const bool numbers = design.classes().empty();
  Sheet out{fmt::format("How well each column predicts {} by itself", design.target()),
            {{"column", {}}, {numbers ? "R²" : "accuracy", {}, true}}};
  for (std::size_t k = 0; k < std::min(scores.columns.size(), kMostAlone); ++k) {
    out.columns[0].cells.push_back(scores.columns[k].column);
    out.columns[1].cells.push_back(format_fixed(scores.columns[k].score, 3));
  }
  return out;
}

std::string quoted(const std::string& name) { return "`" + name + "`"; }

/// The columns of numbers that predict most, or simply the first.
std::vector<std::string> telling_numbers(const Table& table, const Design& design, const AloneScores& scores,
                                         std::size_t most) {
  std::vector<std::string> out;
  const auto take = [&](const std::string& name) {
    const Column* column = table.find(name);
    const bool usable = column && column->type() == ColumnType::numeric && column->missing() < column->rows();
    if (usable && out.size() < most && std::find(out.begin(), out.end(), name) == out.end()) out.push_back(name);
  };
  for (const Alone& each : scores.columns) take(each.column);
  for (const auto& name : design.columns()) take(name);
  return out;
}

/// A response that is one column of the table, or joint classes of several: as a formula writes it.
std::string response_text(const Design& design) {
  std::string out;
  for (const auto& name : design.response_columns()) out += (out.empty() ? "" : ":") + quoted(name);
  return out;
}

void add_picture(const std::string& name, std::string_view kind, const Table& table, const std::string& formula,
                 const std::string& title, Section& section) {
  ask();
  try {
    plot::Figure figure = plot::draw(kind, table, formula);
    figure.title = title;
    section.blocks.emplace_back(Picture{name, kind == "correlation" ? figure : compact(std::move(figure))});
  } catch (const Error&) {}  // what cannot be drawn of these columns is not missed: others are
}

void add_pictures_of_data(const Table& table, const Design& design, const AloneScores& scores, Section& section) {
  const bool classes = !design.classes().empty(), response = design.has_response();
  const Table some = drawn_rows(table);
  if (response && classes)
    add_picture("classes", "bar", table, "~ " + response_text(design), "Rows of each class", section);
  else if (response && design.response_columns().size() == 1)
    add_picture("response", "histogram", table, "~ " + response_text(design), "The response", section);
  const auto columns = telling_numbers(table, design, scores, response && !classes ? kMostPairs - 1 : kMostPairs);
  std::string terms;
  for (const auto& name : columns) terms += (terms.empty() ? "" : " + ") + quoted(name);
  if (columns.size() >= 2) {
    const std::string numbers = response && !classes && design.response_columns().size() == 1
                                    ? "~ " + response_text(design) + " + " + terms
                                    : (classes ? response_text(design) : "") + " ~ " + terms;
    add_picture("pairs", "pairs", some, numbers,
                scores.columns.empty() ? "Pairs of columns" : "The columns that tell most by themselves", section);
  } else if (columns.size() == 1) {
    add_picture("column",
                classes    ? "box"
                : response ? "scatter"
                           : "histogram",
                some, (response ? response_text(design) : "") + " ~ " + terms, "The column of numbers", section);
  }
  const auto correlated = telling_numbers(table, design, scores, kMostCorrelated);
  if (correlated.size() >= 3) {
    std::string all;
    for (const auto& name : correlated) all += (all.empty() ? "~ " : " + ") + quoted(name);
    if (response && !classes && design.response_columns().size() == 1) all += " + " + response_text(design);
    add_picture("correlation", "correlation", table, all, "Correlations", section);
  }
  Index gone = 0;
  for (const Column& column : table.all()) gone += column.missing();
  if (gone > 0 && table.columns() <= 60)
    add_picture("missing", "missing", table, "", "Where values are missing", section);
}

}  // namespace

Table drawn_rows(const Table& table, Index most) {
  if (table.rows() <= most) return table;
  std::vector<Index> rows;
  for (Index k = 0; k < most; ++k) rows.push_back(k * table.rows() / most);
  return table.select(rows);
}

Section data_section(const Table& table, const Design& design, const AloneScores& scores) {
  Section out{"data", "The data"};
  out.blocks.emplace_back(columns_sheet(table));
  if (scores.columns.size() > 1) {
    const bool numbers = design.classes().empty();
    out.blocks.emplace_back(alone_sheet(design, scores));
    out.blocks.emplace_back(Paragraph{fmt::format(
        "Each column alone says the {} of up to 50 groups of its values, learned from one half of the rows and held "
        "against the other{}. It is a first look: columns that say little alone may say much together.",
        numbers ? "mean" : "most frequent class",
        numbers ? std::string()
                : fmt::format("; the most frequent class alone scores {}", format_fixed(scores.baseline, 3)))});
  }
  if (table.rows() > kMostDrawn)
    out.blocks.emplace_back(Paragraph{fmt::format("Pictures with a point for each row show {} of {}, spread over all.",
                                                  format_count(kMostDrawn), count_of(table.rows(), "row"))});
  add_pictures_of_data(table, design, scores, out);
  return out;
}

Section findings_section(const std::vector<Finding>& found) {
  Section out{"watch", "What to watch out for"};
  if (found.empty())
    out.blocks.emplace_back(
        Notice{Notice::Kind::good, "Nothing was found",
               "No missing values, equal rows, far values, dependent columns, rare classes, or a column "
               "that predicts too well."});
  for (const Finding& each : found)
    out.blocks.emplace_back(Notice{each.serious ? Notice::Kind::warning : Notice::Kind::note, each.title, each.text});
  return out;
}

}  // namespace lemma::reporting
