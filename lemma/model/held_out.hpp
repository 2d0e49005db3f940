// lemma/model/held_out.hpp: a penalty that the rows choose: the one whose models say most of rows they have not learned from.
#pragma once
#include <cmath>
#include <lemma/core/error.hpp>
#include <lemma/core/params.hpp>
#include <lemma/core/quietly.hpp>
#include <lemma/core/row_views.hpp>
#include <lemma/model/comparison.hpp>
#include <lemma/model/options.hpp>
#include <limits>

namespace lemma {

inline constexpr int kTried = 20;  // of a path

/// λ that were tried, and the mean loss −log p(class) of rows that were held out, each in one of five folds; NaN where a fold could
/// not be fitted.
struct HeldOutPath {
  Vector lambda, loss;
  double best() const;  // of the least loss; of equal ones the largest λ. Error where there is none
};

/// A fold from 0 to 4 for each row. Equal rows of a class lie in one, and each class is dealt out evenly by what its rows hold:
/// neither the order of the rows nor copies in the place of a weight change anything. Error where a class has one row only.
std::vector<int> folds_by_content(std::string_view method, const Rows& rows, const Execution& execution);

/// Σ −w log p of the class of each row, and Σ w.
struct HeldOutLoss {
  double sum = 0, weight = 0;
  void add(const Matrix& probabilities, const Block& block);
};

/// Each fold is one path from the largest λ down, where a method that can begins at the coefficients of the λ before.
template <class Spec>
HeldOutPath try_path(const Spec& spec, const std::vector<double>& lambdas, const Rows& rows, const FitOptions& options,
                     bool begin_at_the_last) {
  constexpr Index kFolds = 5;
  const Execution execution = options.execution();
  const auto fold = folds_by_content(Spec::name, rows, execution.part(0, 0.02));
  const auto count = static_cast<Index>(lambdas.size());
  HeldOutPath out{Eigen::Map<const Vector>(lambdas.data(), count), Vector::Zero(count)};
  std::vector<std::vector<HeldOutLoss>> found(kFolds, std::vector<HeldOutLoss>(lambdas.size()));
  Quietly quiet(options.progress);
  parallel_for(kFolds, execution.part(0.02, 0.9, "trying penalties"), [&](Index k) {
    std::vector<Index> train, test;
    for (std::size_t i = 0; i < fold.size(); ++i) (fold[i] == k ? test : train).push_back(static_cast<Index>(i));
    const SelectedRows learned(rows, train), judged(rows, test);
    BlockBuffer buffer;
    const Block block = judged.read(0, judged.count(), buffer);
    FitOptions how;
    how.threads = options.threads;
    how.progress = &quiet;
    for (std::size_t l = 0; l < lambdas.size(); ++l) {
      Spec at = spec;
      at.lambda = lambdas[l];
      try {
        const auto model = fit(Valid<Spec>(at), learned, how);
        found[static_cast<std::size_t>(k)][l].add(model.probabilities(block.x), block);
        if constexpr (requires { model.affine(); })
          if (begin_at_the_last) {
            const auto map = model.affine();
            how.start.resize(map.a.rows(), map.a.cols() + 1);
            how.start << map.b, map.a;
          }
      } catch (const Error&) { found[static_cast<std::size_t>(k)][l].sum = std::numeric_limits<double>::quiet_NaN(); }
      if (quiet.cancelled()) throw Cancelled();
    }
  });
  for (Index l = 0; l < count; ++l) {
    double sum = 0, weight = 0;
    for (const auto& each : found) {
      sum += each[static_cast<std::size_t>(l)].sum;
      weight += each[static_cast<std::size_t>(l)].weight;
    }
    out.loss(l) = sum / weight;
  }
  return out;
}

/// The rest of a fit whose λ is open: it is chosen among `lambdas`, and what was tried stays with the model.
template <class Spec>
auto fit_with_chosen(const Spec& spec, const std::vector<double>& lambdas, const Rows& rows,
                     const FitOptions& options) {
  const HeldOutPath tried = try_path(spec, lambdas, rows, options, true);
  Spec chosen = spec;
  chosen.lambda = tried.best();
  Quietly quiet(options.progress);
  FitOptions how = options;
  how.progress = &quiet;
  auto model = fit(Valid<Spec>(chosen), rows, how);
  model.lambda_path = tried.lambda;
  model.held_out_loss = tried.loss;
  return model;
}

/// Whether the rows choose that λ by these losses, found anew; each fit begins where the method itself does.
template <class Model>
void compare_choice(Comparison& same, const Model& model, const Rows& rows, const Execution& execution) {
  if (model.lambda_path.size() == 0 || same.finding()) return;
  FitOptions options;
  options.threads = execution.threads;
  options.progress = execution.progress;
  const HeldOutPath tried =
      try_path(model.spec, {model.lambda_path.begin(), model.lambda_path.end()}, rows, options, false);
  for (Index l = 0; l < tried.loss.size(); ++l)
    same.entry("held_out_loss", l, model.held_out_loss(l), tried.loss(l), 1 + std::abs(tried.loss(l)), 1e-4);
  const HeldOutPath stored{model.lambda_path, model.held_out_loss};
  same.number("lambda", *model.spec.lambda, stored.best(), 0);
}

/// For a model's check().
void check_choice(std::string_view method, const std::optional<double>& lambda, const Vector& path, const Vector& loss);

/// "chosen among 20 from 1e-3 to 10 by held-out rows", or nothing.
std::string choice_text(const Vector& path);

}  // namespace lemma
