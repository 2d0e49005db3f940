// lemma/cluster/shared/category_centers.hpp: centres of numbers and codes, as `kmodes` and `kprototypes` keep and tell them.
#pragma once
#include <lemma/cluster/shared/column_centers.hpp>
#include <lemma/model/fields.hpp>

namespace lemma {

struct CategoryCenters : Evidence {
  Matrix centers;
  Vector sizes;
  Vector within;
  double total_within = 0;
  Matrix shares;
  Labels level_counts;
  std::vector<std::string> levels;

  Index width() const { return centers.cols(); }
  Index k() const { return centers.rows(); }
  bool holds_codes(Index column) const { return level_counts[at(column)] > 0; }

  static constexpr auto center_fields() {
    using M = CategoryCenters;
    return Listing{
        result("centers", &M::centers, "each centre in a row: of categories the code, from 0, of the commonest level",
               kByFeature),
        result("sizes", &M::sizes, "rows in each cluster (their weight)"),
        result("within", &M::within, "sum of the distances to the centre, for each cluster"),
        result("total_within", &M::total_within, "sum of `within`: what is minimised"),
        result("shares", &M::shares, "the share of each cluster's rows that have the centre's very value", kByFeature),
        state("level_counts", &M::level_counts, "how many levels each column has; 0: it holds numbers"),
        state("levels", &M::levels, "names of the levels, column after column")};
  }
  /// Error unless the sizes fit together and codes are codes of levels.
  void check_centers(std::string_view method, Index k) const;
  /// A line for each cluster: size, sum, and its centre with levels by their names.
  std::string table(const Names& names) const;
  /// The centres found, and what the rows say of them.
  void tell(const ColumnCenters& found, const ColumnLosses& losses, const AlikeRows& rows, const Rows& named,
            const Execution& execution);
  /// As certify_centers, and the shares; Error when the rows have other levels.
  Certificate look(std::string_view method, const CenterClaim& claim, const ColumnLosses& losses, const Rows& rows,
                   const AlikeRows& alike, const Execution& execution) const;
};

}  // namespace lemma
