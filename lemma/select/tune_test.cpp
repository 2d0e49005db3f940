// lemma/select/tune_test.cpp: choosing parameters and methods.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/catalog.hpp>
#include <lemma/core/random.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/linear/ols.hpp>
#include <lemma/linear/ridge.hpp>
#include <lemma/select/compare.hpp>
#include <lemma/select/score_curve.hpp>
#include <lemma/select/tune.hpp>
#include <tests/contract/patience.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

TuneResult tuned(const std::string& method, const std::vector<std::string>& grid, const std::string& f,
                 const Table& table, const TuneOptions& options = {}, const Plan& plan = {.folds = 4}) {
  return tune(parse_method(method), grid, formula(f), MemoryTableStream(table), plan, options);
}

TEST(SearchSpace, ValuesRangesAndDescriptions) {
  const SearchSpace space(parse_method("scale | svm(C=3)"),
                          {"C=0.1:10:3", "svm.kernel=linear,rbf(0.1)", "scale.center"});
  ASSERT_EQ(space.axes().size(), 3u);
  EXPECT_EQ(space.axes()[0].path, "svm.C") << "one step alone has it";
  const auto grid = space.grid();
  ASSERT_EQ(grid.size(), 12u);
  EXPECT_EQ(space.axes()[0].at(grid[0][0]).as_double(), 0.1);
  EXPECT_EQ(space.axes()[0].at(grid[4][0]).as_double(), 1) << "the middle on a logarithmic scale, without rounding";
  EXPECT_EQ(space.axes()[0].at(grid[11][0]).as_double(), 10);
  EXPECT_EQ(space.text(grid[2]), "svm.C=0.1, svm.kernel=rbf(0.1), scale.center=false");
  EXPECT_EQ(SearchSpace(parse_method("scale | svm"), {"kernel.gamma=1,2"}).axes()[0].path, "svm.kernel.gamma")
      << "several kernels have one, at the same place";
  const SearchSpace described(parse_method("ridge"), {"lambda"});
  EXPECT_DOUBLE_EQ(described.axes()[0].low, 0.001);
  EXPECT_DOUBLE_EQ(described.axes()[0].high, 1000);
  EXPECT_EQ(split_outside_brackets("lda, svm(C=1, kernel=rbf(0.1)),x").size(), 3u);
}

TEST(SearchSpace, MistakesAreNamedBeforeAnyWork) {
  const auto message = [](const std::string& method, const std::vector<std::string>& grid) {
    return message_of([&] { SearchSpace(parse_method(method), grid); });
  };
  EXPECT_NE(message("ridge", {"lamda=1,2"}).find("ridge has no parameter 'lamda' (did you mean 'lambda'?)"),
            std::string::npos);
  EXPECT_NE(message("ridge", {"lambda=-1,2"}).find("must be at least 0"), std::string::npos);
  EXPECT_NE(message("ridge", {"lambda=0:2"}).find("must begin above 0"), std::string::npos);
  EXPECT_NE(message("ridge", {"lambda=1,2", "lambda=3"}).find("lambda is given twice"), std::string::npos);
  EXPECT_NE(message("ridge", {"lambda=3:1"}).find("it must rise"), std::string::npos);
  EXPECT_NE(message("ridge", {}).find("there is nothing to choose"), std::string::npos);
}

TEST(Tune, FitsAlongAPathBeginWhereTheLastOneEnded) {
  const Table pima = dataset("pima_train"), iris = dataset("iris");
  for (const auto& [method, f, table] :
       {std::tuple{"logistic", "type ~ .", &pima}, {"multinomial", "species ~ .", &iris}}) {
    const auto questions = [&, &method = method, &f = f, &table = table](const std::vector<std::string>& lambdas) {
      std::vector<double> scores;
      long long asked = 0;
      for (const auto& each : lambdas) {
        contract::Patience endless(contract::kEndless);
        TuneOptions options;
        options.metrics = {"log_loss"};
        options.cross.execution.threads = 1;
        options.cross.execution.progress = &endless;
        const TuneResult found = tuned(method, {"lambda=" + each}, f, *table, options);
        for (std::size_t i = 0; i < found.tries.size(); ++i) scores.push_back(found.score(i).mean);
        asked += endless.asked();
      }
      return std::pair{asked, scores};
    };
    const auto path = questions({"1,1.5,2,3,4"}), apart = questions({"1", "1.5", "2", "3", "4"});
    EXPECT_LT(path.first, apart.first) << method << ": fewer steps";
    for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(path.second[i], apart.second[i], 1e-5) << method;
  }
  const auto first = tuned("logistic", {"penalty=l2,l1", "lambda=1,2"}, "type ~ .", pima),
             again = tuned("logistic", {"penalty=l2,l1", "lambda=1,2"}, "type ~ .", pima);
  EXPECT_EQ(to_value(first), to_value(again));
}

TEST(Tune, EveryMeasureAskedForMustBeThere) {
  TuneOptions options;
  options.metrics = {"rmse", "log_loss"};
  EXPECT_NE(message_of([&] {
              tune(parse_method("ridge"), {"lambda=1,2"}, formula("medv ~ lstat"), MemoryTableStream(dataset("boston")),
                   {.folds = 3}, options);
            }).find("there is no measure 'log_loss' here"),
            std::string::npos);
}

TEST(Tune, AGridTakesTheBestByItsCrossValidatedScore) {
  const Table boston = dataset("boston");
  const auto found = tuned("ridge", {"lambda=0.1,10,1000,100000"}, "medv ~ .", boston);
  ASSERT_EQ(found.tries.size(), 4u);
  std::vector<double> by_hand;
  for (const double lambda : {0.1, 10.0, 1000.0, 100000.0})
    by_hand.push_back(
        cross(AnySpec(Ridge{.lambda = {lambda}}), formula("medv ~ ."), MemoryTableStream(boston), {.folds = 4})
            .find("rmse")
            ->mean);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(found.score(i).mean, by_hand[i]);
  EXPECT_EQ(found.taken, static_cast<std::size_t>(std::min_element(by_hand.begin(), by_hand.end()) - by_hand.begin()));
  EXPECT_FALSE(found.higher_is_better);
}

TEST(Tune, OneStandardErrorTakesTheFirstOfTheGridThatIsNearTheBest) {
  TuneOptions options;
  options.one_se = true;
  const auto found = tuned("ridge", {"lambda=100000,1000,100,10,1"}, "medv ~ .", dataset("boston"), options);
  const Score& best = found.score(found.best);
  const double allowed = best.mean + best.sd / std::sqrt(4.0);
  EXPECT_LE(found.taken, found.best);
  EXPECT_LE(found.score(found.taken).mean, allowed);
  for (std::size_t i = 0; i < found.taken; ++i) EXPECT_GT(found.score(i).mean, allowed);
  options.search = Search::random;
  EXPECT_NE(
      message_of([&] { tuned("ridge", {"lambda"}, "medv ~ .", dataset("boston"), options); }).find("needs a grid"),
      std::string::npos);
}

TEST(Tune, EverySearchFindsASmoothOptimum) {
  const Table boston = dataset("boston");
  TuneOptions options;
  double best = 1e300, worst = 0;
  for (const Search search : {Search::random, Search::halving, Search::gp}) {
    options.search = search;
    options.tries = 12;
    const auto found = tuned("ridge", {"lambda=0.001:1000000"}, "medv ~ .", boston, options);
    const double score = found.score(found.taken).mean;
    best = std::min(best, score);
    worst = std::max(worst, score);
    EXPECT_EQ(found.tries[found.taken].share, 1);
    if (search == Search::halving) {
      EXPECT_EQ(found.tries.size(), 12u + 4 + 1);
      EXPECT_NEAR(found.tries[0].share, 1.0 / 9, 1e-12);
    } else {
      EXPECT_EQ(found.tries.size(), 12u);
    }
  }
  EXPECT_LT(worst, 1.05 * best);
}

TEST(Tune, IsTheSameOnAnyNumberOfThreads) {
  TuneOptions one, three;
  one.search = three.search = Search::gp;
  one.tries = three.tries = 8;
  one.cross.execution.threads = 1;
  three.cross.execution.threads = 3;
  const Table pima = dataset("pima_train");
  EXPECT_EQ(to_json(to_value(tuned("scale | svm", {"C=0.01:100", "kernel=linear,rbf(0.1)"}, "type ~ .", pima, one))),
            to_json(to_value(tuned("scale | svm", {"C=0.01:100", "kernel=linear,rbf(0.1)"}, "type ~ .", pima, three))));
}

/// Labels that have nothing to do with the columns.
Table noise(Index rows, Index columns, std::uint64_t seed) {
  RandomStream stream(seed);
  std::vector<Column> out;
  for (Index j = 0; j < columns; ++j) {
    std::vector<double> x;
    for (Index i = 0; i < rows; ++i) x.push_back(stream.normal());
    out.push_back(numeric("x" + std::to_string(j + 1), x));
  }
  std::vector<std::string> labels;
  for (Index i = 0; i < rows; ++i) labels.push_back(i % 2 ? "b" : "a");
  stream.shuffle(std::span(labels));
  out.push_back(categorical("y", labels));
  return Table(std::move(out), "noise");
}

TEST(Tune, TheChosenScoreIsOptimisticAndTheNestedOneIsNot) {
  double chosen = 0, honest = 0;
  TuneOptions options;
  options.outer = Plan{.folds = 4};
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const auto found = tuned("kernel_neighbors", {"k=1,2,3,5,7,9,11,15,21"}, "y ~ .", noise(40, 3, seed), options);
    ASSERT_TRUE(found.honest);
    EXPECT_EQ(found.choices.size(), 4u);
    chosen += found.score(found.taken).mean / 6;
    honest += found.honest->find("accuracy")->mean / 6;
  }
  EXPECT_GT(chosen, honest + 0.03);
  EXPECT_NEAR(honest, 0.5, 0.1);
}

TEST(Tune, TheChoiceTellsEveryTryAndWhatItsScoreIsWorth) {
  TuneOptions options;
  options.outer = Plan{.kind = PlanKind::holdout, .test = 0.25};
  options.metrics = {"auc", "accuracy"};
  const auto found = tuned("logistic", {"lambda=0.1,1,10"}, "type ~ .", dataset("pima_train"), options);
  const Value choice = to_value(found);
  EXPECT_EQ(choice.at("tries").as_list().size(), 3u);
  EXPECT_TRUE(choice.at("tries").as_list()[0].at("scores").find("accuracy"));
  const std::string words = text_of_choice(from_json(to_json(choice)));
  EXPECT_NE(words.find("OPTIMISTIC"), std::string::npos) << words;
  EXPECT_NE(words.find("Honest, the search done anew"), std::string::npos) << words;
  options.metrics = {"auk"};
  EXPECT_NE(message_of([&] {
              tuned("logistic", {"lambda=0.1,1"}, "type ~ .", dataset("pima_train"), options);
            }).find("there is no measure 'auk' here (did you mean 'auc'?)"),
            std::string::npos);
}

TEST(Compare, DifferencesArePairedOverTheSameFolds) {
  const Table pima = dataset("pima_train");
  const auto found =
      compare_methods({parse_method("lda"), parse_method("logistic(lambda=1)"), parse_method("svm(C=100)")},
                      formula("type ~ ."), MemoryTableStream(pima), {.folds = 5, .repeats = 2}, "accuracy");
  ASSERT_EQ(found.methods.size(), 3u);
  ASSERT_EQ(found.pairs.size(), 3u);
  for (std::size_t i = 0; i < 10; ++i)
    for (const auto& each : found.methods) EXPECT_EQ(each.folds[i].rows, found.methods[0].folds[i].rows);
  const auto& pair = found.between(0, 1);
  double mean = 0, squares = 0;
  std::vector<double> d;
  for (std::size_t i = 0; i < 10; ++i) {
    d.push_back(find_measure(found.methods[0].folds[i].measures, "accuracy")->value -
                find_measure(found.methods[1].folds[i].measures, "accuracy")->value);
    mean += d.back() / 10;
  }
  for (const double each : d) squares += (each - mean) * (each - mean);
  EXPECT_NEAR(pair.mean, mean, 1e-12);
  const double error = std::sqrt((0.1 + 0.25) * squares / 9);
  EXPECT_NEAR(pair.bounds->upper - mean, 2.933324 * error, 1e-4 * error);  // t₉ at 1 − 0.05/3/2
  for (const auto& each : found.pairs) EXPECT_GE(each.adjusted, each.p);
  EXPECT_NE(text(found).find("for all 3 pairs at once"), std::string::npos);
}

TEST(Compare, AMethodIsNotBetterThanItself) {
  const auto found = compare_methods({parse_method("lda"), parse_method("lda")}, formula("species ~ ."),
                                     MemoryTableStream(dataset("iris")), {.folds = 5});
  EXPECT_EQ(found.pairs[0].mean, 0);
  EXPECT_EQ(found.pairs[0].p, 1);
  EXPECT_NE(text(found).find("do not tell"), std::string::npos);
  EXPECT_NE(message_of([] {
              compare_methods({parse_method("lda")}, formula("species ~ ."), MemoryTableStream(dataset("iris")), {});
            }).find("two methods or more"),
            std::string::npos);
}

TEST(Compare, ClusteringsAreToldHowAlikeTheyAre) {
  const Table iris = dataset("iris");
  const auto found =
      compare_methods({parse_method("kmeans(k=3)"), parse_method("kmeans(k=3)"), parse_method("kmeans(k=2)")},
                      formula("~ . - species"), MemoryTableStream(iris), {.folds = 5});
  ASSERT_TRUE(found.between(0, 1).agreement && found.between(0, 2).agreement);
  const ClusterAgreement same = *found.between(0, 1).agreement, other = *found.between(0, 2).agreement;
  EXPECT_NEAR(same.adjusted_rand, 1, 1e-12);
  EXPECT_NEAR(same.matched, 1, 1e-12);
  EXPECT_NEAR(same.fowlkes_mallows, 1, 1e-12);
  EXPECT_NEAR(same.variation_of_information, 0, 1e-12);
  EXPECT_LT(other.adjusted_rand, 0.9);
  EXPECT_LT(other.matched, 0.9);
  EXPECT_GT(other.variation_of_information, 0.1);
  EXPECT_NE(text(found).find("Clusters of all rows"), std::string::npos);
  const auto classes = compare_methods({parse_method("lda"), parse_method("lda")}, formula("species ~ ."),
                                       MemoryTableStream(iris), {.folds = 5});
  EXPECT_FALSE(classes.pairs[0].agreement);
  EXPECT_EQ(text(classes).find("Clusters of all rows"), std::string::npos);
}

TEST(Curve, MoreRowsHelpAndTheTrainingErrorRises) {
  const Table boston = dataset("boston");
  const auto curve =
      learning_curve(parse_method("ols"), formula("medv ~ ."), MemoryTableStream(boston), {.folds = 5}, {0.1, 1});
  ASSERT_EQ(curve.points.size(), 2u);
  EXPECT_LT(curve.points[0].training.mean, curve.points[1].training.mean);
  EXPECT_GT(curve.points[0].test.mean, curve.points[1].test.mean);
  EXPECT_NEAR(curve.points[0].value, 40.48, 0.5);
  EXPECT_EQ(
      curve.points[1].test.mean,
      cross(parse_method("ols"), formula("medv ~ ."), MemoryTableStream(boston), {.folds = 5}).find("rmse")->mean);
}

TEST(Curve, AlongAParameterTheTrainingErrorOnlyFalls) {
  const auto curve = validation_curve(parse_method("ridge"), "lambda=10000,100,1", formula("medv ~ ."),
                                      MemoryTableStream(dataset("boston")), {.folds = 5});
  ASSERT_EQ(curve.points.size(), 3u);
  EXPECT_EQ(curve.points[1].value, 100);
  EXPECT_GT(curve.points[0].training.mean, curve.points[1].training.mean);
  EXPECT_GT(curve.points[1].training.mean, curve.points[2].training.mean);
  EXPECT_EQ(table_of(curve).names()[0], "lambda");
}

TEST(Permutation, ASignalIsFoundAndNoiseIsNot) {
  const auto real = permutation_test(parse_method("lda"), formula("species ~ ."), MemoryTableStream(dataset("iris")),
                                     {.folds = 3}, 19);
  EXPECT_DOUBLE_EQ(real.p, 0.05);
  const auto none =
      permutation_test(parse_method("lda"), formula("y ~ ."), MemoryTableStream(noise(60, 3, 4)), {.folds = 3}, 19);
  EXPECT_GT(none.p, 0.05);
  EXPECT_EQ(none.shuffled.size(), 19u);
}

}  // namespace
}  // namespace lemma
