// lemma/bayes/naive_bayes_test.cpp: the references, mixed columns, missing values, updating, contributions, and bad input.
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/bayes/naive_bayes.hpp>
#include <lemma/core/random.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/model/fit.hpp>
#include <tests/copied_rows.hpp>
#include <tests/golden.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

const double kNone = std::numeric_limits<double>::quiet_NaN();

Matrix columns_of(const Table& table, const std::vector<std::string>& names) {
  Matrix out(table.rows(), static_cast<Index>(names.size()));
  for (std::size_t j = 0; j < names.size(); ++j)
    out.col(static_cast<Index>(j)) =
        Eigen::Map<const Vector>(table.column(names[j]).numbers().values.data(), table.rows());
  return out;
}
std::vector<std::string> texts_of(const Table& table, const std::string& name) {
  std::vector<std::string> out;
  for (Index i = 0; i < table.rows(); ++i) out.emplace_back(table.column(name).text(i));
  return out;
}
/// All columns but one.
std::vector<std::string> others(const Table& table, const std::string& but) {
  std::vector<std::string> out;
  for (const auto& column : table.all())
    if (column.name != but) out.push_back(column.name);
  return out;
}
std::vector<std::string> classes_of(std::vector<std::string> labels) {
  std::sort(labels.begin(), labels.end());
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  return labels;
}
double errors_of(const NaiveBayesModel& model, const Matrix& x, const std::vector<std::string>& labels) {
  const auto classes = classes_of(labels);
  const Labels said = model.predict(x);
  double errors = 0;
  for (std::size_t i = 0; i < said.size(); ++i) errors += classes[static_cast<std::size_t>(said[i])] != labels[i];
  return errors;
}

void expect_gaussian(const Golden& golden, const Matrix& x, const std::vector<std::string>& labels,
                     const Matrix& asked) {
  const auto ml = fit(NaiveBayes{}, x, labels);
  const auto unbiased = fit(NaiveBayes{.variance = VarianceDivisor::unbiased}, x, labels);
  EXPECT_EQ(golden.strings("classes"), classes_of(labels));
  EXPECT_TRUE(golden.agrees("prior", ml.prior));
  EXPECT_TRUE(golden.agrees("means", ml.parameters));
  EXPECT_TRUE(golden.agrees("variances_n", Matrix(ml.deviations.cwiseAbs2())));
  const Matrix shown = golden.shown(asked);
  EXPECT_TRUE(golden.agrees("joint_log_density_n", ml.decision(shown)));
  EXPECT_TRUE(golden.agrees("posterior_n", ml.probabilities(shown)));
  EXPECT_TRUE(golden.agrees("posterior_n_minus_1", unbiased.probabilities(shown)));
  EXPECT_TRUE(ml.certificate.holds() && unbiased.certificate.holds()) << ml.certificate.message;
}

TEST(NaiveBayes, AgreesWithTheReferenceForGaussianColumnsOnIris) {
  const Golden golden("gnb_iris");
  const Table table = dataset("iris");
  const Matrix x = columns_of(table, {"sepal_length", "sepal_width", "petal_length", "petal_width"});
  const auto labels = texts_of(table, "species");
  expect_gaussian(golden, x, labels, x);
  EXPECT_TRUE(golden.agrees("training_errors_n", errors_of(fit(NaiveBayes{}, x, labels), x, labels)));
  EXPECT_TRUE(golden.agrees("training_errors_n_minus_1",
                            errors_of(fit(NaiveBayes{.variance = VarianceDivisor::unbiased}, x, labels), x, labels)));
}

TEST(NaiveBayes, AgreesWithTheReferenceForGaussianColumnsOnPima) {
  const std::vector<std::string> names{"npreg", "glu", "bp", "skin", "bmi", "ped", "age"};
  const Table train = dataset("pima_train"), test = dataset("pima_test");
  expect_gaussian(Golden("gnb_pima"), columns_of(train, names), texts_of(train, "type"), columns_of(test, names));
}

TEST(NaiveBayes, AgreesWithTheReferenceForYesAndNoOnSpam) {
  const Golden golden("bnb_spam");
  const Table spam = dataset("spam");
  auto names = others(spam, "type");
  names.resize(54);  // the words and characters, without the lengths of runs
  const Matrix x = columns_of(spam, names);
  const auto labels = texts_of(spam, "type");
  const auto model = fit(NaiveBayes{.kinds = {"bernoulli"}}, x, labels);
  EXPECT_EQ(golden.strings("classes"), classes_of(labels));
  EXPECT_TRUE(golden.agrees("class_log_prior", Vector(model.prior.array().log())));
  EXPECT_TRUE(golden.agrees("feature_prob_first10", Matrix(model.parameters.leftCols(10))));
  EXPECT_TRUE(golden.agrees("joint_log_prob", model.decision(golden.shown(x))));
  EXPECT_TRUE(golden.agrees("posterior", model.probabilities(golden.shown(x))));
  EXPECT_TRUE(golden.agrees("training_errors", errors_of(model, x, labels)));
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
}

// ---- Columns by their own densities ----

TEST(NaiveBayes, AKernelDensityIsTheMeanOfNormalsAboutTheValues) {
  const Table table = dataset("faithful");
  const Matrix x = columns_of(table, {"eruptions"});
  std::vector<std::string> labels;
  for (Index i = 0; i < x.rows(); ++i) labels.emplace_back(i % 2 == 0 ? "a" : "b");
  const auto m = fit(NaiveBayes{.kinds = {"density"}}, x, labels);
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
  for (Index k = 0; k < 2; ++k) {
    std::vector<double> v;
    for (Index i = k; i < x.rows(); i += 2) v.push_back(x(i, 0));
    std::sort(v.begin(), v.end());
    const auto n = static_cast<double>(v.size());
    double mean = 0, squares = 0;
    for (const double each : v) mean += each / n;
    for (const double each : v) squares += (each - mean) * (each - mean);
    const auto quantile = [&](double p) {
      const double h = (n - 1) * p;
      const auto i = static_cast<std::size_t>(h);
      return v[i] + (h - std::floor(h)) * (v[i + 1] - v[i]);
    };
    const double h =
        0.9 * std::min(std::sqrt(squares / (n - 1)), (quantile(0.75) - quantile(0.25)) / 1.34) * std::pow(n, -0.2);
    EXPECT_NEAR(m.deviations(k, 0), h, 1e-12);
    for (const double at : {0.5, 2.0, 3.1, 4.4, 9.0}) {
      double density = 0;
      for (const double each : v)
        density += std::exp(-0.5 * (at - each) * (at - each) / (h * h)) / (n * h * std::sqrt(2 * M_PI));
      EXPECT_NEAR(m.decision(Matrix::Constant(1, 1, at))(0, k), std::log(0.5) + std::log(density), 1e-9) << at;
    }
  }
  EXPECT_NEAR(m.decision(Matrix::Constant(1, 1, 1e6))(0, 0),
              std::log(0.5) - 0.5 * std::pow(1e6 / m.deviations(0, 0), 2), 1e-4 * std::pow(1e6 / m.deviations(0, 0), 2))
      << "far from all it is still a number";
}

TEST(NaiveBayes, KernelDensitiesFindTwoHumpsThatANormalDoesNot) {
  Matrix x = normal_matrix(400, 2, 6);
  std::vector<std::string> labels;
  for (Index i = 0; i < 400; ++i) {
    const bool humps = i % 2 == 0;
    labels.emplace_back(humps ? "humps" : "others");
    x(i, 0) = 0.5 * x(i, 0) + (humps ? (i % 4 == 0 ? 3.0 : -3.0) : 6.0 * static_cast<double>(i / 2 % 3 - 1));
  }
  EXPECT_LT(errors_of(fit(NaiveBayes{.kinds = {"density"}}, x, labels), x, labels), 15);
  EXPECT_GT(errors_of(fit(NaiveBayes{}, x, labels), x, labels), 60);
}

TEST(NaiveBayes, DensitiesOfWeightsMissingValuesSparseRowsAndUpdatesAreThoseOfAllValues) {
  Matrix x = normal_matrix(90, 3, 7).array().max(0);
  std::vector<std::string> labels;
  Labels codes;
  for (Index i = 0; i < 90; ++i) labels.emplace_back(i % 3 == 0 ? "b" : "a"), codes.push_back(i % 3 == 0 ? 1 : 0);
  const Valid<NaiveBayes> spec(NaiveBayes{.kinds = {"density", "gaussian", "density"}});
  const MemoryRows rows = MemoryRows(x).labels(codes, {"a", "b"});
  const auto whole = fit(spec, rows, {});
  EXPECT_TRUE(whole.certificate.holds()) << whole.certificate.message;

  const Matrix first = x.topRows(40), rest = x.bottomRows(50);
  const MemoryRows before = MemoryRows(first).labels(std::span(codes).first(40), {"a", "b"}),
                   after = MemoryRows(rest).labels(std::span(codes).last(50), {"a", "b"});
  const auto twice = updated(fit(spec, before, {}), after, {});
  EXPECT_TRUE(twice.certificate.holds()) << twice.certificate.message;
  EXPECT_EQ(twice.values, whole.values);
  EXPECT_EQ(twice.value_weights, whole.value_weights);
  EXPECT_LT((twice.deviations - whole.deviations).cwiseAbs().maxCoeff(), 1e-12);

  const auto copies = [&](Index i) { return static_cast<double>(i % 3); };
  Vector weights(90);
  std::vector<Index> many;
  Labels many_codes;
  for (Index i = 0; i < 90; ++i) {
    weights(i) = copies(i / 3);
    for (double c = 0; c < weights(i); ++c) many.push_back(i), many_codes.push_back(codes[at(i)]);
  }
  const Matrix copied = x(many, Eigen::all);
  const MemoryRows weighted = MemoryRows(x).labels(codes, {"a", "b"}).weights({weights.data(), 90}),
                   repeated = MemoryRows(copied).labels(many_codes, {"a", "b"});
  const auto a = fit(spec, weighted, {}), b = fit(spec, repeated, {});
  EXPECT_LT((a.decision(x) - b.decision(x)).cwiseAbs().maxCoeff(), 1e-10);

  Matrix holes = x;
  holes(4, 0) = holes(5, 2) = kNone;
  const auto m = fit(spec, MemoryRows(holes).labels(codes, {"a", "b"}), {});
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
  EXPECT_TRUE(m.decision(holes).allFinite());

  auto wrong = whole;  // one bandwidth for all classes
  wrong.deviations.col(0).setConstant(whole.deviations.col(0).mean());
  EXPECT_FALSE(certify(wrong, rows, {}).holds());
  wrong = whole;  // a value is forgotten: its place is taken by its neighbour
  wrong.values(1) = wrong.values(0);
  EXPECT_FALSE(certify(wrong, rows, {}).holds());
  EXPECT_FALSE(certify(whole, before, {}).holds());
}

TEST(NaiveBayes, ADensityNeedsTwoValuesInEachClass) {
  EXPECT_NE(message_of([] {
              fit(NaiveBayes{.kinds = {"density"}}, Matrix(Vector{{1, 2, 3}}), std::vector<std::string>{"a", "a", "b"});
            }).find("too few for a density"),
            std::string::npos);
  const auto equal =
      fit(NaiveBayes{.kinds = {"density"}}, Matrix(Vector{{2, 2, 3, 5}}),
          std::vector<std::string>{"a", "a", "b", "b"});  // as R's bw.nrd0 of equal values: by their size
  EXPECT_NEAR(equal.deviations(0, 0), 0.9 * 2 * std::pow(2, -0.2), 1e-12);
}

TEST(NaiveBayes, AgreesWithTheReferenceForCountsOnDigits) {
  const Golden golden("mnb_digits");
  const Table digits = dataset("digits");
  const Matrix x = columns_of(digits, others(digits, "digit"));
  const auto labels = texts_of(digits, "digit");
  const auto model = fit(NaiveBayes{.kinds = {"multinomial"}}, x, labels);
  EXPECT_TRUE(golden.agrees("feature_prob_first10", Matrix(model.parameters.leftCols(10))));
  EXPECT_TRUE(golden.agrees("joint_log_prob", model.decision(golden.shown(x))));
  EXPECT_TRUE(golden.agrees("posterior", model.probabilities(golden.shown(x))));
  EXPECT_TRUE(golden.agrees("training_errors", errors_of(model, x, labels)));
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
}

// ---- Kinds of columns ----

/// A column of each kind, some values missing, two classes.
Table mixed(Index n, std::uint64_t seed = 4) {
  RandomStream random(seed);
  std::vector<double> size, visits, sick;
  std::vector<std::string> colour, kind;
  std::vector<bool> colourless;
  const std::vector<std::string> colours{"blue", "green", "red"};
  for (Index i = 0; i < n; ++i) {
    const bool b = random.uniform() < 0.4;
    kind.emplace_back(b ? "b" : "a");
    size.push_back(i % 7 == 3 ? kNone : (b ? 2.0 : 0.0) + random.normal());
    double count = 0;
    for (double left = std::exp(b ? -3.0 : -1.0), p = random.uniform(); p > left; p *= random.uniform()) ++count;
    visits.push_back(count);
    sick.push_back(random.uniform() < (b ? 0.7 : 0.2) ? 1 : 0);
    colour.push_back(colours[static_cast<std::size_t>(random.below(b ? 2 : 3))]);
    colourless.push_back(i % 11 == 5);
  }
  return Table({numeric("size", size), numeric("visits", visits), numeric("sick", sick),
                categorical("colour", colour, colourless), categorical("kind", kind)});
}
const std::vector<std::string> kMixedKinds{"gaussian", "poisson", "bernoulli", "categorical"};

TEST(NaiveBayes, TakesEachColumnByItsKindAndLeavesMissingValuesOut) {
  const Table table = mixed(200);
  const double alpha = 0.5;
  const auto model =
      fit(NaiveBayes{.kinds = kMixedKinds, .smoothing = alpha}, formula("kind ~ size + visits + sick + colour"), table);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  const DesignData data = model.design.apply(table);
  // By hand, for class a.
  double n = 0, known = 0, sum = 0, visits = 0, all_visits = 0, sick = 0, coloured = 0, red = 0;
  for (Index i = 0; i < 200; ++i) {
    all_visits += data.x(i, 1);
    if (table.column("kind").text(i) != "a") continue;
    ++n;
    if (!std::isnan(data.x(i, 0))) {
      ++known;
      sum += data.x(i, 0);
    }
    visits += data.x(i, 1);
    sick += data.x(i, 2);
    if (!std::isnan(data.x(i, 3))) {
      ++coloured;
      red += table.column("colour").text(i) == "red";
    }
  }
  EXPECT_LT(known, n);
  EXPECT_LT(coloured, n);
  EXPECT_NEAR(model.parameters(0, 0), sum / known, 1e-13);
  EXPECT_NEAR(model.parameters(0, 1), (visits + alpha * all_visits / 200) / (n + alpha), 1e-13);
  EXPECT_NEAR(model.parameters(0, 2), (sick + alpha) / (n + 2 * alpha), 1e-14);
  EXPECT_NEAR(model.level_probabilities(0, 2), (red + alpha) / (coloured + 3 * alpha), 1e-14);
  Matrix row(2, 4);
  row << 1, 2, 1, 2, kNone, 2, kNone, kNone;
  const auto poisson = [&](Index k) {
    return 2 * std::log(model.parameters(k, 1)) - model.parameters(k, 1) - std::log(2.0);
  };
  for (Index k = 0; k < 2; ++k) {
    EXPECT_NEAR(model.decision(row)(1, k), std::log(model.prior(k)) + poisson(k), 1e-12);
    const double sd = model.deviations(k, 0), z = (1 - model.parameters(k, 0)) / sd;
    EXPECT_NEAR(model.decision(row)(0, k),
                std::log(model.prior(k)) + poisson(k) - 0.5 * z * z - std::log(sd * std::sqrt(2 * std::acos(-1.0))) +
                    std::log(model.parameters(k, 2)) + std::log(model.level_probabilities(k, 2)),
                1e-12);
  }
}

TEST(NaiveBayes, ALevelThatWasNeverSeenSaysNothing) {
  const auto model = fit(NaiveBayes{}, formula("kind ~ size + colour"), mixed(100));
  const Table asked({numeric("size", {1, 1}), categorical("colour", {"violet", "red"}, {false, true})});
  const Matrix p = model.probabilities(asked);
  EXPECT_EQ(p.row(0), p.row(1));
}

TEST(NaiveBayes, ContributionsAndPriorOddsAddUpToTheLogOdds) {
  const Table iris = dataset("iris");
  const Matrix x = columns_of(iris, {"sepal_length", "sepal_width", "petal_length", "petal_width"});
  const auto three = fit(NaiveBayes{.prior = std::vector{0.2, 0.3, 0.5}}, x, texts_of(iris, "species"));
  const Matrix delta = three.decision(x), adds = three.contributions(x);
  for (Index i = 0; i < x.rows(); ++i) {
    std::array<Index, 3> order{0, 1, 2};
    std::sort(order.begin(), order.end(), [&](Index a, Index b) { return delta(i, a) > delta(i, b); });
    EXPECT_NEAR(adds.row(i).sum() + std::log(three.prior(order[0]) / three.prior(order[1])),
                delta(i, order[0]) - delta(i, order[1]), 1e-10);
  }
  const auto two = fit(NaiveBayes{.kinds = kMixedKinds}, formula("kind ~ size + visits + sick + colour"), mixed(80));
  const Matrix rows = two.design.apply(mixed(80)).x, d = two.decision(rows);
  EXPECT_LT((two.contributions(rows).rowwise().sum().array() + std::log(two.prior(1) / two.prior(0)) -
             (d.col(1) - d.col(0)).array())
                .abs()
                .maxCoeff(),
            1e-11);
}

TEST(NaiveBayes, UpdatesToTheFitOfAllRows) {
  const Table table = mixed(300);
  const std::string how = "kind ~ size + visits + sick + colour";
  const NaiveBayes spec{.kinds = kMixedKinds, .variance = VarianceDivisor::unbiased, .floor = 0.01};
  const auto all = fit(spec, formula(how), table);
  const TrainedModel first = fit(spec, formula(how), table.slice(0, 120)).trained;
  const TrainedModel both = first.update(MemoryTableStream(table.slice(120, 180)), {});
  const auto* model = model_cast<NaiveBayesModel>(both.model);
  ASSERT_TRUE(model);
  EXPECT_LT((model->parameters - all.parameters).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LT((model->deviations - all.deviations).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LT((model->level_probabilities - all.level_probabilities).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_TRUE(model->certificate.holds()) << model->certificate.message;
}

TEST(NaiveBayes, GivesTheSameBitsFromBlocksAsFromMemory) {
  const Matrix x = normal_matrix(5000, 3, 2);
  Labels codes;
  for (Index i = 0; i < 5000; ++i) codes.push_back(x(i, 0) > 0.3 ? 1 : 0);
  MemoryRows rows(x);
  rows.labels(codes, {"a", "b"});
  const auto a = fit(Valid<NaiveBayes>(NaiveBayes{}), rows, {}),
             b = fit(Valid<NaiveBayes>(NaiveBayes{}), CopiedRows(rows), {});
  EXPECT_EQ(a.deviations, b.deviations);
  EXPECT_EQ(a.decision(x), b.decision(x));
}

TEST(NaiveBayes, ASpreadBesideAHugeOffsetKeepsItsDigits) {
  Matrix x = normal_matrix(400, 1, 6);
  std::vector<std::string> labels;
  for (Index i = 0; i < 400; ++i) labels.emplace_back(i % 2 == 0 ? "a" : "b");
  const auto plain = fit(NaiveBayes{}, x, labels);
  const Matrix moved = x.array() + 1e9;
  const auto far = fit(NaiveBayes{}, moved, labels);
  EXPECT_LT((plain.deviations - far.deviations).cwiseAbs().maxCoeff(), 1e-6);
  EXPECT_TRUE(far.certificate.holds()) << far.certificate.message;
}

TEST(NaiveBayes, TheNaturalWrongEstimatesFailTheCertificate) {
  const Table table = mixed(200);
  const auto fitted = fit(NaiveBayes{.kinds = kMixedKinds}, formula("kind ~ size + visits + sick + colour"), table);
  const NaiveBayesModel& right = fitted;
  const DesignData data = fitted.design.apply(table);
  Labels codes;
  for (Index i = 0; i < 200; ++i) codes.push_back(table.column("kind").text(i) == "a" ? 0 : 1);
  MemoryRows rows(data.x);
  rows.labels(codes, {"a", "b"});
  rows.levels = {{}, {}, {}, {"blue", "green", "red"}};
  EXPECT_TRUE(certify(right, rows, {}).holds()) << certify(right, rows, {}).message;
  NaiveBayesModel missing_as_zero = right;  // a missing size counted as 0
  missing_as_zero.means.col(0) = right.means.col(0).cwiseProduct(right.known.col(0)).cwiseQuotient(right.counts);
  missing_as_zero.known.col(0) = right.counts;
  missing_as_zero.parameters.col(0) = missing_as_zero.means.col(0);
  EXPECT_FALSE(certify(missing_as_zero, rows, {}).holds());
  NaiveBayesModel unsmoothed = right;  // shares of the rows themselves
  for (Index k = 0; k < 2; ++k)
    unsmoothed.level_probabilities.row(k) = right.level_weights.row(k) / right.level_weights.row(k).sum();
  EXPECT_FALSE(certify(unsmoothed, rows, {}).holds());
  NaiveBayesModel divisor = right;  // n − 1 in the place of n
  divisor.variances.col(0) =
      right.variances.col(0).cwiseProduct(right.known.col(0)).array() / (right.known.col(0).array() - 1);
  divisor.deviations.col(0) = divisor.variances.col(0).cwiseSqrt();
  EXPECT_FALSE(certify(divisor, rows, {}).holds());
}

TEST(NaiveBayes, RefusesWhatHasNoAnswer) {
  const Matrix x = normal_matrix(30, 2, 3);
  std::vector<std::string> labels;
  for (Index i = 0; i < 30; ++i) labels.emplace_back(i % 2 == 0 ? "a" : "b");
  const auto refusal = [&](const NaiveBayes& spec, const Matrix& of) {
    return message_of([&] { fit(spec, of, labels); });
  };
  EXPECT_NE(refusal({.kinds = {"poisson"}}, x).find("'x1' is"), std::string::npos);
  EXPECT_NE(refusal({.kinds = {"gaussian", "poisson", "gaussian"}}, x).find("3 names and there are 2 columns"),
            std::string::npos);
  EXPECT_NE(refusal({.kinds = {"categorical"}}, x).find("factor(x1)"), std::string::npos);
  EXPECT_NE(refusal({.kinds = {"normal"}}, x).find("normal"), std::string::npos);
  Matrix constant = x;
  for (Index i = 0; i < 30; i += 2) constant(i, 1) = 4;
  EXPECT_NE(refusal({}, constant).find("'x2' has no spread in class 'a'"), std::string::npos);
  EXPECT_EQ(refusal({.floor = 1e-9}, constant), "no error");
  constant.col(1).setConstant(0.3);
  EXPECT_NE(refusal({}, constant).find("'x2' has no spread"), std::string::npos);
  Matrix unknown = x;
  for (Index i = 1; i < 30; i += 2) unknown(i, 0) = kNone;
  EXPECT_NE(refusal({}, unknown).find("class 'b' has no value of 'x1'"), std::string::npos);
  EXPECT_EQ(refusal({.kinds = {"bernoulli"}}, unknown), "no error");
  const Labels codes(30, 0);
  MemoryRows rows(x);
  rows.labels(codes, {"a", "b"});
  EXPECT_EQ(message_of([&] { fit(Valid<NaiveBayes>(NaiveBayes{}), rows, {}); }),
            "naive_bayes: class 'b' has no rows; leave it out of the classes");
}

TEST(NaiveBayes, WithAFloorTellsNothingFromAColumnThatIsConstant) {
  Matrix x(40, 2);
  std::vector<std::string> labels;
  for (Index i = 0; i < 40; ++i) {
    x(i, 0) = static_cast<double>(i % 7) + (i % 2 == 0 ? 0 : 2);
    x(i, 1) = 0.3;
    labels.emplace_back(i % 2 == 0 ? "a" : "b");
  }
  const Matrix alone = x.leftCols(1);
  const NaiveBayes spec{.floor = 1e-3};
  const auto both = fit(spec, x, labels), one = fit(spec, alone, labels);
  EXPECT_TRUE(both.certificate.holds());
  EXPECT_LT((both.probabilities(x) - one.probabilities(alone)).cwiseAbs().maxCoeff(), 1e-12);
}

}  // namespace
}  // namespace lemma
