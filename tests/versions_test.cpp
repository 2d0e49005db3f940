// tests/versions_test.cpp: tests/versions/v<format>/ holds one model file of every method, and what each predicted when it
// was written. Old formats stay readable: a folder, once there, is never changed.
//
//     LEMMA_WRITE_VERSIONS=1 test_house --gtest_filter='Versions.*'
//
// writes the files that are missing from the folder of the current format, and the seeds of fuzz/model_fuzz.cpp.
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <lemma/catalog.hpp>
#include <lemma/core/file.hpp>
#include <tests/contract/compare.hpp>
#include <tests/contract/data.hpp>
#include <tests/places.hpp>

namespace lemma::contract {
namespace {

namespace fs = std::filesystem;

const fs::path kSource = source_dir();
constexpr std::size_t kHeader = 24;

/// One model of every method, and one pipeline.
std::vector<std::string> described_methods() {
  std::vector<std::string> out{"scale | pca(components=2) | lda"};
  for (const Method* method : catalog()) out.push_back(method->name());
  return out;
}

/// "scale | pca(components=2) | lda" is kept as scale-pca-lda.
std::string file_name(const std::string& method) {
  std::string out;
  bool in_brackets = false;
  for (const char c : method) {
    in_brackets = (in_brackets && c != ')') || c == '(';
    if (c == '|') out += '-';
    else if (!in_brackets && std::isalnum(static_cast<unsigned char>(c))) out += c;
  }
  return out;
}

/// Every fifth row of iris: in the files of old formats for ever.
Table few_rows() {
  std::vector<Index> rows;
  for (Index i = 0; i < 150; i += 5) rows.push_back(i);
  return dataset("iris").select(rows);
}

/// The same with two classes, for methods that tell no more apart.
Table two_classes() {
  Table table = few_rows();
  std::vector<std::string> pair;
  for (Index i = 0; i < table.rows(); ++i)
    pair.push_back(table.column("species").text(i) == "virginica" ? "virginica" : "other");
  table.add(categorical("pair", pair));
  return table;
}

/// Some of them, of each species.
Table shown_rows() { return few_rows().select(std::vector<Index>{0, 11, 15, 29}); }

TrainedModel model_of(const std::string& text) {
  Value params;
  const auto method = method_from(text, catalog(), params);
  const bool classes = method->about().task == Task::classification;
  const std::string how = !method->about().uses_response      ? "~ . - species"
                          : method->about().most_classes == 2 ? "pair ~ . - species"
                          : classes                           ? "species ~ ."
                                                              : "petal_width ~ .";
  return train(method, params, formula(how),
               MemoryTableStream(method->about().most_classes == 2 ? two_classes() : few_rows()));
}

std::string text_of(const fs::path& path) {
  const auto bytes = read_file(path.string());
  return {bytes.begin(), bytes.end()};
}

void write_missing() {
  const fs::path folder = kSource / fmt::format("tests/versions/v{}", kFormatVersion),
                 seeds = kSource / "fuzz/corpus/model_fuzz";
  fs::create_directories(folder);
  fs::create_directories(seeds);
  for (const auto& method : described_methods()) {
    const auto model = model_of(method);
    const Bytes bytes = encode(model);
    const fs::path stem = folder / file_name(method);
    if (!fs::exists(stem.string() + ".lemma")) {
      write_file(stem.string() + ".lemma", bytes);
      write_file(stem.string() + ".json", to_json(all_said(model, shown_rows())) + "\n");
    }
    const fs::path seed = seeds / file_name(method);
    if (!fs::exists(seed)) write_file(seed.string(), {bytes.data() + kHeader, bytes.size() - kHeader});
  }
}

/// Files of all formats; those that are missing are written first when the caller asks for it.
std::vector<fs::path> kept_files(const fs::path& folder, const std::string& ending) {
  if (std::getenv("LEMMA_WRITE_VERSIONS")) write_missing();
  std::vector<fs::path> out;
  for (const auto& entry : fs::recursive_directory_iterator(kSource / folder))
    if (entry.is_regular_file() && entry.path().extension() == ending) out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

TEST(Versions, EveryMethodHasAFileInTheCurrentFormat) {
  const auto files = kept_files("tests/versions", ".lemma");
  for (const auto& method : described_methods()) {
    const fs::path expected =
        kSource / fmt::format("tests/versions/v{}", kFormatVersion) / (file_name(method) + ".lemma");
    EXPECT_NE(std::find(files.begin(), files.end(), expected), files.end()) << method;
  }
}

TEST(Versions, FilesOfEveryFormatPredictWhatTheyDidWhenTheyWereWritten) {
  for (const auto& path : kept_files("tests/versions", ".lemma")) {
    const auto model = load(path.string(), catalog());
    const Value expected = from_json(text_of(fs::path(path).replace_extension(".json")));
    const Value said = all_said(model, shown_rows());
    Value known = Value::object();  // parts that models give since then are left out
    for (const auto& [part, numbers] : expected.as_object()) known.set(part, said.at(part));
    for (const auto& complaint : not_close(known, expected, 1e-12, path.filename().string()))
      ADD_FAILURE() << complaint.about << ": " << complaint.message;
    const auto found = model.verify(MemoryTableStream(two_classes())).certificate;
    EXPECT_TRUE(found.holds() || found.strength == Strength::none) << path;
  }
}

TEST(Versions, TheSeedsOfTheFuzzerAreModels) {
  const auto seeds = kept_files("fuzz/corpus/model_fuzz", "");
  EXPECT_GE(seeds.size(), described_methods().size());
  for (const auto& path : seeds)
    EXPECT_NO_THROW(decode_body(read_file(path.string()), catalog(), path.filename().string())) << path;
}

}  // namespace
}  // namespace lemma::contract
