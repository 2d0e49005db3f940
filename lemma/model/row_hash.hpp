// lemma/model/row_hash.hpp: rows as 64-bit hashes, by which they are recognised.
#pragma once
#include <functional>
#include <lemma/core/rows.hpp>

namespace lemma {

/// What the hash of a row covers. Weights and precisions are never in it: a table that is judged need not have them,
/// and a row does not become another by counting twice. They are in the second sum of a sketch.
struct RowKey {
  bool zeros = true;     // false: features that are not 0, with their places, so that a sparse row costs what it holds
  bool response = true;  // false: the method does not look at the response that the rows have
  bool offset = false;   // the rows have one
  bool operator==(const RowKey&) const = default;
};
/// Of rows that a method learns from.
RowKey key_of(const Rows& rows, bool uses_response);

struct RowHashes {
  std::vector<std::uint64_t> ascending;
  std::uint64_t weighted = 0;  // the sum of the hashes with weight and precision
};

/// Adds the hashes of rows [first, first + count) of a block of `rows`, in their order.
void hash_rows(const Block& block, Index first, Index count, const Rows& rows, const RowKey& key, RowHashes& out);
/// Ascending, on several threads.
void sort_hashes(std::vector<std::uint64_t>& hashes, const Execution& execution);

/// visit(hashes) for the rows in a few pieces, so that 8 bytes for each row are not needed at once.
void for_each_piece(const Rows& rows, const RowKey& key, const Execution& execution,
                    const std::function<void(const RowHashes&)>& visit);

}  // namespace lemma
