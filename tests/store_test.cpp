// tests/store_test.cpp: a damaged or hostile model file gets an Error, never a crash and never a wrong model.
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <gtest/gtest.h>
#include <lemma/catalog.hpp>
#include <lemma/core/hash.hpp>
#include <tests/contract/compare.hpp>
#include <tests/contract/data.hpp>

namespace lemma::contract {
namespace {

constexpr std::size_t kHeader = 24;

std::vector<std::string> method_names() {
  std::vector<std::string> names;
  for (const Method* method : catalog()) names.push_back(method->name());
  names.push_back("scale | lda");
  return names;
}

/// A model of twelve rows: about a kilobyte.
TrainedModel small_model(const std::string& name = "ols") {
  Value params;
  const auto method = method_from(name, catalog(), params);
  const char* columns = name == "factor_analysis" ? "x1 + x2 + g" : "x1 + g";  // two columns have no factor
  return train(method, params, formula(formula_for(method->about(), columns)), MemoryTableStream(groups(12)));
}

void put_crc(Bytes& file) {
  const std::uint32_t sum = crc32(file.data() + kHeader, file.size() - kHeader);
  for (std::size_t i = 0; i < 4; ++i) file[12 + i] = static_cast<std::uint8_t>(sum >> (8 * i));
}

Bytes body_of(const Bytes& file) { return {file.begin() + kHeader, file.end()}; }

/// Loads a body that may be hostile. Whatever loads must predict, or refuse, without harm.
Complaints use(const Bytes& body, const std::string& about, const Table& table) {
  return may_refuse(about, [&] {
    const TrainedModel model = decode_body(body, catalog(), "model.lemma");
    model.model->summary(model.names());
    model.model.predict(Matrix::Constant(1, model.model->width(), 0.5));
    model.predict(table.slice(0, 1));
    encode(model);
  });
}

void expect_none(const Complaints& complaints) {
  for (const auto& [about, message] : complaints) ADD_FAILURE() << about << ": " << message;
}

TEST(Store, AFileCutShortAnywhereIsRefused) {
  const Bytes file = encode(small_model());
  for (std::size_t size = 0; size < file.size(); ++size)
    EXPECT_THROW(decode({file.data(), size}, catalog()), Error)
        << "cut after " << size << " of " << file.size() << " bytes";
}

TEST(Store, AFileWithBytesAfterItsEndIsRefused) {
  Bytes file = encode(small_model());
  file.push_back(0);
  EXPECT_THROW(decode(file, catalog()), Error);
}

TEST(Store, TenThousandFlippedBitsNeverGiveAnotherModel) {
  const Bytes file = encode(small_model());
  RandomStream stream(2024);
  int refused = 0;
  for (int flip = 0; flip < 10000; ++flip) {
    Bytes damaged = file;
    const auto at = static_cast<std::size_t>(stream.below(static_cast<Index>(file.size())));
    damaged[at] ^= static_cast<std::uint8_t>(1 << stream.below(8));
    try {
      EXPECT_TRUE(encode(decode(damaged, catalog())) == file) << "byte " << at;
    } catch (const Error&) { ++refused; }
  }
  EXPECT_GT(refused, 9900);
}

TEST(Store, ANewerFormatGetsASentence) {
  Bytes file = encode(small_model());
  file[8] = kFormatVersion + 1;
  try {
    decode(file, catalog(), "out/model.lemma");
    FAIL() << "was accepted";
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("out/model.lemma"), std::string::npos);
    EXPECT_NE(message.find("newer"), std::string::npos) << message;
    EXPECT_NE(message.find(std::to_string(kFormatVersion + 1)), std::string::npos) << message;
  }
}

TEST(Store, ThereIsNoFormat0) {
  Bytes file = encode(small_model());
  file[8] = 0;
  expect_none(must_refuse("format 0", [&] { decode(file, catalog(), "out/model.lemma"); },
                          {"out/model.lemma", "format 0, and formats count from 1"}));
}

TEST(Store, WhatIsNoModelFileIsCalledThat) {
  const std::string csv = "a,b\n1,2\n";
  const Bytes bytes(csv.begin(), csv.end());
  expect_none(
      must_refuse("a CSV file", [&] { decode(bytes, catalog(), "data.csv"); }, {"data.csv", "not a Lemma model"}));
  expect_none(must_refuse("no file", [] { load("no/such/file.lemma", catalog()); }, {"no/such/file.lemma"}));
}

TEST(Store, AFileIsReplacedAsAWhole) {
  const std::string folder = testing::TempDir() + "lemma_store_test_" + std::to_string(::getpid());
  std::filesystem::create_directories(folder);
  const std::string path = folder + "/model.lemma";
  save(small_model("ols"), path);
  save(small_model("lda"), path);
  EXPECT_EQ(load(path, catalog()).model->method().name(), "lda");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1) << "a temporary file was left";
  std::filesystem::remove_all(folder);
  EXPECT_THROW(save(small_model(), folder + "/model.lemma"), Error);
}

// ---- Behind the checksum: documents that are CBOR, but wrong ----

using Change = std::function<void(Value&)>;

/// The document with `change` applied at the path.
void apply_at(Value& value, const std::vector<std::string>& path, std::size_t depth, const Change& change) {
  if (depth == path.size()) return change(value);
  if (value.is_object()) {
    Value::Object object = value.as_object();
    for (auto& [key, item] : object)
      if (key == path[depth]) apply_at(item, path, depth + 1, change);
    value = Value(std::move(object));
  } else {
    Value::List list = value.as_list();
    apply_at(list.at(static_cast<std::size_t>(std::stoul(path[depth]))), path, depth + 1, change);
    value = Value(std::move(list));
  }
}

void collect_paths(const Value& value, std::vector<std::string>& path, std::vector<std::vector<std::string>>& out) {
  if (!path.empty()) out.push_back(path);
  const auto below = [&](const std::string& key, const Value& item) {
    path.push_back(key);
    collect_paths(item, path, out);
    path.pop_back();
  };
  if (value.is_object())
    for (const auto& [key, item] : value.as_object()) below(key, item);
  if (value.is_list())
    for (std::size_t i = 0; i < value.as_list().size(); ++i) below(std::to_string(i), value.as_list()[i]);
}

/// Things that may stand where something else is expected.
std::vector<std::pair<std::string, Change>> changes() {
  const auto to = [](Value wrong) { return [wrong = std::move(wrong)](Value& value) { value = wrong; }; };
  return {
      {"null", to(Value())},
      {"-1", to(-1)},
      {"1e18", to(std::int64_t{1000000000000000000})},
      {"NaN", to(std::nan(""))},
      {"a text", to("'; drop")},
      {"true", to(true)},
      {"an empty list", to(Value::List{})},
      {"an empty object", to(Value::object())},
      {"an empty array", to(Value(std::vector<double>{}))},
      {"a matrix of no rows", to(Value(Matrix(0, 3)))},
      {"another array", to(Value(std::vector<double>{3, -7, 1e300, 0.5}))},
      {"infinite numbers",
       [](Value& value) {
         if (!value.is_array()) return;
         auto array = value.as_array();
         std::fill(array.data.begin(), array.data.end(), std::numeric_limits<double>::infinity());
         value = array;
       }},
      {"one number fewer",
       [](Value& value) {
         if (!value.is_array() || value.as_array().shape.size() != 1 || value.as_array().data.empty()) return;
         auto array = value.as_array();
         array.data.pop_back();
         --array.shape[0];
         value = array;
       }},
      {"whole numbers one larger",
       [](Value& value) {
         if (value.is_integer()) value = value.as_integer() + 1;
         if (!value.is_array()) return;
         auto array = value.as_array();
         for (auto& number : array.data) number = std::floor(number) + 1;
         value = array;
       }},
      {"the first item twice",
       [](Value& value) {
         if (!value.is_list() || value.as_list().empty()) return;
         auto list = value.as_list();
         list.push_back(list.front());
         value = list;
       }},
  };
}

std::string joined(const std::vector<std::string>& path) {
  std::string out;
  for (const auto& part : path) out += (out.empty() ? "" : ".") + part;
  return out;
}

class Body : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Methods, Body, testing::ValuesIn(method_names()), [](const auto& tested) {
  std::string name = tested.param;
  std::erase_if(name, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); });
  return name;
});

TEST_P(Body, WithAnyFieldReplacedIsRefusedOrHarmless) {
  const Bytes body = body_of(encode(small_model(GetParam())));
  const Value document = from_cbor(body.data(), body.size());
  const Table table = groups(12);
  std::vector<std::vector<std::string>> paths;
  std::vector<std::string> path;
  collect_paths(document, path, paths);
  for (const auto& place : paths)
    for (const auto& [what, change] : changes()) {
      Value wrong = document;
      apply_at(wrong, place, 0, change);
      expect_none(use(to_cbor(wrong), joined(place) + " as " + what, table));
    }
}

TEST_P(Body, WithAnyFieldMissingIsRefusedOrHarmless) {
  const Bytes body = body_of(encode(small_model(GetParam())));
  const Value document = from_cbor(body.data(), body.size());
  std::vector<std::vector<std::string>> paths;
  std::vector<std::string> path;
  collect_paths(document, path, paths);
  for (auto place : paths) {
    const std::string key = place.back(), about = joined(place) + " missing";
    place.pop_back();
    Value wrong = document;
    apply_at(wrong, place, 0, [&](Value& holder) {
      if (!holder.is_object()) return;
      Value::Object object = holder.as_object();
      std::erase_if(object, [&](const auto& item) { return item.first == key; });
      holder = Value(std::move(object));
    });
    expect_none(use(to_cbor(wrong), about, groups(12)));
  }
  for (const char* needed : {"method", "params", "design", "state", "certificate", "data"}) {
    Value::Object object = document.as_object();
    std::erase_if(object, [&](const auto& item) { return item.first == needed; });
    expect_none(must_refuse(needed, [&] { decode_body(to_cbor(Value(object)), catalog(), "model.lemma"); },
                            {needed, "model.lemma"}));
  }
}

TEST_P(Body, WithFlippedBitsIsRefusedOrHarmless) {
  const Bytes body = body_of(encode(small_model(GetParam())));
  const Table table = groups(12);
  RandomStream stream(99);
  for (int flip = 0; flip < 3000; ++flip) {
    Bytes damaged = body;
    for (Index times = 1 + stream.below(3); times > 0; --times)
      damaged[static_cast<std::size_t>(stream.below(static_cast<Index>(body.size())))] ^=
          static_cast<std::uint8_t>(1 << stream.below(8));
    expect_none(use(damaged, fmt::format("flip {}", flip), table));
  }
}

TEST_P(Body, CutShortAnywhereIsRefused) {
  const Bytes body = body_of(encode(small_model(GetParam())));
  for (std::size_t size = 0; size < body.size(); ++size)
    EXPECT_THROW(decode_body({body.data(), size}, catalog(), "model.lemma"), Error) << size;
}

TEST(Store, CountsAreCheckedBeforeMemoryIsTaken) {  // CBOR by hand: what no writer of ours would make
  const std::vector<std::pair<std::string, Bytes>> bodies{
      {"a map of 2^62 pairs", {0xbb, 0x40, 0, 0, 0, 0, 0, 0, 0}},
      {"a list of 2^62 items", {0x9b, 0x40, 0, 0, 0, 0, 0, 0, 0}},
      {"a text of 2^62 bytes", {0x7b, 0x40, 0, 0, 0, 0, 0, 0, 0}},
      {"typed array of 2^40 bytes", {0xd8, 0x56, 0x5b, 0, 0, 1, 0, 0, 0, 0, 0}},
      {"array of shape -1", {0xd8, 0x28, 0x82, 0x81, 0x20, 0xd8, 0x56, 0x40}},
      {"array of shape 2^32 x 2^32",
       {0xd8, 0x28, 0x82, 0x82, 0x1b, 0, 0, 0, 1, 0, 0, 0, 0, 0x1b, 0, 0, 0, 1, 0, 0, 0, 0, 0xd8, 0x56, 0x40}},
      {"lists 200 deep", Bytes(200, 0x81)},
      {"nothing", {}},
  };
  for (const auto& [what, body] : bodies)
    expect_none(
        must_refuse(what, [&, &bytes = body] { decode_body(bytes, catalog(), "model.lemma"); }, {"model.lemma"}));
}

TEST(Store, ARightChecksumDoesNotSaveAWrongBody) {
  Bytes file = encode(small_model());
  for (std::size_t at = kHeader; at + 8 < file.size(); at += 7) {
    Bytes damaged = file;
    damaged[at] ^= 0x20;
    put_crc(damaged);
    expect_none(may_refuse(fmt::format("byte {}", at), [&] { decode(damaged, catalog()).predict(groups(12)); }));
  }
}

}  // namespace
}  // namespace lemma::contract
