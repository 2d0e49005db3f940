// lemma/validate/judge_test.cpp: one judgement of every kind of model, from memory, from disk and without zeros.
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/cluster/agglomerative.hpp>
#include <lemma/cluster/dbscan.hpp>
#include <lemma/cluster/divisive.hpp>
#include <lemma/cluster/hdbscan.hpp>
#include <lemma/cluster/kmeans.hpp>
#include <lemma/cluster/spectral.hpp>
#include <lemma/core/error.hpp>
#include <lemma/core/row_views.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/data/rows_for.hpp>
#include <lemma/data/sparse_rows.hpp>
#include <lemma/discriminant/lda.hpp>
#include <lemma/kernel/svm.hpp>
#include <lemma/linear/logistic.hpp>
#include <lemma/linear/ols.hpp>
#include <lemma/linear/perceptron.hpp>
#include <lemma/metric/clustering.hpp>
#include <lemma/metric/regression.hpp>
#include <lemma/model/fit.hpp>
#include <lemma/reduce/pca.hpp>
#include <lemma/reduce/scale.hpp>
#include <lemma/validate/judge.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

const double kNaN = std::nan("");
using Kind = Honesty::Kind;

template <class Spec>
TrainedModel trained(const std::string& text, const Table& table, const Value& params = Value::object(),
                     const TrainOptions& options = {}) {
  const std::shared_ptr<const Method> method(std::shared_ptr<const Method>(), &method_of<Spec>());
  return train(method, params, formula(text), MemoryTableStream(table), options);
}

/// A table that admits to no place in memory.
class OnDisk final : public TableStream {
 public:
  explicit OnDisk(const Table& table) : inner_(table) {}
  Index rows() const override { return inner_.rows(); }
  const Table& schema() const override { return inner_.schema(); }
  Table read(Index first, Index count) const override { return inner_.read(first, count); }

 private:
  MemoryTableStream inner_;
};

std::vector<Index> every(Index rows, Index step, Index first) {
  std::vector<Index> out;
  for (Index i = first; i < rows; i += step) out.push_back(i);
  return out;
}

double value_of(const Judgement& judgement, std::string_view name) {
  const Measure* found = find_measure(judgement.measures, name);
  return found ? found->value : kNaN;
}

Table with(Table table, const std::string& name, const std::vector<double>& values) {
  table.add(numeric(name, values));
  return table;
}

TEST(Judge, NumbersAreMeasuredAsByHand) {
  const Table cars = dataset("boston");
  const TrainedModel model = trained<Ols>("medv ~ lstat + rm", cars.select(every(506, 2, 0)));
  const Table test = cars.select(every(506, 2, 1));
  const Judgement found = judge(model, test);
  EXPECT_EQ(found.task, Task::regression);
  EXPECT_EQ(found.rows, 253);
  EXPECT_EQ(found.method, "ols");
  const auto& y = test.column("medv").numbers().values;
  const auto expected =
      measures(score_regression(Eigen::Map<const Vector>(y.data(), 253), model.predict(test).value()));
  ASSERT_EQ(found.measures.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(found.measures[i].name, expected[i].name);
    EXPECT_EQ(found.measures[i].value, expected[i].value) << expected[i].name;
    if (expected[i].bounds) { EXPECT_EQ(found.measures[i].bounds->lower, expected[i].bounds->lower); }
  }
  ASSERT_TRUE(found.honesty);
  EXPECT_EQ(found.honesty->kind, Kind::test);
  EXPECT_EQ(found.honesty->training_rows, 253);
  EXPECT_TRUE(found.leave_one_out.empty()) << "these rows did not train the model";
}

TEST(Judge, TrainingRowsAreNamedAndLeftOutOneByOne) {
  const Table boston = dataset("boston");
  const TrainedModel model = trained<Ols>("medv ~ lstat + rm", boston);
  const Judgement found = judge(model, boston);
  EXPECT_EQ(found.honesty->kind, Kind::training);
  EXPECT_TRUE(found.honesty->same_rows);
  ASSERT_EQ(found.leave_one_out.size(), 1u);
  const auto* ols = model_cast<OlsModel>(model.model);
  ASSERT_TRUE(ols);
  for (Index left = 0; left < 506; left += 101) {  // the hard way
    std::vector<Index> others;
    for (Index i = 0; i < 506; ++i)
      if (i != left) others.push_back(i);
    const TrainedModel without = trained<Ols>("medv ~ lstat + rm", boston.select(others));
    const Table row = boston.slice(left, 1);
    const double e = without.predict(row).value()(0) - row.column("medv").numbers().values[0];
    const Judgement one = judge(model, row);
    EXPECT_NEAR(one.leave_one_out.at(0).value, std::abs(e), 1e-9 * std::abs(e));
  }
  const auto rows = rows_for(model.design, MemoryTableStream(boston), {}).rows;
  EXPECT_NEAR(found.leave_one_out[0].value, std::sqrt(leave_one_out_mse(*ols, *rows)), 1e-12);
  ASSERT_TRUE(found.leave_one_out[0].bounds);
  EXPECT_LT(found.leave_one_out[0].bounds->lower, found.leave_one_out[0].value);
}

TEST(Judge, AModelWhoseStepsSawAllRowsHasNoClosedFormWithoutOne) {
  const Table boston = dataset("boston");
  const TrainedModel model = fit(Pca{.components = 3} | Ols{}, formula("medv ~ ."), boston);
  const Judgement found = judge(model, boston);
  EXPECT_EQ(found.honesty->kind, Kind::training);
  EXPECT_TRUE(found.leave_one_out.empty());
}

TEST(Judge, WeightsCountAsCopiesInEveryMeasure) {
  const Table boston = dataset("boston");
  std::vector<double> w;
  std::vector<Index> copies;
  for (Index i = 0; i < 506; ++i) {
    w.push_back(static_cast<double>(i % 3));
    for (Index k = 0; k < i % 3; ++k) copies.push_back(i);
  }
  const Table weighted = with(boston, "w", w), copied = with(boston, "w", w).select(copies);
  TrainOptions options;
  options.design.weights = "w";
  const TrainedModel by_weight = trained<Ols>("medv ~ lstat + rm", weighted, Value::object(), options),
                     by_copies = trained<Ols>("medv ~ lstat + rm", copied);
  const Judgement a = judge(by_weight, weighted), b = judge(by_copies, copied);
  EXPECT_EQ(a.weight, static_cast<double>(copies.size()));
  ASSERT_EQ(a.measures.size(), b.measures.size());
  for (std::size_t i = 0; i < a.measures.size(); ++i)
    EXPECT_NEAR(a.measures[i].value, b.measures[i].value, 1e-9 * std::abs(b.measures[i].value) + 1e-12)
        << a.measures[i].name;
  ASSERT_EQ(a.leave_one_out.size(), 1u);
  ASSERT_EQ(b.leave_one_out.size(), 1u);
  EXPECT_NEAR(a.leave_one_out[0].value, b.leave_one_out[0].value, 1e-9);
  EXPECT_NEAR(a.leave_one_out[0].bounds->upper, b.leave_one_out[0].bounds->upper, 1e-9);
  // A column that is named weighs rows of a model that was fitted without.
  const TrainedModel plain = trained<Ols>("medv ~ lstat + rm", boston);
  const Judgement named = judge(plain, weighted, {.weights = "w"}), as_copies = judge(plain, copied);
  EXPECT_NEAR(value_of(named, "rmse"), value_of(as_copies, "rmse"), 1e-12);
  EXPECT_NEAR(value_of(named, "kendall"), value_of(as_copies, "kendall"), 1e-12);
}

TEST(Judge, BadWeightsAreNamed) {
  const Table boston = dataset("boston");
  const TrainedModel model = trained<Ols>("medv ~ lstat", boston);
  std::vector<double> w(506, 1.0);
  w[4] = -1;
  EXPECT_EQ(message_of([&] { judge(model, with(boston, "w", w), {.weights = "w"}); }),
            "a weight must be a finite number of at least 0, but 'w' is -1 in row 5");
  w[4] = kNaN;
  EXPECT_EQ(message_of([&] { judge(model, with(boston, "w", w), {.weights = "w"}); }),
            "a weight must be a finite number of at least 0, but 'w' is missing in row 5");
  const Table iris = dataset("iris");
  const TrainedModel lda = trained<Lda>("species ~ sepal_length + petal_width", iris);
  EXPECT_EQ(message_of([&] { judge(lda, iris, {.weights = "species"}); }),
            "column 'species' cannot weigh the rows: it is categorical, not numeric");
}

TEST(Judge, ClassesHaveATableOfErrorsAndScoresEach) {
  const Table iris = dataset("iris");
  const TrainedModel model = trained<Lda>("species ~ .", iris.select(every(150, 2, 0)));
  const Judgement found = judge(model, iris.select(every(150, 2, 1)));
  EXPECT_EQ(found.classes, (std::vector<std::string>{"setosa", "versicolor", "virginica"}));
  ASSERT_TRUE(found.confusion);
  EXPECT_EQ(found.confusion->total(), 75);
  EXPECT_EQ(found.confusion->of_class(1), 25);
  ASSERT_EQ(found.per_class.size(), 3u);
  EXPECT_EQ(found.per_class[0].recall, 1);
  EXPECT_DOUBLE_EQ(value_of(found, "accuracy"), found.confusion->accuracy());
  ASSERT_TRUE(find_measure(found.measures, "accuracy")->bounds);
  const Value document = to_value(found);
  EXPECT_EQ(document.at("per_class").at("recall").as_vector()(0), 1);
  EXPECT_EQ(document.at("confusion").as_matrix().sum(), 75);
  EXPECT_EQ(document.at("equal_to_training_rows").at("kind").as_string(), "mixed");  // rows 102 and 143 are equal
  EXPECT_EQ(document.at("equal_to_training_rows").at("equal_rows").as_double(), 1);
  EXPECT_NE(text(found).find("lda judged on iris: 75 rows\nMIXED rows: 1 of 75 rows (1.3 %)"), std::string::npos)
      << text(found);
  EXPECT_NE(text(found).find("true \\ predicted"), std::string::npos);
}

TEST(Judge, IsTheSameFromDiskAndForAnyNumberOfThreads) {
  const Table letters = dataset("letters").slice(0, 10000), boston = dataset("boston"),
              few = letters.select(every(10000, 7, 0));
  const std::vector<std::pair<TrainedModel, Table>> cases{
      {trained<Lda>("lettr ~ .", letters.select(every(10000, 2, 0))), letters},
      {trained<Ols>("medv ~ lstat + rm", boston), boston},
      {fit(Scale{} | KMeans{.k = 3, .restarts = 2}, formula("~ . - lettr"), few), few}};
  for (const auto& [model, table] : cases) {
    JudgeOptions one, two;
    one.execution.threads = 1;
    two.execution.threads = 2;
    two.memory = 1000;
    const Judgement whole = judge(model, table, one), blocks = judge(model, OnDisk(table), two);
    EXPECT_EQ(to_json(to_value(whole)), to_json(to_value(blocks)));
  }
}

TEST(Judge, SparseRowsAreJudgedWithoutTheirZeros) {
  std::string lines;
  for (int i = 0; i < 60; ++i)
    lines += std::to_string(i % 2) + " " + std::to_string(1 + i % 5) + ":" + std::to_string(1 + i % 7) +
             (i % 3 ? " 7:" + std::to_string(i % 2 + 0.25 * (i % 4)) : "") + "\n";
  const auto data = std::make_shared<SparseData>(parse_svmlight(lines, "few.svm"));
  const SparseStream sparse(data);
  const Table dense = to_table(*data);
  Value params = Value::object();
  params.set("lambda", 1.0);
  const TrainedModel model = trained<Logistic>("y ~ .", dense, params);
  const Judgement a = judge(model, sparse), b = judge(model, dense);
  EXPECT_EQ(to_json(to_value(a)), to_json(to_value(b)));
  EXPECT_EQ(a.honesty->kind, Kind::training);
}

TEST(Judge, RowsWithoutAResponseAreLeftOutOrRefused) {
  const Table boston = dataset("boston");
  const TrainedModel model = trained<Ols>("medv ~ lstat", boston);
  auto y = boston.column("medv").numbers().values, x = boston.column("lstat").numbers().values;
  y[3] = y[9] = x[5] = kNaN;
  const Table gaps({numeric("medv", y), numeric("lstat", x)}, "gaps.csv");
  EXPECT_EQ(message_of([&] { judge(model, gaps); }),
            "3 missing values in 3 of 506 rows: lstat (1), medv (2); use --missing drop");
  const Judgement dropped = judge(model, gaps, {.missing = Missing::drop});
  EXPECT_EQ(dropped.rows, 503);
  EXPECT_EQ(dropped.notes,
            std::vector<std::string>{"3 missing values in 3 of 506 rows: lstat (1), medv (2); 3 rows left out"});
  EXPECT_EQ(dropped.honesty->kind, Kind::training);
  const Table nothing({numeric("medv", std::vector<double>(506, kNaN)), numeric("lstat", x)}, "gaps.csv");
  EXPECT_EQ(message_of([&] { judge(model, nothing, {.missing = Missing::drop}); }),
            "no row is complete: there is nothing to judge");
  EXPECT_EQ(message_of([&] { judge(model, boston.slice(0, 0)); }), "there are no rows: there is nothing to judge");
  const Table bare({numeric("lstat", x)}, "bare.csv");
  EXPECT_EQ(message_of([&] { judge(model, bare, {.missing = Missing::drop}); }),
            "the response 'medv' is not in bare.csv; to judge a model its true values are needed");
}

TEST(Judge, AClassThatWasNeverSeenIsNamedWithItsRow) {
  const Table iris = dataset("iris");
  const TrainedModel model = trained<Lda>("species ~ .", iris.select(every(100, 1, 0)));
  for (const bool disk : {false, true}) {
    const auto judged = [&] {
      if (disk) judge(model, OnDisk(iris), {.missing = Missing::drop, .memory = 10});
      else judge(model, iris, {.missing = Missing::drop});
    };
    EXPECT_EQ(
        message_of(judged),
        "class 'virginica' of 'species' in row 101 was not seen in training, so the model cannot be judged on it; "
        "leave such rows out with --where");
  }
}

TEST(Judge, ClustersOfAPipelineAreMeasuredWhereTheyWereFound) {
  const Table crabs = dataset("crabs");
  const Formula columns = formula("~ FL + RW + CL + CW + BD");
  const TrainedModel plain = fit(Pipeline({AnySpec(KMeans{.k = 4})}), columns, crabs),
                     scaled = fit(Scale{} | Pca{.components = 2} | KMeans{.k = 4}, columns, crabs);
  EXPECT_EQ(judge(plain, crabs).space, "");
  const Judgement found = judge(scaled, crabs, {.truth = "sp:sex"});
  EXPECT_EQ(found.space, "scale | pca");
  const TrainedModel before = fit(Scale{} | Pca{.components = 2}, columns, crabs);
  const Matrix z = before.predict(crabs).coordinates();
  const auto expected = validity_measures(z, scaled.predict(crabs).label());
  for (const auto& each : expected)
    EXPECT_NEAR(value_of(found, each.name), each.value, 1e-9 * std::abs(each.value)) << each.name;
  EXPECT_NE(text(found).find("Distances are measured after scale | pca, where the clusters were found."),
            std::string::npos);
  ASSERT_TRUE(found.clusters);
  EXPECT_EQ(found.clusters->classes, (std::vector<std::string>{"B:F", "B:M", "O:F", "O:M"}));
  EXPECT_EQ(found.clusters->counts.rowwise().sum(), Vector::Constant(4, 50));
  EXPECT_FALSE(std::isnan(value_of(found, "adjusted_rand")));
}

TEST(Judge, TheTruthOfClustersMayBeNumbersAndMustBeThere) {
  const Table iris = dataset("iris");
  const TrainedModel model = trained<KMeans>("~ . - species", iris);
  std::vector<double> code;
  for (const auto each : iris.column("species").categories().codes) code.push_back(each + 1);
  const Judgement by_name = judge(model, iris, {.truth = "species"}),
                  by_number = judge(model, with(iris, "code", code), {.truth = "code"}),
                  from_disk = judge(model, OnDisk(with(iris, "code", code)), {.truth = "code", .memory = 10});
  EXPECT_EQ(value_of(by_name, "adjusted_rand"), value_of(by_number, "adjusted_rand"));
  EXPECT_EQ(by_number.clusters->classes, (std::vector<std::string>{"1", "2", "3"}));
  EXPECT_EQ(from_disk.clusters->counts, by_name.clusters->counts);
  code[8] = kNaN;
  EXPECT_EQ(message_of([&] { judge(model, with(iris, "code", code), {.truth = "code"}); }),
            "the true class 'code' is missing in row 9; leave such rows out with --where");
  EXPECT_NE(message_of([&] { judge(model, iris, {.truth = "specie"}); }).find("did you mean 'species'"),
            std::string::npos);
  const TrainedModel lda = trained<Lda>("species ~ .", iris);
  EXPECT_EQ(message_of([&] { judge(lda, iris, {.truth = "species"}); }),
            "--truth is for clusters; lda is judged by its response 'species'");
}

TEST(Judge, AThresholdDecidesBetweenTwoClasses) {
  const Table train = dataset("pima_train"), test = dataset("pima_test");
  Value params = Value::object();
  params.set("lambda", 0.1);
  const TrainedModel model = trained<Logistic>("type ~ .", train, params);
  const Matrix p = model.predict(test).probabilities();
  const Judgement usual = judge(model, test), half = judge(model, test, {.threshold = 0.5});
  EXPECT_EQ(usual.confusion->counts, half.confusion->counts);
  EXPECT_EQ(half.threshold, 0.5);
  for (const double t : {0.0, 0.2, 0.8, 1.0}) {
    const Judgement found = judge(model, test, {.threshold = t});
    EXPECT_EQ(found.confusion->predicted_as(1), static_cast<double>((p.col(1).array() >= t).count())) << t;
    EXPECT_EQ(value_of(found, "auc"), value_of(usual, "auc")) << "the order of the rows stays";
  }
  EXPECT_NE(
      text(judge(model, test, {.threshold = 0.95})).find("Yes is predicted where its probability is at least 0.95."),
      std::string::npos);
  EXPECT_EQ(message_of([&] { judge(model, test, {.threshold = 1.5}); }),
            "--threshold is 1.5, must be a probability between 0 and 1");
  const Table iris = dataset("iris"), boston = dataset("boston");
  EXPECT_EQ(message_of([&] { judge(trained<Lda>("species ~ .", iris), iris, {.threshold = 0.9}); }),
            "--threshold decides between two classes, and this lda tells 3 apart; predict --what probabilities "
            "gives theirs");
  EXPECT_EQ(message_of([&] { judge(trained<Ols>("medv ~ lstat", boston), boston, {.threshold = 0.9}); }),
            "--threshold decides between two classes, and ols predicts none");
  EXPECT_EQ(message_of([&] { judge(trained<Svm>("type ~ .", train), test, {.threshold = 0.9}); }),
            "this svm gives no probabilities that --threshold could be held against: fit it with --probabilities true");
  EXPECT_EQ(
      message_of([&] { judge(trained<Perceptron>("type ~ .", train), test, {.threshold = 0.9}); }),
      "this perceptron gives no probabilities that --threshold could be held against: calibrate(perceptron) does");
}

TEST(Judge, AModelThatOnlyTransformsIsNotJudged) {
  const Table iris = dataset("iris");
  EXPECT_EQ(message_of([&] { judge(trained<Pca>("~ . - species", iris), iris); }),
            "pca predicts neither numbers nor classes nor clusters that could be judged; 'lemma verify' checks it");
}

TEST(Judge, MethodsThatTellOfTheRowsOfTheirFitAloneAreJudgedOnThoseInAnyOrder) {
  const Table iris = dataset("iris");
  std::vector<Index> turned(150);
  for (Index i = 0; i < 150; ++i) turned[at(i)] = (37 * i + 5) % 150;
  const Formula columns = formula("~ . - species");
  const JudgeOptions by_species{.truth = "species"};
  const auto alone = [&](const AnySpec& spec) { return fit(Pipeline({spec}), columns, iris); };
  const TrainedModel average = alone(Agglomerative{.k = 3});
  const std::vector<TrainedModel> models{average, alone(Divisive{.k = 3}), alone(Spectral{.k = 3}), alone(Hdbscan{}),
                                         fit(Scale{} | Agglomerative{.linkage = Linkage::ward, .k = 3}, columns, iris)};
  for (const TrainedModel& model : models) {
    const std::string name = model.model->method().name();
    const Judgement found = judge(model, iris, by_species), again = judge(model, iris.select(turned), by_species);
    ASSERT_TRUE(found.clusters) << name;
    EXPECT_EQ(found.clusters->counts.sum(), 150) << name;
    EXPECT_EQ(found.clusters->counts, again.clusters->counts) << name;
    EXPECT_GT(value_of(found, "adjusted_rand"), 0.5) << name;
    EXPECT_GT(value_of(found, "silhouette"), 0.4) << name;
  }
  // R: table(iris$Species, cutree(hclust(dist(iris[, 1:4]), "average"), 3))
  EXPECT_EQ(judge(average, iris, by_species).clusters->counts,
            (Matrix(3, 3) << 50, 0, 0, 0, 50, 0, 0, 14, 36).finished());
  const std::string message = message_of([&] { judge(average, iris.slice(0, 100), by_species); });
  EXPECT_NE(message.find("says nothing of other rows than the 150 of its fit"), std::string::npos) << message;
}

TEST(Judge, GivenDissimilaritiesAreHeldAgainstTheTruthAlone) {
  const Table cities = dataset("uscities");
  const TrainedModel model =
      fit(Pipeline({AnySpec(Agglomerative{.input = Input::square, .k = 3})}), formula("~ . - city"), cities);
  const Judgement found = judge(model, cities, {.truth = "city"});
  EXPECT_TRUE(std::isnan(value_of(found, "silhouette")));
  EXPECT_FALSE(std::isnan(value_of(found, "adjusted_rand")));
  EXPECT_NE(found.notes.back().find("dissimilarities are given"), std::string::npos);
}

TEST(Judge, RowsWithoutATableHaveMeasuresAlone) {  // a fold
  const Table iris = dataset("iris");
  const TrainedModel model = trained<Lda>("species ~ .", iris);
  const auto all = rows_for(model.design, MemoryTableStream(iris), {}).rows;
  const SelectedRows fold(*all, every(150, 3, 0));
  const Judgement found = judge(model.model, fold);
  EXPECT_EQ(found.rows, 50);
  EXPECT_FALSE(found.honesty);
  EXPECT_EQ(found.confusion->counts, judge(model, iris.select(every(150, 3, 0))).confusion->counts);
  EXPECT_EQ(to_value(found).find("equal_to_training_rows"), nullptr);
}

TEST(Judge, AFittedModelOfCppKnowsItsRowsAndOneWithoutAMemorySaysSo) {
  const Table iris = dataset("iris");
  const auto lda = fit(Lda{}, formula("species ~ ."), iris);
  const Judgement found = judge(lda, iris), known = judge(trained<Lda>("species ~ .", iris), iris);
  EXPECT_EQ(found.honesty->sentence, known.honesty->sentence);
  EXPECT_EQ(found.confusion->counts, known.confusion->counts);
  TrainedModel forgetful = lda;
  forgetful.origin = {};
  const Judgement unknown = judge(forgetful, iris);
  EXPECT_EQ(unknown.honesty->kind, Kind::unknown);
  EXPECT_TRUE(unknown.honesty->sentence.starts_with("UNKNOWN: the model does not remember the rows"));
  EXPECT_TRUE(to_value(*unknown.honesty).at("training_rows").is_null());
}

class Stopped final : public Progress {
 public:
  void report(double fraction, std::string_view) override { last = std::max(last, fraction); }
  bool cancelled() const override { return last > 0.3; }
  double last = 0;
};

TEST(Judge, CanBeStopped) {
  const Table letters = dataset("letters");
  const TrainedModel model = trained<Lda>("lettr ~ .", letters.select(every(20000, 20, 0)));
  Stopped stopped;
  JudgeOptions options;
  options.execution.progress = &stopped;
  EXPECT_THROW(judge(model, letters, options), Cancelled);
}

TEST(Judge, RowsOfNoClusterAreLeftOutOfTheMeasuresAndAreTheLastColumnBesideClasses) {
  Table table({}, "line");
  std::vector<double> x;
  std::vector<std::string> side;
  for (int i = 0; i < 20; ++i) {
    x.push_back(i < 10 ? 0.1 * i : 50 + 0.1 * i);
    side.push_back(i < 10 ? "left" : "right");
  }
  x.push_back(1000), side.push_back("right");
  table.add(numeric("x", x));
  table.add(categorical("side", side));
  const TrainedModel model = fit(Pipeline({AnySpec(Dbscan{.radius = 0.15, .min_points = 3})}), formula("~ x"), table);
  JudgeOptions options;
  options.truth = "side";
  const Judgement found = judge(model, table, options);
  EXPECT_NEAR(value_of(found, "noise"), 1.0 / 21, 1e-15);
  EXPECT_NEAR(value_of(found, "total_within"), 2 * 0.825, 1e-9) << "the far row takes no part";
  ASSERT_TRUE(found.clusters);
  EXPECT_EQ(found.clusters->counts, (Matrix(2, 3) << 10, 0, 0, 0, 10, 1).finished());
  EXPECT_EQ(found.notes.back(), "rows of no cluster are the last column of the table");
  EXPECT_NEAR(value_of(found, "matched"), 20.0 / 21, 1e-15);
}

}  // namespace
}  // namespace lemma
