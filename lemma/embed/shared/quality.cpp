// lemma/embed/shared/quality.cpp: how good a picture is.
#include <algorithm>
#include <array>
#include <cmath>
#include <lemma/core/random.hpp>
#include <lemma/embed/shared/embedded.hpp>
#include <lemma/math/simd/ranks.hpp>
#include <limits>
#include <numeric>

namespace lemma {
namespace {

constexpr Index kNeighbors = 10;
constexpr Index kGroups = 10;

/// The things looked at: all, or a sample that never changes.
std::vector<Index> looked_at(Index count) {
  if (count <= Quality::kMostExact) {
    std::vector<Index> all(at(count));
    std::iota(all.begin(), all.end(), Index{0});
    return all;
  }
  RandomStream stream(1);
  auto some = sample_without_replacement(stream, count, Quality::kMostExact);
  std::sort(some.begin(), some.end());
  return some;
}

/// The k nearest, in the order of their numbers. Of a thing itself `far` is infinite.
std::vector<Index> nearest(std::span<const double> far, Index k) {
  std::vector<Index> out(at(k));
  simd::smallest(far, out);
  std::sort(out.begin(), out.end());
  return out;
}

/// Σ (rank by `far` − k) over those of `others` that are not among the k nearest by `far`.
double ranks_beyond(std::span<const double> far, const std::vector<Index>& near, const std::vector<Index>& others) {
  Index sum = 0;
  for (const Index j : others)
    if (!std::binary_search(near.begin(), near.end(), j))
      sum += simd::rank_of(far, j) + 1 - static_cast<Index>(near.size());
  return static_cast<double>(sum);
}

/// The things that are looked at, by their numbers among those: dissimilarities, distances of their places, weights.
class Looked {
 public:
  Looked(const Dissimilarities& things, const std::vector<double>& weight, const Matrix& places,
         const Execution& execution)
      : which_(looked_at(things.count())),
        things_(things),
        weight_(weight),
        places_(Dissimilarities::on_demand(Matrix(places(which_, Eigen::all)), Metric(), {}, execution)) {}

  Index count() const { return static_cast<Index>(which_.size()); }
  bool are_all() const { return count() == things_.count(); }

  void distances(Index i, std::vector<double>& out) const { places_.row(i, out); }
  void dissimilarities(Index i, std::vector<double>& out) const {
    if (are_all()) return things_.row(i, out);
    std::vector<double> row(at(things_.count()));
    things_.row(which_[at(i)], row);
    for (Index j = 0; j < count(); ++j) out[at(j)] = row[at(which_[at(j)])];
  }
  /// Those to things behind i.
  void later_distances(Index i, std::vector<double>& out) const { later(places_, i, out); }
  void later_dissimilarities(Index i, std::vector<double>& out) const {
    if (are_all()) later(things_, i, out);
    else dissimilarities(i, out);
  }
  bool has_weights() const { return !weight_.empty(); }
  /// Of the pairs of i and things behind it.
  void later_weights(Index i, std::vector<double>& out) const {
    for (Index j = i + 1; j < count(); ++j) out[at(j)] = weight_[at(things_.pair(which_[at(i)], which_[at(j)]))];
  }

 private:
  static void later(const Dissimilarities& from, Index i, std::vector<double>& out) {
    const Index n = from.count();
    if (i + 1 >= n) return;
    if (from.is_kept()) {
      std::copy_n(from.kept().data() + from.pair(i, i + 1), n - i - 1, &out[at(i + 1)]);
      return;
    }
    constexpr Index kPanels = 64;
    const PackedPoints& points = *from.points();
    std::vector<double> x(at(points.metric().width())), tile(at(kPanels * simd::kPanel));
    points.unpack(i, x.data());
    for (Index k = (i + 1) / simd::kPanel; k < points.panels(); k += kPanels) {
      const Index panels = std::min(kPanels, points.panels() - k), first = k * simd::kPanel;
      points.distances(x.data(), 1, k, panels, tile.data());
      std::copy_n(tile.data(), std::min(panels * simd::kPanel, n - first), out.data() + first);
    }
  }

  std::vector<Index> which_;
  const Dissimilarities& things_;
  const std::vector<double>& weight_;
  Dissimilarities places_;
};

struct OfOne {
  double false_neighbors = 0, torn = 0, kept = 0;
  double cross = 0, of_things = 0, of_places = 0;  // Σ wδd, Σ wδ², Σ wd² over the pairs i < j
};

/// Counts of pairs by δ, in bins of one width: exact whatever the width, which is taken from one row.
class Bins {
 public:
  static constexpr std::size_t kCount = std::size_t{1} << 15;
  explicit Bins(double widest) : scale_(widest > 0 ? kCount / (2 * widest) : 0) {}
  std::size_t of(double far) const {
    const double bin = far * scale_;
    return bin < kCount ? static_cast<std::size_t>(bin) : kCount - 1;
  }

 private:
  double scale_;
};

/// Mean and squares about it, of numbers that come in parts.
struct Moment {
  double count = 0, far = 0, mean = 0, squares = 0;  // far: Σδ
  void merge(const Moment& other) {
    if (other.count == 0) return;
    const double all = count + other.count, apart = other.mean - mean;
    squares += other.squares + apart * apart * (count * other.count / all);
    mean += apart * (other.count / all);
    far += other.far;
    count = all;
  }
};

struct Pair {
  double far, distance;
  auto key() const { return std::pair(far, distance); }
};

/// Pairs in the order of (δ, d), parted into groups of one size. A bin that a border cuts is sorted; others lie in one group.
class Groups {
 public:
  Groups(const std::vector<std::uint32_t>& bins, Index count) : of_bin_(bins.size(), 0), starts_(bins.size()) {
    Index known = 0;
    for (const auto each : bins) known += each;
    for (Index g = 0; g <= count; ++g) borders_.push_back(g * known / std::max<Index>(1, count));
    Index from = 0, group = 0;
    for (std::size_t b = 0; b < bins.size(); ++b) {
      starts_[b] = from;
      from += bins[b];
      while (group + 1 < count && borders_[at(group + 1)] <= starts_[b]) ++group;
      const bool cut = group + 1 < count && borders_[at(group + 1)] < from;
      of_bin_[b] = cut ? kCut : static_cast<std::uint8_t>(group);
    }
  }
  static constexpr std::uint8_t kCut = 255;
  std::uint8_t of(std::size_t bin) const { return of_bin_[bin]; }
  /// Of the pair that is `place`-th among those of the bin.
  Index of(std::size_t bin, Index place) const {
    const auto next = std::upper_bound(borders_.begin(), borders_.end() - 1, starts_[bin] + place);
    return static_cast<Index>(next - borders_.begin()) - 1;
  }

 private:
  std::vector<std::uint8_t> of_bin_;
  std::vector<Index> starts_, borders_;
};

/// The numbers behind the i-th.
Eigen::Map<const Vector> behind(Index i, const std::vector<double>& x) {
  return {x.data() + i + 1, static_cast<Index>(x.size()) - i - 1};
}

constexpr Index kTables = 32;  // counts that rows share: row i is in table i mod kTables

}  // namespace

Quality quality_of(const Dissimilarities& things, const std::vector<double>& weight, const Matrix& places,
                   const Execution& execution) {
  const Looked look(things, weight, places, execution.part(0, 0));
  const Index n = look.count(), tables = std::min(kTables, n);
  const bool all_known = std::none_of(weight.begin(), weight.end(), [](double w) { return w == 0; });
  Quality out;
  out.neighbors = std::clamp<Index>((n - 1) / 2, 1, kNeighbors);
  std::vector<double> first(at(n));
  look.dissimilarities(0, first);
  const Bins bins(*std::max_element(first.begin(), first.end()));
  std::vector<OfOne> of(at(n));
  std::vector<std::vector<std::uint32_t>> counts(at(tables));
  parallel_for(tables, execution.part(0, 0.6), [&](Index table) {
    std::vector<std::uint32_t>& count = counts[at(table)];
    count.assign(Bins::kCount, 0);
    std::vector<double> far(at(n)), distance(at(n)), weights(at(n), 1.0);
    for (Index i = table; i < n; i += tables) {
      if (execution.cancelled()) throw Cancelled();
      look.dissimilarities(i, far);
      look.distances(i, distance);
      OfOne& one = of[at(i)];
      const auto d = behind(i, far), e = behind(i, distance);
      if (look.has_weights()) {
        look.later_weights(i, weights);
        const auto w = behind(i, weights);
        one.cross = (w.array() * d.array() * e.array()).sum();
        one.of_things = (w.array() * d.array().square()).sum();
        one.of_places = (w.array() * e.array().square()).sum();
      } else {
        one.cross = d.dot(e), one.of_things = d.squaredNorm(), one.of_places = e.squaredNorm();
      }
      for (Index j = i + 1; j < n; ++j)
        if (weights[at(j)] != 0) ++count[bins.of(far[at(j)])];
      if (!all_known) continue;
      far[at(i)] = distance[at(i)] = HUGE_VAL;
      const auto near = nearest(far, out.neighbors), seen = nearest(distance, out.neighbors);
      one.false_neighbors = ranks_beyond(far, near, seen);
      one.torn = ranks_beyond(distance, seen, near);
      for (const Index j : seen) one.kept += std::binary_search(near.begin(), near.end(), j) ? 1 : 0;
    }
  });
  OfOne sum;
  for (const OfOne& one : of) {
    sum.false_neighbors += one.false_neighbors;
    sum.torn += one.torn;
    sum.kept += one.kept;
    sum.cross += one.cross;
    sum.of_things += one.of_things;
    sum.of_places += one.of_places;
  }
  const auto count = static_cast<double>(n), k = static_cast<double>(out.neighbors);
  const double room = count * k * (2 * count - 3 * k - 1);
  const double none = std::numeric_limits<double>::quiet_NaN();
  out.trustworthiness = !all_known ? none : room > 0 ? 1 - 2 * sum.false_neighbors / room : 1;
  out.continuity = !all_known ? none : room > 0 ? 1 - 2 * sum.torn / room : 1;
  out.kept_neighbors = all_known ? sum.kept / (count * k) : none;

  for (Index table = 1; table < tables; ++table)
    for (std::size_t b = 0; b < Bins::kCount; ++b) counts[0][b] += counts[at(table)][b];
  Index known = 0;
  for (const auto each : counts[0]) known += each;
  const Index of_all = std::min(kGroups, known);
  const Groups groups(counts[0], of_all);
  const double scale = sum.of_things > 0 ? sum.cross / sum.of_things : 0;
  struct Second {
    double left = 0;  // Σ w (bδ − d)²
    std::vector<Moment> moments;
    std::vector<Pair> cut;
  };
  std::vector<Second> seconds(at(n));
  parallel_for(tables, execution.part(0.6, 1), [&](Index table) {
    std::vector<double> far(at(n)), distance(at(n)), weights(at(n), 1.0);
    std::vector<std::uint8_t> group(at(n));
    for (Index i = table; i < n; i += tables) {
      if (execution.cancelled()) throw Cancelled();
      look.later_dissimilarities(i, far);
      look.later_distances(i, distance);
      Second& second = seconds[at(i)];
      std::array<std::array<Moment, kGroups>, 2>
          moments;  // of every other pair, so that one sum need not wait for the last
      if (look.has_weights()) look.later_weights(i, weights);
      second.left =
          (behind(i, weights).array() * (scale * behind(i, far) - behind(i, distance)).array().square()).sum();
      for (Index j = i + 1; j < n; ++j) {
        group[at(j)] = weights[at(j)] != 0 ? groups.of(bins.of(far[at(j)])) : Groups::kCut;
        if (group[at(j)] != Groups::kCut) {
          Moment& moment = moments[at(j % 2)][group[at(j)]];
          moment.count += 1, moment.far += far[at(j)], moment.mean += distance[at(j)];
        } else if (weights[at(j)] != 0) {
          second.cut.push_back({far[at(j)], distance[at(j)]});
        }
      }
      for (auto& half : moments)
        for (Moment& moment : half) moment.mean /= std::max(1.0, moment.count);
      for (Index j = i + 1; j < n; ++j) {
        if (group[at(j)] == Groups::kCut) continue;
        Moment& moment = moments[at(j % 2)][group[at(j)]];
        const double off = distance[at(j)] - moment.mean;
        moment.squares += off * off;
      }
      for (Index g = 0; g < kGroups; ++g) moments[0][at(g)].merge(moments[1][at(g)]);
      second.moments.assign(moments[0].begin(), moments[0].end());
    }
  });
  double left = 0;
  std::vector<Moment> moments(at(kGroups));
  std::vector<Pair> cut;
  for (const Second& second : seconds) {
    left += second.left;
    for (Index g = 0; g < kGroups; ++g) moments[at(g)].merge(second.moments[at(g)]);
    cut.insert(cut.end(), second.cut.begin(), second.cut.end());
  }
  std::sort(cut.begin(), cut.end(), [](const Pair& a, const Pair& b) { return a.key() < b.key(); });
  for (std::size_t p = 0, begin = 0; p < cut.size(); ++p) {
    const std::size_t bin = bins.of(cut[p].far);
    if (p > 0 && bin != bins.of(cut[p - 1].far)) begin = p;
    moments[at(groups.of(bin, static_cast<Index>(p - begin)))].merge({1, cut[p].far, cut[p].distance, 0});
  }
  out.stress_1 = sum.of_places > 0 ? std::sqrt(left / sum.of_places) : 1;
  out.shepard.resize(of_all, 3);
  for (Index g = 0; g < of_all; ++g) {
    const Moment& moment = moments[at(g)];
    out.shepard.row(g) << moment.far / moment.count, moment.mean,
        moment.count > 1 ? std::sqrt(moment.squares / (moment.count - 1)) : 0.0;
  }
  return out;
}

}  // namespace lemma
