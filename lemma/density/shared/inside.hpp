// lemma/density/shared/inside.hpp: any density of the catalog, inside another method.
#pragma once
#include <lemma/core/rows.hpp>
#include <lemma/model/any_spec.hpp>
#include <optional>
#include <string_view>

namespace lemma::density {

/// The method inside, with all its parameters; kde where none is named.
AnySpec inside_of(const std::optional<AnySpec>& base);
/// Error, in the name of the method around it, unless it learns a density without a response. `own_columns`: and of the columns as
/// they are, not of what a step before makes of them.
void require_density(std::string_view around, const AnySpec& inside, bool own_columns);
/// What it needs of a table, under a method with these needs of its own.
Needs needs_inside(const AnySpec& inside, Needs usual);

/// The logarithm of the density at each row.
Vector log_densities(const AnyModel& model, const MatrixView& x);

/// Rows in memory with their weights, without a response: what a density is fitted to.
class PlainRows {
 public:
  /// Those of the rows that are named.
  PlainRows(const Rows& rows, const Matrix& all, const Vector& weight, std::span<const Index> which);
  PlainRows(const PlainRows&) = delete;
  PlainRows& operator=(const PlainRows&) = delete;
  operator const Rows&() const { return rows_; }
  const Matrix& x() const { return x_; }

 private:
  Matrix x_;
  std::vector<double> weight_;
  MemoryRows rows_;
};

/// Of each row; 1 where there are none.
Vector weights_of(const Rows& rows, const Execution& execution);

}  // namespace lemma::density
