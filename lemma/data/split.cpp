// lemma/data/split.cpp
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <lemma/core/error.hpp>
#include <lemma/core/random.hpp>
#include <lemma/data/split.hpp>
#include <numeric>

namespace lemma {
namespace {

__extension__ using Wide = __int128;  // a product of two numbers of rows

/// The rows of each stratum, ascending.
std::vector<std::vector<Index>> rows_by(const std::vector<int>& strata, Index rows) {
  if (strata.empty()) {
    std::vector<Index> all(at(rows));
    std::iota(all.begin(), all.end(), Index{0});
    return {std::move(all)};
  }
  if (static_cast<Index>(strata.size()) != rows)
    throw Error(fmt::format("{} strata for {} rows: each row needs one", strata.size(), rows));
  const auto [least, most] = std::minmax_element(strata.begin(), strata.end());
  if (*least < 0) throw Error(fmt::format("a stratum is {}: they are numbered from 0", *least));
  std::vector<std::vector<Index>> members(static_cast<std::size_t>(*most) + 1);
  for (Index i = 0; i < rows; ++i) members[static_cast<std::size_t>(strata[at(i)])].push_back(i);
  return members;
}

Index test_rows(Index rows, const TestSize& size) {
  if (size.share.has_value() == size.count.has_value())
    throw Error("the test part is either a share or a number of rows");
  if (rows < 2) throw Error(fmt::format("{} row{} can't be split into two parts", rows, rows == 1 ? "" : "s"));
  if (size.count) {
    if (*size.count < 1 || *size.count >= rows)
      throw Error(
          fmt::format("a test part of {} rows: it must have 1 to {} of the {} rows", *size.count, rows - 1, rows));
    return *size.count;
  }
  if (!(*size.share > 0 && *size.share < 1))
    throw Error(fmt::format("a test share of {}: it must lie between 0 and 1", *size.share));
  return std::clamp<Index>(std::llround(*size.share * static_cast<double>(rows)), 1, rows - 1);
}

/// `total` shared out in proportion to the sizes, each rounded down and the rest given to the largest remainders. In whole
/// numbers: size·total = quota·rows + remainder.
std::vector<Index> largest_remainder(const std::vector<std::vector<Index>>& members, Index total, Index rows) {
  std::vector<Index> quota;
  std::vector<Index> remainder;
  Index given = 0;
  for (const auto& stratum : members) {
    const auto product = static_cast<Wide>(stratum.size()) * total;
    quota.push_back(static_cast<Index>(product / rows));
    remainder.push_back(static_cast<Index>(product % rows));
    given += quota.back();
  }
  std::vector<std::size_t> order(members.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return remainder[a] > remainder[b]; });
  for (std::size_t k = 0; given < total; ++k, ++given) ++quota[order[k]];
  return quota;
}

void check_folds(int k, Index most, const char* of_what) {
  if (k >= 2 && k <= most) return;
  throw Error(fmt::format("{} folds of {} {}: there must be {}", k, most, of_what,
                          most == 2 ? "2" : fmt::format("2 to {}", most)));
}

std::vector<int> quantile_bins(const std::vector<double>& values, int bins) {
  std::vector<double> sorted;
  for (const double v : values)
    if (!std::isnan(v)) sorted.push_back(v);
  std::sort(sorted.begin(), sorted.end());
  std::vector<double> distinct = sorted;
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  std::vector<double> starts;  // the least value of each bin
  if (static_cast<int>(std::min<std::size_t>(distinct.size(), 1 << 20)) <= bins) {
    starts = distinct;
  } else {
    for (int b = 0; b < bins; ++b)
      starts.push_back(sorted[static_cast<std::size_t>(b) * sorted.size() / static_cast<std::size_t>(bins)]);
    starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
  }
  std::vector<int> strata;
  strata.reserve(values.size());
  for (const double v : values)
    strata.push_back(static_cast<int>(std::isnan(v)
                                          ? starts.end() - starts.begin()
                                          : std::upper_bound(starts.begin(), starts.end(), v) - starts.begin() - 1));
  return strata;
}

}  // namespace

std::vector<int> strata_of(const Column& column, int bins) {
  if (bins < 1) throw Error(fmt::format("{} bins: there must be at least 1", bins));
  switch (column.type()) {
    case ColumnType::numeric: return quantile_bins(column.numbers().values, bins);
    case ColumnType::categorical: {
      const auto& [codes, levels] = column.categories();
      std::vector<int> strata(codes.begin(), codes.end());
      std::replace(strata.begin(), strata.end(), -1, static_cast<int>(levels.size()));
      return strata;
    }
    case ColumnType::text: break;
  }
  throw Error(fmt::format("column '{}' is text and has no classes to keep in proportion", column.name));
}

Split split(Index rows, const TestSize& size, const std::vector<int>& strata, std::uint64_t seed) {
  const Index total = test_rows(rows, size);
  auto members = rows_by(strata, rows);
  const auto quota = largest_remainder(members, total, rows);
  std::vector<bool> tested(at(rows));
  for (std::size_t s = 0; s < members.size(); ++s) {
    RandomStream stream(seed, s);
    stream.shuffle(std::span(members[s]));
    for (Index i = 0; i < quota[s]; ++i) tested[at(members[s][at(i)])] = true;
  }
  Split parts;
  for (Index i = 0; i < rows; ++i) (tested[at(i)] ? parts.test : parts.train).push_back(i);
  return parts;
}

std::vector<int> folds(Index rows, int k, const std::vector<int>& strata, std::uint64_t seed) {
  check_folds(k, rows, "rows");
  auto members = rows_by(strata, rows);
  std::vector<int> fold(at(rows));
  Index dealt = 0;
  for (std::size_t s = 0; s < members.size(); ++s) {
    RandomStream stream(seed, s);
    stream.shuffle(std::span(members[s]));
    for (const Index i : members[s]) fold[at(i)] = static_cast<int>(dealt++ % k);
  }
  return fold;
}

std::vector<int> grouped_folds(const std::vector<int>& groups, int k, std::uint64_t seed) {
  auto members = rows_by(groups, static_cast<Index>(groups.size()));
  std::erase_if(members, [](const auto& group) { return group.empty(); });
  check_folds(k, static_cast<Index>(members.size()), "groups");
  RandomStream stream(seed);
  stream.shuffle(std::span(members));
  std::stable_sort(members.begin(), members.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
  std::vector<std::size_t> filled(static_cast<std::size_t>(k));
  std::vector<int> fold(groups.size());
  for (const auto& group : members) {
    const auto least = std::min_element(filled.begin(), filled.end());
    *least += group.size();
    for (const Index i : group) fold[at(i)] = static_cast<int>(least - filled.begin());
  }
  return fold;
}

}  // namespace lemma
