// lemma/reduce/factorise_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/core/row_views.hpp>
#include <lemma/data/csv.hpp>
#include <lemma/math/svd.hpp>
#include <lemma/model/fit.hpp>
#include <lemma/reduce/factorise.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

/// Values of some pairs: a mean, biases, a product of rank r, noise.
struct Ratings {
  Matrix x;
  Vector y;
  Matrix truth;  // of all pairs
  Ratings(Index users, Index items, Index rank, double share, double noise, std::uint64_t seed = 3) {
    const Vector b = normal_matrix(users, 1, seed, 1), c = normal_matrix(items, 1, seed, 2);
    truth = normal_matrix(users, rank, seed, 3) * normal_matrix(items, rank, seed, 4).transpose();
    truth.array() += 3;
    truth.colwise() += b;
    truth.rowwise() += c.transpose();
    RandomStream stream(seed);
    std::vector<std::array<double, 3>> rows;
    for (Index u = 0; u < users; ++u)
      for (Index i = 0; i < items; ++i)
        if (stream.uniform() < share)
          rows.push_back(
              {static_cast<double>(100 + u), static_cast<double>(7 * i), truth(u, i) + noise * stream.normal()});
    x.resize(std::ssize(rows), 2);
    y.resize(std::ssize(rows));
    for (Index k = 0; k < y.size(); ++k) {
      x.row(k) << rows[at(k)][0], rows[at(k)][1];
      y(k) = rows[at(k)][2];
    }
  }
};

/// ½ Σ r² + ½ λ Σ (b² + ‖a‖²), term by term.
double objective(const FactoriseModel& model, const Matrix& x, const Vector& y) {
  return 0.5 * (y - model.predict(x)).squaredNorm() +
         0.5 * model.spec.lambda * (model.biases.squaredNorm() + model.factors.squaredNorm());
}

TEST(Factorise, FindsValuesOfPairsThatWereNotGiven) {
  const Ratings data(60, 40, 2, 0.5, 0);
  const auto model = fit(Factorise{.lambda = 1e-3}, data.x, data.y);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  double worst = 0;
  for (Index u = 0; u < 60; ++u)
    for (Index i = 0; i < 40; ++i) {
      const Matrix pair{{static_cast<double>(100 + u), static_cast<double>(7 * i)}};
      worst = std::max(worst, std::abs(model.predict(pair)(0) - data.truth(u, i)));
    }
  EXPECT_LE(worst, 0.1);
  ASSERT_TRUE(model.held_out_error.has_value());
  EXPECT_LE(*model.held_out_error, 0.1);
  EXPECT_GE(*model.held_out_error, model.error);
}

TEST(Factorise, TheObjectiveIsTheSumOfItsFormulaAndNoMoveLowersIt) {
  const Ratings data(25, 20, 3, 0.5, 0.5);
  const auto model = fit(Factorise{.held_out = 0}, data.x, data.y);
  EXPECT_FALSE(model.held_out_error.has_value());
  const double found = objective(model, data.x, data.y);
  EXPECT_NEAR(model.objective, found, 1e-9 * found);
  EXPECT_NEAR(model.error,
              std::sqrt((data.y - model.predict(data.x)).squaredNorm() / static_cast<double>(data.y.size())), 1e-12);
  for (std::uint64_t k = 0; k < 10; ++k) {
    FactoriseModel moved = model;
    moved.mean += 1e-3;
    moved.biases += 1e-3 * normal_matrix(45, 1, k);
    moved.factors += 1e-3 * normal_matrix(45, 2, k, 1);
    EXPECT_GT(objective(moved, data.x, data.y), found);
  }
}

TEST(Factorise, OfAFullTableWithoutBiasesItIsTheSoftenedSingularValueDecomposition) {
  // With λ/2 (‖A‖² + ‖B‖²) the product is that of the nuclear norm: singular values less λ. Double centring leaves no biases.
  Matrix table = normal_matrix(12, 9, 5);
  table.colwise() -= table.rowwise().mean().eval();
  table.rowwise() -= table.colwise().mean().eval();
  Matrix x(108, 2);
  Vector y(108);
  for (Index u = 0; u < 12; ++u)
    for (Index i = 0; i < 9; ++i) {
      x.row(9 * u + i) << static_cast<double>(u), static_cast<double>(i);
      y(9 * u + i) = table(u, i);
    }
  const auto model = fit(Factorise{.rank = 9, .lambda = 2, .held_out = 0}, x, y);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  EXPECT_LE(model.biases.cwiseAbs().maxCoeff(), 1e-6);
  const Svd svd = thin_svd(table);
  const Matrix expected = svd.u * (svd.s.array() - 2).cwiseMax(0).matrix().asDiagonal() * svd.v.transpose();
  EXPECT_LE((model.factors.topRows(12) * model.factors.bottomRows(9).transpose() - expected).norm(), 1e-5);
}

TEST(Factorise, OfRankZeroItIsTheRidgeOnBiases) {
  const Ratings data(15, 10, 1, 0.6, 0.5);
  const auto model = fit(Factorise{.rank = 0, .lambda = 2}, data.x, data.y);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  const Vector left = data.y - model.predict(data.x);
  EXPECT_NEAR(left.sum(), 0, 1e-6);
  for (Index t = 0; t < 25; ++t) {  // Σ of the residuals of its rows = λ b
    double sum = 0;
    for (Index k = 0; k < left.size(); ++k)
      if (data.x(k, t < 15 ? 0 : 1) == model.things(t)) sum += left(k);
    EXPECT_NEAR(sum, 2 * model.biases(t), 1e-5);
  }
}

TEST(Factorise, AThingThatNoRowHasIsAverage) {
  const Ratings data(15, 10, 1, 0.6, 0.5);
  const auto model = fit(Factorise{}, data.x, data.y);
  EXPECT_NEAR(model.predict(Matrix{{1e6, 1e6}})(0), model.mean, 1e-12);
  EXPECT_NEAR(model.predict(Matrix{{100.0, 1e6}})(0), model.mean + model.biases(0), 1e-12);
  EXPECT_NEAR(model.predict(Matrix{{100.0, std::nan("")}})(0), model.mean + model.biases(0), 1e-12);
}

TEST(Factorise, ThingsMayHaveNames) {
  const Table table =
      parse_csv("who,what,stars\nann,tea,5\nann,rum,1\nbob,tea,4\nbob,rum,2\ncyd,tea,1\ncyd,rum,5\ncyd,ale,4\n");
  const auto model = fit(Factorise{.lambda = 0.1, .held_out = 0}, formula("stars ~ who + what"), table);
  EXPECT_EQ(model.counts, (Labels{3, 3}));
  const Vector said = model.predict(parse_csv("who,what\nann,tea\nann,rum\ndan,tea\n"));
  EXPECT_GT(said(0), said(1));
  EXPECT_TRUE(std::isfinite(said(2)));  // someone new
}

TEST(Factorise, TheNaturalWrongFactorsFail) {
  const Ratings data(25, 20, 2, 0.5, 0.5);
  const std::vector<double> y(data.y.begin(), data.y.end());
  MemoryRows rows(data.x);
  rows.response(y);
  const FactoriseModel right = fit(Factorise{}, data.x, data.y);
  ASSERT_TRUE(certify(right, rows, {}).holds());
  const auto told = [&](FactoriseModel model) {
    model.objective = objective(model, data.x, data.y);
    model.error = std::sqrt((data.y - model.predict(data.x)).squaredNorm() / static_cast<double>(data.y.size()));
    return certify(model, rows, {});
  };
  FactoriseModel alone = right;  // biases alone: their gradient is 0, and so is that of factors that are all 0
  const auto means = fit(Factorise{.rank = 0}, data.x, data.y);
  alone.mean = means.mean, alone.biases = means.biases;
  alone.factors.setZero();
  const Certificate found = told(alone);
  EXPECT_FALSE(found.holds());
  EXPECT_EQ(found.kind, "a further factor");
  FactoriseModel price = fit(Factorise{.lambda = 2}, data.x, data.y);
  price.spec.lambda = 1;
  EXPECT_FALSE(told(price).holds());
  const FactoriseModel early = fit(Factorise{.max_iterations = 2}, data.x, data.y);
  EXPECT_FALSE(told(early).holds());
  EXPECT_NE(early.certificate.message.find("--max_iterations"), std::string::npos);
  FactoriseModel turned = right;  // of the items alone: products change
  turned.factors.bottomRows(20).col(0) *= -1;
  EXPECT_FALSE(told(turned).holds());
}

TEST(Factorise, TheSameBitsOnAnyNumberOfThreadsAndInAnyOrder) {
  const Ratings data(40, 30, 2, 0.5, 0.5);
  const auto one = fit(Factorise{}, data.x, data.y, CallOptions{.threads = 1}),
             three = fit(Factorise{}, data.x, data.y, CallOptions{.threads = 3});
  EXPECT_EQ(one.factors, three.factors);
  const Matrix x = data.x.colwise().reverse();
  const Vector y = data.y.reverse();
  EXPECT_EQ(fit(Factorise{}, x, y).factors, one.factors);
}

TEST(Factorise, BadInputIsRefused) {
  const Ratings data(15, 10, 1, 0.6, 0.5);
  EXPECT_NE(message_of([&] { fit(Factorise{}, Matrix(data.x.leftCols(1)), data.y); }).find("must be at least 2"),
            std::string::npos);
}

}  // namespace
}  // namespace lemma
