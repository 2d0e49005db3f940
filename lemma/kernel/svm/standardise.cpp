// lemma/kernel/svm/standardise.cpp: columns brought to one scale, and the plane of a linear machine brought back.
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/kernel/svm/parts.hpp>
#include <lemma/kernel/svm/standardise.hpp>
#include <lemma/math/column_moments.hpp>
#include <lemma/math/row_products.hpp>

namespace lemma {
namespace svm {

ColumnScale column_scale(const Rows& rows, const Execution& execution) {
  if (rows.sparse())
    throw Error("svm: standardize would fill in the zeros of sparse rows; scale the columns of the file instead");
  const auto moments = scan(rows, ColumnMoments(rows.width()), execution);
  ColumnScale out{moments.mean(), moments.deviation()};
  for (Index j = 0; j < rows.width(); ++j) {
    if (!std::isfinite(out.mean(j)) || !std::isfinite(out.deviation(j)))
      throw Error(
          fmt::format("svm: the values of '{}' reach from {:g} to {:g}, beyond the range of numbers; use another "
                      "unit",
                      rows.features[static_cast<std::size_t>(j)], moments.least()(j), moments.greatest()(j)));
    if (!(out.deviation(j) > 0)) out.deviation(j) = 1;
  }
  return out;
}

Matrix standardised(const MatrixView& x, const Vector& mean, const Vector& deviation) {
  return ((x.rowwise() - mean.transpose()).array().rowwise() / deviation.transpose().array()).matrix();
}

StandardisedRows::StandardisedRows(const Rows& rows, Vector mean, Vector deviation)
    : Rows(rows), rows_(rows), mean_(std::move(mean)), deviation_(std::move(deviation)) {}

Block StandardisedRows::read(Index first, Index size, BlockBuffer& buffer) const {
  const Block block = rows_.read(first, size, buffer);
  Matrix z = standardised(block.x, mean_, deviation_);
  buffer.x = std::move(z);
  return {buffer.x, first, block};
}

/// w = Σ β x of each machine; with z = (x − mean) / sd, w·z + b = x·(w / sd) + (b − mean·(w / sd)).
void find_planes(SvmModel& model) {
  if (!model.spec.kernel.get<LinearKernel>()) return;
  const Points kept = model.support_vectors.points(model.spec.kernel, model.support.of);
  Matrix w = Matrix::Zero(model.machine_count(), model.width());
  if (kept.is_sparse()) {
    const Csr& x = kept.sparse();
    for (Index i = 0; i < kept.count(); ++i)
      for (Index k = x.start[static_cast<std::size_t>(i)]; k < x.start[static_cast<std::size_t>(i) + 1]; ++k)
        w.col(x.column[static_cast<std::size_t>(k)]) +=
            x.value[static_cast<std::size_t>(k)] * model.dual_coefficients.of.col(i);
  } else if (kept.count() > 0) {
    w = model.dual_coefficients.of * kept.dense();
  }
  Vector b = model.bias.of;
  if (model.spec.standardize) {
    w = w * model.deviation.cwiseInverse().asDiagonal();
    b -= w * model.mean;
  }
  model.coefficients.of = std::move(w);
  model.intercept.of = std::move(b);
}

}  // namespace svm
}  // namespace lemma
