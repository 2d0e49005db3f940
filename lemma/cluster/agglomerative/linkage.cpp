// lemma/cluster/agglomerative/linkage.cpp
#include <algorithm>
#include <cmath>
#include <lemma/cluster/agglomerative/linkage.hpp>
#include <lemma/core/error.hpp>
#include <lemma/geometry/graph.hpp>
#include <lemma/math/simd/panels.hpp>
#include <limits>
#include <numeric>

namespace lemma {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Lance and Williams (1967): the dissimilarity of a ∪ b to c from those of a and b to c, for the whole row of clusters c.
///     complete  max                    average  (n_a d_ac + n_b d_bc) / (n_a + n_b)         weighted  ½ (d_ac + d_bc)
/// of squares:
///     ward      ((n_a + n_c) d_ac + (n_b + n_c) d_bc − n_c d_ab) / (n_a + n_b + n_c)
///     centroid  (n_a d_ac + n_b d_bc) / (n_a + n_b) − n_a n_b d_ab / (n_a + n_b)²       median  ½ (d_ac + d_bc) − ¼ d_ab
void join_rows(Linkage linkage, double na, double nb, double ab, const std::vector<double>& sizes,
               const std::vector<double>& b, std::vector<double>& a) {
  const std::size_t count = a.size();
  const double n = na + nb, wa = na / n, wb = nb / n;
  switch (linkage) {
    case Linkage::single:
      for (std::size_t c = 0; c < count; ++c) a[c] = std::min(a[c], b[c]);
      break;
    case Linkage::complete:
      for (std::size_t c = 0; c < count; ++c) a[c] = std::max(a[c], b[c]);
      break;
    case Linkage::average:
      for (std::size_t c = 0; c < count; ++c) a[c] = wa * a[c] + wb * b[c];
      break;
    case Linkage::weighted:
      for (std::size_t c = 0; c < count; ++c) a[c] = 0.5 * (a[c] + b[c]);
      break;
    case Linkage::ward:
      for (std::size_t c = 0; c < count; ++c) {
        const double nc = sizes[c];
        a[c] = ((na + nc) * a[c] + (nb + nc) * b[c] - nc * ab) / (n + nc);
      }
      break;
    case Linkage::centroid:
      for (std::size_t c = 0; c < count; ++c) a[c] = wa * a[c] + wb * b[c] - wa * wb * ab;
      break;
    case Linkage::median:
      for (std::size_t c = 0; c < count; ++c) a[c] = 0.5 * (a[c] + b[c]) - 0.25 * ab;
      break;
  }
}

/// Clusters in slots; a slot that is taken no more is infinitely far from all.
struct Slots {
  explicit Slots(Index n) : size(at(n), 1.0), gone(at(n), 0.0), row(at(n)) {
    std::iota(row.begin(), row.end(), Index{0});
  }
  std::vector<double> size, gone;  // gone: infinity where the slot is empty
  std::vector<Index> row;          // one of the cluster

  Index count() const { return static_cast<Index>(size.size()); }
  std::vector<Index> taken() const {
    std::vector<Index> out;
    for (Index c = 0; c < count(); ++c)
      if (gone[at(c)] == 0) out.push_back(c);
    return out;
  }
  /// b becomes part of a.
  void join(Index a, Index b) {
    size[at(a)] += size[at(b)];
    gone[at(b)] = kInfinity;
  }
  void keep(const std::vector<Index>& some) {
    for (std::size_t k = 0; k < some.size(); ++k) {
      size[k] = size[at(some[k])];
      row[k] = row[at(some[k])];
    }
    size.resize(some.size());
    row.resize(some.size());
    gone.assign(some.size(), 0.0);
  }
};

Index place_of(double least, const std::vector<double>& row) {
  return static_cast<Index>(std::find(row.begin(), row.end(), least) - row.begin());
}

/// The nearest-neighbour chain (Benzécri 1982, Juan 1982): a, its nearest b, the nearest of that, …; distances along it
/// fall, so that it ends with two that are nearest to each other. For a reducible linkage, where a ∪ b is never nearer to c
/// than the nearer of a and b was, two such clusters are joined sooner or later whatever happens elsewhere: they can be
/// joined at once, the rest of the chain stays, and the merges are sorted by their heights in the end.
class Chain {
 public:
  Chain(Linkage linkage, Triangle all) : linkage_(linkage), all_(std::move(all)), slots_(all_.count()) {
    near_.resize(at(all_.count()));
    other_.resize(at(all_.count()));
  }

  std::vector<Joined> run(const Execution& execution) {
    const Index n = all_.count();
    std::vector<Joined> out;
    out.reserve(at(n));
    for (Index left = n; left > 1;) {
      const Index a = head();
      all_.gather(a, near_);
      for (std::size_t c = 0; c < near_.size(); ++c) near_[c] += slots_.gone[c];
      const double least = simd::least(near_);
      if (chain_.size() < 2 || near_[at(chain_[chain_.size() - 2])] > least) {
        chain_.push_back(place_of(least, near_));
        continue;
      }
      out.push_back(join(a, chain_[chain_.size() - 2], least));
      --left;
      if (left % 64 == 0) {
        if (execution.cancelled()) throw Cancelled();
        const double share = static_cast<double>(left) / static_cast<double>(n);
        execution.report(1 - share * share, "merging");
      }
      if (2 * left <= slots_.count() && left > 64) compact();
    }
    std::stable_sort(out.begin(), out.end(), [](const Joined& a, const Joined& b) { return a.height < b.height; });
    return out;
  }

 private:
  Index head() {
    if (chain_.empty())
      chain_.push_back(
          static_cast<Index>(std::find(slots_.gone.begin(), slots_.gone.end(), 0.0) - slots_.gone.begin()));
    return chain_.back();
  }

  /// near_ is the row of a.
  Joined join(Index a, Index b, double height) {
    all_.gather(b, other_);
    join_rows(linkage_, slots_.size[at(a)], slots_.size[at(b)], height, slots_.size, other_, near_);
    const Joined out{slots_.row[at(a)], slots_.row[at(b)], height};
    const Index stays = std::min(a, b);
    all_.scatter(stays, near_);
    slots_.join(stays, std::max(a, b));
    chain_.resize(chain_.size() - 2);
    return out;
  }

  /// Half of the slots are empty: the rest moves together.
  void compact() {
    const std::vector<Index> taken = slots_.taken();
    std::vector<Index> place(at(slots_.count()), -1);
    for (std::size_t k = 0; k < taken.size(); ++k) place[at(taken[k])] = static_cast<Index>(k);
    all_ = all_.of(taken);
    slots_.keep(taken);
    near_.resize(taken.size());
    other_.resize(taken.size());
    for (Index& slot : chain_) slot = place[at(slot)];
  }

  Linkage linkage_;
  Triangle all_;
  Slots slots_;
  std::vector<Index> chain_;
  std::vector<double> near_, other_;
};

/// Each cluster keeps its nearest among those after it (Anderberg 1973); the least of all is joined. For centroid and median
/// linkage, whose clusters can come nearer to others by being joined.
class NearestPairs {
 public:
  NearestPairs(Linkage linkage, Triangle all)
      : linkage_(linkage),
        all_(std::move(all)),
        slots_(all_.count()),
        to_(at(all_.count()), -1),
        distance_(at(all_.count()), kInfinity),
        near_(at(all_.count())),
        other_(at(all_.count())) {
    for (Index i = 0; i < all_.count(); ++i) look_from(i);
  }

  std::vector<Joined> run(const Execution& execution) {
    const Index n = all_.count();
    std::vector<Joined> out;
    for (Index step = 0; step + 1 < n; ++step) {
      if (step % 64 == 0) {
        if (execution.cancelled()) throw Cancelled();
        execution.report(static_cast<double>(step) / static_cast<double>(n), "merging");
      }
      const Index a = place_of(simd::least(distance_), distance_), b = to_[at(a)];
      out.push_back({slots_.row[at(a)], slots_.row[at(b)], distance_[at(a)]});
      join(a, b);
    }
    return out;
  }

 private:
  /// The nearest after i, of those that are there.
  void look_from(Index i) {
    all_.gather(i, near_);
    distance_[at(i)] = kInfinity;
    to_[at(i)] = -1;
    if (slots_.gone[at(i)] != 0) return;
    for (Index c = i + 1; c < all_.count(); ++c)
      if (slots_.gone[at(c)] == 0 && near_[at(c)] < distance_[at(i)]) {
        distance_[at(i)] = near_[at(c)];
        to_[at(i)] = c;
      }
  }

  void join(Index a, Index b) {
    all_.gather(a, near_);
    all_.gather(b, other_);
    join_rows(linkage_, slots_.size[at(a)], slots_.size[at(b)], distance_[at(a)], slots_.size, other_, near_);
    near_[at(a)] = near_[at(b)] = kInfinity;
    all_.scatter(a, near_);
    slots_.join(a, b);
    const std::vector<double> row = near_;  // look_from has a use for near_
    look_from(b);
    for (Index c = 0; c < b; ++c) {
      if (slots_.gone[at(c)] != 0 || c == a) continue;
      if (to_[at(c)] == a || to_[at(c)] == b) {
        look_from(c);
      } else if (c < a && row[at(c)] < distance_[at(c)]) {
        distance_[at(c)] = row[at(c)];
        to_[at(c)] = a;
      }
    }
    look_from(a);
  }

  Linkage linkage_;
  Triangle all_;
  Slots slots_;
  std::vector<Index> to_;
  std::vector<double> distance_, near_, other_;
};

/// The merges of single linkage are the edges of the minimum spanning tree, the shortest first: O(n) memory besides the rows.
std::vector<Joined> along_spanning_tree(const Dissimilarities& all, const Execution& execution) {
  std::vector<Joined> out;
  for (const Edge& edge : spanning_tree(all, execution)) out.push_back({edge.from, edge.to, edge.weight});
  return out;
}

}  // namespace

Triangle::Triangle(const Dissimilarities& all, double scale, bool squared)
    : count_(all.count()), packed_(all.kept().begin(), all.kept().end()) {
  if (scale != 1)
    for (double& d : packed_) d *= scale;
  if (squared)
    for (double& d : packed_) d *= d;
}

void Triangle::gather(Index i, std::vector<double>& out) const {
  constexpr Index kAhead = 32;  // those before i lie all over the triangle: they are called for before they are needed
  const double* numbers = packed_.data();
  Index place = i - 1, ahead = place;  // of pair (j, i); the next is count − j − 2 farther on
  Index asked = 0;
  for (; asked < std::min(kAhead, i); ++asked) {
    __builtin_prefetch(numbers + ahead);
    ahead += count_ - asked - 2;
  }
  for (Index j = 0; j < i; ++j) {
    if (asked < i) {
      __builtin_prefetch(numbers + ahead);
      ahead += count_ - asked - 2;
      ++asked;
    }
    out[at(j)] = numbers[place];
    place += count_ - j - 2;
  }
  out[at(i)] = kInfinity;
  if (i + 1 < count_) std::copy_n(numbers + pair(i, i + 1), count_ - i - 1, out.data() + i + 1);
}

void Triangle::scatter(Index i, const std::vector<double>& row) {
  Index place = i - 1;
  for (Index j = 0; j < i; ++j) {
    packed_[at(place)] = row[at(j)];
    place += count_ - j - 2;
  }
  if (i + 1 < count_) std::copy_n(row.data() + i + 1, count_ - i - 1, packed_.data() + pair(i, i + 1));
}

Triangle Triangle::of(const std::vector<Index>& some) const {
  Triangle out;
  out.count_ = static_cast<Index>(some.size());
  out.packed_.reserve(at(out.count_ * (out.count_ - 1) / 2));
  for (std::size_t k = 0; k < some.size(); ++k)
    for (std::size_t l = k + 1; l < some.size(); ++l) out.packed_.push_back(packed_[at(pair(some[k], some[l]))]);
  return out;
}

bool works_on_squares(Linkage linkage) {
  return linkage == Linkage::ward || linkage == Linkage::centroid || linkage == Linkage::median;
}
bool may_invert(Linkage linkage) { return linkage == Linkage::centroid || linkage == Linkage::median; }

double unit_of(double greatest) {
  return greatest > 0 ? std::ldexp(1.0, std::clamp(-std::ilogb(greatest), -1000, 1000)) : 1.0;
}

std::vector<Joined> joined_rows(Linkage linkage, const Dissimilarities& all, const Execution& execution) {
  if (linkage == Linkage::single) return along_spanning_tree(all, execution);
  const auto kept = all.kept();
  const double unit = unit_of(*std::max_element(kept.begin(), kept.end()));
  const bool squares = works_on_squares(linkage);
  Triangle triangle(all, unit, squares);
  std::vector<Joined> out = may_invert(linkage) ? NearestPairs(linkage, std::move(triangle)).run(execution)
                                                : Chain(linkage, std::move(triangle)).run(execution);
  for (Joined& each : out) {
    if (linkage == Linkage::ward) each.height = std::sqrt(std::max(0.0, each.height));
    each.height /= may_invert(linkage) ? unit * unit : unit;
  }
  return out;
}

}  // namespace lemma
