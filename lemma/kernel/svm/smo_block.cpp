// lemma/kernel/svm/smo_block.cpp: a part of the variables, its kernel matrix dense in memory, solved by pairs; then one sweep
// over all points brings v up to date. While many variables are still to find their place the part is a few hundred of
// those furthest from it; once all that are free or misplaced fit in memory it is all of these.
#include <algorithm>
#include <lemma/core/error.hpp>
#include <lemma/kernel/svm/smo_pair.hpp>
#include <lemma/kernel/svm/smo_rows.hpp>

namespace lemma::smo {
namespace {

constexpr Index kFew = 512;    // variables at a time in the beginning
constexpr Index kMost = 8192;  // and in the end, if their kernel matrix fits in the cache
constexpr Index kAtLeast = 1024;
constexpr Index kPatience = 64;  // parts, before they get larger
constexpr Index kMostOfFew = 2048;

/// The chosen variables' own problem.
struct Part {
  std::vector<Index> variable, point;
  Vector low, high, diagonal, beta, v;

  Part(const SignedDual& dual, const Vector& diagonals, const Descent& descent, std::vector<Index> chosen)
      : variable(std::move(chosen)) {
    const auto of = [&](const Vector& all) {
      Vector out(std::ssize(variable));
      for (Index k = 0; k < out.size(); ++k) out(k) = all(variable[at(k)]);
      return out;
    };
    for (const Index i : variable) point.push_back(dual.point[at(i)]);
    low = of(dual.low);
    high = of(dual.high);
    diagonal = of(diagonals);
    beta = of(descent.beta);
    v = of(descent.v);
  }
  Index size() const { return std::ssize(variable); }
};

template <class T>
class BlockDescent {
 public:
  BlockDescent(const SignedDual& dual, const SmoOptions& options, const Execution& execution, RowSource& rows,
               Descent& descent)
      : dual_(dual), options_(options), execution_(execution), rows_(rows), now_(descent), diagonal_(dual.diagonal()) {
    f_ = Vector::Zero(dual.points());
    for (Index i = 0; i < dual.size(); ++i) f_(dual.point[at(i)]) = dual.c(i) - descent.v(i);
    const double megabytes = options.cache_megabytes / (rows.are_exact() ? 1 : 2);  // the rest is the rows'
    const auto in_cache = static_cast<Index>(std::sqrt(megabytes * 1024 * 1024 / sizeof(T)));
    const Index enough = std::max(kAtLeast, 2 * dual.size() / 5);  // more takes longer than to go on with a few
    most_ = std::max<Index>(2, std::min({kMost, in_cache / simd::kPairStep * simd::kPairStep, rows.most(), enough}));
    few_ = std::min(most_, kFew);
  }

  Descent::End run() {
    const double first_violation = extremes(dual_, now_).violation();
    const bool without_bounds = dual_.is_without_bounds();
    while (true) {
      const Extremes ends = extremes(dual_, now_);
      now_.violation = ends.violation();
      if (now_.violation <= options_.tolerance) return Descent::End::optimal;
      if (now_.steps >= options_.most_steps) return Descent::End::steps;
      if (execution_.cancelled()) return Descent::End::cancelled;
      tell(now_.violation, first_violation, options_, execution_);
      try {
        if (!improve(ends)) return Descent::End::rounding;
      } catch (const Cancelled&) { return Descent::End::cancelled; }
      if (without_bounds && !stretch()) return Descent::End::unbounded;
      if (stands_still()) return Descent::End::rounding;
    }
  }

 private:
  bool may_grow(Index i) const { return now_.beta(i) < dual_.high(i); }
  bool may_fall(Index i) const { return now_.beta(i) > dual_.low(i); }

  /// One part is solved, and all follow. False when nothing moved.
  bool improve(const Extremes& ends) {
    const Part part(dual_, diagonal_, now_, choose(ends));
    gram_.numbers.resize(part.size(), simd::padded_to_pairs(part.size()));
    rows_.gram(part.point, gram_.numbers);
    PairDescent<DenseRows<T>> pairs(part.low, part.high, part.diagonal, part.beta, part.v);
    // a part among others that must move too need not be exact
    const double enough =
        holds_all_ ? 0.5 * options_.tolerance : std::max(0.5 * options_.tolerance, 0.1 * now_.violation);
    const Index steps = std::min(100 * part.size(), options_.most_steps - now_.steps);
    pairs.run(gram_, enough, steps, 1024,
              [&] { return execution_.cancelled() ? std::optional(Descent::End::cancelled) : std::nullopt; });
    now_.steps += pairs.steps();
    return take_over(part, pairs.beta());
  }

  bool take_over(const Part& part, const Vector& beta) {
    std::vector<Index> moved;
    std::vector<double> by;
    for (Index k = 0; k < part.size(); ++k) {
      if (beta(k) == part.beta(k)) continue;
      now_.beta(part.variable[at(k)]) = beta(k);
      moved.push_back(part.point[at(k)]);
      by.push_back(beta(k) - part.beta(k));
    }
    rows_.add(moved, by, f_);
    for (Index i = 0; i < dual_.size(); ++i) now_.v(i) = dual_.c(i) - f_(dual_.point[at(i)]);
    return !moved.empty();
  }

  /// All that are free or misplaced, if they have room; else the worst of these, and free ones of the last part.
  std::vector<Index> choose(const Extremes& ends) {
    std::vector<Index> up, low;
    for (Index i = 0; i < dual_.size(); ++i) {
      const bool grows = may_grow(i), falls = may_fall(i);
      if (grows && (falls || now_.v(i) > ends.low)) up.push_back(i);
      else if (falls && now_.v(i) < ends.up) low.push_back(i);
    }
    holds_all_ = options_.shrinking && std::ssize(up) + std::ssize(low) <= most_;
    if (holds_all_) {
      last_.clear();
      up.insert(up.end(), low.begin(), low.end());
      std::ranges::sort(up);
      return up;
    }
    for (const Index i : up)
      if (may_fall(i)) low.push_back(i);
    keep_first(up, [&](Index a, Index b) { return now_.v(a) != now_.v(b) ? now_.v(a) > now_.v(b) : a < b; });
    keep_first(low, [&](Index a, Index b) { return now_.v(a) != now_.v(b) ? now_.v(a) < now_.v(b) : a < b; });
    last_ = worst_and_kept(up, low);
    if (++parts_ % kPatience == 0) few_ = std::min({2 * few_, kMostOfFew, most_});
    return last_;
  }

  void keep_first(std::vector<Index>& list, auto&& before) const {
    const auto end = list.begin() + std::min(std::ssize(list), few_);
    std::partial_sort(list.begin(), end, list.end(), before);
    list.erase(end, list.end());
  }

  std::vector<Index> worst_and_kept(const std::vector<Index>& up, const std::vector<Index>& low) const {
    std::vector<bool> is_in(at(dual_.size()), false);
    std::vector<Index> next;
    const auto add = [&](Index i, Index most) {
      if (std::ssize(next) >= most || is_in[at(i)]) return;
      is_in[at(i)] = true;
      next.push_back(i);
    };
    const auto add_worst = [&](Index most) {
      for (std::size_t k = 0; k < std::max(up.size(), low.size()) && std::ssize(next) < most; ++k) {
        if (k < up.size()) add(up[k], most);
        if (k < low.size()) add(low[k], most);
      }
    };
    add_worst(std::max<Index>(2, few_ / 2));
    for (const Index i : last_)
      if (may_grow(i) && may_fall(i)) add(i, few_);
    add_worst(few_);
    return next;
  }

  /// False when β proves that there is no end.
  bool stretch() {
    const double factor = best_stretch(dual_, now_, diagonal_.maxCoeff());
    if (factor == kInfinity) return false;
    if (!(factor > 1.5)) return true;
    now_.beta *= factor;
    f_ *= factor;
    for (Index i = 0; i < dual_.size(); ++i) now_.v(i) = dual_.c(i) - f_(dual_.point[at(i)]);
    return true;
  }

  /// The objective has not fallen for a while, by no more than its rounding.
  bool stands_still() {
    const double objective = -0.5 * (now_.beta.dot(dual_.c) + now_.beta.dot(now_.v));
    if (objective < least_ - 1e-14 * std::abs(objective)) {
      least_ = objective;
      idle_ = 0;
    }
    return ++idle_ > 30;
  }

  const SignedDual& dual_;
  const SmoOptions& options_;
  const Execution& execution_;
  RowSource& rows_;
  Descent& now_;
  Vector diagonal_, f_;
  Index few_ = 0, most_ = 0, parts_ = 0;
  bool holds_all_ = false;
  std::vector<Index> last_;
  DenseRows<T> gram_;
  double least_ = kInfinity;
  int idle_ = 0;
};

}  // namespace

void descend_by_blocks(const SignedDual& dual, const SmoOptions& options, const Execution& execution,
                       Descent& descent) {
  // float32 values are wrong by 6e-8, and v by that times what β may move
  const double reach = std::max(dual.high.maxCoeff(), -dual.low.minCoeff());
  const bool float_will_do = options.tolerance >= 1e-6 * reach;
  const auto rows = make_rows(dual, options, execution, float_will_do);
  if (float_will_do) descent.end = BlockDescent<float>(dual, options, execution, *rows, descent).run();
  else descent.end = BlockDescent<double>(dual, options, execution, *rows, descent).run();
  descent.v_is_exact = rows->are_exact();
}

}  // namespace lemma::smo
