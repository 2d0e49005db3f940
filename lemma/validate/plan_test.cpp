// lemma/validate/plan_test.cpp
#include <algorithm>
#include <gtest/gtest.h>
#include <lemma/validate/plan.hpp>
#include <numeric>
#include <set>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

std::vector<Resample> all_of(const Resampling& resampling) {
  std::vector<Resample> out;
  for (Index i = 0; i < resampling.size(); ++i) out.push_back(resampling.at(i));
  return out;
}

std::vector<int> cycle(Index rows, int k) {
  std::vector<int> out;
  for (Index i = 0; i < rows; ++i) out.push_back(static_cast<int>(i % k));
  return out;
}

TEST(Plan, FoldsJudgeEachRowOnceInEveryRepeat) {
  const auto all = all_of(Resampling({.folds = 7, .repeats = 3}, {.count = 40}, 5));
  ASSERT_EQ(all.size(), 21u);
  std::vector<int> judged(3 * 40);
  for (const auto& each : all) {
    EXPECT_EQ(each.train.size() + each.test.size(), 40u);
    for (const Index i : each.test) ++judged[static_cast<std::size_t>(each.repeat * 40 + i)];
  }
  EXPECT_TRUE(std::all_of(judged.begin(), judged.end(), [](int n) { return n == 1; }));
  EXPECT_NE(all[0].test, all[7].test) << "a repeat is drawn anew";
  EXPECT_TRUE(leaks(all, {.count = 40}).empty());
}

TEST(Plan, StrataKeepTheirShareInEachFold) {
  PlanRows rows{.count = 100};
  for (int i = 0; i < 100; ++i) rows.strata.push_back(i < 20 ? 1 : 0);
  for (const auto& each : all_of(Resampling({.folds = 5}, rows, 1)))
    EXPECT_EQ(std::count_if(each.test.begin(), each.test.end(), [](Index i) { return i < 20; }), 4);
}

TEST(Plan, GroupsStayTogetherUnderEveryPlanThatTakesThem) {
  for (const PlanKind kind :
       {PlanKind::folds, PlanKind::holdout, PlanKind::loo, PlanKind::bootstrap, PlanKind::balanced}) {
    Plan plan{.kind = kind, .folds = 4, .samples = 30};
    plan.group = "g";
    const PlanRows rows{.count = 60, .groups = cycle(60, 12)};
    for (const auto& each : all_of(Resampling(plan, rows, 3))) {
      EXPECT_TRUE(leaks(std::vector{each}, rows).empty()) << name_of(kind);
      EXPECT_FALSE(each.train.empty()) << name_of(kind);
    }
  }
}

TEST(Plan, LeaveOneOutLeavesOneRowOrOneGroup) {
  const auto rows = all_of(Resampling({.kind = PlanKind::loo}, {.count = 9}, 1));
  ASSERT_EQ(rows.size(), 9u);
  EXPECT_EQ(rows[4].test, std::vector<Index>{4});
  EXPECT_EQ(rows[4].train.size(), 8u);
  const auto groups = all_of(Resampling({.kind = PlanKind::loo, .group = "g"}, {.count = 9, .groups = cycle(9, 3)}, 1));
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(groups[1].test, (std::vector<Index>{1, 4, 7}));
}

TEST(Plan, TimeOnlyEverLooksBack) {
  PlanRows rows{.count = 50};
  for (int i = 0; i < 50; ++i) rows.time.push_back((i * 37) % 50 / 2);  // out of order, each time twice
  Plan plan{.kind = PlanKind::time, .folds = 4};
  plan.time = "t";
  const auto all = all_of(Resampling(plan, rows, 1));
  ASSERT_EQ(all.size(), 4u);
  for (const auto& each : all) {
    double latest = -1, first = 100;
    for (const Index i : each.train) latest = std::max(latest, rows.time[static_cast<std::size_t>(i)]);
    for (const Index i : each.test) first = std::min(first, rows.time[static_cast<std::size_t>(i)]);
    EXPECT_LT(latest, first) << "equal times are not cut apart";
  }
  rows.time.assign(50, 1);
  EXPECT_EQ(message_of([&] { Resampling(plan, rows, 1); }),
            "5 blocks of time need as many different times, and 't' has 1; use fewer --folds");
}

TEST(Plan, TheBootstrapJudgesByRowsThatWereNotDrawn) {
  double out_of_bag = 0;
  for (const auto& each : all_of(Resampling({.kind = PlanKind::bootstrap, .samples = 200}, {.count = 100}, 7))) {
    EXPECT_EQ(each.train.size(), 100u);
    EXPECT_TRUE(leaks(std::vector{each}, {.count = 100}).empty());
    out_of_bag += static_cast<double>(each.test.size()) / 100 / 200;
  }
  EXPECT_NEAR(out_of_bag, 0.366, 0.01);  // (1 − 1/n)ⁿ
}

TEST(Plan, ABalancedBootstrapDrawsEachRowEquallyOften) {
  std::vector<int> times(30);
  for (const auto& each : all_of(Resampling({.kind = PlanKind::balanced, .samples = 17}, {.count = 30}, 7)))
    for (const Index i : each.train) ++times[static_cast<std::size_t>(i)];
  EXPECT_EQ(times, std::vector<int>(30, 17));
}

TEST(Plan, ThreePartsShareNoRow) {
  const auto parts = three_parts({.count = 100, .strata = cycle(100, 2)}, 0.25, 0.2, 3);
  EXPECT_EQ(parts.train.size(), 55u);
  EXPECT_EQ(parts.validation.size(), 25u);
  EXPECT_EQ(parts.test.size(), 20u);
  std::set<Index> all(parts.train.begin(), parts.train.end());
  all.insert(parts.validation.begin(), parts.validation.end());
  all.insert(parts.test.begin(), parts.test.end());
  EXPECT_EQ(all.size(), 100u);
  const auto grouped = three_parts({.count = 100, .groups = cycle(100, 10)}, 0.2, 0.2, 3);
  const auto group_of = [](const std::vector<Index>& rows) {
    std::set<Index> out;
    for (const Index i : rows) out.insert(i % 10);
    return out;
  };
  for (const Index g : group_of(grouped.test)) EXPECT_FALSE(group_of(grouped.train).contains(g));
  for (const Index g : group_of(grouped.validation)) EXPECT_FALSE(group_of(grouped.train).contains(g));
  EXPECT_NE(message_of([] { three_parts({.count = 10}, 0.5, 0.5, 1); }).find("both together below 1"),
            std::string::npos);
}

TEST(Plan, PlantedLeaksAreCaughtAndNamed) {
  PlanRows rows{.count = 6, .groups = {0, 0, 1, 1, 2, 2}, .time = {1, 2, 3, 4, 5, 6}};
  const std::vector<std::uint64_t> hashes{10, 11, 12, 13, 14, 10};
  const auto kinds = [&](const Resample& by_hand) {
    std::set<std::string> out;
    for (const auto& leak : leaks(std::vector{by_hand}, rows, hashes)) out.emplace(name_of(leak.kind));
    return out;
  };
  using Names = std::set<std::string>;
  EXPECT_EQ(kinds({{0, 1}, {2, 3}}), Names{});
  EXPECT_EQ(kinds({{0, 1, 2, 3}, {3, 4}}), (Names{"row in both", "group split apart"}));
  EXPECT_EQ(kinds({{0, 1, 2, 3}, {4, 5}}), Names{"equal rows"});
  EXPECT_EQ(kinds({{0, 1, 2}, {3}}), Names{"group split apart"});
  EXPECT_EQ(kinds({{4}, {0, 1}}), Names{"time reversed"});
}

TEST(Plan, FoldsThatAreGivenAreTakenAsTheyAreAndTheirLeaksNamed) {
  Plan plan{.kind = PlanKind::given};
  plan.fold = "f";
  const PlanRows rows{.count = 6, .groups = {0, 0, 1, 1, 2, 2}, .folds = {0, 0, 0, 1, 1, 1}};
  const auto all = all_of(Resampling(plan, rows, 1));
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[1].test, (std::vector<Index>{3, 4, 5}));
  const auto found = leaks(all, rows);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(
      found[0].sentence,
      "groups are split apart: 2 rows that judge are of a group that trains too in 2 of 2 splits; a method may know "
      "the group instead of the rule");
  const auto of_some = leaks(all, rows, {}, 200);  // these two are the first of 200
  ASSERT_EQ(of_some.size(), 1u);
  EXPECT_NE(of_some[0].sentence.find("trains too in 2 of the first 2 of 200 splits; "), std::string::npos)
      << of_some[0].sentence;
  EXPECT_NE(message_of([] { Valid<Plan>{Plan{.kind = PlanKind::given}}; }).find("--fold COLUMN"), std::string::npos);
}

TEST(Plan, RulesBetweenParametersAreTold) {
  Plan both{.stratify = true};
  both.group = "g";
  EXPECT_EQ(message_of([&] { Valid<Plan>{both}; }),
            "plan: groups stay together and strata are divided: choose --group or --stratify");
  EXPECT_EQ(message_of([] { Valid<Plan>{Plan{.kind = PlanKind::time}}; }), "plan: blocks of time need --time COLUMN");
  EXPECT_EQ(message_of([] { Resampling({.folds = 5}, {.count = 3}, 1); }), "5 folds of 3 rows: there must be 2 to 3");
  EXPECT_EQ(message_of([] {
              groups_of(text("g", {"a", "b"}, {false, true}));
            }),
            "column 'g' is missing in row 2: a row without a group belongs nowhere");
}

}  // namespace
}  // namespace lemma
