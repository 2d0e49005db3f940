// lemma/validate/cross/left_out.cpp: the methods that say without n fits what the model without a row says of it.
#include <algorithm>
#include <atomic>
#include <lemma/discriminant/lda.hpp>
#include <lemma/kernel/kernel_ridge.hpp>
#include <lemma/linear/ridge.hpp>
#include <lemma/metric/classification.hpp>
#include <lemma/neighbor/knn.hpp>
#include <lemma/validate/cross/parts.hpp>
#include <numeric>

namespace lemma::crossing {
namespace {

/// From the leave-one-out residuals among a model's diagnostics.
std::optional<Vector> by_diagnostics(const AnyModel& model, const Rows& rows, const Execution& execution) {
  if (rows.has_weights || rows.sparse()) return {};
  Vector out(rows.count());
  std::atomic<bool> known = true;
  for_each_block(rows, execution, [&](const Block& block) {
    const auto columns = model->diagnostics(block);
    const auto found = std::find_if(columns.begin(), columns.end(),
                                    [](const NamedColumn& column) { return column.name == "loo_residual"; });
    if (found == columns.end()) {
      known = false;
      return;
    }
    for (Index i = 0; i < block.rows(); ++i)
      out(block.first + i) = block.y[static_cast<std::size_t>(i)] - found->values(i);
  });
  if (!known || !out.allFinite()) return {};
  return out;
}

struct Said {
  std::optional<Vector> value;
  std::optional<Matrix> probabilities;
};

Said without_each(const AnySpec& spec, const AnyModel& model, const Rows& rows, const Execution& execution) {
  if (const auto* ridge = model_cast<RidgeModel>(model)) return {leave_one_out(*ridge, rows, execution), {}};
  if (const auto* kernel = model_cast<KernelRidgeModel>(model))
    return {leave_one_out(from_value<KernelRidge>(spec.params()), *kernel, rows, execution), {}};
  if (const auto* knn = model_cast<KnnModel>(model)) {
    auto said = leave_one_out(from_value<Knn>(spec.params()), *knn, rows, execution);
    if (!said) return {};
    if (rows.classes.empty()) return {Vector(said->col(0)), {}};
    return {{}, *std::move(said)};
  }
  if (const auto* lda = model_cast<LdaModel>(model)) return {{}, leave_one_out(*lda, rows, execution)};
  if (rows.classes.empty() && rows.has_response) return {by_diagnostics(model, rows, execution), {}};
  return {};
}

bool has_closed_form(const std::string& method) {
  return method == "ols" || method == Ridge::name || method == KernelRidge::name || method == Lda::name ||
         method == Knn::name;
}

}  // namespace

std::optional<FoldScore> left_out_in_closed_form(const Experiment& experiment, const CrossOptions& options) {
  if (!experiment.learns_by_method_alone() || !has_closed_form(experiment.spec().method().name())) return {};
  FoldScore out;
  out.rows.resize(static_cast<std::size_t>(experiment.rows()));
  std::iota(out.rows.begin(), out.rows.end(), Index{0});
  out.train = experiment.rows() - 1;
  FitOptions how;
  how.seed = options.seed;
  how.threads = options.execution.threads;
  how.progress = options.execution.progress;
  const auto learned = experiment.fit(out.rows, how);
  if (options.execution.cancelled()) throw Cancelled();
  Execution quiet;
  quiet.threads = options.execution.threads;
  auto said = without_each(experiment.spec(), learned.model, experiment.all(), quiet);
  if (!said.value && !said.probabilities) return {};
  out.answers = experiment.truth_of(out.rows);
  if (said.value) {
    out.answers.value = *std::move(said.value);
  } else {
    out.answers.predicted = most_probable(*said.probabilities);
    out.answers.probabilities = *std::move(said.probabilities);
  }
  return out;
}

}  // namespace lemma::crossing
