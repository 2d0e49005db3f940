// lemma/plot/svg.cpp: a figure as SVG: text stays text, nothing is loaded from elsewhere, and no part needs an id, so that several
// pictures fit into one page.
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/parallel.hpp>
#include <lemma/core/text.hpp>
#include <lemma/plot/colours.hpp>
#include <lemma/plot/hexagons.hpp>
#include <lemma/plot/layout.hpp>
#include <lemma/plot/markup.hpp>
#include <map>
#include <numbers>
#include <set>

namespace lemma::plot {
namespace {

/// Hundredths of a pixel, without zeros that say nothing.
std::string number(double value, int decimals = 2) {
  std::string out = fmt::format("{:.{}f}", value, decimals);
  if (out.find('.') != std::string::npos) {
    while (out.back() == '0') out.pop_back();
    if (out.back() == '.') out.pop_back();
  }
  return out == "-0" ? "0" : out;
}

std::string rules(bool dark, const std::string& indent) {
  const Colours& all = colours(dark);
  std::string out;
  const auto both = [&](const std::string& name, const Colour& colour) {
    out += fmt::format("{0}.f{1}{{fill:{2}}}.s{1}{{stroke:{2}}}\n", indent, name, colour.hex());
  };
  out += fmt::format("{}.paper{{fill:{}}}.grid{{stroke:{}}}\n", indent, all.paper.hex(), all.grid.hex());
  both("i", all.ink);
  both("m", all.faint);
  for (int k = 0; k < kPaletteSize; ++k) both(std::to_string(k), all.palette[static_cast<std::size_t>(k)]);
  return out;
}

/// What the colours of ramps, which stand where they are used, become on dark paper: a rule stands before an attribute.
std::string ramp_rules(std::string_view drawn, const std::string& indent) {
  std::set<std::string> used;
  constexpr std::string_view kBefore = "=\"#";
  constexpr std::size_t kHex = 6;
  for (std::size_t i = drawn.find(kBefore); i != drawn.npos; i = drawn.find(kBefore, i + 1)) {
    const std::size_t blank = drawn.rfind(' ', i);
    used.emplace(drawn.substr(blank + 1, i + kBefore.size() + kHex - blank));
  }
  std::string out;
  for (const std::string& each : used) {
    const auto part = [&](std::size_t k) {
      return static_cast<std::uint8_t>(std::stoul(each.substr(each.size() - 7 + 2 * k, 2), nullptr, 16));
    };
    out += fmt::format("{}[{}]{{{}:{}}}\n", indent, each, each.substr(0, each.find('=')),
                       on_dark_paper({part(0), part(1), part(2)}).hex());
  }
  return out;
}

/// Of a file of its own, in which that is drawn.
std::string style(Theme theme, std::string_view drawn) {
  std::string out = "<style>\n" + rules(theme == Theme::dark, "");
  if (theme == Theme::dark) out += ramp_rules(drawn, "");
  if (theme == Theme::automatic)
    out += "@media (prefers-color-scheme:dark){\n" + rules(true, " ") + ramp_rules(drawn, " ") + "}\n";
  return out + "</style>\n";
}
/// Of a part of a page, which brings the other rules.
std::string style_in_page(std::string_view drawn) {
  const std::string of_ramps = ramp_rules(drawn, " ");
  if (of_ramps.empty()) return "";
  return "<style>\n@media screen and (prefers-color-scheme:dark){\n" + of_ramps + "}\n</style>\n";
}

/// A file of its own brings its colours; a part of a page has those of the page.
enum class Standing { alone, in_a_page };

/// ' class="f0"', or the colour itself where it comes from a ramp, and the opacity.
std::string paint(const Paint& paint, bool stroke) {
  const std::string attribute = stroke ? "stroke" : "fill";
  std::string out;
  switch (paint.of) {
    case Paint::Of::ink: out = fmt::format(" class=\"{}i\"", attribute[0]); break;
    case Paint::Of::faint: out = fmt::format(" class=\"{}m\"", attribute[0]); break;
    case Paint::Of::palette: out = fmt::format(" class=\"{}{}\"", attribute[0], paint.number % kPaletteSize); break;
    default: out = fmt::format(" {}=\"{}\"", attribute, ramp(paint.of, paint.at).hex());
  }
  if (paint.opacity < 1) out += fmt::format(" {}-opacity=\"{}\"", attribute, number(paint.opacity));
  return out;
}

/// An element that holds its tooltip, where it has one.
std::string element(const std::string& tag, const std::string& attributes, const std::string& tooltip) {
  if (tooltip.empty()) return "<" + tag + attributes + "/>\n";
  return "<" + tag + attributes + "><title>" + escaped(tooltip) + "</title></" + tag + ">\n";
}

struct TextStyle {
  double size = kTickSize;
  const char* anchor = "middle";
  Paint paint = ink();
  double turned = 0;  // degrees
  bool bold = false;
};

std::string text(double x, double y, std::string_view words, const TextStyle& style) {
  if (words.empty()) return "";
  std::string out = fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"{}\" text-anchor=\"{}\"{}", number(x), number(y),
                                number(style.size), style.anchor, paint(style.paint, false));
  if (style.turned != 0)
    out += fmt::format(" transform=\"rotate({} {} {})\"", number(style.turned), number(x), number(y));
  if (style.bold) out += " font-weight=\"bold\"";
  return out + ">" + escaped(words) + "</text>\n";
}

/// The shape of a group: groups differ in more than colour.
std::string shape(int group, double x, double y, double r, const Paint& p, const std::string& tooltip) {
  const auto path = [&](const std::string& d) {
    return element("path", fmt::format(" d=\"{}\"{}", d, paint(p, false)), tooltip);
  };
  const double w = r * 1.15, v = r * 1.3;
  switch (group % 5) {
    case 1:
      return path(fmt::format("M{} {}l{} {}h{}z", number(x), number(y - v), number(v), number(2 * w), number(-2 * v)));
    case 2:
      return path(fmt::format("M{} {}h{}v{}h{}z", number(x - r * 0.9), number(y - r * 0.9), number(r * 1.8),
                              number(r * 1.8), number(-r * 1.8)));
    case 3:
      return path(fmt::format("M{} {}l{} {} {} {} {} {}z", number(x), number(y - v), number(v), number(v), number(-v),
                              number(v), number(-v), number(-v)));
    case 4:
      return path(fmt::format("M{} {}l{} {}h{}z", number(x), number(y + v), number(v), number(-2 * w), number(-2 * v)));
    default:
      return element("circle",
                     fmt::format(" cx=\"{}\" cy=\"{}\" r=\"{}\"{}", number(x), number(y), number(r), paint(p, false)),
                     tooltip);
  }
}

class Writer {
 public:
  explicit Writer(const Figure& figure) : figure_(figure), places_(layout(figure)), points_(figure.points()) {}

  std::string write(Standing standing) {
    const bool alone = standing == Standing::alone;
    const std::string name = figure_.title.empty() ? "picture" : figure_.title;
    std::string head = fmt::format(
        "<svg{3} width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" role=\"img\" "
        "aria-label=\"{2}\" font-family=\"'DejaVu Sans',Verdana,Helvetica,Arial,sans-serif\">\n",
        number(figure_.width), number(figure_.height),
        escaped(figure_.description.empty() ? name : name + ". " + figure_.description),
        alone ? " xmlns=\"http://www.w3.org/2000/svg\"" : "");
    if (alone) {  // in a page a title of the whole would hide those of the points
      head += "<title>" + escaped(name) + "</title>\n";
      if (!figure_.description.empty()) head += "<desc>" + escaped(figure_.description) + "</desc>\n";
    }
    out_ += "<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n";
    out_ += text(figure_.width / 2, 26, fitted(figure_.title, kBold * kTitleSize, figure_.width - 20),
                 {kTitleSize, "middle", ink(), 0, true});
    if (points_ > kMostPoints) count_hexagons();
    for (const PlacedPanel& placed : places_.panels) panel(placed);
    legend();
    return head + (alone ? style(figure_.theme, out_) : style_in_page(out_)) + out_ + "</svg>\n";
  }

 private:
  void panel(const PlacedPanel& placed) {
    const std::string& name = placed.panel->name;
    out_ += name.empty() ? "<g class=\"panel\">\n"
                         : fmt::format("<g class=\"panel\" role=\"group\" aria-label=\"{}\">\n", escaped(name));
    axes(placed);
    const Box& area = placed.area;
    out_ += fmt::format("<svg class=\"marks\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" overflow=\"hidden\">\n",
                        number(area.left), number(area.top), number(area.width), number(area.height));
    at_ = &placed;
    words_.clear();
    bool any = false;
    for (const Mark& mark : placed.panel->marks) {
      const auto before = out_.size();
      std::visit([this](const auto& each) { draw(each); }, mark);
      any = any || out_.size() > before;
    }
    if (!any) out_ += text(area.width / 2, area.height / 2, "nothing to draw", {kLabelSize, "middle", faint()});
    out_ += "</svg>\n</g>\n";
  }

  void axes(const PlacedPanel& placed) {
    const Panel& panel = *placed.panel;
    const Box& area = placed.area;
    std::string grid;
    for (const Tick& tick : placed.x_ticks)
      if (panel.x.grid)
        grid += fmt::format("M{} {}v{}", number(placed.left_of(tick.at)), number(area.top), number(area.height));
    for (const Tick& tick : placed.y_ticks)
      if (panel.y.grid)
        grid += fmt::format("M{} {}h{}", number(area.left), number(placed.top_of(tick.at)), number(area.width));
    if (!grid.empty()) out_ += "<path class=\"grid\" fill=\"none\" d=\"" + grid + "\"/>\n";
    if (panel.x.shown || panel.y.shown || panel.x.grid || panel.y.grid)
      out_ += fmt::format("<path class=\"sm\" fill=\"none\" d=\"M{} {}v{}h{}\"/>\n", number(area.left),
                          number(area.top), number(area.height), number(area.width));
    double below = area.bottom() + 3;
    if (panel.x.shown) {
      out_ += "<g class=\"ticks x\">\n";
      for (const Tick& tick : placed.x_ticks) {
        const double x = placed.left_of(tick.at);
        if (placed.slanted) out_ += text(x + 4, area.bottom() + 12, tick.text, {kTickSize, "end", ink(), -40});
        else out_ += text(x, area.bottom() + 15, tick.text, {});
      }
      out_ += "</g>\n";
      double widest = 0;
      for (const Tick& tick : placed.x_ticks) widest = std::max(widest, text_width(tick.text, kTickSize));
      below = area.bottom() + (placed.slanted ? widest * 0.64 + 17 : kTickSize + 8);
    }
    out_ += text(area.left + area.width / 2, below + 12, fitted(panel.x.label, kLabelSize, area.width + 40),
                 {kLabelSize, "middle"});
    double left = area.left - 4;
    if (panel.y.shown) {
      out_ += "<g class=\"ticks y\">\n";
      double widest = 0;
      for (const Tick& tick : placed.y_ticks) {
        out_ += text(area.left - 5, placed.top_of(tick.at) + 4, tick.text, {kTickSize, "end"});
        widest = std::max(widest, text_width(tick.text, kTickSize));
      }
      out_ += "</g>\n";
      left = area.left - 9 - widest;
    }
    out_ += text(left - 6, area.top + area.height / 2, fitted(panel.y.label, kLabelSize, area.height + 30),
                 {kLabelSize, "middle", ink(), -90});
    out_ += text(area.left + area.width / 2, area.top - 7, fitted(panel.title, kBold * kLabelSize, area.width),
                 {kLabelSize, "middle", ink(), 0, true});
  }

  // Inside the panel's own coordinates.
  double x(double value) const { return at_->x.place(value) * at_->area.width; }
  double y(double value) const { return (1 - at_->y.place(value)) * at_->area.height; }
  /// Finite, and not so far outside that a renderer's numbers end.
  static bool drawn(double a, double b) { return std::abs(a) < 1e6 && std::abs(b) < 1e6; }

  void draw(const Points& marks) {
    if (points_ > kMostPoints) return hexagons(marks);
    if (points_ > kMostTooltips) return dots(marks);
    for (std::size_t i = 0; i < marks.x.size(); ++i) {
      const double px = x(marks.x[i]), py = y(marks.y[i]);
      if (!drawn(px, py)) continue;
      Paint p = marks.paint;
      int group = 0;
      if (!marks.group.empty()) {
        group = marks.group[i];
        p = group < 0 ? faint(p.opacity) : series(group, p.opacity);
      }
      out_ += shape(std::max(group, 0), px, py, marks.radius, p, marks.tooltips.empty() ? "" : marks.tooltips[i]);
    }
  }

  /// One path a group, of strokes without length and with round ends.
  void dots(const Points& marks) {
    int groups = 0;
    for (const int g : marks.group) groups = std::max(groups, g + 1);
    for (int g = marks.group.empty() ? 0 : -1; g < std::max(groups, 1); ++g) {
      std::string d;
      for (std::size_t i = 0; i < marks.x.size(); ++i) {
        if (!marks.group.empty() && marks.group[i] != g) continue;
        const double px = x(marks.x[i]), py = y(marks.y[i]);
        if (drawn(px, py)) d += "M" + number(px, 1) + " " + number(py, 1) + "h0";
      }
      if (d.empty()) continue;
      const Paint p = marks.group.empty() ? marks.paint
                      : g < 0             ? faint(marks.paint.opacity)
                                          : series(g, marks.paint.opacity);
      const double r = points_ > 10'000 ? std::min(marks.radius, 1.5) : std::min(marks.radius, 2.0);
      out_ += fmt::format(
          "<path class=\"dots {}\"{} fill=\"none\" stroke-width=\"{}\" stroke-linecap=\"round\" d=\"{}\"/>\n",
          paint(p, true).substr(8, 2), p.opacity < 1 ? fmt::format(" stroke-opacity=\"{}\"", number(p.opacity)) : "",
          number(2 * r), d);
    }
  }

  double side_of_hexagons(const Box& area) const {
    return std::max(3.0, std::sqrt(area.width * area.height * static_cast<double>(places_.panels.size()) / 6000));
  }

  /// Those of all panels, on several threads: each is a pass over many points.
  void count_hexagons() {
    std::vector<std::pair<const PlacedPanel*, const Points*>> all;
    for (const PlacedPanel& placed : places_.panels)
      for (const Mark& mark : placed.panel->marks)
        if (const auto* points = std::get_if<Points>(&mark)) all.emplace_back(&placed, points), hexagons_[points];
    parallel_for(static_cast<Index>(all.size()), {}, [&](Index k) {
      const auto& [placed, points] = all[static_cast<std::size_t>(k)];
      const Box& area = placed->area;
      std::vector<double> px(points->x.size()), py(points->y.size());
      for (std::size_t i = 0; i < px.size(); ++i)
        px[i] = placed->x.place(points->x[i]) * area.width, py[i] = (1 - placed->y.place(points->y[i])) * area.height;
      hexagons_.at(points) = hexagons_of(px, py, points->group, area.width, area.height, side_of_hexagons(area));
    });
  }

  void hexagons(const Points& marks) {
    const double side = side_of_hexagons(at_->area);
    const auto& cells = hexagons_.at(&marks);
    double most = 1;
    for (const Hexagon& cell : cells) most = std::max(most, cell.count);
    const double h = side * std::numbers::sqrt3 / 2;
    for (const Hexagon& cell : cells) {
      const double share = std::log1p(cell.count) / std::log1p(most);
      Paint p = cell.group < 0 ? sequential(share) : series(cell.group, 0.15 + 0.85 * share);
      if (marks.group.empty() && marks.paint.of == Paint::Of::palette)
        p = series(marks.paint.number, 0.12 + 0.88 * share);
      out_ +=
          element("path",
                  fmt::format(" d=\"M{} {}l{} {}v{}l{} {} {} {}v{}z\"{}", number(cell.x, 1), number(cell.y - side, 1),
                              number(h, 1), number(side / 2, 1), number(side, 1), number(-h, 1), number(side / 2, 1),
                              number(-h, 1), number(-side / 2, 1), number(-side, 1), paint(p, false)),
                  places_.panels.size() <= 4 ? count_of(static_cast<std::int64_t>(cell.count), "point") : "");
    }
  }

  /// The path through the places; a gap where one is not drawn. Steps too small to be seen are passed over.
  std::string path(const std::vector<double>& xs, const std::vector<double>& ys) const {
    std::string d;
    bool pen = false;
    double last_x = 0, last_y = 0;
    for (std::size_t i = 0; i < xs.size(); ++i) {
      const double px = x(xs[i]), py = y(ys[i]);
      if (!drawn(px, py)) pen = false;
      else if (pen && i + 1 < xs.size() && std::abs(px - last_x) + std::abs(py - last_y) < 0.3) continue;
      else {
        d += (pen ? "L" : "M") + number(px) + " " + number(py);
        pen = true, last_x = px, last_y = py;
      }
    }
    return d;
  }

  void draw(const Line& line) {
    const std::string d = path(line.x, line.y);
    if (d.empty()) return;
    out_ += element(
        "path",
        fmt::format(" d=\"{}\" fill=\"none\" stroke-width=\"{}\" stroke-linejoin=\"round\"{}{}", d, number(line.width),
                    line.dashed ? " stroke-dasharray=\"5 4\"" : "", paint(line.paint, true)),
        line.tooltip);
  }

  void draw(const Area& area) {
    std::vector<double> xs, ys;
    for (std::size_t i = 0; i < area.x.size(); ++i)
      if (std::isfinite(area.upper[i]) && std::isfinite(area.lower[i]))
        xs.push_back(area.x[i]), ys.push_back(area.upper[i]);
    for (std::size_t i = area.x.size(); i-- > 0;)
      if (std::isfinite(area.upper[i]) && std::isfinite(area.lower[i]))
        xs.push_back(area.x[i]), ys.push_back(area.lower[i]);
    const std::string d = path(xs, ys);
    if (!d.empty()) out_ += fmt::format("<path d=\"{}z\"{}/>\n", d, paint(area.paint, false));
  }

  void draw(const Rectangles& marks) {
    for (std::size_t i = 0; i < marks.x0.size(); ++i) {
      const double left = x(marks.x0[i]), right = x(marks.x1[i]), low = y(marks.y0[i]), high = y(marks.y1[i]);
      if (!drawn(left, right) || !drawn(low, high)) continue;
      const Paint& p = marks.paints.size() == 1 ? marks.paints[0] : marks.paints[i];
      out_ += element("rect",
                      fmt::format(" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"{}", number(std::min(left, right)),
                                  number(std::min(low, high)), number(std::abs(right - left)),
                                  number(std::abs(high - low)), filled(p, marks.outlined)),
                      marks.tooltips.empty() ? "" : marks.tooltips[i]);
    }
  }
  static std::string filled(const Paint& p, bool outlined) {
    std::string out = paint(p, false);
    if (outlined && p.of == Paint::Of::palette)
      out.insert(std::string_view(" class=\"").size(), fmt::format("s{} ", p.number % kPaletteSize));
    return out;
  }

  void draw(const Segments& marks) {
    std::string d, heads;
    for (std::size_t i = 0; i < marks.x0.size(); ++i) {
      const double ax = x(marks.x0[i]), ay = y(marks.y0[i]), bx = x(marks.x1[i]), by = y(marks.y1[i]);
      if (!drawn(ax, ay) || !drawn(bx, by)) continue;
      d += "M" + number(ax) + " " + number(ay) + "L" + number(bx) + " " + number(by);
      const double length = std::hypot(bx - ax, by - ay);
      if (!marks.arrows || length < 1) continue;
      const double ux = (bx - ax) / length * 7, uy = (by - ay) / length * 7;
      heads += fmt::format("M{} {}L{} {} {} {}z", number(bx), number(by), number(bx - ux - uy * 0.45),
                           number(by - uy + ux * 0.45), number(bx - ux + uy * 0.45), number(by - uy - ux * 0.45));
    }
    if (d.empty()) return;
    out_ += fmt::format("<path d=\"{}\" fill=\"none\" stroke-width=\"{}\"{}{}/>\n", d, number(marks.width),
                        marks.dashed ? " stroke-dasharray=\"5 4\"" : "", paint(marks.paint, true));
    if (!heads.empty()) out_ += fmt::format("<path d=\"{}\"{}/>\n", heads, paint(marks.paint, false));
  }

  /// What words beside their places keep clear of where they can: the places of all of them, and arrows.
  std::vector<Box> obstacles(const Words& marks) const {
    constexpr double kStep = 5;  // pixels along an arrow
    std::vector<Box> out;
    for (std::size_t i = 0; i < marks.x.size(); ++i) out.push_back({x(marks.x[i]) - 3, y(marks.y[i]) - 3, 6, 6});
    for (const Mark& mark : at_->panel->marks) {
      const auto* lines = std::get_if<Segments>(&mark);
      if (!lines || !lines->arrows) continue;
      for (std::size_t i = 0; i < lines->x0.size(); ++i) {
        const double ax = x(lines->x0[i]), ay = y(lines->y0[i]), bx = x(lines->x1[i]), by = y(lines->y1[i]);
        if (!drawn(ax, ay) || !drawn(bx, by)) continue;
        const double steps = std::ceil(std::hypot(bx - ax, by - ay) / kStep);
        for (double k = 0; k < steps; ++k)
          out.push_back({ax + k / steps * (bx - ax) - 1, ay + k / steps * (by - ay) - 1, 2, 2});
      }
    }
    return out;
  }

  /// Each word on its place, or at one of the places around it where no other word of the panel lies: best where no point of another
  /// word, and no arrow, does.
  void draw(const Words& marks) {
    const std::vector<Box> places = marks.centred ? std::vector<Box>() : obstacles(marks);
    std::vector<Box>& taken = words_;
    const double high = marks.size;
    const auto hits = [](const std::vector<Box>& all, const Box& box) {
      return std::any_of(all.begin(), all.end(), [&](const Box& each) { return each.overlaps(box); });
    };
    for (std::size_t i = 0; i < marks.x.size(); ++i) {
      const double px = x(marks.x[i]), py = y(marks.y[i]), wide = text_width(marks.words[i], marks.size);
      if (!drawn(px, py)) continue;
      std::optional<Box> found;
      for (const auto& [cx, cy] : places_for(marks, px, py, wide)) {
        const Box box{cx - wide / 2, cy - high / 2, wide, high};
        const bool outside =
            box.left < 0 || box.right() > at_->area.width || box.top < 0 || box.bottom() > at_->area.height;
        if (!marks.centred && (outside || hits(taken, box))) continue;
        const bool clear = marks.centred || !hits(places, box);
        if (clear || !found) found = box;
        if (clear) break;
      }
      if (!found) continue;
      if (!marks.centred) taken.push_back(*found);
      out_ += text(found->left + wide / 2, found->top + high / 2 + marks.size * 0.36, marks.words[i],
                   {marks.size, "middle", marks.paint});
    }
  }

  /// Middles of a word's box, the best first.
  std::vector<std::array<double, 2>> places_for(const Words& marks, double px, double py, double wide) const {
    if (marks.centred) return {{px, py}};
    const double high = marks.size, aside = wide / 2 + marks.gap, corner = wide / 2 + 4;
    std::vector<std::array<double, 2>> out{{px + aside, py},         {px - aside, py},         {px, py - high},
                                           {px, py + high},          {px + corner, py - high}, {px - corner, py - high},
                                           {px + corner, py + high}, {px - corner, py + high}};
    if (!marks.outward) return out;
    // The middle as far along the arrow as the box reaches there, then its corners.
    const double dx = px - x(0), dy = py - y(0), length = std::max(std::hypot(dx, dy), 1e-9);
    const double ux = dx / length, uy = dy / length, back = ux < 0 ? -wide / 2 : wide / 2;
    out.insert(out.begin(), {{px + ux * aside, py + uy * (high / 2 + marks.gap)},
                             {px - back, py + (uy < 0 ? -high : high)},
                             {px - back, py + (uy < 0 ? high : -high)}});
    return out;
  }

  void legend() {
    const Box& box = places_.legend;
    if (box.width <= 0) return;
    out_ += "<g class=\"legend\">\n";
    double top = box.top + 10;
    if (!figure_.legend.title.empty()) {
      out_ += text(box.left, top, fitted(figure_.legend.title, kBold * kLabelSize, box.width),
                   {kLabelSize, "start", ink(), 0, true});
      top += 20;
    }
    const auto room = static_cast<std::size_t>(std::max(1.0, (box.bottom() - top) / 18));
    const auto& entries = figure_.legend.entries;
    for (std::size_t k = 0; k < entries.size(); ++k, top += 18) {
      if (k + 1 == room && entries.size() > room) {
        out_ += text(box.left, top, fmt::format("… {} more", entries.size() - k), {kTickSize, "start", faint()});
        break;
      }
      const LegendEntry& entry = entries[k];
      if (entry.key == LegendEntry::Key::point)
        out_ += shape(entry.paint.number, box.left + 8, top - 4, 4, entry.paint, "");
      else if (entry.key == LegendEntry::Key::line)
        out_ += fmt::format("<path d=\"M{} {}h16\" fill=\"none\" stroke-width=\"2.5\"{}{}/>\n", number(box.left),
                            number(top - 4), entry.dashed ? " stroke-dasharray=\"5 3\"" : "", paint(entry.paint, true));
      else
        out_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"14\" height=\"11\"{}/>\n", number(box.left),
                            number(top - 10), paint(entry.paint, false));
      out_ += text(box.left + 22, top, fitted(entry.text, kTickSize, box.width - 22), {kTickSize, "start"});
    }
    if (const auto& bar = figure_.legend.ramp) {
      const double high = std::min(160.0, box.bottom() - top - 10);
      constexpr int kSteps = 32;
      for (int k = 0; k < kSteps; ++k) {
        const Paint p{bar->of, 0, (k + 0.5) / kSteps, 1};
        out_ +=
            fmt::format("<rect x=\"{}\" y=\"{}\" width=\"14\" height=\"{}\"{}/>\n", number(box.left),
                        number(top + high * (kSteps - 1 - k) / kSteps), number(high / kSteps + 0.3), paint(p, false));
      }
      Axis axis;
      axis.from = bar->from, axis.to = bar->to;
      const Scale scale(axis, {});
      for (const Tick& tick : scale.ticks(5))
        out_ += text(box.left + 20, top + high * (1 - scale.place(tick.at)) + 4, tick.text, {kTickSize, "start"});
    }
    out_ += "</g>\n";
  }

  const Figure& figure_;
  const Layout places_;
  const Index points_;
  const PlacedPanel* at_ = nullptr;
  std::vector<Box> words_;  // of the panel, beside their places
  std::map<const Points*, std::vector<Hexagon>> hexagons_;
  std::string out_;
};

}  // namespace

std::string to_svg(const Figure& figure) { return Writer(figure).write(Standing::alone); }

std::string to_svg_in_page(const Figure& figure) { return Writer(figure).write(Standing::in_a_page); }

std::string svg_rules() {
  return rules(false, "") + "@media screen and (prefers-color-scheme:dark){\n" + rules(true, " ") + "}\n";
}

}  // namespace lemma::plot
