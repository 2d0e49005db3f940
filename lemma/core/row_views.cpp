// lemma/core/row_views.cpp
#include <algorithm>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/row_views.hpp>
#include <limits>
#include <numeric>

namespace lemma {
namespace {

template <class T>
std::span<const T> part(const std::vector<T>& all, const Block& block) {
  return std::span(all).subspan(static_cast<std::size_t>(block.first), static_cast<std::size_t>(block.rows()));
}

Csr selected(const Csr& x, const std::vector<Index>& which) {
  Csr out;
  out.width = x.width;
  out.start.reserve(which.size() + 1);
  out.start.push_back(0);
  for (const Index i : which) {
    const auto from = x.start[static_cast<std::size_t>(i)], to = x.start[static_cast<std::size_t>(i) + 1];
    out.column.insert(out.column.end(), x.column.begin() + from, x.column.begin() + to);
    out.value.insert(out.value.end(), x.value.begin() + from, x.value.begin() + to);
    out.start.push_back(static_cast<Index>(out.value.size()));
  }
  return out;
}

/// A part of the rows that are gathered, so many numbers for each; empty where the rows do not have it.
template <class T>
void put(std::span<const T> from, Index i, std::vector<T>& into, std::size_t at, std::size_t size,
         std::size_t each = 1) {
  if (from.empty()) return;
  into.resize(size * each);
  std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(i) * each), each,
              into.begin() + static_cast<std::ptrdiff_t>(at * each));
}

}  // namespace

SelectedRows::SelectedRows(const Rows& rows, std::vector<Index> which)
    : Rows(rows), rows_(rows), which_(std::move(which)) {
  for (const Index i : which_)
    if (i < 0 || i >= rows.count())
      throw Error(fmt::format("row {} was chosen, but there are {}", i + 1, rows.count()));
  if (const Csr* all = rows.sparse()) sparse_ = selected(*all, which_);
}

Block SelectedRows::gathered(Index first, Index size, BlockBuffer& buffer, bool with_x) const {
  if (first < 0 || size < 0 || first > count() - size)
    throw Error(fmt::format("rows {} to {} were asked for, but there are {}", first + 1, first + size, count()));
  const auto n = static_cast<std::size_t>(size);
  std::vector<std::size_t> order(n);  // places in the block, by the rows that belong there
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto row_at = [&](std::size_t place) { return which_[static_cast<std::size_t>(first) + place]; };
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return std::pair(row_at(a), a) < std::pair(row_at(b), b); });
  buffer.clear_outcome();
  buffer.x.resize(size, with_x ? width() : 0);
  const Index block_size = block_rows(rows_);
  BlockBuffer source;
  for (std::size_t k = 0; k < n;) {  // one look at each block of the source
    const Index from = row_at(order[k]) / block_size * block_size, to = std::min(from + block_size, rows_.count());
    std::size_t end = k;
    while (end < n && row_at(order[end]) < to) ++end;
    const Index begin = row_at(order[k]), length = row_at(order[end - 1]) + 1 - begin;
    const Block there = with_x ? rows_.read(begin, length, source) : rows_.outcome(begin, length, source);
    for (; k < end; ++k) {
      const std::size_t place = order[k];
      const Index i = row_at(place) - begin;
      if (with_x) buffer.x.row(static_cast<Index>(place)) = there.x.row(i);
      put(there.y, i, buffer.y, place, n);
      put(there.label, i, buffer.label, place, n);
      put(there.responses, i, buffer.responses, place, n, responses.size());
      put(there.weight, i, buffer.weight, place, n);
      put(there.precision, i, buffer.precision, place, n);
      put(there.offset, i, buffer.offset, place, n);
      put(there.cluster, i, buffer.cluster, place, n);
    }
  }
  return {buffer.x, first, buffer.outcome()};
}

Block SelectedRows::read(Index first, Index size, BlockBuffer& buffer) const {
  return gathered(first, size, buffer, true);
}
Block SelectedRows::outcome(Index first, Index size, BlockBuffer& buffer) const {
  return gathered(first, size, buffer, false);
}

Block RowsView::read(Index first, Index size, BlockBuffer& buffer) const {
  Block block = rows_.read(first, size, buffer);
  exchange(block);
  return block;
}
Block RowsView::outcome(Index first, Index size, BlockBuffer& buffer) const {
  Block block = rows_.outcome(first, size, buffer);
  exchange(block);
  return block;
}

void RowsView::require_one_each(std::size_t size, const char* what) const {
  if (static_cast<Index>(size) != count())
    throw Error(fmt::format("there are {} rows but {} {}; each row needs one", count(), size, what));
}

ReweightedRows::ReweightedRows(const Rows& rows, std::vector<double> factors, const Execution& execution)
    : RowsView(rows), weights_(std::move(factors)) {
  require_one_each(weights_.size(), "weights");
  for (std::size_t i = 0; i < weights_.size(); ++i)
    if (!(weights_[i] >= 0 && weights_[i] <= std::numeric_limits<double>::max()))
      throw Error(fmt::format("the weight of row {} is {}; it must be finite and at least 0", i + 1, weights_[i]));
  if (rows.has_weights) {
    const Index size = block_rows(rows);
    BufferPool pool;
    parallel_for(block_count(rows), execution, [&](Index b) {
      BufferPool::Lease buffer(pool);
      const Index first = b * size;
      const Block block = rows.outcome(first, std::min(size, rows.count() - first), *buffer);
      for (std::size_t i = 0; i < block.weight.size(); ++i)
        weights_[static_cast<std::size_t>(first) + i] *= block.weight[i];
    });
  }
  has_weights = true;
}
void ReweightedRows::exchange(Block& block) const { block.weight = part(weights_, block); }

RespondingRows::RespondingRows(const Rows& rows, std::vector<double> response, std::string name)
    : RowsView(rows), response_(std::move(response)) {
  require_one_each(response_.size(), "responses");
  target = std::move(name);
  classes.clear();
  responses.clear();
  counts = false;
  has_response = true;
}
void RespondingRows::exchange(Block& block) const {
  block.label = {};
  block.responses = {};
  block.y = part(response_, block);
}

RelabelledRows::RelabelledRows(const Rows& rows, std::vector<int> labels, std::vector<std::string> names)
    : RowsView(rows), labels_(std::move(labels)) {
  require_one_each(labels_.size(), "labels");
  for (std::size_t i = 0; i < labels_.size(); ++i)
    if (labels_[i] < 0 || labels_[i] >= static_cast<int>(names.size()))
      throw Error(fmt::format("the label of row {} is {}, must be from 0 to {} (there are {} classes)", i + 1,
                              labels_[i], static_cast<int>(names.size()) - 1, names.size()));
  classes = std::move(names);
  responses.clear();
  counts = false;
  has_response = true;
}
void RelabelledRows::exchange(Block& block) const {
  block.y = {};
  block.responses = {};
  block.label = part(labels_, block);
}

StackedRows::StackedRows(std::vector<const Rows*> parts) : Rows(*parts.at(0)), parts_(std::move(parts)), start_{0} {
  for (const Rows* part : parts_) {
    if (part->width() != width() || part->classes != classes || part->has_response != has_response ||
        part->counts != counts || part->responses != responses)
      throw Error("rows with other columns, or another response, cannot be put below these");
    has_weights = has_weights || part->has_weights;
    has_precision = has_precision || part->has_precision;
    has_offset = has_offset || part->has_offset;
    has_clusters = has_clusters && part->has_clusters;
    start_.push_back(start_.back() + part->count());
  }
}

Block StackedRows::read(Index first, Index size, BlockBuffer& buffer) const {
  if (first < 0 || size < 0 || first > count() - size)
    throw Error(fmt::format("rows {} to {} were asked for, but there are {}", first + 1, first + size, count()));
  buffer.x.resize(size, width());
  buffer.clear_outcome();
  const auto append = []<class T>(bool wanted, std::span<const T> from, Index rows, T otherwise, std::vector<T>& into) {
    if (!wanted) return;
    if (from.empty()) into.insert(into.end(), static_cast<std::size_t>(rows), otherwise);
    else into.insert(into.end(), from.begin(), from.end());
  };
  BlockBuffer own;
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    const Index from = std::max(first, start_[k]), to = std::min(first + size, start_[k + 1]);
    if (from >= to) continue;
    const Block part = parts_[k]->read(from - start_[k], to - from, own);
    buffer.x.middleRows(from - first, to - from) = part.x;
    append(has_response && classes.empty() && responses.empty(), part.y, to - from, 0.0, buffer.y);
    append(has_response && !classes.empty(), part.label, to - from, -1, buffer.label);
    append(has_response && !responses.empty(), part.responses, to - from, 0.0, buffer.responses);
    append(has_weights, part.weight, to - from, 1.0, buffer.weight);
    append(has_precision, part.precision, to - from, 1.0, buffer.precision);
    append(has_offset, part.offset, to - from, 0.0, buffer.offset);
    append(has_clusters, part.cluster, to - from, std::uint64_t{0}, buffer.cluster);
  }
  return {buffer.x, first, buffer.outcome()};
}

}  // namespace lemma
