// lemma/data/npy.cpp
#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <lemma/core/error.hpp>
#include <lemma/core/file.hpp>
#include <lemma/data/npy.hpp>
#include <lemma/data/stream.hpp>
#include <limits>
#include <optional>

namespace lemma {
namespace {

static_assert(std::endian::native == std::endian::little);

/// The header's text is a Python dictionary: {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
class HeaderText {
 public:
  HeaderText(std::string_view text, const std::string& source) : text_(text), source_(source) {}

  NpyHeader parse() {
    expect('{');
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr") descr_ = quoted();
      else if (key == "fortran_order") fortran_ = truth();
      else if (key == "shape") shape_ = tuple();
      else bad(fmt::format("an unknown entry '{}'", key));
      if (!accept(',') && peek() != '}') bad("no comma between entries");
    }
    if (!descr_ || !fortran_ || !shape_) bad("not all of 'descr', 'fortran_order' and 'shape'");
    return header();
  }

 private:
  NpyHeader header() const {
    NpyHeader header;
    const std::string& d = *descr_;
    const bool known = d == "<f8" || d == "<f4" || d == "<i8" || d == "<i4" || d == "<i2" || d == "|i1" || d == "<u8" ||
                       d == "<u4" || d == "<u2" || d == "|u1" || d == "|b1";
    if (!known)
      throw Error(
          fmt::format("{}: numbers of type '{}' can't be read; Lemma reads little-endian float64, float32 and "
                      "integers (array.astype('<f8'))",
                      source_, d));
    header.kind = d[1];
    header.bytes = d[2] - '0';
    header.fortran = *fortran_;
    if (shape_->empty() || shape_->size() > 2)
      throw Error(fmt::format("{}: an array of {} dimensions; a table has one or two", source_, shape_->size()));
    header.rows = (*shape_)[0];
    header.columns = shape_->size() == 2 ? (*shape_)[1] : 1;
    return header;
  }

  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  char peek() {
    skip();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) bad(fmt::format("no '{}' where one belongs", c));
  }
  std::string quoted() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') bad("a text without quotes, or a structured type");
    const auto end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) bad("a quote that is not closed");
    std::string inside(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return inside;
  }
  bool truth() {
    peek();
    for (const std::string_view word : {"True", "False"})
      if (text_.substr(at_, word.size()) == word) {
        at_ += word.size();
        return word == "True";
      }
    bad("neither True nor False for 'fortran_order'");
  }
  std::vector<Index> tuple() {
    std::vector<Index> numbers;
    expect('(');
    while (!accept(')')) {
      peek();
      Index number = 0;
      const auto [end, code] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), number);
      if (code != std::errc() || number < 0) bad("a length that is no whole number");
      at_ = static_cast<std::size_t>(end - text_.data());
      accept('L');  // as Python 2 wrote it
      numbers.push_back(number);
      if (!accept(',') && peek() != ')') bad("no comma between lengths");
    }
    return numbers;
  }
  [[noreturn]] void bad(const std::string& what) const {
    throw Error(fmt::format("{} is not a .npy file that can be read: its header has {}", source_, what));
  }

  std::string_view text_;
  const std::string& source_;
  std::size_t at_ = 0;
  std::optional<std::string> descr_;
  std::optional<bool> fortran_;
  std::optional<std::vector<Index>> shape_;
};

void check_size(const NpyHeader& header, std::uint64_t file, const std::string& source) {
  const auto most = static_cast<std::uint64_t>(std::numeric_limits<Index>::max());
  const auto rows = static_cast<std::uint64_t>(header.rows), columns = static_cast<std::uint64_t>(header.columns);
  const bool overflows = columns != 0 && rows > most / 8 / columns;
  const std::uint64_t needed = overflows ? most : rows * columns * static_cast<std::uint64_t>(header.bytes);
  if (overflows || needed != file - header.data)
    throw Error(fmt::format("{}: the header promises {} x {} numbers of {} bytes, but {} bytes follow it", source,
                            header.rows, header.columns, header.bytes, file - header.data));
  if (columns == 0) throw Error(fmt::format("{}: an array without columns", source));
  constexpr std::uint64_t kMostColumns = std::uint64_t{1} << 24;
  if (columns > kMostColumns)
    throw Error(fmt::format("{}: {} columns are more than a table can have", source, columns));
}

/// Numbers of type T to doubles; gives the first that does not fit, or count.
template <class T>
std::size_t convert(const char* from, std::size_t count, double* to, std::size_t stride) {
  for (std::size_t i = 0; i < count; ++i) {
    T number;
    std::memcpy(&number, from + i * sizeof(T), sizeof(T));
    const auto value = static_cast<double>(number);
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isinf(value)) return i;
    } else if constexpr (sizeof(T) == 8) {
      constexpr double kBeyond = std::is_signed_v<T> ? 0x1p63 : 0x1p64;
      if (value >= kBeyond || static_cast<T>(value) != number) return i;
    }
    to[i * stride] = value;
  }
  return count;
}

std::size_t convert(const NpyHeader& header, const char* from, std::size_t count, double* to, std::size_t stride) {
  switch (header.kind) {
    case 'f':
      return header.bytes == 8 ? convert<double>(from, count, to, stride) : convert<float>(from, count, to, stride);
    case 'i':
      switch (header.bytes) {
        case 8: return convert<std::int64_t>(from, count, to, stride);
        case 4: return convert<std::int32_t>(from, count, to, stride);
        case 2: return convert<std::int16_t>(from, count, to, stride);
        default: return convert<std::int8_t>(from, count, to, stride);
      }
    default: break;
  }
  switch (header.bytes) {
    case 8: return convert<std::uint64_t>(from, count, to, stride);
    case 4: return convert<std::uint32_t>(from, count, to, stride);
    case 2: return convert<std::uint16_t>(from, count, to, stride);
    default: return convert<std::uint8_t>(from, count, to, stride);
  }
}

/// The place of the first infinity, or count.
std::size_t first_infinite(const double* numbers, std::size_t count) {
  constexpr double kMost = std::numeric_limits<double>::max();
  bool found = false;
  for (std::size_t i = 0; i < count; ++i) found |= std::abs(numbers[i]) > kMost;
  if (!found) return count;
  return static_cast<std::size_t>(std::find_if(numbers, numbers + count, [](double v) { return std::isinf(v); }) -
                                  numbers);
}

[[noreturn]] void refuse(const std::string& source, Index row, Index column, bool floating) {
  throw Error(
      fmt::format("{}, row {}, column {}: {}", source, row + 1, column + 1,
                  floating ? "the number is not finite" : "the integer has more digits than a double can hold"));
}

std::vector<Column> columns_of(Index count) {
  std::vector<Column> columns;
  for (Index j = 0; j < count; ++j) columns.push_back(numeric(fmt::format("x{}", j + 1), {}));
  return columns;
}

std::string name_of_file(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// Rows in blocks that fit the cache, each written straight to its place.
constexpr Index kBlockNumbers = 1 << 16;
constexpr Index kColumnPart = 1 << 13;  // rows at a time of columns that lie together: each is a read of its own

/// Rows that lie together: doubles are read to where they are wanted, all else by way of a small copy.
void read_together(const Bytes& bytes, const NpyHeader& header, std::uint64_t offset, std::size_t numbers,
                   const auto& refuse_number, double* to) {
  const auto size = static_cast<std::size_t>(header.bytes);
  const bool as_it_is = header.kind == 'f' && size == sizeof(double);
  std::vector<char> raw(as_it_is ? 0 : std::min(numbers, at(kBlockNumbers)) * size);
  for (std::size_t done = 0; done < numbers; done += at(kBlockNumbers)) {
    const std::size_t part = std::min(numbers - done, at(kBlockNumbers));
    char* const place = as_it_is ? reinterpret_cast<char*>(to + done) : raw.data();
    bytes.read(offset + done * size, part * size, place);
    const std::size_t good = as_it_is ? first_infinite(to + done, part) : convert(header, place, part, to + done, 1);
    if (good < part) refuse_number(done + good);
  }
}

void read_rows_into(const Bytes& bytes, const NpyHeader& header, Index first, Index count, const std::string& source,
                    double* to) {
  const auto size = static_cast<std::uint64_t>(header.bytes);
  const auto offset = [&](Index number) { return header.data + static_cast<std::uint64_t>(number) * size; };
  const auto refuse_number = [&](std::size_t number) {
    const auto n = static_cast<Index>(number);
    refuse(source, first + n / header.columns, n % header.columns, header.kind == 'f');
  };
  if (!header.fortran) {
    const std::size_t numbers = at(count) * at(header.columns);
    return read_together(bytes, header, offset(first * header.columns), numbers, refuse_number, to);
  }
  std::vector<char> raw(at(count) * size);
  for (Index j = 0; j < header.columns; ++j) {
    bytes.read(offset(j * header.rows + first), raw.size(), raw.data());
    const auto good = convert(header, raw.data(), at(count), to + j, at(header.columns));
    if (good < at(count)) refuse(source, first + static_cast<Index>(good), j, header.kind == 'f');
  }
}

}  // namespace

NpyHeader read_npy_header(const Bytes& bytes, const std::string& source) {
  const auto not_npy = [&](const char* why) { return Error(fmt::format("{} is not a .npy file: {}", source, why)); };
  unsigned char start[12] = {};
  if (bytes.size() < 10) throw not_npy("it is too short");
  bytes.read(0, static_cast<std::size_t>(std::min<std::uint64_t>(12, bytes.size())), reinterpret_cast<char*>(start));
  if (std::memcmp(start, "\x93NUMPY", 6) != 0) throw not_npy("it does not start with \\x93NUMPY");
  const int version = start[6];
  if (version < 1 || version > 3)
    throw Error(fmt::format("{}: format version {} of .npy is not known", source, version));
  std::uint64_t length = start[8] | std::uint64_t{start[9]} << 8;
  if (version > 1) length |= std::uint64_t{start[10]} << 16 | std::uint64_t{start[11]} << 24;
  const std::uint64_t from = version == 1 ? 10 : 12;
  constexpr std::uint64_t kLongest = 1 << 20;
  if (length > kLongest || from + length > bytes.size())
    throw not_npy("its header is longer than the file or a megabyte");
  std::string text(static_cast<std::size_t>(length), '\0');
  bytes.read(from, text.size(), text.data());
  NpyHeader header = HeaderText(text, source).parse();
  header.data = from + length;
  check_size(header, bytes.size(), source);
  return header;
}

Matrix read_npy_rows(const Bytes& bytes, const NpyHeader& header, Index first, Index count, const std::string& source) {
  Matrix x(count, header.columns);
  if (count > 0) read_rows_into(bytes, header, first, count, source, x.data());
  return x;
}

Matrix read_npy_matrix(const std::string& path, const Execution& execution) {
  const auto bytes = open_bytes(path);
  const std::string source = name_of_file(path);
  const auto header = read_npy_header(*bytes, source);
  Matrix x(header.rows, header.columns);
  const Index part = header.fortran ? kColumnPart : std::max<Index>(1, kBlockNumbers / header.columns);
  parallel_for((header.rows + part - 1) / part, execution, [&](Index b) {
    const Index first = b * part;
    read_rows_into(*bytes, header, first, std::min(part, header.rows - first), source, x.row(first).data());
  });
  return x;
}

Table read_npy(const std::string& path, const Execution& execution) {
  const auto bytes = open_bytes(path);
  const std::string source = name_of_file(path);
  const auto header = read_npy_header(*bytes, source);
  std::vector<Column> columns = columns_of(header.columns);
  for (auto& column : columns) std::get<Numbers>(column.data).values.resize(at(header.rows));
  const Index block = std::max<Index>(1, kBlockNumbers / std::max<Index>(1, header.columns));
  parallel_for((header.rows + block - 1) / block, execution, [&](Index b) {
    const Index first = b * block, count = std::min(block, header.rows - first);
    const Matrix x = read_npy_rows(*bytes, header, first, count, source);
    for (Index j = 0; j < header.columns; ++j)
      for (Index i = 0; i < count; ++i) std::get<Numbers>(columns[at(j)].data).values[at(first + i)] = x(i, j);
  });
  return Table(std::move(columns), source);
}

void write_npy(const Matrix& x, const std::string& path) {
  std::string text = fmt::format("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}, {}), }}", x.rows(), x.cols());
  constexpr std::size_t kAlign = 64, kPrefix = 10;
  while ((kPrefix + text.size() + 1) % kAlign != 0) text += ' ';
  text += '\n';
  const std::size_t size = at(x.size()) * sizeof(double);
  std::string out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(text.size() & 0xFF);
  out += static_cast<char>(text.size() >> 8);
  out += text;
  out.reserve(out.size() + size);
  out.append(reinterpret_cast<const char*>(x.data()), size);
  write_file(path, out);
}

void write_npy(const Table& table, const std::string& path) {
  Matrix x(table.rows(), table.columns());
  for (Index j = 0; j < table.columns(); ++j) {
    const Column& column = table.column(j);
    if (column.type() != ColumnType::numeric)
      throw Error(
          fmt::format("column '{}' is {}; a .npy file holds numbers only", column.name, name_of(column.type())));
    for (Index i = 0; i < table.rows(); ++i) x(i, j) = column.numbers().values[at(i)];
  }
  write_npy(x, path);
}

struct NpyStream::Parts {
  std::unique_ptr<Bytes> bytes;
  NpyHeader header;
  std::string source;
};

NpyStream::NpyStream(const std::string& path) {
  if (path == "-") throw Error("standard input can't be read in pieces; save it to a file first");
  auto bytes = file_bytes(path);
  const std::string source = name_of_file(path);
  const auto header = read_npy_header(*bytes, source);
  parts_ = std::make_unique<Parts>(Parts{std::move(bytes), header, source});
  schema_ = Table(columns_of(header.columns), source);
}

NpyStream::~NpyStream() = default;
Index NpyStream::rows() const { return parts_->header.rows; }

Table NpyStream::read(Index first, Index count) const {
  if (first < 0 || count < 0 || first > rows() - count)
    throw Error(
        fmt::format("there are no rows {} to {}: {} has {} rows", first + 1, first + count, parts_->source, rows()));
  const Matrix x = read_npy_rows(*parts_->bytes, parts_->header, first, count, parts_->source);
  std::vector<Column> columns = schema_.all();
  for (Index j = 0; j < x.cols(); ++j) {
    auto& values = std::get<Numbers>(columns[at(j)].data).values;
    values.resize(at(count));
    for (Index i = 0; i < count; ++i) values[at(i)] = x(i, j);
  }
  return Table(std::move(columns), parts_->source);
}

}  // namespace lemma
