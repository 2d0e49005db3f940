// lemma/core/rows.cpp
#include <fmt/core.h>

#include <bit>
#include <cmath>
#include <lemma/core/error.hpp>
#include <lemma/core/rows.hpp>

namespace lemma {
namespace {

template <class T>
std::span<const T> part(std::span<const T> all, Index first, Index size) {
  return all.empty() ? all : all.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(size));
}

std::string written(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "infinity" : "minus infinity";
  return fmt::format("{}", value);
}

[[noreturn]] void refuse(const std::string& name, double value, Index row, std::string_view allowed) {
  throw Error(fmt::format("{} is {} in row {}; it must be {}", name, written(value), row + 1, allowed));
}

bool all_finite(const MatrixView& x) { return (x.array() * 0.0).sum() == 0.0; }  // 0·NaN and 0·∞ are NaN

void require_finite_features(const Block& block, const std::vector<std::string>& features) {
  if (all_finite(block.x)) return;
  for (Index i = 0; i < block.rows(); ++i)
    for (Index j = 0; j < block.x.cols(); ++j)
      if (!std::isfinite(block.x(i, j)))
        refuse("'" + features[static_cast<std::size_t>(j)] + "'", block.x(i, j), block.first + i, "finite");
}

void require_each(std::span<const double> values, const Block& block, const std::string& name, auto allowed,
                  std::string_view text) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!allowed(values[i])) refuse(name, values[i], block.first + static_cast<Index>(i), text);
}

void require_finite_responses(const Block& block, const std::vector<ResponseColumn>& columns) {
  for (std::size_t i = 0; i < block.responses.size(); ++i)
    if (!std::isfinite(block.responses[i]))
      refuse("'" + columns[i % columns.size()].name + "'", block.responses[i],
             block.first + static_cast<Index>(i / columns.size()), "finite");
}

}  // namespace

std::unique_ptr<BlockBuffer> BufferPool::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      auto buffer = std::move(free_.back());
      free_.pop_back();
      return buffer;
    }
  }
  return std::make_unique<BlockBuffer>();
}

void BufferPool::give(std::unique_ptr<BlockBuffer> buffer) noexcept {
  const std::lock_guard lock(mutex_);
  try {
    free_.push_back(std::move(buffer));
  } catch (const std::bad_alloc&) {  // then this one is not kept
  }
}

void BlockBuffer::clear_outcome() {
  for (auto* numbers : {&y, &responses, &weight, &precision, &offset}) numbers->clear();
  label.clear();
  cluster.clear();
}

void BlockBuffer::copy_outcome(const RowOutcome& from) {
  const auto copy = [](auto& into, const auto& part) { into.assign(part.begin(), part.end()); };
  copy(y, from.y);
  copy(label, from.label);
  copy(responses, from.responses);
  copy(weight, from.weight);
  copy(precision, from.precision);
  copy(offset, from.offset);
  copy(cluster, from.cluster);
}

MemoryRows::MemoryRows(const Csr& x) : x_(Matrix(0, x.width)), sparse_(&x) { name_features(); }

void MemoryRows::name_features() {
  for (Index j = 1; j <= x_.cols(); ++j) features.push_back(fmt::format("x{}", j));
}

void MemoryRows::check(std::size_t size, const char* what) const {
  if (static_cast<Index>(size) != count())
    throw Error(fmt::format("there are {} rows but {} {}; each row needs one", count(), size, what));
}

MemoryRows& MemoryRows::response(std::span<const double> y) {
  check(y.size(), "responses");
  outcome_.y = y;
  has_response = true;
  return *this;
}

MemoryRows& MemoryRows::labels(std::span<const int> codes, std::vector<std::string> names) {
  check(codes.size(), "labels");
  const int most = static_cast<int>(names.size()) - 1;
  for (std::size_t i = 0; i < codes.size(); ++i)
    if (codes[i] < 0 || codes[i] > most)
      throw Error(fmt::format("the label of row {} is {}, must be from 0 to {} (there are {} classes)", i + 1, codes[i],
                              most, names.size()));
  outcome_.label = codes;
  classes = std::move(names);
  has_response = true;
  return *this;
}

MemoryRows& MemoryRows::several(std::span<const double> values, std::vector<ResponseColumn> columns) {
  if (columns.size() < 2) throw Error("several responses are two or more; of one give response() or labels()");
  if (static_cast<Index>(values.size()) != count() * static_cast<Index>(columns.size()))
    throw Error(
        fmt::format("there are {} rows with {} responses each, but {} values", count(), columns.size(), values.size()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto& [name, classes_of_it] = columns[i % columns.size()];
    const auto most = static_cast<double>(classes_of_it.size()) - 1;
    if (!classes_of_it.empty() && !(values[i] >= 0 && values[i] <= most && values[i] == std::floor(values[i])))
      throw Error(fmt::format("the label of row {} in {} is {}, must be from 0 to {} (there are {} classes)",
                              i / columns.size() + 1, name, values[i], most, classes_of_it.size()));
  }
  outcome_.responses = values;
  responses = std::move(columns);
  has_response = true;
  return *this;
}

MemoryRows& MemoryRows::weights(std::span<const double> w) {
  check(w.size(), "weights");
  outcome_.weight = w;
  has_weights = true;
  return *this;
}

MemoryRows& MemoryRows::precision(std::span<const double> p) {
  check(p.size(), "precisions");
  outcome_.precision = p;
  has_precision = true;
  return *this;
}

MemoryRows& MemoryRows::offset(std::span<const double> o) {
  check(o.size(), "offsets");
  outcome_.offset = o;
  has_offset = true;
  return *this;
}

MemoryRows& MemoryRows::clusters(std::span<const std::uint64_t> c) {
  check(c.size(), "clusters");
  outcome_.cluster = c;
  has_clusters = true;
  return *this;
}

Block MemoryRows::outcome_beside(const MatrixView& x, Index first, Index size) const {
  if (first < 0 || size < 0 || first > count() - size)
    throw Error(fmt::format("rows {} to {} were asked for, but there are {}", first + 1, first + size, count()));
  const auto several = static_cast<Index>(responses.size());
  Block block(x, first);
  block.y = part(outcome_.y, first, size);
  block.label = part(outcome_.label, first, size);
  block.responses = part(outcome_.responses, first * several, size * several);
  block.weight = part(outcome_.weight, first, size);
  block.precision = part(outcome_.precision, first, size);
  block.offset = part(outcome_.offset, first, size);
  block.cluster = part(outcome_.cluster, first, size);
  return block;
}

Block MemoryRows::read(Index first, Index size, BlockBuffer& buffer) const {
  if (first < 0 || size < 0 || first > count() - size) return outcome_beside(x_, first, size);  // which throws
  if (sparse_) return outcome_beside(dense_rows(*sparse_, first, size, buffer.x), first, size);
  return outcome_beside(x_.middleRows(first, size), first, size);
}

Block MemoryRows::outcome(Index first, Index size, BlockBuffer& buffer) const {
  if (!sparse_) return read(first, size, buffer);
  buffer.x.resize(size, 0);
  return outcome_beside(buffer.x, first, size);
}

Index block_rows(Index width) {
  const auto least = static_cast<std::size_t>(std::max<Index>(1024, 4 * width));
  return static_cast<Index>(std::bit_ceil(least));
}

Index block_rows(const Rows& rows) {
  const Index size = block_rows(rows.width());
  if (!rows.sparse()) return size;
  const auto most = static_cast<std::size_t>(std::max<Index>(1, (Index{1} << 22) / std::max<Index>(1, rows.width())));
  return std::min(size, static_cast<Index>(std::bit_floor(most)));
}

void for_each_block(const Rows& rows, const Execution& execution, const std::function<void(const Block&)>& visit) {
  const Index size = block_rows(rows);
  BufferPool pool;
  parallel_for(block_count(rows), execution, [&](Index i) {
    BufferPool::Lease buffer(pool);
    visit(rows.read(i * size, std::min(size, rows.count() - i * size), *buffer));
  });
}

Matrix gather(const Rows& rows, const Execution& execution) {
  Matrix x(rows.count(), rows.width());
  for_each_block(rows, execution, [&](const Block& block) { x.middleRows(block.first, block.rows()) = block.x; });
  return x;
}

void require_finite(const Rows& rows, const Execution& execution) {
  const auto finite = [](double v) { return std::isfinite(v); };
  const auto weight = [](double w) { return std::isfinite(w) && w >= 0; };
  const auto precision = [](double p) { return std::isfinite(p) && p > 0; };
  for_each_block(rows, execution, [&](const Block& block) {
    require_finite_features(block, rows.features);
    require_each(block.y, block, "'" + rows.target + "'", finite, "finite");
    require_finite_responses(block, rows.responses);
    require_each(block.weight, block, "the weight", weight, "finite and at least 0");
    require_each(block.precision, block, "the precision", precision, "finite and above 0");
    require_each(block.offset, block, "the offset", finite, "finite");
  });
}

}  // namespace lemma
