// tests/ledger_tool_test.cpp: which rows trained a model: what evaluate, update and verify say of them.
#include "run_tool.hpp"

#include <algorithm>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <lemma/catalog.hpp>
#include <lemma/core/value.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/model/store.hpp>

namespace lemma {
namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// The sentence under the heading, on one line.
std::string words_of(const Outcome& evaluated) {
  const auto from = evaluated.out.find('\n'), to = evaluated.out.find("\n\n");
  if (evaluated.code != 0 || from == std::string::npos || to == std::string::npos) return evaluated.out + evaluated.err;
  std::string out = evaluated.out.substr(from + 1, to - from - 1);
  std::replace(out.begin(), out.end(), '\n', ' ');
  return out;
}

/// Rows first … first + count − 1 of a line with some noise, no two alike; with a column of weights.
std::string line_rows(int first, int count, const std::string& weight = "") {
  std::string out;
  for (int i = first; i < first + count; ++i)
    out += fmt::format("{},{}{}\n", i, 2 * i + i % 7, weight.empty() ? "" : "," + weight);
  return out;
}

TEST(Ledger, ThreeRowsOfTwentyThousandAreKnownAgain) {
  const Folder in;
  ASSERT_EQ(in.lemma("fit centroid letters 'lettr ~ .' -o model.lemma").code, 0);
  EXPECT_EQ(words_of(in.lemma("evaluate model.lemma letters --rows 1:3")),
            "TRAINING rows: all 3 rows are equal to training rows, so these figures flatter the model.");
  EXPECT_EQ(words_of(in.lemma("evaluate model.lemma letters")),
            "TRAINING rows: these are the 20,000 rows that trained the model, so these figures flatter it.");
}

TEST(Ledger, EqualRowsAfterAProperSplitAreNotCalledTrainingRows) {
  const Folder in;  // of letters one row in ten is equal to another
  ASSERT_EQ(in.lemma("split letters --by lettr --test 0.25 -o train.csv test.csv").code, 0);
  ASSERT_EQ(in.lemma("fit centroid train.csv 'lettr ~ .' -o model.lemma").code, 0);
  const std::string words = words_of(in.lemma("evaluate model.lemma test.csv"));
  EXPECT_TRUE(contains(words, "Test rows: 481 of 5,000 rows (9.6 %) are equal to training rows, as many as among"))
      << words;
}

TEST(Ledger, CountsAreOfRowsAndNoShareIsRoundedToNothing) {
  const Folder in;
  in.write("train.csv", "x,y\n" + line_rows(0, 4000));
  in.write("test.csv", "x,y\n" + line_rows(4000, 4988) + line_rows(100, 12));
  in.write(
      "repeated.csv", "x,y\n" + line_rows(4000, 500) + [] {
        std::string out;
        for (int i = 0; i < 500; ++i) out += line_rows(7, 1);
        return out;
      }());
  in.write("nearly.csv", "x,y\n" + line_rows(0, 4000) + line_rows(4000, 1));
  ASSERT_EQ(in.lemma("fit ols train.csv 'y ~ x' -o model.lemma").code, 0);
  EXPECT_TRUE(words_of(in.lemma("evaluate model.lemma test.csv"))
                  .starts_with("MIXED rows: 12 of 5,000 rows (0.24 %) are equal to training rows"));
  EXPECT_TRUE(
      words_of(in.lemma("evaluate model.lemma repeated.csv")).starts_with("MIXED rows: 500 of 1,000 rows (50 %)"));
  EXPECT_TRUE(
      words_of(in.lemma("evaluate model.lemma nearly.csv")).starts_with("MIXED rows: 4,000 of 4,001 rows (99.975 %)"));
  EXPECT_EQ(words_of(in.lemma("evaluate model.lemma test.csv --rows 1:50")),
            "Test rows: none of 50 rows is equal to a row that trained the model.");
  const Value document = from_json(in.lemma("evaluate model.lemma test.csv --json").out).at("equal_to_training_rows");
  EXPECT_EQ(document.at("equal_rows").as_integer(), 12);
  EXPECT_TRUE(document.at("exact").as_bool());
  EXPECT_FALSE(document.at("same_rows").as_bool());
  EXPECT_EQ(document.at("proved_unequal").as_integer(), 4988);
}

TEST(Ledger, RowsAreKnownWithoutTheirWeightsButOtherWeightsAreAnotherFit) {
  const Folder in;
  in.write("train.csv", "x,y,w\n" + line_rows(0, 30, "1") + line_rows(30, 30, "2"));
  in.write("other.csv", "x,y,w\n" + line_rows(0, 60, "3"));
  in.write("bare.csv", "x,y\n" + line_rows(0, 60));
  ASSERT_EQ(in.lemma("fit ols train.csv 'y ~ x' --weights w -o model.lemma").code, 0);
  EXPECT_EQ(in.lemma("verify model.lemma train.csv").code, 0);
  const auto other = in.lemma("verify model.lemma other.csv");
  EXPECT_EQ(other.code, 1);
  EXPECT_TRUE(contains(other.out, "60 rows given with other weights, 60 fitted")) << other.out;
  for (const char* table : {"other.csv", "bare.csv"})
    EXPECT_TRUE(contains(words_of(in.lemma(fmt::format("evaluate model.lemma {}", table))),
                         "all 60 rows are equal to training rows but for weights"));
  EXPECT_TRUE(contains(words_of(in.lemma("evaluate model.lemma train.csv")), "these are the 60 rows that trained"));
}

TEST(Ledger, AColumnThatTheMethodDoesNotLookAtIsNoPartOfTheRow) {
  const Folder in;
  ASSERT_EQ(in.lemma("fit kmeans iris '~ . - species - petal_width' --k 3 -o model.lemma").code, 0);
  std::string bare = "sepal_length,sepal_width,petal_length\n";
  const Table iris = dataset("iris");
  for (Index i = 0; i < 20; ++i)
    bare += fmt::format("{},{},{}\n", iris.column("sepal_length").text(i), iris.column("sepal_width").text(i),
                        iris.column("petal_length").text(i));
  in.write("bare.csv", bare);
  const std::string words = words_of(in.lemma("evaluate model.lemma bare.csv"));
  EXPECT_TRUE(contains(words, "all 20 rows are equal to training rows")) << words;
}

TEST(Ledger, DroppedAndSparseRowsAndThoseOfPipelinesAreRemembered) {
  const Folder in;
  in.write("gaps.csv", "x,y\n" + line_rows(0, 40) + "NA,3\n" + line_rows(40, 40));
  ASSERT_EQ(in.lemma("fit 'scale | ols' gaps.csv 'y ~ x' --missing drop -o gaps.lemma").code, 0);
  EXPECT_TRUE(contains(words_of(in.lemma("evaluate gaps.lemma gaps.csv")), "these are the 80 rows"));
  EXPECT_TRUE(contains(words_of(in.lemma("evaluate gaps.lemma gaps.csv --where 'x > 60'")), "all 19 rows are equal"));
  std::string sparse, more;
  for (int i = 1; i <= 60; ++i) (i <= 50 ? sparse : more) += fmt::format("{} 1:{} {}:1\n", i % 2, i, 2 + i % 9);
  in.write("a.svm", sparse);
  in.write("b.svm", more);
  in.write("c.svm", sparse.substr(0, sparse.find('\n') + 1) + more);
  ASSERT_EQ(in.lemma("fit logistic a.svm 'y ~ .' -o sparse.lemma").code, 0);
  EXPECT_TRUE(contains(words_of(in.lemma("evaluate sparse.lemma b.svm")), "none of 10 rows"));
  EXPECT_TRUE(
      contains(words_of(in.lemma("evaluate sparse.lemma c.svm")), "1 of 11 rows (9.1 %) is equal to a training row"));
}

TEST(Ledger, AnUpdatedModelRemembersAllItsRowsAndVerifyWantsThem) {
  const Folder in;
  ASSERT_EQ(in.lemma("fit logistic pima_train 'type ~ .' -o model.lemma").code, 0);
  const auto update = in.lemma("update model.lemma pima_test -o both.lemma");
  EXPECT_TRUE(contains(update.out, "332 new rows, 532 in all")) << update.out;
  for (const auto& [table, rows] : {std::pair{"pima_train", 200}, {"pima_test", 332}})
    EXPECT_TRUE(contains(words_of(in.lemma(fmt::format("evaluate both.lemma {}", table))),
                         fmt::format("TRAINING rows: all {} rows are equal to training rows", rows)));
  const auto part = in.lemma("verify both.lemma pima_test");
  EXPECT_EQ(part.code, 1);
  EXPECT_TRUE(contains(part.out, "not all the rows the model was fitted on: those of pima_train (200 rows) are"))
      << part.out;
  EXPECT_TRUE(contains(part.out, "lemma verify both.lemma pima_train pima_test")) << part.out;
  const Value document = from_json(in.lemma("verify both.lemma pima_test --json").out);
  EXPECT_FALSE(document.at("verified").as_bool());
  EXPECT_FALSE(document.at("same_rows").as_bool());
  EXPECT_EQ(document.at("missing").as_list().at(0).at("data").as_string(), "pima_train");
  for (const char* tables : {"pima_train pima_test", "pima_test pima_train"}) {
    const auto all = in.lemma(fmt::format("verify both.lemma {}", tables));
    EXPECT_EQ(all.code, 0) << all.out << all.err;
    EXPECT_TRUE(contains(all.out, "done again on all 532 rows")) << all.out;
  }
  EXPECT_EQ(in.lemma("verify both.lemma pima_train pima_test iris --na x").code, 2);
  EXPECT_EQ(in.lemma("verify both.lemma pima_test pima_test").code, 1);
  EXPECT_TRUE(contains(in.lemma("verify model.lemma pima_train pima_test").err, "fitted on one table"));
}

TrainedModel trained_on(const Table& table) {
  Value params;
  const auto method = method_from("logistic", catalog(), params);
  return train(method, params, formula("type ~ ."), MemoryTableStream(table));
}

TEST(Ledger, AnUpdateOfAnotherPastThanTheRowsGiveIsNotVerified) {
  const Table first = dataset("pima_train"), second = dataset("pima_test");
  const Table other = first.slice(0, 150);
  const MemoryTableStream new_rows(second), old_rows(first);
  const TrainedModel honest = decode(encode(trained_on(first).update(new_rows, {})), catalog());
  TrainedModel forged = trained_on(other).update(new_rows, {});
  forged.origin = honest.origin;
  const TableStream* both[] = {&old_rows, &new_rows};
  EXPECT_TRUE(honest.verify(both).certificate.holds());
  EXPECT_TRUE(forged.verify(both).same_rows);
  EXPECT_FALSE(forged.verify(both).certificate.holds());
  const Table stacked = stack({first, second}), mixed = stack({second, first});
  const auto in_order = honest.verify(MemoryTableStream(stacked)), turned = honest.verify(MemoryTableStream(mixed));
  EXPECT_TRUE(in_order.same_rows && in_order.certificate.holds()) << in_order.certificate.message;
  EXPECT_TRUE(turned.all_there);
  EXPECT_FALSE(turned.same_rows);
  const TrainedModel thrice = honest.update(MemoryTableStream(other), {});
  EXPECT_EQ(thrice.origin.rows.rows(), 682);
  const MemoryTableStream again(other);
  const TableStream* three[] = {&again, &old_rows, &new_rows};
  const auto verified = thrice.verify(three);
  EXPECT_TRUE(verified.same_rows && verified.certificate.holds()) << verified.certificate.message;
}

}  // namespace
}  // namespace lemma
