// lemma/data/rows_for_test.cpp: one table by each of the ways to its rows.
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/error.hpp>
#include <lemma/data/rows_for.hpp>
#include <lemma/data/sparse_rows.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

const double kNaN = std::nan("");

/// A table in memory that pretends to lie elsewhere: in pieces, or as a matrix of numbers.
class Elsewhere final : public TableStream {
 public:
  explicit Elsewhere(const Table& table, const MatrixView* matrix = nullptr) : inner_(table), matrix_(matrix) {}
  Index rows() const override { return inner_.rows(); }
  const Table& schema() const override { return inner_.schema(); }
  Table read(Index first, Index count) const override { return inner_.read(first, count); }
  const MatrixView* matrix() const override { return matrix_; }

 private:
  MemoryTableStream inner_;
  const MatrixView* matrix_;
};

/// y, x1, x2 and a group, with what is asked for missing.
struct Made {
  Matrix numbers = Matrix(9000, 3);
  std::vector<std::string> group;
  Made() {
    for (Index i = 0; i < numbers.rows(); ++i) {
      numbers.row(i) << i % 11, std::sin(static_cast<double>(i)), 0.5 * static_cast<double>(i % 97);
      group.push_back(i % 3 == 0 ? "a" : "b");
    }
  }
  Table table() const {
    std::vector<Column> columns;
    for (Index j = 0; j < 3; ++j)
      columns.push_back(numeric(j == 0 ? "y" : "x" + std::to_string(j),
                                std::vector<double>(numbers.col(j).begin(), numbers.col(j).end())));
    columns.push_back(categorical("group", group));
    return Table(std::move(columns), "made.csv");
  }
};

struct Read {
  Matrix x;
  std::vector<double> y;
};
Read read_all_of(const Rows& rows) {
  Read out{gather(rows), {}};
  BlockBuffer buffer;
  const Block block = rows.read(0, rows.count(), buffer);
  out.y.assign(block.y.begin(), block.y.end());
  return out;
}

void expect_same(const RowsOfData& a, const RowsOfData& b) {
  ASSERT_EQ(a.rows->count(), b.rows->count());
  EXPECT_EQ(a.notes, b.notes);
  EXPECT_EQ(a.rows->has_response, b.rows->has_response);
  EXPECT_EQ(a.kept.rows(0, a.kept.count()), b.kept.rows(0, b.kept.count()));
  const Read p = read_all_of(*a.rows), q = read_all_of(*b.rows);
  EXPECT_TRUE(p.x == q.x);
  ASSERT_EQ(p.y.size(), q.y.size());
  for (std::size_t i = 0; i < p.y.size(); ++i)
    ASSERT_TRUE(p.y[i] == q.y[i] || (std::isnan(p.y[i]) && std::isnan(q.y[i]))) << i;
}

TEST(RowsFor, AreTheSameFromMemoryFromDiskAndFromAMatrix) {
  const Made made;
  const Table table = made.table();
  const MemoryTableStream memory(table);
  const Elsewhere disk(table);
  const MatrixView view(made.numbers);
  const Table all_numbers({table.column("y"), table.column("x1"), table.column("x2")}, "made.csv");
  const Elsewhere matrix(all_numbers, &view);
  const Design design(formula("y ~ x1 + x2"), all_numbers);
  for (const Use use : {Use::training, Use::judging, Use::prediction}) {
    const auto expected = rows_for(design, memory, {.use = use});
    EXPECT_TRUE(expected.rows->matrix());
    const auto streamed = rows_for(design, disk, {.use = use}, std::size_t{1000});
    EXPECT_FALSE(streamed.rows->matrix());
    expect_same(expected, streamed);
    const auto mapped = rows_for(design, matrix, {.use = use});
    EXPECT_EQ(mapped.rows->matrix()->data(), view.data() + 1) << "not copied";
    expect_same(expected, mapped);
  }
}

TEST(RowsFor, PredictionsNeedNoResponseInAMatrix) {
  const Made made;
  const Table whole = made.table();
  const Design design(formula("y ~ x1 + x2"), whole);
  const Table fresh({whole.column("x1"), whole.column("x2")});
  const Matrix x = made.numbers.rightCols(2);
  const MatrixView view(x);
  const auto rows = rows_for(design, Elsewhere(fresh, &view), {.use = Use::prediction});
  EXPECT_FALSE(rows.rows->has_response);
  EXPECT_TRUE(gather(*rows.rows) == x);
}

TEST(RowsFor, SparseRowsStaySoWhereTheReaderTakesThem) {
  const auto data = std::make_shared<SparseData>(parse_svmlight("1 1:0.5 3:-2\n-1\n1 2:4\n-1 1:1 3:3\n", "few.svm"));
  const SparseStream stream(data);
  const auto design = plain_design(formula("y ~ ."), *data, {});
  ASSERT_TRUE(design);
  const auto sparse = rows_for(*design, stream, {}), dense = rows_for(*design, stream, {.sparse = false});
  EXPECT_TRUE(sparse.rows->sparse());
  EXPECT_FALSE(dense.rows->sparse());
  expect_same(sparse, dense);
  const std::vector<double> w{1, 2, 3, 4};
  const auto weighted = rows_for(*design, stream, {.weights = w});
  EXPECT_FALSE(weighted.rows->sparse()) << "weights beside the rows are looked up by the table's rows";
  EXPECT_TRUE(weighted.rows->has_weights);
}

TEST(RowsFor, AReaderThatNeedsAllRowsSaysHowMuchThatIs) {
  const Table table = Made().table();
  const Design design(formula("y ~ x1"), table);
  const auto read = [&] { rows_for(design, Elsewhere(table), {.reader = "svm", .blocks = false}, std::size_t{1000}); };
  EXPECT_EQ(
      message_of(read),
      "svm needs all rows in memory: 504 kB for this table, and 1.0 kB are allowed; raise --memory or use a method "
      "that scans");
  EXPECT_TRUE(exceeds(Elsewhere(table), std::size_t{1000}));
  EXPECT_FALSE(exceeds(Elsewhere(table), std::nullopt));
}

TEST(RowsFor, JudgingLeavesOutRowsWithoutAResponseAndPredictionKeepsThem) {
  Made made;
  for (const Index i : {3, 5000, 8999}) made.numbers(i, 0) = kNaN;
  for (const Index i : {3, 4, 7000}) made.numbers(i, 1) = kNaN;
  const Table table = made.table();
  const Design design(formula("y ~ x1 + x2"), table, {.missing = Missing::drop});
  const MemoryTableStream memory(table);
  const Elsewhere disk(table);
  for (const bool streamed : {false, true}) {
    const TableStream& data = streamed ? static_cast<const TableStream&>(disk) : memory;
    const std::optional<std::size_t> limit = streamed ? std::optional<std::size_t>(1000) : std::nullopt;
    const auto judged = rows_for(design, data, {.use = Use::judging}, limit);
    EXPECT_EQ(judged.rows->count(), 8995);
    EXPECT_EQ(judged.notes,
              std::vector<std::string>{"6 missing values in 5 of 9000 rows: x1 (3), y (3); 5 rows left out"});
    EXPECT_EQ(judged.kept.row(4998 - 2), 4998);
    EXPECT_EQ(judged.kept.row(4999 - 2), 4999);
    EXPECT_EQ(judged.kept.row(5000 - 2), 5001);
    EXPECT_EQ(rows_for(design, data, {.use = Use::prediction}, limit).rows->count(), 8997);
    EXPECT_EQ(message_of([&] { rows_for(design, data, {.use = Use::judging, .missing = Missing::error}, limit); }),
              "6 missing values in 5 of 9000 rows: x1 (3), y (3); use --missing drop");
  }
}

TEST(RowsFor, KeepCoversLevelsThatWereNeverSeen) {
  Made made;
  const Design design(formula("y ~ x1 + group"), made.table());
  made.group[7] = made.group[8500] = "new";
  made.numbers(9, 1) = kNaN;
  const Table table = made.table();
  const MemoryTableStream memory(table);
  const Elsewhere disk(table);
  for (const bool streamed : {false, true}) {
    const TableStream& data = streamed ? static_cast<const TableStream&>(disk) : memory;
    const std::optional<std::size_t> limit = streamed ? std::optional<std::size_t>(1000) : std::nullopt;
    const auto kept = rows_for(design, data, {.use = Use::prediction, .missing = Missing::keep}, limit);
    EXPECT_EQ(kept.rows->count(), 8997);
    EXPECT_EQ(kept.notes,
              std::vector<std::string>{"1 missing value and 2 levels not seen in training in 3 of 9000 rows: "
                                       "x1 (1); group (2); 3 rows left empty"});
    const auto dropped = [&] {
      read_all_of(*rows_for(design, data, {.use = Use::prediction, .missing = Missing::drop}, limit).rows);
    };
    EXPECT_EQ(message_of(dropped),
              "level 'new' of 'group' in row 8 was not seen in training; known: a, b; --missing keep leaves such rows "
              "empty");
  }
}

}  // namespace
}  // namespace lemma
