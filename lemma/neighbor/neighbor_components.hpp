// lemma/neighbor/neighbor_components.hpp
#pragma once
#include <lemma/model/method.hpp>

namespace lemma {

/// A metric for nearest neighbours, learned (neighbourhood components analysis, Goldberger and others 2005): the map z = A (x − mean) / scale
/// under which each row is told best by the others, with row i looking at row j with the probability
///
///     p_ij = e^(−‖zᵢ − zⱼ‖²) / Σ_(l≠i) e^(−‖zᵢ − z_l‖²),      minimise  J(A) = (1/n) Σ lossᵢ + ½ λ ‖A‖²,
///
///     classes    lossᵢ = 1 − Σ_(j of the class of i) p_ij,                      the error of a neighbour that is drawn so
///     numbers    lossᵢ = (yᵢ − Σ_j p_ij yⱼ)² / variance of y                    (Weinberger and Tesauro 2007)
///
/// J is not convex: a minimum nearby is found, from the principal axes or from the directions that part the classes' means beside the
/// spread within them, whichever has the smaller J. Distances, and so J, know AᵀA alone: A is turned until its rows are orthogonal,
/// the longest first. Rows are put into an order of their own first, so that theirs changes nothing.
///
/// Cost         O(n² (d + p)) a step of L-BFGS, on all threads; memory O(n p).
/// Certificate  stationary: ‖∇J‖, its sum taken pair by pair.
struct NeighborComponents {
  std::optional<int> components;
  double penalty = 1e-3;
  bool standardize = true;
  double tolerance = 1e-8;
  int max_iterations = 2000;

  static constexpr std::string_view name = "neighbor_components";
  static constexpr MethodAbout about{
      .family = "neighbor",
      .task = Task::transformation,
      .summary = "a learned metric: coordinates in which near rows have the same class, or number (NCA)",
      .objective = "minimise the error of a neighbour drawn by exp(-||A (x_i - x_j)||^2), plus λ ‖A‖² / 2",
      .example = "lemma fit neighbor_components wine 'class ~ .' --components 2",
      .either_response = true};
  static constexpr auto params() {
    using S = NeighborComponents;
    return Listing{
        param("components", &S::components, "how many coordinates; auto: as many as columns", at_least(1)),
        param("penalty", &S::penalty,
              "λ, on the squared entries of the map; 0: rows of classes that can be parted drift apart without end",
              at_least(0), Step::logarithmic),
        param("standardize", &S::standardize, "divide columns by their standard deviations first (divisor n)"),
        param("tolerance", &S::tolerance, "length of the objective's gradient at which the work ends",
              between(1e-12, 0.1), Step::logarithmic),
        param("max_iterations", &S::max_iterations, "steps of L-BFGS, at most", at_least(1))};
  }
};
static_assert(Described<NeighborComponents>);

struct NeighborComponentsModel : Evidence {
  NeighborComponents spec;
  Matrix loadings;
  Vector lengths, mean, scale;
  double objective = 0, told = 0, error = 0, error_before = 0;
  Vector counts;

  static constexpr auto fields() {
    using M = NeighborComponentsModel;
    return Listing{
        result("loadings", &M::loadings,
               "of the columns as they are: z = loadings' (x - mean), a column per coordinate", kFeaturesDown),
        result("lengths", &M::lengths, "of the rows of A: how much each coordinate counts"),
        result("mean", &M::mean, "subtracted from each column", kByFeature),
        result("scale", &M::scale, "each column is divided by it before A", kByFeature),
        result("objective", &M::objective, "J"),
        result("told", &M::told,
               "classes: mean probability that the neighbour drawn has the class; numbers: share of the variance that "
               "the neighbours' mean tells"),
        result("error", &M::error,
               "classes: share of the rows whose nearest other row has another class; numbers: mean squared difference "
               "to it, by the variance of the response. Of rows equally near their mean"),
        result("error_before", &M::error_before, "the same of the columns, divided by scale"),
        result("counts", &M::counts, "rows of each class; none of numbers", kByClass)};
  }
  Index width() const { return loadings.rows(); }
  Index components() const { return loadings.cols(); }
  Index class_count() const { return counts.size(); }
  void check() const;
  Index output_width() const { return components(); }
  Matrix transform(const MatrixView& x) const;
  std::vector<std::string> output_names(const std::vector<std::string>& features) const;
  AffineMap affine() const;
  std::string summary(const Names& names) const;
};

NeighborComponentsModel fit(const Valid<NeighborComponents>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const NeighborComponentsModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<NeighborComponents>();

}  // namespace lemma
