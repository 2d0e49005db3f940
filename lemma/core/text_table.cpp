// lemma/core/text_table.cpp
#include <fmt/format.h>

#include <algorithm>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>

namespace lemma {
namespace {

/// A cell is one line: what would break it is shown as a blank.
std::string one_line(std::string cell) {
  std::replace_if(
      cell.begin(), cell.end(), [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  return cell;
}

}  // namespace

TextTable& TextTable::add(std::string header, std::vector<std::string> cells, bool to_the_right) {
  if (!columns_.empty() && cells.size() + 1 != columns_[0].cells.size())
    throw Error(fmt::format("table: column '{}' has {} rows, the first has {}", header, cells.size(),
                            columns_[0].cells.size() - 1));
  cells.insert(cells.begin(), std::move(header));
  Column column{std::move(cells), to_the_right, 0};
  for (auto& cell : column.cells) {
    cell = one_line(std::move(cell));
    column.width = std::max(column.width, display_width(cell));
  }
  columns_.push_back(std::move(column));
  return *this;
}

TextTable& TextTable::words(std::string header, std::vector<std::string> cells) {
  return add(std::move(header), std::move(cells), false);
}
TextTable& TextTable::right(std::string header, std::vector<std::string> cells) {
  return add(std::move(header), std::move(cells), true);
}
TextTable& TextTable::numbers(std::string header, const std::vector<double>& numbers, int digits) {
  return add(std::move(header), format_column(numbers, digits), true);
}

std::string TextTable::part(const Layout& layout, const std::vector<const Column*>& columns) const {
  std::string out;
  for (std::size_t row = layout.header ? 0 : 1; row < columns[0]->cells.size(); ++row) {
    std::string line(static_cast<std::size_t>(layout.indent), ' ');
    for (const Column* column : columns) {
      if (column != columns[0]) line.append(static_cast<std::size_t>(layout.gap), ' ');
      const std::string& cell = column->cells[row];
      line += column->to_the_right ? pad_left(cell, column->width) : pad_right(cell, column->width);
    }
    line.resize(line.find_last_not_of(' ') + 1);  // npos + 1 is 0
    out += line + '\n';
  }
  return out;
}

std::string TextTable::str() const { return str(Layout()); }

std::string TextTable::str(const Layout& layout) const {
  if (columns_.empty()) return "";
  std::string out;
  std::vector<const Column*> columns{&columns_[0]};
  const int first_width = layout.indent + columns_[0].width;
  int width = first_width;
  for (std::size_t j = 1; j < columns_.size(); ++j) {
    const int more = layout.gap + columns_[j].width;
    if (layout.width > 0 && width + more > layout.width && columns.size() > 1) {
      out += part(layout, columns) + '\n';
      columns.resize(1);
      width = first_width;
    }
    columns.push_back(&columns_[j]);
    width += more;
  }
  return out + part(layout, columns);
}

}  // namespace lemma
