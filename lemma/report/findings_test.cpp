// lemma/report/findings_test.cpp: each trap is found where it was laid, and not where it was not.
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/report/findings.hpp>

namespace lemma::reporting {
namespace {

struct Looked {
  std::vector<Finding> found;
  AloneScores alone;
  const Finding* find(std::string_view kind) const {
    for (const auto& each : found)
      if (each.kind == kind) return &each;
    return nullptr;
  }
};

Looked look(const Table& table, const std::string& text) {
  DesignOptions how;
  how.classify_categories = true;
  how.missing = Missing::median;
  const Design design(formula(text), table, how);
  const DesignData data = design.train(table);
  Looked out;
  out.alone = alone(table, design, data);
  out.found = findings(table, design, data, out.alone);
  return out;
}

/// Numbers that look drawn at random, the same on every machine.
std::vector<double> noise(std::size_t n, double seed) {
  std::vector<double> out;
  for (std::size_t i = 0; i < n; ++i) {
    const double x = std::sin(static_cast<double>(i + 1) * 12.9898 + seed * 78.233) * 43758.5453;
    out.push_back(x - std::floor(x));
  }
  return out;
}

Table clean(std::size_t n = 400) {
  const auto a = noise(n, 1), b = noise(n, 2), e = noise(n, 3);
  std::vector<std::string> y;
  for (std::size_t i = 0; i < n; ++i) y.emplace_back(a[i] + b[i] + e[i] > 1.5 ? "yes" : "no");
  return Table({numeric("a", a), numeric("b", b), categorical("y", y)}, "made up");
}

Table with(Table table, Column column) {
  table.add(std::move(column));
  return table;
}

TEST(Findings, OfCleanRowsThereAreNone) {
  const Looked seen = look(clean(), "y ~ .");
  for (const auto& each : seen.found) ADD_FAILURE() << each.kind << ": " << each.title;
  ASSERT_EQ(seen.alone.columns.size(), 2u);
  EXPECT_GT(seen.alone.columns[1].score, seen.alone.baseline) << "each column says something";
}

TEST(Findings, AColumnThatIsTheResponseInOtherWordsPredictsTooWell) {
  const Table table = clean();
  std::vector<double> leak;
  for (const auto code : table.column("y").categories().codes) leak.push_back(3.0 * code + 1);
  const Looked seen = look(with(table, numeric("leak", leak)), "y ~ .");
  ASSERT_NE(seen.find("leak"), nullptr);
  EXPECT_TRUE(seen.find("leak")->serious);
  EXPECT_NE(seen.find("leak")->title.find("`leak`"), std::string::npos);
  EXPECT_EQ(seen.alone.columns[0].column, "leak");
  EXPECT_EQ(seen.alone.columns[0].score, 1);
  std::vector<double> twice = noise(400, 1);
  for (double& x : twice) x *= -2;
  EXPECT_NE(look(with(table, numeric("minus_two_a", twice)), "a ~ b + minus_two_a").find("leak"), nullptr);
  EXPECT_EQ(look(dataset("iris"), "species ~ .").find("leak"), nullptr) << "petals tell species well, not too well";
}

TEST(Findings, EqualRowsAndContradictionsAreCounted) {
  Table table = clean(200);
  std::vector<Index> rows;
  for (Index i = 0; i < 200; ++i) rows.push_back(i);
  for (Index i = 0; i < 10; ++i) rows.push_back(i);
  const Looked seen = look(table.select(rows), "y ~ .");
  ASSERT_NE(seen.find("duplicates"), nullptr);
  EXPECT_TRUE(seen.find("duplicates")->title.starts_with("20 rows")) << seen.find("duplicates")->title;
  EXPECT_EQ(look(table, "y ~ .").find("duplicates"), nullptr);
  const Looked coarse = look(Table({numeric("g", std::vector<double>(200, 1)), table.column("y")}), "y ~ g");
  EXPECT_NE(coarse.find("contradictions"), nullptr) << "one value, two classes";
}

TEST(Findings, MissingValuesFarValuesAndConstantsAreNamed) {
  auto a = noise(400, 1), far = noise(400, 5);
  a[3] = std::nan("");
  far[7] = 50;
  const Table table(
      {numeric("a", a), numeric("far", far), numeric("same", std::vector<double>(400, 2)), clean().column("y")});
  const Looked seen = look(table, "y ~ .");
  ASSERT_NE(seen.find("missing"), nullptr);
  EXPECT_TRUE(seen.find("missing")->title.starts_with("1 missing value in 1 row"));
  EXPECT_FALSE(seen.find("missing")->serious);
  ASSERT_NE(seen.find("outliers"), nullptr);
  EXPECT_NE(seen.find("outliers")->text.find("`far` (1)"), std::string::npos);
  ASSERT_NE(seen.find("constant"), nullptr);
  EXPECT_NE(seen.find("constant")->title.find("`same`"), std::string::npos);
}

TEST(Findings, ColumnsThatFollowFromOthersHaveTheirInflation) {
  const auto a = noise(400, 1), b = noise(400, 2), e = noise(400, 4);
  std::vector<double> sum, near;
  for (std::size_t i = 0; i < 400; ++i) sum.push_back(a[i] + b[i]), near.push_back(a[i] + b[i] + 0.05 * e[i]);
  const Looked exact = look(Table({numeric("a", a), numeric("b", b), numeric("sum", sum), numeric("y", e)}), "y ~ .");
  ASSERT_NE(exact.find("collinear"), nullptr);
  EXPECT_TRUE(exact.find("collinear")->serious);
  const Looked nearly =
      look(Table({numeric("a", a), numeric("b", b), numeric("sum", near), numeric("y", noise(400, 6))}), "y ~ .");
  ASSERT_NE(nearly.find("collinear"), nullptr);
  EXPECT_FALSE(nearly.find("collinear")->serious);
  EXPECT_NE(look(dataset("crabs"), "sp ~ FL + RW + CL + CW + BD").find("collinear"), nullptr);
}

TEST(Findings, ARareClassAndALongTailAreSaid) {
  std::vector<std::string> y(400, "no");
  for (std::size_t i = 0; i < 12; ++i) y[i * 30] = "yes";
  const Looked rare = look(Table({numeric("a", noise(400, 1)), categorical("y", y)}), "y ~ a");
  ASSERT_NE(rare.find("imbalance"), nullptr);
  EXPECT_NE(rare.find("imbalance")->title.find("12 rows, 3 %"), std::string::npos) << rare.find("imbalance")->title;
  std::vector<double> tail;
  for (const double u : noise(400, 9)) tail.push_back(std::pow(1 - 0.999 * u, -1.0));
  EXPECT_NE(look(Table({numeric("a", noise(400, 1)), numeric("y", tail)}), "y ~ a").find("skewed"), nullptr);
  EXPECT_NE(look(clean(24), "y ~ a + b + I(a^2) + I(b^2)").find("few_rows"), nullptr);
}

}  // namespace
}  // namespace lemma::reporting
