// lemma/math/partial_eigen_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/math/multiply.hpp>
#include <lemma/math/partial_eigen.hpp>
#include <numbers>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

/// The Laplacian of paths, one after the other: 2 − 2 cos(πk/m), k = 0 … m − 1, of a path of m vertices.
Csr paths(Index count, Index m) {
  Csr out;
  out.start = {0};
  out.width = count * m;
  for (Index i = 0; i < out.width; ++i) {
    const bool first = i % m == 0, last = i % m == m - 1;
    const auto add = [&](Index j, double value) {
      out.column.push_back(static_cast<std::int32_t>(j));
      out.value.push_back(value);
    };
    if (!first) add(i - 1, -1);
    add(i, first || last ? 1 : 2);
    if (!last) add(i + 1, -1);
    out.start.push_back(static_cast<Index>(out.value.size()));
  }
  return out;
}

TEST(PartialEigen, TheSmallestOfAPathAreKnown) {
  for (const Index m : {50, 2000}) {  // all at once, and by Krylov spaces
    const PartialEigen found = smallest_eigen(paths(1, m), 4);
    for (Index k = 0; k < 4; ++k)
      EXPECT_NEAR(found.values(k), 2 - 2 * std::cos(std::numbers::pi * static_cast<double>(k) / static_cast<double>(m)),
                  1e-14);
    EXPECT_LE(found.residuals.maxCoeff(), 1e-11);
    EXPECT_LE((found.vectors.transpose() * found.vectors - Matrix::Identity(4, 4)).norm(), 1e-12);
  }
}

TEST(PartialEigen, AnEigenvalueIsFoundAsOftenAsItIsThere) {
  const PartialEigen found = smallest_eigen(paths(5, 300), 7);
  for (Index k = 0; k < 5; ++k) EXPECT_NEAR(found.values(k), 0, 1e-14);
  const double next = 2 - 2 * std::cos(std::numbers::pi / 300);
  EXPECT_NEAR(found.values(5), next, 1e-13);
  EXPECT_NEAR(found.values(6), next, 1e-13);
}

TEST(PartialEigen, TheLargestAreThoseOfTheWholeDecomposition) {
  const Matrix x = normal_matrix(500, 500, 3), symmetric = x + x.transpose();  // a flat spectrum, half of it negative
  const Eigenpairs all = symmetric_eigen(symmetric, 5);
  const PartialEigen found = largest_eigen(symmetric, 5);
  EXPECT_LE((found.values - all.values).norm(), 1e-9 * all.values(0));
  EXPECT_LE((found.vectors - all.vectors).norm(), 1e-5);
  const PartialEigen by_operator = largest_eigen(
      500, [&](const double* v, double* y) { Vector::Map(y, 500) = symmetric * Vector::Map(v, 500); }, 5);
  EXPECT_LE((by_operator.values - all.values).norm(), 1e-9 * all.values(0));
}

TEST(PartialEigen, TheSameBitsOnAnyNumberOfThreads) {
  const Matrix x = normal_matrix(700, 30, 5), symmetric = outer_gram(x);
  Execution one, three;
  one.threads = 1;
  three.threads = 3;
  EXPECT_EQ(largest_eigen(symmetric, 3, one).vectors, largest_eigen(symmetric, 3, three).vectors);
  EXPECT_EQ(smallest_eigen(paths(2, 400), 3, one).vectors, smallest_eigen(paths(2, 400), 3, three).vectors);
}

TEST(PartialEigen, MoreThanThereAreAreRefused) {
  EXPECT_EQ(message_of([] { smallest_eigen(paths(1, 5), 6); }), "6 eigenvalues are asked for, and there are 5");
}

/// The zeros of a graph are infinitely larger than the others under a tiny shift; the others are found all the same.
TEST(PartialEigen, AreFoundBesideEigenvaluesThatAreZero) {
  const PartialEigen found = smallest_eigen(paths(2, 400), 12);
  for (Index k = 0; k < 12; ++k)
    EXPECT_NEAR(found.values(k), 2 - 2 * std::cos(std::numbers::pi * static_cast<double>(k / 2) / 400.0), 1e-12);
  EXPECT_LE(found.residuals.maxCoeff(), 1e-9);
}

}  // namespace
}  // namespace lemma
