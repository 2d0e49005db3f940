// lemma/reduce/select/filters.hpp: what one column alone tells of the response: the scores that rank columns.
#pragma once
#include <array>
#include <lemma/core/params.hpp>
#include <lemma/core/rows.hpp>

namespace lemma {

// Of two classes with means m₀, m₁, variances s₀², s₁² (divisor n − 1) and weights n₀, n₁:

/// anova for classes, correlation for numbers.
struct AutoFilter {
  static constexpr std::string_view name = "auto";
  static constexpr auto params() { return Listing{}; }
};
/// (m₁ − m₀) / (s √(1/n₀ + 1/n₁)), s² pooled.
struct TFilter {
  static constexpr std::string_view name = "t";
  static constexpr auto params() { return Listing{}; }
};
/// (m₁ − m₀) / √(s₀²/n₀ + s₁²/n₁), degrees of freedom by Welch and Satterthwaite.
struct WelchFilter {
  static constexpr std::string_view name = "welch";
  static constexpr auto params() { return Listing{}; }
};
/// Fisher's score (m₁ − m₀)² / (s₀² + s₁²).
struct FisherFilter {
  static constexpr std::string_view name = "fisher";
  static constexpr auto params() { return Listing{}; }
};
/// The share of rows that the best threshold in the column puts on the wrong side, whichever side is which.
struct ThresholdFilter {
  static constexpr std::string_view name = "threshold";
  static constexpr auto params() { return Listing{}; }
};
/// The gap between the classes along the column, `ignore` rows of each class left out at the ends that face each other: below
/// 0 where they overlap all the same. In units of the column's standard deviation, unless `scaled` is false.
struct MarginFilter {
  int ignore = 0;
  bool scaled = true;
  static constexpr std::string_view name = "margin";
  static constexpr auto params() {
    return Listing{param("ignore", &MarginFilter::ignore, "outliers of each class that do not count", at_least(0)),
                   param("scaled", &MarginFilter::scaled, "in units of the column's standard deviation")};
  }
};
/// P(a row of the second class has the larger value), ties counting one half: the area under the ROC curve of the column.
struct AucFilter {
  static constexpr std::string_view name = "auc";
  static constexpr auto params() { return Listing{}; }
};
/// Pearson's, with numbers, or with two classes as 0 and 1.
struct CorrelationFilter {
  static constexpr std::string_view name = "correlation";
  static constexpr auto params() { return Listing{}; }
};
/// F of a one-way analysis of variance of the column by the classes.
struct AnovaFilter {
  static constexpr std::string_view name = "anova";
  static constexpr auto params() { return Listing{}; }
};

// Of a table of counts: categories as they are, numbers in classes of equal frequency (each value its own where there are at
// most `bins`); a numeric response in the same way.

/// Pearson's χ² of independence.
struct ChiSquaredFilter {
  int bins = 10;
  static constexpr std::string_view name = "chi_squared";
  static constexpr auto params() {
    return Listing{param("bins", &ChiSquaredFilter::bins, "classes that numbers are put in", between(2, 1000))};
  }
};
/// As it is; 2 I / (H(x) + H(y)), the symmetric uncertainty; or I / H(x), the gain ratio.
enum class InformationOver { none, both, column };
constexpr auto names_of(InformationOver) { return std::array<std::string_view, 3>{"none", "both", "column"}; }

/// I(x; y) = ΣΣ p log(p / (p_x p_y)), in nats.
struct InformationFilter {
  int bins = 10;
  InformationOver over = InformationOver::none;
  static constexpr std::string_view name = "information";
  static constexpr auto params() {
    return Listing{param("bins", &InformationFilter::bins, "classes that numbers are put in", between(2, 1000)),
                   param("over", &InformationFilter::over,
                         "divide by the mean entropy of both (symmetric uncertainty) or of the column (gain ratio)")};
  }
};
/// The same without bins, from the distances to the k-th neighbours: Kraskov, Stögbauer and Grassberger (2004) with numbers,
/// Ross (2014) with classes; 0 where the estimate is below it. Made for columns without ties.
struct NeighborInformationFilter {
  int neighbors = 3;
  static constexpr std::string_view name = "neighbor_information";
  static constexpr auto params() {
    return Listing{
        param("neighbors", &NeighborInformationFilter::neighbors, "whose distance is the scale", between(1, 1000))};
  }
};
/// One after the other the column of greatest I(x; y) − β Σ I(x; chosen): what is told already counts less. Without β it is one
/// over the number of columns chosen (least redundancy by the mean).
struct IncrementalFilter {
  int bins = 10;
  std::optional<double> beta;
  static constexpr std::string_view name = "incremental";
  static constexpr auto params() {
    return Listing{
        param("bins", &IncrementalFilter::bins, "classes that numbers are put in", between(2, 1000)),
        param("beta", &IncrementalFilter::beta,
              "how much information shared with a chosen column costs; auto: 1 / those chosen", at_least(0))};
  }
};

using Filter = std::variant<AutoFilter, TFilter, WelchFilter, FisherFilter, ThresholdFilter, MarginFilter, AucFilter,
                            CorrelationFilter, AnovaFilter, ChiSquaredFilter, InformationFilter,
                            NeighborInformationFilter, IncrementalFilter>;

std::string_view name_of(const Filter& filter);
/// Does the filter test something, so that there are p-values?
bool has_p_values(const Filter& filter);
/// Does it take categories as they are?
bool takes_categories(const Filter& filter);
/// What the numbers of a filter are, in words: "t statistic", "share of rows on the wrong side".
std::string_view words_of(const Filter& filter);

namespace filters {

/// Columns in memory, rows of weight 0 left out.
struct Columns {
  Eigen::MatrixXd x;          // a column each
  std::vector<Index> levels;  // of a column of codes how many there are; 0: numbers
  std::vector<std::string> names;
  Labels label;  // with `classes` of them, or
  Index classes = 0;
  Vector y;  // numbers
  Vector w;  // frequencies
  bool weighted = false;
  std::string target;

  Index rows() const { return x.rows(); }
  Index width() const { return x.cols(); }
};
Columns columns_of(const Rows& rows, const Execution& execution);

/// anova or correlation in the place of auto.
Filter resolved(const Filter& filter, const Columns& columns);
/// Error when the filter does not suit the response, the weights or the columns.
void require_suits(const Filter& filter, const Columns& columns);

struct Scores {
  Vector scores;             // as the filter defines them; of `incremental` when it was chosen, or at the end
  Vector p_values;           // empty where the filter tests nothing
  std::vector<Index> order;  // of the columns, best first; equals in their own order
  double shortfall = 0;      // of `incremental` that follows a given order: how far a column chosen was from the best
};
/// Cost  O(n log n) for each column, O(n) where nothing is sorted; incremental O(n) for each of the `most` columns that are
/// chosen and each other one.
Scores score(const Filter& filter, const Columns& columns, Index most, const Execution& execution);
/// The same by other formulas and other sums, for the certificate. Of equals to rounding `incremental` chooses as `order` does.
Scores score_again(const Filter& filter, const Columns& columns, Index most, const std::vector<Index>& order,
                   const Execution& execution);

/// Larger is better, whatever the filter: |t|, −error, |auc − ½|.
double merit(const Filter& filter, double score);
/// Columns by their merit.
std::vector<Index> order_by(const Filter& filter, const Vector& scores);

/// Benjamini and Hochberg (1995): adjusted p-values. Those at most α are discoveries, of which a share of α is false at most on
/// average, if the tests are independent or positively dependent.
Vector adjusted(const Vector& p_values);

}  // namespace filters
}  // namespace lemma
