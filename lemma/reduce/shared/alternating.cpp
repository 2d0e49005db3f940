// lemma/reduce/shared/alternating.cpp
#include <lemma/core/error.hpp>
#include <lemma/math/blas.hpp>
#include <lemma/reduce/shared/alternating.hpp>

namespace lemma {
namespace {

constexpr Index kChunk = 64;  // rows that a thread takes at once

void for_each_row(Index count, const Execution& execution, const auto& visit) {
  parallel_for((count + kChunk - 1) / kChunk, execution, [&](Index c) {
    for (Index i = c * kChunk; i < std::min(count, (c + 1) * kChunk); ++i) visit(i);
  });
}

}  // namespace

Csr transposed(const Csr& entries) {
  Csr out;
  out.width = entries.rows();
  out.start.assign(at(entries.width + 1), 0);
  out.column.resize(entries.column.size());
  out.value.resize(entries.value.size());
  for (const auto j : entries.column) ++out.start[at(j) + 1];
  for (Index j = 0; j < entries.width; ++j) out.start[at(j + 1)] += out.start[at(j)];
  std::vector<Index> next(out.start.begin(), out.start.end() - 1);
  for (Index i = 0; i < entries.rows(); ++i)
    for (Index k = entries.start[at(i)]; k < entries.start[at(i + 1)]; ++k) {
      const Index place = next[at(entries.column[at(k)])]++;
      out.column[at(place)] = static_cast<std::int32_t>(i);
      out.value[at(place)] = entries.value[at(k)];
    }
  return out;
}

Vector ridge_of_row(std::span<const std::int32_t> columns, std::span<const double> values, const MatrixView& b,
                    double lambda) {
  const Index rank = b.cols(), known = static_cast<Index>(columns.size());
  Vector a = Vector::Zero(rank);
  if (known == 0 || rank == 0) return a;
  Matrix met(known, rank), gram = Matrix::Zero(rank, rank);
  for (Index k = 0; k < known; ++k) {
    met.row(k) = b.row(columns[at(k)]);
    for (Index r = 0; r < rank; ++r) a(r) += values[at(k)] * met(k, r);
  }
  gram.diagonal().setConstant(lambda);
  blas::gram(met, gram, 1);
  if (!blas::cholesky(gram))
    throw Error("the ridge regression of a row is singular to working precision; raise lambda");
  blas::solve_upper(blas::Op::transposed, gram, a);
  blas::solve_upper(blas::Op::plain, gram, a);
  return a;
}

Matrix ridge_of_rows(const Csr& entries, const MatrixView& b, double lambda, bool by_count,
                     const Execution& execution) {
  Matrix out(entries.rows(), b.cols());
  for_each_row(entries.rows(), execution, [&](Index i) {
    const std::size_t first = at(entries.start[at(i)]), size = at(entries.start[at(i + 1)]) - first;
    out.row(i) = ridge_of_row({entries.column.data() + first, size}, {entries.value.data() + first, size}, b,
                              by_count ? lambda * static_cast<double>(size) : lambda);
  });
  return out;
}

Csr residuals(const Csr& entries, const MatrixView& a, const MatrixView& b, const Execution& execution) {
  Csr out = entries;
  for_each_row(entries.rows(), execution, [&](Index i) {
    for (Index k = entries.start[at(i)]; k < entries.start[at(i + 1)]; ++k)
      out.value[at(k)] -= a.row(i).dot(b.row(entries.column[at(k)]));
  });
  return out;
}

}  // namespace lemma
