// tests/told_parameters_test.cpp: a model file that tells other parameters than those its numbers were found by.
#include <gtest/gtest.h>
#include <lemma/data/stream/rows.hpp>
#include <tests/contract/compare.hpp>
#include <tests/contract/parameters.hpp>
#include <tests/contract/subject.hpp>

namespace lemma::contract {
namespace {

/// Of the linear family, and of the machines that are planes, tests of their own say what is tied to what.
std::vector<std::string> told_names() {
  std::vector<std::string> names = subject_names();
  std::erase_if(names, [](const auto& name) { return find_subject(name).about().family == "linear"; });
  return names;
}

/// Parameters of how, and how long, the work is done leave no trace in what is found; a tolerance is told by the certificate.
bool is_of_the_work(const std::string& name) {
  constexpr std::string_view kWork[] = {"cache",  "gigabytes", "max_iterations", "oversampling",
                                        "passes", "restarts",  "shrinking",      "solver",
                                        "start",  "tolerance", "working_set"};
  return std::find(std::begin(kWork), std::end(kWork), name) != std::end(kWork);
}

/// The rows of one class are fewer: then priors and balanced weights are not all alike.
Example uneven(const Subject& subject) {
  Example example = good(subject);
  std::vector<Index> kept;
  for (Index i = 0; i < example.table.rows(); ++i)
    if (i % 3 != 0 || i % 2 == 0) kept.push_back(i);
  example.table = example.table.select(kept);
  return example;
}

/// Values a parameter could have in the place of the one it has.
std::vector<Value> other_values(const ParamInfo& info, const Value& value) {
  using Kind = ParamInfo::Kind;
  std::vector<Value> out;
  const auto moved = [&](double number) {
    return number == 0 ? 0.5 : info.range.contains(1.1 * number) ? 1.1 * number : 0.9 * number;
  };
  switch (info.kind) {
    case Kind::truth: out.push_back(Value(!value.as_bool())); break;
    case Kind::whole:
      if (value.is_number()) out.push_back(Value(static_cast<std::int64_t>(value.as_double()) + 1));
      break;
    case Kind::number:
      if (value.is_number()) out.push_back(Value(moved(value.as_double())));
      break;
    case Kind::numbers: {
      if (!value.is_array() || value.as_array().data.empty()) break;
      std::vector<double> numbers = value.as_array().data;
      numbers[0] = moved(numbers[0]);
      out.push_back(Value(numbers));
      break;
    }
    case Kind::name:
    case Kind::name_or_numbers:
    case Kind::name_or_matrix:
      for (const auto& choice : info.choices) {
        const Value* kind = value.is_object() ? value.find("kind") : &value;  // a part with parameters of its own
        if (!kind || !kind->is_string() || kind->as_string() != choice) out.push_back(Value(choice));
      }
      break;
    case Kind::name_or_text: out.push_back(Value("linear")); break;
    default: break;
  }
  return out;
}

class ToldParameters : public SubjectTest {};
INSTANTIATE_TEST_SUITE_P(Methods, ToldParameters, testing::ValuesIn(told_names()), name_of_subject);

TEST_P(ToldParameters, ThatAreNotThoseOfTheNumbersAreNoticed) {
  const Example example = uneven(subject());
  const auto trained = train_on(method(), example);
  if (trained.model->certificate().strength == Strength::none) GTEST_SKIP() << "it claims nothing";
  const DesignRows rows(trained.design, trained.design.train(example.table));
  const Value params = trained.model->params();
  Complaints all;
  for (const auto& info : method().params()) {
    if (is_of_the_work(info.name) || info.name.find('.') != std::string::npos || !params.find(info.name)) continue;
    for (const Value& other : other_values(info, params.at(info.name))) {
      Value told = params;
      told.set(info.name, other);
      append(all, may_refuse(info.name, [&] {
               const auto loaded = method().load(told, trained.model->save(), {trained.model->certificate(), {}});
               const auto certificate = loaded->verify(rows, {});
               if (certificate.holds() && (all.empty() || all.back().about != info.name))
                 all.push_back({info.name, "told as " + to_json(other) + ", and the certificate still holds"});
             }));
    }
  }
  judge_all(all);
}

}  // namespace
}  // namespace lemma::contract
