// lemma/kernel/svm/standardise.hpp: columns of mean 0 and standard deviation 1, as the step `scale` makes them. Inner header.
#pragma once
#include <lemma/core/rows.hpp>

namespace lemma::svm {

struct ColumnScale {
  Vector mean, deviation;  // a column without spread is only centred
};
ColumnScale column_scale(const Rows& rows, const Execution& execution);
Matrix standardised(const MatrixView& x, const Vector& mean, const Vector& deviation);

/// The same rows with such columns.
class StandardisedRows final : public Rows {
 public:
  StandardisedRows(const Rows& rows, Vector mean, Vector deviation);
  Index count() const override { return rows_.count(); }
  Block read(Index first, Index size, BlockBuffer& buffer) const override;
  Block outcome(Index first, Index size, BlockBuffer& buffer) const override {
    return rows_.outcome(first, size, buffer);
  }

 private:
  const Rows& rows_;
  Vector mean_, deviation_;
};

}  // namespace lemma::svm
