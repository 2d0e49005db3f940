// lemma/data/stream/rows_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/error.hpp>
#include <lemma/data/stream.hpp>
#include <lemma/data/stream/rows.hpp>
#include <rapidcheck.h>

namespace lemma {
namespace {

/// A stream that admits to no table in memory.
class Piecewise final : public TableStream {
 public:
  explicit Piecewise(const Table& table) : inner_(table) {}
  Index rows() const override { return inner_.rows(); }
  const Table& schema() const override { return inner_.schema(); }
  Table read(Index first, Index count) const override { return inner_.read(first, count); }

 private:
  MemoryTableStream inner_;
};

/// Numbers and letters that look random, every seventh or so missing when asked.
Table made_up(Index rows, bool with_missing) {
  std::vector<double> x, v, y, w;
  std::vector<std::string> s;
  std::vector<bool> s_missing;
  std::uint64_t state = 42;
  const auto next = [&] { return state = state * 6364136223846793005u + 1442695040888963407u, state >> 33; };
  const auto number = [&] { return static_cast<double>(next() % 100000) / 1000 + 1; };
  for (Index i = 0; i < rows; ++i) {
    x.push_back(with_missing && next() % 7 == 0 ? std::nan("") : number());
    v.push_back(number());
    y.push_back(number());
    w.push_back(static_cast<double>(next() % 5));
    s.push_back(std::string(1, static_cast<char>('a' + next() % 4)));
    s_missing.push_back(with_missing && next() % 11 == 0);
  }
  return Table({numeric("y", y), numeric("x", x), numeric("v", v), numeric("w", w), categorical("s", s, s_missing)});
}

void expect_equal_blocks(const Rows& a, const Rows& b, Index size) {
  ASSERT_EQ(a.count(), b.count());
  EXPECT_EQ(a.features, b.features);
  EXPECT_EQ(a.classes, b.classes);
  EXPECT_EQ(a.has_response, b.has_response);
  EXPECT_EQ(a.has_weights, b.has_weights);
  EXPECT_EQ(a.has_offset, b.has_offset);
  BlockBuffer first, second;
  const auto same = [](auto p, auto q) { return std::equal(p.begin(), p.end(), q.begin(), q.end()); };
  for (Index from = 0; from < a.count(); from += size) {
    const Block p = a.read(from, std::min(size, a.count() - from), first),
                q = b.read(from, std::min(size, a.count() - from), second);
    ASSERT_EQ(p.first, q.first);
    ASSERT_TRUE(p.x == q.x) << "from row " << from;
    ASSERT_TRUE(same(p.y, q.y) && same(p.label, q.label) && same(p.weight, q.weight) && same(p.offset, q.offset));
  }
}

TEST(StreamRows, GiveTheSameBitsAsMemory) {
  for (const auto missing : {Missing::error, Missing::drop, Missing::mean, Missing::median, Missing::mode}) {
    const Table t = made_up(36000, missing != Missing::error);
    const Piecewise stream(t);
    for (const char* text :
         {"y ~ scale(x) + poly(v, 3)*s + offset(v)", "s ~ log(x) + v",
          "y ~ I(scale(x)^2) + bs(v, df = 6) + ns(x, 3) + cut(v, 4) + (s == \"a\") + I(x > 50 | v > 90) + is.na(x)",
          "s %in% c(\"a\", \"b\") ~ cut(v, c(0, 50, 99)) + pmin(x, v)"}) {
      const DesignOptions options{.missing = missing, .classify = text[0] == 's', .takes_offset = true, .weights = "w"};
      if (missing == Missing::error && std::string(text).starts_with("s %in%"))
        continue;  // some lie outside the breaks
      const Design memory(formula(text), t, options), streamed(formula(text), stream, options);
      EXPECT_EQ(memory.save(), streamed.save());
      const DesignRows in_memory(memory, memory.train(t));
      const StreamRows on_disk(streamed, stream);
      EXPECT_EQ(in_memory.matrix()->rows(), in_memory.count());
      EXPECT_EQ(on_disk.matrix(), nullptr);
      for (const Index size : {5000, 36000}) expect_equal_blocks(in_memory, on_disk, size);
    }
  }
}

TEST(StreamRows, DoNotDependOnTheNumberOfThreads) {
  const Table t = made_up(50000, true);
  const Piecewise stream(t);
  DesignOptions one{.missing = Missing::mean}, many{.missing = Missing::mean};
  one.execution.threads = 1;
  many.execution.threads = 4;
  const auto f = formula("y ~ scale(x) + poly(v, 4) + s");
  EXPECT_EQ(Design(f, stream, one).save(), Design(f, stream, many).save());
}

TEST(StreamRows, PredictWithoutAResponse) {
  const Table t = made_up(9000, true);
  const Design design(formula("y ~ x + s"), t, {.missing = Missing::drop});
  const Table fresh({t.column("s"), t.column("x")});
  const Piecewise stream(fresh);
  const StreamRows rows(design, stream, Use::prediction, Missing::keep);
  EXPECT_FALSE(rows.has_response);
  const DesignRows in_memory(design, design.apply(fresh, Missing::keep));
  expect_equal_blocks(in_memory, rows, 777);
}

TEST(StreamRows, APieceWithoutAnyResponseStaysInStep) {
  const Table t = made_up(9000, false);
  const Design design(formula("y ~ x"), t), classes(formula("s ~ x"), t, {.classify = true});
  auto y = t.column("y").numbers().values;
  auto s = t.column("s").categories();
  std::fill(y.begin() + 4096, y.begin() + 8192, std::nan(""));
  std::fill(s.codes.begin() + 4096, s.codes.begin() + 8192, -1);
  const Table gap({t.column("x"), numeric("y", y), Column{"s", s}});
  const Piecewise stream(gap);
  BlockBuffer buffer;
  const auto block = StreamRows(design, stream, Use::prediction).read(0, 9000, buffer);
  ASSERT_EQ(block.y.size(), 9000u);
  EXPECT_TRUE(std::isnan(block.y[5000]));
  EXPECT_EQ(block.y[8500], y[8500]);
  const auto labels = StreamRows(classes, stream, Use::prediction).read(0, 9000, buffer);
  EXPECT_EQ(std::vector<int>(labels.label.begin(), labels.label.end()), classes.apply(gap).label);
}

TEST(StreamRows, AnErrorNamesTheRowOfTheStream) {
  const Table t = made_up(9000, false);
  const Design design(formula("y ~ log(x)"), t);
  auto x = t.column("x").numbers().values;
  x[8000] = 0;
  const Table damaged({numeric("x", x)});
  const Piecewise stream(damaged);
  const StreamRows rows(design, stream, Use::prediction);
  BlockBuffer buffer;
  try {
    rows.read(7000, 2000, buffer);
    FAIL() << "log(0) went through";
  } catch (const Error& e) { EXPECT_NE(std::string(e.what()).find("row 8001"), std::string::npos) << e.what(); }
  EXPECT_NO_THROW(rows.read(0, 7000, buffer));
}

TEST(StreamRows, AnyFewRowsAreThoseOfTheTable) {
  const Table t = made_up(9000, true);
  const Piecewise stream(t);
  const Design design(formula("y ~ x + s"), t, {.missing = Missing::drop});
  const StreamRows rows(design, stream);
  const auto data = design.train(t);
  EXPECT_TRUE(rc::check([&] {
    const Index first = *rc::gen::inRange<Index>(0, rows.count()),
                size = *rc::gen::inRange<Index>(0, rows.count() - first + 1);
    BlockBuffer buffer;
    RC_ASSERT(rows.read(first, size, buffer).x == data.x.middleRows(first, size));
  }));
}

TEST(Design, LearnedFromAStreamEqualsLearnedFromItsTable) {
  EXPECT_TRUE(rc::check([] {
    const Table t = made_up(*rc::gen::inRange<Index>(8, 60), false);
    const auto text =
        *rc::gen::elementOf(std::vector<std::string>{"y ~ .", "s ~ x:v", "~ scale(v) + s", "y ~ poly(x, 2)"});
    const DesignOptions options{.classify = text[0] == 's'};
    RC_ASSERT(Design(formula(text), t, options).save() == Design(formula(text), Piecewise(t), options).save());
  }));
}

}  // namespace
}  // namespace lemma
