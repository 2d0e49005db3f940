// lemma/validate/cross_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/catalog.hpp>
#include <lemma/core/random.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/discriminant/lda.hpp>
#include <lemma/kernel/kernel_neighbors.hpp>
#include <lemma/kernel/kernel_ridge.hpp>
#include <lemma/linear/ols.hpp>
#include <lemma/linear/ridge.hpp>
#include <lemma/model/fit.hpp>
#include <lemma/reduce/scale.hpp>
#include <lemma/validate/cross.hpp>
#include <lemma/validate/judge.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

CrossResult crossed(const AnySpec& spec, const std::string& f, const Table& table, const Plan& plan,
                    const CrossOptions& options = {}) {
  return cross(spec, formula(f), MemoryTableStream(table), plan, options);
}
CrossResult crossed(const std::string& method, const std::string& f, const Table& table, const Plan& plan,
                    const CrossOptions& options = {}) {
  return crossed(parse_method(method), f, table, plan, options);
}

double score(const CrossResult& result, const char* name) {
  const Score* found = result.find(name);
  return found ? found->mean : std::nan("");
}

TEST(Cross, AFoldIsAFitOnItsTrainingRowsJudgedOnTheOthers) {
  const Table iris = dataset("iris");
  const auto result = crossed(Lda{}, "species ~ .", iris, {.folds = 5});
  ASSERT_EQ(result.folds.size(), 5u);
  double sum = 0;
  for (const auto& fold : result.folds) {
    std::vector<Index> train;
    for (Index i = 0; i < 150; ++i)
      if (std::find(fold.rows.begin(), fold.rows.end(), i) == fold.rows.end()) train.push_back(i);
    EXPECT_EQ(fold.rows.size(), 30u);
    const auto model = fit(Lda{}, formula("species ~ ."), iris.select(train));
    const Judgement by_hand = judge(model, iris.select(fold.rows));
    for (const auto& measure : by_hand.measures)
      EXPECT_EQ(find_measure(fold.measures, measure.name)->value, measure.value) << measure.name;
    sum += find_measure(by_hand.measures, "accuracy")->value;
  }
  EXPECT_DOUBLE_EQ(score(result, "accuracy"), sum / 5);
}

TEST(Cross, EverythingThatLooksAtRowsLearnsFromTheTrainingRowsAlone) {
  // Levels, fill-ins and constants of the formula: the same as fitting to the part by hand.
  Table table = dataset("crabs");
  std::vector<double> carapace = table.column("FL").numbers().values;
  for (std::size_t i = 0; i < carapace.size(); i += 7) carapace[i] = std::nan("");
  std::vector<Column> columns;
  for (const auto& column : table.all()) columns.push_back(column.name == "FL" ? numeric("FL", carapace) : column);
  const Table gaps(columns, "gaps");
  CrossOptions options;
  options.experiment.design.missing = Missing::median;
  const std::string f = "CW ~ scale(FL) + sp + poly(RW, 2)";
  const auto result = crossed(Ols{}, f, gaps, {.folds = 4}, options);
  for (const auto& fold : result.folds) {
    std::vector<Index> train;
    for (Index i = 0; i < gaps.rows(); ++i)
      if (std::find(fold.rows.begin(), fold.rows.end(), i) == fold.rows.end()) train.push_back(i);
    TrainOptions how;
    how.design.missing = Missing::median;
    const Table part = gaps.select(train);
    const TrainedModel model = lemma::train({std::shared_ptr<const Method>(), &method_of<Ols>()}, Value::object(),
                                            formula(f), MemoryTableStream(part), how);
    EXPECT_EQ(model.predict(gaps.select(fold.rows)).value(), fold.answers.value);
  }
}

TEST(Cross, ThePriceOfScalingBeforeIsNotPaidInside) {
  const Table iris = dataset("iris");
  const auto inside = crossed("scale | lda", "species ~ .", iris, {.folds = 5});
  EXPECT_EQ(inside.method, "scale | lda");
  EXPECT_GT(score(inside, "accuracy"), 0.9);
  EXPECT_EQ(score(inside, "accuracy"), score(crossed("lda", "species ~ .", iris, {.folds = 5}), "accuracy"))
      << "lda does not mind scales";
}

TEST(Cross, IsTheSameOnAnyNumberOfThreads) {
  const Table pima = dataset("pima_train");
  CrossOptions one, three;
  one.execution.threads = 1;
  three.execution.threads = 3;
  for (const char* method : {"svm(C=2)", "scale | logistic(lambda=1)", "kmeans(k=3)"}) {
    const std::string f = method[0] == 'k' ? "~ glu + bmi + age" : "type ~ .";
    const Plan plan{.folds = 4, .repeats = 2};
    EXPECT_EQ(to_json(to_value(crossed(method, f, pima, plan, one))),
              to_json(to_value(crossed(method, f, pima, plan, three))))
        << method;
  }
}

TEST(Cross, TheIntervalIsNadeauAndBengios) {
  const auto result = crossed(Ols{}, "medv ~ .", dataset("boston"), {.folds = 5, .repeats = 2});
  std::vector<double> values;
  double ratio = 0;
  for (const auto& fold : result.folds) {
    values.push_back(find_measure(fold.measures, "rmse")->value);
    ratio += static_cast<double>(fold.rows.size()) / static_cast<double>(fold.train) / 10;
  }
  double mean = 0, variance = 0;
  for (const double v : values) mean += v / 10;
  for (const double v : values) variance += (v - mean) * (v - mean) / 9;
  const Score* found = result.find("rmse");
  ASSERT_TRUE(found && found->bounds);
  EXPECT_DOUBLE_EQ(found->mean, mean);
  EXPECT_NEAR(found->bounds->upper - mean, 2.262157 * std::sqrt((0.1 + ratio) * variance), 1e-5);  // t₉
  EXPECT_FALSE(corrected_bounds({1.0}, 0.1));
}

/// Leaving out one row at a time by refitting.
CrossOptions by_force() {
  CrossOptions out;
  out.closed_form = false;
  return out;
}

TEST(Cross, LeaveOneOutInClosedFormIsLeaveOneOut) {
  const Table boston = dataset("boston").slice(0, 120), iris = dataset("iris");
  const Plan loo{.kind = PlanKind::loo};
  const std::vector<std::pair<AnySpec, std::string>> numbers{
      {Ols{}, "medv ~ ."},
      {Ols{}, "medv ~ lstat + rm - 1"},
      {Ridge{.lambda = {3}, .standardize = false}, "medv ~ ."},
      {Ridge{.lambda = {0.5}, .standardize = false}, "medv ~ lstat + rm - 1"},
      {Ridge{.lambda = {3}}, "medv ~ ."},
      {Ridge{.lambda = {1e-3}}, "medv ~ lstat + rm"},
      {parse_method("kernel_ridge(kernel=rbf(0.001), lambda=0.7)"), "medv ~ lstat + rm + age"},
      {parse_method("kernel_ridge(kernel=rbf(0.001), lambda=0.7, intercept=false)"), "medv ~ lstat + rm + age"}};
  for (const auto& [spec, f] : numbers) {
    const auto closed = crossed(spec, f, boston, loo), forced = crossed(spec, f, boston, loo, by_force());
    EXPECT_TRUE(closed.closed_form) << spec.text();
    EXPECT_FALSE(forced.closed_form);
    ASSERT_EQ(forced.folds.size(), 120u);
    for (Index i = 0; i < 120; ++i)
      EXPECT_NEAR(closed.folds[0].answers.value(i), forced.folds[static_cast<std::size_t>(i)].answers.value(0),
                  1e-10 * 50)
          << spec.text() << " row " << i;
  }
  for (const auto& spec : {Lda{}, Lda{.prior = Prior::uniform}, Lda{.covariance = PooledDivisor::ml},
                           Lda{.prior = std::vector<double>{0.2, 0.5, 0.3}}}) {
    const auto closed = crossed(spec, "species ~ .", iris, loo),
               forced = crossed(spec, "species ~ .", iris, loo, by_force());
    EXPECT_TRUE(closed.closed_form);
    for (std::size_t i = 0; i < 150; ++i) {
      const Vector difference = closed.folds[0].answers.probabilities.row(static_cast<Index>(i)) -
                                forced.folds[i].answers.probabilities.row(0);
      EXPECT_LT(difference.cwiseAbs().maxCoeff(), 1e-10) << i;
      EXPECT_EQ(closed.folds[0].answers.predicted[i], forced.folds[i].answers.predicted[0]);
    }
  }
}

TEST(Cross, WhereAllRowsAreJudgedTogetherEveryFigureHasItsInterval) {
  const Table boston = dataset("boston").slice(0, 120);
  for (const Plan& plan : {Plan{.kind = PlanKind::loo}, Plan{.kind = PlanKind::holdout}})
    for (const Score& each : crossed(Ols{}, "medv ~ lstat + rm", boston, plan).scores)
      EXPECT_EQ(each.bounds.has_value(), each.name != "max_error") << each.name;
}

TEST(Cross, LeaveOneOutOfNeighboursIsOneSearch) {
  const Table iris = dataset("iris"), boston = dataset("boston").slice(0, 100);
  const Plan loo{.kind = PlanKind::loo};
  for (const char* method : {"knn(k=1)", "knn(k=4)", "knn(k=7, vote=distance)", "knn(k=3, metric=manhattan)"}) {
    const auto closed = crossed(method, "species ~ .", iris, loo),
               forced = crossed(method, "species ~ .", iris, loo, by_force());
    EXPECT_TRUE(closed.closed_form) << method;
    for (std::size_t i = 0; i < 150; ++i) {
      const Vector difference = closed.folds[0].answers.probabilities.row(static_cast<Index>(i)) -
                                forced.folds[i].answers.probabilities.row(0);
      EXPECT_LT(difference.cwiseAbs().maxCoeff(), 1e-10) << method << " row " << i;
    }
  }
  const auto closed = crossed("knn(k=5)", "medv ~ lstat + rm", boston, loo),
             forced = crossed("knn(k=5)", "medv ~ lstat + rm", boston, loo, by_force());
  EXPECT_TRUE(closed.closed_form);
  for (std::size_t i = 0; i < 100; ++i)
    EXPECT_NEAR(closed.folds[0].answers.value(static_cast<Index>(i)), forced.folds[i].answers.value(0), 1e-10);
  for (const char* chooses : {"knn(k=1:9)", "knn(metric=mahalanobis)", "knn(prior=uniform)"})
    EXPECT_FALSE(crossed(chooses, "species ~ .", iris, loo).closed_form) << chooses << " looks at the rows";
}

TEST(Cross, WhereMoreThanTheMethodLearnsThereIsNoClosedForm) {
  const Table boston = dataset("boston").slice(0, 40);
  const Plan loo{.kind = PlanKind::loo};
  Table marked = boston;
  std::vector<double> one(40, 0.0);
  one[7] = 1;
  marked.add(numeric("one", one));
  EXPECT_FALSE(crossed(Ridge{}, "medv ~ lstat + one", marked, loo).closed_form) << "constant without one row";
  EXPECT_FALSE(crossed(Ridge{}, "medv ~ lstat + rm - 1", boston, loo).closed_form)
      << "lengths about 0 change otherwise";
  EXPECT_FALSE(crossed(Ridge{.lambda = {1, 2}, .standardize = false}, "medv ~ lstat + rm", boston, loo).closed_form);
  EXPECT_FALSE(crossed("kernel_ridge", "medv ~ lstat + rm", boston, loo).closed_form)
      << "the kernel's width follows the rows";
  EXPECT_FALSE(crossed(Ols{}, "medv ~ scale(lstat)", boston, loo).closed_form);
  EXPECT_FALSE(crossed("scale | ols", "medv ~ lstat", boston, loo).closed_form);
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

TEST(Cross, Point632PlusKnowsThatThereIsNoSignalWherePoint632IsFooled) {
  double plus = 0, plain = 0, apparent = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const auto result =
        crossed("kernel_neighbors(k=1)", "y ~ .", noise(60, 5, seed), {.kind = PlanKind::e632_plus, .samples = 60});
    ASSERT_FALSE(result.errors.empty());
    EXPECT_EQ(result.errors[0].name, "error");
    plus += result.errors[0].e632_plus / 5;
    plain += result.errors[0].e632 / 5;
    apparent += result.errors[0].apparent / 5;
  }
  EXPECT_EQ(apparent, 0);
  EXPECT_NEAR(plus, 0.5, 0.07);
  EXPECT_LT(plain, 0.38);
}

TEST(Cross, Point632MixesApparentAndOutOfBagErrors) {
  const auto result = crossed(Ols{}, "medv ~ lstat", dataset("boston"), {.kind = PlanKind::e632, .samples = 25});
  const double apparent = fit(Ols{}, formula("medv ~ lstat"), dataset("boston")).rss / 506;
  ASSERT_EQ(result.errors.size(), 2u);
  EXPECT_NEAR(result.errors[0].apparent, apparent, 1e-9);
  EXPECT_NEAR(result.errors[0].e632, 0.368 * apparent + 0.632 * result.errors[0].out_of_bag, 1e-9);
  // E (y − ŷ')² over independent pairs, by hand
  const Vector y = Eigen::Map<const Vector>(dataset("boston").column("medv").numbers().values.data(), 506);
  const Vector v = fit(Ols{}, formula("medv ~ lstat"), dataset("boston")).predict(dataset("boston"));
  double squares = 0, absolute = 0;
  for (Index i = 0; i < 506; ++i)
    for (Index j = 0; j < 506; ++j) {
      squares += (y(i) - v(j)) * (y(i) - v(j)) / (506.0 * 506);
      absolute += std::abs(y(i) - v(j)) / (506.0 * 506);
    }
  EXPECT_NEAR(result.errors[0].no_information, squares, 1e-9 * squares);
  EXPECT_NEAR(result.errors[1].no_information, absolute, 1e-9 * absolute);
}

TEST(Cross, AClassThatNoTrainingRowHasIsAlwaysMissed) {
  const Table iris = dataset("iris");
  std::vector<Index> few;
  for (Index i = 0; i < 101; ++i) few.push_back(i);  // one virginica
  const auto result = crossed(Lda{}, "species ~ .", iris.select(few), {.kind = PlanKind::loo});
  const auto& alone = result.folds[100].answers;
  EXPECT_EQ(alone.label[0], 2);
  EXPECT_NE(alone.predicted[0], 2);
  EXPECT_EQ(alone.probabilities(0, 2), 0);
  EXPECT_LT(score(result, "accuracy"), 1);
}

TEST(Cross, EqualRowsInDifferentFoldsAreTold) {
  const Table boston = dataset("boston").slice(0, 50);
  std::vector<Index> twice;
  for (Index i = 0; i < 50; ++i) twice.insert(twice.end(), {i, i});
  const auto result = crossed("kernel_neighbors(k=1)", "medv ~ lstat + rm", boston.select(twice), {.folds = 5});
  ASSERT_EQ(result.leaks.size(), 1u);
  EXPECT_EQ(result.leaks[0].kind, Leak::Kind::equal_rows);
  EXPECT_NE(result.leaks[0].sentence.find("--group COLUMN keeps copies together"), std::string::npos);
  EXPECT_TRUE(crossed(Ols{}, "medv ~ lstat + rm", boston, {.folds = 5}).leaks.empty());
}

TEST(Cross, OutOfFoldPredictionsNameRowRepeatAndFold) {
  const auto result = crossed(Lda{}, "species ~ .", dataset("iris"), {.folds = 3, .repeats = 2});
  const Table said = out_of_fold(result);
  EXPECT_EQ(said.rows(), 300);
  EXPECT_EQ(said.names(), (std::vector<std::string>{"row", "repeat", "fold", "truth", "class", "p_setosa",
                                                    "p_versicolor", "p_virginica"}));
}

TEST(Cross, RowsThatAreDroppedTakeNoPart) {
  const Table boston = dataset("boston").slice(0, 60);
  auto x = boston.column("lstat").numbers().values;
  x[3] = x[40] = std::nan("");
  const Table gaps({numeric("lstat", x), boston.column("medv")}, "gaps");
  CrossOptions options;
  options.experiment.design.missing = Missing::drop;
  const auto result = crossed(Ols{}, "medv ~ lstat", gaps, {.folds = 3}, options);
  EXPECT_EQ(result.rows, 58);
  const Table said = out_of_fold(result);
  for (const double row : said.column("row").numbers().values) EXPECT_TRUE(row != 4 && row != 41);
}

class StopAfter final : public Progress {
 public:
  explicit StopAfter(double fraction) : limit_(fraction) {}
  void report(double fraction, std::string_view) override { last_ = std::max(last_, fraction); }
  bool cancelled() const override { return last_ >= limit_; }

 private:
  double limit_, last_ = 0;
};

TEST(Cross, ACancelKeepsTheFoldsThatAreDone) {
  StopAfter some(0.35), all(0);
  CrossOptions options;
  options.execution.threads = 1;
  options.execution.progress = &some;
  const auto result = crossed(Ols{}, "medv ~ .", dataset("boston"), {.folds = 10}, options);
  EXPECT_TRUE(result.cancelled);
  EXPECT_GE(result.folds.size(), 3u);
  EXPECT_LT(result.folds.size(), 10u);
  EXPECT_EQ(score(result, "rmse") > 0, true);
  EXPECT_NE(text(result).find("of 10 fits are done"), std::string::npos);
  options.execution.progress = &all;
  EXPECT_THROW(crossed(Ols{}, "medv ~ .", dataset("boston"), {.folds = 10}, options), Cancelled);
}

TEST(Cross, AnErrorNamesItsFold) {
  const Table iris = dataset("iris");
  const std::string message = message_of([&] {
    crossed("centroid", "species ~ .", iris.select(std::vector<Index>{0, 1, 2, 3, 50}), {.kind = PlanKind::loo});
  });
  EXPECT_TRUE(message.starts_with("without row 5: ")) << message;
  EXPECT_NE(message_of([&] { crossed("pca", "~ . - species", iris, {}); }).find("nor clusters that could be judged"),
            std::string::npos);
}

TEST(Cross, TheCorrectedIntervalCoversWhereThePlainOneDoesNot) {
  // The mean score of fits to 9/10 of n rows, known from a large sample; 200 samples of 60 rows.
  const Plan plan{.folds = 10};
  const auto sample = [](Index n, std::uint64_t seed) {
    RandomStream stream(seed);
    std::vector<double> x, y;
    for (Index i = 0; i < n; ++i) {
      x.push_back(stream.normal());
      y.push_back(x.back() + stream.normal());
    }
    return Table({numeric("x", x), numeric("y", y)}, "line");
  };
  std::vector<std::vector<double>> scores;
  double truth = 0;
  for (std::uint64_t s = 1; s <= 200; ++s) {
    const auto result = crossed(Ols{}, "y ~ x", sample(60, s), plan);
    std::vector<double> values;
    for (const auto& fold : result.folds) values.push_back(find_measure(fold.measures, "mae")->value);
    for (const double v : values) truth += v / 2000;
    scores.push_back(values);
  }
  int covered = 0;
  for (const auto& values : scores) {
    const auto bounds = corrected_bounds(values, 1.0 / 9);
    covered += bounds->lower <= truth && truth <= bounds->upper ? 1 : 0;
  }
  EXPECT_GE(covered, 186);  // 95 % of 200 is 190; it is known to be a little wide
}

}  // namespace
}  // namespace lemma
