// lemma/select/subsets_test.cpp
#include <gtest/gtest.h>

#include <lemma/core/random.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/data/rows_for.hpp>
#include <lemma/discriminant/lda.hpp>
#include <lemma/linear/ols.hpp>
#include <lemma/model/fit.hpp>
#include <lemma/reduce/select.hpp>
#include <lemma/select/embedded.hpp>
#include <lemma/select/wrapper.hpp>
#include <tests/golden.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

/// A data set as rows, with what they look at.
struct Loaded {
  Loaded(const std::string& name, const std::string& text, bool classify = false) : table(dataset(name)) {
    DesignOptions options;
    options.classify = classify;
    design.emplace(formula(text), table, options);
    stream.emplace(table);
    given.emplace(rows_for(*design, *stream, RowsUse{}));
  }
  const Rows& rows() const { return *given->rows; }
  Table table;
  std::optional<Design> design;
  std::optional<MemoryTableStream> stream;
  std::optional<RowsOfData> given;
};

LeastSquares triangle_of(const Rows& rows) { return scan(rows, LeastSquares(rows.width())); }

std::vector<std::string> named(const std::vector<Index>& columns, const std::vector<std::string>& names) {
  std::vector<std::string> out;
  for (const Index j : columns) out.push_back(names[at(j)]);
  return out;
}

TEST(Subsets, TheBestOfEachSizeAreThoseOfExhaustiveEnumeration) {
  const Loaded boston("boston", "medv ~ .");
  const auto path = best_subsets(triangle_of(boston.rows()), SubsetCriterion::bic);
  const Golden golden("subset_boston");
  const auto& theirs = golden.value("best_subset").as_list();
  ASSERT_EQ(path.steps.size(), theirs.size() + 1);
  for (std::size_t k = 0; k < theirs.size(); ++k) {
    EXPECT_NEAR(path.steps[k + 1].rss, theirs[k].at("rss").as_double(), 1e-7 * path.steps[k + 1].rss);
    EXPECT_EQ(named(path.steps[k + 1].columns, boston.rows().features),
              theirs[k].at("variables").as_strings("variables"));
  }
  EXPECT_TRUE(path.proven);
  EXPECT_LT(path.looked_at, 800);  // of 8,191
  EXPECT_EQ(path.chosen().size(), 11);
}

TEST(Subsets, ForwardAddsAsRDoes) {
  const Loaded boston("boston", "medv ~ .");
  const auto path =
      stepwise_subsets(triangle_of(boston.rows()), boston.rows().features, SubsetSearch::forward, SubsetCriterion::aic);
  const Golden golden("subset_boston");
  const auto& theirs = golden.value("forward_stepwise").as_list();
  ASSERT_EQ(path.moves.size(), theirs.size());
  for (std::size_t k = 0; k < theirs.size(); ++k) {
    EXPECT_EQ(path.moves[k], "+ " + theirs[k].at("added").as_string());
    EXPECT_NEAR(path.steps[k + 1].rss, theirs[k].at("rss").as_double(), 1e-7 * path.steps[k + 1].rss);
  }
}

TEST(Subsets, EveryStepHasTheResidualSumOfSquaresOfItsOwnFit) {
  const Matrix x = normal_matrix(80, 9, 3);
  const Vector y = x.col(1) - 2 * x.col(4) + 0.4 * x.col(7) + normal_matrix(80, 1, 4).col(0);
  MemoryRows rows(x);
  rows.response({y.data(), 80});
  for (const auto search : {SubsetSearch::forward, SubsetSearch::backward, SubsetSearch::both}) {
    const auto path = stepwise_subsets(triangle_of(rows), rows.features, search, SubsetCriterion::aic);
    for (const auto& step : path.steps) {
      if (step.columns.empty()) continue;
      const Matrix some = x(Eigen::all, step.columns);
      const auto model = fit(Ols{}, some, y);
      EXPECT_NEAR(step.rss, model.rss, 1e-10 * model.rss);
      EXPECT_NEAR(step.adjusted_r_squared, model.adj_r_squared, 1e-10);
    }
    for (const Index j : {1, 4, 7})
      EXPECT_TRUE(std::ranges::count(path.chosen().columns, j)) << name_of(search) << " leaves out " << j;
  }
}

TEST(Subsets, TheBoundExcludesNoBetterSubset) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Index p = 8;
    Matrix x = normal_matrix(30, p, seed);
    x.col(3) = x.col(0) + 0.1 * x.col(3);  // a near copy, where forward steps go astray
    x.col(5) = x.col(1) - x.col(2) + 0.05 * x.col(5);
    const Vector y = x.col(1) + x.col(2) - x.col(6) + normal_matrix(30, 1, seed + 100).col(0);
    MemoryRows rows(x);
    rows.response({y.data(), 30});
    const auto data = triangle_of(rows);
    const auto path = best_subsets(data, SubsetCriterion::cp);
    std::vector<double> least(p + 1, INFINITY);
    for (unsigned bits = 0; bits < 1U << p; ++bits) {
      ChosenColumns state(data);
      for (Index j = 0; j < p; ++j)
        if (bits >> j & 1U) state.add(j);
      least[state.chosen().size()] = std::min(least[state.chosen().size()], state.rss());
    }
    for (std::size_t k = 0; k <= p; ++k) EXPECT_NEAR(path.steps[k].rss, least[k], 1e-9 * least[k]) << seed << " " << k;
  }
}

TEST(Subsets, AColumnThatLeavesRestoresWhatWasThere) {
  const Loaded boston("boston", "medv ~ .");
  ChosenColumns state(triangle_of(boston.rows()));
  for (const Index j : {5, 12, 2, 7}) state.add(j);
  const double before = state.rss();
  const Vector after = state.after_each_move();
  state.add(10);
  EXPECT_NEAR(state.rss(), after(10), 1e-9 * before);
  state.drop(10);
  state.drop(12);
  EXPECT_NEAR(state.rss(), after(12), 1e-9 * before);
  state.add(12);
  EXPECT_NEAR(state.rss(), before, 1e-9 * before);
}

TEST(Subsets, CutShortSayThatNothingIsProven) {
  const Loaded boston("boston", "medv ~ .");
  EXPECT_FALSE(best_subsets(triangle_of(boston.rows()), SubsetCriterion::bic, 5).proven);
  const Matrix wide = normal_matrix(50, 41, 1);
  MemoryRows rows(wide);
  const Vector y = wide.col(0);
  rows.response({y.data(), 50});
  EXPECT_NE(message_of([&] { best_subsets(triangle_of(rows), SubsetCriterion::bic); }).find("40"), std::string::npos);
}

TEST(Wrapper, FindsColumnsThatTellSomethingOnlyTogether) {
  Matrix x = normal_matrix(300, 4, 8);
  std::vector<int> labels;
  for (Index i = 0; i < 300; ++i) labels.push_back(x(i, 0) - x(i, 2) > 0 ? 1 : 0);
  MemoryRows rows(x);
  rows.labels(labels, {"no", "yes"});
  const auto score = fold_score(Lda{}, rows, 5, {});
  for (const auto search : {SubsetSearch::forward, SubsetSearch::backward, SubsetSearch::both, SubsetSearch::best}) {
    const auto path = search_subsets(rows.features, search, score);
    const auto& found = path.chosen().columns;
    EXPECT_TRUE(std::count(found.begin(), found.end(), 0) && std::count(found.begin(), found.end(), 2))
        << name_of(search);
    EXPECT_LT(path.chosen().score, 0.05);
  }
  for (const Plan& plan : {Plan{.kind = PlanKind::bootstrap, .samples = 10}, Plan{.kind = PlanKind::holdout}}) {
    const auto found =
        search_subsets(rows.features, SubsetSearch::forward, plan_score(Lda{}, rows, plan, {})).chosen().columns;
    EXPECT_TRUE(std::count(found.begin(), found.end(), 0) && std::count(found.begin(), found.end(), 2));
  }
  EXPECT_EQ(search_subsets(rows.features, SubsetSearch::forward, score, 2).chosen().columns.size(), 2U);
  EXPECT_EQ(search_subsets(rows.features, SubsetSearch::backward, score, 2).chosen().columns.size(), 2U);
}

TEST(Wrapper, LeavesOneOutAsOftenAsThereAreRows) {  // least squares: the error is that of the closed form
  const Matrix x = normal_matrix(40, 2, 2);
  const Vector y = 3 * x.col(1) + normal_matrix(40, 1, 3).col(0);
  MemoryRows rows(x);
  rows.response({y.data(), 40});
  const double found = plan_score(Ols{}, rows, {.kind = PlanKind::loo}, {})({1});
  const Matrix second = x.col(1);
  MemoryRows alone(second);
  alone.response({y.data(), 40});
  EXPECT_NEAR(found, leave_one_out_mse(fit(Valid<Ols>(Ols{}), alone, {}), alone), 1e-10);
}

TEST(Wrapper, TheSameFoldsAndBitsOnAnyNumberOfThreads) {
  const Loaded pima("pima_train", "type ~ .", true);
  const auto run = [&](int threads) {
    Execution execution;
    execution.threads = threads;
    return search_subsets(pima.rows().features, SubsetSearch::forward, holdout_score(Lda{}, pima.rows(), 0.25, {}), {},
                          execution);
  };
  const auto one = run(1), three = run(3);
  ASSERT_EQ(one.steps.size(), three.steps.size());
  for (std::size_t i = 0; i < one.steps.size(); ++i) {
    EXPECT_EQ(one.steps[i].columns, three.steps[i].columns);
    EXPECT_EQ(one.steps[i].score, three.steps[i].score);
  }
}

TEST(Embedded, ColumnsJoinTheLassoInTheOrderOfTheirWorth) {
  const Matrix x = normal_matrix(200, 5, 2);
  const Vector y = 3 * x.col(2) + x.col(0) + 0.5 * normal_matrix(200, 1, 3).col(0);
  MemoryRows rows(x);
  rows.response({y.data(), 200});
  const auto path = path_entries(rows, 100, {});
  EXPECT_GT(path.lambda(2), path.lambda(0));
  for (const Index j : {1, 3, 4}) EXPECT_LT(path.lambda(j), path.lambda(0));
}

TEST(Embedded, ShufflingAColumnCostsWhatItTells) {
  const Matrix x = normal_matrix(4000, 3, 2);
  const Vector y = 3 * x.col(2) + x.col(0) + normal_matrix(4000, 1, 3).col(0);
  MemoryRows rows(x);
  rows.response({y.data(), 4000});
  const AnyModel model = AnySpec(Ols{}).fit(rows, {});
  const auto found = permutation_importance(model, rows, 5, 1);
  EXPECT_NEAR(found.mean(2), 2 * 9, 1);  // E (3 x − 3 x')² = 2 · 9
  EXPECT_NEAR(found.mean(0), 2, 0.3);
  EXPECT_NEAR(found.mean(1), 0, 0.05);
}

TEST(Embedded, StableColumnsAreThoseThatTellSomething) {
  Matrix x = normal_matrix(120, 30, 2);
  std::vector<int> labels;
  for (Index i = 0; i < 120; ++i) {
    labels.push_back(static_cast<int>(i % 2));
    x.row(i).head(3).array() += 1.2 * static_cast<double>(i % 2);
  }
  MemoryRows rows(x);
  rows.labels(labels, {"a", "b"});
  const Selector best_four = [](const Rows& some, std::uint64_t) {
    return fit(Valid<Select>(Select{.filter = TFilter{}, .k = 4}), some, {}).kept_columns();
  };
  const auto found = stability(rows, best_four, 60, StabilitySample::half, 5);
  EXPECT_DOUBLE_EQ(found.mean_size, 4);
  for (Index j = 0; j < 30; ++j) EXPECT_EQ(found.share(j) > 0.75, j < 3) << j;
  EXPECT_DOUBLE_EQ(*found.false_bound(0.75), 16.0 / (0.5 * 30));
  EXPECT_FALSE(found.false_bound(0.5));
}

TEST(Embedded, KnockoffsKeepTheShareOfFalseColumns) {
  double false_share = 0, power = 0;
  constexpr int kDraws = 20;
  for (std::uint64_t seed = 1; seed <= kDraws; ++seed) {
    Matrix x = normal_matrix(150, 30, seed);
    for (Index j = 1; j < 30; ++j) x.col(j) = 0.3 * x.col(j - 1) + x.col(j);
    Vector y = normal_matrix(150, 1, seed + 500).col(0);
    for (Index j = 0; j < 30; j += 3) y += 0.8 * x.col(j);  // 10 of 30
    MemoryRows rows(x);
    rows.response({y.data(), 150});
    FitOptions options;
    options.seed = seed;
    const auto found = knockoffs(rows, 0.2, options);
    double wrong = 0;
    for (const Index j : found.chosen) (j % 3 == 0 ? power : wrong) += 1;
    false_share += wrong / std::max<double>(1, static_cast<double>(found.chosen.size())) / kDraws;
  }
  EXPECT_LT(false_share, 0.25);
  EXPECT_GT(power / (10 * kDraws), 0.6);
}

}  // namespace
}  // namespace lemma
