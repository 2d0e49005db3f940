// lemma/cluster/kmedoids_test.cpp
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/cluster/kmedoids.hpp>
#include <lemma/cluster/kmedoids/pam.hpp>
#include <lemma/cluster/shared/dissimilarity_rows.hpp>
#include <lemma/core/random.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/model/fit.hpp>
#include <limits>

#include <tests/golden.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

Matrix columns_of(std::string_view name, const std::vector<std::string>& columns, bool standardised = false) {
  const Table table = dataset(name);
  Matrix x(table.rows(), static_cast<Index>(columns.size()));
  for (std::size_t j = 0; j < columns.size(); ++j)
    x.col(static_cast<Index>(j)) = Eigen::Map<const Vector>(table.column(columns[j]).numbers().values.data(), x.rows());
  if (standardised)
    for (Index j = 0; j < x.cols(); ++j) {
      x.col(j).array() -= x.col(j).mean();
      x.col(j) /= std::sqrt(x.col(j).squaredNorm() / static_cast<double>(x.rows() - 1));
    }
  return x;
}
Matrix iris() { return columns_of("iris", {"sepal_length", "sepal_width", "petal_length", "petal_width"}); }
Matrix arrests() { return columns_of("usarrests", {"Murder", "Assault", "UrbanPop", "Rape"}, true); }

double total_of(const Matrix& x, const std::vector<Index>& medoids) {
  double out = 0;
  for (Index i = 0; i < x.rows(); ++i) {
    double least = HUGE_VAL;
    for (const Index m : medoids) least = std::min(least, (x.row(i) - x.row(m)).norm());
    out += least;
  }
  return out;
}

/// The textbook's SWAP: all k (n − k) exchanges, the best one made, until none is for the better.
std::vector<Index> by_definition(const Matrix& x, std::vector<Index> medoids) {
  for (;;) {
    double best = total_of(x, medoids) * (1 - 1e-12);
    std::vector<Index> next;
    for (std::size_t m = 0; m < medoids.size(); ++m)
      for (Index c = 0; c < x.rows(); ++c) {
        if (std::find(medoids.begin(), medoids.end(), c) != medoids.end()) continue;
        auto tried = medoids;
        tried[m] = c;
        if (const double total = total_of(x, tried); total < best) best = total, next = tried;
      }
    if (next.empty()) return medoids;
    medoids = next;
  }
}

void expect_golden(const std::string& id, const Matrix& x) {
  const Golden golden(id);
  const Dissimilarities all = Dissimilarities::of_rows(x, Metric());
  for (const Value& fit_of : golden.value("fits").as_list()) {
    const int k = static_cast<int>(fit_of.at("k").as_double());
    const std::string where = id + " k=" + std::to_string(k);
    const double built = total_of(x, pam_build(all, k, {})) / static_cast<double>(x.rows());
    EXPECT_NEAR(built, fit_of.at("build_average").as_double(), 1e-9 * built) << where;
    const auto model = fit(KMedoids{.k = k}, x);
    EXPECT_LE(model.total, fit_of.at("pam_total_dissimilarity").as_double() * (1 + 1e-9)) << where;
    EXPECT_TRUE(model.certificate.holds()) << where << ": " << model.certificate.message;
    const auto more = fit(KMedoids{.k = k, .restarts = 10}, x);
    EXPECT_LE(more.total, fit_of.at("best_known_total_dissimilarity").as_double() * (1 + 1e-9)) << where;
  }
}

TEST(KMedoids, IsNoWorseThanPamInR) {
  expect_golden("pam_iris", iris());
  expect_golden("pam_usarrests", arrests());
}

TEST(KMedoids, OfRsIrisAreItsMedoids) {
  const auto model = fit(KMedoids{.k = 3}, iris());
  EXPECT_EQ(model.medoid_rows, (Vector(3) << 8, 79, 113).finished());
  EXPECT_EQ(model.sizes, (Vector(3) << 50, 62, 38).finished());
  EXPECT_EQ(model.medoids.row(0), iris().row(7));
}

TEST(KMedoids, ExchangesEndWhereTheTextbookHasNoneForTheBetter) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Matrix x = normal_matrix(70, 3, seed);
    const Dissimilarities all = Dissimilarities::of_rows(x, Metric());
    for (const Index k : {1, 2, 5, 9}) {
      RandomStream stream(seed);
      const auto start = sample_without_replacement(stream, 70, k);
      const PamRun run = pam(all, start, 100, {});
      EXPECT_TRUE(run.finished);
      EXPECT_NEAR(run.total, total_of(x, run.medoids), 1e-10 * run.total);
      EXPECT_NEAR(total_of(x, by_definition(x, run.medoids)), run.total, 1e-10 * run.total)
          << "seed " << seed << " k " << k;
    }
  }
}

TEST(KMedoids, OfOneClusterIsTheRowOfLeastTotal) {
  const Matrix x = normal_matrix(50, 2, 5);
  const auto model = fit(KMedoids{.k = 1}, x);
  double least = HUGE_VAL;
  for (Index i = 0; i < 50; ++i) least = std::min(least, total_of(x, {i}));
  EXPECT_NEAR(model.total, least, 1e-12 * least);
  EXPECT_TRUE(model.certificate.holds());
}

TEST(KMedoids, GivesTheSameFromDissimilaritiesThatAreKeptOrNot) {
  const Matrix x = normal_matrix(300, 5, 8);
  const auto kept = fit(KMedoids{.k = 4}, x), on_demand = fit(KMedoids{.k = 4, .gigabytes = 1e-6}, x);
  EXPECT_EQ(kept.medoid_rows, on_demand.medoid_rows);
  EXPECT_EQ(kept.total, on_demand.total);
  const Dissimilarities all = Dissimilarities::of_rows(x, Metric()), none = Dissimilarities::on_demand(x, Metric());
  std::vector<double> a(3 * 300), b(3 * 300), row(300);
  dissimilarity_rows(all, 150, 3, a.data());
  dissimilarity_rows(none, 150, 3, b.data());
  EXPECT_EQ(a, b);
  all.row(152, row);
  EXPECT_TRUE(std::equal(row.begin(), row.end(), a.begin() + 600));
}

TEST(KMedoids, TakesASquareOfDissimilaritiesAndAssignsByItsColumns) {
  const Matrix x = arrests();
  const Matrix square = Dissimilarities::of_rows(x, Metric()).square();
  const auto rows = fit(KMedoids{.k = 3}, x), given = fit(KMedoids{.k = 3, .input = Input::square}, square);
  EXPECT_EQ(rows.medoid_rows, given.medoid_rows);
  EXPECT_EQ(rows.assign(x), given.assign(square));
  EXPECT_TRUE(given.certificate.holds()) << given.certificate.message;
  EXPECT_EQ(given.things.size(), 3U);
}

TEST(KMedoids, ByManhattanDistancesStaysAtTheMiddleWhereSquaresFollowAnOutlier) {
  Matrix x(5, 1);
  x << 0, 1, 2, 3, 1000;
  EXPECT_EQ(fit(KMedoids{.k = 1, .metric = ManhattanMetric{}}, x).medoid_rows(0), 3);
}

TEST(KMedoids, ClaraIsNearToAllRowsAndItsSampleIsCertified) {
  Matrix x = normal_matrix(3000, 2, 3);
  for (Index i = 0; i < x.rows(); ++i) x(i, 0) += 8.0 * static_cast<double>(i % 3);
  const auto all = fit(KMedoids{.k = 3}, x), sampled = fit(KMedoids{.k = 3, .sample = 200}, x);
  EXPECT_TRUE(all.certificate.holds()) << all.certificate.message;
  EXPECT_TRUE(sampled.certificate.holds()) << sampled.certificate.message;
  EXPECT_NE(sampled.certificate.message.find("of the sample"), std::string::npos);
  EXPECT_LT(sampled.total, 1.02 * all.total);
  EXPECT_GE(sampled.total, all.total * (1 - 1e-9));
  EXPECT_EQ(sampled.sizes.sum(), 3000);
  EXPECT_TRUE(certify(sampled, MemoryRows(x), {}).holds());
}

TEST(KMedoids, TheNaturalWrongMedoidsFailTheCertificate) {
  const Matrix x = iris();
  auto wrong = fit(KMedoids{.k = 5}, x);
  // The rows nearest to the centres of k-means' way (alternating: each medoid the best of its own cluster) is where the
  // simple algorithm stops; here that of a poor start.
  const auto alternating = [&](std::vector<Index> medoids) {
    for (bool moved = true; moved;) {
      moved = false;
      std::vector<std::vector<Index>> of(medoids.size());
      for (Index i = 0; i < x.rows(); ++i) {
        std::size_t best = 0;
        for (std::size_t m = 1; m < medoids.size(); ++m)
          if ((x.row(i) - x.row(medoids[m])).norm() < (x.row(i) - x.row(medoids[best])).norm()) best = m;
        of[best].push_back(i);
      }
      for (std::size_t m = 0; m < medoids.size(); ++m) {
        const auto sum = [&](Index c) {
          double out = 0;
          for (const Index i : of[m]) out += (x.row(i) - x.row(c)).norm();
          return out;
        };
        for (const Index c : of[m])
          if (sum(c) < sum(medoids[m]) - 1e-9) medoids[m] = c, moved = true;
      }
    }
    std::sort(medoids.begin(), medoids.end());
    return medoids;
  };
  const auto medoids = alternating({0, 1, 2, 3, 4});
  ASSERT_GT(total_of(x, medoids), wrong.total * 1.005) << "the simple algorithm is stuck";
  KMedoidsModel model = wrong;
  Matrix far(5, 150);
  for (Index m = 0; m < 5; ++m) {
    model.medoid_rows(m) = static_cast<double>(medoids[at(m)] + 1);
    model.medoids.row(m) = x.row(medoids[at(m)]);
  }
  model.sizes.setZero(), model.within.setZero(), model.farthest.setZero();
  for (Index i = 0; i < 150; ++i) {
    Index best = 0;
    for (Index m = 0; m < 5; ++m) far(m, i) = (x.row(i) - model.medoids.row(m)).norm();
    far.col(i).minCoeff(&best);
    model.sizes(best) += 1, model.within(best) += far(best, i);
    model.farthest(best) = std::max(model.farthest(best), far(best, i));
  }
  model.total = model.within.sum();
  const Certificate found = certify(model, MemoryRows(x), {});
  EXPECT_FALSE(found.holds());
  EXPECT_NE(found.message.find("An exchange of a medoid"), std::string::npos) << found.message;
  EXPECT_TRUE(certify(wrong, MemoryRows(x), {}).holds());
}

TEST(KMedoids, AnswersWhatItCannotDo) {
  const Matrix equal = Matrix::Constant(30, 2, 3.0);
  EXPECT_NE(message_of([&] { fit(KMedoids{.k = 3}, equal); }).find("only 1 different row among 30; k can be at most 1"),
            std::string::npos);
  EXPECT_EQ(fit(KMedoids{.k = 1}, equal).total, 0);
  const Matrix few = normal_matrix(4, 2, 1);
  EXPECT_NE(message_of([&] { fit(KMedoids{.k = 5}, few); }).find("k is 5, but there are only 4 rows"),
            std::string::npos);
  EXPECT_EQ(fit(KMedoids{.k = 4}, few).total, 0) << "each row its own cluster";
  Matrix square(3, 3);
  square << 0, 1, 2, 1.5, 0, 3, 2, 3, 0;
  EXPECT_NE(message_of([&] { fit(KMedoids{.k = 2, .input = Input::square}, square); }).find("it must be the same"),
            std::string::npos);
  square << 0, -1, 2, -1, 0, 3, 2, 3, 0;
  EXPECT_NE(message_of([&] { fit(KMedoids{.k = 2, .input = Input::square}, square); }).find("must not be negative"),
            std::string::npos);
  EXPECT_NE(message_of([&] { fit(KMedoids{.k = 2, .input = Input::pairs}, few); }).find("takes rows or a square"),
            std::string::npos);
  EXPECT_NE(message_of([&] { fit(KMedoids{.k = 3, .sample = 2}, few); }).find("sample is 2, must be at least k"),
            std::string::npos);
}

TEST(KMedoids, StopsWhereItIsToldToAndSaysSo) {
  const Matrix x = normal_matrix(2600, 2, 4);
  const auto model = fit(KMedoids{.k = 8, .start = KMedoidsStart::random, .max_iterations = 1}, x);
  ASSERT_EQ(model.warnings.size(), 1U);
  EXPECT_FALSE(model.certificate.holds());
  EXPECT_EQ(model.certificate.stopped, "iteration limit");
}

}  // namespace
}  // namespace lemma
