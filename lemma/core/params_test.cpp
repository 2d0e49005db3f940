// lemma/core/params_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/param_info.hpp>
#include <lemma/core/params.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

enum class Rule { first, best };
constexpr auto names_of(Rule) { return std::array<std::string_view, 2>{"first", "best"}; }

struct Rbf {
  double gamma = 1;
  static constexpr std::string_view name = "rbf";
  static constexpr auto params() {
    return Listing{param("gamma", &Rbf::gamma, "inverse width", above(0), Step::logarithmic)};
  }
};
struct Poly {
  int degree = 2;
  double shift = 0;
  static constexpr std::string_view name = "poly";
  static constexpr auto params() {
    return Listing{param("degree", &Poly::degree, "power", between(1, 9)),
                   param("shift", &Poly::shift, "added before the power")};
  }
};
struct Toy {
  double C = 1;
  std::optional<int> steps;
  bool scale = true;
  Rule rule = Rule::best;
  std::variant<Rbf, Poly> kernel;
  std::variant<Rule, Matrix> start;
  std::vector<double> prior;

  static constexpr std::string_view name = "toy";
  static constexpr auto params() {
    return Listing{param("C", &Toy::C, "cost", within(0, 1e9)),
                   param("steps", &Toy::steps, "how many", at_least(1)),
                   param("scale", &Toy::scale, "scale first"),
                   param("rule", &Toy::rule, "which one"),
                   param("kernel", &Toy::kernel, "kernel"),
                   param("start", &Toy::start, "where to begin"),
                   param("prior", &Toy::prior, "class probabilities", between(0, 1))};
  }
  void check() const {
    if (steps && *steps > 5 && !scale) throw Error("toy: more than 5 steps need scale");
  }
};
static_assert(Described<Toy>);

struct Forgetful {
  double a = 0, b = 0;
  [[maybe_unused]] static constexpr std::string_view name = "forgetful";
  static constexpr auto params() { return Listing{param("a", &Forgetful::a, "described")}; }
};
static_assert(!Described<Forgetful>);

TEST(Params, AValueComesBackAsTheSpecItWasWrittenFrom) {
  Toy toy{.C = 3,
          .steps = 4,
          .scale = false,
          .rule = Rule::first,
          .kernel = Poly{.degree = 3},
          .start = Matrix{{1, 2}, {3, 4}},
          .prior = {0.5, 0.5}};
  const Value value = to_value(toy);
  EXPECT_EQ(to_value(from_value<Toy>(value)), value);
  EXPECT_EQ(std::get<Poly>(from_value<Toy>(value).kernel).degree, 3);
  EXPECT_EQ(value.at("kernel").at("kind").as_string(), "poly");
}

TEST(Params, AnEmptyOptionalIsNullBothWays) {
  EXPECT_TRUE(to_value(Toy{}).at("steps").is_null());
  EXPECT_FALSE(from_value<Toy>(to_value(Toy{})).steps.has_value());
}

TEST(Params, AValueOutsideItsRangeIsNamedWithWhatWouldBeRight) {
  EXPECT_EQ(message_of([] { Valid<Toy>(Toy{.C = 0}); }), "toy: C is 0, must be above 0 and below 1000000000");
  EXPECT_EQ(message_of([] { Valid<Toy>(Toy{.C = std::nan("")}); }),
            "toy: C is nan, must be above 0 and below 1000000000");
  EXPECT_EQ(message_of([] { Valid<Toy>(Toy{.steps = 0}); }), "toy: steps is 0, must be at least 1");
  EXPECT_EQ(message_of([] { Valid<Toy>(Toy{.kernel = Rbf{.gamma = -1}}); }),
            "toy: kernel.gamma is -1, must be above 0");
  EXPECT_EQ(message_of([] { Valid<Toy>(Toy{.steps = 9, .scale = false}); }), "toy: more than 5 steps need scale");
}

TEST(Params, UnknownNamesGetASuggestion) {
  Value v = Value::object();
  v.set("kernal", Value("rbf"));
  EXPECT_EQ(message_of([&] { from_value<Toy>(v); }),
            "toy: there is no parameter 'kernal' (did you mean 'kernel'?); it has C, steps, scale, rule, kernel, "
            "start, prior");
  Value w = Value::object();
  w.set("kernel", Value("rfb"));
  EXPECT_EQ(message_of([&] { from_value<Toy>(w); }),
            "toy: kernel is 'rfb', must be one of rbf, poly (did you mean 'rbf'?)");
}

TEST(Params, WrongTypesAreRefused) {
  for (const auto* name : {"C", "steps", "scale", "rule", "kernel", "prior"}) {
    Value v = Value::object();
    v.set(name, Value(Value::Object{{"x", Value(1)}}));
    EXPECT_NE(message_of([&] { from_value<Toy>(v); }), "no error") << name;
  }
  Value half = Value::object();
  half.set("steps", Value(2.5));
  EXPECT_EQ(message_of([&] { from_value<Toy>(half); }), "toy: steps is 2.5, must be a whole number");
}

TEST(Params, NestedFlagsSetThePartsOfAnAlternative) {
  Value v = Value::object();
  set_path(v, "kernel.degree", Value(5));
  set_path(v, "kernel", Value("poly"));
  EXPECT_EQ(std::get<Poly>(from_value<Toy>(v).kernel).degree, 5);
  Value w = Value::object();
  set_path(w, "kernel", Value("poly"));
  set_path(w, "kernel.degree", Value(6));
  EXPECT_EQ(std::get<Poly>(from_value<Toy>(w).kernel).degree, 6);
  Value gamma = Value::object();
  set_path(gamma, "kernel.gamma", Value(0.25));  // the default kind has it
  EXPECT_EQ(std::get<Rbf>(from_value<Toy>(gamma).kernel).gamma, 0.25);
}

TEST(Params, InfosDescribeEachParameterAndThePartsOfEachAlternative) {
  const auto infos = param_infos<Toy>();
  std::vector<std::string> names;
  names.reserve(infos.size());
  for (const auto& info : infos) names.push_back(info.name);
  EXPECT_EQ(names, (std::vector<std::string>{"C", "steps", "scale", "rule", "kernel", "kernel.gamma", "kernel.degree",
                                             "kernel.shift", "start", "prior"}));
  EXPECT_EQ(infos[5].only_when, "kernel is rbf");
  EXPECT_EQ(infos[5].step, Step::logarithmic);
  EXPECT_EQ(infos[1].initial_text(), "chosen by the method");
  EXPECT_EQ(infos[1].allowed, "a whole number, at least 1");
  EXPECT_EQ(infos[4].initial_text(), "rbf");
}

TEST(Params, TypedTextBecomesTheValueTheParameterTakes) {
  const auto infos = param_infos<Toy>();
  EXPECT_EQ(parse_param(infos[0], "2.5", "toy"), Value(2.5));
  EXPECT_EQ(parse_param(infos[1], "3", "toy"), Value(3));
  EXPECT_TRUE(parse_param(infos[1], "auto", "toy").is_null());
  EXPECT_EQ(parse_param(infos[2], "false", "toy"), Value(false));
  EXPECT_EQ(parse_param(infos[9], "0.2,0.8", "toy"), Value(Value::Array{{2}, {0.2, 0.8}}));
  EXPECT_EQ(parse_param(infos[9], "1:3,8", "toy"), Value(Value::Array{{4}, {1, 2, 3, 8}}));
  EXPECT_EQ(parse_param(infos[9], "2.5:0", "toy"), Value(Value::Array{{3}, {2.5, 1.5, 0.5}}));
  for (const char* none : {"1:", ":3", "1:2:3", "1:x", "1:1e9", "nan:3", "1:inf"})
    EXPECT_THROW(parse_param(infos[9], none, "toy"), Error) << none;
  EXPECT_EQ(message_of([&] { parse_param(infos[0], "2,5", "toy"); }),
            "toy: C is '2,5', must be a number, above 0 and below 1000000000");
  EXPECT_EQ(message_of([&] { parse_param(infos[2], "maybe", "toy"); }), "toy: scale is 'maybe', must be true or false");
}

TEST(Nearest, FindsTheLikeliestMisspelling) {
  const std::vector<std::string> names{"species", "sepal_length", "sepal_width"};
  EXPECT_EQ(nearest("specis", names), "species");
  EXPECT_EQ(nearest("Species", names), "species");
  EXPECT_EQ(nearest("spal_width", names), "sepal_width");
  EXPECT_EQ(nearest("weight", names), "");
  EXPECT_EQ(did_you_mean("lad", {"lda", "ols"}), " (did you mean 'lda'?)");
}

struct Renamed {
  int max_iterations = 10;
  static constexpr std::string_view name = "renamed";
  static constexpr auto params() {
    return Listing{formerly("sweeps", param("max_iterations", &Renamed::max_iterations, "at most", at_least(1)))};
  }
};

TEST(Params, AFormerNameIsReadAndTheNewOneIsWritten) {
  EXPECT_EQ(from_value<Renamed>(Value::Object{{"sweeps", 7}}).max_iterations, 7);
  EXPECT_EQ(from_value<Renamed>(Value::Object{{"max_iterations", 8}}).max_iterations, 8);
  EXPECT_FALSE(to_value(Renamed{}).find("sweeps"));
  EXPECT_EQ(param_infos<Renamed>().at(0).name, "max_iterations");
  EXPECT_NE(message_of([] {
              Valid<Renamed>(from_value<Renamed>(Value::Object{{"sweeps", 0}}));
            }).find("max_iterations"),
            std::string::npos);
}

TEST(Params, TruthIsTypedAsPeopleTypeIt) {
  const auto infos = param_infos<Toy>();
  const auto& scale = infos.at(2);
  for (const char* yes : {"true", "yes", "on", "1"}) EXPECT_TRUE(parse_param(scale, yes, "toy").as_bool()) << yes;
  for (const char* no : {"false", "no", "off", "0"}) EXPECT_FALSE(parse_param(scale, no, "toy").as_bool()) << no;
  EXPECT_NE(message_of([&] { parse_param(scale, "maybe", "toy"); }).find("toy: scale is 'maybe'"), std::string::npos);
}

TEST(Params, NoNumbersAreTypedAsAuto) {
  const auto infos = param_infos<Toy>();
  EXPECT_EQ(infos.back().name, "prior");
  EXPECT_TRUE(parse_param(infos.back(), "auto", "toy").as_array().data.empty());
}

}  // namespace
}  // namespace lemma
