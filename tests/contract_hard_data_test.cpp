// tests/contract_hard_data_test.cpp: wrong widths, unknown levels, missing, infinite, huge, tiny, constant and too few
// numbers get an answer or a reason, from every method of the catalog.
#include <gtest/gtest.h>
#include <tests/contract/hard_data.hpp>
#include <tests/contract/subject.hpp>

namespace lemma::contract {
namespace {

std::string words_as_name(std::string text) {
  std::replace(text.begin(), text.end(), ' ', '_');
  return text;
}

using Case = std::tuple<std::string, std::string>;  // method, situation
class HardData : public testing::TestWithParam<Case> {};
std::string case_name(const testing::TestParamInfo<Case>& tested) {
  return std::get<0>(tested.param) + "_" + words_as_name(std::get<1>(tested.param));
}
INSTANTIATE_TEST_SUITE_P(Methods, HardData,
                         testing::Combine(testing::ValuesIn(subject_names()), testing::ValuesIn(situations())),
                         case_name);

TEST_P(HardData, GetsAnAnswerOrAReason) {
  const auto& [name, situation] = GetParam();
  const Subject subject = find_subject(name);
  const Example example{hard_table(situation), formula_for(subject)};
  Complaints all;
  append(all, may_refuse(situation, [&, &about = situation] {
           append(all, not_an_answer(train_on(*subject.method, example), example.table, about));
         }));
  judge(name, all, situation);
}

/// A message about one bad number says in which column.
class BadNumber : public HardData {};
INSTANTIATE_TEST_SUITE_P(Methods, BadNumber,
                         testing::Combine(testing::ValuesIn(subject_names()),
                                          testing::Values("a missing value", "an infinity", "a missing response",
                                                          "an infinite response")),
                         case_name);

TEST_P(BadNumber, IsRefusedByTheNameOfItsColumn) {
  const auto& [name, situation] = GetParam();
  const Subject subject = find_subject(name);
  const bool in_feature = situation == "a missing value" || situation == "an infinity";
  const bool used = in_feature || subject.response() == "y";
  const bool its_business =  // of rows without a response only those are left out, and a note says so
      subject.about().takes_missing && (situation == "a missing value" || situation == "a missing response");
  const auto work = [&, &bad = situation] { train_on(*subject.method, {hard_table(bad), formula_for(subject)}); };
  judge(name,
        used && !its_business ? must_refuse(situation, work, {in_feature ? "x3" : "y"}) : must_accept(situation, work),
        situation);
}

class NewRows : public SubjectTest {
 protected:
  Example with_factor() const { return {groups(240), formula_for(subject(), "x1 + x2 + g")}; }
  static Table without(const Table& table, const std::string& name) {
    Table out({}, table.source());
    for (const auto& column : table.all())
      if (column.name != name) out.add(column);
    return out;
  }
  static Table replaced(const Table& table, Column column) {
    Table out = without(table, column.name);
    out.add(std::move(column));
    return out;
  }
};
INSTANTIATE_TEST_SUITE_P(Methods, NewRows, testing::ValuesIn(subject_names()), name_of_subject);

TEST_P(NewRows, OfTheWrongWidthAreRefused) {
  const auto& trained = fitted();
  Complaints all;
  for (const Index width : {Index{0}, kColumns - 1, kColumns + 1})
    append(all, must_refuse(fmt::format("{} columns", width), [&] { trained.model.predict(Matrix::Zero(3, width)); },
                            {std::to_string(width), std::to_string(kColumns)}));
  judge_all(all);
}

TEST_P(NewRows, WithoutAColumnAreRefusedByItsName) {
  const Example example = good(subject());
  const auto& trained = fitted();
  judge_all(must_refuse("no x3", [&] { trained.predict(without(example.table, "x3")); }, {"x3"}));
}

TEST_P(NewRows, WithLabelsForNumbersAreRefusedByTheColumn) {
  const Example example = good(subject());
  const auto& trained = fitted();
  const Table wrong = replaced(example.table, categorical("x3", std::vector<std::string>(240, "many")));
  judge_all(must_refuse("labels in x3", [&] { trained.predict(wrong); }, {"x3"}));
}

TEST_P(NewRows, WithAnUnknownLevelAreRefusedByItsName) {
  const Example example = with_factor();
  const auto trained = train_on(method(), example);
  std::vector<std::string> levels(240, "p");
  levels[7] = "quince";
  const auto work = [&] { trained.predict(replaced(example.table, categorical("g", levels))); };
  const bool is_missing = method().needs(Value::object()).unseen == Unseen::missing;  // to the method, which takes that
  judge_all(is_missing ? must_accept("level quince", work) : must_refuse("level quince", work, {"g", "quince"}));
}

TEST_P(NewRows, MayComeInAnyColumnOrderAndWithoutTheResponse) {
  const Example example = with_factor();
  const auto trained = train_on(method(), example);
  if (says_nothing_of_rows(trained)) GTEST_SKIP() << "it is about the rows of the fit alone";
  Table turned({}, "turned");
  for (auto column = example.table.all().rbegin(); column != example.table.all().rend(); ++column)
    if (column->name != "y" && column->name != "class" && column->name != "side" && column->name != "share")
      turned.add(*column);
  EXPECT_TRUE(same_bits(all_said(trained, turned), all_said(trained, example.table)));
}

TEST_P(NewRows, ArePredictedOneByOneAsTheyAreTogether) {
  const Example example = good(subject());
  const auto& trained = fitted();
  const Value together = all_said(trained, example.table.slice(40, 1)), all = all_said(trained, example.table);
  Complaints complaints;
  for (const auto& [key, value] : together.as_object()) {
    if (value.is_list()) {  // texts
      if (!(value.as_list()[0] == all.at(key).as_list()[40])) complaints.push_back({key, "is another text alone"});
      continue;
    }
    const auto &one = value.as_array().data, &many = all.at(key).as_array().data;
    for (std::size_t j = 0; j < one.size(); ++j)
      if (std::abs(one[j] - many[40 * one.size() + j]) > 1e-12 * std::max(1.0, std::abs(one[j])))
        complaints.push_back({key, fmt::format("is {} alone and {} among others", one[j], many[40 * one.size() + j])});
  }
  judge_all(complaints);
}

TEST_P(NewRows, MayBeNone) {
  const Example example = good(subject());
  const auto& trained = fitted();
  judge_all(may_refuse("no rows", [&] {
    const Prediction none = trained.predict(example.table.slice(0, 0));
    EXPECT_EQ(none.value().size() + none.coordinates().rows() + static_cast<Index>(none.label().size()), 0);
  }));
}

TEST_P(NewRows, ThatAreMissingOrInfiniteDoNoHarm) {
  const auto& trained = fitted();
  Complaints all;
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), 1e308, 5e-324})
    append(all, may_refuse(fmt::format("{}", bad), [&] {
             const Prediction prediction = trained.model.predict(Matrix::Constant(2, kColumns, bad));
             for (const int label : prediction.label()) EXPECT_GE(label, -1);
           }));
  judge_all(all);
}

}  // namespace
}  // namespace lemma::contract
