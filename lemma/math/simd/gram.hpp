// lemma/math/simd/gram.hpp: sums of squares of rows, centred on their way into the cache.
#pragma once
#include <lemma/core/matrix.hpp>
#include <span>
#include <vector>

namespace lemma::simd {

/// Rows that are centred and weighted as they come in, and whose products are collected in the upper triangle
///
///     C = Σ w (x − origin)(x − origin)ᵀ.
///
/// A tile of rows is kept in panels a few vectors wide, the order in which the products read them from both sides: a
/// general routine would copy the centred rows twice more. Below the diagonal C is not touched.
class GramTile {
 public:
  enum class Start : char { anew, onto };  // C is written, not read; or added to
  GramTile(Eigen::Ref<Matrix> upper, Start start);
  ~GramTile();
  GramTile(const GramTile&) = delete;
  GramTile& operator=(const GramTile&) = delete;

  /// One more row of weight root²; sum += w (x − origin) where there is a sum.
  void add(std::span<const double> x, std::span<const double> origin, double root, std::span<double> sum = {});
  /// The rows of x, of weights root²; those of weight 0 are left out. The same bits as one after the other.
  void add(const MatrixView& x, std::span<const double> origin, std::span<const double> roots,
           std::span<double> sum = {});
  /// Squares the rows that are still waiting: without it C is not complete.
  void finish();

 private:
  void square();
  Eigen::Ref<Matrix> upper_;
  std::size_t columns_, capacity_, used_ = 0;
  bool onto_;                    // C holds something to be added to
  std::vector<double> scratch_;  // a thread's own, lent to one tile at a time
  double* panels_;               // in it, at the start of a cache line
};

}  // namespace lemma::simd
