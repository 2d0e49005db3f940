// lemma/neighbor/knn/parts.hpp: who votes, and what they say. Inner header: use lemma/neighbor/knn.hpp.
#pragma once
#include <lemma/geometry/neighbors.hpp>
#include <lemma/neighbor/knn.hpp>
#include <mutex>

namespace lemma::knn {

/// Rows to learn from: those with a weight and, of classes, with a class.
struct Data {
  Matrix x;
  Vector response, weight;  // codes of classes, from 0
};
/// Error when a number cannot be used, or a class has no rows.
Data gathered(const Metric& metric, const Rows& rows, const Execution& execution);
/// With numbers in the place of what the metric learns of the rows.
Metric resolved(const Metric& metric, const Data& data, const Rows& rows, const Execution& execution);
void take(KnnModel& model, Data data, Index classes);

/// Rows, the nearest first, with as many copies as vote.
struct Voters {
  std::vector<Index> row;
  std::vector<double> distance, copies;
};
/// The voters of a row: `most` copies, of neighbours in their order. `own`: the row itself, which has a copy less; −1: none.
Voters voters(const Vector& weight, std::span<const std::int32_t> rows, std::span<const double> distances, double most,
              Index own);
/// How many points hold `most` copies for sure.
Index points_for(const Vector& weight, double most);

/// What the first k copies say of the row x: probabilities of the classes, or one number.
Vector say(const KnnModel& model, const Voters& voters, double k, const double* x);

/// Of each k in `tried`, and last of the nearest row alone, all classes and rows alike. `sort_all`: from all distances of
/// each row. Nothing where there is one row alone.
Vector left_out_errors(const KnnModel& model, const Vector& tried, bool sort_all, const Execution& execution);
/// Lower and upper bracket of the Bayes risk, for K classes, from the error of the nearest row.
Vector cover_hart(double error, Index classes);

/// The search structure, made when it is first asked for.
class Kept {
 public:
  const Neighbors& get(const KnnModel& model);

 private:
  std::once_flag made_;
  std::optional<Neighbors> neighbors_;
};

}  // namespace lemma::knn
