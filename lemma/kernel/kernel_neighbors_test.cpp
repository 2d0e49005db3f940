// lemma/kernel/kernel_neighbors_test.cpp: the reference by Euclidean distance, ties, and what must not change them.
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/kernel/kernel_neighbors.hpp>
#include <lemma/model/fit.hpp>
#include <tests/golden.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

const std::vector<Kernel> kEuclidean{LinearKernel{}, Rbf{.gamma = 0.2}};

Matrix columns_of(const Table& table, const std::vector<std::string>& names) {
  Matrix out(table.rows(), static_cast<Index>(names.size()));
  for (std::size_t j = 0; j < names.size(); ++j)
    out.col(static_cast<Index>(j)) =
        Eigen::Map<const Vector>(table.column(names[j]).numbers().values.data(), table.rows());
  return out;
}
std::vector<std::string> texts_of(const Table& table, const std::string& name) {
  std::vector<std::string> out;
  for (Index i = 0; i < table.rows(); ++i) out.emplace_back(table.column(name).text(i));
  return out;
}
/// Every second row, from the first or the second.
std::vector<Index> halves(Index n, Index from) {
  std::vector<Index> out;
  for (; from < n; from += 2) out.push_back(from);
  return out;
}
/// Columns of mean 0 and standard deviation 1 (divisor n − 1) as `of` has them.
Matrix standardised(Matrix x, const Matrix& of) {
  for (Index j = 0; j < x.cols(); ++j) {
    const double mean = of.col(j).mean();
    const double sd = std::sqrt((of.col(j).array() - mean).square().sum() / static_cast<double>(of.rows() - 1));
    x.col(j) = (x.col(j).array() - mean) / sd;
  }
  return x;
}

/// Votes and errors of each k, on the rows that the reference finds free of ties.
void expect_golden_classes(const Golden& golden, const Matrix& train, const std::vector<std::string>& labels,
                           const Matrix& query, const std::vector<std::string>& truth) {
  const auto classes = golden.strings("classes");
  for (const Value& expected : golden.value("fits").as_list())
    for (const Kernel& kernel : kEuclidean) {
      const int k = static_cast<int>(expected.at("k").as_double());
      const auto m = fit(KernelNeighbors{.k = k, .kernel = kernel}, train, labels);
      EXPECT_TRUE(m.certificate.holds());
      const Labels found = m.classify(query);
      std::vector<bool> tied(static_cast<std::size_t>(query.rows()));
      for (const char* key : {"distance_tie_rows", "vote_tie_rows"})
        for (const double row : expected.at(key).as_vector(key)) tied[static_cast<std::size_t>(row) - 1] = true;
      double errors = 0, judged = 0;
      for (std::size_t i = 0; i < found.size(); ++i) {
        if (tied[i]) continue;
        ++judged;
        errors += classes[static_cast<std::size_t>(found[i])] != truth[i];
      }
      EXPECT_EQ(judged, expected.at("n_unambiguous").as_double());
      EXPECT_EQ(errors, expected.at("errors_on_unambiguous_rows").as_double()) << k << " " << kernel.text();
      const Matrix votes = expected.at("vote_counts_first10").as_matrix("votes");
      const Matrix share = m.probabilities(query.topRows(10));
      for (Index i = 0; i < 10; ++i)
        if (!tied[static_cast<std::size_t>(i)]) {
          EXPECT_LT((share.row(i) * k - votes.row(i)).cwiseAbs().maxCoeff(), 1e-12) << k << ", row " << i;
        }
    }
}

TEST(KernelNeighbors, AreThoseByEuclideanDistanceOnIris) {
  const Table iris = dataset("iris");
  const Matrix x = columns_of(iris, {"sepal_length", "sepal_width", "petal_length", "petal_width"});
  const auto species = texts_of(iris, "species");
  const auto odd = halves(150, 0), even = halves(150, 1);
  std::vector<std::string> known, asked;
  for (const Index i : odd) known.push_back(species[static_cast<std::size_t>(i)]);
  for (const Index i : even) asked.push_back(species[static_cast<std::size_t>(i)]);
  expect_golden_classes(Golden("knn_iris_split"), x(odd, Eigen::all), known, x(even, Eigen::all), asked);
}

TEST(KernelNeighbors, AreThoseByEuclideanDistanceOnPima) {
  const std::vector<std::string> names{"npreg", "glu", "bp", "skin", "bmi", "ped", "age"};
  const Table train = dataset("pima_train"), test = dataset("pima_test");
  const Matrix x = columns_of(train, names);
  expect_golden_classes(Golden("knn_pima"), standardised(x, x), texts_of(train, "type"),
                        standardised(columns_of(test, names), x), texts_of(test, "type"));
}

TEST(KernelNeighbors, PredictNumbersByTheirMeanAsTheReferenceOnBoston) {
  const Golden golden("knn_reg_boston");
  const Table boston = dataset("boston");
  const Matrix all = columns_of(boston, {"rm", "lstat", "dis"}), x = standardised(all, all);
  const Vector y = columns_of(boston, {"medv"}).col(0);
  const auto odd = halves(506, 0), even = halves(506, 1);
  const Matrix train = x(odd, Eigen::all), query = x(even, Eigen::all);
  for (const Value& expected : golden.value("fits").as_list())
    for (const Kernel& kernel : kEuclidean) {
      const int k = static_cast<int>(expected.at("k").as_double());
      const auto m = fit(KernelNeighbors{.k = k, .kernel = kernel}, train, Vector(y(odd)));
      const Vector found = m.predict(query);
      EXPECT_LT((found.head(20) - expected.at("predictions_first20").as_vector("first")).cwiseAbs().maxCoeff(), 1e-10);
      EXPECT_NEAR((found - y(even)).squaredNorm() / 253, expected.at("mse").as_double(), 1e-9);
      EXPECT_TRUE(m.certificate.holds());
    }
  const auto m = fit(KernelNeighbors{.k = 5, .kernel = LinearKernel{}}, train, Vector(y(odd)));
  const Matrix distances = golden.matrix("nearest_neighbour_distance_first5");
  const auto nearest = m.neighbors(query.topRows(5));
  for (Index i = 0; i < 5; ++i)
    for (Index j = 0; j < 5; ++j)
      EXPECT_NEAR(nearest[static_cast<std::size_t>(i)].distance[static_cast<std::size_t>(j)], distances(i, j), 1e-12);
}

TEST(KernelNeighbors, TakesOfRowsEquallyFarThoseThatComeFirst) {
  const Matrix x{{1.0}, {-1.0}, {3.0}, {1.0}};  // around 0: three at distance 1
  const Vector y{{10.0, 20.0, 30.0, 40.0}};
  for (const Kernel& kernel : kEuclidean) {
    const auto m = fit(KernelNeighbors{.k = 2, .kernel = kernel}, x, y);
    EXPECT_NEAR(m.predict(Matrix{{0.0}})(0), 15, 1e-12) << kernel.text();
  }
}

TEST(KernelNeighbors, DistancesInTheSpaceOfTheKernelMayOrderRowsOtherwise) {  // (xz)²: −x is where x is
  const Matrix x{{-3.0}, {2.0}};
  const auto m = fit(KernelNeighbors{.k = 1, .kernel = Poly{.degree = 2, .gamma = 1, .offset = 0}}, x,
                     std::vector<std::string>{"far", "near"});
  EXPECT_EQ(m.classify(Matrix{{2.9}}), (Labels{0}));
  EXPECT_NEAR(m.neighbors(Matrix{{2.0}})[0].distance[0], 0, 1e-12);
}

TEST(KernelNeighbors, VotesByDistanceAreInverseToItAndThoseOnTheSpotDecideAlone) {
  const Matrix x{{0.0}, {3.0}, {10.0}};
  const auto m = fit(KernelNeighbors{.k = 2, .kernel = LinearKernel{}, .vote = NeighborVote::distance}, x,
                     Vector{{1.0, 2.0, 9.0}});
  EXPECT_NEAR(m.predict(Matrix{{1.0}})(0), (1 / 1.0 + 2 / 2.0) / (1 + 0.5), 1e-12);
  EXPECT_EQ(m.predict(Matrix{{3.0}})(0), 2);
}

TEST(KernelNeighbors, FarRowsAreStillTold) {  // 2 − 2e^−γr² is 2 for all of them
  Matrix x(3, 1);
  x << 30, 25, 40;
  const auto m = fit(KernelNeighbors{.k = 1, .kernel = Rbf{.gamma = 1}}, x, std::vector<std::string>{"a", "b", "a"});
  EXPECT_EQ(m.classify(Matrix{{10.0}}), (Labels{1}));
}

TEST(KernelNeighbors, LeavingOneOutIsPredictingFromTheOthers) {
  const Matrix x = normal_matrix(40, 3, 8);
  const Vector y = x.col(0) + normal_matrix(40, 1, 9).col(0);
  const KernelNeighbors spec{.k = 4, .kernel = Laplace{.gamma = 0.5}};
  const auto m = fit(spec, x, y);
  double sum = 0;
  for (Index left = 0; left < 40; ++left) {
    CallOptions options;
    options.weights = Vector::Ones(40);
    options.weights(left) = 0;
    const auto others = fit(spec, x, y, options);
    sum += std::pow(y(left) - others.predict(x.row(left))(0), 2);
  }
  EXPECT_NEAR(m.leave_one_out_error, sum / 40, 1e-12);
}

TEST(KernelNeighbors, AWeightIsSoManyCopies) {
  const Matrix x = normal_matrix(50, 2, 3), fresh = normal_matrix(20, 2, 4);
  const Vector y = normal_matrix(50, 1, 5).col(0);
  CallOptions options;
  options.weights = Vector(50);
  std::vector<Index> copies;
  for (Index i = 0; i < 50; ++i) {
    options.weights(i) = static_cast<double>(i % 4);
    for (Index copy = 0; copy < i % 4; ++copy) copies.push_back(i);
  }
  for (const auto vote : {NeighborVote::uniform, NeighborVote::distance}) {
    const KernelNeighbors spec{.k = 6, .kernel = Rbf{.gamma = 0.5}, .vote = vote};
    const auto weighted = fit(spec, x, y, options),
               copied = fit(spec, Matrix(x(copies, Eigen::all)), Vector(y(copies)));
    EXPECT_LT((weighted.predict(fresh) - copied.predict(fresh)).cwiseAbs().maxCoeff(), 1e-12);
    EXPECT_NEAR(weighted.leave_one_out_error, copied.leave_one_out_error, 1e-12);
  }
}

TEST(KernelNeighbors, TheNaturalWrongErrorOfItsOwnRowsAndOtherRowsFailTheCertificate) {
  const Matrix x = normal_matrix(60, 2, 3);
  Labels codes;
  for (Index i = 0; i < 60; ++i) codes.push_back(x(i, 0) > 0.2 * x(i, 1) ? 1 : 0);
  codes[3] = 1 - codes[3];
  MemoryRows rows(x);
  rows.labels(codes, {"a", "b"});
  const auto right = fit(Valid(KernelNeighbors{}), rows, {});
  ASSERT_TRUE(certify(right, rows, {}).holds()) << certify(right, rows, {}).message;
  auto resubstituted = right;  // the natural slip: each row votes on itself
  const Labels found = right.classify(x);
  double wrong = 0;
  for (std::size_t i = 0; i < codes.size(); ++i) wrong += found[i] != codes[i];
  resubstituted.leave_one_out_error = wrong / 60;
  ASSERT_NE(resubstituted.leave_one_out_error, right.leave_one_out_error);
  auto moved = right, relabelled = right;
  moved.points.dense(7, 1) += 1e-9;
  relabelled.response(7) = 1 - relabelled.response(7);
  for (const auto& other : {resubstituted, moved, relabelled}) EXPECT_FALSE(certify(other, rows, {}).holds());
}

TEST(KernelNeighbors, BadInputIsRefusedByWhatIsWrong) {
  const Matrix x = normal_matrix(20, 2, 3);
  const Vector y = x.col(0);
  const auto refusal = [&](const KernelNeighbors& spec, const Matrix& rows) {
    return message_of([&] { fit(spec, rows, y); });
  };
  EXPECT_NE(refusal({.kernel = Precomputed{}}, Matrix::Identity(20, 20)).find("new row with itself"),
            std::string::npos);
  EXPECT_NE(refusal({.k = 21}, x).find("k is 21"), std::string::npos);
  EXPECT_NE(refusal({.k = 0}, x).find("k"), std::string::npos);
  EXPECT_NE(refusal({.kernel = Rbf{.gamma = -1}}, x).find("gamma"), std::string::npos);
  EXPECT_NE(refusal({.kernel = Poly{.degree = 3, .gamma = 1}}, 1e140 * x).find("overflows"), std::string::npos);
  const auto equal = fit(KernelNeighbors{.k = 3}, Matrix::Constant(20, 2, 1.0), y);
  EXPECT_NEAR(equal.predict(Matrix::Constant(1, 2, 1.0))(0), y.head(3).mean(), 1e-12);  // the first three
  EXPECT_NE(
      message_of([&] { fit(KernelNeighbors{}, x, std::vector<std::string>(20, "yes")); }).find("at least two classes"),
      std::string::npos);
}

}  // namespace
}  // namespace lemma
