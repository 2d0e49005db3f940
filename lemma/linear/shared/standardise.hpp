// lemma/linear/shared/standardise.hpp: the columns of a penalised linear model as its penalty sees them.
#pragma once
#include <lemma/core/rows.hpp>
#include <string_view>
#include <vector>

namespace lemma {

/// The rows in memory as columns of the least-squares problem ½ ‖y − Z c‖²:
///
///     zᵢⱼ = √wᵢ (xᵢⱼ − meanⱼ) / scaleⱼ,    yᵢ ← √wᵢ (yᵢ − offsetᵢ − mean(y)),    wᵢ = weight · precision,
///
/// with means only when there is an intercept. The scale is the standard deviation (divisor Σw) where columns are
/// standardised, as glmnet has it, and 1 where they are not or where a column is constant. Dense columns are copied once,
/// each in one piece; of many rows, where no column is asked for by itself, none are: a pass makes Z block by block. Sparse columns
/// keep their zeros: Z = V − √w μᵀ with sparse vⱼ = √w xⱼ / scaleⱼ and μ = mean / scale.
struct StandardisedColumns {
  Index rows = 0, count = 0;
  bool sparse = false;
  Matrix z;                      // dense: row j holds column j
  const Rows* blocks = nullptr;  // or these hold them; they must outlive it

  std::vector<Index> start;  // sparse: the entries of column j are [start[j], start[j + 1])
  std::vector<std::int32_t> row;
  std::vector<double> value;
  Vector shift;  // μ; 0 without an intercept
  Vector root;   // √w; like y none in blocks

  Vector y, mean, scale;
  Vector length;                // ‖zⱼ‖
  std::vector<Index> constant;  // columns that say nothing beside the intercept: 0 in Z
  double y_mean = 0, weight = 0, mass = 0;
  double total = 0;  // ‖y‖²

  /// zⱼ · r. With an intercept r must be orthogonal to √w, as every residual is.
  double dot(Index j, const Vector& r) const;
  /// zⱼ · r for each of `which`, in fixed pieces on several threads.
  void correlations(const std::vector<Index>& which, const Vector& r, Vector& out, const Execution& execution) const;
  /// y − Z c; c is given where it is not 0.
  Vector residual(const std::vector<Index>& support, const Vector& c) const;
  /// zⱼ · z_k for each k of `with`.
  Vector products(Index j, const std::vector<Index>& with) const;
  /// zⱼ itself.
  Vector column(Index j) const;

  /// ZᵀZ and Zᵀy, on several threads. Dense columns, copied or in blocks.
  struct NormalEquations {
    Matrix gram;
    Vector along_y;
  };
  NormalEquations normal_equations(const Execution& execution) const;
  /// The rows of Z, and the entries of y, that belong to a block.
  Matrix rows_of(const Block& block) const;
  Vector y_of(const Block& block) const;
};

inline constexpr Index kMostInGram = 6000;  // columns whose whole Gram matrix is made

/// Whether a column of Z is asked for by itself, or all of them together alone.
enum class ColumnsAsked { singly, together };

/// Reads the rows; an Error names a value that is not finite, or a column in unusable units.
StandardisedColumns standardise(std::string_view method, const Rows& rows, bool intercept, bool standardize,
                                ColumnsAsked asked, const Execution& execution);

}  // namespace lemma
