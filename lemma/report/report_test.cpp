// lemma/report/report_test.cpp: a report chooses, judges and tells honestly.
#include <algorithm>
#include <atomic>
#include <gtest/gtest.h>
#include <lemma/catalog.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/report/candidates.hpp>
#include <lemma/report/report.hpp>
#include <tests/message_of.hpp>

namespace lemma::reporting {
namespace {

const Section* section(const Report& report, std::string_view id) {
  for (const auto& each : report.document.sections)
    if (each.id == id) return &each;
  return nullptr;
}
template <class T>
std::vector<T> blocks(const Section& section) {
  std::vector<T> out;
  for (const auto& block : section.blocks)
    if (const auto* found = std::get_if<T>(&block)) out.push_back(*found);
  return out;
}
bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

std::vector<std::string> names(const Candidates& all) {
  std::vector<std::string> out;
  for (const auto& each : all.methods) out.push_back(each.method);
  return out;
}

TEST(Candidates, FollowTheShapeOfTheDataAlone) {
  const auto few = names(candidates_for({Task::classification, 300, 5, 2}));
  EXPECT_TRUE(std::count(few.begin(), few.end(), "lda") && std::count(few.begin(), few.end(), "svm(standardize=true)"));
  const Candidates many = candidates_for({Task::classification, 500'000, 20, 2});
  for (const auto& method : names(many)) EXPECT_FALSE(contains(method, "svm") || contains(method, "knn")) << method;
  EXPECT_EQ(many.left_out.size(), 2u);
  const auto wide = names(candidates_for({Task::regression, 60, 500, 0}));
  EXPECT_EQ(std::count(wide.begin(), wide.end(), "ols"), 0);
  const auto three = names(candidates_for({Task::classification, 300, 5, 3}));
  EXPECT_EQ(std::count(three.begin(), three.end(), "multinomial(lambda=1)"), 1);
  for (const auto task : {Task::classification, Task::regression, Task::clustering})
    for (const auto& method : names(candidates_for({task, 300, 5, 2}))) EXPECT_NO_THROW(parse_method(method)) << method;
  EXPECT_EQ(plan_for({Task::regression, 500, 5, 0}).folds, 10);
  EXPECT_EQ(plan_for({Task::regression, 500'000, 5, 0}).folds, 3);
  EXPECT_EQ(plan_for({Task::regression, 12, 5, 0}).folds, 2);
}

TEST(Report, ComparesOnTheSameFoldsAndJudgesByRowsThatTookNoPart) {
  ReportOptions options;
  options.methods = {"lda", "tree"};
  options.data = "iris";
  const Report found = report_on(dataset("iris"), "species ~ .", options);
  EXPECT_EQ(found.best, "lda");
  EXPECT_FALSE(found.cancelled);
  ASSERT_NE(section(found, "methods"), nullptr);
  const auto table = blocks<Sheet>(*section(found, "methods"))[0];
  EXPECT_EQ(table.columns[0].cells, (std::vector<std::string>{"`lda` (best)", "`tree`"}));
  const auto judged = blocks<Sheet>(*section(found, "best"))[0];
  EXPECT_TRUE(contains(judged.caption, "30 rows")) << "a fifth was set apart";
  EXPECT_TRUE(contains(blocks<Paragraph>(*section(found, "best"))[0].text, "Fitted to 120 rows, judged by 30 rows"));
  const auto code = blocks<Code>(*section(found, "use"));
  EXPECT_TRUE(contains(code[0].text, "lemma split iris --test 0.2 --by species -o train.csv test.csv\n"));
  EXPECT_TRUE(contains(code[0].text, "lemma fit lda train.csv 'species ~ .' -o model.lemma\n"));
  EXPECT_EQ(to_html(found.document), to_html(report_on(dataset("iris"), "species ~ .", options).document));
}

TEST(Report, LeavesOutWhatCannotBeFittedAndSaysWhy) {
  ReportOptions options;
  options.methods = {"logistic", "lda"};  // of three classes logistic takes none
  const Report found = report_on(dataset("iris"), "species ~ petal_length + petal_width", options);
  EXPECT_EQ(found.best, "lda");
  bool told = false;
  for (const auto& each : blocks<Paragraph>(*section(found, "methods")))
    told = told || contains(each.text, "`logistic` was left out:");
  EXPECT_TRUE(told);
  options.methods = {"no_such_method"};
  EXPECT_TRUE(contains(message_of([&] { report_on(dataset("iris"), "species ~ .", options); }), "no_such_method"));
}

TEST(Report, FewRowsAreNotSplitAndThePageSaysWhatThatMeans) {
  ReportOptions options;
  options.methods = {"ols", "tree"};
  const Report found = report_on(dataset("mcycle"), "accel ~ times", options);
  EXPECT_TRUE(contains(blocks<Notice>(*section(found, "short"))[0].text, "looks a little better than it is"));
  EXPECT_EQ(blocks<Code>(*section(found, "use")).size(), 1u) << "there is no part to evaluate on";
}

TEST(Report, WithoutAResponseLooksForClusters) {
  ReportOptions options;
  options.methods = {"scale | kmeans(k=2)", "scale | kmeans(k=3)"};
  const Report found = report_on(dataset("iris"), "~ . - species", options);
  EXPECT_EQ(found.best, "scale | kmeans(k=2)");
  EXPECT_NE(section(found, "components"), nullptr);
  EXPECT_EQ(section(found, "short") != nullptr, true);
}

TEST(Report, TextsAndRowsWithoutAResponseTakeNoPart) {
  const Table iris = dataset("iris");
  std::vector<std::string> names;
  Categories species = iris.column("species").categories();
  for (Index i = 0; i < iris.rows(); ++i) names.push_back("flower " + std::to_string(i));
  species.codes[5] = -1;
  std::vector<Column> columns;
  for (const Column& column : iris.all())
    if (column.name != "species") columns.push_back(column);
  columns.push_back({"species", species});
  columns.push_back(categorical("name of it", names));
  ReportOptions options;
  options.methods = {"lda"};
  const Report found = report_on(Table(columns, "iris"), "species ~ .", options);
  EXPECT_TRUE(contains(blocks<Code>(*section(found, "use"))[0].text, "- `name of it`"));
  bool told = false;
  for (const auto& each : blocks<Notice>(*section(found, "watch")))
    told = told || contains(each.title, "1 row without a response");
  EXPECT_TRUE(told);
}

/// Cancels after so many questions.
class Impatient final : public Progress {
 public:
  explicit Impatient(int questions) : left_(questions) {}
  void report(double, std::string_view) override {}
  bool cancelled() const override { return --left_ < 0; }

 private:
  mutable std::atomic<int> left_;
};

TEST(Report, ACancelKeepsWhatThereIs) {
  ReportOptions options;
  options.methods = {"lda", "tree", "forest(trees=50)"};
  for (const int questions : {0, 40, 200, 1000}) {
    Impatient progress(questions);
    options.execution.progress = &progress;
    options.execution.threads = 1;
    try {
      const Report found = report_on(dataset("iris"), "species ~ .", options);
      EXPECT_NE(section(found, "repeat"), nullptr) << questions;
      EXPECT_FALSE(to_html(found.document).empty());
    } catch (const Cancelled&) { EXPECT_EQ(questions, 0) << "before anything was found"; }
  }
}

TEST(Report, OfAModelTellsWhatTheRowsAreToIt) {
  const Table iris = dataset("iris");
  Value params;
  const auto method = method_from("lda", catalog(), params);
  const TrainedModel model = train(method, params, formula("species ~ ."), MemoryTableStream(iris));
  ReportOptions options;
  options.data = "iris";
  const Report found = report_on(model, "iris.lemma", iris, options);
  const auto notices = blocks<Notice>(*section(found, "quality"));
  EXPECT_EQ(notices[0].kind, Notice::Kind::warning) << "these rows trained it";
  EXPECT_TRUE(contains(notices.back().title, "Computed again from these rows, it holds"));
  EXPECT_GE(blocks<Picture>(*section(found, "model")).size(), 3u);
  EXPECT_TRUE(contains(blocks<Code>(*section(found, "use"))[0].text, "lemma evaluate iris.lemma iris"));
}

TEST(Report, WordsAreQuotedAsAShellTakesThem) {
  EXPECT_EQ(command_line({"lemma", "fit", "scale | lda", "it's", "y ~ .", ""}),
            "lemma fit 'scale | lda' 'it'\\''s' 'y ~ .' ''");
}

}  // namespace
}  // namespace lemma::reporting
