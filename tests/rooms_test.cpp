// tests/rooms_test.cpp: a room's listing is the list of its methods: header, page and test of each at the top, everything else
// of a large one in a folder of its name, and what several share in shared/.
#include <filesystem>
#include <gtest/gtest.h>
#include <lemma/catalog.hpp>
#include <set>
#include <tests/places.hpp>

namespace lemma {
namespace {

namespace fs = std::filesystem;

std::set<std::string> methods_of(const std::string& family) {
  std::set<std::string> out;
  for (const Method* method : catalog())
    if (method->about().family == family) out.insert(method->name());
  return out;
}

std::set<std::string> families() {
  std::set<std::string> out;
  for (const Method* method : catalog()) out.insert(std::string(method->about().family));
  return out;
}

TEST(Rooms, HoldHeaderPageAndTestOfEachMethod) {
  for (const auto& family : families())
    for (const auto& method : methods_of(family))
      for (const char* ending : {".hpp", ".md", "_test.cpp"}) {
        const fs::path path = fs::path(source_dir()) / "lemma" / family / (method + ending);
        EXPECT_TRUE(fs::exists(path)) << path;
      }
}

TEST(Rooms, HoldNothingElse) {
  for (const auto& family : families()) {
    const auto methods = methods_of(family);
    for (const auto& entry : fs::directory_iterator(fs::path(source_dir()) / "lemma" / family)) {
      std::string name = entry.path().stem().string();
      if (entry.path().filename().string().ends_with("_test.cpp")) name = name.substr(0, name.size() - 5);
      const bool is_shared = entry.is_directory() && name == "shared";
      EXPECT_TRUE(is_shared || methods.contains(name)) << entry.path() << " is of no method of " << family;
    }
  }
}

TEST(Rooms, DoNotRepeatTheNameOfAFolderInItsFiles) {
  for (const auto& family : families())
    for (const auto& method : methods_of(family)) {
      const fs::path folder = fs::path(source_dir()) / "lemma" / family / method;
      if (!fs::exists(folder)) continue;
      for (const auto& entry : fs::directory_iterator(folder))
        EXPECT_FALSE(entry.path().filename().string().starts_with(method + "_")) << entry.path();
    }
}

}  // namespace
}  // namespace lemma
