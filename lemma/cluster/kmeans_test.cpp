// lemma/cluster/kmeans_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/cluster/kmeans.hpp>
#include <lemma/cluster/kmeans/batches.hpp>
#include <lemma/core/random.hpp>
#include <lemma/core/text.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/geometry/bound_metric.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/model/fit.hpp>
#include <numeric>
#include <rapidcheck/gtest.h>

#include <tests/copied_rows.hpp>
#include <tests/golden.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

Matrix columns_of(std::string_view name, const std::vector<std::string>& columns) {
  const Table table = dataset(name);
  Matrix x(table.rows(), static_cast<Index>(columns.size()));
  for (std::size_t j = 0; j < columns.size(); ++j) {
    const auto& values = table.column(columns[j]).numbers().values;
    x.col(static_cast<Index>(j)) = Eigen::Map<const Vector>(values.data(), x.rows());
  }
  return x;
}
Matrix iris() { return columns_of("iris", {"sepal_length", "sepal_width", "petal_length", "petal_width"}); }

Matrix whitened_crabs() {
  Matrix x = columns_of("crabs", {"FL", "RW", "CL", "CW", "BD"}).array().log().matrix();
  x.rowwise() -= x.colwise().mean().eval();
  const Eigenpairs pairs = symmetric_eigen((x.transpose() * x / static_cast<double>(x.rows() - 1)).eval());
  return x * pairs.vectors * pairs.values.cwiseSqrt().cwiseInverse().asDiagonal();
}

Matrix clouds(Index rows, Index columns, Index clusters, double apart, std::uint64_t seed = 1) {
  const Matrix middle = apart * normal_matrix(clusters, columns, seed, 1);
  Matrix x = normal_matrix(rows, columns, seed, 2);
  for (Index i = 0; i < rows; ++i) x.row(i) += middle.row(i % clusters);
  return x;
}

std::vector<double> sorted(const Vector& v) {
  std::vector<double> out(v.begin(), v.end());
  std::sort(out.begin(), out.end());
  return out;
}

/// Which centre of ours is the t-th by its first coordinate.
std::vector<Index> order_of(const Matrix& centers, double sign = 1) {
  std::vector<Index> order(static_cast<std::size_t>(centers.rows()));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](Index a, Index b) { return sign * centers(a, 0) < sign * centers(b, 0); });
  return order;
}

/// The best known sum of squares, and where it is reached the sizes and the centres (`turned`: up to a sign per column).
void expect_golden_fits(const std::string& id, const Matrix& x, int restarts, bool turned = false) {
  const Golden golden(id);
  for (const Value& fit_of : golden.value("fits").as_list()) {
    const int k = static_cast<int>(fit_of.at("k").as_integer());
    const KMeansModel model = fit(KMeans{.k = k, .restarts = restarts}, x);
    EXPECT_TRUE(golden.agrees("total_ss", model.total_ss));
    EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
    const double best = fit_of.at("within_ss").as_double();
    EXPECT_LE(model.total_within, best * (1 + 1e-6)) << id << ", k = " << k;
    EXPECT_GE(model.total_within, best * (1 - 1e-6)) << id << ", k = " << k << ": better than the best known";
    EXPECT_NEAR(model.between, fit_of.at("between_ss").as_double(), 1e-6 * model.total_ss);
    const Vector sizes = fit_of.at("sizes_sorted").as_vector();
    EXPECT_EQ(sorted(model.sizes), std::vector<double>(sizes.begin(), sizes.end()));
    const Matrix centers = fit_of.at("centers_sorted_by_first_coordinate").as_matrix();
    const auto order = order_of(model.centers);
    for (Index t = 0; t < k && !turned; ++t)
      for (Index j = 0; j < x.cols(); ++j)
        EXPECT_NEAR(model.centers(order[static_cast<std::size_t>(t)], j), centers(t, j),
                    1e-5 * std::max(1.0, std::abs(centers(t, j))));
    // A sign of a column is nobody's: the squared lengths of the centres do not depend on it.
    if (turned) {
      const auto ours = sorted(model.centers.rowwise().squaredNorm()), theirs = sorted(centers.rowwise().squaredNorm());
      for (std::size_t t = 0; t < ours.size(); ++t) EXPECT_NEAR(ours[t], theirs[t], 1e-5);
    }
  }
}

// ---- reference ----

TEST(KMeans, finds_the_best_known_clusters_of_iris) { expect_golden_fits("kmeans_iris", iris(), 60); }
TEST(KMeans, finds_the_best_known_clusters_of_xclara) {
  expect_golden_fits("kmeans_xclara", columns_of("xclara", {"V1", "V2"}), 10);
}
TEST(KMeans, finds_the_best_known_clusters_of_whitened_crabs) {
  expect_golden_fits("kmeans_crabs_whitened", whitened_crabs(), 100, true);
}

TEST(KMeans, goes_from_given_centres_as_lloyd_does_step_by_step) {
  const Golden golden("lloyd_iris");
  const Matrix x = iris();
  const KMeansModel model = fit(KMeans{.start = Matrix(x.topRows(3))}, x);
  EXPECT_TRUE(golden.agrees("objective_after_each_assignment", model.objective));
  EXPECT_TRUE(golden.agrees("n_assignments", model.iterations));
  EXPECT_TRUE(golden.agrees("final_centers", model.centers));
  EXPECT_TRUE(golden.agrees("final_sizes", model.sizes));
  EXPECT_EQ(model.spec.k, 3);
  EXPECT_EQ(model.spec.restarts, 1);
}

TEST(KMeans, prints_what_r_prints) {
  const KMeansModel model = fit(KMeans{.k = 3}, iris());
  const std::string text = model.summary({{"sepal_length", "sepal_width", "petal_length", "petal_width"}, {}, ""});
  for (const char* part :
       {"3 clusters", "sepal_width", "5.006", "15.151", "39.821", "23.879", "88.4 %", "78.85144", "681.3706"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
}

// ---- properties ----

RC_GTEST_PROP(KMeans, does_not_care_where_the_origin_lies_or_how_the_axes_are_turned, ()) {
  const auto seed = *rc::gen::inRange<std::uint64_t>(1, 1000);
  const Matrix x = clouds(300, 3, 4, 5, seed);
  const double angle = *rc::gen::inRange(1, 100) * 0.06;
  Matrix turn = Matrix::Identity(3, 3);
  turn.topLeftCorner(2, 2) << std::cos(angle), -std::sin(angle), std::sin(angle), std::cos(angle);
  const Eigen::RowVector3d shift(17, -4, 1000);
  const KMeansModel plain = fit(KMeans{.k = 4, .restarts = 20}, x);
  const KMeansModel moved = fit(KMeans{.k = 4, .restarts = 20}, ((x * turn).rowwise() + shift).eval());
  RC_ASSERT(std::abs(plain.total_within - moved.total_within) <= 1e-9 * plain.total_within);
  RC_ASSERT(sorted(plain.sizes) == sorted(moved.sizes));
}

RC_GTEST_PROP(KMeans, takes_a_weight_of_three_as_three_rows, ()) {
  const auto seed = *rc::gen::inRange<std::uint64_t>(1, 1000);
  const KMeansStart start = *rc::gen::element(KMeansStart::plus_plus, KMeansStart::random);
  const Matrix x = clouds(120, 2, 3, 3, seed);
  RandomStream random(seed, 7);
  Vector weights(x.rows());
  std::vector<Index> repeated;
  for (Index i = 0; i < x.rows(); ++i) {
    weights(i) = static_cast<double>(random.below(4));
    repeated.insert(repeated.end(), static_cast<std::size_t>(weights(i)), i);
  }
  Matrix copies(static_cast<Index>(repeated.size()), 2);
  for (std::size_t i = 0; i < repeated.size(); ++i) copies.row(static_cast<Index>(i)) = x.row(repeated[i]);
  const KMeans spec{.k = 5, .start = start, .restarts = 3};
  const KMeansModel weighted = fit(spec, x, CallOptions{.weights = weights}), written_out = fit(spec, copies);
  RC_ASSERT((weighted.centers - written_out.centers).cwiseAbs().maxCoeff() <= 1e-10);
  RC_ASSERT(weighted.sizes == written_out.sizes);
  RC_ASSERT(std::abs(weighted.total_within - written_out.total_within) <= 1e-10 * written_out.total_within);
  RC_ASSERT(weighted.certificate.holds());
}

TEST(KMeans, has_the_same_bits_on_1_2_and_3_threads) {
  for (const Index rows : {500, 70000}) {  // restarts side by side, and one after the other
    const Matrix x = clouds(rows, 3, 5, 2);
    const KMeans spec{.k = 6, .restarts = 3, .max_iterations = 20};
    const KMeansModel one = fit(spec, x, CallOptions{.threads = 1});
    for (const int threads : {2, 3}) {
      const KMeansModel more = fit(spec, x, CallOptions{.threads = threads});
      EXPECT_EQ(more.centers, one.centers);
      EXPECT_EQ(more.objective, one.objective);
      EXPECT_EQ(more.certificate.value, one.certificate.value);
    }
  }
}

TEST(KMeans, has_the_same_bits_from_a_stream_as_from_memory) {
  const Matrix x = clouds(5000, 3, 5, 2);
  std::vector<double> weights(5000);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<double>(i % 4) + 0.5;
  MemoryRows memory(x);
  memory.weights(weights);
  const Valid<KMeans> spec(KMeans{.k = 6, .restarts = 2});
  const KMeansModel here = fit(spec, memory, {}), there = fit(spec, CopiedRows(memory), {});
  EXPECT_EQ(there.centers, here.centers);
  EXPECT_EQ(there.within, here.within);
  EXPECT_EQ(there.objective, here.objective);
  EXPECT_EQ(there.total_ss, here.total_ss);
  EXPECT_EQ(there.certificate.value, here.certificate.value);
}

TEST(KMeans, draws_other_starts_with_another_seed_and_the_same_with_the_same) {
  const Matrix x = normal_matrix(600, 2, 4);
  for (const KMeansStart start : {KMeansStart::plus_plus, KMeansStart::random}) {
    const KMeans spec{.k = 8, .start = start, .restarts = 1};
    EXPECT_EQ(fit(spec, x, CallOptions{.seed = 5}).centers, fit(spec, x, CallOptions{.seed = 5}).centers);
    EXPECT_NE(fit(spec, x, CallOptions{.seed = 5}).centers, fit(spec, x, CallOptions{.seed = 6}).centers);
  }
}

TEST(KMeans, keeps_the_best_of_its_restarts) {
  const Matrix x = clouds(400, 2, 12, 4);
  double best = HUGE_VAL;
  for (int r = 1; r <= 6; ++r) {
    const double now = fit(KMeans{.k = 12, .start = KMeansStart::random, .restarts = r}, x).total_within;
    EXPECT_LE(now, best) << r;
    best = now;
  }
  EXPECT_LT(best, fit(KMeans{.k = 12, .start = KMeansStart::random, .restarts = 1}, x).total_within);
}

TEST(KMeans, starts_in_different_clouds_by_plus_plus) {
  const Matrix x = clouds(2000, 4, 25, 40, 9);
  const Matrix start = start_centers(KMeansStart::plus_plus, 25, MemoryRows(x), RandomStream(1, 0), {});
  std::vector<int> starts_in(25, 0);
  for (Index k = 0; k < 25; ++k)
    for (Index i = 0; i < x.rows(); ++i)
      if (x.row(i) == start.row(k)) ++starts_in[static_cast<std::size_t>(i % 25)];
  EXPECT_EQ(starts_in, std::vector<int>(25, 1));
}

// ---- edges ----

TEST(KMeans, is_the_mean_for_one_cluster) {
  const Matrix x = iris();
  const KMeansModel model = fit(KMeans{.k = 1}, x);
  EXPECT_LE((model.centers - x.colwise().mean()).cwiseAbs().maxCoeff(), 1e-14);
  EXPECT_NEAR(model.total_within, model.total_ss, 1e-12 * model.total_ss);
  EXPECT_TRUE(model.certificate.holds());
}

TEST(KMeans, reaches_zero_with_a_cluster_for_every_row) {
  const Matrix x = clouds(40, 3, 4, 2);
  for (const KMeansStart start : {KMeansStart::plus_plus, KMeansStart::random}) {
    const KMeansModel model = fit(KMeans{.k = 40, .start = start}, x);
    EXPECT_EQ(model.sizes, Vector::Ones(40));
    EXPECT_LE(model.total_within, 1e-25);
    EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  }
}

TEST(KMeans, works_on_equal_rows_beside_an_offset_and_at_odd_scales) {
  EXPECT_TRUE(fit(KMeans{.k = 1}, Matrix::Constant(50, 2, 1e9 / 3)).certificate.holds());
  EXPECT_TRUE(fit(KMeans{.k = 1}, Matrix::Zero(50, 2)).certificate.holds());
  const Matrix x = clouds(500, 2, 3, 8);
  for (const double scale : {1e-120, 1e-9, 1e9, 1e120}) {
    const KMeansModel model = fit(KMeans{.k = 3}, (x * scale).eval());
    EXPECT_TRUE(model.certificate.holds()) << scale << ": " << model.certificate.message;
    EXPECT_EQ(sorted(model.sizes), sorted(fit(KMeans{.k = 3}, x).sizes)) << scale;
  }
  EXPECT_TRUE(fit(KMeans{.k = 3}, (x.array() + 1e9).matrix().eval()).certificate.holds());
}

TEST(KMeans, ignores_rows_of_weight_zero) {
  Matrix x = clouds(100, 2, 2, 5);
  Vector weights = Vector::Ones(100);
  x.row(50).setConstant(1e300);
  weights(50) = 0;
  const KMeansModel model = fit(KMeans{.k = 2}, x, CallOptions{.weights = weights});
  EXPECT_EQ(model.sizes.sum(), 99);
  EXPECT_LT(model.centers.cwiseAbs().maxCoeff(), 100);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
}

std::string error_of(const KMeans& spec, const Matrix& x, const CallOptions& options = {}) {
  try {
    fit(spec, x, options);
  } catch (const Error& error) { return error.what(); }
  return "";
}

TEST(KMeans, says_what_is_wrong_with_a_call) {
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos ? testing::AssertionSuccess()
                                                : testing::AssertionFailure() << "'" << text << "'";
  };
  Matrix x(6, 2);
  x << 1, 2, 1, 2, 3, 4, 3, 4, -0.0, 0, 0, 0;
  EXPECT_TRUE(has(error_of({.k = 4}, x), "k is 4, but there are only 3 different rows among 6; k can be at most 3"));
  EXPECT_EQ(error_of({.k = 3}, x), "");
  EXPECT_TRUE(has(error_of({.k = 0}, x), "kmeans: k is 0, must be at least 1"));
  EXPECT_TRUE(has(error_of({.restarts = 0}, x), "restarts is 0, must be at least 1"));
  EXPECT_TRUE(has(error_of({.max_iterations = 0}, x), "max_iterations is 0, must be at least 1"));
  EXPECT_TRUE(has(error_of({.tolerance = -1}, x), "tolerance is -1, must be at least 0"));
  EXPECT_TRUE(has(error_of({.start = Matrix(x.topRows(2).leftCols(1))}, x),
                  "start has 1 columns, but the rows have 2: x1 and x2"));
  EXPECT_TRUE(has(error_of({.k = 3, .start = Matrix(x.topRows(2))}, x), "k is 3, but start has 2 centres"));
  EXPECT_TRUE(
      has(error_of({.start = Matrix(x.topRows(2)), .restarts = 4}, x), "restarts is 4, but from given centres"));
  EXPECT_TRUE(has(error_of({.start = Matrix(0, 2)}, x), "start has no centres"));
  EXPECT_TRUE(has(error_of({.k = 1}, x, CallOptions{.weights = Vector::Zero(6)}), "all weights are 0"));
  EXPECT_TRUE(has(error_of({.k = 1}, (x * 1e200).eval()), "'x1' are too large"));
  x(4, 1) = NAN;
  EXPECT_TRUE(has(error_of({.k = 1}, x), "'x2' is NaN in row 5"));
}

// ---- the certificate ----

TEST(KMeansCertificate, does_not_hold_when_the_iterations_ran_out_and_says_what_to_try) {
  const Matrix x = normal_matrix(3000, 3, 2);
  const KMeansModel model = fit(KMeans{.k = 9, .restarts = 1, .max_iterations = 2}, x);
  EXPECT_FALSE(model.certificate.holds());
  EXPECT_EQ(model.certificate.stopped, "iteration limit");
  EXPECT_EQ(model.iterations, 2);
  EXPECT_NE(model.certificate.message.find("max_iterations (2)"), std::string::npos) << model.certificate.message;
  const KMeansModel further = fit(KMeans{.start = model.centers}, x);
  EXPECT_TRUE(further.certificate.holds());
  EXPECT_EQ(further.objective(0), model.total_within);
}

TEST(KMeansCertificate, holds_within_the_tolerance_that_was_asked_for_up_to_its_own) {
  const Matrix x = normal_matrix(20000, 2, 2);  // so many that a centre moves little with a row
  const KMeansModel model = fit(KMeans{.k = 3, .restarts = 1, .tolerance = 1e-3}, x);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  EXPECT_GT(model.certificate.value, 1e-6);
}

KMeansModel with_centers(KMeansModel model, const Matrix& centers) {
  model.centers = centers;
  return model;
}

TEST(KMeansCertificate, has_a_tolerance_of_its_own_however_loose_the_one_that_was_asked_for) {
  const Matrix x = normal_matrix(200, 2, 6);
  const KMeans loose{.k = 4, .start = KMeansStart::random, .restarts = 1, .tolerance = 1000};
  const auto model = fit(loose, x);
  EXPECT_FALSE(model.certificate.holds()) << model.certificate.message;
  EXPECT_LE(model.certificate.tolerance, 1.1e-3);
  EXPECT_EQ(model.certificate.stopped, "tolerance reached");
  EXPECT_NE(model.certificate.message.find("tolerance of 1000"), std::string::npos) << model.certificate.message;
}

TEST(KMeansCertificate, refuses_an_objective_that_rose_or_ended_elsewhere) {
  const Matrix x = normal_matrix(200, 2, 6);
  const auto model = fit(KMeans{.k = 4, .restarts = 1}, x);
  ASSERT_GT(model.iterations, 2);
  for (Index i = 1; i < model.iterations; ++i)
    for (const double by : {1.1, 0.9}) {
      auto wrong = model;
      wrong.objective(i) *= by;
      if (by > 1 && wrong.objective(i) <= wrong.objective(i - 1)) continue;  // it still fell
      if (by < 1 && i + 1 < model.iterations && wrong.objective(i) >= wrong.objective(i + 1)) continue;
      EXPECT_FALSE(certify(wrong, MemoryRows(x), {}).holds()) << i << " " << by;
    }
}

TEST(KMeansCertificate, fails_the_natural_wrong_centres_and_every_kind_of_damage) {
  const Matrix x = iris();
  const KMeansModel model = fit(KMeans{.k = 3}, x);
  ASSERT_TRUE(certify(model, MemoryRows(x), {}).holds());
  const Labels labels = model.assign(x);

  Matrix medians = model.centers, swapped = model.centers;
  for (int k = 0; k < 3; ++k) {
    for (Index j = 0; j < 4; ++j) {
      std::vector<double> values;
      for (Index i = 0; i < x.rows(); ++i)
        if (labels[static_cast<std::size_t>(i)] == k) values.push_back(x(i, j));
      std::nth_element(values.begin(), values.begin() + static_cast<long>(values.size() / 2), values.end());
      medians(k, j) = values[values.size() / 2];
    }
  }
  const int from = labels[0], to = (from + 1) % 3;  // the mean as if row 1 belonged elsewhere
  swapped.row(from) = (model.sizes(from) * model.centers.row(from) - x.row(0)) / (model.sizes(from) - 1);
  swapped.row(to) = (model.sizes(to) * model.centers.row(to) + x.row(0)) / (model.sizes(to) + 1);
  EXPECT_FALSE(certify(with_centers(model, medians), MemoryRows(x), {}).holds());
  EXPECT_FALSE(certify(with_centers(model, swapped), MemoryRows(x), {}).holds());

  KMeansModel damaged = model;
  damaged.centers(1, 2) += 1e-6;
  EXPECT_FALSE(certify(damaged, MemoryRows(x), {}).holds());
  damaged = model;
  damaged.sizes(0) += 1;
  EXPECT_FALSE(certify(damaged, MemoryRows(x), {}).holds());
  damaged = model;
  damaged.within(2) *= 1 + 1e-6;
  EXPECT_FALSE(certify(damaged, MemoryRows(x), {}).holds());
  damaged = model;
  damaged.total_ss *= 1 + 1e-6;
  EXPECT_FALSE(certify(damaged, MemoryRows(x), {}).holds());
  damaged = model;
  damaged.centers.row(1) = damaged.centers.row(0);  // the second of equals gets no row
  EXPECT_FALSE(certify(damaged, MemoryRows(x), {}).holds());
}

TEST(KMeansCertificate, refuses_other_rows_than_those_of_the_fit) {
  const Matrix x = iris();
  const KMeansModel model = fit(KMeans{.k = 3}, x);
  EXPECT_FALSE(certify(model, MemoryRows(x.topRows(149)), {}).holds());
}

class CancelAt final : public Progress {
 public:
  explicit CancelAt(int reports) : left_(reports) {}
  void report(double, std::string_view) override { --left_; }
  bool cancelled() const override { return left_ <= 0; }

 private:
  std::atomic<int> left_;
};

TEST(KMeans, gives_back_what_it_has_when_it_is_cancelled_and_claims_nothing) {
  const Matrix x = normal_matrix(70000, 2, 2);  // so many that the starts run one after the other
  CancelAt cancel(12);
  const KMeansModel model = fit(KMeans{.k = 4, .start = KMeansStart::random}, x, CallOptions{.progress = &cancel});
  EXPECT_FALSE(model.certificate.holds());
  EXPECT_EQ(model.certificate.stopped, "cancelled");
  ASSERT_EQ(model.warnings.size(), 1u);
  EXPECT_NE(model.warnings[0].find("of 10 starts finished"), std::string::npos) << model.warnings[0];
  model.check();
  EXPECT_EQ(model.sizes.sum(), 70000);

  CancelAt at_once(0);
  EXPECT_THROW(fit(KMeans{.k = 4}, x, CallOptions{.progress = &at_once}), Cancelled);
}

// ---- the model as a value ----

TEST(KMeans, comes_back_from_its_fields_and_params_and_assigns_the_same) {
  const Matrix x = iris();
  const KMeansModel model = fit(KMeans{.start = Matrix(x.topRows(4))}, x);
  KMeansModel copy;
  copy.spec = from_value<KMeans>(to_value(model.spec));
  read_fields(copy, from_json(to_json(write_fields(model, false))));
  copy.check();
  EXPECT_EQ(copy.assign(x), model.assign(x));
  EXPECT_EQ(copy.centers, model.centers);
  EXPECT_EQ(std::get<Matrix>(copy.spec.start), x.topRows(4));
}

TEST(KMeans, refuses_a_model_whose_parts_do_not_fit_together) {
  const KMeansModel model = fit(KMeans{.k = 3}, iris());
  KMeansModel broken = model;
  broken.sizes.conservativeResize(2);
  EXPECT_THROW(broken.check(), Error);
  broken = model;
  broken.centers(0, 0) = NAN;
  EXPECT_THROW(broken.check(), Error);
  broken = model;
  broken.iterations += 1;
  EXPECT_THROW(broken.check(), Error);
  EXPECT_THROW(model.assign(Matrix::Zero(2, 3)), Error);
}

TEST(KMeans, assigns_new_rows_to_the_nearest_centre) {
  Matrix x(4, 1), fresh(3, 1);
  x << 0, 1, 10, 11;
  const KMeansModel model = fit(KMeans{.start = (Matrix(2, 1) << 0, 10).finished()}, x);  // centres 0.5 and 10.5
  fresh << -3, 5.5, 6;                                                                    // 5.5 lies between: the first
  EXPECT_EQ(model.assign(fresh), (Labels{0, 0, 1}));
}

// ---- how many clusters ----

/// Four round groups far from each other.
Matrix four_groups(Index n, std::uint64_t seed) {
  Matrix x = normal_matrix(n, 2, seed);
  for (Index i = 0; i < n; ++i) x(i, 0) += i % 2 == 0 ? 0.0 : 12.0, x(i, 1) += i % 4 < 2 ? 0.0 : 12.0;
  return x;
}

TEST(KMeans, OfSeveralKTakesTheOneThatEachRuleProposess) {
  const Matrix x = four_groups(240, 3);
  for (const ChooseClusters rule : {ChooseClusters::gap, ChooseClusters::silhouette, ChooseClusters::knee}) {
    const KMeansModel model = fit(KMeans{.k = {1, 2, 3, 4, 5, 6, 7, 8}, .choose = rule}, x);
    EXPECT_EQ(model.spec.k, 4) << name_of(rule);
    EXPECT_EQ(model.proposals, Vector::Constant(3, 4)) << name_of(rule);
    ASSERT_EQ(model.curve.rows(), 8);
    EXPECT_NEAR(model.curve(0, 1), model.total_ss, 1e-12 * model.total_ss);
    EXPECT_EQ(model.curve(3, 1), model.total_within);
    EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
    for (Index t = 0; t < 8; ++t) {
      const KMeansModel alone = fit(KMeans{.k = static_cast<int>(t + 1)}, x);
      EXPECT_EQ(model.curve(t, 1), alone.total_within);
      EXPECT_EQ(model.curve(t, 2), alone.starts.maxCoeff());
    }
  }
}

TEST(KMeans, OfRowsWithoutClustersTheGapProposesOne) {
  Matrix x(300, 2);
  RandomStream stream(8);
  for (double& each : x.reshaped()) each = stream.uniform();
  EXPECT_EQ(fit(KMeans{.k = {1, 2, 3, 4, 5}}, x).spec.k, 1);
}

TEST(KMeans, TheGapIsThatOfTheDefinition) {
  const Matrix x = four_groups(80, 5);
  const KMeansModel model = fit(KMeans{.k = {2, 4}, .references = 3}, x);
  // the same sets, drawn as the fit draws them: over the box of the rows
  const Vector least = x.colwise().minCoeff(), greatest = x.colwise().maxCoeff();
  for (const Index t : {0, 1}) {
    Vector logs(3);
    for (std::uint64_t b = 0; b < 3; ++b) {
      RandomStream stream(FitOptions{}.seed, (1 << 20) + b);
      Matrix even(80, 2);
      for (Index i = 0; i < 80; ++i)
        for (Index j = 0; j < 2; ++j) even(i, j) = least(j) + stream.uniform() * (greatest(j) - least(j));
      logs(static_cast<Index>(b)) =
          std::log(fit(KMeans{.k = static_cast<int>(model.curve(t, 0)), .restarts = 30}, even).total_within);
    }
    EXPECT_NEAR(model.curve(t, 4), logs.mean() - std::log(model.curve(t, 1)), 0.02) << "other starts may end elsewhere";
    const double deviation = std::sqrt((logs.array() - logs.mean()).square().mean());
    EXPECT_NEAR(model.curve(t, 5), deviation * std::sqrt(4.0 / 3), 0.02);
  }
}

TEST(KMeans, TellsHowFarItsStartsEndApart) {
  const Matrix x = normal_matrix(400, 3, 12);
  const KMeansModel model = fit(KMeans{.k = 9, .restarts = 12}, x);
  ASSERT_EQ(model.starts.size(), 12);
  EXPECT_EQ(model.starts.minCoeff(), model.total_within);
  EXPECT_GT(model.starts.maxCoeff(), model.total_within);
  KMeansModel wrong = model;
  wrong.starts.array() += 0.01 * model.total_within;
  EXPECT_FALSE(certify(wrong, MemoryRows(x), {}).holds()) << "none of the starts told is the one that was kept";
}

TEST(KMeans, AnswersChoicesThatCannotBeMade) {
  const Matrix x = four_groups(40, 2);
  const auto has = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  EXPECT_TRUE(has(error_of({.k = {2, 3}, .references = 0}, x), "references is 0"));
  EXPECT_TRUE(has(error_of({.k = {2, 40}}, x), "no sum of squares is left within"));
  EXPECT_TRUE(has(error_of({.k = {2, 50}}, x), "k is 50, but there are only 40 different rows"));
  EXPECT_TRUE(has(error_of({.k = {2, 3}, .start = Matrix(x.topRows(2))}, x), "of several k none could start"));
  EXPECT_EQ(error_of({.k = {2, 40}, .choose = ChooseClusters::knee}, x), "");
}

// ---- Mahalanobis distances ----

Matrix correlated(Index n, std::uint64_t seed) {
  Matrix x = normal_matrix(n, 3, seed);
  for (Index i = 0; i < n; ++i) {
    x(i, 0) = 30 * x(i, 0) + 2;
    x(i, 1) = 0.5 * x(i, 1) + 0.01 * x(i, 0) + (i % 2 == 0 ? 3 : 0);
    x(i, 2) += x(i, 1);
  }
  return x;
}

TEST(KMeansMahalanobis, DoesNotChangeWithTheUnitsOrMixturesOfTheColumns) {
  const Matrix x = correlated(300, 3);
  Matrix mixing(3, 3);
  mixing << 2, 1, 0, 0, 0.5, 3, 0, 0, 100;
  const Matrix mixed = x * mixing;
  const auto model = fit(KMeans{.k = 2, .metric = MahalanobisMetric{}}, x),
             other = fit(KMeans{.k = 2, .metric = MahalanobisMetric{}}, mixed);
  EXPECT_EQ(model.sizes, other.sizes);
  EXPECT_NEAR(model.total_within, other.total_within, 1e-8 * model.total_within);
  EXPECT_NEAR(model.total_ss, 3 * 299, 1e-8) << "the trace of C⁻¹ times the scatter, (n − 1) C";
  EXPECT_NEAR((model.centers * mixing - other.centers).cwiseAbs().maxCoeff(), 0,
              1e-8 * other.centers.cwiseAbs().maxCoeff());
  EXPECT_EQ(model.assign(x), other.assign(mixed));
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  EXPECT_TRUE(certify(model, MemoryRows(x), {}).holds());
}

TEST(KMeansMahalanobis, CentresAreMeansAndDistancesThoseOfTheMetric) {
  const Matrix x = correlated(120, 4);
  const auto model = fit(KMeans{.k = 3, .metric = MahalanobisMetric{}}, x);
  const Labels label = model.assign(x);
  Matrix means = Matrix::Zero(3, 3);
  for (Index i = 0; i < 120; ++i) means.row(label[at(i)]) += x.row(i) / model.sizes(label[at(i)]);
  EXPECT_NEAR((means - model.centers).cwiseAbs().maxCoeff(), 0, 1e-10);
  const BoundMetric metric = BoundMetric::of(MahalanobisMetric{}, x);
  const Matrix far = model.distances(x);
  for (Index i = 0; i < 120; i += 7)
    for (Index c = 0; c < 3; ++c) {
      const Vector row = x.row(i).transpose(), centre = model.centers.row(c).transpose();
      EXPECT_NEAR(far(i, c), metric.distance({row.data(), 3}, {centre.data(), 3}), 1e-9);
    }
}

TEST(KMeansMahalanobis, ASphericalCovarianceIsAUnitOfLength) {
  const Matrix x = correlated(90, 5);
  const auto plain = fit(KMeans{.k = 3}, x);
  const auto given = fit(KMeans{.k = 3, .metric = MahalanobisMetric{.covariance = 4 * Matrix::Identity(3, 3)}}, x);
  EXPECT_EQ(plain.sizes, given.sizes);
  EXPECT_NEAR(plain.total_within, 4 * given.total_within, 1e-10 * plain.total_within);
}

TEST(KMeansMahalanobis, WeightsAreCopies) {
  const Matrix x = correlated(40, 6);
  Vector weight(40);
  std::vector<Index> copies;
  for (Index i = 0; i < 40; ++i) {
    weight(i) = static_cast<double>(i % 3);
    for (Index c = 0; c < i % 3; ++c) copies.push_back(i);
  }
  const Matrix repeated = x(copies, Eigen::all);
  const auto weighted = fit(KMeans{.k = 2, .metric = MahalanobisMetric{}}, x, {.weights = weight}),
             plain = fit(KMeans{.k = 2, .metric = MahalanobisMetric{}}, repeated);
  EXPECT_NEAR(weighted.total_within, plain.total_within, 1e-9 * plain.total_within);
}

TEST(KMeansMahalanobis, TakesNewRowsInByTheCovarianceThatItHas) {
  const Matrix x = correlated(200, 3), fresh = correlated(60, 9);
  const auto model = fit(KMeans{.k = 2, .metric = MahalanobisMetric{}}, x);
  const KMeansModel after = updated(model, MemoryRows(fresh), {});
  EXPECT_EQ(std::get<MahalanobisMetric>(after.spec.metric).covariance,
            std::get<MahalanobisMetric>(model.spec.metric).covariance);
  EXPECT_EQ(after.sizes.sum(), 260);
  Matrix both(260, 3);
  both << x, fresh;
  EXPECT_TRUE(certify(after, MemoryRows(both), {}).holds()) << certify(after, MemoryRows(both), {}).message;
}

TEST(KMeansMahalanobis, CentresOfPlainDistancesFailItsCertificate) {
  const Matrix x = correlated(300, 3);
  const auto model = fit(KMeans{.k = 2, .metric = MahalanobisMetric{}}, x);
  const auto plain = fit(KMeans{.k = 2}, x);
  KMeansModel wrong = model;
  wrong.centers = plain.centers;
  const BoundMetric bound(Metric(std::get<MahalanobisMetric>(model.spec.metric)), 3);
  wrong.sizes.setZero(), wrong.within.setZero();
  const Matrix far = wrong.distances(x);
  for (Index i = 0; i < 300; ++i) {
    Index c = 0;
    const double d = far.row(i).minCoeff(&c);
    wrong.sizes(c) += 1, wrong.within(c) += d * d;
  }
  wrong.total_within = wrong.within.sum();
  wrong.between = wrong.total_ss - wrong.total_within;
  wrong.objective.resize(0), wrong.iterations = 0, wrong.starts.resize(0);
  EXPECT_FALSE(certify(wrong, MemoryRows(x), {}).holds());
}

TEST(KMeansMahalanobis, AnswersWhatItCannotDo) {
  const Matrix x = correlated(30, 2);
  Matrix dependent = x;
  dependent.col(2) = dependent.col(0) + dependent.col(1);
  EXPECT_NE(message_of([&] { fit(KMeans{.metric = MahalanobisMetric{}}, dependent); }).find("combination"),
            std::string::npos);
}

// ---- a few rows at a time ----

TEST(KMeansBatches, EndAtFixedPointsThatAreAsGoodWhateverTheBatch) {
  Matrix x = normal_matrix(900, 2, 5);
  for (Index i = 0; i < 900; ++i) x(i, 0) += 9 * static_cast<double>(i % 3);
  const auto plain = fit(KMeans{.k = 3}, x);
  for (const int batch : {1, 10, 64, 5000}) {
    const auto model = fit(KMeans{.k = 3, .batch = batch}, x);
    EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
    EXPECT_NEAR(model.total_within, plain.total_within, 1e-9 * plain.total_within) << batch;
  }
}

TEST(KMeansBatches, OneRowAtATimeTheCentresAreTheMeansOfTheRowsThatCameToThem) {
  const Matrix x = normal_matrix(50, 2, 8);
  Matrix one = x.topRows(1);
  const MemoryRows rows(x);
  one = followed(one, rows, 1, 1, RandomStream(3), {});
  EXPECT_NEAR((one.row(0) - x.colwise().mean()).norm(), 0, 1e-12) << "of one centre: of all rows";
  Matrix two(2, 2);
  two << 5, 5, -5, -5;
  const Matrix after = followed(two, rows, 1, 1, RandomStream(3), {});
  RandomStream random(3);
  const auto order = permutation(random, 50);
  Vector seen = Vector::Zero(2);
  for (const Index i : order) {
    const Index c = (x.row(i) - two.row(0)).squaredNorm() <= (x.row(i) - two.row(1)).squaredNorm() ? 0 : 1;
    seen(c) += 1;
    two.row(c) += (x.row(i) - two.row(c)) / seen(c);
  }
  EXPECT_NEAR((after - two).cwiseAbs().maxCoeff(), 0, 1e-12);
}

TEST(KMeansBatches, LeaveLloydsAlgorithmLittleToDo) {
  const Matrix x = normal_matrix(4000, 6, 2);
  const KMeansModel far = fit(KMeans{.k = 12, .start = KMeansStart::random, .restarts = 1}, x),
                    near =
                        fit(KMeans{.k = 12, .start = KMeansStart::random, .restarts = 1, .batch = 100, .passes = 5}, x);
  EXPECT_LT(near.objective(0), 0.9 * far.objective(0)) << "where Lloyd's algorithm begins";
  EXPECT_TRUE(near.certificate.holds());
}

}  // namespace
}  // namespace lemma
