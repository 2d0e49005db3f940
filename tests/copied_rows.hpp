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
    Block out(buffer.x, first);
    out.y = copy(there.y, buffer.y);
    out.label = copy(there.label, buffer.label);
    out.weight = copy(there.weight, buffer.weight);
    out.precision = copy(there.precision, buffer.precision);
    out.offset = copy(there.offset, buffer.offset);
    out.cluster = copy(there.cluster, buffer.cluster);
    return out;
  }

 private:
  template <class T>
  static std::span<const T> copy(std::span<const T> from, std::vector<T>& into) {
    into.assign(from.begin(), from.end());
    return into;
  }
  const Rows& rows_;
};

}  // namespace lemma
