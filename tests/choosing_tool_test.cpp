// tests/choosing_tool_test.cpp: cross, tune, compare, curve, bootstrap and the ledger as a user calls them.
#include <filesystem>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <lemma/core/value.hpp>
#include <tests/run_tool.hpp>

namespace lemma {
namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Words broken into lines, as one line.
std::string joined(std::string text) {
  for (char& c : text)
    if (c == '\n') c = ' ';
  return text;
}

constexpr const char* kKeeping = "LEMMA_NO_LEDGER=";  // as outside the tests

std::string line_rows(int first, int count) {
  std::string out;
  for (int i = first; i < first + count; ++i)
    out += fmt::format("{},{},{}\n", i, (i * 37) % 101, (i * 37) % 101 + i % 7 > 50 ? "yes" : "no");
  return out;
}

struct Lab : Folder {
  Lab() {
    write("train.csv", "a,b,y\n" + line_rows(0, 80));
    write("test.csv", "a,b,y\n" + line_rows(100, 40));
  }
};

TEST(ChoosingTool, PredictionsOutOfFoldHaveOneLineForEachRow) {
  const Lab in;
  const auto found = in.lemma("cross lda train.csv 'y ~ .' --folds 4 --predictions said.csv --json");
  ASSERT_EQ(found.code, 0) << found.err;
  EXPECT_EQ(from_json(found.out).at("done").as_integer(), 4);
  const std::string said = in.read("said.csv");
  EXPECT_TRUE(said.starts_with("row,repeat,fold,truth,class,p_no,p_yes\n")) << said;
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 81);
  EXPECT_EQ(in.lemma("cross lda train.csv 'y ~ .' --folds 4 --json --threads 1").out,
            in.lemma("cross lda train.csv 'y ~ .' --folds 4 --json --threads 3").out);
}

TEST(ChoosingTool, ThreePartsShareNoRowAndAreStratified) {
  const Lab in;
  const auto found = in.lemma("split train.csv --by y --test 0.2 --validation 0.3 -o a.csv b.csv c.csv --json");
  ASSERT_EQ(found.code, 0) << found.err;
  const Value parts = from_json(found.out);
  EXPECT_EQ(parts.at("train").at("rows").as_integer(), 40);
  EXPECT_EQ(parts.at("validation").at("rows").as_integer(), 24);
  EXPECT_EQ(parts.at("test").at("rows").as_integer(), 16);
  ASSERT_EQ(in.lemma("fit lda a.csv 'y ~ .' -o m.lemma").code, 0);
  for (const char* rest : {"b.csv", "c.csv"})
    EXPECT_EQ(in.lemma(fmt::format("evaluate m.lemma {} --strict", rest)).code, 0);
  EXPECT_TRUE(contains(in.lemma("split train.csv --validation 0.2 -o a.csv b.csv").err, "needs a third file"));
  EXPECT_TRUE(contains(in.lemma("split train.csv --test 0.6 -o a.csv b.csv c.csv").err, "leave rows to learn from"));
}

TEST(ChoosingTool, EveryStepOfASearchNamesItsColumns) {
  const Folder in;
  const auto found = in.lemma("select boston 'medv ~ lstat + rm + age' --by best --json");
  ASSERT_EQ(found.code, 0) << found.err;
  const Value document = from_json(found.out);
  const auto& steps = document.at("subsets").as_list();
  ASSERT_EQ(steps.size(), 4u);
  EXPECT_EQ(steps[2].as_strings(), (std::vector<std::string>{"lstat", "rm"}));
  EXPECT_EQ(steps[static_cast<std::size_t>(document.at("choice").as_integer())].as_strings(),
            document.at("chosen").as_strings());
  EXPECT_EQ(document.at("table").at("rows").as_strings()[1], "lstat");
}

TEST(ChoosingTool, IntervalsOfSharesAreOfTheKindAskedFor) {
  const Lab in;
  ASSERT_EQ(in.lemma("fit lda train.csv 'y ~ .' -o m.lemma").code, 0);
  const auto bounds = [&](const std::string& flags) {
    const auto found = in.lemma("evaluate m.lemma test.csv --json " + flags);
    EXPECT_EQ(found.code, 0) << found.err;
    return from_json(found.out).at("measures").at("bounds");
  };
  const auto width = [](const Value& pair) { return pair.as_vector()(1) - pair.as_vector()(0); };
  const Value wilson = bounds(""), exact = bounds("--interval exact"),
              wide = bounds("--interval hoeffding --bootstrap 0");
  EXPECT_LT(width(wilson.at("accuracy")), width(exact.at("accuracy")));
  EXPECT_LT(width(exact.at("accuracy")), width(wide.at("accuracy")));
  EXPECT_TRUE(wilson.find("kappa"));
  EXPECT_FALSE(wide.find("kappa"));
  EXPECT_EQ(in.lemma("evaluate m.lemma test.csv --interval wald").code, 2);
}

TEST(ChoosingTool, PlansRefuseFlagsThatTheyDoNotLookAt) {
  const Lab in;
  const auto error = [&](const std::string& flags) {
    const auto found = in.lemma("cross lda train.csv 'y ~ .' " + flags);
    EXPECT_EQ(found.code, 2);
    return found.err;
  };
  EXPECT_TRUE(contains(error("--plan loo --folds 5"), "--plan loo has no --folds: that is of folds and time"));
  EXPECT_TRUE(contains(error("--samples 5"), "--plan folds has no --samples"));
  EXPECT_TRUE(contains(error("--plan bootstrp"), "did you mean 'bootstrap'"));
  EXPECT_TRUE(contains(error("--folds 1"), "folds is 1, must be at least 2"));
  EXPECT_TRUE(contains(error("--group b --stratify"), "choose --group or --stratify"));
  EXPECT_TRUE(contains(error("--group c"), "'c'"));
}

TEST(ChoosingTool, TimeReversedAndGroupsApartAreNamed) {
  const Lab in;
  const auto time = in.lemma("cross lda train.csv 'y ~ b' --time a --plan folds --folds 4");
  EXPECT_EQ(time.code, 0);
  EXPECT_TRUE(contains(joined(time.err), "time is reversed")) << time.err;
  EXPECT_FALSE(contains(in.lemma("cross lda train.csv 'y ~ b' --time a --folds 4").err, "reversed"));
  std::string rows = "who,part,x,y\n";
  for (int i = 0; i < 40; ++i)
    rows += fmt::format("p{},f{},{},{}\n", i / 4, i % 4, (i * 13) % 17, (i * 13) % 17 + i % 3);
  in.write("people.csv", rows);
  const auto apart = in.lemma("cross ols people.csv 'y ~ x' --fold part --group who");
  EXPECT_EQ(apart.code, 0) << apart.err;
  EXPECT_TRUE(contains(apart.err, "groups are split apart: 40 rows that judge")) << apart.err;
  EXPECT_FALSE(contains(in.lemma("cross ols people.csv 'y ~ x' --group who --folds 5").err, "apart"));
}

TEST(ChoosingTool, ATunedModelKeepsItsTriesAndShowsThem) {
  const Lab in;
  const auto tuned =
      in.lemma("tune logistic train.csv 'y ~ .' --grid lambda=0.1,1,10 --folds 4 --hold-out 0.25 -o m.lemma");
  ASSERT_EQ(tuned.code, 0) << tuned.err;
  EXPECT_TRUE(contains(tuned.out, "OPTIMISTIC")) << tuned.out;
  EXPECT_TRUE(contains(tuned.out, "Honest, the search done anew")) << tuned.out;
  const auto shown = in.lemma("show m.lemma");
  EXPECT_TRUE(contains(shown.out, "lambda=10")) << shown.out;
  EXPECT_TRUE(contains(shown.out, "OPTIMISTIC"));
  const Value document = from_json(in.lemma("show m.lemma --json").out);
  EXPECT_EQ(document.at("choice").at("tries").as_list().size(), 3u);
  EXPECT_EQ(in.lemma("predict m.lemma test.csv").code, 0);
  EXPECT_TRUE(contains(in.lemma("tune ridge boston 'medv ~ .' --grid lamda=1,2").err, "did you mean 'lambda'"));
}

TEST(ChoosingTool, MethodsAreComparedInOneTable) {
  const Lab in;
  const auto found = in.lemma("compare lda,'svm(C=10)',centroid train.csv 'y ~ .' --folds 4");
  ASSERT_EQ(found.code, 0) << found.err;
  EXPECT_TRUE(contains(found.out, "svm(C=10)")) << found.out;
  EXPECT_TRUE(contains(joined(found.out), "for all 3 pairs at once")) << found.out;
}

TEST(Ledger, LooksAreCountedAndTheBoundGrowsWithThem) {
  const Lab in;
  ASSERT_EQ(in.lemma("fit lda train.csv 'y ~ .' -o a.lemma", kKeeping).code, 0);
  ASSERT_EQ(in.lemma("fit centroid train.csv 'y ~ .' -o b.lemma", kKeeping).code, 0);
  EXPECT_TRUE(in.has(".lemma/ledger.db"));
  const Value first = from_json(in.lemma("evaluate a.lemma test.csv --json", kKeeping).out).at("ledger");
  EXPECT_EQ(first.at("kind").as_string(), "test");
  EXPECT_EQ(first.at("looks").as_integer(), 1);
  const Value again = from_json(in.lemma("evaluate a.lemma test.csv --json", kKeeping).out).at("ledger");
  EXPECT_EQ(again.at("looks").as_integer(), 1) << "the same model is no new look";
  const Value second = from_json(in.lemma("evaluate b.lemma test.csv --json", kKeeping).out).at("ledger");
  EXPECT_EQ(second.at("looks").as_integer(), 2);
  EXPECT_GT(second.at("margin").as_double(), first.at("margin").as_double());
  EXPECT_NEAR(second.at("margin").as_double(), std::sqrt(std::log(2 * 2 / 0.05) / 80), 1e-12);
  const Value history = from_json(in.lemma("ledger test.csv --json", kKeeping).out);
  EXPECT_EQ(history.at("entries").as_list().size(), 2u);
  EXPECT_EQ(from_json(in.lemma("ledger a.lemma --json").out).at("entries").as_list().size(), 2u);
  EXPECT_EQ(from_json(in.lemma("ledger --json").out).at("entries").as_list().size(), 4u);
}

TEST(Ledger, TrainingRowsInTheTestSetAreNamedAndStrictSaysNo) {
  const Lab in;
  in.write("mixed.csv", "a,b,y\n" + line_rows(60, 30));
  ASSERT_EQ(in.lemma("fit lda train.csv 'y ~ .' -o a.lemma").code, 0);
  const auto mixed = in.lemma("evaluate a.lemma mixed.csv --strict");
  EXPECT_EQ(mixed.code, 1);
  EXPECT_TRUE(contains(joined(mixed.out), "MIXED rows: 20 of 30 rows")) << mixed.out;
  EXPECT_EQ(in.lemma("evaluate a.lemma test.csv --strict").code, 0);
  EXPECT_EQ(in.lemma("evaluate a.lemma train.csv --strict").code, 1);
}

TEST(Ledger, TuningOnTheTestSetIsCaughtAndNamed) {
  const Lab in;
  ASSERT_EQ(in.lemma("tune logistic test.csv 'y ~ .' --grid lambda=0.1,1 --folds 3", kKeeping).code, 0);
  ASSERT_EQ(in.lemma("fit logistic train.csv 'y ~ .' --lambda 1 -o a.lemma", kKeeping).code, 0);
  const auto found = in.lemma("evaluate a.lemma test.csv --strict", kKeeping);
  EXPECT_EQ(found.code, 1);
  EXPECT_TRUE(contains(joined(found.out), "VALIDATION rows: all 40 rows were used on ")) << found.out;
  EXPECT_TRUE(contains(joined(found.out), " to tune logistic")) << found.out;
  in.write("part.csv", "a,b,y\n" + line_rows(130, 30));
  EXPECT_TRUE(contains(joined(in.lemma("evaluate a.lemma part.csv", kKeeping).out), "10 of 30 rows were used on"));
}

TEST(Ledger, IsTurnedOffByAFlagAndByTheEnvironment) {
  const Lab in;
  ASSERT_EQ(in.lemma("fit lda train.csv 'y ~ .' -o a.lemma --no-ledger", kKeeping).code, 0);
  ASSERT_EQ(in.lemma("fit lda train.csv 'y ~ .' -o a.lemma", "LEMMA_NO_LEDGER=1").code, 0);
  ASSERT_EQ(in.lemma("fit lda iris 'species ~ .' -o b.lemma", kKeeping).code, 0);
  EXPECT_FALSE(in.has(".lemma"));
  ASSERT_EQ(in.lemma("fit lda train.csv 'y ~ .' -o a.lemma --ledger mine.db", "LEMMA_NO_LEDGER=1").code, 0);
  EXPECT_TRUE(in.has("mine.db"));
  EXPECT_TRUE(contains(in.lemma("ledger").err, "there is no ledger at .lemma/ledger.db"));
}

TEST(Ledger, ADamagedOneWarnsAndStopsNothing) {
  const Lab in;
  std::filesystem::create_directories(in.path(".lemma"));
  in.write(".lemma/ledger.db", std::string(5000, 'x'));
  const auto fitted = in.lemma("fit lda train.csv 'y ~ .' -o a.lemma", kKeeping);
  EXPECT_EQ(fitted.code, 0);
  EXPECT_TRUE(contains(fitted.err, "cannot be used")) << fitted.err;
  EXPECT_TRUE(in.has("a.lemma"));
  const auto judged = in.lemma("evaluate a.lemma test.csv", kKeeping);
  EXPECT_EQ(judged.code, 0);
  EXPECT_TRUE(contains(judged.out, "accuracy"));
  in.write("lemma_file", "");
  EXPECT_EQ(in.lemma("evaluate a.lemma test.csv --ledger lemma_file/ledger.db").code, 0)
      << "no folder can be made there";
}

}  // namespace
}  // namespace lemma
