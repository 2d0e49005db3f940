// tests/layers_test.cpp: reads every #include under lemma/ and holds it against the order of the rooms. The order comes
// from CMakeLists.txt as LEMMA_GROUND, LEMMA_FAMILIES and LEMMA_UPPER.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <tests/places.hpp>
#include <vector>

namespace lemma {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

Words words(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

bool contains(const Words& list, const std::string& word) { return std::ranges::find(list, word) != list.end(); }

/// "lemma/data/csv.hpp" is in the room "data"; what lies directly under lemma/ is the last room, the catalog.
std::string room_of(const std::string& path) {
  const auto from = path.find('/') + 1, to = path.find('/', from);
  return to == std::string::npos ? "catalog" : path.substr(from, to - from);
}

struct House {
  Words ground = words(LEMMA_GROUND), families = words(LEMMA_FAMILIES), upper = words(LEMMA_UPPER);

  bool knows(const std::string& room) const { return floor(room) >= 0; }

  /// Families share one floor; every other room has its own.
  long floor(const std::string& room) const {
    if (const auto at = std::ranges::find(ground, room); at != ground.end()) return at - ground.begin();
    if (contains(families, room)) return std::ssize(ground);
    if (const auto at = std::ranges::find(upper, room); at != upper.end())
      return std::ssize(ground) + 1 + (at - upper.begin());
    return room == "catalog" ? std::ssize(ground) + 1 + std::ssize(upper) : -1;
  }

  bool may_use(const std::string& room, const std::string& other) const {
    return room == other || floor(other) < floor(room);
  }
};

bool is_header(const std::string& path) { return path.ends_with(".hpp"); }
bool is_test(const std::string& path) { return path.ends_with("_test.cpp") || path.ends_with("_test.hpp"); }

bool starts_with_any(const std::string& text, const Words& beginnings) {
  return std::ranges::any_of(beginnings, [&](const auto& beginning) { return text.starts_with(beginning); });
}

/// What costs every file that includes it dearly, or ties users of our headers to a package.
bool is_heavy(const std::string& included) {
  return contains({"Eigen/Dense", "Eigen/Eigen", "iostream", "regex"}, included) ||
         starts_with_any(included, {"nlohmann/", "tbb/", "oneapi/", "boost/", "CLI/", "hwy/", "Random123/"});
}

bool is_factorisation(const std::string& included) {
  static const Words modules = words(
      "Eigen/Dense Eigen/Eigen Eigen/Cholesky Eigen/LU Eigen/QR Eigen/SVD Eigen/Eigenvalues Eigen/SparseCholesky "
      "Eigen/SparseLU Eigen/SparseQR lapack.h lapacke.h");
  return contains(modules, included);
}

struct Include {
  std::string name;
  bool quoted;
};

std::optional<Include> include_in(std::string line) {
  std::erase_if(line, [](char c) { return c == ' ' || c == '\t'; });
  for (const auto& [open, close] : {std::pair{'<', '>'}, std::pair{'"', '"'}}) {
    const std::string start = std::string("#include") + open;
    if (line.starts_with(start))
      return Include{line.substr(start.size(), line.find(close, start.size()) - start.size()), open == '"'};
  }
  return std::nullopt;
}

/// Every broken rule in one file, as "path:line: what is wrong".
Words complaints(const House& house, const std::string& path, const std::string& text) {
  const std::string room = room_of(path);
  const bool links_everything = is_test(path) && (contains(house.upper, room) || room == "catalog");
  Words found;
  std::istringstream in(text);
  std::string line, first_directive;
  for (int number = 1; std::getline(in, line); ++number) {
    const auto complain = [&](const std::string& what) {
      found.push_back(path + ':' + std::to_string(number) + ": " + what);
    };
    if (first_directive.empty() && line.starts_with('#')) first_directive = line;
    const auto include = include_in(line);
    if (!include) continue;
    const std::string& included = include->name;
    if (include->quoted) complain("write #include <lemma/...>, which says the room, instead of \"" + included + '"');
    if (is_header(path) && is_heavy(included))
      complain("<" + included + "> is too heavy for a header: include it in the source");
    if (is_factorisation(included) && !is_test(path) && (room != "math" || is_header(path)))
      complain("<" + included + "> belongs into the sources of lemma/math/: use the door in its headers");
    if (included.starts_with("app/") || (included.starts_with("tests/") && !is_test(path)))
      complain("the library does not know <" + included + ">");
    if (!included.starts_with("lemma/")) continue;
    const std::string other = room_of(included);
    if (!house.knows(other)) complain("the room of <" + included + "> is not in the list of CMakeLists.txt");
    else if (!links_everything && !house.may_use(room, other))
      complain(room + " may not use " + other + " (<" + included + ">): it is a later room or another family");
  }
  if (!house.knows(room)) found.push_back(path + ":1: the room " + room + " is not in the list of CMakeLists.txt");
  if (is_header(path) && first_directive != "#pragma once")
    found.push_back(path + ":1: the first directive must be #pragma once");
  return found;
}

std::vector<fs::path> sources() {
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(source_dir()) / "lemma")) {
    if (entry.path().extension() == ".hpp" || entry.path().extension() == ".cpp") found.push_back(entry.path());
  }
  std::ranges::sort(found);
  return found;
}

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string joined(const Words& lines) {
  std::string text;
  for (const auto& line : lines) text += line + '\n';
  return text;
}

TEST(Layers, NoFileStepsBackwards) {
  Words found;
  for (const auto& path : sources()) {
    const auto relative = fs::relative(path, source_dir()).generic_string();
    for (auto& complaint : complaints(House{}, relative, text_of(path))) found.push_back(std::move(complaint));
  }
  EXPECT_TRUE(found.empty()) << joined(found);
}

TEST(Layers, EveryIncludedHeaderOfOursExists) {
  for (const auto& path : sources()) {
    std::ifstream in(path);
    for (std::string line; std::getline(in, line);) {
      const auto include = include_in(line);
      if (!include || !include->name.starts_with("lemma/")) continue;
      EXPECT_TRUE(fs::exists(fs::path(source_dir()) / include->name)) << path << " includes " << include->name;
    }
  }
}

/// Every header of ours that this one includes, directly or through others.
void add_reached(const std::string& header, Words& reached) {
  if (contains(reached, header)) return;
  reached.push_back(header);
  std::ifstream in(fs::path(source_dir()) / header);
  for (std::string line; std::getline(in, line);)
    if (const auto include = include_in(line); include && include->name.starts_with("lemma/"))
      add_reached(include->name, reached);
}

TEST(Layers, OneHeaderReachesEveryOptimiserMeasureAndChoice) {
  Words reached;
  add_reached("lemma/lemma.hpp", reached);
  for (const auto& path : sources()) {
    const auto header = fs::relative(path, source_dir()).generic_string();
    if (!is_header(header) || is_test(header) ||
        !contains({"optimize", "metric", "validate", "select"}, room_of(header)))
      continue;
    const bool inner = text_of(path).find("Inner header") != std::string::npos;
    EXPECT_TRUE(inner || contains(reached, header)) << header << " is not reached from lemma/lemma.hpp";
  }
}

TEST(Layers, OneHeaderReachesEveryMethod) {
  Words reached, methods;
  add_reached("lemma/lemma.hpp", reached);
  std::ifstream in(fs::path(source_dir()) / "lemma/catalog.cpp");
  for (std::string line; std::getline(in, line);)
    if (const auto include = include_in(line); include && include->name.starts_with("lemma/"))
      methods.push_back(include->name);
  ASSERT_GT(methods.size(), 50u);
  for (const auto& header : methods)
    EXPECT_TRUE(contains(reached, header)) << header << " is not reached from lemma/lemma.hpp";
}

/// What a header may be precompiled with, and the names by which one sees that it needs it.
struct Provided {
  std::string header;
  Words names;
};
const std::vector<Provided>& provided() {
  static const std::vector<Provided> all{
      {"array", words("std::array")},
      {"cmath", words("std::sqrt std::exp std::log std::abs std::isfinite std::isnan std::pow std::floor std::hypot")},
      {"cstdint", words("std::uint8_t std::uint16_t std::uint32_t std::uint64_t std::int32_t std::int64_t")},
      {"functional", words("std::function std::less std::hash")},
      {"limits", words("std::numeric_limits")},
      {"map", words("std::map")},
      {"memory", words("std::unique_ptr std::shared_ptr std::make_unique std::make_shared")},
      {"optional", words("std::optional std::nullopt")},
      {"span", words("std::span")},
      {"string", words("std::string std::to_string")},
      {"string_view", words("std::string_view")},
      {"tuple", words("std::tuple std::apply")},
      {"unordered_map", words("std::unordered_map")},
      {"variant", words("std::variant std::visit std::get_if std::monostate")},
      {"vector", words("std::vector")},
      {"fmt/core.h", words("fmt::format")},
  };
  return all;
}

/// `name` as a word of its own: std::string is no part of std::string_view.
bool uses(const std::string& text, const std::string& name) {
  for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    const auto end = at + name.size();
    if (end == text.size() || (!std::isalnum(static_cast<unsigned char>(text[end])) && text[end] != '_')) return true;
  }
  return false;
}

/// Without what stands behind //.
std::string without_comments(const std::string& text) {
  std::istringstream in(text);
  std::string out;
  for (std::string line; std::getline(in, line);) out += line.substr(0, line.find("//")) + "\n";
  return out;
}

/// What `text` uses of the precompiled headers and neither it nor a header of ours in `reached` includes.
Words not_included(const std::string& text, const Words& reached) {
  const std::string code = without_comments(text);
  Words named, missing;
  const auto add_named = [&](const std::string& lines) {
    std::istringstream in(lines);
    for (std::string line; std::getline(in, line);)
      if (const auto include = include_in(line)) named.push_back(include->name);
  };
  add_named(text);
  for (const auto& header : reached) add_named(text_of(fs::path(source_dir()) / header));
  for (const auto& [header, names] : provided()) {
    const auto used = std::ranges::find_if(names, [&](const auto& name) { return uses(code, name); });
    if (used != names.end() && !contains(named, header)) missing.push_back(*used + " needs <" + header + ">");
  }
  return missing;
}

TEST(Layers, AHeaderIncludesWhatItUses) {
  for (const auto& path : sources()) {
    const auto header = fs::relative(path, source_dir()).generic_string();
    if (!is_header(header) || is_test(header)) continue;
    Words reached;
    add_reached(header, reached);
    EXPECT_TRUE(not_included(text_of(path), reached).empty())
        << header << ": " << joined(not_included(text_of(path), reached));
  }
  EXPECT_EQ(not_included("std::vector<std::string_view> a;", {}),
            (Words{"std::string_view needs <string_view>", "std::vector needs <vector>"}));
  EXPECT_TRUE(not_included("std::span<const double> a;", {"lemma/core/rows.hpp"}).empty());
  EXPECT_TRUE(not_included("int a;  // std::vector would do\n", {}).empty());
}

TEST(Layers, AStepBackwardsIsNamedWithFileAndLine) {
  const auto found = complaints(House{}, "lemma/math/svd.cpp", "// svd\n#include <lemma/data/table.hpp>\n");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].starts_with("lemma/math/svd.cpp:2: math may not use data")) << found[0];
}

TEST(Layers, RoomsReachDownAndFamiliesNotAcross) {
  const House house;
  EXPECT_TRUE(house.may_use("model", "core"));
  EXPECT_TRUE(house.may_use("tree", "model"));
  EXPECT_TRUE(house.may_use("metric", "tree"));
  EXPECT_TRUE(house.may_use("catalog", "report"));
  EXPECT_FALSE(house.may_use("ensemble", "tree"));
  EXPECT_FALSE(house.may_use("tree", "ensemble"));
  EXPECT_FALSE(house.may_use("model", "tree"));
  EXPECT_FALSE(house.may_use("report", "catalog"));
}

TEST(Layers, ATestOfAnUpperRoomMayUseEverything) {
  const std::string text = "#include <lemma/catalog.hpp>\n";
  EXPECT_TRUE(complaints(House{}, "lemma/validate/fold_test.cpp", text).empty());
  EXPECT_EQ(complaints(House{}, "lemma/data/csv_test.cpp", text).size(), 1u);
  EXPECT_EQ(complaints(House{}, "lemma/validate/fold.cpp", text).size(), 1u);
}

TEST(Layers, HeavyIncludesAreForSourcesOnly) {
  const std::string text = "#pragma once\n#include <nlohmann/json.hpp>\n#include <regex>\n";
  EXPECT_EQ(complaints(House{}, "lemma/core/value.hpp", text).size(), 2u);
  EXPECT_TRUE(complaints(House{}, "lemma/core/value.cpp", text).empty());
}

TEST(Layers, FactorisationsStayInTheSourcesOfMath) {
  const std::string text = "#pragma once\n#include <Eigen/QR>\n";
  EXPECT_TRUE(complaints(House{}, "lemma/math/factorise.cpp", text).empty());
  EXPECT_EQ(complaints(House{}, "lemma/math/factorise.hpp", text).size(), 1u);
  EXPECT_EQ(complaints(House{}, "lemma/linear/ols.cpp", text).size(), 1u);
}

TEST(Layers, AHeaderStartsWithPragmaOnce) {
  EXPECT_EQ(complaints(House{}, "lemma/core/a.hpp", "// a\n#include <vector>\n#pragma once\n").size(), 1u);
  EXPECT_TRUE(complaints(House{}, "lemma/core/a.hpp", "// a\n#pragma once\n#include <vector>\n").empty());
}

TEST(Layers, UnknownRoomsAndQuotedIncludesAreRefused) {
  EXPECT_EQ(complaints(House{}, "lemma/attic/a.cpp", "").size(), 1u);
  EXPECT_EQ(complaints(House{}, "lemma/core/a.cpp", "#include <lemma/attic/a.hpp>\n").size(), 1u);
  EXPECT_EQ(complaints(House{}, "lemma/core/a.cpp", "#include \"error.hpp\"\n").size(), 1u);
}

}  // namespace
}  // namespace lemma
