// lemma/ensemble/calibrate_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/ensemble/calibrate.hpp>
#include <lemma/ensemble/calibrate/folds.hpp>
#include <lemma/ensemble/calibrate/maps.hpp>
#include <lemma/math/special.hpp>
#include <set>
#include <tests/message_of.hpp>

namespace lemma {

/// Learns by heart: a row that it has seen has the score ±9 of its class, another one its first column.
struct ByHeart {
  double factor = 1;

  static constexpr std::string_view name = "by_heart";
  static constexpr MethodAbout about{.family = "ensemble",
                                     .task = Task::classification,
                                     .summary = "the classes of the rows it has seen",
                                     .objective = "f = 9 t, or x1",
                                     .example = "lemma fit by_heart iris",
                                     .keeps_rows = true,
                                     .takes_weights = true};
  static constexpr auto params() { return Listing{param("factor", &ByHeart::factor, "of the first column")}; }
};
static_assert(Described<ByHeart>);

struct ByHeartModel : Evidence {
  ByHeart spec;
  Matrix x;
  Labels label;

  static constexpr auto fields() {
    return Listing{state("x", &ByHeartModel::x, "the rows"), state("label", &ByHeartModel::label, "their classes")};
  }
  Index width() const { return x.cols(); }
  Index class_count() const { return 2; }
  void check() const {}
  Matrix decision(const MatrixView& rows) const {
    Matrix out(rows.rows(), 1);
    for (Index i = 0; i < rows.rows(); ++i) {
      out(i, 0) = spec.factor * rows(i, 0);
      for (Index j = 0; j < x.rows(); ++j)
        if (x.row(j) == rows.row(i)) out(i, 0) = label[at(j)] == 1 ? 9 : -9;
    }
    return out;
  }
  Labels predict(const MatrixView& rows) const {
    Labels out;
    const Matrix f = decision(rows);
    for (Index i = 0; i < f.rows(); ++i) out.push_back(f(i, 0) > 0);
    return out;
  }
  std::string summary(const Names&) const { return "by heart\n"; }
};
Certificate certify(const ByHeartModel&, const Rows&, const Execution&) {
  Certificate out;
  out.message = "nothing is claimed";
  return out;
}
ByHeartModel fit(const Valid<ByHeart>& spec, const Rows& rows, const FitOptions& options) {
  ByHeartModel out;
  out.spec = *spec;
  out.x = gather(rows, options.execution());
  BlockBuffer buffer;
  const Block block = rows.outcome(0, rows.count(), buffer);
  out.label.assign(block.label.begin(), block.label.end());
  out.certificate = certify(out, rows, options.execution());
  return out;
}

namespace {

using namespace calibrating;

/// P(1 | x) = σ(2 x₁ − 0.5).
struct Data {
  Matrix x;
  Labels label;
  std::vector<double> weight;
  explicit Data(Index n, std::uint64_t seed = 1) : x(n, 2) {
    RandomStream stream(seed);
    for (Index i = 0; i < n; ++i) {
      x(i, 0) = stream.normal();
      x(i, 1) = stream.normal();
      label.push_back(stream.uniform() < logistic(2 * x(i, 0) - 0.5) ? 1 : 0);
    }
  }
  MemoryRows rows() const {
    MemoryRows out(x);
    out.labels(label, {"no", "yes"});
    if (!weight.empty()) out.weights(weight);
    return out;
  }
  /// Scores as they are for rows that were not learned from.
  HeldOut held_out() const { return {x.leftCols(1), label, Vector::Ones(x.rows()), 2}; }
};

Calibrate by_heart(CalibrationMap map = CalibrationMap::platt) { return {.base = ByHeart{}, .map = map}; }

CalibrateModel fitted(const Calibrate& spec, const Rows& rows) { return fit(Valid<Calibrate>(spec), rows, {}); }

TEST(Calibrate, LearnsFromScoresOfRowsThatTheMethodHasNotSeen) {
  const Data data(400);
  const auto rows = data.rows();
  const CalibrateModel model = fitted(by_heart(), rows);
  const Sigmoid expected = fit_sigmoid(data.held_out(), 0);
  EXPECT_NEAR(model.slope(0), expected.slope, 1e-9);
  EXPECT_NEAR(model.offset(0), expected.offset, 1e-9);
  EXPECT_NEAR(model.slope(0), 2, 0.5);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
}

// Scores of rows that the method has learned from.
TEST(Calibrate, TheNaturalWrongMapOfTrainingScoresFailsItsCertificate) {
  const Data data(400);
  const auto rows = data.rows();
  for (const auto map : {CalibrationMap::platt, CalibrationMap::isotonic, CalibrationMap::temperature}) {
    CalibrateModel model = fitted(by_heart(map), rows);
    EXPECT_TRUE(verify(model, rows).holds()) << name_of(map);
    HeldOut seen = data.held_out();
    seen.score = scores_of(model.base, data.x);
    if (map == CalibrationMap::platt) {
      const Sigmoid wrong = fit_sigmoid(seen, 0);
      model.slope(0) = wrong.slope;
      model.offset(0) = wrong.offset;
    } else if (map == CalibrationMap::temperature) {
      model.slope(0) = fit_temperature(seen);
    } else {
      const Steps wrong = fit_isotonic(seen, 0);
      model.scores = Eigen::Map<const Vector>(wrong.score.data(), std::ssize(wrong.score));
      model.values = Eigen::Map<const Vector>(wrong.value.data(), std::ssize(wrong.value));
      model.starts = {0, static_cast<int>(wrong.score.size())};
    }
    EXPECT_TRUE(verify(model, rows).fails()) << name_of(map);
  }
}

TEST(Calibrate, ProbabilitiesAreThoseOfTheTruth) {
  const Data data(3000, 5);
  const auto rows = data.rows();
  for (const auto map : {CalibrationMap::platt, CalibrationMap::isotonic}) {
    CalibrateModel model = fitted({.base = ByHeart{}, .map = map, .folds = 3}, rows);
    double worst = 0;
    for (const double x : {-1.0, 0.0, 0.25, 1.0}) {
      const Matrix p = model.probabilities(Matrix{{x, 77.0}});
      EXPECT_DOUBLE_EQ(p.sum(), 1);
      worst = std::max(worst, std::abs(p(0, 1) - logistic(2 * x - 0.5)));
    }
    EXPECT_LT(worst, 0.1) << name_of(map);
  }
}

TEST(Folds, GoByTheRowsAndNotByTheirOrderOrCopies) {
  Data data(60);
  for (Index i = 0; i < 10; ++i) {  // copies
    data.x.row(50 + i) = data.x.row(i);
    data.label[at(50 + i)] = data.label[at(i)];
  }
  const auto folds = folds_of(data.rows(), 5, {});
  for (Index i = 0; i < 10; ++i) EXPECT_EQ(folds[at(i)], folds[at(50 + i)]);
  Data turned = data;
  turned.x = data.x.colwise().reverse();
  std::reverse(turned.label.begin(), turned.label.end());
  auto again = folds_of(turned.rows(), 5, {});
  std::reverse(again.begin(), again.end());
  EXPECT_EQ(folds, again);
  for (const int label : {0, 1}) {  // in proportion
    std::vector<int> count(5);
    std::set<std::pair<double, double>> seen;
    for (std::size_t i = 0; i < 60; ++i)
      if (data.label[i] == label &&
          seen.emplace(data.x(static_cast<Index>(i), 0), data.x(static_cast<Index>(i), 1)).second)
        ++count[at(folds[i])];
    EXPECT_LE(*std::max_element(count.begin(), count.end()) - *std::min_element(count.begin(), count.end()), 1);
  }
}

TEST(Folds, AClassOfOneRowIsRefused) {
  Data data(10);
  data.label.assign(10, 0);
  data.label[3] = 1;
  EXPECT_EQ(
      message_of([&] { folds_of(data.rows(), 5, {}); }),
      "calibrate: class 'yes' has one row, or copies of one; a class needs two rows that differ, so that it can be "
      "learned without one of them");
}

TEST(Calibrate, AWeightOfKIsKCopies) {
  Data weighted(80), copies(80);
  std::vector<Index> which;
  RandomStream stream(4);
  for (Index i = 0; i < 80; ++i) {
    weighted.weight.push_back(static_cast<double>(stream.below(3)));
    for (int c = 0; c < weighted.weight.back(); ++c) which.push_back(i);
  }
  copies.x.resize(std::ssize(which), 2);
  copies.label.clear();
  for (std::size_t i = 0; i < which.size(); ++i) {
    copies.x.row(static_cast<Index>(i)) = weighted.x.row(which[i]);
    copies.label.push_back(weighted.label[at(which[i])]);
  }
  for (const auto map : {CalibrationMap::platt, CalibrationMap::temperature}) {
    const auto a = fitted(by_heart(map), weighted.rows()), b = fitted(by_heart(map), copies.rows());
    EXPECT_NEAR(a.slope(0), b.slope(0), 1e-8);
    EXPECT_NEAR(a.log_loss, b.log_loss, 1e-10);
  }
}

TEST(Sigmoid, IsWhereTheGradientVanishesAndNowhereElse) {
  const HeldOut rows = Data(200, 3).held_out();
  const Sigmoid best = fit_sigmoid(rows, 0);
  EXPECT_LT(gradient_of(rows, 0, best), 1e-12);
  EXPECT_GT(gradient_of(rows, 0, Sigmoid{best.slope * 1.01, best.offset}), 1e-4);
  HeldOut far = rows;  // another unit and origin
  far.score = (1e6 + 1e3 * rows.score.array()).matrix();
  EXPECT_LT(gradient_of(far, 0, fit_sigmoid(far, 0)), 1e-8);
  HeldOut flat = rows;
  flat.score.setConstant(3);
  EXPECT_EQ(fit_sigmoid(flat, 0).slope, 0);
}

TEST(Sigmoid, IsFiniteWhereClassesAreToldApartPerfectly) {
  const HeldOut rows{Matrix{{-2}, {-1}, {1}, {2}}, {0, 0, 1, 1}, Vector::Ones(4), 2};
  const Sigmoid found = fit_sigmoid(rows, 0);
  EXPECT_TRUE(std::isfinite(found.slope) && found.slope > 0);
  EXPECT_LT(gradient_of(rows, 0, found), 1e-10);
}

TEST(Isotonic, IsTheMaxMinOfMeans) {  // f(i) = max over a ≤ i of min over b ≥ i of mean(y_a … y_b)
  RandomStream stream(11);
  HeldOut rows{Matrix(40, 1), {}, Vector(40), 2};
  for (Index i = 0; i < 40; ++i) {
    rows.score(i, 0) = static_cast<double>(i);
    rows.label.push_back(stream.uniform() < 0.2 + 0.015 * static_cast<double>(i) ? 1 : 0);
    rows.weight(i) = 1 + static_cast<double>(stream.below(3));
  }
  const Steps found = fit_isotonic(rows, 0);
  const auto count = std::ssize(found.score);
  for (Index i = 0; i < 40; ++i) {
    double best = -1;
    for (Index a = 0; a <= i; ++a) {
      double least = 2, sum = 0, weight = 0;
      for (Index b = a; b < 40; ++b) {
        sum += rows.weight(b) * rows.label[at(b)];
        weight += rows.weight(b);
        if (b >= i) least = std::min(least, sum / weight);
      }
      best = std::max(best, least);
    }
    EXPECT_NEAR(value_at(found.score.data(), found.value.data(), count, static_cast<double>(i)), best, 1e-12) << i;
  }
  EXPECT_LT(violation_of(rows, 0, found.score.data(), found.value.data(), count), 1e-12);
  auto wrong = found.value;
  wrong[wrong.size() / 2] += 0.01;
  EXPECT_GT(violation_of(rows, 0, found.score.data(), wrong.data(), count), 1e-5);
}

TEST(Temperature, FindsTheFactorThatMadeTheClasses) {
  RandomStream stream(7);
  HeldOut rows{Matrix(4000, 3), {}, Vector::Ones(4000), 3};
  for (Index i = 0; i < 4000; ++i) {
    double s[3], p[3];
    for (Index k = 0; k < 3; ++k) s[k] = rows.score(i, k) = 3 * stream.normal();
    temper(s, 3, 0.4, p);
    const double u = stream.uniform();
    rows.label.push_back(u < p[0] ? 0 : u < p[0] + p[1] ? 1 : 2);
  }
  const double beta = fit_temperature(rows);
  EXPECT_NEAR(beta, 0.4, 0.03);
  EXPECT_LT(gradient_of(rows, beta), 1e-12);
  EXPECT_GT(gradient_of(rows, 1.01 * beta), 1e-5);
}

TEST(Temperature, OfScoresThatPointTheWrongWayIsNone) {
  HeldOut rows{Matrix{{-2}, {-1}, {1}, {2}}, {1, 1, 0, 0}, Vector::Ones(4), 2};
  EXPECT_EQ(fit_temperature(rows), 0);
  EXPECT_EQ(gradient_of(rows, 0.0), 0);
}

}  // namespace
}  // namespace lemma
