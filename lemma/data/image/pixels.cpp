// lemma/data/image/pixels.cpp
#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <lemma/core/error.hpp>
#include <lemma/data/image/pixels.hpp>
#include <numbers>

namespace lemma {
namespace {

// -- sizes

/// A new pixel along one axis: whole shares of old ones, from `first` on.
struct Taps {
  Index first = 0;
  std::vector<double> shares;
};

/// The shares of each new pixel add up to `total`.
struct Axis {
  std::vector<Taps> taps;
  double total = 1;
};

/// In units of 1/to of an old pixel the new one i covers [i from, (i + 1) from), and the old one s covers [s to, (s + 1) to).
Axis shrunk(Index from, Index to) {
  Axis axis{{}, static_cast<double>(from)};
  for (Index i = 0; i < to; ++i) {
    const Index begin = i * from, end = begin + from;
    Taps taps{begin / to, {}};
    for (Index s = taps.first; s * to < end; ++s)
      taps.shares.push_back(static_cast<double>(std::min(end, (s + 1) * to) - std::max(begin, s * to)));
    axis.taps.push_back(std::move(taps));
  }
  return axis;
}

/// The centre of the new pixel i lies at ((2i + 1) from − to) / (2 to), counted from the centre of the first old one.
Axis stretched(Index from, Index to) {
  Axis axis{{}, static_cast<double>(2 * to)};
  for (Index i = 0; i < to; ++i) {
    const Index place = std::clamp((2 * i + 1) * from - to, Index{0}, (from - 1) * 2 * to), rest = place % (2 * to);
    Taps taps{place / (2 * to), {static_cast<double>(2 * to - rest)}};
    if (rest > 0) taps.shares.push_back(static_cast<double>(rest));
    axis.taps.push_back(std::move(taps));
  }
  return axis;
}

Axis axis_of(Index from, Index to) { return from >= to ? shrunk(from, to) : stretched(from, to); }

double level_at(const Image& image, Index pixel) {
  const std::uint8_t* at = image.levels.data() + pixel * image.channels;
  return image.channels == 1 ? 1000.0 * at[0] : 299.0 * at[0] + 587.0 * at[1] + 114.0 * at[2];
}

constexpr double kWhite = 255'000;

// -- edges

constexpr double kNothing = 0.01, kMostOfABlock = 0.2;

/// v / √(‖v‖² + 0.01²)
void normalise(double* v, Index count) {
  double squares = kNothing * kNothing;
  for (Index i = 0; i < count; ++i) squares += v[i] * v[i];
  const double length = std::sqrt(squares);
  for (Index i = 0; i < count; ++i) v[i] /= length;
}

/// The histogram of each cell, the cells row after row.
Matrix cells_of(const Matrix& grey, const Picturing& how) {
  const Index rows = grey.rows(), columns = grey.cols(), bins = how.bins, across = columns / how.cell;
  Matrix cells = Matrix::Zero(rows / how.cell * across, bins);
  const double turn = how.full_turn ? 2 * std::numbers::pi : std::numbers::pi, pixels = how.cell * how.cell;
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < columns; ++c) {
      const double right = grey(r, std::min(c + 1, columns - 1)) - grey(r, std::max<Index>(c - 1, 0));
      const double down = grey(std::min(r + 1, rows - 1), c) - grey(std::max<Index>(r - 1, 0), c);
      const double length = std::sqrt(right * right + down * down);
      if (length == 0) continue;
      double angle = std::atan2(down, right);
      if (angle < 0) angle += turn;
      const double place = angle / turn * static_cast<double>(bins), whole = std::floor(place), near = place - whole;
      const Index bin = static_cast<Index>(whole) % bins;
      auto cell = cells.row(r / how.cell * across + c / how.cell);
      cell[bin] += length * (1 - near) / pixels;
      cell[(bin + 1) % bins] += length * near / pixels;
    }
  return cells;
}

Index down_of(const Picturing& how) { return how.height / how.cell; }
Index across_of(const Picturing& how) { return how.width / how.cell; }
/// Cells, or blocks, one below the other, and beside each other.
Index steps_down(const Picturing& how) { return down_of(how) - std::max(how.block, 1) + 1; }
Index steps_across(const Picturing& how) { return across_of(how) - std::max(how.block, 1) + 1; }
Index cells_in(const Picturing& how) { return how.block == 0 ? 1 : Index{how.block} * how.block; }

}  // namespace

std::string fault_of(const Picturing& how) {
  if (how.height < 1 || how.width < 1 || how.height > kMostSide || how.width > kMostSide)
    return fmt::format("the sides of an image are from 1 to {} pixels", kMostSide);
  if (!how.edges) return {};
  if (how.bins < 1 || how.bins > kMostBins) return fmt::format("there are from 1 to {} bins", kMostBins);
  if (how.cell < 1 || how.height % how.cell != 0 || how.width % how.cell != 0)
    return fmt::format("cells of {0} x {0} pixels do not fill {1}x{2}: both sides are multiples of the cell's",
                       how.cell, how.height, how.width);
  if (how.block < 0 || how.block > down_of(how) || how.block > across_of(how))
    return fmt::format("blocks of {0} x {0} cells are larger than the {1} x {2} cells that there are", how.block,
                       down_of(how), across_of(how));
  return {};
}

Index columns_of(const Picturing& how) {
  if (!how.edges) return Index{how.height} * how.width;
  return steps_down(how) * steps_across(how) * cells_in(how) * how.bins;
}

std::string place_of(const Picturing& how, Index column) {
  const auto place = [](Index at, Index across) { return fmt::format("{},{}", at / across + 1, at % across + 1); };
  if (!how.edges) return place(column, how.width);
  const double angle = (how.full_turn ? 360.0 : 180.0) * static_cast<double>(column % how.bins) / how.bins;
  const Index cell = column / how.bins, block = cell / cells_in(how);
  std::string out = place(block, steps_across(how));
  if (how.block > 0) out += fmt::format(",{}", cell % cells_in(how) + 1);
  return fmt::format("{},{:.4g}", out, angle);
}

Matrix grey_levels(const Image& image, Index height, Index width) {
  const Axis down = axis_of(image.height, height), across = axis_of(image.width, width);
  Matrix out = Matrix::Zero(height, width);
  std::vector<double> row(static_cast<std::size_t>(width));  // of the image, at its new width
  Index known = -1;
  const auto take = [&](Index r) {
    if (r == known) return;
    known = r;
    for (std::size_t c = 0; c < row.size(); ++c) {
      const Taps& taps = across.taps[c];
      row[c] = 0;
      for (std::size_t s = 0; s < taps.shares.size(); ++s)
        row[c] += taps.shares[s] * level_at(image, r * image.width + taps.first + static_cast<Index>(s));
    }
  };
  for (Index i = 0; i < height; ++i) {
    const Taps& taps = down.taps[static_cast<std::size_t>(i)];
    for (std::size_t s = 0; s < taps.shares.size(); ++s) {
      take(taps.first + static_cast<Index>(s));
      for (Index c = 0; c < width; ++c) out(i, c) += taps.shares[s] * row[static_cast<std::size_t>(c)];
    }
  }
  return out / (down.total * across.total * kWhite);
}

Vector edge_histograms(const Matrix& grey, const Picturing& how) {
  const Matrix cells = cells_of(grey, how);
  if (how.block == 0) return Eigen::Map<const Vector>(cells.data(), cells.size());
  const Index across = across_of(how), length = cells_in(how) * how.bins;
  Vector out(columns_of(how));
  double* block = out.data();
  for (Index r = 0; r < steps_down(how); ++r)
    for (Index c = 0; c < steps_across(how); ++c, block += length) {
      double* cell = block;
      for (Index i = 0; i < how.block; ++i)
        for (Index j = 0; j < how.block; ++j, cell += how.bins)
          std::copy_n(cells.row((r + i) * across + c + j).data(), how.bins, cell);
      normalise(block, length);
      for (Index i = 0; i < length; ++i) block[i] = std::min(block[i], kMostOfABlock);
      normalise(block, length);
    }
  return out;
}

Image image_of(const MatrixView& values, double low, double high) {
  require(low < high, "an image needs a level for black below that for white");
  Image out{values.rows(), values.cols(), 1, {}};
  out.levels.reserve(static_cast<std::size_t>(values.size()));
  for (Index r = 0; r < values.rows(); ++r)
    for (Index c = 0; c < values.cols(); ++c)
      out.levels.push_back(
          static_cast<std::uint8_t>(std::lround(255 * std::clamp((values(r, c) - low) / (high - low), 0.0, 1.0))));
  return out;
}

std::optional<std::pair<int, int>> parse_size(std::string_view text) {
  std::pair<int, int> out;
  const char* const end = text.data() + text.size();
  const auto [x, height] = std::from_chars(text.data(), end, out.first);
  if (height != std::errc() || x == end || *x != 'x') return {};
  const auto [stop, width] = std::from_chars(x + 1, end, out.second);
  if (width != std::errc() || stop != end) return {};
  return out;
}

void fill_pixels(const Image& image, const Picturing& how, double* out) {
  const Matrix grey = grey_levels(image, how.height, how.width);
  if (!how.edges) return void(std::copy_n(grey.data(), grey.size(), out));
  const Vector histograms = edge_histograms(grey, how);
  std::copy_n(histograms.data(), histograms.size(), out);
}

}  // namespace lemma
