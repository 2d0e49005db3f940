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

void add_rows(Fitted& to, Index rows, RandomStream& random, std::uint64_t seed) {
  to.x = normal_matrix(rows, to.net.in(), seed, 1);
  to.targets = normal_matrix(rows, to.net.out(), seed, 2);
  if (to.net.loss == Loss::poisson) to.targets = to.targets.cwiseAbs();
  if (to.net.loss == Loss::cross_entropy) {
    to.targets.setZero();
    for (Index i = 0; i < rows; ++i) to.targets(i, random.below(to.net.out())) = 1;
  }
  to.row_weights = Vector::Ones(rows);
  to.row_weights(0) = 2;
}

Fitted made_up(Activation activation, Loss loss, std::uint64_t seed) {
  RandomStream random(seed);
  Fitted out;
  std::vector<Index> sizes{1 + random.below(4), 2 + random.below(4), 2 + random.below(3), 1 + random.below(3)};
  if (loss == Loss::cross_entropy) sizes.back() += 1;
  out.net = dense_network(sizes, activation, loss);
  add_rows(out, 3 + random.below(6), random, seed);
  return out;
}

/// Convolutions and pools of any shapes, then a dense layer: every other network begins with a pool.
Fitted made_up_of_images(Activation activation, Loss loss, std::uint64_t seed) {
  RandomStream random(seed, 77);
  Fitted out;
  out.net.loss = loss;
  Shape shape{5 + random.below(4), 4 + random.below(5), 1 + random.below(3)};
  for (std::uint64_t l = 0; l < 4; ++l) {
    const bool pools = (l + seed) % 2 == 0;
    Layer layer{
        pools ? random.below(2) == 0 ? Layer::Kind::max_pool : Layer::Kind::mean_pool : Layer::Kind::convolution, shape,
        shape, pools && seed % 3 != 0 ? Activation::identity : activation};
    layer.height = 1 + random.below(std::min<Index>(3, shape.height));
    layer.width = 1 + random.below(std::min<Index>(3, shape.width));
    layer.down = 1 + random.below(2);
    layer.right = 1 + random.below(2);
    layer.above = random.below(layer.height);
    layer.left = random.below(layer.width);
    const Index below = random.below(layer.height), beside = random.below(layer.width);
    layer.out.height = (shape.height + layer.above + below - layer.height) / layer.down + 1;
    layer.out.width = (shape.width + layer.left + beside - layer.width) / layer.right + 1;
    if (!pools) layer.out.channels = 1 + random.below(4);
    shape = layer.out;
    out.net.layers.push_back(layer);
  }
  out.net.layers.push_back(dense_layer(shape.size(), 3, activation));
  out.net.layers.push_back(dense_layer(3, 2, Activation::identity));
  add_rows(out, 3 + random.below(4), random, seed);
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
          EXPECT_LE(found.gradient, 1e-6) << name_of(static_cast<Activation>(s)) << ' ' << name_of(f.net.loss) << ' '
                                          << seed << " dropout " << share;
          EXPECT_LE(found.values, 1e-12);
          f.broken_layer = 2;
          EXPECT_GT(check_derivatives(f, weights).gradient, 1e-6) << name_of(f.net.loss);
        }
}

TEST(Network, EveryDerivativeOfConvolutionsAndPoolsIsThatOfDifferencesAndABrokenOneIsNot) {
  for (int s = 0; s < 6; ++s)
    for (const Loss loss : {Loss::squared, Loss::cross_entropy, Loss::poisson, Loss::absolute})
      for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        Fitted f = made_up_of_images(static_cast<Activation>(s), loss, seed);
        f.decay = seed % 2 == 0 ? 0.3 : 0;
        f.dropout = {seed % 3 == 0 ? 0.4 : 0.0, RandomStream(seed, 9)};
        const Vector weights = weights_for(f.net, seed);
        const auto found = check_derivatives(f, weights);
        EXPECT_LE(found.gradient, 1e-6) << name_of(static_cast<Activation>(s)) << ' ' << name_of(loss) << ' ' << seed;
        EXPECT_LE(found.values, 1e-12);
      }
  Fitted f = made_up_of_images(Activation::tanh, Loss::squared, 2);
  for (const Index l : f.net.with_weights()) {
    f.broken_layer = l;
    EXPECT_GT(check_derivatives(f, weights_for(f.net, 2)).gradient, 1e-6) << l;
  }
}

/// 4 x 4, the pixel at row y and column x is 10 y + x.
Matrix counted_image() {
  Matrix out(1, 16);
  for (Index y = 0; y < 4; ++y)
    for (Index x = 0; x < 4; ++x) out(0, 4 * y + x) = static_cast<double>(10 * y + x);
  return out;
}

TEST(Network, ConvolvesAndPoolsAsByHand) {
  const Matrix image = counted_image();
  Layer sum{Layer::Kind::convolution, {4, 4, 1}, {2, 2, 2}, Activation::identity, 3, 3};
  Vector weights = Vector::Zero(20);  // one filter adds up its window, the other takes its first pixel; and b
  weights.head(9).setOnes();
  weights(9) = 1;
  weights(19) = 0.5;
  const Matrix convolved = Network{{sum}}.outputs(weights, image);
  EXPECT_EQ(convolved, (Matrix{{9 * 11, 0.5, 9 * 12, 1.5, 9 * 21, 10.5, 9 * 22, 11.5}}));
  sum.above = sum.left = 1;  // half a window beyond the edge, two pixels at a time
  sum.down = sum.right = 2;
  const Matrix padded = Network{{sum}}.outputs(weights, image);
  EXPECT_EQ(
      padded,
      (Matrix{{0 + 1 + 10 + 11, 0.5, 1 + 2 + 3 + 11 + 12 + 13, 0.5, 10 + 11 + 20 + 21 + 30 + 31, 0.5, 9 * 22, 11.5}}));
  const Layer most{Layer::Kind::max_pool, {4, 4, 1}, {2, 2, 1}, Activation::identity, 2, 2, 2, 2};
  EXPECT_EQ(Network{{most}}.outputs(Vector(), image), (Matrix{{11, 13, 31, 33}}));
  Layer mean = most;
  mean.kind = Layer::Kind::mean_pool;
  EXPECT_EQ(Network{{mean}}.outputs(Vector(), image), (Matrix{{5.5, 7.5, 25.5, 27.5}}));
  mean.above = mean.left = 1;  // the mean of what a window holds of the image
  mean.out = {3, 3, 1};
  EXPECT_EQ(Network{{mean}}.outputs(Vector(), image), (Matrix{{0, 1.5, 3, 15, 16.5, 18, 30, 31.5, 33}}));
}

TEST(Network, AWindowAsLargeAsTheImageIsADenseLayer) {
  const Layer window{Layer::Kind::convolution, {3, 4, 2}, {1, 1, 5}, Activation::tanh, 3, 4};
  const Network convolution{{window, dense_layer(5, 2, Activation::identity)}};
  const Network dense = dense_network({24, 5, 2}, Activation::tanh, Loss::squared);
  ASSERT_EQ(convolution.weight_count(), dense.weight_count());
  const Vector weights = weights_for(dense, 4);
  const Matrix x = normal_matrix(7, 24, 3), targets = normal_matrix(7, 2, 4);
  EXPECT_EQ(convolution.outputs(weights, x), dense.outputs(weights, x));
  Vector of_windows, of_units;
  convolution.value(weights, x, targets, Vector::Ones(7), &of_windows);
  dense.value(weights, x, targets, Vector::Ones(7), &of_units);
  EXPECT_LE((of_windows - of_units).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(Network, WhatItSaysOfAnImageDoesNotDependOnTheOthers) {
  const Fitted f = made_up_of_images(Activation::relu, Loss::squared, 4);
  const Vector weights = weights_for(f.net, 4);
  const Matrix all = f.net.outputs(weights, f.x);
  for (Index i = 0; i < f.x.rows(); ++i) EXPECT_EQ(f.net.outputs(weights, f.x.row(i)), all.row(i));
}

TEST(Network, WhatItSaysOfARowDoesNotDependOnHowManyThereAre) {
  const Network net =
      dense_network({2, 30000, 2}, Activation::tanh, Loss::squared);  // rows go through it in pieces of 33
  const Vector weights = net.initial(Init::he, RandomStream(6));
  const Matrix x = normal_matrix(400, 2, 8), all = net.outputs(weights, x);
  ASSERT_EQ(all.rows(), 400);
  for (const Index i : {0, 32, 33, 362, 363, 399}) EXPECT_EQ(net.outputs(weights, x.row(i)), all.row(i)) << i;
  EXPECT_EQ(net.outputs(weights, x.topRows(0)).rows(), 0);
}

TEST(Network, BlocksOfAnyNumberOfRowsAreToldTheSame) {
  const Network net = dense_network({19, 30, 3}, Activation::relu, Loss::cross_entropy);
  const Vector weights = net.initial(Init::he, RandomStream(7));
  const Matrix x = normal_matrix(2200, 19, 9);
  const Standards standards{normal_matrix(19, 1, 10).col(0), normal_matrix(19, 1, 11).col(0).cwiseAbs()};
  const Matrix all = net.outputs(weights, x, standards);
  for (const Index size : {1, 2, 3, 5, 7, 95, 96, 97, 1056, 1057})
    for (Index first = 0; first + size <= x.rows(); first += size)
      ASSERT_EQ(net.outputs(weights, x.middleRows(first, size), standards), all.middleRows(first, size))
          << size << " rows from " << first;
}

/// Of numbers of 4 bytes beside those of 8: how far losses and gradients lie apart, relative to the largest derivative.
struct Apart {
  double loss, gradient;
};
Apart apart_in_single(const Fitted& f, const Vector& weights) {
  Pass full;
  PassOf<float> single;
  f.net.run(weights, f.x, f.targets, f.row_weights, true, full, f.dropout);
  f.net.run(SingleVector(weights.cast<float>()), SingleMatrix(f.x.cast<float>()), f.targets, f.row_weights, true,
            single, f.dropout);
  return {std::abs(single.loss / full.loss - 1),
          (single.gradient.cast<double>() - full.gradient).cwiseAbs().maxCoeff() / full.gradient.cwiseAbs().maxCoeff()};
}

TEST(Network, EveryDerivativeInSinglePrecisionIsThatOfFullToItsRounding) {
  for (int s = 0; s < 6; ++s)
    for (int l = 0; l < 4; ++l)
      for (std::uint64_t seed = 1; seed <= 6; ++seed)
        for (const bool of_images : {false, true}) {
          const auto activation = static_cast<Activation>(s);
          const auto loss = static_cast<Loss>(l);
          Fitted f = of_images ? made_up_of_images(activation, loss, seed) : made_up(activation, loss, seed);
          f.dropout = {seed % 3 == 0 ? 0.4 : 0.0, RandomStream(seed, 9)};
          const Apart apart = apart_in_single(f, weights_for(f.net, seed));
          EXPECT_LE(apart.loss, 1e-5) << name_of(activation) << ' ' << name_of(loss) << ' ' << seed << of_images;
          EXPECT_LE(apart.gradient, 2e-5) << name_of(activation) << ' ' << name_of(loss) << ' ' << seed << of_images;
        }
  // a derivative that is wrong by a thousandth would be seen
  Fitted f = made_up(Activation::tanh, Loss::squared, 2);
  const Vector weights = weights_for(f.net, 2);
  Fitted other = f;
  other.row_weights *= 1.001;
  Pass full, wrong;
  f.net.run(weights, f.x, f.targets, f.row_weights, true, full);
  f.net.run(weights, f.x, f.targets, other.row_weights, true, wrong);
  EXPECT_GT((wrong.gradient - full.gradient).cwiseAbs().maxCoeff() / full.gradient.cwiseAbs().maxCoeff(), 5e-4);
}

TEST(Network, InSinglePrecisionARowHasTheSameBitsInAnyCompanyAndLiesNearThoseOfFull) {
  const Network net = dense_network({19, 30, 3}, Activation::tanh, Loss::cross_entropy);
  const Vector weights = net.initial(Init::he, RandomStream(7));
  // columns far from 0: they are brought into their units before they are rounded
  const Matrix x = normal_matrix(2200, 19, 9).array() + 1e7;
  const Standards standards{Vector::Constant(19, 1e7), Vector::Constant(19, 0.9)};
  const Matrix all = net.outputs(weights, x, standards, Precision::single), full = net.outputs(weights, x, standards);
  EXPECT_LE((all - full).cwiseAbs().maxCoeff(), 1e-5);
  EXPECT_NE(all, full);
  for (const Index size : {1, 2, 3, 5, 7, 95, 96, 97, 1056, 1057})
    for (Index first = 0; first + size <= x.rows(); first += size)
      ASSERT_EQ(net.outputs(weights, x.middleRows(first, size), standards, Precision::single),
                all.middleRows(first, size))
          << size << " rows from " << first;
  const Fitted images = made_up_of_images(Activation::relu, Loss::squared, 4);
  const Vector of_images = weights_for(images.net, 4);
  const Matrix said = images.net.outputs(of_images, images.x, {}, Precision::single);
  for (Index i = 0; i < images.x.rows(); ++i)
    EXPECT_EQ(images.net.outputs(of_images, images.x.row(i), {}, Precision::single), said.row(i));
}

TEST(Network, TakesColumnsInUnitsOfTheirOwn) {
  const Network net = dense_network({6, 5, 2}, Activation::sigmoid, Loss::squared);
  const Vector weights = net.initial(Init::he, RandomStream(8)), mean = normal_matrix(6, 1, 12).col(0),
               scale = normal_matrix(6, 1, 13).col(0).cwiseAbs();
  const Matrix x = normal_matrix(300, 6, 14);
  Matrix scaled = x;
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < x.cols(); ++j) scaled(i, j) = (x(i, j) - mean(j)) / scale(j);
  EXPECT_EQ(net.outputs(weights, x, {mean, scale}), net.outputs(weights, scaled));
  EXPECT_EQ(net.outputs(weights, x, {Vector::Zero(6), Vector::Ones(6)}), net.outputs(weights, x));
  EXPECT_EQ(net.outputs(weights, x, 0, {mean, scale}), scaled);
  EXPECT_EQ(net.outputs(weights, x, 0), x);
}

TEST(Network, AnUnknownNumberIsNotTakenForZero) {
  for (const Activation s : {Activation::sigmoid, Activation::tanh, Activation::relu, Activation::softplus}) {
    const Network net = dense_network({2, 3, 1}, s, Loss::squared);
    for (const Precision precision : {Precision::single, Precision::full}) {
      const Matrix z = net.outputs(Vector::Ones(net.weight_count()), Matrix{{1, 2}, {1, std::nan("")}}, {}, precision);
      EXPECT_TRUE(std::isfinite(z(0, 0)) && std::isnan(z(1, 0))) << name_of(s);
    }
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

TEST(Network, OfGaussAndNewtonIsTheMatrixThatDifferencesOfTheOutputsMake) {
  for (const bool of_images : {false, true})
    for (const Loss loss : {Loss::squared, Loss::cross_entropy, Loss::poisson}) {
      const Fitted f = of_images ? made_up_of_images(Activation::tanh, loss, 3) : made_up(Activation::tanh, loss, 5);
      const Vector weights = weights_for(f.net, 5);
      const Index count = weights.size(), rows = f.x.rows(), outputs = f.net.out();
      Matrix slopes(rows * outputs, count), root(rows * outputs, count);
      for (Index j = 0; j < count; ++j) {
        Vector up = weights, down = weights;
        up(j) += 1e-5;
        down(j) -= 1e-5;
        const Matrix slope = (f.net.outputs(up, f.x) - f.net.outputs(down, f.x)) / 2e-5;
        slopes.col(j) = slope.reshaped<Eigen::RowMajor>();
      }
      const Matrix z = f.net.outputs(weights, f.x);
      for (Index i = 0; i < rows; ++i) {
        const Vector e = z.row(i).array().exp(), p = e / e.sum();
        Matrix hessian = Matrix::Identity(outputs, outputs);
        if (loss == Loss::poisson) hessian = e.asDiagonal();
        if (loss == Loss::cross_entropy) hessian = Matrix(p.asDiagonal()) - p * p.transpose();
        root.middleRows(i * outputs, outputs) = f.row_weights(i) * hessian * slopes.middleRows(i * outputs, outputs);
      }
      const Matrix expected = slopes.transpose() * root;
      Pass pass;
      Matrix found = Matrix::Zero(count, count);
      f.net.add_gauss_newton(weights, f.x, f.row_weights, pass, found);
      const Matrix off = (found - expected).triangularView<Eigen::Upper>();
      EXPECT_LE(off.cwiseAbs().maxCoeff(), 1e-6 * (1 + expected.cwiseAbs().maxCoeff())) << name_of(loss) << of_images;
    }
}

TEST(Network, DropoutLeavesOutItsShareAndKeepsTheMean) {
  const Network net = dense_network({3, 400, 1}, Activation::sigmoid, Loss::squared);
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
  const Network net = dense_network({200, 300, 100}, Activation::relu, Loss::squared);
  const std::pair<Init, double> rules[] = {{Init::fan_in, 1.0 / 200}, {Init::glorot, 2.0 / 500}, {Init::he, 2.0 / 200}};
  for (const auto& [init, variance] : rules) {
    const Vector weights = net.initial(init, RandomStream(2));
    const auto first = weights.head(net.layers[0].matrix_size());
    EXPECT_NEAR(first.squaredNorm() / static_cast<double>(first.size()) / variance, 1, 0.03) << name_of(init);
    EXPECT_EQ(weights.segment(net.layers[0].matrix_size(), 300), Vector::Zero(300));
  }
}

TEST(Network, WithoutActivationsItIsOneAffineMap) {
  const Network net = dense_network({3, 5, 4, 2}, Activation::identity, Loss::squared);
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
