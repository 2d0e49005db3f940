// lemma/cluster/kprototypes.hpp
#pragma once
#include <lemma/cluster/shared/category_centers.hpp>
#include <lemma/model/method.hpp>

namespace lemma {

/// k centres of numbers and categories together (Huang 1998):
///
///     minimise  Σᵢ wᵢ min_k ( Σ_{j a number} (xᵢⱼ − c_kj)² + γ Σ_{j a category} [xᵢⱼ ≠ c_kj] )
///
/// Every row goes to its nearest centre (the first of equals), every centre to the means of its numbers and the commonest levels of its
/// categories, until no row changes its centre. γ is what a mismatch costs in squared units of the numbers; left out, the mean variance
/// of the numbers over the mean of 1 − Σ p² of the categories, so that a column of either kind counts alike. Without categories it is
/// k-means, without numbers k-modes. A start draws rows in proportion to w · D; the best of several is kept.
///
/// Cost         O(m k p) for an iteration over m different rows; the rows are gathered, O(n p).
/// Certificate  consistent: no row is nearer to another centre than its own, the numbers of a centre are the means of its rows
///              (what is left adds up to 0), its levels the commonest, by counting; sizes, sums and shares are those of the rows.
struct KPrototypes {
  int k = 3;
  std::optional<double> gamma;
  int restarts = 10;
  int max_iterations = 300;

  static constexpr std::string_view name = "kprototypes";
  static constexpr MethodAbout about{
      .family = "cluster",
      .task = Task::clustering,
      .summary = "k centres of numbers and categories together: means of the ones, modes of the others",
      .objective = "minimise sum_i w_i min_k (squared distance of the numbers + gamma * mismatches of the categories)",
      .example = "lemma fit kprototypes crabs '~ . - index' --k 4",
      .takes_weights = true,
      .takes_codes = true,
      .uses_response = false,
      .random = true};
  static constexpr auto params() {
    using S = KPrototypes;
    return Listing{param("k", &S::k, "number of clusters", at_least(1)),
                   param("gamma", &S::gamma,
                         "what a mismatch costs; left out: mean variance of the numbers over mean of 1 - sum p^2 of "
                         "the categories",
                         at_least(0), Step::logarithmic),
                   param("restarts", &S::restarts, "starts, of which the best result is kept", at_least(1)),
                   param("max_iterations", &S::max_iterations, "most iterations of one start", at_least(1))};
  }
};
static_assert(Described<KPrototypes>);

struct KPrototypesModel : CategoryCenters {
  using Base = CategoryCenters;
  KPrototypes spec;

  static constexpr auto fields() { return center_fields(); }
  static constexpr auto parts() {
    return Listing{part({"distances", "squared distance plus gamma times mismatches, from the row to each centre",
                         Given::asked, PartColumns::numbered, "distance"},
                        &KPrototypesModel::distances)};
  }
  void check() const;
  Labels assign(const MatrixView& x) const;
  Matrix distances(const MatrixView& x) const;
  std::string summary(const Names& names) const;
};

KPrototypesModel fit(const Valid<KPrototypes>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const KPrototypesModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<KPrototypes>();

}  // namespace lemma
