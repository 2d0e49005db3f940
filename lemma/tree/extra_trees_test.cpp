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

TEST(ExtraTrees, ThatAskForCategoriesOfNumbersFailTheCertificate) {  // as a forged file may
  const Corners train = corners(200);
  ExtraTreesModel forged = fit(ExtraTrees{.trees = 5, .mtry = 2}, train.x, train.y);
  TreeNode& root = forged.trees.nodes.front();
  forged.trees.levels[static_cast<std::size_t>(root.column)] = 4;
  forged.trees.sets = {1};
  root.threshold = 0;
  root.categories = 1;
  EXPECT_FALSE(certify(forged, rows_of(train), {}).holds());
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

/// Rows of two classes that count once are counted; a factor of 1 for each class, which changes nothing, has them weighed.
TEST(ExtraTrees, GrowTheSameTreesWhetherRowsAreCountedOrWeighed) {
  const Corners train = corners(5000);  // the first nodes are large, and told apart by ranks
  for (const ExtraTrees& spec :
       {ExtraTrees{.trees = 3}, ExtraTrees{.trees = 3, .mtry = 3, .cuts = 4, .min_leaf = 7},
        ExtraTrees{.trees = 3, .min_split = 40, .depth = 6, .vote = ForestVote::majority, .keep_rows = true}}) {
    ExtraTrees weighed = spec;
    weighed.class_weights = std::vector<double>{1, 1};
    const auto a = fit(spec, train.x, train.label), b = fit(weighed, train.x, train.label);
    EXPECT_TRUE(a.certificate.holds()) << a.certificate.message;
    ASSERT_EQ(a.trees.size(), b.trees.size());
    EXPECT_GT(a.trees.size(), 100);
    EXPECT_EQ(a.trees.roots, b.trees.roots);
    for (Index i = 0; i < a.trees.size(); ++i) {
      const TreeNode &p = a.trees[i], &q = b.trees[i];
      ASSERT_TRUE(p.threshold == q.threshold && p.child == q.child && p.column == q.column &&
                  p.missing_left == q.missing_left)
          << i;
    }
    EXPECT_EQ(a.leaf_class, b.leaf_class);
    EXPECT_EQ(a.leaf_shares, b.leaf_shares);
    EXPECT_EQ(a.leaf_weight, b.leaf_weight);
    EXPECT_EQ(a.importance, b.importance);
    EXPECT_EQ(a.kept_leaves, b.kept_leaves);
  }
}

TEST(ExtraTrees, CertifyOnTheirRowsInAnyOrder) {
  const Corners train = corners(300);
  const auto m = fit(ExtraTrees{.trees = 5}, train.x, train.y);
  Corners turned = train;
  turned.x = train.x.colwise().reverse();
  turned.y = train.y.reverse();
  EXPECT_TRUE(certify(m, rows_of(turned), {}).holds());  // found anew by sorting
  turned.y(7) += 1;
  EXPECT_FALSE(certify(m, rows_of(turned), {}).holds());
}

}  // namespace
}  // namespace lemma
