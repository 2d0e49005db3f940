// lemma/model/results_test.cpp: parts of predictions, results with the names of what they are about, commands of a family.
#include <gtest/gtest.h>
#include <lemma/data/csv.hpp>
#include <lemma/model/store.hpp>
#include <lemma/model/toy_methods_test.hpp>

namespace lemma {
namespace {

const Method* const kToys[] = {&method_of<Stretch>(), &method_of<SumOf>(), &method_of<Places>()};

TrainedModel trained(const Method& method, const std::string& how, const Table& table, TrainOptions options = {}) {
  return train({std::shared_ptr<const Method>(), &method}, Value::object(), formula(how), MemoryTableStream(table),
               options);
}

/// Four rows, of which the second has no x.
Table towns() { return parse_csv("town,x,z\nAa,3,1\nBe,,1\nCo,1,1\nDu,2,1\n", {}, "towns"); }

TrainedModel places(const std::string& id = "town") {
  TrainOptions options;
  options.id = id;
  options.design.missing = Missing::drop;
  return trained(method_of<Places>(), "~ .", towns(), options);
}

std::string message_of(auto&& work) {
  try {
    work();
  } catch (const Error& error) { return error.what(); }
  return "no error";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Results, OfRowsKeepTheirNumbersAndNamesAlsoWhenSomeWereDropped) {
  const TrainedModel model = places();
  EXPECT_EQ(model.design.features(), (std::vector<std::string>{"x", "z"}));  // the id is no feature
  EXPECT_EQ(format_csv(model.result_table("places")), "town,places\nAa,3\nCo,1\nDu,2\n");
  EXPECT_EQ(format_csv(model.result_table("order")), "number,order,town\n1,3,Co\n2,4,Du\n3,1,Aa\n");
  EXPECT_EQ(model.results().at("order").as_vector(), (Vector{{3, 4, 1}}));  // as the table numbers them
  const TrainedModel nameless = trained(method_of<Places>(), "~ x + z", towns().select(std::vector<Index>{0, 2, 3}));
  EXPECT_EQ(format_csv(nameless.result_table("places")), "row,places\n1,3\n2,1\n3,2\n");
}

TEST(Results, OfRowsKeepTheirNamesInTheFile) {
  const TrainedModel model = places(), again = decode(encode(model), kToys, "m");
  EXPECT_EQ(format_csv(again.result_table("order")), format_csv(model.result_table("order")));
}

TEST(Results, NamesThatAreNotOneForEachRowAreRefused) {
  Value names = places().row_names.save();
  EXPECT_NO_THROW(RowNames::load(names, 3));
  EXPECT_THROW(RowNames::load(names, 4), Error);
  names.set("numbers", Vector{{1, 2.5, 3}});
  EXPECT_THROW(RowNames::load(names, 3), Error);
}

TEST(Results, AnUnknownOneIsRefusedWithThoseThereAre) {
  const std::string said = message_of([] { places().result_table("place"); });
  EXPECT_TRUE(contains(said, "did you mean 'places'?")) << said;
  EXPECT_TRUE(contains(said, "order")) << said;
}

TEST(Parts, AModelAboutItsRowsSaysWhatItOffersInThePlaceOfPredictions) {
  const TrainedModel model = places();
  EXPECT_TRUE(model.model->parts().empty());
  const std::string said = message_of([&] { model.predict(towns()); });
  EXPECT_TRUE(contains(said, "lemma show MODEL places")) << said;
  EXPECT_TRUE(contains(said, "lemma first MODEL")) << said;
}

TEST(Parts, OneThatIsNotGivenIsRefusedWithThoseThatAre) {
  const TrainedModel model = trained(method_of<SumOf>(), "x ~ z", parse_csv("x,z\n1,2\n3,5\n", {}, "t"));
  PredictOptions options;
  options.what = {"valu"};
  const std::string said = message_of([&] { model.model.predict(Matrix{{1.0}}, options); });
  EXPECT_EQ(said, "sum_of gives no valu (did you mean 'value'?); it gives value");
  options.what = {"all"};
  EXPECT_EQ(model.model.predict(Matrix{{1.0}}, options).parts().size(), 1U);
}

TEST(Parts, AreStackedByTheirKind) {
  const PartInfo words{"words", "of the row"}, codes{"leaf", "of the row"};
  const auto one = [&](double number, int code, const std::string& word) {
    Prediction out;
    return out.add(kValuePart, Vector{{number}})
        .add(kCoordinatesPart, Matrix{{number, -number}}, {"a", "b"})
        .add(codes, Labels{code})
        .add(words, Strings{word});
  };
  const Prediction all = stack({one(1, 3, "x"), one(2, 4, "y")});
  EXPECT_EQ(all.value(), (Vector{{1, 2}}));
  EXPECT_EQ(all.coordinates(), (Matrix{{1, -1}, {2, -2}}));
  EXPECT_EQ(all.codes("leaf"), (Labels{3, 4}));
  EXPECT_EQ(all.texts("words"), (Strings{"x", "y"}));
  EXPECT_EQ(column_names(*all.find("coordinates"), {}), (std::vector<std::string>{"a", "b"}));
  EXPECT_THROW(all.matrix("value"), Error);
  EXPECT_EQ(to_json(to_value(all), -1),
            R"({"value":[1,2],"coordinates":[[1,-1],[2,-2]],"leaf":[3,4],"words":["x","y"]})");
}

TEST(Parts, HaveColumnsByClassFeatureOrNumber) {
  const Names names{{"x", "z"}, {"no", "yes"}, "y"};
  const auto called = [&](PartColumns how, const Matrix& data) {
    return column_names({{"part", "", Given::asked, how, "p"}, data}, names);
  };
  EXPECT_EQ(called(PartColumns::classes, Matrix::Zero(1, 2)), (std::vector<std::string>{"p_no", "p_yes"}));
  EXPECT_EQ(called(PartColumns::classes, Matrix::Zero(1, 1)), (std::vector<std::string>{"p"}));
  EXPECT_EQ(called(PartColumns::features, Matrix::Zero(1, 2)), (std::vector<std::string>{"p_x", "p_z"}));
  EXPECT_EQ(called(PartColumns::numbered, Matrix::Zero(1, 2)), (std::vector<std::string>{"p_1", "p_2"}));
}

TEST(Actions, SaySomethingOfTheTrainingRowsOrMakeAnotherModel) {
  const TrainedModel model = places();
  Value params = Value::object();
  params.set("count", 1);
  EXPECT_EQ(format_csv(std::get<Table>(model.act("first", params))), "town,cluster,place\nAa,2,3\nCo,1,1\nDu,2,2\n");
  const auto shorter = std::get<TrainedModel>(model.act("shorten", params));
  EXPECT_EQ(format_csv(shorter.result_table("order")), "number,order,town\n1,3,Co\n");
  params.set("count", 0);
  EXPECT_TRUE(contains(message_of([&] { model.act("first", params); }), "at least 1"));
  EXPECT_TRUE(contains(message_of([&] { model.act("cut", Value::object()); }), "no command 'cut'"));
}

}  // namespace
}  // namespace lemma
