// lemma/kernel/svm/limits_test.cpp: rows and parameters at which a machine has nothing good to say, or no machine is.
#include <atomic>
#include <lemma/kernel/svm/data_test.hpp>
#include <limits>

namespace lemma {
namespace {

using namespace svm_test;

const std::vector<std::string> kFour{"a", "b", "a", "b"};

TEST(SvmLimits, NumbersFarFromZeroAreAnsweredAsNearIt) {
  const Matrix x = normal_matrix(60, 2, 8);
  const Vector y =
      (16 * (x.col(0).array() + normal_matrix(60, 1, 9).col(0).array())).round() / 16;  // exact far out too
  Svm spec;
  spec.tolerance = 1e-10;
  const auto near = fit(spec, x, y);
  for (const double offset : {1.7e9, 1e12}) {
    const Vector far = y.array() + offset;
    spec.tolerance = offset > 1e10 ? 1e-3 : 1e-6;  // a bias near 1e12 has four digits after the point
    const auto m = fit(spec, x, far);
    EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
    EXPECT_NEAR(m.objective_primal.of(0), near.objective_primal.of(0), 2e-3 * near.objective_primal.of(0));
    MemoryRows rows(x);
    rows.response({far.data(), static_cast<std::size_t>(far.size())});
    const auto again = certify(m, rows, {});
    EXPECT_TRUE(again.holds()) << again.message;
  }
}

TEST(SvmLimits, OneClassIsAnError) {
  EXPECT_EQ(message_of([&] { fit(Svm{}, Matrix::Random(3, 2), std::vector<std::string>(3, "a")); }),
            "svm needs at least two classes, and the response has only 'a'");
  const Vector none_of_b{{1, 0, 1, 0}};
  EXPECT_TRUE(contains(message_of([&] { fit(Svm{}, Matrix::Random(4, 2), kFour, {.weights = none_of_b}); }),
                       "class 'b' has no rows with a positive weight"));
}

TEST(SvmLimits, RowsThatAreAllEqualGiveAConstantAndAWarning) {
  for (const char* kernel : {"rbf", "linear", "poly(2)"}) {
    const SvmModel m = fit(Svm{.kernel = Kernel::parse(kernel)}, Matrix::Constant(4, 2, 3.0), kFour);
    EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
    EXPECT_TRUE(contains(m.warnings.back(), "all rows look the same")) << m.warnings.back();
    EXPECT_TRUE(std::isnan(m.margin.of(0)));
    EXPECT_NEAR(m.objective_primal.of(0), 4, 1e-9);  // whatever b, rows of one class are wrong by 1 − b and 1 + b
    EXPECT_EQ(m.summary({}).find("nan"), std::string::npos);
  }
}

TEST(SvmLimits, ParametersOutOfRangeAreNamed) {
  const Matrix x = Matrix::Random(4, 2);
  EXPECT_EQ(message_of([&] { fit(Svm{.C = 0}, x, kFour); }), "svm: C is 0, must be above 0, or inf");
  EXPECT_EQ(message_of([&] { fit(Svm{.C = -1}, x, kFour); }), "svm: C is -1, must be above 0, or inf");
  EXPECT_EQ(message_of([&] { fit(Svm{.C = std::nan("")}, x, kFour); }), "svm: C is nan, must be above 0, or inf");
  EXPECT_TRUE(contains(message_of([&] { fit(Svm{.kernel = Rbf{.gamma = 0.0}}, x, kFour); }),
                       "kernel.gamma is 0, must be above 0"));
  EXPECT_TRUE(contains(message_of([&] { fit(Svm{.kernel = Rbf{.gamma = -2.0}}, x, kFour); }),
                       "kernel.gamma is -2, must be above 0"));
  EXPECT_TRUE(contains(message_of([&] { fit(Svm{.class_weights = std::vector<double>{1.0}}, x, kFour); }),
                       "class_weights has 1 number, must have 2"));
}

TEST(SvmLimits, ACacheThatHoldsNoTwoRowsIsAnError) {
  const Clouds data(300);
  const std::string said = message_of([&] { fit(Svm{.cache = 1e-3}, data.x, data.label); });
  EXPECT_TRUE(contains(said, "a cache of 0.001 megabytes does not hold two rows")) << said;
}

TEST(SvmLimits, AKernelValueThatOverflowsIsAnError) {
  const std::string said = message_of([&] {
    fit(Svm{.kernel = Poly{.degree = 80, .gamma = 1.0}}, Matrix{{1e8}, {2e8}, {1.0}, {3.0}}, kFour);
  });
  EXPECT_TRUE(contains(said, "overflows") && contains(said, "poly")) << said;
}

TEST(SvmLimits, APrecomputedMatrixMustBeSquareAndSymmetricAndMayBeIndefinite) {
  const Svm spec{.kernel = Precomputed{}};
  EXPECT_TRUE(contains(message_of([&] { fit(spec, Matrix::Identity(4, 3), kFour); }), "square"));
  Matrix k = Matrix::Identity(4, 4);
  k(0, 1) = 0.5;
  EXPECT_TRUE(contains(message_of([&] { fit(spec, k, kFour); }), "not symmetric"));
  k(1, 0) = 0.5;
  EXPECT_TRUE(fit(spec, k, kFour).warnings.empty());
  k(2, 3) = k(3, 2) = -3;  // eigenvalues 1 ± 3
  const SvmModel m = fit(spec, k, kFour);
  ASSERT_FALSE(m.warnings.empty());
  EXPECT_TRUE(contains(m.warnings[0], "smallest eigenvalue -2") && contains(m.warnings[0], "not positive semidefinite"))
      << m.warnings[0];
  EXPECT_EQ(m.certificate.strength, Strength::stationary);
}

TEST(SvmLimits, ColumnsOfVeryDifferentScalesAreWarnedOf) {
  Clouds data(40);
  data.x.col(0) *= 1000;
  const SvmModel m = fit(Svm{}, data.x, data.label);
  ASSERT_EQ(m.warnings.size(), 1U);
  EXPECT_TRUE(contains(m.warnings[0], "'scale | svm'") && contains(m.warnings[0], "'x1'")) << m.warnings[0];
  EXPECT_TRUE(fit(Svm{.kernel = Rbf{.lengths = {1000, 1}}}, data.x, data.label).warnings.empty());
}

class AfterAWhile final : public Progress {
 public:
  void report(double, std::string_view) override {}
  bool cancelled() const override { return ++asked_ > 40; }

 private:
  mutable std::atomic<int> asked_ = 0;
};

TEST(SvmLimits, WorkThatIsStoppedGivesBackWhatItHas) {
  AfterAWhile progress;
  const Clouds data(400, 1);
  const Labels label = data.codes();
  MemoryRows rows(data.x);
  rows.labels(label, {"left", "right"});
  CallOptions options;
  options.progress = &progress;
  const SvmModel m = fit(Valid<Svm>(Svm{.C = 1000, .tolerance = 1e-10}), rows, options);
  EXPECT_FALSE(m.certificate.holds());
  EXPECT_EQ(m.certificate.stopped, "cancelled");
  EXPECT_GT(m.support.of.size(), 0U);
  EXPECT_EQ(m.decision(data.x).rows(), 400);
}

TEST(SvmLimits, DiagnosticsOfOtherRowsAreRefused) {
  const Clouds data(40), other(40, 2, 77);
  const SvmModel m = fit(Svm{}, data.x, data.label);
  const Labels label = data.codes();
  Block block(other.x, 0);
  block.label = label;
  EXPECT_TRUE(contains(message_of([&] { m.diagnostics(block); }), "not the rows the model was fitted on"));
}

}  // namespace
}  // namespace lemma
