// tests/wrong_algorithms_test.cpp: a certificate is believed only where the natural wrong algorithm fails it. Every method of
// the catalog has such a test in its family's room: its name holds the words "natural wrong", and it asks certify() or verify(),
// not the words of the fit.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <lemma/catalog.hpp>
#include <tests/places.hpp>

namespace lemma {
namespace {

namespace fs = std::filesystem;

/// Small letters and digits alone: NadarayaWatson, nadaraya_watson and natural_wrong are words whoever writes them.
std::string letters(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (std::isalnum(static_cast<unsigned char>(c)))
      out.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
  return out;
}

/// The tests of a file, each from its TEST( to the line that closes it.
std::vector<std::string> tests_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  std::vector<std::string> out;
  for (auto at = text.find("\nTEST("); at != std::string::npos; at = text.find("\nTEST(", at + 1))
    out.push_back(text.substr(at, text.find("\n}\n", at) - at));
  return out;
}

/// Does the test speak of the type of this method: `Lad{`, `ElasticNet{`, `LadModel`?
bool names_type(const std::string& test, const std::string& method) {
  std::string word;
  for (const char c : test + " ") {
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '_') {
      word.push_back(c);
      continue;
    }
    const bool is_type = !word.empty() && std::isupper(static_cast<unsigned char>(word.front()));
    if (is_type && (letters(word) == letters(method) || letters(word) == letters(method) + "model")) return true;
    word.clear();
  }
  return false;
}

bool is_wanted(const std::string& test, const std::string& method) {
  const std::string head = test.substr(0, test.find('{'));
  const bool asks = test.find("certify(") != std::string::npos || test.find("verify(") != std::string::npos;
  return letters(head).find("naturalwrong") != std::string::npos && asks && names_type(test, method);
}

TEST(WrongAlgorithms, FailTheCertificateOfEveryMethod) {
  for (const Method* method : catalog()) {
    const fs::path room = fs::path(source_dir()) / "lemma" / method->about().family;
    bool found = false;
    for (const auto& entry : fs::recursive_directory_iterator(room)) {
      if (!entry.path().filename().string().ends_with("_test.cpp")) continue;
      const auto tests = tests_of(entry.path());
      found = found || std::any_of(tests.begin(), tests.end(),
                                   [&](const std::string& test) { return is_wanted(test, method->name()); });
    }
    EXPECT_TRUE(found) << method->name() << ": no test of lemma/" << method->about().family
                       << " has 'natural wrong' in its name, names the type and asks certify() or verify()";
  }
}

TEST(WrongAlgorithms, AreKnownByTheNameOfTheirTestAndByWhatItAsks) {
  EXPECT_TRUE(is_wanted("\nTEST(Ridge, TheNaturalWrongLambdaFails) {\n  certify(fit(Ridge{}), rows, {});", "ridge"));
  EXPECT_TRUE(is_wanted("\nTEST(Any, fails_the_natural_wrong_centres) {\n  KMeansModel m; certify(m);", "kmeans"));
  EXPECT_FALSE(is_wanted("\nTEST(Ridge, TheNaturalWrongLambdaFails) {\n  fit(Ridge{}).certificate;", "ridge"));
  EXPECT_FALSE(is_wanted("\nTEST(Ridge, AnotherLambdaFails) {\n  certify(fit(Ridge{}), rows, {});", "ridge"));
  EXPECT_FALSE(is_wanted("\nTEST(A, TheNaturalWrongLambdaFails) {\n  certify(fit(KernelRidge{}), rows, {});", "ridge"));
}

}  // namespace
}  // namespace lemma
