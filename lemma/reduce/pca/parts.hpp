// lemma/reduce/pca/parts.hpp: the parts of a principal component analysis. Inner header: use lemma/reduce/pca.hpp.
#pragma once
#include <bit>
#include <lemma/math/moments.hpp>
#include <lemma/reduce/pca.hpp>

namespace lemma::pca {

/// A row as the axes see it: √w (x − mean) / scale.
struct Frame {
  Vector mean, scale;
  Matrix apply(const Block& block) const { return apply(block, 0, block.rows()); }
  Matrix apply(const Block& block, Index from, Index size) const;
};

/// A scan in blocks of about 16 MB at most: with thousands of columns the blocks of `scan` are so few that threads would
/// wait. Cut by shape alone, like those.
template <Statistic S>
S fine_scan(const Rows& rows, const S& empty, const Execution& execution) {
  const auto most = std::bit_floor(static_cast<std::size_t>((Index{1} << 21) / std::max<Index>(1, rows.width())) | 64);
  return scan_in_blocks(rows, empty, std::min(block_rows(rows), static_cast<Index>(most)), execution);
}

/// What is known before any axis: n = Σw, the rows that count, the frame, and the variances in it.
struct Ground {
  double weight = 0;
  Index rows = 0;
  Frame frame;
  Vector variances;                   // of the columns in the frame
  std::vector<std::string> warnings;  // columns without spread that were to be scaled
  double divisor() const { return weight - 1; }
  /// The most components these rows can have.
  Index most(bool center) const { return std::min(frame.mean.size(), center ? rows - 1 : rows); }
};

/// Moments of the rows; an Error names the column and the row of what cannot be used.
Moments moments_of(const Rows& rows, const Execution& execution);

/// Of the scatter about the mean, or of the columns alone. An Error when there is too little to learn from: one row, no
/// spread, or values whose squares leave the range of numbers.
Ground ground_of(const Valid<Pca>& spec, const Rows& rows, const Moments& moments, const Execution& execution);
Ground ground_of(const Valid<Pca>& spec, const Rows& rows, const Execution& execution);

/// All rows in the frame, in memory.
Matrix framed_rows(const Rows& rows, const Frame& frame, const Execution& execution);

/// S from the moments, in the frame.
Matrix spread(const Valid<Pca>& spec, const Ground& ground, const Moments& moments);

/// Variances along the axes, descending, and the axes: at most `count` where it is given.
struct Axes {
  Vector variances;
  Matrix loadings;
  double rounding = 0;  // variances up to this share of the first are not told from 0
};
Axes by_covariance(const MatrixView& spread, std::optional<Index> count);
Axes by_gram(const Rows& rows, const Ground& ground, std::optional<Index> count, const Execution& execution);
Axes by_svd(const Rows& rows, const Ground& ground, const Execution& execution);
Axes by_random(const Valid<Pca>& spec, const Rows& rows, const Ground& ground, Index count, std::uint64_t seed,
               const Execution& execution);

/// `variances` of all components beside what the rules hold them against: variance, chance, broken stick, mean variance.
/// Error when rows have weights.
Matrix scree_of(const Pca& spec, const Rows& rows, const Ground& ground, const Vector& variances, std::uint64_t seed,
                const Execution& execution);
/// The leading components whose variance is above each of the three limits.
Vector suggested_by(const Matrix& scree);

/// What a second look at the rows says about a model: all in the model's frame.
struct Look {
  double weight = 0;
  Vector shift;       // Σ w (x − mean) / scale
  Vector variances;   // diagonal of S
  Matrix applied;     // S V
  double missed = 0;  // variance along a direction outside the axes above that of the last axis, over the first
  bool proved = false;
};
/// The same from S itself, which a fit by covariance has at hand.
Look look_at(const PcaModel& model, const Matrix& spread, double weight, const Vector& shift,
             const Execution& execution);
Look look_at(const PcaModel& model, const Rows& rows, const Execution& execution);
Certificate certificate_of(const PcaModel& model, const Look& look, const Execution& execution);

}  // namespace lemma::pca
