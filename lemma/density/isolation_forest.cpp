// lemma/density/isolation_forest.cpp
#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/random.hpp>
#include <lemma/core/text.hpp>
#include <lemma/density/isolation_forest.hpp>
#include <lemma/density/shared/rows.hpp>
#include <numeric>

namespace lemma {
namespace {

using density::DensityRows;

constexpr Index kUsualSample = 256;

/// c(m): the mean depth at which m rows are told apart.
double mean_depth(double m) {
  if (!(m > 1)) return 0;
  double harmonic = 0;
  for (double i = 1; i < m; ++i) harmonic += 1 / i;
  return 2 * (harmonic - (m - 1) / m);
}

struct Tree {
  std::vector<int> feature, right;
  std::vector<double> split;
};

/// The rows by their values, and where the copies of each end.
struct Urn {
  std::vector<Index> row;
  std::vector<double> end;

  explicit Urn(const DensityRows& rows) : row(at(rows.count())) {
    std::iota(row.begin(), row.end(), Index{0});
    std::sort(row.begin(), row.end(), [&](Index a, Index b) {
      for (Index j = 0; j < rows.width(); ++j)
        if (rows.x(a, j) != rows.x(b, j)) return rows.x(a, j) < rows.x(b, j);
      return a < b;
    });
    double mass = 0;
    for (const Index i : row) end.push_back(mass += rows.weight(i));
  }
  Index copies() const { return static_cast<Index>(std::floor(end.back())); }
  std::vector<Index> draw(RandomStream& random, Index count) const {
    std::vector<Index> out;
    for (const Index copy : sample_without_replacement(random, copies(), count)) {
      const auto found = std::upper_bound(end.begin(), end.end(), static_cast<double>(copy));
      out.push_back(row[std::min(at(found - end.begin()), row.size() - 1)]);
    }
    return out;
  }
};

RandomStream stream_of(std::uint64_t seed, Index tree) { return RandomStream(seed, 77).split(at(tree)); }
int depth_limit(Index sample) { return static_cast<int>(std::ceil(std::log2(static_cast<double>(sample)) - 1e-12)); }

class Grower {
 public:
  Grower(const Matrix& x, RandomStream random, int most) : x_(x), random_(std::move(random)), most_(most) {}
  Tree grown(std::vector<Index> rows) {
    grow(rows, 0);
    return std::move(tree_);
  }

 private:
  void grow(std::span<Index> rows, int depth) {
    const auto self = tree_.feature.size();
    tree_.feature.push_back(-1);
    tree_.right.push_back(0);
    tree_.split.push_back(static_cast<double>(rows.size()));
    if (rows.size() < 2 || depth >= most_) return;
    std::vector<std::pair<double, double>> range(at(x_.cols()));
    std::vector<Index> spread;
    for (Index j = 0; j < x_.cols(); ++j) {
      double low = x_(rows[0], j), high = low;
      for (const Index i : rows) {
        low = std::min(low, x_(i, j));
        high = std::max(high, x_(i, j));
      }
      range[at(j)] = {low, high};
      if (high > low) spread.push_back(j);
    }
    if (spread.empty()) return;
    const Index column = spread[at(random_.below(static_cast<Index>(spread.size())))];
    const auto [low, high] = range[at(column)];
    const double u = random_.uniform();
    double at_value = low * (1 - u) + high * u;
    if (!(at_value > low)) at_value = high;  // so that both sides have rows
    const auto middle =
        std::partition(rows.begin(), rows.end(), [&](Index i) { return x_(i, column) < at_value; }) - rows.begin();
    tree_.feature[self] = static_cast<int>(column);
    tree_.split[self] = at_value;
    grow(rows.first(at(middle)), depth + 1);
    tree_.right[self] = static_cast<int>(tree_.feature.size());
    grow(rows.subspan(at(middle)), depth + 1);
  }
  const Matrix& x_;
  RandomStream random_;
  int most_;
  Tree tree_;
};

struct Grown {
  std::vector<Tree> trees;
  std::vector<std::vector<Index>> sample;
};

Grown grow_all(const DensityRows& rows, Index trees, Index sample, std::uint64_t seed, const Execution& execution) {
  const Urn urn(rows);
  Grown out{std::vector<Tree>(at(trees)), std::vector<std::vector<Index>>(at(trees))};
  parallel_for(trees, execution, [&](Index t) {
    RandomStream random = stream_of(seed, t);
    auto drawn = urn.draw(random, sample);
    std::sort(drawn.begin(), drawn.end(), [&](Index a, Index b) {  // by their values, whatever their numbers
      for (Index j = 0; j < rows.width(); ++j)
        if (rows.x(a, j) != rows.x(b, j)) return rows.x(a, j) < rows.x(b, j);
      return false;
    });
    out.sample[at(t)] = drawn;
    out.trees[at(t)] = Grower(rows.x, std::move(random), depth_limit(sample)).grown(std::move(drawn));
  });
  return out;
}

/// The leaf of a row, and its depth.
struct Leaf {
  Index node;
  int depth;
};
Leaf leaf_of(const IsolationForestModel& model, Index tree, const auto& row) {
  Leaf out{model.starts[at(tree)], 0};
  while (model.feature[at(out.node)] >= 0) {
    const bool below = row(model.feature[at(out.node)]) < model.split(out.node);
    out.node = below ? out.node + 1 : model.starts[at(tree)] + model.right[at(out.node)];
    ++out.depth;
  }
  return out;
}

/// Depths with what is left in the leaves; c(m) is looked up.
class Depths {
 public:
  explicit Depths(const IsolationForestModel& model) : model_(model), unit_(mean_depth(*model.spec.sample)) {
    for (int m = 0; m <= *model.spec.sample; ++m) left_.push_back(mean_depth(m));
  }
  double of(Index tree, const auto& row) const {
    const Leaf leaf = leaf_of(model_, tree, row);
    return leaf.depth + left_[static_cast<std::size_t>(model_.split(leaf.node))];
  }
  double score(double mean) const { return std::exp2(-mean / unit_); }

 private:
  const IsolationForestModel& model_;
  double unit_;
  std::vector<double> left_;
};

/// Scores by the trees that have not seen a row, ascending, with its weight; rows that all trees have seen are left out.
struct HeldOutScores {
  std::vector<std::pair<double, double>> score;
  double mass = 0;
};

HeldOutScores unseen_scores(const IsolationForestModel& model, const DensityRows& rows,
                            const std::vector<std::vector<Index>>& sample, const Execution& execution) {
  const Depths depths(model);
  std::vector<std::vector<bool>> seen(sample.size(), std::vector<bool>(at(rows.count()), false));
  for (std::size_t t = 0; t < sample.size(); ++t)
    for (const Index i : sample[t]) seen[t][at(i)] = true;
  Vector score = Vector::Constant(rows.count(), -1);
  constexpr Index kTogether = 64;
  parallel_for((rows.count() + kTogether - 1) / kTogether, execution, [&](Index tile) {
    for (Index i = tile * kTogether; i < std::min(rows.count(), (tile + 1) * kTogether); ++i) {
      double sum = 0, count = 0;
      for (std::size_t t = 0; t < sample.size(); ++t)
        if (!seen[t][at(i)]) {
          sum += depths.of(static_cast<Index>(t), rows.x.row(i));
          ++count;
        }
      if (count > 0) score(i) = depths.score(sum / count);
    }
  });
  HeldOutScores out;
  for (Index i = 0; i < rows.count(); ++i)
    if (score(i) >= 0) {
      out.score.emplace_back(score(i), rows.weight(i));
      out.mass += rows.weight(i);
    }
  std::sort(out.score.begin(), out.score.end());
  return out;
}

/// k = ⌊α (n + 1)⌋, but for the last digit of the product; of too few rows 1.
double rank_of(double false_alarm, double mass) {
  return std::max(1.0, std::floor(false_alarm * (mass + 1) * (1 + 1e-14)));
}

double threshold_of(const HeldOutScores& rows, double false_alarm) {
  const double rank = rank_of(false_alarm, rows.mass);
  double seen = 0;
  for (auto each = rows.score.rbegin(); each != rows.score.rend(); ++each)
    if ((seen += each->second) >= rank) return each->first;
  return rows.score.front().first;
}

void take(IsolationForestModel& model, const std::vector<Tree>& trees) {
  model.starts = {0};
  std::vector<double> split;
  for (const Tree& tree : trees) {
    model.feature.insert(model.feature.end(), tree.feature.begin(), tree.feature.end());
    model.right.insert(model.right.end(), tree.right.begin(), tree.right.end());
    split.insert(split.end(), tree.split.begin(), tree.split.end());
    model.starts.push_back(static_cast<int>(model.feature.size()));
  }
  model.split = Eigen::Map<const Vector>(split.data(), static_cast<Index>(split.size()));
}

double outliers_of(const IsolationForestModel& model, const DensityRows& rows) {
  return model.outlier(rows.x).dot(rows.weight);
}

std::uint64_t seed_of(const std::string& text) {
  std::uint64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size() || text != fmt::format("{}", out))
    throw Error("isolation_forest: the seed is not usable");
  return out;
}

/// How many trees are not those of their seed, or whose leaves do not hold as many rows of the sample as they tell.
Index wrong_trees(const IsolationForestModel& model, const DensityRows& rows, const Grown& grown) {
  Index wrong = 0;
  for (Index t = 0; t < model.spec.trees; ++t) {
    const Tree& tree = grown.trees[at(t)];
    const auto from = at(model.starts[at(t)]), size = at(model.starts[at(t + 1)]) - from;
    bool same = size == tree.feature.size();
    for (std::size_t node = 0; same && node < size; ++node)
      same = model.feature[from + node] == tree.feature[node] && model.right[from + node] == tree.right[node] &&
             model.split(static_cast<Index>(from + node)) == tree.split[node];
    std::vector<double> left(size, 0.0);
    for (const Index i : grown.sample[at(t)]) left[at(leaf_of(model, t, rows.x.row(i)).node) - from] += 1;
    for (std::size_t node = 0; same && node < size; ++node)
      same = model.feature[from + node] >= 0 || left[node] == model.split(static_cast<Index>(from + node));
    wrong += same ? 0 : 1;
  }
  return wrong;
}

Certificate certificate_of(const IsolationForestModel& model, Index wrong, const HeldOutScores& rows, double outliers) {
  const double rank = rank_of(model.spec.false_alarm, rows.mass);
  double above = 0, at_least = 0, nearest = 1;
  for (const auto& [score, weight] : rows.score) {
    if (score > model.threshold + 1e-12) above += weight;
    if (score >= model.threshold - 1e-12) at_least += weight;
    nearest = std::min(nearest, std::abs(score - model.threshold));
  }
  const bool ranked = above < rank && at_least >= rank && nearest <= 1e-12 &&
                      std::abs(outliers - model.outliers) <= 1e-9 * (1 + outliers);
  Certificate out;
  out.strength = Strength::consistent;
  out.kind = "trees that are not those of their seed";
  out.value = static_cast<double>(wrong) + (ranked ? 0 : 1);
  out.tolerance = 0;
  out.iterations = model.spec.trees;
  out.stopped = "closed form";
  out.message = out.holds() ? fmt::format(
                                  "All {} are those that their seed and these rows grow, and the threshold is the {}. "
                                  "greatest score of {} rows by trees that have not seen them.",
                                  count_of(model.spec.trees, "tree"), format_significant(rank, 10),
                                  format_significant(rows.mass, 10))
                : wrong > 0 ? fmt::format("{} of {} are not those that their seed and these rows grow.", wrong,
                                          count_of(model.spec.trees, "tree"))
                            : fmt::format(
                                  "The threshold is not the {}. greatest score of rows by trees that have not seen "
                                  "them, or the outliers are not {}.",
                                  format_significant(rank, 10), format_significant(outliers, 10));
  return out;
}

}  // namespace

void IsolationForestModel::check() const {
  seed_of(seed);
  const auto nodes = static_cast<Index>(feature.size());
  require(spec.sample.has_value() && *spec.sample >= 2 && columns > 0 && columns < 2'000'000'000 &&
              static_cast<Index>(starts.size()) == spec.trees + 1 && static_cast<Index>(right.size()) == nodes &&
              split.size() == nodes && starts.front() == 0 && static_cast<Index>(starts.back()) == nodes,
          "isolation_forest: trees and nodes do not fit together");
  require(split.allFinite() && std::isfinite(threshold) && std::isfinite(outliers) && outliers >= 0,
          "isolation_forest: a number is not usable");
  for (Index t = 0; t < spec.trees; ++t) {
    const int from = starts[at(t)], end = starts[at(t + 1)];
    require(from < end, "isolation_forest: a tree has no node");
    for (int node = from; node < end; ++node) {
      const int asks = feature[static_cast<std::size_t>(node)], other = right[static_cast<std::size_t>(node)];
      require(asks >= -1 && asks < columns, "isolation_forest: a node asks for a column that is not there");
      if (asks >= 0)  // the left child is the next node; the right one comes after it
        require(other > node - from + 1 && other < end - from, "isolation_forest: a node has no such child");
      else
        require(other == 0 && split(node) >= 1 && split(node) <= *spec.sample && split(node) == std::floor(split(node)),
                "isolation_forest: a leaf is damaged");
    }
    require(feature[static_cast<std::size_t>(end - 1)] == -1, "isolation_forest: a tree has no end");
  }
}

Vector IsolationForestModel::score(const MatrixView& x) const {
  require_width(*this, x.cols());
  const Depths depths(*this);
  Vector out(x.rows());
  for (Index i = 0; i < x.rows(); ++i) {
    double sum = 0;
    for (Index t = 0; t < spec.trees; ++t) sum += depths.of(t, x.row(i));
    out(i) = x.row(i).hasNaN() ? std::nan("") : depths.score(sum / spec.trees);
  }
  return out;
}

Vector IsolationForestModel::outlier(const MatrixView& x) const {
  Vector out = score(x);
  for (double& each : out)
    if (!std::isnan(each)) each = each >= threshold ? 1 : 0;
  return out;
}

std::string IsolationForestModel::summary(const Names&) const {
  return fmt::format(
      "Isolation forest of {}, each grown from {}\n\nOutliers: score at least {} (false alarm {:g}, by trees that have "
      "not "
      "seen a row)\n{} of the rows of the fit are\n",
      count_of(spec.trees, "tree"), count_of(*spec.sample, "row"), format_significant(threshold, 4), spec.false_alarm,
      format_significant(outliers, 7));
}

IsolationForestModel fit(const Valid<IsolationForest>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  const DensityRows data = density::density_rows(IsolationForest::name, rows, execution.part(0, 0.1));
  if (data.mass < 3) throw Error("isolation_forest: there are fewer than 3 rows, and none is left beside a tree's own");
  if ((data.x.rowwise() - data.x.row(0)).isZero(0))
    throw Error(fmt::format("isolation_forest: all rows are equal in {}, and nothing tells them apart",
                            join_words(rows.features)));
  IsolationForestModel model;
  model.spec = *spec;
  model.columns = rows.width();
  model.seed = fmt::format("{}", options.seed);
  const auto copies = static_cast<Index>(std::floor(data.mass));
  if (!model.spec.sample) model.spec.sample = static_cast<int>(std::max<Index>(2, std::min(kUsualSample, copies / 2)));
  if (*model.spec.sample >= copies)
    throw Error(
        fmt::format("isolation_forest: sample is {}, and there are {}; it must be fewer, so that each tree leaves "
                    "rows to judge it by",
                    *model.spec.sample, count_of(copies, "row")));
  const Grown grown =
      grow_all(data, spec->trees, *model.spec.sample, options.seed, execution.part(0.1, 0.5, "growing trees"));
  take(model, grown.trees);
  const HeldOutScores unseen = unseen_scores(model, data, grown.sample, execution.part(0.5, 0.9, "scoring rows"));
  model.threshold = threshold_of(unseen, spec->false_alarm);
  if (spec->false_alarm * (unseen.mass + 1) < 1)
    model.warnings.push_back(fmt::format(
        "{} rows are too few for a false alarm of {:g}: the threshold is the greatest of "
        "their scores, which a row like them is above with a probability of {}",
        format_significant(unseen.mass, 6), spec->false_alarm, format_significant(1 / (unseen.mass + 1), 2)));
  model.outliers = outliers_of(model, data);
  model.certificate = certificate_of(model, wrong_trees(model, data, grown), unseen, model.outliers);
  return model;
}

Certificate certify(const IsolationForestModel& model, const Rows& rows, const Execution& execution) {
  const DensityRows data = density::density_rows(IsolationForest::name, rows, execution.part(0, 0.1));
  if (static_cast<double>(*model.spec.sample) >= data.mass) {
    Certificate out = certificate_of(model, model.spec.trees, {}, 0);
    out.message = "There are not as many rows as a tree was grown from.";
    return out;
  }
  const Grown grown =
      grow_all(data, model.spec.trees, *model.spec.sample, seed_of(model.seed), execution.part(0.1, 0.5));
  const HeldOutScores unseen = unseen_scores(model, data, grown.sample, execution.part(0.5, 1));
  return certificate_of(model, wrong_trees(model, data, grown), unseen, outliers_of(model, data));
}

template const Method& method_of<IsolationForest>();

}  // namespace lemma
