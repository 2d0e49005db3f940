// lemma/model/row_filter.cpp
#include <algorithm>
#include <bit>
#include <cmath>
#include <lemma/core/error.hpp>
#include <lemma/model/bit_stream.hpp>
#include <lemma/model/row_filter.hpp>

namespace lemma {
namespace {

constexpr double kBitsPerRow = 10, kFreeBits = 65536 * 8;
constexpr double kCostOfOrder = 1.6;  // bits that a distance takes beyond log₂ of the mean one

[[noreturn]] void fail() { throw Error("the filter of the training rows is damaged"); }

}  // namespace

/// The members one by one, with no more than `bits` of each.
class RowFilter::Cursor {
 public:
  Cursor(const RowFilter& filter, int bits)
      : in_(filter.words_),
        left_(filter.size_),
        rest_(filter.rest_bits()),
        coarser_(filter.bits_ - bits),
        last_(filter.bits_ == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << filter.bits_) - 1) {
    next();
  }
  bool done() const { return done_; }
  std::uint64_t value() const { return value_ >> coarser_; }
  void next() {
    done_ = left_-- == 0;
    if (done_) return;
    const std::uint64_t jumps = in_.unary(), room = last_ - from_;
    if (over_ || jumps > room >> rest_) fail();
    const std::uint64_t distance = jumps << rest_ | in_.take(rest_);
    if (distance > room) fail();
    value_ = from_ + distance;
    over_ = value_ == last_;
    from_ = value_ + 1;
  }
  bool at_end() { return in_.at_end(); }

 private:
  BitReader in_;
  Index left_;
  int rest_, coarser_;
  std::uint64_t last_, from_ = 0, value_ = 0;
  bool done_ = false, over_ = false;  // over: no value is above the last one
};

int RowFilter::bits_for(Index rows) {
  const double n = static_cast<double>(std::max<Index>(rows, 1));
  const double each = std::max(kBitsPerRow, kFreeBits / n);
  return static_cast<int>(std::min(64.0, std::floor(std::log2(n) + each - kCostOfOrder)));
}

int RowFilter::rest_bits() const {
  return std::max(0, bits_ - static_cast<int>(std::bit_width(static_cast<std::uint64_t>(size_))));
}

double RowFilter::false_alarms() const { return std::ldexp(static_cast<double>(size_), -bits_); }

/// Twice through the values that visit(take) gives in ascending order: to count the distinct ones, and to write them.
template <class Visit>
void RowFilter::encode(const Visit& visit) {
  const auto distinct = [&](auto&& take) {
    bool any = false;
    std::uint64_t last = 0;
    visit([&](std::uint64_t value) {
      if (any && value == last) return;
      any = true;
      last = value;
      take(value);
    });
  };
  Index size = 0;
  distinct([&](std::uint64_t) { ++size; });
  size_ = size;
  std::vector<std::uint64_t> words;
  words.reserve(static_cast<std::size_t>(size) * static_cast<std::size_t>(rest_bits() + 3) / 64 + 1);
  BitWriter out(words);
  const int rest = rest_bits();
  std::uint64_t from = 0;
  distinct([&](std::uint64_t value) {
    const std::uint64_t distance = value - from;
    out.unary(rest == 64 ? 0 : distance >> rest);
    out.put(rest == 0 ? 0 : distance & (~std::uint64_t{0} >> (64 - rest)), rest);
    from = value + 1;
  });
  words_ = std::move(words);
}

RowFilter::RowFilter(std::span<const std::uint64_t> ascending, int bits) : bits_(bits) {
  require(bits >= 1 && bits <= 64, "a filter keeps from 1 to 64 bits of a hash");
  encode([&](auto&& take) {
    for (const std::uint64_t hash : ascending) take(hash >> (64 - bits));
  });
}

RowFilter::Count RowFilter::count(std::span<const std::uint64_t> ascending) const {
  Count out;
  if (bits_ == 0) return out;
  Cursor member(*this, bits_);
  Index copies = 0;
  for (std::size_t i = 0; i < ascending.size(); ++i) {
    const std::uint64_t value = ascending[i] >> (64 - bits_);
    while (!member.done() && member.value() < value) member.next();
    if (member.done()) break;
    if (member.value() != value) continue;
    const bool again = i > 0 && ascending[i] == ascending[i - 1];
    ++out.all;
    out.distinct += !again;
    copies = again ? copies + 1 : 1;
    out.copies = std::max(out.copies, copies);
  }
  return out;
}

void RowFilter::shorten(int bits) {
  if (bits >= bits_) return;
  RowFilter out;
  out.bits_ = bits;
  out.encode([&](auto&& take) {
    for (Cursor each(*this, bits); !each.done(); each.next()) take(each.value());
  });
  *this = std::move(out);
}

void RowFilter::merge(const RowFilter& other) {
  RowFilter out;
  out.bits_ = std::min(bits_, other.bits_);
  require(out.bits_ > 0, "there is no filter to merge");
  out.encode([&](auto&& take) {
    Cursor a(*this, out.bits_), b(other, out.bits_);
    while (!a.done() || !b.done()) {
      Cursor& least = b.done() || (!a.done() && a.value() <= b.value()) ? a : b;
      take(least.value());
      least.next();
    }
  });
  *this = std::move(out);
}

Value RowFilter::save() const {
  Value out = Value::object();
  out.set("bits", bits_);
  out.set("size", size_);
  out.set("words", words_as_value(words_));
  return out;
}

RowFilter RowFilter::load(const Value& value) {
  const auto bits = value.at("bits").as_integer("bits"), size = value.at("size").as_integer("size");
  RowFilter out;
  out.words_ = words_from(value.at("words"), "words");
  if (bits < 1 || bits > 64 || size < 0 || static_cast<std::uint64_t>(size) > 64 * out.words_.size()) fail();
  out.bits_ = static_cast<int>(bits);
  out.size_ = size;
  Cursor each(out, out.bits_);
  while (!each.done()) each.next();
  if (!each.at_end()) fail();
  return out;
}

Value words_as_value(const std::vector<std::uint64_t>& words) {
  Value::Array out{{static_cast<Index>(words.size())}, {}};
  out.data.reserve(words.size());
  for (const auto word : words) out.data.push_back(std::bit_cast<double>(word));
  return out;
}

std::vector<std::uint64_t> words_from(const Value& value, std::string_view what) {
  const Value::Array& array = value.as_array(what);
  if (array.shape.size() != 1) fail();
  std::vector<std::uint64_t> out;
  out.reserve(array.data.size());
  for (const double bits : array.data) out.push_back(std::bit_cast<std::uint64_t>(bits));
  return out;
}

}  // namespace lemma
