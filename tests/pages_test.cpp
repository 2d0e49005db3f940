// tests/pages_test.cpp: when tools/generate calls a page stale.
#include <gtest/gtest.h>
#include <tests/run_tool.hpp>

namespace lemma {
namespace {

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

}  // namespace
}  // namespace lemma
