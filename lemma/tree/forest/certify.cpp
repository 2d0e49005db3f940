// lemma/tree/forest/certify.cpp: what a forest says of its rows, found anew by walking each row down each tree.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <lemma/core/text.hpp>
#include <lemma/model/comparison.hpp>
#include <lemma/tree/forest/grove.hpp>
#include <lemma/tree/forest/importance.hpp>
#include <lemma/tree/forest/recount.hpp>

namespace lemma::forest {
namespace {

/// What the rows of the bags say of a tree.
struct Walked {
  std::vector<std::int32_t> leaf;    // of each row by place: its node
  std::vector<std::uint8_t> is_out;  // of each row by place: it is outside the bag
  std::vector<double> importance;
  double worst = 0;  // of a leaf, beside what it should say
  std::string wrong;
};

class Walker {
 public:
  Walker(const Grove& grove, const Plan& plan, const ForestRows& data, const MatrixView& x)
      : grove_(grove), plan_(plan), data_(data), x_(x), bags_(plan, data, grove.seed_bits()), place_(at(x.rows()), -1) {
    for (Index i = 0; i < data.rows; ++i) place_[at(data.source[at(i)])] = static_cast<std::int32_t>(i);
  }

  const Bags& bags() const { return bags_; }

  Walked walk(Index tree) const {
    Walked out;
    std::vector<double> copies;
    bags_.draw(tree, copies);
    out.leaf.resize(at(data_.rows));
    out.is_out.resize(at(data_.rows));
    for (std::size_t i = 0; i < copies.size(); ++i) out.is_out[i] = copies[i] > 0 ? 0 : 1;
    find_leaves(tree, out);
    hold_leaves(tree, copies, out);
    if (plan_.importance == ForestImportance::permutation) shuffle_columns(tree, out);
    return out;
  }

 private:
  static constexpr Index kTogether = 512;  // rows whose columns stay in the cache
  Index root(Index tree) const { return grove_.trees.roots[at(tree)]; }
  Index end(Index tree) const {
    return tree + 1 < grove_.trees.trees() ? grove_.trees.roots[at(tree + 1)] : grove_.trees.size();
  }

  /// The rows as they lie, block after block, each to its place.
  void find_leaves(Index tree, Walked& out) const {
    std::vector<std::int32_t> reached(at(kTogether));
    for (Index first = 0; first < x_.rows(); first += kTogether) {
      const Index count = std::min(kTogether, x_.rows() - first);
      grove_.trees.leaves_of(x_.middleRows(first, count), tree, reached);
      for (Index i = 0; i < count; ++i)
        if (const std::int32_t place = place_[at(first + i)]; place >= 0) out.leaf[at(place)] = reached[at(i)];
    }
  }

  /// Sums of all nodes, from the leaves upwards; what the leaves say, and what each split was worth.
  void hold_leaves(Index tree, const std::vector<double>& in_bag, Walked& out) const {
    const Index first = root(tree);
    const std::size_t count = at(end(tree) - first), k = at(std::max<Index>(1, data_.classes));
    std::vector<double> sums(count * k, 0.0);  // weight of each class, or Σ w y
    std::vector<double> weight(count, 0.0), copies(count, 0.0), said(k);
    for (std::size_t i = 0; i < in_bag.size(); ++i) {
      const double n = in_bag[i];
      if (!(n > 0)) continue;
      const std::size_t node = at(out.leaf[i] - first);
      double w = n;
      if (data_.classes > 0 && !data_.factor.empty()) w *= data_.factor[data_.label[i]];
      weight[node] += w;
      copies[node] += n;
      if (data_.classes > 0) sums[node * k + data_.label[i]] += w;
      else sums[node] += w * data_.y[i];
    }
    out.importance.assign(at(data_.width), 0.0);
    std::vector<double> worth(count, 0.0);
    for (std::size_t node = count; node-- > 0;) {
      const TreeNode& here = grove_.trees[first + static_cast<Index>(node)];
      double* const own = sums.data() + node * k;
      const std::size_t left = node + at(here.child);
      if (here.is_leaf()) {
        if (copies[node] < plan_.min_leaf || !(weight[node] > 0)) {
          out.wrong = fmt::format("a leaf of tree {} has {:g} rows", tree + 1, copies[node]);
          return;
        }
        for (std::size_t c = 0; c < k; ++c) said[c] = own[c] / weight[node];
        out.worst = std::max(out.worst, std::abs(grove_.leaf_weight(here.column) - weight[node]) / weight[node]);
        hold_leaf(here.column, said, out);
      } else {
        for (std::size_t c = 0; c < k; ++c) own[c] = sums[left * k + c] + sums[(left + 1) * k + c];
        weight[node] = weight[left] + weight[left + 1];
      }
      for (std::size_t c = 0; c < k; ++c) worth[node] += own[c] * own[c];
      worth[node] /= weight[node];
      if (here.is_leaf()) continue;
      const double gain = worth[left] + worth[left + 1] - worth[node];
      out.importance[here.column] += data_.classes == 2 ? gain / 2 : gain;
    }
  }
  void hold_leaf(std::uint32_t number, const std::vector<double>& said, Walked& out) const {
    if (data_.classes == 0) {
      out.worst = std::max(out.worst, std::abs(grove_.leaf_value(number) - (data_.centre + data_.scale * said[0])) /
                                          (data_.scale + std::abs(data_.centre)));
      return;
    }
    const int label = grove_.leaf_class[number];
    if (plan_.vote == ForestVote::majority) {
      if (label < 0 || said[at(label)] < *std::max_element(said.begin(), said.end()) - kAgree)
        out.wrong = "a leaf does not say its most frequent class";
      return;
    }
    for (std::size_t c = 0; c < said.size(); ++c) {
      const double stored =
          label >= 0 ? (c == at(label) ? 1.0 : 0.0) : grove_.leaf_shares(-1 - label, static_cast<Index>(c));
      out.worst = std::max(out.worst, std::abs(stored - said[c]));
    }
  }
  double error_of(Index node, Index row) const {
    const auto number = static_cast<Index>(grove_.trees[node].column);
    if (data_.classes == 0) {
      const double off = (grove_.leaf_value(number) - data_.centre) / data_.scale - data_.y[at(row)];
      return off * off;
    }
    Index label = grove_.leaf_class[at(number)];
    if (label < 0) grove_.leaf_shares.row(-1 - label).maxCoeff(&label);
    return label == static_cast<Index>(data_.label[at(row)]) ? 0 : 1;
  }
  /// Importance by permutation: a row with one value of another's is walked down again.
  void shuffle_columns(Index tree, Walked& out) const {
    std::vector<std::uint32_t> rows;
    double weight = 0;
    for (std::uint32_t i = 0; i < out.is_out.size(); ++i)
      if (out.is_out[i] != 0) {
        rows.push_back(i);
        weight += data_.weight_of(i);
      }
    out.importance.assign(at(data_.width), 0.0);
    if (rows.empty()) return;
    std::vector<bool> asked(at(data_.width), false);
    for (Index i = root(tree); i < end(tree); ++i)
      if (!grove_.trees.is_leaf(i)) asked[grove_.trees[i].column] = true;
    for (Index j = 0; j < data_.width; ++j) {
      if (!asked[at(j)]) continue;
      RandomStream stream = stream_of(grove_.seed_bits(), tree, Purpose::shuffle, j);
      std::vector<std::uint32_t> other = rows;
      stream.shuffle(std::span<std::uint32_t>(other));
      double more = 0;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        Vector row = x_.row(data_.source[rows[i]]);
        row(j) = x_(data_.source[other[i]], j);
        more += data_.weight_of(rows[i]) *
                (error_of(grove_.trees.leaf_of(row.data(), tree), rows[i]) - error_of(out.leaf[rows[i]], rows[i]));
      }
      out.importance[at(j)] = more / weight;
    }
  }

  const Grove& grove_;
  const Plan& plan_;
  const ForestRows& data_;
  const MatrixView& x_;
  Bags bags_;
  std::vector<std::int32_t> place_;  // of each row of x; -1: a weight of 0
};

/// Predictions out of the bag and their errors, in the order of the trees.
class OutOfBag {
 public:
  Matrix said;
  Vector trees, error;

  OutOfBag(const Grove& grove, const ForestRows& data, Index count)
      : said(Matrix::Zero(data.rows, grove.counts.size())),
        trees(Vector::Zero(data.rows)),
        error(count),
        grove_(grove),
        data_(data),
        off_(at(data.rows), 0.0) {}

  /// The next trees, `first` the number of the first of them: rows side by side, each through the trees in turn.
  void add(std::span<const Walked> walked, Index first, const Execution& execution) {
    const Index parts = (data_.rows + kPart - 1) / kPart, count = std::ssize(walked);
    std::vector<Error> errors(at(parts * count));
    parallel_for(parts, execution, [&](Index part) {
      for (Index t = 0; t < count; ++t) errors[at(part * count + t)] = add_part(walked[at(t)], part);
    });
    for (Index t = 0; t < count; ++t) {
      Error all;
      for (Index part = 0; part < parts; ++part) {
        all.sum += errors[at(part * count + t)].sum;
        all.weight += errors[at(part * count + t)].weight;
      }
      error(first + t) = all.weight > 0 ? all.sum / all.weight * data_.scale * data_.scale : std::nan("");
    }
  }

 private:
  static constexpr Index kPart = 4096;
  struct Error {
    double sum = 0, weight = 0;
  };

  Error add_part(const Walked& walked, Index part) {
    Error out;
    for (Index i = part * kPart; i < std::min(data_.rows, (part + 1) * kPart); ++i) {
      const double w = data_.weight_of(static_cast<std::uint32_t>(i));
      if (walked.is_out[at(i)] != 0) {
        hear(i, static_cast<Index>(grove_.trees[walked.leaf[at(i)]].column));
        off_[at(i)] = w * off_now(i);
      }
      if (trees(i) == 0) continue;
      out.sum += off_[at(i)];
      out.weight += w;
    }
    return out;
  }
  void hear(Index i, Index leaf) {
    ++trees(i);
    if (data_.classes == 0) said(i, 0) += grove_.leaf_value(leaf);
    else if (const int label = grove_.leaf_class[at(leaf)]; label >= 0) said(i, label) += 1;
    else said.row(i) += grove_.leaf_shares.row(-1 - label);
  }
  double off_now(Index i) const {
    if (data_.classes > 0) {
      Index best = 0;
      said.row(i).maxCoeff(&best);
      return best == static_cast<Index>(data_.label[at(i)]) ? 0 : 1;
    }
    const double off = (said(i, 0) / trees(i) - data_.centre) / data_.scale - data_.y[at(i)];
    return off * off;
  }

  const Grove& grove_;
  const ForestRows& data_;
  std::vector<double> off_;  // of each row its error so far, by its weight
};

void compare(Comparison& same, const Grove& grove, const Plan& plan, const ForestRows& data, const OutOfBag& outside,
             const Vector& importance) {
  const double unit = data.scale * data.scale;
  const Index told = !grove.oob_error || std::isnan(outside.error(0)) ? 0 : plan.trees;
  same.number("oob_error_by_tree", static_cast<double>(grove.oob_error_by_tree.size()), static_cast<double>(told), 0);
  for (Index b = 0; b < grove.oob_error_by_tree.size(); ++b)
    same.entry("oob_error_by_tree", b, grove.oob_error_by_tree(b), outside.error(b), unit);
  if (grove.oob_error) same.number("oob_error", *grove.oob_error, outside.error(plan.trees - 1), unit);
  for (Index i = 0; i < grove.oob.rows(); ++i) {
    const int place = grove.order[at(i)];
    const bool none = place < 0 || outside.trees(place) == 0;
    for (Index k = 0; k < grove.oob.cols(); ++k)
      same.entry("oob", i * grove.oob.cols() + k, grove.oob(i, k),
                 none ? std::nan("") : outside.said(place, k) / outside.trees(place),
                 data.classes > 0 ? 1 : data.scale + std::abs(data.centre));
  }
  for (Index j = 0; j < importance.size(); ++j)
    same.entry("importance", j, grove.importance(j), importance(j), data.classes > 0 ? 1 : unit);
}

/// So many trees that the work stays within the steps; which, the seed says.
std::vector<Index> sample(const Grove& grove, const Plan& plan, const ForestRows& data, double steps) {
  const double n = static_cast<double>(data.rows), levels = std::log2(n + 2);
  const double one = n * static_cast<double>(plan.columns) * levels * levels;
  const auto count = static_cast<Index>(std::clamp(steps / one, 1.0, static_cast<double>(plan.trees)));
  RandomStream stream = stream_of(grove.seed_bits(), 0, Purpose::sample);
  auto out = sample_without_replacement(stream, plan.trees, count);
  std::sort(out.begin(), out.end());
  return out;
}

/// In the places that the forest gives them where those are their own; else, and where ranks are needed, sorted.
ForestRows rows_of(const Grove& grove, const Plan& plan, const Rows& rows, const MatrixView& x,
                   const Execution& execution) {
  const bool needs_ranks = plan.bins > 0 || plan.importance == ForestImportance::corrected;
  if (!needs_ranks && rows.count() == static_cast<Index>(grove.order.size()))
    if (auto placed = placed_rows(plan, rows, x, grove.order)) return *std::move(placed);
  return forest_rows(plan, rows, execution);
}

Certificate base_certificate(const Plan& plan) {
  Certificate out;
  out.strength = Strength::consistent;
  out.kind = "splits, leaves and errors counted anew";
  out.tolerance = kAgree;
  out.iterations = plan.trees;
  out.stopped = "trees grown";
  return out;
}

Certificate refuted(const Plan& plan, std::string message) {
  Certificate out = base_certificate(plan);
  out.value = 1;
  out.message = std::move(message);
  return out;
}

}  // namespace

Certificate certify_grove(const Grove& grove, const Plan& plan, const Rows& rows, double steps,
                          const Execution& execution) {
  Matrix space;
  const MatrixView x = matrix_of(rows, space, execution);
  const ForestRows data = rows_of(grove, plan, rows, x, execution.part(0, 0.1));
  if (data.rows != grove.rows_by_place())
    return refuted(plan, fmt::format("The forest was grown on {} of a weight above 0, and there are {}.",
                                     count_of(grove.rows_by_place(), "row"), data.rows));
  const Walker walker(grove, plan, data, x);
  OutOfBag outside(grove, data, plan.trees);
  Vector importance = Vector::Zero(data.width);
  double worst_leaf = 0;
  const Index together = std::max<Index>(4, 2 * threads_of(execution));
  for (Index first = 0; first < plan.trees; first += together) {
    const Index count = std::min(together, plan.trees - first);
    std::vector<Walked> walked(at(count));
    const auto share = [&](Index b) { return 0.1 + 0.5 * static_cast<double>(b) / static_cast<double>(plan.trees); };
    parallel_for(count, execution.part(share(first), share(first + count)),
                 [&](Index i) { walked[at(i)] = walker.walk(first + i); });
    for (Index i = 0; i < count; ++i) {
      const Walked& each = walked[at(i)];
      if (!each.wrong.empty()) return refuted(plan, fmt::format("It is not a forest of these rows: {}.", each.wrong));
      worst_leaf = std::max(worst_leaf, std::isnan(each.worst) ? 1.0 : each.worst);
      for (Index j = 0; j < data.width; ++j) importance(j) += each.importance[at(j)];
      for (Index row = 0; plan.keep_rows && row < data.rows; ++row) {
        const Index root = grove.trees.roots[at(first + i)];
        Index first_leaf = root;
        while (!grove.trees.is_leaf(first_leaf)) ++first_leaf;
        const auto number = static_cast<int>(grove.trees[each.leaf[at(row)]].column - grove.trees[first_leaf].column);
        if (grove.kept_leaves[at((first + i) * data.rows + row)] != number)
          return refuted(plan, fmt::format("A kept row is not in the leaf of tree {} that it reaches.", first + i + 1));
      }
    }
    outside.add(walked, first, execution);
  }
  importance *= importance_unit(plan, data) / static_cast<double>(plan.trees);
  if (plan.importance == ForestImportance::corrected)
    importance = corrected_importance(plan, data, grove.seed_bits(), execution.part(0.6, 0.7));

  const std::vector<Index> looked_at = sample(grove, plan, data, steps);
  std::vector<Recount> found(looked_at.size());
  parallel_for(static_cast<Index>(looked_at.size()), execution.part(0.7, 1), [&](Index i) {
    std::vector<double> copies;
    walker.bags().draw(looked_at[at(i)], copies);
    found[at(i)] = TreeRecount(plan, data, x, grove.trees, grove.seed_bits()).look_at(looked_at[at(i)], copies);
  });
  Certificate out = base_certificate(plan);
  out.value = worst_leaf;
  for (const Recount& each : found) {
    if (!each.wrong.empty()) return refuted(plan, fmt::format("It is not a forest of these rows: {}.", each.wrong));
    out.value = std::max(out.value, std::isnan(each.worst) ? 1.0 : each.worst);
  }
  const bool all = looked_at.size() == at(plan.trees);
  out.message = fmt::format(
      "Every leaf says what the rows of its bag say{}, by walking each row down each tree; in {} every split is the "
      "best "
      "among the columns drawn for it, counted anew on the values, and every leaf had to be one, up to {:.1e} (allowed "
      "{:.0e}).",
      plan.takes_all_rows() ? "" : ", and the error out of the bag is that of the rows outside",
      all ? std::string("all trees") : fmt::format("{} of {} trees, drawn by the seed,", looked_at.size(), plan.trees),
      out.value, out.tolerance);
  Comparison same;
  for (Index k = 0; k < grove.counts.size(); ++k) {
    double count = 0;
    for (Index i = 0; i < data.rows; ++i)
      if (data.classes == 0 || static_cast<Index>(data.label[at(i)]) == k)
        count += data.weight_of(static_cast<std::uint32_t>(i));
    same.entry("counts", k, grove.counts(k), count, 1);
  }
  for (Index i = 0; i < data.rows && grove.weight.size() > 0; ++i)
    same.entry("weight", i, grove.weight(i), data.weight_of(static_cast<std::uint32_t>(i)), 1);
  if ((grove.weight.size() > 0) != !data.weight.empty()) same.number("weight", 0, 1, 1);
  if (plan.keep_rows)
    for (Index i = 0; i < data.rows; ++i) {
      same.entry("kept_response", i, grove.kept_response(i),
                 data.classes > 0 ? data.label[at(i)] : data.centre + data.scale * data.y[at(i)], 1);
      for (Index j = 0; j < data.width; ++j)
        same.entry("kept_rows", i * data.width + j, grove.kept_rows(i, j), x(data.source[at(i)], j), 1);
    }
  if (grove.oob_error.has_value() == std::isnan(outside.error(plan.trees - 1))) same.number("oob_error", 0, 1, 1);
  compare(same, grove, plan, data, outside, importance);
  if (same.finding()) same.report(out);
  return out;
}

}  // namespace lemma::forest
