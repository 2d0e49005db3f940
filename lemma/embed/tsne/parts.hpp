// lemma/embed/tsne/parts.hpp: affinities of rows, and the forces that they put on places. Inner header: use lemma/embed/tsne.hpp.
#pragma once
#include <lemma/core/sparse.hpp>
#include <lemma/embed/shared/neighborhood.hpp>
#include <lemma/embed/tsne.hpp>

namespace lemma::tsne {

/// Distances of a row to others: all of them, or its nearest.
struct Seen {
  std::vector<std::int32_t> row;
  std::vector<double> distance;
};
/// visit(i, others) for each row, on several threads.
void for_each_row_seen(const Compared& data, TsneForces forces, double perplexity, SearchBy search,
                       const Execution& execution, const std::function<void(Index, Seen)>& visit);

/// p of all pairs, or (barnes_hut) of near ones: the half that is not used is empty. Σ p = 1.
struct Affinities {
  Matrix dense;
  Csr sparse;
  Vector bandwidths;  // σ
  Index crowded = 0;  // rows with more equally near ones than the perplexity

  Index count() const { return bandwidths.size(); }
};
Affinities affinities_of(const Compared& data, TsneForces forces, double perplexity, const Execution& execution);

/// p from the p_j|i of each row.
Matrix symmetric(const Matrix& conditional, const Execution& execution);
Csr symmetric(const std::vector<Seen>& seen, const std::vector<std::vector<double>>& conditional);

/// Of places Y: attraction Σ_j p_ij w_ij (y_i − y_j), repulsion Σ_j w_ij² (y_i − y_j), and Z = Σ_{i≠j} w_ij.
struct Forces {
  Matrix attraction, repulsion;
  double z = 0;
  double cross = 0;  // Σ p log(1 + ‖y_i − y_j‖²), where it was asked for

  /// 4 (exaggeration · attraction − repulsion / Z)
  Matrix gradient(double exaggeration = 1) const { return 4 * (exaggeration * attraction - repulsion / z); }
};
Forces exact_forces(const Affinities& p, const Matrix& places, bool with_cross, const Execution& execution);
Forces grouped_forces(const Affinities& p, const Matrix& places, double theta, const Execution& execution);
/// Σ p log p, of the pairs with p > 0.
double negative_entropy(const Affinities& p);

/// What a second look finds: by the definitions, over all pairs.
struct Look {
  double divergence = 0, gradient = 0;  // KL, ‖∂KL/∂Y‖
  double off_perplexity = 0;            // the worst |entropy − log perplexity|
  Index row = 0;                        // whose that is
};
Look look_again(const Compared& data, const TsneModel& model, const Execution& execution);

}  // namespace lemma::tsne
