// lemma/kernel/shared/classes_test.cpp: what the methods for classes in the space of a kernel share: sparse rows and texts.
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/data/csv.hpp>
#include <lemma/kernel/kernel_lda.hpp>
#include <lemma/kernel/kernel_logistic.hpp>
#include <lemma/kernel/kernel_neighbors.hpp>
#include <lemma/kernel/kernel_perceptron.hpp>
#include <lemma/model/fit.hpp>
#include <tests/sparse_of.hpp>

namespace lemma {
namespace {

template <class Spec>
class KernelClasses : public testing::Test {};
using Specs = testing::Types<KernelLogistic, KernelLda, KernelPerceptron, KernelNeighbors>;
TYPED_TEST_SUITE(KernelClasses, Specs);

Matrix said_by(const auto& model, const Matrix& x) {
  if constexpr (requires { model.decision(x); }) return model.decision(x);
  else return model.probabilities(x);
}

TYPED_TEST(KernelClasses, SparseRowsGiveWhatDenseRowsGive) {
  Matrix x = normal_matrix(60, 6, 3);
  Labels codes;
  for (Index i = 0; i < 60; ++i) {
    for (Index j = 0; j < 6; ++j)
      if ((i * 7 + j * 5) % 3 != 0) x(i, j) = 0;
    codes.push_back(x.row(i).squaredNorm() > 1.5 ? 1 : 0);
  }
  const Csr sparse = sparse_of(x);
  for (const Kernel& kernel : {Kernel(Rbf{.gamma = 0.5}), Kernel(LinearKernel{})}) {
    TypeParam spec;
    spec.kernel = kernel;
    MemoryRows as_dense(x), as_sparse(sparse);
    as_dense.labels(codes, {"a", "b"});
    as_sparse.labels(codes, {"a", "b"});
    const auto dense = fit(Valid(spec), as_dense, {}), thin = fit(Valid(spec), as_sparse, {});
    EXPECT_LT((said_by(dense, x) - said_by(thin, x)).cwiseAbs().maxCoeff(), 1e-7) << kernel.text();
    EXPECT_EQ(certify(thin, as_sparse, {}).holds(), thin.certificate.holds());
  }
}

TYPED_TEST(KernelClasses, TextsAreComparedByTheirPieces) {
  RandomStream random(5);
  std::string csv = "sequence,kind\n";
  for (int i = 0; i < 40; ++i) {
    for (int j = 0; j < 25; ++j) csv += (i % 2 ? "acgt" : "aacg")[random.below(4)];
    csv += i % 2 ? ",with\n" : ",without\n";
  }
  const Table table = parse_csv(csv);
  TypeParam spec;
  spec.kernel = Spectrum{.k = 2};
  const auto model = fit(spec, formula("kind ~ sequence"), table);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  const Matrix x = model.design.apply(table).x;
  const Labels found = [&] {
    if constexpr (requires { model.classify(x); }) return model.classify(x);
    else return model.predict(x);
  }();
  int wrong = 0;
  for (std::size_t i = 0; i < found.size(); ++i) wrong += found[i] != (i % 2 ? 0 : 1);
  EXPECT_LE(wrong, 2);
}

}  // namespace
}  // namespace lemma
