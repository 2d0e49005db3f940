// lemma/density/density_classifier_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/density/density_classifier.hpp>
#include <lemma/density/histogram.hpp>
#include <lemma/density/kde.hpp>
#include <lemma/model/fit.hpp>

#include <tests/message_of.hpp>

namespace lemma {
namespace {

/// A ring, and what lies inside: no plane and no one Gaussian tells them apart.
struct Ring {
  Matrix x;
  std::vector<std::string> side;
  explicit Ring(Index n, std::uint64_t seed = 1) : x(n, 2) {
    RandomStream random(seed);
    for (Index i = 0; i < n; ++i) {
      const double angle = 6.283185307179586 * random.uniform(), radius = i % 3 == 0 ? 0.3 : 2;
      x(i, 0) = radius * std::cos(angle) + 0.3 * random.normal();
      x(i, 1) = radius * std::sin(angle) + 0.3 * random.normal();
      side.emplace_back(i % 3 == 0 ? "inside" : "ring");
    }
  }
};

TEST(DensityClassifier, is_bayes_rule_over_the_densities_of_the_classes) {
  const Ring data(300);
  const DensityClassifierModel model = fit(DensityClassifier{.base = Kde{}}, data.x, data.side);
  std::vector<Index> ring, inside;
  for (Index i = 0; i < 300; ++i) (i % 3 == 0 ? inside : ring).push_back(i);
  const KdeModel a = fit(Kde{}, Matrix(data.x(inside, Eigen::all))), b = fit(Kde{}, Matrix(data.x(ring, Eigen::all)));
  const Matrix places = Ring(30, 7).x, p = model.probabilities(places);
  for (Index i = 0; i < 30; ++i) {
    const double f = std::exp(a.log_density(places.row(i))(0)) / 3,
                 g = std::exp(b.log_density(places.row(i))(0)) * 2 / 3;
    EXPECT_NEAR(p(i, 0), f / (f + g), 1e-12);
    EXPECT_NEAR(model.log_density(places.row(i))(0), std::log(f + g), 1e-12);
  }
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  const Ring fresh(600, 9);
  const Labels said = model.predict(fresh.x);
  Index wrong = 0;
  for (std::size_t i = 0; i < 600; ++i) wrong += said[i] != (i % 3 == 0 ? 0 : 1);
  EXPECT_LT(wrong, 20);
}

TEST(DensityClassifier, takes_priors_and_draws_classes_by_them) {
  const Ring data(150);
  const DensityClassifierModel model =
      fit(DensityClassifier{.base = Histogram{}, .prior = std::vector{0.9, 0.1}}, data.x, data.side);
  EXPECT_EQ(model.prior, (Vector{{0.9, 0.1}}));
  const DrawnRows drawn = model.draw(4000, 3);
  const double share = static_cast<double>(std::count(drawn.label.begin(), drawn.label.end(), 0)) / 4000;
  EXPECT_NEAR(share, 0.9, 0.02);
  EXPECT_EQ(model.draw(5, 3).x, Matrix(drawn.x.topRows(5)));
}

TEST(DensityClassifier, one_density_of_all_rows_is_the_natural_wrong_one_and_fails_the_certificate) {
  const Ring data(150);
  DensityClassifierModel model = fit(DensityClassifier{.base = Kde{}}, data.x, data.side);
  Labels code;
  for (const auto& each : data.side) code.push_back(each == "ring" ? 1 : 0);
  MemoryRows rows(data.x);
  rows.labels(code, {"inside", "ring"});
  ASSERT_TRUE(certify(model, rows, {}).holds());
  const MemoryRows all(data.x);
  model.densities[0] = AnySpec(Kde{}).fit(all, {});
  const Certificate found = certify(model, rows, {});
  EXPECT_FALSE(found.holds());
  EXPECT_NE(found.message.find("class 'inside'"), std::string::npos) << found.message;
}

TEST(DensityClassifier, refuses_steps_inside_and_classes_without_spread) {
  Ring data(60);
  for (Index i = 0; i < 60; i += 3) data.x(i, 1) = 4;
  const std::string said = message_of([&] { fit(DensityClassifier{.base = Kde{}}, data.x, data.side); });
  EXPECT_NE(said.find("class 'inside'"), std::string::npos) << said;
  EXPECT_NE(said.find("'x2' has the same value"), std::string::npos) << said;
  EXPECT_NE(message_of([&] { DensityClassifier{.base = DensityClassifier{}}.check(); }).find("learns no density"),
            std::string::npos);
}

}  // namespace
}  // namespace lemma
