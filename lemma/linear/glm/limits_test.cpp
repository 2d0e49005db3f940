// lemma/linear/glm/limits_test.cpp: separation, model files, and input at its limits.
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/data/csv.hpp>
#include <lemma/data/stream.hpp>
#include <lemma/linear/glm.hpp>
#include <lemma/linear/ols/data_test.hpp>
#include <lemma/model/fit.hpp>

namespace lemma {

namespace {

const Glm kBinomial{.family = GlmFamily::binomial}, kPoisson{.family = GlmFamily::poisson};

bool says(const std::vector<std::string>& warnings, const std::string& word) {
  for (const auto& warning : warnings)
    if (warning.find(word) != std::string::npos) return true;
  return false;
}
MemoryRows rows_of(const Matrix& x, const Vector& y) {
  MemoryRows rows(x);
  rows.response({y.data(), static_cast<std::size_t>(y.size())});
  return rows;
}

/// Two Gaussian densities as weights: their log odds are the parabola of the coefficients, −log 3 … over x and x².
struct TwoDensities {
  Matrix x;
  Vector y, weight;
  TwoDensities(double low, double high, double step) {
    const auto count = static_cast<Index>(std::round((high - low) / step)) + 1;
    x.resize(2 * count, 2);
    y.resize(2 * count);
    weight.resize(2 * count);
    for (Index i = 0; i < 2 * count; ++i) {
      const double at = low + static_cast<double>(i / 2) * step;
      x.row(i) << at, at * at;
      y(i) = static_cast<double>(i % 2);
      weight(i) = i % 2 == 0 ? std::exp(-(at + 1) * (at + 1) / 2) : 3 * std::exp(-9 * (at - 1) * (at - 1) / 2);
    }
  }
};

TEST(GlmWeights, ThatAreNextToNothingAtRowsFarFromTheirMeansDoNotMoveTheOthers) {
  const Vector best{{10, -4}};  // of log p₂/p₁ = log 3 − 9 (x − 1)²/2 + (x + 1)²/2
  for (const auto& [low, high, step] : {std::tuple{-2.0, 3.0, 0.25}, {-4.0, 4.0, 0.05}, {-6.0, 6.0, 0.01}}) {
    const TwoDensities data(low, high, step);
    const auto m =
        fit(Glm{.family = GlmFamily::binomial, .max_iterations = 100}, data.x, data.y, {.weights = data.weight});
    EXPECT_TRUE(m.certificate.holds()) << low << ": " << m.certificate.message;
    EXPECT_NEAR(m.intercept, std::log(3.0) - 4, 1e-6) << low;
    EXPECT_LT((m.coefficients - best).cwiseAbs().maxCoeff(), 1e-6) << low << ": " << m.coefficients.transpose();
  }
}

TEST(GlmWeights, ThatAreNextToNothingDoNotMakeAWrongModelLookRight) {
  const TwoDensities data(-6, 6, 0.01);
  auto m = fit(Glm{.family = GlmFamily::binomial, .max_iterations = 100}, data.x, data.y, {.weights = data.weight});
  MemoryRows rows = rows_of(data.x, data.y);
  rows.weights({data.weight.data(), static_cast<std::size_t>(data.weight.size())});
  ASSERT_TRUE(certify(m, rows, {}).holds()) << certify(m, rows, {}).message;
  m.slopes *= 1.5;
  m.coefficients *= 1.5;
  EXPECT_FALSE(certify(m, rows, {}).holds());
}

TEST(GlmSeparation, OfAllRowsIsExplainedAndNotReturnedAsHugeNumbers) {
  const Matrix x{{1, 3}, {2, 1}, {3, 4}, {4, 1}, {5, 5}, {6, 2}};
  const Vector y{{0, 0, 0, 1, 1, 1}};
  const auto m = fit(kBinomial, x, y);
  EXPECT_TRUE(says(m.warnings, "separates the two outcomes completely"));
  EXPECT_TRUE(says(m.warnings, "'x1'"));
  EXPECT_TRUE(says(m.warnings, "--lambda"));
  EXPECT_FALSE(m.certificate.holds());
  EXPECT_EQ(m.certificate.stopped, "separated");
  EXPECT_TRUE(std::isnan(m.coefficients(0)) && std::isnan(m.std_errors(0)));
  const Vector p = m.predict(x);
  for (Index i = 0; i < 6; ++i) EXPECT_NEAR(p(i), y(i), 1e-4);  // predictions are as good as any
  EXPECT_NE(m.summary({{"x1", "x2"}, {}, "y"}).find("without limit"), std::string::npos);
  EXPECT_EQ(certify(m, rows_of(x, y), {}).kind, m.certificate.kind);
  const Vector other{{0, 1, 0, 1, 0, 1}};
  EXPECT_EQ(certify(m, rows_of(x, other), {}).kind, "difference of separating");
}

TEST(GlmSeparation, OfSomeRowsNamesTheColumnAndKeepsTheOthers) {
  const Table table = parse_csv(
      "g,z,y\na,1.2,0\na,2.3,1\na,0.4,0\na,3.1,1\na,2.0,0\nb,1.1,1\nb,2.2,1\nb,0.3,1\na,2.9,0\n", {}, "quasi");
  const auto m = fit(kBinomial, formula("y ~ g + z"), table);
  EXPECT_TRUE(says(m.warnings, "'gb' separates the two outcomes quasi-completely")) << m.warnings.front();
  EXPECT_TRUE(std::isnan(m.coefficients(0)));
  const auto without_b = fit(kBinomial, formula("y ~ z"), table.select(std::vector<Index>{0, 1, 2, 3, 4, 8}));
  EXPECT_NEAR(m.coefficients(1), without_b.coefficients(0), 1e-6);  // b tells nothing of z
  EXPECT_NEAR(m.intercept, without_b.intercept, 1e-5);
  EXPECT_FALSE(m.certificate.holds());
}

TEST(GlmSeparation, OfCountsIsALevelWithoutAny) {
  const Table table = parse_csv("g,k\na,1\na,3\nb,0\nb,0\nb,0\na,2\na,4\n", {}, "counts");
  const auto m = fit(kPoisson, formula("k ~ g"), table);
  EXPECT_TRUE(says(m.warnings, "'gb' tells rows that are all 0 from the others"));
  EXPECT_TRUE(std::isnan(m.coefficients(0)));
  EXPECT_NEAR(m.intercept, std::log(2.5), 1e-6);
  EXPECT_FALSE(m.certificate.holds());
}

TEST(GlmSeparation, IsNotSeenWhereARowCrossesTheLine) {
  const Matrix x{{1}, {2}, {3}, {4}, {5}, {6}, {7}, {8}, {9}, {10}};
  const Vector y{{0, 0, 0, 0, 1, 0, 1, 1, 1, 1}};
  for (const GlmLink link : {GlmLink::logit, GlmLink::probit, GlmLink::cloglog}) {
    const auto m = fit(Glm{.family = GlmFamily::binomial, .link = link}, x, y);
    EXPECT_TRUE(m.warnings.empty()) << m.warnings.front();
    EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
  }
}

TEST(GlmSeparation, OfTheNewtonDirectionDoesNotHideInFarRows) {
  Matrix x(40, 3);  // several groups at different distances from the border
  Vector y(40);
  for (Index i = 0; i < 40; ++i) {
    const double side = i % 2 ? 1 : -1;
    x(i, 0) = side * (1 + static_cast<double>(i * i) / 10);
    x(i, 1) = std::sin(static_cast<double>(i));
    x(i, 2) = std::cos(3.0 * static_cast<double>(i)) * static_cast<double>(i);
    y(i) = i % 2;
  }
  for (const GlmLink link : {GlmLink::logit, GlmLink::probit, GlmLink::cloglog}) {
    const auto m = fit(Glm{.family = GlmFamily::binomial, .link = link}, x, y);
    EXPECT_TRUE(says(m.warnings, "separates")) << name_of(link);
    EXPECT_FALSE(m.certificate.holds()) << name_of(link);
  }
}

TEST(GlmLimits, AResponseTheFamilyCannotHaveIsRefusedByRow) {
  const Matrix x{{1}, {2}, {3}, {4}};
  const auto refused = [&](const Glm& spec, double bad) {
    return message_of([&] { fit(spec, x, Vector{{1, 0.5, bad, 1}}); });
  };
  EXPECT_NE(refused(kPoisson, -2).find("is -2 in row 3, and the poisson family takes values at least 0"),
            std::string::npos);
  EXPECT_NE(refused({.family = GlmFamily::gamma}, 0).find("above 0"), std::string::npos);
  EXPECT_NE(refused({.family = GlmFamily::inverse_gaussian}, -1).find("above 0"), std::string::npos);
  EXPECT_NE(refused(kBinomial, 1.5).find("from 0 to 1; counts are given as cbind"), std::string::npos);
  EXPECT_NE(refused(kBinomial, NAN).find("finite"), std::string::npos);
}

TEST(GlmLimits, OneOutcomeOnlyIsRefused) {
  const Matrix x{{1}, {2}, {3}};
  EXPECT_NE(message_of([&] { fit(kBinomial, x, Vector{{1, 1, 1}}); }).find("one outcome only"), std::string::npos);
  EXPECT_NE(message_of([&] { fit(kPoisson, x, Vector{{0, 0, 0}}); }).find("0 in every row"), std::string::npos);
  EXPECT_NE(message_of([&] {
              fit(Glm{}, x, std::vector<std::string>{"a", "a", "a"});
            }).find("two classes"),
            std::string::npos);
  EXPECT_NE(message_of([&] { fit(Glm{}, x, std::vector<std::string>{"a", "b", "c"}); }).find('3'), std::string::npos);
  EXPECT_NE(message_of([&] {
              fit(kPoisson, x, std::vector<std::string>{"a", "b", "b"});
            }).find("categorical"),
            std::string::npos);
}

TEST(GlmLimits, ALinkThatTheFamilyDoesNotHaveIsRefusedWithTheOnesItHas) {
  const auto refused = message_of([&] {
    fit(Glm{.family = GlmFamily::poisson, .link = GlmLink::logit}, Matrix{{1.0}, {2.0}}, Vector{{1, 2}});
  });
  EXPECT_NE(refused.find("logit"), std::string::npos);
  EXPECT_NE(refused.find("log, identity and sqrt"), std::string::npos) << refused;
  EXPECT_NE(message_of([&] {
              fit(Glm{.link = GlmLink::sqrt}, Matrix{{1.0}, {2.0}}, Vector{{1, 2}});
            }).find("gaussian"),
            std::string::npos);
}

TEST(GlmLimits, ConstantAndDuplicatedColumnsAreAliased) {
  const ols_test::Data data(60, 2);
  Matrix x(60, 4);
  x << data.x.col(0), Vector::Constant(60, 3.0), data.x.col(0), data.x.col(1);
  Vector y(60);
  for (Index i = 0; i < 60; ++i) y(i) = i % 3 == 0 ? 1 : 0;
  const auto m = fit(kBinomial, x, y), alone = fit(kBinomial, data.x, y);
  EXPECT_TRUE(says(m.warnings, "'x2' and 'x3'"));
  EXPECT_TRUE(std::isnan(m.coefficients(1)) && std::isnan(m.coefficients(2)));
  EXPECT_NEAR(m.coefficients(3), alone.coefficients(1), 1e-12);
  EXPECT_EQ(m.rank, 3);
  EXPECT_TRUE(m.certificate.holds());
  EXPECT_TRUE(certify(m, rows_of(x, y), {}).holds()) << certify(m, rows_of(x, y), {}).message;
  EXPECT_NE(m.summary({{"a", "b", "c", "d"}, {}, "y"}).find("2 not defined because of singularities"),
            std::string::npos);
}

TEST(GlmLimits, MoreColumnsThanRowsSeparateOrFitPerfectly) {
  const ols_test::Data data(5, 8);
  const auto m = fit(kBinomial, data.x, Vector{{0, 1, 0, 1, 1}});
  EXPECT_TRUE(says(m.warnings, "separates"));
  EXPECT_TRUE(says(m.warnings, "linear combinations"));
  const auto line = fit(Glm{}, data.x, data.response());
  EXPECT_TRUE(says(line.warnings, "no residual degrees of freedom"));
  EXPECT_TRUE(std::isnan(line.std_errors(0)));
}

TEST(GlmLimits, RowsOfWeightZeroTakeNoPart) {
  const Matrix x{{1}, {2}, {3}, {4}, {5}, {6}, {100}};
  const Vector y{{0, 1, 0, 1, 0, 1, 0}}, w{{1, 1, 1, 1, 1, 1, 0}};
  const auto m = fit(kBinomial, x, y, {.weights = w}), without = fit(kBinomial, x.topRows(6), Vector(y.head(6)));
  EXPECT_EQ(m.df_residual, 4);
  EXPECT_NEAR(m.coefficients(0), without.coefficients(0), 1e-12);
  EXPECT_NE(message_of([&] { fit(kBinomial, x, y, {.weights = Vector::Zero(7)}); }).find("all weights are 0"),
            std::string::npos);
}

TEST(GlmLimits, AResponseFarFromZeroIsFittedToTheDigitsItHas) {
  const ols_test::Data data(60, 2);
  for (const double spread : {1.0, 1e-3}) {
    const Vector y = 1.7e9 + spread * data.response().array();
    const auto expected = fit(Ols{}, data.x, y);
    const MemoryRows rows = rows_of(data.x, y);
    for (const Glm& spec : {Glm{}, Glm{.family = GlmFamily::poisson}, Glm{.family = GlmFamily::gamma},
                            Glm{.family = GlmFamily::gaussian, .link = GlmLink::log}}) {
      const auto model = fit(spec, data.x, y);
      EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
      EXPECT_TRUE(certify(model, rows, {}).holds()) << certify(model, rows, {}).message;
      auto wrong = model;
      wrong.slopes(0) *= 1 + 1e-3;
      wrong.coefficients(0) = wrong.slopes(0);
      EXPECT_FALSE(certify(wrong, rows, {}).holds());
    }
    EXPECT_LT((fit(Glm{}, data.x, y).coefficients - expected.coefficients).cwiseAbs().maxCoeff(), 1e-6 * spread);
  }
}

TEST(GlmLimits, ColumnsInUnusableUnitsAreRefusedByName) {
  const ols_test::Data data(50, 2);
  Vector y(50);
  for (Index i = 0; i < 50; ++i) y(i) = i % 3 == 0 ? 1 : 0;
  for (const double factor : {1e200, 1e-200}) {
    Matrix x = data.x;
    x.col(1) *= factor;
    const auto refused = message_of([&] { fit(kBinomial, x, y); });
    EXPECT_NE(refused.find("'x2'"), std::string::npos) << refused;
    EXPECT_NE(refused.find("use another unit"), std::string::npos) << refused;
  }
}

TEST(GlmLimits, ALinkThatCannotStartBeginsWithTheMean) {
  const Matrix x{{1}, {2}, {3}, {4}, {5}, {6}};
  const Vector y{{-0.1, 1.2, 2.1, 3.9, 8.2, 15.7}};  // the logarithm of the first is not there
  const auto m = fit(Glm{.link = GlmLink::log}, x, y);
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
  EXPECT_EQ(m.certificate.strength, Strength::stationary);
  EXPECT_NE(message_of([&] { fit(Glm{.link = GlmLink::log, .intercept = false}, x, y); }).find("another link"),
            std::string::npos);
}

TEST(GlmLimits, StoppedEarlyItSaysSo) {
  const ols_test::Data data(100, 2);
  Vector y(100);
  for (Index i = 0; i < 100; ++i) y(i) = data.y[static_cast<std::size_t>(i)] > 0 ? 1 : 0;
  y(3) = 1 - y(3);
  y(7) = 1 - y(7);
  const auto m = fit(Glm{.family = GlmFamily::binomial, .max_iterations = 2}, data.x, y);
  EXPECT_FALSE(m.certificate.holds());
  EXPECT_EQ(m.certificate.stopped, "iteration limit");
  EXPECT_TRUE(says(m.warnings, "--max_iterations"));
}

TEST(GlmLimits, ZerosAndOnesUnderTheGaussianFamilyAreRemarkedOn) {
  const Matrix x{{1}, {2}, {3}, {4}};
  EXPECT_TRUE(says(fit(Glm{}, x, Vector{{0, 1, 0, 1}}).warnings, "--family binomial"));
  EXPECT_TRUE(fit(Glm{.family = GlmFamily::gaussian}, x, Vector{{0, 1, 0, 1}}).warnings.empty());
}

TEST(GlmLimits, NoColumnsGiveTheMean) {
  const Matrix none(4, 0);
  const auto m = fit(kBinomial, none, Vector{{0, 1, 1, 1}});
  EXPECT_NEAR(m.intercept, std::log(3.0), 1e-12);
  EXPECT_NEAR(m.residual_deviance, m.null_deviance, 1e-12);
  EXPECT_TRUE(m.certificate.holds());
}

TEST(GlmLimits, AHostileFileIsRefusedFieldByField) {
  const ols_test::Data data(50, 3);
  const Method& method = method_of<Glm>();
  const AnyModel model = method.fit(Value::object(), ols_test::rows_of(data.x, data.y), {});
  const auto refuses = [&](const char* field, Value value) {
    Value state = model->save();
    state.set(field, std::move(value));
    return message_of([&] { method.load(model->params(), state, {}); }) != "no error";
  };
  EXPECT_TRUE(refuses("triangle", Matrix::Identity(2, 2).eval()));
  EXPECT_TRUE(refuses("kept", Vector{{0, 1, 7}}));
  EXPECT_TRUE(refuses("slopes", Vector{{0.0, 1.0}}));
  EXPECT_TRUE(refuses("separating", Vector{{0.0, 1.0}}));
  EXPECT_TRUE(refuses("iterations", -1));
  EXPECT_TRUE(refuses("covariance", Matrix::Identity(3, 3).eval()));
  EXPECT_FALSE(refuses("aic", 1.0));  // a change of value alone is not a wrong shape
}

}  // namespace
}  // namespace lemma
