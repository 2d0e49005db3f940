// lemma/linear/linear_svm/entry_rows.hpp: rows laid out for solvers that visit them one by one. Inner header.
#pragma once
#include <lemma/core/rows.hpp>
#include <variant>
#include <vector>

namespace lemma::margin {

template <class Value>
struct Entry {
  std::int32_t column;
  Value value;
};

/// What is not zero, row after row, column beside value. float32 halves what a pass has to fetch: it is taken where the
/// tolerance is far above its rounding (`rough`) and all values are within its range. What is proved is proved in float64.
class EntryRows {
 public:
  EntryRows(const Rows& rows, bool rough, const Execution& execution);
  Index rows() const { return static_cast<Index>(start_.size()) - 1; }
  Index width() const { return width_; }
  const std::vector<Index>& start() const { return start_; }
  /// visit(entries) with entries of either kind.
  auto with(auto&& visit) const { return std::visit(visit, entries_); }

 private:
  std::vector<Index> start_;
  std::variant<std::vector<Entry<float>>, std::vector<Entry<double>>> entries_;
  Index width_ = 0;
};

}  // namespace lemma::margin
