// lemma/linear/elastic_net_test.cpp: what is of elastic_net alone; the rest it shares with lasso.
#include <lemma/linear/lasso/data_test.hpp>
#include <lemma/linear/ridge.hpp>

namespace lemma {

using namespace lasso_test;

TEST(ElasticNet, WithoutAbsoluteValuesIsRidge) {
  const Data data(40, 4);
  const auto net = fit(ElasticNet{.alpha = 0, .lambda = {5}, .tolerance = 1e-14}, data.x, data.response());
  const auto ridge = fit(Ridge{.lambda = {5}}, data.x, data.response());
  EXPECT_LT(largest_difference(net, ridge), 1e-9);
  EXPECT_NEAR(net.objective.of(0), ridge.objective.of(0), 1e-9);
}

/// The elastic net in two steps, ridge first and then the threshold; the net that was stretched by 1 + λ₂ / n (Zou and
/// Hastie's other one); and glmnet's λ, which is ours over n.
TEST(ElasticNet, TheNaturalWrongNetsFailTheCertificate) {
  const Wide data(80, 12);
  const MemoryRows rows = rows_of(data.x, data.y);
  const ElasticNet spec{.alpha = 0.5, .lambda = {20}, .standardize = false};
  const auto right = fit(spec, rows, {});
  ASSERT_TRUE(certify(right, rows, {}).holds()) << certify(right, rows, {}).message;
  auto two_steps = right, stretched = right, theirs = right;
  const auto ridge = fit(ElasticNet{.alpha = 0, .lambda = {10}, .standardize = false}, rows, {});
  two_steps.coefficients.of = ridge.coefficients.of.unaryExpr([](double b) {
    return b > 0.1 ? b - 0.1 : b < -0.1 ? b + 0.1 : 0.0;
  });
  stretched.coefficients.of *= 1 + 10.0 / 80;
  theirs.spec.lambda[0] = theirs.lambda.of(0) = theirs.chosen_lambda = 20.0 / 80;
  for (const auto& wrong : {two_steps, stretched, theirs}) EXPECT_FALSE(certify(wrong, rows, {}).holds());
}

}  // namespace lemma
