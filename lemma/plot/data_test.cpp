// lemma/plot/data_test.cpp: the marks of a picture are where the data say.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <lemma/core/error.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/plot/data.hpp>
#include <numeric>
#include <tests/message_of.hpp>

namespace lemma::plot {
namespace {

template <class M>
M mark(const Figure& figure, std::size_t panel = 0, std::size_t which = 0) {
  return std::get<M>(figure.panels.at(panel).marks.at(which));
}

const Table& small() {
  static const Table table(
      {numeric("x", {1, 2, 3, 4}), numeric("y", {10, std::nan(""), 30, 40}), categorical("g", {"a", "b", "a", "b"})},
      "small.csv");
  return table;
}

TEST(DataPictures, OnALogarithmicAxisBinsAndDensitiesAreThoseOfTheLogarithms) {
  const Table boston = dataset("boston");
  const Figure bars = draw("histogram", boston, "~ crim", {.log = "x"});
  const auto& rectangles = std::get<Rectangles>(bars.panels[0].marks[0]);
  EXPECT_EQ(std::accumulate(rectangles.y1.begin(), rectangles.y1.end(), 0.0), 506) << "no row falls off the axis";
  for (std::size_t k = 0; k < rectangles.x0.size(); ++k)
    EXPECT_NEAR(rectangles.x1[k] / rectangles.x0[k], rectangles.x1[0] / rectangles.x0[0], 1e-9);
  const Figure curve = draw("density", boston, "~ crim", {.log = "x"});
  const auto& area = std::get<Area>(curve.panels[0].marks[0]);
  double sum = 0;
  for (std::size_t i = 1; i < area.x.size(); ++i) {
    ASSERT_GT(area.x[i - 1], 0);
    sum += std::log10(area.x[i] / area.x[i - 1]) * (area.upper[i] + area.upper[i - 1]) / 2;
  }
  EXPECT_NEAR(sum, 1, 0.01);
  const Figure violin = draw("violin", boston, "crim ~ factor(chas)", {.log = "x"});
  EXPECT_GT(std::get<Area>(violin.panels[0].marks[0]).x.front(), 0);
}

TEST(DataPictures, NumbersColourByShadesAndFacetsShareWhatColoursMean) {
  const Table boston = dataset("boston");
  const Figure shaded = draw("scatter", boston, "medv ~ lstat", {.colour = "crim", .facet = "chas"});
  ASSERT_TRUE(shaded.legend.ramp);
  EXPECT_NEAR(shaded.legend.ramp->to, 88.9762, 1e-9);
  EXPECT_EQ(shaded.points(), 506);
  // rad takes 9 values, of which houses by the river know fewer
  const Figure groups = draw("scatter", boston, "medv ~ lstat", {.colour = "rad", .facet = "chas"});
  const auto& river = std::get<Points>(groups.panels[1].marks[0]);
  const auto of = [&](const char* name) {
    for (const auto& entry : groups.legend.entries)
      if (entry.text == name) return entry.paint.number;
    return -1;
  };
  const auto& chas = boston.column("chas").numbers().values;
  const auto first = std::find(chas.begin(), chas.end(), 1) - chas.begin();
  const double rad = boston.column("rad").numbers().values[static_cast<std::size_t>(first)];
  EXPECT_EQ(river.group[0], of(fmt::format("{:g}", rad).c_str()));
  EXPECT_TRUE(river.tooltips[0].starts_with(fmt::format("row {}:", first + 1))) << river.tooltips[0];
}

TEST(DataPictures, PointsAreTheColumnsAndTheirGroups) {
  const Figure figure = draw("scatter", small(), "y ~ x", {.colour = "g"});
  const auto points = mark<Points>(figure);
  EXPECT_EQ(points.x, (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(points.y[2], 30);
  EXPECT_TRUE(std::isnan(points.y[1])) << "what is missing is not drawn";
  EXPECT_EQ(points.group, (std::vector<int>{0, 1, 0, 1}));
  EXPECT_EQ(figure.title, "small.csv: y ~ x");
  ASSERT_EQ(figure.legend.entries.size(), 2u);
  EXPECT_EQ(figure.legend.entries[1].text, "b");
  EXPECT_NE(figure.description.find("3 points"), std::string::npos);
}

TEST(DataPictures, ClassesOfTheFormulaColourTwoColumns) {
  const Figure figure = draw("scatter", dataset("iris"), "species ~ petal_length + petal_width");
  EXPECT_EQ(figure.panels[0].x.label, "petal_length");
  EXPECT_EQ(figure.panels[0].y.label, "petal_width");
  EXPECT_EQ(figure.legend.title, "species");
}

TEST(DataPictures, AVoronoiDiagramPartsRowsAtTheirBisectors) {
  const Table table(
      {numeric("x", {0, 2, 1, 0}), numeric("y", {0, 0, std::nan(""), 0}), categorical("g", {"a", "b", "a", "a"})});
  const Figure figure = draw("voronoi", table, "g ~ x + y");
  const auto border = mark<Segments>(figure);
  EXPECT_EQ(border.x0, (std::vector<double>{1}));
  EXPECT_EQ(border.x1, (std::vector<double>{1}));
  EXPECT_EQ(border.width, 2) << "it parts two classes";
  EXPECT_EQ(mark<Points>(figure, 0, 1).group, (std::vector<int>{0, 1, 0}));
  EXPECT_NE(figure.description.find("2 places"), std::string::npos) << figure.description;
  EXPECT_EQ(mark<Segments>(draw("voronoi", table, "~ x + y")).width, 1);
  EXPECT_NE(message_of([&] { draw("voronoi", dataset("iris"), ""); }).find("4 columns"), std::string::npos);
  EXPECT_NE(message_of([&] { draw("voronoi", table, "g ~ x"); }).find("'class ~ a + b'"), std::string::npos);
}

TEST(DataPictures, ALineGoesInTheOrderOfX) {
  const Table table({numeric("t", {3, 1, 2}), numeric("y", {30, 10, 20})});
  EXPECT_EQ(mark<Line>(draw("line", table, "y ~ t")).y, (std::vector<double>{10, 20, 30}));
  EXPECT_EQ(draw("line", table, "cbind(y, t) ~ t").panels[0].marks.size(), 2u);
}

TEST(DataPictures, BarsCountRowsStackClassesOrAverage) {
  const auto counts = mark<Rectangles>(draw("bar", dataset("iris"), "~ species"));
  EXPECT_EQ(counts.y1, (std::vector<double>{50, 50, 50}));
  const auto stacked = mark<Rectangles>(draw("bar", dataset("crabs"), "sex ~ sp"));
  EXPECT_EQ(stacked.y0, (std::vector<double>{0, 50, 0, 50}));
  EXPECT_EQ(stacked.y1, (std::vector<double>{50, 100, 50, 100}));
  const auto means = mark<Rectangles>(draw("bar", small(), "y ~ g"));
  EXPECT_EQ(means.y1, (std::vector<double>{20, 40}));
}

TEST(DataPictures, ABoxGoesFromQuartileToQuartileAndWhiskersToTheLastValueNearby) {
  const Table table({numeric("v", {1, 2, 3, 4, 5, 6, 7, 30})});
  const Figure figure = draw("box", table, "~ v");
  const auto boxes = mark<Rectangles>(figure, 0, 1);
  EXPECT_EQ(boxes.y0[0], 2.75);
  EXPECT_EQ(boxes.y1[0], 6.25);
  EXPECT_EQ(mark<Segments>(figure, 0, 2).y0[0], 4.5);
  EXPECT_EQ(mark<Segments>(figure, 0, 0).y1, (std::vector<double>{1, 7, 1, 7}));
  EXPECT_EQ(mark<Points>(figure, 0, 3).y, (std::vector<double>{30}));
}

TEST(DataPictures, AHistogramHoldsEveryRowOnce) {
  for (const char* column : {"waiting", "eruptions"}) {
    double rows = 0;
    for (const double count : mark<Rectangles>(draw("histogram", dataset("faithful"), std::string("~ ") + column)).y1)
      rows += count;
    EXPECT_EQ(rows, 272);
  }
  EXPECT_EQ(draw("histogram", dataset("iris"), "species ~ petal_length").panels[0].marks.size(), 3u)
      << "bars for each class";
}

TEST(DataPictures, ADensityHasAreaOne) {
  const auto curve = mark<Line>(draw("density", dataset("faithful"), "~ eruptions"), 0, 1);
  double area = 0;
  for (std::size_t i = 1; i < curve.x.size(); ++i)
    area += (curve.y[i] + curve.y[i - 1]) / 2 * (curve.x[i] - curve.x[i - 1]);
  EXPECT_NEAR(area, 1, 2e-3) << "three bandwidths beyond the data are drawn";
}

TEST(DataPictures, AViolinIsAsWideAboveAsBelow) {
  const auto area = mark<Area>(draw("violin", dataset("iris"), "sepal_width ~ species"), 0, 1);
  for (std::size_t i = 0; i < area.x.size(); ++i) EXPECT_NEAR(area.upper[i] - 1, 1 - area.lower[i], 1e-12);
}

TEST(DataPictures, NormalQuantilesAreRsQqnorm) {
  const Figure figure = draw("qq", Table({numeric("v", {3, 1, 2})}), "~ v");
  const auto points = mark<Points>(figure, 0, 1);
  EXPECT_EQ(points.y, (std::vector<double>{1, 2, 3}));
  EXPECT_NEAR(points.x[2], 0.869423773289, 1e-9);
  EXPECT_NEAR(points.x[1], 0, 1e-9);
}

TEST(DataPictures, PairsHaveHistogramsOnTheDiagonalAndOneRangeForEachColumn) {
  const Figure figure = pairs(dataset("iris"), "species ~ .");
  ASSERT_EQ(figure.panels.size(), 16u);
  for (const Panel& panel : figure.panels) {
    EXPECT_EQ(std::holds_alternative<Rectangles>(panel.marks[0]), panel.row == panel.column);
    EXPECT_EQ(panel.x.from, figure.panels[static_cast<std::size_t>(panel.column)].x.from);
  }
  EXPECT_NE(message_of([] { pairs(dataset("sonar")); }).find("60 columns make too many pairs"), std::string::npos);
}

TEST(DataPictures, CorrelationsAreThoseOfTheRowsThatHaveBoth) {
  const Table table({numeric("a", {1, 2, 3, 100}), numeric("b", {2, 4, 6, std::nan("")}), numeric("c", {5, 5, 5, 5})});
  const auto cells = mark<Rectangles>(draw("correlation", table));
  ASSERT_EQ(cells.tooltips.size(), 9u);
  EXPECT_EQ(cells.tooltips[1], "a, b: 1.00");
  EXPECT_EQ(cells.tooltips[2], "a, c: none");
}

TEST(DataPictures, MissingValuesAreCountedWhereTheyAre) {
  const Figure figure = draw("missing", small());
  const auto cells = mark<Rectangles>(figure);
  ASSERT_EQ(cells.x0.size(), 1u);
  EXPECT_EQ(cells.x0[0], 1.5);
  EXPECT_EQ(cells.x1[0], 2.5);
  EXPECT_NE(std::find(figure.panels[0].y.levels.begin(), figure.panels[0].y.levels.end(), "y (1)"),
            figure.panels[0].y.levels.end());
}

TEST(DataPictures, ParallelLinesGoFromTheLeastToTheGreatestOfEachColumn) {
  const Figure figure = draw("parallel", small(), "g ~ x + y");
  EXPECT_EQ(mark<Line>(figure, 0, 0).y, (std::vector<double>{0, 0}));
  EXPECT_EQ(mark<Line>(figure, 0, 3).y, (std::vector<double>{1, 1}));
}

TEST(DataPictures, AHeatMapIsWhiteAtTheMean) {
  const auto cells = mark<Rectangles>(draw("heatmap", Table({numeric("a", {1, 2, 3})})));
  ASSERT_EQ(cells.paints.size(), 3u);
  EXPECT_DOUBLE_EQ(cells.paints[1].at, 0.5);
  EXPECT_LT(cells.paints[0].at, 0.5);
}

TEST(DataPictures, FacetsHaveOneRangeForAll) {
  const Figure figure = draw("scatter", dataset("iris"), "petal_width ~ petal_length", {.facet = "species"});
  ASSERT_EQ(figure.panels.size(), 3u);
  EXPECT_EQ(figure.panels[0].title, "species = setosa");
  for (const Panel& panel : figure.panels) {
    EXPECT_EQ(panel.x.from, figure.panels[0].x.from);
    EXPECT_EQ(panel.y.to, figure.panels[0].y.to);
    EXPECT_EQ(std::get<Points>(panel.marks[0]).x.size(), 50u);
  }
}

TEST(DataPictures, WithoutAKindTheMostTellingIsDrawn) {
  const Table iris = dataset("iris");
  EXPECT_EQ(kind_for(iris, "petal_width ~ petal_length"), "scatter");
  EXPECT_EQ(kind_for(iris, "petal_width ~ species"), "box");
  EXPECT_EQ(draw(kind_for(iris, "petal_width ~ species + petal_length"), iris, "petal_width ~ species + petal_length")
                .panels.size(),
            2u);
  EXPECT_EQ(draw(kind_for(dataset("crabs"), "sex ~ . - index"), dataset("crabs"), "sex ~ . - index").panels.size(), 25u)
      << "sp holds no numbers";
  EXPECT_EQ(kind_for(iris, "~ petal_width"), "histogram");
  EXPECT_EQ(kind_for(iris, "~ species"), "bar");
  EXPECT_EQ(kind_for(iris, "species ~ petal_width"), "box");
  EXPECT_EQ(kind_for(iris, "species ~ ."), "pairs");
  EXPECT_EQ(kind_for(iris), "pairs");
  EXPECT_EQ(kind_for(dataset("boston")), "correlation");
  const Table words({text("a", {"1", "-"}), numeric("b", {1, 2})});
  EXPECT_EQ(kind_for(words, "b ~ a"), "scatter");
  EXPECT_NE(message_of([&] { draw("scatter", words, "b ~ a"); }).find("'a' is text"), std::string::npos);
}

TEST(DataPictures, EveryKindDrawsEveryBuiltInSetOrSaysWhyNot) {
  for (const auto& info : datasets()) {
    const Table table = dataset(info.name);
    if (table.rows() > 5000) continue;
    for (const PictureKind& kind : data_kinds()) try {
        EXPECT_FALSE(to_svg(draw(kind.name, table)).empty());
      } catch (const Error& error) {
        EXPECT_GT(std::string(error.what()).size(), 20u) << info.name << ' ' << kind.name;
      }
  }
}

TEST(DataPictures, MistakesAreNamed) {
  const Table iris = dataset("iris");
  const auto said = [&](const char* kind, const char* formula, const PlotOptions& options = {}) {
    return message_of([&] { draw(kind, iris, formula, options); });
  };
  EXPECT_NE(said("scater", "").find("there is no picture 'scater' (did you mean 'scatter'?)"), std::string::npos);
  EXPECT_NE(said("histogram", "~ species").find("'species' is categorical"), std::string::npos);
  EXPECT_NE(said("scatter", "~ petal_width").find("'y ~ x'"), std::string::npos);
  EXPECT_NE(said("scatter", "petal_width ~ petal_length", {.log = "z"}).find("must be x, y or xy"), std::string::npos);
  EXPECT_NE(said("pairs", "", {.facet = "species"}).find("--facet does not go with pairs"), std::string::npos);
  EXPECT_NE(said("box", "petal_width ~ species", {.log = "x"}).find("no axis of numbers"), std::string::npos);
  EXPECT_NE(said("scatter", "petal_width ~ petal_length", {.width = 3}).find("--width is 3"), std::string::npos);
  EXPECT_NE(said("scatter", "petal_width ~ petal_length", {.colour = "specie"}).find("did you mean 'species'"),
            std::string::npos);
  EXPECT_NE(message_of([&] { draw("scatter", iris.slice(0, 0), "petal_width ~ petal_length"); }).find("no rows"),
            std::string::npos);
}

}  // namespace
}  // namespace lemma::plot
