// lemma/metric/rank_correlation.cpp: correlations that see only the order.
#include <algorithm>
#include <cmath>
#include <lemma/metric/regression.hpp>
#include <numeric>

namespace lemma {
namespace {

std::vector<Index> ascending(const VectorView& key) {
  std::vector<Index> order(static_cast<std::size_t>(key.size()));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index i, Index j) { return key(i) < key(j); });
  return order;
}

/// visit(first, last) for each run of positions in `order` that `same` takes for equal.
void for_each_tie(const std::vector<Index>& order, auto&& same, auto&& visit) {
  for (std::size_t first = 0, last; first < order.size(); first = last) {
    for (last = first + 1; last < order.size() && same(order[first], order[last]);) ++last;
    visit(first, last);
  }
}

double weight_between(const std::vector<Index>& order, const VectorView& w, std::size_t first, std::size_t last) {
  double sum = 0;
  for (std::size_t i = first; i < last; ++i) sum += w(order[i]);
  return sum;
}

/// Ranks 1 … n, equal values sharing the mean of theirs; weight k is k copies.
Vector mid_ranks(const VectorView& values, const VectorView& w) {
  Vector rank(values.size());
  const auto order = ascending(values);
  double before = 0;
  for_each_tie(
      order, [&](Index i, Index j) { return values(i) == values(j); },
      [&](std::size_t first, std::size_t last) {
        const double weight = weight_between(order, w, first, last);
        for (std::size_t i = first; i < last; ++i) rank(order[i]) = before + (weight + 1) / 2;
        before += weight;
      });
  return rank;
}

double pairs(double n) { return n * (n - 1) / 2; }

/// Σ of pairs(weight) over the ties.
double tied_pairs(const std::vector<Index>& order, const VectorView& w, auto&& same) {
  double sum = 0;
  for_each_tie(order, same,
               [&](std::size_t first, std::size_t last) { sum += pairs(weight_between(order, w, first, last)); });
  return sum;
}

/// Sorts order[first, last) by key and returns Σ wᵢ wⱼ over the pairs that had to change places.
double sort_counting(std::vector<Index>& order, std::vector<Index>& space, std::size_t first, std::size_t last,
                     const VectorView& key, const VectorView& w) {
  if (last - first < 2) return 0;
  const std::size_t middle = first + (last - first) / 2;
  double moved = sort_counting(order, space, first, middle, key, w) + sort_counting(order, space, middle, last, key, w);
  double waiting = weight_between(order, w, first, middle);  // of the left half, not yet placed
  std::size_t left = first, right = middle, out = first;
  while (left < middle || right < last) {
    const bool take_right = left == middle || (right < last && key(order[right]) < key(order[left]));
    if (take_right && left < middle) moved += waiting * w(order[right]);
    if (!take_right) waiting -= w(order[left]);
    space[out++] = take_right ? order[right++] : order[left++];
  }
  std::copy(space.begin() + static_cast<Index>(first), space.begin() + static_cast<Index>(last),
            order.begin() + static_cast<Index>(first));
  return moved;
}

}  // namespace

double spearman_correlation(const VectorView& a, const VectorView& b, const VectorView& weights) {
  const Vector w = detail::frequencies(a.size(), weights);
  return pearson_correlation(mid_ranks(a, w), mid_ranks(b, w), w);
}

double kendall_correlation(const VectorView& a, const VectorView& b, const VectorView& weights) {
  const Vector w = detail::frequencies(a.size(), weights);
  auto order = ascending(b);
  std::stable_sort(order.begin(), order.end(), [&](Index i, Index j) { return a(i) < a(j); });  // by a, then by b
  const double all = pairs(w.sum());
  const double tied_a = tied_pairs(order, w, [&](Index i, Index j) { return a(i) == a(j); });
  const double tied_both = tied_pairs(order, w, [&](Index i, Index j) { return a(i) == a(j) && b(i) == b(j); });
  std::vector<Index> space(order.size());
  const double discordant = sort_counting(order, space, 0, order.size(), b, w);
  const double tied_b = tied_pairs(order, w, [&](Index i, Index j) { return b(i) == b(j); });
  const double concordant_less_discordant = all - tied_a - tied_b + tied_both - 2 * discordant;
  return detail::share(concordant_less_discordant, std::sqrt(all - tied_a) * std::sqrt(all - tied_b));
}

double weighted_median(const VectorView& values, const VectorView& weights) {
  const Vector w = detail::frequencies(values.size(), weights);
  auto order = ascending(values);
  std::erase_if(order, [&](Index i) { return w(i) == 0; });
  const double half = weight_between(order, w, 0, order.size()) / 2;
  double below = 0;
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    below += w(order[i]);
    if (below > half) return values(order[i]);
    if (below == half) return values(order[i]) + (values(order[i + 1]) - values(order[i])) / 2;
  }
  return values(order.back());
}

}  // namespace lemma
