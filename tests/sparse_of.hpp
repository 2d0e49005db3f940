// tests/sparse_of.hpp: a matrix without its zeros.
#pragma once
#include <lemma/core/sparse.hpp>

namespace lemma {

inline Csr sparse_of(const Matrix& x) {
  Csr out;
  out.width = x.cols();
  out.start.push_back(0);
  for (Index i = 0; i < x.rows(); ++i) {
    for (Index j = 0; j < x.cols(); ++j)
      if (x(i, j) != 0) {
        out.column.push_back(static_cast<std::int32_t>(j));
        out.value.push_back(x(i, j));
      }
    out.start.push_back(static_cast<Index>(out.value.size()));
  }
  return out;
}

}  // namespace lemma
