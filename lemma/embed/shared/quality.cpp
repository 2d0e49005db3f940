// lemma/embed/shared/quality.cpp: how good a picture is.
#include <algorithm>
#include <cmath>
#include <lemma/core/random.hpp>
#include <lemma/embed/shared/embedded.hpp>
#include <limits>
#include <numeric>

namespace lemma {
namespace {

constexpr Index kNeighbors = 10;
constexpr Index kGroups = 10;

/// The things looked at: all, or a sample that never changes.
std::vector<Index> looked_at(Index count) {
  if (count <= Quality::kMostExact) {
    std::vector<Index> all(at(count));
    std::iota(all.begin(), all.end(), Index{0});
    return all;
  }
  RandomStream stream(1);
  auto some = sample_without_replacement(stream, count, Quality::kMostExact);
  std::sort(some.begin(), some.end());
  return some;
}

/// Before j as a neighbour: nearer, or as near and earlier.
bool is_before(std::span<const double> far, Index l, Index j) {
  return far[at(l)] < far[at(j)] || (far[at(l)] == far[at(j)] && l < j);
}

/// The k nearest of thing i, in the order of their numbers.
std::vector<Index> nearest(std::span<const double> far, Index i, Index k) {
  std::vector<Index> order;
  for (Index j = 0; j < static_cast<Index>(far.size()); ++j)
    if (j != i) order.push_back(j);
  std::nth_element(order.begin(), order.begin() + (k - 1), order.end(),
                   [&](Index a, Index b) { return is_before(far, a, b); });
  order.resize(at(k));
  std::sort(order.begin(), order.end());
  return order;
}

/// Σ (rank by `far` − k) over those of `others` that are not among the k nearest by `far`.
double ranks_beyond(std::span<const double> far, Index i, const std::vector<Index>& near,
                    const std::vector<Index>& others) {
  double sum = 0;
  const auto k = static_cast<double>(near.size());
  for (const Index j : others) {
    if (std::binary_search(near.begin(), near.end(), j)) continue;
    double rank = 1;
    for (Index l = 0; l < static_cast<Index>(far.size()); ++l) rank += l != i && is_before(far, l, j) ? 1 : 0;
    sum += rank - k;
  }
  return sum;
}

struct OfOne {
  double false_neighbors = 0, torn = 0, kept = 0;
  double cross = 0, of_things = 0, of_places = 0;  // Σ wδd, Σ wδ², Σ wd² over the pairs i < j
};

struct Pair {
  double far, distance, weight;
};

}  // namespace

Quality quality_of(const Dissimilarities& things, const std::vector<double>& weight, const Matrix& places,
                   const Execution& execution) {
  const std::vector<Index> which = looked_at(things.count());
  const auto n = static_cast<Index>(which.size());
  const bool all_known = std::none_of(weight.begin(), weight.end(), [](double w) { return w == 0; });
  Quality out;
  out.neighbors = std::clamp<Index>((n - 1) / 2, 1, kNeighbors);
  std::vector<OfOne> of(which.size());
  std::vector<Pair> pairs(at(n * (n - 1) / 2));
  parallel_for(n, execution, [&](Index i) {
    std::vector<double> row(at(things.count())), far(which.size()), distance(which.size());
    things.row(which[at(i)], row);
    OfOne& one = of[at(i)];
    for (Index j = 0; j < n; ++j) {
      const Index a = which[at(i)], b = which[at(j)];
      far[at(j)] = row[at(b)];
      distance[at(j)] = std::sqrt((places.row(a) - places.row(b)).squaredNorm());
      if (j <= i) continue;
      const double w = weight.empty() ? 1 : weight[at(things.pair(a, b))];
      pairs[at(i * n - i * (i + 1) / 2 + j - i - 1)] = {far[at(j)], distance[at(j)], w};
      one.cross += w * far[at(j)] * distance[at(j)];
      one.of_things += w * far[at(j)] * far[at(j)];
      one.of_places += w * distance[at(j)] * distance[at(j)];
    }
    if (!all_known) return;
    const auto near = nearest(far, i, out.neighbors), seen = nearest(distance, i, out.neighbors);
    one.false_neighbors = ranks_beyond(far, i, near, seen);
    one.torn = ranks_beyond(distance, i, seen, near);
    for (const Index j : seen) one.kept += std::binary_search(near.begin(), near.end(), j) ? 1 : 0;
  });
  OfOne sum;
  for (const OfOne& one : of) {
    sum.false_neighbors += one.false_neighbors;
    sum.torn += one.torn;
    sum.kept += one.kept;
    sum.cross += one.cross;
    sum.of_things += one.of_things;
    sum.of_places += one.of_places;
  }
  const double scale = sum.of_things > 0 ? sum.cross / sum.of_things : 0;
  double left = 0;
  for (const Pair& pair : pairs) left += pair.weight * std::pow(scale * pair.far - pair.distance, 2);
  out.stress_1 = sum.of_places > 0 ? std::sqrt(left / sum.of_places) : 1;

  const auto count = static_cast<double>(n), k = static_cast<double>(out.neighbors);
  const double room = count * k * (2 * count - 3 * k - 1);
  const double none = std::numeric_limits<double>::quiet_NaN();
  out.trustworthiness = !all_known ? none : room > 0 ? 1 - 2 * sum.false_neighbors / room : 1;
  out.continuity = !all_known ? none : room > 0 ? 1 - 2 * sum.torn / room : 1;
  out.kept_neighbors = all_known ? sum.kept / (count * k) : none;

  std::erase_if(pairs, [](const Pair& pair) { return pair.weight == 0; });
  const auto known = static_cast<Index>(pairs.size()), groups = std::min(kGroups, known);
  const auto before = [](const Pair& a, const Pair& b) {
    return a.far != b.far ? a.far < b.far : a.distance < b.distance;
  };
  for (Index g = 1; g < groups; ++g)  // those of a group need no order among themselves
    std::nth_element(pairs.begin() + (g - 1) * known / groups, pairs.begin() + g * known / groups, pairs.end(), before);
  out.shepard.resize(groups, 3);
  for (Index g = 0; g < groups; ++g) {
    const Index from = g * known / groups, to = (g + 1) * known / groups;
    const auto size = static_cast<double>(to - from);
    double far = 0, distance = 0, squares = 0;
    for (Index p = from; p < to; ++p) {
      far += pairs[at(p)].far / size;
      distance += pairs[at(p)].distance / size;
    }
    for (Index p = from; p < to; ++p) squares += std::pow(pairs[at(p)].distance - distance, 2);
    out.shepard.row(g) << far, distance, size > 1 ? std::sqrt(squares / (size - 1)) : 0.0;
  }
  return out;
}

}  // namespace lemma
