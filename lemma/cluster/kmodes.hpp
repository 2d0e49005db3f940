// lemma/cluster/kmodes.hpp
#pragma once
#include <lemma/cluster/shared/category_centers.hpp>
#include <lemma/model/method.hpp>

namespace lemma {

/// k centres of categories with the fewest mismatches (Huang 1998):
///
///     minimise  Σᵢ wᵢ min_k Σⱼ [xᵢⱼ ≠ c_kj]
///
/// Every row goes to the centre from which it differs in the fewest columns (the first of equals), every centre to the commonest
/// level of its rows in each column (the first of equals), until no row changes its centre. A start draws rows in proportion to w · D,
/// D the mismatches with the nearest one drawn before; the best of several is kept. Rows that are alike count once with their weight,
/// so that a million rows of few different ones cost what these cost. A number is a level of its own: equal or not.
///
/// Cost         O(m k p) for an iteration over m different rows; the rows are gathered, O(n p).
/// Certificate  consistent: no row has fewer mismatches with another centre than its own, and no level of a column is commoner among
///              its rows than the centre's, by counting; sizes, sums and shares are those of the rows.
struct KModes {
  int k = 3;
  int restarts = 10;
  int max_iterations = 300;

  static constexpr std::string_view name = "kmodes";
  static constexpr MethodAbout about{
      .family = "cluster",
      .task = Task::clustering,
      .summary = "k centres of categories with the fewest mismatches: modes in the place of means",
      .objective = "minimise sum_i w_i min_k sum_j [x_ij != c_kj], by rows to the nearest centre and centres to modes",
      .example = "lemma fit kmodes crabs '~ sp + sex' --k 2",
      .takes_weights = true,
      .takes_codes = true,
      .uses_response = false,
      .random = true};
  static constexpr auto params() {
    return Listing{param("k", &KModes::k, "number of clusters", at_least(1)),
                   param("restarts", &KModes::restarts, "starts, of which the best result is kept", at_least(1)),
                   param("max_iterations", &KModes::max_iterations, "most iterations of one start", at_least(1))};
  }
};
static_assert(Described<KModes>);

struct KModesModel : CategoryCenters {
  using Base = CategoryCenters;
  KModes spec;

  static constexpr auto fields() { return center_fields(); }
  static constexpr auto parts() {
    return Listing{part({"distances", "columns in which the row differs from each centre", Given::asked,
                         PartColumns::numbered, "distance"},
                        &KModesModel::distances)};
  }
  void check() const { check_centers(KModes::name, spec.k); }
  Labels assign(const MatrixView& x) const;
  Matrix distances(const MatrixView& x) const;
  std::string summary(const Names& names) const;
};

KModesModel fit(const Valid<KModes>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const KModesModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<KModes>();

}  // namespace lemma
