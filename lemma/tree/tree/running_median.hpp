// lemma/tree/tree/running_median.hpp: the median of numbers as they come.
#pragma once
#include <algorithm>
#include <queue>
#include <vector>

namespace lemma::tree {

/// The median of what has come so far, and how far all lies from it: a heap on either side.
class RunningMedian {
 public:
  void add(double y, double w) {
    if (low_.empty() || y <= low_.top().first) push(low_, y, w, 1);
    else push(high_, y, w, -1);
    while (low_weight_ < weight_ / 2 - 1e-12 * weight_) {
      const auto [value, weight] = high_.top();
      high_.pop();
      low_.emplace(value, weight);
      low_weight_ += weight;
      low_sum_ += weight * value;
    }
    while (low_weight_ - low_.top().second >= weight_ / 2 - 1e-12 * weight_ && low_.size() > 1) {
      const auto [value, weight] = low_.top();
      low_.pop();
      high_.emplace(value, weight);
      low_weight_ -= weight;
      low_sum_ -= weight * value;
    }
  }
  double median() const { return low_.top().first; }
  double unsaid() const {
    const double m = median();
    return std::max(0.0, m * low_weight_ - low_sum_ + (sum_ - low_sum_) - m * (weight_ - low_weight_));
  }

 private:
  void push(auto& heap, double y, double w, int side) {
    heap.emplace(y, w);
    weight_ += w;
    sum_ += w * y;
    if (side > 0) {
      low_weight_ += w;
      low_sum_ += w * y;
    }
  }
  using Item = std::pair<double, double>;
  std::priority_queue<Item> low_;
  std::priority_queue<Item, std::vector<Item>, std::greater<>> high_;
  double weight_ = 0, sum_ = 0, low_weight_ = 0, low_sum_ = 0;
};

}  // namespace lemma::tree
