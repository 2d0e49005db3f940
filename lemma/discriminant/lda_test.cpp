// lemma/discriminant/lda_test.cpp
#include <gtest/gtest.h>

#include <lemma/core/file.hpp>
#include <lemma/core/random.hpp>
#include <lemma/data/csv.hpp>
#include <lemma/discriminant/lda.hpp>
#include <lemma/discriminant/shared/sample_test.hpp>
#include <lemma/math/multiply.hpp>
#include <lemma/model/fit.hpp>
#include <tests/copied_rows.hpp>
#include <tests/golden.hpp>
#include <tests/places.hpp>

namespace lemma {
namespace {

const std::vector<std::string> kCrabColumns{"FL", "RW", "CL", "CW", "BD"};
Sample crabs() { return read("crabs", kCrabColumns, {"sp", "sex"}, true); }
Sample iris() { return read("iris", {"sepal_length", "sepal_width", "petal_length", "petal_width"}, {"species"}); }

MemoryRows rows_of(const Sample& sample, const Labels& codes) {
  MemoryRows rows(sample.x);
  rows.labels(codes, sample.classes());
  return rows;
}

/// K Gaussian classes with a common covariance.
Sample gaussian(Index n, Index p, int k, std::uint64_t seed = 5) {
  const Matrix centres = 2 * normal_matrix(k, p, seed, 1), mix = normal_matrix(p, p, seed, 2);
  Sample out{normal_matrix(n, p, seed, 3) * mix, {}};
  for (Index i = 0; i < n; ++i) {
    const int code = static_cast<int>((i / 2) % (k + 1)) % k;  // the first class is twice as frequent
    out.x.row(i) += centres.row(code) * mix;
    out.labels.push_back(std::string(1, static_cast<char>('a' + code)));
  }
  return out;
}

void expect_golden(const Golden& golden, const Sample& sample, const LdaModel& model) {
  EXPECT_EQ(golden.strings("classes"), sample.classes());
  EXPECT_TRUE(golden.agrees("prior", model.prior));
  EXPECT_TRUE(golden.agrees("means", model.means));
  EXPECT_TRUE(golden.agrees("pooled_within_cov", model.covariance));
  EXPECT_TRUE(golden.agrees("scaling_abs", model.scaling));
  EXPECT_TRUE(golden.agrees("svd", model.svd));
  EXPECT_TRUE(golden.agrees("prop_of_trace", model.proportion_of_trace));
  const Matrix shown = golden.shown(sample.x);
  EXPECT_TRUE(golden.agrees("discriminant_scores_abs", model.coordinates(shown)));
  EXPECT_TRUE(golden.agrees("posterior", model.probabilities(shown)));
  const Labels predicted = model.predict(sample.x), truth = sample.codes();
  Matrix confusion = Matrix::Zero(model.class_count(), model.class_count());
  for (std::size_t i = 0; i < truth.size(); ++i) confusion(truth[i], predicted[i]) += 1;
  EXPECT_TRUE(golden.agrees("confusion", confusion));
  EXPECT_TRUE(golden.agrees("training_errors", confusion.sum() - confusion.trace()));
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
}

TEST(Lda, AgreesWithTheReferenceOnCrabs) {
  const Sample sample = crabs();
  expect_golden(Golden("lda_crabs_log"), sample, fit(Lda{}, sample.x, sample.labels));
}
TEST(Lda, AgreesWithTheReferenceOnIris) {
  const Sample sample = iris();
  expect_golden(Golden("lda_iris"), sample, fit(Lda{}, sample.x, sample.labels));
}
TEST(Lda, AgreesWithTheReferenceForGivenPriors) {
  const Sample sample = read("pima_train", {"npreg", "glu", "bp", "skin", "bmi", "ped", "age"}, {"type"});
  expect_golden(Golden("lda_pima_prior"), sample, fit(Lda{.prior = std::vector{0.5, 0.5}}, sample.x, sample.labels));
  expect_golden(Golden("lda_pima_prior"), sample, fit(Lda{.prior = Prior::uniform}, sample.x, sample.labels));
}

TEST(Lda, FindsFishersDirectionOfTheReference) {
  const Golden golden("fisher_crabs_species");
  const Sample sample = read("crabs", kCrabColumns, {"sp"}, true);
  for (const auto covariance : {PooledDivisor::unbiased, PooledDivisor::ml}) {  // the scatter has no divisor
    const auto fisher = fisher_direction(fit(Lda{.covariance = covariance}, sample.x, sample.labels));
    EXPECT_TRUE(golden.agrees("direction_unit", fisher.w));
    EXPECT_TRUE(golden.agrees("max_fisher_ratio", fisher.ratio));
    EXPECT_TRUE(golden.agrees("projection", Vector(golden.shown(sample.x) * fisher.w)));
  }
  EXPECT_THROW(fisher_direction(fit(Lda{}, crabs().x, crabs().labels)), Error);
}

TEST(Lda, ReproducesThePublishedProportionsOfTrace) {
  const auto bytes = read_file(source_dir() + "/tests/golden/published.json");
  const Value published = from_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()}).at("crabs_lda");
  const auto model = fit(Lda{}, crabs().x, crabs().labels);
  const Golden::Rule rule{published.at("compare").at("mode").as_string(),
                          published.at("compare").at("tol").as_double()};
  EXPECT_TRUE(Golden::compare("published", model.proportion_of_trace, published.at("published_prop_of_trace"), rule));
}

TEST(Lda, PrintsTheCrabsTableOfTheReferenceToEveryDigit) {  // as MASS prints it, axes turned by our sign rule
  const auto model = fit(Lda{}, crabs().x, crabs().labels);
  EXPECT_EQ(model.summary({kCrabColumns, crabs().classes(), "sp:sex"}),
            "Prior probabilities of groups:\n"
            "  BF   BM   OF   OM\n"
            "0.25 0.25 0.25 0.25\n"
            "\n"
            "Group means:\n"
            "         FL       RW       CL       CW       BD\n"
            "BF 2.564985 2.475174 3.312685 3.462327 2.441351\n"
            "BM 2.672724 2.443774 3.437968 3.578077 2.560806\n"
            "OF 2.852455 2.683831 3.529370 3.649555 2.733273\n"
            "OM 2.787885 2.489921 3.490431 3.589426 2.701580\n"
            "\n"
            "Coefficients of linear discriminants:\n"
            "          LD1        LD2        LD3\n"
            "FL -31.217207  -2.851488 -25.719750\n"
            "RW  -9.485303 -24.652581   6.067361\n"
            "CL  -9.822169  38.578804  31.679288\n"
            "CW  65.950295 -21.375951 -30.600428\n"
            "BD -17.998493   6.002432  14.541487\n"
            "\n"
            "Proportion of trace:\n"
            "   LD1    LD2    LD3\n"
            "0.6891 0.3018 0.0091\n");
}

TEST(Lda, MatchesTheAnswerByHand) {
  // Classes {0, 2} and {4, 6}: means 1 and 5, scatter 2 + 2, S = 4 / (4 − 2) = 2. x = 3 is half-way.
  const Matrix x{{0.0}, {2.0}, {4.0}, {6.0}};
  const auto model = fit(Lda{}, x, std::vector<std::string>{"a", "a", "b", "b"});
  EXPECT_DOUBLE_EQ(model.covariance(0, 0), 2);
  EXPECT_NEAR(model.scaling(0, 0), 1 / std::sqrt(2.0), 1e-15);
  EXPECT_NEAR(model.svd(0), std::sqrt(4 * 4 / 2.0), 1e-14);  // B = 4 · (½·4 + ½·4) / 1 = 16
  EXPECT_NEAR(model.probabilities(Matrix{{3.0}})(0, 0), 0.5, 1e-15);
  // At x = 2 the log odds are (3 − 2)(5 − 1)/2 = 2.
  const Matrix delta = model.decision(Matrix{{2.0}});
  EXPECT_NEAR(delta(0, 0) - delta(0, 1), 2, 1e-14);
  const auto ml = fit(Lda{.covariance = PooledDivisor::ml}, x, std::vector<std::string>{"a", "a", "b", "b"});
  EXPECT_DOUBLE_EQ(ml.covariance(0, 0), 1);
  EXPECT_TRUE(ml.certificate.holds()) << ml.certificate.message;
}

TEST(Lda, DecisionIsAffineInTheFeatures) {
  const Sample sample = iris();
  const auto model = fit(Lda{}, sample.x, sample.labels);
  const auto map = model.affine();
  const Matrix by_map = multiply_transposed(sample.x, map.a).rowwise() + map.b.transpose();
  EXPECT_LT((by_map - model.decision(sample.x)).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_EQ(model.coordinate_names(), (std::vector<std::string>{"LD1", "LD2"}));
}

TEST(Lda, PosteriorsDoNotChangeUnderLinearMapsAndShifts) {
  const Sample sample = iris();
  Matrix moved = sample.x * (Matrix::Identity(4, 4) + 0.3 * normal_matrix(4, 4, 2));
  moved.rowwise() += Vector{{100.0, -20.0, 3.0, 1e4}}.transpose();
  const auto here = fit(Lda{}, sample.x, sample.labels), there = fit(Lda{}, moved, sample.labels);
  EXPECT_LT((here.probabilities(sample.x) - there.probabilities(moved)).cwiseAbs().maxCoeff(), 1e-8);
  EXPECT_LT((here.svd - there.svd).cwiseAbs().maxCoeff(), 1e-8);
}

TEST(Lda, RenamingTheClassesPermutesTheAnswer) {
  const Sample sample = iris();
  auto renamed = sample.labels;
  for (auto& label : renamed) label = label == sample.classes()[0] ? "z" : label;  // the first becomes the last
  const auto model = fit(Lda{}, sample.x, sample.labels), other = fit(Lda{}, sample.x, renamed);
  const Matrix p = model.probabilities(sample.x), q = other.probabilities(sample.x);
  EXPECT_LT((p.col(0) - q.col(2)).cwiseAbs().maxCoeff() + (p.rightCols(2) - q.leftCols(2)).cwiseAbs().maxCoeff(),
            1e-10);
}

TEST(Lda, WeightsEqualRepetition) {
  const Sample sample = gaussian(60, 3, 3);
  Vector weights(60);
  Sample repeated{Matrix(0, 3), {}};
  for (Index i = 0; i < 60; ++i) {
    weights(i) = static_cast<double>(i % 3);
    for (Index copy = 0; copy < i % 3; ++copy) {
      repeated.x.conservativeResize(repeated.x.rows() + 1, 3);
      repeated.x.bottomRows(1) = sample.x.row(i);
      repeated.labels.push_back(sample.labels[static_cast<std::size_t>(i)]);
    }
  }
  for (const auto shrinkage : {std::optional(0.0), std::optional(0.4), std::optional<double>()}) {
    const auto weighted = fit(Lda{.shrinkage = shrinkage}, sample.x, sample.labels, CallOptions{.weights = weights});
    const auto copied = fit(Lda{.shrinkage = shrinkage}, repeated.x, repeated.labels);
    EXPECT_LT((weighted.scaling - copied.scaling).norm(), 1e-10);
    EXPECT_LT((weighted.prior - copied.prior).norm(), 1e-14);
    EXPECT_NEAR(*weighted.spec.shrinkage, *copied.spec.shrinkage, 1e-12);
  }
}

TEST(Lda, GivesTheSameBitsOnAnyNumberOfThreadsAndFromBlocks) {
  const Sample sample = gaussian(5000, 4, 3);
  const Labels codes = sample.codes();
  const auto rows = rows_of(sample, codes);
  for (const auto shrinkage : {std::optional(0.0), std::optional<double>()}) {
    const Valid<Lda> spec(Lda{.shrinkage = shrinkage});
    const auto one = fit(spec, rows, CallOptions{.threads = 1}), three = fit(spec, rows, CallOptions{.threads = 3}),
               streamed = fit(spec, CopiedRows(rows), CallOptions{.threads = 2});
    for (const auto& other : {three, streamed}) {
      EXPECT_EQ(one.scaling, other.scaling);
      EXPECT_EQ(one.means, other.means);
      EXPECT_EQ(one.covariance, other.covariance);
      EXPECT_EQ(one.svd, other.svd);
      EXPECT_EQ(one.spec.shrinkage, other.spec.shrinkage);
      EXPECT_EQ(one.certificate.value, other.certificate.value);
    }
  }
}

TEST(Lda, TheNaturalWrongAlgorithmsFailTheCertificate) {
  const Sample sample = read("pima_train", {"npreg", "glu", "bp", "skin", "bmi", "ped", "age"}, {"type"});
  const Labels codes = sample.codes();
  const auto rows = rows_of(sample, codes);
  const auto right = fit(Lda{}, sample.x, sample.labels);
  ASSERT_TRUE(certify(right, rows, {}).holds());

  LdaModel wrong_divisor = fit(Lda{.covariance = PooledDivisor::ml}, sample.x, sample.labels);
  wrong_divisor.spec.covariance = PooledDivisor::unbiased;
  EXPECT_FALSE(certify(wrong_divisor, rows, {}).holds());

  LdaModel no_prior = fit(Lda{.prior = Prior::uniform}, sample.x, sample.labels);  // where proportions were asked for
  no_prior.spec.prior = Prior::proportions;
  EXPECT_FALSE(certify(no_prior, rows, {}).holds());
  no_prior.prior = right.prior;  // right priors beside discriminants that forgot them
  EXPECT_FALSE(certify(no_prior, rows, {}).holds());

  LdaModel other_covariance = right;  // right discriminants beside a covariance with another divisor
  other_covariance.covariance *= 1.01;
  EXPECT_FALSE(certify(other_covariance, rows, {}).holds());
  EXPECT_NE(certify(other_covariance, rows, {}).message.find("covariance is not that of these rows"),
            std::string::npos);

  LdaModel total =
      right;  // the total covariance in the place of the pooled one: for two classes only the length differs
  const Matrix centred = sample.x.rowwise() - sample.x.colwise().mean();
  const Matrix total_covariance = gram(centred) / static_cast<double>(sample.x.rows() - 1);
  const Vector v = right.scaling.col(0);
  total.scaling /= std::sqrt(v.dot(total_covariance * v));
  EXPECT_FALSE(certify(total, rows, {}).holds());

  Sample first_only{Matrix(0, 7), {}};  // the covariance of the first class alone, between the two means
  for (Index i = 0; i < sample.x.rows(); ++i)
    for (int k = 0; codes[static_cast<std::size_t>(i)] == 0 && k < 2; ++k) {
      first_only.x.conservativeResize(first_only.x.rows() + 1, 7);
      first_only.x.bottomRows(1) = sample.x.row(i) + k * (right.means.row(1) - right.means.row(0));
      first_only.labels.push_back(k == 0 ? "a" : "b");
    }
  LdaModel unpooled = right;
  unpooled.scaling = fit(Lda{}, first_only.x, first_only.labels).scaling;
  EXPECT_FALSE(certify(unpooled, rows, {}).holds());

  LdaModel shrunk = fit(Lda{.shrinkage = 0.01}, sample.x, sample.labels);
  shrunk.spec.shrinkage = 0.0;
  EXPECT_FALSE(certify(shrunk, rows, {}).holds());
}

TEST(Lda, ADroppedDiscriminantOrADamagedNumberFailsTheCertificate) {
  const Sample sample = crabs();
  const Labels codes = sample.codes();
  const auto rows = rows_of(sample, codes);
  const auto right = fit(Lda{}, sample.x, sample.labels);
  LdaModel first_dropped = right;
  first_dropped.scaling = right.scaling.rightCols(2).eval();
  first_dropped.svd = right.svd.tail(2).eval();
  first_dropped.proportion_of_trace =
      right.proportion_of_trace.tail(2).eval() / right.proportion_of_trace.tail(2).sum();
  EXPECT_FALSE(certify(first_dropped, rows, {}).holds());
  LdaModel scaling = right, means = right, prior = right, svd = right, proportions = right;
  scaling.scaling(1, 1) *= 1 + 1e-6;
  means.means(2, 0) += 1e-6;
  prior.prior(0) += 1e-6;
  svd.svd(2) *= 1 + 1e-4;  // its square is a hundredth of the first, in whose unit the residual is
  proportions.proportion_of_trace(0) += 1e-6;
  for (const auto& damaged : {scaling, means, prior, svd, proportions})
    EXPECT_FALSE(certify(damaged, rows, {}).holds());
  scaling.scaling(0, 0) = std::nan("");
  EXPECT_FALSE(certify(scaling, rows, {}).holds());
}

TEST(Lda, ComesBackFromItsFieldsWithEveryBit) {
  const Sample sample = iris();
  const Labels codes = sample.codes();
  const auto rows = rows_of(sample, codes);
  const auto& method = method_of<Lda>();
  for (const char* params :
       {"{}", R"({"prior": [0.2, 0.3, 0.5], "shrinkage": null})", R"({"prior": "uniform", "covariance": "ml"})"}) {
    const auto model = method.fit(from_json(params), rows, {});
    const auto loaded = method.load(model->params(), model->save(), {model->certificate(), model->warnings()});
    PredictOptions all;
    all.what = {"all"};
    const auto a = model.predict(sample.x, all), b = loaded.predict(sample.x, all);
    EXPECT_EQ(a.label(), b.label());
    EXPECT_EQ(a.probabilities(), b.probabilities());
    EXPECT_EQ(a.coordinates(), b.coordinates());
    EXPECT_TRUE(loaded->verify(rows, {}).holds());
  }
  Value state = method.fit(Value::object(), rows, {})->save();
  state.set("prior", Vector(Vector::Ones(3)));
  EXPECT_THROW(method.load(Value::object(), state, {}), Error);
}

std::string refusal(const Lda& spec, const Sample& sample, const Vector& weights = {}) {
  try {
    fit(spec, sample.x, sample.labels, CallOptions{.weights = weights});
  } catch (const Error& error) { return error.what(); }
  return "";
}

TEST(Lda, SaysWhichColumnsMakeThePooledCovarianceSingular) {
  Sample sample = gaussian(50, 4, 3);
  sample.x.col(2) = sample.x.col(0) - 2 * sample.x.col(1);
  EXPECT_NE(refusal({}, sample).find("'x3' is a combination"), std::string::npos) << refusal({}, sample);
  EXPECT_NE(refusal({}, sample).find("--shrinkage"), std::string::npos);
  EXPECT_TRUE(fit(Lda{.shrinkage = 0.1}, sample.x, sample.labels).certificate.holds());
  sample.x.col(1) =
      Vector::NullaryExpr(50, [&](Index i) { return sample.labels[static_cast<std::size_t>(i)] == "a" ? 1.1 : 0.1; });
  EXPECT_NE(refusal({}, sample).find("'x2' is constant within each class"), std::string::npos) << refusal({}, sample);
  EXPECT_NE(refusal({.shrinkage = 0.5}, sample).find("'x2' is constant"), std::string::npos);
  EXPECT_NE(refusal({}, gaussian(12, 20, 3)).find("at most 9 directions"), std::string::npos)
      << refusal({}, gaussian(12, 20, 3));
}

TEST(Lda, ShrinkageAnswersWhereThereAreMoreColumnsThanRows) {
  const Sample sample = gaussian(30, 60, 2);
  for (const auto shrinkage : {std::optional(0.3), std::optional(1.0), std::optional<double>()}) {
    const auto model = fit(Lda{.shrinkage = shrinkage}, sample.x, sample.labels);
    EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
    EXPECT_GT(*model.spec.shrinkage, 0);
    EXPECT_LE(*model.spec.shrinkage, 1);
  }
  const auto diagonal = fit(Lda{.shrinkage = 1}, sample.x, sample.labels);
  EXPECT_EQ(diagonal.covariance, Matrix(diagonal.covariance.diagonal().asDiagonal()));
}

TEST(Lda, TheChosenShrinkageFallsAsRowsAreAdded) {
  const Sample few = gaussian(24, 8, 2), many = gaussian(20000, 8, 2);
  const double with_few = *fit(Lda{.shrinkage = {}}, few.x, few.labels).spec.shrinkage;
  const double with_many = *fit(Lda{.shrinkage = {}}, many.x, many.labels).spec.shrinkage;
  EXPECT_GT(with_few, 0.05);
  EXPECT_LT(with_many, 0.01);
}

TEST(Lda, ClassesInOnePlaneHaveFewerDiscriminants) {  // three means on a line: one direction tells them apart
  Sample sample{Matrix(12, 3), {}};
  for (Index i = 0; i < 12; ++i) {
    const Index code = i / 4;
    const auto at = static_cast<double>(code);
    sample.x.row(i) = Vector{{at, at, at}}.transpose();
    sample.x(i, i % 4 == 3 ? 0 : i % 4) += 1;
    if (i % 4 == 3) sample.x.row(i) -= Vector{{1, 1, 1}}.transpose();
    sample.labels.push_back(std::string(1, static_cast<char>('a' + code)));
  }
  const auto model = fit(Lda{}, sample.x, sample.labels);
  EXPECT_EQ(model.scaling.cols(), 1);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
}

TEST(Lda, UnitsOfTheColumnsDoNotMatter) {
  Sample sample = iris();
  const auto plain = fit(Lda{}, sample.x, sample.labels);
  const Matrix before = plain.probabilities(sample.x);
  sample.x.col(0) *= 1e-60;
  sample.x.col(2) *= 1e60;
  const auto scaled = fit(Lda{}, sample.x, sample.labels);
  EXPECT_LT((scaled.probabilities(sample.x) - before).cwiseAbs().maxCoeff(), 1e-10);
  EXPECT_TRUE(scaled.certificate.holds()) << scaled.certificate.message;
}

TEST(Lda, RefusesWhatItCannotUse) {
  Sample sample = iris();
  EXPECT_NE(refusal({.prior = std::vector{0.5, 0.6}}, sample).find("must sum to 1"), std::string::npos);
  EXPECT_NE(refusal({.prior = std::vector{0.5, 0.5}}, sample).find("there are 3 classes"), std::string::npos)
      << refusal({.prior = std::vector{0.5, 0.5}}, sample);
  EXPECT_NE(refusal({.prior = std::vector{1.0, 0.0, 0.0}}, sample), "");
  EXPECT_NE(refusal({.shrinkage = 1.5}, sample), "");
  EXPECT_NE(refusal({}, {sample.x, std::vector<std::string>(150, "one")}).find("at least two classes"),
            std::string::npos);
  EXPECT_NE(refusal({}, {sample.x.topRows(2), {"a", "b"}}).find("more rows than classes"), std::string::npos);
  Vector weights = Vector::Ones(150);
  weights.head(50).setZero();
  EXPECT_NE(refusal({}, sample, weights).find("has no rows"), std::string::npos);
  EXPECT_NE(refusal({}, sample, Vector::Constant(150, -1)), "");
  Sample same{Matrix(4, 1), {"a", "a", "b", "b"}};
  same.x << 1, 2, 1, 2;
  EXPECT_NE(refusal({}, same).find("class means are equal"), std::string::npos);
  sample.x(3, 1) = std::nan("");
  EXPECT_NE(refusal({}, sample).find("'x2' is NaN in row 4"), std::string::npos) << refusal({}, sample);
  sample = iris();
  sample.x.col(3) *= 1e200;
  EXPECT_NE(refusal({}, sample).find("'x4' are too large"), std::string::npos) << refusal({}, sample);
  sample = iris();
  sample.x.col(3) *= 1e-200;
  EXPECT_NE(refusal({}, sample).find("'x4'"), std::string::npos) << refusal({}, sample);
}

}  // namespace
}  // namespace lemma
