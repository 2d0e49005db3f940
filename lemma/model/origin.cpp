// lemma/model/origin.cpp
#include <algorithm>
#include <cmath>
#include <functional>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/model/bit_stream.hpp>
#include <lemma/model/sketch_maker.hpp>
#include <numeric>

namespace lemma {
namespace {

constexpr std::string_view kDamaged = "the fingerprint of the training rows is damaged";

/// 64-bit numbers do not fit a double: two arrays hold their halves.
Value halves(std::uint64_t number) {
  return Value::Array{{1, 2}, {static_cast<double>(number >> 32), static_cast<double>(number & 0xffffffffU)}};
}
std::vector<std::uint64_t> from_halves(const Value& value, std::string_view what) {
  const Value::Array& array = value.as_array(what);
  require(array.shape.size() == 2 && array.shape[1] == 2, kDamaged);
  std::vector<std::uint64_t> out;
  for (std::size_t i = 0; i + 1 < array.data.size(); i += 2) {
    for (const double half : {array.data[i], array.data[i + 1]})
      require(half >= 0 && half < 4294967296.0 && half == static_cast<double>(static_cast<std::uint64_t>(half)),
              kDamaged);
    out.push_back(static_cast<std::uint64_t>(array.data[i]) << 32 | static_cast<std::uint64_t>(array.data[i + 1]));
  }
  return out;
}
std::uint64_t one_number(const Value& value, std::string_view what) {
  const auto numbers = from_halves(value, what);
  require(numbers.size() == 1, kDamaged);
  return numbers[0];
}
std::optional<std::uint64_t> number_if_there(const Value& object, std::string_view key) {
  const Value* found = object.find(key);
  if (!found) return {};
  return one_number(*found, key);
}
bool flag(const Value& object, std::string_view key, bool otherwise) {
  const Value* found = object.find(key);
  return found ? found->as_bool(key) : otherwise;
}

/// Whole numbers from 1, in Elias' gamma code: a 1 takes one bit.
Value counts_as_value(const std::vector<double>& counts) {
  std::vector<std::uint64_t> words;
  BitWriter out(words);
  for (const double each : counts) {
    const auto count = static_cast<std::uint64_t>(each);
    const int below = static_cast<int>(std::bit_width(count)) - 1;
    out.unary(static_cast<std::uint64_t>(below));
    out.put(count - (std::uint64_t{1} << below), below);
  }
  return words_as_value(words);
}
std::vector<double> counts_from(const Value& value, std::size_t size) {
  const auto words = words_from(value, "times");
  BitReader in(words);
  std::vector<double> out;
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint64_t below = in.unary();
    require(below < 53, kDamaged);
    out.push_back(static_cast<double>(std::uint64_t{1} << below | in.take(static_cast<int>(below))));
  }
  require(in.at_end(), kDamaged);
  return out;
}

/// Each distinct number of an ascending list, with how often it stands there: `most` of them.
void runs_of(std::span<const std::uint64_t> ascending, std::size_t most, std::vector<std::uint64_t>& values,
             std::vector<double>& times) {
  for (const auto h : ascending) {
    if (!values.empty() && values.back() == h) {
      ++times.back();
      continue;
    }
    if (values.size() == most) return;
    values.push_back(h);
    times.push_back(1);
  }
}

}  // namespace

SketchMaker::SketchMaker(const RowKey& key, const Rows& rows, bool with_filter)
    : out(key),
      weighted(rows.has_weights || rows.has_precision),
      filter_bits(with_filter && rows.count() > static_cast<Index>(RowSketch::kSize) ? RowFilter::bits_for(rows.count())
                                                                                     : 0) {
  if (weighted) out.weighted_ = 0;
}

void SketchMaker::add(const RowHashes& hashes) {
  const auto& all = hashes.ascending;
  out.rows_ += static_cast<Index>(all.size());
  out.sum_ = std::accumulate(all.begin(), all.end(), out.sum_);
  if (weighted) *out.weighted_ += hashes.weighted;
  std::vector<std::uint64_t> values;
  std::vector<double> times;
  runs_of(all, RowSketch::kSize, values, times);
  out.take(values, times);
  if (filter_bits == 0) return;
  RowFilter piece(all, filter_bits);
  if (out.filter_.bits() == 0) out.filter_ = std::move(piece);
  else out.filter_.merge(piece);
}

RowSketch SketchMaker::done() {
  if (out.complete()) out.filter_ = RowFilter();
  return std::move(out);
}

/// The smallest hashes of both lists, with the rows of each. A hash that stays was among the smallest of every part of
/// the rows, so none of its rows has been missed.
void RowSketch::take(std::span<const std::uint64_t> smallest, std::span<const double> times) {
  std::vector<std::uint64_t> values;
  std::vector<double> counts;
  std::size_t i = 0, j = 0;
  while (values.size() < kSize && (i < smallest_.size() || j < smallest.size())) {
    const bool mine = j == smallest.size() || (i < smallest_.size() && smallest_[i] <= smallest[j]),
               theirs = i == smallest_.size() || (j < smallest.size() && smallest[j] <= smallest_[i]);
    values.push_back(mine ? smallest_[i] : smallest[j]);
    const double of_mine = mine ? times_[i++] : 0, of_theirs = theirs ? times[j++] : 0;
    counts.push_back(of_mine + of_theirs);
  }
  smallest_ = std::move(values);
  times_ = std::move(counts);
}

RowFilter RowSketch::all_of_them(int bits) const {
  if (filter_.bits() == 0) return RowFilter(smallest_, bits);
  RowFilter out = filter_;
  out.shorten(bits);
  return out;
}

void RowSketch::merge(const RowSketch& other) {
  require(key_ == other.key_, "the hashes of these rows cover different parts of them");
  const bool know = knows_all() && other.knows_all();
  const int bits = RowFilter::bits_for(rows_ + other.rows_);
  RowFilter both;
  if (know && rows_ + other.rows_ > static_cast<Index>(kSize)) {
    both = all_of_them(bits);
    both.merge(other.all_of_them(bits));
  }
  const bool counted =
      (times_.size() == smallest_.size()) && (other.times_.size() == other.smallest_.size());  // by a file that knows
  if (!counted) {
    times_.assign(smallest_.size(), 1);
    const std::vector<double> ones(other.smallest_.size(), 1);
    take(other.smallest_, ones);
    times_.clear();
  } else {
    take(other.smallest_, other.times_);
  }
  if (rows_ == 0) weighted_ = other.weighted_;
  else if (weighted_ && other.weighted_) *weighted_ += *other.weighted_;
  else if (other.rows_ > 0) weighted_.reset();
  rows_ += other.rows_;
  sum_ += other.sum_;
  filter_ = complete() ? RowFilter() : std::move(both);
}

bool RowSketch::same_as(const RowSketch& other) const {
  return rows_ == other.rows_ && sum_ == other.sum_ && (!weighted_ || weighted_ == other.weighted_);
}

std::optional<RowSketch::Twins> RowSketch::twins() const {
  if (times_.size() != smallest_.size()) return {};
  Twins out;
  out.exact = complete();
  for (const double times : times_) {
    out.of += times;
    if (times > 1) out.rows += times;
  }
  return out;
}

Overlap RowSketch::overlap(std::span<const std::uint64_t> ascending) const {
  Overlap out;
  out.rows = static_cast<Index>(ascending.size());
  const auto end =
      complete() ? ascending.end() : std::upper_bound(ascending.begin(), ascending.end(), smallest_.back());
  std::size_t at = 0;
  for (auto h = ascending.begin(); h != end; ++h) {
    while (at < smallest_.size() && smallest_[at] < *h) ++at;
    out.equal += at < smallest_.size() && smallest_[at] == *h;
  }
  const auto beyond = ascending.subspan(static_cast<std::size_t>(end - ascending.begin()));
  if (filter_.bits() > 0) {
    out.asked = static_cast<Index>(beyond.size());
    const auto found = filter_.count(beyond);
    out.alarms = found.all;
    out.distinct_alarms = found.distinct;
    out.copies = found.copies;
    for (std::size_t i = 0, copies = 0; i < beyond.size(); ++i) {
      copies = i > 0 && beyond[i] == beyond[i - 1] ? copies + 1 : 1;
      out.distinct_asked += copies == 1;
      out.as_many_copies += static_cast<Index>(copies) == found.copies;
    }
    out.false_alarm = filter_.false_alarms();
  } else {
    out.unknown = static_cast<Index>(beyond.size());
  }
  return out;
}

Value RowSketch::save() const {
  Value out = Value::object();
  if (!key_.zeros) out.set("of", "nonzero features");
  if (!key_.response) out.set("response", false);
  if (key_.offset) out.set("offset", true);
  out.set("rows", rows_);
  out.set("hash", halves(sum_));
  if (weighted_) out.set("weighted_hash", halves(*weighted_));
  out.set("smallest", words_as_value(smallest_));
  const bool counted = times_.size() == smallest_.size();
  if (!counted) out.set("times", Value());
  else if (std::count(times_.begin(), times_.end(), 1.0) < static_cast<std::ptrdiff_t>(times_.size()))
    out.set("times", counts_as_value(times_));
  if (filter_.bits() > 0) out.set("filter", filter_.save());
  return out;
}

RowSketch RowSketch::load(const Value& value) {
  const Value* of = value.find("of");
  RowSketch out;
  out.key_.zeros = !(of && of->is_string() && of->as_string() == "nonzero features");
  out.key_.response = flag(value, "response", true);
  out.key_.offset = flag(value, "offset", false);
  out.rows_ = value.at("rows").as_integer("rows");
  out.sum_ = one_number(value.at("hash"), "hash");
  out.weighted_ = number_if_there(value, "weighted_hash");
  const Value &smallest = value.at("smallest"), *times = value.find("times"), *filter = value.find("filter");
  const bool old = smallest.as_array("smallest").shape.size() == 2;  // before rows were counted and filtered
  out.smallest_ = old ? from_halves(smallest, "smallest") : words_from(smallest, "smallest");
  const auto kept = static_cast<Index>(out.smallest_.size());
  const bool distinct =
      std::adjacent_find(out.smallest_.begin(), out.smallest_.end(), std::greater_equal<>()) == out.smallest_.end();
  require(kept <= out.rows_ && kept <= static_cast<Index>(kSize) && distinct, kDamaged);
  require((out.rows_ == 0) == (kept == 0), kDamaged);
  if (times && !times->is_null()) {
    out.times_ = counts_from(*times, out.smallest_.size());
  } else if (!times && (!old || kept == out.rows_)) {
    out.times_.assign(out.smallest_.size(), 1);
  }
  if (!out.times_.empty() || kept == 0) {
    require(static_cast<Index>(out.times_.size()) == kept, kDamaged);
    double all = 0;
    for (const double t : out.times_) all += t;
    const auto rows = static_cast<double>(out.rows_);
    require(all <= rows && (!out.complete() || all == rows), kDamaged);
  }
  if (!filter) return out;
  out.filter_ = RowFilter::load(*filter);
  require(!out.complete() && out.filter_.size() <= out.rows_ && out.filter_.count(out.smallest_).all == kept, kDamaged);
  return out;
}

RowSketch sketch(const Rows& rows, const RowKey& key, const Execution& execution) {
  SketchMaker made(key, rows, true);
  for_each_piece(rows, key, execution, [&](const RowHashes& hashes) { made.add(hashes); });
  return made.done();
}

Recognition recognise(const RowSketch& training, const Rows& rows, const Execution& execution) {
  SketchMaker made(training.key(), rows, false);
  Recognition out;
  for_each_piece(rows, training.key(), execution, [&](const RowHashes& hashes) {
    made.add(hashes);
    out.overlap.add(training.overlap(hashes.ascending));
  });
  out.given = made.done();
  out.same = training.same_as(out.given);
  return out;
}

bool OriginPart::is(const RowSketch& given) const {
  return rows == given.rows() && hash == given.hash() && (!weighted_hash || weighted_hash == given.weighted_hash());
}

namespace {

std::string joined(const std::vector<OriginPart>& parts) {
  constexpr std::size_t kMost = 4;
  std::string out;
  for (std::size_t i = 0; i < std::min(kMost, parts.size()); ++i) out += (i == 0 ? "" : " + ") + parts[i].name;
  if (parts.size() > kMost) out += " + " + std::to_string(parts.size() - kMost) + " more";
  return out;
}

OriginPart part_of(const std::string& name, const RowSketch& rows) {
  return {name, rows.rows(), rows.hash(), rows.weighted_hash()};
}

}  // namespace

Origin Origin::with(const std::string& more, const RowSketch& rows_of_it) const {
  Origin out = *this;
  if (out.parts.empty()) out.parts.push_back(part_of(name, rows));
  out.parts.push_back(part_of(more, rows_of_it));
  out.rows.merge(rows_of_it);
  out.name = joined(out.parts);
  return out;
}

namespace {

/// The name of a file may be any bytes, and a text in a model is UTF-8.
std::string as_utf8(std::string_view name) {
  std::string out;
  while (!name.empty()) {
    const std::size_t bytes = first_character(name).bytes;
    out += bytes > 0 ? name.substr(0, bytes) : "\uFFFD";
    name.remove_prefix(std::max<std::size_t>(1, bytes));
  }
  return out;
}

}  // namespace

Value Origin::save() const {
  Value out = rows.save();
  out.set("name", as_utf8(name));
  if (parts.empty()) return out;
  Value::List list;
  for (const auto& part : parts) {
    Value one = Value::object();
    one.set("name", as_utf8(part.name));
    one.set("rows", part.rows);
    one.set("hash", halves(part.hash));
    if (part.weighted_hash) one.set("weighted_hash", halves(*part.weighted_hash));
    list.push_back(std::move(one));
  }
  out.set("parts", std::move(list));
  return out;
}

Origin Origin::load(const Value& value) {
  Origin out{value.at("name").as_string("data name"), RowSketch::load(value)};
  const Value* parts = value.find("parts");
  if (!parts) return out;
  Index rows = 0;
  std::uint64_t hash = 0;
  for (const Value& one : parts->as_list("parts")) {
    OriginPart part{one.at("name").as_string("name"), one.at("rows").as_integer("rows"),
                    one_number(one.at("hash"), "hash"), number_if_there(one, "weighted_hash")};
    require(part.rows >= 0 && part.rows <= out.rows.rows() - rows, kDamaged);
    rows += part.rows;
    hash += part.hash;
    out.parts.push_back(std::move(part));
  }
  require(out.parts.size() > 1 && rows == out.rows.rows() && hash == out.rows.hash(), kDamaged);
  return out;
}

}  // namespace lemma
