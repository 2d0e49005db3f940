// lemma/cluster/agglomerative/linkage.cpp
#include <algorithm>
#include <cmath>
#include <lemma/cluster/agglomerative/linkage.hpp>
#include <lemma/core/error.hpp>
#include <lemma/geometry/graph/mutual_reachability.hpp>
#include <lemma/math/simd/panels.hpp>
#include <limits>
#include <numeric>

namespace lemma {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Lance and Williams (1967): the dissimilarity of a ∪ b to c from those of a and b to c.
///     complete  max                    average  (n_a d_ac + n_b d_bc) / (n_a + n_b)         weighted  ½ (d_ac + d_bc)
/// of squares:
///     ward      ((n_a + n_c) d_ac + (n_b + n_c) d_bc − n_c d_ab) / (n_a + n_b + n_c)
///     centroid  (n_a d_ac + n_b d_bc) / (n_a + n_b) − n_a n_b d_ab / (n_a + n_b)²       median  ½ (d_ac + d_bc) − ¼ d_ab
struct LanceWilliams {
  Linkage linkage;
  double na, nb, ab;

  /// visit(f), f(d_ac, d_bc, n_c).
  template <class Visit>
  void operator()(const Visit& visit) const {
    const double n = na + nb, wa = na / n, wb = nb / n;
    switch (linkage) {
      case Linkage::single: return visit([](double a, double b, double) { return std::min(a, b); });
      case Linkage::complete: return visit([](double a, double b, double) { return std::max(a, b); });
      case Linkage::average: return visit([=](double a, double b, double) { return wa * a + wb * b; });
      case Linkage::weighted: return visit([](double a, double b, double) { return 0.5 * (a + b); });
      case Linkage::ward:
        return visit(
            [=, this](double a, double b, double nc) { return ((na + nc) * a + (nb + nc) * b - nc * ab) / (n + nc); });
      case Linkage::centroid:
        return visit([=, this](double a, double b, double) { return wa * a + wb * b - wa * wb * ab; });
      case Linkage::median: return visit([=, this](double a, double b, double) { return 0.5 * (a + b) - 0.25 * ab; });
    }
  }
};

Index place_of(double least, std::span<const double> row) {
  return static_cast<Index>(std::find(row.begin(), row.end(), least) - row.begin());
}

/// The nearest-neighbour chain (Benzécri 1982, Juan 1982): a, its nearest b, the nearest of that, …; distances along it
/// fall, so that it ends with two that are nearest to each other. For a reducible linkage, where a ∪ b is never nearer to c
/// than the nearer of a and b was, two such clusters are joined sooner or later whatever happens elsewhere: they can be
/// joined at once, the rest of the chain stays, and the merges are sorted by their heights in the end.
template <class Rows>
class Chain {
 public:
  Chain(Linkage linkage, Rows rows) : linkage_(linkage), rows_(std::move(rows)), name_(at(rows_.count())) {
    std::iota(name_.begin(), name_.end(), Index{0});
  }

  std::vector<Joined> run(const Execution& execution) {
    const Index n = rows_.count();
    std::vector<Joined> out;
    out.reserve(at(n));
    for (Index left = n; left > 1;) {
      const Index a = head();
      const std::span<const double> near = rows_.row(a);
      const double least = simd::least(near);
      if (chain_.size() < 2 || near[at(chain_[chain_.size() - 2])] > least) {
        chain_.push_back(place_of(least, near));
        continue;
      }
      out.push_back(join(a, chain_[chain_.size() - 2], least));
      --left;
      if (left % 64 == 0) {
        if (execution.cancelled()) throw Cancelled();
        const double share = static_cast<double>(left) / static_cast<double>(n);
        execution.report(1 - share * share, "merging");
      }
      if (2 * left <= rows_.count() && left > 64) compact();
    }
    std::stable_sort(out.begin(), out.end(), [](const Joined& a, const Joined& b) { return a.height < b.height; });
    return out;
  }

 private:
  Index head() {
    if (chain_.empty()) {
      Index first = 0;
      while (!rows_.taken(first)) ++first;
      chain_.push_back(first);
    }
    return chain_.back();
  }

  Joined join(Index a, Index b, double height) {
    const Joined out{name_[at(a)], name_[at(b)], height};
    rows_.join(a, b, LanceWilliams{linkage_, rows_.size(a), rows_.size(b), height});
    chain_.resize(chain_.size() - 2);
    return out;
  }

  /// Half of the slots are empty: the rest moves together.
  void compact() {
    const std::vector<Index> taken = rows_.all_taken();
    std::vector<Index> place(at(rows_.count()), -1);
    for (std::size_t k = 0; k < taken.size(); ++k) {
      place[at(taken[k])] = static_cast<Index>(k);
      name_[k] = name_[at(taken[k])];
    }
    rows_.keep(taken);
    for (Index& slot : chain_) slot = place[at(slot)];
  }

  Linkage linkage_;
  Rows rows_;
  std::vector<Index> name_;  // a row of the cluster in each slot
  std::vector<Index> chain_;
};

/// Each cluster keeps its nearest among those after it (Anderberg 1973); the least of all is joined. For centroid and median
/// linkage, whose clusters can come nearer to others by being joined.
template <class Rows>
class NearestPairs {
 public:
  NearestPairs(Linkage linkage, Rows rows)
      : linkage_(linkage), rows_(std::move(rows)), to_(at(rows_.count()), -1), distance_(at(rows_.count()), kInfinity) {
    for (Index i = 0; i < rows_.count(); ++i) look_from(i);
  }

  std::vector<Joined> run(const Execution& execution) {
    const Index n = rows_.count();
    std::vector<Joined> out;
    for (Index step = 0; step + 1 < n; ++step) {
      if (step % 64 == 0) {
        if (execution.cancelled()) throw Cancelled();
        execution.report(static_cast<double>(step) / static_cast<double>(n), "merging");
      }
      const Index a = place_of(simd::least(distance_), distance_), b = to_[at(a)];
      out.push_back({a, b, distance_[at(a)]});
      join(a, b);
    }
    return out;
  }

 private:
  /// The nearest after i, of those that are there.
  void look_from(Index i) {
    distance_[at(i)] = kInfinity;
    to_[at(i)] = -1;
    if (!rows_.taken(i)) return;
    const std::span<const double> after = rows_.row(i).subspan(at(i + 1));
    distance_[at(i)] = simd::least(after);
    if (distance_[at(i)] < kInfinity) to_[at(i)] = i + 1 + place_of(distance_[at(i)], after);
  }

  void join(Index a, Index b) {
    rows_.join(a, b, LanceWilliams{linkage_, rows_.size(a), rows_.size(b), distance_[at(a)]});
    const std::span<const double> joined = rows_.row(a);
    row_.assign(joined.begin(), joined.end());  // others are read meanwhile
    look_from(b);
    for (Index c = 0; c < b; ++c) {
      if (!rows_.taken(c) || c == a) continue;
      if (to_[at(c)] == a || to_[at(c)] == b) {
        look_from(c);
      } else if (c < a && row_[at(c)] < distance_[at(c)]) {
        distance_[at(c)] = row_[at(c)];
        to_[at(c)] = a;
      }
    }
    look_from(a);
  }

  Linkage linkage_;
  Rows rows_;
  std::vector<Index> to_;
  std::vector<double> distance_, row_;
};

/// The merges of single linkage are the edges of the minimum spanning tree, the shortest first: O(n) memory besides the rows.
std::vector<Joined> along(const std::vector<Edge>& spanning_tree) {
  std::vector<Joined> out;
  for (const Edge& edge : spanning_tree) out.push_back({edge.from, edge.to, edge.weight});
  return out;
}

template <template <class> class Kind>
std::vector<Joined> joined_in(Linkage linkage, const Dissimilarities& all, InUnits units, const Execution& execution,
                              NumberRoom* room) {
  using Rows = Kind<LanceWilliams>;
  Rows rows(all, units, execution.part(0, 0), room);
  return may_invert(linkage) ? NearestPairs<Rows>(linkage, std::move(rows)).run(execution)
                             : Chain<Rows>(linkage, std::move(rows)).run(execution);
}

}  // namespace

bool works_on_squares(Linkage linkage) {
  return linkage == Linkage::ward || linkage == Linkage::centroid || linkage == Linkage::median;
}
bool may_invert(Linkage linkage) { return linkage == Linkage::centroid || linkage == Linkage::median; }

double greatest_of(const Dissimilarities& all) {
  if (all.is_kept()) return *std::max_element(all.kept().begin(), all.kept().end());
  std::vector<double> row(at(all.count()));  // none is more than twice as far as the farthest from the first
  all.row(0, row);
  return *std::max_element(row.begin(), row.end());
}

double unit_of(double greatest) {
  return greatest > 0 ? std::ldexp(1.0, std::clamp(-std::ilogb(greatest), -1000, 1000)) : 1.0;
}

std::vector<Joined> joined_rows(Linkage linkage, const Dissimilarities& all, const Execution& execution, Kept kept,
                                NumberRoom* room) {
  if (linkage == Linkage::single) return along(spanning_tree(all, execution));
  const double unit = unit_of(greatest_of(all));
  const InUnits units{unit, works_on_squares(linkage)};
  std::vector<Joined> out = kept == Kept::square ? joined_in<SquareRows>(linkage, all, units, execution, room)
                                                 : joined_in<TriangleRows>(linkage, all, units, execution, room);
  for (Joined& each : out) {
    if (linkage == Linkage::ward) each.height = std::sqrt(std::max(0.0, each.height));
    each.height /= may_invert(linkage) ? unit * unit : unit;
  }
  return out;
}

std::vector<Joined> joined_by_single_linkage(const Matrix& rows, const BoundMetric& metric,
                                             const Execution& execution) {
  return along(spanning_tree(rows, metric, execution));
}

}  // namespace lemma
