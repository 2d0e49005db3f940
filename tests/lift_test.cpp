// tests/lift_test.cpp: a linear classifier after a lift draws circles and ellipses.
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/catalog.hpp>
#include <lemma/core/random.hpp>
#include <lemma/data/stream.hpp>
#include <lemma/model/train.hpp>

namespace lemma {
namespace {

/// Inside and outside of the ellipse ((u − 2) / 2)² + v² = 1 in coordinates turned by `angle`, none within 5 % of it. With
/// `round` it is a circle.
Table ring(bool round, double angle, Index n = 300) {
  RandomStream stream(9);
  std::vector<double> x, y;
  std::vector<std::string> side;
  while (static_cast<Index>(x.size()) < n) {
    const double turn = 6.283185307179586 * stream.uniform(), radius = 2 * std::sqrt(stream.uniform());
    if (std::abs(radius - 1) < 0.05) continue;
    const double u = 2 + radius * std::cos(turn) * (round ? 1 : 2), v = radius * std::sin(turn);
    x.push_back(u * std::cos(angle) - v * std::sin(angle));
    y.push_back(u * std::sin(angle) + v * std::cos(angle));
    side.emplace_back(radius < 1 ? "in" : "out");
  }
  Table table({}, "ring");
  table.add(numeric("x", x));
  table.add(numeric("y", y));
  table.add(categorical("side", side));
  return table;
}

TrainedModel trained(const std::string& method, const Table& table) {
  Value params;
  const auto found = method_from(method, catalog(), params);
  return train(found, params, formula("side ~ x + y"), MemoryTableStream(table));
}

double accuracy(const TrainedModel& model, const Table& table) {
  const Prediction prediction = model.predict(table);
  double right = 0;
  for (Index i = 0; i < table.rows(); ++i)
    right += prediction.label()[static_cast<std::size_t>(i)] == (table.column("side").text(i) == "in" ? 0 : 1);
  return right / static_cast<double>(table.rows());
}

TEST(Lift, APlaneAfterTheParabolicLiftIsACircle) {
  const Table circle = ring(true, 0.3);
  EXPECT_FALSE(
      trained("perceptron(max_iterations=20)", circle).model->certificate().holds());  // no line separates them
  const auto lifted = trained("scale | lift | perceptron(max_iterations=5000)", circle);
  EXPECT_TRUE(lifted.model->certificate().holds()) << lifted.model->certificate().message;
  EXPECT_EQ(accuracy(lifted, circle), 1);
  EXPECT_GT(accuracy(trained("lift(kind=parabolic) | lda", circle), circle), 0.85);
}

TEST(Lift, AnEllipseTakesItsSquaresAndATurnedOneItsProducts) {
  const Table along = ring(false, 0), turned = ring(false, 0.7);
  EXPECT_EQ(accuracy(trained("lift(kind=axis_aligned) | perceptron(max_iterations=5000)", along), along), 1);
  EXPECT_FALSE(trained("lift(kind=parabolic) | perceptron(max_iterations=200)", along).model->certificate().holds());
  EXPECT_FALSE(
      trained("lift(kind=axis_aligned) | perceptron(max_iterations=200)", turned).model->certificate().holds());
  EXPECT_EQ(accuracy(trained("lift(kind=quadric) | perceptron(max_iterations=5000)", turned), turned), 1);
  EXPECT_EQ(accuracy(trained("polynomial(degree=2) | perceptron(max_iterations=5000)", turned), turned), 1);
}

}  // namespace
}  // namespace lemma
