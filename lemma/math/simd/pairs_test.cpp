// lemma/math/simd/pairs_test.cpp
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/math/simd/pairs.hpp>
#include <limits>

namespace lemma::simd {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLeast = 1e-12;

struct Lists {
  Vector v, row, other, diagonal, up_bar, low_bar;
  explicit Lists(Index n, std::uint64_t seed) {
    Vector* const all[] = {&v, &row, &other, &diagonal};
    std::uint64_t stream = 0;
    for (Vector* list : all) *list = normal_matrix(n, 1, seed, stream++);
    up_bar = low_bar = Vector::Zero(n);
    for (Index i = 0; i < n; i += 3) up_bar(i) = -kInfinity;
    for (Index i = 1; i < n; i += 4) low_bar(i) = kInfinity;
  }
};

TEST(SimdPairs, FindTheGreatestAfterTheMove) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Lists lists(160, seed);
    const Vector wanted = lists.v - 0.3 * (lists.row - lists.other);
    const Placed found =
        move_and_find(0.3, lists.row.data(), lists.other.data(), lists.up_bar.data(), lists.v.data(), 160);
    EXPECT_LE((lists.v - wanted).cwiseAbs().maxCoeff(), 1e-15);
    Index place = 0;
    EXPECT_EQ(found.value, (lists.v + lists.up_bar).maxCoeff(&place));
    EXPECT_EQ(found.place, place);
  }
}

TEST(SimdPairs, TakeTheFirstOfEquals) {
  const Vector zero = Vector::Zero(48), one = Vector::Ones(48);
  Vector v = Vector::Zero(48);
  v(37) = v(21) = 2;
  EXPECT_EQ(move_and_find(0, one.data(), one.data(), zero.data(), v.data(), 48).place, 21);
  v = -v;
  EXPECT_EQ(find_partner(1, 1, kLeast, zero.data(), one.data(), zero.data(), v.data(), 48).place, 21);
  EXPECT_EQ(find_partner(-2, 1, kLeast, zero.data(), one.data(), zero.data(), v.data(), 48).place, -1);
}

TEST(SimdPairs, FindThePartnerOfTheGreatestGain) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Lists lists(160, seed);
    const Eigen::VectorXf row = lists.row.cast<float>();
    double most = 0;
    Index place = -1;
    for (Index j = 0; j < 160; ++j) {
      const double difference = 0.5 - lists.v(j) - lists.low_bar(j);
      double curvature = 1.5 + lists.diagonal(j) - 2 * static_cast<double>(row(j));
      if (!(curvature > 0)) curvature = kLeast;
      if (difference <= 0 || difference * difference / curvature <= most) continue;
      most = difference * difference / curvature;
      place = j;
    }
    const Partner found =
        find_partner(0.5, 1.5, kLeast, row.data(), lists.diagonal.data(), lists.low_bar.data(), lists.v.data(), 160);
    EXPECT_EQ(found.place, place);
    EXPECT_EQ(found.least, (lists.v + lists.low_bar).minCoeff());
  }
}

TEST(SimdPairs, AddRowsByTheirWeights) {
  const Matrix numbers = normal_matrix(11, 50, 3);
  const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> rows = numbers.cast<float>();
  const Vector weight = normal_matrix(11, 1, 4);
  std::vector<const float*> starts;
  for (Index i = 0; i < 11; ++i) starts.push_back(&rows(i, 0));
  Vector sum = Vector::Constant(37, 2);
  add_weighted(starts, {weight.data(), 11}, 9, {sum.data(), 37});
  const Vector wanted = rows.cast<double>().middleCols(9, 37).transpose() * weight;
  EXPECT_LE((sum - Vector::Constant(37, 2) - wanted).cwiseAbs().maxCoeff(), 1e-14);
}

}  // namespace
}  // namespace lemma::simd
