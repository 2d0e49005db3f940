// lemma/geometry/kernel/gradient_test.cpp: derivatives of every kernel against differences.
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/geometry/kernel/gradient.hpp>
#include <lemma/optimize/gradient_check.hpp>

namespace lemma {
namespace {

/// Σ G k as a function of the logarithms of the hyperparameters.
struct Weighted {
  Kernel kernel;
  Points points;
  Matrix g;

  double value(const Vector& logs) const {
    const BoundKernel bound(with_hyperparameters(kernel, logs.array().exp()), points);
    return g.cwiseProduct(bound.gram()).sum();
  }
  double value(const Vector& logs, Vector& gradient) const {
    const KernelGradient of(with_hyperparameters(kernel, logs.array().exp()), points);
    gradient =
        of.trace([&](Index i, Index rows, Index j, Index columns) -> Matrix { return g.block(i, j, rows, columns); });
    return value(logs);
  }
};

class Derivatives : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Kernels, Derivatives,
                         testing::Values("rbf(0.3)", "rbf(sigma=2)", "rbf(lengths=[0.5, 2, 1])", "matern(1/2, 2)",
                                         "matern(3/2, 0.7)", "matern(5/2, 2)", "matern(1/2, lengths=[1, 2, 0.5])",
                                         "matern(3/2, lengths=[1, 2, 0.5])", "matern(5/2, lengths=[1, 2, 0.5])",
                                         "laplace(0.4)", "poly(3, 0.2, 0.5)", "poly(1, 0.2, 0)", "tanh(0.1, -0.2)",
                                         "periodic(3, 0.8)", "2000*rbf(sigma=5)",
                                         "2*rbf(0.1)*periodic(2, 1) + 3*linear", "rbf(0.1) + rbf(2) + 0.5",
                                         "2*(rbf(0.3) + 0.5*laplace(1))*poly(2, 0.1, 1)"));

TEST_P(Derivatives, AgreeWithDifferences) {
  const Kernel kernel = Kernel::parse(GetParam());
  Matrix x = normal_matrix(300, 3, 4);  // two tiles
  x.row(7) = x.row(290);                // a distance of 0
  Matrix g = normal_matrix(300, 300, 5);
  g = (g + g.transpose()).eval();
  const auto all = hyperparameters(kernel);
  Vector logs(static_cast<Index>(all.size()));
  for (std::size_t t = 0; t < all.size(); ++t) logs(static_cast<Index>(t)) = std::log(all[t].value);
  const Weighted f{kernel, Points(x), g};
  const DerivativeCheck check = check_derivatives(f, logs);
  EXPECT_LT(check.gradient, 1e-7) << GetParam() << " at " << check.worst;
}

TEST(Hyperparameters, AreNamedInTheOrderInWhichTheyAreWritten) {
  const Kernel kernel = Kernel::parse("2000*rbf(sigma=5) + rbf(0.1)*matern(3/2, lengths=[1, 2]) + poly(2, 0.5, 0)");
  std::string names;
  for (const auto& each : hyperparameters(kernel))
    names += each.name + "=" + std::to_string(each.value).substr(0, 4) + " ";
  EXPECT_EQ(names,
            "constant=2000 rbf.sigma=5.00 rbf_2.gamma=0.10 matern.lengths[1]=1.00 matern.lengths[2]=2.00 "
            "poly.gamma=0.50 ");
  Vector values(6);
  values << 1, 2, 3, 4, 5, 6;
  EXPECT_EQ(with_hyperparameters(kernel, values).text(),
            "1*rbf(sigma=2) + rbf(gamma=3)*matern(lengths=[4, 5]) + poly(degree=2, gamma=6, offset=0)");
  EXPECT_TRUE(hyperparameters(LinearKernel{}).empty());
}

TEST(Hyperparameters, TheirDerivativesHaveTheSameBitsOnAnyNumberOfThreads) {
  const Points points(normal_matrix(600, 2, 4));
  const KernelGradient gradient(Kernel::parse("2*rbf(0.3)"), points);
  const auto ones = [](Index, Index rows, Index, Index columns) -> Matrix { return Matrix::Ones(rows, columns); };
  Execution one, five;
  one.threads = 1;
  five.threads = 5;
  EXPECT_TRUE(gradient.trace(ones, one) == gradient.trace(ones, five));
}

}  // namespace
}  // namespace lemma
