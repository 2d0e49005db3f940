// lemma/bayes/naive_bayes/sparse_test.cpp: texts and other rows without their zeros; counts held against the other classes.
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/bayes/naive_bayes.hpp>
#include <lemma/core/random.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/model/fit.hpp>
#include <tests/message_of.hpp>
#include <tests/sparse_of.hpp>

namespace lemma {
namespace {

using Names = std::vector<std::string>;

/// Counts of three classes, most of them 0.
struct Counts {
  Matrix x;
  Labels codes;
  explicit Counts(Index n, std::uint64_t seed = 3) : x(Matrix::Zero(n, 40)) {
    RandomStream random(seed);
    for (Index i = 0; i < n; ++i) {
      const int k = static_cast<int>(random.below(3));
      codes.push_back(k);
      for (int word = 0; word < 5; ++word) x(i, random.below(20) + 10 * k) += 1;
    }
  }
};

/// The same rows with and without their zeros.
struct Both {
  Csr sparse;
  MemoryRows dense_rows, sparse_rows;
  explicit Both(const Counts& counts) : sparse(sparse_of(counts.x)), dense_rows(counts.x), sparse_rows(sparse) {
    dense_rows.labels(counts.codes, {"a", "b", "c"});
    sparse_rows.labels(counts.codes, {"a", "b", "c"});
  }
};

TEST(NaiveBayesSparse, FitsAndSaysTheSameWithoutZeros) {
  const Counts counts(300), later(70, 8);
  const Both rows(counts);
  Names mixed(40, "multinomial");
  mixed[0] = mixed[39] = "gaussian";
  mixed[1] = "bernoulli";
  mixed[2] = "poisson";
  mixed[3] = "complement";
  mixed[4] = mixed[12] = "density";
  for (const Names& kinds : {Names{"multinomial"}, Names{"complement"}, Names{"bernoulli"}, Names{"poisson"}, mixed}) {
    const Valid<NaiveBayes> spec(NaiveBayes{.kinds = kinds, .smoothing = 0.7, .floor = 0.1});
    const auto dense = fit(spec, rows.dense_rows, {}), sparse = fit(spec, rows.sparse_rows, {});
    EXPECT_LT((dense.parameters - sparse.parameters).cwiseAbs().maxCoeff(), 1e-14) << kinds[0];
    EXPECT_LT((dense.deviations - sparse.deviations).cwiseAbs().maxCoeff(), 1e-13) << kinds[0];
    EXPECT_TRUE(sparse.certificate.holds()) << sparse.certificate.message;
    EXPECT_TRUE(certify(sparse, rows.dense_rows, {}).holds());
    EXPECT_TRUE(certify(dense, rows.sparse_rows, {}).holds());
    const Matrix a = dense.decision(later.x), b = sparse.decision(sparse_of(later.x), {});
    EXPECT_LT((a - b).cwiseAbs().maxCoeff(), 1e-11 * (1 + a.cwiseAbs().maxCoeff())) << kinds[0];
  }
}

TEST(NaiveBayesSparse, MissingEntriesLeaveTheirFactorOut) {
  Counts counts(200);
  for (Index i = 0; i < 200; i += 9) counts.x(i, i % 40) = std::numeric_limits<double>::quiet_NaN();
  const Both rows(counts);
  const Valid<NaiveBayes> spec(NaiveBayes{.kinds = {"bernoulli"}});
  const auto dense = fit(spec, rows.dense_rows, {}), sparse = fit(spec, rows.sparse_rows, {});
  EXPECT_EQ(dense.known, sparse.known);
  EXPECT_LT((dense.parameters - sparse.parameters).cwiseAbs().maxCoeff(), 1e-14);
  EXPECT_LT((dense.decision(counts.x) - sparse.decision(rows.sparse, {})).cwiseAbs().maxCoeff(), 1e-10);
}

TEST(NaiveBayesSparse, ARowSaysTheSameAloneAndOnAnyNumberOfThreads) {
  const Counts counts(300);
  const Both rows(counts);
  const auto model = fit(Valid<NaiveBayes>(NaiveBayes{.kinds = {"multinomial"}}), rows.sparse_rows, {});
  const Matrix all = model.decision(rows.sparse, Execution{.threads = 3});
  EXPECT_EQ(all, model.decision(rows.sparse, Execution{.threads = 1}));
  for (const Index i : {0, 17, 299}) EXPECT_EQ(all.row(i), model.decision(some_rows(rows.sparse, i, 1), {}).row(0));
}

/// Rennie's weights by hand.
TEST(NaiveBayesSparse, ComplementCountsWhatAllOtherClassesHave) {
  const Counts counts(120);
  const Both rows(counts);
  const double alpha = 0.5;
  const auto model =
      fit(Valid<NaiveBayes>(NaiveBayes{.kinds = {"complement"}, .smoothing = alpha, .prior = Prior::uniform}),
          rows.sparse_rows, {});
  Matrix elsewhere = Matrix::Constant(3, 40, alpha);
  for (Index i = 0; i < 120; ++i)
    for (Index k = 0; k < 3; ++k)
      if (counts.codes[at(i)] != k) elsewhere.row(k) += counts.x.row(i);
  for (Index k = 0; k < 3; ++k) elsewhere.row(k) /= elsewhere.row(k).sum();
  EXPECT_LT((model.parameters - elsewhere).cwiseAbs().maxCoeff(), 1e-15);
  const Matrix scores = model.decision(counts.x);
  const Matrix expected = (-counts.x * elsewhere.array().log().matrix().transpose()).array() + std::log(1.0 / 3);
  EXPECT_LT((scores - expected).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(NaiveBayesSparse, TheNaturalWrongSharesFailTheCertificate) {
  const Counts counts(120);
  const Both rows(counts);
  const auto right = fit(Valid<NaiveBayes>(NaiveBayes{.kinds = {"complement"}}), rows.sparse_rows, {});
  const auto own = fit(Valid<NaiveBayes>(NaiveBayes{.kinds = {"multinomial"}}), rows.sparse_rows, {});
  NaiveBayesModel wrong = right;  // shares of the class itself
  wrong.parameters = own.parameters;
  EXPECT_FALSE(certify(wrong, rows.sparse_rows, {}).holds());
  NaiveBayesModel entries = own;  // means over the entries, zeros forgotten
  for (Index k = 0; k < 3; ++k)
    for (Index j = 0; j < 40; ++j) {
      double n = 0, sum = 0;
      for (Index i = 0; i < 120; ++i)
        if (counts.codes[at(i)] == k && counts.x(i, j) != 0) {
          n += 1;
          sum += counts.x(i, j);
        }
      entries.known(k, j) = n;
      entries.means(k, j) = n > 0 ? sum / n : 0;
    }
  EXPECT_FALSE(certify(entries, rows.sparse_rows, {}).holds());
  Csr other = rows.sparse;  // another count in one row
  other.value[5] += 1;
  MemoryRows changed(other);
  changed.labels(counts.codes, {"a", "b", "c"});
  EXPECT_FALSE(certify(right, changed, {}).holds());
}

// ---- texts ----

Table mails() {
  return Table({categorical("class", {"ham", "ham", "spam", "spam"}),
                text("body", {"see you at the meeting", "lunch at noon? see menu", "win money now, money!", ""})});
}

TEST(NaiveBayesText, TakesWordsAsCountsOfOneMultinomial) {
  const auto model = fit(NaiveBayes{}, formula("class ~ text(body)"), mails());
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  ASSERT_EQ(model.spec.kinds.size(), model.design.features().size());
  for (const auto& kind : model.spec.kinds) EXPECT_EQ(kind, "multinomial");
  const auto& words = model.design.features();
  const auto money = static_cast<Index>(std::find(words.begin(), words.end(), "body[money]") - words.begin());
  const double p = static_cast<double>(words.size());
  EXPECT_NEAR(model.parameters(1, money), (2 + 1) / (4 + p), 1e-15);
  EXPECT_NEAR(model.parameters(0, money), 1 / (10 + p), 1e-15);
  const auto present = fit(NaiveBayes{}, formula("class ~ text(body, weight = \"binary\")"), mails());
  EXPECT_EQ(present.spec.kinds[0], "bernoulli");
}

TEST(NaiveBayesText, ThePriorSpeaksForEmptyTextsAndUnseenWords) {
  const auto model = fit(NaiveBayes{.prior = std::vector<double>{0.25, 0.75}}, formula("class ~ text(body)"), mails());
  const Table fresh({text("body", {"", "zebra zebra", "money zebra"})});
  const Prediction said = model.trained.predict(fresh);
  for (Index i = 0; i < 2; ++i) EXPECT_NEAR(said.probabilities()(i, 1), 0.75, 1e-15);
  EXPECT_GT(said.probabilities()(2, 1), 0.85);
}

TEST(NaiveBayesText, KeepsOtherColumnsWhatTheyAre) {
  Table table = mails();
  table.add(numeric("size", {1.0, 2.5, 7.0, 8.0}));
  table.add(categorical("day", {"mo", "tu", "mo", "tu"}));
  const auto model = fit(NaiveBayes{}, formula("class ~ size + day + text(body)"), table);
  EXPECT_EQ(model.spec.kinds[0], "gaussian");
  EXPECT_EQ(model.spec.kinds[1], "categorical");
  EXPECT_EQ(model.spec.kinds[2], "multinomial");
  EXPECT_NEAR(model.parameters(0, 0), 1.75, 1e-15);
  EXPECT_NEAR(model.level_probabilities(0, 0), 0.5, 1e-15);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
}

TEST(NaiveBayesText, SaysWhichWordsTell) {
  std::vector<std::string> bodies, classes;
  for (int i = 0; i < 40; ++i) {
    classes.emplace_back(i % 2 == 0 ? "ham" : "spam");
    bodies.push_back((i % 2 == 0 ? "meeting w" : "money w") + std::to_string(i));
  }
  const auto model =
      fit(NaiveBayes{}, formula("class ~ text(body)"), Table({categorical("class", classes), text("body", bodies)}));
  Names features = model.design.features();
  const std::string said = model.summary({.features = features, .classes = {"ham", "spam"}});
  EXPECT_NE(said.find("body[money] ("), std::string::npos) << said;
  EXPECT_NE(said.find("42 multinomial columns"), std::string::npos) << said;
}

TEST(NaiveBayesText, RefusesCountsBelowZero) {
  const Counts counts(50);
  Csr x = sparse_of(counts.x);
  x.value[7] = -1;
  MemoryRows rows(x);
  rows.labels(counts.codes, {"a", "b", "c"});
  const std::string said = message_of([&] { fit(Valid<NaiveBayes>(NaiveBayes{.kinds = {"multinomial"}}), rows, {}); });
  EXPECT_NE(said.find("is -1 in row"), std::string::npos) << said;
}

}  // namespace
}  // namespace lemma
