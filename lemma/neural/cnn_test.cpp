// lemma/neural/cnn_test.cpp: convolutional networks: their language, what they learn, what they claim, what they refuse.
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/data/split.hpp>
#include <lemma/model/fit.hpp>
#include <lemma/neural/cnn.hpp>
#include <lemma/neural/cnn/layers.hpp>
#include <lemma/neural/mlp.hpp>
#include <lemma/optimize/minimise.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

using neural::Layer;
using neural::Loss;
using neural::Shape;
using neural::Solver;

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

struct Images {
  Matrix x;
  Labels label;
  std::vector<double> y, flat;
  MemoryRows classes() const {
    MemoryRows out(x);
    return out.labels(label, {"bar", "cross"});
  }
  MemoryRows numbers() const {
    MemoryRows out(x);
    return out.response(y);
  }
};

/// 8 x 8, a bar of three pixels or a cross of five in noise, its middle in the columns [first, last).
Images marks(Index n, Index first, Index last, std::uint64_t seed) {
  Images out{0.1 * normal_matrix(n, 64, seed), {}, {}, {}};
  RandomStream random(seed, 3);
  for (Index i = 0; i < n; ++i) {
    const Index y = 1 + random.below(6), x = first + random.below(last - first);
    const bool cross = i % 2 == 1;
    for (Index d = -1; d <= 1; ++d) {
      out.x(i, 8 * (y + d) + x) += 1;
      if (cross && d != 0) out.x(i, 8 * y + x + d) += 1;
    }
    out.label.push_back(cross ? 1 : 0);
    out.y.push_back(static_cast<double>(y) + (cross ? 10 : 0));
    out.flat.insert(out.flat.end(), {out.y.back(), static_cast<double>(x)});
  }
  return out;
}

template <class Spec>
auto fitted(const Spec& spec, const Rows& rows, std::uint64_t seed = 1, int threads = 2) {
  FitOptions options;
  options.seed = seed;
  options.threads = threads;
  return fit(Valid<Spec>(spec), rows, options);
}

double share_right(const auto& model, const Images& data) {
  const Labels said = model.classify(data.x);
  double right = 0;
  for (std::size_t i = 0; i < said.size(); ++i) right += said[i] == data.label[i];
  return right / static_cast<double>(said.size());
}

/// Smooth all over, so that a gradient can vanish.
Cnn smooth() {
  Cnn out;
  out.layers = "conv(3, 3x3) tanh pool(2x2, mean) dense(4) tanh";
  out.image = "8x8";
  return out;
}

TEST(Cnn, ReadsLayersAsTheyAreWritten) {
  const auto layers = cnn::layers_of(
      "conv(8, 3x3) relu pool(2x2) conv( 16,5x3 , stride=2x1, pad=same )tanh pool(3, mean, "
      "stride=1, pad=1x0) dense(64) softmax dense(5)",
      Shape{28, 27, 3});
  ASSERT_EQ(layers.size(), 6U);
  EXPECT_EQ(layers[0].out, (Shape{26, 25, 8}));
  EXPECT_EQ(layers[0].activation, neural::Activation::relu);
  EXPECT_EQ(layers[1].kind, Layer::Kind::max_pool);
  EXPECT_EQ(layers[1].out, (Shape{13, 12, 8}));
  EXPECT_EQ(layers[2].out, (Shape{7, 12, 16}));
  EXPECT_EQ(layers[2].above, 2);
  EXPECT_EQ(layers[2].left, 1);
  EXPECT_EQ(layers[2].weights(), 16 * (5 * 3 * 8 + 1));
  EXPECT_EQ(layers[3].kind, Layer::Kind::mean_pool);
  EXPECT_EQ(layers[3].out, (Shape{7, 10, 16}));
  EXPECT_EQ(layers[4].fan_in(), 7 * 10 * 16);
  EXPECT_EQ(layers[5].activation, neural::Activation::identity);
  EXPECT_TRUE(cnn::layers_of(" ", Shape{3, 3, 1}).empty());
  EXPECT_EQ(cnn::image_of("28x28"), (Shape{28, 28, 1}));
  EXPECT_EQ(cnn::image_of("28 x 20 x 3"), (Shape{28, 20, 3}));
}

TEST(Cnn, ShowsWithACaretWhereTheLayersCannotBeRead) {
  const Shape image{6, 6, 1};
  const auto refused = [&](const std::string& text, std::string_view part, std::size_t place) {
    const std::string message = message_of([&] { cnn::layers_of(text, image); });
    EXPECT_TRUE(contains(message, part)) << message;
    EXPECT_TRUE(contains(message, "\n  " + text + "\n  " + std::string(place, ' ') + "^")) << message;
  };
  refused("cnv(8, 3x3)", "did you mean 'conv'", 0);
  refused("conv(8, 3x3) rleu", "did you mean 'relu'", 13);
  refused("relu conv(8, 3x3)", "after a layer", 0);
  refused("conv(8, 3x3) relu tanh", "already", 18);
  refused("conv(8, 3x3) softmax", "dense layers", 13);
  refused("conv(8)", "size of the window", 6);
  refused("conv(0, 3x3)", "whole number from 1", 5);
  refused("conv(2.5, 3x3)", "whole number", 5);
  refused("conv(8, 3x0)", "whole number from 1", 10);
  refused("conv(8, 7x3)", "larger than the image of 6 x 6", 8);
  refused("conv(8, 3x3) pool(5x5)", "larger than the image of 4 x 4", 18);
  refused("conv(8, 3x3, pad=3)", "smaller than the window", 17);
  refused("conv(8, 3x3, pad=all)", "same", 17);
  refused("conv(8, 3x3, stide=2)", "did you mean 'stride'", 13);
  refused("pool(2x2, stride)", "'='", 16);
  refused("pool(2x2, min)", "max, mean", 10);
  refused("dense(8) conv(2, 1x1)", "takes an image", 9);
  refused("dense 8", "'('", 6);
  refused("dense(8", "')'", 7);
  refused("dense(0)", "whole number from 1", 6);
  EXPECT_TRUE(contains(message_of([] { cnn::image_of("28"); }), "28x28x3"));
  EXPECT_TRUE(contains(message_of([] { cnn::image_of("28x0"); }), "whole number from 1"));
  EXPECT_TRUE(contains(message_of([] { cnn::image_of("8x8x1x2"); }), "channels"));
}

TEST(Cnn, ReadsOrRefusesAnyText) {
  const std::vector<std::string> words{"conv", "pool",   "dense", "relu", "tanh", "(",   ")",  ",",
                                       "=",    "3x3",    "x",     "2",    "0",    "1e9", "-1", "same",
                                       "pad",  "stride", "mean",  " ",    "1x",   ".5",  "é",  "max"};
  RandomStream random(5);
  int read = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    std::string text;
    for (Index k = 1 + random.below(12); k > 0; --k) text += words[static_cast<std::size_t>(random.below(24))];
    try {
      for (const Layer& each : cnn::layers_of(text, Shape{9, 7, 2})) {
        EXPECT_GE(each.out.size(), 1) << text;
        EXPECT_LE(each.out.size(), 100'000'000) << text;
      }
      ++read;
    } catch (const Error&) {}
    try {
      EXPECT_GE(cnn::image_of(text).size(), 1) << text;
    } catch (const Error&) {}
  }
  EXPECT_GT(read, 0);
  std::string many;
  for (int l = 0; l < 1001; ++l) many += "pool(1x1)";
  EXPECT_TRUE(contains(message_of([&] { cnn::layers_of(many, Shape{9, 7, 2}); }), "at most 1000 layers"));
  EXPECT_TRUE(contains(message_of([] { cnn::layers_of("conv(900, 1x1)", Shape{1000, 1000, 1}); }), "at most"));
}

TEST(Cnn, ChoosesLayersThatFitTheImage) {
  for (const Shape& image : {Shape{1, 1, 1}, Shape{1, 2, 1}, Shape{2, 2, 1}, Shape{3, 5, 2}, Shape{1, 40, 1},
                             Shape{8, 8, 1}, Shape{28, 28, 3}, Shape{4, 1, 1}}) {
    const auto layers = cnn::layers_of(cnn::usual_layers(image), image);
    EXPECT_GE(layers.size(), 2U);
    EXPECT_EQ(layers[0].out.height, image.height);
  }
  EXPECT_EQ(cnn::usual_image(64), (Shape{8, 8, 1}));
  EXPECT_EQ(cnn::usual_image(7), (Shape{1, 7, 1}));
}

TEST(Cnn, ReadsDigitsWithASmallNetwork) {
  const Table digits = dataset("digits");
  const Split parts = split(digits.rows(), {.share = 0.25}, strata_of(digits.column("digit")), 1);
  Cnn spec;
  spec.layers = "conv(16, 3x3, pad=same) relu pool(2x2) conv(32, 3x3) relu dense(64) relu";
  spec.image = "8x8x1";
  const auto model = fit(spec, formula("digit ~ ."), digits.select(parts.train));
  EXPECT_EQ(model.certificate.strength, Strength::none);
  const Table test = digits.select(parts.test);
  const Labels said = model.classify(test);
  double right = 0;
  for (Index i = 0; i < test.rows(); ++i)
    right += model.design.classes()[at(said[at(i)])] == test.column("digit").text(i);
  EXPECT_GE(right / static_cast<double>(test.rows()), 0.98);
}

TEST(Cnn, KnowsAMarkInAPlaceWhereItHasNeverSeenOneAndADenseNetworkDoesNot) {
  const Images left = marks(400, 1, 4, 1), right = marks(400, 4, 7, 2);
  Cnn spec;
  spec.layers = "conv(6, 3x3) relu pool(6x6) dense(8) relu";
  spec.image = "8x8";
  spec.decay = 0.01;
  EXPECT_GE(share_right(fitted(spec, left.classes()), right), 0.95);
  EXPECT_LE(share_right(fitted(Mlp{.layers = {16}, .decay = 0.01}, left.classes()), right), 0.9);
}

TEST(Cnn, IsStationaryWhereAllRowsAreLookedAtAndVerifiesByPlainLoops) {
  const Images data = marks(120, 1, 7, 3);
  for (const bool of_classes : {true, false}) {
    const auto rows = of_classes ? data.classes() : data.numbers();
    const auto model = fitted(smooth(), rows);
    EXPECT_EQ(*model.spec.solver, Solver::lbfgs);
    EXPECT_EQ(model.certificate.strength, Strength::stationary);
    EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
    EXPECT_TRUE(verify(model, rows).holds()) << verify(model, rows).message;
    CnnModel forged = model;
    forged.weights(forged.weights.size() - 9) += 0.01;
    EXPECT_TRUE(verify(forged, rows).fails());
    forged = model;
    forged.gradient_sizes(1) *= 1.01;
    EXPECT_TRUE(verify(forged, rows).fails());
    forged = model;
    forged.mean.array() += 0.01;
    EXPECT_TRUE(verify(forged, rows).fails());
  }
}

TEST(Cnn, ByBatchesAndStoppedByRowsHeldOutClaimsNothing) {
  const Images data = marks(300, 1, 7, 3);
  const auto rows = data.classes();
  Cnn spec;
  spec.layers = "conv(4, 3x3) relu pool(2x2) dense(8) relu";
  spec.validation = 0.3;
  spec.dropout = 0.2;
  const auto model = fitted(spec, rows);
  EXPECT_EQ(*model.spec.image, "8x8x1");
  EXPECT_EQ(*model.spec.solver, Solver::adam);
  EXPECT_EQ(verify(model, rows).strength, Strength::none) << verify(model, rows).message;
  EXPECT_EQ(model.validation_loss.minCoeff(), model.validation_loss(model.best_epoch - 1));
  CnnModel forged = model;
  forged.loss *= 1.01;
  EXPECT_TRUE(verify(forged, rows).fails());
}

// The natural wrong algorithm: a convolution as mathematics has it, which runs through the filter backwards. It ends where its own
// gradient vanishes, with filters that are mirror images of what they should be.
struct Mirrored {
  const neural::Objective& right;
  Index filters, size;
  Vector mirrored(Vector weights) const {
    for (Index k = 0; k < filters; ++k) weights.segment(k * size, size).reverseInPlace();
    return weights;
  }
  double value(const Vector& weights) const { return right.value(mirrored(weights)); }
  double value(const Vector& weights, Vector& gradient) const {
    const double out = right.value(mirrored(weights), gradient);
    gradient = mirrored(gradient);
    return out;
  }
};

TEST(Cnn, TheNaturalWrongAlgorithmFailsTheCertificate) {
  const Images data = marks(60, 1, 7, 4);
  const auto rows = data.classes();
  const CnnModel right = fitted(smooth(), rows);
  ASSERT_TRUE(certify(right, rows, {}).holds());
  const neural::Plan plan = right.plan();
  neural::Examples all{right.scaled(data.x), Matrix::Zero(60, 2), Vector::Ones(60)};
  for (Index i = 0; i < 60; ++i) all.targets(i, data.label[at(i)]) = 1;
  const neural::Objective objective(plan.net, all, right.spec.decay, {});
  const auto told =
      [&](const Vector& weights) {  // all that is told of these weights is true, but that they are stationary
        CnnModel out = right;
        out.weights = weights;
        out.objective = out.restart_losses(0) = objective.value(weights);
        out.loss = out.training_loss(out.training_loss.size() - 1) = objective.loss(weights) / 60;
        return certify(out, rows, {});
      };
  EXPECT_TRUE(told(right.weights).holds());
  const Mirrored wrong{objective, 3, 9};
  const Vector start = plan.net.initial(*right.spec.init, RandomStream(1).split(0).split(0));
  MinimiseOptions options;
  options.most_iterations = 5000;
  options.tolerance = 1e-7;
  const Minimum found = lbfgs(wrong, start, options);
  EXPECT_TRUE(found.converged);
  EXPECT_TRUE(told(wrong.mirrored(found.x)).holds());
  EXPECT_TRUE(told(found.x).fails()) << told(found.x).message;
}

TEST(Cnn, HasTheSameBitsOnAnyNumberOfThreads) {
  const Images data = marks(150, 1, 7, 5);
  const auto rows = data.classes();
  Cnn by_batches;
  by_batches.layers = "conv(4, 3x3, pad=same) relu pool(2x2) conv(5, 2x2) relu dense(8) relu";
  by_batches.epochs = 3;
  by_batches.dropout = 0.2;
  Cnn on_all = smooth();
  on_all.solver = Solver::lbfgs;
  on_all.max_iterations = 20;
  for (const Cnn& spec : {by_batches, on_all}) {
    const CnnModel one = fitted(spec, rows, 1, 1);
    for (const int threads : {2, 3, 8}) {
      const CnnModel other = fitted(spec, rows, 1, threads);
      EXPECT_EQ(other.weights, one.weights) << threads;
      EXPECT_EQ(other.training_loss, one.training_loss) << threads;
    }
  }
}

TEST(Cnn, TellsItsFiltersAndTheActivationsOfEachLayer) {
  const Images data = marks(80, 1, 7, 6);
  Cnn spec = smooth();
  spec.max_iterations = 20;
  const auto model = fitted(spec, data.classes());
  ASSERT_EQ(model.filters.rows(), 3);
  ASSERT_EQ(model.filters.cols(), 9);
  const auto said = model.activations(data.x.topRows(5), {});
  ASSERT_EQ(said.values.cols(), 36 * 3 + 9 * 3 + 4);
  ASSERT_EQ(said.columns.size(), 139U);
  EXPECT_EQ(said.columns[0], "conv_1_1_1_1");
  EXPECT_EQ(said.columns[107], "conv_1_6_6_3");
  EXPECT_EQ(said.columns[108], "pool_2_1_1_1");
  EXPECT_EQ(said.columns[138], "dense_3_4");
  // the first filter at row 2 and column 3 of the first image
  const Matrix image = model.scaled(data.x.topRows(1));
  double sum = model.weights(27);
  for (Index y = 0; y < 3; ++y)
    for (Index x = 0; x < 3; ++x) sum += model.filters(0, 3 * y + x) * image(0, 8 * (1 + y) + 2 + x);
  EXPECT_NEAR(said.values(0, (1 * 6 + 2) * 3), std::tanh(sum), 1e-12);
  EXPECT_TRUE(contains(model.summary({}), "conv 3 x 3, tanh: 6 x 6, 3 channels"));
}

TEST(Cnn, OfSeveralResponsesIsOneNetworkOfThemAll) {
  const Images data = marks(200, 1, 7, 7);
  MemoryRows rows(data.x);
  rows.several(data.flat, {{"row", {}}, {"column", {}}});
  Cnn spec = smooth();
  spec.layers = "conv(4, 3x3) tanh dense(8) tanh";
  const auto model = fitted(spec, rows);
  const Matrix said = model.values(data.x);
  ASSERT_EQ(said.cols(), 2);
  double squares = 0, all = 0;
  for (Index i = 0; i < 200; ++i) {
    squares += std::pow(said(i, 1) - data.flat[at(2 * i + 1)], 2);
    all += std::pow(data.flat[at(2 * i + 1)] - 3.5, 2);
  }
  EXPECT_LE(squares, 0.2 * all);
}

TEST(Cnn, CopiesOfARowAreOneOfTheirWeightBitByBit) {
  const Images data = marks(40, 1, 7, 8);
  Images copies;
  std::vector<double> weight;
  std::vector<Index> which;
  for (Index i = 0; i < 40; ++i) {
    weight.push_back(static_cast<double>(i % 3));
    for (Index k = 0; k < i % 3; ++k) which.push_back(i);
  }
  copies.x.resize(std::ssize(which), 64);
  for (std::size_t i = 0; i < which.size(); ++i) {
    const std::size_t from = which.size() - 1 - i;
    copies.x.row(static_cast<Index>(i)) = data.x.row(which[from]);
    copies.label.push_back(data.label[at(which[from])]);
  }
  Cnn spec;
  spec.epochs = 2;
  auto weighted = data.classes();
  weighted.weights(weight);
  EXPECT_EQ(fitted(spec, weighted).weights, fitted(spec, copies.classes()).weights);
}

TEST(Cnn, ComparesItsDerivativesWithDifferencesWhenAsked) {
  const Images data = marks(50, 1, 7, 9);
  Cnn spec = smooth();
  spec.gradcheck = true;
  spec.max_iterations = 2;
  const auto model = fitted(spec, data.classes());
  ASSERT_EQ(model.gradient_errors.size(), 1);
  EXPECT_LE(model.gradient_errors(0), 1e-6);
}

TEST(Cnn, FindsStepsThatDivergeAndProposesASmallerOne) {
  const Images data = marks(100, 1, 7, 10);
  Cnn spec;
  spec.solver = Solver::sgd;
  spec.step = 100;
  const auto model = fitted(spec, data.numbers());
  ASSERT_FALSE(model.warnings.empty());
  EXPECT_TRUE(contains(model.warnings[0], "diverge") && contains(model.warnings[0], "--step 10")) << model.warnings[0];
  EXPECT_TRUE(model.predict(data.x).allFinite());
}

TEST(Cnn, ScalesAChannelAsOneAndNamesThoseThatAreConstant) {
  Images data = marks(60, 1, 7, 11);
  Cnn spec;
  spec.image = "8x4x2";
  spec.epochs = 1;
  for (Index j = 0; j < 64; j += 2) data.x.col(j).setConstant(5);
  const auto model = fitted(spec, data.classes());
  EXPECT_EQ(model.mean(0), 5);
  EXPECT_EQ(model.scale(0), 1);
  const Matrix second = data.x(Eigen::all, Eigen::seq(1, 63, 2));
  EXPECT_NEAR(model.mean(3), second.mean(), 1e-12);
  EXPECT_NEAR(model.scale(3), std::sqrt((second.array() - second.mean()).square().mean()), 1e-12);
  EXPECT_EQ(model.mean(3), model.mean(63));
  ASSERT_FALSE(model.warnings.empty());
  EXPECT_TRUE(contains(model.warnings[0], "channel 1 ")) << model.warnings[0];
}

TEST(Cnn, SaysWhatElseThereIsForNewImages) {
  const Table some = dataset("digits").slice(0, 60);
  Cnn spec;
  spec.layers = "conv(2, 3x3) relu", spec.epochs = 1;
  const TrainedModel model = fit(spec, formula("factor(digit) ~ ."), some).trained;
  const std::string message = message_of([&] { model.update(MemoryTableStream(some), {}); });
  EXPECT_TRUE(contains(message, "cannot be updated")) << message;
  EXPECT_TRUE(contains(message, "--from")) << message;
}

TEST(Cnn, RefusesWhatItCannotUse) {
  const Images data = marks(30, 1, 7, 12);
  const auto refused = [&](auto&& change, std::string_view part) {
    Cnn spec;
    change(spec);
    const std::string message = message_of([&] { fitted(spec, data.classes()); });
    EXPECT_TRUE(contains(message, part)) << message;
  };
  refused([](Cnn& s) { s.image = "28x28"; }, "784 numbers, and there are 64 columns");
  refused([](Cnn& s) { s.image = "8x8x3"; }, "3 channels has 192 numbers");
  refused([](Cnn& s) { s.layers = "conv(2, 3x3) pool(9x9)"; }, "larger than the image of 6 x 6");
  refused([](Cnn& s) { s.layers = "conv(0, 3x3)"; }, "whole number from 1");
  refused([](Cnn& s) { s.layers = "conv(4, 3x3) relu", s.dropout = 0.5; }, "hidden dense layers");
  refused([](Cnn& s) { s.loss = Loss::squared; }, "cross_entropy");
  refused([](Cnn& s) { s.layers = "dense(1000000) dense(1000000)"; }, "weights");
  refused([](Cnn& s) { s.solver = Solver::lbfgs, s.noise = 0.1; }, "noise");
  const auto model = fitted(Cnn{}, data.classes());
  EXPECT_TRUE(contains(message_of([&] { model.classify(Matrix::Zero(1, 63)); }), "64"));
}

}  // namespace
}  // namespace lemma
