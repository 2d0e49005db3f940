// lemma/kernel/one_class_svm_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/kernel/one_class_svm.hpp>
#include <lemma/model/fit.hpp>
#include <tests/golden.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

Matrix standardised(Matrix x) {
  const Vector mean = x.colwise().mean();
  x.rowwise() -= mean.transpose();
  const Vector sd = (x.colwise().squaredNorm() / static_cast<double>(x.rows() - 1)).cwiseSqrt();
  return x.array().rowwise() / sd.transpose().array();
}
Matrix faithful() {
  const Table table = dataset("faithful");
  Matrix x(table.rows(), 2);
  for (Index j = 0; j < 2; ++j)
    x.col(j) = Eigen::Map<const Vector>(table.column(j).numbers().values.data(), table.rows());
  return standardised(std::move(x));
}
OneClassSvmModel fitted(const OneClassSvm& spec, const Matrix& x) {
  return fit(Valid<OneClassSvm>(spec), MemoryRows(x), {});
}
bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(OneClassSvm, IsTheMachineOfLibsvm) {
  const Golden golden("ocsvm_faithful");
  const Matrix x = faithful();
  const auto model = fitted({.nu = 0.1, .kernel = Rbf{.gamma = 0.5}, .tolerance = 1e-11}, x);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  EXPECT_TRUE(golden.agrees("objective", model.objective));
  EXPECT_TRUE(golden.agrees("n_support", model.n_support));
  EXPECT_TRUE(golden.agrees("decision_values_first10", Vector(model.score(x).head(10))));
  EXPECT_TRUE(golden.agrees("n_outliers", model.n_outside));
}

TEST(OneClassSvm, NuBoundsWhatLiesOutsideAndWhatCarriesThePlane) {
  const Matrix x = normal_matrix(150, 3, 5);
  for (const double nu : {0.02, 0.1, 0.35, 0.8, 1.0}) {
    const auto model = fitted({.nu = nu, .tolerance = 1e-8}, x);
    EXPECT_LE(model.n_outside, nu * 150 + 1e-9) << nu;
    EXPECT_GE(model.n_support, nu * 150 - 1e-9) << nu;
    EXPECT_TRUE(model.certificate.holds()) << nu << model.certificate.message;
    EXPECT_NEAR(model.dual_coefficients.sum(), 1, 1e-12);
  }
}

TEST(OneClassSvm, ARowFarAwayIsAnOutlier) {
  Matrix x = normal_matrix(200, 2, 8);
  const auto model = fitted({.nu = 0.05, .kernel = Rbf{.gamma = 0.5}}, x);
  const Matrix asked{{0, 0}, {9, 9}};
  EXPECT_EQ(model.outlier(asked), (Strings{"no", "yes"}));
  EXPECT_GT(model.score(asked)(0), 0);
  EXPECT_NEAR(model.score(asked)(1), -model.rho, 1e-12);  // where no row is near, nothing but ρ is left
  EXPECT_EQ(model.output_names({"a", "b"}), (std::vector<std::string>{"score"}));
}

TEST(OneClassSvm, OfALinearKernelIsTheSupportingPlane) {  // two rows: w is their mean's direction
  const Matrix x{{2, 0}, {0, 2}};
  const auto model = fitted({.nu = 1, .kernel = LinearKernel{}, .tolerance = 1e-10}, x);
  EXPECT_NEAR(model.objective, 0.5 * 2, 1e-9);  // w = (1, 1)
  EXPECT_NEAR(model.rho, 2, 1e-9);
}

TEST(OneClassSvm, WeightsAreCopies) {
  const Matrix x = normal_matrix(40, 2, 3);
  std::vector<double> weight;
  std::vector<Index> copies;
  for (Index i = 0; i < 40; ++i) {
    weight.push_back(static_cast<double>(i % 3));
    for (Index c = 0; c < i % 3; ++c) copies.push_back(i);
  }
  const Matrix repeated = x(copies, Eigen::all);
  MemoryRows rows(x);
  rows.weights(weight);
  const Valid<OneClassSvm> spec(OneClassSvm{.nu = 0.3, .kernel = Rbf{.gamma = 0.7}, .tolerance = 1e-10});
  const auto weighted = fit(spec, rows, {}), plain = fit(spec, MemoryRows(repeated), {});
  EXPECT_LT((weighted.score(x) - plain.score(x)).cwiseAbs().maxCoeff(), 1e-6);
  EXPECT_TRUE(certify(weighted, MemoryRows(repeated), {}).holds())
      << certify(weighted, MemoryRows(repeated), {}).message;
}

TEST(OneClassSvm, IsVerifiedInAnyOrderOfTheRows) {
  const Matrix x = normal_matrix(60, 2, 4);
  const auto model = fitted({.nu = 0.2}, x);
  const Matrix reversed = x.colwise().reverse();
  EXPECT_TRUE(certify(model, MemoryRows(reversed), {}).holds());
  const Matrix other = normal_matrix(60, 2, 5);
  EXPECT_FALSE(certify(model, MemoryRows(other), {}).holds());
}

/// Equal multipliers of all rows: a kernel density estimate cut off at a quantile, which many take for it.
TEST(OneClassSvm, TheNaturalWrongDensityEstimateCutOffFails) {
  const Matrix x = normal_matrix(60, 2, 4);
  const auto right = fitted({.nu = 0.2, .kernel = Rbf{.gamma = 0.5}}, x);
  OneClassSvmModel density = right;
  density.support_vectors.dense = x;
  density.dual_coefficients = Vector::Constant(60, 1.0 / 60);
  density.n_support = 60;
  Vector values = density.score(x).array() + density.rho;
  density.objective = density.dual_coefficients.dot(values) / 2;
  std::sort(values.begin(), values.end());
  density.rho = values(12);
  EXPECT_FALSE(certify(density, MemoryRows(x), {}).holds());
  OneClassSvmModel too_much = right;  // more than 1 / (ν n) on a row
  too_much.dual_coefficients(0) += 0.2;
  too_much.dual_coefficients(1) -= std::min(0.2, 0.5 * too_much.dual_coefficients(1));
  EXPECT_FALSE(certify(too_much, MemoryRows(x), {}).holds());
  OneClassSvmModel moved = right;
  moved.rho *= 1.01;
  EXPECT_FALSE(certify(moved, MemoryRows(x), {}).holds());
}

TEST(OneClassSvm, EqualRowsAndOneRowHaveAnAnswer) {
  const Matrix same = Matrix::Ones(8, 2);
  const auto model = fitted({.nu = 0.5, .kernel = Rbf{.gamma = 1.0}}, same);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  EXPECT_NEAR(model.rho, 1, 1e-12);
  EXPECT_EQ(model.n_outside, 0);
  const Matrix one{{3, 4}};
  EXPECT_NEAR(fitted({.nu = 0.5, .kernel = Rbf{.gamma = 1.0}}, one).rho, 1, 1e-12);
}

TEST(OneClassSvm, RefusesKernelsWithoutADual) {
  const Matrix x = normal_matrix(30, 2, 4);
  EXPECT_TRUE(contains(message_of([&] { fitted({.kernel = Tanh{}}, 5 * x); }), "not positive semidefinite"));
  EXPECT_TRUE(contains(message_of([&] { fitted({.kernel = Precomputed{}}, x * x.transpose()); }), "name the kernel"));
  EXPECT_TRUE(contains(message_of([&] { fitted({.nu = 0}, x); }), "nu is 0"));
  EXPECT_TRUE(contains(message_of([&] { fitted({.nu = 1.2}, x); }), "nu is 1.2"));
}

}  // namespace
}  // namespace lemma
