// lemma/reduce/whiten_test.cpp
#include <gtest/gtest.h>

#include <lemma/core/random.hpp>
#include <lemma/math/multiply.hpp>
#include <lemma/model/fit.hpp>
#include <lemma/reduce/whiten.hpp>

namespace lemma {
namespace {

Matrix correlated(Index n, Index p) {
  Matrix x = normal_matrix(n, p, 4, 1) * (Matrix::Identity(p, p) + 0.5 * normal_matrix(p, p, 4, 2));
  x.rowwise() += Vector::LinSpaced(p, -3, 50).transpose();
  return x;
}

Matrix covariance_of(const Matrix& z) {
  const Matrix centred = z.rowwise() - z.colwise().mean();
  return gram(centred) / static_cast<double>(z.rows() - 1);
}

TEST(Whiten, LeavesMeanZeroAndTheIdentityAsCovariance) {
  const Matrix x = correlated(500, 4);
  for (const auto kind : {Whitening::pca, Whitening::zca}) {
    const auto model = fit(Whiten{.kind = kind}, x);
    const Matrix z = model.transform(x);
    EXPECT_LT((covariance_of(z) - Matrix::Identity(4, 4)).cwiseAbs().maxCoeff(), 1e-10);
    EXPECT_LT(z.colwise().mean().cwiseAbs().maxCoeff(), 1e-10);
    EXPECT_LT((model.inverse(z) - x).cwiseAbs().maxCoeff(), 1e-10);
    const auto map = model.affine();
    EXPECT_LT((Matrix(multiply_transposed(x, map.a).rowwise() + map.b.transpose()) - z).cwiseAbs().maxCoeff(), 1e-10);
    EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  }
}

TEST(Whiten, ZcaIsTheWhiteningNearestToTheRows) {
  const Matrix x = correlated(300, 3), centred = x.rowwise() - x.colwise().mean();
  const auto zca = fit(Whiten{.kind = Whitening::zca}, x), pca = fit(Whiten{}, x);
  EXPECT_LT((zca.transform(x) - centred).norm(), (pca.transform(x) - centred).norm());
  EXPECT_EQ(zca.output_names({"a", "b", "c"}), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(pca.output_names({"a", "b", "c"}), (std::vector<std::string>{"W1", "W2", "W3"}));
}

TEST(Whiten, WeightsEqualRepetitionAndThreadsKeepTheBits) {
  const Matrix x = correlated(3000, 3);
  Matrix twice(6000, 3);
  twice << x, x;
  const auto weighted = fit(Whiten{}, x, CallOptions{.weights = Vector::Constant(3000, 2)}),
             copied = fit(Whiten{}, twice);
  EXPECT_LT((weighted.sdev - copied.sdev).norm(), 1e-12);
  const auto one = fit(Whiten{}, x, CallOptions{.threads = 1}), three = fit(Whiten{}, x, CallOptions{.threads = 3});
  EXPECT_EQ(one.loadings, three.loadings);
  EXPECT_EQ(one.sdev, three.sdev);
  EXPECT_EQ(one.certificate.value, three.certificate.value);
}

TEST(Whiten, ARidgeAnswersWhereTheCovarianceIsSingular) {
  Matrix x = correlated(80, 3);
  x.col(2) = x.col(0) + x.col(1);
  try {
    fit(Whiten{}, x);
    FAIL() << "a singular covariance was taken";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("'x1', 'x2' and 'x3' depend"), std::string::npos) << error.what();
  }
  for (const auto kind : {Whitening::pca, Whitening::zca}) {
    const auto model = fit(Whiten{.kind = kind, .epsilon = 0.01}, x);
    EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  }
  EXPECT_TRUE(fit(Whiten{.epsilon = 0.1}, correlated(4, 9)).certificate.holds());
  EXPECT_THROW(fit(Whiten{}, correlated(4, 9)), Error);
}

TEST(Whiten, TheNaturalWrongAlgorithmsFailTheCertificate) {
  const Matrix x = correlated(200, 3);
  const MemoryRows rows(x);
  const auto right = fit(Whiten{}, x);
  ASSERT_TRUE(certify(right, rows, {}).holds());
  WhitenModel divisor = right, damaged = right, uncentred = right, other_kind = right;
  divisor.sdev *= std::sqrt(199.0 / 200.0);
  damaged.loadings(0, 1) += 1e-6;
  uncentred.mean.setZero();
  other_kind.loadings = right.loadings.rowwise().reverse().eval();  // axes in the wrong order
  other_kind.sdev = right.sdev.reverse().eval();
  for (const auto& wrong : {divisor, damaged, uncentred, other_kind}) EXPECT_FALSE(certify(wrong, rows, {}).holds());
  WhitenModel no_ridge = fit(Whiten{}, x);
  no_ridge.spec.epsilon = 0.01;
  EXPECT_FALSE(certify(no_ridge, rows, {}).holds());
}

TEST(Whiten, TheUnitsOfTheColumnsDoNotDecideWhetherTheyAreIndependent) {
  const Matrix x = correlated(200, 3);
  for (const Vector& unit : {Vector{{1e5, 1e-4, 1.0}}, Vector{{1e120, 1e-120, 1.0}}, Vector{{1e-30, 1.0, 1e30}}})
    for (const auto kind : {Whitening::pca, Whitening::zca}) {
      const Matrix scaled = x * unit.asDiagonal();
      const auto model = fit(Whiten{.kind = kind}, scaled);
      EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
      EXPECT_LT((covariance_of(model.transform(scaled)) - Matrix::Identity(3, 3)).cwiseAbs().maxCoeff(), 1e-9);
      WhitenModel wrong = model;
      wrong.sdev(2) *= 1 + 1e-6;
      EXPECT_FALSE(certify(wrong, MemoryRows(scaled), {}).holds());
    }
  Matrix dependent = x;
  dependent.col(2) = x.col(0) + 2 * x.col(1);
  dependent.col(2) *= 1e-9;
  EXPECT_THROW(fit(Whiten{}, dependent), Error);
}

TEST(Whiten, ColumnsFarFromZeroAreWhitenedToTheLastDigitOfTheirMean) {
  for (const double offset : {1e9, 1e12}) {
    const Matrix x = correlated(200, 3).array() + offset;
    for (const auto kind : {Whitening::pca, Whitening::zca}) {
      const auto model = fit(Whiten{.kind = kind}, x);
      EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
      WhitenModel wrong = model;
      wrong.mean(1) += 1e-15 * offset;
      EXPECT_FALSE(certify(wrong, MemoryRows(x), {}).holds()) << offset;
    }
  }
}

TEST(Whiten, AColumnThatCannotBeSquaredIsNamed) {
  for (const double unit : {1e-200, 1e200}) {
    Matrix x = correlated(30, 3);
    x.col(1) *= unit;
    try {
      fit(Whiten{}, x);
      FAIL() << unit;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("'x2'"), std::string::npos) << error.what();
    }
  }
}

TEST(Whiten, ComesBackFromItsFieldsWithEveryBit) {
  const Matrix x = correlated(60, 3);
  const auto& method = method_of<Whiten>();
  const auto model = method.fit(from_json(R"({"kind": "zca", "epsilon": 0.1})"), MemoryRows(x), {});
  const auto loaded = method.load(model->params(), model->save(), {model->certificate(), {}});
  EXPECT_EQ(loaded->transform(x), model->transform(x));
}

TEST(Whiten, RefusesWhatItCannotUse) {
  Matrix x = correlated(30, 3);
  EXPECT_THROW(fit(Whiten{.epsilon = -1}, x), Error);
  EXPECT_THROW(fit(Whiten{}, x.topRows(1)), Error);
  EXPECT_THROW(fit(Whiten{}, Matrix(x * 1e200)), Error);
  EXPECT_THROW(fit(Whiten{}, Matrix(x * 1e-200)), Error);
  EXPECT_THROW(fit(Whiten{}, x).transform(x.leftCols(2)), Error);
  x(1, 2) = std::nan("");
  EXPECT_THROW(fit(Whiten{}, x), Error);
}

}  // namespace
}  // namespace lemma
