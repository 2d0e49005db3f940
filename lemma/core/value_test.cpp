// lemma/core/value_test.cpp
#include <gtest/gtest.h>

#include <cmath>
#include <lemma/core/error.hpp>
#include <lemma/core/value.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

TEST(Value, KeepsWhatItIsGiven) {
  EXPECT_TRUE(Value().is_null());
  EXPECT_TRUE(Value(true).as_bool());
  EXPECT_EQ(Value(7).as_integer(), 7);
  EXPECT_EQ(Value(std::size_t{7}), Value(7));
  EXPECT_EQ(Value(0.5).as_double(), 0.5);
  EXPECT_EQ(Value("text").as_string(), "text");
  EXPECT_TRUE(Value("text").is_string()) << "a literal is not a truth value";
  EXPECT_EQ(Value(std::vector<std::string>{"a", "b"}).as_strings(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(Value(std::vector<int>{1, 2}).as_vector(), (Vector{{1.0, 2.0}}));
}

TEST(Value, ConvertsNumbersOnlyWhereNothingIsLost) {
  EXPECT_EQ(Value(3).as_double(), 3.0);
  EXPECT_EQ(Value(-4.0).as_integer(), -4);
  EXPECT_EQ(message_of([] { Value(2.5).as_integer("components"); }),
            "components is a number (2.5), must be a whole number");
  EXPECT_THROW(Value(1e19).as_integer(), Error);
  EXPECT_THROW(Value(std::nan("")).as_integer(), Error);
  EXPECT_THROW(Value(true).as_double(), Error);
}

TEST(Value, SaysWhatIsThereAndWhatShouldBe) {
  EXPECT_EQ(message_of([] { Value("ten").as_double("lambda"); }), "lambda is a text (\"ten\"), must be a number");
  EXPECT_EQ(message_of([] { Value(Matrix::Zero(2, 3).eval()).as_vector("w"); }),
            "w is an array of numbers (2 × 3), must be a vector");
  EXPECT_EQ(message_of([] { Value().as_list("steps"); }), "steps is null, must be a list");
  EXPECT_THROW(Value(Value::Array{{2, 2}, {1, 2, 3}}), Error);
  EXPECT_THROW(Value(Value::Array{{-1, -3}, {1, 2, 3}}), Error);
  EXPECT_THROW(Value(Value::Array{{}, {1}}), Error);
}

TEST(Value, MatricesAndVectorsGoInAndOut) {
  const Matrix m{{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}};
  EXPECT_EQ(Value(m).as_matrix(), m);
  EXPECT_EQ(Value(m).as_array().shape, (std::vector<Index>{2, 3}));
  const Vector v{{1.0, -2.0}};
  EXPECT_EQ(Value(v).as_vector(), v);
  const Value rows(Value::List{Value(v), Value(Value::List{3, nullptr})});
  const Matrix read = rows.as_matrix();
  EXPECT_EQ(read(0, 1), -2);
  EXPECT_EQ(read(1, 0), 3);
  EXPECT_TRUE(std::isnan(read(1, 1))) << "null is a missing number";
  EXPECT_EQ(message_of([&] {
              Value(Value::List{Value(v), Value(Vector::Zero(3).eval())}).as_matrix("centers");
            }),
            "centers: row 2 has 3 numbers, row 1 has 2");
}

TEST(Value, ObjectsKeepTheOrderOfTheirKeys) {
  Value object;
  object.set("zeta", 1).set("alpha", 2).set("zeta", 3);
  ASSERT_EQ(object.as_object().size(), 2u);
  EXPECT_EQ(object.as_object()[0].first, "zeta");
  EXPECT_EQ(object.at("zeta"), Value(3));
  EXPECT_EQ(object.find("beta"), nullptr);
  EXPECT_EQ(message_of([&] { object.at("alhpa"); }), "'alhpa' is missing (did you mean 'alpha'?)");
  EXPECT_THROW(Value(1).set("key", 2), Error);
  EXPECT_THROW(Value(1).at("key"), Error);
}

}  // namespace
}  // namespace lemma
