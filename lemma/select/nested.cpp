// lemma/select/nested.cpp
#include <algorithm>
#include <lemma/data/made_up_rows.hpp>
#include <lemma/linear/glm.hpp>
#include <lemma/linear/ols.hpp>
#include <lemma/math/least_squares.hpp>
#include <lemma/select/nested.hpp>

namespace lemma {
namespace {

constexpr double kInside = 1e-7;  // the share of a column that rounding may leave outside of a span it lies in
constexpr Index kMostColumns = 2000;

struct Columns {
  std::vector<std::string> names;
  std::vector<Index> which;  // of the design, those that take part
};
Columns columns_of(const TrainedModel& model) {
  const auto* ols = model_cast<OlsModel>(model.model);
  const Labels& kept = ols ? ols->kept : model_cast<GlmModel>(model.model)->kept;
  Columns out;
  for (const int j : kept) {
    out.which.push_back(j);
    out.names.push_back(model.design.features()[static_cast<std::size_t>(j)]);
  }
  return out;
}

bool has_intercept(const TrainedModel& model) {
  const auto* ols = model_cast<OlsModel>(model.model);
  return ols ? ols->spec.intercept : model_cast<GlmModel>(model.model)->spec.intercept;
}

}  // namespace

std::vector<std::string> outside_of(const TrainedModel& larger, const TrainedModel& smaller) {
  const Columns large = columns_of(larger), small = columns_of(smaller);
  const bool lost_intercept = has_intercept(smaller) && !has_intercept(larger);
  std::vector<std::string> in_doubt;  // what the names do not settle
  std::vector<Index> which;
  for (std::size_t k = 0; k < small.names.size(); ++k)
    if (std::find(large.names.begin(), large.names.end(), small.names[k]) == large.names.end()) {
      in_doubt.push_back("'" + small.names[k] + "'");
      which.push_back(small.which[k]);
    }
  if (lost_intercept) in_doubt.emplace_back("the intercept");
  const auto wide = static_cast<Index>(large.which.size()), doubtful = static_cast<Index>(in_doubt.size());
  if (doubtful == 0 || wide + doubtful > kMostColumns) return in_doubt;

  const Design* designs[] = {&larger.design, &smaller.design};
  const Table rows = made_up_rows(designs, 3 * (wide + doubtful) + 50);
  if (rows.rows() < 2 * (wide + doubtful) + 2) return in_doubt;
  Matrix x(rows.rows(), wide + doubtful);
  x.leftCols(wide) = larger.design.apply(rows).x(Eigen::all, large.which);
  x.middleCols(wide, static_cast<Index>(which.size())) = smaller.design.apply(rows).x(Eigen::all, which);
  if (lost_intercept) x.col(wide + doubtful - 1).setOnes();
  const Vector nothing = Vector::Zero(x.rows());
  MemoryRows source(x);
  source.response({nothing.data(), static_cast<std::size_t>(nothing.size())});
  const auto aliased = solve(scan(source, LeastSquares(x.cols(), has_intercept(larger))), kInside).aliased;
  std::vector<std::string> out;
  for (Index k = 0; k < doubtful; ++k) {
    const auto column = x.col(wide + k);
    const bool constant = !(lost_intercept && k == doubtful - 1) && (column.array() == column(0)).all();
    const bool inside = std::find(aliased.begin(), aliased.end(), wide + k) != aliased.end();
    if (!inside || constant)
      out.push_back(in_doubt[static_cast<std::size_t>(k)]);  // one that never changed shows nothing
  }
  return out;
}

}  // namespace lemma
