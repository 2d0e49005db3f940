// lemma/core/sparse.hpp: rows with few numbers that are not zero.
#pragma once
#include <cstdint>
#include <lemma/core/matrix.hpp>
#include <vector>

namespace lemma {

/// Compressed rows: the entries of row i are column[k], value[k] for k in [start[i], start[i + 1]), columns rising.
struct Csr {
  std::vector<Index> start;
  std::vector<std::int32_t> column;
  std::vector<double> value;
  Index width = 0;

  Index rows() const { return start.empty() ? 0 : static_cast<Index>(start.size()) - 1; }
  bool operator==(const Csr&) const = default;
};

/// Rows [first, first + size) with their zeros, in `out`, which is returned.
const Matrix& dense_rows(const Csr& x, Index first, Index size, Matrix& out);
/// The same without them.
Csr some_rows(const Csr& x, Index first, Index size);

}  // namespace lemma
