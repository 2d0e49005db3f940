// lemma/model/one_vs_rest.hpp: several classes told apart by functions that each tell one class from all others.
#pragma once
#include <lemma/core/matrix.hpp>

namespace lemma {

/// Of two classes one function, with the second as the positive one; of more one for each.
inline Index functions_for(Index classes) { return classes == 2 ? 1 : classes; }
/// Whether a row of this class is on the positive side of function k.
inline bool is_positive(int label, Index k, Index functions) { return label == (functions == 1 ? 1 : k); }
/// The class whose function is greatest, a column each; of two classes the second where the one column is above 0.
Labels greatest_class(const MatrixView& values);

}  // namespace lemma
