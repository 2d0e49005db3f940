// lemma/model/several_test.cpp: several responses, from the formula to the file: cbind(y1, y2) ~ …
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/data/csv.hpp>
#include <lemma/data/stream/rows.hpp>
#include <lemma/model/fit.hpp>
#include <lemma/model/pipeline.hpp>
#include <lemma/model/store.hpp>
#include <lemma/model/toy_methods_test.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

const Method* const kToys[] = {&method_of<Stretch>(), &method_of<SumOf>(), &method_of<Middles>()};

Table flowers() { return parse_csv("height,width,kind,x\n1,10,a,5\n2,20,b,6\n3,60,b,7\n", {}, "flowers.csv"); }

TrainedModel trained(const Method& method, const std::string& how, const TableStream& data, TrainOptions options = {}) {
  return train({std::shared_ptr<const Method>(), &method}, Value::object(), formula(how), data, options);
}
TrainedModel trained(const std::string& how, const Table& table, TrainOptions options = {}) {
  return trained(method_of<Middles>(), how, MemoryTableStream(table), options);
}

/// A stream that admits to no table in memory.
class Piecewise final : public TableStream {
 public:
  explicit Piecewise(const Table& table) : inner_(table) {}
  Index rows() const override { return inner_.rows(); }
  const Table& schema() const override { return inner_.schema(); }
  Table read(Index first, Index count) const override { return inner_.read(first, count); }
  bool parses() const override { return true; }

 private:
  MemoryTableStream inner_;
};

std::string written(const TrainedModel& model, const Table& table) {
  const Prediction said = model.predict(table);
  std::vector<Column> columns;
  for (const auto& part : said.parts())
    for (auto& column : model.columns_of(part)) columns.push_back(std::move(column));
  return format_csv(Table(std::move(columns)));
}

TEST(SeveralResponses, ReachTheMethodAsNumbersAndClassesByTheirTypes) {
  const TrainedModel model = trained("cbind(height, log(width), kind) ~ x", flowers());
  EXPECT_EQ(model.design.responses(), (std::vector<ResponseColumn>{{"height"}, {"log(width)"}, {"kind", {"a", "b"}}}));
  EXPECT_EQ(model.design.target(), "cbind(height, log(width), kind)");
  EXPECT_EQ(model.design.features(), (std::vector<std::string>{"x"}));
  EXPECT_EQ(trained("cbind(height, kind) ~ .", flowers()).design.features(), (std::vector<std::string>{"width", "x"}));
  const Vector middles = model_cast<MiddlesModel>(model.model)->middles;
  EXPECT_DOUBLE_EQ(middles(0), 2);
  EXPECT_DOUBLE_EQ(middles(1), std::log(12000.0) / 3);
  EXPECT_EQ(middles(2), 1);
  EXPECT_EQ(model.names().responses, (std::vector<std::string>{"height", "log(width)", "kind"}));
  EXPECT_EQ(trained("cbind(factor(height), width > 15) ~ x", flowers()).design.responses(),
            (std::vector<ResponseColumn>{{"factor(height)", {"1", "2", "3"}}, {"width > 15", {"FALSE", "TRUE"}}}));
}

TEST(SeveralResponses, AreWrittenUnderTheirNamesAndClassesByTheirs) {
  const TrainedModel model = trained("cbind(height, kind) ~ x", flowers());
  EXPECT_EQ(written(model, parse_csv("x\n1\n2\n", {}, "new")), "prediction_height,prediction_kind\n2,b\n2,b\n");
}

TEST(SeveralResponses, AreKeptInFiles) {
  const TrainedModel model = trained("cbind(height, kind, width) ~ x", flowers()),
                     again = decode(encode(model), kToys, "m");
  EXPECT_EQ(again.design.responses(), model.design.responses());
  EXPECT_EQ(written(again, flowers()), written(model, flowers()));
  TrainedModel other = model;
  other.design = trained("cbind(height, kind) ~ x", flowers()).design;
  EXPECT_EQ(message_of([&] { encode(other); }), "the design has 2 responses and the model 3");
  other.design = trained("cbind(height, width, kind) ~ x", flowers()).design;
  EXPECT_EQ(message_of([&] { encode(other); }), "response 2 of the design has 0 classes and that of the model 2");
}

TEST(SeveralResponses, BelongToTheRowsThatTrainedTheModel) {
  const TrainedModel model = trained("cbind(height, kind) ~ x", flowers());
  EXPECT_TRUE(model.verify(MemoryTableStream(flowers())).same_rows);
  const Table others = parse_csv("height,kind,x\n1,a,5\n2,b,6\n9,b,7\n", {}, "others");
  EXPECT_FALSE(model.verify(MemoryTableStream(others)).same_rows);
  const Table relabelled = parse_csv("height,kind,x\n1,b,5\n2,b,6\n3,a,7\n", {}, "relabelled");
  EXPECT_FALSE(model.verify(MemoryTableStream(relabelled)).same_rows);
}

TEST(SeveralResponses, RowsWithAMissingOneAreDroppedOrCounted) {
  const Table gaps = parse_csv("height,kind,x\n1,a,5\n,b,6\n3,,7\n5,b,8\n", {}, "gaps");
  EXPECT_EQ(message_of([&] { trained("cbind(height, kind) ~ x", gaps); }),
            "2 missing values in 2 of 4 rows: height (1), kind (1); use --missing drop, mean, median or mode");
  TrainOptions options;
  options.design.missing = Missing::drop;
  const TrainedModel model = trained("cbind(height, kind) ~ x", gaps, options);
  EXPECT_EQ(model_cast<MiddlesModel>(model.model)->middles(0), 3);
  const DesignData data = model.design.apply(gaps);
  ASSERT_EQ(data.responses.size(), 8u);
  EXPECT_TRUE(std::isnan(data.responses[2]) && std::isnan(data.responses[5]));
  EXPECT_EQ(data.responses[3], 1);
  EXPECT_FALSE(model.design.apply(parse_csv("height,x\n1,2\n", {}, "half")).has_response);
}

TEST(SeveralResponses, StreamedRowsGiveTheSameBits) {
  std::vector<double> a, b, x, w;
  std::vector<std::string> kind;
  for (int i = 0; i < 30000; ++i) {
    a.push_back(std::sin(i));
    b.push_back(i % 11 == 0 ? std::nan("") : std::cos(i) * 100);
    kind.push_back(std::string(1, static_cast<char>('p' + i % 3)));
    x.push_back(i);
    w.push_back(1 + i % 2);
  }
  const Table table({numeric("a", a), numeric("b", b), categorical("kind", kind), numeric("x", x), numeric("w", w)});
  const Piecewise stream(table);
  TrainOptions options;
  options.design.missing = Missing::drop;
  options.design.weights = "w";
  const TrainedModel in_memory = trained("cbind(a, b, kind) ~ x", table, options);
  options.memory = 1;
  const TrainedModel streamed = trained(method_of<Middles>(), "cbind(a, b, kind) ~ x", stream, options);
  EXPECT_EQ(model_cast<MiddlesModel>(streamed.model)->middles, model_cast<MiddlesModel>(in_memory.model)->middles);
  EXPECT_EQ(streamed.origin.rows.hash(), in_memory.origin.rows.hash());
  const StreamRows rows(streamed.design, stream);
  const DesignRows all(in_memory.design, in_memory.design.train(table));
  BlockBuffer one, two;
  for (int pass = 0; pass < 3; ++pass)  // made, put aside, read back
    for (Index first = 0; first + 5000 <= rows.count(); first += 5000) {
      const Block p = rows.read(first, 5000, one), q = all.read(first, 5000, two);
      ASSERT_TRUE(p.several() == q.several()) << "pass " << pass << ", row " << first;
      ASSERT_EQ(p.several().cols(), 3);
    }
}

TEST(SeveralResponses, GoThroughAPipeline) {
  const TrainedModel model = fit(Stretch{} | Middles{}, formula("cbind(height, kind) ~ x"), flowers());
  EXPECT_EQ(written(model, flowers()).substr(0, 40), "prediction_height,prediction_kind\n2,b\n2,");
  EXPECT_TRUE(model.verify(MemoryTableStream(flowers())).same_rows);
}

TEST(SeveralResponses, AMethodThatTakesOneSaysSo) {
  const std::string said =
      message_of([] { trained(method_of<SumOf>(), "cbind(height, width) ~ x", MemoryTableStream(flowers())); });
  EXPECT_TRUE(
      said.starts_with("formula: this method takes one response, and cbind(height, width) are 2; several are "
                       "taken by "))
      << said;
  EXPECT_TRUE(said.ends_with("\n  cbind(height, width) ~ x\n  ^")) << said;
  const Matrix x{{1}, {2}};
  const std::vector<double> values{1, 2, 3, 4};
  MemoryRows rows(x);
  rows.several(values, {{"u"}, {"v"}});
  EXPECT_EQ(message_of([&] { method_of<SumOf>().fit(Value::object(), rows, {}); }),
            "sum_of takes one response, and there are 2");
}

TEST(SeveralResponses, OfAMethodThatTakesCountsTwoNumbersAreCounts) {
  const Table table = flowers();
  const Formula two = formula("cbind(height, width) ~ x"), three = formula("cbind(height, width, x) ~ kind");
  EXPECT_TRUE(Design(two, table, {.takes_counts = true, .takes_several = true}).counts());
  EXPECT_EQ(Design(three, table, {.takes_counts = true, .takes_several = true}).responses().size(), 3u);
  EXPECT_EQ(Design(two, table, {.takes_several = true}).responses().size(), 2u);
  EXPECT_EQ(message_of([&] { Design(three, table, {.takes_counts = true}); }),
            "formula: this method takes cbind(successes, failures): two columns, not 3\n  cbind(height, width, x) ~ "
            "kind\n  ^");
  EXPECT_TRUE(message_of([&] {
                Design(formula("cbind(height, kind) ~ x"), table, {.takes_several = true});
              }).starts_with("formula: the response 'kind' is categorical (a, b), but this method predicts a number"));
}

TEST(SeveralResponses, TooLargeANumberIsRefusedByTheNameOfItsResponse) {
  const Table table = parse_csv("u,v,x\n1,1e200,5\n2,2e200,6\n", {}, "large");
  EXPECT_TRUE(message_of([&] {
                trained("cbind(u, v) ~ x", table);
              }).starts_with("middles: the values of 'v' are too large to be squared"));
}

}  // namespace
}  // namespace lemma
