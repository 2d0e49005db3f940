// app/actions_test.cpp: commands that a method declares for its models, as the tool offers them.
#include "actions.hpp"

#include <CLI/CLI.hpp>
#include <gtest/gtest.h>
#include <lemma/core/error.hpp>
#include <lemma/data/csv.hpp>
#include <lemma/model/store.hpp>
#include <lemma/model/toy_methods_test.hpp>
#include <tests/run_tool.hpp>

namespace lemma::app {
namespace {

const Method* const kToys[] = {&method_of<SumOf>(), &method_of<Places>()};

class ActionsTool : public testing::Test {
 protected:
  ActionsTool() {
    const Table table = parse_csv("x,z\n3,1\n1,1\n2,1\n", {}, "t");
    const auto fitted = [&](const Method& method, const char* how) {
      return train({std::shared_ptr<const Method>(), &method}, Value::object(), formula(how), MemoryTableStream(table));
    };
    save(fitted(method_of<Places>(), "~ ."), places_);
    save(fitted(method_of<SumOf>(), "x ~ z"), sum_);
  }
  /// The error, or nothing.
  std::string run(std::vector<std::string> words) {
    CLI::App tool;
    Context context;
    context.quiet = true;
    add_actions(tool, kToys, context);
    std::reverse(words.begin(), words.end());
    try {
      tool.parse(words);
    } catch (const Error& error) { return error.what(); }
    return "";
  }
  const Folder folder_;
  const std::string places_ = folder_.path("places.lemma"), sum_ = folder_.path("sum.lemma"),
                    out_ = folder_.path("first.csv");
};

TEST_F(ActionsTool, ADeclaredCommandWritesWhatItMakesOfTheModel) {
  EXPECT_EQ(run({"first", places_, "--count", "1", "-o", out_}), "");
  EXPECT_EQ(format_csv(read_csv(out_)), "row,cluster,place\n1,2,3\n2,1,1\n3,2,2\n");
  EXPECT_EQ(run({"shorten", places_, "--count=2", "-o", out_}), "");
  EXPECT_EQ(load(out_, kToys).result_table("order").rows(), 2);
}

TEST_F(ActionsTool, MistakesAreNamed) {
  EXPECT_EQ(run({"first", sum_}), "'first' is for models of places, and this is a model of sum_of");
  EXPECT_EQ(run({"first", places_, "--cound", "1"}),
            "first takes no --cound (did you mean '--count'?); 'lemma first --help' lists what it takes");
  EXPECT_NE(run({"first", places_, "--count", "0"}).find("at least 1"), std::string::npos);
  EXPECT_EQ(run({"first"}), "first needs a MODEL: a file written by fit -o");
}

}  // namespace
}  // namespace lemma::app
