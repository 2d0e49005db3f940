// tests/output_tool_test.cpp: where -o writes, and columns that are passed on.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <tests/run_tool.hpp>

namespace lemma {
namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

const std::string kRows = "x,y\n1,2\n2,4.1\n3,5.9\n4,8.2\n";

TEST(Output, OnlyRegularFilesAreReplacedAndKeepTheirModeAndTheirLinks) {
  const Folder in;
  in.write("d.csv", kRows);
  in.write("private.lemma", "old");
  ::chmod(in.path("private.lemma").c_str(), 0600);
  std::filesystem::create_symlink("private.lemma", in.path("link.lemma"));
  ASSERT_EQ(in.lemma("fit ols d.csv 'y ~ x' -o link.lemma").code, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(in.path("link.lemma")));
  EXPECT_EQ(in.lemma("verify private.lemma d.csv").code, 0);
  struct stat info {};
  ASSERT_EQ(::stat(in.path("private.lemma").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  EXPECT_EQ(in.lemma("fit ols d.csv 'y ~ x' -o /dev/null").code, 0);
  ASSERT_EQ(::stat("/dev/null", &info), 0);
  EXPECT_TRUE(S_ISCHR(info.st_mode));
  EXPECT_EQ(in.lemma("fit ols d.csv 'y ~ x' -o /dev/full").code, 3);
}

TEST(Output, PipesAndDescriptorsAreWrittenThrough) {
  const Folder in;
  in.write("d.csv", kRows);
  ASSERT_EQ(in.lemma("fit ols d.csv 'y ~ x' -o m.lemma").code, 0);
  ASSERT_EQ(::mkfifo(in.path("fifo").c_str(), 0600), 0);
  EXPECT_EQ(in.lemma("fit ols d.csv 'y ~ x' -o fifo", "{ cat fifo > a.lemma & } &&").code, 0);
  EXPECT_TRUE(std::filesystem::is_fifo(in.path("fifo")));
  EXPECT_EQ(in.lemma("fit ols d.csv 'y ~ x' -o /dev/fd/7", R"(sh -c '"$0" "$@" 7>b.lemma')").code, 0);
  EXPECT_EQ(in.read("b.lemma"), in.read("m.lemma"));
  const auto substituted = in.lemma("d.csv", R"(bash -c '"$0" fit ols "$1" "y ~ x" -o >(cat > c.lemma; echo > done); )"
                                             R"(until [ -e done ]; do :; done')");
  EXPECT_EQ(substituted.code, 0) << substituted.err;
  EXPECT_EQ(in.read("c.lemma"), in.read("m.lemma"));
}

TEST(Output, AMinusIsStandardOutputWhichThenHoldsNothingElse) {
  const Folder in;
  in.write("d.csv", kRows);
  ASSERT_EQ(in.lemma("fit ols d.csv 'y ~ x' -o m.lemma").code, 0);
  for (const auto* place : {"-", "/dev/stdout", "/dev/fd/1"}) {
    const auto fit = in.lemma(std::string("fit ols d.csv 'y ~ x' -o ") + place);
    EXPECT_EQ(fit.code, 0) << fit.err;
    EXPECT_EQ(fit.out, in.read("m.lemma")) << place;
    EXPECT_TRUE(contains(fit.err, "ols of d.csv: y ~ x")) << fit.err;
    EXPECT_EQ(in.lemma(std::string("fit ols d.csv 'y ~ x' --quiet -o ") + place).err, "");
    const auto predict = in.lemma(std::string("predict m.lemma d.csv -o ") + place);
    EXPECT_EQ(predict.out, in.lemma("predict m.lemma d.csv").out) << place;
  }
  EXPECT_EQ(in.lemma("predict m.lemma d.csv --json -o -").out, in.lemma("predict m.lemma d.csv --json").out);
  ASSERT_EQ(in.lemma("fit logistic pima_train 'type ~ glu' -o p.lemma").code, 0);
  const auto updated = in.lemma("update p.lemma pima_test -o -");
  EXPECT_TRUE(updated.out.starts_with("LEMMA")) << updated.err;
  const auto split = in.lemma("split d.csv --test 1 -o - test.csv");
  EXPECT_EQ(split.out.size() + in.read("test.csv").size(), kRows.size() + 4);  // the names twice
  EXPECT_TRUE(contains(split.err, "4 rows of d.csv")) << split.err;
  const auto both = in.lemma("fit ols d.csv 'y ~ x' --json -o -");
  EXPECT_EQ(both.code, 2);
  EXPECT_TRUE(contains(both.err, "--json and -o - both want standard output")) << both.err;
}

TEST(Output, AnOutputThatIsAlsoAnInputIsRefusedBeforeAnyWork) {
  const Folder in;
  in.write("d.csv", kRows);
  ASSERT_EQ(in.lemma("fit ols d.csv 'y ~ x' -o m.lemma").code, 0);
  const std::string model = in.read("m.lemma");
  std::filesystem::create_hard_link(in.path("d.csv"), in.path("hard.csv"));
  std::filesystem::create_symlink("d.csv", in.path("soft.csv"));
  in.write("centers.csv", "x,y\n1,2\n4,8\n");
  for (const auto* command :
       {"fit ols d.csv 'y ~ x' -o d.csv", "fit ols d.csv 'y ~ x' -o ./hard.csv", "fit ols soft.csv 'y ~ x' -o d.csv",
        "fit ols - 'y ~ x' -o d.csv < d.csv", "fit logistic d.csv 'y ~ x' --from m.lemma -o m.lemma",
        "fit kmeans d.csv '~ x + y' --k 2 --start centers.csv -o centers.csv", "predict m.lemma d.csv -o d.csv",
        "predict m.lemma d.csv -o m.lemma", "predict m.lemma - -o soft.csv < d.csv", "update m.lemma d.csv -o m.lemma",
        "update m.lemma d.csv -o d.csv", "split d.csv -o d.csv test.csv", "split d.csv -o train.csv hard.csv"}) {
    const auto refused = in.lemma(command);
    EXPECT_EQ(refused.code, 2) << command;
    EXPECT_TRUE(contains(refused.err, "is also the input")) << command << "\n" << refused.err;
  }
  for (const auto* command :
       {"split d.csv -o a.csv a.csv", "split d.csv -o a.csv ./a.csv", "split d.csv -o - /dev/stdout"}) {
    const auto refused = in.lemma(command);
    EXPECT_EQ(refused.code, 2) << command;
    EXPECT_TRUE(contains(refused.err, "are the same file")) << command << "\n" << refused.err;
  }
  EXPECT_EQ(in.read("d.csv"), kRows);
  EXPECT_EQ(in.read("m.lemma"), model);
  EXPECT_FALSE(in.has("a.csv") || in.has("train.csv") || in.has("test.csv"));
  EXPECT_EQ(in.lemma("fit lda iris 'species ~ .' -o iris").code, 0);  // the built-in set is no file
}

TEST(Output, APlaceThatCannotBeWrittenIsFoundBeforeTheWork) {
  const Folder in;
  for (const auto* place : {"no/such/folder/m.lemma", ".", "/dev/fd/99"}) {
    const auto fit = in.lemma(std::string("fit ols no_such_data 'y ~ x' -o ") + place);
    EXPECT_EQ(fit.code, 2);
    EXPECT_TRUE(contains(fit.err, "cannot write '")) << fit.err;
  }
}

TEST(Output, AnEmptyNameIsRefusedBeforeTheWork) {  // -o "$MODEL" of a script that has not set it
  const Folder in;
  in.write("d.csv", kRows);
  ASSERT_EQ(in.lemma("fit ols d.csv 'y ~ x' -o m.lemma").code, 0);
  for (const auto* command : {"fit ols d.csv 'y ~ x' -o ''", "predict m.lemma d.csv -o ''",
                              "update m.lemma d.csv -o ''", "split d.csv -o '' b.csv"}) {
    const auto refused = in.lemma(command);
    EXPECT_EQ(refused.code, 2) << command;
    EXPECT_EQ(refused.err, "lemma: error: -o is empty: name a file, or - for standard output\n") << command;
  }
}

TEST(Output, AFileWhoseNameIsNotUtf8CostsNoModel) {
  const Folder in;
  in.write("caf\xE9.csv", kRows);
  const auto fit = in.lemma("fit ols caf\xE9.csv 'y ~ x' -o m.lemma");
  EXPECT_EQ(fit.code, 0) << fit.err;
  EXPECT_EQ(in.lemma("verify m.lemma caf\xE9.csv").code, 0);
}

// ---- columns that are passed on ----

const std::string kOdd =
    "id,zip,x,q,y\r\n"
    "9007199254740993,01234, 1.50 ,\"a \"\"b\"\", c\",2\r\n"
    "9007199254740995,00001,2.0,\"NA\",4.10\r\n"
    "3,02,3e0,?,6\r\n"
    "4,03,4,\"two\r\nlines\",8.5\r\n";

TEST(PassedOn, SplitCopiesEveryRecordByteForByte) {
  const Folder in;
  in.write("d.csv", kOdd);
  for (const auto* data : {"d.csv", "- < d.csv", "d.csv.gz"}) {
    ASSERT_EQ(in.lemma(std::string("split ") + data + " --test 2 -o a.csv b.csv", "gzip -kf d.csv;").code, 0);
    const std::string header = kOdd.substr(0, kOdd.find('\n') + 1), a = in.read("a.csv"), b = in.read("b.csv");
    ASSERT_TRUE(a.starts_with(header) && b.starts_with(header)) << a << b;
    std::size_t copied = 0;
    for (std::size_t from = header.size(); from < kOdd.size();) {
      auto to = kOdd.find("\r\n", from) + 2;
      if (kOdd.compare(from, 2, "4,") == 0) to = kOdd.size();  // it has two lines
      const std::string record = kOdd.substr(from, to - from);
      copied += contains(a, record) != contains(b, record);
      from = to;
    }
    EXPECT_EQ(copied, 4u) << a << b;
    EXPECT_EQ(a.size() + b.size(), kOdd.size() + header.size());
  }
}

TEST(PassedOn, AppendedPredictionsStandBehindTheRecordsAsTheyAre) {
  const Folder in;
  in.write("d.csv", kOdd);
  ASSERT_EQ(in.lemma("fit ols d.csv 'y ~ x' -o m.lemma").code, 0);
  const auto whole = in.lemma("predict m.lemma d.csv --append --quiet");
  ASSERT_EQ(whole.code, 0) << whole.err;
  EXPECT_TRUE(
      whole.out.starts_with("id,zip,x,q,y,prediction,residual\r\n"
                            "9007199254740993,01234, 1.50 ,\"a \"\"b\"\", c\",2,"))
      << whole.out;
  EXPECT_TRUE(contains(whole.out, "\r\n9007199254740995,00001,2.0,\"NA\",4.10,")) << whole.out;
  EXPECT_TRUE(contains(whole.out, "\r\n4,03,4,\"two\r\nlines\",8.5,")) << whole.out;
  EXPECT_EQ(in.lemma("predict m.lemma d.csv --append --quiet --memory 1").out, whole.out);
  EXPECT_EQ(in.lemma("predict m.lemma - --append --quiet < d.csv").out, whole.out);
  const auto some = in.lemma("predict m.lemma d.csv --append --quiet --rows 3:4 --where 'x < 4'");
  EXPECT_TRUE(some.out.starts_with("id,zip,x,q,y,prediction,residual\r\n3,02,3e0,?,6,")) << some.out;
}

TEST(PassedOn, TheDialectOfTheFileIsThatOfWhatIsAppended) {
  const Folder in;
  in.write("d.csv", "a;prediction\n1,5;x\n2,25;y\n3,0;z\n");
  ASSERT_EQ(in.lemma("fit ols d.csv 'a ~ 1' -o m.lemma").code, 0);
  EXPECT_EQ(in.lemma("predict m.lemma d.csv --append --what value --quiet").out,
            "a;prediction;prediction_2\n1,5;x;2,25\n2,25;y;2,25\n3,0;z;2,25\n");
}

TEST(PassedOn, LabelsThatAreNotUtf8AreRefusedAtTheDoor) {
  const Folder in;
  in.write("d.csv", "a,b\n1,caf\xE9\n2,th\xE8\n");
  for (const auto* command : {"describe d.csv --json", "fit ols d.csv 'a ~ b' -o m.lemma", "split d.csv -o a.csv b.csv",
                              "fit ols d.csv 'a ~ 1' --memory 1"}) {
    const auto refused = in.lemma(command);
    EXPECT_EQ(refused.code, 2) << command;
    EXPECT_TRUE(contains(refused.err, "d.csv, line 2, column 2 ('b'): byte 0xE9 is not UTF-8")) << refused.err;
  }
  EXPECT_FALSE(in.has("m.lemma") || in.has("a.csv"));
}

}  // namespace
}  // namespace lemma
