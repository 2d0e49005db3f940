// lemma/report/document_test.cpp: pages hold what the document says, escaped, in one file.
#include <gtest/gtest.h>
#include <lemma/report/document.hpp>

namespace lemma::reporting {
namespace {

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

Document example() {
  plot::Figure figure;
  figure.title = "Points";
  figure.description = "Two points.";
  plot::Panel panel{"", {"x"}, {"y"}, {}};
  panel.marks.emplace_back(plot::Points{{1, 2}, {3, 4}, {}, {"row 1", "row 2"}});
  figure.panels.push_back(panel);
  Document out{"A <title>", "Lead & more"};
  Section section{"one", "Section `code`"};
  section.blocks = {Paragraph{"a < b, `x | y`"}, Notice{Notice::Kind::warning, "Careful", "it *is* so"},
                    Code{"commands", "lemma fit lda 'a <b'"},
                    Sheet{"Numbers", {{"name", {"p|q", "r"}}, {"value", {"1,234 [1, 2]", "0.5"}, true}}},
                    Picture{"points", figure}};
  out.sections.push_back(section);
  return out;
}

TEST(Document, HtmlIsOneFileThatNeedsNothingElse) {
  const std::string page = to_html(example());
  EXPECT_TRUE(page.starts_with("<!doctype html>"));
  EXPECT_FALSE(contains(page, "http://") || contains(page, "https://") || contains(page, "src="))
      << "nothing is loaded";
  EXPECT_TRUE(contains(page, "<title>A &lt;title&gt;</title>"));
  EXPECT_TRUE(contains(page, "<p>a &lt; b, <code>x | y</code></p>"));
  EXPECT_TRUE(contains(page, "class=\"notice warning\""));
  EXPECT_TRUE(contains(page, "<code>lemma fit lda 'a &lt;b'</code>"));
  EXPECT_TRUE(contains(page, "<title>row 2</title>")) << "a point tells its row";
  EXPECT_TRUE(contains(page, "<figcaption>Two points.</figcaption>"));
  EXPECT_EQ(page, to_html(example())) << "the same bytes";
}

TEST(Document, CellsSortByTheNumberTheyBeginWith) {
  const std::string page = to_html(example());
  EXPECT_TRUE(contains(page, "<td class=\"n\" data-v=\"1234\">1,234 [1, 2]</td>"));
  EXPECT_TRUE(contains(page, "<td class=\"n\">0.5</td>"));
  EXPECT_TRUE(contains(page, "<th scope=\"row\">r</th>"));
  EXPECT_TRUE(contains(page, "<caption>Numbers</caption>"));
}

TEST(Document, MarkdownHasItsPicturesBesideIt) {
  const MarkdownPage page = to_markdown(example(), "pictures");
  ASSERT_EQ(page.pictures.size(), 1u);
  EXPECT_EQ(page.pictures[0].first, "01_points.svg");
  EXPECT_TRUE(page.pictures[0].second.starts_with("<svg xmlns="));
  EXPECT_TRUE(contains(page.text, "# A \\<title\\>\n"));
  EXPECT_TRUE(contains(page.text, "![Two points.](pictures/01_points.svg)"));
  EXPECT_TRUE(contains(page.text, "| p\\|q | 1,234 \\[1, 2\\] |"));
  EXPECT_TRUE(contains(page.text, "> ⚠ **Careful** — it \\*is\\* so"));
  EXPECT_TRUE(contains(to_markdown(example(), "").text, "(Picture: Two points.)")) << "told in words";
  EXPECT_TRUE(to_markdown(example(), "").pictures.empty());
}

TEST(Document, AnyBytesMakeAPage) {
  Document odd{"\xff\x01", "``` `odd"};
  odd.sections.push_back({"a", "b", {Code{"c", "```\nfenced\n```"}, Paragraph{"one ` alone"}, Sheet{"empty", {}}}});
  const std::string page = to_html(odd);
  EXPECT_TRUE(contains(page, "\uFFFD"));
  EXPECT_TRUE(contains(page, "one ` alone"));
  EXPECT_TRUE(contains(to_markdown(odd, "").text, "````\n```\nfenced\n```\n````")) << "the fence is longer";
}

}  // namespace
}  // namespace lemma::reporting
