// lemma/kernel/shared/kept_order_test.cpp: a model is verified by the rows of its fit in any order, and by no other rows.
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/kernel/gp.hpp>
#include <lemma/kernel/kernel_lda.hpp>
#include <lemma/kernel/kernel_logistic.hpp>
#include <lemma/kernel/kernel_neighbors.hpp>
#include <lemma/kernel/kernel_perceptron.hpp>
#include <lemma/kernel/kernel_ridge.hpp>
#include <lemma/kernel/nadaraya_watson.hpp>
#include <lemma/kernel/shared/kept_order.hpp>
#include <lemma/kernel/svm.hpp>

namespace lemma {
namespace {

/// Whole numbers as features, so that many rows agree in them, with responses, classes and weights of their own.
struct Crowded {
  Matrix x;
  Vector y, w;
  Labels code;

  explicit Crowded(Index n, int classes = 3, std::uint64_t seed = 4) : x(n, 2), y(n), w(n) {
    RandomStream stream(seed);
    for (Index i = 0; i < n; ++i) {
      x.row(i) << static_cast<double>(stream.below(4)), static_cast<double>(stream.below(3));
      y(i) = x(i, 0) + stream.normal();
      w(i) = 1 + static_cast<double>(stream.below(3));
      code.push_back(i < classes ? static_cast<int>(i) : static_cast<int>(stream.below(classes)));
    }
  }
  Crowded in(const std::vector<Index>& order) const {
    Crowded out = *this;
    out.x = x(order, Eigen::all);
    out.y = y(order);
    out.w = w(order);
    for (std::size_t i = 0; i < order.size(); ++i) out.code[i] = code[static_cast<std::size_t>(order[i])];
    return out;
  }
  Crowded shuffled() const {
    RandomStream stream(9);
    return in(permutation(stream, x.rows()));
  }
  MemoryRows numbers() const {
    MemoryRows rows(x);
    rows.response({y.data(), static_cast<std::size_t>(y.size())});
    return weighted(std::move(rows));
  }
  MemoryRows classes() const {
    MemoryRows rows(x);
    const int most = *std::max_element(code.begin(), code.end());
    std::vector<std::string> names;
    for (int k = 0; k <= most; ++k) names.push_back(std::string(1, static_cast<char>('a' + k)));
    rows.labels(code, names);
    return weighted(std::move(rows));
  }

 private:
  MemoryRows weighted(MemoryRows rows) const {
    rows.weights({w.data(), static_cast<std::size_t>(w.size())});
    return rows;
  }
};

template <class Spec>
void expect_any_order(const Spec& spec, const Crowded& data, bool numbers) {
  const Crowded other = data.shuffled();
  const auto model = fit(Valid<Spec>(spec), numbers ? data.numbers() : data.classes(), {});
  const bool claims = model.certificate.strength != Strength::none;
  EXPECT_TRUE(model.certificate.holds() || !claims) << Spec::name << ": " << model.certificate.message;
  const Certificate again = certify(model, numbers ? other.numbers() : other.classes(), {});
  EXPECT_EQ(again.strength, model.certificate.strength) << Spec::name << ": " << again.message;
  EXPECT_TRUE(again.holds() || !claims) << Spec::name << (numbers ? " of numbers: " : " of classes: ") << again.message;
  Crowded wrong = other;  // one row's response changes places with another's
  const Index last = wrong.y.size() - 1;
  Index swapped = 0;
  while (wrong.code[static_cast<std::size_t>(swapped)] == wrong.code.back() || wrong.y(swapped) == wrong.y(last))
    ++swapped;
  std::swap(wrong.y(swapped), wrong.y(last));
  std::swap(wrong.code[static_cast<std::size_t>(swapped)], wrong.code.back());
  const Certificate of_wrong = certify(model, numbers ? wrong.numbers() : wrong.classes(), {});
  EXPECT_FALSE(of_wrong.holds() && claims) << Spec::name << ": " << of_wrong.message;
}

TEST(KeptOrder, RowsThatAgreeInTheirFeaturesAreToldApartByTheirResponseAndWeight) {
  const Crowded data(60), two(60, 2);
  const Kernel kernel = Rbf{.gamma = 0.5};
  expect_any_order(Gp{.kernel = kernel, .noise = 0.3, .optimise = false}, data, true);
  expect_any_order(KernelRidge{.kernel = kernel}, data, true);
  expect_any_order(NadarayaWatson{.bandwidth = {1.0}}, data, true);
  expect_any_order(KernelNeighbors{.kernel = kernel}, data, true);
  expect_any_order(KernelNeighbors{.kernel = kernel}, data, false);
  expect_any_order(KernelLda{.kernel = kernel}, data, false);
  expect_any_order(KernelLogistic{.kernel = kernel}, data, false);
  expect_any_order(KernelLogistic{.kernel = kernel}, two, false);
  expect_any_order(KernelPerceptron{.kernel = kernel}, data, false);
  Svm svm;
  svm.kernel = kernel;
  expect_any_order(svm, data, true);
  expect_any_order(svm, data, false);
  expect_any_order(svm, two, false);
  svm.classes = MultiClass::one_vs_rest;
  expect_any_order(svm, data, false);
}

TEST(KeptOrder, NumbersOfSupportVectorsAreCheckedInTheOrderOfTheFitAndSaidNotToBeInAnother) {
  const Crowded data(60, 2), other = data.shuffled();
  Svm spec;
  spec.kernel = Rbf{.gamma = 0.5};
  auto model = fit(Valid<Svm>(spec), data.classes(), {});
  const std::string said = "another order than at the fit";
  EXPECT_EQ(certify(model, data.classes(), {}).message.find(said), std::string::npos);
  EXPECT_NE(certify(model, other.classes(), {}).message.find(said), std::string::npos);
  std::size_t j = 0;  // a support vector after which comes a row that is none
  while (j + 1 < model.support.of.size() && model.support.of[j] + 1 == model.support.of[j + 1]) ++j;
  ASSERT_LT(model.support.of[j], 59);
  model.support.of[j] += 1;
  EXPECT_FALSE(certify(model, data.classes(), {}).holds());
}

TEST(KeptOrder, AModelOfBeforeTheOrderWasKeptIsVerifiedToo) {
  const Crowded data(60, 2);
  Svm spec;
  spec.kernel = Rbf{.gamma = 0.5};
  const auto model = fit(Valid<Svm>(spec), data.classes(), {});
  Value state = Value::object();
  const Value whole = write_fields(model, false);
  for (const auto& [name, value] : whole.as_object())
    if (name != "order") state.set(name, value);
  SvmModel old;
  old.spec = model.spec;
  read_fields(old, state);
  EXPECT_EQ(old.order, 0);
  EXPECT_TRUE(certify(old, data.classes(), {}).holds());
  EXPECT_TRUE(certify(old, data.shuffled().classes(), {}).holds());
}

TEST(KeptOrder,
     ARowMakesRoomForAnotherThatHasNoOtherPlace) {  // 0 could be any row, 1 only the first, 2 only the second
  const Points kept(Matrix::Ones(3, 1)), given(Matrix::Ones(3, 1));
  RowMatch match(kept, given, [](Index j, Index row) { return j == 0 || row == j - 1; });
  for (Index j = 0; j < 3; ++j) EXPECT_TRUE(match.take(j)) << j;
  EXPECT_EQ(match.rows(), (std::vector<Index>{2, 0, 1}));
}

TEST(KeptOrder, OtherRowsAreNotFoundAgain) {
  const Points kept(Matrix{{1.0, 0.0}, {2.0, 3.0}}), given(Matrix{{2.0, 3.0}, {1.0, 1e-300}});
  EXPECT_FALSE(found_again(kept, given, {}));
  EXPECT_EQ(*found_again(kept, Points(Matrix{{2.0, 3.0}, {1.0, -0.0}}), {}), (std::vector<Index>{1, 0}));
}

}  // namespace
}  // namespace lemma
