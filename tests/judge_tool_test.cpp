// tests/judge_tool_test.cpp: evaluate as a user calls it, and what the tool tells while it works.
#include <algorithm>
#include <cstdlib>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <lemma/core/value.hpp>
#include <sstream>
#include <tests/run_tool.hpp>

namespace lemma {
namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(JudgeTool, RowsWithoutAResponseAreDroppedWhenAsked) {
  const Folder in;
  in.write("train.csv", "x,g,y\n1,a,1\n2,a,2.1\n3,b,2.9\n4,b,4\n5,a,5.2\n");
  in.write("test.csv", "x,g,y\n1.5,a,1\n2.5,b,\n,a,3\n3.5,b,3.4\n");
  ASSERT_EQ(in.lemma("fit ols train.csv 'y ~ x + g' -o m.lemma").code, 0);
  const auto refused = in.lemma("evaluate m.lemma test.csv");
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(contains(refused.err, "2 missing values in 2 of 4 rows: x (1), y (1); use --missing drop"))
      << refused.err;
  const auto dropped = in.lemma("evaluate m.lemma test.csv --missing drop --json");
  ASSERT_EQ(dropped.code, 0) << dropped.err;
  EXPECT_TRUE(contains(dropped.err, "note: 2 missing values in 2 of 4 rows: x (1), y (1); 2 rows left out"))
      << dropped.err;
  EXPECT_EQ(from_json(dropped.out).at("rows").as_double(), 2);
  EXPECT_EQ(from_json(dropped.out).at("notes").as_strings().size(), 1u);
  EXPECT_EQ(in.lemma("evaluate m.lemma test.csv --missing drop --memory 1 --json").out, dropped.out);
}

TEST(JudgeTool, KeepCoversLevelsNeverSeenAndTheErrorNamesIt) {
  const Folder in;
  in.write("train.csv", "x,g,y\n1,a,1\n2,a,2.1\n3,b,2.9\n4,b,4\n5,a,5.2\n");
  in.write("test.csv", "x,g,y\n1.5,a,1\n2.5,c,2\n3.5,b,3.4\n");
  ASSERT_EQ(in.lemma("fit ols train.csv 'y ~ x + g' -o m.lemma").code, 0);
  const auto refused = in.lemma("evaluate m.lemma test.csv");
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(contains(refused.err,
                       "level 'c' of 'g' in row 2 was not seen in training; known: a, b; --missing keep "
                       "leaves such rows out"))
      << refused.err;
  const auto kept = in.lemma("evaluate m.lemma test.csv --missing keep --json");
  ASSERT_EQ(kept.code, 0) << kept.err;
  EXPECT_EQ(from_json(kept.out).at("rows").as_double(), 2);
  EXPECT_TRUE(contains(kept.err, "1 level not seen in training in 1 of 3 rows: g (1); 1 row left out")) << kept.err;
}

TEST(JudgeTool, WeightsOfAnyColumnCountAsCopies) {
  const Folder in;
  in.write("train.csv", "x,y\n1,1\n2,2.1\n3,2.9\n4,4.4\n");
  in.write("weighted.csv", "x,y,k\n1.5,1,2\n2.5,2.9,1\n3.5,3.4,0\n");
  in.write("copied.csv", "x,y,k\n1.5,1,2\n1.5,1,2\n2.5,2.9,1\n");
  ASSERT_EQ(in.lemma("fit ols train.csv 'y ~ x' -o m.lemma").code, 0);
  const Value weighted = from_json(in.lemma("evaluate m.lemma weighted.csv --weights k --json").out),
              copied = from_json(in.lemma("evaluate m.lemma copied.csv --json").out);
  EXPECT_EQ(weighted.at("total_weight").as_double(), 3);
  EXPECT_DOUBLE_EQ(weighted.at("measures").at("rmse").as_double(), copied.at("measures").at("rmse").as_double());
  EXPECT_TRUE(contains(in.lemma("evaluate m.lemma weighted.csv --weights k").out, "3 rows of total weight 3"));
  EXPECT_EQ(in.lemma("evaluate m.lemma weighted.csv --weights kk").code, 2);
}

TEST(JudgeTool, WithoutAFormulaClustersTakeTheNumbersAndSaySo) {
  const Folder in;
  const auto fit = in.lemma("fit kmeans iris -o k.lemma --json");
  ASSERT_EQ(fit.code, 0) << fit.err;
  EXPECT_TRUE(contains(fit.err, "note: left out, being classes: species; a formula such as '~ .' takes it too"))
      << fit.err;
  EXPECT_EQ(from_json(fit.out).at("formula").as_string(), "~ . - species");
  EXPECT_EQ(from_json(fit.out).at("features").as_strings().size(), 4u);
  const auto pipeline = in.lemma("fit 'scale | kmeans(k=3)' iris --json");
  ASSERT_EQ(pipeline.code, 0) << pipeline.err;
  EXPECT_EQ(from_json(pipeline.out).at("formula").as_string(), "~ . - species");
  in.write("mixed.csv", "a,my name,x,z\nu,one two three,1,2\nv,a longer text,3,1\nu,text again,2,2\n");
  const auto mixed = in.lemma("fit pca mixed.csv --type a=categorical --type 'my name=text' --json");
  ASSERT_EQ(mixed.code, 0) << mixed.err;
  EXPECT_EQ(from_json(mixed.out).at("features").as_strings(), (std::vector<std::string>{"x", "z"}));
  EXPECT_TRUE(contains(mixed.err, "being classes: a")) << mixed.err;
  EXPECT_TRUE(contains(mixed.err, "being text: my name")) << mixed.err;
  const auto all = in.lemma("fit kmeans iris '~ .' --json");
  EXPECT_EQ(from_json(all.out).at("features").as_strings().size(), 6u) << "a formula is taken as it is";
  const auto filled = in.lemma("fit impute house_votes --json");  // it takes classes as they are
  ASSERT_EQ(filled.code, 0) << filled.err;
  EXPECT_EQ(from_json(filled.out).at("formula").as_string(), "~ .");
}

TEST(JudgeTool, ClustersOfAPipelineAreMeasuredInItsSpaceAndBesideJointClasses) {
  const Folder in;
  ASSERT_EQ(in.lemma("fit 'scale | kmeans(k=4)' crabs '~ FL + RW + CL + CW + BD' -o k.lemma").code, 0);
  const auto found = in.lemma("evaluate k.lemma crabs --truth sp:sex");
  ASSERT_EQ(found.code, 0) << found.err;
  EXPECT_TRUE(contains(found.out, "Distances are measured after scale, where the clusters were found.")) << found.out;
  EXPECT_TRUE(contains(found.out, "sp:sex \\ cluster")) << found.out;
  EXPECT_TRUE(contains(found.out, "adjusted_rand")) << found.out;
  const Value document = from_json(in.lemma("evaluate k.lemma crabs --truth sp:sex --json").out);
  EXPECT_EQ(document.at("space").as_string(), "scale");
  EXPECT_EQ(document.at("truth").at("classes").as_strings(), (std::vector<std::string>{"B:F", "B:M", "O:F", "O:M"}));
  in.write("crabs.csv", in.lemma("datasets crabs").out);
  const auto memory = in.lemma("evaluate k.lemma crabs.csv --truth sp:sex --json"),
             disk = in.lemma("evaluate k.lemma crabs.csv --truth sp:sex --json --memory 1K");
  ASSERT_EQ(disk.code, 0) << disk.err;
  EXPECT_EQ(disk.out, memory.out);
}

TEST(PredictTool, OfNoRowsGivesTheNamesOfTheColumns) {
  const Folder in;
  in.write("iris.csv", in.lemma("datasets iris").out);
  in.write("none.csv", "sepal_length,sepal_width,petal_length,petal_width\n");
  ASSERT_EQ(in.lemma("fit lda iris 'species ~ .' -o m.lemma").code, 0);
  const std::string names = "class,p_setosa,p_versicolor,p_virginica\n";
  for (const std::string call : {"none.csv", "none.csv --memory 1", "iris --where 'petal_width > 9'"}) {
    const auto none = in.lemma("predict m.lemma " + call);
    EXPECT_EQ(none.code, 0) << call << none.err;
    EXPECT_EQ(none.out, names) << call;
  }
  EXPECT_EQ(in.lemma("predict m.lemma none.csv --append").out,
            "sepal_length,sepal_width,petal_length,petal_width," + names);
  const auto json = in.lemma("predict m.lemma none.csv --json");
  EXPECT_EQ(json.code, 0) << json.err;
  EXPECT_EQ(from_json(json.out).at("rows").as_double(), 0);
  EXPECT_EQ(from_json(json.out).at("columns").at("p_virginica").as_vector().size(), 0);
  ASSERT_EQ(in.lemma("predict m.lemma none.csv -o out.csv").code, 0);
  EXPECT_EQ(in.read("out.csv"), names);
  ASSERT_EQ(in.lemma("fit scale iris '~ . - species' -o s.lemma").code, 0);
  EXPECT_EQ(in.lemma("predict s.lemma none.csv --inverse").out, "sepal_length,sepal_width,petal_length,petal_width\n");
}

TEST(PredictTool, DropDropsAndKeepCoversLevelsNeverSeen) {
  const Folder in;
  in.write("train.csv", "x,g,y\n1,a,1\n2,a,2\n3,b,3\n4,b,4\n5,a,5\n");
  in.write("gaps.csv", "id,x,g\n01,1,a\n02,,a\n03,3,c\n04,4,b\n");
  in.write("some.csv", "id,x,g\n01,1,a\n02,,a\n04,4,b\n");
  ASSERT_EQ(in.lemma("fit ols train.csv 'y ~ x + g' -o m.lemma").code, 0);
  ASSERT_EQ(in.lemma("fit ols train.csv 'y ~ x + g' --missing drop -o d.lemma").code, 0);
  for (const std::string memory : {"", " --memory 1"}) {
    const auto dropped = in.lemma("predict m.lemma some.csv --missing drop --append --digits 3" + memory);
    EXPECT_EQ(dropped.code, 0) << dropped.err;
    EXPECT_EQ(dropped.out, "id,x,g,prediction\n01,1,a,1\n04,4,b,4\n") << memory;
    EXPECT_TRUE(contains(dropped.err, "1 missing value in 1 of 3 rows: x (1); 1 row left out")) << dropped.err;
    EXPECT_EQ(in.lemma("predict m.lemma some.csv --missing drop --digits 3" + memory).out, "prediction\n1\n4\n");
    const auto kept = in.lemma("predict m.lemma gaps.csv --missing keep --append --digits 3" + memory);
    EXPECT_EQ(kept.code, 0) << kept.err;
    EXPECT_EQ(kept.out, "id,x,g,prediction\n01,1,a,1\n02,,a,\n03,3,c,\n04,4,b,4\n") << memory;
    EXPECT_TRUE(contains(kept.err,
                         "1 missing value and 1 level not seen in training in 2 of 4 rows: x (1); g (1); 2 rows "
                         "left empty"))
        << kept.err;
    const auto unasked =
        in.lemma("predict d.lemma some.csv --digits 3" + memory);  // a row stays a row unless told otherwise
    EXPECT_EQ(unasked.out, "prediction\n1\nNA\n4\n") << memory;
    EXPECT_TRUE(contains(unasked.err, "1 row left empty")) << unasked.err;
    const auto refused = in.lemma("predict m.lemma gaps.csv --missing drop" + memory);
    EXPECT_EQ(refused.code, 2);
    EXPECT_TRUE(contains(refused.err, "--missing keep leaves such rows empty")) << refused.err;
  }
}

TEST(PredictTool, AThresholdDecidesBetweenTwoClassesAndIsSaid) {
  const Folder in;
  ASSERT_EQ(in.lemma("fit logistic pima_train 'type ~ .' --lambda 0.1 -o p.lemma").code, 0);
  const auto said = in.lemma("predict p.lemma pima_test --threshold 0.95 --json");
  ASSERT_EQ(said.code, 0) << said.err;
  EXPECT_TRUE(contains(said.err, "note: Yes is predicted where its probability is at least 0.95")) << said.err;
  const Value document = from_json(said.out);
  EXPECT_EQ(document.at("threshold").as_double(), 0.95);
  const Vector p = document.at("columns").at("p_Yes").as_vector();
  const auto classes = document.at("columns").at("class").as_strings();
  for (Index i = 0; i < p.size(); ++i)
    EXPECT_EQ(classes[static_cast<std::size_t>(i)], p(i) >= 0.95 ? "Yes" : "No") << p(i);
  const auto alone = in.lemma("predict p.lemma pima_test --threshold 0.95 --what class");
  EXPECT_TRUE(alone.out.starts_with("class\n")) << alone.out.substr(0, 40);
  EXPECT_EQ(static_cast<int>(std::count(alone.out.begin(), alone.out.end(), 'Y')),
            static_cast<int>(std::count(classes.begin(), classes.end(), "Yes")));
  const auto judged = in.lemma("evaluate p.lemma pima_test --threshold 0.95");
  EXPECT_TRUE(contains(judged.out, "Yes is predicted where its probability is at least 0.95.")) << judged.out;
  ASSERT_EQ(in.lemma("fit 'scale | logistic(lambda=1)' pima_train 'type ~ .' -o s.lemma").code, 0);
  EXPECT_EQ(in.lemma("predict s.lemma pima_test --threshold 1 --what class").out.find("Yes"), std::string::npos);
  ASSERT_EQ(in.lemma("fit lda iris 'species ~ .' -o l.lemma").code, 0);
  const auto three = in.lemma("predict l.lemma iris --threshold 0.9");
  EXPECT_EQ(three.code, 2);
  EXPECT_TRUE(contains(three.err, "--threshold decides between two classes, and this lda tells 3 apart")) << three.err;
}

TEST(PredictTool, CancelledPredictionsSayHowManyWereWritten) {
  const Folder in;
  std::string rows = "x,y\n";
  for (int i = 0; i < 4000; ++i) rows += fmt::format("{},{}\n", i % 89, i % 7);
  in.write("train.csv", rows);
  ASSERT_EQ(in.lemma("fit ols train.csv 'y ~ x' -o m.lemma").code, 0);
  // A reader that takes the first lines, asks for a stop and reads on: the tool is in the middle of its work.
  const std::string script =
      "for i in $(seq 400); do tail -n +2 train.csv; done > many.csv; (head -n 1 train.csv; cat many.csv) > all.csv; "
      "mkfifo out; ( head -c 65536 > /dev/null; kill -INT $(cat pid); cat > /dev/null ) < out & "
      "sh -c 'echo $$ > pid; exec \"$0\" predict m.lemma all.csv > out 2> said' ";
  in.write("run.sh", script + "'" + tool_path() + "'; echo $? > code; wait\n");
  ASSERT_EQ(std::system(("cd '" + in.path(".") + "' && sh run.sh").c_str()), 0);
  EXPECT_EQ(in.read("code"), "130\n");
  EXPECT_TRUE(contains(in.read("said"), "cancelled; the first ")) << in.read("said");
  EXPECT_TRUE(contains(in.read("said"), " predictions were written to standard output, the others were not"))
      << in.read("said");
}

TEST(JudgeTool, ProgressIsToldInLinesWhereThereIsNoTerminal) {
  const Folder in;
  const std::string fit = "fit kmeans letters '~ . - lettr' --k 20 --restarts 3 -o k.lemma";
  const auto silent = in.lemma(fit);
  EXPECT_FALSE(contains(silent.err, "progress")) << silent.err;
  const auto told = in.lemma(fit + " --progress");
  std::istringstream lines(told.err);
  int count = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("progress: ")) continue;
    ++count;
    EXPECT_TRUE(contains(line, " %")) << line;
    EXPECT_FALSE(contains(line, "\r") || contains(line, "\x1b")) << line;
  }
  EXPECT_GE(count, 1) << told.err;
  EXPECT_FALSE(contains(in.lemma(fit + " --progress --quiet").err, "progress"));
  ASSERT_EQ(in.lemma("fit lda letters 'lettr ~ .' -o l.lemma").code, 0);
  const auto json = in.lemma("evaluate l.lemma letters --progress --json");
  EXPECT_TRUE(contains(json.err, "progress: ")) << json.err;
  EXPECT_EQ(from_json(json.out).at("rows").as_double(), 20000);
}

}  // namespace
}  // namespace lemma
