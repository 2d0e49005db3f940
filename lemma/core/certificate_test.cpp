// lemma/core/certificate_test.cpp
#include <gtest/gtest.h>

#include <cmath>
#include <lemma/core/certificate.hpp>
#include <limits>

namespace lemma {
namespace {

Certificate with(double value, double tolerance) {
  Certificate certificate;
  certificate.strength = Strength::stationary;
  certificate.value = value;
  certificate.tolerance = tolerance;
  return certificate;
}

TEST(Certificate, HoldsUpToItsTolerance) {
  EXPECT_TRUE(with(1e-9, 1e-8).holds());
  EXPECT_TRUE(with(1e-8, 1e-8).holds());
  EXPECT_FALSE(with(2e-8, 1e-8).holds());
}

TEST(Certificate, NaNAndInfinityNeverHold) {
  EXPECT_FALSE(with(std::nan(""), 1e-8).holds());
  EXPECT_FALSE(with(0, std::nan("")).holds());
  EXPECT_FALSE(with(std::numeric_limits<double>::infinity(), 1e-8).holds());
}

TEST(Certificate, WhoClaimsNothingNeitherHoldsNorFails) {
  Certificate none;
  EXPECT_FALSE(none.claims() || none.holds() || none.fails());
  none.value = 1;
  EXPECT_FALSE(none.holds() || none.fails());
  EXPECT_TRUE(with(2e-8, 1e-8).fails());
  EXPECT_TRUE(with(std::nan(""), 1e-8).fails());
  EXPECT_FALSE(with(1e-8, 1e-8).fails());
}

}  // namespace
}  // namespace lemma
