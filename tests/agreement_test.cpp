// tests/agreement_test.cpp: what a fit claims, a second look at the same rows must find, whatever their scale and
// order.
#include <cstdlib>
#include <gtest/gtest.h>
#include <lemma/catalog.hpp>
#include <tests/contract/agreement.hpp>
#include <tests/contract/varied_data.hpp>

namespace lemma::contract {
namespace {

std::vector<std::string> method_names() {
  std::vector<std::string> names;
  for (const Method* method : catalog()) names.push_back(method->name());
  return names;
}

class Agreement : public testing::TestWithParam<std::string> {
 protected:
  const Method& method() const { return find_method(GetParam(), catalog()); }
  /// Of its own for each method: together they are far more than 200.
  std::uint64_t first_seed() const {
    const auto names = method_names();
    return 1000 * static_cast<std::uint64_t>(std::find(names.begin(), names.end(), GetParam()) - names.begin());
  }
  /// LEMMA_DATA_SETS=13 looks at 13 of each kind, 208 data sets for each method; one of each is what every run can
  /// afford.
  static std::uint64_t of_each_kind() {
    const char* wanted = std::getenv("LEMMA_DATA_SETS");
    return wanted ? std::max(1ULL, std::strtoull(wanted, nullptr, 10)) : 1;
  }
};
INSTANTIATE_TEST_SUITE_P(Methods, Agreement, testing::ValuesIn(method_names()),
                         [](const auto& tested) { return tested.param; });

TEST_P(Agreement, ASecondLookFindsWhatTheFitClaims) {
  Complaints all;
  int fitted = 0, refused = 0;
  std::uint64_t seed = first_seed();
  for (std::uint64_t round = 0; round < of_each_kind(); ++round)
    for (const auto& kind : kinds_of_data()) {
      const Table table = varied_table(kind, ++seed);
      for (const auto& wanted : ways_to_fit(method())) {
        const std::string about = fmt::format("{} {}, {} (data set {})", wanted.method, wanted.formula, kind, seed);
        append(all, may_refuse(about, [&] {
                 const auto trained = fit_or_reason(wanted, table);
                 ++(trained ? fitted : refused);
                 if (!trained) return;
                 append(all, must_accept(about, [&] { append(all, disagreements(*trained, table, about)); }));
               }));
      }
    }
  EXPECT_GT(fitted, refused) << "most of these data have an answer; some have dependent columns";
  judge(GetParam(), all);
}

/// Where columns lie far from 0 and the bias is penalised, the last bits of a dual point decide what it proves: a fit, and looks at
/// its rows in any order, come to one verdict all the same.
TEST(AgreementFarFromZero, OfPenalisedMachinesDoesNotHangOnTheOrderOfTheRows) {
  Complaints all;
  for (const std::uint64_t seed : {8035, 8147, 8003, 8019}) {
    const Table table = varied_table("columns near 1.7e9", seed);
    const auto trained = fit_or_reason({"linear_svm(bias=penalised)", std::string("side ~ ") + kFeatures}, table);
    ASSERT_TRUE(trained) << seed;
    append(all, disagreements(*trained, table, fmt::format("data set {}", seed)));
  }
  judge("linear_svm", all);
}

/// Scores that differ in their ninth digit need a slope of 1e9, and the last bit of their mean decides what the gradient of the map is:
/// it is that of an order of the rows' own.
TEST(AgreementOfHeldOutScores, ThatHardlyDifferDoesNotHangOnTheOrderOfTheRows) {
  const Table table = varied_table("scales from 1e-8 to 1e8", 45162);
  const auto trained = fit_or_reason({"calibrate", std::string("class ~ ") + kFeatures}, table);
  ASSERT_TRUE(trained);
  const double first = trained->model->certificate().value;
  RandomStream stream(5);
  for (int order = 0; order < 5; ++order) {
    const Table shuffled = table.select(permutation(stream, table.rows()));
    EXPECT_EQ(trained->verify(MemoryTableStream(shuffled)).certificate.value, first) << "order " << order;
  }
}

}  // namespace
}  // namespace lemma::contract
