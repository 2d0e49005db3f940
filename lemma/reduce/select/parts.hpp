// lemma/reduce/select/parts.hpp: tables of counts and information, which both routes need in part.
#pragma once
#include <lemma/reduce/select/filters.hpp>

namespace lemma::filters {

/// The class of each row, and how many there are: a column of categories or numbers put in bins.
struct Binned {
  std::vector<int> bin;
  Index count = 0;
};
/// The values between bins of equal frequency: the quantiles j / bins, the mean of two where they fall between; with at most
/// `bins` distinct values the values but the last.
std::vector<double> cuts_of(const VectorView& values, const Vector& w, int bins);
/// Bin b holds the values above cut b − 1 and at most cut b.
Binned binned(const VectorView& values, const std::vector<double>& cuts);
Binned binned(const Columns& columns, Index j, int bins);
Binned binned_response(const Columns& columns, int bins);

/// Σw for each pair of bins.
Matrix counts_of(const Binned& a, const Binned& b, const Vector& w);
/// −Σ p log p of counts, in nats.
double entropy(const VectorView& counts);
/// H(a) + H(b) − H(a, b).
double information(const Matrix& counts);
/// (occurring rows − 1)(occurring columns − 1).
double degrees_of(const Matrix& counts);
double chi_squared(const Matrix& counts);

/// The power of two nearest to a standard deviation: values in such units have the ties that they had.
double unit_of(double deviation);

/// ψ(1), …, ψ(n): at the place of n.
std::vector<double> digammas(Index n);

/// Σ, mean and Σ (x − mean)² of each class in a column, by two passes.
struct ClassSums {
  Vector weight, mean, squares;
};
ClassSums class_sums(const Columns& columns, Index j);

struct Tested {
  double statistic, p;
};
Tested t_of(double n0, double m0, double ss0, double n1, double m1, double ss1);
Tested welch_of(double n0, double m0, double ss0, double n1, double m1, double ss1);
Tested f_of(double between, double within, double groups, double n);
Tested correlation_test(double r, double n);

/// Scores from f(j) → score and p, on all threads.
Scores each_column(const Filter& filter, const Columns& columns, const Execution& execution,
                   const std::function<Tested(Index)>& test);

/// The columns chosen one after the other: information with the response, and with columns chosen, by two functions.
/// `follow`: the order to take instead of the best, where there is one.
struct Informed {
  std::function<double(Index)> relevance;
  std::function<double(Index, Index)> redundancy;
};
Scores choose_incrementally(const IncrementalFilter& filter, Index width, Index most, const Informed& by,
                            const std::vector<Index>* follow, const Execution& execution);

}  // namespace lemma::filters
