// tests/csv_tool_test.cpp: files as people have them, from the shell.
#include <algorithm>
#include <gtest/gtest.h>
#include <tests/run_tool.hpp>

namespace lemma {
namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

const std::string kMessy =
    "Sales 2024\n\n# by hand\nday,price,sold,shop\n2024-03-01,$5.50,\"1,200\",north\n2024-03-04,$6,-999,south\n"
    "# closed\n2024-03-05,$5.75\n\n2024-03-08,$7,950,north\n2024-03-09,$6.25,\"1,010\",south\n";
const std::string kOptions = " --skip 1 --comment '#' --ragged skip --na -999";

}  // namespace

TEST(CsvTool, AMessyFileIsReadAndEverythingDoneToItIsSaid) {
  const Folder in;
  in.write("sales.csv", kMessy);
  const auto refused = in.lemma("describe sales.csv");
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(contains(refused.err, "sales.csv, line 1: 1 field, but from line 4 on there are 4: is it a title above"))
      << refused.err;
  EXPECT_TRUE(contains(refused.err, "--skip 3")) << refused.err;
  const auto described = in.lemma("describe sales.csv" + kOptions);
  EXPECT_EQ(described.code, 0) << described.err;
  for (const char* said :
       {"1 line with another number of fields than 4 is skipped (line 8, with 2)", "blank lines are passed over",
        "column 'day' is read as dates", "column 'price' is read as numbers, without their $",
        "column 'sold' is read as numbers with their thousands set apart"})
    EXPECT_TRUE(contains(described.err, said)) << said << "\n" << described.err;
  EXPECT_TRUE(contains(described.out, "2024-03-01, 2024-03-04, 2024-03-08")) << described.out;
  EXPECT_TRUE(contains(described.out, "1200, NA, 950, 1010")) << described.out;
  const auto json = in.lemma("describe sales.csv --json" + kOptions);
  EXPECT_TRUE(contains(json.out, "\"type\":\"date\"") || contains(json.out, "\"type\": \"date\"")) << json.out;
  EXPECT_TRUE(contains(json.out, "2024-03-09")) << json.out;
}

TEST(CsvTool, PredictionsStandBehindTheRecordsAsTheyAreWritten) {
  const Folder in;
  in.write("sales.csv", kMessy);
  ASSERT_EQ(in.lemma("fit ols sales.csv 'price ~ day' -o m.lemma" + kOptions).code, 0);
  const auto predicted = in.lemma("predict m.lemma sales.csv --append --what value" + kOptions);
  EXPECT_EQ(predicted.code, 0) << predicted.err;
  EXPECT_TRUE(contains(predicted.out, "day,price,sold,shop,prediction\n2024-03-01,$5.50,\"1,200\",north,"))
      << predicted.out;
  EXPECT_FALSE(contains(predicted.out, "closed"));
  EXPECT_EQ(in.lemma("predict m.lemma sales.csv --append --what value --memory 1K" + kOptions).out, predicted.out);
  const auto some = in.lemma("predict m.lemma sales.csv --where 'day >= \"2024-03-08\"'" + kOptions);
  EXPECT_EQ(std::count(some.out.begin(), some.out.end(), '\n'), 3) << some.out;
  const auto levels = in.lemma("fit ols sales.csv 'price ~ factor(day)'" + kOptions);
  EXPECT_TRUE(contains(levels.out, "factor(day)2024-03-04")) << levels.out << levels.err;
}

TEST(CsvTool, ADateThatIsPredictedIsADate) {
  const Folder in;
  in.write("d.csv", "due,x,c\n2024-02-27,1,a\n2024-02-28,2,a\n2024-02-29,3,b\n2024-03-02,4,b\n2024-03-02,5,b\n");
  ASSERT_EQ(in.lemma("fit ols d.csv 'due ~ x' -o m.lemma").code, 0);
  EXPECT_EQ(in.lemma("predict m.lemma d.csv --what value").out,
            "prediction\n2024-02-27\n2024-02-28\n2024-02-29\n2024-03-01\n2024-03-02\n");
  const auto all = in.lemma("predict m.lemma d.csv --interval confidence --rows 3 --digits 2");
  EXPECT_TRUE(contains(all.out, "prediction,lower,upper,residual\n2024-02-29,2024-02-"))
      << all.out;  // a residual is days
  EXPECT_TRUE(contains(in.lemma("predict m.lemma d.csv --rows 1 --json").out, "\"2024-02-27\""));
  ASSERT_EQ(in.lemma("fit ols d.csv 'I(due + 0) ~ x' -o n.lemma").code, 0);
  EXPECT_TRUE(contains(in.lemma("predict n.lemma d.csv --rows 1 --what value").out, "prediction\n197")) << "days";
  in.write("t.csv", "at,x\n2024-02-27T10:00:00,1\n2024-02-27T10:30:00,2\n2024-02-27T11:00:00,3\n");
  ASSERT_EQ(in.lemma("fit ols t.csv 'at ~ x' -o t.lemma").code, 0);
  EXPECT_TRUE(contains(in.lemma("predict t.lemma t.csv --what value").out, "prediction\n2024-02-27T10:00"));
  EXPECT_EQ(in.lemma("evaluate m.lemma d.csv").code, 0);
  EXPECT_EQ(in.lemma("fit tree d.csv 'due ~ x + c' -o tree.lemma").code, 0);
  EXPECT_TRUE(contains(in.lemma("predict tree.lemma d.csv").out, "\n2024-0"));
}

TEST(CsvTool, AMethodWithoutAResponseSaysSo) {
  const Folder in;
  for (const char* method : {"kmeans", "pca", "gmm", "mds", "agglomerative", "scale", "gaussian"})
    for (const char* formula : {"species ~ .", "sepal_length ~ ."}) {
      const auto refused = in.lemma(std::string("fit ") + method + " iris '" + formula + "'");
      EXPECT_EQ(refused.code, 2) << method;
      EXPECT_TRUE(contains(refused.err, "this method has no response")) << method << ": " << refused.err;
      EXPECT_TRUE(contains(refused.err, "write '~ .' for all of them, '~ . - s")) << refused.err;
    }
  EXPECT_EQ(in.lemma("fit 'scale | lda' iris 'species ~ .'").code, 0);
  EXPECT_EQ(in.lemma("fit 'scale | kmeans' iris 'species ~ .'").code, 2);
}

TEST(CsvTool, MissingSpellingsAreAddedOrReplaced) {
  const Folder in;
  in.write("d.csv", "x,c\n1,NA\nnone,u\n3,v\n");
  EXPECT_TRUE(contains(in.lemma("describe d.csv --na none").out, "c       categorical        1"));
  EXPECT_TRUE(contains(in.lemma("describe d.csv --na-only none").out, "3 levels: NA, u, v"));
  EXPECT_TRUE(contains(in.lemma("describe d.csv --where 'x > 1 and x < 3'").err, "write & for and"));
}

TEST(CsvTool, OptionsThatCannotBeAreNamed) {
  const Folder in;
  in.write("d.csv", "x,y\n1,2\n3,4\n");
  EXPECT_TRUE(contains(in.lemma("describe d.csv --skip -1").err, "--skip is -1"));
  EXPECT_TRUE(contains(in.lemma("describe d.csv --comment '//'").err, "--comment is '//', must be one character"));
  EXPECT_TRUE(contains(in.lemma("describe d.csv --ragged maybe").err, "--ragged"));
  EXPECT_TRUE(contains(in.lemma("describe d.csv --encoding morse").err, "--encoding"));
  EXPECT_TRUE(contains(in.lemma("describe d.csv --type x=date").err, "expected a date such as 2024-02-29, found '1'"));
}

TEST(CsvTool, PackedOutputIsReadBack) {
  const Folder in;
  for (const std::string ending : {"gz", "xz", "zst"}) {
    ASSERT_EQ(in.lemma("split iris -o a.csv." + ending + " b.csv." + ending).code, 0) << ending;
    const auto described = in.lemma("describe a.csv." + ending);
    EXPECT_TRUE(contains(described.out, "a.csv." + ending + ": 120 rows, 5 columns")) << described.out << described.err;
  }
}

}  // namespace lemma
