// tests/contract/judge.hpp: what a method did wrong, held against the list of known gaps.
#pragma once
#include <algorithm>
#include <exception>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <lemma/core/error.hpp>
#include <lemma/model/known_gaps.hpp>
#include <string>
#include <vector>

namespace lemma::contract {

struct Complaint {
  std::string about;    // the field, parameter or situation
  std::string message;  // what is wrong
};
using Complaints = std::vector<Complaint>;

inline void append(Complaints& all, Complaints more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

/// Fails for each complaint that no known gap excuses, and for each known gap of this check that nobody complained of.
/// A gap of "svm" excuses "svm_of_numbers" too. `situation`: the test looked at this one only.
inline void judge(const std::string& method, const Complaints& complaints, std::string_view situation = {}) {
  const std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();
  const std::string check = test.substr(0, test.find('/'));
  const auto excuses = [&](const KnownGap& gap, const Complaint& complaint) {
    const bool is_about = gap.about.ends_with('*')
                              ? complaint.about.starts_with(gap.about.substr(0, gap.about.size() - 1))
                              : gap.about == complaint.about;
    const bool is_of = gap.method == method || method.starts_with(std::string(gap.method) + "_of_");
    return is_of && gap.check == check && is_about;
  };
  const auto gaps = known_gaps();
  for (const auto& complaint : complaints)
    if (std::none_of(gaps.begin(), gaps.end(), [&](const KnownGap& gap) { return excuses(gap, complaint); }))
      ADD_FAILURE() << method << ", " << complaint.about << ": " << complaint.message;
  for (const auto& gap : gaps)
    if (gap.method == method && gap.check == check && (situation.empty() || gap.about == situation) &&
        std::none_of(complaints.begin(), complaints.end(), [&](const Complaint& one) { return excuses(gap, one); }))
      ADD_FAILURE() << method << ", " << gap.about << ": this gap has closed; take its line out of known_gaps.cpp";
}

/// Does the message speak of what the user knows? Empty when it does.
inline std::string unfit_message(const std::string& message) {
  if (message.size() < 10) return "the message says too little: '" + message + "'";
  for (const char* internal : {"std::", "Eigen::", "lemma::", "basic_string", "vector::", "bad_alloc", "nan("})
    if (message.find(internal) != std::string::npos) return "the message speaks of internals: " + message;
  return {};
}

/// work() may end, or throw an Error that a user can read. Anything else is a complaint.
inline Complaints may_refuse(const std::string& about, auto&& work) {
  try {
    work();
  } catch (const Error& error) {
    if (const auto unfit = unfit_message(error.what()); !unfit.empty()) return {{about, unfit}};
  } catch (const std::exception& error) {
    return {{about, fmt::format("threw something that is not an Error: {}", error.what())}};
  }
  return {};
}

/// work() must throw an Error that a user can read, with every one of `words` in it.
inline Complaints must_refuse(const std::string& about, auto&& work, const std::vector<std::string>& words = {}) {
  try {
    work();
  } catch (const Error& error) {
    if (const auto unfit = unfit_message(error.what()); !unfit.empty()) return {{about, unfit}};
    for (const auto& word : words)
      if (std::string(error.what()).find(word) == std::string::npos)
        return {{about, fmt::format("the message does not name '{}': {}", word, error.what())}};
    return {};
  } catch (const std::exception& error) {
    return {{about, fmt::format("threw something that is not an Error: {}", error.what())}};
  }
  return {{about, "was accepted"}};
}

/// work() must end.
inline Complaints must_accept(const std::string& about, auto&& work) {
  try {
    work();
  } catch (const std::exception& error) { return {{about, fmt::format("was refused: {}", error.what())}}; }
  return {};
}

}  // namespace lemma::contract
