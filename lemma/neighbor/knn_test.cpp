// lemma/neighbor/knn_test.cpp: the reference, leave-one-out for all k at once, ties, weights, categories, and bad input.
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/math/factorise.hpp>
#include <lemma/model/fit.hpp>
#include <lemma/neighbor/knn.hpp>
#include <lemma/neighbor/knn/parts.hpp>
#include <tests/golden.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

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
std::vector<Index> halves(Index n, Index from) {
  std::vector<Index> out;
  for (; from < n; from += 2) out.push_back(from);
  return out;
}
Matrix standardised(Matrix x, const Matrix& of) {
  for (Index j = 0; j < x.cols(); ++j) {
    const double mean = of.col(j).mean();
    const double sd = std::sqrt((of.col(j).array() - mean).square().sum() / static_cast<double>(of.rows() - 1));
    x.col(j) = (x.col(j).array() - mean) / sd;
  }
  return x;
}

struct Classes {
  Matrix x;
  std::vector<std::string> labels;
};
Classes iris() {
  const Table table = dataset("iris");
  return {columns_of(table, {"sepal_length", "sepal_width", "petal_length", "petal_width"}),
          texts_of(table, "species")};
}
/// Two classes that overlap, in p columns.
Classes overlapping(Index n, Index p, std::uint64_t seed = 3) {
  Classes out{normal_matrix(n, p, seed), {}};
  for (Index i = 0; i < n; ++i) {
    out.labels.emplace_back(i % 3 == 0 ? "b" : "a");
    if (i % 3 == 0) out.x(i, 0) += 1.2;
  }
  return out;
}

/// Votes and errors of each k, on the rows that the reference finds free of ties.
void expect_golden_classes(const Golden& golden, const Matrix& train, const std::vector<std::string>& labels,
                           const Matrix& query, const std::vector<std::string>& truth) {
  const auto classes = golden.strings("classes");
  for (const Value& expected : golden.value("fits").as_list()) {
    const double k = expected.at("k").as_double();
    const auto m = fit(Knn{.k = {k}}, train, labels);
    EXPECT_TRUE(m.certificate.holds());
    const Labels found = m.classify(query);
    std::vector<bool> tied(at(query.rows()));
    for (const char* key : {"distance_tie_rows", "vote_tie_rows"})
      for (const double row : expected.at(key).as_vector(key)) tied[static_cast<std::size_t>(row) - 1] = true;
    double errors = 0, judged = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (tied[i]) continue;
      ++judged;
      errors += classes[static_cast<std::size_t>(found[i])] != truth[i];
    }
    EXPECT_EQ(judged, expected.at("n_unambiguous").as_double());
    EXPECT_EQ(errors, expected.at("errors_on_unambiguous_rows").as_double()) << k;
    const Matrix votes = expected.at("vote_counts_first10").as_matrix("votes");
    const Matrix share = m.probabilities(query.topRows(10));
    for (Index i = 0; i < 10; ++i)
      if (!tied[at(i)]) {
        EXPECT_LT((share.row(i) * k - votes.row(i)).cwiseAbs().maxCoeff(), 1e-12) << k << ", row " << i;
      }
  }
  const Matrix distances = golden.matrix("nearest_neighbour_distance_first5");
  EXPECT_TRUE(golden.agrees("nearest_neighbour_distance_first5",
                            fit(Knn{}, train, labels).neighbor_distances(query.topRows(distances.rows()))));
}

TEST(Knn, AgreesWithTheReferenceOnIris) {
  const Classes all = iris();
  const auto odd = halves(150, 0), even = halves(150, 1);
  std::vector<std::string> known, asked;
  for (const Index i : odd) known.push_back(all.labels[at(i)]);
  for (const Index i : even) asked.push_back(all.labels[at(i)]);
  expect_golden_classes(Golden("knn_iris_split"), all.x(odd, Eigen::all), known, all.x(even, Eigen::all), asked);
}

TEST(Knn, AgreesWithTheReferenceOnPima) {
  const std::vector<std::string> names{"npreg", "glu", "bp", "skin", "bmi", "ped", "age"};
  const Table train = dataset("pima_train"), test = dataset("pima_test");
  const Matrix x = columns_of(train, names);
  expect_golden_classes(Golden("knn_pima"), standardised(x, x), texts_of(train, "type"),
                        standardised(columns_of(test, names), x), texts_of(test, "type"));
}

TEST(Knn, AgreesWithTheReferenceForNumbersOnBoston) {
  const Golden golden("knn_reg_boston");
  const Table boston = dataset("boston");
  const Matrix all = columns_of(boston, {"rm", "lstat", "dis"}), x = standardised(all, all);
  const Vector y = columns_of(boston, {"medv"}).col(0);
  const auto odd = halves(506, 0), even = halves(506, 1);
  const Matrix train = x(odd, Eigen::all), query = x(even, Eigen::all);
  for (const Value& expected : golden.value("fits").as_list()) {
    const auto m = fit(Knn{.k = {expected.at("k").as_double()}}, train, Vector(y(odd)));
    const Vector found = m.predict(query);
    EXPECT_LT((found.head(20) - expected.at("predictions_first20").as_vector("first")).cwiseAbs().maxCoeff(), 1e-10);
    EXPECT_NEAR((found - y(even)).squaredNorm() / 253, expected.at("mse").as_double(), 1e-9);
    EXPECT_TRUE(m.certificate.holds());
  }
  const auto m = fit(Knn{}, train, Vector(y(odd)));
  EXPECT_TRUE(golden.agrees("nearest_neighbour_distance_first5", m.neighbor_distances(query.topRows(5))));
}

// ---- Lines ----

TEST(Knn, ALineThroughTheNeighboursIsExactWhereTheNumbersLieOnAPlane) {
  Matrix x = normal_matrix(80, 3, 21);
  x.col(1) *= 1e7;  // units do not matter to the line
  x.col(2) *= 1e-7;
  const Vector y = 3 + (2 * x.col(0) + 1e-7 * x.col(1) - 4e7 * x.col(2)).array();
  const Matrix asked = x.topRows(20) * 1.5;  // outside of the rows too, where a mean falls short
  for (const auto vote : {VoteWeights::uniform, VoteWeights::distance, VoteWeights::gaussian}) {
    const auto m = fit(Knn{.k = {12}, .vote = vote, .local = LocalFit::line}, x, y);
    EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
    const Vector truth = 3 + (2 * asked.col(0) + 1e-7 * asked.col(1) - 4e7 * asked.col(2)).array();
    EXPECT_LT((m.predict(asked) - truth).cwiseAbs().maxCoeff(), 1e-8) << name_of(vote);
    EXPECT_LT(m.leave_one_out(0), 1e-16);
  }
  EXPECT_GT(fit(Knn{.k = {12}}, x, y).leave_one_out(0), 0.1);
}

TEST(Knn, ALineIsThatOfWeightedLeastSquares) {
  const Matrix x = normal_matrix(60, 2, 22);
  const Vector y = x.col(0).array().square() + normal_matrix(60, 1, 23).col(0).array();
  const auto m = fit(Knn{.k = {15}, .vote = VoteWeights::epanechnikov, .local = LocalFit::line}, x, y);
  const Matrix at = Matrix::Constant(1, 2, 0.3);
  std::vector<std::pair<double, Index>> order;
  for (Index i = 0; i < 60; ++i) order.emplace_back((x.row(i) - at).norm(), i);
  std::sort(order.begin(), order.end());
  Matrix normal = Matrix::Zero(3, 3), right = Matrix::Zero(3, 1);
  for (int j = 0; j < 15; ++j) {
    const auto [d, i] = order[static_cast<std::size_t>(j)];
    const double u = d / order[15].first, w = 1 - u * u;
    const Vector z{{1, x(i, 0) - 0.3, x(i, 1) - 0.3}};
    normal += w * z * z.transpose();
    right += w * y(i) * z;
  }
  const auto r = *cholesky(normal);
  EXPECT_NEAR(m.predict(at)(0), solve_upper(r, solve_upper_transposed(r, right))(0, 0), 1e-10);
}

TEST(Knn, ALineThroughFewOrEqualNeighboursIsTheirMeanWhereTheyHaveNoSlope) {
  const Vector y{{1, 2, 6, 7}};
  const auto one = fit(Knn{.k = {1}, .local = LocalFit::line}, Matrix(Vector{{0, 1, 2, 3}}), y);
  EXPECT_EQ(one.predict(Matrix::Constant(1, 1, 2.2))(0), 6);
  const auto equal = fit(Knn{.k = {3}, .local = LocalFit::line}, Matrix::Ones(4, 2), y);
  EXPECT_NEAR(equal.predict(Matrix::Constant(1, 2, 5))(0), 3, 1e-12);
  const auto pair = fit(Knn{.k = {2}, .local = LocalFit::line}, Matrix(Vector{{0, 1, 2, 3}}), y);
  EXPECT_NEAR(pair.predict(Matrix::Constant(1, 1, 1.25))(0), 3, 1e-12) << "the line through two rows";
  EXPECT_NE(message_of([] {
              fit(Knn{.local = LocalFit::line}, Matrix(normal_matrix(10, 2, 1)),
                  std::vector<std::string>{"a", "b", "a", "b", "a", "b", "a", "b", "a", "b"});
            }).find("for numbers"),
            std::string::npos);
  EXPECT_NE(message_of([&] {
              fit(Knn{.local = LocalFit::line, .metric = GowerMetric{}}, Matrix::Ones(4, 2), y);
            }).find("gower compares categories"),
            std::string::npos);
}

// ---- Leave-one-out ----

/// The error for one k by fitting to all rows but one, for each row.
double refitted_error(const Classes& data, Knn spec, double k) {
  spec.k = {k};
  double errors = 0;
  for (Index i = 0; i < data.x.rows(); ++i) {
    std::vector<Index> others;
    std::vector<std::string> labels;
    for (Index j = 0; j < data.x.rows(); ++j)
      if (j != i) {
        others.push_back(j);
        labels.push_back(data.labels[at(j)]);
      }
    const auto m = fit(spec, Matrix(data.x(others, Eigen::all)), labels);
    errors += std::string(1, static_cast<char>('a' + m.classify(data.x.row(i))[0])) != data.labels[at(i)];
  }
  return errors / static_cast<double>(data.x.rows());
}

TEST(Knn, TheErrorsOfAllKFromOneSearchAreThoseOfFittingToTheOtherRows) {
  const Classes data = overlapping(60, 2);
  for (const auto vote : {VoteWeights::uniform, VoteWeights::distance, VoteWeights::gaussian, VoteWeights::epanechnikov,
                          VoteWeights::triangular}) {
    const Knn spec{.k = {1, 2, 5, 9, 30}, .vote = vote};
    const auto m = fit(spec, data.x, data.labels);
    ASSERT_EQ(m.leave_one_out.size(), 5);
    for (Index t = 0; t < 5; ++t)
      EXPECT_NEAR(m.leave_one_out(t), refitted_error(data, spec, m.tried(t)), 1e-12) << name_of(vote) << m.tried(t);
    EXPECT_EQ(m.leave_one_out.minCoeff(),
              m.leave_one_out(std::find(m.tried.begin(), m.tried.end(), m.spec.k[0]) - m.tried.begin()));
  }
}

TEST(Knn, TakesTheSmallestKOfLeastError) {
  Matrix x(8, 1);
  x << 0, 1, 2, 3, 100, 101, 102, 103;
  const std::vector<std::string> labels{"a", "a", "a", "a", "b", "b", "b", "b"};
  const auto m = fit(Knn{.k = {3, 1, 7, 2, 3}}, x, labels);
  EXPECT_EQ(m.spec.k, std::vector<double>{1});
  EXPECT_EQ(m.tried, (Vector{{1, 2, 3, 7}}));
  EXPECT_EQ(m.leave_one_out, (Vector{{0, 0, 0, 1}}));  // of 7 others 4 are of the other class
}

TEST(Knn, TheBayesRiskLiesInTheBracketOfCoverAndHart) {
  // Two normal classes d apart with equal priors have the Bayes risk Φ(−d/2).
  const double d = 1.5, risk = 0.5 * std::erfc(d / 2 / std::sqrt(2.0));
  Classes data{normal_matrix(4000, 1, 8), {}};
  for (Index i = 0; i < 4000; ++i) {
    data.labels.emplace_back(i % 2 == 0 ? "a" : "b");
    if (i % 2 == 1) data.x(i, 0) += d;
  }
  const auto m = fit(Knn{}, data.x, data.labels);
  ASSERT_EQ(m.bayes_risk.size(), 2);
  EXPECT_LT(m.bayes_risk(0) - 0.02, risk);
  EXPECT_GT(m.bayes_risk(1) + 0.02, risk);
  EXPECT_NEAR(m.bayes_risk(0), 0.5 * (1 - std::sqrt(1 - 2 * m.bayes_risk(1))), 1e-12);
  EXPECT_NEAR(m.bayes_risk(1), fit(Knn{.k = {1}}, data.x, data.labels).leave_one_out(0), 1e-15);
}

TEST(Knn, TheNaturalWrongErrorOfTheRowsThemselvesFailsTheCertificate) {
  const Classes data = overlapping(120, 3);
  auto model = fit(Knn{.k = {1, 5}}, data.x, data.labels);
  Labels codes;
  for (const auto& label : data.labels) codes.push_back(label == "a" ? 0 : 1);
  MemoryRows rows(data.x);
  rows.labels(codes, {"a", "b"});
  EXPECT_TRUE(certify(model, rows, {}).holds());
  KnnModel wrong = model;  // each row votes on itself too
  for (Index t = 0; t < 2; ++t) {
    KnnModel one = model;
    one.spec.k = {model.tried(t)};
    const Labels said = one.classify(data.x);
    double errors = 0;
    for (std::size_t i = 0; i < codes.size(); ++i) errors += said[i] != codes[i];
    wrong.leave_one_out(t) = errors / static_cast<double>(codes.size());
  }
  EXPECT_EQ(wrong.leave_one_out(0), 0);
  wrong.spec.k = {1};
  EXPECT_FALSE(certify(wrong, rows, {}).holds());
  KnnModel largest = model;  // right errors, and the k of the greatest
  largest.spec.k = {model.spec.k[0] == 1 ? 5.0 : 1.0};
  EXPECT_FALSE(certify(largest, rows, {}).holds());
}

// ---- Votes ----

TEST(Knn, VotesCountByTheirDistances) {
  Matrix x(4, 1);
  x << 1, 2, 4, 8;  // distances of 0: 1, 2, 4, and 8 for the first that does not vote
  const Vector y{{10, 20, 40, 80}};
  const Matrix query = Matrix::Zero(1, 1);
  const auto said = [&](VoteWeights vote) { return fit(Knn{.k = {3}, .vote = vote}, x, y).predict(query)(0); };
  const auto mean = [](double a, double b, double c) { return (10 * a + 20 * b + 40 * c) / (a + b + c); };
  EXPECT_NEAR(said(VoteWeights::uniform), mean(1, 1, 1), 1e-13);
  EXPECT_NEAR(said(VoteWeights::distance), mean(1, 0.5, 0.25), 1e-13);
  EXPECT_NEAR(said(VoteWeights::triangular), mean(7. / 8, 6. / 8, 4. / 8), 1e-13);
  EXPECT_NEAR(said(VoteWeights::epanechnikov), mean(63. / 64, 60. / 64, 48. / 64), 1e-13);
  EXPECT_NEAR(said(VoteWeights::gaussian), mean(std::exp(-2. / 64), std::exp(-8. / 64), std::exp(-32. / 64)), 1e-13);
  EXPECT_NEAR(fit(Knn{.k = {3}, .vote = VoteWeights::distance}, x, y).predict(x.topRows(1))(0), 10, 0);
}

TEST(Knn, WhereAllDistancesAreEqualAllVotesAre) {
  Matrix x(4, 2);
  x << 1, 0, -1, 0, 0, 1, 0, -1;
  const Vector y{{1, 2, 3, 4}};
  for (const auto vote : {VoteWeights::uniform, VoteWeights::distance, VoteWeights::gaussian, VoteWeights::epanechnikov,
                          VoteWeights::triangular}) {
    const auto m = fit(Knn{.k = {2}, .vote = vote}, x, y);
    EXPECT_NEAR(m.predict(Matrix::Zero(1, 2))(0), 1.5, 1e-15) << name_of(vote);  // the first two rows
    const auto same = fit(Knn{.k = {3}, .vote = vote}, Matrix(Matrix::Ones(4, 2)), y);
    EXPECT_NEAR(same.predict(Matrix::Ones(1, 2))(0), 2, 1e-15) << name_of(vote);
    EXPECT_EQ(same.neighbor_rows(Matrix::Ones(1, 2)), (Matrix{{1, 2, 3}}));
  }
}

TEST(Knn, PriorsWeighTheVotesOfTheClasses) {
  Matrix x(6, 1);
  x << 0, 1, 2, 3, 50, 51;
  const std::vector<std::string> labels{"a", "a", "b", "a", "a", "b"};  // 4 and 2
  const Matrix query = Matrix::Constant(1, 1, 1.0);
  EXPECT_NEAR(fit(Knn{.k = {3}}, x, labels).probabilities(query)(0, 1), 1. / 3, 1e-15);
  EXPECT_NEAR(fit(Knn{.k = {3}, .prior = Prior::uniform}, x, labels).probabilities(query)(0, 1), 0.5, 1e-15);
  const double odds = (0.8 / 2 * 1) / (0.2 / 4 * 2);
  EXPECT_NEAR(fit(Knn{.k = {3}, .prior = std::vector{0.2, 0.8}}, x, labels).probabilities(query)(0, 1),
              odds / (1 + odds), 1e-15);
}

TEST(Knn, ARowOfWeightWIsWRows) {
  const Classes data = overlapping(40, 2);
  std::vector<Index> copies;
  std::vector<std::string> labels;
  Vector w(40);
  for (Index i = 0; i < 40; ++i) {
    w(i) = static_cast<double>((i * 5) % 4);
    for (int c = 0; c < w(i); ++c) {
      copies.push_back(i);
      labels.push_back(data.labels[at(i)]);
    }
  }
  const Matrix query = normal_matrix(30, 2, 9);
  for (const auto vote : {VoteWeights::uniform, VoteWeights::distance, VoteWeights::epanechnikov})
    for (const Metric& metric : {Metric(EuclideanMetric{}), Metric(MahalanobisMetric{})}) {
      const Knn spec{.k = {1, 3, 6}, .vote = vote, .metric = metric};
      const auto a = fit(spec, data.x, data.labels, {.weights = w});
      const auto b = fit(spec, Matrix(data.x(copies, Eigen::all)), labels);
      EXPECT_LT((a.leave_one_out - b.leave_one_out).cwiseAbs().maxCoeff(), 1e-12);
      EXPECT_EQ(a.spec.k, b.spec.k);
      EXPECT_LT((a.probabilities(query) - b.probabilities(query)).cwiseAbs().maxCoeff(), 1e-9);
      EXPECT_LT((a.neighbor_distances(query) - b.neighbor_distances(query)).cwiseAbs().maxCoeff(), 1e-9);
    }
}

// ---- Metrics and tables ----

TEST(Knn, AnyMetricNamesTheNeighbours) {
  Matrix x(3, 2);
  x << 3, 3, 0, 5, -4, 0;  // of the origin: L1 6 5 4, L2 4.2 5 4, L∞ 3 5 4
  const Vector y{{1, 2, 3}};
  const Matrix query = Matrix::Zero(1, 2);
  const auto nearest = [&](const Metric& metric) {
    return fit(Knn{.k = {1}, .metric = metric}, x, y).predict(query)(0);
  };
  EXPECT_EQ(nearest(ManhattanMetric{}), 3);
  EXPECT_EQ(nearest(EuclideanMetric{}), 3);
  EXPECT_EQ(nearest(ChebyshevMetric{}), 1);
  EXPECT_EQ(nearest(Metric::parse("minkowski(8)")), 1);
}

TEST(Knn, CategoriesAndMissingValuesAreComparedByGower) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  Table table({numeric("size", {0, 10, 5, 0, none, 10}),
               categorical("colour", {"red", "red", "blue", "blue", "red", "blue"}),
               categorical("kind", {"a", "a", "b", "b", "a", "b"})});
  const auto m = fit(Knn{.k = {1}, .metric = GowerMetric{}}, formula("kind ~ size + colour"), table);
  EXPECT_EQ(m.points.rows(), 6);
  // 4 and blue: row 3 is |4 − 5|/10 / 2 away. 9 and red: row 5 is red, and its size is not known. Nothing but a colour never seen: all rows vote, which is half and half.
  const Table asked({numeric("size", {4, 9, none}), categorical("colour", {"blue", "red", "green"})});
  EXPECT_EQ(m.neighbor_rows(m.design.apply(asked).x.topRows(2)), (Matrix{{3}, {5}}));
  EXPECT_NEAR(m.neighbor_distances(m.design.apply(asked).x.topRows(2))(0, 0), 0.05, 1e-15);
  EXPECT_EQ(m.probabilities(asked).row(2), (Matrix{{0.5, 0.5}}));
}

TEST(Knn, NewRowsAreAddedToThoseThatAreKept) {
  const Classes data = overlapping(90, 3);
  const auto m =
      fit(Knn{}, Matrix(data.x.topRows(50)), std::vector<std::string>(data.labels.begin(), data.labels.begin() + 50));
  Labels codes;
  for (std::size_t i = 50; i < 90; ++i) codes.push_back(data.labels[i] == "a" ? 0 : 1);
  const Matrix rest = data.x.bottomRows(40);
  MemoryRows more(rest);
  more.labels(codes, {"a", "b"});
  const auto both = updated(m, more, {}), all = fit(Knn{}, data.x, data.labels);
  EXPECT_EQ(both.leave_one_out, all.leave_one_out);
  EXPECT_EQ(both.probabilities(data.x), all.probabilities(data.x));
  EXPECT_TRUE(both.certificate.holds());
}

/// To find out how rows are searched for takes more than to keep them.
TEST(Knn, OfManyRowsTheSummaryDoesNotSearch) {
  const auto words = [](Index rows) {
    return fit(Knn{}, normal_matrix(rows, 1, 3), Vector::Ones(rows)).summary({{"x"}});
  };
  EXPECT_NE(words(100).find("euclidean distance; found by"), std::string::npos);
  EXPECT_NE(words(KnnModel::kMostLeftOut + 1).find("euclidean distance\n"), std::string::npos);
}

// ---- Bad input ----

TEST(Knn, RefusesWhatHasNoAnswer) {
  const Classes data = overlapping(10, 2);
  const auto refusal = [&](const Knn& spec) { return message_of([&] { fit(spec, data.x, data.labels); }); };
  EXPECT_EQ(refusal({.k = {11}}), "knn: k is 11, and there are 10 rows: k must be at most that");
  EXPECT_NE(refusal({.k = {2.5}}).find("k is 2.5, must be a whole number"), std::string::npos);
  EXPECT_NE(refusal({.k = {}}).find("k is empty"), std::string::npos);
  EXPECT_NE(refusal({.prior = std::vector{0.2, 0.2, 0.6}}).find("2 classes"), std::string::npos);
  Labels codes(10, 0);
  MemoryRows rows(data.x);
  rows.labels(codes, {"a", "b"});
  EXPECT_EQ(message_of([&] { fit(Valid<Knn>(Knn{}), rows, {}); }),
            "knn: class 'b' has no rows; leave it out of the classes");
  const auto all = fit(Knn{.k = {10}}, data.x, data.labels);  // k = n: each row is judged by the 9 others
  EXPECT_TRUE(all.certificate.holds());
  EXPECT_NEAR(all.probabilities(data.x)(0, 1), 0.4, 1e-15);
}

}  // namespace
}  // namespace lemma
