// lemma/plot/belief_pictures_test.cpp: densities of parameters, chains, weights and loadings, maps with classes, factors and variates.
#include <algorithm>
#include <cmath>
#include <lemma/bayes/mcmc.hpp>
#include <lemma/neural/mlp.hpp>
#include <lemma/plot/branches.hpp>
#include <lemma/plot/pictures_test.hpp>
#include <numeric>

namespace lemma::plot {
namespace {

double area_below(const Line& curve) {
  double out = 0;
  for (std::size_t i = 1; i < curve.x.size(); ++i)
    out += (curve.x[i] - curve.x[i - 1]) * (curve.y[i] + curve.y[i - 1]) / 2;
  return out;
}

double mean_of(const Line& curve) {
  double out = 0, area = 0;
  for (std::size_t i = 1; i < curve.x.size(); ++i) {
    const double piece = (curve.x[i] - curve.x[i - 1]) * (curve.y[i] + curve.y[i - 1]) / 2;
    area += piece, out += piece * (curve.x[i] + curve.x[i - 1]) / 2;
  }
  return out / area;
}

TEST(BeliefPictures, DrawsHaveTheDensitiesAndTheChainsOfTheirParameters) {
  const TrainedModel model = trained("mcmc(draws=100, warmup=100)", "type ~ glu + bmi", dataset("pima_train"));
  const Matrix told = model.results().at("quantities").as_matrix();
  const Figure posterior = draw("posterior", model);
  ASSERT_EQ(posterior.panels.size(), 3u);
  EXPECT_EQ(posterior.panels[0].title, "(Intercept)");
  EXPECT_EQ(posterior.panels[2].title, "bmi");
  for (std::size_t j = 0; j < 3; ++j) {
    const Line curve = marks<Line>(posterior, j).at(0);
    EXPECT_NEAR(area_below(curve), 1, 5e-3);
    EXPECT_NEAR(mean_of(curve), told(static_cast<Index>(j), 0), 0.01 * told(static_cast<Index>(j), 1));
  }
  const Figure traces = draw("traces", model);
  ASSERT_EQ(traces.panels.size(), 3u);
  const auto chains = marks<Line>(traces, 1);
  ASSERT_EQ(chains.size(), 4u);
  double sum = 0;
  for (const Line& chain : chains) {
    ASSERT_EQ(chain.y.size(), 100u);
    sum += std::accumulate(chain.y.begin(), chain.y.end(), 0.0);
  }
  EXPECT_NEAR(sum / 400, told(1, 0), 1e-9) << "the mean of all draws";
}

TEST(BeliefPictures, SeveralClassesNameTheirPlanes) {
  const TrainedModel model = trained("mcmc(draws=30, warmup=50, chains=2)", "species ~ petal_length", dataset("iris"));
  const Figure figure = draw("posterior", model);
  ASSERT_EQ(figure.panels.size(), 6u);
  EXPECT_EQ(figure.panels[1].title, "setosa: petal_length");
  EXPECT_EQ(figure.panels[4].title, "virginica: (Intercept)");
}

TEST(BeliefPictures, ConjugatePosteriorsStandBesideTheirPriors) {
  const Table coin({numeric("won", {1, 1, 1, 0, 1, 1, 0, 1, 1, 1})});
  const Figure beta = draw("posterior", trained("conjugate(family=beta_binomial, prior=[2,2])", "~ won", coin));
  ASSERT_EQ(beta.panels.size(), 1u);
  EXPECT_EQ(beta.panels[0].title, "won: P(1)");
  const auto lines = marks<Line>(beta);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_NEAR(area_below(lines[0]), 1, 2e-3);
  EXPECT_NEAR(mean_of(lines[0]), 10.0 / 14, 1e-3) << "Beta(10, 4)";
  for (std::size_t i = 0; i < lines[1].x.size(); ++i)
    EXPECT_NEAR(lines[1].y[i], 6 * lines[1].x[i] * (1 - lines[1].x[i]), 1e-12) << "Beta(2, 2)";

  const Figure normal = draw("posterior", trained("conjugate", "~ eruptions + waiting", dataset("faithful")));
  ASSERT_EQ(normal.panels.size(), 4u) << "a mean and a variance of each column";
  EXPECT_EQ(normal.panels[3].title, "waiting: variance");
  EXPECT_NEAR(area_below(marks<Line>(normal, 0)[0]), 1, 2e-3);
  EXPECT_NEAR(area_below(marks<Line>(normal, 3)[0]), 1, 2e-3);

  const Figure counts = draw("posterior", trained("conjugate(family=gamma_poisson)", "~ won", coin));
  EXPECT_NEAR(mean_of(marks<Line>(counts)[0]), 9.0 / 11, 2e-3) << "Gamma(9, 11)";

  const Figure levels =
      draw("posterior", trained("conjugate(family=dirichlet_multinomial)", "~ species", dataset("iris")));
  ASSERT_EQ(levels.panels.size(), 3u);
  EXPECT_EQ(levels.panels[1].title, "species: P(versicolor)");
  EXPECT_NEAR(mean_of(marks<Line>(levels, 1)[0]), 51.0 / 153, 1e-3);
}

TEST(BeliefPictures, TheMeansOfAGaussianWishartAreStudents) {
  const TrainedModel model = trained("gaussian_wishart", "~ eruptions + waiting", dataset("faithful"));
  const Matrix told = model.results().at("intervals").as_matrix();
  const Line curve = marks<Line>(draw("posterior", model), 1).at(0);
  double inside = 0;
  for (std::size_t i = 1; i < curve.x.size(); ++i)
    if (curve.x[i - 1] >= told(1, 1) && curve.x[i] <= told(1, 2))
      inside += (curve.x[i] - curve.x[i - 1]) * (curve.y[i] + curve.y[i - 1]) / 2;
  EXPECT_NEAR(inside, 0.95, 0.01) << "as much as the model's own interval holds";
}

TEST(BeliefPictures, LoadingsAreThoseOfTheModel) {
  const TrainedModel model = trained("pca(scale=true)", "~ . - state", dataset("usarrests"));
  const Matrix told = model.results().at("loadings").as_matrix();
  const Figure figure = draw("loadings", model);
  EXPECT_EQ(figure.panels[0].x.levels[1], "PC2");
  EXPECT_EQ(figure.panels[0].y.levels.back(), model.design.features()[0]) << "the first column on top";
  const Rectangles cells = marks<Rectangles>(figure)[0];
  ASSERT_EQ(cells.x0.size(), 16u);
  for (std::size_t k = 0; k < 16; ++k) {
    const Index row = told.rows() - 1 - static_cast<Index>(std::lround(cells.y0[k] + 0.5));
    const double value = told(row, static_cast<Index>(std::lround(cells.x0[k] + 0.5)));
    EXPECT_NEAR(cells.paints[k].at, 0.5 + 0.5 * value / told.cwiseAbs().maxCoeff(), 1e-12);
  }
}

TEST(BeliefPictures, PixelsMakePictures) {
  const Table digits = dataset("digits");
  const TrainedModel parts = trained("nmf(components=3, max_iterations=5)", "~ . - digit", digits);
  const Figure figure = draw("loadings", parts);
  ASSERT_EQ(figure.panels.size(), 3u);
  const Rectangles cells = marks<Rectangles>(figure)[0];
  ASSERT_EQ(cells.x0.size(), 64u);
  EXPECT_EQ(cells.paints[0].of, Paint::Of::sequential) << "parts are not negative";
  EXPECT_EQ(cells.x0[9], 0.5);
  EXPECT_EQ(cells.y0[9], 5.5) << "the tenth pixel is the second of the second row from the top";
  const Figure colours = draw("loadings", trained("nmf(components=2)", "~ . - species", dataset("iris")));
  EXPECT_EQ(colours.panels.size(), 1u) << "four columns are no picture";
}

TEST(BeliefPictures, WeightsAreThoseOfTheFirstLayer) {
  const TrainedModel model = trained("mlp(layers=[3])", "species ~ .", dataset("iris"));
  const MlpModel& network = *model_cast<MlpModel>(model.model);
  const Rectangles cells = marks<Rectangles>(draw("weights", model))[0];
  ASSERT_EQ(cells.x0.size(), 12u);
  double most = 0;
  for (Index i = 0; i < 12; ++i) most = std::max(most, std::abs(network.weights(i)));
  for (std::size_t k = 0; k < 12; ++k) {
    const auto unit = static_cast<Index>(std::lround(cells.x0[k] + 0.5));
    const Index column = 3 - static_cast<Index>(std::lround(cells.y0[k] + 0.5));
    EXPECT_NEAR(cells.paints[k].at, 0.5 + 0.5 * network.weights(unit * 4 + column) / most, 1e-12);
  }
}

TEST(BeliefPictures, ATraceIsCalledWhatItIsATraceOf) {
  const Figure likelihood = draw("convergence", trained("gmm(components=2)", "~ .", dataset("faithful")));
  EXPECT_EQ(likelihood.panels[0].y.label, "log-likelihood");
  EXPECT_EQ(marks<Line>(likelihood)[0].x[0], 1);
  const Figure stress = draw("convergence", trained("sammon", "~ . - state", dataset("usarrests")));
  EXPECT_EQ(stress.panels[0].y.label, "stress");
  EXPECT_EQ(marks<Line>(stress)[0].x[0], 0) << "before the first step";
  EXPECT_EQ(draw("convergence", trained("mlp(layers=[2])", "species ~ .", dataset("iris"))).panels[0].x.label,
            "iterations");
  const Figure epochs = draw(
      "convergence", trained("mlp(layers=[2], solver=adam, epochs=5, validation=0.2)", "species ~ .", dataset("iris")));
  EXPECT_EQ(epochs.panels[0].x.label, "epochs");
  EXPECT_EQ(marks<Line>(epochs).size(), 2u) << "the training rows and those held out";
  EXPECT_EQ(marks<Segments>(epochs).size(), 1u) << "where it stopped";
}

TEST(BeliefPictures, AMapTakesItsColoursFromTheRowsOfTheFit) {
  const Table iris = dataset("iris");
  const TrainedModel model = trained("mds", "~ . - species", iris);
  const Points points = marks<Points>(draw("map", model, &iris, {.colour = "species"}))[0];
  ASSERT_EQ(points.group.size(), 150u);
  EXPECT_EQ(points.group[0], 0);
  EXPECT_EQ(points.group[149], 2);
  EXPECT_NE(message_of([&] { draw("map", model, nullptr, {.colour = "species"}); }).find("DATA"), std::string::npos);
  const Table few = iris.select(std::vector<Index>{0, 1, 2});
  EXPECT_NE(message_of([&] { draw("map", model, &few, {.colour = "species"}); }).find("not the rows of the fit"),
            std::string::npos);
  EXPECT_NE(message_of([&] { draw("shepard", model, &iris, {.colour = "species"}); }).find("--color does not go"),
            std::string::npos);
  EXPECT_NE(message_of([&] { draw("map", model, &iris, {.facet = "species"}); }).find("--facet goes"),
            std::string::npos);
}

TEST(BeliefPictures, NumbersColourAMapByShades) {
  const Table iris = dataset("iris");
  const TrainedModel model = trained("mds", "~ . - species", iris);
  const Figure figure = draw("map", model, &iris, {.colour = "petal_length"});
  std::size_t points = 0;
  double last = 0;
  for (const Points& band : marks<Points>(figure)) {
    EXPECT_EQ(band.paint.of, Paint::Of::sequential);
    EXPECT_GT(band.paint.at, last);
    last = band.paint.at, points += band.x.size();
  }
  EXPECT_EQ(points, 150u);
  ASSERT_TRUE(figure.legend.ramp.has_value());
  EXPECT_EQ(figure.legend.ramp->from, 1);
  EXPECT_EQ(figure.legend.ramp->to, 6.9);
}

TEST(BeliefPictures, ClustersOfTheRowsOfAFitAreDrawnOnThem) {
  const Table iris = dataset("iris");
  const TrainedModel model = trained("agglomerative(k=3, linkage=ward)", "~ . - species", iris);
  const Vector told = model.results().at("labels").as_vector();
  const Points points = std::get<Points>(draw("clusters", model, &iris).panels.at(1).marks[0]);
  ASSERT_EQ(points.group.size(), 150u);
  for (std::size_t i = 0; i < 150; ++i) EXPECT_EQ(points.group[i] + 1, told(static_cast<Index>(i)));
  const Table few = iris.select(std::vector<Index>{0, 1, 2});
  EXPECT_NE(
      message_of([&] { draw("silhouettes", model, &few); }).find("of the 150 rows of its fit alone, and DATA has 3"),
      std::string::npos);
}

TEST(BeliefPictures, AHierarchyWithoutAnOrderGetsOne) {
  const Matrix merges = (Matrix(3, 2) << -2, -4, -1, -3, 1, 2).finished();
  EXPECT_EQ(order_of(merges), (Vector(4) << 2, 4, 1, 3).finished());
  const TrainedModel model = trained("hdbscan", "~ . - species", dataset("iris"));
  const auto branches = marks<Segments>(draw("dendrogram", model));
  EXPECT_FALSE(branches.empty());
  for (const Segments& each : branches) EXPECT_FALSE(each.dashed) << "its clusters are no cut at one height";
}

TEST(BeliefPictures, VariatesHaveTheCorrelationsOfTheModel) {
  const Table iris = dataset("iris");
  const TrainedModel model = trained("cca", "cbind(petal_length, petal_width) ~ sepal_length + sepal_width", iris);
  const Vector told = model.results().at("correlations").as_vector();
  const Figure figure = draw("variates", model, &iris);
  ASSERT_EQ(figure.panels.size(), 2u);
  for (std::size_t k = 0; k < 2; ++k) {
    const Points points = marks<Points>(figure, k)[0];
    double xx = 0, yy = 0, xy = 0;  // both have mean 0
    for (std::size_t i = 0; i < points.x.size(); ++i)
      xx += points.x[i] * points.x[i], yy += points.y[i] * points.y[i], xy += points.x[i] * points.y[i];
    EXPECT_NEAR(xy / std::sqrt(xx * yy), told(static_cast<Index>(k)), 1e-9);
  }
}

TEST(BeliefPictures, FactorsHaveAPlaceForEveryThing) {
  const TrainedModel model = trained("factorise", "BD ~ sp + sex", dataset("crabs"));
  const Matrix told = model.results().at("factors").as_matrix();
  const Figure figure = draw("factors", model);
  const Points points = marks<Points>(figure)[0];
  ASSERT_EQ(points.x.size(), 4u);
  EXPECT_EQ(points.tooltips[0], "sp: B");
  EXPECT_EQ(points.tooltips[3], "sex: M");
  EXPECT_EQ(points.y[2], told(2, 1));
  EXPECT_EQ(points.group, (std::vector<int>{0, 0, 1, 1}));
}

TEST(BeliefPictures, CentresAndPrototypesLieOnPairsOfTheirColumns) {
  const Table iris = dataset("iris");
  const TrainedModel model = trained("kmeans(k=3)", "~ . - species", iris);
  const Matrix centers = model.results().at("centers").as_matrix();
  const Figure figure = draw("clusters", model, &iris);
  const Panel& panel = figure.panels.at(6);  // the second row, the third column
  ASSERT_EQ(panel.row, 1);
  ASSERT_EQ(panel.column, 2);
  const Points last = std::get<Points>(panel.marks.back());
  ASSERT_EQ(last.x.size(), 3u);
  EXPECT_EQ(last.x[2], centers(2, 2));
  EXPECT_EQ(last.y[2], centers(2, 1));
  EXPECT_EQ(last.group, (std::vector<int>{0, 1, 2}));

  const TrainedModel several = trained("prototypes", "species ~ petal_length + petal_width", iris);
  const Matrix places = several.results().at("prototypes").as_matrix();
  const Points on_data = std::get<Points>(draw("prototypes", several, &iris).panels.at(1).marks.back());
  ASSERT_EQ(static_cast<Index>(on_data.x.size()), places.rows());
  EXPECT_EQ(on_data.x[0], places(0, 1));
  EXPECT_EQ(on_data.y[0], places(0, 0));
}

TEST(BeliefPictures, LogarithmicAxesAreForModelsToo) {
  const TrainedModel model = trained("lasso", "medv ~ .", dataset("boston"));
  EXPECT_EQ(draw("path", model, nullptr, {.log = "x"}).panels[0].x.kind, ScaleKind::log);
  const TrainedModel map = trained("mds", "~ . - state", dataset("usarrests"));
  EXPECT_EQ(draw("shepard", map, nullptr, {.log = "xy"}).panels[0].y.kind, ScaleKind::log);
  EXPECT_NE(message_of([&] { draw("shepard", map, nullptr, {.log = "z"}); }).find("must be x, y or xy"),
            std::string::npos);
}

}  // namespace
}  // namespace lemma::plot
