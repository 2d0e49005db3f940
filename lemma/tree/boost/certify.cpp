// lemma/tree/boost/certify.cpp: is the model what it says? Each claim is counted anew, row by row, from the stored trees.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/tree/boost/replay.hpp>
#include <lemma/tree/boost/rounds.hpp>
#include <limits>

namespace lemma {
namespace {

using boost::Replay;

constexpr double kTolerance = 1e-6;

/// The worst of what was compared, and what it was.
struct Worst {
  double value = 0;
  std::string what = "nothing differs";
  void note(double found, double scale, std::string_view of) {
    const double relative = found == 0 ? 0 : found / (scale > 0 ? scale : 1);
    if (!(relative <= value)) {
      value = relative;
      what = of;
    }
  }
  void require(bool holds, std::string_view of) { note(holds ? 0 : 1, 1, of); }
};

double largest(const Vector& v) { return v.size() == 0 ? 0 : v.cwiseAbs().maxCoeff(); }

void compare_losses(const BoostModel& model, const Replay& seen, Worst& worst) {
  const auto mean = [&](Index round) { return seen.loss[at(round)] / seen.weight; };
  const double scale = std::max(std::abs(model.initial_loss), std::numeric_limits<double>::min());
  worst.note(std::abs(mean(0) - model.initial_loss), scale, "the loss at the start");
  double before = model.initial_loss;
  const bool constrained = !model.spec.increasing.empty() || !model.spec.decreasing.empty();
  const bool must_not_rise = model.loss().never_rises() && !model.spec.draws_each_round() && !constrained;
  const bool is_line_of_bounded = model.spec.base == BoostBase::tree || model.loss().has_unit_curvature();
  for (Index r = 0; r < model.used_rounds; ++r) {
    worst.note(std::abs(mean(r + 1) - model.training_loss(r)), scale, "the loss after a round");
    if (must_not_rise && is_line_of_bounded) worst.note(std::max(0.0, mean(r + 1) - before), scale, "a loss that rose");
    before = mean(r + 1);
  }
  if (model.spec.validation > 0)
    for (Index r = 0; r < model.used_rounds; ++r)
      worst.note(std::abs(seen.held_out[at(r + 1)] / seen.held_weight - model.validation_loss(r)),
                 std::max(scale, std::abs(model.validation_loss(0))), "the loss of the rows held out");
}

/// Of each node, from those of the leaves.
Vector sums_of_nodes(const TreeNodes& trees, const std::vector<double>& leaves) {
  Vector out(trees.size());
  for (Index i = trees.size() - 1; i >= 0; --i)
    out(i) = trees.is_leaf(i) ? leaves[trees[i].column] : out(trees.left(i)) + out(trees.right(i));
  return out;
}

/// Steps below this are what rounding leaves of none.
double least_step(const BoostModel& model) {
  if (!model.loss().has_unit_curvature()) return 1e-6;  // scores are logarithms
  return 1e-6 * std::sqrt(2 * std::abs(model.initial_loss)) + 1e-9 * std::abs(model.start(0));
}

void compare_leaves(const BoostModel& model, const Replay& seen, Worst& worst) {
  const Boost& spec = model.spec;
  const boost::Loss rule = model.loss();
  const double scale = std::max(largest(model.values), least_step(model));
  for (Index leaf = 0; leaf < model.values.size(); ++leaf) {
    const double cover = seen.cover[at(leaf)];
    if (rule.by_quantile()) {  // at least `level` of the weight is not above the value, at most that much is below it
      const double room = 1e-9 * cover, wanted = rule.level() * cover;
      worst.require(seen.below[at(leaf)] <= wanted + room && seen.up_to[at(leaf)] >= wanted - room,
                    "a leaf's quantile");
    } else {
      const double step = rule.step(seen.g[at(leaf)], seen.h[at(leaf)], spec.l1, spec.l2);
      worst.note(std::abs(model.values(leaf) - spec.shrinkage * step), scale, "a leaf's value");
    }
  }
}

/// On every directed column all leaves to the left are on their side of all to the right.
void compare_directions(const BoostModel& model, const Rows& rows, Worst& worst) {
  const auto direction = boost::directions(model.spec, rows);
  if (direction.empty()) return;
  const TreeNodes& trees = model.trees;
  Vector least(trees.size()), greatest(trees.size());
  for (Index i = trees.size() - 1; i >= 0; --i) {
    if (trees.is_leaf(i)) {
      least(i) = greatest(i) = model.values(trees[i].column);
      continue;
    }
    const Index left = trees.left(i), right = trees.right(i);
    least(i) = std::min(least(left), least(right));
    greatest(i) = std::max(greatest(left), greatest(right));
    const int wanted = direction[trees[i].column];
    if (wanted > 0) worst.note(std::max(0.0, greatest(left) - least(right)), largest(model.values), "a direction");
    if (wanted < 0) worst.note(std::max(0.0, greatest(right) - least(left)), largest(model.values), "a direction");
  }
}

void compare_weights_and_gains(const BoostModel& model, const Replay& seen, Worst& worst) {
  const TreeNodes& trees = model.trees;
  const Vector g = sums_of_nodes(trees, seen.g), h = sums_of_nodes(trees, seen.h),
               cover = sums_of_nodes(trees, seen.cover);
  const auto gain = [&](Index i) { return boost::Loss::gain(g(i), h(i), model.spec.l1, model.spec.l2); };
  Vector importance = Vector::Zero(model.width());
  for (Index i = 0; i < trees.size(); ++i) {
    if (trees.is_leaf(i)) continue;
    const Index left = trees.left(i), right = trees.right(i);
    const double gained = gain(left) + gain(right) - gain(i);
    importance(trees[i].column) += gained;
    const double rounding = 1e-3 * (gain(left) + gain(right));
    const bool plain = model.spec.increasing.empty() && model.spec.decreasing.empty() && !trees[i].categories;
    if (plain) worst.require(gained + rounding >= model.spec.min_gain, "a gain below the least");
    worst.require(std::min(h(left), h(right)) >= model.spec.min_hessian * (1 - 1e-3), "a leaf's second derivatives");
    worst.require(std::min(cover(left), cover(right)) >= model.spec.min_rows * (1 - 1e-9), "a leaf with too few rows");
    if (!seen.missed[at(i)])
      worst.require(trees[i].missing_left == (cover(left) >= cover(right)), "the way of what is missing");
  }
  for (Index leaf = 0; leaf < model.cover.size(); ++leaf)
    worst.note(std::abs(model.cover(leaf) - seen.cover[at(leaf)]), seen.weight, "a leaf's weight");
  worst.note((importance - model.importance).cwiseAbs().maxCoeff(), largest(model.importance), "the gains of a column");
}

double midway(double low, double high) {
  const double middle = low + (high - low) / 2;
  return middle > low && std::isfinite(middle) ? middle : high;
}

void compare_questions(const BoostModel& model, const Replay& seen, Worst& worst) {
  const auto& thresholds = *seen.thresholds;
  for (std::size_t j = 0; j < thresholds.size(); ++j) {
    const std::size_t count = thresholds[j].size();
    double below = -std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < count; ++k) {
      below = std::max(below, seen.under[j][k]);
      double above = std::numeric_limits<double>::infinity();
      for (std::size_t next = k; next < count; ++next) above = std::min(above, seen.over[j][next]);
      const bool parts_missing = thresholds[j][k] == std::numeric_limits<double>::max() && !std::isfinite(above);
      if (parts_missing) continue;
      if (!std::isfinite(below) || !std::isfinite(above)) worst.require(false, "a threshold beyond all values");
      else
        worst.note(std::abs(thresholds[j][k] - midway(below, above)), above - below, "a threshold that is not midway");
    }
  }
  for (std::size_t word = 0; word < seen.reached.size(); ++word)
    worst.require((model.trees.sets[word] & ~seen.reached[word]) == 0, "a category in a set that no row has");
}

/// What was drawn for a tree is all that it asks.
void compare_columns(const BoostModel& model, Worst& worst) {
  if (model.spec.columns == 1) return;
  for (Index t = 0; t < model.trees.trees(); ++t) {
    const auto drawn = boost::drawn_columns(model.spec, model.width(), static_cast<std::uint64_t>(model.seed), t);
    const Index end = t + 1 < model.trees.trees() ? model.trees.roots[at(t + 1)] : model.trees.size();
    for (Index i = model.trees.roots[at(t)]; i < end; ++i)
      worst.require(model.trees.is_leaf(i) || drawn[model.trees[i].column], "a column that was not drawn");
  }
}

void compare_groups(const BoostModel& model, const Rows& rows, Worst& worst) {
  const auto groups = boost::interaction_groups(model.spec, rows);
  if (groups.empty()) return;
  std::vector<std::vector<char>> asked(at(model.trees.size()), std::vector<char>(at(model.width()), 0));
  for (Index i = 0; i < model.trees.size(); ++i) {
    if (model.trees.is_leaf(i)) {
      const bool fits = std::any_of(groups.begin(), groups.end(), [&](const auto& group) {
        for (std::size_t j = 0; j < group.size(); ++j)
          if (asked[at(i)][j] && !group[j]) return false;
        return true;
      });
      worst.require(fits, "columns on one path that are in no group together");
      continue;
    }
    auto on_the_way = std::move(asked[at(i)]);
    on_the_way[model.trees[i].column] = 1;
    asked[at(model.trees.left(i))] = asked[at(model.trees.right(i))] = on_the_way;
  }
}

void compare_lines(const BoostModel& model, const Replay& seen, Worst& worst) {
  Vector importance = Vector::Zero(model.width());
  Matrix coefficients = Matrix::Zero(model.outputs(), model.width());
  Vector intercepts = model.start;
  const double values = std::max(largest(model.step_intercepts), 1e-300);
  for (Index step = 0; step < model.step_slopes.size(); ++step) {
    const auto line = seen.lines[at(step)].line();
    const int j = model.step_columns[at(step)];
    const double spread = std::sqrt(std::max(0.0, seen.lines[at(step)].hxx / std::max(seen.lines[at(step)].h, 1e-300)));
    const double size = std::abs(model.step_slopes(step)) * spread + values;
    worst.note(std::abs(model.spec.shrinkage * line.slope - model.step_slopes(step)) * spread, size,
               "the slope of a line");
    worst.note(std::abs(model.spec.shrinkage * line.intercept - model.step_intercepts(step)), size,
               "the height of a line");
    importance(j) += line.gain;
    coefficients(step % model.outputs(), j) += model.step_slopes(step);
    intercepts(step % model.outputs()) += model.step_intercepts(step) - model.step_slopes(step) * model.centre(j);
  }
  worst.note((importance - model.importance).cwiseAbs().maxCoeff(), largest(model.importance), "the gains of a column");
  worst.note((coefficients - model.coefficients).cwiseAbs().maxCoeff(), coefficients.cwiseAbs().maxCoeff(),
             "a coefficient");
  worst.note((intercepts - model.intercepts).cwiseAbs().maxCoeff(), largest(intercepts), "an intercept");
  for (Index j = 0; j < model.width(); ++j)
    worst.note(std::abs(seen.sum[at(j)] / seen.weight), std::abs(model.centre(j)) + 1, "the mean of a column");
}

}  // namespace

Certificate certify(const BoostModel& model, const Rows& rows, const Execution& execution) {
  // What is counted is as long as the leaves are many: blocks are larger than those of other passes.
  const Index size = rows.width() <= 512 ? std::max<Index>(block_rows(rows), 16384) : block_rows(rows);
  const Replay seen = scan_in_blocks(rows, Replay(model, execution), size, execution);
  Worst worst;
  compare_losses(model, seen, worst);
  const bool one_sided = model.spec.top.has_value();
  const bool directed = !model.spec.increasing.empty() || !model.spec.decreasing.empty();
  if (model.spec.base == BoostBase::linear) {
    compare_lines(model, seen, worst);
  } else {
    if (!one_sided && !directed) compare_leaves(model, seen, worst);
    if (!one_sided) compare_weights_and_gains(model, seen, worst);
    compare_directions(model, rows, worst);
    compare_questions(model, seen, worst);
    compare_columns(model, worst);
    compare_groups(model, rows, worst);
  }
  Certificate out;
  out.strength = Strength::consistent;
  out.kind = "losses, leaves and gains counted anew";
  out.value = worst.value;
  out.tolerance = kTolerance;
  out.iterations = model.used_rounds;
  out.stopped = model.validation_loss.size() > 0 && model.validation_loss.size() < model.spec.rounds
                    ? "no lower loss of the rows held out"
                : model.used_rounds < model.spec.rounds && model.validation_loss.size() == 0 ? "nothing left to gain"
                                                                                             : "all rounds";
  if (!(worst.value <= kTolerance)) {
    out.message = fmt::format(
        "The rows, sent through the model again, do not say what it says: the worst is {}, by {:.1e} (allowed {:.0e}).",
        worst.what, worst.value, kTolerance);
    return out;
  }
  const bool must_not_rise = model.loss().never_rises() && !model.spec.draws_each_round() && !directed &&
                             (model.spec.base == BoostBase::tree || model.loss().has_unit_curvature());
  out.message = fmt::format(
      "The rows, sent through the {} again, have the losses told after each of {} rounds{}{}, to within {:.1e} of the "
      "first (allowed {:.0e}); "
      "whether {} is the best one is not checked.",
      model.spec.base == BoostBase::linear ? "lines" : "trees", model.used_rounds,
      must_not_rise ? ", which never rose" : "",
      one_sided                              ? " (leaves, made from rows drawn by their slopes, were not counted anew)"
      : directed                             ? ", leaves have the weights told and keep the directions asked for"
      : model.spec.base == BoostBase::linear ? ", and each line is the best of its column"
                                             : ", and each leaf has the value and weight of its rows",
      worst.value, kTolerance, model.spec.base == BoostBase::linear ? "a column" : "a split");
  return out;
}

}  // namespace lemma
