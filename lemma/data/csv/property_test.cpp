// lemma/data/csv/property_test.cpp: what holds for every table.
#include <bit>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <lemma/core/file.hpp>
#include <lemma/core/random.hpp>
#include <lemma/data/csv.hpp>
#include <lemma/data/csv/number.hpp>
#include <lemma/data/csv/parse.hpp>
#include <lemma/data/csv/short.hpp>
#include <lemma/data/stream.hpp>

namespace lemma {
namespace {

/// Texts made to be hard to read back.
std::string odd_text(RandomStream& random) {
  static const std::vector<std::string> parts = {"a",  "b", "\"", "\"\"", ",", "\n", "\r\n", "\r", " ", ";", "\t",
                                                 "NA", "",  "1",  ".5",   "é", "-",  "inf",  "|",  "x", "'"};
  std::string text;
  for (Index k = random.below(5); k > 0; --k)
    text += parts[static_cast<std::size_t>(random.below(static_cast<Index>(parts.size())))];
  return text;
}

double odd_number(RandomStream& random) {
  switch (random.below(5)) {
    case 0: return std::nan("");
    case 1: return static_cast<double>(random.below(1000)) / 100;
    case 2: return -static_cast<double>(random.below(10));
    case 3: return random.normal() * std::pow(10.0, static_cast<double>(random.below(600) - 300));
    default: break;
  }
  const double any = std::bit_cast<double>(random.bits());
  return std::isfinite(any) ? any : 0.0;
}

Table odd_table(RandomStream& random) {
  const Index rows = random.below(40), columns = 1 + random.below(5);
  std::vector<Column> made;
  for (Index j = 0; j < columns; ++j) {
    const std::string name = fmt::format("{}{}", odd_text(random), j);
    std::vector<double> numbers;
    std::vector<std::string> labels;
    std::vector<bool> missing;
    for (Index i = 0; i < rows; ++i) {
      numbers.push_back(odd_number(random));
      missing.push_back(random.below(4) == 0);
      labels.push_back(missing.back() ? "" : odd_text(random));
    }
    switch (random.below(3)) {
      case 0: made.push_back(numeric(name, numbers)); break;
      case 1: made.push_back(categorical(name, labels, missing)); break;
      default: made.push_back(text(name, labels, missing));
    }
  }
  return Table(std::move(made));
}

CsvOptions options_of(const Table& table) {
  CsvOptions options;
  options.delimiter = ',';
  options.header = true;
  for (const auto& column : table.all()) {
    options.types[column.name] = read_as(column);
    if (column.type() == ColumnType::categorical && !column.categories().levels.empty())
      options.levels[column.name] = column.categories().levels;
  }
  return options;
}

bool same_bits(const Table& a, const Table& b) {
  if (!(a == b)) return false;
  for (Index j = 0; j < a.columns(); ++j) {
    if (a.column(j).type() != ColumnType::numeric) continue;
    for (Index i = 0; i < a.rows(); ++i)
      if (!a.column(j).is_missing(i) &&
          std::bit_cast<std::uint64_t>(a.column(j).numbers().values[static_cast<std::size_t>(i)]) !=
              std::bit_cast<std::uint64_t>(b.column(j).numbers().values[static_cast<std::size_t>(i)]))
        return false;
  }
  return true;
}

class File {
 public:
  explicit File(const std::string& text)
      : path_(
            (std::filesystem::temp_directory_path() / fmt::format("lemma_csv_property_{}.csv", std::rand())).string()) {
    write_file(path_, text);
  }
  ~File() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

TEST(CsvProperty, WhatIsWrittenIsReadBack) {
  for (std::uint64_t trial = 0; trial < 400; ++trial) {
    RandomStream random(1, trial);
    const Table table = odd_table(random);
    const std::string text = format_csv(table);
    ASSERT_TRUE(same_bits(parse_csv(text, options_of(table)), table)) << "trial " << trial << "\n" << text;
  }
}

TEST(CsvProperty, TheTableDoesNotDependOnBlocksOrThreads) {
  for (std::uint64_t trial = 0; trial < 60; ++trial) {
    RandomStream random(2, trial);
    const std::string text = format_csv(odd_table(random));
    CsvOptions options;
    options.delimiter = ',';
    options.header = true;
    options.execution.threads = 1;
    const Table whole = parse_csv(text, options);
    for (options.block_bytes = 1; options.block_bytes < text.size() + 2;
         options.block_bytes += 1 + options.block_bytes / 4)
      for (const int threads : {1, 3}) {
        options.execution.threads = threads;
        const Table again = parse_csv(text, options);
        ASSERT_TRUE(same_bits(again, whole)) << "blocks of " << options.block_bytes << ", trial " << trial << "\n"
                                             << text;
        ASSERT_EQ(again.notes(), whole.notes());
      }
  }
}

TEST(CsvProperty, ABlockMayEndAnywhereInsideAQuotedField) {
  const std::string text = "a,b\n\"x\n\"\"y\"\"\n,\n\",1\n\"\"\"\"\"\",2\n\"\n\n\",3\n";
  const Table whole = parse_csv(text);
  ASSERT_EQ(whole.rows(), 3);
  EXPECT_EQ(whole.column("a").text(0), "x\n\"y\"\n,\n");
  for (std::size_t block = 1; block <= text.size(); ++block) EXPECT_EQ(parse_csv(text, {.block_bytes = block}), whole);
}

TEST(CsvProperty, AStreamGivesTheRowsOfTheTable) {
  for (std::uint64_t trial = 0; trial < 60; ++trial) {
    RandomStream random(3, trial);
    const Table table = odd_table(random);
    const File file(format_csv(table));
    CsvOptions options;
    options.delimiter = ',';
    options.header = true;
    options.block_bytes = static_cast<std::size_t>(1 + random.below(200));
    const Table whole = read_csv(file.path(), options);
    const CsvStream stream(file.path(), options);
    ASSERT_EQ(stream.rows(), whole.rows());
    ASSERT_EQ(stream.schema(), whole.slice(0, 0));
    ASSERT_EQ(stream.schema().notes(), whole.notes());
    for (int k = 0; k < 20; ++k) {
      const Index first = random.below(whole.rows() + 1), count = random.below(whole.rows() - first + 1);
      ASSERT_TRUE(same_bits(stream.read(first, count), whole.slice(first, count))) << "trial " << trial;
    }
  }
}

TEST(CsvProperty, NumbersAreTheNearestDoubles) {
  RandomStream random(4);
  const auto check = [](const std::string& text) {
    double value = 0;
    const char* end = csv::read_number(text.c_str(), '.', value);
    ASSERT_EQ(end, text.c_str() + text.size()) << text;
    ASSERT_EQ(std::bit_cast<std::uint64_t>(value), std::bit_cast<std::uint64_t>(std::strtod(text.c_str(), nullptr)))
        << text;
    const std::string with_room = std::string(16, '8') + text;  // what stands before a field must not matter
    const char* const begin = with_room.c_str() + 16;
    double again = 0;
    const bool is_short = csv::read_short_number(begin, begin + text.size(), '.', again);
    if (is_short) { ASSERT_EQ(std::bit_cast<std::uint64_t>(again), std::bit_cast<std::uint64_t>(value)) << text; }
    const bool is_plain = text.find_first_of("eE+") == std::string::npos && text.size() <= 15;
    ASSERT_TRUE(is_short || !is_plain) << text;
  };
  for (int k = 0; k < 200000; ++k) {
    std::string text = random.below(2) == 0 ? "-" : random.below(8) == 0 ? "+" : "";
    for (Index d = random.below(22); d > 0; --d) text += static_cast<char>('0' + random.below(10));
    if (random.below(4) != 0) text += '.';
    for (Index d = random.below(22); d > 0; --d) text += static_cast<char>('0' + random.below(10));
    if (text.find_first_of("0123456789") == std::string::npos) text += "7";
    if (random.below(3) == 0) text += fmt::format("{}{}", random.below(2) == 0 ? "e" : "E", random.below(700) - 350);
    check(text);
  }
  for (int k = 0; k < 100000; ++k) {
    const double any = std::bit_cast<double>(random.bits());
    if (std::isfinite(any)) check(fmt::format("{}", any));
  }
  for (const char* text :
       {"9007199254740993", "9007199254740992.5", "1e22", "1e23", "4.9e-324", "2.4703282292062327e-324",
        "1.7976931348623157e308", "0.000000000000000000000000000001", "00000000000000000000001.5"})
    check(text);
}

TEST(CsvProperty, WhatIsNoNumberIsNone) {
  for (const std::string text : {"", "-", "+", ".", "e5", "-.e1", "1e", "1e+", "abc", "--1"}) {
    double value = 0;
    EXPECT_EQ(csv::read_number(text.c_str(), '.', value), nullptr) << text;
  }
  for (const std::string text : {"",      "-",
                                 ".",     "-.",
                                 "1.2.3", "..",
                                 "1..2",  "1-2",
                                 "--1",   "1 ",
                                 " 1",    "0x10",
                                 "1,5",   "12345678.1234567.",
                                 "1/2",   "1:2",
                                 "\xB1",  "1\2612",
                                 "a",     "1234567890.12345678901"}) {
    const std::string with_room = std::string(16, '0') + text;
    double value = 0;
    EXPECT_FALSE(csv::read_short_number(with_room.data() + 16, with_room.data() + with_room.size(), '.', value))
        << text;
  }
}

TEST(CsvProperty, TheFastAndTheSlowWayAgree) {
  for (std::uint64_t trial = 0; trial < 300; ++trial) {
    RandomStream random(5, trial);
    const Table table = odd_table(random);
    if (table.rows() == 0) continue;
    const std::string padded = std::string(64, '\n') + format_csv(table) + std::string(64, '\n');
    csv::Layout layout;
    layout.names = table.names();
    const csv::MissingWords missing(CsvOptions{}.missing);
    const csv::Grammar grammar{layout, missing};
    const Index rows = table.rows() + 1;  // the names are a record too
    const csv::Text piece{padded.data() + 64, padded.data() + padded.size() - 64, 1000, rows};

    struct Way {
      std::vector<csv::Sink> sinks;
      std::vector<csv::Dictionary> labels;
      std::vector<std::vector<std::int32_t>> codes;
    };
    const auto sinks_for = [&](Way& way) {
      const auto columns = static_cast<std::size_t>(table.columns());
      way.sinks.resize(columns);
      way.labels.resize(columns);
      way.codes.assign(columns, std::vector<std::int32_t>(static_cast<std::size_t>(rows)));
      for (std::size_t j = 0; j < columns; ++j) {
        way.sinks[j].mode = csv::Sink::Mode::label;
        way.sinks[j].labels = &way.labels[j];
        way.sinks[j].codes = way.codes[j].data();
        way.sinks[j].spelled.assign(missing.words().size(), 0);
      }
    };
    Way fast, slow;
    sinks_for(fast);
    sinks_for(slow);
    bool stray = false;
    const Index skip = random.below(rows), take = random.below(rows - skip + 1);
    ASSERT_TRUE(csv::parse_columns(grammar, piece, {skip, take, 0}, fast.sinks));
    csv::parse_slowly(grammar, piece, {skip, take, 0}, slow.sinks, stray);
    ASSERT_FALSE(stray);
    for (std::size_t j = 0; j < fast.sinks.size(); ++j) {
      EXPECT_EQ(fast.sinks[j].spelled, slow.sinks[j].spelled);
      ASSERT_EQ(fast.labels[j].size(), slow.labels[j].size());
      for (Index i = 0; i < take; ++i) {
        const auto a = fast.codes[j][static_cast<std::size_t>(i)], b = slow.codes[j][static_cast<std::size_t>(i)];
        ASSERT_EQ(a < 0, b < 0);
        if (a >= 0) { ASSERT_EQ(fast.labels[j].at(a), slow.labels[j].at(b)); }
      }
    }
  }
}

}  // namespace lemma
