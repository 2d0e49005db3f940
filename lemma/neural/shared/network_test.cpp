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
  Index broken_layer = -1;

  double value(const Vector& weights) const { return net.value(weights, x, targets, row_weights, nullptr); }
  double value(const Vector& weights, Vector& gradient) const {
    const double out = net.value(weights, x, targets, row_weights, &gradient);
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
      for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        Fitted f = made_up(static_cast<Activation>(s), static_cast<Loss>(l), seed);
        const Vector weights = weights_for(f.net, seed);
        const auto found = check_derivatives(f, weights);
        EXPECT_LE(found.gradient, 1e-6) << name_of(f.net.activation) << ' ' << name_of(f.net.loss) << ' ' << seed;
        EXPECT_LE(found.values, 1e-12);
        f.broken_layer = 2;
        EXPECT_GT(check_derivatives(f, weights).gradient, 1e-6) << name_of(f.net.loss);
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
