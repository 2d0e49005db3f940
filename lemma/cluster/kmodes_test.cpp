// lemma/cluster/kmodes_test.cpp
#include <algorithm>
#include <gtest/gtest.h>
#include <lemma/cluster/kmodes.hpp>
#include <lemma/core/random.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/model/fit.hpp>
#include <map>

#include <tests/message_of.hpp>

namespace lemma {
namespace {

/// Rows of three kinds in five columns of codes below 4; a tenth of the values by chance.
Matrix kinds(Index n, std::uint64_t seed) {
  RandomStream stream(seed);
  Matrix x(n, 5);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < 5; ++j)
      x(i, j) = static_cast<double>(stream.below(10) == 0 ? stream.below(4) : (i % 3 + j * (i % 3)) % 4);
  return x;
}

/// Codes below 5 without any kinds.
Matrix by_chance(Index n, Index p, std::uint64_t seed) {
  RandomStream stream(seed);
  Matrix x(n, p);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < p; ++j) x(i, j) = static_cast<double>(stream.below(5));
  return x;
}

double mismatches(const Matrix& x, Index i, const Matrix& centers, Index c) {
  return static_cast<double>((x.row(i).array() != centers.row(c).array()).count());
}
double total_of(const Matrix& x, const Matrix& centers) {
  double out = 0;
  for (Index i = 0; i < x.rows(); ++i) {
    double least = HUGE_VAL;
    for (Index c = 0; c < centers.rows(); ++c) least = std::min(least, mismatches(x, i, centers, c));
    out += least;
  }
  return out;
}

/// The model that such centres would be, with the numbers that belong to them.
KModesModel with_centers(KModesModel model, const Matrix& x, const Matrix& centers) {
  model.centers = centers;
  model.sizes = model.within = Vector::Zero(centers.rows());
  model.shares = Matrix::Zero(centers.rows(), centers.cols());
  const Labels to = model.assign(x);
  for (Index i = 0; i < x.rows(); ++i) {
    const Index c = to[at(i)];
    model.sizes(c) += 1;
    model.within(c) += mismatches(x, i, centers, c);
    for (Index j = 0; j < x.cols(); ++j) model.shares(c, j) += x(i, j) == centers(c, j);
  }
  for (Index c = 0; c < centers.rows(); ++c)
    if (model.sizes(c) > 0) model.shares.row(c) /= model.sizes(c);
  model.total_within = model.within.sum();
  return model;
}

TEST(KModes, OfOneClusterIsTheCommonestValueOfEachColumnAndTheLeastOfEqualOnes) {
  Matrix x(5, 3);
  x << 1, 2, 0, 1, 2, 1, 0, 1, 2, 3, 1, 3, 1, 0, 4;
  const auto model = fit(KModes{.k = 1}, x);
  EXPECT_EQ(model.centers, (Matrix(1, 3) << 1, 1, 0).finished());
  EXPECT_EQ(model.total_within, 2 + 3 + 4);
  EXPECT_EQ(model.shares, (Matrix(1, 3) << 0.6, 0.4, 0.2).finished());
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
}

TEST(KModes, FindsKindsOfRowsAndNoOtherValueOfACentreIsBetter) {
  const Matrix x = kinds(300, 5);
  const auto model = fit(KModes{.k = 3}, x);
  EXPECT_EQ(model.total_within, total_of(x, model.centers));
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  const Labels label = model.assign(x);
  Index together = 0;
  for (Index i = 3; i < 300; ++i) together += label[at(i)] == label[at(i % 3)];
  EXPECT_GT(together, 280);
  for (Index c = 0; c < 3; ++c)
    for (Index j = 0; j < 5; ++j)
      for (int value = 0; value < 4; ++value) {
        Matrix other = model.centers;
        other(c, j) = value;
        EXPECT_GE(total_of(x, other), model.total_within);
      }
}

TEST(KModes, NeitherTheOrderOfTheRowsNorTheNamesOfValuesMatter) {
  const Matrix x = kinds(120, 8);
  const Matrix backwards = x.colwise().reverse();
  const auto model = fit(KModes{.k = 4}, x), other = fit(KModes{.k = 4}, backwards);
  EXPECT_EQ(model.centers, other.centers);
  EXPECT_EQ(model.sizes, other.sizes);
  const Matrix renamed = (100 + 7 * x.array()).matrix();  // in the same order: equal or not is all that counts
  const auto far = fit(KModes{.k = 4, .restarts = 30}, renamed), near = fit(KModes{.k = 4, .restarts = 30}, x);
  EXPECT_EQ(far.total_within, near.total_within);
}

TEST(KModes, WeightsAreCopiesAndAHundredthOfARowCounts) {
  const Matrix x = kinds(60, 6);
  Vector weight(60);
  std::vector<Index> copies;
  for (Index i = 0; i < 60; ++i) {
    weight(i) = static_cast<double>(i % 4);
    for (Index c = 0; c < i % 4; ++c) copies.push_back(i);
  }
  Matrix repeated(static_cast<Index>(copies.size()), 5);
  for (std::size_t i = 0; i < copies.size(); ++i) repeated.row(static_cast<Index>(i)) = x.row(copies[i]);
  const auto weighted = fit(KModes{.k = 3}, x, {.weights = weight}), plain = fit(KModes{.k = 3}, repeated);
  EXPECT_EQ(weighted.centers, plain.centers);
  EXPECT_EQ(weighted.sizes, plain.sizes);
  const Vector hundredths = 0.01 * weight;
  const auto little = fit(KModes{.k = 3}, x, {.weights = hundredths});
  EXPECT_TRUE(little.certificate.holds()) << little.certificate.message;
  EXPECT_EQ(little.centers, plain.centers);
  EXPECT_NEAR(little.total_within, 0.01 * plain.total_within, 1e-12);
}

TEST(KModes, LevelsKeepTheirNamesAndTheirOrderByBytes) {
  const Table crabs = dataset("crabs");
  const auto model = fit(KModes{.k = 4}, formula("~ sp + sex"), crabs);
  EXPECT_EQ(model.total_within, 0) << "four kinds of crabs, four centres";
  EXPECT_EQ(model.levels, (std::vector<std::string>{"B", "O", "F", "M"}));
  EXPECT_EQ(model.sizes, Vector::Constant(4, 50));
  EXPECT_NE(model.summary().find("B"), std::string::npos);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  std::map<std::string, int> of;
  const Labels label = model.assign(crabs);
  for (Index i = 0; i < crabs.rows(); ++i) {
    const std::string kind = crabs.column("sp").text(i) + crabs.column("sex").text(i);
    of.emplace(kind, label[at(i)]);
    EXPECT_EQ(of[kind], label[at(i)]);
  }
  EXPECT_EQ(of.size(), 4U);
}

TEST(KModes, TheNaturalWrongCentresFailTheCertificate) {
  const Matrix x = by_chance(300, 6, 5);
  const KModesModel right = fit(KModes{.k = 3}, x);
  const MemoryRows rows(x);
  ASSERT_TRUE(certify(with_centers(right, x, right.centers), rows, {}).holds());

  const Labels label = right.assign(x);  // k-means on the codes: means, rounded to a code
  Matrix means = Matrix::Zero(3, 6);
  for (Index i = 0; i < 300; ++i) means.row(label[at(i)]) += x.row(i) / right.sizes(label[at(i)]);
  EXPECT_FALSE(certify(with_centers(right, x, means.array().round().matrix()), rows, {}).holds());

  Matrix rows_themselves(3, 6);  // centres that stay where they began, as rows
  for (Index c = 0; c < 3; ++c) rows_themselves.row(c) = x.row(100 + 7 * c);
  EXPECT_FALSE(certify(with_centers(right, x, rows_themselves), rows, {}).holds());

  Matrix tied(4, 1);  // of two commonest values the later: as few mismatches, and not the one that is told
  tied << 2, 2, 5, 5;
  const KModesModel one = fit(KModes{.k = 1}, tied);
  EXPECT_EQ(one.centers(0, 0), 2);
  EXPECT_FALSE(certify(with_centers(one, tied, Matrix::Constant(1, 1, 5)), MemoryRows(tied), {}).holds());

  KModesModel flattered = right;
  flattered.shares(1, 2) += 0.01;
  EXPECT_FALSE(certify(flattered, rows, {}).holds());
}

TEST(KModes, SaysWhereNumbersAreSeldomEqual) {
  const auto measured = fit(KModes{.k = 2}, normal_matrix(60, 2, 3));
  ASSERT_EQ(measured.warnings.size(), 1U);
  EXPECT_NE(measured.warnings[0].find("kprototypes measures numbers"), std::string::npos);
  EXPECT_TRUE(fit(KModes{.k = 2}, kinds(60, 3)).warnings.empty());
}

TEST(KModes, AnswersWhatItCannotDo) {
  EXPECT_NE(message_of([&] { fit(KModes{.k = 2}, Matrix::Constant(9, 2, 1.0)); }).find("only 1 different row; k can"),
            std::string::npos);
  const Matrix few = kinds(4, 1);
  const Vector none = Vector::Zero(4);
  EXPECT_NE(message_of([&] { fit(KModes{.k = 2}, few, {.weights = none}); }).find("all weights are 0"),
            std::string::npos);
  int stopped = 0;  // a start is often a fixed point after its first step; where not, it is said
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const auto model = fit(KModes{.k = 5, .restarts = 1, .max_iterations = 1}, kinds(300, 4), {.seed = seed});
    stopped += !model.certificate.holds();
    EXPECT_EQ(model.certificate.stopped, model.certificate.holds() ? "converged" : "iteration limit");
  }
  EXPECT_GT(stopped, 0);
  KModesModel wrong = fit(KModes{.k = 2}, formula("~ sp + sex"), dataset("crabs"));
  wrong.centers(0, 0) = 2;
  EXPECT_NE(message_of([&] { wrong.check(); }).find("a level that there is not"), std::string::npos);
}

}  // namespace
}  // namespace lemma
