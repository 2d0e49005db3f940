// lemma/tree/oblique_tree/grow.cpp
#include <algorithm>
#include <cmath>
#include <lemma/core/progress.hpp>
#include <lemma/tree/oblique_tree/directions.hpp>
#include <lemma/tree/oblique_tree/grow.hpp>

namespace lemma::oblique {
namespace {

struct Split {
  double gain = 0, threshold = 0;
  Vector direction;
};

/// Rows on two sides of a threshold: by class, or weight and sum about the node's mean.
class Sides {
 public:
  Sides(const Tallies& node, const Block& outcome)
      : outcome_(outcome), mean_(node.of_classes() ? 0 : node.estimates(0, 0)), classes_(node.counts.cols()) {
    left_.assign(at(std::max<Index>(1, classes_)), 0.0);
    right_ = left_;
    right_weight_ = node.weight(0);
    for (Index k = 0; k < classes_; ++k) right_[at(k)] = node.counts(0, k);
    before_ = of(right_, right_weight_);
  }
  void move(Index row) {
    const double w = outcome_.weight_of(row);
    const std::size_t k = classes_ > 0 ? at(outcome_.label[at(row)]) : 0;
    const double d = classes_ > 0 ? w : w * (outcome_.y[at(row)] - mean_);
    left_[k] += d;
    right_[k] -= d;
    left_weight_ += w;
    right_weight_ -= w;
  }
  double gain() const { return of(left_, left_weight_) + of(right_, right_weight_) - before_; }
  double smaller() const { return std::min(left_weight_, right_weight_); }

 private:
  static double of(const std::vector<double>& sums, double weight) {
    double squares = 0;
    for (const double each : sums) squares += each * each;
    return squares / weight;
  }
  const Block& outcome_;
  double mean_;
  Index classes_;
  std::vector<double> left_, right_;
  double left_weight_ = 0, right_weight_ = 0, before_ = 0;
};

class Grower {
 public:
  Grower(ObliqueTreeModel& model, const MatrixView& x, const Block& outcome, Index classes, std::uint64_t seed,
         const Execution& execution)
      : model_(model),
        x_(x),
        outcome_(outcome),
        classes_(classes),
        directions_(model.spec, x, outcome, classes, seed),
        execution_(execution) {}

  void grow() {
    Place root{0, {}, 0, 1};
    for (Index i = 0; i < x_.rows(); ++i)
      if (outcome_.weight_of(i) > 0) root.rows.push_back(i);
    nodes_.nodes.resize(1);
    told_.push_back(tell(root.rows));
    gain_.push_back(0);
    const double unsaid = unsaid_of(told_[0]);
    least_ = std::max(1e-12 * unsaid, model_.spec.min_decrease * unsaid * (1 - kTie));
    std::vector<Place> waiting{std::move(root)};
    while (!waiting.empty()) {
      if (execution_.cancelled()) throw Cancelled();
      Place place = std::move(waiting.back());
      waiting.pop_back();
      Split split = best_split(place);
      if (!(split.gain > 0)) continue;
      Place left{nodes_.split(place.node), {}, place.depth + 1, 2 * place.number};
      Place right{left.node + 1, {}, place.depth + 1, 2 * place.number + 1};
      TreeNode& node = nodes_.nodes[at(place.node)];
      node.threshold = split.threshold;
      for (const Index row : place.rows)
        (product(split.direction.data(), x_.row(row).data(), x_.cols()) < split.threshold ? left : right)
            .rows.push_back(row);
      gain_[at(place.node)] = split.gain;
      gain_.resize(nodes_.nodes.size(), 0.0);
      told_.push_back(tell(left.rows));
      told_.push_back(tell(right.rows));
      found_.resize(nodes_.nodes.size());
      found_[at(place.node)] = std::move(split.direction);
      waiting.push_back(std::move(right));
      waiting.push_back(std::move(left));
    }
    hand_over();
  }

 private:
  struct Place {
    Index node;
    std::vector<Index> rows;
    int depth;
    std::uint64_t number;  // children of k are 2k and 2k + 1: which random numbers are its own
  };

  /// One node's numbers, counted from its rows.
  Tallies tell(const std::vector<Index>& rows) const {
    Tallies out;
    out.weight = out.loss = Vector::Zero(1);
    out.counts = Matrix::Zero(1, classes_);
    out.estimates = Matrix::Zero(1, std::max<Index>(1, classes_));
    for (const Index row : rows) out.weight(0) += outcome_.weight_of(row);
    if (classes_ > 0) {
      for (const Index row : rows) out.counts(0, outcome_.label[at(row)]) += outcome_.weight_of(row);
      Index most = 0;
      out.loss(0) = out.weight(0) - out.counts.row(0).maxCoeff(&most);
      out.label = {static_cast<int>(most)};
      out.estimates.row(0) = out.counts.row(0) / out.weight(0);
      return out;
    }
    const double first = outcome_.y[at(rows.front())];
    double sum = 0;
    for (const Index row : rows) sum += outcome_.weight_of(row) * (outcome_.y[at(row)] - first);
    const double mean = out.estimates(0, 0) = first + sum / out.weight(0);
    for (const Index row : rows)
      out.loss(0) += outcome_.weight_of(row) * (outcome_.y[at(row)] - mean) * (outcome_.y[at(row)] - mean);
    return out;
  }
  /// n i(t): Gini's impurity or the variance, times the weight.
  double unsaid_of(const Tallies& node) const {
    return classes_ > 0 ? node.weight(0) - node.counts.row(0).squaredNorm() / node.weight(0) : node.loss(0);
  }

  // ---- Splits ----

  Split best_split(const Place& place) const {
    const Tallies& node = told_[at(place.node)];
    const ObliqueTree& spec = model_.spec;
    const bool pure = node.loss(0) == 0;
    if (pure || place.depth >= spec.depth || node.weight(0) < spec.min_split * (1 - 1e-9) ||
        node.weight(0) < 2 * *spec.min_leaf * (1 - 1e-9))
      return {};
    const std::vector<Vector> directions = directions_.at_node(place.rows, node, place.number);
    std::vector<Split> found(directions.size());
    parallel_for(static_cast<Index>(directions.size()), execution_,
                 [&](Index d) { found[at(d)] = best_along(directions[at(d)], place.rows, node); });
    Split best;
    for (Split& each : found)
      if (each.gain >= least_ && each.gain > best.gain * (1 + kTie)) best = std::move(each);
    return best;
  }

  Split best_along(const Vector& direction, const std::vector<Index>& rows, const Tallies& node) const {
    Projected all;
    for (const Index row : rows) all.emplace_back(product(direction.data(), x_.row(row).data(), x_.cols()), row);
    std::sort(all.begin(), all.end());
    const bool single = is_single(direction.data(), direction.size());
    Sides sides(node, outcome_);
    Split best;
    for (std::size_t i = 0; i + 1 < all.size(); ++i) {
      sides.move(all[i].second);
      if (!is_cut(all, i, single) || sides.smaller() < *model_.spec.min_leaf * (1 - 1e-9)) continue;
      const double gain = sides.gain();
      if (gain > best.gain * (1 + kTie)) best = {gain, threshold_between(all[i].first, all[i + 1].first), {}};
    }
    best.direction = direction;
    return best;
  }

  void hand_over() {
    const Index n = nodes_.size();
    found_.resize(at(n));
    model_.weight.resize(n);
    model_.loss.resize(n);
    model_.gain.resize(n);
    model_.counts.resize(n, classes_);
    model_.estimates.resize(n, std::max<Index>(1, classes_));
    model_.directions.resize(n / 2, x_.cols());
    Index next = 0;
    for (Index i = 0; i < n; ++i) {
      const Tallies& node = told_[at(i)];
      model_.weight(i) = node.weight(0);
      model_.loss(i) = node.loss(0);
      model_.gain(i) = gain_[at(i)];
      model_.counts.row(i) = node.counts.row(0);
      model_.estimates.row(i) = node.estimates.row(0);
      if (classes_ > 0) model_.label.push_back(node.label[0]);
      if (nodes_.is_leaf(i)) continue;
      model_.directions.row(next) = found_[at(i)];
      nodes_.nodes[at(i)].column = static_cast<std::uint32_t>(next++) & 0x3fffffffU;
    }
    nodes_.levels.assign(at(next), 0);
    nodes_.number_leaves();
    model_.nodes = std::move(nodes_);
  }

  ObliqueTreeModel& model_;
  const MatrixView& x_;
  const Block& outcome_;
  Index classes_;
  Directions directions_;
  const Execution& execution_;
  double least_ = 0;  // gain of a split
  TreeNodes nodes_;
  std::vector<Tallies> told_;
  std::vector<double> gain_;
  std::vector<Vector> found_;  // of each node that asks: its direction
};

}  // namespace

void grow(ObliqueTreeModel& model, const MatrixView& x, const Block& outcome, Index classes, std::uint64_t seed,
          const Execution& execution) {
  Grower(model, x, outcome, classes, seed, execution).grow();
}

}  // namespace lemma::oblique
