// lemma/kernel/kernel_pca_test.cpp
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/core/row_views.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/kernel/kernel_pca.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/model/fit.hpp>
#include <tests/golden.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

void agrees_with(const Golden& golden, const char* data, const char* columns, const Kernel& kernel) {
  const auto model = fit(KernelPca{.kernel = kernel, .components = 10}, formula(columns), dataset(data));
  EXPECT_TRUE(golden.agrees("eigenvalues", model.eigenvalues));
  EXPECT_TRUE(golden.agrees("trace", model.total));
  const Matrix scores = model.transform(dataset(data)).topLeftCorner(5, 3).cwiseAbs();
  EXPECT_TRUE(golden.agrees("projections_abs_first5", scores));
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  EXPECT_EQ(model.certificate.strength, Strength::optimal);
}

TEST(KernelPca, IsThatOfTheReference) {
  agrees_with(Golden("kpca_iris_rbf"), "iris", "~ . - species", Rbf{.gamma = 0.5});
  agrees_with(Golden("kpca_crabs_poly"), "crabs", "~ log(FL) + log(RW) + log(CL) + log(CW) + log(BD)",
              Poly{.degree = 2, .gamma = 1, .offset = 1});
}

TEST(KernelPca, OfTheLinearKernelIsPca) {
  const Matrix x = normal_matrix(60, 4, 3) * Vector{{4, 3, 2, 1}}.asDiagonal();
  const auto model = fit(KernelPca{.kernel = LinearKernel{}, .components = 4}, x);
  const Matrix centred = x.rowwise() - x.colwise().mean();
  const Eigenpairs axes = symmetric_eigen(Matrix(centred.transpose() * centred));
  EXPECT_LE((model.eigenvalues - axes.values).norm(), 1e-9 * axes.values(0));
  const Matrix scores = model.transform(x), expected = centred * axes.vectors;
  EXPECT_LE((scores.cwiseAbs() - expected.cwiseAbs()).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_NEAR(model.explained.sum(), 1, 1e-12);
}

TEST(KernelPca, ScoresAreCentredAndHaveTheEigenvaluesForSquares) {
  const Matrix x = normal_matrix(400, 3, 5);  // by Krylov spaces
  const auto model = fit(KernelPca{.components = 5}, x);
  const Matrix z = model.transform(x);
  EXPECT_LE(z.colwise().mean().cwiseAbs().maxCoeff(), 1e-10);
  const Matrix squares = z.transpose() * z;
  EXPECT_LE((squares - Matrix(model.eigenvalues.asDiagonal())).cwiseAbs().maxCoeff(), 1e-8 * model.eigenvalues(0));
}

TEST(KernelPca, AShareIsReachedByTheFewestComponents) {
  const Matrix x = normal_matrix(80, 3, 5);
  const auto model = fit(KernelPca{.components = 0.8}, x);
  EXPECT_GE(model.explained.sum(), 0.8);
  EXPECT_LT(model.explained.head(model.components() - 1).sum(), 0.8);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
}

TEST(KernelPca, APrecomputedMatrixSaysWhatItsKernelSays) {
  const Matrix x = normal_matrix(40, 3, 5);
  const auto by_rows = fit(KernelPca{.kernel = Rbf{.gamma = 0.3}, .components = 3}, x);
  const Matrix gram = BoundKernel(Rbf{.gamma = 0.3}, Points(x)).gram();
  const auto given = fit(KernelPca{.kernel = Precomputed{}, .components = 3}, gram);
  EXPECT_LE((given.transform(gram) - by_rows.transform(x)).cwiseAbs().maxCoeff(), 1e-9);
}

TEST(KernelPca, PreImagesOfScoresOfManyComponentsAreTheRows) {
  const Matrix x = normal_matrix(40, 2, 5);
  const auto model = fit(KernelPca{.kernel = Rbf{.gamma = 0.5}, .components = 39}, x);
  EXPECT_LE((model.cleaned(x) - x).cwiseAbs().maxCoeff(), 1e-3);
}

/// A noisy circle: pre-images from few components lie nearer to it than the rows.
TEST(KernelPca, PreImagesTakeNoiseAway) {
  Matrix x(200, 2), noise = normal_matrix(200, 2, 8);
  for (Index i = 0; i < 200; ++i) {
    const double angle = 0.0314159 * static_cast<double>(i);
    x.row(i) << std::cos(angle), std::sin(angle);
  }
  const Matrix noisy = x + 0.15 * noise;
  const auto model = fit(KernelPca{.kernel = Rbf{.gamma = 1}, .components = 5}, noisy);
  const auto from_circle = [](const Matrix& rows) {
    return (rows.rowwise().norm().array() - 1).matrix().squaredNorm();
  };
  EXPECT_LT(from_circle(model.cleaned(noisy)), 0.5 * from_circle(noisy));
  const auto linear = fit(KernelPca{.kernel = LinearKernel{}}, noisy);
  EXPECT_NE(message_of([&] { linear.cleaned(noisy); }).find("pre-images"), std::string::npos);
  EXPECT_EQ(model.inverse(model.transform(noisy)), model.cleaned(noisy));
  EXPECT_NE(message_of([&] { linear.inverse(linear.transform(noisy)); }).find("no inverse"), std::string::npos);
}

TEST(KernelPca, TheNaturalWrongMatrixThatIsNotCentredFails) {
  const Matrix x = normal_matrix(50, 3, 3).array() + 1;
  KernelPcaModel model = fit(KernelPca{.kernel = Poly{.degree = 2, .gamma = 1}}, x);
  const Eigenpairs wrong = symmetric_eigen(BoundKernel(model.spec.kernel, Points(x)).gram(), 2);
  model.eigenvalues = wrong.values;
  model.dual_coefficients = wrong.vectors * wrong.values.cwiseSqrt().cwiseInverse().asDiagonal();
  EXPECT_FALSE(certify(model, MemoryRows(x), {}).holds());
}

TEST(KernelPca, BadInputIsRefused) {
  EXPECT_NE(message_of([] {
              fit(KernelPca{.kernel = Rbf{.gamma = 1}}, Matrix::Ones(5, 2));
            }).find("features of all rows are equal"),
            std::string::npos);
  EXPECT_NE(message_of([] { fit(KernelPca{.components = 2.5}, normal_matrix(9, 2, 1)); }).find("whole number"),
            std::string::npos);
  EXPECT_NE(message_of([] { fit(KernelPca{.gigabytes = 1e-6}, normal_matrix(100, 2, 1)); }).find("--gigabytes"),
            std::string::npos);
  const auto few = fit(KernelPca{.kernel = LinearKernel{}, .components = 5}, normal_matrix(30, 2, 1));
  EXPECT_EQ(few.components(), 2);
  ASSERT_EQ(few.warnings.size(), 1U);
}

}  // namespace
}  // namespace lemma
