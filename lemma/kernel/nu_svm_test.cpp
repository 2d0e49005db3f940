// lemma/kernel/nu_svm_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/kernel/nu_svm.hpp>
#include <lemma/kernel/svm.hpp>
#include <lemma/kernel/svm/data_test.hpp>
#include <tests/golden.hpp>

namespace lemma {
namespace {

using namespace svm_test;

Matrix standardised(Matrix x) {
  const Vector mean = x.colwise().mean();
  x.rowwise() -= mean.transpose();
  const Vector sd = (x.colwise().squaredNorm() / static_cast<double>(x.rows() - 1)).cwiseSqrt();
  return x.array().rowwise() / sd.transpose().array();
}

/// Two clouds that overlap.
struct Overlap {
  Matrix x;
  Labels code;
  std::vector<std::string> label;
  explicit Overlap(Index n, std::uint64_t seed = 3) : x(normal_matrix(n, 2, seed)) {
    for (Index i = 0; i < n; ++i) {
      code.push_back(i % 3 == 0 ? 1 : 0);
      label.emplace_back(code.back() == 1 ? "b" : "a");
      if (code.back() == 1) x.row(i).array() += 1.2;
    }
  }
  MemoryRows rows() const {
    MemoryRows out(x);
    out.labels(code, {"a", "b"});
    return out;
  }
};

TEST(NuSvm, IsTheMachineOfLibsvm) {
  const Golden golden("nusvc_pima_rbf");
  const Table table = dataset("pima_train");
  const Matrix x = standardised(columns_of(table, {"npreg", "glu", "bp", "skin", "bmi", "ped", "age"}));
  const auto labels = labels_of(table, "type");
  const NuSvmModel model = fit(NuSvm{.nu = 0.5, .kernel = Rbf{.gamma = 0.1}, .tolerance = 1e-10}, x, labels);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  EXPECT_TRUE(golden.agrees("n_support", model.n_support.of(0)));
  EXPECT_TRUE(golden.agrees("decision_values_first10", Vector(model.decision(x).col(0).head(10))));
  const Labels said = model.predict(x);
  double errors = 0;
  for (std::size_t i = 0; i < said.size(); ++i) errors += (said[i] == 1) != (labels[i] == "Yes");
  EXPECT_TRUE(golden.agrees("training_errors", errors));
}

TEST(NuSvm, IsSvmWithTheCostThatItTells) {
  const Overlap data(120);
  const NuSvmModel nu = fit(NuSvm{.nu = 0.4, .kernel = Rbf{.gamma = 0.6}, .tolerance = 1e-11}, data.x, data.label);
  const SvmModel c = fit(Svm{.C = nu.cost.of(0), .kernel = Rbf{.gamma = 0.6}, .tolerance = 1e-9}, data.x, data.label);
  EXPECT_LT((nu.decision(data.x) - c.decision(data.x)).cwiseAbs().maxCoeff(), 1e-4);
}

TEST(NuSvm, NuBoundsMarginErrorsAndSupport) {
  const Overlap data(150);
  for (const double nu : {0.3, 0.4, 0.5, 0.66}) {
    const NuSvmModel model = fit(NuSvm{.nu = nu, .kernel = Rbf{.gamma = 0.5}, .tolerance = 1e-8}, data.x, data.label);
    EXPECT_TRUE(model.certificate.holds()) << nu << ": " << model.certificate.message;
    EXPECT_LE(model.margin_errors.of(0), nu + 1e-9);
    EXPECT_GE(model.n_support.of(0) / 150, nu - 1e-9);
    EXPECT_NEAR(model.dual_coefficients.of.sum(), 0, 1e-12);
    EXPECT_NEAR(model.dual_coefficients.of.cwiseAbs().sum(), nu, 1e-12);
  }
}

TEST(NuSvm, SaysTheLargestNuThatThereIs) {
  const Overlap data(150);  // 50 of 150 rows
  const auto said = message_of([&] { fit(NuSvm{.nu = 0.7}, data.x, data.label); });
  EXPECT_TRUE(contains(said, "nu is 0.7 and can be at most 0.6667, as class 'b' has 50 of 150 rows")) << said;
  EXPECT_EQ(message_of([&] { fit(NuSvm{.nu = 2.0 / 3}, data.x, data.label); }), "no error");
}

/// Three clouds, of 60, 40 and 20 rows.
struct Three {
  Matrix x;
  Labels code;
  Three() : x(normal_matrix(120, 2, 8)) {
    for (Index i = 0; i < 120; ++i) {
      code.push_back(i % 6 == 0 ? 2 : i % 3 == 1 ? 1 : 0);
      x.row(i) += code.back() == 0   ? Eigen::RowVector2d(0, 0)
                  : code.back() == 1 ? Eigen::RowVector2d(2, 0)
                                     : Eigen::RowVector2d(1, 2);
    }
  }
  MemoryRows rows() const {
    MemoryRows out(x);
    out.labels(code, {"a", "b", "c"});
    return out;
  }
};

TEST(NuSvm, OfSeveralClassesHasTheMachineOfEachPair) {
  const Three data;
  const NuSvm spec{.nu = 0.3, .kernel = Rbf{.gamma = 0.6}, .tolerance = 1e-9};
  const auto model = fit(Valid<NuSvm>(spec), data.rows(), {});
  ASSERT_EQ(model.machine_count(), 3);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  EXPECT_TRUE(certify(model, data.rows(), {}).holds()) << certify(model, data.rows(), {}).message;
  const NamedMatrix machines = model.decisions_of_machines(data.x);
  EXPECT_EQ(machines.columns, (std::vector<std::string>{"{1}_against_{0}", "{2}_against_{0}", "{2}_against_{1}"}));
  const int pairs[3][2] = {{0, 1}, {0, 2}, {1, 2}};
  Matrix wins = Matrix::Zero(120, 3);
  for (Index m = 0; m < 3; ++m) {
    std::vector<Index> rows;
    Labels code;
    for (Index i = 0; i < 120; ++i)
      for (int side = 0; side < 2; ++side)
        if (data.code[at(i)] == pairs[m][side]) {
          rows.push_back(i);
          code.push_back(side);
        }
    const Matrix x = data.x(rows, Eigen::all);
    MemoryRows two(x);
    two.labels(code, {"first", "second"});
    const auto alone = fit(Valid<NuSvm>(spec), two, {});
    EXPECT_LT((alone.decision(data.x) - machines.values.col(m)).cwiseAbs().maxCoeff(), 1e-12);
    EXPECT_EQ(alone.cost.of(0), model.cost.of(m));
    EXPECT_LE(model.margin_errors.of(m), 0.3 + 1e-9);
    for (Index i = 0; i < 120; ++i) wins(i, pairs[m][machines.values(i, m) > 0 ? 1 : 0]) += 1;
  }
  const Labels said = model.predict(data.x);
  for (Index i = 0; i < 120; ++i) EXPECT_EQ(wins(i, said[at(i)]), wins.row(i).maxCoeff()) << i;
  EXPECT_LT((model.decision(data.x) - wins).cwiseAbs().maxCoeff(), 1.0 / 3);
}

TEST(NuSvm, TheWrongMachineOfAPairFailsTheCertificate) {
  const Three data;
  const auto right = fit(Valid<NuSvm>(NuSvm{.nu = 0.3, .kernel = Rbf{.gamma = 0.6}}), data.rows(), {});
  NuSvmModel swapped = right;  // each class against the rest, or pairs in another order
  swapped.dual_coefficients.of.row(0).swap(swapped.dual_coefficients.of.row(1));
  EXPECT_FALSE(certify(swapped, data.rows(), {}).holds());
  NuSvmModel whole = right;  // C by the rows of all classes, not of the pair
  whole.cost.of(2) *= 0.5;
  EXPECT_FALSE(certify(whole, data.rows(), {}).holds());
  NuSvmModel moved = right;
  moved.bias.of(2) += 0.02 * right.rho.of(2);
  EXPECT_FALSE(certify(moved, data.rows(), {}).holds());
}

TEST(NuSvm, SaysWhichPairHasNoMachine) {
  const Three data;
  const auto said = message_of([&] { fit(Valid<NuSvm>(NuSvm{.nu = 0.6}), data.rows(), {}); });
  EXPECT_TRUE(contains(said, "nu is 0.6 and can be at most 0.5, as class 'c' has 20 of 80 rows beside class 'a'"))
      << said;
}

TEST(NuSvm, WeightsAreCopies) {
  const Overlap data(45);
  std::vector<double> weight;
  std::vector<Index> copies;
  Labels code;
  for (Index i = 0; i < 45; ++i) {
    weight.push_back(static_cast<double>((i / 3) % 3));
    for (Index c = 0; c < (i / 3) % 3; ++c) {
      copies.push_back(i);
      code.push_back(data.code[at(i)]);
    }
  }
  MemoryRows weighted = data.rows();
  weighted.weights(weight);
  const Matrix repeated = data.x(copies, Eigen::all);
  MemoryRows plain(repeated);
  plain.labels(code, {"a", "b"});
  const Valid<NuSvm> spec(NuSvm{.nu = 0.3, .kernel = Rbf{.gamma = 0.6}, .tolerance = 1e-10});
  const auto a = fit(spec, weighted, {}), b = fit(spec, plain, {});
  EXPECT_LT((a.decision(data.x) - b.decision(data.x)).cwiseAbs().maxCoeff(), 1e-5);
  EXPECT_TRUE(certify(a, plain, {}).holds()) << certify(a, plain, {}).message;
}

TEST(NuSvm, IsVerifiedInAnyOrderOfTheRows) {
  const Overlap data(60);
  const auto model = fit(Valid<NuSvm>(NuSvm{.nu = 0.3}), data.rows(), {});
  const Matrix x = data.x.colwise().reverse();
  Labels code(data.code.rbegin(), data.code.rend());
  MemoryRows reversed(x);
  reversed.labels(code, {"a", "b"});
  EXPECT_TRUE(certify(model, reversed, {}).holds()) << certify(model, reversed, {}).message;
  std::rotate(code.begin(), code.begin() + 1, code.end());
  MemoryRows other(x);
  other.labels(code, {"a", "b"});
  EXPECT_FALSE(certify(model, other, {}).holds());
}

/// The machine of another cost, scaled to the same sum: right direction of thought, wrong plane.
TEST(NuSvm, TheNaturalWrongMachinesFailTheCertificate) {
  const Overlap data(120);
  const auto right = fit(Valid<NuSvm>(NuSvm{.nu = 0.4, .kernel = Rbf{.gamma = 0.6}}), data.rows(), {});
  ASSERT_TRUE(certify(right, data.rows(), {}).holds());
  const auto less = fit(Valid<NuSvm>(NuSvm{.nu = 0.35, .kernel = Rbf{.gamma = 0.6}}), data.rows(), {});
  NuSvmModel scaled = less;
  scaled.spec.nu = 0.4;
  scaled.dual_coefficients.of *= 0.4 / 0.35;
  scaled.rho.of *= 0.4 / 0.35;
  scaled.bias.of *= 0.4 / 0.35;
  EXPECT_FALSE(certify(scaled, data.rows(), {}).holds());
  NuSvmModel unscaled = right;  // α of svm, not divided by n C
  unscaled.dual_coefficients.of /= right.rho.of(0);
  EXPECT_FALSE(certify(unscaled, data.rows(), {}).holds());
  NuSvmModel moved = right;
  moved.bias.of(0) += 0.02 * right.rho.of(0);
  EXPECT_FALSE(certify(moved, data.rows(), {}).holds());
}

TEST(NuSvm, RefusesClassesThatLookAlike) {
  const Matrix x = Matrix::Ones(10, 2);
  std::vector<std::string> label;
  for (int i = 0; i < 10; ++i) label.emplace_back(i % 2 == 0 ? "a" : "b");
  EXPECT_TRUE(
      contains(message_of([&] { fit(NuSvm{.nu = 0.5, .kernel = Rbf{.gamma = 1.0}}, x, label); }), "look alike"));
  const Overlap data(30);
  EXPECT_TRUE(contains(message_of([&] { fit(NuSvm{.kernel = Tanh{}}, Matrix(5 * data.x), data.label); }),
                       "not positive semidefinite"));
  EXPECT_TRUE(contains(message_of([&] { fit(NuSvm{.kernel = Precomputed{}}, data.x, data.label); }), "take svm"));
}

}  // namespace
}  // namespace lemma
