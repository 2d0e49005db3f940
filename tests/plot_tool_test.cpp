// tests/plot_tool_test.cpp: lemma plot, as it is typed.
#include <gtest/gtest.h>
#include <lemma/core/value.hpp>
#include <tests/run_tool.hpp>

namespace lemma {
namespace {

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(PlotTool, WritesWhatTheEndingSays) {
  const Folder in;
  for (const auto& [name, begin] : {std::pair{"p.svg", "<svg"}, {"p.png", "\x89PNG"}, {"p.pdf", "%PDF"}, {"p.txt", "iris"}}) {
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
