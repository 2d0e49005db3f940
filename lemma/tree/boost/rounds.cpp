// lemma/tree/boost/rounds.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/tree/boost/rounds.hpp>
#include <limits>
#include <numeric>

namespace lemma::boost {
namespace {

constexpr Index kPiece = 16384;  // rows of a leaf that a thread adds or moves at a time

/// The rows that grow a tree, and the others.
struct Chosen {
  Kept<std::uint32_t> grow, others;
};

/// The rows of one leaf that lie in one piece.
struct LeafSums {
  std::int64_t g = 0, h = 0;
  double weight = 0;
};
constexpr std::uint32_t kNotGrown = 1U << 31;  // set in the leaf of a row that did not grow the tree

class Rounds {
 public:
  Rounds(BoostModel& model, const Rows& rows, const Outcome& outcome, const Execution& execution)
      : model_(model),
        spec_(model.spec),
        outcome_(outcome),
        execution_(execution),
        binned_(bin(rows, {spec_.bins, spec_.splits == BoostSplits::exact}, execution.part(0, 0.1))),
        slopes_(model.loss(), outcome, model.start, execution.part(0.1, 0.1)),
        chosen_{Kept<std::uint32_t>(outcome.where()), Kept<std::uint32_t>(outcome.where())},
        scratch_(outcome.where()),
        packed_(outcome.where()),
        exact_(outcome.where()) {
    warn_of_constant_columns(rows);
    set_rules(rows);
  }

  void run() {
    std::vector<double> training, validation;
    Index round = 0;
    slopes_.begin_round();
    model_.initial_loss = slopes_.training_loss();
    require_finite(model_.initial_loss);
    for (bool done = false; !done && round < spec_.rounds; ++round) {
      execution_.report(0.1 + 0.8 * static_cast<double>(round) / spec_.rounds, fmt::format("round {}", round + 1));
      const Vector importance = model_.importance;
      bool gained = false;
      try {
        gained = add_round(round);
        slopes_.begin_round();
      } catch (const Cancelled&) {
        if (round == 0) throw;
        model_.spec.rounds = static_cast<int>(round);
        model_.importance = importance;
        break;
      }
      require_finite(slopes_.training_loss());
      training.push_back(slopes_.training_loss());
      if (spec_.validation > 0) {
        validation.push_back(slopes_.validation_loss());
        importances_.push_back(model_.importance);
      }
      done =
          has_waited(validation, spec_.patience) || (!gained && !spec_.top && spec_.share == 1 && spec_.columns == 1);
    }
    model_.used_rounds = spec_.validation > 0 ? best_round(validation) : round;
    drop_after(model_.used_rounds);
    model_.training_loss = Eigen::Map<const Vector>(training.data(), model_.used_rounds);
    model_.validation_loss = Eigen::Map<const Vector>(validation.data(), std::ssize(validation));
  }

 private:
  static void require_finite(double loss) {
    if (!std::isfinite(loss))
      throw Error(
          "boost: the loss is beyond the range of numbers; give the response in another unit, or take less shrinkage");
  }

  void warn_of_constant_columns(const Rows& rows) {
    for (Index j = 0; j < rows.width(); ++j)
      if (binned_.columns[at(j)].is_constant())
        model_.warnings.push_back(fmt::format("'{}' has {} and takes no part", rows.features[at(j)],
                                              binned_.columns[at(j)].has_values ? "one value only" : "no value"));
  }

  void set_rules(const Rows& rows) {
    SplitRules& split = rules_.split;
    split.loss = slopes_.loss();
    split.l1 = spec_.l1;
    split.l2 = spec_.l2;
    split.min_gain = spec_.min_gain;
    split.min_hessian = spec_.min_hessian;
    split.min_rows = spec_.min_rows;
    split.category_smoothing = spec_.category_smoothing;
    split.category_l2 = spec_.category_l2;
    split.category_rows = spec_.category_rows;
    split.category_levels = spec_.category_levels;
    split.direction = directions(spec_, rows);
    rules_.groups = interaction_groups(spec_, rows);
    rules_.depth = spec_.depth;
    rules_.leaves = spec_.leaves ? *spec_.leaves : std::numeric_limits<Index>::max();
    rules_.best_first = spec_.growth == BoostGrowth::best;
  }

  /// A tree for each output. Whether one of them has a split.
  bool add_round(Index round) {
    bool gained = false;
    for (Index k = 0; k < model_.outputs(); ++k) {
      slopes_.make(k);
      choose_rows(round);
      Chosen& chosen = chosen_;
      const Index tree = round * model_.outputs() + k;
      const auto columns = drawn_columns(spec_, std::ssize(binned_.columns), seed(), tree);
      rules_.split.largest_curvature = slopes_.loss().has_unit_curvature() ? 1.0 : slopes_.largest_curvature();
      GrownTree grown = are_packed(outcome_.count(), spec_.splits == BoostSplits::exact)
                            ? grow_with(packed_, chosen, columns)
                            : grow_with(exact_, chosen, columns);
      gained = gained || !grown.nodes.is_leaf(0);
      settle(grown, chosen, k);
    }
    return gained;
  }
  std::uint64_t seed() const { return static_cast<std::uint64_t>(model_.seed); }

  template <class Entry>
  GrownTree grow_with(Kept<Entry>& whole, Chosen& chosen, const std::vector<char>& columns) {
    const Kept<double>&g = slopes_.g(), &h = slopes_.h();
    whole.resize(g.size());
    const double unit_g = unit_for(slopes_.sum_of_g(), Entry::kBits),
                 unit_h = unit_for(slopes_.sum_of_h(), Entry::kBits);
    const double per_g = 1 / unit_g, per_h = 1 / unit_h;
    const Index n = std::ssize(g), pieces = (n + kPiece - 1) / kPiece;
    parallel_for(pieces, execution_, [&](Index k) {
      for (std::size_t i = at(k * kPiece), end = at(std::min(n, (k + 1) * kPiece)); i < end; ++i)
        whole[i] = Entry(nearest(g[i] * per_g), nearest(h[i] * per_h));
    });
    rules_.split.unit_g = unit_g;
    rules_.split.unit_h = unit_h;
    return grow<Entry>(binned_, chosen.grow, whole.data(), outcome_.weight, columns, rules_, scratch_, execution_);
  }

  // ---- Which rows ----

  void choose_rows(Index round) {
    const Index n = outcome_.count();
    Chosen& out = chosen_;
    out.grow.clear();
    out.others.clear();
    if (outcome_.weight.empty() && spec_.share == 1 && !spec_.top) {
      out.grow.resize(at(n));
      std::iota(out.grow.begin(), out.grow.end(), 0U);
      return;
    }
    if (spec_.top) return choose_by_slope(round);
    for (Index i = 0; i < n; ++i) {
      const bool in =
          outcome_.weight_of(i) > 0 &&
          (spec_.share == 1 || chance(outcome_.key[at(i)], seed(), static_cast<std::uint64_t>(round)) < spec_.share);
      (in ? out.grow : out.others).push_back(static_cast<std::uint32_t>(i));
    }
  }

  /// All rows of large slope, and some of the others, which then stand for all of those.
  void choose_by_slope(Index round) {
    Kept<double>&g = slopes_.g(), &h = slopes_.h();
    std::vector<Weighted> sizes;
    for (Index i = 0; i < outcome_.count(); ++i)
      if (outcome_.weight_of(i) > 0)
        sizes.push_back({-std::abs(g[at(i)]) / outcome_.weight_of(i), outcome_.weight_of(i)});
    const double least = -weighted_quantile(sizes, *spec_.top), share = spec_.other / (1 - *spec_.top), up = 1 / share;
    Chosen& out = chosen_;
    for (Index i = 0; i < outcome_.count(); ++i) {
      const bool counts = outcome_.weight_of(i) > 0,
                 large = counts && std::abs(g[at(i)]) >= least * outcome_.weight_of(i);
      const bool drawn =
          counts && !large && chance(outcome_.key[at(i)], seed(), static_cast<std::uint64_t>(round)) < share;
      if (drawn) g[at(i)] *= up, h[at(i)] *= up;
      if (!large && !drawn) g[at(i)] = h[at(i)] = 0;
      (large || drawn ? out.grow : out.others).push_back(static_cast<std::uint32_t>(i));
    }
    slopes_.measure();
  }

  // ---- What the leaves say ----

  void settle(GrownTree& grown, const Chosen& chosen, Index output) {
    find_leaves(grown, chosen);
    const Index nodes = grown.nodes.size();
    Vector g = Vector::Zero(nodes), h = g, cover = g, value = g;
    add_up_leaves(g, h, cover);
    for (Index i = 0; i < nodes; ++i) {
      const GrownNode& about = grown.about[at(i)];
      if (grown.nodes.is_leaf(i) && !slopes_.loss().by_quantile())
        value(i) = std::clamp(slopes_.loss().step(g(i), h(i), spec_.l1, spec_.l2), about.low, about.high);
    }
    if (slopes_.loss().by_quantile()) set_quantiles(grown, chosen, output, value);
    value *= spec_.shrinkage;
    for (Index i = nodes - 1; i >= 0; --i) {
      if (grown.nodes.is_leaf(i)) continue;
      for (Vector* sums : {&g, &h, &cover}) (*sums)(i) = (*sums)(grown.nodes.left(i)) + (*sums)(grown.nodes.right(i));
    }
    write_questions(grown, cover);
    add_importance(grown.nodes, g, h);
    move_scores(value, output);
    keep(grown.nodes, value, cover);
  }

  // Rows stand leaf by leaf when a tree has grown. What comes next goes through them as they lie, so each is told its leaf first: a
  // number is written out of order for each row, instead of four read so.

  /// Of each row the number of its leaf, in the place where the rows were parted.
  void find_leaves(const GrownTree& grown, const Chosen& chosen) {
    leaves_.clear();
    struct Part {
      Index begin, end;
      std::uint32_t leaf;
    };
    std::vector<Part> parts;
    for (Index i = 0; i < grown.nodes.size(); ++i) {
      if (!grown.nodes.is_leaf(i)) continue;
      const GrownNode& leaf = grown.about[at(i)];
      for (Index begin = leaf.begin; begin < leaf.end; begin += kPiece)
        parts.push_back({begin, std::min(leaf.end, begin + kPiece), static_cast<std::uint32_t>(leaves_.size())});
      leaves_.push_back(i);
    }
    scratch_.resize(at(outcome_.count()));
    parallel_for(std::ssize(parts), execution_, [&](Index k) {
      for (Index i = parts[at(k)].begin; i < parts[at(k)].end; ++i) scratch_[chosen.grow[at(i)]] = parts[at(k)].leaf;
    });
    if (chosen.others.empty()) return;
    std::vector<std::uint32_t> number(at(grown.nodes.size()));
    for (std::size_t leaf = 0; leaf < leaves_.size(); ++leaf)
      number[at(leaves_[leaf])] = static_cast<std::uint32_t>(leaf);
    const Index others = std::ssize(chosen.others);
    parallel_for((others + kPiece - 1) / kPiece, execution_, [&](Index k) {
      for (Index i = k * kPiece; i < std::min(others, (k + 1) * kPiece); ++i) {
        const Index row = chosen.others[at(i)];
        scratch_[at(row)] = number[at(grown.leaf_of(binned_, row))] | kNotGrown;
      }
    });
  }

  /// G, H and the weight of the rows that grew each leaf: whole numbers, but for the weights, which are added piece by piece.
  void add_up_leaves(Vector& g, Vector& h, Vector& cover) const {
    const double unit_g = unit_for(slopes_.sum_of_g(), Exact::kBits),
                 unit_h = unit_for(slopes_.sum_of_h(), Exact::kBits);
    const double per_g = 1 / unit_g, per_h = 1 / unit_h;
    const Index n = outcome_.count(), count = std::ssize(leaves_), size = std::max(kPiece, 4 * count);
    const Index pieces = (n + size - 1) / size;
    std::vector<LeafSums> sums(at(pieces * count));
    const Kept<double>&slope = slopes_.g(), &curvature = slopes_.h();
    parallel_for(pieces, execution_, [&](Index k) {
      LeafSums* const own = sums.data() + k * count;
      for (std::size_t row = at(k * size), end = at(std::min(n, (k + 1) * size)); row < end; ++row) {
        if ((scratch_[row] & kNotGrown) != 0) continue;
        LeafSums& leaf = own[scratch_[row]];
        leaf.g += nearest(slope[row] * per_g);
        leaf.h += nearest(curvature[row] * per_h);
        leaf.weight += outcome_.weight_of(static_cast<Index>(row));
      }
    });
    for (Index leaf = 0; leaf < count; ++leaf) {
      LeafSums all;
      for (Index k = 0; k < pieces; ++k) {
        const LeafSums& part = sums[at(k * count + leaf)];
        all.g += part.g;
        all.h += part.h;
        all.weight += part.weight;
      }
      const Index node = leaves_[at(leaf)];
      g(node) = static_cast<double>(all.g) * unit_g;
      h(node) = static_cast<double>(all.h) * unit_h;
      cover(node) = all.weight;
    }
  }

  void set_quantiles(const GrownTree& grown, const Chosen& chosen, Index output, Vector& value) {
    parallel_for(grown.nodes.size(), execution_, [&](Index i) {
      if (!grown.nodes.is_leaf(i)) return;
      const GrownNode& leaf = grown.about[at(i)];
      std::vector<Weighted> residuals;
      for (Index k = leaf.begin; k < leaf.end; ++k) {
        const auto row = static_cast<Index>(chosen.grow[at(k)]);
        residuals.push_back({outcome_.y[at(row)] - slopes_.score(row, output), outcome_.weight_of(row)});
      }
      value(i) = std::clamp(weighted_quantile(residuals, slopes_.loss().level()), leaf.low, leaf.high);
    });
  }

  /// Bins become thresholds and sets; where no row of a node misses its value, a missing one goes with the heavier child.
  void write_questions(GrownTree& grown, const Vector& cover) {
    for (Index i = 0; i < grown.nodes.size(); ++i) {
      if (grown.nodes.is_leaf(i)) continue;
      Split& split = grown.about[at(i)].split;
      const BinnedColumn& column = binned_.columns[at(split.column)];
      if (!grown.about[at(i)].saw_missing)
        split.left.back() = split.missing_left = cover(grown.nodes.left(i)) >= cover(grown.nodes.right(i));
      TreeNode& node = grown.nodes.nodes[at(i)];
      node.column = static_cast<std::uint32_t>(split.column) & ((1U << 30) - 1);
      node.missing_left = split.missing_left;
      node.categories = column.levels > 0;
      if (column.levels == 0) {
        node.threshold = split.bin < std::ssize(column.cuts) ? column.cuts[static_cast<std::size_t>(split.bin)]
                                                             : std::numeric_limits<double>::max();
        continue;
      }
      const std::size_t begin = grown.nodes.add_set(split.column);
      grown.nodes.nodes[at(i)].threshold = static_cast<double>(begin);
      for (int level = 0; level < column.levels; ++level)
        if (split.left[static_cast<std::size_t>(level)])
          grown.nodes.put_in_set(begin, static_cast<std::uint32_t>(level));
    }
  }

  void add_importance(const TreeNodes& nodes, const Vector& g, const Vector& h) {
    const auto gain = [&](Index i) { return Loss::gain(g(i), h(i), spec_.l1, spec_.l2); };
    for (Index i = 0; i < nodes.size(); ++i)
      if (!nodes.is_leaf(i)) model_.importance(nodes[i].column) += gain(nodes.left(i)) + gain(nodes.right(i)) - gain(i);
  }

  void move_scores(const Vector& value, Index output) {
    std::vector<double> adds;
    for (const Index node : leaves_) adds.push_back(value(node));
    const Index n = outcome_.count();
    parallel_for((n + kPiece - 1) / kPiece, execution_, [&](Index k) {
      for (Index row = k * kPiece; row < std::min(n, (k + 1) * kPiece); ++row)
        slopes_.score(row, output) += adds[scratch_[at(row)] & ~kNotGrown];
    });
  }

  void keep(const TreeNodes& tree, const Vector& value, const Vector& cover) {
    if (values_.empty()) model_.trees = tree;
    else model_.trees.append(tree);
    for (Index i = 0; i < tree.size(); ++i) {
      if (!tree.is_leaf(i)) continue;
      values_.push_back(value(i));
      cover_.push_back(cover(i));
    }
  }

  /// Only what came before the least loss of the rows held out, or before a cancel, is kept.
  void drop_after(Index rounds) {
    const Index trees = rounds * model_.outputs();
    if (trees < model_.trees.trees()) {
      const auto end = at(model_.trees.roots[at(trees)]);
      model_.trees.nodes.resize(end);
      model_.trees.roots.resize(at(trees));
      values_.resize(at(model_.trees.leaves()));
      cover_.resize(values_.size());
      drop_unused_sets();
      if (!importances_.empty()) model_.importance = importances_[at(rounds - 1)];
    }
    model_.trees.number_leaves();
    model_.values = Eigen::Map<const Vector>(values_.data(), std::ssize(values_));
    model_.cover = Eigen::Map<const Vector>(cover_.data(), std::ssize(cover_));
  }
  void drop_unused_sets() {
    std::size_t used = 0;
    for (const TreeNode& node : model_.trees.nodes)
      if (!node.is_leaf() && node.categories)
        used = std::max(used, static_cast<std::size_t>(node.threshold) +
                                  (static_cast<std::size_t>(model_.trees.levels[node.column]) + 31) / 32);
    model_.trees.sets.resize(used);
  }

  BoostModel& model_;
  const Boost& spec_;
  const Outcome& outcome_;
  Execution execution_;
  BinnedRows binned_;
  Slopes slopes_;
  GrowRules rules_;
  Chosen chosen_;
  Kept<std::uint32_t> scratch_;  // while rows are parted; then of each row its leaf
  std::vector<Index> leaves_;    // of the tree at hand: their nodes
  Kept<Packed> packed_;
  Kept<Exact> exact_;
  std::vector<double> values_, cover_;
  std::vector<Vector> importances_;  // after each round, where the last ones may be dropped
};

}  // namespace

bool has_waited(const std::vector<double>& validation_loss, int patience) {
  return !validation_loss.empty() && std::ssize(validation_loss) - best_round(validation_loss) >= patience;
}

Index best_round(const std::vector<double>& validation_loss) {
  return std::min_element(validation_loss.begin(), validation_loss.end()) - validation_loss.begin() + 1;
}

void add_trees(BoostModel& model, const Rows& rows, const Outcome& outcome, const Execution& execution) {
  Rounds(model, rows, outcome, execution).run();
}

}  // namespace lemma::boost
