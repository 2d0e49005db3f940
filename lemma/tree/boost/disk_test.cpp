// lemma/tree/boost/disk_test.cpp: rows that do not lie in memory: what is kept of each lies in a file.
#include <gtest/gtest.h>
#include <lemma/core/row_views.hpp>
#include <lemma/tree/boost/data_test.hpp>
#include <lemma/tree/boost/outcome.hpp>

namespace lemma {
namespace {

using boost_test::Data;

/// Rows as those of a stream: read block by block only.
class InBlocks final : public RowsView {
 public:
  explicit InBlocks(const Rows& rows) : RowsView(rows) {}
  const MatrixView* matrix() const override { return nullptr; }

 private:
  void exchange(Block&) const override {}
};

TEST(BoostFromDisk, KeepsCodesAndNumbersOfEachRowInAFile) {
  const Data data(500);
  const auto rows = data.numbers();
  const InBlocks streamed(rows);
  const Boost spec;
  const boost::Loss loss = boost::loss_of(spec, BoostLoss::squared, 0);
  for (const Rows* each : std::initializer_list<const Rows*>{&rows, &streamed}) {
    const Lies where = each == &rows ? Lies::in_memory : Lies::in_a_file;
    const boost::Outcome outcome = boost::read_outcome(spec, loss, *each, 1, {});
    EXPECT_EQ(outcome.where(), where);
    EXPECT_EQ(outcome.weight.get_allocator().where(), where);
    const boost::BinnedRows binned = boost::bin(*each, {}, {});
    EXPECT_EQ(binned.narrow_rows.get_allocator().where(), where);
    EXPECT_EQ(binned.narrow_columns.get_allocator().where(), where);
    EXPECT_EQ(binned.wide_columns.get_allocator().where(), where);
  }
}

TEST(BoostFromDisk, OfMoreRowsThanAreKeptInMemoryIsTheSameToTheBit) {
  const Index n = static_cast<Index>(kLeastFile / sizeof(double)) + 100;  // so that their numbers lie in files
  Matrix x(n, 1);
  std::vector<double> y(at(n));
  for (Index i = 0; i < n; ++i) {
    x(i, 0) = static_cast<double>(i * 7919 % n);
    y[at(i)] = (x(i, 0) < 0.3 * static_cast<double>(n) ? 1.0 : 2.5) + 0.1 * static_cast<double>(i % 5);
  }
  MemoryRows rows(x);
  rows.response(y);
  rows.target = "y";
  const Boost spec{.rounds = 2, .depth = 2, .share = 0.7};
  FitOptions options;
  options.seed = 5;
  const BoostModel one = fit(Valid<Boost>(spec), rows, options),
                   other = fit(Valid<Boost>(spec), InBlocks(rows), options);
  EXPECT_TRUE(one.certificate.holds()) << one.certificate.message;
  EXPECT_EQ(one.values, other.values);
  EXPECT_EQ(one.training_loss, other.training_loss);
  EXPECT_EQ(one.importance, other.importance);
  const Vector predicted = one.predict(x.topRows(1000));
  EXPECT_EQ(predicted, other.predict(x.topRows(1000)));
}

}  // namespace
}  // namespace lemma
