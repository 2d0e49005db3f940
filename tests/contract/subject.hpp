// tests/contract/subject.hpp: what the contract is tried on: every method of the catalog, with each kind of response it takes.
#pragma once
#include <gtest/gtest.h>
#include <lemma/catalog.hpp>
#include <map>
#include <tests/contract/data.hpp>
#include <tests/contract/judge.hpp>

namespace lemma::contract {

/// All names: "svm", which takes numbers too, is also "svm_of_numbers".
inline std::vector<std::string> subject_names() {
  std::vector<std::string> out;
  for (const Method* method : catalog())
    for (const Subject& each : subjects_of(*method)) out.push_back(each.name());
  return out;
}

inline Subject find_subject(const std::string& name) {
  for (const Method* method : catalog())
    for (const Subject& each : subjects_of(*method))
      if (each.name() == name) return each;
  throw Error("there is no subject '" + name + "'");
}

/// The model of the defaults on good data, fitted once for all tests of a process: a model is a value, which no test changes.
inline const TrainedModel& fitted(const Subject& subject) {
  static std::map<std::string, TrainedModel> all;
  const auto found = all.find(subject.name());
  if (found != all.end()) return found->second;
  return all.emplace(subject.name(), train_on(*subject.method, good(subject))).first->second;
}

/// A test of one subject.
class SubjectTest : public testing::TestWithParam<std::string> {
 protected:
  Subject subject() const { return find_subject(GetParam()); }
  const Method& method() const { return *subject().method; }
  const MethodAbout& about() const { return method().about(); }
  const TrainedModel& fitted() const { return contract::fitted(subject()); }
  void judge_all(const Complaints& complaints) const { judge(GetParam(), complaints); }
};

inline std::string name_of_subject(const testing::TestParamInfo<std::string>& tested) { return tested.param; }

}  // namespace lemma::contract
