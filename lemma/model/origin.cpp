// lemma/model/origin.cpp
#include <algorithm>
#include <lemma/core/error.hpp>
#include <lemma/core/hash.hpp>
#include <lemma/model/origin.hpp>

namespace lemma {
namespace {

/// Hashes of the rows as the method saw them: features, then response.
std::uint64_t hash_row(const Block& block, Index i) {
  std::uint64_t h = hash_numbers({block.x.row(i).data(), static_cast<std::size_t>(block.x.cols())});
  const auto at = static_cast<std::size_t>(i);
  if (!block.y.empty()) h = hash_numbers(block.y.subspan(at, 1), h);
  if (!block.label.empty()) {
    const double code = block.label[at];
    h = hash_numbers({&code, 1}, h);
  }
  return h;
}

/// 64-bit numbers do not fit a double: two arrays hold their halves.
Value halves(const std::vector<std::uint64_t>& numbers) {
  Value::Array out{{static_cast<Index>(numbers.size()), 2}, {}};
  for (const auto n : numbers) {
    out.data.push_back(static_cast<double>(n >> 32));
    out.data.push_back(static_cast<double>(n & 0xffffffffU));
  }
  return out;
}
std::vector<std::uint64_t> from_halves(const Value& value, std::string_view what) {
  const Value::Array& array = value.as_array(what);
  require(array.shape.size() == 2 && array.shape[1] == 2, "the fingerprint of the training rows is damaged");
  std::vector<std::uint64_t> out;
  for (std::size_t i = 0; i + 1 < array.data.size(); i += 2) {
    for (const double half : {array.data[i], array.data[i + 1]})
      require(half >= 0 && half < 4294967296.0 && half == static_cast<double>(static_cast<std::uint64_t>(half)),
              "the fingerprint of the training rows is damaged");
    out.push_back(static_cast<std::uint64_t>(array.data[i]) << 32 | static_cast<std::uint64_t>(array.data[i + 1]));
  }
  return out;
}

}  // namespace

void RowSketch::trim() {
  std::sort(smallest_.begin(), smallest_.end());
  smallest_.erase(std::unique(smallest_.begin(), smallest_.end()), smallest_.end());
  if (smallest_.size() > kSize) smallest_.resize(kSize);
}

void RowSketch::accumulate(const Block& block) {
  for (Index i = 0; i < block.rows(); ++i) {
    const std::uint64_t h = hash_row(block, i);
    sum_ += h;
    smallest_.push_back(h);
    if (smallest_.size() >= 4 * kSize) trim();
  }
  rows_ += block.rows();
  trim();
}

void RowSketch::merge(const RowSketch& other) {
  rows_ += other.rows_;
  sum_ += other.sum_;
  smallest_.insert(smallest_.end(), other.smallest_.begin(), other.smallest_.end());
  trim();
}

double RowSketch::share_of(const RowSketch& other) const {
  // Of both sides only the hashes below the smaller of the two horizons are known.
  std::uint64_t horizon = ~std::uint64_t{0};
  if (smallest_.size() == kSize) horizon = std::min(horizon, smallest_.back());
  if (other.smallest_.size() == kSize) horizon = std::min(horizon, other.smallest_.back());
  std::size_t seen = 0, common = 0;
  for (const auto h : other.smallest_) {
    if (h > horizon) break;
    ++seen;
    common += std::binary_search(smallest_.begin(), smallest_.end(), h);
  }
  return seen == 0 ? 0.0 : static_cast<double>(common) / static_cast<double>(seen);
}

Value RowSketch::save() const {
  Value out = Value::object();
  out.set("rows", rows_);
  out.set("hash", halves({sum_}));
  out.set("smallest", halves(smallest_));
  return out;
}

RowSketch RowSketch::load(const Value& value) {
  RowSketch out;
  out.rows_ = value.at("rows").as_integer("rows");
  const auto sum = from_halves(value.at("hash"), "hash");
  require(out.rows_ >= 0 && sum.size() == 1, "the fingerprint of the training rows is damaged");
  out.sum_ = sum[0];
  out.smallest_ = from_halves(value.at("smallest"), "smallest");
  require(out.smallest_.size() <= kSize && std::is_sorted(out.smallest_.begin(), out.smallest_.end()),
          "the fingerprint of the training rows is damaged");
  return out;
}

RowSketch sketch(const Rows& rows, const Execution& execution) { return scan(rows, RowSketch(), execution); }

}  // namespace lemma
