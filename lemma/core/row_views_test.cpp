// lemma/core/row_views_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/error.hpp>
#include <lemma/core/random.hpp>
#include <lemma/core/row_views.hpp>
#include <tests/copied_rows.hpp>
#include <tests/sparse_of.hpp>

namespace lemma {
namespace {

constexpr Index kRows = 2500;  // more than two blocks

/// Rows that have every part there is.
struct Everything {
  Matrix x{kRows, 3};
  std::vector<double> y, weight, precision, offset;
  std::vector<std::uint64_t> cluster;
  Everything() {
    for (Index i = 0; i < kRows; ++i) {
      for (Index j = 0; j < 3; ++j) x(i, j) = (i + j) % 7 == 0 ? 0.0 : static_cast<double>(10 * i + j);
      const auto number = static_cast<double>(i);
      y.push_back(number / kRows);
      weight.push_back(1 + static_cast<double>(i % 4));
      precision.push_back(0.5 + static_cast<double>(i % 3));
      offset.push_back(-number);
      cluster.push_back(static_cast<std::uint64_t>(i % 5));
    }
  }
  MemoryRows rows() const {
    MemoryRows out(x);
    out.response(y).weights(weight).precision(precision).offset(offset).clusters(cluster);
    out.features = {"a", "b", "c"};
    out.target = "share";
    out.counts = true;
    return out;
  }
};

/// The rows of a view are those rows of the source, in all parts that are named here.
void expect_rows(const Rows& view, const Everything& all, const std::vector<Index>& which) {
  ASSERT_EQ(view.count(), static_cast<Index>(which.size()));
  BlockBuffer buffer, beside;
  for (const auto& [first, size] : {std::pair<Index, Index>{0, view.count()}, {3, 5}, {view.count() - 1, 1}}) {
    const Block block = view.read(first, size, buffer), outcome = view.outcome(first, size, beside);
    EXPECT_EQ(block.first, first);
    ASSERT_EQ(block.rows(), size);
    for (Index i = 0; i < size; ++i) {
      const Index row = which[static_cast<std::size_t>(first + i)];
      const auto at = static_cast<std::size_t>(row), k = static_cast<std::size_t>(i);
      EXPECT_EQ(block.x.row(i), all.x.row(row));
      for (const Block* each : {&block, &outcome}) {
        EXPECT_EQ(each->y[k], all.y[at]);
        EXPECT_EQ(each->weight[k], all.weight[at]);
        EXPECT_EQ(each->precision[k], all.precision[at]);
        EXPECT_EQ(each->offset[k], all.offset[at]);
        EXPECT_EQ(each->cluster[k], all.cluster[at]);
      }
    }
  }
}

/// What rows say of themselves.
void expect_same_description(const Rows& view, const Rows& rows) {
  EXPECT_EQ(view.features, rows.features);
  EXPECT_EQ(view.has_precision, rows.has_precision);
  EXPECT_EQ(view.has_offset, rows.has_offset);
  EXPECT_TRUE(view.has_response);
}

TEST(RowViews, SelectedRowsForgetNothing) {
  const Everything all;
  const MemoryRows rows = all.rows();
  std::vector<Index> which;
  RandomStream random(1);
  for (int i = 0; i < 3000; ++i) which.push_back(static_cast<Index>(random.uniform() * kRows));
  const SelectedRows view(rows, which), none(rows, {});
  expect_rows(view, all, which);
  expect_same_description(view, rows);
  EXPECT_EQ(view.target, "share");
  EXPECT_TRUE(view.has_weights && view.counts);
  EXPECT_EQ(none.count(), 0);
}

TEST(RowViews, SelectedRowsOfAStreamAreTheSame) {
  const Everything all;
  const MemoryRows rows = all.rows();
  const CopiedRows stream(rows);
  std::vector<Index> which;
  for (Index i = kRows - 1; i >= 0; i -= 3) which.push_back(i);
  expect_rows(SelectedRows(stream, which), all, which);
}

TEST(RowViews, SelectedSparseRowsStayWithoutTheirZeros) {
  const Everything all;
  const Csr sparse = sparse_of(all.x);
  MemoryRows rows(sparse);
  rows.response(all.y).weights(all.weight).precision(all.precision).offset(all.offset);
  const std::vector<Index> which{7, 7, 0, 2499, 14};
  const SelectedRows view(rows, which);
  ASSERT_NE(view.sparse(), nullptr);
  Matrix dense;
  EXPECT_EQ(dense_rows(*view.sparse(), 0, 5, dense).row(3), all.x.row(2499));
  EXPECT_EQ(dense.row(0), dense.row(1));
  BlockBuffer buffer;
  EXPECT_EQ(view.read(0, 5, buffer).x, dense);
}

TEST(RowViews, ASelectedRowMustBeThere) {
  const Everything all;
  const MemoryRows rows = all.rows();
  EXPECT_THROW(SelectedRows(rows, {0, kRows}), Error);
  EXPECT_THROW(SelectedRows(rows, {-1}), Error);
  const SelectedRows view(rows, {1, 2});
  BlockBuffer buffer;
  EXPECT_THROW(view.read(1, 2, buffer), Error);
}

TEST(RowViews, FactorsMultiplyTheWeightsThatRowsHave) {
  const Everything all;
  const MemoryRows rows = all.rows();
  std::vector<double> factors(kRows);
  for (std::size_t i = 0; i < factors.size(); ++i) factors[i] = static_cast<double>(i % 5);
  const ReweightedRows view(rows, factors);
  expect_same_description(view, rows);
  EXPECT_TRUE(view.has_weights && view.counts);
  EXPECT_EQ(view.target, "share");
  BlockBuffer buffer;
  const Block block = view.read(2000, 100, buffer);
  for (std::size_t i = 0; i < 100; ++i) {
    EXPECT_EQ(block.weight[i], all.weight[2000 + i] * factors[2000 + i]);
    EXPECT_EQ(block.y[i], all.y[2000 + i]);
    EXPECT_EQ(block.precision[i], all.precision[2000 + i]);
    EXPECT_EQ(block.offset[i], all.offset[2000 + i]);
  }
  const MemoryRows plain(all.x);
  const ReweightedRows first(plain, factors);
  EXPECT_TRUE(first.has_weights);
  EXPECT_EQ(first.outcome(3, 1, buffer).weight[0], factors[3]);
  EXPECT_EQ(first.matrix(), plain.matrix());
  EXPECT_THROW(ReweightedRows(rows, {1, 2}), Error);
  factors[4] = -1;
  EXPECT_THROW(ReweightedRows(rows, factors), Error);
}

TEST(RowViews, AnotherResponseKeepsAllButTheResponse) {
  const Everything all;
  const MemoryRows rows = all.rows();
  std::vector<double> residuals(kRows, 0.25);
  residuals[9] = 9;
  const RespondingRows view(rows, residuals, "residual");
  expect_same_description(view, rows);
  EXPECT_TRUE(view.has_weights && !view.counts && view.classes.empty());
  EXPECT_EQ(view.target, "residual");
  BlockBuffer buffer;
  const Block block = view.read(8, 2, buffer);
  EXPECT_EQ(block.y[1], 9);
  EXPECT_EQ(block.weight[1], all.weight[9]);
  EXPECT_EQ(block.offset[1], all.offset[9]);
  EXPECT_THROW(RespondingRows(rows, {1}, "y"), Error);
}

TEST(RowViews, OtherClassesKeepAllButTheResponse) {
  const Everything all;
  const MemoryRows rows = all.rows();
  std::vector<int> labels(kRows, 0);
  labels[1] = 2;
  const RelabelledRows view(rows, labels, {"a", "b", "c"});
  expect_same_description(view, rows);
  EXPECT_EQ(view.classes.size(), 3u);
  EXPECT_FALSE(view.counts);
  BlockBuffer buffer;
  const Block block = view.outcome(1, 1, buffer);
  EXPECT_TRUE(block.y.empty());
  EXPECT_EQ(block.label[0], 2);
  EXPECT_EQ(block.precision[0], all.precision[1]);
  EXPECT_THROW(RelabelledRows(rows, labels, {"a", "b"}), Error);
}

TEST(RowViews, ViewsOfViewsCompose) {
  const Everything all;
  const MemoryRows rows = all.rows();
  std::vector<double> twice(kRows, 2);
  const ReweightedRows heavy(rows, twice);
  const SelectedRows some(heavy, {5, 5, 1});
  const RespondingRows other(some, {1, 2, 3}, "z");
  BlockBuffer buffer;
  const Block block = other.read(0, 3, buffer);
  EXPECT_EQ(block.y[2], 3);
  EXPECT_EQ(block.weight[0], 2 * all.weight[5]);
  EXPECT_EQ(block.x.row(2), all.x.row(1));
}

/// Two numbers and a class for each row.
struct SeveralOutcomes {
  Everything all;
  std::vector<double> responses;
  SeveralOutcomes() {
    for (Index i = 0; i < kRows; ++i)
      for (const double each : {static_cast<double>(i), -0.5 * static_cast<double>(i), static_cast<double>(i % 3)})
        responses.push_back(each);
  }
  MemoryRows rows() const {
    MemoryRows out(all.x);
    out.several(responses, {{"u"}, {"v"}, {"kind", {"p", "q", "r"}}}).weights(all.weight);
    return out;
  }
};

TEST(RowViews, SeveralResponsesGoWithTheirRows) {
  const SeveralOutcomes outcomes;
  const MemoryRows rows = outcomes.rows();
  const CopiedRows stream(rows);
  const std::vector<Index> which{2400, 3, 3, 1030, 0};
  for (const Rows* source : {static_cast<const Rows*>(&rows), static_cast<const Rows*>(&stream)}) {
    const SelectedRows view(*source, which);
    EXPECT_EQ(view.responses, rows.responses);
    BlockBuffer buffer, beside;
    const Block block = view.read(0, 5, buffer), outcome = view.outcome(1, 4, beside);
    ASSERT_EQ(block.several().cols(), 3);
    for (Index i = 0; i < 5; ++i) {
      const Index row = which[static_cast<std::size_t>(i)];
      EXPECT_EQ(block.several()(i, 0), static_cast<double>(row));
      EXPECT_EQ(block.several()(i, 1), -0.5 * static_cast<double>(row));
      EXPECT_EQ(block.several()(i, 2), static_cast<double>(row % 3));
      if (i == 0) continue;
      EXPECT_EQ(outcome.responses[static_cast<std::size_t>(3 * (i - 1))], static_cast<double>(row));
    }
    EXPECT_EQ(block.weight[0], outcomes.all.weight[2400]);
    EXPECT_TRUE(block.y.empty() && block.label.empty());
  }
  const ReweightedRows heavier(rows, std::vector<double>(kRows, 2.0));
  BlockBuffer buffer;
  EXPECT_EQ(heavier.responses, rows.responses);
  EXPECT_EQ(heavier.read(7, 1, buffer).several()(0, 0), 7);
}

TEST(RowViews, AnotherResponseStandsInThePlaceOfSeveral) {
  const SeveralOutcomes outcomes;
  const MemoryRows rows = outcomes.rows();
  const RespondingRows one(rows, outcomes.all.y, "share");
  const RelabelledRows classes(rows, std::vector<int>(kRows, 1), {"a", "b"});
  BlockBuffer buffer;
  for (const Rows* view : {static_cast<const Rows*>(&one), static_cast<const Rows*>(&classes)}) {
    EXPECT_TRUE(view->responses.empty());
    EXPECT_TRUE(view->read(0, 9, buffer).responses.empty());
  }
  EXPECT_EQ(one.read(5, 1, buffer).y[0], outcomes.all.y[5]);
}

TEST(MemoryRows, SeveralResponsesAreCheckedWhenTheyAreGiven) {
  const Matrix x{{1}, {2}};
  MemoryRows rows(x);
  const std::vector<double> values{1, 0, 2, 1}, wrong{1, 0, 2, 2};
  EXPECT_THROW(rows.several(values, {{"u"}}), Error);
  EXPECT_THROW(rows.several(values, {{"u"}, {"v"}, {"w"}}), Error);
  EXPECT_THROW(rows.several(wrong, {{"u"}, {"kind", {"p", "q"}}}), Error);
  EXPECT_NO_THROW(rows.several(values, {{"u"}, {"kind", {"p", "q"}}}));
  EXPECT_TRUE(rows.has_response);
  const std::vector<double> infinite{1, 0, HUGE_VAL, 1};
  MemoryRows other(x);
  other.several(infinite, {{"u"}, {"kind", {"p", "q"}}});
  try {
    require_finite(other);
    ADD_FAILURE();
  } catch (const Error& error) { EXPECT_STREQ(error.what(), "'u' is infinity in row 2; it must be finite"); }
}

TEST(RowViews, RowsBelowEachOtherAreReadAsOne) {
  const Everything all;
  const MemoryRows rows = all.rows();
  Matrix plain = Matrix::Constant(3, all.x.cols(), 7);
  const std::vector<double> y{1, 2, 3};
  MemoryRows more(plain);
  more.response(y);
  more.features = rows.features;
  more.counts = true;
  StackedRows both({&rows, &more});
  ASSERT_EQ(both.count(), kRows + 3);
  EXPECT_TRUE(both.has_weights && both.has_precision && both.has_offset);
  BlockBuffer buffer;
  const Block block = both.read(kRows - 2, 4, buffer);
  EXPECT_EQ(block.x.row(1), all.x.row(kRows - 1));
  EXPECT_EQ(block.x.row(2), plain.row(0));
  EXPECT_EQ(block.y[3], 2);
  EXPECT_EQ(block.weight[1], all.weight[kRows - 1]);
  EXPECT_EQ(block.weight[2], 1);
  EXPECT_EQ(block.precision[3], 1);
  EXPECT_EQ(block.offset[3], 0);
  EXPECT_TRUE(block.cluster.empty());  // which all rows need
  Matrix narrow(2, 1);
  const MemoryRows other(narrow);
  EXPECT_THROW(StackedRows({&rows, &other}), Error);
  EXPECT_THROW(both.read(kRows, 9, buffer), Error);
}

}  // namespace
}  // namespace lemma
