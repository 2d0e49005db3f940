// lemma/linear/shared/likelihood_gap_test.cpp: the step by a triangle is Newton's, and the gap it proves is one.
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/linear/multinomial/parts.hpp>
#include <lemma/linear/shared/likelihood_gap.hpp>
#include <lemma/math/factorise.hpp>

namespace lemma {
namespace {

/// Overlapping classes, one of them rare, a column far from 0 and one that is constant.
struct Overlapping {
  Matrix x;
  Labels label;
  std::vector<std::string> classes;
  std::vector<double> weight;
  Overlapping(Index n, int count) : x(normal_matrix(n, 4, 8)) {
    RandomStream chance(9);
    for (Index i = 0; i < n; ++i) {
      const double along = x(i, 0) - 0.5 * x(i, 1) + 1.2 * chance.normal();
      label.push_back(std::min(count - 1, static_cast<int>(std::max(0.0, std::floor(along + 1)))));
      weight.push_back(static_cast<double>(i % 4));
    }
    x.col(2).array() += 1e4;
    x.col(3).setConstant(7);
    for (int k = 0; k < count; ++k) classes.push_back(std::string(1, static_cast<char>('a' + k)));
  }
  MemoryRows rows() const {
    MemoryRows out(x);
    out.labels(label, classes).weights(weight);
    return out;
  }
};

Matrix random_point(const softmax::Loss& loss, double size) {
  Matrix b = size * normal_matrix(loss.classes().count(), loss.terms(), 3);
  b.row(0).setZero();
  for (Index j = 0; j < loss.frame().width(); ++j)
    if (loss.frame().inverse_scale(j) == 0) b.col(j + 1).setZero();
  return b;
}

TEST(LikelihoodGap, TheStepByATriangleIsTheOneByTheHessian) {
  for (const int classes : {2, 3, 5}) {
    const Overlapping data(400, classes);
    const MemoryRows rows = data.rows();
    const softmax::Loss loss(rows, softmax::learn_classes(Multinomial{.lambda = 0}, rows, {}), {});
    const likelihood::Point at{rows, loss.frame(), random_point(loss, 0.3)};
    Matrix gradient, hessian;
    loss.value(at.b, gradient, hessian);
    const auto step = step_by_triangle(at, {});
    EXPECT_FALSE(step.dependent);
    const Index others = loss.size() - loss.terms();
    EXPECT_LT((step.curvature - hessian.bottomRightCorner(others, others)).cwiseAbs().maxCoeff(), 1e-10) << classes;
    const Vector slopes = Eigen::Map<const Vector>(gradient.data(), gradient.size()).tail(others);
    EXPECT_LT((step.gradient - slopes).cwiseAbs().maxCoeff(), 1e-10) << classes;
    const Vector d = Eigen::Map<const Vector>(step.d.data(), step.d.size()).tail(others);
    EXPECT_LT((step.curvature * d + slopes).cwiseAbs().maxCoeff(), 1e-9) << classes;
    const auto found = gap_by(step.d, at, {});
    EXPECT_LT(found.apart, 1e-12) << classes;
    EXPECT_NEAR(found.objective, loss.value(at.b), 1e-10 * found.objective);
  }
}

TEST(LikelihoodGap, BoundsTheDistanceToTheLeastLoss) {
  for (const int classes : {2, 4}) {
    const Overlapping data(400, classes);
    const MemoryRows rows = data.rows();
    const softmax::Loss loss(rows, softmax::learn_classes(Multinomial{.lambda = 0}, rows, {}), {});
    const auto best = softmax::newton(loss, softmax::penalty_of(Multinomial{.lambda = 0}),
                                      Matrix::Zero(classes, loss.terms()), {.tolerance = 1e-12});
    for (const double away : {1e-6, 1e-3, 0.05}) {
      const likelihood::Point at{rows, loss.frame(), best.b + random_point(loss, away)};
      const auto found = gap_by(step_by_triangle(at, {}).d, at, {});
      ASSERT_TRUE(found.proved(false)) << away;
      const double excess = loss.value(at.b) - loss.value(best.b);
      EXPECT_GE(found.gap, excess - 1e-12 * found.objective) << away;
      EXPECT_LE(found.gap, 1.5 * excess + 1e-12 * found.objective) << away;  // and not by much more
    }
  }
}

TEST(LikelihoodGap, WithoutNewtonsStepNothingIsProved) {
  const Overlapping data(200, 3);
  const MemoryRows rows = data.rows();
  const softmax::Loss loss(rows, softmax::learn_classes(Multinomial{.lambda = 0}, rows, {}), {});
  const likelihood::Point at{rows, loss.frame(), random_point(loss, 0.3)};
  const auto still = gap_by(Matrix::Zero(3, loss.terms()), at, {});
  EXPECT_EQ(still.gap, 0);
  EXPECT_FALSE(still.proved(false));  // the residuals do not add up to 0
  const auto far = gap_by(100 * step_by_triangle(at, {}).d, at, {});
  EXPECT_FALSE(far.proved(false));
}

}  // namespace
}  // namespace lemma
