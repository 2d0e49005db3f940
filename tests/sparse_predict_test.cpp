// tests/sparse_predict_test.cpp: what linear models say of rows without their zeros: as of the rows with them.
#include <gtest/gtest.h>
#include <lemma/catalog.hpp>
#include <lemma/core/random.hpp>
#include <lemma/model/asked_rows.hpp>
#include <lemma/model/threshold.hpp>
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

/// Sparse rows that nobody may make dense.
class NeverDense final : public Rows {
 public:
  explicit NeverDense(const MemoryRows& rows) : Rows(rows), rows_(rows) {}
  Index count() const override { return rows_.count(); }
  Block read(Index first, Index size, BlockBuffer& buffer) const override {
    ADD_FAILURE() << "rows were made dense";
    return rows_.read(first, size, buffer);
  }
  Block outcome(Index first, Index size, BlockBuffer& buffer) const override {
    return rows_.outcome(first, size, buffer);
  }
  const Csr* sparse() const override { return rows_.sparse(); }

 private:
  const MemoryRows& rows_;
};

TEST(SparsePlanes, RowsAreAskedAboutAsTheyLieAlsoWithAThreshold) {
  const Matrix x = few_entries(120, 20, 3), later = few_entries(2500, 20, 4);
  const auto trained = train(shared(find_method("logistic", catalog())), Value::object(),
                             formula("side ~ . - y - group"), MemoryTableStream(table_of(x)));
  const Csr sparse = sparse_of(later);
  const MemoryRows all(sparse);
  const NeverDense rows(all);
  for (const std::optional<double> threshold : {std::optional<double>(), std::optional(0.9)}) {
    PredictOptions what;
    what.what = {"class"};
    const AskedRows asked(trained.model, rows, what, threshold);
    BlockBuffer buffer;
    const auto [said, block] = asked(1000, 1200, buffer);
    EXPECT_EQ(block.rows(), 1200);
    const Matrix some = later.middleRows(1000, 1200);
    EXPECT_EQ(said.label(), (threshold ? predict_at_threshold(trained.model, *threshold, some, what)
                                       : trained.model.predict(some, what))
                                .label());
  }
}

}  // namespace
}  // namespace lemma::contract
