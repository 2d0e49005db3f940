// lemma/cluster/shared/medoid_clusters.hpp: some of the rows stand for all: what `kmedoids` and `affinity_propagation` keep and tell.
#pragma once
#include <lemma/geometry/compared.hpp>
#include <lemma/model/comparison.hpp>
#include <lemma/model/concepts.hpp>
#include <lemma/model/fields.hpp>

namespace lemma {

/// How each row is from each of some: a row each.
Matrix far_from(const Dissimilarities& all, const std::vector<Index>& medoids);
/// Σᵢ min_m d(i, m)
double total_of(const Dissimilarities& all, const std::vector<Index>& medoids);
/// The least total that an exchange of one medoid with one row leaves: with restₘ(i) the way of row i to the nearest medoid
/// other than m, the total of c in the place of m is Σᵢ min(d(i, c), restₘ(i)).
double least_total(const Dissimilarities& all, const std::vector<Index>& medoids, const Execution& execution);

struct MedoidClusters : Evidence {
  Matrix medoids;      // of rows: one in each row; of a square: none
  Vector medoid_rows;  // their numbers, from 1, rising
  Vector sizes;        // rows of each cluster
  Vector within;       // Σ d to the medoid, for each
  Vector farthest;     // greatest d to the medoid, for each
  double total = 0;
  std::vector<std::string> things;  // of a square: what the medoids are called
  Index columns = 0;
  double order = 0;  // by which the rows are known to come in the order of the fit

  Index width() const { return columns; }
  Index k() const { return medoid_rows.size(); }

  /// Error unless the sizes fit together and the medoids are rows, or things, that can be compared.
  void check_medoids(std::string_view method, Input input, const Metric& metric) const;
  /// The dissimilarity of each row and each medoid; of a square a row holds its dissimilarities to all things.
  Matrix distances_by(std::string_view method, Input input, const Metric& metric, const MatrixView& x) const;
  /// A line for each: size, mean and greatest dissimilarity, and of rows the medoid itself.
  std::string table(const Names& names) const;
  /// The medoids, rising, and what the dissimilarities say of them. `points` of rows, `called` of a square.
  void tell(const std::vector<Index>& which, const Dissimilarities& all, const Matrix& points,
            const std::vector<std::string>& called, Index width);
  /// Which of the rows the medoids are; none where one is not found, which `same` then knows. Rows may come in another order
  /// than that of the fit, in which their numbers say nothing.
  std::optional<std::vector<Index>> found_among(Index n, const Matrix& points, const std::vector<std::string>& called,
                                                Comparison& same) const;
  /// Sizes and sums held against what the dissimilarities say; the total.
  double compare(const std::vector<Index>& which, const Dissimilarities& all, Comparison& same) const;
};

/// The column of the least number of each row, the first of equals.
Labels nearest_of(const Matrix& distances);

}  // namespace lemma
