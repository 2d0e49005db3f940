// lemma/tree/optimal_tree/refute.cpp
#include <algorithm>
#include <cmath>
#include <lemma/core/progress.hpp>
#include <lemma/tree/optimal_tree/refute.hpp>
#include <numeric>

namespace lemma::optimal {
namespace {

class Refutation {
 public:
  Refutation(const Sample& sample, double price, long long subsets, const Execution& execution)
      : sample_(sample), price_(price), most_(subsets), execution_(execution) {
    std::vector<Index> rows;
    for (Index i = 0; i < sample.x.rows(); ++i)
      if (sample.outcome.weight_of(i) > 0) rows.push_back(i);
    for (Index j = 0; j < sample.x.cols(); ++j) {
      auto& order = order_.emplace_back(rows);
      std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return sample.x(a, j) < sample.x(b, j); });
    }
    if (sample.classes > 0) return;
    double sum = 0, weight = 0;
    for (const Index i : rows) {
      weight += sample.outcome.weight_of(i);
      sum += sample.outcome.weight_of(i) * sample.outcome.y[at(i)] / 2;
    }
    centre_ = 2 * (sum / weight);
  }

  Refuted run(int depth, double target) {
    slack_ = 1e-11 * (lost(sums(Rows(at(sample_.x.rows()), 1))));
    const double found = least(Rows(at(sample_.x.rows()), 1), depth, target);
    return {found, subsets_, !limited_};
  }

 private:
  using Rows = std::vector<std::uint8_t>;  // of each row: is it there?

  /// Weights of the classes; or weight, sum and squares of the numbers.
  using Sums = std::vector<double>;
  void put(Sums& to, Index row, double sign = 1) const {
    const double w = sign * sample_.outcome.weight_of(row);
    if (sample_.classes > 0) {
      to[at(sample_.outcome.label[at(row)])] += w;
      return;
    }
    const double d = sample_.outcome.y[at(row)] - centre_;
    to[0] += w;
    to[1] += w * d;
    to[2] += w * d * d;
  }
  Sums none() const { return Sums(sample_.classes > 0 ? at(sample_.classes) : 3, 0.0); }
  Sums sums(const Rows& in) const {
    Sums out = none();
    for (const Index row : order_.front())
      if (in[at(row)]) put(out, row);
    return out;
  }
  double lost(const Sums& s) const {
    if (sample_.classes > 0) return std::accumulate(s.begin(), s.end(), 0.0) - *std::max_element(s.begin(), s.end());
    return s[0] > 0 ? std::max(0.0, s[2] - s[1] * s[1] / s[0]) : 0;
  }

  /// The rows of each different value of a column, the least first.
  std::vector<std::vector<Index>> steps(const Rows& in, Index j) const {
    std::vector<std::vector<Index>> out;
    for (const Index row : order_[at(j)]) {
      if (!in[at(row)]) continue;
      if (out.empty() || sample_.x(out.back().front(), j) < sample_.x(row, j)) out.emplace_back();
      out.back().push_back(row);
    }
    return out;
  }

  /// The least cost of one split or none.
  double least_of_stumps(const Rows& in, const Sums& all) const {
    double best = lost(all) + price_;
    for (Index j = 0; j < sample_.x.cols(); ++j) {
      const auto values = steps(in, j);
      const bool categories = sample_.levels[at(j)] > 0;
      Sums left = none(), right = all;
      for (std::size_t k = 0; k + (categories ? 0 : 1) < values.size() && values.size() > 1; ++k) {
        if (categories) {
          left = none();
          right = all;
        }
        for (const Index row : values[k]) {
          put(left, row);
          put(right, row, -1);
        }
        best = std::min(best, lost(left) + lost(right) + 2 * price_);
      }
    }
    return best;
  }

  /// A bound of the cost of every tree: the least cost itself, or at least `target`.
  double least(const Rows& in, int depth, double target) {
    const Sums all = sums(in);
    const double leaf = lost(all) + price_;
    if (depth == 0 || leaf <= 2 * price_) return leaf;  // a split has two leaves
    if (!limited_) limited_ = ++subsets_ >= most_;
    if (subsets_ % 256 == 0 && execution_.cancelled()) throw Cancelled();
    if (depth == 1) return least_of_stumps(in, all);
    double low = std::min(leaf, target);
    for (Index j = 0; j < sample_.x.cols(); ++j) {
      const auto values = steps(in, j);
      if (values.size() < 2) continue;
      if (sample_.levels[at(j)] == 0) low = least_between(in, values, 1, values.size() - 1, price_, price_, depth, low);
      else
        for (std::size_t k = 0; k < values.size(); ++k)
          low = std::min(low, split(in, values, k, k + 1, price_, price_, depth, low).sum());
    }
    return low;
  }

  struct Sides {
    double left, right;
    double sum() const { return left + right; }
  };
  /// The values first … end − 1 against the rest.
  Sides split(const Rows& in, const std::vector<std::vector<Index>>& values, std::size_t first, std::size_t end,
              double left_at_least, double right_at_least, int depth, double target) {
    if (limited_) return {left_at_least, right_at_least};
    Rows left(in.size(), 0), right = in;
    for (std::size_t k = first; k < end; ++k)
      for (const Index row : values[k]) {
        left[at(row)] = 1;
        right[at(row)] = 0;
      }
    const double a = std::max(left_at_least, least(left, depth - 1, target - right_at_least));
    if (a + right_at_least >= target - slack_) return {a, right_at_least};
    return {a, std::max(right_at_least, least(right, depth - 1, target - a))};
  }

  /// Thresholds before the values low … high: left of them lie rows that cost at least `left`, right of them `right`.
  double least_between(const Rows& in, const std::vector<std::vector<Index>>& values, std::size_t low, std::size_t high,
                       double left, double right, int depth, double target) {
    if (low > high || left + right >= target - slack_) return target;
    if (limited_) return std::min(target, left + right);
    const std::size_t middle = low + (high - low) / 2;
    const Sides found = split(in, values, 0, middle, left, right, depth, target);
    double best = found.sum() >= target - slack_ ? target : found.sum();
    best = std::min(best, least_between(in, values, low, middle - 1, left, found.right, depth, best));
    return std::min(best, least_between(in, values, middle + 1, high, found.left, right, depth, best));
  }

  const Sample& sample_;
  double price_, centre_ = 0, slack_ = 0;
  long long most_, subsets_ = 0;
  const Execution& execution_;
  bool limited_ = false;
  std::vector<std::vector<Index>> order_;  // of each column: rows by value
};

}  // namespace

Refuted refute(const Sample& sample, int depth, double price, double target, long long subsets,
               const Execution& execution) {
  return Refutation(sample, price, subsets, execution).run(depth, target);
}

}  // namespace lemma::optimal
