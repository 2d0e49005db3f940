// bench/lemma_manifolds.cpp: embeddings and kernel PCA.
#include <bench/lemma_job.hpp>
#include <lemma/embed/isomap.hpp>
#include <lemma/embed/lle.hpp>
#include <lemma/embed/smacof.hpp>
#include <lemma/kernel/kernel_pca.hpp>
#include <lemma/model/fit.hpp>

namespace lemma::bench {
namespace {

/// The first rows of the swiss roll.
Matrix roll(const Job& task, Index rows) { return task.matrix("manifold_X.npy").topRows(rows); }

/// The model of `fit(spec, x)`, timed, and one number of it.
template <class Spec, class Number>
Value embedded(const Job& task, const Spec& spec, const Matrix& x, const char* name, const Number& number) {
  Value out = Value::object(), quality = Value::object();
  const auto model = timed(out, [&] { return fit(spec, x, task.options); });
  quality.set(name, number(model));
  out.set("quality", quality);
  evidence(out, model.certificate);
  return out;
}

Value isomap(const Job& task) {
  return embedded(task, Isomap{.neighbors = 10}, roll(task, 3000), "first eigenvalue",
                  [](const auto& model) { return model.eigenvalues(0); });
}

Value lle(const Job& task) {
  return embedded(task, Lle{.neighbors = 12}, roll(task, 5000), "cost",
                  [](const auto& model) { return model.eigenvalues.sum(); });
}

Value smacof(const Job& task) {
  return embedded(task, Smacof{}, roll(task, 2000), "raw stress", [](const auto& model) { return model.raw_stress; });
}

Value kernel_pca(const Job& task) {
  return embedded(task, KernelPca{.kernel = Rbf{.gamma = 0.01}, .components = 10}, roll(task, 5000),
                  "sum of eigenvalues", [](const auto& model) { return model.eigenvalues.sum(); });
}

}  // namespace

Workloads manifold_workloads() {
  return {{"isomap", isomap}, {"lle", lle}, {"smacof", smacof}, {"kernel_pca", kernel_pca}};
}

}  // namespace lemma::bench
