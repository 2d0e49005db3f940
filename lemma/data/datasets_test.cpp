// lemma/data/datasets_test.cpp
#include <gtest/gtest.h>
#include <lemma/core/error.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/data/embedded.hpp>

namespace lemma {

TEST(Datasets, EverySetHasTheSizeAndTheResponseItPromises) {
  EXPECT_EQ(datasets().size(), embedded::file_count);
  for (const auto& set : datasets()) {
    const Table table = dataset(set.name);
    EXPECT_EQ(table.rows(), set.rows) << set.name;
    EXPECT_EQ(table.columns(), set.columns) << set.name;
    EXPECT_FALSE(set.title.empty() || set.source.empty()) << set.name;
    std::string_view response = set.response;
    while (!response.empty()) {
      const auto end = std::min(response.find(':'), response.size());
      EXPECT_NE(table.find(response.substr(0, end)), nullptr) << set.name;
      response.remove_prefix(std::min(end + 1, response.size()));
    }
    EXPECT_EQ(table.notes(), std::vector<std::string>{}) << set.name;
  }
}

TEST(Datasets, CodesOfClassesAreCategories) {
  EXPECT_EQ(dataset("glass").column("Type").categories().levels,
            (std::vector<std::string>{"1", "2", "3", "5", "6", "7"}));
  EXPECT_EQ(dataset("digits").column("digit").categories().levels.size(), 10u);
  const Table soybean = dataset("soybean");
  Index missing = 0;
  for (const auto& column : soybean.all()) {
    EXPECT_EQ(column.type(), ColumnType::categorical) << column.name;
    missing += column.missing();
  }
  EXPECT_EQ(missing, 2337);
  CsvOptions options;
  options.types["Type"] = ReadAs::numeric;
  EXPECT_EQ(dataset("glass", options).column("Type").type(), ColumnType::numeric);
}

TEST(Datasets, LabelsAreNotTurnedIntoAnythingElse) {
  EXPECT_EQ(dataset("zoo").column("hair").categories().levels, (std::vector<std::string>{"FALSE", "TRUE"}));
  const Table votes = dataset("house_votes");
  Index missing = 0;
  for (const auto& column : votes.all()) missing += column.missing();
  EXPECT_EQ(missing, 392);
  EXPECT_EQ(votes.column("V1").categories().levels, (std::vector<std::string>{"n", "y"}));
  EXPECT_EQ(dataset("vowel").column("Class").categories().levels.size(), 11u);
  EXPECT_EQ(dataset("dna").column("Class").categories().levels, (std::vector<std::string>{"ei", "ie", "n"}));
  EXPECT_EQ(dataset("breast_cancer").column("Bare.nuclei").missing(), 16);
}

TEST(Datasets, AMisspeltNameGetsASuggestion) {
  try {
    dataset("irsi");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "there is no built-in data set 'irsi' (did you mean 'iris'?)");
  }
  EXPECT_EQ(find_dataset("irsi"), nullptr);
  EXPECT_EQ(dataset_csv("iris").substr(0, 12), "sepal_length");
}

}  // namespace lemma
