// lemma/kernel/kernel_neighbors/search.cpp: blocks of kernel values, and the k least distances of each row.
#include <algorithm>
#include <cmath>
#include <lemma/kernel/kernel_neighbors/parts.hpp>
#include <numeric>

namespace lemma::kernel_neighbors {
namespace {

constexpr double kEqual = 1e-12;            // of the kernel's values: distances that close are the same
constexpr Index kNumbers = Index{1} << 21;  // kernel values of a block of rows

Vector centre_of(const Kernel& kernel, const Points& points) {
  if (!kernel.get<LinearKernel>() || points.is_sparse()) return {};
  return points.means();
}
Points about(const Vector& centre, Points points) {
  if (centre.size() == 0) return points;
  return Points(Matrix(points.dense().rowwise() - centre.transpose()));
}

}  // namespace

Search::Search(const Kernel& kernel, Points points, const Vector& weight, int k)
    : centre_(centre_of(kernel, points)),
      kernel_(kernel, about(centre_, std::move(points))),
      weight_(weight),
      diagonal_(kernel_.diagonal()),
      even_(diagonal_.minCoeff() == diagonal_.maxCoeff()),
      whole_(weight.minCoeff() >= 1),
      k_(k) {}

Index Search::block_rows() const { return std::clamp<Index>(kNumbers / kernel_.count(), 1, 256); }

Matrix Search::moved(const MatrixView& x) const {
  if (centre_.size() == 0) return x;
  return x.rowwise() - centre_.transpose();
}

void Search::each(const MatrixView& x, const Execution& execution,
                  const std::function<void(Index, const Neighbors&)>& visit) const {
  const Index size = block_rows();
  parallel_for((x.rows() + size - 1) / size, execution, [&](Index block) {
    const Index first = block * size, rows = std::min(size, x.rows() - first);
    const Matrix here = moved(x.middleRows(first, rows));
    Matrix values(rows, kernel_.count());
    kernel_.cross_block(here, 0, values);
    const Vector own = kernel_.diagonal_of(here);
    for (Index i = 0; i < rows; ++i) visit(first + i, choose(values.row(i).transpose(), own(i), -1, false));
  });
}

void Search::each_left_out(bool sort_all, const Execution& execution,
                           const std::function<void(Index, const Neighbors&)>& visit) const {
  const Index size = block_rows(), n = kernel_.count();
  parallel_for((n + size - 1) / size, execution, [&](Index block) {
    const Index first = block * size, rows = std::min(size, n - first);
    std::vector<Index> which(static_cast<std::size_t>(rows));
    std::iota(which.begin(), which.end(), first);
    Matrix values(rows, n);
    kernel_.own_block(which, 0, values);
    for (Index i = 0; i < rows; ++i)
      visit(first + i, choose(values.row(i).transpose(), diagonal_(first + i), first + i, sort_all));
  });
}

/// By a key that grows with the distance: −k(x, z) where k(z, z) is the same for all z, since 1 − e^−large is 1 for all of
/// them; else k(x, x) + k(z, z) − 2 k(x, z).
Neighbors Search::choose(const VectorView& kernel_row, double own, Index left_out, bool sort_all) const {
  struct Candidate {
    double key, unit;
    Index row;
  };
  const auto room = [&](Index j) { return weight_(j) - (j == left_out ? 1 : 0); };
  std::vector<Candidate> all;
  for (Index j = 0; j < kernel_row.size(); ++j) {
    const double value = kernel_row(j);
    if (room(j) <= 0) continue;
    if (even_) all.push_back({-value, kEqual * std::abs(value), j});
    else all.push_back({own + diagonal_(j) - 2 * value, kEqual * (std::abs(own) + std::abs(diagonal_(j))), j});
  }
  const auto nearer = [](const Candidate& a, const Candidate& b) {
    return a.key != b.key ? a.key < b.key : a.row < b.row;
  };
  const auto most = static_cast<std::size_t>(k_) + (left_out >= 0 ? 1 : 0);
  if (!sort_all && whole_ && most < all.size()) {  // those not farther than the last that could be needed
    const auto last = all.begin() + static_cast<std::ptrdiff_t>(most) - 1;
    std::nth_element(all.begin(), last, all.end(), nearer);
    const double limit = last->key + 2 * last->unit;
    all.erase(std::partition(last + 1, all.end(), [&](const Candidate& each) { return each.key <= limit; }), all.end());
  }
  std::sort(all.begin(), all.end(), nearer);
  for (std::size_t from = 0, to = 0; from < all.size(); from = to) {  // equally far: in the order of the rows
    for (to = from + 1; to < all.size() && all[to].key - all[to - 1].key <= all[to].unit; ++to) {}
    std::sort(all.begin() + static_cast<std::ptrdiff_t>(from), all.begin() + static_cast<std::ptrdiff_t>(to),
              [](const Candidate& a, const Candidate& b) { return a.row < b.row; });
  }
  Neighbors out;
  double taken = 0;
  for (const Candidate& each : all) {
    if (taken >= k_) break;
    const double copies = std::min(room(each.row), k_ - taken);
    const double squared = even_ ? own + diagonal_(each.row) + 2 * each.key : each.key;
    out.row.push_back(each.row);
    out.copies.push_back(copies);
    out.distance.push_back(squared <= kEqual * (std::abs(own) + std::abs(diagonal_(each.row))) ? 0
                                                                                               : std::sqrt(squared));
    taken += copies;
  }
  return out;
}

}  // namespace lemma::kernel_neighbors
