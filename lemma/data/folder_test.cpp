// lemma/data/folder_test.cpp
#include <filesystem>
#include <gtest/gtest.h>
#include <lemma/core/file.hpp>
#include <lemma/data/folder.hpp>
#include <lemma/data/image.hpp>
#include <lemma/data/read.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

using Names = std::vector<std::string>;
bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

class Folder : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void write(const std::string& name, const std::string& text) const {
    const auto path = folder_ / name;
    std::filesystem::create_directories(path.parent_path());
    write_file(path.string(), text);
  }
  Names texts(const Table& table, const char* column) const {
    Names out;
    for (Index i = 0; i < table.rows(); ++i) out.push_back(table.column(column).text(i));
    return out;
  }
  std::string path() const { return folder_.string(); }
  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() /
      ("lemma_folder_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
};

TEST_F(Folder, HasAClassForEachSubfolder) {
  write("spam/2.txt", "win money");
  write("spam/1.txt", "");
  write("ham/deep/3.txt", "hello, Zoë");
  const Table table = read_table(path() + "/");
  EXPECT_EQ(table.names(), (Names{"class", "file", "body"}));
  EXPECT_EQ(texts(table, "class"), (Names{"ham", "spam", "spam"}));
  EXPECT_EQ(texts(table, "file"), (Names{"ham/deep/3.txt", "spam/1.txt", "spam/2.txt"}));
  EXPECT_EQ(texts(table, "body"), (Names{"hello, Zoë", "", "win money"}));
  EXPECT_FALSE(table.column("body").is_missing(1));  // an empty text is one
  EXPECT_EQ(table.source(), folder_.filename().string());
  EXPECT_TRUE(table.notes().empty());
}

TEST_F(Folder, WithoutSubfoldersHasNoClass) {
  write("b.txt", "two");
  write("a.txt", "one");
  const Table table = read_folder(path());
  EXPECT_EQ(table.names(), (Names{"file", "body"}));
  EXPECT_EQ(texts(table, "body"), (Names{"one", "two"}));
}

TEST_F(Folder, PassesOverHiddenFilesAndSaysWhatLiesBeside) {
  write("ham/1.txt", "one");
  write("ham/.2.txt", "two");
  write(".git/3.txt", "three");
  write("README", "four");
  const Table table = read_folder(path());
  EXPECT_EQ(table.rows(), 1);
  ASSERT_EQ(table.notes().size(), 1u);
  EXPECT_TRUE(contains(table.notes()[0], "1 file")) << table.notes()[0];
}

TEST_F(Folder, NamesAFileThatIsNoText) {
  write("ham/1.txt", "fine");
  write("ham/2.txt", std::string("a\0b", 3));
  EXPECT_TRUE(contains(message_of([&] { read_folder(path()); }), "ham/2.txt is no text"));
  write("ham/2.txt", "caf\xE9");
  const std::string said = message_of([&] { read_folder(path()); });
  EXPECT_TRUE(contains(said, "ham/2.txt") && contains(said, "--encoding")) << said;
  EXPECT_EQ(texts(read_folder(path(), {.encoding = Encoding::latin1, .execution = {}}), "body"),
            (Names{"fine", "café"}));
}

TEST_F(Folder, OfImagesNamesThemByTheirPaths) {
  const auto png = encode_png({1, 1, 1, {7}});
  const std::string image(png.begin(), png.end());
  write("cats/1.png", image);
  write("cats/2.JPG", "opened later, when its row is made");
  write("dogs/3.png", image);
  write("dogs/notes.txt", "no image");
  const Table table = read_table(path());
  EXPECT_EQ(table.names(), (Names{"class", "file"}));
  EXPECT_EQ(texts(table, "class"), (Names{"cats", "cats", "dogs"}));
  EXPECT_EQ(texts(table, "file")[1], (folder_ / "cats/2.JPG").string());
  ASSERT_EQ(table.notes().size(), 1u);
  EXPECT_TRUE(contains(table.notes()[0], "no images by their names: 1 file")) << table.notes()[0];
  EXPECT_TRUE(contains(message_of([&] { read_folder(path(), {.encoding = Encoding::latin1, .execution = {}}); }),
                       "folder of images"));
  write("dogs/more.txt", "text");
  EXPECT_EQ(read_table(path()).rows(), 3);  // half of them
  write("dogs/most.txt", "text");
  write("dogs/rest.txt", "text");
  EXPECT_TRUE(contains(message_of([&] { read_table(path()); }), "1.png is no"));  // now one of texts
}

TEST_F(Folder, OfNothingIsRefused) {
  EXPECT_TRUE(contains(message_of([&] { read_table(path()); }), "has no files"));
  write("ham/1.txt", "one");
  ReadOptions options;
  options.csv.skip = 2;
  EXPECT_TRUE(contains(message_of([&] { read_table(path(), options); }), "folder"));
}

}  // namespace
}  // namespace lemma
