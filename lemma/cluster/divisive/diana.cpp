// lemma/cluster/divisive/diana.cpp
#include <algorithm>
#include <lemma/cluster/divisive/diana.hpp>
#include <numeric>

namespace lemma {

double diameter_of(const Dissimilarities& all, const std::vector<Index>& rows) {
  double out = 0;
  for (std::size_t a = 0; a < rows.size(); ++a)
    for (std::size_t b = a + 1; b < rows.size(); ++b) out = std::max(out, all(rows[a], rows[b]));
  return out;
}

Parting splinter(const Dissimilarities& all, const std::vector<Index>& rows) {
  const std::size_t size = rows.size();
  std::vector<double> stays(size, 0.0), leaves(size, 0.0);  // Σ d to those that stay, to those that left
  for (std::size_t a = 0; a < size; ++a)
    for (std::size_t b = a + 1; b < size; ++b) {
      const double d = all(rows[a], rows[b]);
      stays[a] += d, stays[b] += d;
    }
  std::vector<char> gone(size, 0);
  std::size_t left = 0;
  for (;;) {
    const auto others = static_cast<double>(size - left - 1);
    std::size_t best = size;
    double most = 0;
    for (std::size_t a = 0; a < size; ++a) {
      if (gone[a]) continue;
      const double gain = stays[a] / others - (left > 0 ? leaves[a] / static_cast<double>(left) : 0.0);
      // What rounding alone makes of equal means is no reason to leave.
      if (best == size ? left == 0 || gain > 1e-12 * stays[a] / others : gain > most) best = a, most = gain;
    }
    if (best == size) break;
    gone[best] = 1;
    ++left;
    for (std::size_t a = 0; a < size; ++a)
      if (!gone[a]) {
        const double d = all(rows[a], rows[best]);
        stays[a] -= d, leaves[a] += d;
      }
    if (left + 1 == size) break;  // one stays
  }
  Parting out;
  for (std::size_t a = 0; a < size; ++a) (gone[a] ? out.left : out.stayed).push_back(rows[a]);
  return out;
}

std::vector<Parting> part_all(Index n, const std::function<double(const std::vector<Index>&)>& width_of,
                              const std::function<Parting(const std::vector<Index>&)>& part,
                              const Execution& execution) {
  struct Cluster {
    double width;
    std::vector<Index> rows;
    bool operator<(const Cluster& other) const {
      return width != other.width ? width < other.width : rows.front() > other.rows.front();
    }
  };
  std::vector<Index> every(at(n));
  std::iota(every.begin(), every.end(), Index{0});
  std::vector<Cluster> heap{{width_of(every), every}};
  std::vector<Parting> out;
  while (!heap.empty()) {
    if (execution.cancelled()) throw Cancelled();
    execution.report(static_cast<double>(out.size()) / static_cast<double>(n), "partings");
    std::pop_heap(heap.begin(), heap.end());
    const Cluster widest = std::move(heap.back());
    heap.pop_back();
    Parting parting = part(widest.rows);
    parting.diameter = widest.width;
    for (const auto& side : {parting.left, parting.stayed})
      if (side.size() > 1) {
        heap.push_back({std::min(width_of(side), widest.width), side});
        std::push_heap(heap.begin(), heap.end());
      }
    out.push_back(std::move(parting));
  }
  return out;
}

std::vector<Parting> diana(const Dissimilarities& all, const Execution& execution) {
  return part_all(
      all.count(), [&](const std::vector<Index>& rows) { return diameter_of(all, rows); },
      [&](const std::vector<Index>& rows) { return splinter(all, rows); }, execution);
}

}  // namespace lemma
