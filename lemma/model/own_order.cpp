// lemma/model/own_order.cpp
#include <algorithm>
#include <lemma/core/hash.hpp>
#include <lemma/model/own_order.hpp>
#include <utility>

namespace lemma {
namespace {

std::uint64_t hash_of(std::span<const double> dense) { return hash_numbers(dense); }
std::uint64_t hash_of(const Csr& x, Index i) {
  std::uint64_t out = 0;
  for (auto k = x.start[static_cast<std::size_t>(i)]; k < x.start[static_cast<std::size_t>(i) + 1]; ++k) {
    const double entry[] = {static_cast<double>(x.column[static_cast<std::size_t>(k)]),
                            x.value[static_cast<std::size_t>(k)]};
    out = hash_numbers(entry, out);
  }
  return out;
}

/// What a row has beside its features.
std::uint64_t with_outcome(std::uint64_t hash, const Block& block, Index i) {
  const auto at = static_cast<std::size_t>(i);
  const double rest[] = {block.y.empty() ? 0 : block.y[at], block.label.empty() ? 0.0 : block.label[at],
                         block.offset_of(i), block.weight_of(i), block.precision_of(i)};
  hash = hash_numbers(rest, hash);
  if (block.responses.empty()) return hash;
  const std::size_t each = block.responses.size() / static_cast<std::size_t>(block.rows());
  return hash_numbers(block.responses.subspan(at * each, each), hash);
}

}  // namespace

std::vector<Index> own_order(const Rows& rows, const Execution& execution) {
  std::vector<std::pair<std::uint64_t, Index>> places(static_cast<std::size_t>(rows.count()));
  const Csr* sparse = rows.sparse();
  const Index size = block_rows(rows);
  BufferPool pool;
  parallel_for(block_count(rows), execution, [&](Index b) {
    BufferPool::Lease buffer(pool);
    const Index first = b * size, count = std::min(size, rows.count() - first);
    const Block block = sparse ? rows.outcome(first, count, *buffer) : rows.read(first, count, *buffer);
    for (Index i = 0; i < count; ++i) {
      const std::uint64_t features = sparse
                                         ? hash_of(*sparse, first + i)
                                         : hash_of({block.x.row(i).data(), static_cast<std::size_t>(block.x.cols())});
      places[static_cast<std::size_t>(first + i)] = {with_outcome(features, block, i), first + i};
    }
  });
  std::sort(places.begin(), places.end());
  std::vector<Index> out;
  out.reserve(places.size());
  for (const auto& [hash, row] : places) out.push_back(row);
  return out;
}

RowsInOwnOrder::RowsInOwnOrder(const Rows& rows, const Execution& execution)
    : sorted_(rows, own_order(rows, execution)) {
  if (sorted_.sparse()) return;
  const Block all = sorted_.read(0, sorted_.count(), all_);
  dense_.emplace(all_.x);
  if (!all.y.empty()) dense_->response(all.y);
  if (!all.label.empty()) dense_->labels(all.label, rows.classes);
  if (!all.responses.empty()) dense_->several(all.responses, rows.responses);
  if (!all.weight.empty()) dense_->weights(all.weight);
  if (!all.precision.empty()) dense_->precision(all.precision);
  if (!all.offset.empty()) dense_->offset(all.offset);
  if (!all.cluster.empty()) dense_->clusters(all.cluster);
  static_cast<Rows&>(*dense_) = rows;  // names, levels, what the response is
}

const Rows& RowsInOwnOrder::operator*() const { return dense_ ? static_cast<const Rows&>(*dense_) : sorted_; }

}  // namespace lemma
