// lemma/linear/linear_svm/entry_rows.cpp
#include <algorithm>
#include <cmath>
#include <lemma/linear/linear_svm/entry_rows.hpp>

namespace lemma::margin {
namespace {

constexpr Index kRowsAtOnce = 4096;
constexpr double kLeast = 1e-15, kMost = 1e15;  // their squares are numbers in float32 too

bool fits_float(const Csr& x) {
  return std::all_of(x.value.begin(), x.value.end(),
                     [](double v) { return v == 0 || (std::abs(v) > kLeast && std::abs(v) < kMost); });
}

/// Dense rows without their zeros.
Csr compressed(const Rows& rows) {
  Csr out;
  out.width = rows.width();
  out.start.push_back(0);
  BlockBuffer buffer;
  const Index size = block_rows(rows);
  for (Index first = 0; first < rows.count(); first += size) {
    const Block block = rows.read(first, std::min(size, rows.count() - first), buffer);
    for (Index i = 0; i < block.rows(); ++i) {
      for (Index j = 0; j < block.x.cols(); ++j)
        if (block.x(i, j) != 0) {
          out.column.push_back(static_cast<std::int32_t>(j));
          out.value.push_back(block.x(i, j));
        }
      out.start.push_back(static_cast<Index>(out.column.size()));
    }
  }
  return out;
}

template <class Value>
std::vector<Entry<Value>> laid_out(const Csr& x, const Execution& execution) {
  std::vector<Entry<Value>> out(x.value.size());
  parallel_for((x.rows() + kRowsAtOnce - 1) / kRowsAtOnce, execution, [&](Index piece) {
    const auto first = static_cast<std::size_t>(x.start[static_cast<std::size_t>(piece * kRowsAtOnce)]);
    const auto last =
        static_cast<std::size_t>(x.start[static_cast<std::size_t>(std::min((piece + 1) * kRowsAtOnce, x.rows()))]);
    for (std::size_t k = first; k < last; ++k) out[k] = {x.column[k], static_cast<Value>(x.value[k])};
  });
  return out;
}

}  // namespace

EntryRows::EntryRows(const Rows& rows, bool rough, const Execution& execution) : width_(rows.width()) {
  Csr own;
  const Csr* x = rows.sparse();
  if (!x) x = &(own = compressed(rows));
  start_ = x->start;
  if (rough && fits_float(*x)) entries_ = laid_out<float>(*x, execution);
  else entries_ = laid_out<double>(*x, execution);
}

}  // namespace lemma::margin
