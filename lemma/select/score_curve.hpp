// lemma/select/score_curve.hpp: scores along the number of training rows, or along a parameter, on rows that were learned from and
// on others: where the two part, a method learns by heart.
#pragma once
#include <lemma/select/search_space.hpp>
#include <lemma/validate/cross.hpp>

namespace lemma {

struct ScoreCurve {
  std::string method, formula, data, metric;
  std::string along;  // "rows", or the parameter
  Plan plan;
  Index rows = 0;
  struct Point {
    std::string at;    // as it was typed, or the number of rows
    double value = 0;  // rows, or the parameter where it is a number (else its place in the list)
    Score training, test;
  };
  std::vector<Point> points;
  bool cancelled = false;
};

/// Learned from these shares of each training set, smaller ones inside larger ones.
ScoreCurve learning_curve(const AnySpec& spec, const Formula& formula, const TableStream& data, const Plan& plan,
                          const std::vector<double>& shares, const std::string& metric = {},
                          const CrossOptions& options = {});
/// With each value of a parameter: 'lambda=0.1,1,10', 'C=0.01:100:9'.
ScoreCurve validation_curve(const AnySpec& spec, const std::string& axis, const Formula& formula,
                            const TableStream& data, const Plan& plan, const std::string& metric = {},
                            const CrossOptions& options = {});

Table table_of(const ScoreCurve& curve);
Value to_value(const ScoreCurve& curve);
std::string text(const ScoreCurve& curve);

/// Whether a cross-validated score is more than chance gives: the response shuffled among the rows, everything done again.
/// p = (1 + shuffles at least as good) / (1 + shuffles), which is exact: at most α with probability α when there is no signal.
struct PermutationTest {
  std::string metric;
  double score = 0, p = 1;
  bool higher_is_better = true;
  std::vector<double> shuffled;
  bool cancelled = false;
};
PermutationTest permutation_test(const AnySpec& spec, const Formula& formula, const TableStream& data, const Plan& plan,
                                 int shuffles, const std::string& metric = {}, const CrossOptions& options = {});
std::string text(const PermutationTest& test);
Value to_value(const PermutationTest& test);

/// accuracy, rmse or silhouette; or the measure of that name, Error with the nearest one when there is none.
const Score& score_named(const CrossResult& result, const std::string& metric);

}  // namespace lemma
