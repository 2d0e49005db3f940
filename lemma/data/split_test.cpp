// lemma/data/split_test.cpp
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/error.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/data/split.hpp>
#include <map>

namespace lemma {
namespace {

std::vector<Index> together(const Split& parts) {
  std::vector<Index> all = parts.train;
  all.insert(all.end(), parts.test.begin(), parts.test.end());
  std::sort(all.begin(), all.end());
  return all;
}

std::vector<Index> counts(const std::vector<int>& codes) {
  std::vector<Index> count;
  for (const int c : codes) {
    count.resize(std::max(count.size(), static_cast<std::size_t>(c) + 1));
    ++count[static_cast<std::size_t>(c)];
  }
  return count;
}

}  // namespace

TEST(SplitRows, EveryRowIsInOnePartInItsOrder) {
  for (const Index rows : {2, 3, 10, 101}) {
    const Split parts = split(rows, {.share = 0.3}, {}, 7);
    std::vector<Index> all(static_cast<std::size_t>(rows));
    for (Index i = 0; i < rows; ++i) all[static_cast<std::size_t>(i)] = i;
    EXPECT_EQ(together(parts), all);
    EXPECT_TRUE(std::is_sorted(parts.train.begin(), parts.train.end()));
    EXPECT_TRUE(std::is_sorted(parts.test.begin(), parts.test.end()));
    EXPECT_EQ(static_cast<Index>(parts.test.size()),
              std::clamp<Index>(std::llround(0.3 * static_cast<double>(rows)), 1, rows - 1));
  }
}

TEST(SplitRows, ClassesKeepTheirShares) {
  const auto strata = strata_of(dataset("iris").column("species"));
  const Split parts = split(150, {.share = 0.2}, strata, 1);
  std::vector<int> tested;
  for (const Index i : parts.test) tested.push_back(strata[static_cast<std::size_t>(i)]);
  EXPECT_EQ(counts(tested), (std::vector<Index>{10, 10, 10}));
}

TEST(SplitRows, RoundingGoesToTheLargestRemainders) {  // 5·4/10 = 2.0, 3·4/10 = 1.2, 2·4/10 = 0.8
  const std::vector<int> strata = {0, 0, 0, 0, 0, 1, 1, 1, 2, 2};
  const Split parts = split(10, {.count = 4}, strata, 3);
  std::vector<int> tested;
  for (const Index i : parts.test) tested.push_back(strata[static_cast<std::size_t>(i)]);
  EXPECT_EQ(counts(tested), (std::vector<Index>{2, 1, 1}));
}

TEST(SplitRows, TheSeedDecides) {
  const Split one = split(1000, {.share = 0.5}, {}, 1);
  EXPECT_EQ(split(1000, {.share = 0.5}, {}, 1), one);
  EXPECT_NE(split(1000, {.share = 0.5}, {}, 2), one);
}

TEST(SplitRows, RefusesSizesThatCannotBe) {
  EXPECT_THROW(split(10, {}, {}, 1), Error);
  EXPECT_THROW(split(10, {.share = 0.5, .count = 5}, {}, 1), Error);
  EXPECT_THROW(split(10, {.share = 1.0}, {}, 1), Error);
  EXPECT_THROW(split(10, {.share = std::nan("")}, {}, 1), Error);
  EXPECT_THROW(split(10, {.count = 10}, {}, 1), Error);
  EXPECT_THROW(split(1, {.share = 0.5}, {}, 1), Error);
  EXPECT_THROW(split(10, {.share = 0.5}, {0, 1}, 1), Error);
  EXPECT_THROW(split(2, {.share = 0.5}, {0, -1}, 1), Error);
}

TEST(SplitRows, StrataOfNumbersAreQuantileBins) {
  std::vector<double> values;
  values.reserve(1000);
  for (int i = 0; i < 1000; ++i) values.push_back(std::exp(0.01 * i));
  EXPECT_EQ(counts(strata_of(numeric("x", values))), std::vector<Index>(10, 100));
  EXPECT_EQ(strata_of(numeric("x", {3, 1, 3, 2})), (std::vector<int>{2, 0, 2, 1}));  // few values: each its own
  EXPECT_EQ(strata_of(numeric("x", {1, std::nan("")})), (std::vector<int>{0, 1}));
  EXPECT_EQ(strata_of(categorical("c", {"a", "", "b"}, {false, true, false})), (std::vector<int>{0, 2, 1}));
  std::vector<double> heavy(50, 1.0);
  for (int i = 0; i < 50; ++i) heavy.push_back(2 + i);
  for (const int s : strata_of(numeric("x", heavy), 4)) EXPECT_GE(s, 0);
  EXPECT_THROW(strata_of(text("t", {"a"})), Error);
}

TEST(Folds, DifferByAtMostOneRowAlsoWithinAStratum) {
  const auto strata = strata_of(dataset("glass").column("Type"));
  const auto fold = folds(214, 5, strata, 11);
  const auto sizes = counts(fold);
  EXPECT_LE(*std::max_element(sizes.begin(), sizes.end()) - *std::min_element(sizes.begin(), sizes.end()), 1);
  std::map<int, std::vector<Index>> within;
  for (std::size_t i = 0; i < fold.size(); ++i) {
    auto& count = within[strata[i]];
    count.resize(5);
    ++count[static_cast<std::size_t>(fold[i])];
  }
  for (const auto& [stratum, count] : within)
    EXPECT_LE(*std::max_element(count.begin(), count.end()) - *std::min_element(count.begin(), count.end()), 1);
  EXPECT_EQ(folds(214, 5, strata, 11), fold);
  EXPECT_NE(folds(214, 5, strata, 12), fold);
  EXPECT_THROW(folds(4, 5, {}, 1), Error);
  EXPECT_THROW(folds(4, 1, {}, 1), Error);
}

TEST(Folds, AGroupStaysTogether) {
  std::vector<int> groups;
  for (int g = 0; g < 30; ++g)
    for (int k = 0; k <= g % 4; ++k) groups.push_back(g);
  const auto fold = grouped_folds(groups, 3, 5);
  for (std::size_t i = 1; i < groups.size(); ++i)
    if (groups[i] == groups[i - 1]) { EXPECT_EQ(fold[i], fold[i - 1]); }
  const auto sizes = counts(fold);
  ASSERT_EQ(sizes.size(), 3u);
  EXPECT_LE(*std::max_element(sizes.begin(), sizes.end()) - *std::min_element(sizes.begin(), sizes.end()), 1);
  EXPECT_THROW(grouped_folds({0, 0, 0}, 2, 1), Error);
}

}  // namespace lemma
