// lemma/core/cbor.cpp: the part of CBOR (RFC 8949) that a Value needs: null, truth values, 64-bit integers, float64,
// text, lists, maps with text keys, all of definite length; arrays of numbers as typed arrays (RFC 8746), with tag 40 in
// front where they have a shape. An array is kept in the narrowest type that holds each of its numbers to the bit, and a
// long one in blocks (chunks of one byte string), so that no second copy of it is made.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <lemma/core/cbor.hpp>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/core/value.hpp>
#include <limits>
#include <span>
#include <sys/mman.h>
#include <unistd.h>

namespace lemma {
namespace {

static_assert(std::endian::native == std::endian::little, "arrays are copied as they lie in memory");

enum Major : std::uint8_t { kUnsigned, kNegative, kBytes, kText, kList, kMap, kTag, kSimple };
constexpr std::uint64_t kFalse = 20, kTrue = 21, kNull = 22, kFloat64 = 27;
constexpr std::uint64_t kShapedArray = 40;
constexpr std::uint8_t kChunked = kBytes << 5 | 31, kEndOfChunks = 0xFF;
constexpr std::size_t kBlock = std::size_t{1} << 17;  // numbers in a block

/// The types that numbers are kept in, by their tags in RFC 8746 (little endian), narrowest first.
enum class Kept : std::uint64_t { uint8 = 64, uint16 = 69, int32 = 78, float32 = 85, float64 = 86 };

/// visit(T{}) for the type of that tag; false when there is no such type.
template <class Visit>
bool with_type(std::uint64_t tag, Visit&& visit) {
  switch (static_cast<Kept>(tag)) {
    case Kept::uint8: visit(std::uint8_t{}); return true;
    case Kept::uint16: visit(std::uint16_t{}); return true;
    case Kept::int32: visit(std::int32_t{}); return true;
    case Kept::float32: visit(float{}); return true;
    case Kept::float64: visit(double{}); return true;
  }
  return false;
}

/// Whether T gives the number back with all its bits, the sign of zero too; NaN and infinity stay doubles.
template <class T>
bool keeps(double number) {
  if (!(number >= std::numeric_limits<T>::lowest() && number <= std::numeric_limits<T>::max())) return false;
  return std::bit_cast<std::uint64_t>(static_cast<double>(static_cast<T>(number))) ==
         std::bit_cast<std::uint64_t>(number);
}

std::uint64_t narrowest(const std::vector<double>& data) {
  for (const Kept type : {Kept::uint8, Kept::uint16, Kept::int32, Kept::float32}) {
    bool all = false;
    with_type(static_cast<std::uint64_t>(type),
              [&]<class T>(T) { all = std::all_of(data.begin(), data.end(), keeps<T>); });
    if (all && !data.empty()) return static_cast<std::uint64_t>(type);
  }
  return static_cast<std::uint64_t>(Kept::float64);
}
constexpr Index kLongestEmptyDimension = Index{1} << 20;  // an array without numbers could claim any length

/// No fewer bytes than the value takes. What is reserved and not written takes no memory, where growing would copy all of it.
std::size_t most_bytes(const Value& value, int level = 0) {
  constexpr std::size_t kHead = 9;  // of anything
  std::size_t out = kHead;
  if (level >= kDeepestNesting) return out;  // it will be refused
  if (value.is_string()) out += value.as_string().size();
  if (value.is_list())
    for (const Value& each : value.as_list()) out += most_bytes(each, level + 1);
  if (value.is_object())
    for (const auto& [key, each] : value.as_object()) out += kHead + key.size() + most_bytes(each, level + 1);
  if (value.is_array()) {
    const auto& [shape, data] = value.as_array();
    out += kHead * (5 + shape.size() + data.size() / kBlock) + sizeof(double) * data.size();
  }
  return out;
}

/// What is read there from now on is 0. Pages that are not whole inside stay as they are.
void give_back(std::span<const double> numbers) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<std::uintptr_t>(numbers.data()) + page - 1) / page * page;
  const auto end = reinterpret_cast<std::uintptr_t>(numbers.data() + numbers.size()) / page * page;
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

class Writer {
 public:
  /// Behind so many bytes of room. A value that is used up is no constant.
  Writer(std::size_t room, const Value& value, bool use_up) : use_up_(use_up) {
    out_.reserve(room + most_bytes(value));
    out_.resize(room);
    write(value, 0);
  }
  std::vector<std::uint8_t> take() { return std::move(out_); }

 private:
  void write(const Value& value, int level) {
    std::visit([&](const auto& v) { write_kind(v, level); }, value.variant());
  }
  void write_kind(std::monostate, int) { head(kSimple, kNull); }
  void write_kind(bool b, int) { head(kSimple, b ? kTrue : kFalse); }
  void write_kind(std::int64_t i, int) {
    i >= 0 ? head(kUnsigned, static_cast<std::uint64_t>(i)) : head(kNegative, ~static_cast<std::uint64_t>(i));
  }
  void write_kind(double d, int) {
    out_.push_back(kSimple << 5 | kFloat64);
    big_endian(std::bit_cast<std::uint64_t>(d), 8);
  }
  void write_kind(const std::string& s, int) {
    if (!is_utf8(s)) throw Error(fmt::format("CBOR: the text {} is not UTF-8", to_json(s, -1)));
    head(kText, s.size());
    out_.insert(out_.end(), s.begin(), s.end());
  }
  static void enter(int level) {
    if (level >= kDeepestNesting) throw Error(fmt::format("CBOR: nested deeper than {} levels", kDeepestNesting));
  }
  void write_kind(const Value::List& list, int level) {
    enter(level);
    head(kList, list.size());
    for (const Value& each : list) write(each, level + 1);
  }
  void write_kind(const Value::Object& object, int level) {
    enter(level);
    head(kMap, object.size());
    for (const auto& [key, value] : object) {
      write_kind(key, level);
      write(value, level + 1);
    }
  }
  void write_kind(const Value::Array& array, int level) {
    enter(level + static_cast<int>(array.shape.size()) - 1);  // a list for each dimension, as in JSON
    if (array.shape.size() != 1) {
      head(kTag, kShapedArray);
      head(kList, 2);
      head(kList, array.shape.size());
      for (const Index length : array.shape) head(kUnsigned, static_cast<std::uint64_t>(length));
    }
    const std::uint64_t tag = narrowest(array.data);
    head(kTag, tag);
    with_type(tag, [&]<class T>(T) { write_numbers<T>(array.data); });
  }

  template <class T>
  void write_numbers(std::span<const double> data) {
    const bool chunked = data.size() > kBlock;
    if (chunked) out_.push_back(kChunked);
    if (data.empty()) head(kBytes, 0);
    while (!data.empty()) {
      const auto part = data.first(std::min(kBlock, data.size()));
      const std::vector<T> block(part.begin(), part.end());
      const auto* bytes = reinterpret_cast<const std::uint8_t*>(block.data());
      head(kBytes, block.size() * sizeof(T));
      out_.insert(out_.end(), bytes, bytes + block.size() * sizeof(T));
      if (chunked && use_up_) give_back(part);
      data = data.subspan(part.size());
    }
    if (chunked) out_.push_back(kEndOfChunks);
  }

  /// Major type and argument, in as few bytes as the argument needs.
  void head(Major major, std::uint64_t argument) {
    const auto type = static_cast<std::uint8_t>(major << 5);
    if (argument < 24) return out_.push_back(static_cast<std::uint8_t>(type | argument));
    const int size = argument <= 0xFF         ? 0
                     : argument <= 0xFFFF     ? 1
                     : argument <= 0xFFFFFFFF ? 2
                                              : 3;  // log₂ of the bytes
    out_.push_back(static_cast<std::uint8_t>(type | (24 + size)));
    big_endian(argument, 1 << size);
  }
  void big_endian(std::uint64_t bits, int bytes) {
    for (int i = bytes - 1; i >= 0; --i) out_.push_back(static_cast<std::uint8_t>(bits >> (8 * i)));
  }

  std::vector<std::uint8_t> out_;
  bool use_up_;
};

class Reader {
 public:
  Reader(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}

  Value document() {
    Value value = read(0);
    if (at_ != size_) fail("there is something after the end of the document");
    return value;
  }

 private:
  struct Head {
    Major major;
    std::uint8_t info;  // the low five bits: how the argument was written
    std::uint64_t argument;
  };

  [[noreturn]] void fail(std::string_view problem) const {
    throw Error(fmt::format("CBOR, byte {}: {}", at_, problem));
  }
  std::size_t left() const { return size_ - at_; }

  Head head() {
    if (left() == 0) fail("the document ends too early");
    const Major major = static_cast<Major>(data_[at_] >> 5);
    const std::uint8_t info = data_[at_] & 31;
    if (info < 24) {
      ++at_;
      return {major, info, info};
    }
    if (info > 27) fail("an item of indefinite or reserved length");
    const std::size_t bytes = std::size_t{1} << (info - 24);
    if (left() <= bytes) fail("the document ends too early");
    std::uint64_t argument = 0;
    for (std::size_t i = 1; i <= bytes; ++i) argument = argument << 8 | data_[at_ + i];
    at_ += 1 + bytes;
    return {major, info, argument};
  }

  /// The argument as a count of things of which each takes at least `least` bytes that must still be there.
  std::size_t count(const Head& h, std::size_t least) const {
    if (h.argument > left() / least) fail(fmt::format("a count of {} where {} bytes are left", h.argument, left()));
    return static_cast<std::size_t>(h.argument);
  }

  Value read(int level) {
    const Head h = head();
    switch (h.major) {
      case kUnsigned: return integer(h.argument, false);
      case kNegative: return integer(h.argument, true);
      case kText: return text(h);
      case kList: return list(h, level);
      case kMap: return map(h, level);
      case kTag: return array(h, level);
      case kSimple: return simple(h);
      default: fail("bytes that are not part of an array");
    }
  }

  Value integer(std::uint64_t argument, bool negative) const {
    if (argument > static_cast<std::uint64_t>(INT64_MAX)) fail("an integer of more than 64 bits");
    const auto i = static_cast<std::int64_t>(argument);
    return negative ? -1 - i : i;
  }

  Value simple(const Head& h) const {
    if (h.info == kFloat64) return std::bit_cast<double>(h.argument);
    if (h.info == kNull) return nullptr;
    if (h.info == kFalse || h.info == kTrue) return h.info == kTrue;
    fail("a simple value other than null, true, false or a 64-bit number");
  }

  std::string text(const Head& h) {
    const std::size_t bytes = count(h, 1);
    std::string s(reinterpret_cast<const char*>(data_) + at_, bytes);
    if (!is_utf8(s)) fail("a text that is not UTF-8");
    at_ += bytes;
    return s;
  }

  void enter(int level) const {
    if (level >= kDeepestNesting) fail(fmt::format("nested deeper than {} levels", kDeepestNesting));
  }

  Value list(const Head& h, int level) {
    enter(level);
    Value::List items;  // grows as items come: reserving at every level would multiply a hostile count
    for (std::size_t left = count(h, 1); left > 0; --left) items.push_back(read(level + 1));
    return items;
  }

  Value map(const Head& h, int level) {
    enter(level);
    Value::Object entries;
    for (std::size_t left = count(h, 2); left > 0; --left) {
      const Head key = head();
      if (key.major != kText) fail("a key that is not a text");
      std::string name = text(key);
      entries.emplace_back(std::move(name), read(level + 1));
    }
    refuse_doubles(entries);
    return entries;
  }

  void refuse_doubles(const Value::Object& entries) const {
    std::vector<std::string_view> keys;
    for (const auto& entry : entries) keys.push_back(entry.first);
    std::sort(keys.begin(), keys.end());
    const auto twice = std::adjacent_find(keys.begin(), keys.end());
    if (twice != keys.end()) fail(fmt::format("the key '{}' is given twice", *twice));
  }

  Value array(const Head& tag, int level) {
    enter(level);
    if (tag.argument != kShapedArray) {
      std::vector<double> data = numbers(tag.argument);
      return Value::Array{{static_cast<Index>(data.size())}, std::move(data)};
    }
    constexpr std::string_view kParts = "an array is its dimensions and its numbers";
    if (const Head parts = head(); parts.major != kList || parts.argument != 2) fail(kParts);
    std::vector<Index> shape = dimensions();
    enter(level + static_cast<int>(shape.size()) - 1);
    const Head type = head();
    if (type.major != kTag) fail(kParts);
    return shaped(std::move(shape), numbers(type.argument));
  }

  std::vector<Index> dimensions() {
    const Head h = head();
    if (h.major != kList || h.argument == 0 || h.argument > 8) fail("an array has from 1 to 8 dimensions");
    std::vector<Index> shape;
    for (std::uint64_t i = 0; i < h.argument; ++i) {
      const Head length = head();
      if (length.major != kUnsigned || length.argument > static_cast<std::uint64_t>(INT64_MAX))
        fail("a dimension is a count");
      shape.push_back(static_cast<Index>(length.argument));
    }
    return shape;
  }

  std::vector<double> numbers(std::uint64_t tag) {
    std::vector<double> data;
    if (!with_type(tag, [&]<class T>(T) { read_numbers<T>(data); })) fail(fmt::format("tag {} is not known here", tag));
    return data;
  }

  template <class T>
  void read_numbers(std::vector<double>& data) {
    if (left() == 0 || data_[at_] != kChunked) return read_block<T>(data);
    for (++at_; left() == 0 || data_[at_] != kEndOfChunks;) read_block<T>(data);
    ++at_;
  }

  template <class T>
  void read_block(std::vector<double>& data) {
    const Head h = head();
    if (h.major != kBytes || h.argument % sizeof(T) != 0)
      fail(fmt::format("numbers are bytes, {} for each", sizeof(T)));
    const std::size_t bytes = count(h, 1), before = data.size();
    std::vector<T> block(bytes / sizeof(T));
    if (bytes > 0) std::memcpy(block.data(), data_ + at_, bytes);
    data.resize(before + block.size());
    std::copy(block.begin(), block.end(), data.begin() + static_cast<std::ptrdiff_t>(before));
    at_ += bytes;
  }

  Value shaped(std::vector<Index> shape, std::vector<double> data) const {
    Index size = 1;
    bool fits = true;
    for (const Index length : shape) fits = fits && !__builtin_mul_overflow(size, length, &size);
    fits = fits && size == static_cast<Index>(data.size());
    if (data.empty()) fits = fits && *std::max_element(shape.begin(), shape.end()) <= kLongestEmptyDimension;
    if (!fits) fail(fmt::format("dimensions {} do not fit {} numbers", fmt::join(shape, " × "), data.size()));
    return Value::Array{std::move(shape), std::move(data)};
  }

  const std::uint8_t* data_;
  const std::size_t size_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<std::uint8_t> to_cbor_behind(std::size_t room, const Value& value) {
  return Writer(room, value, false).take();
}
std::vector<std::uint8_t> to_cbor_behind(std::size_t room, Value&& value) { return Writer(room, value, true).take(); }

std::vector<std::uint8_t> to_cbor(const Value& value) { return to_cbor_behind(0, value); }

Value from_cbor(const std::uint8_t* data, std::size_t size) { return Reader(data, size).document(); }

}  // namespace lemma
