// tests/contract_test.cpp: what every method of the catalog must meet. A method that can't meet a check stands in
// lemma/model/known_gaps.cpp with the reason.
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <lemma/data/csv.hpp>
#include <lemma/metric/clustering.hpp>
#include <lemma/model/look_again.hpp>
#include <tests/contract/compare.hpp>
#include <tests/contract/damage.hpp>
#include <tests/contract/parameters.hpp>
#include <tests/contract/subject.hpp>
#include <tests/places.hpp>

namespace lemma::contract {
namespace {

class Contract : public SubjectTest {
 protected:
  /// A name of this test's own, in the folder for temporary files.
  std::string temporary(const std::string& ending) const {
    return testing::TempDir() + "lemma_contract_" + GetParam() + "_" + std::to_string(::getpid()) + "_" +
           std::to_string(std::hash<std::string>{}(testing::UnitTest::GetInstance()->current_test_info()->name())) +
           ending;
  }
};
INSTANTIATE_TEST_SUITE_P(Methods, Contract, testing::ValuesIn(subject_names()), name_of_subject);

// ---- The fit and its evidence ----

Complaints wrong_with(const TrainedModel& trained, const Table& table, const std::string& about) {
  Complaints out;
  const auto& certificate = trained.model->certificate();
  if (certificate.strength != Strength::none && !certificate.holds())
    out.push_back({about, "the certificate does not hold: " + certificate.message});
  if (certificate.kind.empty() || certificate.message.empty() || certificate.stopped.empty())
    out.push_back({about, "the certificate lacks its kind, its message or why the work ended"});
  append(out, not_finite(trained.model->results(trained.names()), about, false));
  append(out, not_finite(all_said(trained, table), about, false));
  return out;
}

TEST_P(Contract, DefaultsFitGoodDataAndTheCertificateHolds) {
  Complaints all;
  for (const auto& [name, example] : {std::pair{"toy", good(subject())}, {"built-in", built_in(subject())}}) {
    const auto trained = train_on(method(), example);
    append(all, wrong_with(trained, example.table, name));
    EXPECT_FALSE(trained.model->summary(trained.names()).empty());
  }
  judge_all(all);
}

TEST_P(Contract, ALoadedModelVerifiesAsItWasCertified) {
  const Example example = good(subject());
  const auto& trained = fitted();
  const auto loaded = decode(encode(trained), catalog());
  const auto verification = loaded.verify(MemoryTableStream(example.table));
  const auto &stored = loaded.model->certificate(), &found = verification.certificate;
  EXPECT_EQ(found.holds(), stored.holds()) << found.message;
  EXPECT_EQ(found.strength, stored.strength);
  EXPECT_EQ(found.kind, stored.kind);
  EXPECT_EQ(found.tolerance, stored.tolerance);
  EXPECT_TRUE(verification.same_rows);
  EXPECT_EQ(verification.rows, example.table.rows());
}

TEST_P(Contract, OtherRowsAreNotTakenForTheRowsOfTheFit) {
  const auto& trained = fitted();
  EXPECT_FALSE(trained.verify(MemoryTableStream(groups(240, 12))).same_rows);
}

TEST_P(Contract, ADamagedModelFailsItsCertificate) {
  const Example example = good(subject());
  const auto& trained = fitted();
  if (trained.model->certificate().strength == Strength::none) GTEST_SKIP() << "it claims nothing";
  judge_all(unseen_damage(trained, example.table));
}

TEST_P(Contract, ASecondLookFindsItAsItWasAskedFor) {
  const Example example = good(subject());
  const auto& trained = fitted();
  const DesignRows rows(trained.design, trained.design.train(example.table));
  const AnySpec asked({std::shared_ptr<const Method>(), &method()}, Value::object());
  const Certificate found = look_again(trained.model, asked, rows, {});
  EXPECT_FALSE(found.fails()) << found.message;
}

// ---- The same bits ----

TEST_P(Contract, RefittingGivesTheSameBits) {
  const Example example = large(subject());
  EXPECT_TRUE(encode(train_on(method(), example)) == encode(train_on(method(), example)));
}

TEST_P(Contract, AnyNumberOfThreadsGivesTheSameBits) {
  const Example example = large(subject());
  const Bytes one = encode(train_on(method(), example, with_threads(1)));
  for (const int threads : {2, 5})
    EXPECT_TRUE(encode(train_on(method(), example, with_threads(threads))) == one) << threads;
}

TEST_P(Contract, AnyNumberOfThreadsPredictsTheSameBits) {
  const auto& trained = fitted();
  if (says_nothing_of_rows(trained)) GTEST_SKIP() << "it is about the rows of the fit alone";
  const Table rows = groups(kPredictedTogether + 321);  // more than one thread says something of
  const auto said = [&](int threads) {
    Execution execution;
    execution.threads = threads;
    return to_value(trained.predict(rows, everything(trained), execution));
  };
  const Value one = said(1);
  for (const int threads : {2, 5}) EXPECT_TRUE(same_bits(said(threads), one)) << threads;
}

TEST_P(Contract, RowsStreamedFromAFileGiveTheSameBits) {
  const Example example = large(subject());
  const std::string path = temporary(".csv");
  write_csv(example.table, path);
  TrainOptions little_memory;
  little_memory.memory = 1;
  const CsvStream stream(path);
  const auto streamed = [&] {
    return train(shared(method()), Value::object(), formula(example.formula), stream, little_memory);
  };
  if (about().scans) {
    const Example read{read_csv(path), example.formula};
    const auto from_file = streamed(), from_memory = train_on(method(), read);
    EXPECT_TRUE(same_bits(to_document(from_file), to_document(from_memory)));
    EXPECT_TRUE(same_bits(all_said_and_drawn(from_file, read.table), all_said_and_drawn(from_memory, read.table)));
    const auto verification = from_memory.verify(stream, std::size_t{1});
    EXPECT_TRUE(verification.same_rows);
    EXPECT_TRUE(same_bits(to_value(verification.certificate),
                          to_value(from_memory.verify(MemoryTableStream(read.table)).certificate)));
  } else {
    judge_all(must_refuse("little memory", streamed, {"memory"}));
  }
  std::filesystem::remove(path);
}

TEST_P(Contract, AStoredModelPredictsTheSameBits) {
  const Example example = good(subject());
  const auto& trained = fitted();
  const std::string path = temporary(".lemma");
  save(trained, path);
  const auto loaded = load(path, catalog());
  std::filesystem::remove(path);
  EXPECT_TRUE(same_bits(all_said_and_drawn(loaded, example.table), all_said_and_drawn(trained, example.table)));
  EXPECT_TRUE(encode(loaded) == encode(trained));
  EXPECT_EQ(loaded.model->summary(loaded.names()), trained.model->summary(trained.names()));
}

TEST_P(Contract, ItsSeedIsAllThatChanceDependsOn) {
  const Example example = good(subject());
  TrainOptions other;
  other.fit.seed = 2;
  const bool same = same_bits(to_document(fitted()), to_document(train_on(method(), example, other)));
  const bool repeatable = encode(train_on(method(), example, other)) == encode(train_on(method(), example, other));
  EXPECT_TRUE(about().random ? repeatable : same);
}

// ---- What the rows mean ----

/// The results of a model but those that speak of rows, one by one or two by two.
Value results_of_no_row(const TrainedModel& trained) {
  Value out = Value::object();
  const Value all = trained.model->results(trained.names());
  for (const FieldInfo& field : trained.model->method().results())
    if (field.shown == Shown::result && !field.speaks_of_rows()) out.set(field.name, all.at(field.name));
  return out;
}

/// Two models that should say the same: clusters up to their names, all else number by number.
Complaints unlike(const TrainedModel& a, const TrainedModel& b, const Table& table, double tolerance) {
  if (says_nothing_of_rows(a)) return not_close(results_of_no_row(a), results_of_no_row(b), tolerance, "results");
  if (a.model->method().about().task == Task::clustering) {
    const Prediction p = a.predict(table), q = b.predict(table);
    Labels one = p.label();  // rows of no cluster are together too
    for (int& label : one) label += 1;
    if (adjusted_rand_index(contingency(one, q.label())) > 1 - 1e-12) return {};
    return {{"clusters", "the partitions differ"}};
  }
  Complaints out = not_close(a.model->results(a.names()), b.model->results(b.names()), tolerance, "results");
  append(out, not_close(all_said(a, table), all_said(b, table), tolerance, "prediction"));
  return out;
}

TEST_P(Contract, TheOrderOfTheRowsDoesNotMatter) {
  if (about().row_order_matters) GTEST_SKIP() << "its definition depends on the order";
  const Example example = good(subject());
  RandomStream stream(5);
  const Example shuffled{example.table.select(permutation(stream, example.table.rows())), example.formula};
  judge_all(unlike(fitted(), train_on(method(), shuffled), example.table, 1e-9));
}

Table repeated(const Table& table, const std::string& weights) {
  std::vector<Index> rows;
  for (Index i = 0; i < table.rows(); ++i)
    for (int copy = 0; copy < table.column(weights).numbers().values[static_cast<std::size_t>(i)]; ++copy)
      rows.push_back(i);
  return table.select(rows);
}

TEST_P(Contract, AWeightOfKIsKCopiesOfTheRow) {
  const Example example = good(subject());
  TrainOptions weighted;
  weighted.design.weights = "w";
  if (!about().takes_weights) {
    judge_all(must_refuse("weights", [&] { train_on(method(), example, weighted); }, {"weights"}));
    return;
  }
  const Example copies{repeated(example.table, "w"), example.formula};
  judge_all(unlike(train_on(method(), example, weighted), train_on(method(), copies), example.table, 1e-8));
}

TEST_P(Contract, PrecisionIsTakenOrRefused) {
  const Table ones = changed(good(subject()).table, {"x4"}, [](double, Index) { return 1.0; });
  const Example example{ones, formula_for(subject(), "x1 + x2")};
  TrainOptions precise;
  precise.design.precision = "x4";
  if (!about().takes_precision)
    return judge_all(must_refuse("precision", [&] { train_on(method(), example, precise); }, {"precision"}));
  // A precision of 1 says nothing; what others say stands in the method's own tests.
  judge_all(unlike(train_on(method(), example, precise), train_on(method(), example), ones, 1e-12));
}

TEST_P(Contract, ItKeepsRowsOnlyWhereItSaysSo) {
  const auto size = [&](Index n) { return to_cbor(train_on(method(), good(subject(), n)).model->save()).size(); };
  constexpr Index kFew = 150, kMany = 600;
  const std::size_t few = size(kFew), many = size(kMany), growth = many - std::min(few, many);
  const std::size_t least =
      about().keeps_rows ? 1 : (kMany - kFew) * sizeof(double);  // it may keep those with mistakes
  if ((growth >= least) != about().keeps_rows)
    return judge_all({{"size", fmt::format("grows by {} bytes for {} rows more", growth, kMany - kFew)}});
  judge_all({});
}

class CancelAtOnce final : public Progress {
 public:
  void report(double, std::string_view) override {}
  bool cancelled() const override { return true; }
};

TEST_P(Contract, CancelledWorkGivesAModelOrSaysThatItWasCancelled) {
  CancelAtOnce progress;
  TrainOptions options;
  options.fit.progress = &progress;
  const Example example = large(subject());
  try {
    const auto trained = train_on(method(), example, options);
    judge_all(not_finite(all_said(trained, example.table), "cancelled", false));
  } catch (const Cancelled& cancelled) { EXPECT_STREQ(cancelled.what(), "cancelled"); }
}

// ---- Parameters and words ----

TEST_P(Contract, EveryParameterRefusesWhatItCannotUse) {
  Complaints all;
  for (const auto& info : method().params())
    for (const auto& [what, value] : bad_values(info))
      append(all, must_refuse(info.name + " " + what, [&, &value = value] { method().check(params_with(info, value)); },
                              {last_part(info.name)}));
  append(all, must_refuse("unknown",
                          [&] {
                            method().check(Value::Object{{"no_such_parameter", 1}});
                          },
                          {"no_such_parameter"}));
  judge_all(all);
}

TEST_P(Contract, ParametersGoThroughJsonAndBack) {
  const Value defaults = method().check(Value::object());
  EXPECT_TRUE(same_bits(method().check(from_json(to_json(defaults))), defaults));
  const Value chosen = fitted().model->params();
  EXPECT_TRUE(same_bits(method().check(from_json(to_json(chosen))), chosen));
  for (const auto& info : method().params())
    EXPECT_NO_THROW(method().check(params_with(info, info.initial))) << info.name;
}

TEST_P(Contract, TheChosenParametersGiveTheSameModelAgain) {
  const Example example = good(subject());
  const auto& first = fitted();
  const auto again = train_on(method(), example, {}, first.model->params());
  EXPECT_TRUE(same_bits(first.model->save(), again.model->save()));
}

TEST_P(Contract, ItIsDescribed) {
  EXPECT_FALSE(about().summary.empty());
  EXPECT_FALSE(about().objective.empty());
  EXPECT_TRUE(std::string(about().example).starts_with("lemma fit " + method().name() + " ")) << about().example;
  for (const auto& info : method().params()) EXPECT_FALSE(info.meaning.empty() || info.allowed.empty()) << info.name;
  EXPECT_FALSE(method().results().empty());
  for (const auto& field : method().results()) EXPECT_FALSE(field.meaning.empty()) << field.name;
}

TEST_P(Contract, ItHasAPageThatNamesItsParameters) {
  const std::string path = fmt::format("{}/lemma/{}/{}.md", source_dir(), about().family, method().name());
  std::ifstream in(path);
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  ASSERT_FALSE(page.empty()) << path;
  EXPECT_NE(page.find("lemma fit " + method().name()), std::string::npos);
  for (const auto& info : method().params()) EXPECT_NE(page.find(info.name), std::string::npos) << info.name;
}

// ---- Pipelines ----

TEST_P(Contract, ItWorksBehindScaleInAPipeline) {
  Value params;
  const auto pipeline = method_from("scale | " + method().name(), catalog(), params);
  const Example example = good(subject());
  const auto work = [&] { return train(pipeline, params, formula(example.formula), MemoryTableStream(example.table)); };
  if (refuses_negative(about())) return judge_all(must_refuse("pipeline", work, {"must be at least 0"}));
  const auto trained = work();
  judge_all(wrong_with(trained, example.table, "pipeline"));
  const auto loaded = decode(encode(trained), catalog());
  EXPECT_TRUE(encode(loaded) == encode(trained));
  EXPECT_TRUE(same_bits(all_said_and_drawn(loaded, example.table), all_said_and_drawn(trained, example.table)));
  const auto verification = loaded.verify(MemoryTableStream(example.table));
  const auto& found = verification.certificate;
  EXPECT_TRUE(found.holds() || found.strength == Strength::none) << found.message;
}

// ---- The list of gaps itself ----

TEST(KnownGaps, AreOfMethodsInTheCatalogAndHaveAReason) {
  const auto names = subject_names();
  for (const auto& gap : known_gaps()) {
    EXPECT_NE(std::find(names.begin(), names.end(), gap.method), names.end()) << gap.method;
    EXPECT_GT(gap.reason.size(), 15U) << gap.method << " " << gap.check;
    EXPECT_LT(gap.reason.size(), 200U) << gap.method << " " << gap.check;
    bool known = false;
    for (int i = 0; i < testing::UnitTest::GetInstance()->total_test_suite_count(); ++i) {
      const auto* suite = testing::UnitTest::GetInstance()->GetTestSuite(i);
      for (int j = 0; j < suite->total_test_count(); ++j)
        known = known || std::string(suite->GetTestInfo(j)->name()).starts_with(std::string(gap.check) + "/");
    }
    EXPECT_TRUE(known) << "there is no check " << gap.check;
  }
}

}  // namespace
}  // namespace lemma::contract
