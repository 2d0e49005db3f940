// lemma/linear/perceptron_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/linear/ols/data_test.hpp>
#include <lemma/linear/perceptron.hpp>
#include <lemma/model/fit.hpp>

namespace lemma {
namespace {

/// Two classes on either side of x₁ = x₂, at least `gap` from it.
struct Halves {
  Matrix x;
  std::vector<std::string> labels;
  Halves(Index n, double gap, std::uint64_t seed = 1) : x(n, 2) {
    RandomStream stream(seed);
    for (Index i = 0; i < n; ++i) {
      const double along = stream.normal(), side = i % 2 ? 1 : -1, away = side * (gap + std::abs(stream.normal()));
      x.row(i) << (along + away) / std::sqrt(2.0), (along - away) / std::sqrt(2.0);
      labels.push_back(i % 2 ? "yes" : "no");
    }
  }
};

TEST(Perceptron,
     MatchesThePassesByHand) {  // (1) +, (−1) −: the first row turns w to 1, b to 1; the second b to 0, w to 2
  const auto m = fit(Perceptron{.standardize = false}, Matrix{{1.0}, {-1.0}}, std::vector<std::string>{"b", "a"});
  EXPECT_EQ(m.coefficients.of(0, 0), 2);
  EXPECT_EQ(m.intercept.of(0), 0);
  EXPECT_EQ(m.updates.of(0), 2);
  EXPECT_EQ(m.passes.of(0), 2);
  EXPECT_EQ(m.margin.of(0), 1);
}

TEST(Perceptron, SeparatesWhatCanBeSeparatedWithinNovikoffsBound) {
  const Halves data(400, 0.2);
  const auto m = fit(Perceptron{.intercept = false, .standardize = false}, data.x, data.labels);
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
  EXPECT_EQ(m.certificate.strength, Strength::optimal);
  EXPECT_GT(m.margin.of(0), 0);
  EXPECT_LE(m.margin.of(0), 0.21);  // no plane through the origin has more than about 0.2
  const double longest = data.x.rowwise().norm().maxCoeff();
  EXPECT_LE(m.updates.of(0), longest * longest / (0.2 * 0.2));
  const Labels found = m.predict(data.x);
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i], data.labels[i] == "yes" ? 1 : 0);
}

TEST(Perceptron, SaysSoWhenTheClassesAreNotSeparated) {
  Halves data(200, 0.0);
  data.labels[7] = "no";
  data.x.row(7) << 3, -3;
  const auto m = fit(Perceptron{.max_iterations = 30}, data.x, data.labels);
  EXPECT_FALSE(m.certificate.holds());
  EXPECT_EQ(m.certificate.strength, Strength::none);
  EXPECT_EQ(m.passes.of(0), 30);
  EXPECT_LT(m.margin.of(0), 0);
  ASSERT_EQ(m.warnings.size(), 1U);
  EXPECT_NE(m.warnings[0].find("not separated after 30 passes"), std::string::npos) << m.warnings[0];
  EXPECT_LT(m.errors.of(0), 40) << "the plane that went longest without a mistake is a good one";
  EXPECT_NE(m.summary({{"a", "b"}, {"no", "yes"}, "y"}).find("not separated"), std::string::npos);
}

TEST(Perceptron, OfMoreClassesHasOnePlaneForEach) {
  const Matrix x{{0.0, 9.0}, {1.0, 10.0}, {9.0, 0.0}, {10.0, 1.0}, {-9.0, -9.0}, {-10.0, -8.0}};
  const auto m = fit(Perceptron{}, x, std::vector<std::string>{"a", "a", "b", "b", "c", "c"});
  EXPECT_EQ(m.planes(), 3);
  EXPECT_TRUE(m.certificate.holds());
  EXPECT_EQ(m.predict(x), (Labels{0, 0, 1, 1, 2, 2}));
  const auto iris = fit(Perceptron{.max_iterations = 50}, formula("species ~ ."), dataset("iris"));
  EXPECT_EQ(iris.errors.of(0), 0);  // setosa stands apart
  EXPECT_GT(iris.errors.of(1), 0);
  EXPECT_FALSE(iris.certificate.holds());
}

TEST(Perceptron, AWeightIsSoManyCopiesAndMustBeWhole) {
  const Halves data(60, 0.05);
  CallOptions options;
  options.weights = Vector(60);
  std::vector<Index> copies;
  std::vector<std::string> labels;
  for (Index i = 0; i < 60; ++i) {
    options.weights(i) = static_cast<double>(i % 4);
    for (Index copy = 0; copy < i % 4; ++copy) {
      copies.push_back(i);
      labels.push_back(data.labels[static_cast<std::size_t>(i)]);
    }
  }
  const Matrix x = data.x(copies, Eigen::all);
  const auto weighted = fit(Perceptron{}, data.x, data.labels, options), copied = fit(Perceptron{}, x, labels);
  EXPECT_EQ(weighted.updates.of, copied.updates.of);
  EXPECT_LT((weighted.coefficients.of - copied.coefficients.of).cwiseAbs().maxCoeff(), 1e-9);
  options.weights(2) = 0.5;
  EXPECT_NE(message_of([&] { fit(Perceptron{}, data.x, data.labels, options); }).find("row 3 is 0.5"),
            std::string::npos);
  options.weights.setZero();
  EXPECT_NE(message_of([&] { fit(Perceptron{}, data.x, data.labels, options); }).find("all weights are 0"),
            std::string::npos);
}

TEST(Perceptron, TheNaturalWrongPlanesFailTheCertificate) {
  const Halves data(100, 0.1);
  Labels codes;
  for (const auto& label : data.labels) codes.push_back(label == "yes" ? 1 : 0);
  MemoryRows rows(data.x);
  rows.labels(codes, {"no", "yes"});
  const auto right = fit(Perceptron{}, rows, {});
  ASSERT_TRUE(certify(right, rows, {}).holds());
  auto turned = right, moved = right, boast = right;
  turned.coefficients.of *= -1;
  moved.intercept.of(0) += 1e-3;
  boast.margin.of(0) *= 1.01;
  auto early = fit(Perceptron{.max_iterations = 1}, rows, {});
  ASSERT_GT(early.errors.of(0), 0);
  early.errors.of(0) = 0;  // a pass with mistakes taken for the last one
  for (const auto& wrong : {turned, moved, boast, early}) EXPECT_FALSE(certify(wrong, rows, {}).holds());
}

TEST(Perceptron, HardColumnsGetAnAnswerOrAClearError) {
  const Halves data(80, 0.3);
  Matrix x(80, 4);
  x << data.x, data.x.col(0), Vector::Constant(80, 5.0);
  EXPECT_TRUE(fit(Perceptron{}, x, data.labels).certificate.holds());
  EXPECT_NE(
      message_of([&] { fit(Perceptron{}, data.x, std::vector<std::string>(80, "yes")); }).find("at least two classes"),
      std::string::npos);
  for (const double scale : {1e-145, 1e145}) {
    Matrix scaled = data.x;
    scaled.col(0) *= scale;
    EXPECT_TRUE(fit(Perceptron{}, scaled, data.labels).certificate.holds()) << scale;
    EXPECT_NE(message_of([&] { fit(Perceptron{.standardize = false}, scaled, data.labels); }).find("'x1' are about"),
              std::string::npos);
  }
  const Matrix wide = normal_matrix(4, 10, 3);
  EXPECT_TRUE(fit(Perceptron{}, wide, std::vector<std::string>{"a", "b", "a", "b"}).certificate.holds());
}

TEST(Perceptron, CountsThatNoOrderOfTheRowsCanLeadToAreFound) {
  const Halves data(80, 0.05);
  const auto model = fit(Perceptron{}, data.x, data.labels);
  Labels codes;
  for (Index i = 0; i < 80; ++i) codes.push_back(static_cast<int>(i % 2));
  MemoryRows rows(data.x);
  rows.labels(codes, {"no", "yes"});
  ASSERT_TRUE(certify(model, rows, {}).holds()) << certify(model, rows, {}).message;
  const auto found = [&](const char* field, auto&& change) {
    PerceptronModel wrong = model;
    change(wrong);
    return certify(wrong, rows, {}).kind == std::string("difference of ") + field;
  };
  EXPECT_TRUE(found("updates", [](auto& m) { m.updates.of(0) += 1; }));  // b₀ says whether it is even
  EXPECT_TRUE(found("updates", [](auto& m) { m.updates.of(0) += 80 * m.passes.of(0) * 2; }));
  EXPECT_TRUE(found("updates", [](auto& m) { m.updates.of(0) = std::fmod(m.updates.of(0), 2); }));
  EXPECT_TRUE(found("passes", [](auto& m) { m.passes.of(0) = 201; }));
  PerceptronModel half = model;
  half.updates.of(0) += 0.5;
  EXPECT_THROW(verify(half, rows), Error);
}

}  // namespace
}  // namespace lemma
