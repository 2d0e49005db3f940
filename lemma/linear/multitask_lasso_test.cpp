// lemma/linear/multitask_lasso_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/linear/lasso.hpp>
#include <lemma/linear/multitask_lasso.hpp>
#include <lemma/linear/ols.hpp>
#include <lemma/model/fit.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

/// Three of the columns say something of all responses, which have units of their own.
struct Tasks {
  Matrix x, y;
  std::vector<double> flat, weight;
  Tasks(Index n, Index p, Index m, std::uint64_t seed = 3) : x(normal_matrix(n, p, seed)) {
    for (Index j = 1; j < p; ++j) x.col(j) += 0.5 * x.col(j - 1);
    Matrix b = Matrix::Zero(p, m);
    b.topRows(3) = normal_matrix(3, m, seed + 1);
    y = x * b + normal_matrix(n, m, seed + 2);
    for (Index k = 0; k < m; ++k) y.col(k) = y.col(k) * std::pow(10, static_cast<double>(k)) + Vector::Constant(n, 3);
    flatten();
  }
  void flatten() {
    flat.clear();
    for (Index i = 0; i < y.rows(); ++i)
      for (Index k = 0; k < y.cols(); ++k) flat.push_back(y(i, k));
  }
  MemoryRows rows() const {
    MemoryRows out(x);
    if (y.cols() == 1) {
      out.response(flat);
    } else {
      std::vector<ResponseColumn> columns;
      for (Index k = 0; k < y.cols(); ++k) columns.push_back({"y" + std::to_string(k + 1), {}});
      out.several(flat, columns);
    }
    if (!weight.empty()) out.weights(weight);
    return out;
  }
};
MultitaskLassoModel fitted(const MultitaskLasso& spec, const Tasks& data) {
  return fit(Valid<MultitaskLasso>(spec), data.rows(), {});
}

/// Rows of B that are 0 have ‖Zⱼᵀ R‖ ≤ λ; of the others Zⱼᵀ R = λ cⱼ / ‖cⱼ‖.
TEST(MultitaskLasso, MeetsTheConditionsOfItsMinimum) {
  const Tasks data(80, 10, 3);
  for (const double lambda : {1.0, 10.0, 40.0}) {
    const auto m = fitted({.lambda = lambda, .tolerance = 1e-14}, data);
    ASSERT_TRUE(m.certificate.holds()) << lambda << ": " << m.certificate.message;
    const Matrix centred = data.x.rowwise() - data.x.colwise().mean();
    const Matrix z = centred.array().rowwise() / m.scale.transpose().array();
    const Matrix left = (data.y - m.values(data.x)).array().rowwise() / m.response_scale.transpose().array();
    const Matrix products = z.transpose() * left;
    Matrix c = m.coefficients.array().colwise() * m.scale.array();
    c = c.array().rowwise() / m.response_scale.transpose().array();
    for (Index j = 0; j < 10; ++j) {
      if (c.row(j).isZero(0)) {
        EXPECT_LE(products.row(j).norm(), lambda * (1 + 1e-6)) << j;
      } else {
        EXPECT_LT((products.row(j) - lambda * c.row(j).normalized()).norm(), 1e-5 * lambda) << j;
        EXPECT_TRUE((c.row(j).array() != 0).all()) << "in the model for all responses";
      }
    }
    for (Index k = 0; k < 3; ++k) EXPECT_NEAR(left.col(k).mean(), 0, 1e-10);
  }
}

TEST(MultitaskLasso, OfOneResponseIsTheLasso) {
  const Tasks data(60, 8, 1);
  for (const bool intercept : {true, false}) {
    const auto m =
        fitted({.lambda = 7, .intercept = intercept, .standardize_responses = false, .tolerance = 1e-13}, data);
    const auto lasso =
        fit(Valid<Lasso>(Lasso{.lambda = {7}, .intercept = intercept, .tolerance = 1e-13}), data.rows(), {});
    EXPECT_LT((m.predict(data.x) - lasso.predict(data.x)).cwiseAbs().maxCoeff(), 1e-5);
    EXPECT_TRUE(m.response_classes().empty());
  }
}

TEST(MultitaskLasso, WithHardlyAPenaltyIsLeastSquaresOfEachResponse) {
  const Tasks data(50, 4, 2);
  const auto m = fitted({.lambda = 1e-5, .tolerance = 1e-13}, data);
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
  for (Index k = 0; k < 2; ++k) {
    const Vector y = data.y.col(k);
    MemoryRows rows(data.x);
    rows.response({y.data(), at(y.size())});
    const auto ols = fit(Valid<Ols>(Ols{}), rows, {});
    EXPECT_LT((m.values(data.x).col(k) - ols.predict(data.x)).cwiseAbs().maxCoeff(), 1e-5 * y.cwiseAbs().maxCoeff());
  }
}

TEST(MultitaskLasso, FindsTheColumnsThatTheResponsesShare) {
  const Tasks data(200, 30, 4);
  const auto m = fitted({}, data);
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
  EXPECT_TRUE(certify(m, data.rows(), {}).holds()) << certify(m, data.rows(), {}).message;
  EXPECT_EQ(m.bic.size(), 50);
  Index best = 0;
  m.bic.minCoeff(&best);
  EXPECT_EQ(m.lambda, m.lambda_path(best));
  EXPECT_FALSE(m.spec.lambda.has_value());
  for (Index j = 0; j < 3; ++j) EXPECT_FALSE(m.coefficients.row(j).isZero(0)) << j;
  EXPECT_LE(m.kept, 8);
  const auto none = fitted({.lambda = m.lambda_path(0) * (1 + 1e-9)}, data);
  EXPECT_EQ(none.kept, 0);
  EXPECT_TRUE(none.certificate.holds());
}

TEST(MultitaskLasso, NeitherUnitsNorWeightsAsCopiesChangeIt) {
  Tasks data(60, 6, 3);
  const auto m = fitted({.lambda = 5}, data);
  Tasks other = data;
  other.x.col(2) *= 1024;
  other.y.col(1) *= 0.125;
  other.flatten();
  const auto in_others = fitted({.lambda = 5}, other);
  EXPECT_LT((in_others.values(other.x).col(1) * 8 - m.values(data.x).col(1)).cwiseAbs().maxCoeff(), 1e-5);
  Tasks weighted = data;
  std::vector<Index> copies;
  for (Index i = 0; i < 60; ++i) {
    weighted.weight.push_back(static_cast<double>(i % 3));
    for (Index c = 0; c < i % 3; ++c) copies.push_back(i);
  }
  Tasks copied = data;
  copied.x = data.x(copies, Eigen::all);
  copied.y = data.y(copies, Eigen::all);
  copied.flatten();
  const auto a = fitted({.lambda = 5}, weighted), b = fitted({.lambda = 5}, copied);
  EXPECT_LT((a.coefficients - b.coefficients).cwiseAbs().maxCoeff(), 1e-4);
  EXPECT_TRUE(certify(a, copied.rows(), {}).holds()) << certify(a, copied.rows(), {}).message;
}

TEST(MultitaskLasso, TheNaturalWrongAnswersFailTheCertificate) {
  const Tasks data(80, 10, 3);
  const auto rows = data.rows();
  const auto right = fitted({.lambda = 10}, data);
  ASSERT_TRUE(certify(right, rows, {}).holds());
  auto alone = right;  // each response by a lasso of its own
  for (Index k = 0; k < 3; ++k) {
    const Vector y = data.y.col(k) / right.response_scale(k);
    MemoryRows one(data.x);
    one.response({y.data(), at(y.size())});
    const auto lasso = fit(Valid<Lasso>(Lasso{.lambda = {10}}), one, {});
    alone.coefficients.col(k) = right.response_scale(k) * lasso.coefficients.of.row(0).transpose();
    alone.intercept(k) = right.response_scale(k) * lasso.intercept.of(0);
  }
  auto shorter = right;
  shorter.coefficients *= 0.999;
  auto moved = right;
  moved.intercept(1) += 0.1;
  auto told = right;
  told.explained(2) += 1e-3;
  auto penalty = right;
  penalty.lambda = 10.1;
  for (const auto& wrong : {alone, shorter, moved, told, penalty}) EXPECT_FALSE(certify(wrong, rows, {}).holds());
}

TEST(MultitaskLasso, ConstantAndEqualColumnsDoNoHarmAndWithoutAPenaltyItIsRefused) {
  Tasks data(40, 5, 2);
  EXPECT_NE(message_of([&] { fitted({.lambda = 0}, data); }).find("lambda"), std::string::npos);
  data.x.col(3).setConstant(4);
  data.x.col(4) = data.x.col(0);
  const auto m = fitted({.lambda = 2}, data);
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
  EXPECT_TRUE(m.coefficients.row(3).isZero(0));
  data.y.col(1).setConstant(2);
  data.flatten();
  const auto flat = fitted({.lambda = 2}, data);
  EXPECT_TRUE(flat.certificate.holds()) << flat.certificate.message;
  EXPECT_NEAR(flat.values(data.x)(7, 1), 2, 1e-9);
}

}  // namespace
}  // namespace lemma
