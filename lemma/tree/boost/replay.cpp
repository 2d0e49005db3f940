// lemma/tree/boost/replay.cpp
#include <algorithm>
#include <cmath>
#include <lemma/tree/boost/replay.hpp>
#include <limits>

namespace lemma::boost {
namespace {

constexpr Index kTogether = 512;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

void add(std::vector<double>& into, const std::vector<double>& from) {
  for (std::size_t i = 0; i < into.size(); ++i) into[i] += from[i];
}

}  // namespace

std::vector<std::vector<double>> thresholds_of(const TreeNodes& trees) {
  std::vector<std::vector<double>> out(at(trees.width()));
  for (const TreeNode& node : trees.nodes)
    if (!node.is_leaf() && !node.categories) out[node.column].push_back(node.threshold);
  for (auto& each : out) {
    std::sort(each.begin(), each.end());
    each.erase(std::unique(each.begin(), each.end()), each.end());
  }
  return out;
}

PlacedTrees::PlacedTrees(const TreeNodes& trees, const std::vector<std::vector<double>>& thresholds)
    : roots_(trees.roots) {
  constexpr std::size_t kMost = 0xffff;
  bool small = thresholds.size() < kMost;
  for (const auto& each : thresholds) small = small && each.size() < kMost;
  for (const TreeNode& node : trees.nodes) small = small && (node.is_leaf() || !node.categories);
  if (!small) return;
  steps_.resize(at(trees.size()));
  depth_.assign(roots_.size(), 0);
  std::vector<int> depth(at(trees.size()), 0);
  std::size_t tree = 0;
  for (Index i = 0; i < trees.size(); ++i) {
    while (tree + 1 < roots_.size() && i >= roots_[tree + 1]) ++tree;
    depth_[tree] = std::max(depth_[tree], depth[at(i)]);
    if (trees.is_leaf(i)) continue;
    const auto& cuts = thresholds[trees[i].column];
    const auto cut = std::lower_bound(cuts.begin(), cuts.end(), trees[i].threshold) - cuts.begin();
    steps_[at(i)] = {static_cast<std::uint16_t>(trees[i].column), static_cast<std::uint16_t>(cut), trees[i].child};
    depth[at(trees.left(i))] = depth[at(trees.right(i))] = depth[at(i)] + 1;
  }
}

void PlacedTrees::leaves_of(const std::uint16_t* places, Index width, Index tree, std::span<std::int32_t> out) const {
  std::fill(out.begin(), out.end(), roots_[at(tree)]);
  for (int level = 0; level < depth_[at(tree)]; ++level) {  // a leaf stays where it is
    const std::uint16_t* place = places;
    for (std::int32_t& node : out) {
      const Step step = steps_[at(node)];
      node += step.child + (place[step.column] > step.cut ? 1 : 0);
      place += width;
    }
  }
}

Replay::Replay(const BoostModel& of, const Execution&)
    : model(&of),
      thresholds(std::make_shared<const std::vector<std::vector<double>>>(thresholds_of(of.trees))),
      places(std::make_shared<const std::vector<Search>>(thresholds->begin(), thresholds->end())),
      placed(std::make_shared<const PlacedTrees>(of.trees, *thresholds)),
      g(at(of.values.size()), 0.0),
      h(g),
      cover(g),
      missed(at(of.trees.size()), 0),
      reached(of.trees.sets.size(), 0),
      loss(at(of.used_rounds) + 1, 0.0),
      held_out(loss),
      sum(at(of.width()), 0.0) {
  if (of.loss().by_quantile()) below = up_to = g;
  if (of.spec.base == BoostBase::linear) lines.resize(at(of.used_rounds * of.outputs()));
  for (const TreeNode& node : of.trees.nodes) has_categories = has_categories || (!node.is_leaf() && node.categories);
  for (const auto& each : *thresholds) {
    under.emplace_back(each.size(), -kInfinity);
    over.emplace_back(each.size(), kInfinity);
  }
}

void Replay::merge(const Replay& other) {
  for (auto part : {&Replay::g, &Replay::h, &Replay::cover, &Replay::below, &Replay::up_to, &Replay::loss,
                    &Replay::held_out, &Replay::sum})
    add(this->*part, other.*part);
  for (std::size_t i = 0; i < missed.size(); ++i) missed[i] |= other.missed[i];
  for (std::size_t i = 0; i < reached.size(); ++i) reached[i] |= other.reached[i];
  for (std::size_t j = 0; j < under.size(); ++j)
    for (std::size_t k = 0; k < under[j].size(); ++k) {
      under[j][k] = std::max(under[j][k], other.under[j][k]);
      over[j][k] = std::min(over[j][k], other.over[j][k]);
    }
  for (std::size_t k = 0; k < lines.size(); ++k) lines[k] += other.lines[k];
  weight += other.weight;
  held_weight += other.held_weight;
}

/// The value nearest to each threshold on either side: found between which two of them it lies. That place is kept too.
void Replay::look_at_values(const Block& block, Index i, bool counts, std::uint16_t* place) {
  for (Index j = 0; j < block.x.cols(); ++j) {
    const auto& cuts = (*thresholds)[at(j)];
    const double v = block.x(i, j);
    if (cuts.empty() || std::isnan(v)) continue;
    const std::size_t here = std::min<std::size_t>((*places)[at(j)](v), cuts.size());  // infinity is beyond the last
    place[j] = static_cast<std::uint16_t>(here);
    if (!counts) continue;
    if (here < cuts.size()) under[at(j)][here] = std::max(under[at(j)][here], v);
    if (here > 0) over[at(j)][here - 1] = std::min(over[at(j)][here - 1], v);
  }
}

void Replay::walk(const double* row, Index tree) {
  const TreeNodes& trees = model->trees;
  for (Index i = trees.roots[at(tree)]; !trees.is_leaf(i);) {
    const TreeNode& node = trees[i];
    const double v = row[node.column];
    if (trees.is_missing(node, v)) missed[at(i)] = 1;
    else if (node.categories) {
      const auto code = static_cast<std::uint32_t>(v);
      reached[static_cast<std::size_t>(node.threshold) + code / 32] |= 1U << (code % 32);
    }
    i = trees.goes_left(node, v) ? trees.left(i) : trees.right(i);
  }
}

/// A few rows and what is known of them.
struct Replay::Part {
  Replay& all;
  const Block& block;
  Index first, count, outputs;
  Loss rule;
  std::vector<double> y, w, held, f, p, g, h;
  std::vector<std::uint64_t> key;
  std::vector<char> walks;  // rows that must be followed node by node
  std::vector<char> has_gaps;
  std::vector<std::int32_t> place;
  std::vector<std::uint16_t> places;  // of each value among the thresholds of its column, row after row

  Part(Replay& into, const Block& of, Index begin, Index rows)
      : all(into), block(of), first(begin), count(rows), outputs(into.model->outputs()), rule(into.model->loss()) {
    const Boost& spec = all.model->spec;
    const auto seed = static_cast<std::uint64_t>(all.model->seed);
    for (auto* each : {&y, &w, &held, &g, &h}) each->assign(at(count), 0.0);
    f.resize(at(count * outputs));
    p.resize(f.size());
    key.resize(at(count));
    walks.assign(at(count), 0);
    has_gaps.assign(at(count), 0);
    place.resize(at(count));
    places.assign(at(count * block.x.cols()), 0);
    for (Index i = 0; i < count; ++i) {
      y[at(i)] = block.y.empty() ? block.label[at(first + i)] : block.y[at(first + i)];
      if (all.model->draws()) key[at(i)] = row_key(row_of(block.x, first + i), block.x.cols(), y[at(i)]);
      const bool out = spec.validation > 0 && chance(key[at(i)], seed, kHeldOut) < spec.validation;
      (out ? held : w)[at(i)] = block.weight_of(first + i);
      for (Index k = 0; k < outputs; ++k) f[at(i * outputs + k)] = all.model->start(k);
      all.weight += w[at(i)];
      all.held_weight += held[at(i)];
      all.look_at_values(block, first + i, block.weight_of(first + i) > 0, places.data() + i * block.x.cols());
      has_gaps[at(i)] = block.x.row(first + i).array().isNaN().any();
      if (w[at(i)] > 0) walks[at(i)] = all.has_categories || has_gaps[at(i)] != 0;
    }
  }

  /// Losses as the scores are now; and slopes, where there is one output.
  void look(Index round) {
    double sum = 0;
    if (outputs == 1) sum = rule.slopes_and_loss(y, f, w, g, h);
    for (Index i = 0; i < count; ++i) {
      const double* const scores = &f[at(i * outputs)];
      if (outputs > 1) {
        softmax(scores, outputs, &p[at(i * outputs)]);
        if (w[at(i)] > 0) sum += w[at(i)] * rule.of_scores(static_cast<int>(y[at(i)]), scores);
      }
      if (held[at(i)] > 0)
        all.held_out[at(round)] += held[at(i)] * (outputs > 1 ? rule.of_scores(static_cast<int>(y[at(i)]), scores)
                                                              : rule.of(y[at(i)], scores[0]));
    }
    all.loss[at(round)] += sum;
  }

  void add_tree(Index round, Index k) {
    const BoostModel& model = *all.model;
    const Index tree = round * outputs + k;
    const bool sampled = model.spec.share < 1;
    find_leaves(tree);
    for (Index i = 0; i < count; ++i) {
      const std::size_t leaf = model.trees[place[at(i)]].column;
      const bool grows = w[at(i)] > 0 && (!sampled || chance(key[at(i)], static_cast<std::uint64_t>(model.seed),
                                                             static_cast<std::uint64_t>(round)) < model.spec.share);
      if (grows) {
        if (outputs > 1)
          rule.slopes_of_class(p[at(i * outputs + k)], y[at(i)] == static_cast<double>(k), w[at(i)], g[at(i)],
                               h[at(i)]);
        all.g[leaf] += g[at(i)];
        all.h[leaf] += h[at(i)];
        all.cover[leaf] += w[at(i)];
        if (rule.by_quantile()) compare_residual(leaf, y[at(i)] - f[at(i)], w[at(i)]);
        if (walks[at(i)]) all.walk(row_of(block.x, first + i), tree);
      }
      f[at(i * outputs + k)] += model.values(static_cast<Index>(leaf));
    }
  }
  void find_leaves(Index tree) {
    const TreeNodes& trees = all.model->trees;
    if (!all.placed->suits()) return trees.leaves_of(block.x.middleRows(first, count), tree, place);
    all.placed->leaves_of(places.data(), block.x.cols(), tree, place);
    for (Index i = 0; i < count; ++i)
      if (has_gaps[at(i)] != 0)
        place[at(i)] = static_cast<std::int32_t>(trees.leaf_of(row_of(block.x, first + i), tree));
  }
  void compare_residual(std::size_t leaf, double residual, double weight) {
    const double value = all.model->values(static_cast<Index>(leaf)) / all.model->spec.shrinkage;
    const double room = 1e-9 * (std::abs(value) + std::abs(residual));
    if (residual < value - room) all.below[leaf] += weight;
    if (residual <= value + room) all.up_to[leaf] += weight;
  }

  void add_line(Index round, Index k) {
    const BoostModel& model = *all.model;
    const Index step = round * outputs + k;
    const int j = model.step_columns[at(step)];
    for (Index i = 0; i < count; ++i) {
      const double* const row = row_of(block.x, first + i);
      if (outputs > 1)
        rule.slopes_of_class(p[at(i * outputs + k)], y[at(i)] == static_cast<double>(k), w[at(i)], g[at(i)], h[at(i)]);
      if (w[at(i)] > 0) all.lines[at(step)].add(g[at(i)], h[at(i)], row[j] - model.centre(j));
      f[at(i * outputs + k)] += line_at(model, step, row);
    }
  }
  void add_means() {
    for (Index i = 0; i < count; ++i)
      for (Index j = 0; j < all.model->width(); ++j)
        all.sum[at(j)] += w[at(i)] * (block.x(first + i, j) - all.model->centre(j));
  }
};

void Replay::accumulate(const Block& block) {
  const bool is_linear = model->spec.base == BoostBase::linear;
  for (Index first = 0; first < block.rows(); first += kTogether) {
    Part part(*this, block, first, std::min(kTogether, block.rows() - first));
    if (is_linear) part.add_means();
    for (Index round = 0; round < model->used_rounds; ++round) {
      part.look(round);
      for (Index k = 0; k < model->outputs(); ++k) is_linear ? part.add_line(round, k) : part.add_tree(round, k);
    }
    part.look(model->used_rounds);
  }
}

}  // namespace lemma::boost
