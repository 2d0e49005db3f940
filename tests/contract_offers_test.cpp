// tests/contract_offers_test.cpp: whatever a model offers besides its task keeps what it says: parts of predictions, intervals,
// affine maps, inverses, updates, diagnostics, drawn rows and functions, results as tables. What it does not offer it refuses.
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/data/stream/rows.hpp>
#include <set>
#include <tests/contract/compare.hpp>
#include <tests/contract/subject.hpp>

namespace lemma::contract {
namespace {

class Offers : public SubjectTest {
 protected:
  Example example() const { return good(subject()); }
  const TrainedModel& trained() const { return fitted(); }
};
INSTANTIATE_TEST_SUITE_P(Methods, Offers, testing::ValuesIn(subject_names()), name_of_subject);

/// Numbers that should be the same but for rounding, beside the largest of them.
double apart(const Matrix& a, const Matrix& b) {
  if (a.rows() != b.rows() || a.cols() != b.cols()) return std::numeric_limits<double>::infinity();
  return a.size() == 0 ? 0 : (a - b).cwiseAbs().maxCoeff() / std::max(1.0, b.cwiseAbs().maxCoeff());
}

// ---- Parts of predictions ----

TEST_P(Offers, ThatItIsAboutTheRowsOfTheFitAloneAndWhatThereIsInTheirPlace) {
  const auto model = trained();
  if (!says_nothing_of_rows(model)) GTEST_SKIP() << "it says something of rows";
  std::vector<std::string> words{method().name(), "says nothing of others"};
  for (const FieldInfo& field : method().results())
    if (field.shown == Shown::result) words.push_back("'lemma show MODEL " + field.name + "'");
  for (const ActionInfo& action : method().actions()) words.push_back("'lemma " + action.name + " MODEL'");
  if (words.size() > 12) words.resize(11);  // of more than ten the first nine are told
  judge_all(must_refuse(
      "predict", [&] { model.predict(example().table); }, words));
}

TEST_P(Offers, PartsWithNamesOfTheirOwnThatAreGivenWhenTheyAreAskedFor) {
  const auto model = trained();
  if (says_nothing_of_rows(model)) GTEST_SKIP() << "it has none";
  const Table rows = example().table.slice(0, 20);
  const Prediction all = model.predict(rows, everything(model));
  std::set<std::string> names;
  for (const PartInfo& part : model.model->parts()) {
    const std::string name(part.name);
    EXPECT_TRUE(names.insert(name).second) << name << " stands there twice";
    EXPECT_FALSE(part.meaning.empty()) << name;
    if (name == kSamplesPart.name) continue;
    ASSERT_NE(all.find(name), nullptr) << name << " is offered and not given";
    EXPECT_EQ(all.find(name)->rows(), 20) << name;
    EXPECT_EQ(column_names(*all.find(name), model.names()).size(), static_cast<std::size_t>(all.find(name)->width()));
    if (part.given == Given::option) continue;
    PredictOptions alone;
    alone.what = {name};
    const Prediction one = model.predict(rows, alone);
    ASSERT_EQ(one.parts().size(), 1U) << name;
    EXPECT_TRUE(same_bits(to_value(one).at(name), to_value(all).at(name))) << name << " alone has other bits";
  }
  for (const PredictedPart& part : all.parts())
    EXPECT_TRUE(names.contains(std::string(part.info.name))) << part.info.name << " is given and not offered";
}

TEST_P(Offers, ProbabilitiesThatAddUpToOneAndBelongToTheLabel) {
  const auto model = trained();
  if (!offers(model, kProbabilitiesPart)) GTEST_SKIP() << "it has none";
  const Prediction said = model.predict(example().table, everything(model));
  const Matrix& p = said.probabilities();
  ASSERT_EQ(p.rows(), 240);
  ASSERT_EQ(p.cols(), model.model->class_count());
  Complaints all;
  for (Index i = 0; i < p.rows(); ++i) {
    const double sum = p.row(i).sum();
    if (!(p.row(i).minCoeff() >= 0) || !(std::abs(sum - 1) <= 1e-12))
      all.push_back({"probabilities", fmt::format("of row {} add up to {}", i + 1, sum)});
    const auto label = static_cast<Index>(said.label()[static_cast<std::size_t>(i)]);
    if (p(i, label) < p.row(i).maxCoeff() - 1e-12)
      all.push_back(
          {"class", fmt::format("of row {} is not the likeliest: {} of {}", i + 1, p(i, label), p.row(i).maxCoeff())});
  }
  judge_all(all);
}

TEST_P(Offers, IntervalsThatLieAroundTheValueAndGrowWithTheLevel) {
  const auto model = trained();
  const Table rows = example().table.slice(0, 60);
  const auto asked = [&](IntervalKind kind, double level) {
    PredictOptions options;
    options.interval = kind;
    options.level = level;
    return model.predict(rows, options);
  };
  if (!offers(model, kIntervalPart)) {
    const auto ask = [&] { asked(IntervalKind::confidence, 0.9); };
    return judge_all(
        must_refuse("interval", ask, {says_nothing_of_rows(model) ? "says nothing" : "interval", method().name()}));
  }
  Complaints all;
  Matrix of_value;
  for (const auto kind : {IntervalKind::confidence, IntervalKind::prediction}) {
    const std::string about(names_of(kind)[static_cast<std::size_t>(kind)]);
    append(all, may_refuse(about, [&] {
             const Prediction wide = asked(kind, 0.99), narrow = asked(kind, 0.5);
             const Vector middle = wide.value().size() > 0 ? wide.value() : Vector(wide.probabilities().col(1));
             const auto holds = [&](const Matrix& outer, const auto& low, const auto& high, const char* what) {
               const double least = (low - outer.col(0)).minCoeff(), room = (outer.col(1) - high).minCoeff();
               if (!(std::min(least, room) >= -1e-12 * (1 + outer.cwiseAbs().maxCoeff())))
                 all.push_back({about, fmt::format("does not hold {}", what)});
             };
             holds(narrow.interval(), middle, middle, "the value");
             holds(wide.interval(), narrow.interval().col(0), narrow.interval().col(1), "that of a lower level");
             if (kind == IntervalKind::confidence) of_value = narrow.interval();
             else if (of_value.size() > 0)
               holds(narrow.interval(), of_value.col(0), of_value.col(1), "that of the value itself");
           }));
  }
  for (const double level : {0.0, 1.0, -0.5, std::nan("")})
    append(all, must_refuse("level", [&] { asked(IntervalKind::confidence, level); }, {"level"}));
  judge_all(all);
}

TEST_P(Offers, DeviationsOfWhichAnObservationHasTheLarger) {
  const auto model = trained();
  PredictOptions options;
  options.deviations = true;
  const auto ask = [&] { return model.predict(example().table, options); };
  if (!offers(model, kDeviationsPart))
    return judge_all(
        must_refuse("deviations", ask, {says_nothing_of_rows(model) ? "says nothing" : "deviations", method().name()}));
  const Matrix said = ask().matrix(kDeviationsPart.name);
  ASSERT_EQ(said.cols(), 2);
  EXPECT_GE(said.minCoeff(), 0);
  EXPECT_GE((said.col(1) - said.col(0)).minCoeff(), 0);
}

TEST_P(Offers, FunctionsDrawnByTheirSeedAlone) {
  const auto model = trained();
  const auto drawn = [&](std::uint64_t seed, bool prior) {
    PredictOptions options;
    options.samples = SampleOptions{.count = 3, .prior = prior, .seed = seed};
    return model.predict(example().table.slice(0, 30), options).matrix(kSamplesPart.name);
  };
  if (!offers(model, kSamplesPart))
    return judge_all(must_refuse("samples", [&] { drawn(1, false); },
                                 {says_nothing_of_rows(model) ? "says nothing" : "at random", method().name()}));
  for (const bool prior : {false, true}) {
    const Matrix one = drawn(1, prior);
    ASSERT_EQ(one.rows(), 30);
    ASSERT_EQ(one.cols(), 3);
    EXPECT_TRUE(one.allFinite());
    EXPECT_EQ(drawn(1, prior), one);
    EXPECT_NE(drawn(2, prior), one);
    EXPECT_NE(one.col(0), one.col(1));
  }
}

// ---- Maps ----

TEST_P(Offers, AnAffineMapThatIsItsLinearPredictorOrItsCoordinates) {
  const auto model = trained();
  const auto map = model.model->affine();
  if (!map) GTEST_SKIP() << "it has none";
  const Matrix x = model.design.apply(example().table).x;
  ASSERT_EQ(map->a.cols(), model.model->width());
  ASSERT_EQ(map->a.rows(), map->b.size());
  const Matrix by_map = (x * map->a.transpose()).rowwise() + map->b.transpose();
  const Prediction said = model.model.predict(x, everything(model));
  const Matrix expected = about().task == Task::transformation ? said.coordinates()
                          : said.decision().size() > 0         ? said.decision()
                                                               : Matrix(said.value());
  EXPECT_LE(apart(by_map, expected), 1e-9);
}

TEST_P(Offers, AnInverseThatLeadsBack) {
  const auto model = trained();
  const Matrix x = model.design.apply(example().table).x;
  const auto back = [&] { return model.model->inverse(model.model->transform(x)); };
  if (!method().gives_coordinates())
    return judge_all(must_refuse("inverse", [&] { model.model->inverse(x); }, {"inverse", method().name()}));
  const auto refused = must_refuse("inverse", back, {"inverse", method().name()});
  if (refused.empty()) GTEST_SKIP() << "it has none";
  ASSERT_EQ(model.model->output_names(model.names().features).size(),
            static_cast<std::size_t>(model.model->output_width()));
  auto found =
      must_refuse("a column too many", [&] { model.model->inverse(Matrix::Zero(2, model.model->output_width() + 1)); });
  if (!(apart(back(), x) <= 1e-9 &&  // by default all components are kept
        apart(model.model->transform(back()), model.model->transform(x)) <= 1e-9))
    found.push_back({"the way back", "a row is not where it set out from"});
  judge_all(std::move(found));
}

// ---- Rows after rows ----

TEST_P(Offers, AnUpdateThatIsAModelOfAllRows) {
  const Example all = good(subject(), 480);
  const Table first = all.table.slice(0, 240), second = all.table.slice(240, 240);
  const auto model = train_on(method(), {first, all.formula});
  const MemoryTableStream more(second);
  const auto ask = [&] { return model.update(more, {}); };
  try {
    const TrainedModel updated = ask();
    EXPECT_TRUE(updated.model->certificate().holds()) << updated.model->certificate().message;
    const bool learns =
        !same_bits(train_on(method(), all).model->save(), model.model->save());  // squares of columns do not
    EXPECT_EQ(!same_bits(updated.model->save(), model.model->save()), learns);
    const MemoryTableStream before(first);
    const std::vector<const TableStream*> tables{&before, &more};
    const Verification found = decode(encode(updated), catalog()).verify(tables);
    EXPECT_TRUE(found.same_rows);
    EXPECT_TRUE(found.certificate.holds()) << found.certificate.message;
    const auto at_once = train_on(method(), all);
    const Prediction a = updated.predict(all.table, everything(updated)),
                     b = at_once.predict(all.table, everything(at_once));
    EXPECT_LE(apart(a.decision(), b.decision()), 0.1);  // the first rows are in it by what was kept of them
    Table narrow({}, "narrow");
    for (const Column& column : second.all())
      if (column.name != "x3") narrow.add(column);
    judge_all(must_refuse("no x3", [&] { model.update(MemoryTableStream(narrow), {}); }, {"x3"}));
  } catch (const Error&) { judge_all(must_refuse("update", ask, {"updated", method().name()})); }
}

TEST_P(Offers, DiagnosticsWithANumberForEachRow) {
  const auto model = trained();
  const DesignRows rows(model.design, model.design.train(example().table));
  BlockBuffer buffer;
  const auto found = model.model->diagnostics(rows.read(0, rows.count(), buffer));
  std::set<std::string> names;
  for (const NamedColumn& column : found) {
    EXPECT_TRUE(names.insert(column.name).second) << column.name << " stands there twice";
    ASSERT_EQ(column.values.size(), rows.count()) << column.name;
    EXPECT_FALSE(column.values.array().isInf().any()) << column.name;
    EXPECT_FALSE(column.values.array().isNaN().all()) << column.name;  // a row may have no part in it
  }
}

TEST_P(Offers, RowsDrawnByTheirSeedAloneWithTheColumnsOfTheFit) {
  const auto model = trained();
  const auto draw = [&](Index count, std::uint64_t seed) { return model.draw(count, seed); };
  const auto refused = must_refuse("draw", [&] { draw(5, 1); });
  if (refused.empty()) GTEST_SKIP() << "it draws none";
  const Table few = draw(5, 1), many = draw(50, 1), other = draw(5, 2);
  ASSERT_EQ(few.rows(), 5);
  for (const Column& column : few.all()) {
    ASSERT_TRUE(many.find(column.name)) << column.name;
    for (Index i = 0; i < 5; ++i) EXPECT_EQ(many.column(column.name).text(i), column.text(i)) << column.name;
  }
  EXPECT_NE(format_csv(few), format_csv(other));
  EXPECT_NO_THROW(train_on(method(), {draw(240, 3), example().formula}));  // a table that it could be fitted to
}

// ---- Shown again ----

TEST_P(Offers, EveryResultThatIsAnArrayAsATable) {
  const auto model = trained();
  const auto loaded = decode(encode(model), catalog());
  const Value results = model.results();
  EXPECT_TRUE(same_bits(loaded.results(), results));
  for (const auto& [name, value] : results.as_object()) {
    if (!value.is_array() || value.as_array().data.empty()) continue;
    const Table table = loaded.result_table(name);
    EXPECT_GT(table.rows(), 0) << name;
    EXPECT_EQ(format_csv(table), format_csv(model.result_table(name))) << name;
  }
  judge_all(must_refuse("no such result", [&] { loaded.result_table("no_such_result"); }, {"no_such_result"}));
}

}  // namespace
}  // namespace lemma::contract
