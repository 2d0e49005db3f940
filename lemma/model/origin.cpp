// lemma/model/origin.cpp
#include <algorithm>
#include <lemma/core/error.hpp>
#include <lemma/core/hash.hpp>
#include <lemma/model/origin.hpp>

namespace lemma {
namespace {

/// The features' hash, continued with the response.
std::uint64_t with_response(std::uint64_t h, const Block& block, Index i) {
  const auto at = static_cast<std::size_t>(i);
  if (!block.y.empty()) h = hash_numbers(block.y.subspan(at, 1), h);
  if (!block.label.empty()) {
    const double code = block.label[at];
    h = hash_numbers({&code, 1}, h);
  }
  return h;
}

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
std::uint64_t hash_features(const Block& block, Index i, RowSketch::Of of) {
  const std::span<const double> x(block.x.row(i).data(), static_cast<std::size_t>(block.x.cols()));
  if (of == RowSketch::Of::all_features) return hash_numbers(x);
  NonzeroHash hash;
  for (std::size_t j = 0; j < x.size(); ++j) hash.add(static_cast<Index>(j), x[j]);
  return hash.value();
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

void RowSketch::add(std::uint64_t hash) {
  sum_ += hash;
  smallest_.push_back(hash);
  if (smallest_.size() >= 4 * kSize) trim();
}

void RowSketch::accumulate(const Block& block) {
  for (Index i = 0; i < block.rows(); ++i) add(with_response(hash_features(block, i, of_), block, i));
  rows_ += block.rows();
  trim();
}

void RowSketch::accumulate(const Csr& x, const Block& outcome) {
  for (Index i = 0; i < outcome.rows(); ++i) {
    const auto row = static_cast<std::size_t>(outcome.first + i);
    NonzeroHash hash;
    for (auto k = static_cast<std::size_t>(x.start[row]); k < static_cast<std::size_t>(x.start[row + 1]); ++k)
      hash.add(x.column[k], x.value[k]);
    add(with_response(hash.value(), outcome, i));
  }
  rows_ += outcome.rows();
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
  if (of_ == Of::nonzero_features) out.set("of", "nonzero features");
  out.set("rows", rows_);
  out.set("hash", halves({sum_}));
  out.set("smallest", halves(smallest_));
  return out;
}

RowSketch RowSketch::load(const Value& value) {
  const Value* of = value.find("of");
  RowSketch out(of && of->is_string() && of->as_string() == "nonzero features" ? Of::nonzero_features
                                                                               : Of::all_features);
  out.rows_ = value.at("rows").as_integer("rows");
  const auto sum = from_halves(value.at("hash"), "hash");
  require(out.rows_ >= 0 && sum.size() == 1, "the fingerprint of the training rows is damaged");
  out.sum_ = sum[0];
  out.smallest_ = from_halves(value.at("smallest"), "smallest");
  require(out.smallest_.size() <= kSize && std::is_sorted(out.smallest_.begin(), out.smallest_.end()),
          "the fingerprint of the training rows is damaged");
  return out;
}

RowSketch sketch(const Rows& rows, const Execution& execution) {
  return sketch_like(RowSketch(rows.sparse() ? RowSketch::Of::nonzero_features : RowSketch::Of::all_features), rows,
                     execution);
}

RowSketch sketch_like(const RowSketch& training, const Rows& rows, const Execution& execution) {
  RowSketch out(training.of());
  if (!rows.sparse() || training.of() == RowSketch::Of::all_features) return scan(rows, out, execution);
  BlockBuffer buffer;
  out.accumulate(*rows.sparse(), rows.outcome(0, rows.count(), buffer));
  return out;
}

}  // namespace lemma
