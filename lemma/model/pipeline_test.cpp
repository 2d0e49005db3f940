// lemma/model/pipeline_test.cpp
#include <gtest/gtest.h>
#include <lemma/model/pipeline.hpp>
#include <lemma/model/toy_methods_test.hpp>
#include <lemma/model/train.hpp>
#include <tests/copied_rows.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

const std::vector<const Method*> kMethods{&method_of<Stretch>(), &method_of<SumOf>()};

struct Data {
  Matrix x{{1, 2}, {3, 4}, {5, 6}};
  std::vector<double> y{1, 2, 3};
  MemoryRows rows{x};
  Data() { rows.response(y); }
};

TEST(Pipeline, EachStepIsFittedOnWhatTheStepsBeforeItMake) {
  const Data data;
  const Pipeline pipeline = Stretch{.factor = 10} | SumOf{.slope = 0.5};
  const AnyModel model = pipeline.fit(Value::object(), data.rows, {});
  const Prediction p = model.predict(data.x);
  // z = 10 x, so 0.5 Σz = 15, 35, 55 and the intercept is mean(1−15, 2−35, 3−55) = −33
  EXPECT_DOUBLE_EQ(p.value()(0), 15 - 33);
  EXPECT_DOUBLE_EQ(p.value()(2), 55 - 33);
}

TEST(Pipeline, TransformedRowsAreKeptWhereTheRowsLieInMemory) {
  const Data data;
  const AnyModel step = method_of<Stretch>().fit(Value::object(), data.rows, {});
  TransformedRows kept(data.rows, step);
  ASSERT_NE(kept.matrix(), nullptr);
  EXPECT_EQ(*kept.matrix(), 2 * data.x);
  BlockBuffer a, b;
  const Matrix whole = kept.read(1, 2, a).x;
  kept.forget();
  EXPECT_EQ(kept.matrix(), nullptr);
  const Block again = kept.read(1, 2, b);
  EXPECT_EQ(again.x, whole);
  EXPECT_EQ(again.y[1], 3);
  const CopiedRows stream(data.rows);
  EXPECT_EQ(TransformedRows(stream, step).matrix(), nullptr);
}

TEST(Pipeline, CoefficientsAreTracedBackToTheUsersColumns) {
  const Data data;
  const AnyModel model = (Stretch{.factor = 10} | SumOf{.slope = 0.5}).fit(Value::object(), data.rows, {});
  const Value results = model->results({{"a", "b"}, {}, "y"});
  EXPECT_EQ(results.at("in_users_columns").at("coefficients").as_vector(), (Vector{{5.0, 5.0}}));
  EXPECT_EQ(results.at("features").as_strings(), (std::vector<std::string>{"stretched a", "stretched b"}));
}

TEST(Pipeline, ParametersBelongToTheirStepAndTheSecondOfAKindIsNumbered) {
  const Pipeline pipeline = Stretch{} | Stretch{.factor = 3} | SumOf{};
  std::vector<std::string> names;
  for (const auto& info : pipeline.params()) names.push_back(info.name);
  EXPECT_EQ(names, (std::vector<std::string>{"stretch.factor", "stretch2.factor", "sum_of.slope"}));
  Value params = Value::object();
  set_path(params, "stretch.factor", Value(7));
  const Value checked = pipeline.check(params);
  EXPECT_EQ(checked.at("stretch").at("factor").as_double(), 7);
  EXPECT_EQ(checked.at("stretch2").at("factor").as_double(), 3);
}

TEST(Pipeline, ANewParameterUnderAWrongStepIsRefused) {
  Value params = Value::object();
  set_path(params, "strech.factor", Value(7));
  EXPECT_EQ(message_of([&] { (Stretch{} | SumOf{}).check(params); }),
            "stretch | sum_of: there is no parameter 'strech' (did you mean 'stretch'?); it has stretch, sum_of");
}

TEST(Pipeline, OnlyTheLastStepMayDoSomethingElseThanTransform) {
  EXPECT_EQ(message_of([] { SumOf{} | Stretch{}; }), "'sum_of' does not transform rows, so no step can follow it");
}

TEST(Pipeline, SavedAndLoadedItPredictsTheSameBits) {
  const Data data;
  const Pipeline pipeline = Stretch{.factor = 0.3} | SumOf{.slope = 0.7};
  const AnyModel model = pipeline.fit(Value::object(), data.rows, {});
  const AnyModel again = pipeline.load(model->params(), model->save(), {});
  EXPECT_EQ(again.predict(data.x).value(), model.predict(data.x).value());
  EXPECT_TRUE(again->verify(data.rows, {}).holds());
  Value cut = model->save();
  cut.set("steps", Value(Value::List{}));
  EXPECT_EQ(message_of([&] { pipeline.load(model->params(), cut, {}); }),
            "the pipeline has 2 steps and the file holds 0");
}

TEST(Pipeline, InverseGoesBackThroughEveryStep) {
  const Data data;
  const AnyModel model = (Stretch{.factor = 2} | Stretch{.factor = 8}).fit(Value::object(), data.rows, {});
  EXPECT_EQ(model->inverse(model->transform(data.x)), data.x);
}

TEST(ParsePipeline, ReadsNamesAndParameters) {
  const auto steps = parse_pipeline(" stretch( factor = 5 )|stretch | sum_of(slope=-1e-3)", kMethods);
  ASSERT_EQ(steps.size(), 3U);
  EXPECT_EQ(steps[0].params().at("factor").as_double(), 5);
  EXPECT_TRUE(steps[1].params().as_object().empty());
  EXPECT_EQ(steps[2].params().at("slope").as_double(), -1e-3);
}

TEST(ParsePipeline, AnErrorPointsAtThePlace) {
  EXPECT_EQ(message_of([] { parse_pipeline("stretch | sum_off", kMethods); }),
            "there is no method 'sum_off' (did you mean 'sum_of'?); 'lemma methods' lists all 2\n  stretch | sum_off\n "
            "           ^");
  EXPECT_EQ(message_of([] { parse_pipeline("stretch(factr=5)", kMethods); }),
            "stretch has no parameter 'factr' (did you mean 'factor'?)\n  stretch(factr=5)\n          ^");
  EXPECT_EQ(message_of([] { parse_pipeline("stretch(factor 5)", kMethods); }),
            "expected '='\n  stretch(factor 5)\n                 ^");
  EXPECT_EQ(message_of([] { parse_pipeline("stretch |", kMethods); }),
            "expected the name of a method\n  stretch |\n           ^");
  EXPECT_EQ(message_of([] { parse_pipeline("strech", kMethods); }),
            "there is no method 'strech' (did you mean 'stretch'?); 'lemma methods' lists all 2");
  EXPECT_EQ(message_of([] { parse_pipeline("stretch) x", kMethods); }),
            "expected '|' or the end\n  stretch) x\n         ^");
}

TEST(Pipeline, OfMoreStepsThanAnyoneWritesIsRefusedAtOnce) {
  std::string steps = "stretch";
  for (std::size_t i = 1; i < kMostSteps; ++i) steps += "|stretch";
  EXPECT_EQ(parse_pipeline(steps, kMethods).size(), kMostSteps);
  EXPECT_EQ(message_of([&] { parse_pipeline(steps + "|stretch", kMethods); }), "a pipeline has at most 64 steps");
  std::string many = steps;
  for (int i = 0; i < 100000; ++i) many += "|stretch";
  EXPECT_EQ(message_of([&] { parse_pipeline(many, kMethods); }),
            "the method is a text of 800511 bytes, and at most 65536 are read");
  EXPECT_EQ(message_of([&] { Pipeline(std::vector<AnySpec>(65, AnySpec(Stretch{}))); }),
            "a pipeline has at most 64 steps");
}

TEST(Method, WhatItCannotUseIsRefusedBeforeAnyWork) {
  const Matrix x{{1}, {2}};
  const Method& sum_of = method_of<SumOf>();
  EXPECT_EQ(message_of([&] { sum_of.fit(Value::object(), MemoryRows(x), {}); }),
            "sum_of: there is no response; write the formula as 'response ~ terms'");
  const Matrix nothing(0, 1);
  EXPECT_EQ(message_of([&] { sum_of.fit(Value::object(), MemoryRows(nothing), {}); }),
            "sum_of: there are no rows to learn from");
  const std::vector<int> codes{0, 1};
  MemoryRows classes(x);
  classes.labels(codes, {"a", "b"});
  EXPECT_EQ(message_of([&] { sum_of.fit(Value::object(), classes, {}); }),
            "sum_of predicts numbers, and the response is categorical; use a classification method");
}

TEST(Method, PredictingAnotherWidthNamesBoth) {
  const Data data;
  const AnyModel model = method_of<SumOf>().fit(Value::object(), data.rows, {});
  EXPECT_EQ(message_of([&] { model.predict(Matrix::Zero(1, 3)); }), "sum_of was fitted on 2 columns and is given 3");
}

TEST(Method, ADamagedModelFailsItsCertificate) {
  const Data data;
  const AnyModel model = method_of<SumOf>().fit(Value::object(), data.rows, {});
  Value state = model->save();
  state.set("intercept", Value(state.at("intercept").as_double() + 1e-6));
  EXPECT_FALSE(method_of<SumOf>().load(model->params(), state, {})->verify(data.rows, {}).holds());
}

}  // namespace
}  // namespace lemma
