// lemma/data/csv/encoding_test.cpp: files in other encodings, and packed ones.
#include <filesystem>
#include <gtest/gtest.h>
#include <lemma/core/error.hpp>
#include <lemma/core/file.hpp>
#include <lemma/core/text.hpp>
#include <lemma/data/csv.hpp>
#include <lemma/data/csv/encoding.hpp>
#include <lemma/data/csv/packed.hpp>
#include <lemma/data/read.hpp>
#include <lemma/data/stream.hpp>
#include <unistd.h>

namespace lemma {
namespace {

std::string error_of(const std::string& text, const CsvOptions& options = {}) {
  try {
    parse_csv(text, options, "t.csv");
  } catch (const Error& error) { return error.what(); }
  return "no error";
}

/// A text of UTF-8 as UTF-16 of either order.
std::string utf16(std::string_view text, bool little, bool mark) {
  std::string out;
  const auto unit = [&](char32_t u) {
    const auto low = static_cast<char>(u & 0xFF), high = static_cast<char>(u >> 8);
    out += little ? low : high;
    out += little ? high : low;
  };
  if (mark) unit(0xFEFF);
  while (!text.empty()) {
    const Character c = first_character(text);
    text.remove_prefix(c.bytes);
    if (c.code < 0x10000) unit(c.code);
    else {
      unit(0xD800 + ((c.code - 0x10000) >> 10));
      unit(0xDC00 + ((c.code - 0x10000) & 0x3FF));
    }
  }
  return out;
}

std::string latin1(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const Character c = first_character(text);
    text.remove_prefix(c.bytes);
    out += static_cast<char>(c.code);
  }
  return out;
}

class File {
 public:
  explicit File(const std::string& bytes, const std::string& ending = "csv")
      : path_((std::filesystem::temp_directory_path() / ("lemma_encoding_" + std::to_string(::getpid()) + "." + ending))
                  .string()) {
    write_file(path_, bytes);
  }
  ~File() { std::filesystem::remove(path_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Long enough for several of the pieces that are transcoded together, with characters of every length.
std::string long_text() {
  std::string text = "name,x\n";
  for (int i = 0; i < 30000; ++i)
    text += (i % 7 == 0    ? "a\xC3\xA9"
             : i % 7 == 3  ? "\xE2\x82\xAC"
             : i % 11 == 5 ? "\xF0\x9F\xA6\x80"
                           : "b") +
            std::string(",") + std::to_string(i) + "\n";
  return text;
}

}  // namespace

TEST(Encoding, Utf16IsKnownByItsMarkAndReadInEitherOrder) {
  const std::string text = long_text();
  const Table plain = parse_csv(text);
  for (const bool little : {true, false}) {
    const std::string marked = utf16(text, little, true), bare = utf16(text, little, false);
    EXPECT_EQ(parse_csv(marked), plain);
    EXPECT_EQ(parse_csv(marked, {.encoding = Encoding::utf16}), plain);
    EXPECT_EQ(parse_csv(marked, {.encoding = little ? Encoding::utf16le : Encoding::utf16be}), plain);
    EXPECT_EQ(parse_csv(bare, {.encoding = little ? Encoding::utf16le : Encoding::utf16be}), plain);
    EXPECT_EQ(parse_csv(bare + (little ? std::string("\n\0", 2) : std::string("\0\n", 2)),
                        {.encoding = little ? Encoding::utf16le : Encoding::utf16be}),
              plain);
    EXPECT_EQ(error_of(bare), std::string("t.csv looks like UTF-16 without a byte order mark; --encoding utf-16") +
                                  (little ? "le" : "be") + " reads it");
    EXPECT_EQ(error_of(marked, {.encoding = Encoding::utf8}),
              std::string("t.csv begins with the mark of --encoding utf-16") + (little ? "le" : "be"));
    EXPECT_EQ(error_of(bare, {.encoding = Encoding::utf16}),
              "t.csv has no byte order mark: say --encoding utf-16le or utf-16be");
  }
  EXPECT_EQ(error_of(std::string("\xFF\xFE\0\0a\0\0\0", 8)),
            "t.csv is written in UTF-32; 'iconv -f UTF-32 -t UTF-8' makes it UTF-8");
}

TEST(Encoding, LatinLettersAreReadWhereTheUserSaysSo) {
  const std::string text = "na\xC3\xAFve,x\ncaf\xC3\xA9,1\n\xC3\xBC,2\n";
  EXPECT_EQ(parse_csv(latin1(text), {.encoding = Encoding::latin1}), parse_csv(text));
  EXPECT_EQ(parse_csv(latin1(text), {.encoding = Encoding::windows1252}), parse_csv(text));
  EXPECT_EQ(parse_csv("p,x\n\x80\x9F,1\n", {.encoding = Encoding::windows1252}).column("p").text(0),
            "\xE2\x82\xAC\xC5\xB8");  // €Ÿ
  EXPECT_EQ(parse_csv("p,x\n\x80,1\n", {.encoding = Encoding::latin1}).column("p").text(0), "\xC2\x80");
  EXPECT_NE(error_of(latin1(text)).find("--encoding says how"), std::string::npos);
}

TEST(Encoding, ACharacterAtTheSeamOfTwoPiecesIsWhole) {
  for (std::size_t before = 65536 / 2 - 12; before < 65536 / 2; ++before) {
    const std::string text = "a,b\n" + std::string(before, 'x') + "\xF0\x9F\xA6\x80\xF0\x9F\xA6\x80,1\n";
    EXPECT_EQ(parse_csv(utf16(text, true, true)), parse_csv(text));
  }
}

TEST(Encoding, HalfACharacterIsAnErrorWithItsLine) {
  std::string bytes = utf16("a,b\n1,2\n3,\xF0\x9F\xA6\x80\n", true, true);
  bytes.erase(bytes.size() - 4, 2);
  EXPECT_EQ(error_of(bytes), "t.csv, line 3: byte 23 is half of a character; is the file really UTF-16?");
  EXPECT_EQ(error_of(utf16("a,b\n1,2\n", true, true) + "x"),
            "t.csv, line 3: byte 19 is half of a character; is the file really UTF-16?");
}

TEST(Encoding, AStreamOfAnotherEncodingGivesTheSameRows) {
  const std::string text = long_text();
  const Table plain = parse_csv(text);
  const File file(utf16(text, false, true));
  CsvOptions options;
  options.block_bytes = 5000;
  const CsvStream stream(file.path(), options);
  ASSERT_EQ(stream.rows(), plain.rows());
  for (const Index first : {0, 1, 7777, 29900}) EXPECT_EQ(stream.read(first, 100), plain.slice(first, 100));
}

TEST(Packed, FilesAreUnpackedByTheirFirstBytesAndPackedByTheirNames) {
  const Table table({numeric("x", {1, 2, 3}), categorical("c", {"u", "v", "u"})});
  const std::vector<std::pair<std::string, Packing>> kinds = {
      {"gz", Packing::gzip}, {"xz", Packing::xz}, {"zst", Packing::zstd}};
  for (const auto& [ending, packing] : kinds) {
    const File file("", "csv." + ending);
    write_csv(table, file.path());
    const auto bytes = read_file(file.path());
    const std::string packed(bytes.begin(), bytes.end());
    EXPECT_EQ(packing_of(packed), packing) << ending;
    EXPECT_EQ(read_csv(file.path()), table) << ending;
    EXPECT_EQ(read_table(file.path()), table) << ending;
    const std::string big(3 << 18, 'a');
    EXPECT_EQ(unpack(packing, pack(packing, "a,b\n1,2\n") + pack(packing, big), "two"), "a,b\n1,2\n" + big) << ending;
    EXPECT_THROW(unpack(packing, std::string_view(packed).substr(0, packed.size() - 3), "cut"), Error) << ending;
    std::string damaged = pack(packing, "a,b\n1,2\n");
    for (std::size_t k = 8; k < damaged.size(); ++k) damaged[k] = '\x55';
    EXPECT_THROW(unpack(packing, damaged, "damaged"), Error) << ending;
  }
}

TEST(Packed, OtherWaysOfPackingAreNamedWithTheCommandThatUnpacks) {
  EXPECT_EQ(packing_of("BZhong,b"), Packing::none);
  const auto message = [](const std::string& bytes, const std::string& ending) {
    const File file(bytes, ending);
    try {
      read_csv(file.path());
    } catch (const Error& error) { return std::string(error.what()); }
    return std::string("no error");
  };
  EXPECT_NE(message("BZh91AY&SY", "csv.bz2").find("is packed with bzip2, which Lemma does not read; 'bunzip2 -k /"),
            std::string::npos);
  EXPECT_TRUE(message("PK\x03\x04", "xlsx")
                  .ends_with(".xlsx is a spreadsheet, which Lemma does not read; save it as CSV there"));
  EXPECT_NE(message("PK\x03\x04", "zip").find("is packed with zip, which Lemma does not read; 'unzip /"),
            std::string::npos);
}

}  // namespace lemma
