// lemma/plot/colours.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/plot/colours.hpp>
#include <span>

namespace lemma::plot {
namespace {

constexpr Colour of(std::uint32_t rgb) {
  return {static_cast<std::uint8_t>(rgb >> 16), static_cast<std::uint8_t>(rgb >> 8), static_cast<std::uint8_t>(rgb)};
}

constexpr Colours kLight{
    of(0xffffff),
    of(0x222222),
    of(0x6b6b6b),
    of(0xe4e4e4),
    {of(0x0072b2), of(0xd55e00), of(0x009e73), of(0xcc79a7), of(0x56b4e9), of(0xe69f00), of(0x7a5195), of(0x7f7f7f)}};
constexpr Colours kDark{
    of(0x181a1f),
    of(0xe8e8e8),
    of(0xa6a6a6),
    of(0x33363d),
    {of(0x4da6e0), of(0xff8a4c), of(0x2dc79b), of(0xe59ac6), of(0x9bd4f5), of(0xf5bd4f), of(0xb79ad1), of(0xb5b5b5)}};

constexpr std::array<Colour, 9> kViridis{of(0xfde725), of(0xaadc32), of(0x5ec962), of(0x28ae80), of(0x21918c),
                                         of(0x2c728e), of(0x3b528b), of(0x472d7b), of(0x440154)};
constexpr std::array<Colour, 7> kDiverging{of(0x0a5a94), of(0x4f9ac9), of(0xb4d5ea), of(0xf7f7f7),
                                           of(0xf6c9a8), of(0xe2813e), of(0xb04a00)};

Colour between(std::span<const Colour> stops, double at) {
  const double place = std::clamp(std::isnan(at) ? 0 : at, 0.0, 1.0) * static_cast<double>(stops.size() - 1);
  const auto left = std::min(static_cast<std::size_t>(place), stops.size() - 2);
  const double share = place - static_cast<double>(left);
  const auto mix = [&](std::uint8_t a, std::uint8_t b) {
    return static_cast<std::uint8_t>(std::lround(a + share * (b - a)));
  };
  const Colour &a = stops[left], &b = stops[left + 1];
  return {mix(a.red, b.red), mix(a.green, b.green), mix(a.blue, b.blue)};
}

/// A part of a colour by the light that it gives, 0 … 1, and back (sRGB).
double light_of(std::uint8_t part) {
  const double c = part / 255.0;
  return c <= 0.03928 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}
std::uint8_t part_of(double light) {
  const double c = light <= 0.03928 / 12.92 ? light * 12.92 : 1.055 * std::pow(light, 1 / 2.4) - 0.055;
  return static_cast<std::uint8_t>(std::lround(255 * std::clamp(c, 0.0, 1.0)));
}

/// Relative luminance, as WCAG 2 has it.
double luminance(const Colour& colour) {
  return 0.2126 * light_of(colour.red) + 0.7152 * light_of(colour.green) + 0.0722 * light_of(colour.blue);
}

}  // namespace

std::string Colour::hex() const { return fmt::format("#{:02x}{:02x}{:02x}", red, green, blue); }

const Colours& colours(bool dark) { return dark ? kDark : kLight; }

Colour ramp(Paint::Of of, double at) {
  if (of == Paint::Of::sequential && at > 1) return {0, 0, 0};
  if (of == Paint::Of::sequential && at < 0) return {255, 255, 255};
  return of == Paint::Of::diverging ? between(kDiverging, at) : between(kViridis, at);
}

Colour on_dark_paper(const Colour& colour) {
  const double from = luminance(colour), middle = std::sqrt(1.05 * 0.05);
  if (from <= 0 || from >= 1) return from <= 0 ? Colour{255, 255, 255} : Colour{0, 0, 0};
  const double to = middle * std::pow(middle / (from + 0.05), 2.0 / 3) - 0.05;
  const double white = to > from ? (to - from) / (1 - from) : 0, share = to > from ? 1 - white : to / from;
  const auto part = [&](std::uint8_t c) { return part_of(white + share * light_of(c)); };
  return {part(colour.red), part(colour.green), part(colour.blue)};
}

Colour colour_of(const Paint& paint, bool dark) {
  const Colours& all = colours(dark);
  switch (paint.of) {
    case Paint::Of::ink: return all.ink;
    case Paint::Of::faint: return all.faint;
    case Paint::Of::palette: return all.palette[static_cast<std::size_t>(paint.number % kPaletteSize)];
    default: return dark ? on_dark_paper(ramp(paint.of, paint.at)) : ramp(paint.of, paint.at);
  }
}

bool takes_dark_words(const Paint& cell) {
  const double ground = luminance(colour_of(cell, false)) + 0.05;
  return ground / (luminance(colour_of(dark_words(), false)) + 0.05) >=
         (luminance(colour_of(pale_words(), false)) + 0.05) / ground;
}

}  // namespace lemma::plot
