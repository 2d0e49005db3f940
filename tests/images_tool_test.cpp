// tests/images_tool_test.cpp: images as data, as a user types them.
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/data/image.hpp>
#include <tests/run_tool.hpp>

namespace lemma {
namespace {

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

std::string png(const Image& image) {
  const auto bytes = encode_png(image);
  return {bytes.begin(), bytes.end()};
}

/// A bar, standing or lying, somewhere, on a noisy ground.
Image bar(bool stands, std::uint64_t seed) {
  RandomStream random(seed, stands);
  Image out{20, 24, 1, {}};
  const Index at = 6 + random.below(8);
  for (Index r = 0; r < out.height; ++r)
    for (Index c = 0; c < out.width; ++c)
      out.levels.push_back(static_cast<std::uint8_t>(random.below(40) + ((stands ? c : r) / 3 == at / 3 ? 200 : 0)));
  return out;
}

void write_bars(const Folder& in, const std::string& folder, int count, std::uint64_t seed) {
  for (const bool stands : {false, true}) {
    const std::string place = folder + (stands ? "/standing/" : "/lying/");
    std::filesystem::create_directories(in.path(place));
    for (int i = 0; i < count; ++i)
      in.write(place + std::to_string(i) + ".png", png(bar(stands, seed + static_cast<std::uint64_t>(i))));
  }
}

TEST(ImagesTool, AFolderOfImagesIsFittedJudgedVerifiedAndAskedAboutAnother) {
  const Folder in;
  write_bars(in, "bars", 12, 1);
  write_bars(in, "new", 5, 100);
  const auto fitted = in.lemma("fit naive_bayes bars/ 'class ~ image(file, 8x8)' -o m.lemma");
  EXPECT_EQ(fitted.code, 0) << fitted.err;
  EXPECT_TRUE(contains(fitted.out, "24 rows, 64 columns")) << fitted.out;
  EXPECT_EQ(in.lemma("verify m.lemma bars").code, 0);
  const auto by_edges = in.lemma("fit logistic bars/ 'class ~ hog(file, 16x16, cell = 16, block = 0)' -o e.lemma");
  EXPECT_EQ(by_edges.code, 0) << by_edges.err;
  const auto judged = in.lemma("evaluate e.lemma new --json");
  EXPECT_EQ(judged.code, 0) << judged.err;
  EXPECT_TRUE(contains(judged.out, "\"accuracy\": 1,"))
      << judged.out;  // the directions tell them apart wherever the bar is
  const auto said = in.lemma("predict e.lemma new/standing");
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_TRUE(contains(said.out, "standing,")) << said.out;
  EXPECT_FALSE(contains(said.out, "\nlying,")) << said.out;
}

TEST(ImagesTool, ABrokenImageIsNamedSkippedOrLeftEmpty) {
  const Folder in;
  write_bars(in, "bars", 6, 1);
  ASSERT_EQ(in.lemma("fit centroid bars 'class ~ image(file, 4x4)' -o m.lemma").code, 0);
  in.write("bars/lying/3.png", png(bar(false, 4)).substr(0, 100));
  const auto refused = in.lemma("fit centroid bars 'class ~ image(file, 4x4)'");
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(contains(refused.err, "bars/lying/3.png is a damaged PNG file") && contains(refused.err, "(row 4)") &&
              contains(refused.err, "--missing drop"))
      << refused.err;
  const auto skipped = in.lemma("fit centroid bars 'class ~ image(file, 4x4)' --missing drop");
  EXPECT_EQ(skipped.code, 0) << skipped.err;
  EXPECT_TRUE(contains(skipped.out + skipped.err, "1 broken image in 1 of 12 rows: bars/lying/3.png"))
      << skipped.out << skipped.err;
  EXPECT_EQ(in.lemma("predict m.lemma bars").code, 2);
  const auto kept = in.lemma("predict m.lemma bars --missing keep");
  EXPECT_EQ(kept.code, 0) << kept.err;
  EXPECT_EQ(std::count(kept.out.begin(), kept.out.end(), '\n'), 13) << kept.out;
}

TEST(ImagesTool, BlocksGiveTheSameModelAsTheWhole) {
  const Folder in;
  write_bars(in, "bars", 6, 1);
  const auto whole = in.lemma("fit pca bars '~ image(file, 8x8)' --components 2 --quiet --json");
  const auto blocks = in.lemma("fit pca bars '~ image(file, 8x8)' --components 2 --quiet --json --memory 5K");
  EXPECT_EQ(whole.code, 0) << whole.err;
  EXPECT_EQ(whole.out, blocks.out) << blocks.err;
}

TEST(ImagesTool, ACsvNamesImagesBesideIt) {
  const Folder in;
  write_bars(in, "far/bars", 3, 1);
  in.write("far/list.csv",
           "what,file\nlying,bars/lying/0.png\nlying,bars/lying/1.png\nstanding,bars/standing/0.png\n"
           "standing,bars/standing/1.png\n");
  const auto fitted = in.lemma("fit centroid far/list.csv 'what ~ image(file, 4x4)' -o m.lemma");
  EXPECT_EQ(fitted.code, 0) << fitted.err;
  const auto said = in.lemma("predict m.lemma - ", "printf 'file\\nfar/bars/lying/2.png\\n' |");
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_EQ(in.lemma("evaluate m.lemma far/list.csv").code, 0);
}

Image image_in(const Folder& in, const std::string& name) {
  const std::string bytes = in.read(name);
  return decode_image({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, name);
}

TEST(ImagesTool, RowsBecomeFilesAndComeBackAsTheyWere) {
  const Folder in;
  in.write("d.csv", "kind,a,b,c,d,e,f\nx,0,51,102,153,204,255\n../y z,255,0,255,0,255,0\n");
  const auto made = in.lemma("images d.csv --size 2x3 --by kind -o out");
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(image_in(in, "out/x/1.png"), (Image{2, 3, 1, {0, 51, 102, 153, 204, 255}}));
  EXPECT_TRUE(in.has("out/_.._y_z/2.png"));  // a class leads nowhere else
  EXPECT_EQ(in.lemma("images d.csv --size 3x2 --scale each -o sheet.png").code, 0);
  EXPECT_EQ(image_in(in, "sheet.png").width, 5);
  in.write("loadings.csv", "feature,PC1,PC2\na,-1,0\nb,0.5,0\n");
  EXPECT_EQ(in.lemma("images loadings.csv --size 1x2 --of columns --scale signed -o parts").code, 0);
  EXPECT_EQ(image_in(in, "parts/PC1.png"), (Image{1, 2, 1, {0, 191}}));
  EXPECT_EQ(image_in(in, "parts/PC2.png"), (Image{1, 2, 1, {128, 128}}));
  in.write("centers.csv", "number,a,b\n7,0,1\n9,1,0\n");
  EXPECT_EQ(in.lemma("images centers.csv --size 1x2 --id number -o centers").code, 0);
  EXPECT_EQ(image_in(in, "centers/9.png"), (Image{1, 2, 1, {255, 0}}));
}

TEST(ImagesTool, ComponentsOfAModelAreImages) {
  const Folder in;
  ASSERT_EQ(in.lemma("fit pca iris '~ . - species' --components 3 -o pca.lemma").code, 0);
  const auto made = in.lemma("images pca.lemma --image 2x2 -o parts");
  EXPECT_EQ(made.code, 0) << made.err;
  in.write("loadings.csv", in.lemma("show pca.lemma loadings").out);
  EXPECT_EQ(in.lemma("images loadings.csv --size 2x2 --of columns -o same").code, 0);
  for (const std::string name : {"PC1.png", "PC3.png"})
    EXPECT_EQ(image_in(in, "parts/" + name), image_in(in, "same/" + name));
  EXPECT_FALSE(in.has("parts/PC4.png"));
  EXPECT_TRUE(in.lemma("images pca.lemma --size 3x2 -o x").err.find("--size 3x2 is 6 numbers") != std::string::npos);
  ASSERT_EQ(in.lemma("fit ols iris 'sepal_length ~ petal_length' -o ols.lemma").code, 0);
  EXPECT_TRUE(in.lemma("images ols.lemma --size 1x1 -o x").err.find("no loadings") != std::string::npos);
}

TEST(ImagesTool, SaysWhatCannotBeAnImage) {
  const Folder in;
  in.write("d.csv", "a,b\n1,2\n3,\n");
  const auto said = [&](const std::string& rest) {
    const auto refused = in.lemma("images " + rest);
    EXPECT_EQ(refused.code, 2) << rest;
    return refused.err;
  };
  EXPECT_TRUE(contains(said("d.csv --size 2x2 -o x"), "--size 2x2 is 4 numbers, but each row of d.csv has 2"));
  EXPECT_TRUE(contains(said("d.csv --size 1x2 -o x"), "'b' is missing"));
  EXPECT_TRUE(contains(said("d.csv --size 2 -o x"), "height x width"));
  EXPECT_TRUE(contains(said("d.csv --size 1x2 --by kind -o x"), "kind"));
  EXPECT_TRUE(contains(said("d.csv --size 1x2 --of cells -o x"), "rows"));
  in.write("twice.csv", "n,a\np,1\np,2\n");
  EXPECT_TRUE(contains(said("twice.csv --size 1x1 --id n -o x"), "two images would be called p.png"));
  EXPECT_TRUE(contains(said("d.csv --size 1x2 --rows 1 -o x.jpg"), "PNG"));
  EXPECT_TRUE(contains(said("d.csv --size 1x2"), "output"));
}

TEST(VqTool, WritesTheImageAndTheCodebook) {
  const Folder in;
  Image image{30, 30, 3, {}};
  RandomStream random(1);
  for (int i = 0; i < 30 * 30 * 3; ++i) image.levels.push_back(static_cast<std::uint8_t>(random.below(256)));
  in.write("a.png", png(image));
  const auto coded = in.lemma("vq a.png --codewords 16 -o b.png --codebook c.png");
  EXPECT_EQ(coded.code, 0) << coded.err;
  EXPECT_TRUE(contains(coded.out, "30 x 30 pixels, in colour, 24 bits per pixel; 100 blocks of 3x3")) << coded.out;
  EXPECT_TRUE(contains(coded.out, "0.44")) << coded.out;
  EXPECT_EQ(image_in(in, "b.png").pixels(), 900);
  EXPECT_EQ(image_in(in, "c.png").width, 4 * 4 - 1);
  const auto several = in.lemma("vq a.png --codewords 100,4 --json");
  EXPECT_EQ(several.code, 0) << several.err;
  EXPECT_TRUE(contains(several.out, "\"psnr\": null")) << several.out;  // a codeword for each block
}

TEST(VqTool, SaysWhatItCannotCode) {
  const Folder in;
  in.write("even.png", png({6, 6, 1, std::vector<std::uint8_t>(36, 7)}));
  in.write("half.png", png({6, 6, 1, std::vector<std::uint8_t>(36, 7)}).substr(0, 40));
  in.write("t.csv", "a\n1\n");
  const auto said = [&](const std::string& rest) {
    const auto refused = in.lemma("vq " + rest);
    EXPECT_EQ(refused.code, 2) << rest << refused.err;
    return refused.err;
  };
  EXPECT_TRUE(contains(said("even.png --codewords 2"), "only 1 different row"));
  EXPECT_TRUE(contains(said("half.png"), "half.png is a damaged PNG file"));
  EXPECT_TRUE(contains(said("t.csv"), "neither a PNG nor a JPEG"));
  EXPECT_TRUE(contains(said("none.png"), "cannot be read"));
  EXPECT_TRUE(contains(said("even.png --codewords 0"), "from 1 to"));
  EXPECT_TRUE(contains(said("even.png --codewords many"), "'many'"));
  EXPECT_TRUE(contains(said("even.png --block 3"), "height x width"));
  EXPECT_TRUE(contains(said("even.png --codewords 1,2 -o x.png"), "one of --codewords"));
  EXPECT_TRUE(contains(said("even.png --codewords 1 -o even.png"), "also the input"));
  EXPECT_FALSE(in.has("x.png"));
}

}  // namespace
}  // namespace lemma
