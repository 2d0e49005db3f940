// lemma/linear/linear_svm/second_look.hpp: what proves a plane that is known, from the rows alone. Inner header.
#pragma once
#include <lemma/linear/shared/margin_problem.hpp>
#include <lemma/model/own_order.hpp>

namespace lemma::margin {

/// Rows in their own order: where columns lie far from 0, the order decides which dual point rounding lets a solver find,
/// and a fit, a look at its rows and a look at the same rows shuffled must come to one verdict.
struct SecondLook {
  SecondLook(const LinearSvm& spec, const Rows& given, const Execution& execution);
  Problem problem(Index plane) const { return problem_of(spec, rows, factors, plane); }
  /// The plane in the user's units, with the best dual point there is for it; its θ is that about the centre.
  Point at(const Problem& problem, const Vector& users) const;

  const LinearSvm& spec;
  Execution execution;
  RowsInOwnOrder in_order;
  const Rows& rows;
  Columns columns;
  std::vector<double> factors;  // of the classes
  RowProducts products;
};

}  // namespace lemma::margin
