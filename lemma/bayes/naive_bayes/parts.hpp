// lemma/bayes/naive_bayes/parts.hpp: what fitting and certifying share. Inner header: use lemma/bayes/naive_bayes.hpp.
#pragma once
#include <lemma/bayes/naive_bayes.hpp>

namespace lemma::naive_bayes {

/// The kinds of columns, and where the levels of each begin among all.
struct Layout {
  std::vector<ColumnKind> kind;
  Labels levels;             // of each column
  std::vector<Index> start;  // of its levels
  std::vector<Index> place;  // among columns of kind density; −1: it is none
  Index all_levels = 0, densities = 0;

  Layout(const std::vector<std::string>& kinds, const Labels& level_counts);
  Index columns() const { return static_cast<Index>(kind.size()); }
  bool is(Index j, ColumnKind what) const { return kind[at(j)] == what; }
  bool counts(Index j) const {
    return is(j, ColumnKind::poisson) || is(j, ColumnKind::multinomial) || is(j, ColumnKind::complement);
  }
  /// The number of which means and squares are made; NaN where there is none.
  double value(Index j, double x) const;
};

/// Values of a column in a class, with their weights.
using Values = std::vector<std::pair<double, double>>;
/// In order, equal ones once.
Values joined(Values values);
/// R's bw.nrd0, a weight w standing for w copies; of values that are all equal by their size, or 1.
double bandwidth_of(const Values& values);
/// What the model keeps of each class and column of kind density.
std::vector<Values> values_of(const NaiveBayesModel& model, const Layout& layout);
void keep(NaiveBayesModel& model, const std::vector<Values>& values);

/// Weight, mean and Σ w (v − mean)² of each class and column, over the values that are there; and the weight of each level.
struct Sums {
  const Layout* layout;
  Vector counts;
  Matrix known, mean, squares, levels;
  std::vector<Values> values;  // class by class, of columns of kind density

  Sums(const Layout& of, Index classes);
  void accumulate(const Block& block);
  void merge(const Sums& other);
};

/// One pass over the rows, or over the entries of rows without their zeros.
Sums sums_of(const Layout& layout, const Rows& rows, Index classes, const Execution& execution);
/// Error where a value is none that its kind knows.
void check_values(const Layout& layout, const Rows& rows, const Execution& execution);

double divisor(VarianceDivisor variance, double weight);
Sums sums_of(const NaiveBayesModel& model, const Layout& layout);

/// Parameters, deviations and probabilities of levels, and the priors, from what the model knows of its rows.
void finish(NaiveBayesModel& model, const Layout& layout);

/// Plain sums about the model's means, of new rows and (by merge) of those before.
struct Look {
  const NaiveBayesModel* model;
  const Layout* layout;
  Vector counts;
  Matrix known, shift, squares, levels;
  std::vector<Values> values;

  Look(const NaiveBayesModel& of, const Layout& by);
  void accumulate(const Block& block);
  void merge(const Look& other);
  /// Rows of which nothing but their sums is kept.
  void add(const Sums& past);
};
Look look_at(const NaiveBayesModel& model, const Layout& layout, const Rows& rows, const Execution& execution);
Certificate certificate_of(const NaiveBayesModel& model, const Layout& layout, const Look& look);

/// log p_j(x | k); 0 where the value is missing. (complement: its score.)
class Densities {
 public:
  explicit Densities(const NaiveBayesModel& model);
  const Layout& layout() const { return layout_; }
  double operator()(Index k, Index j, double x) const;
  /// Error where a count is below 0.
  void check(const MatrixView& x) const;
  void check(const Csr& x) const;

 private:
  double of_values(Index k, Index j, double x) const;
  const NaiveBayesModel& model_;
  Layout layout_;
  std::vector<Index> first_;  // where the values of each class and column of kind density begin, and the end
};

}  // namespace lemma::naive_bayes
