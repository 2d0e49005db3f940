// lemma/plot/raster.hpp: SVG as PNG or PDF. Inner header of the room.
#pragma once
#include <string>

namespace lemma::plot {

/// By librsvg and cairo, opened on first use; MachineError where they are not there.
std::string png_of(const std::string& svg, double width, double height, double zoom);
std::string pdf_of(const std::string& svg, double width, double height);

}  // namespace lemma::plot
