// lemma/reduce/factorise.hpp
#pragma once
#include <lemma/model/method.hpp>

namespace lemma {

/// Factors of who and what: a value for pairs (user, item), of which few are known, as
///
///     v ≈ μ + b_user + c_item + a_user · a_item
///     min ½ Σ (v − v̂)² + ½ λ Σ (b² + ‖a‖²)         over the rows, and over all users and items
///
/// Each different value of a column is one of its things, whatever it is called. Of more than two columns every two of a row meet: the sum of
/// a_c · a_d over pairs of columns (a factorisation machine of categories, Rendle 2010). A thing that is missing, or that no row of the
/// fit has, counts as average: b = 0, a = 0.
///
/// By alternating ridge regressions: those of one column's things, each on its own rows, the others as they are; then by a quasi-Newton
/// search, which goes where these creep. The objective never rises.
///
/// Cost         O(m n r² + L r³) for each sweep over m columns, L things, r factors; O(n r) memory.
/// Certificate  stationary: the gradient by sums over the rows, in units of the curvature; and, where some factor is not used, no further one
///              could lower the objective: the greatest eigenvalue of the residuals, things by things, is at most λ.
struct Factorise {
  int rank = 2;
  double lambda = 1;
  double held_out = 0.1;
  int max_iterations = 5000;
  double tolerance = 1e-7;

  static constexpr std::string_view name = "factorise";
  static constexpr MethodAbout about{
      .family = "reduce",
      .task = Task::regression,
      .summary = "ratings of users and items: what each of them is like, from the pairs that are known",
      .objective = "min 1/2 sum (v - mu - b_u - c_i - a_u.a_i)^2 + lambda/2 sum (b^2 + c^2 + |a|^2)",
      .example = "lemma fit factorise crabs 'BD ~ sp + sex'",
      .takes_missing = true,
      .takes_codes = true,
      .random = true};
  static constexpr auto params() {
    using S = Factorise;
    return Listing{
        param("rank", &S::rank, "factors of each thing; 0: its mean alone", at_least(0)),
        param("lambda", &S::lambda, "price of the size of a factor", above(0), Step::logarithmic),
        param("held_out", &S::held_out, "share of the rows left out to see how well they are predicted; 0: none",
              Range{.low = 0, .high = 1, .high_open = true}),
        param("max_iterations", &S::max_iterations, "steps of the search", at_least(1)),
        param("tolerance", &S::tolerance,
              "how far any one thing would still move, beside the values, when the work ends", above(0),
              Step::logarithmic)};
  }
  Needs needs(Needs usual) const;
};
static_assert(Described<Factorise>);

struct FactoriseModel : Evidence {
  Factorise spec;
  double mean = 0;
  Labels counts;
  Vector things, biases;
  Matrix factors;
  double objective = 0, error = 0;
  std::optional<double> held_out_error;

  static constexpr auto fields() {
    using M = FactoriseModel;
    return Listing{result("mean", &M::mean, "mu"),
                   result("counts", &M::counts, "how many different things each column has", kByFeature),
                   state("things", &M::things, "their numbers or codes, ascending, column after column"),
                   result("biases", &M::biases, "b of each thing, column after column"),
                   result("factors", &M::factors, "a of each thing, a row each"),
                   result("objective", &M::objective, "what is minimised"),
                   result("error", &M::error, "root mean square of v - its value, over the rows of the fit"),
                   result("held_out_error", &M::held_out_error,
                          "the same over rows left out, of a fit to the others; null where none were")};
  }
  Index width() const { return static_cast<Index>(counts.size()); }
  void check() const;
  Vector predict(const MatrixView& x) const;
  std::string summary(const Names& names) const;
};

FactoriseModel fit(const Valid<Factorise>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const FactoriseModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<Factorise>();

}  // namespace lemma
