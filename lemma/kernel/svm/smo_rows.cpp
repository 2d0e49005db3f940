// lemma/kernel/svm/smo_rows.cpp
#include <algorithm>
#include <lemma/kernel/svm/cache.hpp>
#include <lemma/kernel/svm/smo_rows.hpp>
#include <lemma/math/simd/pairs.hpp>
#include <numeric>

namespace lemma::smo {
namespace {

constexpr Index kTile = 512;  // columns
Index tiles(Index count, Index size) { return (count + size - 1) / size; }

/// Made anew each time.
class FreshRows final : public RowSource {
 public:
  FreshRows(const BoundKernel& kernel, const Execution& execution)
      : kernel_(kernel), threads_(execution.threads), progress_(execution.progress) {}

  Index most() const override { return std::numeric_limits<Index>::max(); }
  bool are_exact() const override { return true; }
  void gram(std::span<const Index> which, Square<float>& out) override { fill(which, out); }
  void gram(std::span<const Index> which, Square<double>& out) override { fill(which, out); }

  void add(std::span<const Index> which, std::span<const double> weight, Vector& f) override {
    parallel_for(tiles(f.size(), kTile), {.threads = threads_}, [&](Index tile) {
      const Index first = tile * kTile, columns = std::min(kTile, f.size() - first);
      kernel_.add_own(which, weight, first, {f.data() + first, at(columns)});
    });
  }

 private:
  /// The upper triangle in tiles, and its mirror image.
  template <class T>
  void fill(std::span<const Index> which, Square<T>& out) const {
    constexpr Index kSide = 64;
    const Index n = std::ssize(which), across = tiles(n, kSide);
    const BoundKernel some(kernel_.kernel(), kernel_.points().select(which));
    parallel_for(across, {.threads = threads_, .progress = progress_}, [&](Index strip) {
      const Index from = strip * kSide, rows = std::min(kSide, n - from);
      std::vector<Index> own(at(rows));
      std::iota(own.begin(), own.end(), from);
      Matrix block(rows, kSide);
      for (Index to = from; to < n; to += kSide) {
        const Index columns = std::min(kSide, n - to);
        some.own_block(own, to, block.leftCols(columns));
        out.block(from, to, rows, columns) = block.leftCols(columns).template cast<T>();
        if (to > from) out.block(to, from, columns, rows) = block.leftCols(columns).transpose().template cast<T>();
      }
      out.block(from, n, rows, out.cols() - n).setZero();
    });
  }

  const BoundKernel& kernel_;
  std::optional<int> threads_;
  Progress* progress_;
};

/// Kept as float32.
class CachedRows final : public RowSource {
 public:
  CachedRows(const BoundKernel& kernel, KernelCache& cache, const Execution& execution)
      : kernel_(kernel), cache_(cache), threads_(execution.threads), progress_(execution.progress) {}

  Index most() const override { return cache_.most(); }
  bool are_exact() const override { return false; }
  void gram(std::span<const Index> which, Square<float>& out) override { gather(which, out); }
  void gram(std::span<const Index> which, Square<double>& out) override { gather(which, out); }

  void add(std::span<const Index> which, std::span<const double> weight, Vector& f) override {
    std::vector<const float*> rows;
    for (const Index point : which) rows.push_back(cache_.find(point));
    parallel_for(tiles(f.size(), kTile), {.threads = threads_}, [&](Index tile) {
      const Index first = tile * kTile, columns = std::min(kTile, f.size() - first);
      simd::add_weighted(rows, weight, first, {f.data() + first, at(columns)});
    });
  }

 private:
  void prepare(std::span<const Index> which) {
    std::vector<Index> missing;
    for (const Index point : which)
      if (!cache_.find(point)) missing.push_back(point);
    std::ranges::sort(missing);
    missing.erase(std::unique(missing.begin(), missing.end()), missing.end());
    std::vector<float*> rows;
    for (const Index point : missing) rows.push_back(cache_.claim(point));
    try {
      fill(missing, rows);
    } catch (...) {
      for (const Index point : missing) cache_.forget(point);
      throw;
    }
  }

  void fill(std::span<const Index> which, const std::vector<float*>& rows) const {
    constexpr std::size_t kRows = 256;
    const Index n = kernel_.count();
    parallel_for(tiles(n, kTile), {.threads = threads_, .progress = progress_}, [&](Index tile) {
      const Index first = tile * kTile, columns = std::min(kTile, n - first);
      Matrix block(static_cast<Index>(std::min(kRows, which.size())), columns);
      for (std::size_t from = 0; from < which.size(); from += kRows) {
        const auto some = which.subspan(from, std::min(kRows, which.size() - from));
        kernel_.own_block(some, first, block.topRows(std::ssize(some)));
        for (Index i = 0; i < std::ssize(some); ++i)
          std::ranges::transform(std::span(&block(i, 0), at(columns)), rows[from + at(i)] + first,
                                 [](double value) { return static_cast<float>(value); });
      }
    });
  }

  template <class T>
  void gather(std::span<const Index> which, Square<T>& out) {
    prepare(which);
    std::vector<const float*> rows;
    for (const Index point : which) rows.push_back(cache_.find(point));
    parallel_for(std::ssize(which), {.threads = threads_}, [&](Index i) {
      for (Index j = 0; j < std::ssize(which); ++j) out(i, j) = static_cast<T>(rows[at(i)][which[at(j)]]);
      out.row(i).tail(out.cols() - std::ssize(which)).setZero();
    });
  }

  const BoundKernel& kernel_;
  KernelCache& cache_;
  std::optional<int> threads_;
  Progress* progress_;
};

}  // namespace

std::unique_ptr<RowSource> make_rows(const SignedDual& dual, const SmoOptions& options, const Execution& execution,
                                     bool float_will_do) {
  const BoundKernel& kernel = *dual.kernel;
  if (kernel.is_quick() || !float_will_do) return std::make_unique<FreshRows>(kernel, execution);
  if (!dual.kept)
    dual.kept = std::make_shared<KernelCache>(kernel.count(), kernel.count(), options.cache_megabytes / 2);
  return std::make_unique<CachedRows>(kernel, *dual.kept, execution);
}

}  // namespace lemma::smo
