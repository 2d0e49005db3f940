// lemma/tree/extra_trees_test.cpp: what only extra trees say; what they share with forests is tried in forest_test.cpp.
#include <gtest/gtest.h>
#include <lemma/model/fit.hpp>
#include <lemma/tree/extra_trees.hpp>
#include <lemma/tree/forest.hpp>
#include <lemma/tree/forest/data_test.hpp>

namespace lemma {
namespace {

using namespace forest_test;

TEST(ExtraTrees, OfAllRowsHaveNoneOutsideAndSaySo) {
  const Corners train = corners(400);
  const auto m = fit(ExtraTrees{}, train.x, train.label);
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
  EXPECT_FALSE(m.oob_error.has_value());
  EXPECT_EQ(m.oob.rows(), 0);
  const Labels said = m.classify(train.x);  // grown out on all rows: each row finds itself
  for (std::size_t i = 0; i < said.size(); ++i) EXPECT_EQ(said[i] == 0, train.label[i] == "in") << i;
  const auto bagged = fit(ExtraTrees{.replace = true}, train.x, train.label);
  EXPECT_TRUE(bagged.certificate.holds()) << bagged.certificate.message;
  EXPECT_LT(*bagged.oob_error, 0.2);
}

TEST(ExtraTrees, WhoseThresholdsAreTheBestOnesAreTheNaturalWrongOnesAndFailCertify) {
  const Corners train = corners(200);
  const auto rows = rows_of(train);
  const auto m = fit(ExtraTrees{.trees = 5, .mtry = 2}, train.x, train.y);
  EXPECT_TRUE(certify(m, rows, {}).holds());
  const auto forest = fit(Forest{.trees = 5, .mtry = 2, .replace = false, .share = 1}, train.x, train.y);
  ExtraTreesModel wrong = m;
  static_cast<Grove&>(wrong) = forest;
  EXPECT_FALSE(certify(wrong, rows, {}).holds());
}

}  // namespace
}  // namespace lemma
