// lemma/math/simd/distance.hpp: which centre is nearest: the plain search, and a fast filter that says how sure it is.
//
// The plain distance is the textbook loop, Σⱼ (xⱼ − cⱼ)² in the order of j, without fused operations: it has the same bits
// on every CPU. The filter works in float32 on rows and centres moved to an origin and scaled; it gives the two smallest
// scores ½‖c‖² − x·c of each row and a bound on their error, so that a caller knows where the plain search could only
// agree.
#pragma once
#include <lemma/core/matrix.hpp>
#include <span>
#include <vector>

namespace lemma::simd {

/// Where the filter puts zero, and the power of two it multiplies by: every row then lies in [−1, 1]ᵖ.
struct Frame {
  Vector origin;
  double scale = 1;
};

/// Centres laid out for the plain search.
class PlainCenters {
 public:
  explicit PlainCenters(const MatrixView& centers);

  /// The centre nearest to x (the first of equals). `guess` is any centre, for instance an earlier answer: the nearer it
  /// is, the earlier the sums of the others can stop. It never changes the answer.
  int nearest(const double* x, int guess, double& distance) const;

  Index count() const { return count_; }
  Index width() const { return width_; }

 private:
  friend struct PlainSearch;
  Index count_, width_;
  Matrix rows_;
  std::vector<double> tiles_;  // [tile][column][kTile centres]; what is not there lies at infinity
};

/// Centres laid out for the filter.
class FilterCenters {
 public:
  FilterCenters(const MatrixView& centers, const Frame& frame);

  /// False when the centres lie so far out, or have so many columns, that float32 could say nothing.
  bool usable() const { return usable_; }
  /// At most this far is a score from the true one, for a row of that length: see the source.
  double error(double norm) const { return slope_ * norm + square_ * norm * norm + level_; }
  /// The relative error of `Scores::squared_norm`.
  double norm_error() const { return norm_error_; }

 private:
  friend struct Filter;
  Index count_, width_;
  bool usable_ = true;
  double slope_ = 0, square_ = 0, level_ = 0, norm_error_ = 0;
  std::vector<float> tiles_;  // [tile][column][kTile centres]
  std::vector<float> half_;   // ½‖c‖²
};

/// What the filter says of a row: the least score and whose it is, the second least, and ‖x‖²,
/// all in the frame's units. ‖x − c‖² = ‖x‖² + 2 score.
struct Scores {
  std::vector<float> best, second, squared_norm;
  std::vector<int> which;
  std::vector<float> space;  // its own, kept from call to call
};
void filter(const MatrixView& x, std::span<const int> rows, const FilterCenters& centers, const Frame& frame,
            Scores& out);

/// distance[i] = ‖xᵢ − c_label[i]‖², in some fixed order of its terms.
void own_distances(const MatrixView& x, const Matrix& centers, std::span<const int> label, std::span<double> distance);

/// sums.row(label[i]) += weightᵢ (xᵢ − origin), row by row; no weights means 1.
void add_rows(const MatrixView& x, const Vector& origin, std::span<const int> label, std::span<const double> weight,
              Matrix& sums);

}  // namespace lemma::simd
