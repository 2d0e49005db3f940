// lemma/tree/oblique_tree/certify.cpp: what the tree tells, counted by walking each row, and each threshold beside all others.
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <lemma/core/text.hpp>
#include <lemma/tree/oblique_tree/directions.hpp>
#include <lemma/tree/oblique_tree/grow.hpp>
#include <lemma/tree/shared/columns.hpp>

namespace lemma {
namespace {

using namespace oblique;

constexpr double kShort = 1e-7;  // by which a split may fall short of the best, as a share of its gain

/// Weight times impurity of the rows before each place, added up from one end.
class Unsaid {
 public:
  Unsaid(const Block& outcome, Index classes) : outcome_(outcome), counts_(at(classes), 0.0) {}
  void add(Index row) {
    const double w = outcome_.weight_of(row);
    weight_ += w;
    if (!counts_.empty()) {
      counts_[at(outcome_.label[at(row)])] += w;
      return;
    }
    const double d = outcome_.y[at(row)] - mean_;  // Welford's mean and squares about it
    mean_ += w / weight_ * d;
    squares_ += w * d * (outcome_.y[at(row)] - mean_);
  }
  double weight() const { return weight_; }
  double now() const {
    if (counts_.empty()) return squares_;
    double impurity = 0;
    for (const double each : counts_) impurity += each / weight_ * (1 - each / weight_);
    return weight_ * impurity;
  }

 private:
  const Block& outcome_;
  std::vector<double> counts_;
  double weight_ = 0, mean_ = 0, squares_ = 0;
};

struct Looked {
  double best = 0;         // gain of the best threshold
  double gain = 0;         // of the one that was asked for
  bool is_midway = false;  // which lies midway between its neighbours
};

/// All thresholds along a direction: what is left of each added up from the left, what is right of it from the right.
Looked look_along(const double* a, const MatrixView& x, const std::vector<Index>& rows, const Block& outcome,
                  Index classes, double min_leaf, double threshold) {
  Projected all;
  for (const Index row : rows) all.emplace_back(product(a, x.row(row).data(), x.cols()), row);
  std::sort(all.begin(), all.end());
  const std::size_t m = all.size();
  std::vector<double> right(m), right_weight(m);
  Unsaid from_right(outcome, classes), from_left(outcome, classes);
  for (std::size_t i = m; i-- > 0;) {
    from_right.add(all[i].second);
    right[i] = from_right.now();
    right_weight[i] = from_right.weight();
  }
  Looked out;
  const bool single = is_single(a, x.cols());
  for (std::size_t i = 0; i + 1 < m; ++i) {
    from_left.add(all[i].second);
    const double gain = right[0] - from_left.now() - right[i + 1];
    if (all[i].first < threshold && !(all[i + 1].first < threshold)) {
      out.gain = gain;
      out.is_midway = threshold == threshold_between(all[i].first, all[i + 1].first);
    }
    if (is_cut(all, i, single) && std::min(from_left.weight(), right_weight[i + 1]) >= min_leaf * (1 - 1e-9))
      out.best = std::max(out.best, gain);
  }
  return out;
}

double unsaid_of_all(const Tallies& counted) {
  return counted.of_classes() ? counted.weight(0) - counted.counts.row(0).squaredNorm() / counted.weight(0)
                              : counted.loss(0);
}

void compare_stops(Comparison& found, const ObliqueTreeModel& model, const Tallies& counted) {
  std::vector<int> depth(at(model.nodes.size()), 0);
  const double all = unsaid_of_all(counted);
  const auto need = [&](std::string_view field, Index i, bool holds) {
    if (!holds) found.entry(field, i, 1, 0, 1);
  };
  for (Index i = 0; i < model.nodes.size(); ++i) {
    if (model.nodes.is_leaf(i)) continue;
    need("depth", i, depth[at(i)] < model.spec.depth);
    need("min_split", i, counted.weight(i) >= model.spec.min_split * (1 - 1e-9));
    need("min_decrease", i, model.gain(i) >= model.spec.min_decrease * all * (1 - 1e-6));
    need("nodes.missing_left", i, !model.nodes[i].missing_left);
    for (const Index child : {model.nodes.left(i), model.nodes.right(i)}) {
      depth[at(child)] = depth[at(i)] + 1;
      need("min_leaf", child, counted.weight(child) >= *model.spec.min_leaf * (1 - 1e-9));
    }
  }
}

/// What is seen of a node.
struct Seen : Looked {
  bool is_tried = false;       // its direction is one of those that are tried
  bool is_splittable = false;  // though it is a leaf
};

/// A second look at each node: the directions that are tried there, and all thresholds along each.
class Second {
 public:
  Second(const ObliqueTreeModel& model, const MatrixView& x, const Block& outcome, const Tallies& counted)
      : model_(model),
        x_(x),
        outcome_(outcome),
        counted_(counted),
        directions_(model.spec, x, outcome, model.class_count(), seed_of(model)),
        number_(at(model.nodes.size()), 1),
        depth_(number_.size(), 0) {
    for (Index i = 0; i < model.nodes.size(); ++i) {
      if (model.nodes.is_leaf(i)) continue;
      number_[at(model.nodes.left(i))] = 2 * number_[at(i)];
      number_[at(model.nodes.right(i))] = 2 * number_[at(i)] + 1;
      depth_[at(model.nodes.left(i))] = depth_[at(model.nodes.right(i))] = depth_[at(i)] + 1;
    }
  }

  Seen look_at(Index i, const std::vector<Index>& rows) const {
    Seen out;
    const ObliqueTree& spec = model_.spec;
    const bool leaf = model_.nodes.is_leaf(i);
    if (leaf &&
        (counted_.loss(i) == 0 || depth_[at(i)] >= spec.depth || counted_.weight(i) < spec.min_split * (1 - 1e-9) ||
         counted_.weight(i) < 2 * *spec.min_leaf * (1 - 1e-9)))
      return out;
    Tallies node;  // in one row
    node.weight = counted_.weight.segment(i, 1);
    node.counts = counted_.counts.middleRows(i, 1);
    node.estimates = counted_.estimates.middleRows(i, 1);
    const auto look = [&](const double* a, double threshold) {
      return look_along(a, x_, rows, outcome_, model_.class_count(), *spec.min_leaf, threshold);
    };
    double best = 0;
    for (const Vector& each : directions_.at_node(rows, node, number_[at(i)])) {
      best = std::max(best, look(each.data(), INFINITY).best);
      out.is_tried = out.is_tried || (!leaf && is_the_same(each, model_.directions.row(model_.nodes[i].column)));
    }
    if (leaf) {
      const double all = unsaid_of_all(counted_);
      out.is_splittable = best > std::max(1e-9 * all, spec.min_decrease * all * (1 + 1e-6));
      return out;
    }
    static_cast<Looked&>(out) = look(model_.directions.row(model_.nodes[i].column).data(), model_.nodes[i].threshold);
    out.best = std::max(out.best, best);
    return out;
  }

 private:
  static std::uint64_t seed_of(const ObliqueTreeModel& model) {
    std::uint64_t out = 0;
    std::from_chars(model.seed.data(), model.seed.data() + model.seed.size(), out);
    return out;
  }
  /// In units of the columns' deviations the largest coefficient is 1; a single column is what it is.
  bool is_the_same(const Vector& tried, const Eigen::Ref<const Eigen::RowVectorXd>& told) const {
    const bool single = is_single(tried.data(), tried.size());
    for (Index j = 0; j < tried.size(); ++j) {
      const double unit = single ? 1 : directions_.deviations()(j);
      if (unit == 0 ? told(j) != 0 : !(std::abs(tried(j) - told(j)) * unit <= 1e-6)) return false;
    }
    return true;
  }

  const ObliqueTreeModel& model_;
  const MatrixView& x_;
  const Block& outcome_;
  const Tallies& counted_;
  Directions directions_;
  std::vector<std::uint64_t> number_;
  std::vector<int> depth_;
};

}  // namespace

Certificate certify(const ObliqueTreeModel& model, const Rows& rows, const Execution& execution) {
  Certificate out;
  out.strength = Strength::consistent;
  out.kind = "shortfall of a split beside the best along the directions tried";
  out.tolerance = kShort;
  out.stopped = "every split counted";
  Matrix space;
  const MatrixView x = matrix_of(rows, space, execution);
  BlockBuffer buffer;
  const Block outcome = rows.outcome(0, rows.count(), buffer);
  const TreeNodes& nodes = model.nodes;
  const Index classes = model.class_count();
  std::vector<std::vector<Index>> members(at(nodes.size()));
  const auto walk = [&](Index row, const auto& visit) {
    Index i = 0;
    for (visit(i); !nodes.is_leaf(i); visit(i))
      i = model.goes_left(i, x.row(row).data()) ? nodes.left(i) : nodes.right(i);
  };
  const Tallies counted = tallies_of(nodes.size(), classes, outcome, x.rows(), walk);
  for (Index row = 0; row < x.rows(); ++row)
    if (outcome.weight_of(row) > 0) walk(row, [&](Index i) { members[at(i)].push_back(row); });
  Comparison found;
  compare_tallies(found, model, counted);
  compare_stops(found, model, counted);
  if (!found.finding()) {
    const Second second(model, x, outcome, counted);
    std::vector<Seen> seen(at(nodes.size()));
    parallel_for(nodes.size(), execution, [&](Index i) { seen[at(i)] = second.look_at(i, members[at(i)]); });
    for (Index i = 0; i < nodes.size(); ++i) {
      const Seen& each = seen[at(i)];
      if (nodes.is_leaf(i)) {
        if (each.is_splittable) found.entry("nodes.columns", i, 1, 0, 1);
        continue;
      }
      ++out.iterations;
      if (!each.is_tried) found.entry("directions", i, 1, 0, 1);
      if (!each.is_midway) found.entry("nodes.thresholds", i, 1, 0, 1);
      found.entry("gain", i, model.gain(i), each.gain, std::max(each.gain, 1e-9 * counted.loss(0)), 1e-7);
      out.value = std::max(out.value, (each.best - model.gain(i)) / model.gain(i));
    }
  }
  out.message = fmt::format(
      "Each of {} is the best of all thresholds along all directions tried at its node, up to {:.1e} of its gain "
      "(allowed {:.0e}), "
      "counted anew; every row reaches the leaf where it is counted, every leaf had to be one, and what is told of a "
      "node is its "
      "rows'. That no other direction is better is not claimed.",
      count_of(out.iterations, "split"), out.value, kShort);
  if (const auto& wrong = found.finding()) {
    out.kind = "difference of " + wrong->field;
    out.value = wrong->value;
    out.tolerance = wrong->tolerance;
    out.message = fmt::format("The tree is not that of these rows: {}'{}' is not theirs.", wrong->place, wrong->field);
  }
  return out;
}

}  // namespace lemma
