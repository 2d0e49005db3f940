// lemma/cluster/kprototypes_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/cluster/kmeans.hpp>
#include <lemma/cluster/kmodes.hpp>
#include <lemma/cluster/kprototypes.hpp>
#include <lemma/core/random.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/model/fit.hpp>

#include <tests/message_of.hpp>

namespace lemma {
namespace {

/// Two numbers and two categories of four kinds of rows: each of the two tells only half.
Table mixed(Index n, std::uint64_t seed, double scale = 1) {
  RandomStream stream(seed);
  std::vector<double> a, b;
  std::vector<std::string> u, v;
  for (Index i = 0; i < n; ++i) {
    const Index kind = i % 4;
    a.push_back(scale * (stream.normal() + (kind < 2 ? 0 : 8)));
    b.push_back(scale * stream.normal());
    u.push_back(stream.below(20) == 0 ? "rare" : kind % 2 == 0 ? "left" : "right");
    v.push_back(stream.below(10) == 0 ? "rare" : kind % 2 == 0 ? "up" : "down");
  }
  return Table({numeric("a", a), categorical("u", u), numeric("b", b), categorical("v", v)});
}

/// A row as the design has it: a, u, b, v.
Matrix rows_of(const Table& table, const std::vector<std::string>& levels_u, const std::vector<std::string>& levels_v) {
  const auto code = [](const std::vector<std::string>& of, const std::string& level) {
    return static_cast<double>(std::find(of.begin(), of.end(), level) - of.begin());
  };
  Matrix out(table.rows(), 4);
  for (Index i = 0; i < out.rows(); ++i)
    out.row(i) << std::stod(table.column("a").text(i)), code(levels_u, table.column("u").text(i)),
        std::stod(table.column("b").text(i)), code(levels_v, table.column("v").text(i));
  return out;
}

const Formula& all_columns() {
  static const Formula out = formula("~ a + u + b + v");
  return out;
}

TEST(KPrototypes, FindsKindsThatNeitherNumbersNorCategoriesTellAlone) {
  const Table table = mixed(400, 3);
  const auto model = fit(KPrototypes{.k = 4}, all_columns(), table);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  const Labels label = model.assign(table);
  Index together = 0;
  for (Index i = 4; i < 400; ++i) together += label[at(i)] == label[at(i % 4)];
  EXPECT_GT(together, 380);
}

TEST(KPrototypes, TellsTheSumOfSquaresPlusGammaForEachMismatch) {
  const Table table = mixed(100, 9);
  const auto model = fit(KPrototypes{.k = 3, .gamma = 2.5}, all_columns(), table);
  const Matrix x = rows_of(table, {"left", "rare", "right"}, {"down", "rare", "up"});
  double total = 0;
  for (Index i = 0; i < 100; ++i) {
    double least = HUGE_VAL;
    for (Index c = 0; c < 3; ++c)
      least = std::min(least, std::pow(x(i, 0) - model.centers(c, 0), 2) + std::pow(x(i, 2) - model.centers(c, 2), 2) +
                                  2.5 * ((x(i, 1) != model.centers(c, 1)) + (x(i, 3) != model.centers(c, 3))));
    total += least;
  }
  EXPECT_NEAR(model.total_within, total, 1e-12 * total);
}

TEST(KPrototypes, WithoutCategoriesIsKMeansAndWithoutNumbersKModes) {
  const Table iris = dataset("iris"), crabs = dataset("crabs");
  const auto numbers = fit(KPrototypes{.k = 3}, formula("~ . - species"), iris);
  const auto means = fit(KMeans{.k = 3}, formula("~ . - species"), iris);
  EXPECT_NEAR(numbers.total_within, means.total_within, 1e-10 * means.total_within);
  const auto kinds = fit(KPrototypes{.k = 2}, formula("~ sp + sex"), crabs);
  const auto modes = fit(KModes{.k = 2}, formula("~ sp + sex"), crabs);
  EXPECT_EQ(kinds.spec.gamma, 1.0);
  EXPECT_EQ(kinds.centers, modes.centers);
  EXPECT_EQ(kinds.total_within, modes.total_within);
}

TEST(KPrototypes, ThePriceLeftOutGrowsWithTheSquareOfTheUnitSoThatUnitsDoNotMatter) {
  const auto small = fit(KPrototypes{.k = 4}, all_columns(), mixed(200, 4)),
             large = fit(KPrototypes{.k = 4}, all_columns(), mixed(200, 4, 1024));
  EXPECT_NEAR(*large.spec.gamma, 1024.0 * 1024.0 * *small.spec.gamma, 1e-9 * *large.spec.gamma);
  EXPECT_EQ(small.sizes, large.sizes);
  // One column of each kind: the variance (divisor n) over how often two rows differ.
  const Table table({numeric("a", {0, 2, 0, 2}), categorical("u", {"p", "p", "p", "q"})});
  EXPECT_NEAR(*fit(KPrototypes{.k = 1}, formula("~ a + u"), table).spec.gamma, 1.0 / (1 - 0.5625 - 0.0625), 1e-12);
}

TEST(KPrototypes, NothingForAMismatchIsKMeansOfTheNumbersAndAVastPriceKModesOfTheCategories) {
  const Table table = mixed(200, 7);
  const auto free = fit(KPrototypes{.k = 2, .gamma = 0}, all_columns(), table);
  const auto means = fit(KMeans{.k = 2}, formula("~ a + b"), table);
  EXPECT_NEAR(free.total_within, means.total_within, 1e-10 * means.total_within);
  const auto dear = fit(KPrototypes{.k = 2, .gamma = 1e9}, all_columns(), table);
  const auto modes = fit(KModes{.k = 2}, formula("~ u + v"), table);
  EXPECT_NEAR(dear.total_within / 1e9, modes.total_within, 1e-3);
}

TEST(KPrototypes, TheNaturalWrongCentresFailTheCertificate) {
  const Table table = mixed(200, 3);
  const auto right = fit(KPrototypes{.k = 3}, all_columns(), table);
  const Matrix x = rows_of(table, {"left", "rare", "right"}, {"down", "rare", "up"});
  MemoryRows rows(x);
  rows.features = {"a", "u", "b", "v"};
  rows.levels = {{}, {"left", "rare", "right"}, {}, {"down", "rare", "up"}};
  ASSERT_TRUE(certify(right, rows, {}).holds());
  const auto refuted = [&](KPrototypesModel wrong) {  // with the sizes and sums that belong to it
    const Matrix far = wrong.distances(x);
    const Labels to = wrong.assign(x);
    wrong.sizes = wrong.within = Vector::Zero(3);
    wrong.shares = Matrix::Zero(3, 4);
    for (Index i = 0; i < 200; ++i) {
      const Index c = to[at(i)];
      wrong.sizes(c) += 1, wrong.within(c) += far(i, c);
      for (Index j = 0; j < 4; ++j) wrong.shares(c, j) += x(i, j) == wrong.centers(c, j);
    }
    for (Index c = 0; c < 3; ++c)
      if (wrong.sizes(c) > 0) wrong.shares.row(c) /= wrong.sizes(c);
    wrong.total_within = wrong.within.sum();
    return !certify(wrong, rows, {}).holds();
  };
  ASSERT_FALSE(refuted(right));
  KPrototypesModel cheap = right;  // centres of another price
  cheap.spec.gamma = 100 * *right.spec.gamma;
  EXPECT_TRUE(refuted(cheap));
  KPrototypesModel median = right;  // medians in the place of means
  const Labels to = right.assign(x);
  std::vector<double> values;
  for (Index i = 0; i < 200; ++i)
    if (to[at(i)] == 0) values.push_back(x(i, 0));
  std::sort(values.begin(), values.end());
  median.centers(0, 0) = values[values.size() / 2];
  EXPECT_TRUE(refuted(median));
  KPrototypesModel rare = right;  // a level that is not the commonest
  rare.centers(1, 3) = 1;
  EXPECT_TRUE(refuted(rare));
}

TEST(KPrototypes, AnswersWhatItCannotDo) {
  const Table one({numeric("a", {1, 1, 2}), categorical("u", {"p", "q", "p"})});
  EXPECT_NE(message_of([&] { fit(KPrototypes{.k = 4}, formula("~ a + u"), one); }).find("only 3 different rows; k can"),
            std::string::npos);
  EXPECT_NE(message_of([&] { fit(KPrototypes{.gamma = -1}, formula("~ a + u"), one); }).find("gamma"),
            std::string::npos);
  const auto stopped = fit(KPrototypes{.k = 12, .restarts = 1, .max_iterations = 1}, all_columns(), mixed(800, 2));
  EXPECT_FALSE(stopped.certificate.holds());
}

}  // namespace
}  // namespace lemma
