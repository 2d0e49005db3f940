// lemma/select/subsets.hpp: least squares on subsets of the columns, all from the one triangle of one scan.
#pragma once
#include <array>
#include <lemma/math/least_squares.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace lemma {

/// A subset of the columns beside the intercept, and how well least squares does with it.
struct Subset {
  std::vector<Index> columns;  // ascending
  double rss = 0;
  double aic = 0, bic = 0;        // n log(RSS / n) + 2 q and + q log n, with q coefficients, the intercept among them
  double adjusted_r_squared = 0;  // 1 − (RSS / (n − q)) / (TSS / (n − 1))
  double cp = 0;  // Mallows: RSS / s² − n + 2 q, s² that of all columns; NaN where that is 0 or has no rows

  Index size() const { return static_cast<Index>(columns.size()); }
};

enum class SubsetCriterion { aic, bic, adjusted_r_squared, cp };
constexpr auto names_of(SubsetCriterion) {
  return std::array<std::string_view, 4>{"aic", "bic", "adjusted_r_squared", "cp"};
}
/// Less is better: adjusted R² with its sign turned.
double value_of(const Subset& subset, SubsetCriterion criterion);

/// The triangle of all columns turned so that those chosen stand in front: Q'A with A = [x y] of LeastSquares. Adding a
/// column is one reflection, taking one away a row of rotations, and what every other move would do to the residual sum of
/// squares is read off. No condition number is squared.
///
/// Cost  O(p²) for each move and for all scores of moves, against O(n p²) for a fit.
class ChosenColumns {
 public:
  explicit ChosenColumns(const LeastSquares& data);

  Index width() const { return width_; }
  const std::vector<Index>& chosen() const { return chosen_; }  // in the order in which they joined
  std::vector<Index> sorted() const;
  bool contains(Index j) const;
  double rss() const;
  void add(Index j);
  void drop(Index j);
  /// The residual sum of squares after each column joins (or leaves, when it is among the chosen); that of now for a column which
  /// the chosen ones determine.
  Vector after_each_move() const;
  /// Does it add anything to the chosen ones?
  bool adds(Index j) const;

 private:
  Index width_;
  Eigen::MatrixXd a_;  // turned: [x y]
  std::vector<Index> chosen_;
  Vector length_;  // of each column of x at the beginning
};

/// Criteria of a subset by its residual sum of squares.
class SubsetCriteria {
 public:
  explicit SubsetCriteria(const LeastSquares& data);
  Subset of(std::vector<Index> columns, double rss) const;

 private:
  double n_, total_, full_rss_;
  Index full_rank_;
  bool intercept_;
};

enum class SubsetSearch { forward, backward, both, best };
constexpr auto names_of(SubsetSearch) { return std::array<std::string_view, 4>{"forward", "backward", "both", "best"}; }

struct SubsetPath {
  std::vector<Subset> steps;  // forward, backward, both: one after the other; best: the best of each size, from none
  std::vector<std::string> moves;  // "+ x", "- x": what led to each step but the first; empty for best
  std::size_t choice = 0;          // the step of best criterion
  bool proven = true;              // best: every subset was looked at or excluded by its bound
  long long looked_at = 0;         // best: of how many subsets the residual sum of squares was computed
  const Subset& chosen() const { return steps[choice]; }
};

/// Forward: from none, always the column that lowers the RSS most, through all sizes. Backward: from all, always the column
/// whose loss raises it least. Both: from none, the move that lowers the criterion most, until none does.
SubsetPath stepwise_subsets(const LeastSquares& data, const std::vector<std::string>& names, SubsetSearch search,
                            SubsetCriterion criterion);

inline constexpr Index kMostLeaped = 40;
inline constexpr long long kMostNodes = 20'000'000;

/// The subset of least RSS of every size, by branch and bound (Furnival and Wilson 1974): taking columns away never lowers
/// the RSS, so a set whose own RSS is no less than the best known of each smaller size has no better subset, and none of its
/// subsets is looked at. Columns whose loss costs most are taken away first, where most is excluded. Error beyond
/// kMostLeaped columns.
///
/// Cost  O(p³) for each set looked at; 2^p of them at worst, few where some columns matter. After `most_nodes` sets it ends:
///       `proven` is false then, and the subsets are those found so far.
SubsetPath best_subsets(const LeastSquares& data, SubsetCriterion criterion, long long most_nodes = kMostNodes,
                        const Execution& execution = {});

}  // namespace lemma
