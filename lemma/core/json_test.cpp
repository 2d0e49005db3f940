// lemma/core/json_test.cpp
#include <gtest/gtest.h>

#include <cmath>
#include <lemma/core/error.hpp>
#include <lemma/core/value.hpp>
#include <limits>
#include <rapidcheck/gtest.h>
#include <tests/any_value.hpp>

namespace lemma {
namespace {

std::string message_of(std::string_view text) {
  try {
    from_json(text);
  } catch (const Error& e) { return e.what(); }
  return "no error";
}

TEST(JsonWriter, WritesNumbersThatReadBackToTheSameDouble) {
  EXPECT_EQ(to_json(3), "3");
  EXPECT_EQ(to_json(3.0), "3");
  EXPECT_EQ(to_json(0.1), "0.1");
  EXPECT_EQ(to_json(1e300), "1e+300");
  EXPECT_EQ(to_json(-0.0), "-0");
  EXPECT_EQ(to_json(5e-324), "5e-324");
  EXPECT_EQ(to_json(std::nan("")), "null");
  EXPECT_EQ(to_json(-std::numeric_limits<double>::infinity()), "null");
  EXPECT_EQ(to_json(std::int64_t{INT64_MIN}), "-9223372036854775808");
  EXPECT_TRUE(std::signbit(from_json("-0").as_double()));
}

TEST(JsonWriter, WritesTextThatEveryReaderTakes) {
  EXPECT_EQ(to_json("a \"b\" \\ \n\t\x01 é"), R"("a \"b\" \\ \n\t\u0001 é")");
  EXPECT_EQ(to_json("caf\xE9"), "\"caf\xEF\xBF\xBD\"") << "a byte that is not UTF-8 becomes U+FFFD";
}

TEST(JsonWriter, KeepsNumbersOnALineAndMatricesByRow) {
  Value value;
  value.set("name", "x").set("w", Vector{{1.0, 2.5}}).set("m", Matrix{{1.0, 2.0}, {3.0, 4.0}});
  value.set("empty", Value::List{}).set("none", Value::object()).set("words", std::vector<std::string>{"a", "b"});
  value.set("parts", Value::List{Value::object(), 1});
  EXPECT_EQ(to_json(value), R"({
  "name": "x",
  "w": [1, 2.5],
  "m": [
    [1, 2],
    [3, 4]
  ],
  "empty": [],
  "none": {},
  "words": ["a", "b"],
  "parts": [
    {},
    1
  ]
})");
  EXPECT_EQ(to_json(value, -1),
            R"({"name":"x","w":[1,2.5],"m":[[1,2],[3,4]],"empty":[],"none":{},"words":["a","b"],"parts":[{},1]})");
}

TEST(JsonWriter, WrapsLongArrays) {
  const std::string text = to_json(Vector::Constant(100, 1.0 / 3).eval());
  std::size_t longest = 0, lines = 1;
  for (std::size_t begin = 0, end; begin < text.size(); begin = end + 1) {
    end = std::min(text.find('\n', begin), text.size());
    longest = std::max(longest, end - begin);
    lines += end < text.size();
  }
  EXPECT_LE(longest, 112u);
  EXPECT_EQ(lines, 20u);  // five numbers of 18 characters and ", " fit into 110
  EXPECT_EQ(from_json(text).as_vector(), Vector::Constant(100, 1.0 / 3));
}

TEST(JsonReader, ReadsEveryKindOfValue) {
  const Value value = from_json(
      " {\"a\": [1, 2.5, -3e2], \"b\": [[1, 2], [3, 4]], \"c\": [1, null], \"d\": true,\r\n"
      "\t\"e\": \"\\u00e9\\ud83d\\ude00\\/\", \"f\": {}, \"g\": [], \"h\": [[1], [2, 3]]} ");
  EXPECT_EQ(value.at("a"), Value(Vector{{1.0, 2.5, -300.0}}));
  EXPECT_EQ(value.at("b"), Value(Matrix{{1.0, 2.0}, {3.0, 4.0}}));
  EXPECT_TRUE(value.at("c").is_list());
  EXPECT_TRUE(value.at("d").as_bool());
  EXPECT_EQ(value.at("e").as_string(), "é😀/");
  EXPECT_TRUE(value.at("f").is_object());
  EXPECT_TRUE(value.at("g").is_list());
  EXPECT_TRUE(value.at("h").is_list()) << "rows of different length are no matrix";
}

TEST(JsonReader, TellsIntegersFromOtherNumbers) {
  EXPECT_TRUE(from_json("12").is_integer());
  EXPECT_FALSE(from_json("12.0").is_integer());
  EXPECT_EQ(from_json("9223372036854775807").as_integer(), INT64_MAX);
  EXPECT_EQ(from_json("9223372036854775808").as_double(), 9223372036854775808.0);
  EXPECT_TRUE(from_json("[9007199254740993]").is_list()) << "an array of doubles would lose the last digit";
  EXPECT_EQ(from_json("1e-400").as_double(), 0.0);
  EXPECT_EQ(from_json("4.9406564584124654e-324").as_double(), 5e-324);
}

TEST(JsonReader, NamesLineAndColumnOfAMistake) {
  EXPECT_EQ(message_of("{\"a\": 1,\n  \"b\" 2}"), "JSON, line 2, column 7: ':' should follow the key");
  EXPECT_EQ(message_of("[1, 2"), "JSON, line 1, column 6: ',' or ']' should follow here");
  EXPECT_EQ(message_of("{\"a\": 1,\n \"b\": 2,\n \"a\": 3}"), "JSON, line 3, column 2: the key 'a' is given twice");
  EXPECT_EQ(message_of("[1]\n[2]"), "JSON, line 2, column 1: there is something after the end of the document");
  EXPECT_EQ(message_of("\"abc"), "JSON, line 1, column 1: the text that begins here does not end");
  EXPECT_EQ(message_of("[1e999]"), "JSON, line 1, column 2: the number 1e999 is too large");
  EXPECT_EQ(message_of("\"a\xE9\""), "JSON, line 1, column 3: this byte is not UTF-8");
  EXPECT_EQ(message_of(""), "JSON, line 1, column 1: the text ends where a value should be");
}

TEST(JsonReader, TakesNothingThatIsNotJson) {
  for (const char* text : {"01",          "1.",
                           ".5",          "+1",
                           "1e",          "-",
                           "--1",         "1.e5",
                           "NaN",         "nul",
                           "tru",         "[1,]",
                           "[,1]",        "{,}",
                           "{\"a\":1,}",  "{a:1}",
                           "'a'",         "\"\\x\"",
                           "\"\\u12g4\"", "\"\\ud800\"",
                           "\"\\udc00\"", "\"\\ud800\\u0041\"",
                           "\"\n\"",      "[1 2]",
                           "]",           "}",
                           "{\"a\"}",     "\"\\",
                           "\"\\u",       "1 2"})
    EXPECT_THROW(from_json(text), Error) << text;
}

TEST(JsonReader, NestsOnlySoDeep) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_NO_THROW(from_json(nested(64)));
  EXPECT_THROW(from_json(nested(65)), Error);
  EXPECT_THROW(from_json(std::string(1000000, '[')), Error);
  EXPECT_THROW(from_json(std::string(1000000, '{')), Error);
}

/// What a value is once it has been JSON: whole doubles are integers, and NaN null.
Value in_json(const Value& value) { return from_json(to_json(value)); }

RC_GTEST_PROP(Json, AValueReadBackIsWrittenTheSame, ()) {
  const Value value = *any_value();
  for (const int indent : {-1, 0, 2, 4}) {
    const std::string text = to_json(value, indent);
    RC_ASSERT(to_json(from_json(text), indent) == text);
    RC_ASSERT(from_json(text) == in_json(value));
  }
}

RC_GTEST_PROP(Json, EveryFiniteDoubleComesBack, ()) {
  const double number = *any_double();
  RC_PRE(std::isfinite(number));
  RC_ASSERT(same_bits(from_json(to_json(number)).as_double(), number));
}

RC_GTEST_PROP(Json, ADamagedTextGivesAnErrorOrAValue, ()) {
  std::string text = to_json(*any_value(), 2);
  const auto place = *rc::gen::inRange<std::size_t>(0, text.size());
  if (*rc::gen::arbitrary<bool>()) text.resize(place);
  else text[place] = *rc::gen::arbitrary<char>();
  try {
    const std::string again = to_json(from_json(text));
    RC_ASSERT(to_json(from_json(again)) == again);
  } catch (const Error&) { RC_SUCCEED("an error"); }
}

}  // namespace
}  // namespace lemma
