// lemma/plot/parts_test.cpp: the numbers of R 4.2.2 for quantile(), bw.nrd0(), a mean of dnorm() and lowess().
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/data/datasets.hpp>
#include <lemma/plot/parts.hpp>
#include <tests/message_of.hpp>

namespace lemma::plot {
namespace {

TEST(PlotParts, DensityAndQuantilesAreRs) {
  const auto x = sorted_values(dataset("faithful").column("eruptions").numbers().values);
  EXPECT_NEAR(bandwidth_of(x), 0.334777034464, 1e-12);
  const auto d = density_at(x, bandwidth_of(x), {2, 3, 4.5});
  EXPECT_NEAR(d[0], 0.3415402183461, 1e-12);
  EXPECT_NEAR(d[1], 0.0642488565885, 1e-12);
  EXPECT_NEAR(d[2], 0.4698534959010, 1e-12);
  EXPECT_NEAR(quantile(x, 0.1), 1.8517, 1e-12);
  EXPECT_NEAR(quantile(x, 0.25), 2.16275, 1e-12);
  EXPECT_EQ(quantile(x, 1), x.back());
}

TEST(PlotParts, LowessIsRsOnTheSpeedOfCars) {
  const std::vector<double> speed{4,  4,  7,  7,  8,  9,  10, 10, 10, 11, 11, 12, 12, 12, 12, 13, 13,
                                  13, 13, 14, 14, 14, 14, 15, 15, 15, 16, 16, 17, 17, 17, 18, 18, 18,
                                  18, 19, 19, 19, 20, 20, 20, 20, 20, 22, 23, 24, 24, 24, 24, 25};
  const std::vector<double> dist{2,  10, 4,  22, 16, 10, 18, 26, 34, 17, 28, 14, 20, 24, 28,  26, 34,
                                 34, 46, 26, 36, 60, 80, 20, 26, 54, 32, 40, 32, 40, 50, 42,  56, 76,
                                 84, 36, 46, 68, 32, 48, 52, 56, 64, 66, 54, 70, 92, 93, 120, 85};
  const auto fit = lowess(speed, dist);
  EXPECT_NEAR(fit[0], 4.96545927719, 1e-9);
  EXPECT_NEAR(fit[9], 24.12927714893, 1e-9);
  EXPECT_NEAR(fit[24], 36.75772834165, 1e-9);
  EXPECT_NEAR(fit[49], 84.32869809683, 1e-9);
}

TEST(PlotParts, BinsAreRoundAndHoldEveryValue) {
  const auto x = sorted_values(dataset("faithful").column("waiting").numbers().values);
  const auto edges = bins_of(x);
  EXPECT_LE(edges.front(), x.front());
  EXPECT_GT(edges.back(), x.back());
  EXPECT_EQ(edges[1] - edges[0], 5) << "2 IQR n^(-1/3) is 7.4, nearer to 5 than to 10";
  EXPECT_EQ(bins_of({3, 3, 3}), (std::vector<double>{2.5, 3.5}));
  EXPECT_TRUE(bins_of({}).empty());
  EXPECT_LE(bins_of({0, 1e-9, 2e-9, 3e-9, 1}).size(), 300u) << "an outlier does not make millions of bins";
}

TEST(PlotParts, AContourIsWhereTheFunctionHasItsLevel) {
  std::vector<double> at;
  for (int i = 0; i <= 40; ++i) at.push_back(-2 + 0.1 * i);
  Matrix f(41, 41);
  for (Index i = 0; i < 41; ++i)
    for (Index j = 0; j < 41; ++j)
      f(i, j) = std::hypot(at[static_cast<std::size_t>(j)], at[static_cast<std::size_t>(i)]);
  const Segments circle = contour(at, at, f, 1);
  ASSERT_GT(circle.x0.size(), 40u);
  for (std::size_t k = 0; k < circle.x0.size(); ++k) EXPECT_NEAR(std::hypot(circle.x0[k], circle.y0[k]), 1, 0.01);
  EXPECT_TRUE(contour(at, at, f, 10).x0.empty());
}

TEST(PlotParts, AFormulaNamesColumnsExpressionsAndJointClasses) {
  const Table crabs = dataset("crabs");
  const Variables named = variables(crabs, "sp:sex ~ log(FL) + RW");
  ASSERT_EQ(named.response.size(), 1u);
  EXPECT_EQ(named.response[0].name, "sp:sex");
  EXPECT_EQ(named.response[0].categories().levels, (std::vector<std::string>{"B:F", "B:M", "O:F", "O:M"}));
  ASSERT_EQ(named.terms.size(), 2u);
  EXPECT_EQ(named.terms[0].numbers().values[0], std::log(crabs.column("FL").numbers().values[0]));
  EXPECT_TRUE(message_of([&] { variables(crabs, "sp ~ FFL"); }).find("FFL") != std::string::npos);
}

TEST(PlotParts, NumbersAreGroupsWhileTheyAreFew) {
  const Groups groups = groups_of(numeric("x", {10, 2, std::nan(""), 2}));
  EXPECT_EQ(groups.names, (std::vector<std::string>{"2", "10"})) << "by value";
  EXPECT_EQ(groups.code, (std::vector<int>{1, 0, -1, 0}));
  std::vector<double> many;
  for (int i = 0; i < 40; ++i) many.push_back(i);
  EXPECT_NE(message_of([&] { groups_of(numeric("x", many)); }).find("40 different numbers"), std::string::npos);
}

}  // namespace
}  // namespace lemma::plot
