// lemma/core/rows.hpp: where rows come from, and one pass over them.
#pragma once
#include <algorithm>
#include <concepts>
#include <cstdint>
#include <functional>
#include <lemma/core/matrix.hpp>
#include <lemma/core/parallel.hpp>
#include <lemma/core/sparse.hpp>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace lemma {

/// What rows have besides their columns. Parts that a problem does not have are empty.
struct RowOutcome {
  std::span<const double> y;               // numeric response
  std::span<const int> label;              // class codes
  std::span<const double> responses;       // several: those of a row one after the other; y and label are empty then
  std::span<const double> weight;          // frequencies: weight k is k copies of the row
  std::span<const double> precision;       // inverse variances; the number of rows stays the number of rows
  std::span<const double> offset;          // known part of the linear predictor
  std::span<const std::uint64_t> cluster;  // equal for rows whose errors may depend on each other
};

/// Consecutive rows of a source: one example per row of x.
struct Block : RowOutcome {
  Block(const MatrixView& rows, Index first_row) : x(rows), first(first_row) {}
  Block(const MatrixView& rows, Index first_row, const RowOutcome& outcome)
      : RowOutcome(outcome), x(rows), first(first_row) {}
  MatrixView x;
  Index first;  // index of the block's first row in the source

  Index rows() const { return x.rows(); }
  /// Several responses: a row of numbers, or codes of classes, for each row (Rows::responses).
  Eigen::Map<const Matrix> several() const {
    return {responses.data(), rows(), rows() == 0 ? 0 : static_cast<Index>(responses.size()) / rows()};
  }
  double weight_of(Index i) const { return weight.empty() ? 1.0 : weight[static_cast<std::size_t>(i)]; }
  double precision_of(Index i) const { return precision.empty() ? 1.0 : precision[static_cast<std::size_t>(i)]; }
  double offset_of(Index i) const { return offset.empty() ? 0.0 : offset[static_cast<std::size_t>(i)]; }
};

/// Space for a block that has to be made (parsed, gathered). Reused from block to block.
struct BlockBuffer {
  Matrix x;
  std::vector<double> y, responses, weight, precision, offset;
  std::vector<int> label;
  std::vector<std::uint64_t> cluster;

  RowOutcome outcome() const { return {y, label, responses, weight, precision, offset, cluster}; }
  void clear_outcome();
  void copy_outcome(const RowOutcome& from);
};

/// One of several responses: cbind(y1, y2).
struct ResponseColumn {
  std::string name;
  std::vector<std::string> classes = {};  // names of its codes; none: it is a number
  bool operator==(const ResponseColumn&) const = default;
};

/// Buffers for the threads of one pass: as many as were ever in use at once, freed with the pool.
class BufferPool {
 public:
  class Lease {
   public:
    explicit Lease(BufferPool& pool) : pool_(pool), buffer_(pool.take()) {}
    ~Lease() { pool_.give(std::move(buffer_)); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    BlockBuffer& operator*() { return *buffer_; }

   private:
    BufferPool& pool_;
    std::unique_ptr<BlockBuffer> buffer_;
  };

 private:
  std::unique_ptr<BlockBuffer> take();
  void give(std::unique_ptr<BlockBuffer> buffer) noexcept;
  std::mutex mutex_;
  std::vector<std::unique_ptr<BlockBuffer>> free_;
};

/// What a method learns from, wherever it lies: memory, a file streamed in blocks, a rank's share. Blocks can be read
/// in any order and from several threads at once; the same rows always give the same numbers.
class Rows {
 public:
  virtual ~Rows() = default;
  virtual Index count() const = 0;
  /// Rows [first, first + size). Views into `buffer` or into the source itself.
  virtual Block read(Index first, Index size, BlockBuffer& buffer) const = 0;
  /// The same without x, where that saves work: response, weights and offset; x may have no columns.
  virtual Block outcome(Index first, Index size, BlockBuffer& buffer) const { return read(first, size, buffer); }
  /// All rows of x, where they lie in memory anyway; otherwise nothing.
  virtual const MatrixView* matrix() const { return nullptr; }
  /// All rows of x without their zeros, where that is how they lie in memory; otherwise nothing. `read` makes them dense.
  virtual const Csr* sparse() const { return nullptr; }

  std::vector<std::string> features;  // names of the columns of x
  /// Of each column of x the names of its codes 0, 1, … where it holds categories; none where it holds numbers. Empty as a
  /// whole when all columns are numbers. A missing category is NaN, as a missing number is.
  std::vector<std::vector<std::string>> levels;
  std::string target;                     // what is predicted; empty when nothing is
  std::vector<std::string> classes;       // names of the class codes; empty for a numeric response
  std::vector<ResponseColumn> responses;  // where there are several: all of them; otherwise empty
  bool has_response = false, has_weights = false, has_precision = false, has_offset = false;
  bool has_clusters = false;
  bool counts = false;  // the response is a share of `weight` trials: cbind(successes, failures)

  Index width() const { return static_cast<Index>(features.size()); }
  bool holds_codes(Index column) const { return !levels.empty() && !levels[static_cast<std::size_t>(column)].empty(); }
};

/// What a MatrixView can look at without a copy: not a column-major matrix, not a sum.
template <class X>
concept RowsInPlace = std::is_same_v<typename X::Scalar, double> && bool(X::IsRowMajor) &&
                      bool(Eigen::internal::traits<X>::Flags& Eigen::DirectAccessBit);

/// Rows that lie in memory. It looks at x, y, … and does not own them. Features are called x1, x2, … until they get
/// better names.
class MemoryRows final : public Rows {
 public:
  template <RowsInPlace X>
  explicit MemoryRows(const X& x) : x_(x) {
    name_features();
  }
  explicit MemoryRows(const Csr& x);
  explicit MemoryRows(const Matrix&&) = delete;  // a temporary one would be gone
  explicit MemoryRows(const Csr&&) = delete;
  MemoryRows& response(std::span<const double> y);
  MemoryRows& labels(std::span<const int> codes, std::vector<std::string> names);
  /// Several: row after row, a number or code for each of the columns.
  MemoryRows& several(std::span<const double> values, std::vector<ResponseColumn> columns);
  MemoryRows& weights(std::span<const double> w);
  MemoryRows& precision(std::span<const double> p);
  MemoryRows& offset(std::span<const double> o);
  MemoryRows& clusters(std::span<const std::uint64_t> c);

  Index count() const override { return sparse_ ? sparse_->rows() : x_.rows(); }
  Block read(Index first, Index size, BlockBuffer& buffer) const override;
  Block outcome(Index first, Index size, BlockBuffer& buffer) const override;
  const MatrixView* matrix() const override { return sparse_ ? nullptr : &x_; }
  const Csr* sparse() const override { return sparse_; }

 private:
  void name_features();
  Block outcome_beside(const MatrixView& x, Index first, Index size) const;
  void check(std::size_t size, const char* what) const;
  MatrixView x_;
  const Csr* sparse_ = nullptr;  // in the place of x_
  RowOutcome outcome_;
};

/// How many rows a block has: a power of two given by the width alone, at least four times the width, so that a
/// statistic with width² numbers is small beside its block, and about a core's L2 cache.
Index block_rows(Index width);
/// Of these rows: as many as a dense block of sparse rows may have without growing beyond 32 MB.
Index block_rows(const Rows& rows);
inline Index block_count(const Rows& rows) {
  const Index size = block_rows(rows);
  return (rows.count() + size - 1) / size;
}

/// What a method learns by looking at each row once.
template <class S>
concept Statistic = std::copy_constructible<S> && requires(S s, const S& other, const Block& block) {
  s.accumulate(block);
  s.merge(other);
};

/// `scan` in blocks of a size of one's own choice, which must depend on the shape of the rows alone.
template <Statistic S>
S scan_in_blocks(const Rows& rows, const S& empty, Index size, const Execution& execution) {
  const Index count = (rows.count() + size - 1) / size;
  if (count == 0) return empty;
  BufferPool pool;
  const auto leaf = [&](Index i) -> State {
    auto state = std::make_shared<S>(empty);
    BufferPool::Lease buffer(pool);
    state->accumulate(rows.read(i * size, std::min(size, rows.count() - i * size), *buffer));
    return state;
  };
  const auto merge = [](State& into, State from) {
    static_cast<S*>(into.get())->merge(*static_cast<const S*>(from.get()));
  };
  return std::move(*static_cast<S*>(fold_tree(count, execution, leaf, merge).get()));
}

/// One pass: every block accumulates into a copy of `empty`, and the copies are merged in a tree fixed by the block's
/// index. Hence the same bits for any number of threads, from memory or from disk. log₂ of the blocks are alive at a
/// time (for each thread).
template <Statistic S>
S scan(const Rows& rows, const S& empty, const Execution& execution = {}) {
  return scan_in_blocks(rows, empty, block_rows(rows), execution);
}

/// visit(block) for every block, in no order, on several threads: what has no state to merge.
void for_each_block(const Rows& rows, const Execution& execution, const std::function<void(const Block&)>& visit);

/// All of x in one matrix of its own: for methods that cannot work by scans. Where a look is enough, see Rows::matrix.
Matrix gather(const Rows& rows, const Execution& execution = {});

/// Error naming the column and the row (counted from 1) of the first value that cannot be used: NaN or infinity
/// anywhere, a negative weight, a precision that is not positive.
void require_finite(const Rows& rows, const Execution& execution = {});

}  // namespace lemma
