// lemma/embed/shared/value_order.cpp
#include <algorithm>
#include <lemma/embed/shared/value_order.hpp>
#include <numeric>
#include <span>

namespace lemma {

std::vector<Index> order_of(const Matrix& points) {
  std::vector<Index> out(at(points.rows()));
  std::iota(out.begin(), out.end(), Index{0});
  const auto row = [&](Index i) { return std::span<const double>(points.row(i).data(), at(points.cols())); };
  std::stable_sort(out.begin(), out.end(),
                   [&](Index a, Index b) { return std::ranges::lexicographical_compare(row(a), row(b)); });
  return out;
}

}  // namespace lemma
