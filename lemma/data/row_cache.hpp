// lemma/data/row_cache.hpp: rows that were costly to make, kept in a file of their own until the work is done.
#pragma once
#include <atomic>
#include <lemma/core/rows.hpp>
#include <memory>

namespace lemma {

/// What a method reads of each row, in chunks of kRows, in a file without a name: it takes no memory, and nothing of it
/// stays behind, however the process ends. Chunks are written when they are read for the second time, so that a single
/// pass writes nothing. A disk that is full, or no place to write to, only means that rows are made anew.
class RowCache {
 public:
  static constexpr Index kRows = 1024;

  /// Which numbers a row has besides its columns.
  struct Parts {
    bool y = false, label = false, weight = false, precision = false, offset = false, cluster = false;
    Index responses = 0;  // several: how many
  };
  RowCache(Index rows, Index width, Parts parts);
  ~RowCache();
  RowCache(const RowCache&) = delete;
  RowCache& operator=(const RowCache&) = delete;

  Index rows_of(Index chunk) const { return std::min(kRows, rows_ - chunk * kRows); }
  bool has(Index chunk) const { return state_[static_cast<std::size_t>(chunk)] == State::kept; }
  /// Appends rows [skip, skip + take) of a chunk that it has to the buffer, whose x has room at row `at`.
  void read(Index chunk, Index skip, Index take, Index at, BlockBuffer& buffer) const;
  /// Is this the second time that the chunk has been made, so that it should be kept?
  bool wants(Index chunk);
  /// Keeps a chunk: the rows of the buffer from `at` on.
  void write(Index chunk, Index at, const BlockBuffer& buffer);

 private:
  enum class State : char { unseen, seen, busy, kept };
  bool fits(const BlockBuffer& buffer) const;

  Index rows_, width_;
  Parts parts_;
  std::size_t row_bytes_;
  int file_;
  std::atomic<bool> full_{false};  // nothing more is written
  std::unique_ptr<std::atomic<State>[]> state_;
};

}  // namespace lemma
