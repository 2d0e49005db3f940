// lemma/validate/plan/leaks.cpp: what makes an estimate too good, found in the rows alone.
#include <algorithm>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/validate/plan.hpp>
#include <unordered_set>

namespace lemma {
namespace {

using Kind = Leak::Kind;

/// How many rows that judge have a partner among those that train, under a key.
template <class Key>
Index shared(const Resample& resample, const std::vector<Key>& keys) {
  std::unordered_set<Key> trained;
  for (const Index i : resample.train) trained.insert(keys[static_cast<std::size_t>(i)]);
  return std::count_if(resample.test.begin(), resample.test.end(),
                       [&](Index i) { return trained.contains(keys[static_cast<std::size_t>(i)]); });
}

struct Found {
  Index rows = 0, resamples = 0;
  void add(Index more) {
    rows += more;
    resamples += more > 0 ? 1 : 0;
  }
};

/// " in 11 of 20 splits", or of the first 20 of more.
struct Splits {
  std::size_t looked_at = 0, all = 0;
  std::string with(const Found& found) const {
    if (all == 1) return "";
    return fmt::format(
        " in {} of {}{} splits", format_count(found.resamples),
        looked_at < all ? fmt::format("the first {} of ", format_count(static_cast<Index>(looked_at))) : "",
        format_count(static_cast<Index>(all)));
  }
};

}  // namespace

std::string_view name_of(Leak::Kind kind) {
  switch (kind) {
    case Kind::row_in_both: return "row in both";
    case Kind::equal_rows: return "equal rows";
    case Kind::group_apart: return "group split apart";
    case Kind::time_reversed: return "time reversed";
  }
  return "";
}

std::vector<Leak> leaks(std::span<const Resample> resamples, const PlanRows& rows,
                        std::span<const std::uint64_t> hashes, Index all) {
  std::vector<Leak> out;
  std::vector<Index> itself;
  for (Index i = 0; i < rows.count; ++i) itself.push_back(i);
  const std::vector<std::uint64_t> keys(hashes.begin(), hashes.end());
  Found both, equal, apart, reversed;
  for (const auto& each : resamples) {
    const Index same = shared(each, itself);
    both.add(same);
    if (!keys.empty()) equal.add(shared(each, keys) - same);
    if (!rows.groups.empty()) apart.add(shared(each, rows.groups));
    if (rows.time.empty() || each.train.empty() || each.test.empty()) continue;
    const auto at = [&](Index i) { return rows.time[static_cast<std::size_t>(i)]; };
    double first = at(each.test.front());
    for (const Index i : each.test) first = std::min(first, at(i));
    reversed.add(std::count_if(each.train.begin(), each.train.end(), [&](Index i) { return at(i) > first; }));
  }
  const Splits splits{resamples.size(), std::max(resamples.size(), static_cast<std::size_t>(all))};
  if (both.rows > 0)
    out.push_back({Kind::row_in_both,
                   fmt::format("{} that judge{} also train{}: the figures flatter the method",
                               lemma::count_of(both.rows, "row"), both.rows == 1 ? "s" : "", splits.with(both))});
  if (equal.rows > 0)
    out.push_back({Kind::equal_rows,
                   fmt::format("{} equal, response included, to a training row{}: the same example twice is judged by "
                               "itself; --group COLUMN keeps copies together",
                               equal.rows == 1 ? "1 row that judges is"
                                               : fmt::format("{} rows that judge are", format_count(equal.rows)),
                               splits.with(equal))});
  if (apart.rows > 0)
    out.push_back({Kind::group_apart,
                   fmt::format("groups are split apart: {} that judge{} {} of a group that trains too{}; a method may "
                               "know the group instead of the rule",
                               lemma::count_of(apart.rows, "row"), apart.rows == 1 ? "s" : "",
                               apart.rows == 1 ? "is" : "are", splits.with(apart))});
  if (reversed.rows > 0)
    out.push_back({Kind::time_reversed,
                   fmt::format("time is reversed: {} later than the first that judges{}; what is to come predicts what "
                               "was",
                               reversed.rows == 1 ? "1 training row is"
                                                  : fmt::format("{} training rows are", format_count(reversed.rows)),
                               splits.with(reversed))});
  return out;
}

}  // namespace lemma
