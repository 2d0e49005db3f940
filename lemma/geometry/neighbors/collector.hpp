// lemma/geometry/neighbors/collector.hpp: the best that a query has met so far. Inner header: use
// lemma/geometry/neighbors.hpp.
#pragma once
#include <algorithm>
#include <cstdint>
#include <lemma/geometry/bound_metric.hpp>
#include <limits>
#include <vector>

namespace lemma::neighbors {

struct Found {
  double distance;
  std::int32_t row;
  bool operator<(const Found& other) const {
    return distance != other.distance ? distance < other.distance : row < other.row;
  }
};

/// The `most` nearest of those within a radius.
class Collector {
 public:
  Collector(const BoundMetric& metric, Index most, double radius, double epsilon)
      : metric_(&metric), most_(static_cast<std::size_t>(most)), radius_(radius), shrink_(1 / (1 + epsilon)) {}

  /// For a new query, which is row `skip` of the points itself, or none of them (−1).
  void begin(std::int32_t skip) {
    skip_ = skip;
    found_.clear();
    is_full_ = false;
    limit_to(radius_);
  }

  /// Points whose sum is beyond it are not wanted; nodes, with ε, already beyond the second.
  double limit() const { return limit_; }
  double node_limit() const { return node_limit_; }

  void offer(std::int32_t row, double distance) {
    const Found one{distance, row};
    if (row == skip_ || !(distance <= radius_)) return;
    if (is_full_ && !(one < worst())) return;
    if (most_ <= kSorted) insert(one);
    else push(one);
    if (is_full_) limit_to(worst().distance);
  }

  /// Nearest first.
  const std::vector<Found>& finish() {
    if (most_ > kSorted) std::sort(found_.begin(), found_.end());
    return found_;
  }

  Index looked_at = 0;  // panels, for the trial of a structure

 private:
  static constexpr std::size_t kSorted = 32;  // so many are kept in order; more in a heap once there are enough

  const Found& worst() const { return most_ <= kSorted ? found_.back() : found_.front(); }
  void insert(const Found& one) {
    if (is_full_) found_.pop_back();
    found_.push_back(one);
    std::size_t i = found_.size() - 1;
    for (; i > 0 && one < found_[i - 1]; --i) found_[i] = found_[i - 1];
    found_[i] = one;
    is_full_ = found_.size() == most_;
  }
  void push(const Found& one) {
    if (is_full_) {
      std::pop_heap(found_.begin(), found_.end());
      found_.back() = one;
      std::push_heap(found_.begin(), found_.end());
    } else {
      found_.push_back(one);
      is_full_ = found_.size() == most_;
      if (is_full_) std::make_heap(found_.begin(), found_.end());
    }
  }
  void limit_to(double distance) {
    limit_ = metric_->reach(distance);
    node_limit_ = shrink_ == 1 ? limit_ : metric_->reach(distance * shrink_);
  }

  const BoundMetric* metric_;
  std::size_t most_;
  double radius_, shrink_, limit_ = 0, node_limit_ = 0;
  bool is_full_ = false;
  std::int32_t skip_ = -1;
  std::vector<Found> found_;
};

}  // namespace lemma::neighbors
