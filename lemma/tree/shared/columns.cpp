// lemma/tree/shared/columns.cpp
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <lemma/core/error.hpp>
#include <lemma/math/radix.hpp>
#include <lemma/tree/shared/columns.hpp>
#include <lemma/tree/shared/nodes.hpp>
#include <limits>
#include <numeric>

namespace lemma {
namespace {

constexpr Index kColumnsTogether = 2;  // read in one pass over the rows: each takes 32 bytes a row until it is sorted

void check_outcome(std::string_view method, const Rows& rows, const Block& outcome) {
  for (Index i = 0; i < outcome.rows() || i < rows.count(); ++i) {
    const double w = outcome.weight_of(i);
    if (!(w >= 0 && std::isfinite(w)))
      throw Error(fmt::format("{}: the weight is {} in row {}; it must be finite and at least 0", method, w, i + 1));
    if (outcome.y.empty()) continue;
    if (const double y = outcome.y[at(i)]; !std::isfinite(y))
      throw Error(fmt::format("{}: '{}' is {} in row {}; every response must be finite", method, rows.target,
                              std::isnan(y) ? "missing" : "infinite", i + 1));
  }
}

[[noreturn]] void refuse(std::string_view method, const Rows& rows, Index column, Index row, double value) {
  const auto& name = rows.features[at(column)];
  if (rows.holds_codes(column))
    throw Error(fmt::format("{}: '{}' has no category of the code {} (row {})", method, name, value, row + 1));
  throw Error(
      fmt::format("{}: '{}' is infinite in row {}; every value must be finite or missing", method, name, row + 1));
}
/// Of `levels` categories (0: numbers) a value that is not missing.
bool is_bad(int levels, double value) {
  return levels > 0 ? !(value >= 0 && value < levels && value == std::floor(value)) : std::isinf(value);
}

struct Sorter {
  std::string_view method;
  const Rows& source;
  const MatrixView& x;
  RankedColumns& out;
  KeepValues keep;

  void rank(Index j, std::vector<KeyedRow>& items, const std::vector<std::uint32_t>& missing) const {
    radix_sort(items);
    auto& order = out.order[at(j)];
    auto& values = out.values[at(j)];
    order.reserve(items.size() + missing.size());
    const bool categories = out.levels[at(j)] > 0;
    if (!categories && keep == KeepValues::yes)
      values.reserve(items.size());  // growing would leave as much again behind
    std::uint32_t rank = 0;
    for (std::size_t i = 0; i < items.size(); ++i) {
      const double value = number_of(items[i].key);
      if (categories) {
        rank = static_cast<std::uint32_t>(value);
      } else if (i == 0 || items[i].key != items[i - 1].key) {
        rank += i > 0 ? 1 : 0;
        if (keep == KeepValues::yes) values.push_back(value);
      }
      order.push_back({items[i].row, rank});
    }
    for (const std::uint32_t row : missing) order.push_back({row, RankedRow::kMissing});
    if (values.size() < items.size() / 2) values.shrink_to_fit();
  }
  void sort_columns(Index first, Index count) const {
    std::vector<std::vector<KeyedRow>> items(at(count));
    std::vector<std::vector<std::uint32_t>> missing(at(count));
    for (auto& each : items) each.reserve(out.source.size());
    for (std::size_t i = 0; i < out.source.size(); ++i)
      for (Index j = 0; j < count; ++j) {
        const double value = x(out.source[i], first + j);
        const auto row = static_cast<std::uint32_t>(i);
        if (std::isnan(value)) missing[at(j)].push_back(row);
        else if (is_bad(out.levels[at(first + j)], value)) refuse(method, source, first + j, out.source[i], value);
        else items[at(j)].push_back({key_of(value), row});
      }
    for (Index j = 0; j < count; ++j) rank(first + j, items[at(j)], missing[at(j)]);
  }
};

}  // namespace

namespace {

double midway(double a, double b) {
  const double middle = std::midpoint(a, b);
  return middle > a ? middle : b;
}

}  // namespace

double RankedColumns::threshold(Index column, std::uint32_t low, std::uint32_t high) const {
  return midway(values[at(column)][low], values[at(column)][high]);
}

double RankedColumns::threshold_of_rows(Index column, std::uint32_t low, std::uint32_t high) const {
  return midway(value(column, low), value(column, high));
}

void check_rows(std::string_view method, const Rows& rows, const Block& outcome, const MatrixView& x) {
  check_outcome(method, rows, outcome);
  const Labels levels = level_counts(rows);
  for (Index i = 0; i < rows.count(); ++i) {
    if (!(outcome.weight_of(i) > 0)) continue;
    for (Index j = 0; j < x.cols(); ++j)
      if (const double value = x(i, j); !std::isnan(value) && is_bad(levels[at(j)], value))
        refuse(method, rows, j, i, value);
  }
}

MatrixView matrix_of(const Rows& rows, Matrix& space, const Execution& execution) {
  if (const MatrixView* there = rows.matrix()) return *there;
  space = gather(rows, execution);
  return space;
}

RankedColumns ranked_columns(std::string_view method, const Rows& rows, const Execution& execution, KeepValues keep) {
  require(rows.count() < std::numeric_limits<std::int32_t>::max(),
          fmt::format("{}: more than 2^31 rows cannot be sorted here", method));
  require(rows.classes.size() < 65536,
          fmt::format("{}: there are {} classes; 65535 can be told apart", method, rows.classes.size()));
  RankedColumns out;
  out.levels = level_counts(rows);
  out.classes = static_cast<Index>(rows.classes.size());
  BlockBuffer buffer;
  const Block outcome = rows.outcome(0, rows.count(), buffer);
  check_outcome(method, rows, outcome);
  bool weighted = false;
  for (Index i = 0; i < rows.count(); ++i) {
    const double w = outcome.weight_of(i);
    if (!(w > 0)) continue;
    out.source.push_back(i);
    out.weight.push_back(w);
    weighted = weighted || w != 1;
    if (out.classes > 0) out.label.push_back(static_cast<std::uint16_t>(outcome.label[at(i)]));
    else if (!outcome.y.empty()) out.y.push_back(outcome.y[at(i)]);
  }
  require(!out.source.empty(), fmt::format("{}: no row has a weight above 0", method));
  if (!weighted) out.weight.clear();
  const MatrixView x = matrix_of(rows, out.space, execution);
  out.x = x.data();
  out.stride = x.outerStride();
  out.values.resize(at(rows.width()));
  out.order.resize(at(rows.width()));
  const Sorter sorter{method, rows, x, out, keep};
  parallel_for((rows.width() + kColumnsTogether - 1) / kColumnsTogether, execution, [&](Index group) {
    const Index first = group * kColumnsTogether;
    sorter.sort_columns(first, std::min(kColumnsTogether, rows.width() - first));
  });
  if (keep == KeepValues::yes) {  // nothing more is asked of the rows
    out.x = nullptr;
    out.space.resize(0, 0);
  }
  return out;
}

}  // namespace lemma
