// tests/offset_test.cpp: the offset of a formula is part of what a model predicts, as R's predict(lm) has it.
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/data/csv.hpp>
#include <lemma/lemma.hpp>
#include <tests/run_tool.hpp>

namespace lemma {
namespace {

/// y − z = 1 + 2 x + r with r = ±0.5 orthogonal to 1 and x, and z far from the line.
constexpr const char* kRows = "x,z,y\n1,10,13.5\n2,-20,-15.5\n3,30,36.5\n4,0,9.5\n";

Vector column(const Table& table, const std::string& name) {
  const auto& values = table.column(name).numbers().values;
  return Eigen::Map<const Vector>(values.data(), static_cast<Index>(values.size()));
}

TEST(Offset, IsPartOfPredictionsTheirIntervalsAndResiduals) {
  const Folder in;
  in.write("rows.csv", kRows);
  ASSERT_EQ(in.lemma("fit ols rows.csv 'y ~ x + offset(z)' -o m.lemma").code, 0);
  const auto ran = in.lemma("predict m.lemma rows.csv --interval confidence --diagnostics");
  ASSERT_EQ(ran.code, 0) << ran.err;
  const Table said = parse_csv(ran.out, {}, "predictions");
  const Vector prediction = column(said, "prediction");
  EXPECT_LT((prediction - Vector{{13.0, -15.0, 37.0, 9.0}}).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LT((column(said, "residual") - Vector{{0.5, -0.5, -0.5, 0.5}}).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LT((0.5 * (column(said, "lower") + column(said, "upper")) - prediction).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_EQ(said.columns(), 10) << ran.out;  // the residual of the diagnostics is the same, and stands there once
}

TEST(Offset, IsTakenFromNewRows) {
  const Folder in;
  in.write("rows.csv", kRows);
  in.write("new.csv", "x,z\n10,0\n10,1000\n");
  ASSERT_EQ(in.lemma("fit ols rows.csv 'y ~ x + offset(z)' -o m.lemma").code, 0);
  const auto ran = in.lemma("predict m.lemma new.csv");
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_LT(
      (column(parse_csv(ran.out, {}, "predictions"), "prediction") - Vector{{21.0, 1021.0}}).cwiseAbs().maxCoeff(),
      1e-10);
  in.write("without.csv", "x\n10\n");
  const auto without = in.lemma("predict m.lemma without.csv");
  EXPECT_EQ(without.code, 2);
  EXPECT_NE(without.err.find("'z'"), std::string::npos) << without.err;
}

TEST(Offset, IsPartOfWhatIsJudged) {
  const Folder in;
  in.write("rows.csv", kRows);
  ASSERT_EQ(in.lemma("fit ols rows.csv 'y ~ x + offset(z)' -o m.lemma").code, 0);
  const auto ran = in.lemma("evaluate m.lemma rows.csv --json");
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_NEAR(from_json(ran.out).at("measures").at("rmse").as_double(), 0.5, 1e-12) << ran.out;
}

TEST(Offset, IsPartOfPredictionsInCpp) {
  const Table rows = parse_csv(kRows, {}, "rows");
  const auto model = fit(Ols{}, formula("y ~ x + offset(z)"), rows);
  EXPECT_LT((model.predict(rows) - Vector{{13.0, -15.0, 37.0, 9.0}}).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LT((model.predict(Matrix{{1.0}}) - Vector{{3.0}}).cwiseAbs().maxCoeff(), 1e-12);  // bare columns have none
}

/// log μ = log z + b₀ + b x: of a rate the exposure z multiplies what is predicted, its interval, and what is judged.
TEST(Offset, GoesThroughTheLink) {
  const Folder in;
  in.write("rows.csv", "x,z,k\n1,4,2\n2,6,1\n3,5,4\n4,9,3\n5,3,6\n6,7,5\n7,8,9\n8,5,8\n");
  in.write("new.csv", "x,z\n3,50\n3,100\n");
  ASSERT_EQ(in.lemma("fit glm rows.csv 'k ~ x + offset(log(z))' --family poisson -o m.lemma").code, 0);
  const auto ran = in.lemma("predict m.lemma new.csv --interval confidence --what all");
  ASSERT_EQ(ran.code, 0) << ran.err;
  const Table said = parse_csv(ran.out, {}, "predictions");
  EXPECT_NEAR(column(said, "prediction")(0), 25.2094746383138, 1e-7);  // R's predict(type = "response")
  for (const char* name : {"prediction", "lower", "upper"})
    EXPECT_NEAR(column(said, name)(1), 2 * column(said, name)(0), 1e-9) << name;
  EXPECT_EQ(in.lemma("verify m.lemma rows.csv").code, 0);
}

}  // namespace
}  // namespace lemma
