// lemma/tree/shared/worth.hpp: what a split is worth, by each criterion.
//
// What rows leave unsaid is their weight times their impurity. A side's worth is what it says, such that
//     gain of a split = worth(left) + worth(right) − worth(all)
//
//     criterion           unsaid                      worth of a side
//     gini                W − Σ n_k² / W              Σ n_k² / W
//     entropy             −Σ n_k log(n_k / W)         Σ n_k log n_k − W log W
//     misclassification   W − max n_k                 max n_k
//     variance            Σ w (y − mean)²             S² / W,  S = Σ w (y − c)
//     poisson             2 Σ w (y log(y/mean))       2 S log(S / W),  S = Σ w y
//     absolute            Σ w |y − median|            −Σ w |y − median|
//
// n_k are weights of classes times their costs (priors and losses), W their sum.
#pragma once
#include <array>
#include <cmath>
#include <lemma/tree/shared/columns.hpp>
#include <span>
#include <string_view>
#include <vector>

namespace lemma {

enum class TreeCriterion { gini, entropy, misclassification, variance, absolute, poisson };
constexpr auto names_of(TreeCriterion) {
  return std::array<std::string_view, 6>{"gini", "entropy", "misclassification", "variance", "absolute", "poisson"};
}
constexpr bool is_of_classes(TreeCriterion criterion) { return criterion <= TreeCriterion::misclassification; }

/// What a criterion reads of rows.
struct SplitGround {
  const RankedColumns* data = nullptr;
  std::vector<double> weight;  // of each row; empty: all 1
  std::vector<double> cost;    // of each class; empty: all 1

  double weight_of(std::uint32_t row) const { return weight.empty() ? 1.0 : weight[row]; }
  double cost_of(std::size_t k) const { return cost.empty() ? 1.0 : cost[k]; }
};
/// The rows of a node, added up.
struct NodeTotals {
  double weight = 0;           // of its rows
  double mean = 0;             // of numbers
  std::vector<double> counts;  // of classes: weight of each
};

/// x log x.
inline double x_log_x(double x) { return x > 0 ? x * std::log(x) : 0; }

/// Rows on two sides, by class. `Unsaid` is the criterion.
template <TreeCriterion kCriterion>
class ClassSides {
 public:
  struct Lot {  // rows that move together: those of a category
    double weight = 0;
    std::vector<double> counts;
  };

  explicit ClassSides(const SplitGround& ground)
      : ground_(&ground),
        label_(ground.data->label.data()),
        weight_(ground.weight.empty() ? nullptr : ground.weight.data()),
        cost_(ground.cost.empty() ? nullptr : ground.cost.data()),
        left_(at(ground.data->classes)),
        right_(left_.size()) {}

  /// All that have a value on the right; `whole`: these are all rows of the node.
  void begin(const NodeTotals& node, std::span<const RankedRow> present, std::span<const RankedRow>, bool whole) {
    std::fill(left_.begin(), left_.end(), 0.0);
    std::fill(right_.begin(), right_.end(), 0.0);
    left_n_ = right_n_ = left_w_ = right_w_ = left_squares_ = right_squares_ = 0;
    if (!whole) {
      for (const RankedRow& each : present) add(each.row, right_, right_n_, right_w_, right_squares_);
      return;
    }
    right_n_ = node.weight;
    for (std::size_t k = 0; k < right_.size(); ++k) {
      right_[k] = node.counts[k] * ground_->cost_of(k);
      right_w_ += right_[k];
      right_squares_ += right_[k] * right_[k];
    }
  }
  void add_right(std::uint32_t row) { add(row, right_, right_n_, right_w_, right_squares_); }
  void move(std::uint32_t row) {
    const std::size_t k = label_[row];
    const double n = weight_ ? weight_[row] : 1.0, w = cost_ ? n * cost_[k] : n;
    left_n_ += n;
    right_n_ -= n;
    shift(k, w);
  }

  double worth() const {
    if constexpr (kCriterion == TreeCriterion::gini) {
      if (!(left_w_ > 0)) return right_squares_ / right_w_;
      return (left_squares_ * right_w_ + right_squares_ * left_w_) / (left_w_ * right_w_);
    } else {
      return of(left_, left_w_) + of(right_, right_w_);
    }
  }
  double left_weight() const { return left_n_; }
  double right_weight() const { return right_n_; }
  /// By the mean of the classes' numbers; of two classes by the share of the second.
  bool left_is_lower() const { return left_value() < right_value(); }
  double left_value() const { return mean(left_, left_w_); }
  double right_value() const { return mean(right_, right_w_); }

  Lot lot() const { return {0, std::vector<double>(left_.size(), 0.0)}; }
  void add(Lot& lot, std::uint32_t row) const {
    const std::size_t k = ground_->data->label[row];
    lot.weight += ground_->weight_of(row);
    lot.counts[k] += ground_->weight_of(row) * ground_->cost_of(k);
  }
  double score(const Lot& lot) const {
    double sum = 0, all = 0;
    for (std::size_t k = 0; k < lot.counts.size(); ++k) {
      sum += static_cast<double>(k) * lot.counts[k];
      all += lot.counts[k];
    }
    return sum / all;
  }
  void move(const Lot& lot, double sign) {  // +1: to the left
    left_n_ += sign * lot.weight;
    right_n_ -= sign * lot.weight;
    for (std::size_t k = 0; k < lot.counts.size(); ++k)
      if (lot.counts[k] != 0) shift(k, sign * lot.counts[k]);
  }
  /// Whether ordering categories by their score finds the best set of them.
  bool order_is_best() const { return left_.size() == 2; }
  static constexpr bool kExhaustive = true;

 private:
  void add(std::uint32_t row, std::vector<double>& counts, double& n, double& weight, double& squares) const {
    const std::size_t k = ground_->data->label[row];
    const double w = ground_->weight_of(row) * ground_->cost_of(k);
    n += ground_->weight_of(row);
    weight += w;
    squares += w * (2 * counts[k] + w);
    counts[k] += w;
  }
  void shift(std::size_t k, double w) {
    left_squares_ += w * (2 * left_[k] + w);
    right_squares_ -= w * (2 * right_[k] - w);
    left_[k] += w;
    right_[k] -= w;
    left_w_ += w;
    right_w_ -= w;
  }
  static double of(const std::vector<double>& counts, double weight) {
    if constexpr (kCriterion == TreeCriterion::entropy) {
      double sum = -x_log_x(weight);
      for (const double n : counts) sum += x_log_x(n);
      return sum;
    } else {
      double most = 0;
      for (const double n : counts) most = n > most ? n : most;
      return most;
    }
  }
  static double mean(const std::vector<double>& counts, double weight) {
    double sum = 0;
    for (std::size_t k = 1; k < counts.size(); ++k) sum += static_cast<double>(k) * counts[k];
    return sum / weight;
  }

  const SplitGround* ground_;
  const std::uint16_t* label_;
  const double *weight_, *cost_;      // none: all 1
  std::vector<double> left_, right_;  // weight of each class times its cost
  double left_n_ = 0, right_n_ = 0;   // weight of the rows
  double left_w_ = 0, right_w_ = 0, left_squares_ = 0, right_squares_ = 0;
};

/// Rows on two sides, by the sum of their numbers.
template <TreeCriterion kCriterion>
class MeanSides {
 public:
  struct Lot {
    double weight = 0, sum = 0;
  };

  explicit MeanSides(const SplitGround& ground) : ground_(&ground), y_(ground.data->y.data()) {}

  void begin(const NodeTotals& node, std::span<const RankedRow> present, std::span<const RankedRow>, bool whole) {
    centre_ = kCriterion == TreeCriterion::variance ? node.mean : 0;
    left_w_ = left_s_ = right_w_ = right_s_ = 0;
    if (whole) {
      right_w_ = node.weight;
      right_s_ = node.weight * (node.mean - centre_);
    } else {
      for (const RankedRow& each : present) add_right(each.row);
    }
  }
  void add_right(std::uint32_t row) { add(row, right_w_, right_s_, 1); }
  void move(std::uint32_t row) {
    add(row, left_w_, left_s_, 1);
    add(row, right_w_, right_s_, -1);
  }
  double worth() const {
    if constexpr (kCriterion == TreeCriterion::variance) {
      if (!(left_w_ > 0)) return right_s_ * right_s_ / right_w_;
      return (left_s_ * left_s_ * right_w_ + right_s_ * right_s_ * left_w_) / (left_w_ * right_w_);
    } else {
      return 2 * (of(left_s_, left_w_) + of(right_s_, right_w_));
    }
  }
  double left_weight() const { return left_w_; }
  double right_weight() const { return right_w_; }
  bool left_is_lower() const { return left_s_ * right_w_ < right_s_ * left_w_; }
  double left_value() const { return centre_ + left_s_ / left_w_; }
  double right_value() const { return centre_ + right_s_ / right_w_; }

  Lot lot() const { return {}; }
  void add(Lot& lot, std::uint32_t row) const { add(row, lot.weight, lot.sum, 1); }
  double score(const Lot& lot) const { return lot.sum / lot.weight; }
  void move(const Lot& lot, double sign) {
    left_w_ += sign * lot.weight;
    left_s_ += sign * lot.sum;
    right_w_ -= sign * lot.weight;
    right_s_ -= sign * lot.sum;
  }
  bool order_is_best() const { return true; }
  static constexpr bool kExhaustive = true;

 private:
  void add(std::uint32_t row, double& weight, double& sum, double sign) const {
    const double w = sign * ground_->weight_of(row);
    weight += w;
    sum += w * (y_[row] - centre_);
  }
  static double of(double sum, double weight) { return sum > 0 && weight > 0 ? sum * std::log(sum / weight) : 0; }

  const SplitGround* ground_;
  const double* y_;
  double centre_ = 0, left_w_ = 0, left_s_ = 0, right_w_ = 0, right_s_ = 0;
};

/// Rows on two sides, by the median of their numbers: each side holds sums over ranks of y, so that a row moves and the median is
/// found in O(log n).
class MedianSides {
 public:
  struct Lot {
    double weight = 0;
    std::vector<std::uint32_t> rows;
  };

  explicit MedianSides(const SplitGround& ground) : ground_(&ground), rank_(at(ground.data->rows())) {}

  void begin(const NodeTotals&, std::span<const RankedRow> present, std::span<const RankedRow> missing, bool);
  void add_right(std::uint32_t row) { right_.add(*this, row, 1); }
  void move(std::uint32_t row) {
    left_.add(*this, row, 1);
    right_.add(*this, row, -1);
  }
  double worth() const { return -left_.unsaid(*this) - right_.unsaid(*this); }
  double left_weight() const { return left_.weight; }
  double right_weight() const { return right_.weight; }
  bool left_is_lower() const { return left_value() < right_value(); }
  double left_value() const { return left_.median(*this); }
  double right_value() const { return right_.median(*this); }

  Lot lot() const { return {}; }
  void add(Lot& lot, std::uint32_t row) const {
    lot.weight += ground_->weight_of(row);
    lot.rows.push_back(row);
  }
  double score(const Lot& lot) const;  // its median
  void move(const Lot& lot, double sign) {
    for (const std::uint32_t row : lot.rows) {
      left_.add(*this, row, sign);
      right_.add(*this, row, -sign);
    }
  }
  bool order_is_best() const { return false; }
  static constexpr bool kExhaustive = false;  // a set costs as many steps as it has rows

 private:
  struct Side {
    std::vector<double> weights, sums;  // Fenwick's: entry i covers the ranks below i that its lowest bit says
    double weight = 0, sum = 0;
    void clear(std::size_t size);
    void add(const MedianSides& of, std::uint32_t row, double sign);
    struct Half {
      double value, weight, sum;  // the median, and what lies up to it
    };
    Half half(const MedianSides& of) const;
    double unsaid(const MedianSides& of) const;
    double median(const MedianSides& of) const { return half(of).value; }
  };

  const SplitGround* ground_;
  std::vector<std::uint32_t> rank_;  // of each row's y among those of the node, from 1
  std::vector<double> y_;            // by rank
  Side left_, right_;
};

/// Rows and their weights: the least value at which half of the weight is reached; where it is reached exactly, midway to the next.
double weighted_median(std::vector<std::pair<double, double>> values_and_weights);

}  // namespace lemma
