// tests/scales_test.cpp: columns in units of 10^k get the answer of other units, or a refusal by their name.
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <lemma/catalog.hpp>
#include <tests/contract/agreement.hpp>

namespace lemma::contract {
namespace {

std::vector<std::string> method_names() {
  std::vector<std::string> names;
  for (const Method* method : catalog()) names.push_back(method->name());
  return names;
}

bool is_one_of(const std::string& name, const std::vector<std::string>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Methods whose predictions do not change with the unit of a single column, with that of all, and whose predictions
/// have the unit of the response.
const std::vector<std::string> kAnyUnit{"bayes_linear", "bayes_logistic", "chebyshev", "elastic_net", "glm",
                                        "lad",          "lasso",          "lda",       "logistic",    "multinomial",
                                        "ols",          "perceptron",     "quantile",  "ridge"};
const std::vector<std::string> kCommonUnit{"centroid", "kmeans"};
const std::vector<std::string> kUnitOfResponse{"bayes_linear", "chebyshev", "glm", "lad", "ols", "quantile", "ridge"};

/// What is scaled, and by which power of ten.
struct Unit {
  std::vector<std::string> columns;
  int power;
  bool of_response() const { return columns == std::vector<std::string>{"y"}; }
  std::string text() const { return fmt::format("{} in units of 1e{}", fmt::join(columns, ", "), power); }
  Table in(const Table& table) const {
    const double factor = std::pow(10.0, power);
    return changed(table, columns, [=](double v, Index) { return v * factor; });
  }
};

std::vector<Unit> units_for(const Method& method) {
  const bool numeric = method.about().uses_response && method.about().task == Task::regression;
  std::vector<Unit> out;
  for (const int power : {-310, -200, -140, -100, -40, 40, 100, 140, 200, 306}) {
    out.push_back({all_features(), power});
    out.push_back({{"x2"}, power});
    if (numeric) out.push_back({{"y"}, power});
  }
  return out;
}

/// Labels that differ, or values that do beside their spread.
Complaints another_answer(const Prediction& found, const Prediction& plain, double factor, const std::string& about) {
  if (found.label() != plain.label()) return {{about, "the labels are not those of other units"}};
  if (plain.value().size() == 0) return {};
  const double spread = plain.value().maxCoeff() - plain.value().minCoeff();
  const double apart = (found.value() / factor - plain.value()).cwiseAbs().maxCoeff();
  if (apart <= 1e-6 * spread) return {};
  return {{about, fmt::format("predictions differ by {:.1e} of their spread from other units", apart / spread)}};
}

class Scales : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Methods, Scales, testing::ValuesIn(method_names()),
                         [](const auto& tested) { return tested.param; });

TEST_P(Scales, GetTheAnswerOfOtherUnitsOrARefusalByName) {
  const Method& method = find_method(GetParam(), catalog());
  const Example plain{groups(60), formula_for(method.about())};
  const auto said_of = [](const TrainedModel& model, const Table& table) {
    return says_nothing_of_rows(model) ? Prediction() : model.predict(table);
  };
  const auto expected = said_of(train_on(method, plain), plain.table);
  Complaints all;
  for (const Unit& unit : units_for(method)) {
    const std::string about = unit.text();
    const Example scaled{unit.in(plain.table), plain.formula};
    try {
      const auto trained = train_on(method, scaled);
      const Prediction found = said_of(trained, scaled.table);
      append(all, not_finite(to_value(found), about, false));
      append(all, disagreements(trained, scaled.table, about));
      const bool same = is_one_of(GetParam(), unit.of_response()         ? kUnitOfResponse
                                              : unit.columns.size() == 1 ? kAnyUnit
                                                                         : kCommonUnit) ||
                        (!unit.of_response() && is_one_of(GetParam(), kAnyUnit));
      const double factor = unit.of_response() ? std::pow(10.0, unit.power) : 1;
      if (same) append(all, another_answer(found, expected, factor, about));
    } catch (const Error& error) {
      const std::string message = error.what();
      const auto names = [&](const std::string& column) { return message.find(column) != std::string::npos; };
      if (std::none_of(unit.columns.begin(), unit.columns.end(), names))
        all.push_back({about, "is refused without its name: " + message});
      if (const auto unfit = unfit_message(message); !unfit.empty()) all.push_back({about, unfit});
    } catch (const std::exception& error) {
      all.push_back({about, fmt::format("threw something that is not an Error: {}", error.what())});
    }
  }
  judge(GetParam(), all);
}

TEST(StreamedScales, AreLookedAtAsTheFitReads) {
  const Method& method = find_method("ols", catalog());
  TrainOptions streamed;
  streamed.memory = 1;
  for (const int power : {-200, 200}) {
    const Example example{Unit{{"x3"}, power}.in(groups(240)), formula_for(method.about())};
    const auto work = [&] { train_on(method, example, streamed); };
    for (const auto& complaint : must_refuse("ols", work, {"'x3'", "another unit"}))
      ADD_FAILURE() << power << ": " << complaint.message;
    Value params;  // a step that scales them takes them as they are
    const auto pipeline = method_from("scale | ols", catalog(), params);
    const auto trained = train(pipeline, params, formula(example.formula), MemoryTableStream(example.table), streamed);
    EXPECT_TRUE(trained.model->certificate().holds()) << power << ": " << trained.model->certificate().message;
  }
}

}  // namespace
}  // namespace lemma::contract
