#include <cmath>
#include <gtest/gtest.h>
#include <lemma/data/datasets.hpp>
#include <lemma/linear/logistic.hpp>
#include <lemma/model/fit.hpp>
#include <tests/golden.hpp>

namespace lemma {
namespace {

// The references state their λ for mean losses; ours is for sums: λ = n λ'.
void agrees_with_glmnet(const std::string& id, const std::string& data, const std::string& target, Penalty penalty,
                        LogisticSolver solver, bool as_path) {
  const Golden golden(id);
  const Table table = dataset(data);
  const double n = static_cast<double>(table.rows());
  std::vector<double> lambdas;
  for (const Value& one : golden.value("fits").as_list()) lambdas.push_back(n * one.at("lambda").as_double());
  Logistic spec{.penalty = penalty, .solver = solver};
  for (std::size_t k = 0; k < lambdas.size(); ++k) {
    spec.lambda = as_path ? lambdas : std::vector{lambdas[k]};
    const LogisticModel model = fit(spec, formula(target + " ~ ."), table);
    EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
    for (std::size_t at = as_path ? 0 : k; at < (as_path ? lambdas.size() : k + 1); ++at) {
      const Index row = as_path ? static_cast<Index>(at) : 0;
      const Value& one = golden.value("fits").as_list()[at];
      const Vector ours = model.coefficients.of.row(row), theirs = one.at("coef").as_vector();
      EXPECT_NEAR(model.objective.of(row) / n, one.at("objective").as_double(), 1e-8 * one.at("objective").as_double());
      for (Index j = 0; j < ours.size(); ++j)
        EXPECT_NEAR(ours(j), theirs(j), 1e-5 * std::max(1.0, std::abs(theirs(j)))) << id << " " << j;
      const double intercept = one.at("intercept").as_double();
      EXPECT_NEAR(model.intercept.of(row), intercept, 1e-5 * std::max(1.0, std::abs(intercept)));
      EXPECT_EQ((ours.array().abs() > 1e-6).count(), static_cast<Index>(one.at("n_nonzero").as_double()));
      const double mean_loss = model.null_deviance * (1 - model.deviance_ratio.of(row)) / (2 * n);
      EXPECT_NEAR(mean_loss, one.at("mean_neg_log_lik").as_double(), 1e-6 * mean_loss);
    }
    if (as_path) break;
  }
}

TEST(LogisticGolden, RidgeIsGlmnets) {
  agrees_with_glmnet("glmnet_logistic_ridge_pima", "pima_train", "type", Penalty::l2, LogisticSolver::automatic, true);
  agrees_with_glmnet("glmnet_logistic_ridge_pima", "pima_train", "type", Penalty::l2, LogisticSolver::newton, false);
}
TEST(LogisticGolden, LassoIsGlmnets) {
  agrees_with_glmnet("glmnet_logistic_lasso_pima", "pima_train", "type", Penalty::l1, LogisticSolver::automatic, true);
  agrees_with_glmnet("glmnet_logistic_lasso_pima", "pima_train", "type", Penalty::l1, LogisticSolver::newton, false);
}
TEST(LogisticGolden, LassoOfSpamIsGlmnets) {
  agrees_with_glmnet("glmnet_logistic_lasso_spam", "spam", "type", Penalty::l1, LogisticSolver::automatic, true);
}
TEST(LogisticGolden, ElasticNetIsGlmnets) {
  agrees_with_glmnet("glmnet_logistic_enet_pima", "pima_train", "type", Penalty::elastic_net, LogisticSolver::automatic,
                     true);
}

}  // namespace
}  // namespace lemma
