// lemma/embed/shared/way_back.hpp: from a picture back to the columns of the data.
#pragma once
#include <lemma/embed/shared/embedded.hpp>

namespace lemma {

/// The columns at places, learned from the rows of the fit and where they lie: at z a line (plane) through the m = 4 (dimensions + 1)
/// nearest places, by least squares with weights (1 − (‖y_j − z‖ / h)³)³, h a little beyond the farthest of them,
///
///     min_a,B  Σ_j w_j ‖x_j − a − B (y_j − z) / h‖² + ρ Σ w ‖B‖²,      x(z) = a,      ρ = 1e-3 for what the places do not determine.
///
/// Error, naming the method, of models that were given dissimilarities, categories or gaps: they have no columns of numbers.
///
/// Cost  a search in `dimensions` columns and O(m p) for each place.
Matrix way_back(std::string_view method, const Embedded& model, const Metric& metric, const MatrixView& z);

/// Root mean square error of each column, each row found from the others (leave-one-out); empty where there is no way back.
Vector way_back_error(const Embedded& model, const Metric& metric, const Execution& execution = {});

/// "Way back to the columns …": nothing where there is none.
std::string told_way_back(const Embedded& model);

}  // namespace lemma
