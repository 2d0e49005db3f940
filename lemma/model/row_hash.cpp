// lemma/model/row_hash.cpp
#include <algorithm>
#include <atomic>
#include <bit>
#include <lemma/core/hash.hpp>
#include <lemma/model/row_hash.hpp>
#include <numeric>

namespace lemma {
namespace {

/// Features that are not 0, each hashed with its place.
class NonzeroHash {
 public:
  void add(Index column, double value) {
    const double entry[] = {static_cast<double>(column), value};
    if (value != 0) hash_ = hash_numbers(entry, hash_);
  }
  std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 0;
};

/// Of a row as the method saw it.
std::uint64_t hash_features(const Block& block, Index i, bool zeros) {
  const std::span<const double> x(block.x.row(i).data(), static_cast<std::size_t>(block.x.cols()));
  if (zeros) return hash_numbers(x);
  NonzeroHash hash;
  for (std::size_t j = 0; j < x.size(); ++j) hash.add(static_cast<Index>(j), x[j]);
  return hash.value();
}
std::uint64_t hash_features(const Csr& x, Index i) {
  const auto row = static_cast<std::size_t>(i);
  NonzeroHash hash;
  for (auto k = static_cast<std::size_t>(x.start[row]); k < static_cast<std::size_t>(x.start[row + 1]); ++k)
    hash.add(x.column[k], x.value[k]);
  return hash.value();
}

/// The features' hash, continued with the rest of the key.
std::uint64_t with_outcome(std::uint64_t h, const Block& block, Index i, const RowKey& key) {
  const auto at = static_cast<std::size_t>(i);
  if (key.response && !block.responses.empty()) {
    const std::size_t each = block.responses.size() / static_cast<std::size_t>(block.rows());
    h = hash_numbers(block.responses.subspan(at * each, each), h);
  }
  if (key.response && !block.y.empty()) h = hash_numbers(block.y.subspan(at, 1), h);
  if (key.response && !block.label.empty()) {
    const double code = block.label[at];
    h = hash_numbers({&code, 1}, h);
  }
  if (key.offset && !block.offset.empty()) h = hash_numbers(block.offset.subspan(at, 1), h);
  return h;
}

/// The hash of a row continued with its weight and precision.
std::uint64_t hash_weights(const Block& block, Index i, std::uint64_t h) {
  const double weights[] = {block.weight_of(i), block.precision_of(i)};
  return hash_numbers(weights, h);
}

}  // namespace

/// Hashes are spread evenly, so their leading bits cut them into short pieces.
void sort_hashes(std::vector<std::uint64_t>& hashes, const Execution& execution) {
  constexpr std::size_t kFew = 4096;
  if (hashes.size() < kFew) return std::sort(hashes.begin(), hashes.end());
  const int bits = std::min(16, static_cast<int>(std::bit_width(hashes.size())) - 6);
  std::vector<std::size_t> start((std::size_t{1} << bits) + 1, 0);
  for (const auto h : hashes) ++start[(h >> (64 - bits)) + 1];
  std::partial_sum(start.begin(), start.end(), start.begin());
  std::vector<std::uint64_t> out(hashes.size());
  auto next = start;
  for (const auto h : hashes) out[next[h >> (64 - bits)]++] = h;
  constexpr std::size_t kTogether = 64;
  parallel_for(static_cast<Index>((start.size() - 1 + kTogether - 1) / kTogether), execution, [&](Index piece) {
    const std::size_t first = static_cast<std::size_t>(piece) * kTogether;
    for (std::size_t b = first; b < std::min(first + kTogether, start.size() - 1); ++b)
      std::sort(out.begin() + static_cast<std::ptrdiff_t>(start[b]),
                out.begin() + static_cast<std::ptrdiff_t>(start[b + 1]));
  });
  hashes.swap(out);
}

void hash_rows(const Block& block, Index first, Index count, const Rows& rows, const RowKey& key, RowHashes& out) {
  for (Index i = first; i < first + count; ++i) {
    const std::uint64_t h = with_outcome(hash_features(block, i, key.zeros), block, i, key);
    if (rows.has_weights || rows.has_precision) out.weighted += hash_weights(block, i, h);
    out.ascending.push_back(h);
  }
}

namespace {

/// Of rows [first, first + count); `first` begins a block.
RowHashes hashes_of(const Rows& rows, const RowKey& key, Index first, Index count, const Execution& execution) {
  const Index size = block_rows(rows);
  const Csr* sparse = key.zeros ? nullptr : rows.sparse();
  const bool weigh = rows.has_weights || rows.has_precision;
  RowHashes out;
  out.ascending.resize(static_cast<std::size_t>(count));
  std::atomic<std::uint64_t> weighted = 0;
  BufferPool pool;
  parallel_for((count + size - 1) / size, execution, [&](Index b) {
    BufferPool::Lease buffer(pool);
    const Index from = first + b * size, many = std::min(size, first + count - from);
    const Block block = sparse ? rows.outcome(from, many, *buffer) : rows.read(from, many, *buffer);
    std::uint64_t sum = 0;
    for (Index i = 0; i < many; ++i) {
      const std::uint64_t features = sparse ? hash_features(*sparse, from + i) : hash_features(block, i, key.zeros);
      const std::uint64_t h = with_outcome(features, block, i, key);
      if (weigh) sum += hash_weights(block, i, h);
      out.ascending[static_cast<std::size_t>(from - first + i)] = h;
    }
    weighted += sum;
  });
  out.weighted = weighted;
  sort_hashes(out.ascending, execution);
  return out;
}

}  // namespace

RowKey key_of(const Rows& rows, bool uses_response) {
  RowKey out;
  out.zeros = !rows.sparse();
  out.response = uses_response || !rows.has_response;
  out.offset = rows.has_offset;
  return out;
}

void for_each_piece(const Rows& rows, const RowKey& key, const Execution& execution,
                    const std::function<void(const RowHashes&)>& visit) {
  constexpr Index kPieces = 8, kLeast = Index{1} << 22;
  const Index block = block_rows(rows), n = rows.count();
  const Index size = (std::max(kLeast, (n + kPieces - 1) / kPieces) + block - 1) / block * block;
  for (Index first = 0; first < n; first += size)
    visit(hashes_of(rows, key, first, std::min(size, n - first), execution));
}

}  // namespace lemma
