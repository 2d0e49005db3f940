// lemma/bayes/naive_bayes.hpp: classes whose columns are independent, each column by its kind.
#pragma once
#include <lemma/model/method.hpp>
#include <lemma/model/prior.hpp>

namespace lemma {

/// What a column is within a class.
enum class ColumnKind { gaussian, bernoulli, categorical, poisson, multinomial, complement, density };
constexpr auto names_of(ColumnKind) {
  return std::array<std::string_view, 7>{"gaussian",    "bernoulli",  "categorical", "poisson",
                                         "multinomial", "complement", "density"};
}

/// Divisor of a variance: the weight n of the values, or n − 1.
enum class VarianceDivisor { ml, unbiased };
constexpr auto names_of(VarianceDivisor) { return std::array<std::string_view, 2>{"ml", "unbiased"}; }

/// Naive Bayes: within class k the columns are independent,
///
///     δ_k(x) = log π_k + Σ_j log p_j(x_j | k),
///
/// the class of greatest δ_k is predicted, and exp δ_k, normalised, are the posteriors. With the rows of class k that have a
/// value in column j (n of them by weight), p_j is
///
///     gaussian     normal with their mean, and their variance + `floor` times the variance of the column over all rows
///                  (of a column that is the same in all of them, times 1: it tells nothing, as the pixels of a border)
///     density      the mean of normals about each value of the class, all of one deviation h: 0.9 min(s, IQR / 1.34) n^(−1/5), s
///                  with the divisor n − 1 (R's bw.nrd0). The values are kept
///     bernoulli    θ = (number of values above 0 + α) / (n + 2α), of x > 0
///     categorical  (number of rows with the level + α) / (n + α L), of L levels
///     poisson      rate (sum of the values + α m) / (n + α), m the mean of the column over all rows: a Gamma(αm, α) prior
///     multinomial  all columns of this kind are counts of one multinomial: x_j log θ_j, θ_j = (sum of x_j + α) / (sum of all + α p)
///     complement   the same counts, held against all other classes: −x_j log θ_j, with the sums of θ_j over the rows that are
///                  not of class k (Rennie and others 2003): where classes differ much in size. Not a density: δ_k is a score
///
/// with the smoothing α: the mean of the posterior under a symmetric Beta or Dirichlet prior of parameter α. A value that is
/// missing, or a level that was never seen, leaves its factor out of the product.
///
/// Cost         one scan, O(n p) time and O(K p) memory (density: a value each, which a predicted row looks at); of rows without their zeros, texts say, the entries alone, also to predict.
/// Certificate  optimal: the estimates are closed forms of counts, means and squares, which are made anew by plain sums about
///              the model's means.
struct NaiveBayes {
  std::vector<std::string> kinds;
  double smoothing = 1;
  VarianceDivisor variance = VarianceDivisor::ml;
  double floor = 0;
  PriorChoice prior = Prior::proportions;

  static constexpr std::string_view name = "naive_bayes";
  static constexpr MethodAbout about{
      .family = "bayes",
      .task = Task::classification,
      .summary = "naive Bayes: independent columns in each class: numbers, yes and no, levels, counts",
      .objective = "delta_k(x) = log prior_k + sum over the columns of log p_j(x_j | k)",
      .example = "lemma fit naive_bayes house_votes 'Class ~ .'",
      .scans = true,
      .takes_weights = true,
      .takes_missing = true,
      .takes_codes = true,
      .takes_sparse = true};
  static constexpr auto params() {
    return Listing{
        param("kinds", &NaiveBayes::kinds,
              "gaussian, density, bernoulli, poisson, multinomial, complement or categorical: one for all columns of "
              "numbers, or one for each column; none, or auto: categories are categorical, words of texts multinomial, "
              "numbers gaussian"),
        param("smoothing", &NaiveBayes::smoothing, "alpha: rows that every level, or count, is given beforehand",
              above(0), Step::logarithmic),
        param("variance", &NaiveBayes::variance, "divisor of the variances: n (ml) or n - 1 (unbiased)"),
        param("floor", &NaiveBayes::floor, "share of a column's variance that is added to its variance in each class",
              at_least(0), Step::logarithmic),
        param("prior", &NaiveBayes::prior,
              "class probabilities: as in the rows, all equal, or one number per class, in their order", within(0, 1))};
  }
  void check() const;
};
static_assert(Described<NaiveBayes>);

struct NaiveBayesModel : Evidence {
  NaiveBayes spec;  // with the kind of each column
  Vector prior, counts;
  Matrix parameters, deviations;
  Matrix level_probabilities;
  Labels levels;
  Matrix known, means, variances;
  Matrix level_weights;
  Vector values, value_weights;
  Labels value_counts;

  static constexpr auto fields() {
    using M = NaiveBayesModel;
    return Listing{
        result("prior", &M::prior, "prior probability of each class", kByClass),
        result("counts", &M::counts, "rows of each class, by weight", kByClass),
        result("parameters", &M::parameters,
               "of each class and column: mean, probability of a value above 0, rate, or share of the counts (of kind "
               "complement: of those of all other classes); 0 for categories",
               kClassesByFeature),
        result("deviations", &M::deviations,
               "standard deviation of each class and gaussian column, bandwidth of one of kind density; else 0",
               kClassesByFeature),
        result("level_probabilities", &M::level_probabilities,
               "of each class: probabilities of the levels of the first categorical column, then of the next",
               Along{Axis::number, Axis::label}),
        state("levels", &M::levels, "how many each column has; 0: it holds numbers"),
        state("known", &M::known, "weight of the values of each class and column"),
        state("means", &M::means, "of these values; of bernoulli columns the share above 0, of categories 0"),
        state("variances", &M::variances, "of gaussian columns, without the floor"),
        state("level_weights", &M::level_weights, "weight of each level in each class"),
        later(state("values", &M::values, "of columns of kind density: of each class, then each column, in order")),
        later(state("value_weights", &M::value_weights, "the weight of each")),
        later(state("value_counts", &M::value_counts, "how many each class and column has"))};
  }
  static constexpr auto parts() {
    return Listing{
        part({"contributions",
              "log odds that each column adds: of two classes for the second, of more for the class predicted "
              "against the next",
              Given::asked, PartColumns::features, "adds"},
             &NaiveBayesModel::contributions)};
  }
  static constexpr UpdateKind kUpdates = UpdateKind::exact;
  Index width() const { return means.cols(); }
  Index class_count() const { return means.rows(); }
  void check() const;
  Labels predict(const MatrixView& x) const;
  Matrix probabilities(const MatrixView& x) const;
  Matrix decision(const MatrixView& x) const;  // δ_k, a column per class
  /// The same of rows without their zeros, at the cost of their entries (and of columns that are gaussian or categorical).
  Matrix decision(const Csr& x, const Execution& execution) const;
  /// With log prior odds they add up to the difference of two δ.
  Matrix contributions(const MatrixView& x) const;
  std::string summary(const Names& names) const;
};

NaiveBayesModel fit(const Valid<NaiveBayes>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const NaiveBayesModel& model, const Rows& rows, const Execution& execution);
/// The fit to all rows, from these and from the counts and moments of those before.
NaiveBayesModel updated(const NaiveBayesModel& model, const Rows& rows, const FitOptions& options);

/// Rows without their zeros are spoken of as they are.
template <>
std::optional<Prediction> SpecModel<NaiveBayes, NaiveBayesModel>::predict_sparse(const Csr& x,
                                                                                 const PredictOptions& options,
                                                                                 const Execution& execution) const;

extern template const Method& method_of<NaiveBayes>();

}  // namespace lemma
