// lemma/cluster/shared/row_prints.cpp
#include <lemma/cluster/shared/row_prints.hpp>
#include <lemma/core/hash.hpp>
#include <map>

namespace lemma {

Vector prints_of(const MatrixView& rows) {
  Vector out(rows.rows());
  for (Index i = 0; i < rows.rows(); ++i)
    out(i) = static_cast<double>(hash_numbers({rows.row(i).data(), at(rows.cols())}) >> 11);
  return out;
}

double print_of_all(const MatrixView& rows) {
  const Vector each = prints_of(rows);
  return static_cast<double>(hash_numbers({each.data(), at(each.size())}) >> 11);
}

std::vector<Index> places_by_prints(const Vector& prints, const MatrixView& rows) {
  const Vector given = prints_of(rows);
  std::multimap<double, Index> found;  // of equal keys the first given comes first
  for (Index i = 0; i < given.size(); ++i) found.emplace(given(i), i);
  std::vector<Index> out(at(prints.size()), -1);
  for (Index i = 0; i < prints.size(); ++i)
    if (const auto one = found.lower_bound(prints(i)); one != found.end() && one->first == prints(i)) {
      out[at(i)] = one->second;
      found.erase(one);
    }
  std::vector<bool> used(at(given.size()), true);
  for (const auto& [print, row] : found) used[at(row)] = false;
  for (Index i = 0, next = 0; i < prints.size(); ++i) {
    if (out[at(i)] >= 0) continue;
    while (next < given.size() && used[at(next)]) ++next;
    if (next < given.size()) out[at(i)] = next++;
  }
  return out;
}

}  // namespace lemma
