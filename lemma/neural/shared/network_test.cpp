// lemma/neural/shared/network_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/params.hpp>
#include <lemma/core/random.hpp>
#include <lemma/neural/shared/network.hpp>
#include <lemma/optimize/gradient_check.hpp>

namespace lemma::neural {
namespace {

/// The loss of made-up rows; the gradient of one layer may be told wrongly.
struct Fitted {
  Network net;
  Matrix x, targets;
  Vector row_weights;
  double decay = 0;
  Dropout dropout = {};
  Index broken_layer = -1;

  double value(const Vector& weights) const {
    return net.value(weights, x, targets, row_weights, nullptr, dropout) + decay * net.decay(weights);
  }
  double value(const Vector& weights, Vector& gradient) const {
    double out = net.value(weights, x, targets, row_weights, &gradient, dropout);
    out += decay * net.decay(weights, decay, &gradient);
    if (broken_layer >= 0)
      gradient.segment(net.begin(broken_layer), net.begin(broken_layer + 1) - net.begin(broken_layer)) *= 1.001;
    return out;
  }
};

Fitted made_up(Activation activation, Loss loss, std::uint64_t seed) {
  RandomStream random(seed);
  Fitted out;
  out.net = {{1 + random.below(4), 2 + random.below(4), 2 + random.below(3), 1 + random.below(3)}, activation, loss};
  if (loss == Loss::cross_entropy) out.net.sizes.back() += 1;
  const Index rows = 3 + random.below(6);
  out.x = normal_matrix(rows, out.net.sizes.front(), seed, 1);
  out.targets = normal_matrix(rows, out.net.sizes.back(), seed, 2);
  if (loss == Loss::poisson) out.targets = out.targets.cwiseAbs();
  if (loss == Loss::cross_entropy) {
    out.targets.setZero();
    for (Index i = 0; i < rows; ++i) out.targets(i, random.below(out.net.sizes.back())) = 1;
  }
  out.row_weights = Vector::Ones(rows);
  out.row_weights(0) = 2;
  return out;
}

Vector weights_for(const Network& net, std::uint64_t seed) {
  return normal_matrix(net.weight_count(), 1, seed, 3).col(0) * 0.7;
}

TEST(Network, EveryDerivativeIsThatOfDifferencesAndABrokenOneIsNot) {
  for (int s = 0; s < 6; ++s)
    for (int l = 0; l < 4; ++l)
      for (std::uint64_t seed = 1; seed <= 5; ++seed)
        for (const double share : {0.0, 0.4}) {
          Fitted f = made_up(static_cast<Activation>(s), static_cast<Loss>(l), seed);
          f.decay = seed % 2 == 0 ? 0.3 : 0;
          f.dropout = {share, RandomStream(seed, 9)};
          const Vector weights = weights_for(f.net, seed);
          const auto found = check_derivatives(f, weights);
          EXPECT_LE(found.gradient, 1e-6)
              << name_of(f.net.activation) << ' ' << name_of(f.net.loss) << ' ' << seed << " dropout " << share;
          EXPECT_LE(found.values, 1e-12);
          f.broken_layer = 2;
          EXPECT_GT(check_derivatives(f, weights).gradient, 1e-6) << name_of(f.net.loss);
        }
}

TEST(Network, CurvatureIsTheDiagonalOfGaussAndNewton) {
  for (const Loss loss : {Loss::squared, Loss::cross_entropy, Loss::poisson}) {
    const Fitted f = made_up(Activation::tanh, loss, 5);
    const Vector weights = weights_for(f.net, 5);
    Pass pass;
    const Vector found = f.net.curvature(weights, f.x, f.row_weights, pass);
    for (Index j = 0; j < weights.size(); ++j) {  // J by differences of the outputs
      Vector up = weights, down = weights;
      up(j) += 1e-5;
      down(j) -= 1e-5;
      const Matrix slope = (f.net.outputs(up, f.x) - f.net.outputs(down, f.x)) / 2e-5, z = f.net.outputs(weights, f.x);
      double expected = 0;
      for (Index i = 0; i < f.x.rows(); ++i) {
        const Vector d = slope.row(i), e = z.row(i).array().exp(), p = e / e.sum();
        const double of_row = loss == Loss::squared   ? d.squaredNorm()
                              : loss == Loss::poisson ? d.cwiseAbs2().dot(e)
                                                      : d.cwiseAbs2().dot(p) - std::pow(d.dot(p), 2);
        expected += f.row_weights(i) * of_row;
      }
      EXPECT_NEAR(found(j), expected, 1e-6 * (1 + expected)) << name_of(loss) << ' ' << j;
    }
  }
}

TEST(Network, DropoutLeavesOutItsShareAndKeepsTheMean) {
  const Network net{{3, 400, 1}, Activation::sigmoid, Loss::squared};
  const Vector weights = net.initial(Init::glorot, RandomStream(4));
  const Matrix x = normal_matrix(200, 3, 1, 1), targets = Matrix::Zero(200, 1);
  Pass pass;
  net.run(weights, x, targets, Vector::Ones(200), false, pass, {0.25, RandomStream(8)});
  EXPECT_NEAR((pass.kept[0].array() == 0).cast<double>().mean(), 0.25, 0.01);
  EXPECT_NEAR(pass.kept[0].mean(), 1, 0.01);
  Pass second;
  net.run(weights, x.bottomRows(150), targets.bottomRows(150), Vector::Ones(150), false, second,
          {0.25, RandomStream(8)}, 50);
  EXPECT_EQ(second.kept[0], pass.kept[0].bottomRows(150));  // a row's units do not depend on the piece it lies in
}

TEST(Network, WeightsOfTheStartHaveTheVarianceOfTheirRule) {
  const Network net{{200, 300, 100}, Activation::relu, Loss::squared};
  const std::pair<Init, double> rules[] = {{Init::fan_in, 1.0 / 200}, {Init::glorot, 2.0 / 500}, {Init::he, 2.0 / 200}};
  for (const auto& [init, variance] : rules) {
    const Vector weights = net.initial(init, RandomStream(2));
    const auto first = weights.head(net.matrix_size(0));
    EXPECT_NEAR(first.squaredNorm() / static_cast<double>(first.size()) / variance, 1, 0.03) << name_of(init);
    EXPECT_EQ(weights.segment(net.matrix_size(0), 300), Vector::Zero(300));
  }
}

TEST(Network, WithoutActivationsItIsOneAffineMap) {
  const Network net{{3, 5, 4, 2}, Activation::identity, Loss::squared};
  const Vector weights = weights_for(net, 7);
  const Matrix x = normal_matrix(6, 3, 7, 1);
  Matrix corners = Matrix::Zero(4, 3);
  corners.bottomRows(3).setIdentity();
  const Matrix at_corners = net.outputs(weights, corners);
  const Matrix slopes = at_corners.bottomRows(3).rowwise() - at_corners.row(0);
  const Matrix affine = (x * slopes).rowwise() + at_corners.row(0);
  EXPECT_LE((net.outputs(weights, x) - affine).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(Network, AWeightOfTwoIsTwoRows) {
  const Fitted f = made_up(Activation::tanh, Loss::cross_entropy, 3);
  Fitted g = f;
  g.x.resize(f.x.rows() + 1, f.x.cols());
  g.x << f.x, f.x.row(0);
  g.targets.resize(f.targets.rows() + 1, f.targets.cols());
  g.targets << f.targets, f.targets.row(0);
  g.row_weights = Vector::Ones(g.x.rows());
  const Vector weights = weights_for(f.net, 3);
  Vector a, b;
  EXPECT_NEAR(f.value(weights, a), g.value(weights, b), 1e-12);
  EXPECT_LE((a - b).cwiseAbs().maxCoeff(), 1e-12);
}

}  // namespace
}  // namespace lemma::neural
