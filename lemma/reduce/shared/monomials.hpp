// lemma/reduce/shared/monomials.hpp: products of columns. Inner header: use lemma/reduce/polynomial.hpp or lift.hpp.
#pragma once
#include <lemma/core/progress.hpp>
#include <lemma/core/rows.hpp>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace lemma {

/// One product x_a x_b … : its columns in ascending order, one twice where it is squared.
using Monomial = std::vector<int>;

/// All products of 1 … degree columns, by degree and then by columns: x1 x2 | x1² x1x2 x2² | … `interactions_only`: no column
/// more than once.
std::vector<Monomial> monomials(Index columns, int degree, bool interactions_only);
/// How many there are, as a number that does not overflow.
double monomial_count(Index columns, int degree, bool interactions_only);

/// "x1", "x1^2", "x1:x2", "x1^2:x2".
std::string monomial_name(const Monomial& monomial, const std::vector<std::string>& names);

/// Each row's products, from one column to the next.
Matrix monomials_of(const MatrixView& x, const std::vector<Monomial>& terms);

/// Holds a map from rows to products against the powers taken one by one, in another order. `worst` is the largest
/// difference in units of the product; `overflow` is a column of the output with a number beyond the range, −1 if none has.
struct MapCheck {
  double worst = 0;
  Index overflow = -1;

  void compare(double found, double expected, Index column);
  void merge(const MapCheck& other);
};

}  // namespace lemma
