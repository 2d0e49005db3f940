// lemma/embed/sammon_test.cpp
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/core/row_views.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/embed/sammon.hpp>
#include <lemma/embed/smacof.hpp>
#include <lemma/model/fit.hpp>
#include <tests/golden.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

/// iris without the one row that another equals.
Matrix distinct_iris() {
  const auto model = fit(Sammon{.max_iterations = 1}, formula("~ . - species"), dataset("iris"));
  const Matrix all = model.design.apply(dataset("iris")).x;
  Matrix out(149, 4);
  out << all.topRows(142), all.bottomRows(7);
  return out;
}

Matrix standardised(const Matrix& x) {
  const Matrix centred = x.rowwise() - x.colwise().mean();
  return centred *
         (std::sqrt(static_cast<double>(x.rows() - 1)) * centred.colwise().norm().cwiseInverse()).asDiagonal();
}
Matrix usarrests() {
  const auto model = fit(Sammon{.max_iterations = 1}, formula("~ . - state"), dataset("usarrests"));
  return standardised(model.design.apply(dataset("usarrests")).x);
}

void agrees_with(const Golden& golden, const SammonModel& model) {
  EXPECT_TRUE(golden.agrees("stress_classical_start", model.trace(0)));
  EXPECT_TRUE(golden.agrees("stress_local_optimum", model.stress));
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
}

TEST(Sammon, IsThatOfTheReference) {
  agrees_with(Golden("sammon_iris"), fit(Sammon{}, distinct_iris()));
  agrees_with(Golden("sammon_usarrests"), fit(Sammon{}, usarrests()));
  agrees_with(Golden("sammon_uscities"),
              fit(Sammon{.input = Input::square}, formula("~ . - city"), dataset("uscities")));
}

TEST(Sammon, IsTheSumOfItsFormula) {
  const Matrix x = normal_matrix(20, 4, 3);
  const auto model = fit(Sammon{}, x);
  const Matrix delta = Dissimilarities::of_rows(x, Metric()).square(),
               d = Dissimilarities::of_rows(model.places, Metric()).square();
  double sum = 0, size = 0;
  for (Index i = 0; i < 20; ++i)
    for (Index j = 0; j < i; ++j) {
      sum += std::pow(delta(i, j) - d(i, j), 2) / delta(i, j);
      size += delta(i, j);
    }
  EXPECT_NEAR(model.stress, sum / size, 1e-12);
}

TEST(Sammon, EqualRowsShareAPlace) {
  Matrix x = normal_matrix(30, 4, 3);
  x.row(7) = x.row(3);
  x.row(20) = x.row(3);
  const auto model = fit(Sammon{}, x);
  ASSERT_EQ(model.warnings.size(), 1U);
  EXPECT_EQ(model.warnings[0], "2 of 30 things share their place with one that they equal");
  EXPECT_EQ(model.places.row(7), model.places.row(3));
  EXPECT_EQ(model.places.row(20), model.places.row(3));
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  SammonModel apart = model;
  apart.places(7, 0) += 0.1;
  EXPECT_FALSE(certify(apart, MemoryRows(x), {}).holds());
}

TEST(Sammon, TheNaturalWrongStressWithoutWeightsFails) {
  const Matrix x = normal_matrix(50, 5, 3);
  SammonModel model = fit(Sammon{}, x);
  model.places = fit(Smacof{}, x).places;
  EXPECT_FALSE(certify(model, MemoryRows(x), {}).holds());
}

TEST(Sammon, BadInputIsRefused) {
  EXPECT_NE(message_of([] { fit(Sammon{}, Matrix::Ones(5, 2)); }).find("all 5 things are equal"), std::string::npos);
}

}  // namespace
}  // namespace lemma
