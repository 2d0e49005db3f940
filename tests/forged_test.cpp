// tests/forged_test.cpp: model files with a right checksum and wrong contents: refused with a reason, or harmless.
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <tests/contract/judge.hpp>
#include <tests/forge/mutate.hpp>
#include <tests/forge/seeds.hpp>
#include <tests/forge/use.hpp>

namespace lemma::forge {
namespace {

constexpr int kRuns = 60;  // of each method; lemma_forge does more

class Forged : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Methods, Forged, testing::ValuesIn(subjects()), [](const auto& tested) {
  std::string name = tested.param;
  std::erase_if(name, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); });
  return name;
});

void load(const Value& document) { decode_body(to_cbor(document), catalog(), "model.lemma"); }

void expect_none(const contract::Complaints& complaints) {
  for (const auto& [about, message] : complaints) ADD_FAILURE() << about << ": " << message;
}

/// The place changed, and the reason why the file is refused.
void expect_refused(Value document, const Path& place, const Value& wrong, const std::vector<std::string>& words) {
  apply_at(document, place, 0, [&](Value& value) { value = wrong; });
  expect_none(contract::must_refuse(
      place.back(), [&] { load(document); }, words));
}

TEST_P(Forged, FilesThatNobodyTouchedLoadAndDoAllTheyOffer) {
  for (const auto& [name, document] : seeds(GetParam()))
    EXPECT_TRUE(load_and_use(document, table(), [&, &who = name](const std::string& what) {
      ADD_FAILURE() << who << ": " << what;
    })) << name;
}

TEST_P(Forged, FilesAreRefusedOrHarmless) {
  const auto from = seeds(GetParam());
  const Value other = seed("lda", "class ~ x1 + x2");
  for (int run = 0; run < kRuns; ++run) {
    RandomStream stream(7, static_cast<std::uint64_t>(run));
    const Dice dice = [&](std::size_t n) { return static_cast<std::size_t>(stream.below(static_cast<Index>(n))); };
    const Seed& one = from[static_cast<std::size_t>(run) % from.size()];
    load_and_use(mutated(one.document, other, dice), table(),
                 [&](const std::string& what) { ADD_FAILURE() << one.name << ", run " << run << ": " << what; });
  }
}

/// A design that is right in itself, with a class fewer or more than the model, or with none.
TEST_P(Forged, ADesignWithOtherClassesThanTheModelsIsRefused) {
  for (const auto& [name, document] : seeds(GetParam())) {
    const Value& classes = document.at("design").at("response").at("parts");
    if (document.at("design").at("response").at("kind").as_string() != "classes") continue;
    const std::size_t count = decode_body(to_cbor(document), catalog(), "").design.classes().size();
    for (const std::size_t more : {0U, 1U}) {
      if (classes.as_list().size() > 1 && more == 1) continue;
      Value wrong = document;
      change_classes(wrong, [&](std::size_t) { return more; });
      const std::size_t named = more == 1 ? count + 1 : count - 1;
      expect_none(
          contract::must_refuse(name, [&] { load(wrong); },
                                {fmt::format("the design has {} and the model tells {} apart",
                                             named == 1 ? "1 class" : fmt::format("{} classes", named), count)}));
    }
  }
}

TEST_P(Forged, ADesignWithoutTheResponseThatTheModelPredictsIsRefused) {
  for (const auto& [name, document] : seeds(GetParam())) {
    if (document.at("design").at("response").at("kind").as_string() == "none") continue;
    Value wrong = document;
    change_response(wrong, [](std::size_t) { return std::size_t{0}; });
    EXPECT_THROW(load(wrong), Error) << name;
  }
}

/// Columns and response of every size: what is fitted can be written and read, or the fit says that it cannot be done.
TEST_P(Forged, NothingIsFittedThatCannotBeWrittenAndRead) {
  Value params;
  const auto method = method_from(GetParam(), catalog(), params);
  const std::string how = contract::formula_for(method->about(), "x1 + x2 + x3");
  for (const double scale : {1e-300, 1e-199, 1e-100, 1e100, 1e199, 1e300}) {
    const auto by_scale = [&](double value, Index) { return scale * value; };
    const Table large = contract::changed(table(), {"x1", "x2", "x3", "y"}, by_scale);
    expect_none(contract::may_refuse(fmt::format("scale {}", scale), [&] {
      const auto model = train(method, params, formula(how), MemoryTableStream(large));
      std::string problem;
      try {
        decode(encode(model), catalog());
      } catch (const Error& error) { problem = error.what(); }
      EXPECT_EQ(problem, "") << "scale " << scale;
    }));
  }
}

TEST(ForgedFile, OfSparseRowsHasNoEntriesBeyondItsEnd) {
  const Value document = *with_sparse_rows(seed("kernel_ridge", "y ~ x1 + x2"));
  EXPECT_NO_THROW(load(document));
  Value::Array start = document.at("state").at("points").at("start").as_array();
  start.data[1] = 1e9;
  expect_refused(document, {"state", "points", "start"}, start, {"the rows that the model keeps are damaged"});
}

TEST(ForgedFile, HasAPriorForEachClass) {
  expect_refused(seed("lda", "class ~ x1 + x2"), {"params", "prior"}, std::vector<double>{0.5, 0.5}, {"prior"});
  expect_refused(seed("kernel_lda", "class ~ x1 + x2"), {"params", "prior"}, std::vector<double>{0.5, 0.5}, {"prior"});
}

TEST(ForgedFile, OfKernelLdaHasANumberForEachDiscriminant) {
  expect_refused(seed("kernel_lda", "class ~ x1 + x2"), {"state", "svd"}, Value(std::vector<double>{1}),
                 {"arrays over the discriminants"});
}

TEST(ForgedFile, HasAKernelOfAThousandPartsAtMost) {
  std::string kernel = "rbf(1)";
  for (int i = 0; i < 1000; ++i) kernel += " + rbf(1)";
  expect_refused(seed("kernel_ridge", "y ~ x1 + x2"), {"params", "kernel"}, kernel, {"at most 1000 parts"});
}

TEST(ForgedFile, OfNumbersHasNoClasses) {
  Value wrong = seed("ols", "y ~ x1 + x2");
  change_response(wrong, [](std::size_t n) { return n - 1; });
  expect_none(contract::must_refuse("ols", [&] { load(wrong); }, {"4 classes and the model predicts numbers"}));
}

TEST(ForgedFile, CannotHaveAnOffsetOrWeightsThatTheMethodDoesNotTake) {
  expect_refused(seed("lda", "class ~ x1 + x2"), {"design", "offsets"}, std::vector<std::string>{"x3"}, {"offset"});
  expect_refused(seed("lda", "class ~ x1 + x2"), {"design", "precision"}, "w", {"precision"});
}

TEST(ForgedFile, HasTheInterceptOfItsFormula) {
  expect_refused(seed("ols", "y ~ x1 + x2"), {"design", "intercept"}, false, {"no intercept", "intercept is true"});
  expect_refused(seed("scale | ridge", "y ~ x1 + x2"), {"design", "intercept"}, false, {"ridge.intercept is true"});
}

TEST(ForgedFile, HasStepsThatFollowOnOneAnother) {
  Value two = seed("scale | lift | ridge", "y ~ x1 + x2");
  expect_refused(two, {"state", "steps", "1", "state", "columns"}, 3, {"'scale' gives 2", "'lift' takes 3"});
  const Index many = Index{1} << 40;  // not one name is made for them
  expect_refused(two, {"state", "steps", "1", "state", "columns"}, static_cast<std::int64_t>(many), {"lift"});
}

TEST(ForgedFile, MakesNoColumnsBeforeItIsKnownHowMany) {
  Value document = seed("ols", "y ~ x1 + x2:g");
  const std::string label(1000000, 'x');
  apply_at(document, {"design", "variables", "1", "label"}, 0, [&](Value& value) { value = label; });
  std::vector<std::string> levels;
  for (int k = 0; k < 1000; ++k) levels.push_back(std::to_string(k));
  for (std::size_t v = 0; v < document.at("design").at("variables").as_list().size(); ++v)
    apply_at(document, {"design", "variables", std::to_string(v), "levels"}, 0, [&](Value& value) { value = levels; });
  expect_none(contract::must_refuse("names", [&] { load(document); }, {"columns and the model takes"}));
}

TEST(ForgedFile, HasNoMoreHashesThanRows) {
  expect_refused(seed("ols", "y ~ x1"), {"data", "rows"}, 3, {"fingerprint"});
  expect_refused(seed("ols", "y ~ x1"), {"data", "rows"}, -1, {"fingerprint"});
}

TEST(ForgedFile, OfAHundredThousandStepsIsRefusedAtOnce) {
  std::string steps = "scale";
  for (int i = 1; i < 65; ++i) steps += "|scale";
  expect_refused(seed("ols", "y ~ x1"), {"method"}, steps, {"at most 64 steps"});
  for (int i = 65; i < 100000; ++i) steps += "|scale";
  expect_refused(seed("ols", "y ~ x1"), {"method"}, steps, {"at most 65536"});
}

}  // namespace
}  // namespace lemma::forge
