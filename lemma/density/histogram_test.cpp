// lemma/density/histogram_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/density/histogram.hpp>
#include <lemma/density/shared/rows.hpp>
#include <lemma/model/fit.hpp>

#include <tests/message_of.hpp>

namespace lemma {
namespace {

Matrix normals(Index n, Index d, std::uint64_t seed = 3) { return normal_matrix(n, d, seed); }

TEST(Histogram, is_counts_over_volumes) {
  const Matrix x{{0.0}, {0.1}, {0.4}, {1.0}, {2.0}, {4.0}};  // bins of width 1: 3, 1, 1, 1 (the end is in the last)
  const HistogramModel model = fit(Histogram{.bins = std::vector{4.0}}, x);
  EXPECT_EQ(model.counts, (Vector{{3.0, 1.0, 1.0, 1.0}}));
  const Vector said = model.log_density(Matrix{{0.5}, {1.0}, {3.5}, {4.0}, {4.1}, {-0.1}});
  EXPECT_NEAR(said(0), std::log(0.5), 1e-14);
  EXPECT_NEAR(said(1), std::log(1.0 / 6), 1e-14);
  EXPECT_NEAR(said(3), std::log(1.0 / 6), 1e-14);
  EXPECT_EQ(said(4), density::kLogOfNothing);
  EXPECT_EQ(said(5), density::kLogOfNothing);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
}

TEST(Histogram, integrates_to_one_in_two_columns) {
  const Matrix x = normals(300, 2);
  const HistogramModel model = fit(Histogram{}, x);
  const double volume = ((model.high - model.low).array() / model.bins.array()).prod();
  double sum = 0;
  for (Index c = 0; c < model.cells.rows(); ++c) {
    const Vector middle = model.low.array() + (model.cells.row(c).transpose().array() + 0.5) *
                                                  (model.high - model.low).array() / model.bins.array();
    sum += std::exp(model.log_density(Matrix(middle.transpose()))(0)) * volume;
  }
  EXPECT_NEAR(sum, 1, 1e-12);
  EXPECT_EQ(model.counts.sum(), 300);
}

TEST(Histogram, rules_give_the_widths_of_their_formulas) {
  const Matrix x = normals(500, 1);
  const double range = x.maxCoeff() - x.minCoeff();
  const double sd = std::sqrt((x.array() - x.mean()).square().sum() / 499);
  EXPECT_EQ(fit(Histogram{.bins = BinRule::scott}, x).bins(0), std::ceil(range / (3.49 * sd / std::cbrt(500.0))));
  EXPECT_EQ(fit(Histogram{.bins = BinRule::sturges}, x).bins(0), 10);
  std::vector<double> sorted(x.data(), x.data() + 500);
  std::sort(sorted.begin(), sorted.end());
  const auto quantile = [&](double p) {
    const double place = 499 * p;
    const auto low = static_cast<std::size_t>(place);
    return sorted[low] + (place - std::floor(place)) * (sorted[low + 1] - sorted[low]);
  };
  EXPECT_EQ(fit(Histogram{.bins = BinRule::freedman_diaconis}, x).bins(0),
            std::ceil(range / (2 * (quantile(0.75) - quantile(0.25)) / std::cbrt(500.0))));
}

TEST(Histogram, least_risk_is_no_larger_than_that_of_any_other_number) {
  const Matrix x = normals(200, 1);
  const HistogramModel best = fit(Histogram{.bins = BinRule::least_risk}, x);
  EXPECT_TRUE(best.certificate.holds()) << best.certificate.message;
  for (const double bins : {1.0, 5.0, 12.0, 30.0, 100.0})
    EXPECT_LE(best.risk, fit(Histogram{.bins = std::vector{bins}}, x).risk) << bins;
  // J by its definition: ∫ f² − 2/n Σ f₋ᵢ(xᵢ)
  const double width = (best.high(0) - best.low(0)) / best.bins(0);
  double square = 0, left = 0;
  for (const double n : best.counts) {
    square += n * n / (200.0 * 200.0 * width);
    left += n * (n - 1) / (199.0 * width);
  }
  EXPECT_NEAR(best.risk, square - 2 * left / 200, 1e-12);
}

TEST(Histogram, takes_a_weight_of_k_for_k_copies_and_draws_from_its_cells) {
  const Matrix x = normals(90, 2);
  Vector w(90);
  std::vector<Index> copies;
  for (Index i = 0; i < 90; ++i) {
    w(i) = static_cast<double>(i % 3);
    for (Index c = 0; c < i % 3; ++c) copies.push_back(i);
  }
  const HistogramModel a = fit(Histogram{}, x, {.weights = w}), b = fit(Histogram{}, Matrix(x(copies, Eigen::all)));
  EXPECT_EQ(a.cells, b.cells);
  EXPECT_EQ(a.counts, b.counts);
  const Matrix drawn = a.draw(5000, 2).x;
  EXPECT_GT(a.log_density(drawn).minCoeff(), density::kLogOfNothing);
}

TEST(Histogram, rows_on_the_edges_of_bins_are_found_again) {
  Matrix x(101, 1);
  for (Index i = 0; i < 101; ++i) x(i, 0) = 0.1 * static_cast<double>(i);
  for (const double bins : {3.0, 7.0, 10.0, 100.0}) {
    const HistogramModel model = fit(Histogram{.bins = std::vector{bins}}, x);
    EXPECT_TRUE(model.certificate.holds()) << bins << model.certificate.message;
    EXPECT_EQ(model.counts.sum(), 101);
  }
}

TEST(Histogram, bins_that_hold_their_right_edge_are_the_natural_wrong_count_and_fail_the_certificate) {
  Matrix x(41, 1);
  for (Index i = 0; i < 41; ++i) x(i, 0) = static_cast<double>(i);
  HistogramModel model = fit(Histogram{.bins = std::vector{4.0}}, x);
  ASSERT_TRUE(certify(model, MemoryRows(x), {}).holds());
  EXPECT_EQ(model.counts, (Vector{{10.0, 10.0, 10.0, 11.0}}));
  model.counts = Vector{{11.0, 10.0, 10.0, 10.0}};  // R's hist(right = TRUE)
  EXPECT_FALSE(certify(model, MemoryRows(x), {}).holds());
}

TEST(Histogram, refuses_what_leaves_no_density) {
  EXPECT_NE(message_of([&] { fit(Histogram{}, Matrix(Matrix::Constant(9, 2, 4.0))); }).find("'x1' has the same value"),
            std::string::npos);
  EXPECT_NE(message_of([&] { fit(Histogram{}, Matrix(Matrix::Constant(1, 1, 4.0))); }).find("one row"),
            std::string::npos);
  EXPECT_NE(message_of([&] { fit(Histogram{.bins = std::vector{2.5}}, normals(9, 1)); }).find("whole number"),
            std::string::npos);
  EXPECT_NE(message_of([&] {
              fit(Histogram{.bins = std::vector{2.0, 3.0}}, normals(9, 3));
            }).find("3 columns"),
            std::string::npos);
}

}  // namespace
}  // namespace lemma
