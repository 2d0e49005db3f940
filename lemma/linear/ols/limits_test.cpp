// lemma/linear/ols/limits_test.cpp: the certificate, model files, and input at its limits.
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/linear/ols.hpp>
#include <lemma/linear/ols/data_test.hpp>
#include <lemma/model/fit.hpp>

namespace lemma {

using namespace ols_test;

namespace {

constexpr double kNone = OlsModel::kNone;

}  // namespace

TEST(Ols, AnOffsetOfTheDataCostsNoCertificate) {
  const Data data(3000, 3);
  for (const double shift : {1e3, 1e6, 1e9}) {
    const Matrix x = data.x.array() + shift;
    const Vector y = data.response().array() + shift;
    const std::vector<double> numbers(y.begin(), y.end());
    const auto m = fit(Ols{}, x, y);
    EXPECT_TRUE(m.certificate.holds()) << shift << ": " << m.certificate.message;
    EXPECT_TRUE(certify(m, rows_of(x, numbers), {}).holds())
        << shift << ": " << certify(m, rows_of(x, numbers), {}).message;
  }
}

TEST(Ols, OneRowIsItsOwnMean) {
  const auto m = fit(Ols{}, Matrix{{3.0, 4.0}}, Vector{{5.0}});
  EXPECT_EQ(m.intercept, 5);
  EXPECT_EQ(m.rank, 1);
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
  EXPECT_EQ(m.predict(Matrix{{8.0, 9.0}})(0), 5);
}

TEST(Ols, NoColumnsGiveTheMeanOrNothing) {
  const Matrix none(3, 0);
  const Vector y{{1.0, 2.0, 6.0}};
  const auto mean = fit(Ols{}, none, y), nothing = fit(Ols{.intercept = false}, none, y);
  EXPECT_NEAR(mean.intercept, 3, 1e-15);
  EXPECT_NEAR(mean.intercept_std_error, std::sqrt(7.0 / 3), 1e-15);  // s² = 14 / 2
  EXPECT_EQ(mean.r_squared, 0);
  EXPECT_EQ(nothing.rank, 0);
  EXPECT_NEAR(nothing.rss, 41, 1e-13);
  EXPECT_EQ(nothing.predict(none), Vector::Zero(3));
  EXPECT_NE(nothing.summary({{}, {}, "y"}).find("No Coefficients"), std::string::npos);
}

TEST(Ols, APerfectFitIsSaidToBeOne) {
  const Data data(20, 2);
  const Vector y = data.x * Vector{{1.0, 2.0}};
  const auto m = fit(Ols{}, data.x, y);
  ASSERT_EQ(m.warnings.size(), 1U);
  EXPECT_EQ(m.warnings[0], "essentially perfect fit: summary may be unreliable");
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;

  const auto constant = fit(Ols{}, data.x, Vector::Constant(20, 4.0));
  EXPECT_EQ(constant.intercept, 4);
  EXPECT_EQ(constant.rss, 0);
  EXPECT_TRUE(constant.certificate.holds()) << constant.certificate.message;
  for (const double value : {constant.log_likelihood, constant.t(0), constant.f_statistic})
    EXPECT_FALSE(std::isinf(value));
}

TEST(Ols, TheCertificateFailsOnADamagedModel) {
  const Data data(200, 4);
  const MemoryRows rows = rows_of(data.x, data.y);
  const auto m = fit(Ols{}, rows, {});
  ASSERT_TRUE(certify(m, rows, {}).holds());
  ASSERT_TRUE(m.certificate.error_bound && *m.certificate.error_bound < 1e-12);
  for (Index j = 0; j < 4; ++j) {
    auto damaged = m;
    damaged.coefficients(j) += 1e-9;
    const auto certificate = certify(damaged, rows, {});
    EXPECT_FALSE(certificate.holds()) << j;
    EXPECT_GE(*certificate.error_bound, 1e-9);  // the bound covers the damage
  }
  auto damaged = m;
  damaged.intercept += 1e-9;
  EXPECT_FALSE(certify(damaged, rows, {}).holds());
  damaged = m;
  damaged.coefficients(2) = kNone;  // a useful column called aliased
  damaged.kept = {0, 1, 3};
  EXPECT_FALSE(certify(damaged, rows, {}).holds());
  damaged = m;
  damaged.coefficients(0) = INFINITY;
  EXPECT_FALSE(certify(damaged, rows, {}).holds());
}

TEST(Ols, SavedAndLoadedItSaysTheSame) {
  const Data data(50, 3);
  Matrix x(50, 4);
  x << data.x, data.x.col(1);
  const MemoryRows rows = rows_of(x, data.y);
  const Method& method = method_of<Ols>();
  const AnyModel model = method.fit(Value::object(), rows, {});
  const AnyModel again = method.load(model->params(), model->save(), {});
  PredictOptions options;
  options.interval = IntervalKind::prediction;
  const Prediction a = model.predict(x, options), b = again.predict(x, options);
  EXPECT_EQ(a.value(), b.value());
  EXPECT_EQ(a.interval(), b.interval());
  EXPECT_TRUE(same(*model_cast<OlsModel>(model), *model_cast<OlsModel>(again)));
  EXPECT_TRUE(again->verify(rows, {}).holds());
}

TEST(Ols, AHostileFileIsRefusedFieldByField) {
  const Data data(50, 3);
  const Method& method = method_of<Ols>();
  const AnyModel model = method.fit(Value::object(), rows_of(data.x, data.y), {});
  const auto refuses = [&](const char* field, Value value) {
    Value state = model->save();
    state.set(field, std::move(value));
    return message_of([&] { method.load(model->params(), state, {}); }) != "no error";
  };
  EXPECT_FALSE(refuses("sigma", 1.0));  // a change of value alone is not a wrong shape
  EXPECT_TRUE(refuses("triangle", Matrix::Identity(2, 2).eval()));
  EXPECT_TRUE(refuses("triangle", Matrix(Matrix::Zero(3, 3))));
  EXPECT_TRUE(refuses("triangle", Matrix(Matrix::Identity(3, 2))));
  EXPECT_TRUE(refuses("kept", Vector{{0.0, 1.0, 3.0}}));
  EXPECT_TRUE(refuses("kept", Vector{{0.0, 0.0, 1.0}}));
  EXPECT_TRUE(refuses("kept", Vector{{0.0, -1.0, 1.0}}));
  EXPECT_TRUE(refuses("mean", Vector::Zero(2).eval()));
  EXPECT_TRUE(refuses("mass", 0.0));
  EXPECT_TRUE(refuses("rank", 3));
  EXPECT_TRUE(refuses("covariance", Matrix::Identity(3, 3).eval()));
  EXPECT_TRUE(refuses("coefficients", Vector{{1.0, 2.0, kNone}}));
  EXPECT_TRUE(refuses("coefficients", Vector::Zero(4).eval()));
  EXPECT_TRUE(refuses("intercept", kNone));
  EXPECT_TRUE(refuses("residual_quantiles", Vector::Zero(3).eval()));
}

TEST(Ols, NamesTheValueItCannotUse) {
  const Data good(30, 2);
  Matrix x = good.x;
  x(16, 1) = kNone;
  EXPECT_EQ(message_of([&] { fit(Ols{}, x, good.response()); }), "'x2' is NaN in row 17; it must be finite");
  x(16, 1) = INFINITY;
  EXPECT_EQ(message_of([&] { fit(Ols{}, x, good.response()); }), "'x2' is infinity in row 17; it must be finite");
  Vector y = good.response();
  y(3) = kNone;
  EXPECT_NE(message_of([&] { fit(Ols{}, good.x, y); }).find("NaN in row 4"), std::string::npos);
  CallOptions options;
  options.weights = Vector::Ones(30);
  options.weights(5) = -1;
  EXPECT_EQ(message_of([&] { fit(Ols{}, good.x, good.response(), options); }),
            "the weight is -1 in row 6; it must be finite and at least 0");
  options.precision = -Vector::Ones(30);  // beside negative weights: their product would be positive
  options.weights = -Vector::Ones(30);
  EXPECT_NE(message_of([&] { fit(Ols{}, good.x, good.response(), options); }).find("the weight is -1"),
            std::string::npos);
  options = {};
  options.weights = Vector::Zero(30);
  EXPECT_EQ(message_of([&] { fit(Ols{}, good.x, good.response(), options); }),
            "ols: all weights are 0, so there are no rows to learn from");
  options.weights = Vector::Ones(30);
  options.weights(16) = 0;
  EXPECT_NE(message_of([&] { fit(Ols{}, x, good.response(), options); }).find("infinity in row 17"), std::string::npos);
  EXPECT_NE(message_of([&] { fit(Ols{}, Matrix(0, 2), Vector()); }).find("no rows"), std::string::npos);
  EXPECT_NE(message_of([&] { fit(Ols{.level = 1}, good.x, good.response()); }).find("level"), std::string::npos);
  const auto m = fit(Ols{}, good.x, good.response());
  EXPECT_EQ(message_of([&] { m.predict(Matrix::Zero(1, 3)); }), "ols was fitted on 2 columns and is given 3");
  EXPECT_NE(message_of([&] { m.interval(good.x, IntervalKind::confidence, 1.5); }).find("1.5"), std::string::npos);
}

TEST(Ols, TinyAndHugeUnitsGiveTheAnswerOrAClearError) {
  const Data data(40, 2);
  const auto m = fit(Ols{}, data.x, data.response());
  for (const double scale : {1e-250, 1e-200, 1e-150, 1e-100, 1e100, 1e150, 1e200, 1e300}) {
    Matrix x = data.x;
    x.col(0) *= scale;
    OlsModel scaled;
    const std::string answer = message_of([&] { scaled = fit(Ols{}, x, data.response()); });
    if (answer != "no error") {
      EXPECT_TRUE(scale < 1e-120 || scale > 1e120) << scale;
      EXPECT_NE(answer.find(scale > 1 ? "'x1' are too large" : "'x1' are too small"), std::string::npos)
          << scale << ": " << answer;
      continue;
    }
    EXPECT_NEAR(scaled.coefficients(0) * scale, m.coefficients(0), 1e-12) << scale;
    EXPECT_NEAR(scaled.coefficients(1), m.coefficients(1), 1e-12) << scale;
    EXPECT_TRUE(scaled.certificate.holds()) << scale << ": " << scaled.certificate.message;
  }
}

}  // namespace lemma
