// lemma/kernel/svm_test.cpp: what duality says of a machine, held against machines.
#include <lemma/kernel/svm/data_test.hpp>
#include <limits>
#include <tests/sparse_of.hpp>

namespace lemma {
namespace {

using namespace svm_test;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<NamedColumn> diagnostics_of(const SvmModel& m, const Matrix& x, const Labels& label) {
  Block block(x, 0);
  block.label = label;
  return m.diagnostics(block);
}

MemoryRows rows_of(const Matrix& x, const Labels& label) {
  MemoryRows rows(x);
  rows.labels(label, {"left", "right"});
  return rows;
}

double greatest_difference(const Matrix& a, const Matrix& b) { return (a - b).cwiseAbs().maxCoeff(); }

// ---- The derivation on one's data ----

TEST(Svm, TwoRowsHaveTheMachineOfTheTextbook) {
  const Matrix x{{-1.0}, {1.0}};
  const SvmModel m = fit(Svm{.C = kInfinity, .kernel = LinearKernel{}}, x, std::vector<std::string>{"a", "b"});
  EXPECT_NEAR(m.dual_coefficients.of(0, 0), -0.5, 1e-12);
  EXPECT_NEAR(m.dual_coefficients.of(0, 1), 0.5, 1e-12);
  EXPECT_NEAR(m.bias.of(0), 0, 1e-12);
  EXPECT_NEAR(m.margin.of(0), 1, 1e-12);
  EXPECT_NEAR(m.hull_distance.of(0), 2, 1e-12);
  EXPECT_NEAR(m.objective_primal.of(0), 0.5, 1e-12);
  EXPECT_NEAR(m.objective_dual.of(0), 0.5, 1e-12);
  EXPECT_NEAR(m.decision(Matrix{{0.25}})(0, 0), 0.25, 1e-12);
}

TEST(Svm, WithoutAFreeVectorTheBiasIsTheMiddleOfItsInterval) {
  const Matrix x{{-1.0}, {3.0}};  // α = C: f(x) = 0.04 x·4 …, and b may be anything that leaves both inside the margin
  const SvmModel m = fit(Svm{.C = 0.01, .kernel = LinearKernel{}}, x, std::vector<std::string>{"a", "b"});
  EXPECT_EQ(m.n_free.of(0), 0);
  EXPECT_EQ(m.n_bounded.of(0), 2);
  const double w = 0.01 * (3 + 1), low = -1 + w, high = 1 - 3 * w;  // −f(−1) ≤ 1 and f(3) ≤ 1
  EXPECT_NEAR(m.bias.of(0), (low + high) / 2, 1e-12);
}

TEST(Svm, EveryRowMeetsItsKktConditions) {
  const Clouds data(120);
  const double C = 0.5, tolerance = 1e-6;
  const SvmModel m = fit(Svm{.C = C, .kernel = Rbf{.gamma = 0.3}, .tolerance = tolerance}, data.x, data.label);
  const Labels label = data.codes();
  const auto all = diagnostics_of(m, data.x, label);
  const Vector alpha = column(all, "alpha"), slack = column(all, "slack"), margin = column(all, "margin"),
               side = column(all, "side"), kkt = column(all, "kkt");
  EXPECT_LE(kkt.maxCoeff(), tolerance);
  Index outside = 0, on = 0, inside = 0;
  double balance = 0;
  for (Index i = 0; i < alpha.size(); ++i) {
    balance += alpha(i) * (label[static_cast<std::size_t>(i)] == 1 ? 1 : -1);
    EXPECT_NEAR(slack(i), std::max(0.0, 1 - margin(i)), 1e-15);
    if (side(i) == 0) {
      ++outside;
      EXPECT_EQ(alpha(i), 0) << i;
    } else if (side(i) == 2) {
      ++inside;
      EXPECT_NEAR(alpha(i), C, 1e-12) << i;
    } else {
      ++on;
    }
  }
  EXPECT_NEAR(balance, 0, 1e-9);
  EXPECT_GT(outside, 10);
  EXPECT_GT(inside, 10);
  EXPECT_GE(static_cast<double>(on), m.n_free.of(0));
  EXPECT_EQ(m.n_support.of(0), (alpha.array() > 0).count());
  const double losses = C * slack.sum();
  EXPECT_NEAR(m.objective_primal.of(0), losses + 0.5 / (m.margin.of(0) * m.margin.of(0)), 1e-9);
}

TEST(Svm, TheDualIsBelowThePrimalAndTheGapClosesWithTheTolerance) {
  const Clouds data(200, 1);
  double last = 1;
  for (const double tolerance : {1e-1, 1e-3, 1e-6, 1e-9}) {
    const SvmModel m = fit(Svm{.C = 3, .tolerance = tolerance}, data.x, data.label);
    EXPECT_LE(m.objective_dual.of(0), m.objective_primal.of(0));
    EXPECT_LE(m.gap.of(0), tolerance);
    EXPECT_LE(m.gap.of(0), last);
    last = m.gap.of(0);
  }
}

// ---- Hard margin ----

TEST(Svm, AHardMarginIsThatOfALargeC) {
  const Clouds data(80, 9);
  const SvmModel hard = fit(Svm{.C = kInfinity, .kernel = LinearKernel{}, .tolerance = 1e-8}, data.x, data.label);
  const SvmModel soft = fit(Svm{.C = 1e4, .kernel = LinearKernel{}, .tolerance = 1e-8}, data.x, data.label);
  EXPECT_TRUE(hard.certificate.holds()) << hard.certificate.message;
  EXPECT_TRUE(hard.warnings.empty());
  EXPECT_EQ(hard.n_bounded.of(0), 0);
  EXPECT_LE(greatest_difference(hard.decision(data.x), soft.decision(data.x)), 1e-4);
  const Vector margins = column(diagnostics_of(hard, data.x, data.codes()), "margin");
  EXPECT_NEAR(margins.minCoeff(), 1, 1e-6);
  EXPECT_NEAR(hard.hull_distance.of(0), 2 * hard.margin.of(0), 1e-6);  // the hulls are two margins apart
}

TEST(Svm, ClassesThatNoHyperplaneSeparatesComeWithTheProof) {
  const Matrix x{{0.0, 0.0}, {1.0, 1.0}, {0.0, 1.0}, {1.0, 0.0}, {3.0, 0.2}, {-2.0, 0.8}};
  const std::vector<std::string> label{"a", "a", "b", "b", "b", "a"};
  const Labels codes{0, 0, 1, 1, 1, 0};
  const SvmModel m = fit(Svm{.C = kInfinity, .kernel = LinearKernel{}}, x, label);
  EXPECT_FALSE(m.certificate.holds());
  EXPECT_EQ(m.certificate.stopped, "not separable");
  EXPECT_TRUE(contains(m.certificate.message, "No hyperplane separates")) << m.certificate.message;
  ASSERT_EQ(m.warnings.size(), 1U);
  EXPECT_TRUE(contains(m.warnings[0], "use a finite C")) << m.warnings[0];
  // Farkas: multipliers that sum to 1 over each class, and mix the same point of both hulls.
  Vector mixed = Vector::Zero(2);
  double first = 0, second = 0;
  for (std::size_t s = 0; s < m.support.of.size(); ++s) {
    const double beta = m.dual_coefficients.of(0, static_cast<Index>(s));
    const Index i = m.support.of[s];
    EXPECT_EQ(beta > 0, codes[static_cast<std::size_t>(i)] == 1);
    (beta > 0 ? second : first) += std::abs(beta);
    mixed += beta * x.row(i).transpose();
  }
  EXPECT_NEAR(first, second, 1e-9 * first);
  EXPECT_LE(mixed.norm() / first, 1e-4);
  EXPECT_NEAR(mixed.norm() / first, m.hull_distance.of(0), 1e-9);
  const Certificate again = certify(m, rows_of(x, codes), {});
  EXPECT_FALSE(again.holds());
  EXPECT_EQ(again.message, m.certificate.message);
  // A kernel that tells more apart separates them.
  EXPECT_TRUE(fit(Svm{.C = kInfinity, .kernel = Rbf{.gamma = 1.0}}, x, label).certificate.holds());
}

TEST(Svm, EqualRowsOfBothClassesAreNotSeparable) {
  const Matrix x{{1.0, 2.0}, {1.0, 2.0}, {0.0, 1.0}, {3.0, 1.0}};
  const std::vector<std::string> label{"a", "b", "a", "b"};
  const SvmModel hard = fit(Svm{.C = kInfinity}, x, label);
  EXPECT_FALSE(hard.certificate.holds());
  EXPECT_NEAR(hard.hull_distance.of(0), 0, 1e-6);
  const SvmModel soft = fit(Svm{.C = 2}, x, label);
  EXPECT_TRUE(soft.certificate.holds()) << soft.certificate.message;
  EXPECT_NEAR(soft.decision(x)(0, 0), soft.decision(x)(1, 0), 1e-12);
}

// ---- The same machine said in other ways ----

TEST(Svm, ABudgetOfSlackIsTheSameProblemAsItsC) {
  const Clouds data(100, 1.5);
  for (const double C : {0.05, 0.7, 20.0}) {
    const SvmModel by_cost = fit(Svm{.C = C, .kernel = Rbf{.gamma = 0.4}, .tolerance = 1e-8}, data.x, data.label);
    const double slack = column(diagnostics_of(by_cost, data.x, data.codes()), "slack").sum();
    const SvmModel by_slack =
        fit(Svm{.kernel = Rbf{.gamma = 0.4}, .slack = slack, .tolerance = 1e-8}, data.x, data.label);
    EXPECT_TRUE(by_slack.certificate.holds()) << by_slack.certificate.message;
    EXPECT_NEAR(by_slack.spec.C, C, 1e-2 * C);
    EXPECT_LE(greatest_difference(by_slack.decision(data.x), by_cost.decision(data.x)), 1e-3) << C;
    EXPECT_NEAR(by_slack.margin.of(0), by_cost.margin.of(0), 1e-5);
    EXPECT_TRUE(certify(by_slack, rows_of(data.x, data.codes()), {}).holds());
  }
}

TEST(Svm, ABudgetThatAsksForNothingOrForTooMuchIsToldSo) {
  const Clouds data(40, 0.5);
  EXPECT_TRUE(
      contains(message_of([&] { fit(Svm{.slack = 40.0}, data.x, data.label); }), "slack is 40, must be below 40"));
  const SvmModel m = fit(Svm{.kernel = LinearKernel{}, .slack = 1e-3}, data.x, data.label);
  EXPECT_FALSE(m.certificate.holds());
  EXPECT_TRUE(contains(m.warnings.back(), "slack out of reach")) << m.warnings.back();
  const SvmModel none = fit(Svm{.kernel = Rbf{.gamma = 50.0}, .slack = 0.0}, data.x, data.label);
  EXPECT_TRUE(none.certificate.holds()) << none.certificate.message;
  EXPECT_EQ(none.spec.C, kInfinity);
}

TEST(Svm, CByAverageIsCTimesTheRows) {
  const Clouds data(60);
  const SvmModel sum = fit(Svm{.C = 0.5}, data.x, data.label),
                 average = fit(Svm{.C = 30, .average = true}, data.x, data.label);
  EXPECT_EQ(greatest_difference(sum.decision(data.x), average.decision(data.x)), 0);
}

TEST(Svm, AWeightOfKIsKCopiesAndAClassWeightAWeightOfItsRows) {
  const Clouds data(70, 1.5);
  Vector weight(70);
  std::vector<Index> copies;
  for (Index i = 0; i < 70; ++i) {
    weight(i) = static_cast<double>((i * 5) % 4);
    for (int c = 0; c < weight(i); ++c) copies.push_back(i);
  }
  std::vector<std::string> labels;
  for (const Index i : copies) labels.push_back(data.label[static_cast<std::size_t>(i)]);
  const Svm spec{.C = 0.8, .tolerance = 1e-10};
  const SvmModel weighted = fit(spec, data.x, data.label, {.weights = weight});
  const SvmModel repeated = fit(spec, Matrix(data.x(copies, Eigen::all)), labels);
  EXPECT_LE(greatest_difference(weighted.decision(data.x), repeated.decision(data.x)), 1e-5);
  EXPECT_NEAR(weighted.objective_primal.of(0), repeated.objective_primal.of(0), 1e-7);

  Vector by_class(70);
  for (Index i = 0; i < 70; ++i) by_class(i) = i % 2 == 1 ? 2.5 : 0.5;
  const SvmModel rows = fit(Svm{.kernel = Rbf{.gamma = 0.3}}, data.x, data.label, {.weights = by_class});
  const SvmModel classes =
      fit(Svm{.kernel = Rbf{.gamma = 0.3}, .class_weights = std::vector<double>{0.5, 2.5}}, data.x, data.label);
  EXPECT_EQ(greatest_difference(rows.decision(data.x), classes.decision(data.x)), 0);
}

TEST(Svm, TheOrderOfTheRowsDoesNotChangeTheMachine) {
  const Clouds data(120, 0.5);
  Matrix turned(data.x.rows(), 2);
  std::vector<std::string> label;
  for (Index i = 0; i < turned.rows(); ++i) {
    const Index from = (i * 37 + 11) % turned.rows();
    turned.row(i) = data.x.row(from);
    label.push_back(data.label[static_cast<std::size_t>(from)]);
  }
  const Svm spec{.kernel = Rbf{.gamma = 0.4}, .tolerance = 1e-10};
  const SvmModel a = fit(spec, data.x, data.label), b = fit(spec, turned, label);
  EXPECT_NEAR(a.objective_dual.of(0), b.objective_dual.of(0), 1e-8 * a.objective_dual.of(0));
  EXPECT_LE(greatest_difference(a.decision(data.x), b.decision(data.x)), 1e-5);
}

TEST(Svm, EachClassAgainstTheRestIsTheMachineOfThatQuestion) {
  const Table iris = dataset("iris");
  const Matrix x = columns_of(iris, {"sepal_length", "sepal_width", "petal_length", "petal_width"});
  const auto label = labels_of(iris, "species");
  const Svm spec{.kernel = Rbf{.gamma = 0.25}, .classes = MultiClass::one_vs_rest};
  const SvmModel all = fit(spec, x, label);
  EXPECT_EQ(all.machine_count(), 3);
  std::vector<std::string> question;
  for (const auto& each : label) question.push_back(each == "versicolor" ? "yes" : "no");
  const SvmModel one = fit(spec, x, question);
  EXPECT_LE(greatest_difference(all.decision(x).col(1), one.decision(x)), 1e-12);
}

TEST(Svm, SparseRowsGiveTheMachineOfTheDenseOnes) {
  const Clouds data(90);
  Matrix x = data.x;
  for (Index i = 0; i < x.rows(); ++i)
    if (i % 3 == 0) x(i, i % 2) = 0;
  const Csr sparse = sparse_of(x);
  const Labels label = data.codes();
  MemoryRows thin(sparse);
  thin.labels(label, {"left", "right"});
  for (const char* kernel : {"rbf(0.4)", "linear", "poly(2, 0.3)"}) {
    const Svm spec{.kernel = Kernel::parse(kernel), .tolerance = 1e-9};
    const SvmModel a = fit(Valid<Svm>(spec), thin, CallOptions{}), b = fit(spec, x, data.label);
    EXPECT_LE(greatest_difference(a.decision(x), b.decision(x)), 1e-5) << kernel;
    EXPECT_TRUE(certify(a, thin, {}).holds());
    SvmModel back;
    back.spec = a.spec;
    read_fields(back, from_cbor(to_cbor(write_fields(a, false)).data(), to_cbor(write_fields(a, false)).size()));
    back.check();
    EXPECT_EQ(greatest_difference(a.decision(x), back.decision(x)), 0);
  }
}

TEST(Svm, APrecomputedKernelIsTheKernelItself) {
  const Clouds data(60);
  const Matrix fresh = Clouds(10, 2, 8).x;
  const Kernel rbf = Rbf{.gamma = 0.5};
  const BoundKernel bound(rbf, Points(data.x));
  const Matrix gram = bound.gram(), cross = bound.cross(fresh);
  const SvmModel direct = fit(Svm{.C = 2, .kernel = rbf}, data.x, data.label);
  const SvmModel given = fit(Svm{.C = 2, .kernel = Precomputed{}}, gram, data.label);
  EXPECT_EQ(given.certificate.strength, Strength::optimal);
  EXPECT_TRUE(given.warnings.empty());
  EXPECT_EQ(given.support.of, direct.support.of);
  EXPECT_LE(greatest_difference(given.decision(cross), direct.decision(fresh)), 1e-9);
  EXPECT_TRUE(certify(given, rows_of(gram, data.codes()), {}).holds());
  const Table iris = dataset("iris");  // and for pairs of classes
  const Matrix x = columns_of(iris, {"petal_length", "petal_width"});
  const auto label = labels_of(iris, "species");
  const Matrix iris_gram = BoundKernel(rbf, Points(x)).gram();
  const SvmModel by_gram = fit(Svm{.kernel = Precomputed{}, .tolerance = 1e-9}, iris_gram, label),
                 by_rows = fit(Svm{.kernel = rbf, .tolerance = 1e-9}, x, label);
  EXPECT_LE(greatest_difference(by_gram.machine_values(iris_gram), by_rows.machine_values(x)), 1e-5);
}

// ---- Numbers ----

TEST(Svm, NumbersAreFittedUpToEpsilon) {
  const Index n = 80;
  Matrix x(n, 1);
  Vector y(n);
  RandomStream stream(4);
  for (Index i = 0; i < n; ++i) {
    x(i, 0) = 6 * stream.uniform();
    y(i) = std::sin(x(i, 0)) + 0.1 * stream.normal();
  }
  const SvmModel m = fit(Svm{.C = 10, .kernel = Rbf{.gamma = 1.0}, .epsilon = 0.15, .tolerance = 1e-7}, x, y);
  EXPECT_EQ(m.task(), Task::regression);
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
  Block block(x, 0);
  block.y = {y.data(), static_cast<std::size_t>(n)};
  const auto all = m.diagnostics(block);
  const Vector beta = column(all, "beta"), slack = column(all, "slack"), residual = y - m.predict(x),
               side = column(all, "side");
  EXPECT_NEAR(beta.sum(), 0, 1e-9);
  for (Index i = 0; i < n; ++i) {
    if (side(i) == 1) continue;
    EXPECT_NEAR(beta(i), side(i) == 0 ? 0 : residual(i) > 0 ? 10 : -10, 1e-9);
  }
  EXPECT_LE(column(all, "kkt").maxCoeff(), 1e-6);
  const SvmModel flat = fit(Svm{.epsilon = 5}, x, y);  // all rows lie in the tube of a constant
  EXPECT_EQ(flat.support.of.size(), 0U);
  EXPECT_TRUE(flat.certificate.holds());
  EXPECT_EQ(flat.gap.of(0), 0);
  const SvmModel budget =
      fit(Svm{.kernel = Rbf{.gamma = 1.0}, .epsilon = 0.15, .slack = slack.sum(), .tolerance = 1e-7}, x, y);
  EXPECT_LE((budget.predict(x) - m.predict(x)).cwiseAbs().maxCoeff(), 1e-3);
  EXPECT_TRUE(contains(message_of([&] { fit(Svm{.C = kInfinity}, x, y); }), "for numbers it must be finite"));
}

// ---- The certificate ----

TEST(Svm, TheNaturalWrongMachinesFailTheCertificate) {
  const Clouds data(100, 1.5);
  const Labels label = data.codes();
  const auto rows = rows_of(data.x, label);
  const SvmModel good = fit(Svm{.C = 5, .tolerance = 1e-6}, data.x, data.label);
  EXPECT_TRUE(certify(good, rows, {}).holds());
  SvmModel early = fit(Svm{.C = 5, .tolerance = 0.05}, data.x, data.label);
  early.spec.tolerance = 1e-6;
  EXPECT_FALSE(certify(early, rows, {}).holds());
  SvmModel other_cost = fit(Svm{.C = 4, .kernel = good.spec.kernel, .tolerance = 1e-6}, data.x, data.label);
  other_cost.spec.C = 5;
  EXPECT_FALSE(certify(other_cost, rows, {}).holds());
  SvmModel beyond_the_box = good;
  beyond_the_box.spec.C = 4;
  EXPECT_TRUE(contains(certify(beyond_the_box, rows, {}).message, "not feasible"));
  SvmModel moved = good;
  moved.bias.of(0) += 0.01;
  EXPECT_FALSE(certify(moved, rows, {}).holds());
  Labels turned = label;
  turned[static_cast<std::size_t>(good.support.of[0])] ^= 1;
  EXPECT_FALSE(certify(good, rows_of(data.x, turned), {}).holds());
}

// ---- Probabilities ----

TEST(Svm, ProbabilitiesAreOfRowsThatWereLeftOut) {
  const Clouds data(300, 2);
  const SvmModel m = fit(Svm{.probabilities = true}, data.x, data.label);
  const Matrix p = m.probabilities(data.x), f = m.decision(data.x);
  double loss = 0;
  for (Index i = 0; i < p.rows(); ++i) {
    EXPECT_NEAR(p.row(i).sum(), 1, 1e-12);
    loss -= std::log(p(i, i % 2));
    for (Index j = 0; j < i; ++j) EXPECT_EQ(p(i, 1) > p(j, 1), f(i, 0) > f(j, 0) && p(i, 1) != p(j, 1));
  }
  EXPECT_LT(loss / 300, 0.5);  // a coin has log 2
  EXPECT_TRUE(certify(m, rows_of(data.x, data.codes()), {}).holds());
  SvmModel moved = m;
  moved.sigmoid_slope.of(0) *= 1.01;
  EXPECT_FALSE(certify(moved, rows_of(data.x, data.codes()), {}).holds());
  EXPECT_TRUE(contains(message_of([&] { fit(Svm{}, data.x, data.label).probabilities(data.x); }), "without probab"));
}

TEST(Svm, ProbabilitiesOfSeveralClassesSumToOne) {
  const Table iris = dataset("iris");
  const Matrix x = columns_of(iris, {"petal_length", "petal_width"});
  const auto label = labels_of(iris, "species");
  for (const MultiClass how : {MultiClass::one_vs_one, MultiClass::one_vs_rest}) {
    const SvmModel m = fit(Svm{.classes = how, .probabilities = true}, x, label);
    const Matrix p = m.probabilities(x);
    EXPECT_LE((p.rowwise().sum().array() - 1).abs().maxCoeff(), 1e-9);
    Index right = 0, best = 0;
    const Labels said = m.classify(x);
    for (Index i = 0; i < 150; ++i) {
      p.row(i).maxCoeff(&best);
      right += best == i / 50;
    }
    EXPECT_GE(right, 140);
  }
}

}  // namespace
}  // namespace lemma
