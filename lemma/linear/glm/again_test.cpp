// lemma/linear/glm/again_test.cpp: the short way to the coefficients of a resample leads where a fit does.
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/core/row_views.hpp>
#include <lemma/linear/glm/again.hpp>

namespace lemma {
namespace {

/// 80 rows of three columns far from 0 and of unlike size, and responses that each family can have.
struct Sample {
  Matrix x = normal_matrix(80, 3, 11);
  std::vector<double> zero_one, counts, positive, offset, weight;
  Sample() {
    RandomStream stream(5);
    for (Index i = 0; i < 80; ++i) {
      const double eta = 0.5 * x(i, 0) - 0.3 * x(i, 1);
      zero_one.push_back(stream.uniform() < 1 / (1 + std::exp(-eta)) ? 1 : 0);
      counts.push_back(std::floor(std::exp(eta) * (1 + stream.uniform())));
      positive.push_back(std::exp(eta) * (0.5 + stream.uniform()));
      offset.push_back(0.1 * stream.normal());
      weight.push_back(1 + static_cast<double>(i % 3));
    }
    x.col(1).array() = 1000 + 0.01 * x.col(1).array();
    x.col(2) *= 1e4;
  }
  MemoryRows rows(const std::vector<double>& y) const {
    MemoryRows out(x);
    out.response(y);
    out.offset(offset);
    out.weights(weight);
    return out;
  }
};

std::vector<double> drawn(std::uint64_t seed) {
  RandomStream stream(seed);
  std::vector<double> out(80, 0.0);
  for (int i = 0; i < 80; ++i) out[static_cast<std::size_t>(stream.below(80))] += 1;
  return out;
}

TEST(GlmAgain, IsTheFitToTheSameRowsCountedOtherwise) {
  const Sample sample;
  for (const auto& [spec, y] : {std::pair{Glm{.family = GlmFamily::binomial}, &sample.zero_one},
                                {Glm{.family = GlmFamily::binomial, .link = GlmLink::probit}, &sample.zero_one},
                                {Glm{.family = GlmFamily::poisson}, &sample.counts},
                                {Glm{.family = GlmFamily::gaussian}, &sample.positive},
                                {Glm{.family = GlmFamily::gamma, .link = GlmLink::log}, &sample.positive},
                                {Glm{.family = GlmFamily::poisson, .intercept = false}, &sample.counts}}) {
    const MemoryRows rows = sample.rows(*y);
    const GlmModel model = fit(Valid<Glm>(spec), rows, {});
    const GlmAgain again(model, rows);
    ASSERT_TRUE(again.usable()) << name_of(*spec.family);
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      const auto times = drawn(seed);
      const GlmModel whole = fit(Valid<Glm>(spec), ReweightedRows(rows, times), {});
      const auto found = again(times);
      ASSERT_TRUE(found) << name_of(*spec.family) << seed;
      EXPECT_NEAR((*found)(0), whole.intercept, 1e-8 * (1 + std::abs(whole.intercept)));
      for (Index j = 0; j < 3; ++j)
        EXPECT_NEAR((*found)(j + 1), whole.coefficients(j),
                    1e-8 * std::abs(whole.coefficients(j)) + 1e-9 * whole.std_errors(j));
    }
  }
}

TEST(GlmAgain, SaysNothingWhereThereIsNoMaximum) {
  const Sample sample;
  const MemoryRows rows = sample.rows(sample.zero_one);
  const GlmModel model = fit(Valid<Glm>(Glm{.family = GlmFamily::binomial}), rows, {});
  const GlmAgain again(model, rows);
  std::vector<double> one_outcome = sample.zero_one;
  EXPECT_FALSE(again(one_outcome)) << "all ones";
  std::vector<double> few(80, 0.0);
  few[0] = few[1] = 1;
  EXPECT_FALSE(again(few));
  std::vector<double> separated(80, 0.0);  // rows whose outcome is the sign of the first column
  for (Index i = 0; i < 80; ++i)
    separated[static_cast<std::size_t>(i)] =
        (sample.x(i, 0) > 0) == (sample.zero_one[static_cast<std::size_t>(i)] == 1);
  EXPECT_FALSE(again(separated));
  Matrix twice(80, 2);
  twice << sample.x.col(0), sample.x.col(0);
  MemoryRows dependent(twice);
  dependent.response(sample.zero_one);
  const GlmModel aliased = fit(Valid<Glm>(Glm{.family = GlmFamily::binomial}), dependent, {});
  EXPECT_FALSE(GlmAgain(aliased, dependent).usable());
}

}  // namespace
}  // namespace lemma
