// lemma/linear/chebyshev_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/linear/chebyshev.hpp>
#include <lemma/linear/ols/data_test.hpp>
#include <lemma/model/fit.hpp>
#include <numeric>
#include <tests/golden.hpp>

namespace lemma {
namespace {

using ols_test::Data;
using ols_test::expect_near;
using ols_test::rows_of;

TEST(Chebyshev, AgreesWithTheReferenceOnBostonAndFaithful) {
  for (const auto& [id, set, text] :
       {std::tuple{"chebyshev_boston", "boston", "medv ~ crim + rm + dis + ptratio + lstat"},
        {"chebyshev_faithful", "faithful", "waiting ~ eruptions"}}) {
    const Golden golden(id);
    const auto m = fit(Chebyshev{}, formula(text), dataset(set));
    Vector all(m.width() + 1);
    all << m.intercept, m.coefficients;
    EXPECT_TRUE(golden.agrees("objective", m.objective));
    EXPECT_TRUE(golden.agrees("coef", all));
    EXPECT_EQ(m.n_active, golden.number("n_active")) << id;
    EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
    EXPECT_TRUE(m.warnings.empty());
  }
}

TEST(Chebyshev, OfAConstantIsTheMidrange) {
  const auto m = fit(Chebyshev{}, Matrix(4, 0), Vector{{1.0, 2.0, 4.0, 9.0}});
  EXPECT_NEAR(m.intercept, 5, 1e-14);
  EXPECT_NEAR(m.objective, 4, 1e-14);
  EXPECT_EQ(m.active.rows, (Labels{0, 3}));
}

TEST(Chebyshev, ErrorsOfTheBestLineAlternate) {  // x² on 0 … 10: by Chebyshev's theorem errors h, −h, h at 0, 5, 10
  Matrix x(11, 1);
  Vector y(11);
  for (Index i = 0; i < 11; ++i) {
    x(i, 0) = static_cast<double>(i);
    y(i) = x(i, 0) * x(i, 0);
  }
  const auto m = fit(Chebyshev{}, x, y);
  EXPECT_NEAR(m.coefficients(0), 10, 1e-12);
  EXPECT_NEAR(m.objective, 12.5, 1e-12);
  EXPECT_EQ(m.active.rows, (Labels{0, 5, 10}));
}

TEST(Chebyshev, NoPlaneNearbyHasASmallerLargestError) {
  const Data data(40'000, 6);
  const auto m = fit(Chebyshev{}, data.x, data.response());
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
  EXPECT_EQ(m.n_active, 8);
  RandomStream stream(5);
  for (int trial = 0; trial < 50; ++trial) {
    Vector b = m.coefficients;
    for (double& each : b) each += 1e-5 * stream.normal();
    const Vector r = (data.response() - data.x * b).array() - (m.intercept + 1e-5 * stream.normal());
    EXPECT_GT(r.cwiseAbs().maxCoeff(), m.objective);
  }
}

TEST(Chebyshev, OnlyAWeightOfZeroTakesARowOut) {
  const Data data(50, 2);
  CallOptions options;
  options.weights = Vector::Constant(50, 3);
  const auto plain = fit(Chebyshev{}, data.x, data.response()),
             weighted = fit(Chebyshev{}, data.x, data.response(), options);
  expect_near(weighted.coefficients, plain.coefficients, 1e-12, "coefficients");
  EXPECT_EQ(weighted.n_active, 3 * plain.n_active);
  Vector wild = data.response();
  wild(7) += 1e6;
  options.weights(7) = 0;
  std::vector<Index> others;
  for (Index i = 0; i < 50; ++i)
    if (i != 7) others.push_back(i);
  const Matrix x = data.x(others, Eigen::all);
  expect_near(fit(Chebyshev{}, data.x, wild, options).coefficients,
              fit(Chebyshev{}, x, data.response()(others)).coefficients, 1e-11, "without the row");
}

TEST(Chebyshev, ManyRowsThatTieAreNoObstacle) {
  RandomStream stream(7);
  for (int trial = 0; trial < 30; ++trial) {
    Matrix x(280, 3);
    Vector y(280);
    for (Index i = 0; i < 280; ++i) {
      for (Index j = 0; j < 3; ++j) x(i, j) = static_cast<double>(stream.below(3));
      y(i) = static_cast<double>(stream.below(4));
    }
    const auto m = fit(Chebyshev{}, x, y);
    EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
  }
}

TEST(Chebyshev, ThreadsGiveTheSameBits) {
  const Data data(30'000, 3);
  CallOptions options;
  options.threads = 1;
  const auto one = fit(Chebyshev{}, data.x, data.response(), options);
  options.threads = 3;
  const auto three = fit(Chebyshev{}, data.x, data.response(), options);
  EXPECT_EQ(one.coefficients, three.coefficients);
  EXPECT_EQ(one.active.rows, three.active.rows);
}

TEST(Chebyshev, TheNaturalWrongAnswersFailTheCertificate) {
  const Data data(200, 3);
  const MemoryRows rows = rows_of(data.x, data.y);
  const auto right = fit(Chebyshev{}, rows, {});
  ASSERT_TRUE(certify(right, rows, {}).holds()) << certify(right, rows, {}).message;
  ChebyshevModel squares = right;
  const auto least = solve(scan(rows, LeastSquares(3)));
  squares.coefficients = least.coefficients;
  squares.intercept = least.intercept;
  EXPECT_FALSE(certify(squares, rows, {}).holds());
  ChebyshevModel early = right;  // the plane of some of the rows
  const Matrix some = data.x.topRows(150);
  const auto part = fit(Chebyshev{}, some, data.response().head(150));
  early.coefficients = part.coefficients;
  early.intercept = part.intercept;
  EXPECT_FALSE(certify(early, rows, {}).holds());
  ChebyshevModel near = right;
  near.coefficients(0) += 1e-7;
  EXPECT_FALSE(certify(near, rows, {}).holds());
  ChebyshevModel held = right;
  std::iota(held.active.rows.begin(), held.active.rows.end(), 0);
  EXPECT_EQ(certify(held, rows, {}).kind, "difference of active");
}

TEST(Chebyshev, RowsInAnotherOrderAreHeldByTheSameOnes) {
  const Data data(60, 2);
  const auto model = fit(Chebyshev{}, data.x, data.response());
  RandomStream stream(3);
  const auto order = permutation(stream, 60);
  const Matrix x = data.x(order, Eigen::all);
  const Vector response = data.response()(order);
  const std::vector<double> y(response.begin(), response.end());
  const MemoryRows rows = rows_of(x, y);
  EXPECT_TRUE(certify(model, rows, {}).holds()) << certify(model, rows, {}).message;
  ChebyshevModel wrong = model;
  wrong.active.marks.front() -= 1;  // no row has this mark
  EXPECT_EQ(certify(wrong, rows, {}).kind, "difference of active");
}

TEST(Chebyshev, HardColumnsGetAnAnswerOrAClearError) {
  const Data data(40, 2);
  Matrix x(40, 4);
  x << data.x.col(0), data.x.col(0), Vector::Constant(40, 3.0), data.x.col(1);
  const auto aliased = fit(Chebyshev{}, x, data.response());
  EXPECT_EQ(aliased.kept, (Labels{0, 3}));
  EXPECT_TRUE(std::isnan(aliased.coefficients(1)));
  EXPECT_NE(aliased.warnings.at(0).find("'x2' and 'x3'"), std::string::npos);
  EXPECT_TRUE(certify(aliased, rows_of(x, data.y), {}).holds());
  const Data few(3, 5);
  const auto perfect = fit(Chebyshev{}, few.x, few.response());
  EXPECT_NEAR(perfect.objective, 0, 1e-12);
  EXPECT_TRUE(perfect.certificate.holds()) << perfect.certificate.message;
  const auto line = fit(Chebyshev{}, data.x, data.x * Vector{{2.0, 3.0}});
  EXPECT_NEAR(line.coefficients(1), 3, 1e-12);
  EXPECT_TRUE(line.certificate.holds()) << line.certificate.message;
  for (const double scale : {1e-200, 1e-90, 1e90, 1e200}) {
    Matrix scaled = data.x;
    scaled.col(0) *= scale;
    ChebyshevModel m;
    const std::string answer = message_of([&] { m = fit(Chebyshev{}, scaled, data.response()); });
    if (answer != "no error")
      EXPECT_NE(answer.find("chebyshev: the values of 'x1' are too"), std::string::npos) << answer;
    else EXPECT_TRUE(m.certificate.holds()) << scale << ": " << m.certificate.message;
  }
  CallOptions options;
  options.weights = Vector::Zero(40);
  EXPECT_NE(message_of([&] { fit(Chebyshev{}, data.x, data.response(), options); }).find("all weights are 0"),
            std::string::npos);
}

}  // namespace
}  // namespace lemma
