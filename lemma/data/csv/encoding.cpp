// lemma/data/csv/encoding.cpp
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/data/csv/encoding.hpp>
#include <vector>

namespace lemma {
namespace {

constexpr std::uint64_t kPiece = std::uint64_t{1} << 16;  // raw bytes that are looked at together
constexpr std::uint64_t kNowhere = ~std::uint64_t{0};

/// What windows-1252 has in the place of the control characters 0x80 … 0x9F of latin-1.
constexpr std::array<char32_t, 32> kWindows = {0x20AC, 0x81,   0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021,
                                               0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D,   0x017D, 0x8F,
                                               0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
                                               0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,   0x017E, 0x0178};

bool is_wide(Encoding encoding) { return encoding == Encoding::utf16le || encoding == Encoding::utf16be; }
bool is_high(char32_t unit) { return unit >= 0xD800 && unit < 0xDC00; }
bool is_low(char32_t unit) { return unit >= 0xDC00 && unit < 0xE000; }

void append(std::string& out, char32_t code) {
  if (code < 0x80) out += static_cast<char>(code);
  else append_utf8(out, code);
}

/// A file of another encoding.
class Transcoded final : public Bytes {
 public:
  Transcoded(std::unique_ptr<Bytes> raw, Encoding encoding, std::uint64_t from, const std::string& source,
             const Execution& execution)
      : raw_(std::move(raw)), encoding_(encoding), from_(from) {
    const auto pieces = static_cast<Index>((raw_->size() - from_ + kPiece - 1) / kPiece);
    std::vector<Piece> made(static_cast<std::size_t>(pieces));
    parallel_for(pieces, execution, [&](Index k) {
      thread_local std::string text;
      made[static_cast<std::size_t>(k)].bad = decode(k, text);
      made[static_cast<std::size_t>(k)].size = text.size();
    });
    for (Index k = 0; k < pieces; ++k) {
      if (made[static_cast<std::size_t>(k)].bad != kNowhere) refuse(made[static_cast<std::size_t>(k)].bad, k, source);
      start_.push_back(start_.back() + made[static_cast<std::size_t>(k)].size);
    }
  }

  std::uint64_t size() const override { return start_.back(); }

  void read(std::uint64_t offset, std::size_t count, char* into) const override {
    if (count == 0) return;
    auto k = static_cast<std::size_t>(std::upper_bound(start_.begin(), start_.end(), offset) - start_.begin()) - 1;
    std::string text;
    for (; count > 0; ++k) {
      decode(static_cast<Index>(k), text);
      const auto skip = static_cast<std::size_t>(offset - start_[k]);
      const std::size_t taken = std::min(count, text.size() - skip);
      std::copy_n(text.data() + skip, taken, into);
      into += taken;
      offset += taken;
      count -= taken;
    }
  }

 private:
  struct Piece {
    std::uint64_t size = 0, bad = kNowhere;
  };

  /// The text of a piece in UTF-8; gives the first raw byte that cannot be read.
  std::uint64_t decode(Index piece, std::string& text) const {
    text.clear();
    std::uint64_t begin = from_ + static_cast<std::uint64_t>(piece) * kPiece;
    const std::uint64_t end = std::min(begin + kPiece, raw_->size());
    // Of UTF-16 two units more may belong together: the one before the piece and the one behind it.
    const std::uint64_t before = is_wide(encoding_) && piece > 0 ? 2 : 0;
    const std::uint64_t after = is_wide(encoding_) ? std::min<std::uint64_t>(2, raw_->size() - end) : 0;
    std::string raw(static_cast<std::size_t>(end - begin + before + after), '\0');
    raw_->read(begin - before, raw.size(), raw.data());
    if (is_wide(encoding_)) return decode_wide(raw, begin - before, before, static_cast<std::size_t>(after), text);
    for (const char c : raw) {
      const auto byte = static_cast<unsigned char>(c);
      const bool special = encoding_ == Encoding::windows1252 && byte >= 0x80 && byte < 0xA0;
      append(text, special ? kWindows[byte - 0x80u] : char32_t{byte});
    }
    return kNowhere;
  }

  std::uint64_t decode_wide(const std::string& raw, std::uint64_t offset, std::uint64_t before, std::size_t after,
                            std::string& text) const {
    const auto unit = [&](std::size_t at) {
      const auto first = static_cast<unsigned char>(raw[at]), second = static_cast<unsigned char>(raw[at + 1]);
      return static_cast<char32_t>(encoding_ == Encoding::utf16le ? first | second << 8 : first << 8 | second);
    };
    const std::size_t end = raw.size() - after;
    std::size_t at = before;
    if (before > 0 && end >= before + 2 && is_high(unit(0)) && is_low(unit(2)))
      at += 2;  // it belongs to the piece before
    std::uint64_t bad = kNowhere;
    for (; at < end; at += 2) {
      char32_t code = 0xFFFD;
      if (at + 1 >= raw.size()) {
        bad = std::min(bad, offset + at);
      } else if (!is_high(unit(at)) && !is_low(unit(at))) {
        code = unit(at);
      } else if (is_high(unit(at)) && at + 3 < raw.size() && is_low(unit(at + 2))) {
        code = 0x10000 + ((unit(at) - 0xD800) << 10) + (unit(at + 2) - 0xDC00);
        at += 2;
      } else {
        bad = std::min(bad, offset + at);
      }
      append(text, code);
    }
    return bad;
  }

  [[noreturn]] void refuse(std::uint64_t bad, Index piece, const std::string& source) const {
    std::string text;
    std::ptrdiff_t line = 1;
    for (Index k = 0; k < piece; ++k) {
      decode(k, text);
      line += std::count(text.begin(), text.end(), '\n');
    }
    decode(piece, text);
    line += std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(text.find("\uFFFD")), '\n');
    throw Error(
        fmt::format("{}, line {}: byte {} is half of a character; is the file really UTF-16?", source, line, bad + 1));
  }

  std::unique_ptr<Bytes> raw_;
  Encoding encoding_;
  std::uint64_t from_;                   // behind a byte order mark
  std::vector<std::uint64_t> start_{0};  // of each piece in UTF-8, and the end
};

constexpr std::string_view kLittle = "\xFF\xFE", kBig = "\xFE\xFF";

/// UTF-16 without a mark has a zero in every other byte of what is written with letters of English: at the start, and in
/// most of what follows.
void refuse_zeros(std::string_view first, const std::string& source) {
  const auto zero = [&](std::size_t i) { return first[i] == '\0'; };
  if (first.size() < 4 || zero(0) == zero(1) || zero(0) != zero(2) || zero(1) != zero(3)) return;
  std::size_t zeros = 0, others = 0;
  for (std::size_t i = 0; i < first.size(); ++i) (zero(i % 2) ? zeros : others) += zero(i) ? 1 : 0;
  if (4 * zeros < first.size() || others > 0) return;
  throw Error(fmt::format("{} looks like UTF-16 without a byte order mark; --encoding {} reads it", source,
                          zero(1) ? "utf-16le" : "utf-16be"));
}

}  // namespace

std::unique_ptr<Bytes> as_utf8(std::unique_ptr<Bytes> bytes, const std::optional<Encoding>& encoding,
                               const std::string& source, const Execution& execution) {
  std::string start(static_cast<std::size_t>(std::min<std::uint64_t>(64, bytes->size())), '\0');
  bytes->read(0, start.size(), start.data());
  const bool little = start.starts_with(kLittle), big = start.starts_with(kBig);
  if (start.starts_with(std::string_view("\xFF\xFE\0\0", 4)) || start.starts_with(std::string_view("\0\0\xFE\xFF", 4)))
    throw Error(fmt::format("{} is written in UTF-32; 'iconv -f UTF-32 -t UTF-8' makes it UTF-8", source));
  Encoding found = encoding.value_or(little || big ? Encoding::utf16 : Encoding::utf8);
  if (found == Encoding::utf16) {
    if (!little && !big)
      throw Error(fmt::format("{} has no byte order mark: say --encoding utf-16le or utf-16be", source));
    found = little ? Encoding::utf16le : Encoding::utf16be;
  }
  if ((found == Encoding::utf16le && big) || (found == Encoding::utf16be && little) ||
      (found == Encoding::utf8 && (little || big)))
    throw Error(fmt::format("{} begins with the mark of --encoding {}", source, little ? "utf-16le" : "utf-16be"));
  if (found == Encoding::utf8) {
    if (!encoding) refuse_zeros(start, source);
    return bytes;
  }
  const std::uint64_t mark = is_wide(found) && (little || big) ? 2 : 0;
  return std::make_unique<Transcoded>(std::move(bytes), found, mark, source, execution);
}

}  // namespace lemma
