// lemma/plot/more_pictures_test.cpp: hierarchies, maps, mixtures, drawn functions, and which pictures a method declares.
#include <algorithm>
#include <cmath>
#include <lemma/mixture/gmm.hpp>
#include <lemma/plot/branches.hpp>
#include <lemma/plot/pictures_test.hpp>
#include <lemma/plot/score_curve.hpp>
#include <lemma/select/tune.hpp>
#include <set>

namespace lemma::plot {
namespace {

TEST(Branches, StandWhereHclustPutsThem) {
  // rows 1 and 2 join at 1, 3 joins them at 2.5
  const Hierarchy tree{(Matrix(2, 2) << -1, -2, -3, 1).finished(), (Vector(2) << 1, 2.5).finished(),
                       (Vector(3) << 3, 1, 2).finished()};
  const auto branches = branches_of(tree, {0, 0, 1});
  ASSERT_EQ(branches.size(), 6u);
  EXPECT_EQ(branches[0].from_x, 1);
  EXPECT_EQ(branches[0].to_y, 1);
  EXPECT_EQ(branches[0].group, 0);
  EXPECT_EQ(branches[2].from_x, 1);
  EXPECT_EQ(branches[2].to_x, 2);
  EXPECT_EQ(branches[5].from_x, 0);
  EXPECT_EQ(branches[5].to_x, 1.5);
  EXPECT_EQ(branches[5].from_y, 2.5);
  EXPECT_EQ(branches[5].group, -1) << "it joins two groups";
  EXPECT_EQ(cut_height(tree, 2), 1.75);
  EXPECT_EQ(cut_height(tree, 3), 0.5);
  EXPECT_FALSE(cut_height({tree.merges, (Vector(2) << 2, 1).finished(), tree.order}, 2)) << "an inversion";
}

TEST(MorePictures, ASweepHasEveryCutItsLeastAndCheegersBounds) {
  const TrainedModel model = trained("spectral(k=2, neighbors=30)", "~ FL + RW + CL + CW + BD", dataset("crabs"));
  const Matrix sweep = model.results().at("sweep").as_matrix();
  const Vector best = model.results().at("best_cut").as_vector(), cheeger = model.results().at("cheeger").as_vector();
  ASSERT_EQ(sweep.rows(), 199);
  const Figure figure = draw("sweep", model);
  ASSERT_EQ(figure.panels.size(), 2u);
  for (const std::size_t k : {0u, 1u}) {
    const auto line = marks<Line>(figure, k).at(0);
    ASSERT_EQ(line.x.size(), 199u);
    EXPECT_EQ(line.x.front(), 1);
    EXPECT_EQ(line.x.back(), 199);
    EXPECT_EQ(line.y[17], sweep(17, k == 0 ? 2 : 1));
    const auto least = marks<Points>(figure, k).at(0);
    EXPECT_EQ(least.y.at(0), best(static_cast<Index>(k)));
    EXPECT_EQ(line.y[static_cast<std::size_t>(least.x.at(0)) - 1], least.y.at(0));
  }
  const auto bounds = marks<Segments>(figure, 0);
  ASSERT_EQ(bounds.size(), 2u);
  EXPECT_EQ(bounds[0].y0.at(0), cheeger(0));
  EXPECT_EQ(bounds[1].y0.at(0), cheeger(1));
  EXPECT_TRUE(marks<Segments>(figure, 1).empty()) << "they say nothing of the sparsity";
  const TrainedModel parts = trained("spectral(k=3, neighbors=15)", "~ . - species", dataset("iris"));
  EXPECT_NE(message_of([&] { draw("sweep", parts); }).find("has no picture 'sweep'"), std::string::npos)
      << "a graph in two parts has no Fiedler vector";
}

TEST(MorePictures, DensitiesByBandwidthAreThoseOfModelsFittedWithThem) {
  const Table faithful = dataset("faithful");
  const TrainedModel model = trained("kde(bandwidth=0.4)", "~ eruptions", faithful);
  const auto lines = marks<Line>(draw("bandwidths", model), 0);
  ASSERT_EQ(lines.size(), 5u);
  const TrainedModel narrow = trained("kde(bandwidth=0.1)", "~ eruptions", faithful);
  const auto& grid = lines[0].x;
  const Prediction said = narrow.predict(Table({numeric("eruptions", grid)}), {.what = {"log_density"}});
  double most = 0;
  for (std::size_t i = 0; i < grid.size(); ++i) {
    EXPECT_NEAR(lines[0].y[i], std::exp(said.log_density()(static_cast<Index>(i))), 1e-12);
    most = std::max(most, lines[0].y[i]);
  }
  EXPECT_GT(most, *std::max_element(lines[4].y.begin(), lines[4].y.end())) << "wider kernels smooth";
  const Panel panel = draw("bandwidths", model).panels[0];
  for (const Line& line : lines)
    for (std::size_t i = 0; i < line.x.size(); ++i)
      if (line.x[i] < *panel.x.from || line.x[i] > *panel.x.to) {
        EXPECT_LT(line.y[i], 0.003 * most) << "no curve is cut off";
      }
  EXPECT_NE(message_of([&] {
              draw("bandwidths", trained("kde", "~ eruptions + waiting", faithful));
            }).find("has no picture 'bandwidths'"),
            std::string::npos);
}

TEST(MorePictures, ADendrogramHasTheHeightsOfTheMergesAndItsCut) {
  const TrainedModel model = trained("agglomerative(k=3, linkage=complete)", "~ . - species", dataset("iris"));
  const Figure figure = draw("dendrogram", model);
  const Vector heights = model.results().at("heights").as_vector();
  std::vector<double> tops;
  std::set<int> painted;
  for (const Segments& segments : marks<Segments>(figure)) {
    if (segments.dashed) {
      EXPECT_GT(segments.y0[0], heights(heights.size() - 3));
      EXPECT_LT(segments.y0[0], heights(heights.size() - 2));
      continue;
    }
    if (segments.paint.of == Paint::Of::palette) painted.insert(segments.paint.number);
    for (std::size_t k = 0; k < segments.x0.size(); ++k)
      if (segments.y0[k] == segments.y1[k] && segments.x0[k] != segments.x1[k]) tops.push_back(segments.y0[k]);
  }
  std::sort(tops.begin(), tops.end());
  std::vector<double> expected(heights.begin(), heights.end());
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(tops, expected);
  EXPECT_EQ(painted, (std::set<int>{0, 1, 2}));
  const auto all = pictures_of(model);
  const auto first = std::ranges::find_if(all, [](const ModelPicture& each) { return !each.of_rows; });
  ASSERT_NE(first, all.end());
  EXPECT_EQ(first->name, "dendrogram") << "the first that needs no rows";
}

TEST(MorePictures, AHeatMapPutsRowsThatAreAlikeTogether) {
  const Table table(
      {numeric("a", {0, 10, 0.1, 10.2, 0.3}), numeric("b", {5, 0, 5.1, 0.2, 5.3}), numeric("c", {1, 9, 1, 9, 1})});
  const Figure figure = draw("heatmap", table);
  const auto cells = marks<Rectangles>(figure)[0];
  ASSERT_EQ(cells.x0.size(), 15u);
  int changes = 0;
  for (std::size_t k = 1; k < 5; ++k) changes += (cells.paints[k].at > 0.5) != (cells.paints[k - 1].at > 0.5);
  EXPECT_EQ(changes, 1) << "two groups, side by side";
  EXPECT_EQ(marks<Segments>(figure).size(), 2u) << "a dendrogram of the rows and one of the columns";
}

TEST(MorePictures, ShepardShowsTheGroupsOfPairs) {
  const TrainedModel model = trained("mds", "~ . - species", dataset("iris"));
  const Matrix groups = model.results().at("shepard").as_matrix();
  const Points points = marks<Points>(draw("shepard", model))[0];
  ASSERT_EQ(static_cast<Index>(points.x.size()), groups.rows());
  for (Index k = 0; k < groups.rows(); ++k) {
    EXPECT_EQ(points.x[static_cast<std::size_t>(k)], groups(k, 0));
    EXPECT_EQ(points.y[static_cast<std::size_t>(k)], groups(k, 1));
  }
}

TEST(MorePictures, EllipsesAreOneAndTwoStandardDeviationsFromTheMeans) {
  const Table faithful = dataset("faithful");
  const TrainedModel model = trained("gmm(components=2)", "~ .", faithful);
  const auto lines = marks<Line>(draw("ellipses", model, &faithful));
  ASSERT_EQ(lines.size(), 4u);
  const GmmModel& gmm = *model_cast<GmmModel>(model.model);
  for (std::size_t k = 0; k < 4; ++k) {
    const auto component = static_cast<Index>(k / 2);
    const Matrix s = gmm.covariance(component);
    const double det = s(0, 0) * s(1, 1) - s(0, 1) * s(1, 0);
    const Eigen::Matrix2d inverse = (Eigen::Matrix2d() << s(1, 1), -s(0, 1), -s(1, 0), s(0, 0)).finished() / det;
    for (std::size_t i = 0; i < lines[k].x.size(); ++i) {
      const Eigen::Vector2d away(lines[k].x[i] - gmm.means(component, 0), lines[k].y[i] - gmm.means(component, 1));
      EXPECT_NEAR(std::sqrt(away.dot(inverse * away)), k % 2 == 0 ? 1 : 2, 1e-9);
    }
  }
}

TEST(MorePictures, DrawnFunctionsAreThoseOfThePrediction) {
  const Table cycle = dataset("mcycle");
  const TrainedModel model = trained("gp", "accel ~ times", cycle);
  const Figure figure = draw("draws", model, &cycle);
  ASSERT_EQ(figure.panels.size(), 2u);
  const auto after = marks<Line>(figure, 1);
  ASSERT_EQ(after.size(), 9u);
  const Vector mean = model.predict(Table({numeric("times", after[8].x)})).value();
  for (std::size_t i = 0; i < after[8].x.size(); ++i) EXPECT_EQ(after[8].y[i], mean(static_cast<Index>(i)));
  EXPECT_EQ(marks<Points>(figure, 1)[0].x.size(), 133u);
  EXPECT_TRUE(marks<Points>(figure, 0).empty()) << "before the rows there are none";
}

TEST(MorePictures, PosteriorDensitiesAreHighestAtTheMeans) {
  const TrainedModel model = trained("bayes_linear", "medv ~ lstat + rm", dataset("boston"));
  const Figure figure = draw("posterior", model);
  ASSERT_EQ(figure.panels.size(), 2u);
  const Vector mean = model.results().at("coefficients").as_vector();
  const Line curve = marks<Line>(figure, 1)[0];
  const auto top = std::max_element(curve.y.begin(), curve.y.end()) - curve.y.begin();
  EXPECT_NEAR(curve.x[static_cast<std::size_t>(top)], mean(1), 1e-9);
  double area = 0;
  for (std::size_t i = 1; i < curve.x.size(); ++i)
    area += (curve.x[i] - curve.x[i - 1]) * (curve.y[i] + curve.y[i - 1]) / 2;
  EXPECT_NEAR(area, 1, 1e-3);
}

TEST(MorePictures, TheKneeIsTheScatterOfEachNumberOfClusters) {
  const Table iris = dataset("iris");
  const TrainedModel model = trained("kmeans(k=3)", "~ . - species", iris);
  const Points points = marks<Points>(draw("knee", model, &iris))[0];
  ASSERT_EQ(points.y.size(), 10u);
  EXPECT_NEAR(points.y[0], 681.3706, 1e-4) << "R's total sum of squares";
  EXPECT_NEAR(points.y[2], model.results().at("total_within").as_double(), 1e-9);
  EXPECT_TRUE(std::is_sorted(points.y.rbegin(), points.y.rend()));
}

TEST(MorePictures, TuningShowsEveryTryAndTheOneTaken) {
  const Table boston = dataset("boston");
  const MemoryTableStream stream(boston);
  const Formula formula = lemma::formula("medv ~ lstat + rm");
  Plan plan;
  plan.folds = 3;
  const TuneResult found = tune(parse_method("ridge"), {"lambda=0.1,10,1000,100000"}, formula, stream, plan, {});
  TrainedModel model = trained("ridge(lambda=10)", "medv ~ lstat + rm", boston);
  EXPECT_TRUE(std::ranges::none_of(pictures_of(model), [](const auto& each) { return each.name == "tuning"; }));
  model.choice = to_value(found);
  const Figure figure = draw("tuning", model);
  const auto points = marks<Points>(figure);
  EXPECT_EQ(points[0].x, (std::vector<double>{0.1, 10, 1000, 100000}));
  EXPECT_EQ(points[0].y[0], found.score(0).mean);
  EXPECT_EQ(points[1].x[0], points[0].x[found.taken]);
  EXPECT_EQ(figure.panels[0].x.kind, ScaleKind::log);
  const TuneResult both =
      tune(parse_method("elastic_net"), {"lambda=1,10", "alpha=0.2,0.8"}, formula, stream, plan, {});
  model.choice = to_value(both);
  EXPECT_EQ(marks<Points>(draw("tuning", model)).size(), 5u) << "a place for each try, and a rim of the one taken";
}

TEST(MorePictures, ALearningCurveHasBothScores) {
  ScoreCurve curve{"lda", "y ~ .", "data", "accuracy", "rows"};
  for (const double rows : {10.0, 100.0}) {
    ScoreCurve::Point point{std::to_string(static_cast<int>(rows)), rows};
    point.training.mean = 1 - rows / 1000, point.test.mean = 0.5 + rows / 1000;
    point.test.bounds = Bounds{0.4, 0.8};
    curve.points.push_back(point);
  }
  const auto lines = marks<Line>(drawn(curve));
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].y, (std::vector<double>{0.99, 0.9}));
  EXPECT_EQ(lines[1].y, (std::vector<double>{0.51, 0.6}));
  EXPECT_EQ(marks<Area>(drawn(curve)).size(), 1u);
}

TEST(MorePictures, SupportVectorsHaveRingsOnTheRowsOfTheFit) {
  const Table pima = dataset("pima_train");
  const TrainedModel model = trained("svm(standardize=true)", "type ~ glu + bmi", pima);
  const auto on_its_rows = marks<Points>(draw("regions", model, &pima));
  ASSERT_EQ(on_its_rows.size(), 2u);
  EXPECT_EQ(static_cast<Index>(on_its_rows[0].x.size()), model.results().at("support").as_vector().size());
  const Table others = dataset("pima_test");
  EXPECT_EQ(marks<Points>(draw("regions", model, &others)).size(), 1u) << "these rows are none of the machine's";
}

// ---- what a method declares ----

struct Try {
  const char *data, *formula;
};
Table data_of(const std::string& name) {
  if (name != "shares") return dataset(name);
  return Table({numeric("x", {1, 2, 3, 4, 5, 6, 7, 8}), numeric("s", {1, 2, 2, 4, 5, 7, 8, 9}),
                numeric("f", {9, 7, 8, 6, 4, 4, 2, 1})});
}

/// The method as it is, and with the parameters that some of its pictures ask for.
std::vector<std::string> ways_to_fit(const Method& method) {
  const std::string name = method.name();
  if (name == "boost") return {"boost(rounds=10, validation=0.2)", "boost(rounds=10, base=linear)"};
  if (name == "svm") return {"svm(standardize=true, kernel=linear)", "svm(standardize=true, probabilities=true)"};
  if (name == "forest") return {"forest(trees=10)"};
  if (name == "extra_trees") return {"extra_trees(trees=10, replace=true)"};
  if (name == "logistic" || name == "elastic_net" || name == "lasso" || name == "ridge")
    return {name + "(lambda=auto)", name + "(lambda=1)"};
  if (name == "bagging" || name == "adaboost") return {name + "(base=tree(depth=1), rounds=5)"};
  if (name == "spectral") return {"spectral", "spectral(neighbors=60)"};  // few neighbours leave a graph in parts
  if (name == "calibrate") return {"calibrate(base=lda)"};
  if (name == "decide") return {"decide(base=lda)"};
  return {name};
}

/// Every method of the catalog, on data of each kind: what a model has was declared by its method, and every picture that is declared
/// is drawn by some model of it.
class Declared : public testing::TestWithParam<const Method*> {};

TEST_P(Declared, EveryPictureDraws) {
  const Method& method = *GetParam();
  std::set<std::string> declared, drawn_ones;
  for (const auto& each : pictures_of(method)) declared.emplace(each.name);
  declared.erase("tuning");  // of models that `tune` chose: tested above
  std::string failures;
  bool fitted = false;
  for (const Try& each : {Try{"mcycle", "accel ~ times"},
                          {"boston", "medv ~ lstat + rm"},
                          {"pima_train", "type ~ glu + bmi"},
                          {"iris", "species ~ ."},
                          {"shares", "cbind(s, f) ~ x"},
                          {"faithful", "~ eruptions + waiting"},
                          {"faithful", "~ eruptions"},
                          {"iris", "~ . - species"}}) {
    const Table table = data_of(each.data);
    for (const std::string& text : ways_to_fit(method)) {
      TrainedModel model;
      try {
        model = trained(text, each.formula, table);
      } catch (const Error& error) {
        failures += std::string("\n  ") + text + " on " + each.data + ": " + error.what();
        continue;
      }
      fitted = true;
      for (const ModelPicture& picture : pictures_of(model)) {
        EXPECT_TRUE(declared.contains(std::string(picture.name))) << picture.name << " is not declared";
        const Figure figure = draw(picture.name, model, &table);
        EXPECT_GT(figure.marks(), 0) << picture.name << " of " << text << " on " << each.data;
        EXPECT_FALSE(figure.description.empty());
        const std::string svg = to_svg(figure);
        EXPECT_EQ(svg.find("nan"), std::string::npos) << picture.name;
        EXPECT_EQ(svg.find("nothing to draw"), std::string::npos)
            << picture.name << " of " << text << " on " << each.data;
        drawn_ones.emplace(picture.name);
      }
    }
  }
  if (!fitted) GTEST_SKIP() << method.name() << " fits none of these data by itself:" << failures;
  // what some parameters leave empty (an exact solver has no trace, one factor no second axis), or takes few columns
  const std::set<std::string> by_parameters{"convergence", "path",        "coefficients", "scores",
                                            "biplot",      "calibration", "density"};
  for (const auto& name : declared) {
    if (by_parameters.contains(name)) continue;
    EXPECT_TRUE(drawn_ones.contains(name)) << name << " is declared and never drawn" << failures;
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, Declared, testing::ValuesIn(catalog().begin(), catalog().end()),
                         [](const auto& each) { return each.param->name(); });

}  // namespace
}  // namespace lemma::plot
