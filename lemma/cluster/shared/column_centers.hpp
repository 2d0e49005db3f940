// lemma/cluster/shared/column_centers.hpp: k centres that are made column by column: medians, means, modes.
//
//     minimise  Σᵢ wᵢ min_k Σⱼ ℓⱼ(xᵢⱼ, c_kj)          ℓ: |x − c|, (x − c)² or price · [x ≠ c]
//
// Every row goes to its nearest centre (the first of equals), every centre to what is best for its rows in each column, until no row
// changes its centre. The cost falls at each step, or rows move to earlier centres alone: it ends.
#pragma once
#include <lemma/cluster/shared/alike_rows.hpp>
#include <lemma/core/random.hpp>
#include <lemma/model/concepts.hpp>
#include <string_view>

namespace lemma {

/// How a value counts that is not the centre's; what is best for rows: the median, the mean, the mode (the least of equals).
enum class ColumnLoss { absolute, square, mismatch };

struct ColumnLosses {
  std::vector<ColumnLoss> of;  // each column
  double price = 1;            // of a mismatch

  /// Σⱼ ℓⱼ(xⱼ, cⱼ) of two rows of so many numbers.
  double distance(const double* x, const double* c) const;
};

struct ColumnCenters {
  Matrix centers;
  int iterations = 0;
  bool cancelled = false;
};
struct ColumnSearch {
  std::string_view method;
  Index k = 1;
  int restarts = 1, max_iterations = 1;
  std::uint64_t seed = 1;
};
/// The best of several starts, which draw rows in proportion to w · D, D the distance to the nearest one drawn before. A centre
/// without rows goes to the row that is farthest from its own. Error when k is more than there are different rows.
ColumnCenters column_centers(const ColumnSearch& search, const ColumnLosses& losses, const AlikeRows& rows,
                             const Execution& execution);

/// The iterations, and whether it was cancelled, told by the evidence of a model.
void tell_how_it_ended(Evidence& evidence, const ColumnCenters& found);

/// What the rows say of centres.
struct CenterTold {
  Vector sizes, within;
  Index wrong = 0;  // coordinates that are not the best for their rows
};
CenterTold told_of(const ColumnLosses& losses, const Matrix& centers, const AlikeRows& rows,
                   const Execution& execution);

/// Coordinates that are not the best for the rows nearest to their centre, found by counting the weight below, above and at each
/// value, and by the sum of what is left of means; then sizes and sums against those told. `what` is a coordinate: "the median".
struct CenterClaim {
  const Matrix& centers;
  const Vector &sizes, &within;
  double total_within;
  int max_iterations;
  std::string_view kind, what;
};
Certificate certify_centers(const CenterClaim& claim, const ColumnLosses& losses, const AlikeRows& rows,
                            const Execution& execution);

/// The distance of each row to each centre, and the nearest one.
Matrix center_distances(const ColumnLosses& losses, const Matrix& centers, const MatrixView& x);
Labels nearest_centers(const ColumnLosses& losses, const Matrix& centers, const MatrixView& x);

}  // namespace lemma
