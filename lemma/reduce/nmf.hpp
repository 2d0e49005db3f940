// lemma/reduce/nmf.hpp
#pragma once
#include <lemma/model/method.hpp>

namespace lemma {

/// Non-negative matrix factorisation (Lee and Seung 1999): rows without negative numbers as sums of few parts, which are without them too,
///
///     min ½ ‖X − W Hᵀ‖²,   W ≥ 0 (a row for each row of X),   H ≥ 0 (a row for each column)
///
/// By coordinate descent on W and on H in turn (HALS: Cichocki and Phan 2009), each number its best value beside the others, so that the
/// objective never rises; from the singular vectors of X (Boutsidis and Gallopoulos 2008), and from random parts besides. Parts have length 1,
/// those that carry most come first. The problem is not convex: what is found is stationary, not the least of all.
///
/// A new row's coordinates are its own least squares on the parts, w ≥ 0, and so are those of the rows of the fit.
///
/// Cost         O(n p k + n k²) for each round, one pass over the rows; O((n + p) k) memory.
/// Certificate  stationary: with each row's coordinates found anew by another algorithm, the exact one of Lawson and Hanson, no coordinate
///              of H or W has a better value: how far that would move the fit, as a share of ‖X‖.
struct Nmf {
  int components = 2;
  int restarts = 0;
  int max_iterations = 5000;
  double tolerance = 1e-6;

  static constexpr std::string_view name = "nmf";
  static constexpr MethodAbout about{.family = "reduce",
                                     .task = Task::transformation,
                                     .summary = "rows without negative numbers as sums of few parts without them",
                                     .objective = "min 1/2 |X - W H'|^2 over W >= 0, H >= 0, of rows X >= 0",
                                     .example = "lemma fit nmf iris '~ . - species'",
                                     .scans = true,
                                     .takes_weights = true,
                                     .uses_response = false,
                                     .random = true};
  static constexpr auto params() {
    using S = Nmf;
    return Listing{
        param("components", &S::components, "how many parts", at_least(1)),
        param("restarts", &S::restarts, "random starts besides the one from singular vectors", at_least(0)),
        param("max_iterations", &S::max_iterations, "rounds from each start", at_least(1)),
        param("tolerance", &S::tolerance,
              "how far any coordinate would still move the fit, as a share of the rows, when the search ends", above(0),
              Step::logarithmic)};
  }
};
static_assert(Described<Nmf>);

struct NmfModel : Evidence {
  Nmf spec;
  Matrix loadings;
  Vector sizes;
  double objective = 0, explained = 0;
  Vector trace;

  static constexpr auto fields() {
    using M = NmfModel;
    return Listing{
        result("loadings", &M::loadings, "H: parts of length 1, a row per feature, a column per part", kFeaturesDown),
        result("sizes", &M::sizes, "root of the sum of squares of the rows' coordinates along each part, descending"),
        result("objective", &M::objective, "1/2 |X - W H'|^2"),
        result("explained", &M::explained, "1 - |X - W H'|^2 / |X|^2"),
        result("trace", &M::trace, "the objective at the start, after each round, and at the end")};
  }
  Index width() const { return loadings.rows(); }
  Index components() const { return loadings.cols(); }
  void check() const;
  Index output_width() const { return components(); }
  Matrix transform(const MatrixView& x) const;
  /// The rows that are these sums of the parts.
  Matrix sums(const MatrixView& z) const;
  std::vector<std::string> output_names(const std::vector<std::string>&) const;
  std::string summary(const Names& names) const;
};

NmfModel fit(const Valid<Nmf>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const NmfModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<Nmf>();

}  // namespace lemma
