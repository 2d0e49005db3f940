// lemma/tree/tree_test.cpp
#include <gtest/gtest.h>
#include <lemma/core/error.hpp>
#include <lemma/core/random.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/model/fit.hpp>
#include <lemma/tree/tree.hpp>
#include <lemma/tree/tree/recount.hpp>
#include <map>
#include <numeric>
#include <sstream>
#include <tests/golden.hpp>

namespace lemma {
namespace {

/// Words of a text, whatever the blanks between them.
std::vector<std::string> words(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> out;
  for (std::string word; in >> word;) out.push_back(word);
  return out;
}

// ---- Golden: rpart ----

/// Nodes of the model by their numbers, as the golden files tell them.
void expect_nodes(const Golden& golden, const TreeModel& model, bool classes) {
  std::map<double, Index> place;
  for (Index i = 0; i < model.nodes.size(); ++i) place[model.number(i)] = i;
  const auto& nodes = golden.value("nodes").as_list();
  ASSERT_EQ(static_cast<Index>(nodes.size()), model.nodes.size());
  for (const Value& each : nodes) {
    const double number = each.at("node").as_double();
    SCOPED_TRACE(number);
    ASSERT_TRUE(place.contains(number));
    const Index i = place[number];
    EXPECT_EQ(model.weight(i), each.at("n").as_double());
    EXPECT_EQ(model.nodes.is_leaf(i), each.at("leaf").as_bool());
    if (classes) {
      EXPECT_EQ(model.counts.row(i).transpose(), each.at("class_counts").as_vector());
      EXPECT_EQ(model.loss(i), each.at("loss").as_double());
      EXPECT_EQ(model.classes[at(model.label[at(i)])], each.at("predicted").as_string());
      EXPECT_TRUE(model.estimates.row(i).transpose().isApprox(each.at("probabilities").as_vector(), 1e-12));
    } else {
      EXPECT_NEAR(model.estimates(i, 0), each.at("mean").as_double(), 1e-9 * std::abs(each.at("mean").as_double()));
      EXPECT_NEAR(model.loss(i), each.at("rss").as_double(), 1e-9 * each.at("rss").as_double() + 1e-12);
    }
    if (model.nodes.is_leaf(i)) continue;
    EXPECT_NEAR(model.complexity(i), each.at("cp").as_double(), 1e-8);
    EXPECT_EQ(model.features[model.nodes[i].column], each.at("split_variable").as_string());
    const double improve = each.at("improve").as_double() * (classes ? 1 : model.loss(i));
    EXPECT_NEAR(model.gain(i), improve, 1e-6 * improve);
    if (each.find("threshold")) {
      EXPECT_NEAR(model.nodes[i].threshold, each.at("threshold").as_double(),
                  1e-9 * std::abs(model.nodes[i].threshold));
    }
  }
}

struct GoldenTree {
  std::string id, response;
  Tree spec;
  bool classes = true;
};

void expect_golden(const GoldenTree& each, const Table& table) {
  SCOPED_TRACE(each.id);
  const Golden golden(each.id);
  const auto tree = fit(each.spec, formula(each.response + " ~ ."), table);
  EXPECT_TRUE(tree.certificate.holds()) << tree.certificate.message;
  EXPECT_TRUE(golden.agrees("n_leaves", Value(static_cast<std::int64_t>(tree.nodes.leaves()))));
  expect_nodes(golden, tree, each.classes);
  EXPECT_TRUE(golden.agrees("cp_table", Value(Matrix(tree.cp_table.leftCols(3)))));
  EXPECT_TRUE(golden.agrees("root_error", Value(tree.loss(0) / tree.weight(0))));
  if (each.classes) {
    EXPECT_TRUE(golden.agrees("posterior", Value(golden.shown(tree.probabilities(table)))));
    Index wrong = 0;
    const Labels said = tree.classify(table);
    for (Index i = 0; i < table.rows(); ++i)
      wrong += tree.classes[at(said[at(i)])] != table.column(each.response).text(i);
    EXPECT_TRUE(golden.agrees("training_errors", Value(static_cast<std::int64_t>(wrong))));
  }
}

/// The rows without missing values.
Table complete(const Table& table) {
  std::vector<Index> rows;
  for (Index i = 0; i < table.rows(); ++i)
    if (std::none_of(table.all().begin(), table.all().end(), [&](const Column& each) { return each.is_missing(i); }))
      rows.push_back(i);
  return table.select(rows);
}

TEST(Tree, IsRpartsOfThePimaWomen) {
  const Table table = dataset("pima_train");
  expect_golden({"cart_pima_gini", "type", {}}, table);
  expect_golden({"cart_pima_information", "type", {.criterion = TreeCriterion::entropy}}, table);
}
TEST(Tree, IsRpartsOfIris) { expect_golden({"cart_iris_gini", "species", {}}, dataset("iris")); }
TEST(Tree, IsRpartsOfBoston) {
  expect_golden({"cart_boston_default", "medv", {}, false}, dataset("boston"));
  expect_golden({"cart_boston_depth3", "medv", {.cp = 0, .depth = 3}, false}, dataset("boston"));
}
TEST(Tree, IsRpartsOfVotesAsTheyAre) {
  expect_golden({"cart_votes_complete", "Class", {.min_split = 10, .cp = 0.001}}, complete(dataset("house_votes")));
}

TEST(Tree, OfThePimaWomenIsPrintedAsInTheNotesLineForLine) {
  const auto tree = fit(Tree{}, formula("type ~ ."), dataset("pima_train"));
  const std::string notes = R"(n= 200

node), split, n, loss, yval, (yprob)
 * denotes terminal node

1) root 200 68 No (0.66000000 0.34000000)
  2) glu< 123.5 109 15 No (0.86238532 0.13761468)
    4) age< 28.5 74 4 No (0.94594595 0.05405405) *
    5) age>=28.5 35 11 No (0.68571429 0.31428571)
      10) glu< 90 9 0 No (1.00000000 0.00000000) *
      11) glu>=90 26 11 No (0.57692308 0.42307692)
        22) bp>=68 19 6 No (0.68421053 0.31578947) *
        23) bp< 68 7 2 Yes (0.28571429 0.71428571) *
  3) glu>=123.5 91 38 Yes (0.41758242 0.58241758)
    6) ped< 0.3095 35 12 No (0.65714286 0.34285714)
      12) glu< 166 27 6 No (0.77777778 0.22222222) *
      13) glu>=166 8 2 Yes (0.25000000 0.75000000) *
    7) ped>=0.3095 56 15 Yes (0.26785714 0.73214286)
    14) bmi< 28.65 11 3 No (0.72727273 0.27272727) *
    15) bmi>=28.65 45 7 Yes (0.15555556 0.84444444) *
)";
  const std::string ours = tree.summary();
  EXPECT_EQ(words(ours.substr(0, ours.find("\nRoot node"))), words(notes)) << ours;
}

TEST(Tree, OfThePimaWomenIsWrongOfAsManyNewOnesAsRparts) {
  const Golden golden("cart_pima_gini");
  const Table test = dataset("pima_test");
  const auto tree = fit(Tree{}, formula("type ~ ."), dataset("pima_train"));
  const Labels said = tree.classify(test);
  Index wrong = 0;
  for (Index i = 0; i < test.rows(); ++i) wrong += tree.classes[at(said[at(i)])] != test.column("type").text(i);
  EXPECT_TRUE(golden.agrees("test_errors", Value(static_cast<std::int64_t>(wrong))));
}

// ---- Golden: single splits ----

/// The best split of each column alone: a tree of one column and one split.
void expect_stumps(const std::string& id, const std::string& data, const std::string& response) {
  const Golden golden(id);
  const Table table = dataset(data);
  for (const Value& each : golden.value("features").as_list())
    for (const auto& [key, criterion] : {std::pair{"gini", TreeCriterion::gini},
                                         {"entropy", TreeCriterion::entropy},
                                         {"misclass", TreeCriterion::misclassification}}) {
      const std::string feature = each.at("feature").as_string();
      SCOPED_TRACE(id + " " + feature + " " + key);
      const Tree stump{.criterion = criterion, .min_split = 2, .min_leaf = 1, .cp = -1, .depth = 1, .folds = 0};
      const auto tree = fit(stump, formula(response + " ~ " + feature), table);
      const Value& expected = each.at(key);
      const double decrease = expected.at("decrease").as_double();
      if (decrease < 1e-12) continue;
      EXPECT_NEAR(tree.gain(0) / tree.weight(0), decrease, 1e-10);
      if (expected.at("ties").as_double() == 0) {
        EXPECT_NEAR(tree.nodes[0].threshold, expected.at("best_threshold").as_double(), 1e-9);
      }
    }
}

TEST(Tree, OfOneSplitFindsTheBestOfEachColumn) {
  expect_stumps("stump_splits_iris", "iris", "species");
  expect_stumps("stump_splits_pima", "pima_train", "type");
}

TEST(Tree, GainsByEntropyAreTheInformationOfTwoCategories) {
  const Golden golden("infogain_votes");
  const Table table = complete(dataset("house_votes"));
  const auto features = golden.strings("features");
  const Vector information = golden.vector("mutual_information_nats");
  const Tree stump{
      .criterion = TreeCriterion::entropy, .min_split = 2, .min_leaf = 1, .cp = -1, .depth = 1, .folds = 0};
  for (std::size_t j = 0; j < features.size(); ++j) {
    const auto tree = fit(stump, formula("Class ~ " + features[j]), table);
    EXPECT_NEAR(tree.gain(0) / tree.weight(0), information(static_cast<Index>(j)), 1e-10) << features[j];
  }
}

// ---- Certificate ----

const double kNone = std::nan("");

struct Toy {
  Matrix x;
  Vector y;
  std::vector<std::string> side;
};
/// Steps in the first column, a slope in the second, noise in the third.
Toy toy(Index n, std::uint64_t seed = 3) {
  RandomStream random(seed);
  Toy out{Matrix(n, 3), Vector(n), {}};
  for (Index i = 0; i < n; ++i) {
    for (double& each : out.x.row(i)) each = random.normal();
    out.y(i) = (out.x(i, 0) > 0.3 ? 4 : 0) + out.x(i, 1) + 0.5 * random.normal();
    out.side.push_back(out.y(i) > 1.5 ? "up" : "down");
  }
  return out;
}

TEST(Tree, ANaturalWrongSplitAtTheMedianOfTheBestColumnFailsTheCertificate) {
  const Toy data = toy(300);
  TreeModel tree = fit(Tree{.depth = 1, .folds = 0}, data.x, data.y);
  MemoryRows rows(data.x);
  const std::vector<double> y(data.y.begin(), data.y.end());
  rows.response(y);
  EXPECT_TRUE(certify(tree, rows, {}).holds());
  // The tree that splits the same column midway between its quantiles, with all else of its own rows.
  std::vector<double> sorted(data.x.col(0).begin(), data.x.col(0).end());
  std::sort(sorted.begin(), sorted.end());
  tree.nodes.nodes[0].threshold = std::midpoint(sorted[149], sorted[150]);
  Vector sum = Vector::Zero(2), count = Vector::Zero(2), squares = Vector::Zero(2);
  for (Index i = 0; i < 300; ++i) {
    const Index side = data.x(i, 0) < tree.nodes[0].threshold ? 0 : 1;
    sum(side) += y[at(i)];
    ++count(side);
    squares(side) += y[at(i)] * y[at(i)];
  }
  for (const Index side : {0, 1}) {
    tree.estimates(side + 1, 0) = sum(side) / count(side);
    tree.weight(side + 1) = count(side);
    tree.loss(side + 1) = squares(side) - sum(side) * sum(side) / count(side);
  }
  tree.gain(0) = tree.loss(0) - tree.loss(1) - tree.loss(2);
  tree.importance.setZero();
  tree.importance(0) = tree.gain(0);
  tree.details = {};
  tree.details.turned = {0, 0, 0};
  tree.nodes.nodes[0].missing_left = true;
  tree.complexity(0) = tree.cp_table(0, 0) = tree.gain(0) / tree.loss(0);
  tree.cp_table(1, 2) = (tree.loss(1) + tree.loss(2)) / tree.loss(0);
  const Certificate wrong = certify(tree, rows, {});
  EXPECT_FALSE(wrong.holds());
  EXPECT_EQ(wrong.kind, "shortfall of a split beside the best of its node") << wrong.message;
}

/// Rows of two classes, in each of which Gini's index is counted by another loop than that of weighed rows.
TEST(Tree, OfTwoClassesThatDidNotLookAtTheBestColumnFailsTheCertificate) {
  const Toy data = toy(300);
  Labels label;
  for (const auto& side : data.side) label.push_back(side == "up" ? 1 : 0);
  Matrix blind = data.x;
  blind.col(0).setZero();
  const Tree spec{.min_split = 2, .min_leaf = 1, .depth = 3, .surrogates = 0, .folds = 0};
  const TreeModel tree = fit(spec, blind, data.side), seeing = fit(spec, data.x, data.side);
  for (const double weight : {1.0, 2.0}) {  // of 2 they are weighed
    MemoryRows rows(data.x);
    rows.labels(label, {"down", "up"});
    const std::vector<double> weights(data.side.size(), weight);
    if (weight != 1) rows.weights(weights);
    const auto best_of = [&](const TreeModel& model) { return tree::recount(model, rows, data.x, {}).splits; };
    const auto found = best_of(seeing), missed = best_of(tree);
    for (Index i = 0; i < seeing.nodes.size(); ++i)
      if (!seeing.nodes.is_leaf(i)) { EXPECT_NEAR(found[at(i)].best, weight * seeing.gain(i), 1e-9); }
    EXPECT_GT(missed[0].best, 1.5 * weight * tree.gain(0));
    if (weight != 1) continue;
    EXPECT_TRUE(certify(seeing, rows, {}).holds());
    const Certificate wrong = certify(tree, rows, {});
    EXPECT_FALSE(wrong.holds());
    EXPECT_EQ(wrong.kind, "shortfall of a split beside the best of its node") << wrong.message;
  }
}

TEST(Tree, HoldsItsCertificateUnderEveryCriterionAndTreatmentOfMissingValues) {
  Toy data = toy(240);
  for (Index i = 0; i < 240; i += 7) data.x(i, 0) = kNone;
  for (Index i = 3; i < 240; i += 11) data.x(i, 1) = kNone;
  for (const TreeMissing missing : {TreeMissing::surrogates, TreeMissing::direction, TreeMissing::fractions}) {
    for (const auto criterion : {TreeCriterion::variance, TreeCriterion::absolute}) {
      const TreeModel tree = fit(Tree{.criterion = criterion, .missing = missing}, data.x, data.y);
      EXPECT_TRUE(tree.certificate.holds()) << name_of(missing) << name_of(criterion) << tree.certificate.message;
      EXPECT_GT(tree.nodes.leaves(), 3);
    }
    const TreeModel counts = fit(Tree{.criterion = TreeCriterion::poisson, .missing = missing}, data.x,
                                 Vector(data.y.cwiseAbs().array().round()));
    EXPECT_TRUE(counts.certificate.holds()) << name_of(missing) << counts.certificate.message;
    for (const auto criterion : {TreeCriterion::gini, TreeCriterion::entropy, TreeCriterion::misclassification}) {
      const TreeModel tree = fit(Tree{.criterion = criterion, .cp = 0, .missing = missing}, data.x, data.side);
      EXPECT_TRUE(tree.certificate.holds()) << name_of(missing) << name_of(criterion) << tree.certificate.message;
      EXPECT_GT(tree.nodes.leaves(), 2);
    }
  }
}

TEST(Tree, HoldsItsCertificateWithPriorsLossesBoundsAndShrinkage) {
  const Toy data = toy(240);
  for (const Tree& spec :
       {Tree{.prior = Prior::uniform}, Tree{.prior = std::vector<double>{0.9, 0.1}}, Tree{.loss = {0, 1, 5, 0}},
        Tree{.cp = 0, .monotone = {1, 1, 0}}, Tree{.shrink = 10}, Tree{.leaves = 4}, Tree{.min_decrease = 0.01},
        Tree{.purity = 0.9}, Tree{.prune = TreePruning::one_se}, Tree{.prune = TreePruning::least},
        Tree{.prune = TreePruning::validation, .validation = 0.3}, Tree{.min_split = 2, .cp = -1}}) {
    const TreeModel tree = fit(spec, data.x, data.side);
    EXPECT_TRUE(tree.certificate.holds()) << to_json(to_value(spec), -1) << tree.certificate.message;
  }
}

TEST(Tree, OfCategoriesIsTheBestOfAllSetsOfThem) {
  const auto votes = fit(Tree{.cp = 0}, formula("Class ~ ."), dataset("house_votes"));
  EXPECT_TRUE(votes.certificate.holds()) << votes.certificate.message;
  const auto soybean = fit(Tree{.cp = 0.005}, formula("Class ~ ."), dataset("soybean"));
  EXPECT_TRUE(soybean.certificate.holds()) << soybean.certificate.message;
  EXPECT_GT(soybean.nodes.leaves(), 10);
}

// ---- What the parameters mean ----

TEST(Tree, PartsCategoriesInTheOrderOfTheirMeansWhereALeafMustHaveSeveralRows) {
  std::vector<double> y;
  std::vector<std::string> g;
  for (int i = 0; i < 30; ++i) {  // {p, r} against {q} is the only pair of sides with seven rows each
    g.emplace_back(i < 5 ? "p" : i < 25 ? "q" : "r");
    y.push_back((i < 5 ? 0 : i < 25 ? 1 : 5) + 0.01 * (i % 3));
  }
  const Table table({categorical("g", g), numeric("y", y)}, "categories");
  const auto m = fit(Tree{.min_leaf = 7}, formula("y ~ g"), table);
  EXPECT_EQ(m.nodes.size(), 1);
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
  EXPECT_EQ(fit(Tree{.min_leaf = 5, .cp = 0.1}, formula("y ~ g"), table).nodes.size(), 3);  // {r} by itself
}

TEST(Tree, OfAMonotoneColumnNeverFallsAlongIt) {
  const Toy data = toy(400);
  const TreeModel tree = fit(Tree{.min_split = 4, .cp = 0, .monotone = {1, 1, -1}, .folds = 0}, data.x, data.y);
  RandomStream random(5);
  for (int k = 0; k < 200; ++k) {
    Matrix pair(2, 3);
    for (double& each : pair.row(0)) each = random.normal();
    pair.row(1) = pair.row(0);
    const auto column = static_cast<Index>(random.below(3));
    pair(1, column) += 2 * random.uniform();
    const Vector said = tree.predict(pair);
    EXPECT_GE((column == 2 ? -1 : 1) * (said(1) - said(0)), 0);
  }
  EXPECT_GT(tree.nodes.leaves(), 5);
}

TEST(Tree, OfLimitedLeavesTakesTheBestSplitsFirst) {
  const Toy data = toy(300);
  const TreeModel three = fit(Tree{.cp = 0, .leaves = 3, .folds = 0}, data.x, data.y);
  EXPECT_EQ(three.nodes.leaves(), 3);
  EXPECT_EQ(fit(Tree{.cp = 0, .leaves = 1, .folds = 0}, data.x, data.y).nodes.leaves(), 1);
  EXPECT_GE(three.gain(0), three.gain.tail(4).maxCoeff());
}

TEST(Tree, PrunedByCpIsTheTreeGrownWithIt) {
  const Toy data = toy(300);
  const TreeModel large = fit(Tree{.cp = 0.001}, data.x, data.y);
  for (const double cp : {0.002, 0.01, 0.05, 0.5}) {
    const TreeModel grown = fit(Tree{.cp = cp}, data.x, data.y), cut = large.prune(TreePrune{.cp = cp});
    EXPECT_EQ(cut.number, grown.number) << cp;
    EXPECT_EQ(cut.estimates, grown.estimates);
    EXPECT_EQ(cut.importance, grown.importance);
    EXPECT_TRUE(cut.cp_table.leftCols(3).isApprox(grown.cp_table.leftCols(3), 1e-9));
    MemoryRows rows(data.x);
    const std::vector<double> y(data.y.begin(), data.y.end());
    rows.response(y);
    const Certificate again = verify(cut, rows);
    EXPECT_TRUE(again.holds()) << again.message;
  }
  EXPECT_THROW(large.prune(TreePrune{.cp = 0.0001}), Error);
  EXPECT_NE(large.prune(TreePrune{.form = TreeForm::rules}).summary({}).find("if x"), std::string::npos);
}

TEST(Tree, OfTheOneSeRuleIsTheSmallestWithinOneStandardErrorOfTheLeast) {
  const Toy data = toy(300);
  const TreeModel all = fit(Tree{.cp = 0.001}, data.x, data.y),
                  one = fit(Tree{.cp = 0.001, .prune = TreePruning::one_se}, data.x, data.y);
  Index least = 0;
  const double error = all.cp_table.col(3).minCoeff(&least);
  const double most = error + all.cp_table(least, 4);
  const Index row = one.cp_table.rows() - 1;
  EXPECT_LE(all.cp_table(row, 3), most);
  for (Index i = 0; i < row; ++i) EXPECT_GT(all.cp_table(i, 3), most);
  EXPECT_EQ(one.nodes.leaves(), static_cast<Index>(all.cp_table(row, 1)) + 1);
}

TEST(Tree, CrossValidatesAnErrorNearThatOfNewRows) {
  const Toy data = toy(600), fresh = toy(4000, 77);
  const TreeModel tree = fit(Tree{}, data.x, data.y);
  const double truth = (tree.predict(fresh.x) - fresh.y).squaredNorm() / 4000 / (tree.loss(0) / tree.weight(0));
  const Index last = tree.cp_table.rows() - 1;
  EXPECT_NEAR(tree.cp_table(last, 3), truth, 4 * tree.cp_table(last, 4));
  EXPECT_GT(tree.cp_table(last, 3), tree.cp_table(last, 2));
}

TEST(Tree, PrunedByRowsKeptAsideIsSmallerThanTheTreeThatWasGrown) {
  const Toy data = toy(600);
  const Tree grown{.min_split = 2, .cp = -1, .folds = 0},
      cut{.min_split = 2, .cp = -1, .prune = TreePruning::validation, .folds = 0, .validation = 0.3};
  const TreeModel large = fit(grown, data.x, data.side), small = fit(cut, data.x, data.side);
  EXPECT_LT(small.nodes.leaves(), large.nodes.leaves() / 2);
  EXPECT_NEAR(small.weight(0), 420, 1);
}

TEST(Tree, ShrunkLeavesLieBetweenTheirRowsAndTheirParent) {
  const Toy data = toy(300);
  const TreeModel plain = fit(Tree{.folds = 0}, data.x, data.y),
                  drawn = fit(Tree{.shrink = 20, .folds = 0}, data.x, data.y);
  for (Index i = 0; i < plain.nodes.size(); ++i) {
    if (plain.nodes.is_leaf(i)) continue;
    for (const Index child : {plain.nodes.left(i), plain.nodes.right(i)})
      EXPECT_NEAR(
          drawn.estimates(child, 0),
          (plain.weight(child) * plain.estimates(child, 0) + 20 * drawn.estimates(i, 0)) / (plain.weight(child) + 20),
          1e-12);
  }
}

TEST(Tree, ALossOfFiveForMissingOneClassMakesItRarerMissed) {
  const Toy data = toy(400);
  const auto missed = [&](const Tree& spec) {
    const TreeModel tree = fit(spec, data.x, data.side);
    const Labels said = tree.classify(data.x);
    int out = 0;
    for (std::size_t i = 0; i < said.size(); ++i) out += data.side[i] == "up" && said[i] == 0;
    return out;
  };
  EXPECT_LT(missed(Tree{.loss = {0, 1, 5, 0}}), missed(Tree{}));
}

// ---- Missing values ----

TEST(Tree, SurrogatesSendARowWhereTheSplitWouldHave) {
  RandomStream random(9);
  Matrix x(200, 2);
  Vector y(200);
  for (Index i = 0; i < 200; ++i) {
    x(i, 0) = random.uniform();
    x(i, 1) = 10 * x(i, 0) + 0.01 * random.normal();  // the same with another unit
    y(i) = x(i, 0) > 0.6 ? 1 : 0;
  }
  const TreeModel tree = fit(Tree{.folds = 0}, x, y);
  ASSERT_EQ(tree.details.node.size(), 1U);
  EXPECT_GT(tree.details.agreement[0], 0.98);
  Matrix rows(4, 2);
  rows << kNone, 9, kNone, 1, kNone, kNone, 0.1, kNone;
  const Vector said = tree.predict(rows);
  EXPECT_GT(said(0), 0.9);
  EXPECT_LT(said(1), 0.1);
  EXPECT_LT(said(2), 0.1) << "with the majority";
  EXPECT_LT(said(3), 0.1);
  EXPECT_EQ(tree.path(rows)[0].find("x1>="), 0U) << tree.path(rows)[0];
  EXPECT_NE(tree.path(rows)[0].find("(missing)"), std::string::npos);
}

TEST(Tree, ALearnedDirectionUsesThatAValueIsMissing) {
  RandomStream random(9);
  Matrix x(300, 1);
  Vector y(300);
  for (Index i = 0; i < 300; ++i) {
    x(i, 0) = random.uniform();
    y(i) = x(i, 0) > 0.3 ? 5 : 0;
    if (i % 5 == 0) {
      x(i, 0) = kNone;
      y(i) = 0;  // what is missing is low
    }
  }
  const TreeModel tree = fit(Tree{.missing = TreeMissing::direction, .folds = 0}, x, y);
  const Matrix missing = Matrix::Constant(1, 1, kNone);
  EXPECT_LT(tree.predict(missing)(0), 0.1);
  EXPECT_NEAR(tree.loss(1) + tree.loss(2), 0, 1e-9);
}

TEST(Tree, ShapValuesAddUpToThePredictionAlsoOfRowsThatMissSome) {
  const Toy data = toy(300);
  Matrix rows = data.x.topRows(40);
  for (Index i = 0; i < 40; ++i)
    if (i % 2) rows(i, i % 3) = kNone;
  rows.row(39).setConstant(kNone);
  for (const auto missing : {TreeMissing::surrogates, TreeMissing::direction, TreeMissing::fractions}) {
    const TreeModel numbers = fit(Tree{.cp = 0, .missing = missing, .shrink = 2, .folds = 0}, data.x, data.y);
    const Matrix phi = numbers.shap(rows);
    EXPECT_LT((phi.rowwise().sum() + numbers.shap_base(rows) - numbers.predict(rows)).cwiseAbs().maxCoeff(), 1e-10);
    EXPECT_GT(phi.cwiseAbs().maxCoeff(), 0.1);
    if (missing == TreeMissing::fractions) { EXPECT_LT(std::abs(phi(1, 1)), 1e-12) << "what is missing adds nothing"; }
    const TreeModel classes = fit(Tree{.cp = 0, .missing = missing, .folds = 0}, data.x, data.side);
    const Matrix each = classes.shap(rows), base = classes.shap_base(rows), p = classes.probabilities(rows);
    for (Index k = 0; k < 2; ++k)
      EXPECT_LT((each.middleCols(3 * k, 3).rowwise().sum() + base.col(k) - p.col(k)).cwiseAbs().maxCoeff(), 1e-10);
  }
}

TEST(Tree, FractionsAverageBothWaysByTheirRows) {
  const Toy data = toy(300);
  const TreeModel tree = fit(Tree{.depth = 1, .missing = TreeMissing::fractions, .folds = 0}, data.x, data.y);
  const Matrix missing = Matrix::Constant(1, 3, kNone);
  EXPECT_NEAR(tree.predict(missing)(0), data.y.mean(), 1e-9);
}

// ---- Bad input ----

TEST(Tree, NamesAColumnWithoutAnyValueAndGoesOn) {
  Toy data = toy(100);
  data.x.col(2).setConstant(kNone);
  const TreeModel tree = fit(Tree{}, data.x, data.y);
  ASSERT_EQ(tree.warnings.size(), 1U);
  EXPECT_NE(tree.warnings[0].find("'x3'"), std::string::npos);
  EXPECT_TRUE(tree.certificate.holds()) << tree.certificate.message;
}

TEST(Tree, TakesTenThousandLevelsInItsStride) {
  RandomStream random(4);
  std::vector<std::string> level;
  std::vector<double> y;
  for (int i = 0; i < 20000; ++i) {
    const auto code = random.below(10000);
    level.push_back("level" + std::to_string(code));
    y.push_back((code % 2 == 0 ? 3 : 0) + random.normal());
  }
  Table table({}, "many");
  table.add(categorical("g", level));
  table.add(numeric("y", y));
  const auto tree = fit(Tree{.folds = 0}, formula("y ~ g"), table);
  EXPECT_TRUE(tree.certificate.holds()) << tree.certificate.message;
  EXPECT_LT(tree.cp_table(tree.cp_table.rows() - 1, 2), 0.4);
}

TEST(Tree, ALevelThatANodeNeverSawGoesWithTheMajority) {
  std::vector<std::string> g;
  std::vector<double> a, y;
  for (int i = 0; i < 90; ++i) {
    a.push_back(i < 30 ? 0 : 1);
    g.push_back(i < 30 ? "rare" : i % 3 == 0 ? "p" : "q");
    y.push_back(i < 30 ? -50 : g.back() == "p" ? 0 : 9);
  }
  Table table({}, "levels");
  table.add(numeric("a", a));
  table.add(categorical("g", g));
  table.add(numeric("y", y));
  const auto tree = fit(Tree{.surrogates = 0, .folds = 0}, formula("y ~ a + g"), table);
  Table unseen({}, "unseen");
  unseen.add(numeric("a", {1.0}));
  unseen.add(categorical("g", {"rare"}));
  EXPECT_NEAR(tree.predict(unseen)(0), 9, 1e-9);
}

TEST(Tree, OfAConstantResponseIsOneLeafAndSaysSo) {
  const Toy data = toy(50);
  const TreeModel tree = fit(Tree{}, data.x, Vector(Vector::Constant(50, 7.5)));
  EXPECT_EQ(tree.nodes.leaves(), 1);
  EXPECT_EQ(tree.predict(data.x), Vector::Constant(50, 7.5));
  ASSERT_EQ(tree.warnings.size(), 1U);
  EXPECT_TRUE(tree.certificate.holds()) << tree.certificate.message;
  EXPECT_FALSE(tree.summary({}).empty());
}

TEST(Tree, AClassWithOneRowIsAClass) {
  Toy data = toy(60);
  data.side[17] = "odd";
  const TreeModel tree = fit(Tree{.min_split = 2, .cp = 0}, data.x, data.side);
  EXPECT_EQ(tree.class_count(), 3);
  EXPECT_EQ(tree.classes[at(tree.classify(data.x)[17])], "odd");
  EXPECT_TRUE(tree.certificate.holds()) << tree.certificate.message;
}

std::string message_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) { return error.what(); }
  return "nothing was wrong";
}

TEST(Tree, RefusesWhatItCannotUseByItsName) {
  Toy data = toy(60);
  const Vector zero = Vector::Zero(60);
  const auto says = [&](const std::string& message, const std::string& word) {
    EXPECT_NE(message.find(word), std::string::npos) << message;
  };
  says(message_of([&] { fit(Tree{}, data.x, data.y, {.weights = zero}); }), "weight above 0");
  says(message_of([&] { fit(Tree{.criterion = TreeCriterion::gini}, data.x, data.y); }), "'gini' is for classes");
  says(message_of([&] { fit(Tree{.criterion = TreeCriterion::poisson}, data.x, data.y); }), "counts");
  says(message_of([&] { fit(Tree{.loss = {0, 1, 1}}, data.x, data.side); }), "loss has 3");
  says(message_of([&] { fit(Tree{.loss = {1, 1, 1, 0}}, data.x, data.side); }), "itself");
  says(message_of([&] { fit(Tree{.monotone = {1}}, data.x, data.y); }), "monotone has 1");
  says(message_of([&] { fit(Tree{.validation = 0.3}, data.x, data.y); }), "--prune validation");
  says(message_of([&] { fit(Tree{.prune = TreePruning::one_se, .folds = 0}, data.x, data.y); }), "folds");
  data.x(7, 1) = std::numeric_limits<double>::infinity();
  says(message_of([&] { fit(Tree{}, data.x, data.y); }), "'x2' is infinite in row 8");
}

// ---- Invariance ----

TEST(Tree, DoesNotDependOnMonotoneChangesOfTheColumns) {
  const Toy data = toy(300);
  Matrix changed = data.x;
  changed.col(0) = data.x.col(0).array().exp();
  changed.col(1) = data.x.col(1).array().cube();
  const TreeModel a = fit(Tree{}, data.x, data.y), b = fit(Tree{}, changed, data.y);
  EXPECT_EQ(a.number, b.number);
  EXPECT_EQ(a.predict(data.x), b.predict(changed));
  EXPECT_EQ(a.cp_table, b.cp_table);
}

}  // namespace
}  // namespace lemma
