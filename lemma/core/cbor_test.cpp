// lemma/core/cbor_test.cpp
#include <gtest/gtest.h>

#include <cmath>
#include <lemma/core/cbor.hpp>
#include <lemma/core/error.hpp>
#include <lemma/core/random.hpp>
#include <lemma/core/value.hpp>
#include <limits>
#include <rapidcheck/gtest.h>
#include <tests/any_value.hpp>

namespace lemma {
namespace {

using Bytes = std::vector<std::uint8_t>;

Value read(const Bytes& bytes) {
  const Bytes exact(bytes.begin(), bytes.end());  // no spare capacity, so that a sanitizer sees a step too far
  return from_cbor(exact.data(), exact.size());
}

std::string message_of(const Bytes& bytes) {
  try {
    read(bytes);
  } catch (const Error& e) { return e.what(); }
  return "no error";
}

TEST(Cbor, WritesTheBytesOfTheStandard) {  // RFC 8949, appendix A
  EXPECT_EQ(to_cbor(0), (Bytes{0x00}));
  EXPECT_EQ(to_cbor(23), (Bytes{0x17}));
  EXPECT_EQ(to_cbor(24), (Bytes{0x18, 0x18}));
  EXPECT_EQ(to_cbor(1000), (Bytes{0x19, 0x03, 0xe8}));
  EXPECT_EQ(to_cbor(1000000), (Bytes{0x1a, 0x00, 0x0f, 0x42, 0x40}));
  EXPECT_EQ(to_cbor(1000000000000), (Bytes{0x1b, 0x00, 0x00, 0x00, 0xe8, 0xd4, 0xa5, 0x10, 0x00}));
  EXPECT_EQ(to_cbor(-1), (Bytes{0x20}));
  EXPECT_EQ(to_cbor(-1000), (Bytes{0x39, 0x03, 0xe7}));
  EXPECT_EQ(to_cbor(1.1), (Bytes{0xfb, 0x3f, 0xf1, 0x99, 0x99, 0x99, 0x99, 0x99, 0x9a}));
  EXPECT_EQ(to_cbor(false), (Bytes{0xf4}));
  EXPECT_EQ(to_cbor(true), (Bytes{0xf5}));
  EXPECT_EQ(to_cbor(nullptr), (Bytes{0xf6}));
  EXPECT_EQ(to_cbor("\u00fc"), (Bytes{0x62, 0xc3, 0xbc}));
  EXPECT_EQ(to_cbor(Value::List{1, Value::List{}}), (Bytes{0x82, 0x01, 0x80}));
  EXPECT_EQ(to_cbor(Value::object().set("a", 1)), (Bytes{0xa1, 0x61, 0x61, 0x01}));
}

TEST(Cbor, WritesArraysAsTypedArrays) {  // RFC 8746: tag 86 is float64 little endian, tag 40 has the dimensions
  EXPECT_EQ(to_cbor(Vector{{1.1}}), (Bytes{0xd8, 86, 0x48, 0x9a, 0x99, 0x99, 0x99, 0x99, 0x99, 0xf1, 0x3f}));
  EXPECT_EQ(to_cbor(Matrix{{1.0}}), (Bytes{0xd8, 40, 0x82, 0x82, 1, 1, 0xd8, 64, 0x41, 1}));
}

TEST(Cbor, OfADocumentThatIsUsedUpTheBytesAreTheSameAndItsMemoryIsGivenBack) {
  constexpr Index kSize = 300'000;  // three blocks
  Value document = Value::object();
  document.set("doubles", Vector(Vector::LinSpaced(kSize, 0.1, 1)));
  document.set("short", Vector{{0.1, 0.2}});
  document.set("halves", Matrix(Matrix::Constant(2, kSize / 2, 0.5)));
  const Bytes expected = to_cbor_behind(7, document);
  Value used = document;
  EXPECT_EQ(to_cbor_behind(7, std::move(used)), expected);
  // NOLINTNEXTLINE(bugprone-use-after-move): it is used up, not moved from
  EXPECT_EQ(used.at("doubles").as_array().data[150'000], 0);
  EXPECT_EQ(document.at("doubles").as_array().data[150'000], (Vector::LinSpaced(kSize, 0.1, 1)(150'000)));
}

TEST(Cbor, AnArrayTakesTheNarrowestTypeThatKeepsEveryBit) {
  const auto tag_of = [](std::vector<double> numbers) { return int{to_cbor(numbers).at(1)}; };
  EXPECT_EQ(tag_of({0, 255}), 64);  // uint8
  EXPECT_EQ(tag_of({0, 256}), 69);  // uint16
  EXPECT_EQ(tag_of({65536}), 78);   // int32
  EXPECT_EQ(tag_of({-1, 2147483647}), 78);
  EXPECT_EQ(tag_of({2147483648}), 85);  // float32: a power of two
  EXPECT_EQ(tag_of({0.5, -0.0}), 85);
  EXPECT_EQ(tag_of({2147483649}), 86);  // float64
  EXPECT_EQ(tag_of({0.1, 1e300}), 86);
  EXPECT_EQ(tag_of({std::numeric_limits<double>::quiet_NaN()}), 86);
  EXPECT_EQ(tag_of({}), 86);
}

TEST(Cbor, LongArraysLieInBlocksAndComeBackBitForBit) {
  for (const Index size : {131072, 131073, 400000}) {
    Vector numbers(size);
    for (Index i = 0; i < size; ++i) numbers(i) = static_cast<double>(i % 200);
    const Bytes codes = to_cbor(numbers);
    EXPECT_LT(codes.size(), static_cast<std::size_t>(size) + 64);  // a byte each
    EXPECT_TRUE(same_bits(read(codes), numbers));
    numbers(size - 1) = 0.1;
    EXPECT_TRUE(same_bits(read(to_cbor(numbers)), numbers));
  }
}

TEST(Cbor, BlocksThatEndTooEarlyOrHoldSomethingElseAreRefused) {
  EXPECT_TRUE(same_bits(read({0xd8, 64, 0x5f, 0x42, 1, 2, 0x41, 3, 0xff}), Vector{{1.0, 2.0, 3.0}}));
  EXPECT_EQ(message_of({0xd8, 64, 0x5f, 0x42, 1, 2}), "CBOR, byte 6: the document ends too early");
  EXPECT_THROW(read({0xd8, 64, 0x5f, 0x61, 'a', 0xff}), Error);
  EXPECT_THROW(read({0xd8, 78, 0x43, 1, 2, 3}), Error);
  EXPECT_THROW(read({0xd8, 64, 0x5f, 0x5f, 0x41, 1, 0xff, 0xff}), Error);
  EXPECT_THROW(read({0xd8, 70, 0x44, 1, 2, 3, 4}), Error);  // a type that is not ours
}

TEST(Cbor, ReadsIntegersUpToTheirEnds) {
  for (const std::int64_t i : {INT64_MIN, INT64_MAX, std::int64_t{-256}, std::int64_t{-257}})
    EXPECT_EQ(read(to_cbor(i)).as_integer(), i);
  EXPECT_EQ(message_of({0x1b, 0x80, 0, 0, 0, 0, 0, 0, 0}), "CBOR, byte 9: an integer of more than 64 bits");
  EXPECT_THROW(read({0x3b, 0x80, 0, 0, 0, 0, 0, 0, 0}), Error);
}

RC_GTEST_PROP(Cbor, EveryValueComesBackBitForBit, ()) {
  const Value value = *any_value();
  RC_ASSERT(same_bits(read(to_cbor(value)), value));
}

TEST(Cbor, BelievesNoCountBeforeItsBytesAreThere) {
  EXPECT_EQ(message_of({0x9b, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}),
            "CBOR, byte 9: a count of 9223372036854775807 where 0 bytes are left");
  EXPECT_THROW(read({0x7b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 'a'}), Error);
  EXPECT_THROW(read({0xbb, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x61, 'a', 0x01}), Error);
  EXPECT_THROW(read({0xd8, 86, 0x5b, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xf8, 0}), Error);
  Bytes bomb;  // lists in lists, each claiming all the bytes that are left: 64 levels of 2³⁰
  for (int level = 0; level < 70; ++level) bomb.insert(bomb.end(), {0x9a, 0x00, 0x00, 0x10, 0x00});
  bomb.resize(5000, 0xf6);
  EXPECT_THROW(read(bomb), Error);
}

TEST(Cbor, RefusesWhatAModelFileNeverHolds) {
  EXPECT_EQ(message_of({0xa2, 0x61, 'a', 0x01, 0x61, 'a', 0x02}), "CBOR, byte 7: the key 'a' is given twice");
  EXPECT_EQ(message_of({0x01, 0x01}), "CBOR, byte 1: there is something after the end of the document");
  EXPECT_EQ(message_of({}), "CBOR, byte 0: the document ends too early");
  EXPECT_EQ(message_of({0x62, 0xc3, 0x28}), "CBOR, byte 1: a text that is not UTF-8");
  const std::vector<Bytes> others{{0x9f, 0xff},                                  // a list of indefinite length
                                  {0x5f, 0x41, 0x00, 0xff},                      // bytes in pieces
                                  {0x7f, 0xff},                                  // a text in pieces
                                  {0xa1, 0x01, 0x02},                            // a key that is a number
                                  {0x41, 0x00},                                  // bytes without a tag
                                  {0xf7},                                        // undefined
                                  {0xf9, 0x00, 0x00},                            // half precision
                                  {0xf8, 0x20},                                  // another simple value
                                  {0x1c},                                        // reserved
                                  {0xff},                                        // a break outside
                                  {0xc1, 0x01},                                  // a tag for dates
                                  {0xd8, 86, 0x47, 0, 0, 0, 0, 0, 0, 0},         // seven bytes are no double
                                  {0xd8, 86, 0x61, 'a'},                         // a text in an array's place
                                  {0xd8, 40, 0x82, 0x80, 0xd8, 86, 0x40},        // no dimensions
                                  {0xd8, 40, 0x82, 0x82, 2, 2, 0xd8, 86, 0x40},  // 2 × 2 of nothing
                                  {0xd8, 40, 0x82, 0x82, 0x20, 0x20, 0xd8, 86, 0x48, 0, 0, 0, 0, 0, 0, 0, 0},
                                  {0xd8, 40, 0x81, 0x81, 0x00}};
  for (const Bytes& bytes : others) EXPECT_THROW(read(bytes), Error) << testing::PrintToString(bytes);
}

TEST(Cbor, RefusesDimensionsWhoseProductOverflowsOrThatNoNumbersBackUp) {
  const auto shaped = [](std::uint8_t a, std::uint8_t b) {  // 2^(8a) × 2^(8b) of no numbers at all
    Bytes bytes{0xd8, 40, 0x82, 0x82};
    for (const std::uint8_t exponent : {a, b}) {
      bytes.push_back(0x1b);
      for (int i = 7; i >= 0; --i) bytes.push_back(exponent < 8 && i == exponent ? 1 : 0);
    }
    bytes.insert(bytes.end(), {0xd8, 86, 0x40});
    return bytes;
  };
  EXPECT_THROW(read(shaped(4, 4)), Error) << "2³² × 2³² is 0 modulo 2⁶⁴";
  EXPECT_THROW(read(shaped(8, 7)), Error) << "0 × 2⁵⁶";
  EXPECT_EQ(read(shaped(8, 2)).as_array().shape, (std::vector<Index>{0, 65536}));
}

TEST(Cbor, NestsOnlySoDeep) {
  const auto nested = [](int depth) {
    Value value(Value::List{});
    for (int i = 1; i < depth; ++i) value = Value::List{value};
    return value;
  };
  EXPECT_EQ(read(to_cbor(nested(64))), nested(64));
  EXPECT_THROW(to_cbor(nested(65)), Error) << "what could not be read is not written";
  EXPECT_THROW(read(Bytes(1000000, 0x81)), Error);
  EXPECT_THROW(read(Bytes(1000000, 0xa1)), Error);
}

TEST(Cbor, DoesNotWriteTextThatItWouldNotRead) { EXPECT_THROW(to_cbor("caf\xE9"), Error); }

Value sample() {
  Value value;
  value.set("method", "lda").set("rows", 150).set("gap", 1e-12).set("holds", true).set("note", nullptr);
  value.set("classes", std::vector<std::string>{"setosa", "versicolor"}).set("prior", Vector{{0.5, 0.5}});
  value.set("means", Matrix{{5.0, 3.4}, {5.9, 2.8}}).set("steps", Value::List{Value::object().set("k", -3)});
  return value;
}

TEST(Cbor, ATruncatedDocumentIsAlwaysAnError) {
  const Bytes whole = to_cbor(sample());
  EXPECT_EQ(read(whole), sample());
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_THROW(read(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size))), Error) << size;
}

TEST(Cbor, FlippedBytesGiveAnErrorOrAValueThatCanBeWrittenAgain) {
  const Bytes whole = to_cbor(sample());
  RandomStream random(1);
  int errors = 0, values = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    Bytes bytes = whole;
    for (Index flips = 1 + random.below(3); flips > 0; --flips)
      bytes[static_cast<std::size_t>(random.below(static_cast<Index>(bytes.size())))] =
          static_cast<std::uint8_t>(random.bits());
    try {
      const Value value = read(bytes);
      ASSERT_TRUE(same_bits(read(to_cbor(value)), value));
      ++values;
    } catch (const Error&) { ++errors; }
  }
  EXPECT_GT(errors, 1000);
  EXPECT_GT(values, 1000) << "damage inside numbers and letters is for the checksum to find";
}

TEST(Cbor, WhatIsReadCanBeWrittenAsJson) {  // a dimension of an array is a level, for both
  const auto wrapped = [](int lists) {
    Value value = Value::Array{{1, 2}, {1, 2}};
    for (int i = 0; i < lists; ++i) value = Value::List{value, Value()};
    return value;
  };
  const Value deepest = wrapped(kDeepestNesting - 2), deeper = wrapped(kDeepestNesting - 1);
  const auto bytes = to_cbor(deepest);
  EXPECT_EQ(from_cbor(bytes.data(), bytes.size()), deepest);
  EXPECT_EQ(from_json(to_json(deepest)), deepest);
  EXPECT_THROW(to_cbor(deeper), Error);
  EXPECT_THROW(to_json(deeper), Error);
  std::vector<std::uint8_t> one_more{0x82};  // a list of two: what `bytes` say, and null
  one_more.insert(one_more.end(), bytes.begin(), bytes.end());
  one_more.push_back(0xF6);
  EXPECT_THROW(from_cbor(one_more.data(), one_more.size()), Error);
}

}  // namespace
}  // namespace lemma
