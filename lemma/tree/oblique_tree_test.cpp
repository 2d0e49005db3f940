// lemma/tree/oblique_tree_test.cpp
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/model/fit.hpp>
#include <lemma/tree/oblique_tree.hpp>
#include <lemma/tree/tree.hpp>
#include <numeric>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

/// Two classes on the two sides of x1 + x2 = 1, in columns of different units; a column that says nothing.
struct Slope {
  Matrix x;
  Labels label;
  std::vector<double> y;
  std::vector<std::string> names{"below", "above"};
  MemoryRows rows(bool classes) const {
    MemoryRows out(x);
    if (classes) out.labels(label, names);
    else out.response(y);
    out.target = "y";
    return out;
  }
};
Slope slope(Index n, double noise, std::uint64_t seed = 3) {
  Slope out{Matrix(n, 3), {}, {}};
  RandomStream random(seed);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < 3; ++j) out.x(i, j) = random.uniform();
    const double seen = out.x(i, 0) + out.x(i, 1) + noise * random.normal();
    out.label.push_back(seen > 1 ? 1 : 0);
    out.y.push_back(seen > 1 ? 10 + 0.1 * random.normal() : 0.1 * random.normal());
    out.x(i, 1) *= 1000;
  }
  return out;
}

double wrong(const Labels& said, const Labels& true_ones) {
  double count = 0;
  for (std::size_t i = 0; i < said.size(); ++i) count += said[i] != true_ones[i];
  return count;
}

TEST(ObliqueTree, TellsClassesOnTwoSidesOfASlopeByFewSplits) {
  const Slope data = slope(400, 0), fresh = slope(1000, 0, 4);
  const MemoryRows rows = data.rows(true);
  const auto oblique = fit(Valid<ObliqueTree>(ObliqueTree{}), rows, {});
  const auto upright = fit(Valid<Tree>(Tree{.folds = 0}), rows, {});
  EXPECT_TRUE(oblique.certificate.holds()) << oblique.certificate.message;
  EXPECT_EQ(oblique.certificate.strength, Strength::consistent);
  EXPECT_LE(oblique.nodes.leaves(), 4);
  EXPECT_LT(wrong(oblique.classify(fresh.x), fresh.label), 0.5 * wrong(upright.classify(fresh.x), fresh.label));
  // The first direction is x1 + x2/1000, up to its length.
  EXPECT_NEAR(oblique.directions(0, 1) / oblique.directions(0, 0), 1e-3, 2e-4);
}

TEST(ObliqueTree, OfNumbersFollowsTheRegressionAtTheNode) {
  const Slope data = slope(400, 0), fresh = slope(1000, 0, 4);
  const MemoryRows rows = data.rows(false);
  const auto model = fit(Valid<ObliqueTree>(ObliqueTree{}), rows, {});
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  double sum = 0;
  const Vector said = model.predict(fresh.x);
  for (Index i = 0; i < said.size(); ++i) sum += std::pow(said(i) - fresh.y[at(i)], 2);
  EXPECT_LT(sum / 1000, 3);  // of a variance of 25
}

TEST(ObliqueTree, WithRandomDirectionsIsNoWorseThanTheBestColumnAtEachNode) {
  const Slope data = slope(400, 0.1);
  const MemoryRows rows = data.rows(true);
  const auto model =
      fit(Valid<ObliqueTree>(ObliqueTree{.directions = ObliqueDirections::random, .tries = 50, .depth = 1}), rows, {});
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  const auto upright = fit(Valid<Tree>(Tree{.depth = 1, .folds = 0}), rows, {});
  EXPECT_GT(model.gain(0), 1.2 * upright.gain(0));
  FitOptions other;
  other.seed = 2;
  EXPECT_NE(fit(Valid<ObliqueTree>(model.spec), rows, other).directions, model.directions);
}

TEST(ObliqueTree, ChangesNothingWithTheUnitOfAColumn) {
  Slope data = slope(300, 0.1);
  const auto before = fit(Valid<ObliqueTree>(ObliqueTree{}), data.rows(true), {});
  data.x.col(1) *= 1024;  // exactly
  const auto after = fit(Valid<ObliqueTree>(ObliqueTree{}), data.rows(true), {});
  EXPECT_EQ(before.classify(slope(300, 0.1).x), after.classify(data.x));
  EXPECT_EQ(before.counts, after.counts);
}

/// Each node's numbers from its rows, whatever its split is.
void tell_again(ObliqueTreeModel& model, const Slope& data) {
  const MemoryRows rows = data.rows(true);
  BlockBuffer buffer;
  const Tallies counted = tallies_of(
      model.nodes.size(), 2, rows.outcome(0, rows.count(), buffer), data.x.rows(), [&](Index row, const auto& visit) {
        Index i = 0;
        for (visit(i); !model.nodes.is_leaf(i); visit(i))
          i = model.goes_left(i, data.x.row(row).data()) ? model.nodes.left(i) : model.nodes.right(i);
      });
  static_cast<Tallies&>(model) = counted;
  const auto unsaid = [&](Index i) { return model.weight(i) - model.counts.row(i).squaredNorm() / model.weight(i); };
  model.gain(0) = unsaid(0) - unsaid(1) - unsaid(2);
}

TEST(ObliqueTree, TheNaturalWrongThresholdMidwayBetweenTheClassMeansFailsTheCertificate) {
  // Linear discriminant analysis cuts midway between the means of the classes; with classes of different spread that is not the best.
  Slope data = slope(300, 0.2);
  for (Index i = 0; i < 300; ++i)
    if (data.label[at(i)] == 1) data.x.row(i) *= 3;
  const MemoryRows rows = data.rows(true);
  ObliqueTreeModel model = fit(Valid<ObliqueTree>(ObliqueTree{.depth = 1}), rows, {});
  ASSERT_EQ(model.nodes.leaves(), 2);
  EXPECT_TRUE(certify(model, rows, {}).holds());
  std::vector<double> all;
  double sum[2] = {0, 0}, count[2] = {0, 0};
  for (Index i = 0; i < 300; ++i) {
    all.push_back(model.along(0, data.x.row(i).data()));
    sum[data.label[at(i)]] += all.back();
    ++count[data.label[at(i)]];
  }
  std::sort(all.begin(), all.end());
  const double middle = (sum[0] / count[0] + sum[1] / count[1]) / 2;
  const auto next = std::lower_bound(all.begin(), all.end(), middle);
  model.nodes.nodes[0].threshold = *(next - 1) + (*next - *(next - 1)) / 2;  // with all else of its own rows
  tell_again(model, data);
  const Certificate found = certify(model, rows, {});
  EXPECT_TRUE(found.fails());
  EXPECT_EQ(found.kind, "shortfall of a split beside the best along the directions tried") << found.message;
}

TEST(ObliqueTree, ADirectionThatWasNotTriedFailsTheCertificate) {
  const Slope data = slope(300, 0.2);
  const MemoryRows rows = data.rows(true);
  const ObliqueTreeModel linear = fit(Valid<ObliqueTree>(ObliqueTree{.depth = 1}), rows, {});
  ObliqueTreeModel told = linear;  // as if its direction had been drawn
  told.spec.directions = ObliqueDirections::random;
  told.seed = "1";
  EXPECT_EQ(certify(told, rows, {}).kind, "difference of directions");
  const auto random = fit(Valid<ObliqueTree>(ObliqueTree{.directions = ObliqueDirections::random}), rows, {});
  EXPECT_TRUE(random.certificate.holds()) << random.certificate.message;
  told = random;
  told.seed = "2";
  EXPECT_TRUE(certify(told, rows, {}).fails());
  told = random;
  told.spec.depth = 1;
  EXPECT_TRUE(certify(told, rows, {}).fails());  // too deep
  told = linear;
  told.spec.depth = 2;
  EXPECT_TRUE(certify(told, rows, {}).fails());  // a leaf that would be split
}

TEST(ObliqueTree, IsALeafOfConstantColumnsOrAConstantResponse) {
  Slope data = slope(50, 0.1);
  data.x.setConstant(2);
  EXPECT_EQ(fit(Valid<ObliqueTree>(ObliqueTree{}), data.rows(true), {}).nodes.size(), 1);
  data = slope(50, 0.1);
  std::fill(data.y.begin(), data.y.end(), 3.0);
  const auto model = fit(Valid<ObliqueTree>(ObliqueTree{}), data.rows(false), {});
  EXPECT_EQ(model.nodes.size(), 1);
  EXPECT_EQ(model.warnings.size(), 1U);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
}

TEST(ObliqueTree, RefusesMissingValuesAndRowsWithoutWeight) {
  Slope data = slope(50, 0.1);
  data.x(3, 1) = NAN;
  EXPECT_NE(message_of([&] { fit(Valid<ObliqueTree>(ObliqueTree{}), data.rows(true), {}); }).find("x2"),
            std::string::npos);
  data.x(3, 1) = 0;
  MemoryRows rows = data.rows(true);
  const std::vector<double> none(50, 0.0);
  rows.weights(none);
  EXPECT_NE(message_of([&] { fit(Valid<ObliqueTree>(ObliqueTree{}), rows, {}); }).find("weight"), std::string::npos);
}

}  // namespace
}  // namespace lemma
