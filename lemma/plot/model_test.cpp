// lemma/plot/model_test.cpp: pictures of models show what the models say.
#include <algorithm>
#include <cmath>
#include <lemma/plot/pictures_test.hpp>
#include <lemma/validate/judge.hpp>

namespace lemma::plot {
namespace {

std::vector<std::string> names(const TrainedModel& model) {
  std::vector<std::string> out;
  for (const ModelPicture& each : pictures_of(model)) out.emplace_back(each.name);
  return out;
}
using Names = std::vector<std::string>;

TEST(ModelPictures, FollowFromWhatTheModelDeclares) {
  EXPECT_EQ(names(trained("ols", "medv ~ lstat + rm", dataset("boston"))),
            (Names{"residuals", "effects", "coefficients"}));
  EXPECT_EQ(names(trained("ols", "medv ~ lstat", dataset("boston"))),
            (Names{"fit", "residuals", "effects", "coefficients"}));
  EXPECT_EQ(names(trained("pca", "~ . - species", dataset("iris"))), (Names{"biplot", "scores", "scree", "loadings"}));
  EXPECT_EQ(names(trained("lasso", "medv ~ .", dataset("boston"))), (Names{"residuals", "effects", "path"}));
  EXPECT_EQ(names(trained("kmeans", "~ . - species", dataset("iris")))[0], "clusters");
  EXPECT_EQ(names(trained("forest", "medv ~ .", dataset("boston"))),
            (Names{"residuals", "effects", "importance", "convergence"}));
  EXPECT_EQ(names(trained("glm", "type ~ glu + bmi", dataset("pima_train")))[0], "regions");
}

TEST(ModelPictures, ResidualsAreWhatTheModelLeaves) {
  const Table boston = dataset("boston");
  const TrainedModel model = trained("ols", "medv ~ lstat + rm", boston);
  const Figure figure = draw("residuals", model, &boston);
  ASSERT_EQ(figure.panels.size(), 4u);
  const Points points = marks<Points>(figure)[0];
  const auto& medv = boston.column("medv").numbers().values;
  for (std::size_t i = 0; i < medv.size(); ++i) EXPECT_NEAR(points.x[i] + points.y[i], medv[i], 1e-9);
  EXPECT_EQ(marks<Words>(figure)[0].words, (Names{"369", "373", "372"})) << "the largest, as R's plot.lm names them";
}

TEST(ModelPictures, CoefficientsHaveTheirIntervals) {
  const auto model = trained("ols", "medv ~ lstat + rm", dataset("boston"));
  const Figure figure = draw("coefficients", model);
  const auto lower = model.results().at("lower").as_vector(), upper = model.results().at("upper").as_vector();
  const Segments intervals = marks<Segments>(figure)[1];
  EXPECT_EQ(intervals.x0, (std::vector<double>{lower(0), lower(1)}));
  EXPECT_EQ(intervals.x1, (std::vector<double>{upper(0), upper(1)}));
  EXPECT_EQ(figure.panels[0].y.levels, (Names{"rm", "lstat"})) << "the first on top";
}

TEST(ModelPictures, TheRocCurveHasTheAreaThatIsJudged) {
  const Table test = dataset("pima_test");
  const TrainedModel model = trained("glm", "type ~ .", dataset("pima_train"));
  const Line curve = marks<Line>(draw("roc", model, &test))[1];
  double area = 0;
  for (std::size_t i = 1; i < curve.x.size(); ++i)
    area += (curve.x[i] - curve.x[i - 1]) * (curve.y[i] + curve.y[i - 1]) / 2;
  const Judgement judged = judge(model, test);
  const auto auc =
      std::find_if(judged.measures.begin(), judged.measures.end(), [](const Measure& m) { return m.name == "auc"; });
  ASSERT_NE(auc, judged.measures.end());
  EXPECT_NEAR(area, auc->value, 1e-12);
}

TEST(ModelPictures, RegionsAreThePredictedClasses) {
  const Table iris = dataset("iris");
  const TrainedModel model = trained("lda", "species ~ petal_length + petal_width", iris);
  const Figure figure = draw("regions", model, &iris);
  const Rectangles cells = marks<Rectangles>(figure)[0];
  std::vector<double> x, y;
  for (std::size_t k = 0; k < cells.x0.size(); ++k)
    x.push_back((cells.x0[k] + cells.x1[k]) / 2), y.push_back((cells.y0[k] + cells.y1[k]) / 2);
  const Labels said = model.predict(Table({numeric("petal_length", x), numeric("petal_width", y)})).label();
  for (std::size_t k = 0; k < said.size(); ++k) EXPECT_EQ(cells.paints[k].number, said[k]);
  EXPECT_EQ(marks<Points>(figure)[0].group, iris.column("species").categories().codes);
  const Table pima = dataset("pima_train");
  const TrainedModel two = trained("glm", "type ~ glu + bmi", pima);
  const Segments border = marks<Segments>(draw("regions", two, &pima))[0];
  ASSERT_GT(border.x0.size(), 20u);
  const Matrix p = two.predict(Table({numeric("glu", border.x0), numeric("bmi", border.y0)})).probabilities();
  for (Index i = 0; i < p.rows(); ++i) EXPECT_NEAR(p(i, 1), 0.5, 1e-3);
}

TEST(ModelPictures, TheFittedCurveAndItsBandAreThePredictions) {
  const Table cycle = dataset("mcycle");
  const TrainedModel model = trained("gp", "accel ~ times", cycle);
  const Figure figure = draw("fit", model, &cycle);
  const Line curve = marks<Line>(figure)[0];
  const Vector said = model.predict(Table({numeric("times", curve.x)})).value();
  for (std::size_t i = 0; i < curve.x.size(); ++i) EXPECT_EQ(curve.y[i], said(static_cast<Index>(i)));
  ASSERT_EQ(marks<Area>(figure).size(), 1u);
  const TrainedModel tree = trained("tree", "accel ~ times", cycle);
  EXPECT_TRUE(marks<Area>(draw("fit", tree, &cycle)).empty()) << "it gives no interval";
}

TEST(ModelPictures, APathHasTheCoefficientsOfTheStandardisedColumns) {
  const TrainedModel model = trained("lasso", "medv ~ .", dataset("boston"));
  const auto lines = marks<Line>(draw("path", model));
  ASSERT_EQ(lines.size(), 13u);
  const Matrix b = model.results().at("coefficients").as_matrix();
  const Vector lambda = model.results().at("lambda").as_vector(), scale = model.results().at("scale").as_vector();
  EXPECT_TRUE(std::is_sorted(lines[0].x.begin(), lines[0].x.end()));
  EXPECT_EQ(lines[12].x.front(), lambda.minCoeff());
  EXPECT_DOUBLE_EQ(lines[12].y.front(), b(lambda.size() - 1, 12) * scale(12));
}

TEST(ModelPictures, RowsAreCalledByTheColumnThatTellsThemApart) {
  const Table states = dataset("usarrests");
  const TrainedModel model = trained("pca(scale=true)", "~ Murder + Assault + UrbanPop + Rape", states);
  for (const char* kind : {"biplot", "scores"}) {
    const Figure figure = draw(kind, model, &states);
    EXPECT_EQ(marks<Points>(figure)[0].tooltips[4], "California") << kind;
    EXPECT_EQ(marks<Words>(figure).back().words[4], "California") << kind;
  }
  EXPECT_EQ(pictures_of(trained("lda", "species ~ .", dataset("iris"))).front().name, "scores") << "the most telling";
  const Table iris = dataset("iris");  // species tell rows apart as little as numbers do
  EXPECT_TRUE(marks<Words>(draw("scores", trained("pca", "~ . - species", iris), &iris)).empty());
}

TEST(ModelPictures, ABiplotKeepsDistancesOfRowsOrLengthsOfColumns) {
  const Table iris = dataset("iris");
  const TrainedModel model = trained("pca", "~ . - species", iris);
  const Matrix scores = model.predict(iris, {.what = {"coordinates"}}).coordinates();
  const Points rows = marks<Points>(draw("biplot", model, &iris))[0];
  EXPECT_EQ(rows.x[7], scores(7, 0));
  const Points scaled = marks<Points>(draw("biplot", model, &iris, {.alpha = 0}))[0];
  double squares = 0;
  for (const double x : scaled.x) squares += x * x;
  EXPECT_NEAR(squares / 149, 1, 1e-9) << "components have variance 1";
  EXPECT_NE(message_of([&] { draw("biplot", model, &iris, {.alpha = 2}); }).find("--alpha is 2"), std::string::npos);
}

TEST(ModelPictures, AConfusionHasTheCounts) {
  const Table iris = dataset("iris");
  const auto cells = marks<Rectangles>(draw("confusion", trained("lda", "species ~ .", iris), &iris))[0];
  EXPECT_EQ(cells.tooltips[4], "48 of 50 versicolor predicted as versicolor");
}

TEST(ModelPictures, ATreeHasItsQuestionsAndTheClassesOfItsRows) {
  const Figure figure = draw("tree", trained("tree", "type ~ .", dataset("pima_train")));
  const auto words = marks<Words>(figure);
  EXPECT_EQ(words[0].words[0], "No (200)");
  EXPECT_EQ(words[1].words[0], "glu< 123.5");
  EXPECT_EQ(words[1].words.size(), 7u);
  const Rectangles boxes = marks<Rectangles>(figure)[0];
  EXPECT_NEAR((boxes.x1[0] - boxes.x0[0]) / (boxes.x1[1] - boxes.x0[0]), 132.0 / 200, 1e-9);
  EXPECT_EQ(boxes.tooltips[1], "node 1: 68 of 200 rows are Yes");
  const Figure errors = draw("cp", trained("tree", "type ~ .", dataset("pima_train")));
  EXPECT_EQ(errors.panels[0].x.levels.front(), "0");
}

TEST(ModelPictures, ContoursOfADensityAreEachAtHalfTheOneInside) {
  const Table faithful = dataset("faithful");
  const TrainedModel model = trained("gmm(components=2)", "~ .", faithful);
  const auto lines = marks<Segments>(draw("density", model, &faithful));
  ASSERT_EQ(lines.size(), 8u);
  const auto height = [&](const Segments& line) {
    return model.predict(Table({numeric("eruptions", line.x0), numeric("waiting", line.y0)}), {.what = {"log_density"}})
        .log_density()
        .mean();
  };
  EXPECT_NEAR(height(lines[0]) - height(lines[1]), std::log(2.0), 0.01);
  const Table one({faithful.column("eruptions")});
  const auto curve = marks<Line>(draw("density", trained("gmm(components=2)", "~ .", one), &one))[0];
  double area = 0;
  for (std::size_t i = 1; i < curve.x.size(); ++i)
    area += (curve.x[i] - curve.x[i - 1]) * (curve.y[i] + curve.y[i - 1]) / 2;
  EXPECT_NEAR(area, 1, 0.06) << "all but the tails";
}

TEST(ModelPictures, SilhouettesAreThoseOfTheRowsAndEffectsThoseOfTheColumns) {
  const Table iris = dataset("iris");
  const TrainedModel clusters = trained("kmeans(k=3)", "~ . - species", iris);
  const Figure bars = draw("silhouettes", clusters, &iris);
  EXPECT_NEAR(marks<Segments>(bars)[0].x0[0], 0.5528, 1e-4) << "the mean, as R's cluster::silhouette has it";
  const Table boston = dataset("boston");
  const TrainedModel line = trained("ols", "medv ~ lstat + rm", boston);
  const Figure effects = draw("effects", line, &boston);
  ASSERT_EQ(effects.panels.size(), 2u);
  const Line rm = marks<Line>(effects, 1)[0];
  EXPECT_NEAR((rm.y.back() - rm.y.front()) / (rm.x.back() - rm.x.front()),
              line.results().at("coefficients").as_vector()(1), 1e-9);
}

TEST(ModelPictures, RowsWithMissingValuesAreLeftOut) {
  const Table table({numeric("x", {1, 2, std::nan(""), 4, 5}), numeric("y", {1, 2, 3, std::nan(""), 5.5})});
  const Table complete({numeric("x", {1, 2, 3, 4.5}), numeric("y", {1, 2.1, 3, 4})});
  const Figure figure = draw("residuals", trained("ols", "y ~ x", complete), &table);
  EXPECT_EQ(marks<Points>(figure)[0].tooltips, (Names{"row 1", "row 2", "row 5"}));
}

TEST(ModelPictures, MistakesAreNamed) {
  const Table boston = dataset("boston");
  const auto model = trained("ols", "medv ~ lstat + rm", boston);
  EXPECT_EQ(message_of([&] { draw("roc", model, &boston); }),
            "this ols has no picture 'roc'; it has residuals, effects and coefficients");
  EXPECT_NE(message_of([&] { draw("residuals", model); }).find("which DATA?"), std::string::npos);
  EXPECT_NE(message_of([&] { draw("residual", model, &boston); }).find("did you mean 'residuals'?"), std::string::npos);
  const Table iris = dataset("iris");
  EXPECT_NE(message_of([&] { draw("residuals", model, &iris); }).find("lstat"), std::string::npos);
}

}  // namespace
}  // namespace lemma::plot
