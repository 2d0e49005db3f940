// tests/sparse_predict_test.cpp: what linear models say of rows without their zeros: as of the rows with them.
#include <gtest/gtest.h>
#include <lemma/catalog.hpp>
#include <lemma/core/random.hpp>
#include <tests/contract/compare.hpp>
#include <tests/contract/data.hpp>
#include <tests/sparse_of.hpp>

namespace lemma::contract {
namespace {

std::vector<std::string> plane_methods() {
  return {"centroid", "elastic_net", "lasso", "linear_svm", "logistic",
          "lp_svm",   "multinomial", "ols",   "perceptron", "ridge"};
}

/// Few numbers that are not 0, in a width that is no multiple of any vector's.
Matrix few_entries(Index rows, Index columns, std::uint64_t seed) {
  RandomStream random(seed);
  Matrix x = Matrix::Zero(rows, columns);
  for (Index i = 0; i < rows; ++i)
    for (Index k = 0; k < 1 + i % 7; ++k) x(i, random.below(columns)) = random.normal();
  return x;
}

/// A table with these columns and a response of each kind.
Table table_of(const Matrix& x) {
  Table out({}, "wide");
  std::vector<double> y;
  std::vector<std::string> side, group;
  RandomStream chance(5);
  for (Index i = 0; i < x.rows(); ++i) {
    y.push_back(x.row(i).sum() + 0.1 * chance.normal());
    side.push_back(y.back() + chance.normal() > 0 ? "yes" : "no");
    group.push_back(std::string(1, static_cast<char>('a' + i % 3)));
  }
  for (Index j = 0; j < x.cols(); ++j)
    out.add(numeric("x" + std::to_string(j + 1), std::vector<double>(x.col(j).begin(), x.col(j).end())));
  out.add(numeric("y", y));
  out.add(categorical("side", side));
  out.add(categorical("group", group));
  return out;
}

class SparsePlanes : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Methods, SparsePlanes, testing::ValuesIn(plane_methods()),
                         [](const auto& tested) { return tested.param; });

TEST_P(SparsePlanes, SayTheSameOfRowsWithoutTheirZeros) {
  const Method& method = find_method(GetParam(), catalog());
  const Matrix x = few_entries(150, 43, 9);
  const std::string response = method.about().task == Task::regression ? "y"
                               : method.about().most_classes == 2      ? "side"
                                                                       : "group";
  const auto trained = train(shared(method), Value::object(), formula(response + " ~ . - y - side - group"),
                             MemoryTableStream(table_of(x)));
  const Matrix later = few_entries(3000, 43, 10);
  const Csr sparse = sparse_of(later);
  PredictOptions all;
  all.what = {"all"};
  if (GetParam() == "ols") all.what = {"value"};
  const auto found = trained.model->predict_sparse(sparse, all, {});
  ASSERT_TRUE(found.has_value());
  const Prediction expected = trained.model.predict(later, all);
  ASSERT_EQ(found->parts().size(), expected.parts().size());
  if (GetParam() == "centroid") {  // whose dense rows are taken about the middle of the means
    EXPECT_LT((found->decision() - expected.decision()).cwiseAbs().maxCoeff(), 1e-12);
    EXPECT_EQ(found->label(), expected.label());
  } else {
    EXPECT_TRUE(same_bits(to_value(*found), to_value(expected)));
  }
  // What a row is told does not depend on its company, nor on the threads.
  const Csr one = sparse_of(later.middleRows(77, 1));
  Execution three;
  three.threads = 3;
  const auto alone = trained.model->predict_sparse(one, all, three);
  const PredictedPart& part = alone->parts().front();
  if (const auto* numbers = std::get_if<Vector>(&part.data)) {
    EXPECT_EQ((*numbers)(0), found->numbers(part.info.name)(77));
  }
  const MemoryRows rows(sparse);
  EXPECT_TRUE(same_bits(to_value(trained.predict(rows, all)), to_value(*found)));
}

TEST(SparsePlanes, WhatPlanesDoNotTellIsAskedOfDenseRows) {
  const Matrix x = few_entries(80, 12, 2);
  const auto trained = train(shared(find_method("ols", catalog())), Value::object(), formula("y ~ . - side - group"),
                             MemoryTableStream(table_of(x)));
  PredictOptions interval;
  interval.interval = IntervalKind::confidence;
  const Csr sparse = sparse_of(x);
  EXPECT_FALSE(trained.model->predict_sparse(sparse, interval, {}).has_value());
  EXPECT_EQ(trained.predict(MemoryRows(sparse), interval).interval().rows(), 80);
}

}  // namespace
}  // namespace lemma::contract
