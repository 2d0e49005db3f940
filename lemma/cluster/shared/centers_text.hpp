// lemma/cluster/shared/centers_text.hpp: centres as they are printed.
#pragma once
#include <lemma/model/prediction.hpp>
#include <string>

namespace lemma {

/// A line for each centre, the first `most` of them: its rows, what is left within it (where that is told), its coordinates.
std::string centers_text(const Matrix& centers, const Vector& sizes, const Vector* within, const Names& names,
                         Index most = 50);

}  // namespace lemma
