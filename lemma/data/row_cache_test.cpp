// lemma/data/row_cache_test.cpp: rows of a text that are read often are parsed twice at most.
#include <atomic>
#include <cstdlib>
#include <gtest/gtest.h>
#include <lemma/data/stream.hpp>
#include <lemma/data/stream/rows.hpp>

namespace lemma {
namespace {

/// A stream that counts what is asked of it, and says that it parses.
class Counted final : public TableStream {
 public:
  explicit Counted(const Table& table) : inner_(table) {}
  Index rows() const override { return inner_.rows(); }
  const Table& schema() const override { return inner_.schema(); }
  bool parses() const override { return true; }
  Table read(Index first, Index count) const override {
    rows_read += count;
    return inner_.read(first, count);
  }
  mutable std::atomic<Index> rows_read{0};

 private:
  MemoryTableStream inner_;
};

Table made_up(Index rows) {
  std::vector<double> y, x, w;
  std::vector<std::string> g;
  for (Index i = 0; i < rows; ++i) {
    const auto at = static_cast<double>(i);
    y.push_back(1 / (at + 1));
    x.push_back(i % 97 == 5 ? std::nan("") : at * 0.1);
    w.push_back(static_cast<double>(i % 3));
    g.emplace_back(1, static_cast<char>('a' + i % 5));
  }
  return Table({numeric("y", y), numeric("x", x), numeric("w", w), categorical("g", g)});
}

bool same(const Block& a, const Block& b) {
  const auto equal = [](auto p, auto q) { return std::equal(p.begin(), p.end(), q.begin(), q.end()); };
  return a.x == b.x && equal(a.y, b.y) && equal(a.label, b.label) && equal(a.weight, b.weight);
}

/// Every row in blocks of that size, held against the rows in memory.
void pass(const Rows& rows, const Rows& expected, Index size) {
  BlockBuffer one, two;
  for (Index first = 0; first < rows.count(); first += size) {
    const Index count = std::min(size, rows.count() - first);
    ASSERT_TRUE(same(rows.read(first, count, one), expected.read(first, count, two))) << "row " << first;
  }
}

TEST(RowCache, ThePassesAfterTheSecondParseNothingAndSeeTheSameNumbers) {
  const Table table = made_up(5000);
  for (const auto& [text, policy] : {std::pair{"y ~ x + g", Missing::drop}, {"g ~ x + y", Missing::mean}}) {
    DesignOptions how;
    how.missing = policy;
    how.weights = "w";
    how.classify = text[0] == 'g';
    const Design design(formula(text), table, how);
    const Counted stream(table);
    const StreamRows rows(design, stream);
    const DesignRows expected(design, design.train(table));
    ASSERT_EQ(rows.count(), expected.count());
    for (int passes = 0; passes < 2; ++passes) pass(rows, expected, 1024);
    const Index parsed = stream.rows_read;
    for (const Index size : {1024, 4096, 700, 5000}) pass(rows, expected, size);
    EXPECT_EQ(stream.rows_read, parsed) << text;
  }
}

TEST(RowCache, WithoutAPlaceToWriteToRowsAreMadeAnew) {
  const Table table = made_up(3000);
  const Design design(formula("y ~ w"), table);
  RowCache::Parts parts;
  parts.y = true;
  RowCache nowhere(3000, 1, parts);
  BlockBuffer short_of_y;  // a chunk that does not fit is not kept, and nothing after it
  short_of_y.x = Matrix::Zero(1024, 1);
  EXPECT_FALSE(nowhere.wants(0));
  ASSERT_TRUE(nowhere.wants(0));
  nowhere.write(0, 0, short_of_y);
  EXPECT_FALSE(nowhere.has(0));
  EXPECT_FALSE(nowhere.wants(1));
  EXPECT_FALSE(nowhere.wants(1));
}

}  // namespace
}  // namespace lemma
