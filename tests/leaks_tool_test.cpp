// tests/leaks_tool_test.cpp: leaks that were planted, each caught and named by the tool.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/core/value.hpp>
#include <tests/run_tool.hpp>

namespace lemma {
namespace {

constexpr const char* kKeeping = "LEMMA_NO_LEDGER=";  // as outside the tests

/// Words broken into lines, as one line.
std::string joined(std::string text) {
  for (char& c : text)
    if (c == '\n') c = ' ';
  return text;
}
bool contains(const std::string& text, const std::string& part) { return joined(text).find(part) != std::string::npos; }

std::string line_rows(int first, int count) {
  std::string out;
  for (int i = first; i < first + count; ++i)
    out += fmt::format("{},{},{}\n", i, (i * 37) % 101, (i * 37) % 101 + i % 7 > 50 ? "yes" : "no");
  return out;
}

/// Pure noise: classes that no column knows anything of.
std::string noise_rows(Index rows, Index columns) {
  RandomStream stream(17);
  std::string out = "y";
  for (Index j = 0; j < columns; ++j) out += fmt::format(",x{}", j + 1);
  for (Index i = 0; i < rows; ++i) {
    out += i % 2 ? "\nyes" : "\nno";
    for (Index j = 0; j < columns; ++j) out += fmt::format(",{:.4f}", stream.normal());
  }
  return out + "\n";
}

double accuracy_of(const Folder& in, const std::string& call) {
  const auto found = in.lemma(call + " --json");
  EXPECT_EQ(found.code, 0) << found.err;
  return from_json(found.out).at("scores").at("accuracy").at("mean").as_double();
}

TEST(Leaks, TrainingRowsInTheTestSet) {
  const Folder in;
  in.write("train.csv", "a,b,y\n" + line_rows(0, 80));
  in.write("test.csv", "a,b,y\n" + line_rows(100, 30) + line_rows(10, 10));
  ASSERT_EQ(in.lemma("fit lda train.csv 'y ~ .' -o m.lemma").code, 0);
  const auto found = in.lemma("evaluate m.lemma test.csv --strict");
  EXPECT_EQ(found.code, 1);
  EXPECT_TRUE(contains(found.out, "MIXED rows: 10 of 40 rows (25 %) are equal to training rows")) << found.out;
}

TEST(Leaks, TuningOnTheTestSet) {
  const Folder in;
  in.write("train.csv", "a,b,y\n" + line_rows(0, 80));
  in.write("test.csv", "a,b,y\n" + line_rows(100, 40));
  ASSERT_EQ(in.lemma("tune logistic test.csv 'y ~ .' --grid 'lambda=0.1,1' --folds 3 -o t.lemma", kKeeping).code, 0);
  ASSERT_EQ(in.lemma("fit logistic train.csv 'y ~ .' -o m.lemma", kKeeping).code, 0);
  const auto found = in.lemma("evaluate m.lemma test.csv --strict", kKeeping);
  EXPECT_EQ(found.code, 1);
  EXPECT_TRUE(contains(found.out, "VALIDATION rows: all 40 rows were used on")) << found.out;
}

TEST(Leaks, SelectionBeforeCrossValidation) {
  const Folder in;
  in.write("noise.csv", noise_rows(40, 1000));
  const auto chosen = in.lemma("select noise.csv 'y ~ .' --filter t --k 8 --json", kKeeping);
  ASSERT_EQ(chosen.code, 0) << chosen.err;
  std::string columns;
  for (const auto& name : from_json(chosen.out).at("chosen").as_strings())
    columns += (columns.empty() ? "" : " + ") + name;
  const auto flattered = in.lemma(fmt::format("cross lda noise.csv 'y ~ {}' --folds 5", columns), kKeeping);
  EXPECT_TRUE(contains(flattered.err, "all 40 rows were used on")) << flattered.err;
  EXPECT_TRUE(contains(flattered.err, "to select columns")) << flattered.err;
  // the price: nothing can be learned here
  EXPECT_GT(accuracy_of(in, fmt::format("cross lda noise.csv 'y ~ {}' --folds 5", columns)), 0.85);
  EXPECT_LT(accuracy_of(in, "cross 'select(filter=t, k=8) | lda' noise.csv 'y ~ .' --folds 5"), 0.7);
}

TEST(Leaks, DuplicatesAcrossFolds) {
  const Folder in;
  in.write("twice.csv", "a,b,y\n" + line_rows(0, 40) + line_rows(0, 20));
  const auto found = in.lemma("cross lda twice.csv 'y ~ .' --folds 5");
  EXPECT_TRUE(contains(found.err, "equal")) << found.err;
}

TEST(Leaks, AGroupSplitApart) {
  const Folder in;
  std::string rows = "patient,part,x,y\n";
  for (int i = 0; i < 60; ++i)
    rows += fmt::format("p{},{},{},{}\n", i / 4, i % 3, (i * 7) % 23, i % 5 > 2 ? "yes" : "no");
  in.write("patients.csv", rows);
  const auto found = in.lemma("cross lda patients.csv 'y ~ x' --group patient --fold part");
  EXPECT_TRUE(contains(found.err, "group")) << found.err;
  EXPECT_TRUE(contains(found.err, "warning")) << found.err;
  const auto together = in.lemma("cross lda patients.csv 'y ~ x' --group patient --folds 3");
  EXPECT_FALSE(contains(together.err, "warning")) << together.err;
}

TEST(Leaks, TimeReversed) {
  const Folder in;
  std::string rows = "day,x,y\n";
  for (int i = 0; i < 30; ++i) rows += fmt::format("{},{},{}\n", i, i, 2 * i + i % 3);
  in.write("days.csv", rows);
  EXPECT_TRUE(contains(in.lemma("cross ols days.csv 'y ~ x' --time day --plan folds --folds 3").err,
                       "warning: time is reversed"));
  EXPECT_FALSE(contains(in.lemma("cross ols days.csv 'y ~ x' --time day --folds 3").err, "time is reversed"));
}

}  // namespace
}  // namespace lemma
