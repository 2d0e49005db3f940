// lemma/plot/figure_test.cpp: SVG, PNG, PDF and the terminal.
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/error.hpp>
#include <lemma/core/random.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/plot/colours.hpp>
#include <lemma/plot/data.hpp>
#include <lemma/plot/hexagons.hpp>
#include <lemma/plot/layout.hpp>
#include <regex>
#include <tests/message_of.hpp>

namespace lemma::plot {
namespace {

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }
std::size_t times(const std::string& text, std::string_view part) {
  std::size_t out = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++out;
  return out;
}

Figure one_point(double x, double y) {
  Panel panel;
  panel.x.from = 0, panel.x.to = 10, panel.y.from = 0, panel.y.to = 10;
  panel.marks.emplace_back(Points{{x}, {y}, {}, {}});
  Figure out;
  out.title = "one";
  out.panels.push_back(panel);
  return out;
}

TEST(Svg, HasAPointWhereTheDataSay) {
  const Figure figure = one_point(2.5, 10);
  const Layout places = layout(figure);
  const std::string svg = to_svg(figure);
  std::smatch found;
  ASSERT_TRUE(std::regex_search(svg, found, std::regex("<circle cx=\"([0-9.]+)\" cy=\"([0-9.]+)\"")));
  EXPECT_NEAR(std::stod(found[1]), places.panels[0].area.width / 4, 0.01);
  EXPECT_NEAR(std::stod(found[2]), 0, 0.01);
}

TEST(Svg, IsTheSameBytesAndLoadsNothing) {
  const Figure figure = pairs(dataset("iris"), "species ~ .");
  const std::string svg = to_svg(figure);
  EXPECT_EQ(svg, to_svg(pairs(dataset("iris"), "species ~ .")));
  EXPECT_FALSE(contains(svg, "href"));
  EXPECT_FALSE(contains(svg, "<script"));
  EXPECT_EQ(times(svg, "http"), 1u) << "the name of the format alone";
  EXPECT_TRUE(contains(svg, "role=\"img\""));
  EXPECT_TRUE(contains(svg, "<desc>Scatter plots of every pair"));
  EXPECT_TRUE(contains(svg, "prefers-color-scheme:dark"));
}

TEST(Svg, HoldsAnyText) {
  Figure figure = one_point(1, 1);
  figure.title = "a < b & \"c\" \x01 \xff";
  const std::string svg = to_svg(figure);
  EXPECT_TRUE(contains(svg, "a &lt; b &amp; &quot;c&quot; \uFFFD \uFFFD"));
}

TEST(Svg, DoesNotDrawWhatIsNotFinite) {
  EXPECT_FALSE(contains(to_svg(one_point(std::nan(""), 1)), "<circle"));
  EXPECT_FALSE(contains(to_svg(one_point(INFINITY, 1)), "<circle"));
  EXPECT_TRUE(contains(to_svg(one_point(NAN, 1)), "nothing to draw"));
  EXPECT_FALSE(contains(
      to_svg(draw("scatter", Table({numeric("x", {1, 1e300}), numeric("y", {-1e300, NAN})}), "y ~ x")), "nan"));
}

TEST(Svg, OfAMillionPointsIsBelowAMegabyte) {
  std::vector<double> x, y;
  RandomStream random(1);
  for (int i = 0; i < 1'000'000; ++i) x.push_back(random.normal()), y.push_back(random.normal());
  const Table table({numeric("x", std::move(x)), numeric("y", std::move(y))});
  const std::string svg = to_svg(draw("scatter", table, "y ~ x"));
  EXPECT_LT(svg.size(), 1'000'000u);
  EXPECT_GT(svg.size(), 20'000u);
}

TEST(Svg, ALongTitleStaysOnThePaperInBoldLettersToo) {
  Figure figure = one_point(1, 1);
  figure.title = "ols: medv ~ scale(crim) + scale(zn) + scale(nox) + scale(rm) + scale(dis) + scale(rad) + scale(tax)";
  const std::string svg = to_svg(figure);
  std::smatch found;
  ASSERT_TRUE(std::regex_search(svg, found, std::regex("font-weight=\"bold\">([^<]*)…</text>")));
  // DejaVu Sans Bold of size 15 sets this title 8.40 pixels wide for each character
  EXPECT_LE(static_cast<double>(found[1].str().size() + 1) * 8.40, figure.width);
}

TEST(Svg, WordsBesideArrowsKeepClearOfThem) {
  Panel panel;
  Segments arrow{{0}, {0}, {4}, {0}, ink(), 1};
  arrow.arrows = true;
  panel.x = {"", ScaleKind::linear, {}, -1, 5}, panel.y = {"", ScaleKind::linear, {}, -1, 1};
  panel.marks.emplace_back(arrow);
  Words word{{2}, {0}, {"upon the arrow"}};
  word.centred = false;
  panel.marks.emplace_back(word);
  Figure figure;
  figure.panels.push_back(panel);
  const std::string svg = to_svg(figure);
  std::smatch at, line;
  ASSERT_TRUE(std::regex_search(svg, at, std::regex("y=\"([0-9.]+)\" font-size=\"11\"[^>]*>upon")));
  ASSERT_TRUE(std::regex_search(svg, line, std::regex("<path d=\"M[0-9.]+ ([0-9.]+)L")));
  EXPECT_GE(std::abs(std::stod(at[1]) - 4 - std::stod(line[1])), 6);
}

TEST(Svg, WordsDoNotLieOnOneAnother) {
  Panel panel;
  Words words;
  for (int i = 0; i < 30; ++i)
    words.x.push_back(i % 3), words.y.push_back(i % 5 * 0.01), words.words.push_back("word" + std::to_string(i));
  words.centred = false;
  panel.marks.emplace_back(words);
  Figure figure;
  figure.panels.push_back(panel);
  const std::string svg = to_svg(figure);
  const auto marks = svg.substr(svg.find("class=\"marks\""));
  std::vector<Box> boxes;
  const std::regex text("<text x=\"([-0-9.]+)\" y=\"([-0-9.]+)\" font-size=\"11\"[^>]*>(word[0-9]+)<");
  for (std::sregex_iterator it(marks.begin(), marks.end(), text), end; it != end; ++it) {
    const double wide = text_width((*it)[3].str(), 11);
    boxes.push_back({std::stod((*it)[1]) - wide / 2, std::stod((*it)[2]) - 11, wide, 10.9});
  }
  ASSERT_GT(boxes.size(), 5u);
  for (std::size_t a = 0; a < boxes.size(); ++a)
    for (std::size_t b = 0; b < a; ++b) EXPECT_FALSE(boxes[a].overlaps(boxes[b]));
}

TEST(Hexagons, HoldEveryPointInsideOnce) {
  const auto cells = hexagons_of({1, 1.1, 50, 99, 200}, {1, 1, 50, 99, 5}, {}, 100, 100, 10);
  double sum = 0;
  for (const Hexagon& cell : cells) sum += cell.count;
  EXPECT_EQ(sum, 4) << "one lies outside";
  for (const Hexagon& cell : cells) EXPECT_TRUE(cell.count != 2 || std::hypot(cell.x - 1, cell.y - 1) < 10);
}

/// Contrast as WCAG 2 counts it.
double contrast(const Colour& a, const Colour& b) {
  const auto light = [](const Colour& c) {
    const auto part = [](double v) {
      return v / 255 <= 0.03928 ? v / 255 / 12.92 : std::pow((v / 255 + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * part(c.red) + 0.7152 * part(c.green) + 0.0722 * part(c.blue);
  };
  const double x = light(a), y = light(b);
  return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}

TEST(Colours, OfTextHaveEnoughContrastOnBothPapers) {
  for (const bool dark : {false, true}) {
    const Colours& all = colours(dark);
    EXPECT_GE(contrast(all.ink, all.paper), 7);
    EXPECT_GE(contrast(all.faint, all.paper), 4.5);
    for (const Colour& each : all.palette) EXPECT_GE(contrast(each, all.paper), 2) << each.hex();
  }
  EXPECT_EQ(ramp(Paint::Of::diverging, 0.5).hex(), "#f7f7f7");
  EXPECT_EQ(ramp(Paint::Of::diverging, 7).hex(), ramp(Paint::Of::diverging, 1).hex());
  for (const auto of : {Paint::Of::sequential, Paint::Of::diverging})
    for (double at = 0; at <= 1; at += 0.01) {
      const Paint cell{of, 0, at, 1};
      const Paint words = takes_dark_words(cell) ? dark_words() : pale_words();
      for (const bool dark : {false, true})
        EXPECT_GE(contrast(colour_of(words, dark), colour_of(cell, dark)), 4.5) << at << dark;
    }
}

TEST(Colours, OfRampsStandOutFromEitherPaperTheMoreTheyMean) {
  for (const bool dark : {false, true}) {
    const auto stands_out = [&](const Paint& paint) { return contrast(colour_of(paint, dark), colours(dark).paper); };
    for (double at = 0; at < 0.99; at += 0.01)
      EXPECT_LE(stands_out(sequential(at)), 1.01 * stands_out(sequential(at + 0.01))) << at << dark;
    EXPECT_LT(stands_out(sequential(0)), 1.7);
    EXPECT_GT(stands_out(sequential(0)), 1.2) << "points of it are still seen";
    EXPECT_LT(stands_out(diverging(0.5)), 1.5);
    EXPECT_GT(std::min(stands_out(diverging(0)), stands_out(diverging(1))), 4);
  }
}

TEST(Svg, RampsTurnRoundOnDarkPaper) {
  Figure figure = one_point(1, 1);
  Rectangles cells;
  cells.x0 = cells.y0 = {0}, cells.x1 = cells.y1 = {1}, cells.paints = {sequential(0)};
  figure.panels[0].marks.emplace_back(cells);
  const std::string turned = "[fill=\"#fde725\"]{fill:" + colour_of(sequential(0), true).hex() + "}";
  const std::string svg = to_svg(figure), part = to_svg_in_page(figure);
  const auto place_of = [&](const std::string& text) { return svg.find(text); };
  EXPECT_TRUE(contains(svg, "fill=\"#fde725\"/>"));
  EXPECT_GT(place_of(turned), place_of("prefers-color-scheme:dark"));
  EXPECT_TRUE(contains(part, turned));
  cells.paints = {series(1)}, cells.outlined = true;
  figure.panels[0].marks.emplace_back(cells);
  EXPECT_TRUE(contains(to_svg(figure), "class=\"s1 f1\"")) << "edges are those of the paper too";
  figure.theme = Theme::light;
  EXPECT_FALSE(contains(to_svg(figure), turned));
  figure.theme = Theme::dark;
  EXPECT_TRUE(contains(to_svg(figure), turned));
}

TEST(Render, PngAndPdfAreWhatTheySayAndTheSameBytes) {
  const Figure figure = one_point(1, 1);
  const std::string png = render(figure, Format::png), pdf = render(figure, Format::pdf);
  EXPECT_TRUE(png.starts_with("\x89PNG"));
  EXPECT_TRUE(pdf.starts_with("%PDF"));
  EXPECT_EQ(png, render(figure, Format::png));
  EXPECT_EQ(pdf, render(figure, Format::pdf));
  const auto at = [&](std::size_t byte) { return static_cast<unsigned char>(png[byte]); };
  EXPECT_EQ((at(18) << 8) + at(19), 1440) << "two pixels for each of the figure's 720";
}

TEST(Render, AFileIsKnownByItsEnding) {
  EXPECT_EQ(format_of("a.b/x.svg"), Format::svg);
  EXPECT_EQ(format_of("x.pdf"), Format::pdf);
  EXPECT_NE(message_of([] { format_of("x.jpg"); }).find("must end in .svg, .png, .pdf or .txt"), std::string::npos);
  EXPECT_NE(message_of([] { format_of("svg"); }).find("must end in"), std::string::npos);
}

TEST(Term, SaysOfEachPairWhatItShows) {
  const std::string text =
      to_term(pairs(dataset("iris"), "species ~ petal_length + petal_width"), {.columns = 60, .rows = 40});
  EXPECT_TRUE(contains(text, "petal_width against petal_length\n") &&
              contains(text, "petal_length against petal_width\n"))
      << text;
}

TEST(Term, DrawsWithinItsColumns) {
  for (const PictureKind& kind : data_kinds()) {
    const std::string text = to_term(draw(kind.name, dataset("iris"),
                                          kind.name == "bar"    ? "~ species"
                                          : kind.name == "line" ? ""
                                                                : "species ~ petal_length + petal_width"),
                                     {.columns = 60, .rows = 20});
    std::size_t line = 0;
    for (const char c : text) {  // characters, not bytes
      line += (c & 0xC0) != 0x80;
      if (c != '\n') continue;
      EXPECT_LE(line, 61u) << kind.name << "\n" << text;
      line = 0;
    }
    EXPECT_FALSE(contains(text, "\x1b["));
  }
  EXPECT_TRUE(contains(to_term(one_point(5, 5), {.colours = true}), "\x1b[38;2;"));
}

}  // namespace
}  // namespace lemma::plot
