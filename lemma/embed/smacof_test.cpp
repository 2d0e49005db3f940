// lemma/embed/smacof_test.cpp
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/core/row_views.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/embed/shared/centred.hpp>
#include <lemma/embed/smacof.hpp>
#include <lemma/model/fit.hpp>
#include <tests/golden.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

Matrix distances_of(const Matrix& places) { return Dissimilarities::of_rows(places, Metric()).square(); }
double raw(const Matrix& delta, const Matrix& places) { return 0.5 * (delta - distances_of(places)).squaredNorm(); }

/// In units of the columns' standard deviations.
Matrix usarrests() {
  const auto model = fit(Smacof{.max_iterations = 1}, formula("~ . - state"), dataset("usarrests"));
  const Matrix x = model.design.apply(dataset("usarrests")).x, centred = x.rowwise() - x.colwise().mean();
  return centred * (std::sqrt(49.0) * centred.colwise().norm().cwiseInverse()).asDiagonal();
}

Compared compared(const Matrix& x) {
  const MemoryRows rows(x);
  return compare("test", Input::rows, Metric(), rows);
}
Compared cities() {
  const auto model = fit(Smacof{.input = Input::square}, formula("~ . - city"), dataset("uscities"));
  const Matrix square = model.design.apply(dataset("uscities")).x;
  return {Dissimilarities::of_square(square)};
}

/// The raw stress of classical scaling, and after 1, 5 and 20 of Guttman's transforms.
void follows_golden(const Golden& golden, const Compared& data) {
  const Stress stress("test", data, {});
  Matrix x = classical_places("test", data.dissimilarities, 2) / stress.unit();
  const auto now = [&] { return stress.value(x, nullptr, {}) * stress.size(); };
  EXPECT_TRUE(golden.agrees("raw_stress_start", now()));
  int done = 0;
  for (const auto& [steps, key] : {std::pair{1, "raw_stress_after_1_iteration"},
                                   {5, "raw_stress_after_5_iterations"},
                                   {20, "raw_stress_after_20_iterations"}}) {
    for (; done < steps; ++done) x = stress.guttman(x, {});
    EXPECT_TRUE(golden.agrees(key, now()));
  }
}

TEST(Smacof, StepsAreThoseOfTheReference) {
  follows_golden(Golden("smacof_usarrests"), compared(usarrests()));
  follows_golden(Golden("smacof_uscities"), cities());
}

TEST(Smacof, EndsWhereTheReferenceEnds) {
  const Matrix x = usarrests();
  const auto model = fit(Smacof{}, x);
  EXPECT_TRUE(Golden("smacof_usarrests").agrees("raw_stress_converged", model.raw_stress));
  EXPECT_NEAR(model.raw_stress, raw(distances_of(x), model.places), 1e-9);
  EXPECT_NEAR(model.stress, Golden("smacof_usarrests").number("normalised_stress_converged"), 1e-8);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  EXPECT_EQ(model.certificate.strength, Strength::stationary);
  const auto towns = fit(Smacof{.input = Input::square}, formula("~ . - city"), dataset("uscities"));
  EXPECT_TRUE(Golden("smacof_uscities").agrees("raw_stress_converged", towns.raw_stress));
  EXPECT_TRUE(towns.certificate.holds()) << towns.certificate.message;
}

TEST(Smacof, StressNeverRises) {
  for (const auto kind : {SmacofKind::ratio, SmacofKind::interval, SmacofKind::spline}) {
    const auto model = fit(Smacof{.kind = kind}, normal_matrix(60, 5, 4));
    ASSERT_GT(model.trace.size(), 5);
    for (Index k = 1; k < model.trace.size(); ++k) EXPECT_LE(model.trace(k), model.trace(k - 1) * (1 + 1e-12));
    EXPECT_LT(model.trace(model.trace.size() - 1), model.trace(0));
    EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  }
}

TEST(Smacof, ThePairOfAStressAndItsGradientIsThatOfDifferences) {
  const Matrix x = normal_matrix(12, 4, 3);
  for (const auto disparities :
       {Disparities::ratio, Disparities::interval, Disparities::spline, Disparities::ordinal}) {
    for (const bool sammon : {false, true}) {
      const Stress stress("test", compared(x), {.disparities = disparities, .sammon = sammon});
      const Matrix places = normal_matrix(12, 2, 5);
      Matrix gradient, moved = places;
      stress.value(places, &gradient, {});
      for (Index i = 0; i < 12; ++i)
        for (Index k = 0; k < 2; ++k) {
          moved(i, k) = places(i, k) + 1e-6;
          const double up = stress.value(moved, nullptr, {});
          moved(i, k) = places(i, k) - 1e-6;
          const double down = stress.value(moved, nullptr, {});
          moved(i, k) = places(i, k);
          EXPECT_NEAR(gradient(i, k), (up - down) / 2e-6, 1e-8);
        }
    }
  }
}

TEST(Smacof, IntervalFindsTheLineThatTheDissimilaritiesFollow) {
  const Matrix places = normal_matrix(30, 2, 6);
  Matrix square = 3 + 2 * distances_of(places).array();
  square.diagonal().setZero();
  const auto model = fit(Smacof{.input = Input::square, .kind = SmacofKind::interval, .restarts = 2}, square);
  EXPECT_LE(model.stress, 1e-10);
  EXPECT_NEAR(-model.line(0) / model.line(1), 3, 1e-3);  // d = (delta - 3) / 2, up to a unit
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
}

TEST(Smacof, ASplineFindsTheCurveThatTheDissimilaritiesFollow) {  // a square root: no line is near it
  const Matrix places = normal_matrix(30, 2, 6), square = distances_of(places).cwiseSqrt();
  const auto curve = fit(Smacof{.input = Input::square, .kind = SmacofKind::spline, .knots = 4, .restarts = 2}, square);
  const auto line = fit(Smacof{.input = Input::square, .kind = SmacofKind::interval, .restarts = 2}, square);
  EXPECT_LE(curve.stress, 1e-4);
  EXPECT_GE(line.stress, 20 * curve.stress);
  EXPECT_TRUE(curve.certificate.holds()) << curve.certificate.message;
  ASSERT_EQ(curve.knots.size(), 6);
  ASSERT_EQ(curve.spline.size(), 7);
  EXPECT_NEAR(curve.knots(5), square.maxCoeff(), 1e-12);
  EXPECT_GE(curve.spline.minCoeff(), 0);
  const double unit = curve.places.norm() / (places.rowwise() - places.colwise().mean()).norm();
  EXPECT_LE((distances_of(curve.places) / unit - distances_of(places)).norm(), 0.03 * distances_of(places).norm());
}

/// 1, x²/2, x − x²/2 of the knots 0, 1 rise from 0 to 1; each basis of more knots does too, and none falls.
TEST(Smacof, TheBasisOfSplinesRises) {
  const RisingSpline one({0, 1}, 0);
  Vector at_half(one.size());
  one.basis(0.5, at_half.data());
  EXPECT_LE((at_half - Vector{{1, 0.75, 0.25}}).cwiseAbs().maxCoeff(), 1e-15);
  const RisingSpline more({0, 0.1, 0.1, 0.4, 0.7, 2}, 3);
  Vector before = Vector::Zero(more.size()), now(more.size());
  for (double x = 0; x <= 2.0001; x += 0.01) {
    more.basis(x, now.data());
    EXPECT_GE((now - before).minCoeff(), -1e-15) << x;
    EXPECT_LE((now - before).tail(now.size() - 1).maxCoeff(), 0.3) << x;
    before = now;
  }
  EXPECT_LE((now - Vector::Ones(more.size())).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_EQ(RisingSpline({3, 3, 3}, 2).size(), 1);
}

TEST(Smacof, TheNaturalWrongSplineThatIsNotTheNearestFails) {
  const Matrix square = distances_of(normal_matrix(30, 4, 6));
  SmacofModel model = fit(Smacof{.input = Input::square, .kind = SmacofKind::spline}, square);
  MemoryRows rows(square);
  rows.features = model.things;
  ASSERT_TRUE(certify(model, rows, {}).holds());
  model.spline.array() += 1e-3 * model.spline.maxCoeff();
  EXPECT_FALSE(certify(model, rows, {}).holds());
}

Table pairs_of(const Matrix& square, const std::function<double(Index, Index)>& weight) {
  std::vector<double> from, to, far, w;
  for (Index i = 0; i < square.rows(); ++i)
    for (Index j = 0; j < i; ++j)
      if (weight(i, j) > 0) {
        from.push_back(static_cast<double>(i));
        to.push_back(static_cast<double>(j));
        far.push_back(square(i, j));
        w.push_back(weight(i, j));
      }
  Table table({}, "pairs");
  table.add(numeric("i", from));
  table.add(numeric("j", to));
  table.add(numeric("d", far));
  table.add(numeric("w", w));
  return table;
}

TEST(Smacof, PairsThatAreMissingAreFoundAgainFromTheOthers) {
  const Matrix places = normal_matrix(25, 2, 8), square = distances_of(places);
  const Table table = pairs_of(square, [](Index i, Index j) { return (i + j) % 3 == 0 ? 0.0 : 1.0; });
  const auto model = fit(Smacof{.input = Input::pairs, .restarts = 3}, formula("~ i + j + d + w"), table);
  EXPECT_LE(model.stress, 1e-12);
  EXPECT_LE((distances_of(model.places) - square).cwiseAbs().maxCoeff(), 1e-4);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  EXPECT_TRUE(std::isnan(model.trustworthiness));
}

TEST(Smacof, AWeightCountsAsSoManyPairs) {
  const Matrix square = distances_of(normal_matrix(15, 4, 9));
  const auto one = fit(Smacof{.input = Input::pairs}, formula("~ i + j + d + w"),
                       pairs_of(square, [](Index, Index) { return 1.0; }));
  const auto three = fit(Smacof{.input = Input::pairs}, formula("~ i + j + d + w"),
                         pairs_of(square, [](Index, Index) { return 3.0; }));
  EXPECT_NEAR(one.stress, three.stress, 1e-12);
  EXPECT_NEAR(3 * one.raw_stress, three.raw_stress, 1e-8);
  const auto heavy = fit(Smacof{.input = Input::pairs}, formula("~ i + j + d + w"),
                         pairs_of(square, [](Index i, Index j) { return i == 1 && j == 0 ? 1e6 : 1.0; }));
  EXPECT_NEAR((heavy.places.row(1) - heavy.places.row(0)).norm(), square(1, 0), 1e-3 * square(1, 0));
}

TEST(Smacof, RestartsFindNoMoreStress) {
  const Matrix x = normal_matrix(40, 6, 2);
  const auto one = fit(Smacof{}, x), more = fit(Smacof{.restarts = 5}, x);
  EXPECT_LE(more.stress, one.stress);
}

TEST(Smacof, TheNaturalWrongPlacesOfClassicalScalingFail) {
  const Matrix x = normal_matrix(50, 5, 3);
  SmacofModel model = fit(Smacof{}, x);
  model.places = classical_places("test", Dissimilarities::of_rows(x, Metric()), 2);
  EXPECT_FALSE(certify(model, MemoryRows(x), {}).holds());
  SmacofModel early = fit(Smacof{.max_iterations = 3}, x);
  EXPECT_FALSE(early.certificate.holds());
  EXPECT_EQ(early.certificate.stopped, "iteration limit");
  EXPECT_NE(early.certificate.message.find("--max_iterations"), std::string::npos);
}

TEST(Smacof, BadInputIsRefused) {
  EXPECT_NE(message_of([] { fit(Smacof{}, Matrix::Ones(5, 2)); }).find("all 5 things are equal"), std::string::npos);
  const Matrix square = distances_of(normal_matrix(6, 2, 1));
  const Table table = pairs_of(square, [](Index i, Index j) { return (i < 3) == (j < 3) ? 1.0 : 0.0; });
  EXPECT_NE(message_of([&] {
              fit(Smacof{.input = Input::pairs}, formula("~ i + j + d + w"), table);
            }).find("no chain of known pairs"),
            std::string::npos);
}

TEST(Smacof, ALineInTwoDimensionsStaysALine) {
  const Matrix line = Vector::LinSpaced(9, 0, 1);
  const auto model = fit(Smacof{}, line);
  EXPECT_LE(model.stress, 1e-8);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
}

}  // namespace
}  // namespace lemma
