// lemma/data/row_selection.cpp
#include <algorithm>
#include <bit>
#include <lemma/core/error.hpp>
#include <lemma/data/row_selection.hpp>
#include <numeric>

namespace lemma {
namespace {

constexpr Index kBits = 64;

/// Each piece of the table with the kept rows that lie in it.
std::vector<RowSelection::Piece> cut(Index table_rows, const std::vector<Index>& kept) {
  std::vector<RowSelection::Piece> out;
  auto from = kept.begin();
  for (Index first = 0; first < table_rows; first += RowSelection::kPiece) {
    const Index count = std::min(RowSelection::kPiece, table_rows - first);
    const auto to = std::lower_bound(from, kept.end(), first + count);
    out.push_back(RowSelection::piece(first, count, std::vector<Index>(from, to)));
    from = to;
  }
  return out;
}

}  // namespace

RowSelection::RowSelection(Index table_rows, const std::vector<Index>& kept)
    : RowSelection(table_rows, cut(table_rows, kept)) {}

RowSelection::RowSelection(Index table_rows, std::vector<Piece> pieces)
    : table_rows_(table_rows), count_(table_rows), pieces_(std::move(pieces)) {
  before_.assign(1, 0);
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    Index kept = std::min(kPiece, table_rows - static_cast<Index>(i) * kPiece);
    if (!pieces_[i].empty()) {
      kept = 0;
      for (const std::uint64_t word : pieces_[i]) kept += std::popcount(word);
    }
    before_.push_back(before_.back() + kept);
  }
  count_ = before_.back();
  if (!all()) return;
  pieces_.clear();
  before_.clear();
}

RowSelection::Piece RowSelection::piece(Index first, Index count, const std::vector<Index>& kept) {
  if (static_cast<Index>(kept.size()) == count) return {};
  Piece bits(at((count + kBits - 1) / kBits), 0);
  for (const Index row : kept) bits[at((row - first) / kBits)] |= std::uint64_t{1} << ((row - first) % kBits);
  return bits;
}

Index RowSelection::before(Index table_row) const {
  if (all()) return table_row;
  if (table_row >= table_rows_) return count_;
  const Index piece = table_row / kPiece, inside = table_row % kPiece;
  const Piece& bits = pieces_[at(piece)];
  if (bits.empty()) return before_[at(piece)] + inside;
  Index out = before_[at(piece)];
  for (Index word = 0; word < inside / kBits; ++word) out += std::popcount(bits[at(word)]);
  const std::uint64_t below = (std::uint64_t{1} << (inside % kBits)) - 1;
  return out + std::popcount(bits[at(inside / kBits)] & below);
}

Index RowSelection::row(Index kept) const {
  require(kept >= 0 && kept < count_, "there is no such row");
  if (all()) return kept;
  const auto piece = static_cast<Index>(std::upper_bound(before_.begin(), before_.end(), kept) - before_.begin()) - 1;
  const Piece& bits = pieces_[at(piece)];
  Index left = kept - before_[at(piece)], out = piece * kPiece;
  if (bits.empty()) return out + left;
  std::size_t word = 0;
  for (; left >= std::popcount(bits[word]); ++word) {
    left -= std::popcount(bits[word]);
    out += kBits;
  }
  std::uint64_t rest = bits[word];
  for (; left > 0; --left) rest &= rest - 1;  // without its lowest bit
  return out + std::countr_zero(rest);
}

std::vector<Index> RowSelection::rows(Index first, Index size) const {
  std::vector<Index> out(at(size));
  if (all()) {
    std::iota(out.begin(), out.end(), first);
    return out;
  }
  Index next = size > 0 ? row(first) : 0;
  for (Index i = 0; i < size; ++next) {
    const Piece& bits = pieces_[at(next / kPiece)];
    const Index inside = next % kPiece;
    if (bits.empty() || (bits[at(inside / kBits)] >> (inside % kBits) & 1)) out[at(i++)] = next;
  }
  return out;
}

}  // namespace lemma
