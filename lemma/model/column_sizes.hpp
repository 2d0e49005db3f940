// lemma/model/column_sizes.hpp: numbers that no method can work with, found at the door.
#pragma once
#include <lemma/model/method.hpp>
#include <mutex>

namespace lemma {

/// Sizes of which a method can still take squares, multiply them with each other and divide by them.
inline constexpr double kLeastSize = 1e-150, kGreatestSize = 1e150;

/// The largest |value| of each column of x, of the response and the offset, where the weight is not 0, of the weights
/// and the precision.
struct ColumnSizes {
  Vector x;
  Vector responses;  // of each of several; those that are classes are not looked at
  double y = 0, offset = 0, weight = 0, precision = 0;

  explicit ColumnSizes(Index width) : x(Vector::Zero(width)) {}
  void accumulate(const Block& block);
  void merge(const ColumnSizes& other);
  /// Error that names a column whose largest value is beyond those sizes. What is not finite is left to the method,
  /// which knows in which row; so are columns of zeros.
  void require_usable(std::string_view method, const Rows& rows) const;
};

/// Looks at all rows. A method that only moves and scales columns (`scale`) is the cure, and takes them as they are.
void check_sizes(std::string_view name, const MethodAbout& about, const Rows& rows);

/// Whether a method can be used with rows of this kind at all: check_rows without a look at their numbers.
void check_kind(std::string_view name, const MethodAbout& about, const Rows& rows);

/// Rows that are expensive to read are measured as the method reads them, instead of by a pass of their own.
class MeasuredRows final : public Rows {
 public:
  explicit MeasuredRows(const Rows& rows);
  Index count() const override { return rows_.count(); }
  Block read(Index first, Index size, BlockBuffer& buffer) const override;
  Block outcome(Index first, Index size, BlockBuffer& buffer) const override {
    return rows_.outcome(first, size, buffer);
  }
  const ColumnSizes& sizes() const { return sizes_; }

 private:
  const Rows& rows_;
  mutable std::mutex mutex_;
  mutable ColumnSizes sizes_;
};

}  // namespace lemma
