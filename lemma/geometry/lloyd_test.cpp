// lemma/geometry/lloyd_test.cpp: the fast iteration against the textbook's.
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/error.hpp>
#include <lemma/core/random.hpp>
#include <lemma/geometry/lloyd.hpp>
#include <tests/copied_rows.hpp>

namespace lemma {
namespace {

simd::Frame frame_of(const Matrix& x) {
  simd::Frame frame{x.colwise().mean().transpose(), 1};
  const double far = (x.rowwise() - frame.origin.transpose()).cwiseAbs().maxCoeff();
  if (far > 0) frame.scale = std::ldexp(1.0, -std::ilogb(far) - 1);
  return frame;
}

LloydRun run(const Matrix& x, const Matrix& start, Index iterations = 300, std::optional<int> threads = {}) {
  Execution execution;
  execution.threads = threads;
  return lloyd(MemoryRows(x), frame_of(x), start, {iterations, 0}, execution);
}

/// Nearest centre by the plain sum of squares, the first of equals.
Labels plain_labels(const Matrix& x, const Matrix& centers) {
  Labels labels;
  for (Index i = 0; i < x.rows(); ++i) {
    int best = 0;
    double least = HUGE_VAL;
    for (Index k = 0; k < centers.rows(); ++k) {
      double sum = 0;
      for (Index j = 0; j < x.cols(); ++j) sum += (x(i, j) - centers(k, j)) * (x(i, j) - centers(k, j));
      if (sum < least) {
        least = sum;
        best = static_cast<int>(k);
      }
    }
    labels.push_back(best);
  }
  return labels;
}

Vector plain_sizes(const Labels& labels, Index k) {
  Vector sizes = Vector::Zero(k);
  for (const int label : labels) sizes(label) += 1;
  return sizes;
}

/// Every iteration of the run, seen by stopping after 1, 2, … of them, assigns exactly as the plain search does.
void expect_plain_assignments(const Matrix& x, const Matrix& start, Index iterations = 12) {
  for (Index t = 1; t <= iterations; ++t) {
    const LloydRun fast = run(x, start, t);
    const Labels labels = plain_labels(x, fast.centers);
    ASSERT_EQ(fast.sizes, plain_sizes(labels, start.rows())) << "after iteration " << t;
    Vector within = Vector::Zero(start.rows());
    for (Index i = 0; i < x.rows(); ++i) {
      const int k = labels[static_cast<std::size_t>(i)];
      within(k) += (x.row(i) - fast.centers.row(k)).squaredNorm();
    }
    ASSERT_LE((fast.within - within).cwiseAbs().maxCoeff(), 1e-12 * within.maxCoeff()) << "after iteration " << t;
    if (fast.movement == 0) return;
  }
}

Matrix clouds(Index rows, Index columns, Index clusters, double apart, std::uint64_t seed = 1) {
  const Matrix middle = apart * normal_matrix(clusters, columns, seed, 1);
  Matrix x = normal_matrix(rows, columns, seed, 2);
  for (Index i = 0; i < rows; ++i) x.row(i) += middle.row(i % clusters);
  return x;
}

TEST(Lloyd, assigns_as_the_plain_search_does_on_well_separated_clouds) {
  const Matrix x = clouds(3000, 5, 10, 6);
  expect_plain_assignments(x, x.topRows(10));
}

TEST(Lloyd, assigns_as_the_plain_search_does_without_any_structure) {
  const Matrix x = normal_matrix(2500, 13, 3);
  expect_plain_assignments(x, x.topRows(37));
}

TEST(Lloyd, assigns_as_the_plain_search_does_on_a_grid_full_of_ties) {
  Matrix x(32 * 32 + 7, 2);  // whole numbers: many rows lie exactly between two centres
  for (Index i = 0; i < x.rows(); ++i) x.row(i) << static_cast<double>(i % 32), static_cast<double>(i / 32 % 32);
  Matrix start(6, 2);
  start << 0, 0, 2, 0, 0, 2, 30, 30, 2, 2, 16, 16;
  expect_plain_assignments(x, start, 30);
}

TEST(Lloyd, gives_a_row_between_two_centres_to_the_first) {
  Matrix x(3, 1), start(2, 1);
  x << -1, 0, 1;
  start << 1, -1;
  EXPECT_EQ(run(x, start, 1).objective[0], 1.0);
  EXPECT_EQ(run(x, start).centers, (Matrix(2, 1) << 0.5, -1).finished());
}

TEST(Lloyd, assigns_as_the_plain_search_does_when_rows_are_repeated) {
  Matrix x = clouds(200, 3, 4, 3).replicate(8, 1);
  expect_plain_assignments(x, x.topRows(9));
}

TEST(Lloyd, assigns_as_the_plain_search_does_beside_an_offset_of_a_billion) {
  const Matrix x = (clouds(2000, 4, 5, 2).array() + 1e9).matrix();
  expect_plain_assignments(x, x.topRows(8));
}

TEST(Lloyd, assigns_as_the_plain_search_does_with_a_row_so_far_out_that_float32_sees_the_others_as_one) {
  Matrix x = clouds(1500, 4, 5, 2);
  x.row(700).setConstant(1e12);
  Matrix start = x.topRows(6);
  start.row(5) = x.row(700);
  expect_plain_assignments(x, start);
}

TEST(Lloyd, assigns_as_the_plain_search_does_when_given_centres_lie_beyond_float32) {
  const Matrix x = clouds(1200, 3, 3, 2);
  Matrix start = x.topRows(3);
  start.row(1).setConstant(1e60);
  expect_plain_assignments(x, start);
}

TEST(Lloyd, assigns_as_the_plain_search_does_with_nearly_as_many_centres_as_rows) {
  const Matrix x = clouds(300, 3, 4, 2);
  expect_plain_assignments(x, x.topRows(290));
}

TEST(Lloyd, assigns_as_the_plain_search_does_with_constant_columns_and_scales_far_apart) {
  Matrix x = clouds(1100, 6, 4, 2);
  x.col(1).setConstant(3.7);
  x.col(2) *= 1e-7;
  x.col(3) *= 1e5;
  expect_plain_assignments(x, x.topRows(7));
}

TEST(Lloyd, has_the_same_bits_on_1_2_and_3_threads) {
  const Matrix x = clouds(20000, 6, 9, 1.5), start = x.topRows(20);
  const LloydRun one = run(x, start, 25, 1);
  for (const int threads : {2, 3}) {
    const LloydRun more = run(x, start, 25, threads);
    EXPECT_EQ(more.centers, one.centers) << threads;
    EXPECT_EQ(more.within, one.within) << threads;
    EXPECT_EQ(more.objective, one.objective) << threads;
  }
}

TEST(Lloyd, has_the_same_bits_from_a_stream_as_from_memory) {
  const Matrix x = clouds(5000, 7, 6, 2), start = x.topRows(11);
  const LloydRun memory = run(x, start, 30), stream = lloyd(CopiedRows(MemoryRows(x)), frame_of(x), start, {30, 0}, {});
  EXPECT_EQ(stream.centers, memory.centers);
  EXPECT_EQ(stream.within, memory.within);
  EXPECT_EQ(stream.objective, memory.objective);
}

TEST(Lloyd, looks_at_rows_that_are_further_apart_than_they_are_long) {
  const Matrix wide = clouds(2100, 9, 5, 2);
  const Matrix x = wide.middleCols(2, 5);
  const MatrixView part = wide.middleCols(2, 5);
  const LloydRun whole = run(x, x.topRows(8)),
                 strided = lloyd(MemoryRows(part), frame_of(x), x.topRows(8), {300, 0}, {});
  EXPECT_EQ(strided.centers, whole.centers);
}

TEST(Lloyd, never_lets_the_objective_rise) {
  const Matrix x = normal_matrix(3000, 4, 5);
  Matrix start = x.topRows(40);
  start.bottomRows(20).setConstant(50);  // half of them begin without rows
  const LloydRun result = run(x, start);
  ASSERT_GT(result.objective.size(), 5u);
  for (std::size_t t = 1; t < result.objective.size(); ++t)
    EXPECT_LE(result.objective[t], result.objective[t - 1] * (1 + 1e-14)) << t;
  EXPECT_EQ(result.movement, 0);
}

TEST(Lloyd, moves_a_centre_without_rows_to_the_row_farthest_from_its_own) {
  Matrix x(6, 1), start(2, 1);
  x << 0, 1, 2, 3, 4, 20;
  start << 1, 1;  // of equal centres the first takes all rows
  const LloydRun first = run(x, start, 1);
  EXPECT_EQ(first.centers, (Matrix(2, 1) << 5, 20).finished());
  EXPECT_EQ(run(x, start).sizes, (Vector(2) << 5, 1).finished());
}

TEST(Lloyd, moves_several_centres_without_rows_to_different_points) {
  Matrix x(8, 1), start(3, 1);
  x << 0, 1, 2, 3, 30, 30, 30, 20;
  start << 1, 1, 1;
  const LloydRun first = run(x, start, 1);
  EXPECT_EQ(first.centers(1, 0), 30);
  EXPECT_EQ(first.centers(2, 0), 20);
  EXPECT_TRUE((run(x, start).sizes.array() > 0).all());
}

TEST(Lloyd, ends_with_a_row_for_each_of_n_centres) {
  const Matrix x = clouds(60, 2, 3, 2);
  const LloydRun result = run(x, Matrix::Zero(60, 2));
  EXPECT_EQ(result.sizes, Vector::Ones(60));
  EXPECT_LE(result.total_within(), 1e-20);
}

TEST(Lloyd, stops_where_the_movement_allowed_is_not_exceeded_and_says_how_far_the_centres_would_go) {
  const Matrix x = normal_matrix(4000, 3, 8), start = x.topRows(12);
  const LloydRun early = lloyd(MemoryRows(x), frame_of(x), start, {300, 0.02}, {});
  EXPECT_GT(early.movement, 0);
  EXPECT_LE(early.movement, 0.02);
  EXPECT_LT(early.objective.size(), run(x, start).objective.size());
  EXPECT_EQ(early.sizes, plain_sizes(plain_labels(x, early.centers), 12));
}

class CancelAt final : public Progress {
 public:
  explicit CancelAt(int reports) : left_(reports) {}
  void report(double fraction, std::string_view message) override {
    --left_;
    last = fraction;
    said = message;
  }
  bool cancelled() const override { return left_ <= 0; }
  double last = 0;
  std::string said;

 private:
  int left_;
};

TEST(Lloyd, gives_back_the_last_assignment_when_it_is_cancelled) {
  const Matrix x = normal_matrix(4000, 3, 8), start = x.topRows(12);
  CancelAt cancel(4);
  Execution execution;
  execution.progress = &cancel;
  const LloydRun result = lloyd(MemoryRows(x), frame_of(x), start, {300, 0}, execution);
  EXPECT_TRUE(result.cancelled);
  EXPECT_EQ(result.objective.size(), 4u);
  EXPECT_EQ(result.sizes, plain_sizes(plain_labels(x, result.centers), 12));
  EXPECT_NE(cancel.said.find("iteration 4"), std::string::npos) << cancel.said;

  CancelAt at_once(0);
  execution.progress = &at_once;
  EXPECT_THROW(lloyd(MemoryRows(x), frame_of(x), start, {300, 0}, execution), Cancelled);
}

}  // namespace
}  // namespace lemma
