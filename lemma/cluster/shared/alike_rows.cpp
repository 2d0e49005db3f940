// lemma/cluster/shared/alike_rows.cpp
#include <algorithm>
#include <fmt/core.h>
#include <lemma/cluster/shared/alike_rows.hpp>
#include <lemma/cluster/shared/measured_points.hpp>
#include <lemma/core/error.hpp>
#include <lemma/core/hash.hpp>

namespace lemma {
namespace {

bool equal_rows(const MatrixView& x, Index i, Index k) {
  for (Index j = 0; j < x.cols(); ++j)
    if (x(i, j) != x(k, j)) return false;
  return true;
}

}  // namespace

AlikeRows alike_rows(std::string_view method, const Rows& rows, const Execution& execution) {
  require_finite(rows, execution.part(0, 0.3));
  const Vector weight = weights_of(rows, execution.part(0.3, 0.4));
  const Matrix x = (gather(rows, execution.part(0.4, 0.8)).array() + 0.0).matrix();  // −0 is 0
  std::vector<std::pair<std::uint64_t, Index>> places;
  for (Index i = 0; i < x.rows(); ++i)
    if (weight(i) > 0) places.emplace_back(hash_numbers({x.row(i).data(), at(x.cols())}), i);
  if (places.empty()) throw Error(fmt::format("{}: all weights are 0, so there are no rows to learn from", method));
  std::sort(places.begin(), places.end(), [&](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : weight(a.second) < weight(b.second);
  });
  std::vector<Index> first;
  std::vector<double> sums;
  for (const auto& [hash, i] : places) {
    if (first.empty() || !equal_rows(x, first.back(), i)) first.push_back(i), sums.push_back(0);
    sums.back() += weight(i);
  }
  return {rows_at(x, first), Eigen::Map<const Vector>(sums.data(), static_cast<Index>(sums.size()))};
}

}  // namespace lemma
