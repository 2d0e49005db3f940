// tests/wide_tool_test.cpp: the tool on tables with many columns, many levels and little memory.
#include <gtest/gtest.h>
#include <lemma/core/value.hpp>
#include <tests/run_tool.hpp>

namespace lemma {
namespace {

/// A header and two rows of numbers.
std::string two_rows(int columns) {
  std::string header, one, two;
  for (int j = 0; j < columns; ++j) {
    const std::string comma = j ? "," : "";
    header += comma + "c" + std::to_string(j);
    one += comma + std::to_string(j % 10);
    two += comma + std::to_string((j * 7 + 3) % 11);
  }
  return header + "\n" + one + "\n" + two + "\n";
}

TEST(WideTool, AColumnOfACsvFileCostsAFewHundredBytes) {  // of 4 kB each, 300,000 of them would take 1.2 GB and more
  const Folder in;
  in.write("wide.csv", two_rows(300'000));
  const auto described = in.lemma("describe wide.csv --threads 1", "ulimit -v 700000 && ");
  EXPECT_EQ(described.code, 0) << described.err;
  EXPECT_NE(described.out.find("2 rows, 300,000 columns"), std::string::npos);
  EXPECT_NE(described.out.find("299,000 more columns not shown: --show-columns all"), std::string::npos)
      << described.out.substr(0, 500);
  EXPECT_LT(described.out.size(), 500'000U);
}

TEST(WideTool, CorrelationsAreCappedAndTheRestIsAFlagAway) {
  const Folder in;
  in.write("wide.csv", two_rows(130));
  const auto capped = in.lemma("describe wide.csv"), all = in.lemma("describe wide.csv --correlations all"),
             none = in.lemma("describe wide.csv --correlations none"),
             few = in.lemma("describe wide.csv --correlations 3");
  EXPECT_NE(capped.out.find("correlations of 30 more columns not shown: --correlations all"), std::string::npos);
  EXPECT_EQ(all.out.find("not shown"), std::string::npos);
  EXPECT_GT(all.out.size(), capped.out.size());
  EXPECT_EQ(none.out.find("correlation"), std::string::npos);
  EXPECT_NE(few.out.find("correlations of 127 more columns not shown"), std::string::npos);
  const Value json = from_json(in.lemma("describe wide.csv --json --correlations 3").out).at("correlations");
  EXPECT_EQ(json.at("names").as_strings().size(), 3U);
  EXPECT_EQ(json.at("values").as_matrix().rows(), 3);
  EXPECT_EQ(json.at("omitted").as_integer(), 127);
  const auto wrong = in.lemma("describe wide.csv --correlations most");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.err.find("--correlations is 'most', must be all, none or a number"), std::string::npos) << wrong.err;
}

TEST(WideTool, ManyLevelsAreCountedOneByOne) {  // looking each up among those before it would take half an hour
  const Folder in;
  std::string text = "name,v\n";
  for (long long i = 0; i < 400'000; ++i) text += "n" + std::to_string((i * 7919) % 400'000) + ",1\n";
  in.write("names.csv", text);
  const auto described = in.lemma("describe names.csv --json --type name=categorical");
  EXPECT_EQ(described.code, 0) << described.err;
  const Value levels = from_json(described.out).at("columns").as_list()[0].at("levels");
  EXPECT_EQ(levels.as_object().size(), 400'000U);
}

TEST(WideTool, MoreColumnsThanRowsAreFittedAndVerified) {
  const Folder in;
  std::string text = "y";
  for (int j = 0; j < 1500; ++j) text += ",c" + std::to_string(j);
  for (int i = 0; i < 5; ++i) {
    text += "\n" + std::to_string(i * i);
    for (int j = 0; j < 1500; ++j) text += "," + std::to_string((j * (i + 3) * 31 + i * 17) % 101);
  }
  in.write("wide.csv", text + "\n");
  for (const std::string method : {"ols", "ridge"}) {
    const auto fitted = in.lemma("fit " + method + " wide.csv 'y ~ .' -o m.lemma");
    EXPECT_EQ(fitted.code, 0) << fitted.err;
    const auto verified = in.lemma("verify m.lemma wide.csv");
    EXPECT_EQ(verified.code, 0) << verified.out << verified.err;
    EXPECT_LT(std::filesystem::file_size(in.path("m.lemma")), 500'000U) << method;  // 1500² numbers are 18 MB
  }
}

/// 2,000 rows of 400,000 columns: 6 GB with their zeros.
TEST(WideTool, WideSparseFilesAreJudgedAndPredictedInLittleMemory) {
  const Folder in;
  std::string text;
  for (int i = 0; i < 8000; ++i) {  // 3.8 GB if they were dense
    const int side = i * 7 % 5 < 2;
    text += std::string(side ? "1" : "0") + " " + std::to_string(1 + side * 3 + i % 3) + ":1 " +
            std::to_string(100 + i * 199 % 59900) + ":1 60000:" + std::to_string(i % 4) + "\n";
  }
  in.write("wide.svm", text);
  const auto fitted = in.lemma("fit logistic wide.svm 'factor(y) ~ .' --lambda 1 -o m.lemma");
  ASSERT_EQ(fitted.code, 0) << fitted.err;
  for (const char* call : {"predict m.lemma wide.svm -o p.csv", "predict m.lemma wide.svm --threshold 0.9 -o q.csv",
                           "evaluate m.lemma wide.svm", "evaluate m.lemma wide.svm --threshold 0.9"}) {
    const auto ran = in.lemma(std::string(call) + " --threads 1", "ulimit -v 1500000 && ");
    EXPECT_EQ(ran.code, 0) << call << ": " << ran.err;
  }
  EXPECT_EQ(in.read("p.csv").substr(0, 14), "class,p_0,p_1\n");
}

}  // namespace
}  // namespace lemma
