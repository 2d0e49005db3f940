// lemma/model/sketched_rows.hpp: rows that are remembered as they are read.
#pragma once
#include <lemma/model/origin.hpp>
#include <memory>

namespace lemma {

/// Hashes each row when it is first read, while it is at hand: a memory of the rows costs no pass of its own. Sparse rows
/// are hashed by their entries afterwards.
class SketchedRows final : public Rows {
 public:
  SketchedRows(const Rows& rows, const RowKey& key);
  ~SketchedRows() override;
  Index count() const override { return rows_.count(); }
  Block read(Index first, Index size, BlockBuffer& buffer) const override;
  Block outcome(Index first, Index size, BlockBuffer& buffer) const override {
    return rows_.outcome(first, size, buffer);
  }
  const MatrixView* matrix() const override { return rows_.matrix(); }
  const Csr* sparse() const override { return rows_.sparse(); }

  /// The memory of all rows, once: those that nobody read are read now.
  RowSketch sketch(const Execution& execution);

 private:
  struct Memory;
  const Rows& rows_;
  RowKey key_;
  std::unique_ptr<Memory> memory_;
};

}  // namespace lemma
