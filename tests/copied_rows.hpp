// tests/copied_rows.hpp: rows as a file would give them: copied into the caller's buffer block by block, never as a matrix.
#pragma once
#include <lemma/core/rows.hpp>

namespace lemma {

class CopiedRows final : public Rows {
 public:
  explicit CopiedRows(const Rows& rows) : Rows(rows), rows_(rows) {}
  Index count() const override { return rows_.count(); }
  Block read(Index first, Index size, BlockBuffer& buffer) const override {
    BlockBuffer unused;
    const Block there = rows_.read(first, size, unused);
    buffer.x = there.x;
    buffer.copy_outcome(there);
    return {buffer.x, first, buffer.outcome()};
  }

 private:
  const Rows& rows_;
};

}  // namespace lemma
