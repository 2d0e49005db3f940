// lemma/neighbor/neighbor_components_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/core/row_views.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/model/fit.hpp>
#include <lemma/neighbor/neighbor_components.hpp>
#include <lemma/neighbor/neighbor_components/objective.hpp>
#include <lemma/optimize/gradient_check.hpp>
#include <tests/contract/patience.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

using neighbor_components::Data;
using neighbor_components::Loss;

/// Classes by the first of three columns; the third is wide and says nothing.
struct Stripes {
  Matrix x;
  Labels code;
  Vector y;
  explicit Stripes(Index n, std::uint64_t seed = 5) : x(normal_matrix(n, 3, seed)), y(n) {
    for (Index i = 0; i < n; ++i) {
      code.push_back(static_cast<int>(i % 3));
      x(i, 0) += 2.5 * code.back();
      x(i, 2) *= 20;
      y(i) = std::sin(x(i, 0));
    }
  }
  MemoryRows classes() const {
    MemoryRows out(x);
    out.labels(code, {"a", "b", "c"});
    return out;
  }
  MemoryRows numbers() const {
    MemoryRows out(x);
    out.response({y.data(), at(y.size())});
    return out;
  }
};

Data data_of(const Stripes& s, bool of_classes) {
  Data out;
  out.x = s.x;
  if (of_classes) out.label = s.code;
  else out.y = s.y;
  return out;
}

TEST(NeighborComponents, ItsGradientIsThatOfDifferencesAndOfPlainSums) {
  const Stripes s(70);  // more than one block of rows
  for (const bool of_classes : {true, false})
    for (const Index d : {1, 2, 3}) {
      const Data data = data_of(s, of_classes);
      const Matrix a = 0.3 * normal_matrix(d, 3, 9);
      const Vector flat = Eigen::Map<const Vector>(a.data(), a.size());
      const Loss loss(data, d, 0.01, {});
      const auto check = check_derivatives(loss, flat);
      EXPECT_TRUE(check.holds(1e-6)) << of_classes << d << " " << check.gradient << " " << check.values;
      Vector gradient;
      const double value = loss.value(flat, gradient);
      const auto plain = neighbor_components::plainly(data, a, 0.01, {});
      EXPECT_NEAR(plain.objective, value, 1e-12);
      EXPECT_LT((Eigen::Map<const Vector>(plain.gradient.data(), plain.gradient.size()) - gradient).norm(), 1e-12);
    }
}

/// Three rows on a line: p by hand.
TEST(NeighborComponents, ItsLossIsTheErrorOfANeighbourDrawn) {
  Data data;
  data.x = Matrix{{0.0}, {1.0}, {3.0}};
  data.label = {0, 0, 1};
  const double first = std::exp(-1.0) / (std::exp(-1.0) + std::exp(-9.0)),
               second = std::exp(-1.0) / (std::exp(-1.0) + std::exp(-4.0));
  const auto plain = neighbor_components::plainly(data, Matrix{{1.0}}, 0, {});
  EXPECT_NEAR(plain.objective, ((1 - first) + (1 - second) + 1) / 3, 1e-15);
  EXPECT_NEAR(neighbor_components::nearest_error(data, data.x, {}), 1.0 / 3, 1e-15);
  data.label.clear();
  data.y = Vector{{0, 1, 5}};
  const auto numbers = neighbor_components::plainly(data, Matrix{{1.0}}, 0, {});
  EXPECT_NEAR(numbers.objective,
              (std::pow(first + 5 * (1 - first), 2) + std::pow(1 - 5 * (1 - second), 2) +
               std::pow(5 - 1 / (1 + std::exp(-5.0)), 2)) /
                  3,
              1e-13);
}

TEST(NeighborComponents, ItFindsTheColumnThatTellsTheClasses) {
  const Stripes s(150);
  const auto rows = s.classes();
  const auto m = fit(Valid<NeighborComponents>(NeighborComponents{.components = 1}), rows, {});
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
  EXPECT_TRUE(certify(m, rows, {}).holds()) << certify(m, rows, {}).message;
  const Vector a = m.loadings.col(0).cwiseProduct(m.scale);
  EXPECT_GT(std::abs(a(0)), 5 * std::abs(a(1)));
  EXPECT_GT(std::abs(a(0)), 5 * std::abs(a(2)));
  EXPECT_LT(m.error, 0.8 * m.error_before);
  EXPECT_EQ(m.counts, (Vector{{50, 50, 50}}));
  const Matrix z = m.transform(s.x);
  EXPECT_EQ(z.cols(), 1);
  EXPECT_NEAR(z.mean(), 0, 1e-10);
}

TEST(NeighborComponents, ItFindsTheColumnThatANumberFollows) {
  const Stripes s(120);
  const auto rows = s.numbers();
  const auto m = fit(Valid<NeighborComponents>(NeighborComponents{.components = 2}), rows, {});
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
  EXPECT_TRUE(certify(m, rows, {}).holds()) << certify(m, rows, {}).message;
  EXPECT_GT(m.told, 0.8);
  EXPECT_LT(m.error, 0.5 * m.error_before);
  EXPECT_EQ(m.class_count(), 0);
}

TEST(NeighborComponents, ItsCoordinatesAreTurnedInOneWay) {
  const Table wine = dataset("wine");
  const auto m = fit(NeighborComponents{.components = 3}, formula("class ~ ."), wine);
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
  const Matrix a = m.loadings.array().colwise() * m.scale.array();
  const Matrix products = a.transpose() * a;
  for (Index k = 0; k < 3; ++k) {
    EXPECT_NEAR(products(k, k), m.lengths(k) * m.lengths(k), 1e-9 * products(0, 0));
    for (Index l = 0; l < k; ++l) EXPECT_NEAR(products(k, l), 0, 1e-9 * products(0, 0));
    if (k > 0) { EXPECT_LE(m.lengths(k), m.lengths(k - 1) + 1e-12); }
  }
}

TEST(NeighborComponents, NeitherTheOrderOfTheRowsNorUnitsNorThreadsChangeIt) {
  const Stripes s(90);
  const auto rows = s.classes();
  const Valid<NeighborComponents> spec(NeighborComponents{.components = 2});
  const auto m = fit(spec, rows, {});
  std::vector<Index> turned;
  for (Index i = 90; i-- > 0;) turned.push_back(i);
  const SelectedRows others(rows, turned);
  EXPECT_EQ(fit(spec, others, {}).loadings, m.loadings);
  FitOptions one;
  one.threads = 1;
  EXPECT_EQ(fit(spec, rows, one).loadings, m.loadings);
  Stripes in_mm = s;
  in_mm.x.col(1) *= 1024;
  const auto other = fit(spec, in_mm.classes(), {});
  EXPECT_LT((other.transform(in_mm.x) - m.transform(s.x)).cwiseAbs().maxCoeff(), 1e-9);
}

TEST(NeighborComponents, TheNaturalWrongMapsFailTheCertificate) {
  const Stripes s(90);
  const auto rows = s.classes();
  const Valid<NeighborComponents> spec(NeighborComponents{.components = 2});
  const auto right = fit(spec, rows, {});
  ASSERT_TRUE(certify(right, rows, {}).holds());
  NeighborComponents few = *spec;  // a search that ends too soon, and says it is done
  few.max_iterations = 3;
  auto early = fit(Valid<NeighborComponents>(few), rows, {});
  EXPECT_FALSE(early.certificate.holds());
  EXPECT_EQ(early.warnings.size(), 1U);
  auto longer = right;  // the map of another penalty
  longer.loadings *= 1.01;
  longer.lengths *= 1.01;
  auto rotated = right;  // as good, but not turned as it is said to be
  const double c = std::cos(0.3), sn = std::sin(0.3);
  rotated.loadings = right.loadings * Matrix{{c, sn}, {-sn, c}};
  auto error = right;
  error.error += 1.0 / 90;
  for (const auto& wrong : {early, longer, rotated, error}) EXPECT_FALSE(certify(wrong, rows, {}).holds());
}

TEST(NeighborComponents, ACancelIsHeardWithinOneLookAtManyPairs) {
  const Matrix x = normal_matrix(3000, 12, 4);
  const Vector y = x.col(0) + x.col(1);
  contract::Patience patience(60);
  EXPECT_THROW(fit(NeighborComponents{.max_iterations = 1}, x, y, {.threads = 1, .progress = &patience}), Cancelled);
  EXPECT_LE(patience.asked(), 60 + 12);
}

TEST(NeighborComponents, BadInputIsRefusedByWhatIsWrong) {
  const Stripes s(30);
  const auto said = [&](const NeighborComponents& spec, const Matrix& x, const std::vector<std::string>& labels) {
    return message_of([&] { fit(spec, x, labels); });
  };
  const std::vector<std::string> one{"a"};
  EXPECT_NE(said({}, Matrix{{1.0, 2.0}}, one), "no error");
  std::vector<std::string> labels;
  for (const int code : s.code) labels.emplace_back(1, static_cast<char>('a' + code));
  EXPECT_NE(said({.components = 4}, s.x, labels).find("components is 4 and there are 3 columns"), std::string::npos)
      << said({.components = 4}, s.x, labels);
  Matrix missing = s.x;
  missing(4, 1) = std::nan("");
  EXPECT_NE(said({}, missing, labels), "no error");
  // All rows equal: nothing to tell, and nothing breaks.
  const auto flat = fit(NeighborComponents{}, Matrix(Matrix::Ones(30, 2)), labels);
  EXPECT_TRUE(flat.certificate.holds()) << flat.certificate.message;
  EXPECT_NEAR(flat.told, 9.0 / 29, 1e-12);
  EXPECT_NEAR(flat.error, 20.0 / 29, 1e-12);
}

}  // namespace
}  // namespace lemma
