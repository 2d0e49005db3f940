// lemma/data/sparse_rows.cpp
#include <algorithm>
#include <charconv>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/data/design/parts.hpp>
#include <lemma/data/sparse_rows.hpp>
#include <numeric>
#include <unordered_map>

namespace lemma {
namespace {

/// These rows alone.
SparseData rows_of(const SparseData& data, const std::vector<Index>& rows) {
  SparseData out{{{0}, {}, {}, data.x.width}, {}, data.notes, data.source};
  for (const Index row : rows) {
    const auto from = data.x.start[at(row)], to = data.x.start[at(row + 1)];
    out.x.column.insert(out.x.column.end(), data.x.column.begin() + from, data.x.column.begin() + to);
    out.x.value.insert(out.x.value.end(), data.x.value.begin() + from, data.x.value.begin() + to);
    out.x.start.push_back(static_cast<Index>(out.x.value.size()));
    out.y.push_back(data.y[at(row)]);
  }
  return out;
}

/// The first row of each value of y, as long as they are few: all that a design of plain columns learns from.
constexpr std::size_t kMostValues = 1001;  // more are a number, not classes
std::vector<Index> one_of_each(const std::vector<double>& y) {
  std::unordered_map<double, Index> first;
  for (std::size_t i = 0; i < y.size() && first.size() < kMostValues; ++i)
    first.try_emplace(y[i], static_cast<Index>(i));
  std::vector<Index> rows;
  rows.reserve(first.size());
  for (const auto& [value, row] : first) rows.push_back(row);
  std::sort(rows.begin(), rows.end());
  return rows;
}

/// "x17" is column 16; −1 for any other name.
Index column_of(const std::string& name) {
  Index number = 0;
  const char* end = name.data() + name.size();
  if (name.size() < 2 || name[0] != 'x' || name[1] == '0') return -1;
  const auto [stop, code] = std::from_chars(name.data() + 1, end, number);
  return code == std::errc() && stop == end ? number - 1 : -1;
}

Csr columns_of(const Csr& x, const std::vector<Index>& wanted) {
  std::vector<Index> place(at(x.width), -1);
  for (std::size_t j = 0; j < wanted.size(); ++j)
    if (wanted[j] < x.width) place[at(wanted[j])] = static_cast<Index>(j);
  Csr out{{0}, {}, {}, static_cast<Index>(wanted.size())};
  std::vector<std::pair<std::int32_t, double>> row;
  for (std::size_t i = 0; i < at(x.rows()); ++i) {
    row.clear();
    for (auto k = at(x.start[i]); k < at(x.start[i + 1]); ++k)
      if (const Index j = place[at(x.column[k])]; j >= 0) row.emplace_back(static_cast<std::int32_t>(j), x.value[k]);
    std::sort(row.begin(), row.end());
    for (const auto& [column, value] : row) {
      out.column.push_back(column);
      out.value.push_back(value);
    }
    out.start.push_back(static_cast<Index>(out.value.size()));
  }
  return out;
}

bool takes_all(const std::vector<Index>& wanted, Index width) {
  if (static_cast<Index>(wanted.size()) != width) return false;
  for (Index j = 0; j < width; ++j)
    if (wanted[at(j)] != j) return false;
  return true;
}

}  // namespace

SparseStream::SparseStream(std::shared_ptr<const SparseData> data)
    : data_(std::move(data)), schema_(to_table(rows_of(*data_, {}))) {}

Table SparseStream::read(Index first, Index count) const {
  if (first < 0 || count < 0 || first > rows() - count)
    throw Error(fmt::format("there are no rows {} to {}: the table has {} rows", first + 1, first + count, rows()));
  std::vector<Index> wanted(at(count));
  std::iota(wanted.begin(), wanted.end(), first);
  return to_table(rows_of(*data_, wanted));
}

bool is_plain(const Design& design) {
  const Response& response = design.parts().response;
  const bool numbers = response.kind == Response::Kind::numeric && response.numbers[0].kind == Expression::Kind::name;
  const bool classes = response.kind == Response::Kind::classes && response.parts.size() == 1 &&
                       response.parts[0].takes_levels_of_column();  // y, or factor(y)
  if (!(numbers || classes) || response.columns != std::vector<std::string>{"y"} || design.features().empty())
    return false;
  auto features = design.features(), columns = design.columns();
  if (!std::all_of(features.begin(), features.end(), [](const std::string& f) { return column_of(f) >= 0; }))
    return false;
  std::sort(features.begin(), features.end());
  std::sort(columns.begin(), columns.end());
  return features == columns;
}

std::optional<Design> plain_design(const Formula& formula, const SparseData& data, const DesignOptions& options) {
  if (!options.weights.empty() || !options.precision.empty() || !options.id.empty() || !options.cluster.empty() ||
      data.y.empty())
    return {};
  const auto shown = one_of_each(data.y);
  const bool calls = !formula.response.empty() && formula.response[0].kind == Expression::Kind::call;
  if (shown.size() == kMostValues && calls) return {};  // factor(y): more classes than these rows show
  const Table few = to_table(rows_of(data, shown));
  Design design(formula, few, options);
  if (!is_plain(design)) return {};
  return design;
}

DesignData sparse_outcome(const Design& design, const SparseData& data) {
  DesignData out;
  out.has_response = true;
  out.kept.resize(data.y.size());
  std::iota(out.kept.begin(), out.kept.end(), Index{0});
  if (design.classes().empty()) {
    out.y = data.y;
    return out;
  }
  std::unordered_map<std::string, int> code;
  for (const auto& name : design.classes()) code.emplace(name, static_cast<int>(code.size()));
  std::unordered_map<double, int> known;  // a number is written once
  for (const double y : data.y) {
    const auto [found, is_new] = known.try_emplace(y, -1);
    if (is_new)
      if (const auto named = code.find(to_text(y)); named != code.end()) found->second = named->second;
    out.label.push_back(found->second);
  }
  return out;
}

SparseRows::SparseRows(const Design& design, const SparseData& data)
    : x_(&data.x), outcome_(sparse_outcome(design, data)) {
  require(is_plain(design), "these rows need the table: the formula does more than take columns as they stand");
  std::vector<Index> wanted;
  for (const auto& feature : design.features()) wanted.push_back(column_of(feature));
  if (!takes_all(wanted, data.x.width)) {
    chosen_ = columns_of(data.x, wanted);
    x_ = &chosen_;
  }
  features = design.features();
  target = design.target();
  classes = design.classes();
  has_response = true;
}

Block SparseRows::beside(const MatrixView& x, Index first) const {
  const std::size_t size = at(x.rows());
  Block block(x, first);
  if (!outcome_.y.empty()) block.y = std::span(outcome_.y).subspan(at(first), size);
  if (!outcome_.label.empty()) block.label = std::span(outcome_.label).subspan(at(first), size);
  return block;
}

Block SparseRows::read(Index first, Index size, BlockBuffer& buffer) const {
  return beside(dense_rows(*x_, first, size, buffer.x), first);
}

Block SparseRows::outcome(Index first, Index size, BlockBuffer& buffer) const {
  buffer.x.resize(size, 0);
  return beside(buffer.x, first);
}

}  // namespace lemma
