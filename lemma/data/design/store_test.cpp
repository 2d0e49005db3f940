// lemma/data/design/store_test.cpp: a design written to a document and read back, and damaged ones.
#include <gtest/gtest.h>
#include <lemma/core/error.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/data/design.hpp>

namespace lemma {
namespace {

const Table& crabs() {
  static const Table t = dataset("crabs");
  return t;
}

std::vector<Design> designs() {
  const auto d = [](const char* text, DesignOptions options = {}) { return Design(formula(text), crabs(), options); };
  return {d("FL ~ ."),
          d("sp:sex ~ poly(RW, 3) + scale(CL)", {.classify = true}),
          d("factor(sp, ref = \"O\") ~ sex*log(FL) - 1",
            {.coding = Coding::sum, .missing = Missing::median, .classify = true}),
          d("~ factor(index):sex + I(FL / RW)", {.coding = Coding::one_hot, .missing = Missing::drop}),
          d("cbind(FL, RW) ~ CL + offset(log(CW))",
            {.missing = Missing::mode, .takes_offset = true, .takes_counts = true, .weights = "BD"}),
          d("FL ~ 0"),
          d("sp == \"B\" & FL > 15 ~ cut(RW, c(-Inf, 10, 12, Inf)) + I(sex == \"M\" | is.na(CL))", {.classify = true}),
          d("cut(FL, 3):sex ~ bs(RW, df = 5) + ns(log(CL), 3)*sp - 1", {.missing = Missing::median, .classify = true}),
          d("scale(FL) ~ I(scale(RW)^2) + (sex == \"M\") + factor(FL > 15) + bs(CW, knots = c(30, 40), degree = 2)",
            {.missing = Missing::mode})};
}

void expect_same(const DesignData& a, const DesignData& b) {
  EXPECT_EQ(a.x, b.x);
  EXPECT_EQ(a.y, b.y);
  EXPECT_EQ(a.label, b.label);
  EXPECT_EQ(a.weight, b.weight);
  EXPECT_EQ(a.offset, b.offset);
  EXPECT_EQ(a.kept, b.kept);
  EXPECT_EQ(a.notes, b.notes);
}

TEST(DesignStore, ReadsBackToTheSameDesign) {
  for (const auto& design : designs()) {
    const auto bytes = to_cbor(design.save());
    for (const Value& document :
         {design.save(), from_json(to_json(design.save())), from_cbor(bytes.data(), bytes.size())}) {
      const Design again = Design::load(document);
      EXPECT_EQ(again.features(), design.features());
      EXPECT_EQ(again.classes(), design.classes());
      EXPECT_EQ(again.target(), design.target());
      EXPECT_EQ(again.columns(), design.columns());
      EXPECT_EQ(again.response_columns(), design.response_columns());
      EXPECT_EQ(again.formula_text(), design.formula_text());
      EXPECT_EQ(again.intercept(), design.intercept());
      EXPECT_EQ(again.missing(), design.missing());
      expect_same(again.train(crabs()), design.train(crabs()));
      expect_same(again.apply(crabs()), design.apply(crabs()));
      EXPECT_EQ(again.save(), design.save());
    }
  }
}

Value damaged(const char* key, Value by) {
  Value d = designs()[1].save();
  d.set(key, std::move(by));
  return d;
}

Value damaged_variable(const char* key, Value by) {
  Value d = designs()[1].save();
  Value::List variables = d.at("variables").as_list();
  variables[0].set(key, std::move(by));
  d.set("variables", std::move(variables));
  return d;
}

TEST(DesignStore, ADamagedDocumentIsRefused) {
  const Value::Array one{{1}, {7}};
  EXPECT_NO_THROW(Design::load(designs()[1].save()));
  EXPECT_THROW(Design::load(Value()), Error);
  EXPECT_THROW(Design::load(damaged("coding", "helmert")), Error);
  EXPECT_THROW(Design::load(damaged("missing", "keep")), Error);
  EXPECT_THROW(Design::load(damaged("missing", "mean")), Error);  // nothing to fill in with
  EXPECT_THROW(Design::load(damaged("variables", Value::List{})), Error);
  EXPECT_THROW(Design::load(damaged("offsets", std::vector<std::string>{std::string(100000, '(')})), Error);
  EXPECT_THROW(Design::load(damaged("offsets", std::vector<std::string>{"1 + 1"})), Error);
  EXPECT_THROW(Design::load(damaged("fills", one)), Error);
  EXPECT_THROW(Design::load(damaged_variable("alpha", one)), Error);
  EXPECT_THROW(Design::load(damaged_variable("degree", 1e9)), Error);
  EXPECT_THROW(Design::load(damaged_variable("degree", -1)), Error);
  EXPECT_THROW(Design::load(damaged_variable("kind", "categorical")), Error);
  EXPECT_THROW(Design::load(damaged_variable("norm2", Value::Array{{4}, {1, 2, 3, -4}})), Error);
  const Value whole = designs()[1].save();
  for (const auto& [key, value] : whole.as_object()) {
    if (key == "unseen" || key == "cluster" || key == "complete") continue;  // older files do not say it
    Value::Object rest = whole.as_object();
    std::erase_if(rest, [&, k = key](const auto& pair) { return pair.first == k; });
    EXPECT_THROW(Design::load(Value(rest)), Error) << key << " left out";
  }
}

Value damaged_variable_of(std::size_t design, std::size_t variable, const char* key, Value by) {
  Value d = designs()[design].save();
  Value::List variables = d.at("variables").as_list();
  variables[variable].set(key, std::move(by));
  d.set("variables", std::move(variables));
  return d;
}

TEST(DesignStore, DamagedFunctionsAreRefused) {
  const auto refused = [](std::size_t design, std::size_t variable, const char* key, Value by) {
    EXPECT_THROW(Design::load(damaged_variable_of(design, variable, key, std::move(by))), Error) << key;
  };
  const Value::Array down{{2}, {9, 3}}, one{{1}, {7}};
  refused(6, 0, "value", "RW +");
  refused(6, 0, "value", "scale(RW)");  // without its constants
  refused(6, 1, "value", "1 > 2");      // no column
  Value cut = designs()[6].save().at("variables").as_list()[0].at("cut");
  cut.set("breaks", std::vector<std::string>{"-Inf", "10", "9", "Inf"});
  refused(6, 0, "cut", cut);
  cut.set("breaks", std::vector<std::string>{"1", "x", "9", "Inf"});
  refused(6, 0, "cut", cut);
  cut.set("breaks", std::vector<std::string>{"1", "2"});
  refused(6, 0, "cut", cut);
  refused(7, 0, "knots", down);
  refused(7, 0, "ends", one);
  refused(7, 0, "ends", down);
  refused(7, 0, "degree", 99);
  refused(7, 1, "degree", 2);  // natural splines are cubic
  Value words = designs()[8].save();
  words.set("word_fills", std::vector<std::string>{});
  EXPECT_THROW(Design::load(words), Error);
  Value none = designs()[6].save();  // the columns of words are numbers: what is compared with a text is not
  none.set("words", std::vector<std::string>{});
  const Design other = Design::load(none);
  EXPECT_THROW(other.apply(crabs()), Error);
}

TEST(DesignStore, TermsAndClassesMustPointAtSomething) {
  const auto with_term = [](std::vector<double> variables, const char* contrast) {
    Value::List contrasts(variables.size(), Value(contrast));
    Value term = Value::object();
    term.set("variables", Value::Array{{static_cast<Index>(variables.size())}, variables});
    term.set("contrasts", std::move(contrasts));
    return damaged("terms", Value::List{term});
  };
  EXPECT_NO_THROW(Design::load(with_term({0, 1}, "full")));
  EXPECT_THROW(Design::load(with_term({0, 0}, "full")), Error);
  EXPECT_THROW(Design::load(with_term({2}, "full")), Error);
  EXPECT_THROW(Design::load(with_term({-1}, "full")), Error);
  EXPECT_THROW(Design::load(with_term({0.5}, "full")), Error);
  EXPECT_THROW(Design::load(with_term({0}, "other")), Error);
  Value response = designs()[1].save().at("response");
  response.set("combinations", Value::Array{{2}, {0, 9}});
  EXPECT_THROW(Design::load(damaged("response", response)), Error);
  response.set("combinations", Value::Array{{3}, {0, 1, 0}});
  EXPECT_THROW(Design::load(damaged("response", response)), Error);
}

}  // namespace
}  // namespace lemma
