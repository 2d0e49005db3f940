// lemma/validate/judge/leave_one_out.cpp
#include <algorithm>
#include <atomic>
#include <cmath>
#include <lemma/model/pipeline.hpp>
#include <lemma/validate/judge/parts.hpp>

namespace lemma::judging {
namespace {

bool learns_only_from_the_method(const TrainedModel& trained) {
  const Missing policy = trained.design.missing();
  const bool fills_in = policy == Missing::mean || policy == Missing::median || policy == Missing::mode;
  return steps_of(trained.model).empty() && !fills_in;
}

/// The rows with the weights they had in the training: leverages depend on them.
bool are_training_rows(const TrainedModel& trained, const Honesty& honesty) {
  return honesty.same_rows || (honesty.kind == Honesty::Kind::training && !trained.origin.rows.weighted_hash());
}

}  // namespace

std::vector<Measure> leave_one_out(const TrainedModel& trained, const Honesty& honesty, const Rows& rows,
                                   const Vector& weights, const Execution& execution) {
  if (!rows.has_response || rows.sparse() || !trained.model->method().about().scans ||
      !learns_only_from_the_method(trained) || !are_training_rows(trained, honesty))
    return {};
  Vector squares(rows.count());
  std::atomic<bool> known = true;
  for_each_block(rows, execution, [&](const Block& block) {
    const auto columns = trained.model->diagnostics(block);
    const auto found = std::find_if(columns.begin(), columns.end(),
                                    [](const NamedColumn& column) { return column.name == "loo_residual"; });
    if (found == columns.end()) known = false;
    else squares.segment(block.first, block.rows()) = found->values.cwiseAbs2();
  });
  if (!known) return {};
  const Vector w = detail::frequencies(rows.count(), weights);
  squares = (w.array() > 0).select(squares, 0.0);  // a row without weight counts for nothing, whatever stands there
  const auto root = [](double square) { return std::sqrt(std::max(0.0, square)); };
  Measure rmse{"rmse", root(detail::mean(squares, w)), "root of the mean squared error", false,
               bounds_of_mean(squares, w)};
  if (rmse.bounds) rmse.bounds = Bounds{root(rmse.bounds->lower), root(rmse.bounds->upper)};
  return {rmse};
}

}  // namespace lemma::judging
