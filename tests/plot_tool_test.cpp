// tests/plot_tool_test.cpp: lemma plot, as it is typed.
#include <filesystem>
#include <gtest/gtest.h>
#include <lemma/core/value.hpp>
#include <tests/run_tool.hpp>

namespace lemma {
namespace {

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(PlotTool, WritesWhatTheEndingSays) {
  const Folder in;
  for (const auto& [name, begin] :
       {std::pair{"p.svg", "<svg"}, {"p.png", "\x89PNG"}, {"p.pdf", "%PDF"}, {"p.txt", "iris"}}) {
    const auto done = in.lemma(std::string("plot scatter iris 'petal_width ~ petal_length' -o ") + name);
    EXPECT_EQ(done.code, 0) << done.err;
    EXPECT_TRUE(in.read(name).starts_with(begin)) << name;
    EXPECT_TRUE(contains(done.err, "scatter written to"));
  }
  EXPECT_EQ(in.lemma("plot scatter iris 'petal_width ~ petal_length' -o p.jpg").code, 2);
  EXPECT_EQ(in.lemma("plot scatter iris 'petal_width ~ petal_length' -o same --format svg").code, 0);
  EXPECT_TRUE(in.read("same") == in.read("p.svg")) << "the same bytes";
}

TEST(PlotTool, TakesTheKindThatTellsMostAndDrawsInTheTerminal) {
  const Folder in;
  const auto drawn = in.lemma("plot iris 'petal_width ~ petal_length'");
  EXPECT_EQ(drawn.code, 0) << drawn.err;
  EXPECT_TRUE(contains(drawn.out, "petal_length"));
  const auto told = in.lemma("plot iris 'petal_width ~ species' -o b.svg --json");
  ASSERT_EQ(told.code, 0) << told.err;
  const Value document = from_json(told.out);
  EXPECT_EQ(document.at("kind").as_string(), "box");
  EXPECT_EQ(document.at("file").as_string(), "b.svg");
  EXPECT_EQ(in.lemma("plot iris --json").code, 2);
}

TEST(PlotTool, DrawsEveryPictureOfTheGallery) {
  const Folder in;
  const std::string command = "'" + source_dir() + "/tools/gallery' --tool '" + tool_path() + "' '" +
                              in.path("pictures") + "' >'" + in.path("said") + "' 2>&1";
  ASSERT_EQ(std::system(command.c_str()), 0) << in.read("said");
  int pictures = 0;
  for (const auto& entry : std::filesystem::directory_iterator(in.path("pictures"))) {
    const std::string name = entry.path().filename().string(), svg = in.read("pictures/" + name);
    EXPECT_TRUE(svg.starts_with("<svg ") && svg.ends_with("</svg>\n")) << name;
    EXPECT_FALSE(contains(svg, "nan") || contains(svg, "inf\"") || contains(svg, "nothing to draw")) << name;
    EXPECT_LT(svg.size(), 1'000'000u) << name;
    EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(source_dir()) / "docs/gallery" / name))
        << name << " is not kept: make gallery";
    ++pictures;
  }
  EXPECT_GT(pictures, 25);
}

TEST(PlotTool, DrawsModels) {
  const Folder in;
  ASSERT_EQ(in.lemma("fit glm pima_train 'type ~ glu + bmi' -o m.lemma").code, 0);
  EXPECT_TRUE(contains(in.lemma("plot m.lemma roc pima_test -o r.svg").err, "the area below it is 0.826"));
  EXPECT_TRUE(contains(in.lemma("plot m.lemma roc pima_train -o r.svg").err, "trained the model"))
      << "what flatters is said";
  const auto told = in.lemma("plot m.lemma pima_test -o r.svg --json");
  ASSERT_EQ(told.code, 0) << told.err;
  EXPECT_EQ(from_json(told.out).at("kind").as_string(), "regions");
  EXPECT_EQ(in.lemma("plot m.lemma -o c.svg").code, 0) << "without rows its coefficients";
  EXPECT_TRUE(contains(in.lemma("plot m.lemma scree").err, "this glm has no picture 'scree'; it has"));
  EXPECT_TRUE(contains(in.lemma("plot m.lemma coeficients").err, "did you mean 'coefficients'?"));
  EXPECT_TRUE(contains(in.lemma("plot m.lemma nothing.csv").err, "nothing.csv"));
  EXPECT_TRUE(contains(in.lemma("plot m.lemma roc").err, "which DATA?"));
  ASSERT_EQ(in.lemma("fit lda pima_train 'type ~ .' -o l.lemma").code, 0);
  const auto two = in.lemma("plot m.lemma roc pima_test --with l.lemma -o two.svg");
  EXPECT_EQ(two.code, 0) << two.err;
  EXPECT_TRUE(contains(two.err, "m.lemma: ROC curve of 332 rows") &&
              contains(two.err, "l.lemma: ROC curve of 332 rows"));
  EXPECT_TRUE(contains(in.read("two.svg"), ">l.lemma</text>")) << "the legend tells them apart";
  EXPECT_EQ(in.lemma("plot m.lemma confusion pima_test --with l.lemma -o two.svg").code, 2);
}

TEST(PlotTool, NamesMistakes) {
  const Folder in;
  const auto said = [&](const std::string& call) {
    const auto done = in.lemma("plot " + call);
    EXPECT_EQ(done.code, 2) << call;
    return done.err;
  };
  EXPECT_TRUE(contains(said("histogramm iris"), "did you mean 'histogram'?"));
  EXPECT_TRUE(contains(said("scatter"), "plot scatter needs DATA"));
  EXPECT_TRUE(contains(said("scatter iris 'petal_width ~ petal_lenght'"), "did you mean 'petal_length'?"));
  EXPECT_TRUE(contains(said("nodata.csv"), "nodata.csv"));
  EXPECT_TRUE(contains(said("iris --format gif"), "must be one of svg, png, pdf and term"));
  EXPECT_TRUE(contains(said("iris --theme blue"), "must be one of auto, light, dark"));
  in.write("mine.csv", "a,b\n1,2\n3,4\n");
  EXPECT_TRUE(contains(said("scatter mine.csv 'a ~ b' -o mine.csv"), "mine.csv"));
  EXPECT_EQ(in.read("mine.csv"), "a,b\n1,2\n3,4\n");
}

}  // namespace
}  // namespace lemma
