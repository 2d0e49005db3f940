// lemma/reduce/polynomial_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/model/fit.hpp>
#include <lemma/reduce/polynomial.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

using Words = std::vector<std::string>;

TEST(Polynomial, MultipliesColumnsInTheOrderOfTheirDegrees) {
  const Matrix x{{2.0, 3.0}, {-1.0, 0.5}};
  const auto m = fit(Polynomial{}, x);
  EXPECT_EQ(m.output_names({"a", "b"}), (Words{"a", "b", "a^2", "a:b", "b^2"}));
  EXPECT_EQ(m.transform(x), (Matrix{{2.0, 3.0, 4.0, 6.0, 9.0}, {-1.0, 0.5, 1.0, -0.5, 0.25}}));
  EXPECT_TRUE(m.certificate.holds());
  const auto third = fit(Polynomial{.degree = 3, .interactions_only = true}, normal_matrix(5, 3, 1));
  EXPECT_EQ(third.output_names({"a", "b", "c"}), (Words{"a", "b", "c", "a:b", "a:c", "b:c", "a:b:c"}));
}

TEST(Polynomial, HasAsManyProductsAsCombinatoricsSays) {
  for (const Index p : {1, 2, 5})
    for (const int degree : {1, 2, 3, 6})
      for (const bool only : {false, true}) {
        EXPECT_EQ(static_cast<double>(monomials(p, degree, only).size()), monomial_count(p, degree, only));
      }
  EXPECT_EQ(monomial_count(4, 3, false), 34);  // (7 choose 3) − 1
}

TEST(Polynomial, RefusesTooManyProductsAndNumbersBeyondTheRange) {
  EXPECT_NE(message_of([] { fit(Polynomial{.degree = 20}, normal_matrix(3, 50, 1)); }).find("too many"),
            std::string::npos);
  Matrix x = normal_matrix(5, 2, 1);
  x(3, 1) = 1e200;
  EXPECT_NE(message_of([&] { fit(Polynomial{}, x); }).find("'x2^2' is beyond the range"), std::string::npos);
  EXPECT_NO_THROW(fit(Polynomial{}, Matrix(1e-200 * normal_matrix(5, 2, 1))));
}

TEST(Polynomial, TheNaturalWrongCountsOfProductsAreRefusedByTheCertificate) {
  const Matrix x = normal_matrix(50, 3, 2);
  const MemoryRows rows(x);
  const auto right = fit(Polynomial{.degree = 3}, x);
  ASSERT_TRUE(verify(right, rows).holds());
  auto with_constant = right, without_mixed = right, in_every_order = right;
  with_constant.products += 1;
  without_mixed.products = 9;            // powers of each column alone
  in_every_order.products = 3 + 9 + 27;  // a:b and b:a
  for (const auto& wrong : {with_constant, without_mixed, in_every_order}) EXPECT_THROW(verify(wrong, rows), Error);
}

}  // namespace
}  // namespace lemma
