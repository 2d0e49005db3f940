// tests/pages_test.cpp: when tools/generate calls a page stale, and whether the pages tell all that the tool can do.
#include <algorithm>
#include <gtest/gtest.h>
#include <lemma/core/value.hpp>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <tests/run_tool.hpp>

namespace lemma {
namespace {

namespace fs = std::filesystem;

/// The code of `tools/generate --check` for a page that shows `shown` where its command prints `printed`.
int check(const std::string& shown, const std::string& printed) {
  const Folder in;
  in.write("page.md", "```console\n$ printf '" + printed + "\\n'\n" + shown + "\n```\n");
  const std::string command = "'" + source_dir() + "/tools/generate' --check --tool '" + tool_path() + "' '" +
                              in.path("page.md") + "' >'" + in.path("said") + "' 2>&1";
  return WEXITSTATUS(std::system(command.c_str()));
}

TEST(Pages, AreStaleWhenTheToolSaysSomethingElse) {
  EXPECT_EQ(check("the slope is 0.25", "the slope is 0.25"), 0);
  EXPECT_EQ(check("the slope is 0.25", "the slope is 0.26"), 1);
  EXPECT_EQ(check("the slope is 2.5e-03", "the slope is 2.6e-03"), 1);
}

TEST(Pages, AreNotStaleWhereOnlyRoundingDiffers) {
  EXPECT_EQ(check("a gap of 3.1e-11", "a gap of <1e-12"), 0);
  EXPECT_EQ(check("p = 0.41393116001447866", "p = 0.41393116001447999"), 0);
  EXPECT_EQ(check("lowers it by 3.1e-11 of\n  itself (allowed)", "lowers it by <1e-12 of itself\\n  (allowed)"), 0)
      << "a shorter number wraps the sentence elsewhere";
}

TEST(Pages, ACommandGoesOnInTheLinesThatBeginAsInAShell) {
  const Folder in;
  const std::string page = "```console\n$ cat <<END | wc -l\n> one\n>\n> three\n> END\n3\n```\n";
  in.write("page.md", page);
  const std::string generate = "'" + source_dir() + "/tools/generate' --tool '" + tool_path() + "' ";
  EXPECT_EQ(std::system((generate + "--check '" + in.path("page.md") + "' >'" + in.path("said") + "' 2>&1").c_str()), 0)
      << in.read("said");
}

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

/// Every page of the repository that a user may read; not what lies in a hidden folder, such as the peers' packages.
std::vector<fs::path> pages() {
  std::vector<fs::path> out;
  for (const auto& file : fs::directory_iterator(source_dir()))
    if (file.path().extension() == ".md") out.push_back(file.path());
  for (const auto* folder : {"bench", "data", "docs", "lemma"}) {
    auto each = fs::recursive_directory_iterator(fs::path(source_dir()) / folder);
    for (; each != fs::end(each); ++each) {
      if (each->path().filename().string().starts_with('.')) each.disable_recursion_pending();
      else if (each->path().extension() == ".md") out.push_back(each->path());
    }
  }
  return out;
}

TEST(Pages, BeginWithTheirTitle) {
  for (const auto& page : pages()) EXPECT_TRUE(text_of(page).starts_with("# ")) << page;
}

TEST(Pages, LinkToWhatIsThere) {
  const std::regex link(R"(\]\(([^)\s#]+)(#[^)\s]*)?\))");
  for (const auto& page : pages()) {
    bool code = false;
    for (const auto& line : lines_of(text_of(page))) {
      if (line.starts_with("```")) code = !code;
      if (code) continue;
      for (std::sregex_iterator found(line.begin(), line.end(), link), end; found != end; ++found) {
        const std::string to = (*found)[1];
        EXPECT_TRUE(to.starts_with("http") || fs::exists(page.parent_path() / to)) << page << " links to " << to;
      }
    }
  }
}

TEST(Pages, OfMethodsShowPicturesThatTheGalleryDraws) {
  const std::string gallery = text_of(fs::path(source_dir()) / "docs/gallery.md");
  const std::regex picture(R"(\(\.\./\.\./docs/(gallery/[a-z0-9_]+\.svg)\))");
  int shown = 0;
  for (const auto& page : pages()) {
    std::string last;
    for (const auto& line : lines_of(text_of(page))) {
      std::smatch found;
      if (std::regex_search(line, found, picture)) {
        ++shown;
        EXPECT_NE(gallery.find("(" + found[1].str() + ")"), std::string::npos) << page << " shows " << found[1];
        EXPECT_NE(gallery.find("\n" + last + "\n"), std::string::npos)
            << page << ": the gallery draws it otherwise than by " << last;
      }
      if (line.starts_with("lemma plot ")) last = line;
    }
  }
  EXPECT_GT(shown, 50);
}

/// The names in a list of a help text: the first words of the lines that follow `title`. Of "-q,--quiet" the long one.
std::vector<std::string> listed(const std::string& help, const std::string& title) {
  std::vector<std::string> out;
  bool inside = false;
  for (const auto& line : lines_of(help)) {
    if (line == title) inside = true;
    else if (line.empty()) inside = false;
    else if (inside && line.starts_with("  ") && line[2] != ' ') {
      const std::string word = line.substr(2, line.find(' ', 2) - 2);
      out.push_back(word.substr(word.find(',') + 1));
    }
  }
  return out;
}

std::vector<std::string> commands() {
  const Folder in;
  return listed(in.lemma("--help").out, "Subcommands:");
}

/// What a page says of a command: the row of a table that begins with its name, or the section that has it as title.
std::string told_of(const std::string& command, const std::string& page) {
  bool section = false;
  std::string out;
  for (const auto& line : lines_of(page)) {
    if (line.starts_with("## ")) section = line == "## " + command;
    const auto cell = line.starts_with("| ") ? line.substr(0, line.find(" |", 1)) : std::string();
    if (section || cell.find("`" + command + "`") != std::string::npos) out += line + "\n";
  }
  return out;
}

TEST(Pages, TheBookListsEveryPageOfAMethodAndEveryDecision) {
  const fs::path docs = fs::path(source_dir()) / "docs";
  const std::string book = text_of(docs / "README.md");
  for (const auto& page : pages()) {
    const std::string link = page.lexically_relative(docs).generic_string();
    if (!link.starts_with("../lemma/") && !link.starts_with("decisions/")) continue;
    if (page.filename() == "README.md") continue;
    EXPECT_NE(book.find("(" + link + ")"), std::string::npos) << link << " is missing in docs/README.md";
  }
}

TEST(Pages, TheTableOfCommandsInTheReadmeHasAllOfThem) {
  const std::string readme = text_of(fs::path(source_dir()) / "README.md");
  ASSERT_GE(commands().size(), 14u);
  for (const auto& command : commands())
    EXPECT_NE(told_of(command, readme), "") << "'" << command << "' is missing in the table of README.md";
}

/// A call that shows all keys, or most of them, of each command that prints a document.
const std::multimap<std::string, std::string>& calls() {
  static const std::multimap<std::string, std::string> all = {
      {"describe", "describe iris"},
      {"split", "split iris --by species -o train.csv test.csv"},
      {"fit", "fit lda iris 'species ~ .' -o lda.lemma"},
      {"fit", "fit glm pima_train 'type ~ .' --stepwise backward -o glm.lemma"},
      {"fit", "fit logistic pima_train 'type ~ .' -o logistic.lemma"},
      {"fit", "fit ols boston 'medv ~ lstat + rm' -o ols.lemma"},
      {"fit", "fit tree iris 'species ~ .' -o tree.lemma"},
      {"fit", "fit forest iris 'species ~ .' --trees 20 --keep_rows true -o forest.lemma"},
      {"fit", "fit ols line.csv 'y ~ x' -o line.lemma"},
      {"fit", "fit agglomerative usarrests '~ . - state' -o hierarchy.lemma"},
      {"cut", "cut hierarchy.lemma --k 3"},
      {"prune", "prune tree.lemma --cp 0.1 -o small.lemma"},
      {"outliers", "outliers forest.lemma"},
      {"effect", "effect lda.lemma iris petal_length --points 5"},
      {"predict", "predict lda.lemma iris"},
      {"evaluate", "evaluate lda.lemma iris"},
      {"evaluate", "evaluate ols.lemma boston"},
      {"cross", "cross lda iris 'species ~ .' --folds 3 --permutations 2"},
      {"cross", "cross ols boston 'medv ~ lstat' --plan 632 --samples 5"},
      {"tune", "tune ridge boston 'medv ~ lstat' --grid 'lambda=1,10' --folds 3 --hold-out 0.2 -o tuned.lemma"},
      {"compare", "compare ols,ridge boston 'medv ~ lstat + rm' --folds 3"},
      {"validation_curve", "validation_curve ridge boston 'medv ~ lstat' --folds 3 --grid 'lambda=1,10'"},
      {"learning_curve", "learning_curve ols boston 'medv ~ lstat' --folds 3 --shares 0.5,1"},
      {"bootstrap", "bootstrap ols boston 'medv ~ lstat' --samples 20 --interval percentile"},
      {"curve", "curve roc logistic.lemma glm.lemma pima_test"},
      {"decide", "decide logistic.lemma pima_test --reject 0.3"},
      {"generate", "generate moons -n 3"},
      {"generate", "generate"},
      {"risk", "risk line.lemma --truth sine --draws 100"},
      {"bound", "bound logistic.lemma pima_test"},
      {"bias_variance", "bias_variance ols --truth sine -n 20 --samples 3 --points 10"},
      {"ledger", "ledger --ledger uses.db"},
      {"fit", "fit lda iris 'species ~ .' -o noted.lemma --ledger uses.db"},
      {"evaluate", "evaluate lda.lemma iris --ledger uses.db"},
      {"show", "show lda.lemma"},
      {"show", "show tuned.lemma"},
      {"sample", "sample lda.lemma"},
      {"neighbors", "neighbors iris iris --rows 1:5"},
      {"images", "images digits --size 8x8 --by digit --rows 1:9 -o digits.png"},
      {"vq", "vq digits.png --codewords 2,8"},
      {"update", "update logistic.lemma pima_test -o both.lemma"},
      {"verify", "verify both.lemma pima_train"},
      {"anova", "anova ols.lemma --data boston"},
      {"select", "select iris 'species ~ .'"},
      {"plot", "plot iris -o iris.svg"},
      {"plot", "plot lda.lemma iris -o lda.svg"},
      {"report", "report iris 'species ~ .' --methods lda,tree -o iris.html"},
      {"report", "report lda.lemma iris -o lda.md"},
      {"methods", "methods lda"},
      {"datasets", "datasets iris"},
  };
  return all;
}

TEST(Pages, TheKeysOfEveryDocumentAreInJsonMd) {
  const Folder in;
  in.write("line.csv", "x,y\n0,1\n0.3,0.6\n0.5,0.1\n0.9,-0.7\n");
  const std::string page = text_of(fs::path(source_dir()) / "docs/json.md");
  const std::regex as("as `([a-z]+)`");
  // in an order in which the models are there
  for (const auto* command : {"fit",       "split",         "describe", "predict",        "evaluate",
                              "cross",     "tune",          "compare",  "learning_curve", "validation_curve",
                              "bootstrap", "curve",         "decide",   "generate",       "risk",
                              "bound",     "bias_variance", "ledger",   "show",           "sample",
                              "neighbors", "images",        "vq",       "update",         "verify",
                              "prune",     "cut",           "outliers", "effect",         "anova",
                              "select",    "methods",       "datasets", "plot",           "report"}) {
    std::string told = told_of(command, page);
    if (std::smatch other; std::regex_search(told, other, as)) told += told_of(other[1], page);
    const auto [first, last] = calls().equal_range(command);
    for (auto call = first; call != last; ++call) {
      const auto said = in.lemma(call->second + " --json");
      ASSERT_NE(said.out, "") << call->second << ": " << said.err;
      const Value document = from_json(said.out);
      for (const auto& [key, value] : document.as_object())
        EXPECT_NE(told.find("`" + key + "`"), std::string::npos)
            << "docs/json.md does not tell '" << key << "' of lemma " << call->second << " --json";
    }
  }
  for (const auto& command : commands()) {
    EXPECT_NE(told_of(command, page), "") << "docs/json.md does not tell of '" << command << "'";
    const bool prints_text = command == "completion" || command == "man";
    EXPECT_NE(calls().contains(command), prints_text) << "a call of '" << command << "' is missing in this test";
  }
}

TEST(Pages, EveryOptionForDataIsExplainedInDataMd) {
  const Folder in;
  const std::string page = text_of(fs::path(source_dir()) / "docs/data.md");
  std::set<std::string> options;
  for (const auto& command : commands())
    for (const auto& option : listed(in.lemma(command + " --help").out, "Data:")) options.insert(option);
  ASSERT_TRUE(options.contains("--where") && options.contains("--weights")) << "the help texts have a group Data";
  for (const auto& option : options)
    EXPECT_TRUE(std::regex_search(page, std::regex("`" + option + "[ `]")))
        << "docs/data.md does not explain " << option;
}

}  // namespace
}  // namespace lemma
