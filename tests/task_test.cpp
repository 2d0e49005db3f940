// tests/task_test.cpp: one meaning of "predict": the type of the response decides between numbers and classes, or the user.
#include <gtest/gtest.h>
#include <lemma/lemma.hpp>
#include <tests/message_of.hpp>
#include <tests/run_tool.hpp>

namespace lemma {
namespace {

/// Whole numbers, a share and words that say the same, and two columns that tell them apart, nearly.
Table marks(Index rows) {
  std::vector<double> grade, share, x, z;
  std::vector<std::string> word;
  for (Index i = 0; i < rows; ++i) {
    const bool upper = (i * 7) % 10 < 5, odd = i % 9 == 4;
    grade.push_back(upper != odd ? 1 : 0);
    word.emplace_back(upper != odd ? "yes" : "no");
    share.push_back(0.1 + 0.8 * static_cast<double>(i % 5) / 4);
    x.push_back((upper ? 3 : 0) + static_cast<double>((i * 31) % 17) / 10);
    z.push_back(static_cast<double>((i * 13) % 11));
  }
  return Table(
      {numeric("grade", grade), numeric("share", share), categorical("word", word), numeric("x", x), numeric("z", z)},
      "marks.csv");
}

TrainedModel trained(const std::string& method, const std::string& response, const Table& table,
                     ResponseAs as = ResponseAs::by_type) {
  Value params;
  const auto chosen = method_from(method, catalog(), params);
  TrainOptions options;
  options.design.response = as;
  return train(chosen, params, formula(response + " ~ x + z"), MemoryTableStream(table), options);
}

/// Those that predict numbers or classes; a transformation that looks at either, such as select, predicts neither.
std::vector<std::string> methods_of_both() {
  std::vector<std::string> names;
  for (const Method* method : catalog())
    if (method->about().either_response && method->about().task != Task::transformation)
      names.push_back(method->name());
  return names;
}

bool has_note(const TrainedModel& model, const std::string& part) {
  return std::any_of(model.notes.begin(), model.notes.end(),
                     [&](const std::string& note) { return note.find(part) != std::string::npos; });
}

TEST(TaskOfAResponse, IsThatOfItsTypeForEveryMethodThatTakesBoth) {
  const Table table = marks(60);
  ASSERT_GE(methods_of_both().size(), 4u);
  for (const std::string& method : methods_of_both()) {
    const auto numbers = trained(method, "grade", table), words = trained(method, "word", table),
               levels = trained(method, "factor(grade)", table), condition = trained(method, "grade == 1", table),
               computed = trained(method, "I(grade / 2)", table);
    EXPECT_EQ(numbers.model->task(), Task::regression) << method;
    EXPECT_EQ(computed.model->task(), Task::regression) << method;
    EXPECT_EQ(words.model->task(), Task::classification) << method;
    EXPECT_EQ(levels.model->task(), Task::classification) << method;
    EXPECT_EQ(condition.model->task(), Task::classification) << method;
    EXPECT_EQ(levels.design.classes(), (std::vector<std::string>{"0", "1"}));
    EXPECT_EQ(condition.design.classes(), (std::vector<std::string>{"FALSE", "TRUE"}));
    EXPECT_TRUE(has_note(numbers, "it has 2 values, all whole: if they are classes, write factor(grade)")) << method;
    EXPECT_FALSE(has_note(words, "factor(")) << method;
    EXPECT_FALSE(has_note(trained(method, "share", table), "factor(")) << method;
  }
}

TEST(TaskOfAResponse, IsNeverThatOfTheValuesThatHappenToBeThere) {
  Table table = marks(60);
  std::vector<double> count;
  for (Index i = 0; i < 60; ++i) count.push_back(i < 50 ? static_cast<double>(i % 4) : static_cast<double>(i) / 7);
  table.add(numeric("count", count));
  for (const std::string method : {"svm", "kernel_neighbors", "glm"}) {
    EXPECT_EQ(trained(method, "count", table).model->task(), Task::regression) << method;
    EXPECT_EQ(trained(method, "count", table.slice(0, 40)).model->task(), Task::regression) << method;
  }
}

TEST(TaskOfAResponse, CanBeSaidByTheUser) {
  const Table table = marks(60);
  for (const std::string& method : methods_of_both()) {
    const auto classes = trained(method, "grade", table, ResponseAs::classes),
               numbers = trained(method, "grade", table, ResponseAs::numbers);
    EXPECT_EQ(classes.model->task(), Task::classification) << method;
    EXPECT_EQ(classes.design.target(), "grade") << method;
    EXPECT_EQ(numbers.model->task(), Task::regression) << method;
    EXPECT_FALSE(has_note(numbers, "factor(")) << method;  // it was said
    EXPECT_TRUE(message_of([&] {
                  trained(method, "word", table, ResponseAs::numbers);
                }).starts_with("formula: the response 'word' is categorical (no, yes), but this method predicts"));
  }
  EXPECT_EQ(message_of([&] { trained("ols", "grade", table, ResponseAs::classes); }),
            "--task classification: this method predicts numbers");
  EXPECT_EQ(message_of([&] { trained("lda", "word", table, ResponseAs::numbers); }),
            "--task regression: this method predicts classes");
  EXPECT_EQ(trained("lda", "grade", table, ResponseAs::classes).design.classes().size(), 2u);
}

TEST(TaskOfAResponse, OfMethodsThatOnlyClassifyIsClassesForWholeNumbers) {
  const Table table = marks(60);
  for (const std::string method : {"lda", "multinomial", "perceptron", "lda | kernel_neighbors"})
    EXPECT_EQ(trained(method, "grade", table).model->task(), Task::classification) << method;
  EXPECT_TRUE(message_of([&] { trained("lda", "share", table); }).find("factor(share)") != std::string::npos);
}

TEST(TaskOfAResponse, PredictGivesNumbersAndClassifyLabels) {
  const Table table = marks(60);
  const auto check = [&](const auto& spec) {
    const auto classes = fit(spec, formula("word ~ x + z"), table),
               numbers = fit(spec, formula("share ~ x + z"), table);
    EXPECT_EQ(classes.classify(table).size(), 60u);
    EXPECT_EQ(numbers.predict(table).size(), 60);
    EXPECT_TRUE(message_of([&] { classes.predict(table); }).find("classify()") != std::string::npos);
    EXPECT_TRUE(message_of([&] { numbers.classify(table); }).find("predict()") != std::string::npos);
  };
  check(Svm{});
  check(KernelNeighbors{});
  check(Logistic{});
  check(Glm{});
  EXPECT_EQ(fit(Lda{}, formula("word ~ x + z"), table).classify(table),
            fit(Lda{}, formula("word ~ x + z"), table).predict(table));
}

TEST(TaskOfAResponse, IsAFlagOfTheTool) {
  const Folder in;
  std::string text = "y,x\n";
  for (int i = 0; i < 40; ++i) text += fmt::format("{},{}\n", i % 2, i % 2 * 3 + i % 7);
  in.write("d.csv", text);
  const auto numbers = in.lemma("fit svm d.csv 'y ~ x' -o n.lemma");
  EXPECT_EQ(numbers.code, 0) << numbers.err;
  EXPECT_NE(numbers.err.find("note: the response y is numeric, and numbers are predicted; it has 2 values, all whole"),
            std::string::npos)
      << numbers.err;
  EXPECT_TRUE(in.lemma("predict n.lemma d.csv").out.starts_with("prediction,residual\n"));
  ASSERT_EQ(in.lemma("fit svm d.csv 'y ~ x' --task classification -o c.lemma").code, 0);
  EXPECT_TRUE(in.lemma("predict c.lemma d.csv").out.starts_with("class"));
  ASSERT_EQ(in.lemma("fit svm d.csv 'factor(y) ~ x' -o f.lemma").code, 0);
  EXPECT_EQ(in.lemma("predict f.lemma d.csv").out, in.lemma("predict c.lemma d.csv").out);
  const auto quiet = in.lemma("fit svm d.csv 'y ~ x' --task regression");
  EXPECT_EQ(quiet.err.find("factor("), std::string::npos) << quiet.err;
  const auto wrong = in.lemma("fit svm d.csv 'y ~ x' --task classes");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.err.find("classification"), std::string::npos) << wrong.err;
  in.write("d.svm", "-1 1:1\n1 1:3 2:1\n-1 1:0.5\n1 1:4\n-1 2:0.1\n1 1:5 2:2\n");
  for (const char* how : {"'factor(y) ~ .'", "'y ~ .' --task classification"}) {
    const auto sparse = in.lemma(std::string("fit logistic d.svm ") + how + " -o s.lemma");
    EXPECT_EQ(sparse.code, 0) << how << sparse.err;
    EXPECT_NE(in.lemma("evaluate s.lemma d.svm").out.find("accuracy"), std::string::npos) << how;
  }
}

}  // namespace
}  // namespace lemma
