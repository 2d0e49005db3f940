#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/row_views.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/data/stream/rows.hpp>
#include <lemma/linear/multinomial.hpp>
#include <lemma/model/fit.hpp>
#include <tests/golden.hpp>

namespace lemma {
namespace {

/// The intercept in front, as the references have it.
Matrix with_intercept(const Vector& intercept, const Matrix& rest) {
  Matrix out(rest.rows(), rest.cols() + 1);
  out << intercept, rest;
  return out;
}

void agrees_with_multinom(const std::string& id, const Table& table, const std::string& text) {
  const Golden golden(id);
  for (const auto solver : {MultinomialSolver::newton, MultinomialSolver::lbfgs}) {
    const auto model = fit(Multinomial{.lambda = 0, .solver = solver, .max_iterations = 5000}, formula(text), table);
    EXPECT_TRUE(model.certificate.holds()) << id << ": " << model.certificate.message;
    EXPECT_TRUE(golden.agrees("deviance", model.deviance));
    EXPECT_TRUE(golden.agrees("aic", model.aic));
    if (solver == MultinomialSolver::lbfgs) continue;  // a decrement of 1e-9 is 1e-4 of a coefficient
    EXPECT_TRUE(golden.agrees("coef", with_intercept(model.intercept, model.coefficients)));
    EXPECT_TRUE(golden.agrees("se", with_intercept(model.intercept_std_errors, model.std_errors)));
    EXPECT_TRUE(golden.agrees("probabilities", golden.shown(model.probabilities(table))));
  }
}

TEST(MultinomialGolden, CrabsAreNnets) {
  agrees_with_multinom("multinom_crabs_fl_rw", dataset("crabs"), "sp:sex ~ FL + RW");
}

TEST(MultinomialGolden, VehiclesAreNnets) {
  agrees_with_multinom("multinom_vehicle_std", dataset("vehicle"),
                       "Class ~ scale(Comp) + scale(Circ) + scale(D.Circ) + scale(Rad.Ra) + scale(Pr.Axis.Ra) + "
                       "scale(Scat.Ra) + scale(Pr.Axis.Rect)");
}

TEST(MultinomialGolden, RidgeOfIrisIsTheSymmetricOne) {
  const Golden golden("multinom_ridge_iris");
  for (const auto solver : {MultinomialSolver::newton, MultinomialSolver::lbfgs}) {
    const auto model = fit(Multinomial{.standardize = false, .solver = solver, .tolerance = 1e-12},
                           formula("species ~ ."), dataset("iris"));
    EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
    EXPECT_TRUE(golden.agrees("coef", with_intercept(model.intercept, model.coefficients)));
    EXPECT_TRUE(golden.agrees("objective", model.objective));
    EXPECT_TRUE(golden.agrees("probabilities", golden.shown(model.probabilities(dataset("iris")))));
  }
}

TEST(MultinomialGolden, ASeparableClassReachesTheInfimumAndIsSaid) {
  const Golden golden("multinom_iris_limit");
  const auto model = fit(Multinomial{.lambda = 0}, formula("species ~ ."), dataset("iris"));
  EXPECT_TRUE(golden.agrees("deviance_infimum", model.deviance));
  EXPECT_FALSE(model.certificate.holds());
  EXPECT_EQ(model.warnings.size(), 1U);
  EXPECT_TRUE(model.coefficients.allFinite());
}

TEST(MultinomialMathematics, TwoClassesAreLogisticRegression) {
  const Table table = dataset("pima_train");
  const auto two = fit(Multinomial{.lambda = 0}, formula("type ~ ."), table);
  const auto one = fit(Logistic{.lambda = std::vector{0.0}}, formula("type ~ ."), table);
  EXPECT_LE((two.coefficients - one.coefficients.of).cwiseAbs().maxCoeff(), 1e-6);
  EXPECT_NEAR(two.null_deviance, one.null_deviance, 1e-9);
  // Each class has half of the difference: ½ λ (b² + b²) with b = d / 2 is ½ (λ / 2) d².
  const auto pair = fit(Multinomial{.lambda = 4}, formula("type ~ ."), table);
  const auto half = fit(Logistic{.lambda = std::vector{2.0}}, formula("type ~ ."), table);
  EXPECT_LE((2 * pair.coefficients.row(1) - half.coefficients.of.row(0)).cwiseAbs().maxCoeff(), 1e-7);
  EXPECT_LE(pair.coefficients.colwise().sum().cwiseAbs().maxCoeff(), 1e-7);
}

TEST(MultinomialMathematics, TheLassoLeavesColumnsOutAndIsCertified) {
  for (const auto penalty : {MultinomialPenalty::l1, MultinomialPenalty::elastic_net}) {
    const auto model = fit(Multinomial{.lambda = 8, .penalty = penalty}, formula("Class ~ ."), dataset("vehicle"));
    EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
    EXPECT_GT((model.coefficients.array() == 0).count(), 5);
    EXPECT_GT((model.coefficients.array() != 0).count(), 10);
  }
}

/// One class against all others, or against the first alone, is not the softmax of all; nor is a search that ended early.
TEST(MultinomialMathematics, TheNaturalWrongModelsFailTheCertificate) {
  const Table crabs = dataset("crabs");
  const Design design(formula("sp:sex ~ FL + RW"), crabs, {.classify = true});
  const DesignRows rows(design, design.train(crabs));
  const Matrix x = gather(rows);
  const Labels label = design.train(crabs).label;
  const auto of_two = [&](double lambda, int positive, std::optional<int> beside) {
    std::vector<Index> kept;
    Labels codes;
    for (std::size_t i = 0; i < label.size(); ++i)
      if (!beside || label[i] == positive || label[i] == *beside) {
        kept.push_back(static_cast<Index>(i));
        codes.push_back(label[i] == positive ? 1 : 0);
      }
    const Matrix part = x(kept, Eigen::all);
    MemoryRows two(part);
    two.labels(codes, {"other", "this"});
    return fit(Valid<Logistic>({.lambda = {{lambda}}}), two, {});
  };
  for (const double lambda : {1.0, 0.0}) {
    const auto right = fit(Valid<Multinomial>({.lambda = lambda}), rows, {});
    ASSERT_TRUE(certify(right, rows, {}).holds()) << certify(right, rows, {}).message;
    EXPECT_EQ(certify(right, rows, {}).strength, Strength::optimal);
    MultinomialModel one_by_one = right;
    for (Index k = 0; k < right.coefficients.rows(); ++k) {
      const auto each = lambda > 0 ? of_two(lambda, static_cast<int>(k), {}) : of_two(0, static_cast<int>(k) + 1, 0);
      one_by_one.coefficients.row(k) = each.coefficients.of.row(0);
      one_by_one.intercept(k) = each.intercept.of(0);
    }
    EXPECT_FALSE(certify(one_by_one, rows, {}).holds());
    const auto early =
        fit(Valid<Multinomial>({.lambda = lambda, .solver = MultinomialSolver::lbfgs, .max_iterations = 3}), rows, {});
    EXPECT_FALSE(early.certificate.holds());
    EXPECT_FALSE(certify(early, rows, {}).holds());
  }
}

/// A λ that the rows choose: the least loss of held-out rows, whatever the order of the rows, and looked up again.
TEST(Multinomial, LambdaAutoIsThatOfTheLeastHeldOutLoss) {
  const Table iris = dataset("iris");
  const Design design(formula("species ~ sepal_length + sepal_width"), iris, {.classify = true});
  const DesignRows rows(design, design.train(iris));
  const auto m = fit(Valid<Multinomial>(Multinomial{.lambda = {}}), rows, {});
  ASSERT_EQ(m.lambda_path.size(), 20);
  Index best = 0;
  m.held_out_loss.minCoeff(&best);
  EXPECT_EQ(*m.spec.lambda, m.lambda_path(best));
  EXPECT_TRUE(certify(m, rows, {}).holds()) << certify(m, rows, {}).message;
  Multinomial same = Multinomial{.lambda = {}};
  same.lambda = *m.spec.lambda;
  const auto plain = fit(Valid<Multinomial>(same), rows, {});
  EXPECT_EQ(plain.coefficients, m.coefficients) << "the fit with that number";
  EXPECT_EQ(plain.lambda_path.size(), 0);
  std::vector<Index> turned;
  for (Index i = rows.count(); i-- > 0;) turned.push_back(i);
  const SelectedRows others(rows, turned);
  const auto again = fit(Valid<Multinomial>(Multinomial{.lambda = {}}), others, {});
  EXPECT_NEAR(*again.spec.lambda, *m.spec.lambda, 1e-9 * *m.spec.lambda);
  auto damaged = fit(Valid<Multinomial>(same), rows, {});
  damaged.lambda_path = m.lambda_path;
  damaged.held_out_loss = m.held_out_loss;
  EXPECT_TRUE(certify(damaged, rows, {}).holds());
  damaged.held_out_loss((best + 5) % 20) *= 0.5;
  EXPECT_FALSE(certify(damaged, rows, {}).holds());
  same.lambda = m.lambda_path((best + 1) % 20);
  damaged = fit(Valid<Multinomial>(same), rows, {});
  damaged.lambda_path = m.lambda_path;
  damaged.held_out_loss = m.held_out_loss;
  const Certificate found = certify(damaged, rows, {});
  EXPECT_FALSE(found.holds());
  EXPECT_NE(found.message.find("lambda"), std::string::npos) << found.message;
}

}  // namespace
}  // namespace lemma
