// lemma/data/stream/rows.cpp
#include <algorithm>
#include <fmt/format.h>
#include <lemma/core/error.hpp>
#include <lemma/data/design/parts.hpp>
#include <lemma/data/stream/rows.hpp>
#include <limits>
#include <map>
#include <mutex>

namespace lemma {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr Index kPiece = RowSelection::kPiece;  // rows of the stream that are counted, and read, together

template <class T>
std::span<const T> part_of(const std::vector<T>& all, Index first, Index size) {
  if (all.empty()) return {};
  return std::span<const T>(all).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(size));
}

void describe(Rows& rows, const Design& design) {
  rows.features = design.features();
  rows.levels = design.levels();
  rows.target = design.target();
  rows.classes = design.classes();
  rows.responses = design.responses();
  rows.counts = design.counts();
}

void describe_outcome(Rows& rows, const DesignData& data) {
  rows.has_response = data.has_response;
  rows.has_weights = !data.weight.empty();
  rows.has_precision = !data.precision.empty();
  rows.has_offset = !data.offset.empty();
  rows.has_clusters = !data.cluster.empty();
}

/// Rows of x, from `first` on, with what stands beside them.
Block beside(const MatrixView& x, Index first, const DesignData& data, std::size_t responses) {
  const auto several = static_cast<Index>(responses);
  const Index size = x.rows();
  Block block(x, first);
  block.y = part_of(data.y, first, size);
  block.label = part_of(data.label, first, size);
  block.responses = part_of(data.responses, first * several, size * several);
  block.weight = part_of(data.weight, first, size);
  block.precision = part_of(data.precision, first, size);
  block.offset = part_of(data.offset, first, size);
  block.cluster = part_of(data.cluster, first, size);
  return block;
}

template <class T>
void copy_part(const std::vector<T>& from, Index skip, Index take, std::vector<T>& into) {
  if (from.empty()) return;
  into.insert(into.end(), from.begin() + skip, from.begin() + skip + take);
}

}  // namespace

DesignRows::DesignRows(const Design& design, DesignData data) : data_(std::move(data)), x_(data_.x) {
  describe(*this, design);
  describe_outcome(*this, data_);
}

Block DesignRows::read(Index first, Index size, BlockBuffer&) const {
  return beside(data_.x.middleRows(first, size), first, data_, responses.size());
}

WordRows::WordRows(const Design& design, Csr x, DesignData outcome) : x_(std::move(x)), data_(std::move(outcome)) {
  describe(*this, design);
  describe_outcome(*this, data_);
}

Block WordRows::read(Index first, Index size, BlockBuffer& buffer) const {
  return beside(dense_rows(x_, first, size, buffer.x), first, data_, responses.size());
}

Block WordRows::outcome(Index first, Index size, BlockBuffer& buffer) const {
  buffer.x.resize(size, 0);
  return beside(buffer.x, first, data_, responses.size());
}

StreamRows::StreamRows(Design design, const TableStream& stream, Use use, std::optional<Missing> policy,
                       const Execution& execution)
    : design_(std::move(design)), stream_(stream), use_(use), policy_(design_.parts().policy(policy)) {
  describe(*this, design_);
  const DesignParts& parts = design_.parts();
  const bool training = use == Use::training;
  const BoundTable bound(parts, stream.schema(), use);
  const auto has = [&](const std::string& name) { return !name.empty() && (training || stream.schema().find(name)); };
  const auto responds = [&](const std::string& name) {
    const Column* found = stream.schema().find(name);
    return training || (found && (!parts.needs_numbers(name) || found->type() == ColumnType::numeric));
  };
  has_response = parts.response.kind != Response::Kind::none &&
                 std::all_of(parts.response.columns.begin(), parts.response.columns.end(), responds);
  has_weights = has(parts.weights) || (has_response && parts.response.kind == Response::Kind::counts);
  has_precision = has(parts.precision);
  has_offset = !parts.offsets.empty();
  has_clusters = training && !parts.cluster.empty();
  kept_ = RowSelection(stream.rows());
  if (policy_ != Missing::error || !training) count_rows(execution);
  const bool classifies = parts.response.kind == Response::Kind::classes, several = !responses.empty();
  if (use != Use::prediction && (stream.parses() || parts.reads_images()))
    cache_ = std::make_unique<RowCache>(
        count(), width(),
        RowCache::Parts{has_response && !classifies && !several, has_response && classifies, has_weights, has_precision,
                        has_offset, has_clusters, has_response ? static_cast<Index>(responses.size()) : 0});
}

/// Which rows are dropped is known only by looking at all of them, once; so are, for predictions, how many values are
/// missing and whether there is any response (learning the design has looked at training rows already).
void StreamRows::count_rows(const Execution& execution) {
  const Index rows = stream_.rows(), pieces = (rows + kPiece - 1) / kPiece;
  std::vector<RowSelection::Piece> kept(static_cast<std::size_t>(pieces));
  std::map<std::string, Index> missing, unseen;
  Completeness all;
  std::vector<std::vector<std::string>> broken(kept.size());
  bool any_response = false;
  std::mutex mutex;
  const TableSource source(stream_);
  parallel_for(pieces, execution, [&](Index i) {
    source.visit(design_.parts(), i * kPiece, std::min(kPiece, rows - i * kPiece),
                 [&](const Table& table, Index first, Index count, Index base) {
                   const BoundTable bound(design_.parts(), table, use_, base);
                   const auto found = completeness(bound, policy_, first, count);
                   std::vector<Index> in_stream = found.kept;
                   for (Index& row : in_stream) row += base - first;
                   kept[static_cast<std::size_t>(i)] = RowSelection::piece(i * kPiece, count, in_stream);
                   broken[static_cast<std::size_t>(i)] = found.broken;
                   const std::lock_guard lock(mutex);
                   all.incomplete += found.incomplete;
                   any_response = any_response || bound.has_response();
                   for (const auto& [name, gaps] : found.missing) missing[name] += gaps;
                   for (const auto& [name, gaps] : found.unseen) unseen[name] += gaps;
                 });
  });
  kept_ = RowSelection(rows, std::move(kept));
  for (auto& each : broken) all.broken.insert(all.broken.end(), each.begin(), each.end());
  if (use_ == Use::prediction && !any_response) {
    has_response = false;
    const std::string& weights = design_.parts().weights;  // the number of trials is part of the response
    has_weights = !weights.empty() && stream_.schema().find(weights);
  }
  all.missing = in_order(design_.parts(), std::move(missing));
  all.unseen = in_order(design_.parts(), std::move(unseen));
  check_missing(all, policy_, rows, use_);
  if (auto note = missing_note(all, policy_, rows, count(), use_); !note.empty()) notes_.push_back(std::move(note));
}

/// Rows skip … skip + take of those that are kept in [first, first + size) of the stream.
void StreamRows::append(Index first, Index size, Index skip, Index take, Index at, BlockBuffer& buffer) const {
  const Table table = stream_.read_columns(first, size, design_.parts().looked_at());
  Execution here;
  here.threads = 1;  // blocks are already read in parallel
  const DesignData data = make_data(design_.parts(), table, use_, policy_, first, here);
  buffer.x.middleRows(at, take) = data.x.middleRows(skip, take);
  // In a piece without a single response make_data() gives none; other pieces of the same block may have some.
  const bool empty = has_response && !data.has_response,
             classifies = design_.parts().response.kind == Response::Kind::classes;
  const auto rows = static_cast<std::size_t>(take);
  const auto several = static_cast<Index>(responses.size());
  if (empty && classifies) buffer.label.insert(buffer.label.end(), rows, -1);
  if (empty && !classifies && several == 0) buffer.y.insert(buffer.y.end(), rows, kNaN);
  if (empty) buffer.responses.insert(buffer.responses.end(), rows * responses.size(), kNaN);
  if (has_weights && data.weight.empty()) buffer.weight.insert(buffer.weight.end(), rows, 0.0);
  copy_part(data.y, skip, take, buffer.y);
  copy_part(data.label, skip, take, buffer.label);
  copy_part(data.responses, skip * several, take * several, buffer.responses);
  copy_part(data.weight, skip, take, buffer.weight);
  copy_part(data.precision, skip, take, buffer.precision);
  copy_part(data.offset, skip, take, buffer.offset);
  copy_part(data.cluster, skip, take, buffer.cluster);
}

/// Rows [first, first + size) from the stream itself, to the buffer's rows from `at` on.
void StreamRows::make(Index first, Index size, Index at, BlockBuffer& buffer) const {
  if (kept_.all()) {
    for (Index done = 0; done < size; done += kPiece) {
      const Index take = std::min(kPiece, size - done);
      append(first + done, take, 0, take, at + done, buffer);
    }
    return;
  }
  Index from = size > 0 ? kept_.row(first) / kPiece * kPiece : 0;
  for (Index done = 0; done < size; from += kPiece) {
    const Index before = kept_.before(from), skip = first + done - before,
                take = std::min(size - done, kept_.before(from + kPiece) - before - skip);
    if (take > 0) append(from, std::min(kPiece, stream_.rows() - from), skip, take, at + done, buffer);
    done += take;
  }
}

/// Chunks that have been put aside are read back; the rows between them are made together.
Block StreamRows::read(Index first, Index size, BlockBuffer& buffer) const {
  require(first >= 0 && size >= 0 && first + size <= count(), "rows outside the stream");
  buffer.x.resize(size, width());
  buffer.clear_outcome();
  constexpr Index kChunk = RowCache::kRows;
  Index made = 0;  // rows of the buffer that are filled
  const auto make_until = [&](Index done) {
    if (made == done) return;
    make(first + made, done - made, made, buffer);
    for (Index chunk = (first + made + kChunk - 1) / kChunk;
         cache_ && chunk * kChunk + cache_->rows_of(chunk) <= first + done && chunk * kChunk < count(); ++chunk)
      if (cache_->wants(chunk)) cache_->write(chunk, chunk * kChunk - first, buffer);
    made = done;
  };
  for (Index done = 0; cache_ && done < size;) {
    const Index chunk = (first + done) / kChunk, skip = (first + done) % kChunk,
                take = std::min(size - done, cache_->rows_of(chunk) - skip);
    if (cache_->has(chunk)) {
      make_until(done);
      cache_->read(chunk, skip, take, done, buffer);
      made = done + take;
    }
    done += take;
  }
  make_until(size);
  return {buffer.x, first, buffer.outcome()};
}

}  // namespace lemma
