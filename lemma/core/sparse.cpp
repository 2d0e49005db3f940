// lemma/core/sparse.cpp
#include <lemma/core/sparse.hpp>

namespace lemma {

const Matrix& dense_rows(const Csr& x, Index first, Index size, Matrix& out) {
  out.setZero(size, x.width);
  for (Index i = 0; i < size; ++i) {
    const auto row = static_cast<std::size_t>(first + i);
    for (auto k = static_cast<std::size_t>(x.start[row]); k < static_cast<std::size_t>(x.start[row + 1]); ++k)
      out(i, x.column[k]) = x.value[k];
  }
  return out;
}

Csr some_rows(const Csr& x, Index first, Index size) {
  const auto begin = x.start.begin() + first;
  Csr out;
  out.width = x.width;
  out.start.assign(begin, begin + size + 1);
  const Index from = out.start.front(), to = out.start.back();
  out.column.assign(x.column.begin() + from, x.column.begin() + to);
  out.value.assign(x.value.begin() + from, x.value.begin() + to);
  for (Index& each : out.start) each -= from;
  return out;
}

}  // namespace lemma
