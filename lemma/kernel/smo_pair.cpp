// lemma/kernel/smo_pair.cpp
#include <algorithm>
#include <cmath>
#include <lemma/kernel/kernel_cache.hpp>
#include <lemma/kernel/smo_parts.hpp>

namespace lemma::smo {
namespace {

constexpr Index kBetweenLooks = 64;  // steps from one look at the caller's wishes to the next

/// Row i of K, a number for each variable.
class WholeGram {
 public:
  WholeGram(const SignedDual& dual, const Execution& execution) : dual_(dual), gram_(dual.kernel->gram(execution)) {}
  double operator()(Index i, Index j) const { return gram_(dual_.point[at(i)], dual_.point[at(j)]); }
  const double* row(Index i) const { return &gram_(dual_.point[at(i)], 0); }

 private:
  const SignedDual& dual_;
  Matrix gram_;
};

class CachedRows {
 public:
  CachedRows(const SignedDual& dual, double megabytes, const Execution& execution)
      : dual_(dual), cache_(*dual.kernel, megabytes), execution_(execution) {}
  const float* row(Index i) { return cache_.row(dual_.point[at(i)], execution_).data(); }

 private:
  const SignedDual& dual_;
  KernelCache cache_;
  const Execution& execution_;
};

template <class Rows>
class PairDescent {
 public:
  PairDescent(const SignedDual& dual, const SmoOptions& options, const Execution& execution, Rows& rows,
              Descent& descent)
      : dual_(dual), options_(options), execution_(execution), rows_(rows), now_(descent), point_(dual.point.data()) {
    const Vector diagonal = dual.kernel->diagonal();
    diagonal_.resize(dual.size());
    for (Index i = 0; i < dual.size(); ++i) diagonal_(i) = diagonal(point_[i]);
    all_infinite_ = true;
    for (Index i = 0; i < dual.size(); ++i)
      all_infinite_ = all_infinite_ && std::max(dual.high(i), -dual.low(i)) == kInfinity;
    show_all();
  }

  Descent::End run() {
    const Index often = std::min<Index>(dual_.size(), 1000), first_step = now_.steps;
    const double first_violation = extremes(dual_, now_).violation();
    while (true) {
      const Index i = greatest();
      const Index j = i < 0 ? -1 : partner(i);
      if (now_.violation <= options_.tolerance || j < 0) {
        if (std::ssize(shown_) == dual_.size()) return Descent::End::optimal;
        show_all();
        continue;
      }
      if (now_.steps >= options_.most_steps) return Descent::End::steps;
      if (!step(i, j)) return Descent::End::rounding;
      ++now_.steps;
      const Index done = now_.steps - first_step;
      if (done % kBetweenLooks == 0) {
        if (execution_.cancelled()) return Descent::End::cancelled;
        if (done % (64 * kBetweenLooks) == 0) tell(first_violation);
      }
      if (done % often == 0) {
        if (options_.shrinking) shrink();
        if (all_infinite_ && grows_forever()) return Descent::End::unbounded;
      }
    }
  }

 private:
  bool may_grow(Index i) const { return now_.beta(i) < dual_.high(i); }
  bool may_fall(Index i) const { return now_.beta(i) > dual_.low(i); }

  void show_all() {
    shown_.resize(at(dual_.size()));
    for (Index i = 0; i < dual_.size(); ++i) shown_[at(i)] = i;
  }

  Index greatest() const {
    Index best = -1;
    double up = -kInfinity;
    for (const Index i : shown_)
      if (now_.v(i) > up && may_grow(i)) {
        up = now_.v(i);
        best = i;
      }
    return best;
  }

  /// Of the j that may fall, the one with which the objective falls most: (v_i − v_j)² / (K_ii + K_jj − 2K_ij).
  Index partner(Index i) {
    const auto* row = rows_.row(i);
    const double up = now_.v(i);
    double least = kInfinity, most_gain = 0;
    Index best = -1;
    for (const Index j : shown_) {
      if (!may_fall(j)) continue;
      least = std::min(least, now_.v(j));
      const double difference = up - now_.v(j);
      if (difference <= 0) continue;
      const double gain = difference * difference / curvature(i, j, row);
      if (gain > most_gain) {
        most_gain = gain;
        best = j;
      }
    }
    now_.violation = Extremes{up, least}.violation();
    return best;
  }

  double curvature(Index i, Index j, const auto* row) const {
    const double value = diagonal_(i) + diagonal_(j) - 2 * static_cast<double>(row[point_[j]]);
    return value > 0 ? value : kLeastCurvature;
  }

  /// β_i grows by what β_j falls. False when that is too little to be seen.
  bool step(Index i, Index j) {
    const auto *row_i = rows_.row(i), *row_j = rows_.row(j);
    const double room = std::min(dual_.high(i) - now_.beta(i), now_.beta(j) - dual_.low(j));
    const double wanted = (now_.v(i) - now_.v(j)) / curvature(i, j, row_i);
    const double before_i = now_.beta(i), before_j = now_.beta(j), size = std::min(wanted, room);
    now_.beta(i) = size == dual_.high(i) - before_i ? dual_.high(i) : before_i + size;
    now_.beta(j) = size == before_j - dual_.low(j) ? dual_.low(j) : before_j - size;
    if (now_.beta(i) == before_i && now_.beta(j) == before_j) return false;
    for (Index k = 0; k < dual_.size(); ++k)
      now_.v(k) -= size * (static_cast<double>(row_i[point_[k]]) - static_cast<double>(row_j[point_[k]]));
    return true;
  }

  /// What stands at a bound and would be pushed against it harder than by any of the others is not looked at for a while.
  void shrink() {
    Extremes ends;
    for (const Index i : shown_) {
      if (may_grow(i)) ends.up = std::max(ends.up, now_.v(i));
      if (may_fall(i)) ends.low = std::min(ends.low, now_.v(i));
    }
    std::erase_if(shown_, [&](Index i) {
      return (!may_grow(i) && now_.v(i) > ends.up) || (!may_fall(i) && now_.v(i) < ends.low);
    });
  }

  /// Without bounds β may be stretched as a whole, to where the objective is least along it. Of classes that no machine
  /// separates, that goes on forever, and soon proves it.
  bool grows_forever() {
    if (proves_unbounded(dual_, now_, diagonal_.maxCoeff())) return true;
    if (now_.beta.sum() != 0) return false;
    const double slope = dual_.c.dot(now_.beta), bend = slope - now_.v.dot(now_.beta);
    if (!(slope > 0) || !(bend > 0)) return false;
    const double stretch = slope / bend;
    if (!(stretch > 1.5)) return false;
    now_.v = dual_.c - stretch * (dual_.c - now_.v);
    now_.beta *= stretch;
    return false;
  }

  void tell(double first_violation) const {
    if (!(now_.violation > 0) || !(first_violation > options_.tolerance)) return;
    const double way = std::log(first_violation / options_.tolerance);
    execution_.report(std::clamp(1 - std::log(now_.violation / options_.tolerance) / way, 0.0, 1.0),
                      "moving pairs of multipliers");
  }

  const SignedDual& dual_;
  const SmoOptions& options_;
  const Execution& execution_;
  Rows& rows_;
  Descent& now_;
  const Index* point_;
  Vector diagonal_;
  bool all_infinite_ = false;
  std::vector<Index> shown_;
};

template <class Rows>
void run(const SignedDual& dual, const SmoOptions& options, const Execution& execution, Rows rows, Descent& descent) {
  descent.end = PairDescent<Rows>(dual, options, execution, rows, descent).run();
}

}  // namespace

void descend_by_pairs(const SignedDual& dual, const SmoOptions& options, const Execution& execution, Descent& descent) {
  const double points = static_cast<double>(dual.points());
  if (points * points * sizeof(double) <= options.cache_megabytes * 1024 * 1024)
    run(dual, options, execution, WholeGram(dual, Execution{.threads = execution.threads}), descent);
  else run(dual, options, execution, CachedRows(dual, options.cache_megabytes, execution), descent);
}

}  // namespace lemma::smo
