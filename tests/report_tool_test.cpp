// tests/report_tool_test.cpp: lemma report, as it is typed.
#include <csignal>
#include <filesystem>
#include <gtest/gtest.h>
#include <lemma/core/value.hpp>
#include <sstream>
#include <tests/run_tool.hpp>

namespace lemma {
namespace {

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(ReportTool, WritesOneFileThatNeedsNothingElse) {
  const Folder in;
  const auto done = in.lemma("report iris 'species ~ .' -o iris.html");
  ASSERT_EQ(done.code, 0) << done.err;
  EXPECT_TRUE(contains(done.err, "report written to iris.html"));
  const std::string page = in.read("iris.html");
  EXPECT_LT(page.size(), 3'000'000u);
  EXPECT_TRUE(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
  EXPECT_FALSE(contains(page, "http://") || contains(page, "https://") || contains(page, "src="));
  EXPECT_FALSE(contains(page, "nan\"") || contains(page, ">nan<"));
  for (const auto* section : {"In short", "The data", "What to watch out for", "Methods compared", "The best one",
                              "How to use it", "How to repeat it"})
    EXPECT_TRUE(contains(page, section)) << section;
}

TEST(ReportTool, TheSameBytesOnAnyNumberOfThreads) {
  const Folder in;
  const std::string call = "report pima_train 'type ~ .' --methods 'lda,forest(trees=30),boost(rounds=20)' -o ";
  ASSERT_EQ(in.lemma(call + "a.html --threads 1").code, 0);
  ASSERT_EQ(in.lemma(call + "sub.html --threads 3").code, 0);
  std::string a = in.read("a.html"), b = in.read("sub.html");
  for (auto at = b.find("sub.html"); at != std::string::npos; at = b.find("sub.html")) b.replace(at, 8, "a.html");
  EXPECT_EQ(a, b);
}

TEST(ReportTool, ItsCommandsMakeTheModelOfThePageAgain) {
  const Folder in;
  const auto said = in.lemma("report pima_train 'type ~ .' --methods 'lda,tree'");
  ASSERT_EQ(said.code, 0) << said.err;
  std::istringstream lines(said.out);
  std::string accuracy, judged;
  bool measures = false;
  for (std::string line; std::getline(lines, line);) {
    if (contains(line, "How good it is on")) measures = true;
    if (measures && line.starts_with("| accuracy |"))
      accuracy = line.substr(13, line.find(' ', 13) - 13), measures = false;
    if (!line.starts_with("lemma ") || contains(line, "new.csv")) continue;
    const auto done = in.lemma(line.substr(6) + (contains(line, " evaluate ") ? " --json" : ""));
    EXPECT_EQ(done.code, 0) << line << "\n" << done.err;
    if (contains(line, " evaluate ")) judged = done.out;
  }
  ASSERT_FALSE(accuracy.empty() || judged.empty()) << said.out;
  const Value document = from_json(judged);
  EXPECT_NEAR(document.at("measures").at("accuracy").as_double(), std::stod(accuracy), 1e-4);
}

TEST(ReportTool, MarkdownHasItsPicturesInAFolder) {
  const Folder in;
  ASSERT_EQ(in.lemma("fit lda iris 'species ~ .' -o lda.lemma").code, 0);
  const auto done = in.lemma("report lda.lemma iris -o lda.md --json");
  ASSERT_EQ(done.code, 0) << done.err;
  const Value told = from_json(done.out);
  EXPECT_EQ(told.at("model").as_string(), "lda.lemma");
  const std::string page = in.read("lda.md");
  int pictures = 0;
  for (const auto& entry : std::filesystem::directory_iterator(in.path("lda_pictures"))) {
    EXPECT_TRUE(contains(page, "(lda_pictures/" + entry.path().filename().string() + ")"));
    ++pictures;
  }
  EXPECT_EQ(pictures, told.at("pictures").as_integer());
}

TEST(ReportTool, NamesMistakes) {
  const Folder in;
  const auto said = [&](const std::string& call) {
    const auto done = in.lemma(call);
    EXPECT_EQ(done.code, 2) << call;
    return done.err;
  };
  EXPECT_TRUE(contains(said("report iris"), "needs a FORMULA"));
  EXPECT_TRUE(contains(said("report iris species"), "'species ~ .'"));
  EXPECT_TRUE(contains(said("report iris 'species ~ .' -o x.pdf"), ".html nor in .md"));
  EXPECT_TRUE(contains(said("report iris 'specie ~ .'"), "did you mean 'species'"));
  EXPECT_TRUE(contains(said("report iris 'species ~ .' --methods lda,nothing -o x.html"), "nothing"));
  EXPECT_TRUE(contains(said("report iris 'species ~ .' --metric speed -o x.html"), "speed"));
  EXPECT_FALSE(in.has("x.html")) << "nothing is written by a wrong call";
  EXPECT_TRUE(contains(said("report iris 'species ~ .' --json"), "-o says where"));
  ASSERT_EQ(in.lemma("fit lda iris 'species ~ .' -o lda.lemma").code, 0);
  EXPECT_TRUE(contains(said("report lda.lemma"), "which rows?"));
  EXPECT_TRUE(contains(said("report lda.lemma faithful"), "faithful"));
}

TEST(ReportTool, ACancelKeepsWhatThereIs) {
  const Folder in;
  const auto done = in.lemma_signalled("report spam 'type ~ .' -o spam.html", "comparing", SIGINT);
  EXPECT_EQ(done.code, 130) << done.err;
  const std::string page = in.read("spam.html");
  EXPECT_TRUE(contains(page, "Cancelled") && contains(page, "What to watch out for")) << done.err;
  EXPECT_TRUE(contains(done.err, "the report as far as it came is in spam.html"));
}

TEST(ReportTool, TellsOfWhatWasLaidIntoTheData) {
  const Folder in;
  std::string text = "id,x,leak,when,y\n";
  for (int i = 0; i < 300; ++i) {
    const bool yes = (i * 37 % 101) < 50;
    text += "name" + std::to_string(i) + "," + (i % 29 == 0 ? "" : std::to_string((i * 53 % 97) + (yes ? 30 : 0))) +
            "," + std::to_string(yes ? 2 : 1) + ",2024-01-" + (i % 28 < 9 ? "0" : "") + std::to_string(i % 28 + 1) +
            "," + (yes ? "yes" : "no") + "\n";
  }
  in.write("trap.csv", text);
  const auto done = in.lemma("report trap.csv 'y ~ .' --methods tree,lda --no-color");
  ASSERT_EQ(done.code, 0) << done.err;
  EXPECT_TRUE(contains(done.out, "Predicts too well by itself: `leak`")) << done.out;
  EXPECT_TRUE(contains(done.out, "11 missing values in 11 rows"));
  EXPECT_TRUE(contains(done.out, "`when` holds times"));
  EXPECT_TRUE(contains(done.out, "Left out: id"));
  EXPECT_TRUE(contains(done.out, "--missing median"));
}

}  // namespace
}  // namespace lemma
