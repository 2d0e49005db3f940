// lemma/reduce/pca_test.cpp
#include <gtest/gtest.h>

#include <lemma/core/random.hpp>
#include <lemma/data/csv.hpp>
#include <lemma/data/design.hpp>
#include <lemma/math/multiply.hpp>
#include <lemma/model/fit.hpp>
#include <lemma/reduce/pca.hpp>
#include <tests/copied_rows.hpp>
#include <tests/golden.hpp>
#include <tests/places.hpp>

namespace lemma {
namespace {

Matrix columns_of(const std::string& data, const std::vector<std::string>& names, bool log = false) {
  const Table table = read_csv(source_dir() + "/data/" + data + ".csv");
  Matrix x(table.rows(), static_cast<Index>(names.size()));
  for (std::size_t j = 0; j < names.size(); ++j) {
    const auto& values = table.column(names[j]).numbers().values;
    for (Index i = 0; i < x.rows(); ++i)
      x(i, static_cast<Index>(j)) =
          log ? std::log(values[static_cast<std::size_t>(i)]) : values[static_cast<std::size_t>(i)];
  }
  return x;
}

Matrix crabs() { return columns_of("crabs", {"FL", "RW", "CL", "CW", "BD"}); }

/// Rows with a few strong directions in noise, away from the origin.
Matrix signal(Index n, Index p, std::uint64_t seed = 3, Index strong = 4) {
  Matrix factors = normal_matrix(strong, p, seed, 1);
  for (Index k = 0; k < strong; ++k) factors.row(k) *= 4.0 / static_cast<double>(k + 1);
  Matrix x = normal_matrix(n, strong, seed, 2) * factors + 0.1 * normal_matrix(n, p, seed, 3);
  x.rowwise() += Vector::LinSpaced(p, -5, 20).transpose();
  return x;
}

void expect_same_bits(const PcaModel& a, const PcaModel& b) {
  EXPECT_EQ(a.sdev, b.sdev);
  EXPECT_EQ(a.loadings, b.loadings);
  EXPECT_EQ(a.mean, b.mean);
  EXPECT_EQ(a.scale, b.scale);
  EXPECT_EQ(a.explained, b.explained);
  EXPECT_EQ(a.certificate.value, b.certificate.value);
}

const std::vector<PcaSolver> kExactSolvers{PcaSolver::covariance, PcaSolver::gram, PcaSolver::svd};

struct GoldenCase {
  std::string id, data;
  std::vector<std::string> columns;
  bool log, scale;
};
const std::vector<GoldenCase> kGolden{
    {"pca_crabs", "crabs", {"FL", "RW", "CL", "CW", "BD"}, false, false},
    {"pca_crabs_log", "crabs", {"FL", "RW", "CL", "CW", "BD"}, true, false},
    {"pca_iris", "iris", {"sepal_length", "sepal_width", "petal_length", "petal_width"}, false, false},
    {"pca_usarrests_cor", "usarrests", {"Murder", "Assault", "UrbanPop", "Rape"}, false, true}};

TEST(Pca, AgreesWithTheReferenceByEverySolver) {
  for (const auto& each : kGolden) {
    const Golden golden(each.id);
    const Matrix x = columns_of(each.data, each.columns, each.log);
    for (const PcaSolver solver : kExactSolvers) {
      SCOPED_TRACE(each.id + " by " + std::string(name_of(solver)));
      const auto model = fit(Pca{.scale = each.scale, .solver = solver}, x);
      EXPECT_TRUE(golden.agrees("sdev_prcomp", model.sdev));
      EXPECT_TRUE(golden.agrees("eigenvalues", Vector(model.sdev.cwiseAbs2())));
      EXPECT_TRUE(golden.agrees("prop_variance", model.explained));
      EXPECT_TRUE(golden.agrees("center", model.mean));
      EXPECT_TRUE(golden.agrees("loadings_abs", model.loadings));
      Vector cumulative = model.explained;
      for (Index k = 1; k < cumulative.size(); ++k) cumulative(k) += cumulative(k - 1);
      EXPECT_TRUE(golden.agrees("cumulative", cumulative));
      if (each.scale) { EXPECT_TRUE(golden.agrees("scale", model.scale, "mixed", 1e-10)); }
      // prcomp's divisor is n − 1, princomp's n (which drops out of correlations)
      const double n = static_cast<double>(x.rows());
      EXPECT_TRUE(golden.agrees("sdev_princomp", Vector(model.sdev * (each.scale ? 1 : std::sqrt((n - 1) / n)))));
      EXPECT_TRUE(golden.agrees("scores_abs", model.transform(golden.shown(x))));
      EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
      EXPECT_EQ(model.certificate.strength, Strength::optimal);
    }
  }
}

TEST(Pca, LeavesTheReconstructionErrorOfTheReference) {
  for (const auto& each : kGolden) {
    const Golden golden(each.id);
    const Matrix x = columns_of(each.data, each.columns, each.log);
    Vector errors(x.cols());
    for (Index k = 1; k <= x.cols(); ++k) {
      const auto model = fit(Pca{.components = static_cast<double>(k), .scale = each.scale}, x);
      const Matrix residual = (x - model.inverse(model.transform(x))) * model.scale.cwiseInverse().asDiagonal();
      errors(k - 1) = residual.squaredNorm();
    }
    EXPECT_TRUE(golden.agrees("reconstruction_error", errors));
  }
}

TEST(Pca, TurnsEachAxisSoThatItsLargestEntryIsPositive) {
  for (const PcaSolver solver : kExactSolvers) {
    const auto model = fit(Pca{.solver = solver}, crabs());
    for (Index k = 0; k < model.components(); ++k) {
      Index at = 0;
      model.loadings.col(k).cwiseAbs().maxCoeff(&at);
      EXPECT_GT(model.loadings(at, k), 0);
    }
  }
}

TEST(Pca, KeepsAsManyComponentsAsAShareOfTheVarianceNeeds) {  // crabs: 0.98247, 0.99153, 0.99851, …
  EXPECT_EQ(fit(Pca{.components = 0.98}, crabs()).components(), 1);
  EXPECT_EQ(fit(Pca{.components = 0.985}, crabs()).components(), 2);
  EXPECT_EQ(fit(Pca{.components = 0.999}, crabs()).components(), 4);
  EXPECT_EQ(fit(Pca{.components = 3}, crabs()).components(), 3);
  EXPECT_EQ(fit(Pca{}, crabs()).components(), 5);
  EXPECT_EQ(fit(Pca{}, crabs()).spec.components, 5.0);  // what was chosen is stored
  EXPECT_EQ(fit(Pca{}, crabs()).spec.solver, PcaSolver::covariance);
}

TEST(Pca, TurnsWithTheRowsAndDoesNotSeeTheirOrigin) {
  const Matrix x = signal(300, 6);
  const Matrix rotation = fit(Pca{}, normal_matrix(50, 6, 9)).loadings;  // any orthogonal matrix
  Matrix moved = multiply(x, rotation);
  moved.rowwise() += Vector::Constant(6, 1000.0).transpose();
  const auto here = fit(Pca{}, x), there = fit(Pca{}, moved);
  EXPECT_LT((here.sdev - there.sdev).norm(), 1e-11 * here.sdev(0));
  const Matrix turned = multiply(rotation, there.loadings);
  EXPECT_LT((turned.cwiseProduct(here.loadings).colwise().sum().cwiseAbs().array() - 1).abs().maxCoeff(), 1e-9);
}

TEST(Pca, WhitenedScoresHaveStandardDeviationOneAndInvert) {
  const Matrix x = signal(400, 5);
  const auto model = fit(Pca{.whiten = true}, x);
  const Matrix z = model.transform(x);
  const Matrix covariance = gram(z) / 399.0;
  EXPECT_LT((covariance - Matrix::Identity(5, 5)).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_LT((model.inverse(z) - x).cwiseAbs().maxCoeff(), 1e-10);
  const auto map = model.affine();
  const Matrix by_map = (multiply_transposed(x, map.a)).rowwise() + map.b.transpose();
  EXPECT_LT((by_map - z).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_EQ(model.output_names({}), (std::vector<std::string>{"PC1", "PC2", "PC3", "PC4", "PC5"}));
}

TEST(Pca, WeightsEqualRepetition) {
  const Matrix x = signal(40, 4);
  Matrix repeated(80, 4);
  Vector weights(40);
  Index at = 0;
  for (Index i = 0; i < 40; ++i) {
    weights(i) = static_cast<double>(i % 4 == 0 ? 0 : i % 4 == 1 ? 1 : i % 4 == 2 ? 3 : 4);
    for (int copy = 0; copy < static_cast<int>(weights(i)); ++copy) repeated.row(at++) = x.row(i);
  }
  ASSERT_EQ(at, 80);
  for (const PcaSolver solver : {PcaSolver::covariance, PcaSolver::gram, PcaSolver::svd, PcaSolver::randomized})
    for (const bool scale : {false, true}) {
      SCOPED_TRACE(name_of(solver));
      const Pca spec{.components = 3, .scale = scale, .solver = solver};
      const auto weighted = fit(spec, x, CallOptions{.weights = weights}), copied = fit(spec, repeated);
      EXPECT_LT((weighted.sdev - copied.sdev).norm(), 1e-9);
      EXPECT_LT((weighted.loadings - copied.loadings).norm(), 1e-6);
      EXPECT_LT((weighted.scale - copied.scale).norm(), 1e-9);
      EXPECT_TRUE(weighted.certificate.holds()) << weighted.certificate.message;
    }
}

TEST(Pca, GivesTheSameBitsOnAnyNumberOfThreadsAndFromBlocks) {
  const Matrix x = signal(5000, 7);
  MemoryRows rows(x);
  const Vector weights = Vector::LinSpaced(5000, 0.5, 2);
  rows.weights({weights.data(), 5000});
  const CopiedRows blocks(rows);
  for (const PcaSolver solver : {PcaSolver::covariance, PcaSolver::svd, PcaSolver::randomized})
    for (const bool scale : {false, true}) {
      SCOPED_TRACE(name_of(solver));
      const Valid<Pca> spec(Pca{.components = 3, .scale = scale, .solver = solver});
      const auto one = fit(spec, rows, CallOptions{.threads = 1}), three = fit(spec, rows, CallOptions{.threads = 3}),
                 streamed = fit(spec, blocks, CallOptions{.threads = 2});
      expect_same_bits(one, three);
      expect_same_bits(one, streamed);
    }
  const Matrix wide = signal(60, 90);
  const MemoryRows few(wide);
  expect_same_bits(fit(Valid<Pca>(Pca{}), few, CallOptions{.threads = 1}),
                   fit(Valid<Pca>(Pca{}), CopiedRows(few), CallOptions{.threads = 3}));
}

TEST(Pca, FindsTheLeadingAxesByRandomDirections) {
  const Matrix x = signal(600, 80, 5, 12);
  const auto exact = fit(Pca{.components = 5}, x),
             random = fit(Pca{.components = 5, .solver = PcaSolver::randomized}, x);
  EXPECT_LT((exact.sdev - random.sdev).norm(), 1e-6 * exact.sdev(0));
  EXPECT_TRUE(random.certificate.holds()) << random.certificate.message;
  EXPECT_GE(random.sdev.squaredNorm(), exact.sdev.squaredNorm() * (1 - 1e-6));
}

TEST(Pca, TooFewPassesFailTheCertificate) {
  const Matrix x = normal_matrix(500, 200, 8);  // no gap in the spectrum: one pass cannot find the leading axes
  const auto model =
      fit(Pca{.components = 10, .solver = PcaSolver::randomized, .oversampling = 1, .max_iterations = 1}, x);
  EXPECT_FALSE(model.certificate.holds());
  EXPECT_NE(model.certificate.message.find("more passes"), std::string::npos) << model.certificate.message;
}

/// The same model with its leading component dropped: the others are true eigenvectors all the same.
PcaModel without_first(const PcaModel& whole, Index keep) {
  PcaModel model = whole;
  model.sdev = whole.sdev.segment(1, keep);
  model.explained = whole.explained.segment(1, keep);
  model.loadings = whole.loadings.middleCols(1, keep);
  return model;
}

TEST(Pca, TheNaturalWrongAlgorithmsFailTheCertificate) {
  const Matrix x = crabs();
  const MemoryRows rows(x);
  const auto right = fit(Pca{}, x);
  ASSERT_TRUE(certify(right, rows, {}).holds());

  const auto missed = certify(without_first(right, 2), rows, {});
  EXPECT_FALSE(missed.holds());
  EXPECT_NE(missed.message.find("outside the axes"), std::string::npos) << missed.message;

  PcaModel divided_by_n = right;
  divided_by_n.sdev *= std::sqrt(199.0 / 200.0);
  EXPECT_FALSE(certify(divided_by_n, rows, {}).holds());

  PcaModel uncentred = fit(Pca{.center = false}, x);
  uncentred.spec.center = true;
  EXPECT_FALSE(certify(uncentred, rows, {}).holds());

  PcaModel scaled_by_n = fit(Pca{.scale = true}, x);
  ASSERT_TRUE(certify(scaled_by_n, rows, {}).holds());
  scaled_by_n.scale *= std::sqrt(199.0 / 200.0);
  EXPECT_FALSE(certify(scaled_by_n, rows, {}).holds());
}

TEST(Pca, MoreColumnsThanASpreadIsMadeForAreProbed) {
  const Matrix x = signal(120, 2100, 4, 12);
  const MemoryRows rows(x);
  const auto model = fit(Pca{.components = 3}, x), all = fit(Pca{}, x);
  EXPECT_EQ(model.spec.solver, PcaSolver::gram);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  EXPECT_EQ(model.certificate.strength, Strength::stationary);
  EXPECT_EQ(all.certificate.strength, Strength::optimal);  // nothing is left outside
  EXPECT_TRUE(all.certificate.holds()) << all.certificate.message;
  EXPECT_EQ(all.components(), 119);
  EXPECT_FALSE(certify(without_first(fit(Pca{.components = 4}, x), 3), rows, {}).holds());
}

TEST(Pca, ADamagedModelFailsTheCertificate) {
  const Matrix x = crabs();
  const MemoryRows rows(x);
  const auto model = fit(Pca{.components = 3}, x);
  PcaModel loading = model, sdev = model, mean = model, explained = model, total = model;
  loading.loadings(2, 1) += 1e-6;
  sdev.sdev(2) *= 1 + 1e-6;
  mean.mean(0) += 1e-6;
  explained.explained(1) += 1e-6;
  total.total_variance *= 1 + 1e-6;
  for (const auto& damaged : {loading, sdev, mean, explained, total}) EXPECT_FALSE(certify(damaged, rows, {}).holds());
  loading.loadings(0, 0) = std::nan("");
  EXPECT_FALSE(certify(loading, rows, {}).holds());
}

TEST(Pca, VerifyFindsWhatTheFitSaid) {
  const Matrix x = signal(600, 12);
  for (const PcaSolver solver : {PcaSolver::covariance, PcaSolver::gram, PcaSolver::svd, PcaSolver::randomized}) {
    const auto model = fit(Pca{.components = 4, .solver = solver}, x);
    const auto again = certify(model, MemoryRows(x), {});
    EXPECT_TRUE(again.holds()) << again.message;
    EXPECT_NEAR(again.value, model.certificate.value, model.certificate.tolerance);
  }
}

TEST(Pca, ComesBackFromItsFieldsWithEveryBit) {
  const Matrix x = crabs();
  const auto& method = method_of<Pca>();
  for (const char* params : {R"({"components": 3, "whiten": true})", R"({"scale": true})"}) {
    const auto model = method.fit(from_json(params), MemoryRows(x), {});
    const auto loaded = method.load(model->params(), model->save(), {model->certificate(), model->warnings()});
    EXPECT_EQ(loaded->transform(x), model->transform(x));
    EXPECT_TRUE(loaded->verify(MemoryRows(x), {}).holds());
  }
  Value state = method.fit(Value::object(), MemoryRows(x), {})->save();
  state.set("sdev", Vector(Vector::Ones(2)));
  EXPECT_THROW(method.load(Value::object(), state, {}), Error);
}

TEST(Pca, LeavesOutComponentsWithoutVarianceAndSaysSo) {
  Matrix x = signal(50, 4);
  x.col(1).setConstant(7);
  const auto constant = fit(Pca{}, x);
  EXPECT_EQ(constant.components(), 3);
  EXPECT_EQ(constant.loadings.row(1).cwiseAbs().maxCoeff(), 0);
  ASSERT_EQ(constant.warnings.size(), 1u);
  EXPECT_NE(constant.warnings[0].find("1 of 4 components"), std::string::npos) << constant.warnings[0];
  EXPECT_TRUE(constant.certificate.holds()) << constant.certificate.message;

  x.col(1) = x.col(0) + x.col(2);
  const auto dependent = fit(Pca{.whiten = true}, x);
  EXPECT_EQ(dependent.components(), 3);
  EXPECT_EQ(dependent.spec.solver, PcaSolver::svd);
  EXPECT_TRUE(dependent.certificate.holds()) << dependent.certificate.message;

  x.col(1).setConstant(7);
  const auto scaled = fit(Pca{.scale = true}, x);
  EXPECT_EQ(scaled.scale(1), 1);
  EXPECT_TRUE(scaled.certificate.holds()) << scaled.certificate.message;
}

TEST(Pca, KeepsTheDigitsOfASmallVarianceThatSquaresWouldLose) {  // sd 1 and 1e-7: variances 1 and 1e-14
  const Index n = 1000;
  Matrix x = normal_matrix(n, 2, 11);
  const auto unit = fit(Pca{.solver = PcaSolver::svd}, x);
  Matrix whitened = unit.transform(x) * unit.sdev.cwiseInverse().asDiagonal();
  whitened.col(1) *= 1e-7;
  const Matrix turn{{0.8, 0.6}, {-0.6, 0.8}};
  const auto model = fit(Pca{}, Matrix(whitened * turn));
  EXPECT_EQ(model.spec.solver, PcaSolver::svd);
  ASSERT_EQ(model.components(), 2);
  EXPECT_NEAR(model.sdev(1), 1e-7, 1e-14);
}

TEST(Pca, TakesMoreColumnsThanRows) {
  const Matrix x = signal(12, 30);
  for (const PcaSolver solver : kExactSolvers) {
    const auto model = fit(Pca{.solver = solver}, x);
    EXPECT_EQ(model.components(), 11);  // centring takes one
    EXPECT_LT((model.inverse(model.transform(x)) - x).cwiseAbs().maxCoeff(), 1e-9);
    EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  }
}

TEST(Pca, AnOffsetCostsNoDigits) {
  Matrix x = signal(500, 4);
  const auto near = fit(Pca{}, x);
  x.array() += 1e6;
  const auto far = fit(Pca{}, x);
  EXPECT_LT((near.sdev - far.sdev).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_TRUE(certify(far, MemoryRows(x), {}).holds());
}

TEST(Pca, RefusesWhatItCannotUse) {
  const Matrix x = crabs();
  EXPECT_THROW(fit(Pca{.components = 2.5}, x), Error);
  EXPECT_THROW(fit(Pca{.components = 0.0}, x), Error);
  EXPECT_THROW(fit(Pca{.components = 6}, x), Error);
  EXPECT_THROW(fit(Pca{.solver = PcaSolver::randomized}, x), Error);
  EXPECT_THROW(fit(Pca{.components = 0.9, .solver = PcaSolver::randomized}, x), Error);
  EXPECT_THROW(fit(Pca{}, x.topRows(1)), Error);
  EXPECT_THROW(fit(Pca{}, Matrix(Matrix::Constant(9, 2, 3.0))), Error);
  EXPECT_THROW(fit(Pca{}, x, CallOptions{.weights = Vector::Constant(200, -1)}), Error);
  EXPECT_THROW(fit(Pca{}, x).transform(x.leftCols(4)), Error);
}

std::string refusal(const Pca& spec, const Matrix& x) {
  try {
    fit(spec, x);
  } catch (const Error& error) { return error.what(); }
  return "";
}

TEST(Pca, NamesTheColumnAndTheRowThatCannotBeUsed) {
  for (const auto solver :
       {std::optional<PcaSolver>(), std::optional(PcaSolver::svd), std::optional(PcaSolver::gram)}) {
    Matrix x = signal(20, 3);
    x(6, 1) = std::nan("");
    EXPECT_NE(refusal({.solver = solver}, x).find("'x2' is NaN in row 7"), std::string::npos)
        << refusal({.solver = solver}, x);
    x = signal(20, 3);
    x.col(2) *= 1e200;
    EXPECT_NE(refusal({.solver = solver}, x).find("'x3' are so large"), std::string::npos)
        << refusal({.solver = solver}, x);
    x = signal(20, 3);
    x.col(0) *= 1e-200;
    EXPECT_NE(refusal({.solver = solver}, x).find("'x1' lie so close"), std::string::npos)
        << refusal({.solver = solver}, x);
  }
}

TEST(Pca, RulesCountTheFactorsThatMadeTheRows) {
  for (const Index strong : {1, 2, 3}) {
    const Matrix x =
        normal_matrix(300, strong, 5, 1) * normal_matrix(strong, 8, 5, 2) + 0.3 * normal_matrix(300, 8, 5, 3);
    for (const auto solver : kExactSolvers) {
      const auto model = fit(Pca{.scale = true, .solver = solver, .rule = PcaRule::permutation}, x);
      EXPECT_EQ(model.suggested(0), static_cast<double>(strong));
      EXPECT_EQ(model.components(), strong);
      EXPECT_LT((model.scree.col(3).array() - 1).abs().maxCoeff(), 1e-12);  // Kaiser's limit of correlations
      EXPECT_TRUE(certify(model, MemoryRows(x), {}).holds());
    }
  }
}

TEST(Pca, NoiseHasNoComponentAboveChance) {
  const auto model = fit(Pca{.rule = PcaRule::permutation}, Matrix(normal_matrix(200, 6, 11)));
  EXPECT_EQ(model.suggested(0), 0);
  EXPECT_EQ(model.components(), 1);
  ASSERT_EQ(model.warnings.size(), 1U);
  EXPECT_NE(model.warnings[0].find("by chance; one is kept"), std::string::npos) << model.warnings[0];
  // one column is its own shuffle
  const auto one = fit(Pca{.rule = PcaRule::kaiser}, Matrix(normal_matrix(50, 1, 12)));
  EXPECT_EQ(one.suggested, Vector::Zero(3));
}

TEST(Pca, TheBrokenStickIsThatOfTheTable) {  // of five pieces: 0.4567, 0.2567, 0.1567, 0.09, 0.04 (Jackson 1993)
  const auto model = fit(Pca{.rule = PcaRule::broken_stick}, crabs());
  const double share[] = {0.45666667, 0.25666667, 0.15666667, 0.09, 0.04};
  for (Index k = 0; k < 5; ++k) EXPECT_NEAR(model.scree(k, 2) / model.total_variance, share[k], 1e-8);
  EXPECT_NEAR(model.scree(0, 3), model.total_variance / 5, 1e-12 * model.total_variance);
  EXPECT_EQ(model.suggested(1), 1);
  EXPECT_EQ(model.components(), 1);
}

TEST(Pca, ShufflesKeepTheTotalVarianceAndTakeAwayWhatColumnsShare) {
  // Without shared variance the first of p eigenvalues of a correlation matrix lies near (1 + √(p/n))².
  const Index n = 400, p = 10;
  const auto model = fit(Pca{.scale = true, .rule = PcaRule::permutation, .level = 0.5}, signal(n, p));
  const double edge = std::pow(1 + std::sqrt(static_cast<double>(p) / static_cast<double>(n)), 2);
  EXPECT_NEAR(model.scree(0, 1), edge, 0.1);
  EXPECT_NEAR(model.scree.col(1).sum(), static_cast<double>(p), 0.05);
}

TEST(Pca, RulesDoNotHangOnTheOrderOfTheRowsNorOnThreads) {
  const Matrix x = signal(120, 5);
  const Pca spec{.rule = PcaRule::permutation};
  const auto a = fit(spec, x, CallOptions{.threads = 1}), b = fit(spec, x, CallOptions{.threads = 2});
  EXPECT_EQ(a.scree, b.scree);
  const auto back = fit(spec, Matrix(x.colwise().reverse()));
  EXPECT_LT((back.scree - a.scree).cwiseAbs().maxCoeff(), 1e-11 * a.scree(0, 0));
  EXPECT_NE(fit(spec, x, CallOptions{.seed = 2}).scree, a.scree);
}

TEST(Pca, ARuleWithNumberOfComponentsOnlyTells) {
  const auto model = fit(Pca{.components = 3, .rule = PcaRule::kaiser}, crabs());
  EXPECT_EQ(model.components(), 3);
  EXPECT_EQ(model.suggested(2), 1);
}

TEST(Pca, ARuleServesMoreColumnsThanRows) {
  const Matrix x = signal(30, 80);
  const auto model = fit(Pca{.rule = PcaRule::permutation}, x);
  EXPECT_LE(model.scree.rows(), 29);
  EXPECT_GE(model.suggested(0), 1);
  EXPECT_TRUE(certify(model, MemoryRows(x), {}).holds());
}

TEST(Pca, AWrongCountFailsItsCertificate) {
  const Matrix x = crabs();
  auto model = fit(Pca{.rule = PcaRule::permutation}, x);
  model.suggested(0) += 1;
  EXPECT_FALSE(certify(model, MemoryRows(x), {}).holds());
  model = fit(Pca{.rule = PcaRule::permutation}, x);
  model.scree(1, 1) *= 1.01;
  EXPECT_FALSE(certify(model, MemoryRows(x), {}).holds());
}

TEST(Pca, RulesRefuseWhatTheyCannotUse) {
  const Matrix x = crabs();
  EXPECT_THROW(fit(Pca{.components = 2, .solver = PcaSolver::randomized, .rule = PcaRule::kaiser}, x), Error);
  EXPECT_THROW(fit(Pca{.rule = PcaRule::kaiser, .permutations = 18}, x), Error);
  EXPECT_NO_THROW(fit(Pca{.rule = PcaRule::kaiser, .permutations = 19}, x));
  EXPECT_THROW(fit(Pca{.rule = PcaRule::kaiser}, x, CallOptions{.weights = Vector::Constant(200, 2)}), Error);
  EXPECT_THROW(updated(fit(Pca{.rule = PcaRule::kaiser}, x), MemoryRows(x), {}), Error);
}

TEST(Pca, SummaryPrintsTheImportanceAndTheLoadings) {
  const auto text = fit(Pca{.components = 2}, crabs()).summary({{"FL", "RW", "CL", "CW", "BD"}, {}, ""});
  EXPECT_EQ(text,
            "Importance of components (covariance):\n"
            "                           PC1     PC2\n"
            "Standard deviation       11.86   1.139\n"
            "Proportion of variance  0.9825  0.0091\n"
            "Cumulative proportion   0.9825  0.9915\n"
            "\n"
            "Loadings:\n"
            "       PC1      PC2\n"
            "FL  0.2890   0.3233\n"
            "RW  0.1973   0.8647\n"
            "CL  0.5994  -0.1982\n"
            "CW  0.6617  -0.2880\n"
            "BD  0.2837   0.1598\n");
}

}  // namespace
}  // namespace lemma
