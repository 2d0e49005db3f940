// lemma/cluster/agglomerative/facts.cpp
#include <algorithm>
#include <bit>
#include <cmath>
#include <lemma/cluster/agglomerative/facts.hpp>
#include <lemma/cluster/agglomerative/linkage.hpp>
#include <lemma/math/simd/panels.hpp>
#include <limits>
#include <numeric>
#include <span>
#include <type_traits>

namespace lemma {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool halves(Linkage linkage) { return linkage == Linkage::weighted || linkage == Linkage::median; }

/// 2^−k, 0 where that is no number.
double half_to(Index k) { return k > 1074 ? 0.0 : std::ldexp(1.0, -static_cast<int>(k)); }

/// Sums over the pairs that each merge brings together.
struct PairSums {
  explicit PairSums(Index steps) : plain(at(steps), 0.0), linked(at(steps), 0.0), least(at(steps), kInfinity) {}
  std::vector<double> plain, linked, least;  // Σ d, Σ w d or Σ w d² (complete: the greatest), the least d
  double sum = 0, squares = 0, greatest = 0;

  void merge(const PairSums& other, bool maximum) {
    for (std::size_t t = 0; t < plain.size(); ++t) {
      plain[t] += other.plain[t];
      linked[t] = maximum ? std::max(linked[t], other.linked[t]) : linked[t] + other.linked[t];
      least[t] = std::min(least[t], other.least[t]);
    }
    sum += other.sum;
    squares += other.squares;
    greatest = std::max(greatest, other.greatest);
  }
};

/// The pairs of the row at place p with those after it, which come from left to right.
class RowOfPairs {
 public:
  RowOfPairs(const MergeTree& tree, Linkage linkage, double unit)
      : tree_(tree), linkage_(linkage), unit_(unit), higher_(at(tree.rows()), tree.rows()) {
    const auto& joins = tree.joins();
    for (Index q = tree.rows() - 1; q > 0; --q) {
      Index& next = higher_[at(q)] = q + 1;
      while (next < tree.rows() && joins[at(next)] <= joins[at(q)]) next = higher_[at(next)];
    }
    if (!halves(linkage)) return;
    for (const Index row : tree.order()) depth_.push_back(tree.depth(~row));
  }

  /// Of a place: the merge that joins it with those looked at last, and the first place that a later one joins.
  struct Along {
    Index step = -1, end = 0;
  };

  /// d[q − from] for q in [from, to): those up to p are not looked at. What one merge joins stands side by side.
  void add(Index p, std::span<const double> d, Index from, Index to, Along& along, PairSums& out) const {
    for (Index q = std::max(from, p + 1); q < to;) {
      if (q >= along.end) along = {tree_.joins()[at(q)], higher_[at(q)]};
      const Index end = std::min(along.end, to);
      add_run(d.subspan(at(q - from), at(end - q)), p, q, along.step, out);
      q = end;
    }
  }

 private:
  static constexpr int kChains = 4;  // of sums side by side: one would wait for itself

  /// Places from q on, which `step` joins with place p. Of their extremes only what the linkage asks for is looked at.
  void add_run(std::span<const double> d, Index p, Index q, Index step, PairSums& out) const {
    if (linkage_ == Linkage::single) add_run<true, false>(d, p, q, step, out);
    else if (linkage_ == Linkage::complete || may_invert(linkage_)) add_run<false, true>(d, p, q, step, out);
    else add_run<false, false>(d, p, q, step, out);
  }

  template <bool kLeast, bool kGreatest>
  void add_run(std::span<const double> d, Index p, Index q, Index step, PairSums& out) const {
    using Chains = Eigen::Array<double, kChains, 1>;
    Chains plain = Chains::Zero(), squares = plain, greatest = plain, least = Chains::Constant(kInfinity);
    const std::size_t whole = d.size() - d.size() % kChains;
    for (std::size_t k = 0; k < whole; k += kChains) {
      const Chains x = unit_ * Eigen::Map<const Chains>(d.data() + k);
      plain += x;
      squares += x * x;
      if constexpr (kLeast) least = least.min(x);
      if constexpr (kGreatest) greatest = greatest.max(x);
    }
    for (std::size_t k = whole; k < d.size(); ++k) {
      const double x = unit_ * d[k];
      plain[0] += x;
      squares[0] += x * x;
      if constexpr (kLeast) least[0] = std::min(least[0], x);
      if constexpr (kGreatest) greatest[0] = std::max(greatest[0], x);
    }
    const auto sum = [](const Chains& of) { return (of[0] + of[1]) + (of[2] + of[3]); };
    const double all = sum(plain), all_squares = sum(squares), most = greatest.maxCoeff();
    out.plain[at(step)] += all;
    out.sum += all;
    out.squares += all_squares;
    out.greatest = std::max(out.greatest, most);
    double& linked = out.linked[at(step)];
    if (kLeast) out.least[at(step)] = std::min(out.least[at(step)], least.minCoeff());
    else if (linkage_ == Linkage::complete) linked = std::max(linked, most);
    else if (halves(linkage_)) linked += by_halves(d, p, q, step);
    else linked += works_on_squares(linkage_) ? all_squares : all;
  }

  /// A row counts ½ for each merge between it and this one.
  double by_halves(std::span<const double> d, Index p, Index q, Index step) const {
    double out = 0;
    for (std::size_t k = 0; k < d.size(); ++k) {
      const double x = unit_ * d[k], y = works_on_squares(linkage_) ? x * x : x;
      out += y * half_to(depth_[at(p)] + depth_[at(q) + k] - 2 * tree_.depth(step) - 2);
    }
    return out;
  }

  const MergeTree& tree_;
  Linkage linkage_;
  double unit_;
  std::vector<Index> higher_;  // the first place after each that a later merge joins with those before it
  std::vector<Index> depth_;   // of the row at each place
};

/// The rows of places [first, last) with all places after them, of distances that are computed here tile by tile.
void add_tiles(const PackedPoints& points, const RowOfPairs& row, Index first, Index last, Index n, PairSums& out) {
  constexpr Index kRows = 16, kPanels = 32;  // of a tile
  const Index width = points.metric().width();
  std::vector<double> x(at(kRows * width)), tile(at(kRows * kPanels * simd::kPanel));
  for (; first < last; first += kRows) {
    const Index rows = std::min(kRows, last - first);
    std::vector<RowOfPairs::Along> along(at(rows));
    for (Index r = 0; r < rows; ++r) points.unpack(first + r, x.data() + r * width);
    for (Index k = first / simd::kPanel; k < points.panels(); k += kPanels) {
      const Index panels = std::min(kPanels, points.panels() - k), size = panels * simd::kPanel,
                  from = k * simd::kPanel;
      points.distances(x.data(), rows, k, panels, tile.data());
      for (Index r = 0; r < rows; ++r)
        row.add(first + r, std::span(tile).subspan(at(r * size), at(size)), from, std::min(n, from + size),
                along[at(r)], out);
    }
  }
}

/// Bands of rows, in a tree of sums that their number alone decides.
PairSums sums_over_pairs(const MergeTree& tree, const Dissimilarities& all, Linkage linkage, double unit,
                         const Execution& execution) {
  const Index n = tree.rows(), band = std::max<Index>(16, (n + 127) / 128), bands = (n + band - 1) / band;
  const RowOfPairs row(tree, linkage, unit);
  const auto leaf = [&](Index b) -> State {
    auto state = std::make_shared<PairSums>(tree.steps());
    const Index first = b * band, last = std::min(n, first + band);
    if (!all.is_kept()) add_tiles(*all.points(), row, first, last, n, *state);
    else
      for (Index p = first; p < std::min(last, n - 1); ++p) {
        RowOfPairs::Along along;
        row.add(p, all.kept().subspan(at(all.pair(p, p + 1)), at(n - p - 1)), p + 1, n, along, *state);
      }
    return state;
  };
  const auto merge = [&](State& into, State from) {
    static_cast<PairSums*>(into.get())->merge(*static_cast<const PairSums*>(from.get()), linkage == Linkage::complete);
  };
  return std::move(*static_cast<PairSums*>(fold_tree(bands, execution, leaf, merge).get()));
}

double count(const MergeTree& tree, Index node) { return static_cast<double>(tree.size(node)); }

/// What a cluster holds within itself: Σ d² over its pairs (ward, centroid), or the same by halves (median).
double own(const std::vector<double>& within, Index node) { return MergeTree::is_row(node) ? 0.0 : within[at(node)]; }

/// The linkage of clusters of sizes a and b, from what lies between them and within each.
double linked(Linkage linkage, double between, double a, double b, double within_a, double within_b) {
  switch (linkage) {
    case Linkage::average: return between / (a * b);
    case Linkage::ward: return std::sqrt(std::max(0.0, 2 * (between - within_a * b / a - within_b * a / b) / (a + b)));
    case Linkage::centroid: return between / (a * b) - within_a / (a * a) - within_b / (b * b);
    case Linkage::median: return between - within_a - within_b;
    default: return between;
  }
}

/// What two clusters that became one hold within.
double joined_within(Linkage linkage, double between, double within_a, double within_b) {
  return linkage == Linkage::median ? 0.25 * (within_a + within_b + between) : within_a + within_b + between;
}

/// within[t] of the cluster that merge t makes.
std::vector<double> all_within(const MergeTree& tree, Linkage linkage, const std::vector<double>& between) {
  std::vector<double> out(at(tree.steps()), 0.0);
  for (Index t = 0; t < tree.steps(); ++t)
    out[at(t)] = joined_within(linkage, between[at(t)], own(out, tree.left(t)), own(out, tree.right(t)));
  return out;
}

/// The greatest height of steps [from, to], by doubling.
class GreatestHeight {
 public:
  explicit GreatestHeight(const Vector& heights) : levels_{{heights.begin(), heights.end()}} {
    for (std::size_t width = 1; 2 * width <= levels_[0].size(); width *= 2) {
      const auto& below = levels_.back();
      std::vector<double> level(below.size() - width);
      for (std::size_t t = 0; t < level.size(); ++t) level[t] = std::max(below[t], below[t + width]);
      levels_.push_back(std::move(level));
    }
  }
  double operator()(Index from, Index to) const {
    const auto level = static_cast<std::size_t>(std::bit_width(at(to - from + 1))) - 1;
    return std::max(levels_[level][at(from)], levels_[level][at(to + 1) - (std::size_t{1} << level)]);
  }

 private:
  std::vector<std::vector<double>> levels_;
};

/// What lies between a ∪ b and c, of what lies between a and c and b and c.
struct Between {
  Linkage linkage;

  template <class Visit>
  void operator()(const Visit& visit) const {
    if (linkage == Linkage::complete) visit([](double a, double b, double) { return std::max(a, b); });
    else if (halves(linkage)) visit([](double a, double b, double) { return 0.5 * (a + b); });
    else visit([](double a, double b, double) { return a + b; });
  }
};

/// visit of a linkage that is known when it is compiled: `linked` without a choice.
template <class Visit>
void with(Linkage linkage, const Visit& visit) {
  switch (linkage) {
    case Linkage::average: return visit(std::integral_constant<Linkage, Linkage::average>{});
    case Linkage::ward: return visit(std::integral_constant<Linkage, Linkage::ward>{});
    case Linkage::centroid: return visit(std::integral_constant<Linkage, Linkage::centroid>{});
    case Linkage::median: return visit(std::integral_constant<Linkage, Linkage::median>{});
    default: return visit(std::integral_constant<Linkage, Linkage::complete>{});
  }
}

/// The hierarchy lived through again: what lies between each two clusters that are there, as sums over pairs of rows.
template <class Rows>
class Replay {
 public:
  Replay(const MergeTree& tree, const Vector& heights, Linkage linkage, double unit, Rows rows)
      : tree_(tree),
        linkage_(linkage),
        scale_(may_invert(linkage) ? unit * unit : unit),
        heights_(scale_ * heights),
        rising_(std::is_sorted(heights_.begin(), heights_.end())),
        greatest_(heights_),
        rows_(std::move(rows)),
        node_(at(tree.rows())),
        slot_(at(tree.rows())),
        within_(at(tree.steps()), 0.0),
        here_(at(tree.rows()), 0.0),
        high_(at(tree.rows())),
        gap_(at(tree.rows())) {
    std::iota(slot_.begin(), slot_.end(), Index{0});
    for (Index p = 0; p < tree.rows(); ++p) {
      node_[at(p)] = ~tree.order()[at(p)];
      high_[at(p)] = heights_(tree.end(node_[at(p)]));
    }
  }

  Missed run(const Execution& execution) {
    look_up_heights(0);
    for (Index p = 0; p + 1 < tree_.rows(); ++p) compare(p, 0, p + 1);
    for (Index t = 0; t + 1 < tree_.steps(); ++t) {
      if (t % 64 == 0) {
        if (execution.cancelled()) throw Cancelled();
        execution.report(static_cast<double>(t) / static_cast<double>(tree_.steps()), "certificate");
      }
      const Index slot = join(t);
      look_up_heights(t + 1);
      compare(slot, t + 1, 0);
      if (const Index left = tree_.rows() - t - 1; 2 * left <= rows_.count() && left > 64) compact();
    }
    return {missed_.by / scale_, missed_.step};
  }

 private:
  Index slot_of(Index node) const { return slot_[at(tree_.first(node))]; }

  /// The slot of what step t makes.
  Index join(Index t) {
    const Index a = slot_of(tree_.left(t)), b = slot_of(tree_.right(t)), slot = std::min(a, b);
    within_[at(t)] = joined_within(linkage_, rows_.row(a)[at(b)], here_[at(a)], here_[at(b)]);
    rows_.join(a, b, Between{linkage_});
    node_[at(slot)] = t;
    here_[at(slot)] = within_[at(t)];
    high_[at(slot)] = heights_(tree_.end(t));
    return slot;
  }

  /// high_ of each cluster: the greatest height of the merges from step `now` on to the one that joins it, which where
  /// heights rise is that one's.
  void look_up_heights(Index now) {
    if (rising_) return;
    for (Index q = 0; q < rows_.count(); ++q)
      if (rows_.taken(q)) high_[at(q)] = greatest_(now, tree_.end(node_[at(q)]));
  }

  /// The cluster in a slot, there since before step `now`, with those in slots from `first` on: the time that two clusters
  /// have together ends with the first of them, and so the greatest height in it is the lesser one of theirs.
  void compare(Index slot, Index now, Index first) {
    const double *d = rows_.row(slot).data(), *sizes = rows_.sizes().data(), *here = here_.data(), *high = high_.data();
    const double size = rows_.size(slot), within = here_[at(slot)], top = high_[at(slot)];
    const Index width = rows_.count();
    double* gap = gap_.data();
    with(linkage_, [&](auto of) {
      for (Index q = first; q < width; ++q)
        gap[q] = linked(of, d[q], size, sizes[q], within, here[q]) - (high[q] < top ? high[q] : top);
    });
    const double by = -simd::least({gap + first, at(width - first)});
    if (by > missed_.by) missed_ = {by, now};
  }

  void compact() {
    const std::vector<Index> taken = rows_.all_taken();
    for (std::size_t k = 0; k < taken.size(); ++k) {
      const std::size_t from = at(taken[k]);
      node_[k] = node_[from];
      here_[k] = here_[from];
      high_[k] = high_[from];
      slot_[at(tree_.first(node_[k]))] = static_cast<Index>(k);
    }
    rows_.keep(taken);
  }

  const MergeTree& tree_;
  Linkage linkage_;
  double scale_;
  Vector heights_;
  bool rising_;
  GreatestHeight greatest_;
  Rows rows_;
  std::vector<Index> node_, slot_;         // of the cluster in each slot; where the cluster that begins at a place is
  std::vector<double> within_;             // of each merge
  std::vector<double> here_, high_, gap_;  // of each slot: within; see look_up_heights; d less the greatest height
  Missed missed_;
};

template <template <class> class Kind>
Missed missed_in(const MergeTree& tree, const Vector& heights, const Dissimilarities& all, Linkage linkage, double unit,
                 const Execution& execution, NumberRoom* room) {
  using Rows = Kind<Between>;
  Rows rows(all, {unit, works_on_squares(linkage)}, execution.part(0, 0), room);
  return Replay<Rows>(tree, heights, linkage, unit, std::move(rows)).run(execution);
}

}  // namespace

MergeFacts facts_of(const MergeTree& tree, const Dissimilarities& all, Linkage linkage, const Execution& execution) {
  MergeFacts out;
  out.unit = unit_of(greatest_of(all));
  const PairSums sums = sums_over_pairs(tree, all, linkage, out.unit, execution);
  const bool squares = may_invert(linkage);
  const auto within = all_within(tree, linkage, sums.linked);
  out.heights.resize(tree.steps());
  out.plain.resize(tree.steps());
  for (Index t = 0; t < tree.steps(); ++t) {
    const Index a = tree.left(t), b = tree.right(t);
    const double between = linkage == Linkage::single ? sums.least[at(t)] : sums.linked[at(t)];
    const double height = linked(linkage, between, count(tree, a), count(tree, b), own(within, a), own(within, b));
    out.heights(t) = squares ? height / out.unit / out.unit : height / out.unit;
    out.plain(t) = sums.plain[at(t)];
  }
  out.sum = sums.sum;
  out.squares = sums.squares;
  out.greatest = sums.greatest / out.unit;
  return out;
}

double cophenetic_correlation(const MergeTree& tree, const Vector& heights, const MergeFacts& facts) {
  const double unit = unit_of(heights.cwiseAbs().maxCoeff());
  const double pairs = 0.5 * static_cast<double>(tree.rows()) * static_cast<double>(tree.rows() - 1);
  const double mean = facts.sum / pairs;
  double middle = 0, ss = 0, cross = 0;
  for (Index t = 0; t < tree.steps(); ++t)
    middle += count(tree, tree.left(t)) * count(tree, tree.right(t)) / pairs * unit * heights(t);
  for (Index t = 0; t < tree.steps(); ++t) {
    const double many = count(tree, tree.left(t)) * count(tree, tree.right(t)), h = unit * heights(t) - middle;
    ss += many * h * h;
    cross += h * (facts.plain(t) - many * mean);
  }
  const double own_ss = facts.squares - pairs * mean * mean;
  if (!(ss > 1e-20 * pairs) || !(own_ss > 1e-12 * facts.squares)) return std::nan("");
  return cross / std::sqrt(ss * own_ss);
}

Missed missed_pairs(const MergeTree& tree, const Vector& heights, const Dissimilarities& all, Linkage linkage,
                    const MergeFacts& facts, const Execution& execution, Kept kept, NumberRoom* room) {
  // Of single linkage the heights tell all: a pair of clusters is at least as far apart as the merge above both, whose
  // height is the least over its pairs, and merges rise.
  if (linkage != Linkage::single)
    return kept == Kept::square ? missed_in<SquareRows>(tree, heights, all, linkage, facts.unit, execution, room)
                                : missed_in<TriangleRows>(tree, heights, all, linkage, facts.unit, execution, room);
  Missed out;
  for (Index t = 1; t < heights.size(); ++t)
    if (heights(t - 1) - heights(t) > out.by) out = {heights(t - 1) - heights(t), t};
  return out;
}

Dissimilarities ordered(const Agglomerative& spec, const Matrix& x, const Rows& like, const MergeTree& tree,
                        const Execution& execution) {
  const Index n = tree.rows();
  const auto& order = tree.order();
  if (spec.input == Input::square) {
    MemoryRows rows(x);
    rows.features = like.features;
    const Compared compared = compare(Agglomerative::name, spec.input, spec.metric, rows, execution);
    std::vector<double> packed;
    for (Index p = 0; p < n; ++p)
      for (Index q = p + 1; q < n; ++q) packed.push_back(compared.dissimilarities(order[at(p)], order[at(q)]));
    return Dissimilarities::of_triangle(std::move(packed));
  }
  Matrix turned(n, x.cols());
  for (Index p = 0; p < n; ++p) turned.row(p) = x.row(order[at(p)]);
  const BoundMetric metric(spec.metric, x.cols());
  return Dissimilarities::on_demand(turned, metric, {}, execution);
}

}  // namespace lemma
