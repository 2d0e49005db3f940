// lemma/geometry/kernel_test.cpp: kernels as they are written, and the blocks they make.
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/geometry/kernel/bound.hpp>
#include <lemma/geometry/kernel/shown.hpp>
#include <numbers>
#include <tests/message_of.hpp>
#include <tests/sparse_of.hpp>

namespace lemma {
namespace {

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(Kernel, IsReadAsItIsWritten) {
  for (const char* text :
       {"linear", "rbf", "rbf(gamma=0.1)", "rbf(gamma=0.1) + 0.5*poly(degree=2)",
        "(linear + constant)*periodic(period=12)", "matern(nu=5/2, length=3)", "rbf(lengths=[1, 2.5])",
        "rbf(metric=[2, 0.5; 0.5, 1])", "custom(mine)*2", "poly(degree=2, offset=0)"})
    EXPECT_EQ(Kernel::parse(text).text(), text);
  EXPECT_EQ(Kernel::parse(" rbf( 0.1 )+.5 *poly(2)").text(), "rbf(gamma=0.1) + 0.5*poly(degree=2)");
  EXPECT_EQ((Kernel(Rbf{.gamma = 0.1}) + 0.5 * Kernel(Poly{.degree = 2})).text(),
            "rbf(gamma=0.1) + 0.5*poly(degree=2)");
}

TEST(Kernel, IsShownWithFewDigitsAndKeptWithAll) {
  const Kernel kernel = Kernel::parse("222.40103954364062*rbf(lengths=[2.130816747157896, 2, 0.6092292333027411])");
  EXPECT_EQ(shown(kernel), "222.401*rbf(lengths=[2.13082, 2, 0.609229])");
  EXPECT_NE(kernel.text().find("222.40103954364062"), std::string::npos);
  EXPECT_EQ(shown(Kernel::parse("matern(3/2, 8) + 1e-07*linear")), "matern(length=8) + 1e-07*linear");
}

TEST(Kernel, SurvivesBeingAValue) {
  for (const char* text : {"rbf(gamma=0.1)", "rbf(gamma=0.1) + 0.5*poly(degree=2)", "matern(nu=1/2)", "precomputed",
                           "rbf(metric=[2, 0.5; 0.5, 1])"}) {
    Kernel back;
    Codec<Kernel>::read(back, from_json(to_json(Codec<Kernel>::write(Kernel::parse(text)))), "svm: kernel");
    EXPECT_EQ(back.text(), text);
  }
  Kernel kernel;
  Value given = Value::object();
  set_path(given, "kernel.degree", Value(2));
  set_path(given, "kernel", Value("poly"));
  Codec<Kernel>::read(kernel, given.at("kernel"), "svm: kernel");
  EXPECT_EQ(kernel.text(), "poly(degree=2)");
  Codec<Kernel>::read(kernel, Value("rbf(sigma=2)"), "svm: kernel");
  EXPECT_EQ(kernel.text(), "rbf(sigma=2)");
}

TEST(Kernel, PointsAtWhatItCannotRead) {
  const auto said = [](const char* text) { return message_of([&] { Kernel::parse(text); }); };
  EXPECT_TRUE(contains(said("rfb(1)"), "rbf"));
  EXPECT_TRUE(contains(said("rbf(1"), "\n  rbf(1\n       ^"));
  EXPECT_TRUE(contains(said("rbf(gama=1)"), "gamma"));
  EXPECT_TRUE(contains(said("linear(3)"), "linear takes 0 arguments"));
  EXPECT_TRUE(contains(said("rbf(1, gamma=2)"), "given twice"));
  EXPECT_TRUE(contains(said("rbf +"), "expected a kernel"));
  EXPECT_TRUE(contains(said("rbf rbf"), "expected '+', '*' or the end"));
  EXPECT_TRUE(contains(said("rbf(metric=[1, 2; 3])"), "different lengths"));
  EXPECT_TRUE(contains(said(std::string(200, '(').c_str()), "parentheses"));
}

TEST(Kernel, RefusesWhatIsOutOfRange) {
  const auto said = [](const char* text) { return message_of([&] { Kernel::parse(text).check("svm: kernel"); }); };
  EXPECT_TRUE(contains(said("rbf(0)"), "gamma is 0, must be above 0"));
  EXPECT_TRUE(contains(said("linear + rbf(-1)"), "gamma is -1"));
  EXPECT_TRUE(contains(said("rbf(gamma=1, sigma=2)"), "one of"));
  EXPECT_TRUE(contains(said("2*precomputed"), "alone"));
  EXPECT_EQ(said("rbf(0.1) + 0.5*poly(2)"), "no error");
}

/// k(x, z) written out for each kernel: what the blocks must agree with.
struct Written {
  const char* text;
  double (*value)(const Vector& x, const Vector& z);
};
const Written kWritten[] = {
    {"linear", [](const Vector& x, const Vector& z) { return x.dot(z); }},
    {"poly(2, 0.5, 0)", [](const Vector& x, const Vector& z) { return std::pow(0.5 * x.dot(z), 2); }},
    {"poly(3, 0.2, 1)", [](const Vector& x, const Vector& z) { return std::pow(0.2 * x.dot(z) + 1, 3); }},
    {"rbf(0.3)", [](const Vector& x, const Vector& z) { return std::exp(-0.3 * (x - z).squaredNorm()); }},
    {"rbf(sigma=2)", [](const Vector& x, const Vector& z) { return std::exp(-(x - z).squaredNorm() / 8); }},
    {"rbf(lengths=[1, 2, 0.5])",
     [](const Vector& x, const Vector& z) {
       return std::exp(-0.5 * (x - z).cwiseQuotient(Vector{{1.0, 2.0, 0.5}}).squaredNorm());
     }},
    {"rbf(metric=[2, 0.5, 0; 0.5, 1, 0; 0, 0, 3])",
     [](const Vector& x, const Vector& z) {
       const Vector u = x - z;
       return std::exp(-0.5 * (2 * u(0) * u(0) + u(0) * u(1) + u(1) * u(1) + 3 * u(2) * u(2)));
     }},
    {"laplace(0.7)", [](const Vector& x, const Vector& z) { return std::exp(-0.7 * (x - z).lpNorm<1>()); }},
    {"matern(1/2, 2)", [](const Vector& x, const Vector& z) { return std::exp(-(x - z).norm() / 2); }},
    {"matern(3/2, 2)",
     [](const Vector& x, const Vector& z) {
       const double a = std::sqrt(3.0) * (x - z).norm() / 2;
       return (1 + a) * std::exp(-a);
     }},
    {"matern(5/2, 2)",
     [](const Vector& x, const Vector& z) {
       const double a = std::sqrt(5.0) * (x - z).norm() / 2;
       return (1 + a + a * a / 3) * std::exp(-a);
     }},
    {"tanh(0.1, -1)", [](const Vector& x, const Vector& z) { return std::tanh(0.1 * x.dot(z) - 1); }},
    {"periodic(2, 0.8)",
     [](const Vector& x, const Vector& z) {
       return std::exp(-2 * (std::numbers::pi / 2 * (x - z)).array().sin().square().sum() / 0.64);
     }},
    {"rbf(0.3) + 0.5*linear*linear + 2",
     [](const Vector& x, const Vector& z) {
       return std::exp(-0.3 * (x - z).squaredNorm()) + 0.5 * std::pow(x.dot(z), 2) + 2;
     }},
};

class EachKernel : public testing::TestWithParam<Written> {};

TEST_P(EachKernel, IsTheFormulaInEveryBlock) {
  const Matrix x = normal_matrix(23, 3, 5), z = normal_matrix(700, 3, 6);
  const BoundKernel kernel(Kernel::parse(GetParam().text), Points(z));
  const Matrix cross = kernel.cross(x), gram = kernel.gram();
  const Vector diagonal = kernel.diagonal(), of_new = kernel.diagonal_of(x);
  for (Index j = 0; j < z.rows(); ++j) {
    for (Index i = 0; i < x.rows(); ++i)
      EXPECT_NEAR(cross(i, j), GetParam().value(x.row(i), z.row(j)), 1e-12 * (1 + std::abs(cross(i, j))));
    for (Index i = 0; i < z.rows(); i += 37)
      EXPECT_NEAR(gram(i, j), GetParam().value(z.row(i), z.row(j)), 1e-12 * (1 + std::abs(gram(i, j))));
    EXPECT_NEAR(diagonal(j), GetParam().value(z.row(j), z.row(j)), 1e-12 * (1 + diagonal(j)));
  }
  for (Index i = 0; i < x.rows(); ++i)
    EXPECT_NEAR(of_new(i), GetParam().value(x.row(i), x.row(i)), 1e-12 * (1 + of_new(i)));
  EXPECT_EQ(gram, gram.transpose());
  const Matrix beta = normal_matrix(700, 2, 7);
  EXPECT_TRUE(kernel.expand(x, beta).isApprox(cross * beta, 1e-12));
  EXPECT_TRUE(kernel.expand_own(beta).isApprox(gram * beta, 1e-12));
}

TEST_P(EachKernel, HasTheSameBitsOnAnyNumberOfThreads) {
  const BoundKernel kernel(Kernel::parse(GetParam().text), Points(normal_matrix(600, 3, 6)));
  EXPECT_EQ(kernel.gram({.threads = 1, .message = {}}), kernel.gram({.threads = 3, .message = {}}));
}

TEST_P(EachKernel, DoesNotCareWhetherZerosAreStored) {
  Matrix z = normal_matrix(60, 3, 6), x = normal_matrix(9, 3, 8);
  z = (z.array() < 0.3).select(0, z);
  const Kernel kernel = Kernel::parse(GetParam().text);
  const Rbf* rbf = kernel.get<Rbf>();
  if (kernel.contains<Periodic>() || (rbf && rbf->metric.size() > 0)) {
    EXPECT_TRUE(contains(message_of([&] { BoundKernel(kernel, Points(sparse_of(z))); }), "dense rows"));
    return;
  }
  const BoundKernel dense(kernel, Points(z)), sparse(kernel, Points(sparse_of(z)));
  EXPECT_TRUE(sparse.gram().isApprox(dense.gram(), 1e-12));
  EXPECT_TRUE(sparse.cross(x).isApprox(dense.cross(x), 1e-12));
  const std::vector<Index> which{5, 3, 40};
  EXPECT_TRUE(BoundKernel(kernel, Points(sparse_of(z)).select(which))
                  .cross(x)
                  .isApprox(BoundKernel(kernel, Points(z).select(which)).cross(x), 1e-12));
}

TEST_P(EachKernel, IsPositiveSemidefiniteOrSaysByHowMuchItIsNot) {
  const BoundKernel kernel(Kernel::parse(GetParam().text), Points(normal_matrix(120, 3, 6)));
  const GramCheck check = check_gram(kernel);
  EXPECT_EQ(check.is_positive(), !kernel.kernel().contains<Tanh>()) << check.text();
  EXPECT_TRUE(contains(check.text(), kernel.kernel().contains<Tanh>() ? "not positive" : ": positive"));
}

INSTANTIATE_TEST_SUITE_P(Kernels, EachKernel, testing::ValuesIn(kWritten), [](const auto& each) {
  std::string name;
  for (const char c : std::string(each.param.text))
    if (std::isalnum(static_cast<unsigned char>(c))) name += c;
  return name;
});

TEST(Kernel, KeepsTheDigitsOfRowsThatNearlyAgree) {
  Matrix z(2, 2);
  z << 1e6, 3, 1e6 + 1e-3, 3;
  const Matrix gram = BoundKernel(Rbf{.gamma = 1e6}, Points(z)).gram();
  const double apart = z(1, 0) - z(0, 0);
  EXPECT_NEAR(gram(0, 1), std::exp(-1e6 * apart * apart), 1e-12);
  EXPECT_EQ(gram(0, 0), 1);
}

TEST(Kernel, ChoosesItsScaleFromTheSpreadOfTheRows) {
  const Matrix x = normal_matrix(50, 4, 1);
  const double total = Points(x).variances().sum();
  EXPECT_EQ(Kernel(Rbf{}).resolved(Points(x)).get<Rbf>()->gamma, 1 / total);
  EXPECT_EQ(Kernel(Matern{}).resolved(Points(x)).get<Matern>()->length, std::sqrt(total / 2));
  EXPECT_EQ(Kernel(Rbf{.sigma = 3}).resolved(Points(x)).text(), "rbf(sigma=3)");
  const Kernel all_equal = Kernel(Rbf{}).resolved(Points(Matrix::Ones(5, 2)));
  EXPECT_EQ(all_equal.text(), "rbf(gamma=1)");
  EXPECT_TRUE(Points(sparse_of(x)).variances().isApprox(Points(x).variances(), 1e-12));
}

TEST(Kernel, OfTheCallersOwnIsUsedAsGiven) {
  const CustomKernel least{"least",
                           [](std::span<const double> x, std::span<const double> z) { return std::min(x[0], z[0]); }};
  const Matrix x{{1.0}, {2.0}, {5.0}};
  EXPECT_EQ(BoundKernel(least, Points(x)).gram(), (Matrix{{1, 1, 1}, {1, 2, 2}, {1, 2, 5}}));
  EXPECT_TRUE(contains(message_of([&] { BoundKernel(Kernel::parse("custom(least)"), Points(x)); }), "'least'"));
}

TEST(Kernel, PrecomputedTakesTheColumnsOfItsPoints) {
  const Matrix gram{{1, 2, 3}, {2, 5, 6}, {3, 6, 9}};
  EXPECT_EQ(BoundKernel(Precomputed{}, Points(gram)).gram(), gram);
  const BoundKernel some(Precomputed{}, Points(gram).select(std::vector<Index>{2, 0}));
  EXPECT_EQ(some.gram(), (Matrix{{9, 3}, {3, 1}}));
  const BoundKernel placed(Precomputed{}, Points::at_places({2, 0}, 3));
  EXPECT_EQ(placed.cross(Matrix{{7, 8, 9}}), (Matrix{{9, 7}}));
  EXPECT_FALSE(check_gram(Matrix{{1, 2}, {2, 1}}).is_positive());
  EXPECT_FALSE(check_gram(Matrix{{1, 2}, {1, 9}}).is_symmetric());
}

TEST(Kernel, SaysWhenAValueOverflows) {
  const Matrix x = Matrix::Constant(3, 1, 1e200);
  const BoundKernel kernel(Kernel::parse("poly(3, 1)"), Points(x));
  EXPECT_TRUE(contains(message_of([&] { kernel.gram(); }), "overflows"));
}

}  // namespace
}  // namespace lemma
