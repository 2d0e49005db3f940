// tests/faults_tool_test.cpp: the tool when the machine fails it: full disks, closed descriptors, signals, little memory.
#include <algorithm>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <lemma/data/csv.hpp>
#include <optional>
#include <tests/run_tool.hpp>

namespace lemma {
namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Goes before the tool: its streams as `redirections` say.
std::string with(const std::string& redirections) { return R"(sh -c '"$0" "$@" )" + redirections + "'"; }

std::vector<std::string> files_in(const Folder& in) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(in.path(".")))
    if (!entry.path().filename().string().starts_with('.')) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

using Names = std::vector<std::string>;

TEST(Faults, AMessageThatCannotBeWrittenDoesNotCostTheModel) {
  for (const auto* lost : {"2>/dev/full", "2>&-"}) {
    const Folder in;
    const auto fit = in.lemma("fit ols iris 'sepal_length ~ petal_length' -o m.lemma", with(lost));
    EXPECT_EQ(fit.code, 3) << lost;
    EXPECT_TRUE(contains(fit.out, "petal_length")) << fit.out;
    EXPECT_EQ(in.lemma("verify m.lemma iris").code, 0) << lost;
    EXPECT_EQ(in.lemma("predict m.lemma iris -o p.csv", with(lost)).code, 3);  // "150 predictions written to p.csv"
    EXPECT_EQ(read_csv(in.path("p.csv")).rows(), 150);
    EXPECT_EQ(in.lemma("predict m.lemma iris -o p.csv --quiet", with(lost)).code, 0);  // there was nothing to say
    EXPECT_EQ(in.lemma("fit ols iris 'nothing ~ .'", with(lost)).code, 2);             // the call stays wrong
  }
}

TEST(Faults, AWarningThatCannotBeWrittenDoesNotCostTheModel) {
  const Folder in;
  in.write("d.csv", "x,z,y\n1,2,1\n2,4,3\n3,6,2\n4,8,5\n");
  const auto told = in.lemma("fit ols d.csv 'y ~ x + z' -o told.lemma");
  ASSERT_TRUE(contains(told.err, "warning:")) << told.err;
  EXPECT_EQ(in.lemma("fit ols d.csv 'y ~ x + z' -o m.lemma --quiet", with("2>/dev/full")).code, 3);
  EXPECT_EQ(in.read("m.lemma"), in.read("told.lemma"));
}

TEST(Faults, StandardOutputThatTakesNothingIsAFailedMachineForEveryCommand) {
  const Folder in;
  in.write("d.csv", "x,y\n1,2\n2,4.1\n3,5.9\n4,8.2\n");
  ASSERT_EQ(in.lemma("fit ols d.csv 'y ~ x' -o m.lemma").code, 0);
  ASSERT_EQ(in.lemma("fit logistic pima_train 'type ~ glu' -o p.lemma").code, 0);
  for (const auto* command : {"",
                              "--help",
                              "--version",
                              "--version --verbose",
                              "fit --help",
                              "fit ols --help",
                              "predict --help",
                              "describe d.csv",
                              "describe d.csv --json",
                              "fit ols d.csv 'y ~ x'",
                              "fit ols d.csv 'y ~ x' -o -",
                              "predict m.lemma d.csv",
                              "predict m.lemma d.csv --json",
                              "predict m.lemma d.csv -o /dev/stdout",
                              "evaluate m.lemma d.csv",
                              "verify m.lemma d.csv",
                              "anova m.lemma --data d.csv",
                              "update p.lemma pima_test",
                              "methods",
                              "datasets",
                              "split d.csv -o a.csv b.csv",
                              "completion bash",
                              "man"})
    for (const auto* lost : {">/dev/full", ">&-"}) {
      const auto run = in.lemma(command, with(lost));
      EXPECT_EQ(run.code, 3) << command << " " << lost << "\n" << run.err;
      EXPECT_TRUE(contains(run.err, "cannot write standard output")) << command << " " << lost << "\n" << run.err;
    }
}

TEST(Faults, AClosedStandardOutputIsNotTakenForTheFilesThatAreOpenedLater) {
  const Folder in;
  in.write("d.csv", "x,y\n1,2\n2,4.1\n3,5.9\n4,8.2\n");
  ASSERT_EQ(in.lemma("fit ols d.csv 'y ~ x' -o m.lemma").code, 0);
  EXPECT_EQ(in.lemma("fit ols d.csv 'y ~ x' -o closed.lemma", with("<&- >&- 2>&-")).code, 3);
  EXPECT_EQ(in.read("closed.lemma"), in.read("m.lemma"));
}

TEST(Faults, WhenNobodyReadsOnThePipeTheToolEndsQuietly) {
  const Folder in;
  std::string rows = "x,y\n";
  for (int i = 0; i < 20'000; ++i) rows += std::to_string(i) + "," + std::to_string(i % 7) + "\n";
  in.write("d.csv", rows);  // the predictions fill more than a pipe holds
  ASSERT_EQ(in.lemma("fit ols d.csv 'y ~ x' -o m.lemma").code, 0);
  const auto cut = in.lemma("predict m.lemma d.csv", R"(bash -c '"$0" "$@" | head -n 1; exit ${PIPESTATUS[0]}')");
  EXPECT_EQ(cut.code, 128 + SIGPIPE);
  EXPECT_EQ(cut.out, "prediction,residual\n");
  EXPECT_EQ(cut.err, "");
  const auto ignored =
      in.lemma("predict m.lemma d.csv", R"(bash -c 'trap "" PIPE; "$0" "$@" | head -n 1; exit ${PIPESTATUS[0]}')");
  EXPECT_EQ(ignored.code, 3);
  EXPECT_TRUE(contains(ignored.err, "Broken pipe")) << ignored.err;
}

TEST(Faults, AFileLongerThanAllowedIsAFullDiskAndLeavesNothing) {
  const Folder in;
  const auto full = in.lemma("fit ols boston 'medv ~ .' -o m.lemma --quiet", "ulimit -c 0; ulimit -f 8;");
  EXPECT_EQ(full.code, 3);
  EXPECT_TRUE(contains(full.err, "cannot write 'm.lemma': File too large")) << full.err;
  const auto predictions = in.lemma("predict m.lemma letters -o p.csv --quiet",
                                    "'" + tool_path() +
                                        "' fit centroid letters 'lettr ~ .' -o m.lemma -q >.out; "
                                        "ulimit -f 8;");
  EXPECT_EQ(predictions.code, 3) << predictions.err;
  EXPECT_EQ(files_in(in), Names{"m.lemma"});
}

// ---- signals ----

/// A fit that would go on for hours, cut short by `commands` once it has worked for a fifth of a second of processor
/// time, when several thousand starts are finished; $pid is the process.
Outcome cut_short(const Folder& in, const std::string& commands, const std::string& setup = "") {
  in.write("run.sh", setup + R"sh(
"$0" "$@" & pid=$!
while [ "$(awk '{print $14 + $15}' /proc/$pid/stat)" -lt 20 ]; do :; done
)sh" + commands + R"sh(
wait $pid
)sh");
  return in.lemma("fit kmeans iris '~ . - species' --k 3 --restarts 1000000 -o m.lemma", "sh -c '. ./run.sh'");
}

TEST(Faults, EverySignalThatAsksForAStopKeepsWhatThereIsAndHasACodeOfItsOwn) {
  for (const auto& [name, number] : {std::pair{"INT", SIGINT}, {"TERM", SIGTERM}, {"HUP", SIGHUP}}) {
    const Folder in;
    const auto stopped = cut_short(in, std::string("kill -") + name + " $pid");
    EXPECT_EQ(stopped.code, 128 + number) << stopped.err;
    EXPECT_TRUE(contains(stopped.err, "the model as far as it came is in m.lemma")) << stopped.err;
    EXPECT_TRUE(contains(stopped.out, "DOES NOT HOLD")) << stopped.out;
    EXPECT_EQ(files_in(in), (Names{"m.lemma", "run.sh"}));
    EXPECT_EQ(in.lemma("verify m.lemma iris").code, 0);  // the best finished start is a fixed point
  }
}

TEST(Faults, AToolThatWaitsForAPipeIsStoppedByTheFirstSignal) {
  const Folder in;
  in.write("run.sh", R"sh(
mkfifo pipe; exec 3<>pipe
"$0" "$@" 3<&- & pid=$!
# It has caught SIGTERM (bit 14): before that it is the shell, whose own files may not be closed yet.
until grep -q '^SigCgt:.*[4-7c-f][0-9a-f][0-9a-f][0-9a-f]$' /proc/$pid/status; do :; done
until ls -l /proc/$pid/fd | grep -q pipe$; do :; done
kill -TERM $pid
wait $pid
)sh");
  const auto stopped = in.lemma("fit ols pipe 'y ~ x' -o m.lemma", "timeout 60 sh -c '. ./run.sh'");
  EXPECT_EQ(stopped.code, 128 + SIGTERM);
  EXPECT_EQ(stopped.err, "lemma: error: cancelled; nothing was written\n");
  EXPECT_EQ(files_in(in), (Names{"pipe", "run.sh"}));
}

TEST(Faults, AHangupThatIsIgnoredStaysIgnored) {
  const Folder in;
  const auto stopped = cut_short(in, "kill -HUP $pid; kill -TERM $pid", "trap '' HUP");
  EXPECT_EQ(stopped.code, 128 + SIGTERM) << stopped.err;
}

TEST(Faults, AProcessThatIsKilledLeavesNoFile) {
  const Folder in;
  const int nameless = ::open(in.path(".").c_str(), O_TMPFILE | O_WRONLY, 0600);
  if (nameless < 0) GTEST_SKIP() << "this file system has no files without a name";
  ::close(nameless);
  EXPECT_EQ(cut_short(in, "kill -KILL $pid").code, 128 + SIGKILL);
  EXPECT_EQ(files_in(in), Names{"run.sh"});
}

// ---- memory ----

class LittleMemory : public testing::TestWithParam<const char*> {
 protected:
  /// `lemma ARGUMENTS` with so many kB of addresses; hanging is code 124.
  static Outcome run(const Folder& in, const std::string& arguments, int kilobytes) {
    return in.lemma(arguments, "ulimit -c 0; ulimit -v " + std::to_string(kilobytes) + "; timeout 60");
  }
  /// The least, in steps of 4 MB, with which the tool can be started at all; nothing where that is far more than its own size,
  /// as with a sanitizer.
  static std::optional<int> needed_to_start() {
    for (int kilobytes = 16'000; kilobytes <= 80'000; kilobytes += 4'000)
      if (run(Folder(), "--version", kilobytes).code == 0) return kilobytes;
    return {};
  }
};

TEST_P(LittleMemory, IsEnoughOrIsSaidInOneLine) {
  const auto least = needed_to_start();
  if (!least) GTEST_SKIP() << "the tool itself needs more";
  const Folder in;
  bool failed = false;
  for (const int more : {0, 8'000, 20'000, 40'000, 52'000, 80'000, 230'000, 380'000}) {
    const int kilobytes = *least + more;
    const auto done = run(in, std::string(GetParam()) + " --quiet --threads 4", kilobytes);
    EXPECT_TRUE(done.code == 0 || done.code == 1 || done.code == 3) << kilobytes << ": " << done.code << "\n"
                                                                    << done.err;
    if (done.code != 3) continue;
    failed = true;
    EXPECT_TRUE(contains(done.err, "memory")) << kilobytes << ": " << done.err;
    EXPECT_EQ(std::count(done.err.begin(), done.err.end(), '\n'), 1) << kilobytes << ": " << done.err;
  }
  EXPECT_TRUE(failed);  // else this tested nothing
}

std::string name_of_command(const testing::TestParamInfo<const char*>& of) {
  const std::string words = of.param, name = words.substr(words.starts_with("fit ") ? 4 : 0);
  return name.substr(0, name.find(' '));
}

INSTANTIATE_TEST_SUITE_P(, LittleMemory,
                         testing::Values("fit ols boston 'medv ~ .'", "fit svm letters 'lettr ~ .' --rows 1:3000",
                                         "fit kmeans letters '~ . - lettr' --k 3", "fit pca boston '~ . - medv'",
                                         "fit gp boston 'medv ~ .' --rows 1:200", "fit lda iris 'species ~ .'",
                                         "fit logistic pima_train 'type ~ .'", "describe letters"),
                         name_of_command);

TEST_F(LittleMemory, AMatrixThatCannotGrowIsNotFreedTwice) {
  if (!needed_to_start()) GTEST_SKIP() << "the tool itself needs more";
  const Folder in;
  for (const int kilobytes : {64'000, 66'000, 68'000, 70'000}) {
    const auto done = run(in, "fit svm letters 'lettr ~ .' --quiet --threads 2", kilobytes);
    EXPECT_TRUE(done.code == 0 || done.code == 1 || done.code == 3) << kilobytes << ": " << done.code << "\n"
                                                                    << done.err;
  }
}

TEST_F(LittleMemory, SaysWhatTheLinearAlgebraNeeds) {
  if (!needed_to_start()) GTEST_SKIP() << "the tool itself needs more";
  const Folder in;
  const auto done = run(in, "fit ols boston 'medv ~ .'", 100'000);
  EXPECT_EQ(done.code, 3);
  EXPECT_TRUE(contains(done.err, "OpenBLAS needs 184 MB of addresses to start, and ulimit -v allows 97 MB in all"))
      << done.err;
  // A model that needs no linear algebra is written all the same.
  EXPECT_EQ(run(in, "fit kmeans iris '~ . - species' --k 3 -o m.lemma", 100'000).code, 0);
  EXPECT_EQ(in.lemma("verify m.lemma iris").code, 0);
}

}  // namespace
}  // namespace lemma
