// lemma/model/one_vs_rest.hpp: several classes told apart by functions that each tell one class from all others.
#pragma once
#include <lemma/core/certificate.hpp>
#include <lemma/core/matrix.hpp>
#include <string_view>

namespace lemma {

/// Of two classes one function, with the second as the positive one; of more one for each.
inline Index functions_for(Index classes) { return classes == 2 ? 1 : classes; }
inline Index classes_for(Index functions) { return functions == 1 ? 2 : functions; }
/// Whether a row of this class is on the positive side of function k.
inline bool is_positive(int label, Index k, Index functions) { return label == (functions == 1 ? 1 : k); }
/// The class whose function is greatest, a column each; of two classes the second where the one column is above 0.
Labels greatest_class(const MatrixView& values);

/// Of functions that are turned at each mistake: optimal when no row is on the wrong side, else nothing is claimed.
/// `border` is what lies between the sides, `advice` what to do about rows that are wrong.
Certificate certificate_of_sides(double wrong, long long updates, bool cancelled, std::string_view border,
                                 std::string_view advice);

}  // namespace lemma
