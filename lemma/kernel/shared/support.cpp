// lemma/kernel/shared/support.cpp
#include <cmath>
#include <lemma/geometry/same_rows.hpp>
#include <lemma/kernel/shared/support.hpp>
#include <limits>
#include <map>

namespace lemma {

double beyond_bounds(const Kernel& kernel, const KeptRows& kept, const RowNumbers& places, const Vector& beta,
                     const Points& points, const Vector& sign, const Vector& bound) {
  using Key = std::pair<std::uint64_t, bool>;
  const bool by_place = kernel.contains<Precomputed>();
  const Points carried = kept.points(kernel, places.of);
  const auto key = [&](const Points& of, Index i, bool positive) -> Key {
    return {by_place ? static_cast<std::uint64_t>(of.places()[at(i)]) : fingerprint(of, i), positive};
  };
  std::map<Key, double> allowed, used;
  for (Index j = 0; j < beta.size(); ++j) used[key(carried, j, beta(j) > 0)] += std::abs(beta(j));
  for (Index i = 0; i < points.count(); ++i) allowed[key(points, i, sign(i) > 0)] += bound(i);
  double worst = 0;
  for (const auto& [row, sum] : used) {
    const auto found = allowed.find(row);
    if (found == allowed.end() || !(found->second > 0)) return std::numeric_limits<double>::infinity();
    const double beyond = sum / found->second - 1;
    if (!(beyond <= worst)) worst = beyond;
  }
  return worst;
}

Support support_of(const Kernel& kernel, const Points& points, const Vector& beta) {
  std::vector<Index> carried;
  for (Index i = 0; i < beta.size(); ++i)
    if (beta(i) != 0) carried.push_back(i);
  const Points rows = points.select(carried);
  return {KeptRows::of(kernel, rows), kept_places(kernel, rows), beta(carried)};
}

}  // namespace lemma
