// lemma/cluster/kmedoids/pam.cpp
#include <algorithm>
#include <cmath>
#include <lemma/cluster/kmedoids/pam.hpp>
#include <lemma/cluster/shared/dissimilarity_rows.hpp>
#include <limits>

namespace lemma {
namespace {

constexpr Index kFew = 2000;     // up to so many rows the best exchange of all is made, as by PAM itself
constexpr Index kBlock = 64;     // candidates that are compared with one state of the medoids, beyond
constexpr Index kTogether = 16;  // of them that one thread reads at once
constexpr double kFar = std::numeric_limits<double>::infinity();
// Less than this share of the total is rounding: an exchange for so little could be taken back by the next one.
constexpr double kLeastGain = 1e-12;

Index blocks_of(Index n, Index size) { return (n + size - 1) / size; }

/// visit(candidate, its dissimilarities) for the candidates [first, last), on all threads.
void for_each_candidate(const Dissimilarities& all, Index first, Index last, const Execution& execution,
                        const std::function<void(Index, std::span<const double>)>& visit) {
  const Index n = all.count();
  parallel_for(blocks_of(last - first, kTogether), execution, [&](Index part) {
    const Index from = first + part * kTogether, count = std::min(kTogether, last - from);
    std::vector<double> rows(at(count * n));
    dissimilarity_rows(all, from, count, rows.data());
    for (Index r = 0; r < count; ++r) visit(from + r, {rows.data() + r * n, at(n)});
  });
}

/// The medoids, and of each row the two nearest.
class Medoids {
 public:
  Medoids(const Dissimilarities& all, std::vector<Index> medoids)
      : n_(all.count()),
        of_(std::move(medoids)),
        far_(at(static_cast<Index>(of_.size()) * n_)),
        near_(at(n_)),
        second_(at(n_)),
        d1_(at(n_)),
        d2_(at(n_)) {
    for (Index m = 0; m < k(); ++m) dissimilarity_rows(all, of_[at(m)], 1, far_.data() + m * n_);
    for (Index i = 0; i < n_; ++i) look(i);
    weigh();
  }

  Index k() const { return static_cast<Index>(of_.size()); }
  const std::vector<Index>& of() const { return of_; }
  bool contains(Index row) const { return std::find(of_.begin(), of_.end(), row) != of_.end(); }
  double total() const { return total_; }

  struct Exchange {
    double change = 0;
    Index medoid = -1, row = -1;
  };
  /// The best medoid to give up for a row with these dissimilarities.
  Exchange best_for(Index row, std::span<const double> d) const {
    if (k() == 1) {  // every row goes to the new one
      double sum = 0;
      for (const double each : d) sum += each;
      return {sum - total_, 0, row};
    }
    std::vector<double> change = loss_;
    double gained = 0;
    for (Index i = 0; i < n_; ++i) {
      const double to = d[at(i)];
      if (to >= d2_[at(i)]) continue;
      if (to < d1_[at(i)]) {
        gained += to - d1_[at(i)];
        change[at(near_[at(i)])] += d1_[at(i)] - d2_[at(i)];
      } else {
        change[at(near_[at(i)])] += to - d2_[at(i)];
      }
    }
    const auto least = std::min_element(change.begin(), change.end());
    return {gained + *least, least - change.begin(), row};
  }

  void exchange(const Exchange& how, std::span<const double> d) {
    of_[at(how.medoid)] = how.row;
    std::copy(d.begin(), d.end(), far_.begin() + how.medoid * n_);
    for (Index i = 0; i < n_; ++i) {
      if (near_[at(i)] == how.medoid || second_[at(i)] == how.medoid || d[at(i)] <= d2_[at(i)]) look(i);
    }
    weigh();
  }

 private:
  /// The two nearest medoids of row i, the first of equals.
  void look(Index i) {
    Index first = 0, second = -1;
    double d1 = kFar, d2 = kFar;
    for (Index m = 0; m < k(); ++m) {
      const double to = far_[at(m * n_ + i)];
      if (to < d1) {
        d2 = d1, second = first;
        d1 = to, first = m;
      } else if (to < d2) {
        d2 = to, second = m;
      }
    }
    near_[at(i)] = first, second_[at(i)] = second;
    d1_[at(i)] = d1, d2_[at(i)] = d2;
  }

  /// What giving up each medoid costs, and the total.
  void weigh() {
    loss_.assign(of_.size(), 0.0);
    total_ = 0;
    for (Index i = 0; i < n_; ++i) {
      total_ += d1_[at(i)];
      loss_[at(near_[at(i)])] += d2_[at(i)] - d1_[at(i)];
    }
  }

  Index n_;
  std::vector<Index> of_;
  std::vector<double> far_;  // (medoid, row)
  std::vector<Index> near_, second_;
  std::vector<double> d1_, d2_, loss_;
  double total_ = 0;
};

/// The best exchange with one of the candidates [first, last); of equals the first.
Medoids::Exchange best_in(const Dissimilarities& all, const Medoids& medoids, Index first, Index last,
                          const Execution& loops) {
  std::vector<Medoids::Exchange> found(at(last - first));
  for_each_candidate(all, first, last, loops, [&](Index row, std::span<const double> d) {
    if (!medoids.contains(row)) found[at(row - first)] = medoids.best_for(row, d);
  });
  Medoids::Exchange best;
  for (const auto& each : found)
    if (each.row >= 0 && each.change < best.change) best = each;
  return best;
}

}  // namespace

std::vector<Index> pam_build(const Dissimilarities& all, Index k, const Execution& execution) {
  const Index n = all.count();
  std::vector<Index> medoids;
  std::vector<double> nearest(at(n), kFar), gain(at(n)), row(at(n));
  for (Index step = 0; step < k; ++step) {
    const Execution part = execution.part(static_cast<double>(step) / static_cast<double>(k),
                                          static_cast<double>(step + 1) / static_cast<double>(k), "first medoids");
    for_each_candidate(all, 0, n, part, [&](Index candidate, std::span<const double> d) {
      double sum = 0;
      if (step == 0)
        for (Index i = 0; i < n; ++i) sum -= d[at(i)];
      else
        for (Index i = 0; i < n; ++i) sum += std::max(0.0, nearest[at(i)] - d[at(i)]);
      gain[at(candidate)] = sum;
    });
    for (const Index each : medoids) gain[at(each)] = -kFar;
    medoids.push_back(std::max_element(gain.begin(), gain.end()) - gain.begin());
    all.row(medoids.back(), row);
    for (Index i = 0; i < n; ++i) nearest[at(i)] = std::min(nearest[at(i)], row[at(i)]);
  }
  std::sort(medoids.begin(), medoids.end());
  return medoids;
}

PamRun pam(const Dissimilarities& all, std::vector<Index> start, Index most_passes, const Execution& execution) {
  const Index n = all.count(), size = n <= kFew ? n : kBlock, blocks = blocks_of(n, size);
  Medoids medoids(all, std::move(start));
  PamRun out;
  const Execution loops{.threads = execution.threads};
  std::vector<double> row(at(n));
  Index quiet = 0;  // blocks in a row without an exchange
  for (Index step = 0; quiet < blocks && step < most_passes * blocks; ++step) {
    const Index first = step % blocks * size, last = std::min(n, first + size);
    execution.report(static_cast<double>(quiet) / static_cast<double>(blocks), "exchanges");
    ++quiet;
    while (!execution.cancelled()) {
      const auto best = best_in(all, medoids, first, last, loops);
      if (best.row < 0 || !(best.change < -kLeastGain * medoids.total())) break;
      all.row(best.row, row);
      medoids.exchange(best, row);
      ++out.exchanges;
      quiet = 1;
    }
    out.passes = step / blocks + 1;
    if ((out.cancelled = execution.cancelled())) break;
  }
  out.finished = quiet >= blocks && !out.cancelled;
  out.medoids = medoids.of();
  std::sort(out.medoids.begin(), out.medoids.end());
  out.total = medoids.total();
  return out;
}

Index distinct_things(const Dissimilarities& all, Index enough) {
  std::vector<double> nearest(at(all.count()), kFar), row(at(all.count()));
  Index count = 0;
  for (Index i = 0; i < all.count() && count < enough; ++i) {
    if (nearest[at(i)] == 0) continue;
    ++count;
    all.row(i, row);
    for (Index j = 0; j < all.count(); ++j) nearest[at(j)] = std::min(nearest[at(j)], row[at(j)]);
  }
  return count;
}

}  // namespace lemma
