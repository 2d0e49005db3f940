// lemma/reduce/lift_test.cpp
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/model/fit.hpp>
#include <lemma/reduce/lift.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

using Words = std::vector<std::string>;

TEST(Lift, AddsWhatItsKindSays) {
  const Matrix x{{2.0, 3.0}};
  EXPECT_EQ(fit(Lift{}, x).transform(x), (Matrix{{2.0, 3.0, 13.0}}));
  EXPECT_EQ(fit(Lift{.kind = LiftKind::axis_aligned}, x).transform(x), (Matrix{{2.0, 3.0, 4.0, 9.0}}));
  const auto quadric = fit(Lift{.kind = LiftKind::quadric}, x);
  EXPECT_EQ(quadric.transform(x), (Matrix{{2.0, 3.0, 4.0, 6.0, 9.0}}));
  EXPECT_EQ(quadric.output_names({"a", "b"}), (Words{"a", "b", "a^2", "a:b", "b^2"}));
  EXPECT_EQ(quadric.inverse(quadric.transform(x)), x);
  EXPECT_EQ(fit(Lift{}, x).output_names({"a", "b"}), (Words{"a", "b", "|x|^2"}));
}

/// A model of these is a number of columns and a rule: of a wrong one nothing fits together.
TEST(Lift, TheNaturalWrongCountOfColumnsIsRefusedByTheCertificate) {
  const Matrix x = normal_matrix(50, 3, 2);
  const MemoryRows rows(x);
  auto m = fit(Lift{}, x);
  ASSERT_TRUE(verify(m, rows).holds());
  m.columns = 4;  // those that come out for those that go in
  EXPECT_THROW(verify(m, rows), Error);
}

TEST(Lift, RefusesSquaresBeyondTheRangeOfNumbers) {
  Matrix x = normal_matrix(5, 2, 1);
  x(3, 1) = 1e200;
  EXPECT_NE(message_of([&] { fit(Lift{}, x); }).find("'|x|^2' is beyond the range"), std::string::npos);
}

}  // namespace
}  // namespace lemma
