// lemma/geometry/same_rows.cpp
#include <algorithm>
#include <lemma/core/hash.hpp>
#include <lemma/geometry/same_rows.hpp>
#include <map>
#include <numeric>

namespace lemma {
namespace {

std::vector<std::uint64_t> fingerprints(const Points& points) {
  std::vector<std::uint64_t> out;
  for (Index i = 0; i < points.count(); ++i) out.push_back(fingerprint(points, i));
  return out;
}

/// Rows by their fingerprints, equal ones by their keys, and what agrees in both as it comes.
std::vector<Index> sorted(const std::vector<std::uint64_t>& prints, const Matrix& keys) {
  std::vector<Index> order(prints.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) {
    if (prints[at(a)] != prints[at(b)]) return prints[at(a)] < prints[at(b)];
    for (Index k = 0; k < keys.cols(); ++k)
      if (keys(a, k) != keys(b, k)) return keys(a, k) < keys(b, k);
    return false;
  });
  return order;
}

bool all_differ(std::vector<std::uint64_t> prints) {
  std::sort(prints.begin(), prints.end());
  return std::adjacent_find(prints.begin(), prints.end()) == prints.end();
}

}  // namespace

std::uint64_t fingerprint(const Points& points, Index i) {
  std::uint64_t hash = 0;
  const auto add = [&](Index column, double value) {
    const double entry[] = {static_cast<double>(column), value};
    if (value != 0) hash = hash_numbers(entry, hash);
  };
  if (points.is_sparse()) {
    const Csr& rows = points.sparse();
    for (Index k = rows.start[at(i)]; k < rows.start[at(i) + 1]; ++k) add(rows.column[at(k)], rows.value[at(k)]);
  } else {
    for (Index j = 0; j < points.dense().cols(); ++j) add(j, points.dense()(i, j));
  }
  return hash;
}

std::int64_t fingerprint_in_order(const Points& points, const std::function<double(Index)>& response,
                                  const std::function<double(Index)>& weight) {
  std::uint64_t hash = 0;
  for (Index i = 0; i < points.count(); ++i) {
    const double beside[] = {static_cast<double>(points.places()[at(i)]), response(i), weight(i)};
    const std::uint64_t both[] = {hash, fingerprint(points, i)};
    hash = hash_numbers(beside, hash_bytes(both, sizeof both));
  }
  constexpr std::uint64_t k52Bits = (std::uint64_t{1} << 52) - 1;
  return static_cast<std::int64_t>(std::max<std::uint64_t>(1, hash & k52Bits));
}

RowMatch::RowMatch(const Points& kept, const Points& given, Allowed allowed)
    : row_of_(at(kept.count()), -1), owner_(at(given.count()), -1), allowed_(std::move(allowed)) {
  std::map<std::uint64_t, std::size_t> groups;
  for (Index j = 0; j < kept.count(); ++j)
    group_.push_back(groups.emplace(fingerprint(kept, j), groups.size()).first->second);
  alike_.resize(groups.size());
  for (Index i = 0; i < given.count(); ++i)
    if (const auto found = groups.find(fingerprint(given, i)); found != groups.end())
      alike_[found->second].push_back(i);
}

void RowMatch::give(Index kept, Index row) {
  row_of_[at(kept)] = row;
  owner_[at(row)] = kept;
}

bool RowMatch::take(Index kept, const Better& better) {
  Index best = -1;
  for (const Index row : alike_[group_[at(kept)]])
    if (owner_[at(row)] < 0 && allowed_(kept, row) && (best < 0 || (better && better(kept, row, best)))) {
      best = row;
      if (!better) break;
    }
  if (best >= 0) {
    give(kept, best);
    return true;
  }
  std::vector<Index> asked;
  return make_room(kept, asked);
}

/// An augmenting path of a bipartite matching (Kuhn): the owner of a row that would do takes another one.
bool RowMatch::make_room(Index kept, std::vector<Index>& asked) {
  for (const Index row : alike_[group_[at(kept)]]) {
    if (!allowed_(kept, row) || std::find(asked.begin(), asked.end(), row) != asked.end()) continue;
    asked.push_back(row);
    if (owner_[at(row)] >= 0 && !make_room(owner_[at(row)], asked)) continue;
    give(kept, row);
    return true;
  }
  return false;
}

std::optional<std::vector<Index>> found_again(const Points& kept, const Points& given,
                                              const std::function<Ties()>& ties) {
  if (kept.count() != given.count()) return {};
  const auto of_kept = fingerprints(kept), of_given = fingerprints(given);
  const Ties keys = ties && !all_differ(of_kept) ? ties() : Ties{};
  const auto first = sorted(of_kept, keys.kept), second = sorted(of_given, keys.given);
  std::vector<Index> out(first.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (of_kept[at(first[i])] != of_given[at(second[i])]) return {};
    out[at(first[i])] = second[i];
  }
  return out;
}

}  // namespace lemma
