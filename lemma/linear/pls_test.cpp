// lemma/linear/pls_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/linear/pls.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/model/fit.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

/// Columns that depend on each other, and responses that depend on them.
struct Data {
  Matrix x, y;
  std::vector<double> flat;
  Data(Index n, Index p, Index m, std::uint64_t seed = 3) : x(normal_matrix(n, p, seed)) {
    for (Index j = 1; j < p; ++j) x.col(j) += 0.7 * x.col(j - 1);
    y = x * normal_matrix(p, m, seed + 1) + 0.5 * normal_matrix(n, m, seed + 2);
    y.array() += 3;
    for (Index i = 0; i < n; ++i)
      for (Index k = 0; k < m; ++k) flat.push_back(y(i, k));
  }
  MemoryRows rows() const {
    MemoryRows out(x);
    if (y.cols() == 1) return out.response(flat);
    std::vector<ResponseColumn> columns;
    for (Index k = 0; k < y.cols(); ++k) columns.push_back({"y" + std::to_string(k + 1), {}});
    return out.several(flat, columns);
  }
};
PlsModel fitted(const Pls& spec, const Data& data) { return fit(Valid<Pls>(spec), data.rows(), {}); }
Matrix centred(const Matrix& x) { return x.rowwise() - x.colwise().mean(); }

/// A⁻¹ B of a positive definite A.
Matrix solved(const Matrix& a, const Matrix& b) {
  const Eigenpairs pairs = symmetric_eigen(a);
  const Matrix turned = pairs.vectors.transpose() * b;
  return pairs.vectors * Matrix(turned.array().colwise() / pairs.values.array());
}

/// NIPALS as the books have it: X and Y deflated row by row.
Matrix nipals(Matrix x, Matrix y, int components) {
  x = centred(x);
  y = centred(y);
  const Index p = x.cols(), m = y.cols();
  Matrix w(p, components), loading(p, components), q(m, components);
  for (int a = 0; a < components; ++a) {
    Vector u = y.col(0), t;
    Index most = 0;
    y.colwise().squaredNorm().maxCoeff(&most);
    u = y.col(most);
    for (int round = 0; round < 2000; ++round) {
      w.col(a) = (x.transpose() * u).normalized();
      t = x * w.col(a);
      u = y * (y.transpose() * t).normalized();
    }
    loading.col(a) = x.transpose() * t / t.squaredNorm();
    q.col(a) = y.transpose() * t / t.squaredNorm();
    x -= t * loading.col(a).transpose();
    y -= t * q.col(a).transpose();
  }
  const Matrix r = loading.transpose() * w;  // a unit upper triangle
  return w * r.triangularView<Eigen::Upper>().solve(Matrix(q.transpose()));
}

TEST(Pls, IsWhatNipalsFinds) {
  for (const Index m : {1, 3})
    for (const int components : {1, 2, 4}) {
      const Data data(80, 6, m);
      const auto model = fitted({.components = components, .standardize = false}, data);
      EXPECT_LT((model.coefficients - nipals(data.x, data.y, components)).cwiseAbs().maxCoeff(), 1e-9)
          << m << components;
      EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
    }
}

/// Of one response the coefficients are least squares within the Krylov space of XᵀX and Xᵀy.
TEST(Pls, OfOneResponseIsLeastSquaresInAKrylovSpace) {
  const Data data(60, 7, 1);
  const Matrix x = centred(data.x);
  const Vector y = centred(data.y).col(0), s = x.transpose() * y;
  Matrix krylov(7, 3);
  krylov.col(0) = s.normalized();
  for (Index a = 1; a < 3; ++a) krylov.col(a) = (x.transpose() * (x * krylov.col(a - 1))).normalized();
  const Matrix z = x * krylov;
  const Vector b = krylov * solved(z.transpose() * z, z.transpose() * y);
  const auto model = fitted({.components = 3, .standardize = false}, data);
  EXPECT_LT((model.coefficients.col(0) - b).cwiseAbs().maxCoeff(), 1e-9);
}

TEST(Pls, WithAllComponentsIsLeastSquares) {
  const Data data(60, 5, 2);
  const Matrix x = centred(data.x), y = centred(data.y);
  const Matrix b = solved(x.transpose() * x, x.transpose() * y);
  for (const bool standardize : {false, true}) {
    const auto model = fitted({.components = 5, .standardize = standardize}, data);
    EXPECT_LT((model.coefficients - b).cwiseAbs().maxCoeff(), 1e-9);
    EXPECT_LT((model.values(data.x).colwise().mean() - data.y.colwise().mean()).cwiseAbs().maxCoeff(), 1e-12);
    EXPECT_NEAR(model.explained.sum(), 1, 1e-9);
  }
}

TEST(Pls, StandardisedDoesNotDependOnUnits) {
  const Data data(70, 5, 2);
  Data other = data;
  other.x.col(2) *= 1000;
  for (std::size_t i = 1; i < other.flat.size(); i += 2) other.flat[i] *= 50;
  const auto a = fitted({.components = 2}, data), b = fitted({.components = 2}, other);
  EXPECT_NEAR(a.coefficients(2, 0), b.coefficients(2, 0) * 1000, 1e-9);
  EXPECT_NEAR(a.coefficients(0, 1) * 50, b.coefficients(0, 1), 1e-9);
}

TEST(Pls, ScoresAreOrthogonal) {
  const Data data(70, 5, 2);
  const auto model = fitted({.components = 3}, data);
  const Matrix t = model.coordinates(data.x), tt = t.transpose() * t;
  for (Index a = 0; a < 3; ++a)
    for (Index b = 0; b < a; ++b) EXPECT_NEAR(tt(a, b) / std::sqrt(tt(a, a) * tt(b, b)), 0, 1e-12);
  EXPECT_EQ(model.coordinate_names(), (std::vector<std::string>{"component1", "component2", "component3"}));
}

TEST(Pls, WeightsAreCopies) {
  const Data data(40, 4, 1);
  std::vector<double> weight;
  std::vector<Index> copies;
  std::vector<double> y;
  for (Index i = 0; i < 40; ++i) {
    weight.push_back(static_cast<double>(i % 3));
    for (Index c = 0; c < i % 3; ++c) {
      copies.push_back(i);
      y.push_back(data.y(i, 0));
    }
  }
  MemoryRows weighted = data.rows();
  weighted.weights(weight);
  const Matrix repeated = data.x(copies, Eigen::all);
  MemoryRows plain(repeated);
  plain.response(y);
  const Valid<Pls> spec(Pls{.components = 2});
  EXPECT_LT((fit(spec, weighted, {}).coefficients - fit(spec, plain, {}).coefficients).cwiseAbs().maxCoeff(), 1e-10);
}

/// Regression on principal components, and components found without deflation: what is taken for it.
TEST(Pls, TheNaturalWrongComponentsFailTheCertificate) {
  const Data data(80, 5, 2);
  const auto right = fitted({.components = 2, .standardize = false}, data);
  ASSERT_TRUE(certify(right, data.rows(), {}).holds());
  const Matrix x = centred(data.x), y = centred(data.y);
  PlsModel principal = right;
  principal.weights = principal.rotation = symmetric_eigen(x.transpose() * x, 2).vectors;
  const Matrix t = x * principal.rotation;
  for (Index a = 0; a < 2; ++a) {
    principal.loadings.col(a) = x.transpose() * t.col(a) / t.col(a).squaredNorm();
    principal.response_loadings.col(a) = y.transpose() * t.col(a) / t.col(a).squaredNorm();
  }
  principal.coefficients = principal.rotation * principal.response_loadings.transpose();
  EXPECT_FALSE(certify(principal, data.rows(), {}).holds());
  PlsModel turned = right;  // w in the place of r: scores that overlap
  turned.rotation = right.weights;
  EXPECT_FALSE(certify(turned, data.rows(), {}).holds());
  PlsModel shrunk = right;
  shrunk.coefficients *= 0.999;
  EXPECT_FALSE(certify(shrunk, data.rows(), {}).holds());
}

TEST(Pls, EndsWhereNothingIsLeft) {
  Data data(30, 3, 1);
  const auto model = fitted({.components = 9}, data);
  EXPECT_EQ(model.spec.components, 3);
  ASSERT_EQ(model.warnings.size(), 1u);
  EXPECT_TRUE(contains(model.warnings[0], "3 of 9 components"));
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  for (double& each : data.flat) each = 4;
  EXPECT_TRUE(contains(message_of([&] { fitted({}, data); }), "no column varies together"));
}

}  // namespace
}  // namespace lemma
