// lemma/ensemble/stacking_test.cpp: what is learned from predictions out of fold, and that nothing is learned from others.
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/core/row_views.hpp>
#include <lemma/ensemble/shared/out_of_fold.hpp>
#include <lemma/ensemble/stacking.hpp>
#include <lemma/model/fit.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

AnySpec method(const char* text) { return parse_method(text).completed(); }

/// A line and a step: neither a plane nor a tree says all of it.
struct Mixed {
  Matrix x;
  std::vector<double> y;
  Labels label;
  std::vector<std::string> names{"a", "b", "c"};
  MemoryRows numbers, classes;
  explicit Mixed(Index n, std::uint64_t seed = 5) : x(n, 3), numbers(x), classes(x) {
    RandomStream stream(seed);
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < 3; ++j) x(i, j) = stream.normal();
      y.push_back(2 * x(i, 0) + (x(i, 1) * x(i, 2) > 0 ? 3 : 0) + 0.5 * stream.normal());
      label.push_back(y.back() > 3 ? 2 : y.back() > 0.5 ? 1 : 0);
    }
    numbers.response(y);
    classes.labels(label, names);
  }
  Vector truth() const { return Eigen::Map<const Vector>(y.data(), std::ssize(y)); }
};

TEST(OutOfFold, KeepsEqualRowsTogetherAndSpreadsClassesWhateverTheOrder) {
  const Mixed data(90);
  std::vector<Index> twice, turned;
  for (Index i = 0; i < 90; ++i) {
    twice.insert(twice.end(), 2, i);
    turned.push_back(89 - i);
  }
  const SelectedRows doubled(data.classes, twice), reversed(data.classes, turned);
  const ensemble::TrainingRows once("test", data.classes, {}), two("test", doubled, {}), back("test", reversed, {});
  const Labels fold = ensemble::folds_of("test", once, 5, 3), of_two = ensemble::folds_of("test", two, 5, 3),
               of_back = ensemble::folds_of("test", back, 5, 3);
  Matrix counts = Matrix::Zero(5, 3);
  for (std::size_t i = 0; i < 90; ++i) {
    EXPECT_EQ(of_two[2 * i], fold[i]);
    EXPECT_EQ(of_two[2 * i + 1], fold[i]);
    EXPECT_EQ(of_back[89 - i], fold[i]);
    ++counts(fold[i], data.label[i]);
  }
  for (Index k = 0; k < 3; ++k) EXPECT_LE(counts.col(k).maxCoeff() - counts.col(k).minCoeff(), 1);
}

TEST(OutOfFold, IsWhatAModelSaysThatHasNotSeenTheRow) {
  const Mixed data(40);
  const ensemble::TrainingRows rows("test", data.numbers, {});
  const Labels fold = ensemble::folds_of("test", rows, 4, 1);
  const std::vector<AnySpec> methods{method("kernel_neighbors(k=1)"), method("ols")};
  const auto said = ensemble::out_of_fold("test", methods, rows, fold, 4, 1, nullptr, {});
  for (Index i = 0; i < 40; ++i) {
    double nearest = 1e300, value = 0;
    for (Index j = 0; j < 40; ++j) {
      const double d = (data.x.row(i) - data.x.row(j)).squaredNorm();
      if (fold[static_cast<std::size_t>(j)] == fold[static_cast<std::size_t>(i)] || d >= nearest) continue;
      nearest = d;
      value = data.y[static_cast<std::size_t>(j)];
    }
    EXPECT_NEAR(said.said[0](i, 0), value, 1e-12) << i;
  }
}

TEST(Stacking, IsBetterThanEachOfItsMethods) {
  const Mixed train(400), test(600, 6);
  const auto m = fit(Valid<Stacking>(Stacking{}), train.numbers, {});
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
  ASSERT_EQ(m.models.size(), 2U);
  const double error = (m.predict(test.x) - test.truth()).squaredNorm() / 600;
  for (Index k = 0; k < 2; ++k) {
    const double alone =
        (m.models[static_cast<std::size_t>(k)].predict(test.x).value() - test.truth()).squaredNorm() / 600;
    EXPECT_LT(error, alone);
    EXPECT_NEAR(m.errors(k), alone, 0.4 * alone);  // an error of rows that were not seen
  }
}

TEST(Stacking, OfClassesLearnsFromProbabilitiesOrFromClasses) {
  const Mixed train(300);
  Stacking spec{.methods = std::vector{method("lda"), method("tree(folds=0)"), method("perceptron")}};
  const auto m = fit(Valid<Stacking>(spec), train.classes, {});
  EXPECT_TRUE(verify(m, train.classes).holds()) << verify(m, train.classes).message;
  EXPECT_EQ(m.columns(train.x).cols(), 6);  // three methods, all classes but the first
  const Matrix p = m.probabilities(train.x);
  for (Index i = 0; i < 300; ++i) EXPECT_NEAR(p.row(i).sum(), 1, 1e-12);
  spec.last = method("tree(folds=0)");
  EXPECT_TRUE(fit(Valid<Stacking>(spec), train.classes, {}).certificate.holds());
}

TEST(Stacking, DoesNotDependOnTheOrderOfTheRowsAndTakesAWeightForCopies) {
  const Mixed data(80);
  std::vector<Index> turned, copies;
  std::vector<double> w;
  for (Index i = 0; i < 80; ++i) {
    turned.push_back(79 - i);
    w.push_back(static_cast<double>(i % 3));
    for (Index c = 0; c < i % 3; ++c) copies.push_back(i);
  }
  const Valid<Stacking> spec(Stacking{});
  const auto m = fit(spec, data.numbers, {}), n = fit(spec, SelectedRows(data.numbers, turned), {});
  EXPECT_LT((m.predict(data.x) - n.predict(data.x)).cwiseAbs().maxCoeff(), 1e-9);
  const Certificate other_order = verify(m, SelectedRows(data.numbers, turned));
  EXPECT_TRUE(other_order.holds()) << other_order.message;
  EXPECT_NE(other_order.message.find("another order"), std::string::npos);
  MemoryRows weighted(data.x);
  weighted.response(data.y).weights(w);
  const auto a = fit(spec, weighted, {}), b = fit(spec, SelectedRows(data.numbers, copies), {});
  EXPECT_LT((a.predict(data.x) - b.predict(data.x)).cwiseAbs().maxCoeff(), 1e-8);
}

TEST(Stacking, RefusesWhatItCannotUse) {
  const Mixed data(30);
  const auto refused = [&](const Stacking& spec, const Rows& rows) {
    return message_of([&] { fit(Valid<Stacking>(spec), rows, {}); });
  };
  EXPECT_NE(refused({.methods = std::vector{method("lda"), method("ridge")}}, data.classes)
                .find("classes and others numbers"),
            std::string::npos);
  EXPECT_NE(refused({.methods = std::vector{method("kmeans")}}, data.classes).find("neither classes nor numbers"),
            std::string::npos);
  EXPECT_NE(refused({.methods = std::vector<AnySpec>{}}, data.classes).find("methods are not chosen"),
            std::string::npos);
  EXPECT_NE(refused({.last = method("pca")}, data.numbers).find("last is pca"), std::string::npos);
  EXPECT_NE(refused({.last = method("lda")}, data.numbers).find("lda predicts classes"), std::string::npos);
  EXPECT_NE(refused({.folds = 40}, data.numbers).find("40 folds need as many different rows"), std::string::npos);
  const std::vector<double> none(30, 0.0);
  MemoryRows weighted(data.x);
  weighted.response(data.y).weights(none);
  EXPECT_NE(refused({}, weighted).find("weights add up to 0"), std::string::npos);
  Labels rare(30, 0);
  rare[4] = 1;
  MemoryRows one(data.x);
  one.labels(rare, {"a", "b"});
  EXPECT_NE(refused({}, one).find("class 'b' has only one row"), std::string::npos);
  EXPECT_NE(message_of([] { parse_method("stacking(ridge, tre)"); }).find("did you mean 'tree'?"), std::string::npos);
}

// ---- The certificate ----

TEST(Stacking, TheNaturalWrongAlgorithmFailsItsCertificate) {
  const Mixed data(120);
  const Stacking spec{.methods = std::vector{method("kernel_neighbors(k=1)"), method("ridge")}};
  const auto right = fit(Valid<Stacking>(spec), data.numbers, {});
  ASSERT_TRUE(verify(right, data.numbers).holds()) << verify(right, data.numbers).message;
  StackingModel leaks = right;  // the last method learns from what the models say of rows that they have seen
  const Matrix seen = right.columns(data.x);
  MemoryRows columns(seen);
  columns.response(data.y);
  leaks.last = right.spec.last->fit(columns, {});
  const Certificate found = certify(leaks, data.numbers, {});
  EXPECT_FALSE(found.holds());
  EXPECT_NE(found.message.find("have not seen"), std::string::npos) << found.message;
  StackingModel moved = right;  // a row that is told to be in another fold
  moved.fold[7] = (moved.fold[7] + 1) % 5;
  EXPECT_FALSE(certify(moved, data.numbers, {}).holds());
  StackingModel flattered = right;  // errors of rows that were seen
  flattered.errors(0) = 0;
  EXPECT_FALSE(certify(flattered, data.numbers, {}).holds());
}

TEST(Stacking, EveryModelInsideMustBeTheOneThatWasAskedFor) {
  const Mixed data(120);
  const auto right = fit(Valid<Stacking>(Stacking{}), data.numbers, {});
  StackingModel turned = right;  // tree and ridge
  std::swap(turned.models[0], turned.models[1]);
  EXPECT_NE(certify(turned, data.numbers, {}).message.find("tree stands where ridge was asked for"), std::string::npos);
  StackingModel other = right;  // right for its own penalty
  other.models[0] = method("ridge(lambda=5)").fit(data.numbers, {});
  ASSERT_TRUE(other.models[0]->verify(data.numbers, {}).holds());
  EXPECT_NE(certify(other, data.numbers, {}).message.find("its lambda is not the one"), std::string::npos);
  StackingModel boasts = right;  // it claims more than there is
  Evidence evidence{right.models[1]->certificate(), {}};
  evidence.certificate.strength = Strength::optimal;
  boasts.models[1] =
      right.models[1]->method().load(right.models[1]->params(), right.models[1]->save(), std::move(evidence));
  EXPECT_NE(certify(boasts, data.numbers, {}).message.find("it carries a certificate of"), std::string::npos);
}

}  // namespace
}  // namespace lemma
