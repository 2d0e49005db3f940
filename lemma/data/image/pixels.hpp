// lemma/data/image/pixels.hpp: images as numbers: grey levels at a given size, and histograms of the directions of their edges.
#pragma once
#include <lemma/core/matrix.hpp>
#include <lemma/data/image.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace lemma {

/// What image(column, …) and hog(column, …) make of a picture, once it is brought to `height` x `width`.
struct Picturing {
  bool edges = false;  // hog()
  int height = 0, width = 0;
  // hog()
  int cell = 8;            // pixels along each side of a cell
  int block = 2;           // cells along each side of a block; 0: cells stand for themselves
  int bins = 12;           // directions that are told apart
  bool full_turn = false;  // from dark to light is another direction than from light to dark
};
constexpr int kMostSide = 1000, kMostBins = 360;

/// Empty when it makes sense; otherwise what is wrong.
std::string fault_of(const Picturing& how);
Index columns_of(const Picturing& how);
/// The place of a column: "row,column" of a pixel; of hog "row,column,angle", with blocks "row,column,cell,angle".
std::string place_of(const Picturing& how, Index column);
/// Its numbers, from 0 to 1, columns_of() of them.
void fill_pixels(const Image& image, const Picturing& how, double* out);

/// Grey levels from 0 (black) to 1: (299 red + 587 green + 114 blue) / 1000, at another size. Along each axis by itself a new pixel
/// is the mean over what it covers where the image gets smaller (a pixel in part with that share), and lies between the two nearest
/// centres where it gets larger (bilinear; beyond the outermost centres the level stays). Sums are of whole numbers and exact,
/// so that an even area is even to the last bit.
Matrix grey_levels(const Image& image, Index height, Index width);

/// The other way: numbers as an image, `low` and what is below it black, `high` and above white. Error unless low < high.
Image image_of(const MatrixView& values, double low, double high);

/// 16x24: a height and a width; nothing where something else is written.
std::optional<std::pair<int, int>> parse_size(std::string_view text);

/// Histograms of oriented gradients. At each pixel g = (right − left, below − above), the edge of the image repeated; its length
/// goes to the two directions nearest to its angle, in proportion to how near they are. Directions are 0°, 180°/bins, … (360°/bins
/// with full_turn): 0° is light and dark side by side, 90° one above the other. A cell holds the means of its pixels. A block is
/// `block` x `block` cells v, one at each place, normalised as v/√(‖v‖² + 0.01²), cut off at 0.2, and so again.
Vector edge_histograms(const Matrix& grey, const Picturing& how);

}  // namespace lemma
