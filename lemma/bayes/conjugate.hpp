// lemma/bayes/conjugate.hpp: beliefs about one parameter of each column, before and after the rows.
#pragma once
#include <lemma/model/method.hpp>

namespace lemma {

enum class ConjugateFamily { normal_normal, beta_binomial, gamma_poisson, dirichlet_multinomial };
constexpr auto names_of(ConjugateFamily) {
  return std::array<std::string_view, 4>{"normal_normal", "beta_binomial", "gamma_poisson", "dirichlet_multinomial"};
}

/// Columns are independent, and so are their rows given the parameters. A conjugate prior has a posterior of its own kind:
///
///     beta_binomial          x is 0 or 1, P(1) = φ,  φ ~ Beta(a, b):            Beta(a + n₁, b + n₀)
///     gamma_poisson          x ~ Poisson(λ),  λ ~ Gamma(a, rate b):             Gamma(a + Σx, b + n)
///     dirichlet_multinomial  x is a level, P(l) = π_l,  π ~ Dir(α):             Dir(α + n)
///     normal_normal          x ~ N(μ, σ²),  μ | σ² ~ N(m, σ²/k),  1/σ² ~ Gamma(a, rate b):
///                            k' = k + n,  m' = (k m + Σx) / k',  a' = a + n/2,
///                            b' = b + ½ Σ (x − x̄)² + ½ k n / k' (x̄ − m)²;      with a known σ²: N(m', σ²/k')
///
/// From it follow means and deviations of the parameters, credible intervals (central, and of highest density), the predictive
/// density of a new row, ∫ p(x | θ) p(θ | rows) dθ, and the evidence p(rows) = ∫ Π p(x | θ) p(θ) dθ, of which the
/// logarithm of a ratio compares two priors or families (a Bayes factor; `against` another prior). A posterior is the prior of the rows to come:
/// `lemma update`.
///
/// Cost         one scan, O(n p) time and O(p) memory.
/// Certificate  optimal: counts and sums made anew about the model's own means; posterior, moments, intervals (by the
///              probability inside them and the density at their ends) and evidence held against them.
struct Conjugate {
  ConjugateFamily family = ConjugateFamily::normal_normal;
  std::vector<double> prior, against;
  std::optional<double> variance;
  double level = 0.95;

  static constexpr std::string_view name = "conjugate";
  static constexpr MethodAbout about{
      .family = "bayes",
      .task = Task::density,
      .summary = "conjugate Bayesian models of each column: Beta, Gamma, Dirichlet, normal",
      .objective = "p(theta | rows) = p(theta) prod p(x | theta) / p(rows), in closed form",
      .example = "lemma fit conjugate faithful '~ eruptions + waiting'",
      .scans = true,
      .takes_weights = true,
      .uses_response = false};
  static constexpr auto params() {
    return Listing{param("family", &Conjugate::family, "what a column is, and its prior"),
                   param("prior", &Conjugate::prior,
                         "numbers of the prior: a, b of Beta or Gamma; alpha of Dirichlet, one for all levels or "
                         "one for each; m, k, a, "
                         "b of normal_normal; none: 1, 1; 1, 1; 1; 0, 0.01, 0.5, 0.5"),
                   param("against", &Conjugate::against,
                         "numbers of another prior, which this one is held against: Bayes factors"),
                   param("variance", &Conjugate::variance,
                         "of normal_normal: the variance, where it is known; auto: it is not", above(0)),
                   param("level", &Conjugate::level, "probability of the credible intervals", within(0, 1))};
  }
  void check() const;
  /// Levels as they are.
  Needs needs(Needs usual) const {
    usual.codes = family == ConjugateFamily::dirichlet_multinomial;
    return usual;
  }
};
static_assert(Described<Conjugate>);

struct ConjugateModel : Evidence {
  Conjugate spec;
  double rows = 0;
  Matrix posterior;
  Matrix quantities;
  Vector log_evidence, log_bayes_factor;
  Vector means, squares;
  Labels levels;
  Vector level_weights;

  static constexpr auto fields() {
    using M = ConjugateModel;
    return Listing{
        result("rows", &M::rows, "how many there were, by weight"),
        result(
            "posterior", &M::posterior,
            "numbers of the posterior, a row for each column (of levels: for each level), in the order of the prior's"),
        result("quantities", &M::quantities,
               "of each parameter: mean, standard deviation (-1: it has none), ends of the central interval and of "
               "that of "
               "highest density"),
        result("log_evidence", &M::log_evidence, "log p(rows) of each column, after all updates", kByFeature),
        later(result("log_bayes_factor", &M::log_bayes_factor,
                     "log p(rows) less what it is with the other prior, where one is held against: of each column",
                     kByFeature)),
        state("means", &M::means, "of the columns"),
        state("squares", &M::squares, "sum of squares about the mean, of each column; of counts the sum of log x!"),
        state("levels", &M::levels, "how many each column has; 0: it holds numbers"),
        state("level_weights", &M::level_weights, "rows of each level of the first column, then of the next")};
  }
  static constexpr UpdateKind kUpdates = UpdateKind::exact;
  Index width() const { return means.size(); }
  void check() const;
  /// Of the predictive: what a new row is expected to be after these.
  Vector log_density(const MatrixView& x) const;
  std::string summary(const Names& names) const;
};

ConjugateModel fit(const Valid<Conjugate>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const ConjugateModel& model, const Rows& rows, const Execution& execution);
/// The posterior is the prior of these rows.
ConjugateModel updated(const ConjugateModel& model, const Rows& rows, const FitOptions& options);

extern template const Method& method_of<Conjugate>();

}  // namespace lemma
