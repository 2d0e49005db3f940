// tests/update_test.cpp: every method that can be updated: what a model is after new rows, and what verify says of it.
#include <gtest/gtest.h>
#include <lemma/catalog.hpp>
#include <tests/contract/compare.hpp>
#include <tests/contract/data.hpp>
#include <tests/message_of.hpp>

namespace lemma::contract {
namespace {

std::vector<std::string> methods_that(const std::function<bool(const Method&)>& suit) {
  std::vector<std::string> out;
  for (const Method* method : catalog())
    if (suit(*method)) out.push_back(method->name());
  return out;
}

/// The rows of an example in two parts, and all of them.
struct Parts {
  Example example;
  Table first, second;
  explicit Parts(const Method& method, Index n = 240) : example(good(method, n)) {
    first = example.table.slice(0, n * 5 / 8);
    second = example.table.slice(n * 5 / 8, n - n * 5 / 8);
  }
};

TrainedModel updated_model(const Method& method, const Parts& parts, const Value& params = Value::object()) {
  const auto before = train_on(method, {parts.first, parts.example.formula}, {}, params);
  const TrainedModel from_file = decode(encode(before), catalog());  // what a file keeps is enough
  return from_file.update(MemoryTableStream(parts.second), {});
}

class Updates : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Methods, Updates, testing::ValuesIn(methods_that([](const Method& m) {
                           return m.updates() != UpdateKind::none;
                         })),
                         [](const auto& tested) { return tested.param; });

TEST_P(Updates, AModelIsWhatItsKindSays) {
  const Method& method = find_method(GetParam(), catalog());
  const Parts parts(method);
  const TrainedModel updated = updated_model(method, parts);
  EXPECT_EQ(updated.origin.rows.rows(), parts.example.table.rows());
  EXPECT_TRUE(updated.model->certificate().holds()) << updated.model->certificate().message;
  const TrainedModel all = train_on(method, parts.example);
  if (method.updates() == UpdateKind::exact) {
    for (const auto& complaint :
         not_close(all_said(updated, parts.example.table), all_said(all, parts.example.table), 1e-10, "prediction"))
      ADD_FAILURE() << complaint.about << ": " << complaint.message;
  } else {
    const TrainedModel first = train_on(method, {parts.first, parts.example.formula});
    EXPECT_EQ(updated.model->width(), first.model->width());
  }
  EXPECT_TRUE(same_bits(to_document(decode(encode(updated), catalog())), to_document(updated)));
}

TEST_P(Updates, VerifyWantsAllRowsAndFindsThem) {
  const Method& method = find_method(GetParam(), catalog());
  const Parts parts(method);
  const TrainedModel updated = updated_model(method, parts);
  const MemoryTableStream first(parts.first), second(parts.second), whole(parts.example.table);
  const TableStream* both[] = {&second, &first};
  const Verification found = updated.verify(both);
  EXPECT_TRUE(found.same_rows);
  EXPECT_TRUE(found.certificate.holds()) << found.certificate.message;
  const Verification together = updated.verify(whole);
  EXPECT_TRUE(together.same_rows && together.certificate.holds()) << together.certificate.message;
  const Verification some = updated.verify(second);
  EXPECT_FALSE(some.same_rows);
  ASSERT_EQ(some.missing.size(), 1U);
  EXPECT_EQ(some.missing[0].rows, parts.first.rows());
}

TEST_P(Updates, AnotherPastThanTheRowsGiveIsNotVerified) {
  const Method& method = find_method(GetParam(), catalog());
  const std::string name = method.name();
  if (name == "polynomial" || name == "lift") GTEST_SKIP() << "nothing is learned from rows";
  const Parts parts(method);
  const TrainedModel honest = updated_model(method, parts);
  Parts other = parts;
  other.first =
      changed(parts.first, {"x1", "x3"}, [](double v, Index i) { return v + 0.3 * static_cast<double>(i % 5); });
  TrainedModel forged = updated_model(method, other);
  forged.origin = honest.origin;
  const MemoryTableStream first(parts.first), second(parts.second);
  const TableStream* both[] = {&first, &second};
  EXPECT_TRUE(honest.verify(both).certificate.holds());
  EXPECT_TRUE(forged.verify(both).same_rows);
  EXPECT_FALSE(forged.verify(both).certificate.holds());
}

TEST_P(Updates, GoOnPieceByPieceWithWeights) {
  const Method& method = find_method(GetParam(), catalog());
  if (!method.about().takes_weights) GTEST_SKIP() << "takes no weights";
  const Example example = good(method);
  TrainOptions weighted;
  weighted.design.weights = "w";
  const auto part = [&](Index from, Index to) { return example.table.slice(from, to - from); };
  TrainedModel model =
      train(shared(method), Value::object(), formula(example.formula), MemoryTableStream(part(0, 120)), weighted);
  for (Index from = 120; from < 240; from += 40) model = model.update(MemoryTableStream(part(from, from + 40)), {});
  EXPECT_EQ(model.origin.parts.size(), 4U);
  EXPECT_TRUE(model.model->certificate().holds()) << model.model->certificate().message;
  if (method.updates() != UpdateKind::exact) return;
  const TrainedModel all =
      train(shared(method), Value::object(), formula(example.formula), MemoryTableStream(example.table), weighted);
  for (const auto& complaint :
       not_close(all_said(model, example.table), all_said(all, example.table), 1e-9, "prediction"))
    ADD_FAILURE() << complaint.about << ": " << complaint.message;
}

TEST(Updates, NamesTheMethodsThatCannotBe) {
  const Method& method = find_method("lasso", catalog());
  const Parts parts(method);
  const auto model = train_on(method, {parts.first, parts.example.formula});
  EXPECT_NE(message_of([&] { model.update(MemoryTableStream(parts.second), {}); }).find("lasso cannot be updated"),
            std::string::npos);
}

/// Every number that least squares report, not only the predictions.
TEST(Updates, LeastSquaresAreThoseOfAllRowsInEveryNumber) {
  const Method& method = find_method("ols", catalog());
  const Parts parts(method, 600);
  for (const bool precision : {false, true}) {
    TrainOptions options;
    if (precision) options.design.precision = "w2";
    const auto with_precision = [](Table table) {
      std::vector<double> w2;
      for (Index i = 0; i < table.rows(); ++i) w2.push_back(0.5 + static_cast<double>(i % 7));
      table.add(numeric("w2", w2));
      return table;
    };
    const Table whole = with_precision(parts.example.table);
    const Index cut = parts.first.rows();
    const auto fit_to = [&](const Table& table) {
      return train(shared(method), Value::object(), formula(parts.example.formula), MemoryTableStream(table), options);
    };
    const TrainedModel all = fit_to(whole),
                       updated = fit_to(whole.slice(0, cut))
                                     .update(MemoryTableStream(whole.slice(cut, whole.rows() - cut)), {});
    Value a = updated.model->results(updated.names()), b = all.model->results(all.names());
    for (Value* each : {&a, &b}) each->set("residual_quantiles", Value());
    for (const auto& complaint : not_close(a, b, 1e-9, "results"))
      ADD_FAILURE() << complaint.about << ": " << complaint.message;
  }
}

TEST(Updates, AGlmComesNearTheFitOfAllRows) {
  const Table pima = dataset("pima_train"), more = dataset("pima_test");
  const Method& method = find_method("glm", catalog());
  const auto fit_to = [&](const Table& table) {
    return train(shared(method), Value::object(), formula("type ~ glu + bmi + age"), MemoryTableStream(table));
  };
  const TrainedModel first = fit_to(pima), all = fit_to(stack({pima, more})),
                     both = first.update(MemoryTableStream(more), {});
  const auto coefficients = [](const TrainedModel& m) {
    return m.model->results(m.names()).at("coefficients").as_vector("coefficients");
  };
  const double before = (coefficients(first) - coefficients(all)).norm(),
               after = (coefficients(both) - coefficients(all)).norm();
  EXPECT_LT(after, 0.1 * before);
  const auto errors = both.model->results(both.names()).at("std_errors").as_vector("std_errors"),
             expected = all.model->results(all.names()).at("std_errors").as_vector("std_errors");
  EXPECT_LT((errors - expected).cwiseQuotient(expected).cwiseAbs().maxCoeff(), 0.1);
  EXPECT_TRUE(both.model->results(both.names()).at("aic").is_null() ||
              std::isnan(both.model->results(both.names()).at("aic").as_double()));
}

TEST(Updates, WhatTakesAllRowsIsRefused) {
  const Method& method = find_method("ols", catalog());
  const Parts parts(method);
  const auto refusal = [&](const Value& params, const std::string& of) {
    return message_of([&] {
      train_on(method, {parts.first, of}, {}, params).update(MemoryTableStream(parts.second), {});
    });
  };
  EXPECT_NE(refusal(Value::Object{{"errors", "HC3"}}, "y ~ x1").find("errors HC3"), std::string::npos);
  EXPECT_NE(refusal(Value::object(), "y ~ x1 + I(2 * x1)").find("aliased"), std::string::npos);
}

}  // namespace
}  // namespace lemma::contract
