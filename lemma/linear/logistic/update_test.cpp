#include <cmath>
#include <gtest/gtest.h>
#include <lemma/data/datasets.hpp>
#include <lemma/linear/logistic.hpp>
#include <lemma/linear/multinomial.hpp>
#include <lemma/model/fit.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

/// Two halves of overlapping classes, and both together.
struct Halves {
  Matrix x = Matrix::Random(800, 3);
  Labels labels;
  Halves() {
    for (Index i = 0; i < x.rows(); ++i)
      labels.push_back(x(i, 0) - 0.5 * x(i, 1) + 1.5 * std::sin(37.0 * static_cast<double>(i)) > 0.2);
  }
  MemoryRows rows(Index first, Index count) const {
    MemoryRows out(x.middleRows(first, count));
    out.labels(std::span(labels).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)),
               {"no", "yes"});
    return out;
  }
};

double distance(const LogisticModel& a, const LogisticModel& b) {
  return (a.coefficients.of.row(0) - b.coefficients.of.row(0)).norm() + std::abs(a.intercept.of(0) - b.intercept.of(0));
}

TEST(LogisticUpdate, NewRowsAloneBringTheModelNearTheFitToAllRows) {
  const Halves data;
  for (const bool intercept : {true, false}) {
    const Valid<Logistic> spec(Logistic{.intercept = intercept, .standardize = false});
    const LogisticModel first = fit(spec, data.rows(0, 400), {}), all = fit(spec, data.rows(0, 800), {});
    const LogisticModel both = updated(first, data.rows(400, 400), {});
    EXPECT_TRUE(both.certificate.holds()) << both.certificate.message;
    EXPECT_LT(distance(both, all), 0.1 * distance(first, all));
    EXPECT_TRUE(certify(both, data.rows(400, 400), {}).holds());
    EXPECT_FALSE(certify(both, data.rows(0, 400), {}).holds());  // it is about the new rows
    LogisticModel damaged = both;
    damaged.past(1) += 0.01;
    EXPECT_FALSE(certify(damaged, data.rows(400, 400), {}).holds());
    damaged = both;
    damaged.curvature(1, 2) *= 1.5;
    EXPECT_FALSE(certify(damaged, data.rows(400, 400), {}).holds());
  }
}

TEST(LogisticUpdate, GoesOnRowByRow) {
  const Halves data;
  const Valid<Logistic> spec(Logistic{.standardize = false});
  LogisticModel model = fit(spec, data.rows(0, 700), {});
  const LogisticModel first = model, all = fit(spec, data.rows(0, 800), {});
  for (Index i = 700; i < 800; ++i) model = updated(model, data.rows(i, 1), {});  // each of one class only
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  EXPECT_LT(distance(model, all), 0.2 * distance(first, all));
}

TEST(LogisticUpdate, IsRefusedWhereThePastIsNotKept) {
  const Halves data;
  const LogisticModel lasso = fit(Valid<Logistic>(Logistic{.penalty = Penalty::l1}), data.rows(0, 400), {});
  EXPECT_NE(message_of([&] { updated(lasso, data.rows(400, 400), {}); }).find("l2"), std::string::npos);
  const LogisticModel ridge = fit(Valid<Logistic>(Logistic{}), data.rows(0, 400), {});
  const Matrix narrow = Matrix::Random(5, 2);
  const Labels labels{0, 1, 0, 1, 1};
  MemoryRows rows(narrow);
  rows.labels(labels, {"no", "yes"});
  EXPECT_NE(message_of([&] { updated(ridge, rows, {}); }).find("3 columns"), std::string::npos);
}

TEST(WarmStart, FromTheOptimumTakesHardlyAStep) {
  const Table table = dataset("pima_train");
  const auto cold = fit(Logistic{}, formula("type ~ ."), table);
  CallOptions options;
  const AffineMap map = cold.affine();
  options.start.resize(1, map.a.cols() + 1);
  options.start << map.b, map.a;
  const auto warm = fit(Logistic{}, formula("type ~ ."), table, options);
  EXPECT_LT(warm.certificate.iterations, cold.certificate.iterations);
  EXPECT_LE((warm.coefficients.of - cold.coefficients.of).cwiseAbs().maxCoeff(), 1e-7);
  const auto softmax = fit(Multinomial{.lambda = 2}, formula("type ~ ."), table, options);
  EXPECT_TRUE(softmax.certificate.holds());
  options.start.resize(1, 3);
  EXPECT_NE(message_of([&] { fit(Logistic{}, formula("type ~ ."), table, options); }).find("2 columns"),
            std::string::npos);
}

}  // namespace
}  // namespace lemma
