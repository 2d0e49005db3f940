// lemma/data/design/pixels_test.cpp: names of images as columns of numbers.
#include <cmath>
#include <filesystem>
#include <gtest/gtest.h>
#include <lemma/core/file.hpp>
#include <lemma/data/design.hpp>
#include <lemma/data/image.hpp>
#include <lemma/data/read.hpp>
#include <lemma/data/rows_for.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

using Names = std::vector<std::string>;
bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

class ImageTerm : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_ / "sub"); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string even(const std::string& name, int level, Index side = 4) const {
    const std::vector<std::uint8_t> levels(static_cast<std::size_t>(side * side), static_cast<std::uint8_t>(level));
    write_file(path(name), encode_png({side, side, 1, levels}));
    return path(name);
  }
  /// Left half black, right half white.
  std::string halves(const std::string& name) const {
    Image image{4, 4, 1, {}};
    for (int i = 0; i < 16; ++i) image.levels.push_back(i % 4 < 2 ? 0 : 255);
    write_file(path(name), encode_png(image));
    return path(name);
  }
  std::string broken(const std::string& name) const {
    write_file(path(name), "no image");
    return path(name);
  }
  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() /
      ("lemma_image_term_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
};

TEST_F(ImageTerm, IsTheGreyLevelsAtItsSize) {
  const Table t({numeric("y", {1, 2}), text("f", {halves("a.png"), even("b.png", 51, 7)})});
  const Design design(formula("y ~ image(f, 1x2)"), t);
  EXPECT_EQ(design.features(), (Names{"f[1,1]", "f[1,2]"}));
  EXPECT_EQ(design.train(t).x, (Matrix{{0, 1}, {0.2, 0.2}}));
  EXPECT_EQ(Design(formula("y ~ image(f, \"2x1\")"), t).train(t).x, (Matrix{{0.5, 0.5}, {0.2, 0.2}}));
  EXPECT_EQ(Design(formula("y ~ image(f, size = 1x1)"), t).train(t).x, (Matrix{{0.5}, {0.2}}));
}

TEST_F(ImageTerm, StandsBesideOthersAndInProducts) {
  const Table t(
      {numeric("y", {1, 2}), numeric("z", {3, 5}), categorical("f", {even("a.png", 255), even("b.png", 51)})});
  const Design design(formula("y ~ z * image(f, 1x1)"), t);
  EXPECT_EQ(design.features(), (Names{"z", "f[1,1]", "z:f[1,1]"}));
  EXPECT_TRUE(design.train(t).x.isApprox(Matrix{{3, 1, 3}, {5, 0.2, 1}}));
}

TEST_F(ImageTerm, OfEdgesIsTheirHistograms) {
  const Table t({numeric("y", {1}), text("f", {halves("a.png")})});
  const Design design(formula("y ~ hog(f, 4x4, cell = 4, block = 0, bins = 4)"), t);
  EXPECT_EQ(design.features(), (Names{"f[1,1,0]", "f[1,1,45]", "f[1,1,90]", "f[1,1,135]"}));
  EXPECT_EQ(design.train(t).x, (Matrix{{0.5, 0, 0, 0}}));  // two columns of four see the edge, at full length
  EXPECT_EQ(Design(formula("y ~ hog(f, 32x32)"), t).features().size(), 3u * 3 * 4 * 12);
}

TEST_F(ImageTerm, IsTheSameAfterTheModelFile) {
  const Table t({numeric("y", {1, 2}), text("f", {halves("a.png"), even("b.png", 51)})});
  for (const char* f : {"y ~ image(f, 3x2)", "y ~ hog(f, 8x12, cell = 4, block = 1, bins = 5, signed = TRUE)"}) {
    const Design design(formula(f), t), again = Design::load(design.save());
    EXPECT_EQ(again.features(), design.features());
    EXPECT_EQ(again.apply(t).x, design.apply(t).x);
    EXPECT_EQ(again.save(), design.save());
  }
}

TEST_F(ImageTerm, OfAForgedFileIsRefused) {
  const Table t({numeric("y", {1}), text("f", {halves("a.png")})});
  const Design design(formula("y ~ hog(f, 8x8, block = 1)"), t);
  const auto forged = [&](const char* key, const Value& value) {
    Value saved = design.save();
    Value::List variables = saved.at("variables").as_list("variables");
    variables.at(0).set(key, value);
    saved.set("variables", variables);
    return message_of([&] { Design::load(saved); });
  };
  EXPECT_NE(forged("cell", 3), "");
  EXPECT_NE(forged("cell", 0), "");
  EXPECT_NE(forged("block", 2), "");
  EXPECT_NE(forged("bins", 1e9), "");
  EXPECT_NE(forged("size", Value(Value::Array{{2}, {1e9, 1e9}})), "");
  EXPECT_NE(forged("size", Value(Value::Array{{1}, {8}})), "");
}

TEST_F(ImageTerm, NamesABrokenImageAndItsRow) {
  const Table t({numeric("y", {1, 2, 3}), text("f", {halves("a.png"), broken("b.png"), path("none.png")})});
  const std::string said = message_of([&] { Design(formula("y ~ image(f, 2x2)"), t).train(t); });
  EXPECT_TRUE(contains(said, "b.png is neither a PNG nor a JPEG file (row 2)") && contains(said, "--missing drop"))
      << said;
}

TEST_F(ImageTerm, LeavesRowsOfBrokenImagesOutWhereAsked) {
  const Table t({numeric("y", {1, 2, 3, 4}),
                 text("f", {halves("a.png"), broken("b.png"), path("none.png"), even("d.png", 51)}),
                 categorical("c", {"p", "q", "q", "p"})});
  const Design design(formula("y ~ image(f, 1x1) + hog(f, 8x8, block = 0, bins = 1)"), t, {.missing = Missing::drop});
  const DesignData data = design.train(t);
  EXPECT_EQ(data.kept, (std::vector<Index>{0, 3}));
  EXPECT_EQ(data.x.col(0), (Vector{{0.5, 0.2}}));
  ASSERT_EQ(data.notes.size(), 1u);
  EXPECT_TRUE(contains(data.notes[0], "2 broken images in 2 of 4 rows: ") &&
              contains(data.notes[0], "b.png is neither") && contains(data.notes[0], "none.png cannot be read") &&
              contains(data.notes[0], "2 rows left out"))
      << data.notes[0];
  EXPECT_EQ(design.apply(t, Missing::keep).kept, (std::vector<Index>{0, 3}));
  EXPECT_TRUE(contains(message_of([&] { design.apply(t, Missing::error); }), "b.png"));
  // what is learned is learned from the rows that are left
  EXPECT_TRUE(contains(message_of([&] { Design(formula("y ~ image(f, 1x1) + c"), t, {.missing = Missing::drop}); }),
                       "only one level"));
}

TEST_F(ImageTerm, OfAMissingNameIsAMissingValue) {
  const Table t({numeric("y", {1, 2}), text("f", {halves("a.png"), ""}, {false, true})});
  EXPECT_TRUE(contains(message_of([&] { Design(formula("y ~ image(f, 1x1)"), t); }), "1 missing value"));
  EXPECT_EQ(Design(formula("y ~ image(f, 1x1)"), t, {.missing = Missing::drop}).train(t).x, (Matrix{{0.5}}));
  const Design native(formula("y ~ image(f, 1x1)"), t, {.missing = Missing::native});
  EXPECT_TRUE(std::isnan(native.train(t).x(1, 0)));
  EXPECT_TRUE(contains(
      message_of([&] { Design(formula("y ~ image(f, 1x1)"), t, {.missing = Missing::mean}).train(t); }), "stand in"));
}

TEST_F(ImageTerm, IsReadBlockByBlockWhereMemoryIsShort) {
  std::vector<std::string> files;
  std::vector<double> y;
  for (int i = 0; i < 9; ++i) {
    files.push_back(even("i" + std::to_string(i) + ".png", 20 * i));
    y.push_back(i);
  }
  const Table t({numeric("y", y), text("f", files)});
  const MemoryTableStream stream(t);
  const Design design(formula("y ~ image(f, 8x8)"), stream);
  const auto whole = rows_for(design, stream, {}), blocks = rows_for(design, stream, {}, 2000);
  EXPECT_NE(whole.rows->matrix(), nullptr);
  EXPECT_EQ(blocks.rows->matrix(), nullptr);
  for (int pass = 0; pass < 2; ++pass) {
    BlockBuffer one, two;
    EXPECT_EQ(Matrix(whole.rows->read(2, 5, one).x), Matrix(blocks.rows->read(2, 5, two).x));
  }
  RowsUse whole_only;
  whole_only.blocks = false;
  EXPECT_TRUE(contains(message_of([&] { rows_for(design, stream, whole_only, 2000); }), "raise --memory"));
}

TEST_F(ImageTerm, OfATableElsewhereIsFoundBesideIt) {
  even("a.png", 51);
  even("sub/b.png", 255);
  write_file(path("t.csv"), "y,f,other\n1,a.png,x.png\n2,sub/b.png,y.png\n");
  const Table t = read_table(path("t.csv"));
  EXPECT_EQ(t.column("f").text(1), path("sub/b.png"));
  EXPECT_EQ(t.column("other").text(0), "x.png");  // there is none such
  EXPECT_EQ(Design(formula("y ~ image(f, 1x1)"), t).train(t).x, (Matrix{{0.2}, {1}}));
  const auto stream = open_table(path("t.csv"));
  EXPECT_EQ(Design(formula("y ~ image(f, 1x1)"), *stream).apply(read_all(*stream)).x, (Matrix{{0.2}, {1}}));
  EXPECT_EQ(stream->read(0, 2), t);
}

TEST_F(ImageTerm, OfManyNamesIsFoundBesideTheTable) {  // so many are texts, not levels
  std::string csv = "y,f\n";
  for (int i = 0; i < 30; ++i) {
    const std::string name = "i" + std::to_string(i) + ".png";
    even(name, i);
    csv += std::to_string(i) + "," + name + "\n";
  }
  write_file(path("t.csv"), csv + "30,\n");
  const Table t = read_table(path("t.csv"));
  EXPECT_EQ(t.column("f").type(), ColumnType::text);
  EXPECT_EQ(t.column("f").text(7), path("i7.png"));
  EXPECT_TRUE(t.column("f").is_missing(30));
  EXPECT_EQ(open_table(path("t.csv"))->read(5, 20), t.slice(5, 20));
}

TEST_F(ImageTerm, SaysWhatItTakes) {
  const Table t({numeric("y", {1}), text("f", {halves("a.png")})});
  const auto said = [&](const char* f) { return message_of([&] { Design(formula(f), t); }); };
  EXPECT_TRUE(contains(said("y ~ image(f)"), "image(file, 16x16)"));
  EXPECT_TRUE(contains(said("y ~ image()"), "image(file, 16x16)"));
  EXPECT_TRUE(contains(said("y ~ image(f, 16)"), "height x width"));
  EXPECT_TRUE(contains(said("y ~ image(f, \"16x\")"), "height x width"));
  EXPECT_TRUE(contains(said("y ~ image(f, 0x4)"), "from 1 to 1000"));
  EXPECT_TRUE(contains(said("y ~ image(f, 99999999999x4)"), "height x width"));
  EXPECT_TRUE(contains(said("y ~ image(f, 4x4, cell = 2)"), "knows no argument 'cell'"));
  EXPECT_TRUE(contains(said("y ~ hog(f, 16x16, cell = 5)"), "do not fill 16x16"));
  EXPECT_TRUE(contains(said("y ~ hog(f, 16x16, block = 3)"), "blocks of 3 x 3"));
  EXPECT_TRUE(contains(said("y ~ hog(f, 16x16, bins = 0)"), "whole number"));
  EXPECT_TRUE(contains(said("y ~ image(y, 4x4)"), "--type y=text"));
  EXPECT_TRUE(contains(said("y ~ log(image(f, 4x4))"), "a term of its own"));
  EXPECT_TRUE(contains(said("y ~ f"), "image(f, 16x16)"));
  EXPECT_TRUE(contains(said("y ~ ."), "since f is text") && contains(said("y ~ ."), "image(f, 16x16)"));
  EXPECT_TRUE(contains(message_of([&] { read_table(path("a.png")); }), "is an image, not a table"));
  EXPECT_TRUE(contains(said("y ~ imag(f, 4x4)"), "image"));
  EXPECT_TRUE(contains(said("y ~ 4x4"), "a name cannot begin with a digit"));
  EXPECT_TRUE(contains(said("y ~ image(f, 4x4x4)"), "a name cannot begin with a digit"));
}

}  // namespace
}  // namespace lemma
