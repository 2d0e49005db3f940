// lemma/plot/figure.cpp
#include <lemma/core/error.hpp>
#include <lemma/core/file.hpp>
#include <lemma/plot/figure.hpp>
#include <lemma/plot/raster.hpp>

namespace lemma::plot {
namespace {

struct Count {
  Index operator()(const Points& m) const { return static_cast<Index>(m.x.size()); }
  Index operator()(const Line& m) const { return m.x.empty() ? 0 : 1; }
  Index operator()(const Area& m) const { return m.x.empty() ? 0 : 1; }
  Index operator()(const Rectangles& m) const { return static_cast<Index>(m.x0.size()); }
  Index operator()(const Segments& m) const { return static_cast<Index>(m.x0.size()); }
  Index operator()(const Words& m) const { return static_cast<Index>(m.words.size()); }
};

}  // namespace

Index Figure::marks() const {
  Index out = 0;
  for (const Panel& panel : panels)
    for (const Mark& mark : panel.marks) out += std::visit(Count{}, mark);
  return out;
}

Index Figure::points() const {
  Index out = 0;
  for (const Panel& panel : panels)
    for (const Mark& mark : panel.marks)
      if (const auto* points = std::get_if<Points>(&mark)) out += static_cast<Index>(points->x.size());
  return out;
}

Format format_of(std::string_view path) {
  const auto dot = path.rfind('.');
  const std::string_view end = dot == std::string_view::npos ? "" : path.substr(dot);
  if (end == ".svg") return Format::svg;
  if (end == ".png") return Format::png;
  if (end == ".pdf") return Format::pdf;
  if (end == ".txt") return Format::term;
  throw Error("the file '" + std::string(path) +
              "' must end in .svg, .png, .pdf or .txt, or --format must say what it is");
}

std::string render(const Figure& figure, Format format) {
  constexpr double kZoom = 2;
  switch (format) {
    case Format::png: return png_of(to_svg(figure), figure.width, figure.height, kZoom);
    case Format::pdf: return pdf_of(to_svg(figure), figure.width, figure.height);
    case Format::term: return to_term(figure);
    default: return to_svg(figure);
  }
}

void save(const Figure& figure, const std::string& path) { write_file(path, render(figure, format_of(path))); }

}  // namespace lemma::plot
