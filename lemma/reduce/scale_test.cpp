// lemma/reduce/scale_test.cpp
#include <gtest/gtest.h>

#include <cmath>
#include <lemma/core/random.hpp>
#include <lemma/model/fit.hpp>
#include <lemma/reduce/scale.hpp>

namespace lemma {
namespace {

Matrix numbers(Index n, Index p) {
  Matrix x = normal_matrix(n, p, 2);
  for (Index j = 0; j < p; ++j) x.col(j) = (x.col(j).array() * std::pow(10.0, static_cast<double>(j))) + 5;
  return x;
}

TEST(Scale, MatchesTheAnswerByHand) {  // 1 2 3: mean 2, sd 1 (divisor n − 1)
  const auto model = fit(Scale{}, Matrix{{1.0, 10.0}, {2.0, 30.0}, {3.0, 50.0}});
  EXPECT_EQ(model.mean, (Vector{{2.0, 30.0}}));
  EXPECT_EQ(model.scale, (Vector{{1.0, 20.0}}));
  EXPECT_EQ(model.transform(Matrix{{4.0, 10.0}}), (Matrix{{2.0, -1.0}}));
  EXPECT_TRUE(model.certificate.holds());
}

TEST(Scale, LeavesMeanZeroAndStandardDeviationOneAndInverts) {
  const Matrix x = numbers(2000, 4);
  const auto model = fit(Scale{}, x);
  const Matrix z = model.transform(x);
  EXPECT_LT(z.colwise().mean().cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LT((z.colwise().squaredNorm().array() / 1999 - 1).abs().maxCoeff(), 1e-12);
  EXPECT_LT((model.inverse(z) - x).cwiseAbs().maxCoeff(), 1e-9);
  const auto map = model.affine();
  EXPECT_LT((Matrix((x * map.a.transpose()).rowwise() + map.b.transpose()) - z).cwiseAbs().maxCoeff(), 1e-10);
}

TEST(Scale, CentresOrScalesAloneWhenAsked) {
  const Matrix x = numbers(50, 2);
  EXPECT_EQ(fit(Scale{.scale = false}, x).scale, Vector::Ones(2));
  EXPECT_EQ(fit(Scale{.center = false}, x).mean, Vector::Zero(2));
}

TEST(Scale, OnlyCentresAConstantColumnAndSaysSo) {
  Matrix x = numbers(20, 3);
  x.col(1).setConstant(4);
  const auto model = fit(Scale{}, x);
  EXPECT_EQ(model.scale(1), 1);
  EXPECT_EQ(model.transform(x).col(1), Vector::Zero(20));
  ASSERT_EQ(model.warnings.size(), 1u);
  EXPECT_NE(model.warnings[0].find("'x2'"), std::string::npos);
  EXPECT_TRUE(model.certificate.holds());
}

TEST(Scale, WeightsEqualRepetitionAndThreadsKeepTheBits) {
  const Matrix x = numbers(4000, 3);
  Matrix twice(8000, 3);
  twice << x, x;
  const auto weighted = fit(Scale{}, x, CallOptions{.weights = Vector::Constant(4000, 2)}),
             copied = fit(Scale{}, twice);
  EXPECT_LT(((weighted.scale - copied.scale).array() / copied.scale.array()).abs().maxCoeff(), 1e-13);
  const auto one = fit(Scale{}, x, CallOptions{.threads = 1}), three = fit(Scale{}, x, CallOptions{.threads = 3});
  EXPECT_EQ(one.mean, three.mean);
  EXPECT_EQ(one.scale, three.scale);
}

TEST(Scale, MissingValuesStayMissingAndTakeNoPart) {
  Matrix x = numbers(30, 2);
  const auto whole = fit(Scale{}, x.topRows(29));
  x(29, 0) = std::nan("");
  const auto model = fit(Scale{}, x);
  EXPECT_NEAR(model.mean(0), whole.mean(0), 1e-14);
  EXPECT_TRUE(std::isnan(model.transform(x)(29, 0)));
}

TEST(Scale, HugeAndTinyNumbersAreScaledWithoutAWarning) {
  for (const double unit : {1e200, 1e300, 1e-200, 1e-300}) {
    const Matrix x = unit * numbers(50, 2);
    const auto model = fit(Scale{}, x);
    EXPECT_TRUE(model.warnings.empty()) << unit;
    EXPECT_TRUE(model.certificate.holds()) << unit << ": " << model.certificate.message;
    EXPECT_LT((model.transform(x).colwise().squaredNorm().array() / 49 - 1).abs().maxCoeff(), 1e-12) << unit;
  }
}

TEST(Scale, RefusesASpreadBeyondTheRangeOfNumbersAndNamesTheColumn) {
  Matrix x = numbers(2, 2);
  x.col(1) << -1.7e308, 1.7e308;
  try {
    fit(Scale{}, x);
    FAIL() << "was accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("'x2' reach from -1.7e+308 to 1.7e+308"), std::string::npos)
        << error.what();
  }
}

TEST(Scale, TheNaturalWrongAlgorithmsFailTheCertificate) {
  const Matrix x = numbers(300, 3);
  const MemoryRows rows(x);
  const auto right = fit(Scale{}, x);
  ScaleModel divisor = right, uncentred = right, damaged = right;
  divisor.scale *= std::sqrt(299.0 / 300.0);
  uncentred.mean.setZero();
  damaged.mean(2) += 1e-3;
  EXPECT_TRUE(certify(right, rows, {}).holds());
  for (const auto& wrong : {divisor, uncentred, damaged}) EXPECT_FALSE(certify(wrong, rows, {}).holds());
}

TEST(Scale, ColumnsFarFromZeroAreScaledToTheLastDigitOfTheirMean) {
  for (const double offset : {1e9, 1e12, 1e15}) {
    const Matrix x = normal_matrix(300, 2, 5).array() + offset;
    const auto model = fit(Scale{}, x);
    EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
    ScaleModel wrong = model;
    wrong.mean(1) *= 1 - 1e-15;  // a few units of the last digit
    EXPECT_TRUE(offset == 1e9 || !certify(wrong, MemoryRows(x), {}).holds()) << offset;
  }
}

TEST(Scale, ParametersThatAreNotThoseOfTheNumbersAreNoticed) {
  const Matrix x = numbers(40, 2);
  const auto refused = [&](Scale spec, Scale claimed) {
    ScaleModel model = fit(spec, x);
    model.spec = claimed;
    try {
      model.check();
    } catch (const Error&) { return true; }
    return !certify(model, MemoryRows(x), {}).holds();
  };
  for (const Scale spec : {Scale{}, Scale{.center = false}, Scale{.scale = false}, Scale{false, false}}) {
    EXPECT_FALSE(refused(spec, spec));
    EXPECT_TRUE(refused(spec, {!spec.center, spec.scale}));
    EXPECT_TRUE(refused(spec, {spec.center, !spec.scale}));
  }
}

TEST(Scale, ComesBackFromItsFieldsWithEveryBit) {
  const Matrix x = numbers(40, 3);
  const auto& method = method_of<Scale>();
  const auto model = method.fit(Value::object(), MemoryRows(x), {});
  const auto loaded = method.load(model->params(), model->save(), {model->certificate(), {}});
  EXPECT_EQ(loaded->transform(x), model->transform(x));
  Value state = model->save();
  state.set("scale", Vector(Vector::Zero(3)));
  EXPECT_THROW(method.load(model->params(), state, {}), Error);
}

}  // namespace
}  // namespace lemma
