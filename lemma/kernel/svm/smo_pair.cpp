// lemma/kernel/svm/smo_pair.cpp
#include <lemma/kernel/svm/cache.hpp>
#include <lemma/kernel/svm/smo_pair.hpp>

namespace lemma::smo {
namespace {

DenseRows<double> whole_gram(const SignedDual& dual, const Execution& execution) {
  const Matrix gram = dual.kernel->gram(execution);
  DenseRows<double> rows{Matrix::Zero(dual.size(), simd::padded_to_pairs(dual.size()))};
  for (Index i = 0; i < dual.size(); ++i)
    for (Index j = 0; j < dual.size(); ++j) rows.numbers(i, j) = gram(dual.point[at(i)], dual.point[at(j)]);
  return rows;
}

/// Rows made when they are asked for.
class CachedRows {
 public:
  CachedRows(const SignedDual& dual, double megabytes, const Execution& execution)
      : dual_(dual),
        cache_(dual.points(), simd::padded_to_pairs(dual.size()), megabytes),
        threads_(execution.threads) {}

  const float* operator()(Index i) {
    const Index point = dual_.point[at(i)];
    if (const float* row = cache_.find(point)) return row;
    float* const row = cache_.claim(point);
    fill(point, row);
    return row;
  }

 private:
  void fill(Index point, float* out) {
    constexpr Index kTile = 4096;
    const std::array which{point};
    values_.resize(1, dual_.points());
    parallel_for((values_.cols() + kTile - 1) / kTile, Execution{.threads = threads_}, [&](Index tile) {
      const Index first = tile * kTile;
      dual_.kernel->own_block(which, first, values_.middleCols(first, std::min(kTile, values_.cols() - first)));
    });
    for (Index j = 0; j < dual_.size(); ++j) out[j] = static_cast<float>(values_(0, dual_.point[at(j)]));
    std::fill(out + dual_.size(), out + simd::padded_to_pairs(dual_.size()), 0.0F);
  }

  const SignedDual& dual_;
  KernelCache cache_;
  std::optional<int> threads_;
  Matrix values_;
};

template <class Rows>
void run(const SignedDual& dual, const SmoOptions& options, const Execution& execution, Rows rows, Descent& descent) {
  const Vector diagonal = dual.diagonal();
  const double first_violation = extremes(dual, descent).violation();
  const bool may_grow_forever = dual.is_without_bounds();
  PairDescent<Rows> pairs(dual.low, dual.high, diagonal, descent.beta, descent.v);
  Index looks = 0;
  const auto keep = [&] {
    descent.beta = pairs.beta();
    descent.v = pairs.v();
    descent.violation = pairs.violation();
  };
  const auto look = [&]() -> std::optional<Descent::End> {
    if (execution.cancelled()) return Descent::End::cancelled;
    if (++looks % 16 != 0) return {};
    tell(pairs.violation(), first_violation, options, execution);
    if (!may_grow_forever) return {};
    keep();
    const double factor = best_stretch(dual, descent, diagonal.maxCoeff());
    if (factor == kInfinity) return Descent::End::unbounded;
    if (factor > 1.5) pairs.stretch(factor, dual.c);
    return {};
  };
  constexpr Index kStepsBetweenLooks = 64;
  descent.end = pairs.run(rows, options.tolerance, options.most_steps - descent.steps, kStepsBetweenLooks, look);
  descent.steps += pairs.steps();
  keep();
}

}  // namespace

void descend_by_pairs(const SignedDual& dual, const SmoOptions& options, const Execution& execution, Descent& descent) {
  const double twice = 2 * sizeof(double) * static_cast<double>(dual.size()) * static_cast<double>(dual.size());
  if (twice <= options.cache_megabytes * 1024 * 1024)
    run(dual, options, execution, whole_gram(dual, Execution{.threads = execution.threads}), descent);
  else run(dual, options, execution, CachedRows(dual, options.cache_megabytes, execution), descent);
}

}  // namespace lemma::smo
