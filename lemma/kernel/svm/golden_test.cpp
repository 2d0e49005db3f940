// lemma/kernel/svm/golden_test.cpp: the machines of LIBSVM.
#include <lemma/kernel/svm/data_test.hpp>
#include <tests/golden.hpp>

namespace lemma {
namespace {

using namespace svm_test;

/// Columns of the training and the test table, standardised by the training rows where the file says so.
struct Case {
  Golden golden;
  Matrix x, x_test;
  std::vector<std::string> label, label_test;
  Case(const std::string& id, const std::vector<std::string>& columns, const std::string& response) : golden(id) {
    const bool pima = contains(id, "pima");
    const Table train = dataset(pima ? "pima_train" : "ionosphere");
    x = columns_of(train, columns);
    label = labels_of(train, response);
    if (!pima) return;
    const Table test = dataset("pima_test");
    x_test = columns_of(test, columns);
    label_test = labels_of(test, response);
    const Vector mean = x.colwise().mean();
    const Vector spread =
        ((x.rowwise() - mean.transpose()).colwise().squaredNorm() / static_cast<double>(x.rows() - 1)).cwiseSqrt();
    for (Matrix* each : {&x, &x_test})
      *each = ((each->rowwise() - mean.transpose()).array().rowwise() / spread.transpose().array()).matrix();
  }
};

const std::vector<std::string> kPima{"npreg", "glu", "bp", "skin", "bmi", "ped", "age"};
std::vector<std::string> ionosphere_columns() {
  std::vector<std::string> out;
  for (int j = 3; j <= 34; ++j) out.push_back(fmt::format("V{}", j));
  return out;
}

double errors(const SvmModel& model, const Matrix& x, const std::vector<std::string>& label,
              const std::string& second) {
  const Labels said = model.classify(x);
  double count = 0;
  for (std::size_t i = 0; i < said.size(); ++i) count += (said[i] == 1) != (label[i] == second);
  return count;
}

void expect_golden(const Case& data, const Svm& spec, const std::string& second) {
  const SvmModel m = fit(spec, data.x, data.label);
  const Golden& golden = data.golden;
  EXPECT_TRUE(golden.agrees("dual_objective", m.objective_dual.of(0)));
  EXPECT_TRUE(golden.agrees("n_support", m.n_support.of(0)));
  EXPECT_TRUE(golden.agrees("n_bounded", m.n_bounded.of(0)));
  EXPECT_TRUE(golden.agrees("bias", m.bias.of(0)));
  EXPECT_TRUE(golden.agrees("decision_values_first10", Vector(m.decision(data.x.topRows(10)).col(0))));
  EXPECT_TRUE(golden.agrees("training_errors", errors(m, data.x, data.label, second)));
  EXPECT_TRUE(golden.agrees("primal_objective", m.objective_primal.of(0), "rel", 1e-5));
  if (data.x_test.rows() > 0) {
    EXPECT_TRUE(golden.agrees("test_decision_first10", Vector(m.decision(data.x_test.topRows(10)).col(0))));
    EXPECT_TRUE(golden.agrees("test_errors", errors(m, data.x_test, data.label_test, second)));
  }
  if (spec.kernel.get<LinearKernel>()) {
    const Vector w = m.support_vectors.dense.transpose() * m.dual_coefficients.of.row(0).transpose();
    EXPECT_TRUE(golden.agrees("w", w));
  }
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
}

constexpr double kTight = 1e-9;

TEST(SvmGolden, LinearKernelOfPimaAndIonosphere) {
  expect_golden({"svm_pima_linear", kPima, "type"}, {.kernel = LinearKernel{}, .tolerance = kTight}, "Yes");
  expect_golden({"svm_ionosphere_linear", ionosphere_columns(), "Class"},
                {.kernel = LinearKernel{}, .tolerance = kTight}, "good");
}

TEST(SvmGolden, GaussianKernelOfPimaAndIonosphere) {
  expect_golden({"svm_pima_rbf", kPima, "type"}, {.C = 2, .kernel = Rbf{.gamma = 0.1}, .tolerance = kTight}, "Yes");
  expect_golden({"svm_ionosphere_rbf", ionosphere_columns(), "Class"},
                {.kernel = Rbf{.gamma = 0.1}, .tolerance = kTight}, "good");
}

TEST(SvmGolden, PolynomialKernelOfPima) {
  expect_golden({"svm_pima_poly", kPima, "type"},
                {.C = 0.5, .kernel = Poly{.degree = 3, .gamma = 1.0 / 7, .offset = 1}, .tolerance = kTight}, "Yes");
}

TEST(SvmGolden, TanhOfPimaIsStationaryAndSaysSo) {
  const Case data("svm_pima_sigmoid", kPima, "type");
  const Svm spec{.C = 10, .kernel = Tanh{.gamma = 0.01, .offset = 0}, .tolerance = kTight};
  expect_golden(data, spec, "Yes");
  const SvmModel m = fit(spec, data.x, data.label);
  EXPECT_EQ(m.certificate.strength, Strength::stationary);
  EXPECT_TRUE(std::isnan(m.gap.of(0)));
  ASSERT_EQ(m.warnings.size(), 1U);
  EXPECT_TRUE(contains(m.warnings[0], "not positive semidefinite")) << m.warnings[0];
  EXPECT_TRUE(contains(m.certificate.message, "there is no duality gap")) << m.certificate.message;
}

void expect_iris(const std::string& id, const Svm& spec) {
  const Golden golden(id);
  const Table iris = dataset("iris");
  const Matrix x = columns_of(iris, {"sepal_length", "sepal_width", "petal_length", "petal_width"});
  const auto label = labels_of(iris, "species");
  const SvmModel m = fit(spec, x, label);
  ASSERT_EQ(m.machine_count(), 3);
  const Matrix values = m.machine_values(x);
  const Labels shown = golden.labels("show_rows");
  const auto& pairs = golden.value("pairs").as_list();
  for (Index k = 0; k < 3; ++k) {
    const Value& pair = pairs[static_cast<std::size_t>(k)];
    EXPECT_TRUE(Golden::compare(id, m.objective_dual.of(k), pair.at("dual_objective"), {"rel", 1e-6}));
    EXPECT_TRUE(Golden::compare(id, m.n_support.of(k), pair.at("n_support"), {"abs", 1}));
    Vector ours(static_cast<Index>(shown.size()));  // theirs are positive for the first class of the pair
    for (Index i = 0; i < ours.size(); ++i) ours(i) = -values(shown[static_cast<std::size_t>(i)] - 1, k);
    EXPECT_TRUE(Golden::compare(id, ours, pair.at("decision_values"), {"mixed", 1e-4}));
  }
  EXPECT_TRUE(golden.agrees("n_support_total", static_cast<double>(m.support.of.size())));
  const Labels said = m.classify(x);
  double wrong = 0;
  const auto classes = golden.strings("classes");
  for (std::size_t i = 0; i < said.size(); ++i) wrong += classes[static_cast<std::size_t>(said[i])] != label[i];
  EXPECT_TRUE(golden.agrees("training_errors", wrong));
}

TEST(SvmGolden, IrisByPairs) {
  expect_iris("svm_iris_ovo_linear", {.kernel = LinearKernel{}, .tolerance = kTight});
  expect_iris("svm_iris_ovo_rbf", {.kernel = Rbf{.gamma = 0.25}, .tolerance = kTight});
}

TEST(SvmGolden, RegressionOfMcycle) {
  const Golden golden("svr_mcycle_rbf");
  const Table mcycle = dataset("mcycle");
  const Matrix x = columns_of(mcycle, {"times"});
  const Vector y = columns_of(mcycle, {"accel"}).col(0);
  const SvmModel m = fit(Svm{.C = 20, .kernel = Rbf{.gamma = 0.02}, .epsilon = 10, .tolerance = kTight}, x, y);
  EXPECT_TRUE(golden.agrees("dual_objective", m.objective_dual.of(0)));
  EXPECT_TRUE(golden.agrees("primal_objective", m.objective_primal.of(0)));
  EXPECT_TRUE(golden.agrees("n_support", m.n_support.of(0)));
  EXPECT_TRUE(golden.agrees("bias", m.bias.of(0)));
  const Vector fitted = m.predict(x);
  const Labels shown = golden.labels("show_rows");
  Vector ours(static_cast<Index>(shown.size()));
  for (Index i = 0; i < ours.size(); ++i) ours(i) = fitted(shown[static_cast<std::size_t>(i)] - 1);
  EXPECT_TRUE(golden.agrees("fitted", ours));
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
}

}  // namespace
}  // namespace lemma
