// lemma/math/splines_test.cpp: values of R's splines::bs and ns, and what every basis has.
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/error.hpp>
#include <lemma/math/splines.hpp>
#include <numeric>
#include <rapidcheck.h>

namespace lemma {
namespace {

const std::vector<double> kX = {1, 2, 4, 8, 16, 3, 5.5};

Matrix values(const SplineShape& shape, const std::vector<double>& x = kX) {
  const SplineBasis basis(shape);
  Matrix out(basis.width(), static_cast<Index>(x.size()));  // rows of it are columns of the basis
  basis.columns(x, out.data());
  return out.transpose();
}

void expect_near(const Matrix& a, const Matrix& b) {
  ASSERT_EQ(a.rows(), b.rows());
  ASSERT_EQ(a.cols(), b.cols());
  EXPECT_LT((a - b).cwiseAbs().maxCoeff(), 1e-13) << a;
}

TEST(Splines, AreThoseOfBsInR) {
  expect_near(values({{3, 5.5}, 1, 16, 3}),  // bs(x, df = 5)
              Matrix{{0, 0, 0, 0, 0},
                     {0.62191358024691357, 0.24567901234567902, 0.0074074074074074068, 0, 0},
                     {0.06666666666666668, 0.74871794871794894, 0.1822485207100592, 0.0023668639053254438, 0},
                     {0, 0.25006105006105006, 0.51077030417689762, 0.22567118328499808, 0.013497462477054314},
                     {0, 0, 0, 0, 1},
                     {0.30864197530864201, 0.63209876543209875, 0.059259259259259255, 0, 0},
                     {0, 0.56538461538461537, 0.3976331360946746, 0.036982248520710061, 0}});
  expect_near(values({{3, 6}, 1, 16, 2}),  // bs(x, knots = c(3, 6), degree = 2)
              Matrix{{0, 0, 0, 0},
                     {0.65, 0.1, 0, 0},
                     {0.26666666666666666, 0.70769230769230773, 0.02564102564102564, 0},
                     {0, 0.49230769230769234, 0.46769230769230774, 0.04},
                     {0, 0, 0, 1},
                     {0.6, 0.4, 0, 0},
                     {0.016666666666666666, 0.82307692307692304, 0.16025641025641024, 0}});
  expect_near(values({{}, 1, 16, 3}, {2, 8}),  // bs(x)
              Matrix{{0.17422222222222222, 0.012444444444444445, 0.00029629629629629629},
                     {0.39822222222222226, 0.34844444444444445, 0.10162962962962963}});
}

TEST(Splines, GoOnBeyondTheEndsAsInR) {
  // bs(x, df = 6, intercept = TRUE, Boundary.knots = c(2, 10)) at 1, 16 and 3
  expect_near(values({{10.0 / 3, 5}, 2, 10, 3, false, true}, {1, 16, 3}),
              Matrix{{5.3593750000000018, -5.3802083333333357, 1.0520833333333337, -0.031250000000000007, 0, 0},
                     {0, 0, -0.80999999999999994, 6.3179999999999987, -15.155999999999997, 10.648},
                     {0.015624999999999971, 0.50520833333333326, 0.44791666666666674, 0.031250000000000007, 0, 0}});
  expect_near(values({{3, 5.5}, 1, 16, 3}, {-1, 0.5, 20}),  // predict(bs(x, df = 5), c(-1, 0.5, 20))
              Matrix{{-8.9753086419753085, 2.0345679012345674, -0.059259259259259268, 0, 0},
                     {-1.0464891975308641, 0.094290123456790095, -0.00092592592592592639, 0, 0},
                     {0, -0.031257631257631258, 0.46362623945041526, -2.0658855070158051, 2.6335168988230215}});
  expect_near(values({{2.5, 4, 6.75}, 1, 16, 3, true}, {-1, 0.5, 20}),  // predict(ns(x, df = 4), c(-1, 0.5, 20))
              Matrix{{0, 0.44832020646443804, -1.0299247986345197, 0.58160459217008176},
                     {0, 0.11208005161610951, -0.25748119965862992, 0.14540114804252044},
                     {0, -0.74876124059460469, 0.42282987704165931, 1.3259313635529455}});
}

TEST(Splines, NaturalOnesAreThoseOfNsInR) {
  expect_near(values({{2.5, 4, 6.75}, 1, 16, 3, true}),  // ns(x, df = 4)
              Matrix{{0, 0, 0, 0},
                     {0.03864734299516908, -0.19456086254777144, 0.44696414369082627, -0.25240328114305483},
                     {0.65132139812446721, -0.069764422571412951, 0.25035970951090358, -0.14137960066498084},
                     {0.34167500834167502, 0.48470076487449704, 0.19750294124797094, -0.02387871446414299},
                     {0, -0.16296568177647275, 0.37438062029730224, 0.78858506147917051},
                     {0.29465441571153422, -0.21880271103903656, 0.50599154671463686, -0.28573640285061846},
                     {0.72539331938308915, 0.19993390194761085, 0.093722690447953699, -0.048112920381304332}});
  expect_near(
      values({{3, 6}, 2, 10, 3, true, true}),  // ns(x, knots = c(3, 6), Boundary.knots = c(2, 10), intercept = TRUE)
      Matrix{{-0.83805182301277092, -0.34909613070396645, 0.96001435943590774, -0.61091822873194124},
             {-0.15430334996209191, -0.22628141110071018, 0.62227388052695298, -0.39599246942624278},
             {0.63393194697920219, 0.13585061921147445, 0.17105365431130234, -0.10452332114182443},
             {0.035188479944846654, 0.3690445892112667, 0.31548452252615927, 0.27975660254828821},
             {0, -1.8924731182795695, 0.70430107526881669, 2.1881720430107534},
             {0.44167616371595636, -0.084464729389841758, 0.31821550582206487, -0.20250077643222306},
             {0.39587882606658681, 0.46338695544916497, 0.17811332787193926, -0.045704152368723258}});
  expect_near(values({{}, 1, 16, 3, true}, {2, 16}), Matrix{{0.053452248382484864}, {0.80178372573727319}});
}

/// The definition itself, function by function: 0/0 is 0, and the last interval holds its right end.
double by_definition(const std::vector<double>& t, std::size_t i, int degree, double x) {
  if (degree == 0) return t[i] <= x && (x < t[i + 1] || (x == t.back() && t[i] < x && t[i + 1] == x)) ? 1 : 0;
  const auto p = static_cast<std::size_t>(degree);
  const double left = t[i + p] - t[i], right = t[i + p + 1] - t[i + 1];
  return (left > 0 ? (x - t[i]) / left * by_definition(t, i, degree - 1, x) : 0) +
         (right > 0 ? (t[i + p + 1] - x) / right * by_definition(t, i + 1, degree - 1, x) : 0);
}

SplineShape any_shape() {
  SplineShape shape;
  shape.low = *rc::gen::inRange(-5, 5);
  shape.high = shape.low + *rc::gen::inRange(1, 20);
  shape.degree = *rc::gen::inRange(1, 6);
  shape.intercept = true;
  for (int k = *rc::gen::inRange(0, 8); k > 0; --k)
    shape.knots.push_back(shape.low + (shape.high - shape.low) * *rc::gen::inRange(0, 17) / 16.0);
  std::sort(shape.knots.begin(), shape.knots.end());
  return shape;
}

TEST(Splines, FollowTheirDefinitionWithKnotsThatCoincideToo) {
  EXPECT_TRUE(rc::check([] {
    const SplineShape shape = any_shape();
    std::vector<double> t(static_cast<std::size_t>(shape.degree + 1), shape.low), x;
    t.insert(t.end(), shape.knots.begin(), shape.knots.end());
    t.insert(t.end(), static_cast<std::size_t>(shape.degree + 1), shape.high);
    for (int i = 0; i <= 40; ++i) x.push_back(shape.low + (shape.high - shape.low) * i / 40.0);
    const Matrix found = values(shape, x);
    for (Index i = 0; i < found.rows(); ++i) {
      RC_ASSERT(std::abs(found.row(i).sum() - 1) < 1e-13);
      RC_ASSERT(found.row(i).minCoeff() >= 0);
      for (Index k = 0; k < found.cols(); ++k)
        RC_ASSERT(std::abs(found(i, k) - by_definition(t, static_cast<std::size_t>(k), shape.degree,
                                                       x[static_cast<std::size_t>(i)])) < 1e-12);
    }
  }));
}

TEST(Splines, NaturalOnesAreLinesBeyondTheEndsAndCurveNotAtThem) {
  const SplineShape shape{{2.5, 4, 6.75}, 1, 16, 3, true, true};
  const double h = 1e-4;
  const Matrix at = values(shape, {1 - 2 * h, 1 - h, 1, 1 + h, 1 + 2 * h, 16 - 2 * h, 16 - h, 16, 16 + h, 16 + 2 * h});
  for (const Index middle : {1, 2, 7, 8}) {  // second differences: 0 outside, O(h) at the ends
    const auto curve = (at.row(middle - 1) - 2 * at.row(middle) + at.row(middle + 1)) / (h * h);
    EXPECT_LT(curve.cwiseAbs().maxCoeff(), 1e-3) << middle;
  }
}

TEST(Splines, AMissingValueStaysMissing) {
  for (const bool natural : {false, true}) {
    const Matrix x = values({{3}, 1, 16, 3, natural}, {2, std::nan(""), 4});
    EXPECT_TRUE(x.row(0).allFinite());
    EXPECT_TRUE(x.row(1).array().isNaN().all());
    EXPECT_TRUE(x.row(2).allFinite());
  }
}

TEST(Splines, RefuseKnotsThatMakeNoBasis) {
  EXPECT_THROW(SplineBasis({{3, 2}, 1, 16, 3}), Error);
  EXPECT_THROW(SplineBasis({{0}, 1, 16, 3}), Error);
  EXPECT_THROW(SplineBasis({{}, 1, 1, 3}), Error);
  EXPECT_THROW(SplineBasis({{}, std::nan(""), 1, 3}), Error);
  EXPECT_THROW(SplineBasis({{}, 0, 1, 0}), Error);
  EXPECT_THROW(SplineBasis({{}, 0, 1, kMostSplineDegree + 1}), Error);
  EXPECT_THROW(SplineBasis({{}, 0, 1, 2, true}), Error);
}

}  // namespace
}  // namespace lemma
