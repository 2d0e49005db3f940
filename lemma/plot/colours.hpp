// lemma/plot/colours.hpp: colours that those who see few colours can tell apart, for light and dark paper. Inner header of the room.
#pragma once
#include <array>
#include <cstdint>
#include <lemma/plot/figure.hpp>
#include <string>

namespace lemma::plot {

struct Colour {
  std::uint8_t red, green, blue;
  std::string hex() const;  // "#0072b2"
};

inline constexpr int kPaletteSize = 8;

struct Colours {
  Colour paper, ink, faint, grid;
  std::array<Colour, kPaletteSize> palette;  // Okabe and Ito (2008), without the yellow that white paper swallows
};
const Colours& colours(bool dark);

/// On a ramp from 0 to 1. Sequential: from pale to dark (viridis, whose lightness falls evenly, turned round); diverging: blue,
/// white at 0.5, vermilion. Beyond its ends the sequential one is white and black.
Colour ramp(Paint::Of of, double at);
/// What a ramp's colour is on dark paper, so that what is pale there is dark here: its hue, with the luminance L′ for which
///
///     (L′ + 0.05) / m = (m / (L + 0.05))^(2/3),     m = √(1.05 · 0.05)
///
/// and black for white, white for black. Words that stand out from `colour` by m / 0.05 or more, the least of the better of black and
/// white, do so here too; the power keeps the darkest from being lost in the paper.
Colour on_dark_paper(const Colour& colour);
Colour colour_of(const Paint& paint, bool dark);
/// Whether dark words stand out more on a cell of a ramp than pale ones, by the ratio of luminances.
bool takes_dark_words(const Paint& cell);
/// Words for either on light paper; on dark paper cells and words both change.
constexpr Paint dark_words() { return sequential(2); }   // beyond its dark end the ramp is black
constexpr Paint pale_words() { return sequential(-1); }  // and white before the pale one

}  // namespace lemma::plot
