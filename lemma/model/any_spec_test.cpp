// lemma/model/any_spec_test.cpp: methods made of methods.
#include <gtest/gtest.h>
#include <lemma/model/pipeline.hpp>
#include <lemma/model/toy_methods_test.hpp>
#include <lemma/model/train.hpp>
#include <tests/message_of.hpp>

namespace lemma {

/// The mean of what some models of one method say, each fitted with a seed of its own.
struct Several {
  AnySpec base;
  int rounds = 2;

  static constexpr std::string_view name = "several";
  static constexpr MethodAbout about{.family = "model",
                                     .task = Task::regression,
                                     .summary = "one method several times",
                                     .objective = "the mean of its models",
                                     .example = "lemma fit 'several(sum_of)' iris 'petal_width ~ .'"};
  static constexpr auto params() {
    return Listing{param("base", &Several::base, "the method"),
                   param("rounds", &Several::rounds, "how often it is fitted", at_least(1))};
  }
  Needs needs(Needs) const { return base.method().needs(base.params()); }
};
static_assert(Described<Several>);

struct SeveralModel : Evidence {
  Several spec;
  std::vector<AnyModel> models;

  static constexpr auto fields() {
    return Listing{state("models", &SeveralModel::models, "the models, one for each round")};
  }
  Index width() const { return models.front()->width(); }
  void check() const { require(!models.empty(), "several: there are no models"); }
  Vector predict(const MatrixView& x) const {
    Vector sum = Vector::Zero(x.rows());
    for (const auto& model : models) sum += model.predict(x).value();
    return sum / static_cast<double>(models.size());
  }
  std::string summary(const Names&) const { return "several\n"; }
};
Certificate certify(const SeveralModel& model, const Rows& rows, const Execution& execution) {
  return model.models.front()->verify(rows, execution);
}
SeveralModel fit(const Valid<Several>& spec, const Rows& rows, const FitOptions& options) {
  SeveralModel model;
  model.spec = *spec;
  for (int i = 0; i < spec->rounds; ++i) model.models.push_back(spec->base.fit(rows, options));
  model.certificate = certify(model, rows, options.execution());
  return model;
}

std::span<const Method* const> catalog() {
  static const std::vector<const Method*> methods{&method_of<Stretch>(), &method_of<SumOf>(), &method_of<Several>()};
  return methods;
}

namespace {

struct Data {
  Matrix x{{1, 2}, {3, 4}, {5, 6}};
  std::vector<double> y{1, 2, 3};
  MemoryRows rows{x};
  Data() { rows.response(y); }
};

TEST(AnySpec, IsReadFromTheGrammarOfMethods) {
  const AnySpec spec = parse_method("several(sum_of(slope=0.5), rounds=3)").completed();
  EXPECT_EQ(spec.method().name(), "several");
  EXPECT_EQ(spec.params().at("base").at("kind").as_string(), "sum_of");
  EXPECT_EQ(spec.params().at("base").at("slope").as_double(), 0.5);
  EXPECT_EQ(spec.params().at("rounds").as_integer(), 3);
  EXPECT_EQ(spec.text(), "several(base=sum_of(slope=0.5), rounds=3)");
  EXPECT_EQ(parse_method(spec.text()).completed(), spec);
  EXPECT_EQ(parse_method("several(rounds=3, base=sum_of(slope=0.5))").completed(), spec);
}

TEST(AnySpec, PipelinesStandInsideAndOutside) {
  const AnySpec spec = parse_method("stretch | several(stretch(factor=3) | sum_of, rounds=1)").completed();
  EXPECT_EQ(spec.method().name(), "stretch | several");
  const Value& inside = spec.params().at("several").at("base");
  EXPECT_EQ(inside.at("kind").as_string(), "stretch | sum_of");
  EXPECT_EQ(inside.at("stretch").at("factor").as_double(), 3);
  const AnySpec twice = parse_method("several(several(sum_of, rounds=1), rounds=1)").completed();
  EXPECT_EQ(twice.params().at("base").at("base").at("kind").as_string(), "sum_of");
}

TEST(AnySpec, AMethodInsideIsWrittenByWhatDiffersFromItsDefaults) {
  for (const char* typed : {"several(base=sum_of(slope=0.5), rounds=3)", "several(base=several(base=sum_of), rounds=3)",
                            "several(base=stretch(factor=3) | sum_of)", "several(base=sum_of)"}) {
    const AnySpec spec = parse_method(typed).completed();
    EXPECT_EQ(spec.text(), typed);
    EXPECT_EQ(parse_method(spec.text()).completed(), spec);
  }
}

TEST(AnySpec, CppAndTextSayTheSame) {
  EXPECT_EQ(AnySpec(Several{.base = SumOf{.slope = 0.5}, .rounds = 3}),
            parse_method("several(sum_of(slope=0.5), rounds=3)").completed());
  const AnySpec piped(Several{.base = Stretch{.factor = 3} | SumOf{}});
  EXPECT_EQ(piped.params(), parse_method("several(stretch(factor=3) | sum_of)").completed().params());
}

TEST(AnySpec, ParametersOfTheMethodInsideGoByTheirPath) {
  Value params = parse_method("several(sum_of)").params();
  std::vector<std::string> names;
  for (const auto& info : params_of(method_of<Several>(), params)) names.push_back(info.name);
  EXPECT_EQ(names, (std::vector<std::string>{"base", "base.slope", "rounds"}));
  set_path(params, "base.slope", 4.0);
  EXPECT_EQ(method_of<Several>().check(params).at("base").at("slope").as_double(), 4);
  Value flags = Value::object();
  set_path(flags, "base", "sum_of");
  set_path(flags, "base.slope", 4.0);
  EXPECT_EQ(method_of<Several>().check(flags), method_of<Several>().check(params));
}

TEST(AnySpec, MistakesAreShownWhereTheyStand) {
  EXPECT_EQ(message_of([] { parse_method("several").completed(); }),
            "several: base is not chosen; it is a method, such as lda or svm(C=10)");
  EXPECT_EQ(message_of([] { parse_method("several(sum_off)"); }),
            "there is no method 'sum_off' (did you mean 'sum_of'?); 'lemma methods' lists all 3\n"
            "  several(sum_off)\n"
            "          ^");
  EXPECT_EQ(message_of([] { parse_method("several(sum_of(slop=1))"); }),
            "sum_of has no parameter 'slop' (did you mean 'slope'?)\n"
            "  several(sum_of(slop=1))\n"
            "                 ^");
  EXPECT_EQ(message_of([] { parse_method("several(sum_of, stretch)"); }),
            "expected '='\n"
            "  several(sum_of, stretch)\n"
            "                         ^");
  EXPECT_NE(message_of([] { parse_method("stretch(sum_of)"); }).find("expected '='"), std::string::npos);
  std::string deep;
  for (int i = 0; i < 5000; ++i) deep += "several(";
  EXPECT_EQ(message_of([&] { parse_method(deep); }), "a method has at most 16 methods inside each other");
  std::string chain;
  for (int i = 0; i < 5000; ++i) chain += "stretch|";
  EXPECT_EQ(message_of([&] { parse_method(chain); }), "a pipeline has at most 64 steps");
}

TEST(AnySpec, AModelInsideAModelComesBackFromItsDocument) {
  const Data data;
  const AnySpec spec = parse_method("several(stretch(factor=3) | sum_of(slope=0.5), rounds=3)").completed();
  const AnyModel model = spec.fit(data.rows, {});
  const AnyModel again = spec.method().load(model->params(), model->save(), {});
  EXPECT_EQ(again.predict(data.x).value(), model.predict(data.x).value());
  EXPECT_EQ(again->save(), model->save());
  Value state = model->save();
  state.set("models", Value::List{});
  EXPECT_THROW(spec.method().load(model->params(), state, {}), Error);
}

TEST(AnySpec, ACompositeNeedsWhatItsMethodNeeds) {
  const AnySpec spec = parse_method("several(sum_of)").completed();
  EXPECT_TRUE(spec.method().needs(spec.params()).numbers);
  EXPECT_FALSE(spec.method().needs(spec.params()).classes);
}

}  // namespace
}  // namespace lemma
