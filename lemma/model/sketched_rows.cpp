// lemma/model/sketched_rows.cpp
#include <algorithm>
#include <atomic>
#include <lemma/model/sketch_maker.hpp>
#include <lemma/model/sketched_rows.hpp>
#include <mutex>
#include <utility>

namespace lemma {
namespace {

constexpr Index kChunk = 256;  // rows that are hashed together

/// Hashes that are sorted together: the more the faster, as long as they are little beside the rows.
std::size_t lot_of(Index rows) {
  return std::clamp<std::size_t>(static_cast<std::size_t>(rows) / 16, std::size_t{1} << 16, std::size_t{1} << 22);
}

}  // namespace

struct SketchedRows::Memory {
  Memory(const RowKey& key, const Rows& rows)
      : maker(key, rows, true),
        lot(lot_of(rows.count())),
        known(static_cast<std::size_t>((rows.count() + kChunk - 1) / kChunk)) {}

  void take(const RowHashes& hashes, const Execution& execution) {
    RowHashes full;
    {
      const std::lock_guard lock(door);
      waiting.ascending.insert(waiting.ascending.end(), hashes.ascending.begin(), hashes.ascending.end());
      waiting.weighted += hashes.weighted;
      if (waiting.ascending.size() < lot) return;
      full = std::exchange(waiting, {});
    }
    flush(std::move(full), execution);
  }

  void flush(RowHashes hashes, const Execution& execution) {
    sort_hashes(hashes.ascending, execution);
    const std::lock_guard lock(making);
    maker.add(hashes);
  }

  SketchMaker maker;
  std::size_t lot;
  std::vector<std::atomic<bool>> known;  // of each chunk: has it been hashed?
  std::mutex door, making;
  RowHashes waiting;  // in no order yet
};

SketchedRows::SketchedRows(const Rows& rows, const RowKey& key)
    : Rows(rows), rows_(rows), key_(key), memory_(rows.sparse() ? nullptr : std::make_unique<Memory>(key, rows)) {}
SketchedRows::~SketchedRows() = default;

Block SketchedRows::read(Index first, Index size, BlockBuffer& buffer) const {
  const Block block = rows_.read(first, size, buffer);
  if (!memory_) return block;
  RowHashes found;
  for (Index chunk = (first + kChunk - 1) / kChunk; chunk * kChunk < first + size; ++chunk) {
    const Index from = chunk * kChunk, end = std::min(from + kChunk, count());
    if (end > first + size || memory_->known[static_cast<std::size_t>(chunk)].exchange(true)) continue;
    hash_rows(block, from - first, end - from, *this, key_, found);
  }
  if (found.ascending.empty()) return block;
  Execution here;
  here.threads = 1;  // other blocks are read at the same time
  memory_->take(found, here);
  return block;
}

RowSketch SketchedRows::sketch(const Execution& execution) {
  if (!memory_) return lemma::sketch(rows_, key_, execution);
  const Index size = std::max(kChunk, block_rows(rows_) / kChunk * kChunk);
  BufferPool pool;
  parallel_for((count() + size - 1) / size, execution, [&](Index b) {
    const Index first = b * size, many = std::min(size, count() - first);
    bool all = true;
    for (Index chunk = first / kChunk; chunk * kChunk < first + many; ++chunk)
      all &= memory_->known[static_cast<std::size_t>(chunk)];
    if (all) return;
    BufferPool::Lease buffer(pool);
    read(first, many, *buffer);
  });
  memory_->flush(std::exchange(memory_->waiting, {}), execution);
  return memory_->maker.done();
}

}  // namespace lemma
