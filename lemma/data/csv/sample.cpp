// lemma/data/csv/sample.cpp
#include <algorithm>
#include <fmt/format.h>
#include <lemma/core/text.hpp>
#include <lemma/data/csv/sample.hpp>

namespace lemma::csv {
namespace {

constexpr std::size_t kSample = std::size_t{1} << 18;   // bytes looked at first
constexpr std::size_t kLongest = std::size_t{1} << 28;  // a first record longer than this is given up
constexpr std::size_t kRecords = 200;                   // records looked at

/// The lines of a file, one after the other, whatever stands in them.
class Lines {
 public:
  Lines(const Bytes& bytes, std::uint64_t from) : bytes_(bytes), from_(from) { fill(); }

  bool at_end() const { return at_ == piece_.size(); }
  std::uint64_t place() const { return from_ + at_; }

  /// The first byte of this line that is no blank; its end where there is none.
  char content() {
    std::size_t k = at_;
    while (true) {
      if (k == piece_.size() && !more(k)) return '\n';
      const char c = piece_[k];
      if (c != ' ' && c != '\t') return c == '\r' ? '\n' : c;
      ++k;
    }
  }

  /// To the next line. A line ends with "\n", "\r\n" or "\r".
  void next() {
    while (!at_end()) {
      const char c = take();
      if (c == '\r' && !at_end() && piece_[at_] == '\n') take();
      if (c == '\n' || c == '\r') return;
    }
  }

 private:
  char take() {
    const char c = piece_[at_++];
    if (at_ == piece_.size()) fill();
    return c;
  }
  void fill() {
    from_ += at_;
    at_ = 0;
    piece_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kSample, bytes_.size() - from_)));
    bytes_.read(from_, piece_.size(), piece_.data());
  }
  /// More of the file behind a piece that ends inside a line; `k` is a place in the piece.
  bool more(std::size_t& k) {
    k -= at_;
    const std::size_t before = piece_.size() - at_;
    from_ += at_;
    at_ = 0;
    piece_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(before + kSample, bytes_.size() - from_)));
    bytes_.read(from_, piece_.size(), piece_.data());
    return piece_.size() > before;
  }

  const Bytes& bytes_;
  std::uint64_t from_;
  std::string piece_;
  std::size_t at_ = 0;
};

std::uint64_t mark_size(const Bytes& bytes) {
  char mark[3] = {};
  bytes.read(0, static_cast<std::size_t>(std::min<std::uint64_t>(3, bytes.size())), mark);
  return std::string_view(mark, 3) == "\xEF\xBB\xBF" ? 3 : 0;
}

/// The byte that ends lines: that of the first line end outside quotes.
char find_newline(std::string_view text) {
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') inside = !inside;
    if (inside) continue;
    if (c == '\n') return '\n';
    if (c == '\r' && i + 1 < text.size()) return text[i + 1] == '\n' ? '\n' : '\r';
  }
  return '\0';
}

}  // namespace

Lead find_lead(const Bytes& bytes, const CsvOptions& options, const std::string& source) {
  Lines lines(bytes, mark_size(bytes));
  for (Index done = 0; done < options.skip; ++done) {
    if (lines.at_end())
      throw Error(fmt::format("{} has {}: --skip {} leaves nothing", source, count_of(done, "line"), options.skip));
    lines.next();
  }
  Lead lead;
  lead.begin = lines.place();
  for (; !lines.at_end(); lines.next()) {
    const char c = lines.content();
    if (c == '\n') lead.blank.add(lines.place());
    else if (c != options.comment) break;
  }
  lead.table = lines.place();
  return lead;
}

Sample take_sample(const Bytes& bytes, std::uint64_t from, char& newline) {
  Sample sample;
  sample.offset = from;
  for (std::size_t wanted = kSample;; wanted *= 4) {
    sample.size = static_cast<std::size_t>(std::min<std::uint64_t>(wanted, bytes.size() - from));
    sample.whole = from + sample.size == bytes.size();
    sample.text.resize(sample.size);
    bytes.read(from, sample.size, sample.text.data());
    newline = find_newline(sample.text);
    if (newline != '\0' || sample.whole || wanted > kLongest) break;
  }
  if (newline == '\0') newline = '\n';
  sample.text.append(2, newline);
  return sample;
}

std::vector<Record> records_of(const Sample& sample, const Syntax& syntax, std::uint64_t* after_first) {
  std::vector<Record> records;
  const char* const begin = sample.text.data();
  const char* const end = begin + sample.size;
  const auto offset_of = [&](const char* p) { return sample.offset + static_cast<std::uint64_t>(p - begin); };
  std::string scratch;
  bool stray = false;
  for (const char* p = begin; p < end && records.size() < kRecords;) {
    if (const char* content = syntax.content(p); syntax.at_end(content) || syntax.is_comment(content)) {
      p = syntax.after_line(content);
      continue;
    }
    Record record;
    record.offset = offset_of(p);
    try {
      const char* stop = p;
      for (const char* at = syntax.first(p); at; at = syntax.next(stop)) {
        Field field;
        stop = syntax.scan(at, end, field, stray);
        record.fields.emplace_back(field.text(scratch));
        record.quoted.push_back(field.quoted);
      }
      p = syntax.after_line(stop);  // '\r' of "\r\n", trailing blanks
      if (p > end && !sample.whole && !records.empty()) break;
    } catch (const Syntax::BadField&) { break; }
    if (records.empty() && after_first) *after_first = offset_of(std::min(p, end));
    records.push_back(std::move(record));
  }
  return records;
}

std::uint64_t end_of_rows(const Bytes& bytes, std::uint64_t begin, const Syntax& syntax) {
  constexpr std::uint64_t kPiece = std::uint64_t{1} << 16;
  std::string piece;
  std::uint64_t after = bytes.size();  // a line end seen behind everything that counts, or the end of the file
  for (std::uint64_t end = bytes.size(); end > begin;) {
    const auto from = end - std::min(kPiece, end - begin);
    piece.resize(static_cast<std::size_t>(end - from));
    bytes.read(from, piece.size(), piece.data());
    for (std::size_t i = piece.size(); i-- > 0;) {
      const char c = piece[i];
      if (c == syntax.newline) after = from + i + 1;
      else if (c != '\r' && c != '\n' && (c == syntax.delimiter ? !syntax.blank_separated() : !syntax.is_blank(c)))
        return after;
    }
    end = from;
  }
  return begin;
}

}  // namespace lemma::csv
