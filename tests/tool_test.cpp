// tests/tool_test.cpp: the command line as a user meets it: files, exit codes, JSON, and the likeliest mistakes.
#include "run_tool.hpp"

#include <algorithm>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <lemma/catalog.hpp>
#include <lemma/core/cpu.hpp>
#include <lemma/core/value.hpp>

namespace lemma {
namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Tool, TheWholeWayFromSplitToVerify) {
  const Folder in;
  const std::string formula = "'sp:sex ~ log(FL) + log(RW) + log(CL) + log(CW) + log(BD)'";
  EXPECT_EQ(in.lemma("split crabs --by sp:sex -o train.csv test.csv").code, 0);
  const auto fit = in.lemma("fit lda train.csv " + formula + " -o crabs.lemma");
  EXPECT_EQ(fit.code, 0) << fit.err;
  EXPECT_TRUE(contains(fit.out, "Certificate: holds")) << fit.out;
  const auto test = in.lemma("evaluate crabs.lemma test.csv");
  EXPECT_TRUE(contains(test.out, "Test rows: none of 40 rows is equal to a row that trained the model")) << test.out;
  const auto train = in.lemma("evaluate crabs.lemma train.csv");
  EXPECT_TRUE(contains(train.out, "TRAINING rows")) << train.out;
  const auto mixed = in.lemma("evaluate crabs.lemma crabs");
  EXPECT_TRUE(contains(mixed.out, "MIXED rows: 160 of 200 rows (80 %) are equal to training rows")) << mixed.out;
  const auto verify = in.lemma("verify crabs.lemma train.csv");
  EXPECT_EQ(verify.code, 0) << verify.out << verify.err;
  const auto other = in.lemma("verify crabs.lemma test.csv");
  EXPECT_EQ(other.code, 1);
  EXPECT_TRUE(contains(other.out, "not the rows the model was fitted on")) << other.out;
  const auto predict = in.lemma("predict crabs.lemma test.csv");
  EXPECT_TRUE(predict.out.starts_with("class,p_B:F,p_B:M,p_O:F,p_O:M\n")) << predict.out.substr(0, 80);
}

TEST(Tool, AModelThatClaimsNothingIsNoFailure) {
  const Folder in;
  EXPECT_EQ(in.lemma("fit perceptron iris 'species ~ .' -o m.lemma").code, 0);
  const auto verify = in.lemma("verify m.lemma iris");
  EXPECT_EQ(verify.code, 0) << verify.err;
  EXPECT_TRUE(contains(verify.out, "Nothing to verify: nothing is claimed, because rows of weight")) << verify.out;
  const Value document = from_json(in.lemma("verify m.lemma iris --json").out);
  EXPECT_TRUE(document.at("verified").is_null());
  EXPECT_TRUE(document.at("recomputed").at("holds").is_null());
  EXPECT_EQ(in.lemma("verify m.lemma crabs").code, 2);  // no such columns
  EXPECT_EQ(in.lemma("split iris -o a.csv b.csv").code, 0);
  EXPECT_EQ(in.lemma("verify m.lemma a.csv").code, 1);  // not its rows
}

TEST(Tool, AFitAsJsonHasTheKeysOfTheContract) {
  const Folder in;
  const auto fit = in.lemma("fit ols boston 'medv ~ .' --json");
  ASSERT_EQ(fit.code, 0) << fit.err;
  const Value document = from_json(fit.out);
  for (const auto* key :
       {"method", "task", "params", "features", "target", "rows", "certificate", "warnings", "results"})
    EXPECT_TRUE(document.find(key)) << key;
  for (const auto* key : {"strength", "kind", "value", "tolerance", "holds", "iterations", "stopped", "message"})
    EXPECT_TRUE(document.at("certificate").find(key)) << key;
  for (const auto* key :
       {"coefficients", "intercept", "std_errors", "t", "p", "intercept_std_error", "intercept_t", "intercept_p",
        "sigma", "df_residual", "r_squared", "adj_r_squared", "f_statistic", "f_p", "log_likelihood", "aic", "bic"})
    EXPECT_TRUE(document.at("results").find(key)) << key;
  EXPECT_EQ(document.at("results").at("coefficients").as_vector().size(), 13);
  EXPECT_EQ(document.at("rows").as_integer(), 506);
}

TEST(Tool, EveryMethodsExampleRunsAsPrinted) {
  for (const Method* method : catalog()) {
    const Folder in;
    const std::string example(method->about().example);
    ASSERT_TRUE(example.starts_with("lemma ")) << example;
    const auto ran = in.lemma(example.substr(6));
    EXPECT_EQ(ran.code, 0) << example << "\n" << ran.err;
    const auto help = in.lemma("fit " + method->name() + " --help");
    EXPECT_EQ(help.code, 0);
    EXPECT_TRUE(contains(help.out, example)) << help.out;
    for (const auto& info : method->params()) EXPECT_TRUE(contains(help.out, "--" + info.name)) << info.name;
  }
}

struct Mistake {
  std::string arguments;
  std::string message;
};
void PrintTo(const Mistake& mistake, std::ostream* out) { *out << "lemma " << mistake.arguments; }
class Mistakes : public testing::TestWithParam<Mistake> {};

TEST_P(Mistakes, AreNamedWithWhatWouldBeRightAndLeaveNothingBehind) {
  const Folder in;
  in.write("short.csv", "a,b\n1,2\n3\n");
  in.write("model.lemma", "this is no model");
  const auto outcome = in.lemma(GetParam().arguments);
  EXPECT_EQ(outcome.code, 2) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, GetParam().message)) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_FALSE(in.has("out.lemma"));
}

INSTANTIATE_TEST_SUITE_P(
    Tool, Mistakes,
    testing::Values(
        Mistake{"fit wls boston 'medv ~ .' -o out.lemma",
                "there is no method 'wls': here it is 'ols' with --precision"},
        Mistake{"fit ldaa iris 'species ~ .' -o out.lemma", "there is no method 'ldaa' (did you mean 'lda'?)"},
        Mistake{"fit randomForest boston 'medv ~ .' -o out.lemma",
                "there is no method 'randomForest': here it is 'forest'"},
        Mistake{"fit KNeighborsClassifier iris 'species ~ .'", "here it is 'knn'"},
        Mistake{"fit beta_binomial iris '~ .'", "here it is 'conjugate' with --family beta_binomial"},
        Mistake{"fit MultinomialNB iris 'species ~ .'", "here it is 'naive_bayes' with --kinds multinomial"},
        Mistake{"fit rda iris 'species ~ .'", "here it is 'qda' with --pooling and --sphere"},
        Mistake{"fit ols boston 'medv = lstat'", "write '~' between what is predicted and what it is predicted from"},
        Mistake{"describe iris --where 'species == setosa'", "'setosa' is a level of 'species': write it in quotes"},
        Mistake{"predict model.lemma iris --interval", "--interval needs a value: none, confidence or prediction"},
        Mistake{"fti lda iris", "there is no command 'fti' (did you mean 'fit'?)"},
        Mistake{"fit lda iris 'specis ~ .' -o out.lemma", "did you mean 'species'?"},
        Mistake{"fit kmeans iris --kk 3", "kmeans takes no --kk (did you mean '--k'?)"},
        Mistake{"fit kmeans iris '~ . - species' --k 0", "kmeans: k is 0, must be at least 1"},
        Mistake{"fit kmeans iris '~ . - species' --k three",
                "kmeans: k is 'three', must be numbers separated by commas"},
        Mistake{"fit kmeans iris '~ . - species' --k", "--k needs a value"},
        Mistake{"fit ols boston 'medv ~ .' --stepwise --stepwise-k bic",
                "--stepwise needs a value, and what follows it is the option --stepwise-k"},
        Mistake{"fit lda irs 'species ~ .'", "did you mean 'iris'?"}, Mistake{"fit lda iris", "lda needs a formula"},
        Mistake{"fit lda", "needs DATA"}, Mistake{"fit", "fit needs a METHOD"},
        Mistake{"fit ols iris 'species ~ .'", "species"}, Mistake{"fit ols iris 'petal_width ~ petal_length + '", "^"},
        Mistake{"fit 'scale | pca(componets=2) | lda' iris 'species ~ .'", "did you mean 'components'?"},
        Mistake{"fit 'ols | pca' iris 'petal_width ~ . - species'", "'ols' does not transform rows"},
        Mistake{"describe short.csv", "short.csv"}, Mistake{"describe iris --wehre 'a > 1'", "did you mean '--where'?"},
        Mistake{"describe iris --where 'petal_lenght > 1'", "did you mean 'petal_length'?"},
        Mistake{"describe nothing.csv", "nothing.csv"},
        Mistake{"predict model.lemma iris", "model.lemma is not a Lemma model file"},
        Mistake{"predict absent.lemma iris", "cannot read 'absent.lemma'"},
        Mistake{"split iris --tets 0.3", "did you mean '--test'?"},
        Mistake{"fit ols --formula 'petal_width ~ .' iris", "write lemma fit ols DATA 'y ~ .', in this order"},
        Mistake{"split iris -o one.csv", "--output"}, Mistake{"split iris -o a.csv b.csv --test 2.5", "--test is 2.5"},
        Mistake{"split iris -o a.csv b.csv --by spcies", "did you mean 'species'?"},
        Mistake{"datasets irs", "did you mean 'iris'?"}, Mistake{"methods ldaa", "did you mean 'lda'?"},
        Mistake{"fit lda iris 'species ~ .' -o /no/such/folder/out.lemma", "/no/such/folder/out.lemma"},
        Mistake{"fit ols iris 'petal_width ~ .' --memory much", "--memory is 'much'"}));

TEST(Tool, NoParameterHidesBehindAFlagOfTheCommand) {
  const std::string help = Folder().lemma("fit --help").out;
  for (const Method* method : catalog())
    for (const auto& info : method->params()) {
      if (info.name == "precision" && !method->about().takes_precision) continue;  // its own: see below
      for (const char end : {' ', ',', '\n'})
        EXPECT_FALSE(contains(help, "--" + info.name + end)) << method->name() << ": --" << info.name;
    }
}

TEST(Tool, PrecisionIsTheMethodsWhereItTakesNoInverseVariances) {
  const Folder in;
  const std::string fit = "fit mlp iris 'species ~ .' --layers 3 --solver adam --epochs 2 --json";
  const auto precision_of = [&](const std::string& more) {
    const auto said = in.lemma(fit + more);
    EXPECT_EQ(said.code, 0) << said.err;
    return from_json(said.out).at("params").at("precision").as_string();
  };
  EXPECT_EQ(precision_of(""), "double");
  EXPECT_EQ(precision_of(" --precision single"), "single");
  EXPECT_EQ(precision_of(" --precision=single"), "single");
  EXPECT_TRUE(contains(in.lemma(fit + " --precision petal_width").err, "must be one of single, double"));
}

TEST(Tool, ANetworkStartsFromTheWeightsOfAnother) {
  const Folder in;
  const std::string fit = "fit mlp iris 'species ~ .' --json ";
  ASSERT_EQ(in.lemma(fit + "--layers 3 -o net.lemma").code, 0);
  const auto again = in.lemma(fit + "--layers 3 --from net.lemma");
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(from_json(again.out).at("certificate").at("iterations").as_double(), 0);
  EXPECT_TRUE(contains(in.lemma(fit + "--layers 4 --from net.lemma").err, "where it has 35"));
  ASSERT_EQ(in.lemma("fit tree iris 'species ~ .' -o tree.lemma").code, 0);
  EXPECT_TRUE(contains(in.lemma(fit + "--from tree.lemma").err, "nothing that mlp could start from"));
}

TEST(Tool, ParametersOfTheMethodMayStandAnywhereAfterIt) {
  const Folder in;
  const auto plain = in.lemma("fit kmeans xclara --k 2 --restarts 2 --json");
  ASSERT_EQ(plain.code, 0) << plain.err;
  EXPECT_EQ(in.lemma("--json fit --seed 1 kmeans --k=2 --restarts 2 xclara '~ .'").out.size(), plain.out.size());
  const auto flag = in.lemma("fit pca usarrests --scale -q --json");
  ASSERT_EQ(flag.code, 0) << flag.err;
  EXPECT_TRUE(from_json(flag.out).at("params").at("scale").as_bool());
  EXPECT_FALSE(from_json(in.lemma("fit pca usarrests --scale false --json").out).at("params").at("scale").as_bool());
}

TEST(Tool, CentresForKMeansComeFromAFile) {
  const Folder in;
  in.write("centers.csv", "eruptions,waiting\n2,55\n4,80\n");
  const auto fit = in.lemma("fit kmeans faithful --start centers.csv --json");
  ASSERT_EQ(fit.code, 0) << fit.err;
  EXPECT_EQ(from_json(fit.out).at("results").at("sizes").as_vector().sum(), 272);
  in.write("wrong.csv", "a,b,c\n1,2,3\n4,5,6\n");
  EXPECT_EQ(in.lemma("fit kmeans faithful --start wrong.csv").code, 2);
}

TEST(Tool, CtrlCKeepsWhatThereIsAndSaysSo) {
  const Folder in;
  // The bar of the restarts is drawn when some of them are done.
  const auto stopped =
      in.lemma_signalled("fit kmeans iris '~ . - species' --k 30 --restarts 200000 -o m.lemma", "restarts", SIGINT);
  EXPECT_EQ(stopped.code, 130) << stopped.err;
  EXPECT_TRUE(contains(stopped.err, "the model as far as it came is in m.lemma")) << stopped.err;
  EXPECT_TRUE(contains(stopped.out, "DOES NOT HOLD")) << stopped.out;
  EXPECT_EQ(in.lemma("verify m.lemma iris").code, 0);  // the best finished start is a fixed point, found out anew
}

TEST(Tool, ReadsStandardInput) {
  const Folder in;
  const auto fit = in.lemma("fit ols - 'y ~ x' --json", "printf 'x,y\\n1,2\\n2,4.1\\n3,5.9\\n4,8.2\\n' |");
  ASSERT_EQ(fit.code, 0) << fit.err;
  EXPECT_NEAR(from_json(fit.out).at("results").at("coefficients").as_vector()(0), 2.04, 1e-9);
}

TEST(Tool, IntervalsResidualsAndDiagnosticsAreColumns) {
  const Folder in;
  ASSERT_EQ(in.lemma("fit ols boston 'medv ~ lstat + rm' -o m.lemma").code, 0);
  const auto predict = in.lemma("predict m.lemma boston --interval prediction --diagnostics");
  const std::string header = predict.out.substr(0, predict.out.find('\n'));
  for (const auto* name : {"prediction", "lower", "upper", "residual", "leverage", "cooks_distance", "loo_residual"})
    EXPECT_TRUE(contains(header, name)) << header;
  EXPECT_EQ(in.lemma("predict m.lemma boston --interval confidence --level 2").code, 2);
}

TEST(Tool, DigitsAreThoseOfThePredictionsAndNotOfTheTable) {
  const Folder in;
  in.write("long.csv", "x,y\n1.23456789,1\n2.5,2.1\n3.75,2.9\n4.4,4.2\n");
  ASSERT_EQ(in.lemma("fit ols long.csv 'y ~ x' -o m.lemma").code, 0);
  const auto three = in.lemma("predict m.lemma long.csv --append --digits 3");
  ASSERT_EQ(three.code, 0) << three.err;
  EXPECT_EQ(three.out,
            "x,y,prediction,residual\n1.23456789,1,0.917,0.0827\n2.5,2.1,2.11,-0.00703\n3.75,2.9,3.28,-0.382\n"
            "4.4,4.2,3.89,0.307\n");
  EXPECT_EQ(in.lemma("predict m.lemma long.csv --append --digits 3 --memory 1K").out, three.out);
  EXPECT_EQ(in.lemma("predict m.lemma long.csv --digits 17").out, in.lemma("predict m.lemma long.csv").out);
  EXPECT_EQ(in.lemma("predict m.lemma long.csv --digits 0").code, 2);
  ASSERT_EQ(in.lemma("fit scale long.csv '~ x' -o s.lemma").code, 0);
  ASSERT_EQ(in.lemma("predict s.lemma long.csv -o z.csv").code, 0);
  EXPECT_EQ(in.lemma("predict s.lemma z.csv --inverse --digits 3").out, "x\n1.23\n2.5\n3.75\n4.4\n");
}

TEST(Tool, PlacesOfAnEmbeddingLeadBackToItsColumns) {
  const Folder in;
  for (const std::string method : {"isomap", "smacof"}) {  // one that places new rows, and one that does not
    ASSERT_EQ(in.lemma("fit " + method + " iris '~ . - species' -o m.lemma").code, 0);
    in.write("places.csv", in.lemma("show m.lemma coordinates").out);
    const auto back = in.lemma("predict m.lemma places.csv --header true --inverse --digits 3");
    ASSERT_EQ(back.code, 0) << back.err;
    EXPECT_TRUE(back.out.starts_with("sepal_length,sepal_width,petal_length,petal_width\n5."))
        << back.out.substr(0, 90);
    EXPECT_EQ(std::count(back.out.begin(), back.out.end(), '\n'), 151);
    in.write("named.csv", "D2,D1\n0,0\n");
    EXPECT_EQ(in.lemma("predict m.lemma named.csv --inverse").code, 0);
    in.write("half.csv", "D1\n0\n");
    EXPECT_TRUE(contains(in.lemma("predict m.lemma half.csv --inverse").err, "D2"));
  }
  ASSERT_EQ(in.lemma("fit smacof uscities '~ . - city' --input square -o m.lemma").code, 0);
  EXPECT_TRUE(contains(in.lemma("predict m.lemma named.csv --inverse").err, "it was given dissimilarities"));
}

TEST(Tool, RowsWithMissingValuesCanBeKeptEmptyAtPrediction) {
  const Folder in;
  in.write("train.csv", "x,y\n1,1\n2,2.1\n3,2.9\n4,4\n");
  in.write("new.csv", "x\n1\n\n3\n");
  in.write("gap.csv", "x,z\n1,a\n,b\n3,c\n");
  ASSERT_EQ(in.lemma("fit ols train.csv 'y ~ x' -o m.lemma").code, 0);
  EXPECT_EQ(in.lemma("predict m.lemma gap.csv").code, 2);
  const auto kept = in.lemma("predict m.lemma gap.csv --missing keep");
  ASSERT_EQ(kept.code, 0) << kept.err;
  EXPECT_EQ(std::count(kept.out.begin(), kept.out.end(), '\n'), 4) << kept.out;
}

TEST(Tool, AFileLargerThanTheMemoryAllowedGivesTheSameBits) {
  const Folder in;
  in.write("letters.csv", in.lemma("datasets letters").out);
  for (const std::string method : {"lda", "kmeans", "pca"}) {
    const std::string formula = method == "lda" ? "'lettr ~ .'" : "'~ . - lettr'";
    const std::string more = method == "kmeans" ? " --k 5 --restarts 2" : "";
    ASSERT_EQ(in.lemma("fit " + method + " letters.csv " + formula + more + " -o whole.lemma --threads 2").code, 0);
    ASSERT_EQ(
        in.lemma("fit " + method + " letters.csv " + formula + more + " -o blocks.lemma --memory 1M --threads 1").code,
        0);
    EXPECT_EQ(in.read("whole.lemma"), in.read("blocks.lemma")) << method;
  }
}

TEST(Tool, PredictionsOfAFileLargerThanTheMemoryAllowedAreTheSameBits) {
  const Folder in;
  std::string letters = in.lemma("datasets letters").out;
  for (std::size_t at = letters.find(",2,"), times = 0; times < 40; ++times, at = letters.find(",2,", at + 9000))
    letters.erase(at + 1, 1);  // missing here and there, in rows of several blocks
  in.write("letters.csv", letters);
  ASSERT_EQ(in.lemma("fit lda letters.csv 'lettr ~ .' --missing drop -o class.lemma").code, 0);
  ASSERT_EQ(in.lemma("fit ols letters.csv 'y.bar ~ . - lettr' --missing drop -o number.lemma").code, 0);
  for (const std::string call :
       {"predict class.lemma letters.csv --what all", "predict class.lemma letters.csv --json",
        "predict number.lemma letters.csv --append --interval prediction",
        "predict number.lemma letters.csv --missing keep --diagnostics",
        "predict number.lemma letters.csv --missing error", "evaluate class.lemma letters.csv --json",
        "evaluate number.lemma letters.csv --json"}) {
    const auto whole = in.lemma(call + " --threads 2"), blocks = in.lemma(call + " --memory 100K --threads 1");
    EXPECT_EQ(whole.code, contains(call, "missing error") ? 2 : 0) << call << whole.err;
    EXPECT_EQ(blocks.code, whole.code) << call << blocks.err;
    EXPECT_TRUE(blocks.out == whole.out) << call;
    EXPECT_EQ(blocks.err, whole.err) << call;  // the same notes, once
  }
  ASSERT_EQ(in.lemma("predict number.lemma letters.csv -o whole.csv").code, 0);
  ASSERT_EQ(in.lemma("predict number.lemma letters.csv -o blocks.csv.gz --memory 100K").code, 0);
  std::string packed = in.lemma("describe blocks.csv.gz").out;
  packed.replace(packed.find("blocks.csv.gz"), 13, "whole.csv");
  EXPECT_EQ(packed, in.lemma("describe whole.csv").out);
}

TEST(Tool, AResponseThatIsThereInSomeBlocksOnlyLeavesTheColumnsAsTheyAre) {
  const Folder in;
  std::string none = "x,y\n";
  for (int i = 0; i < 8500; ++i) none += fmt::format("{},\n", i % 17);
  std::string late = none;
  for (int i = 0; i < 500; ++i) late += fmt::format("{},{}\n", i % 17, i % 5);
  in.write("none.csv", none);
  in.write("late.csv", late);
  ASSERT_EQ(in.lemma("fit ols late.csv 'y ~ x' --missing drop -o m.lemma").code, 0);
  for (const std::string file : {"late.csv", "none.csv"}) {
    const auto whole = in.lemma("predict m.lemma " + file),
               blocks = in.lemma("predict m.lemma " + file + " --memory 1K");
    ASSERT_EQ(blocks.code, 0) << blocks.err;
    EXPECT_TRUE(blocks.out == whole.out) << file;
    EXPECT_EQ(contains(blocks.out.substr(0, 40), "residual"), file == "late.csv") << blocks.out.substr(0, 40);
  }
}

TEST(Tool, BlocksWithoutARowToPredictAndWithOtherClustersStayInStep) {
  const Folder in;
  std::string rows = "x,z\n";  // missing in the whole of blocks 1 and 3, and each block near another centre
  for (int i = 0; i < 5 * 4096; ++i)
    rows += i / 4096 % 2 == 0 ? fmt::format(",{}\n", i) : fmt::format("{},{}\n", 100 * (i / 4096) + i % 7, i);
  in.write("gaps.csv", rows);
  in.write("train.csv", "x\n103\n103.5\n303\n303.5\n");
  in.write("none.csv", "x,z\n,1\n,2\n");
  ASSERT_EQ(in.lemma("fit kmeans train.csv '~ x' --k 2 -o k.lemma").code, 0);
  for (const std::string call :
       {"predict k.lemma gaps.csv --missing keep", "predict k.lemma gaps.csv --missing keep --json",
        "predict k.lemma gaps.csv --missing drop --append"}) {
    const auto whole = in.lemma(call), blocks = in.lemma(call + " --memory 1K");
    ASSERT_EQ(blocks.code, 0) << call << blocks.err;
    EXPECT_TRUE(blocks.out == whole.out) << call;
    EXPECT_EQ(blocks.err, whole.err) << call;
  }
  for (const std::string memory : {"", " --memory 1"}) {
    const auto none = in.lemma("predict k.lemma none.csv --missing keep" + memory);
    EXPECT_EQ(none.code, 0) << none.err;
    EXPECT_EQ(none.out, "cluster\nNA\nNA\n");
    EXPECT_TRUE(contains(none.err, "2 missing values in 2 of 2 rows: x (2); 2 rows left empty")) << none.err;
  }
}

TEST(Tool, WhatASparseFileHoldsInVainIsSaidOnceByEachCommand) {
  const Folder in;
  in.write("ranks.svm", "1 qid:3 1:2\n0 qid:3 2:1\n1 qid:4 1:1 2:1\n0 qid:4 2:3\n");
  const std::string note = "note: qid is ignored (in 4 rows)\n";
  for (const std::string command :
       {"fit logistic ranks.svm 'y ~ .' --lambda 1 -o ranks.lemma", "fit ols ranks.svm 'y ~ scale(x1)'",
        "predict ranks.lemma ranks.svm", "predict ranks.lemma ranks.svm --append", "evaluate ranks.lemma ranks.svm",
        "verify ranks.lemma ranks.svm"}) {
    const auto ran = in.lemma(command);
    const auto at = ran.err.find(note);
    ASSERT_NE(at, std::string::npos) << command << "\n" << ran.err;
    EXPECT_EQ(ran.err.find("qid", at + note.size()), std::string::npos) << command << "\n" << ran.err;
  }
}

TEST(Tool, DroppedRowsAreTheSameFromDisk) {
  const Folder in;
  in.write("votes.csv", in.lemma("datasets breast_cancer").out);
  const std::string fit = "fit lda votes.csv 'Class ~ . - Id' --missing drop -o ";
  const auto whole = in.lemma(fit + "whole.lemma");
  ASSERT_EQ(whole.code, 0) << whole.err;
  EXPECT_TRUE(contains(whole.err, "16 missing values in 16 of 699 rows: Bare.nuclei (16); 16 rows left out"))
      << whole.err;
  const auto blocks = in.lemma(fit + "blocks.lemma --memory 10K");
  ASSERT_EQ(blocks.code, 0) << blocks.err;
  EXPECT_EQ(in.read("whole.lemma"), in.read("blocks.lemma"));
}

TEST(Tool, VectorUnitsAreCappedByFlagOrEnvironmentAndMistakesAreNamed) {
  const Folder in;
  const auto asked = in.lemma("--version --verbose --simd baseline");
  EXPECT_EQ(asked.code, 0) << asked.err;
  EXPECT_TRUE(contains(asked.out, "SIMD       baseline")) << asked.out;
  EXPECT_TRUE(contains(asked.out, "kernels Prescott")) << asked.out;
  EXPECT_EQ(in.lemma("--version --verbose", "env -u LEMMA_PORTABLE LEMMA_SIMD=baseline").out, asked.out);
  EXPECT_EQ(in.lemma("--version --verbose --simd baseline", "LEMMA_PORTABLE=1").out, asked.out);  // a flag outweighs it
  for (const auto& [call, before, says] :
       {std::tuple{"datasets --simd avx3", "", "--simd is 'avx3', must be baseline, avx2 or avx512; this CPU"},
        {"--version", "env -u LEMMA_PORTABLE LEMMA_SIMD=sse9", "LEMMA_SIMD is 'sse9', must be"},
        {"--version", "env -u LEMMA_SIMD LEMMA_PORTABLE=maybe", "LEMMA_PORTABLE is 'maybe', must be 1"},
        {"fit ols boston 'medv ~ .' --portable --simd baseline", "", "portable work is done with avx2"}}) {
    const auto refused = in.lemma(call, before);
    EXPECT_EQ(refused.code, 2) << call;
    EXPECT_TRUE(contains(refused.err, says)) << refused.err;
  }
}

TEST(Tool, PortableModelsSaySoInTheirFile) {
  const Folder in;
  const auto fit = in.lemma("fit ols boston 'medv ~ .' --portable -o m.lemma");
  if (cpu_level() < SimdLevel::avx2) {
    EXPECT_EQ(fit.code, 2);
    EXPECT_TRUE(contains(fit.err, "portable work needs AVX2 and FMA; this CPU")) << fit.err;
    return;
  }
  ASSERT_EQ(fit.code, 0) << fit.err;
  EXPECT_TRUE(contains(in.read("m.lemma"), "portable"));
  EXPECT_TRUE(contains(in.read("m.lemma"), "Haswell"));
  ASSERT_EQ(in.lemma("fit ols boston 'medv ~ .' -o own.lemma --simd baseline").code, 0);
  EXPECT_FALSE(contains(in.read("own.lemma"), "portable"));
  ASSERT_EQ(in.lemma("fit ols boston 'medv ~ .' -o again.lemma", "env -u LEMMA_SIMD LEMMA_PORTABLE=1").code, 0);
  EXPECT_TRUE(in.read("again.lemma") == in.read("m.lemma"));
  EXPECT_EQ(in.lemma("verify m.lemma boston --simd baseline").code, 0);  // whoever opens it need not be portable
  EXPECT_TRUE(contains(in.lemma("--version --verbose --portable").out, "portable: the same bits on every CPU"));
}

TEST(Tool, VersionCompletionAndManualComeFromTheSameDescriptions) {
  const Folder in;
  EXPECT_TRUE(in.lemma("--version").out.starts_with("lemma "));
  EXPECT_TRUE(contains(in.lemma("--version --verbose").out, "kernels"));
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    const auto script = in.lemma("completion " + shell);
    EXPECT_EQ(script.code, 0);
    for (const auto* word : {"kmeans", "describe", "iris", "diagnostics"})
      EXPECT_TRUE(contains(script.out, word)) << shell << " " << word;
  }
  const auto man = in.lemma("man");
  EXPECT_TRUE(contains(man.out, ".SS lemma evaluate"));
  EXPECT_TRUE(contains(man.out, "EXIT STATUS"));
}

}  // namespace
}  // namespace lemma
