// lemma/plot/model/weights.cpp: numbers of each column, for each of several things: how columns make up components, and what the units
// of a network look for. As colours, or as little pictures where the columns are pixels.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/neural/mlp.hpp>
#include <lemma/plot/colours.hpp>
#include <lemma/plot/layout.hpp>
#include <lemma/plot/model/kinds.hpp>
#include <numeric>

namespace lemma::plot {
namespace {

/// A row for each column of the data, a column for each thing.
struct Weights {
  Matrix of;
  std::vector<std::string> columns, things;
  std::string_view what, thing;  // "loading", "component"
};

/// From white for 0 to two colours for its signs; of one sign alone from pale to dark.
struct Shades {
  double most;
  bool both;
  explicit Shades(const Matrix& of) : most(std::max(of.cwiseAbs().maxCoeff(), 1e-300)), both(of.minCoeff() < 0) {}
  Paint operator()(double value) const { return both ? diverging(0.5 + value / most / 2) : sequential(value / most); }
  Legend legend(std::string_view title) const {
    return {std::string(title),
            {},
            Legend::Ramp{both ? Paint::Of::diverging : Paint::Of::sequential, both ? -most : 0, most}};
  }
};

void add_cell(Rectangles& to, double x, double y, Paint paint, std::string tooltip) {
  to.x0.push_back(x - 0.5), to.x1.push_back(x + 0.5), to.y0.push_back(y - 0.5), to.y1.push_back(y + 0.5);
  to.paints.push_back(paint), to.tooltips.push_back(std::move(tooltip));
}

/// How many pixels wide, where the columns are those of a square picture, row after row: letters that are the same in all, and a number.
Index side_of_picture(const std::vector<std::string>& names) {
  const auto side = static_cast<Index>(std::lround(std::sqrt(static_cast<double>(names.size()))));
  if (side < 4 || side * side != std::ssize(names)) return 0;
  const std::string letters = names[0].substr(0, names[0].find_first_of("0123456789"));
  const bool pixels = std::ranges::all_of(names, [&](const std::string& name) {
    return name.size() > letters.size() && name.starts_with(letters) &&
           name.find_first_not_of("0123456789", letters.size()) == std::string::npos;
  });
  return pixels ? side : 0;
}

Figure as_pictures(const Weights& weights, Index side) {
  constexpr Index kMostCells = 7'000, kMostPictures = 36;
  const Index count = std::min({weights.of.cols(), kMostPictures, std::max<Index>(1, kMostCells / (side * side))});
  const Shades shade(weights.of);
  Figure out;
  for (Index k = 0; k < count; ++k) {
    Panel panel{weights.things.at(static_cast<std::size_t>(k)), {""}, {""}, {}};
    panel.x.shown = panel.y.shown = panel.x.grid = panel.y.grid = false;
    panel.x.from = panel.y.from = -0.5, panel.x.to = panel.y.to = static_cast<double>(side) - 0.5;
    panel.equal = true;
    Rectangles cells;
    for (Index j = 0; j < weights.of.rows(); ++j)
      add_cell(
          cells, static_cast<double>(j % side), static_cast<double>(side - 1 - j / side), shade(weights.of(j, k)),
          fmt::format("{}: {}", weights.columns[static_cast<std::size_t>(j)], format_significant(weights.of(j, k), 3)));
    panel.marks.emplace_back(std::move(cells));
    out.panels.push_back(std::move(panel));
  }
  in_grid(out);
  const double across = out.panels.size() > 1 ? std::ceil(std::sqrt(static_cast<double>(count))) : 1;
  out.width = std::max(420.0, 110 * across + 150),
  out.height = 126 * std::ceil(static_cast<double>(count) / across) + 60;
  out.legend = shade.legend(weights.what);
  out.description =
      fmt::format("{}s of {} as pictures of {} × {} pixels{}.", weights.what, count_of(count, weights.thing), side,
                  side, count < weights.of.cols() ? fmt::format(", the first of {}", weights.of.cols()) : "");
  return out;
}

Figure as_colours(const Weights& weights) {
  constexpr Index kMostColumns = 40, kMostThings = 40, kMostNumbers = 160;
  const Index things = std::min(weights.of.cols(), kMostThings);
  std::vector<Index> rows(static_cast<std::size_t>(weights.of.rows()));
  std::iota(rows.begin(), rows.end(), Index{0});
  if (weights.of.rows() > kMostColumns) {  // those that have the largest of them, in their own order
    const Vector largest = weights.of.leftCols(things).cwiseAbs().rowwise().maxCoeff();
    std::stable_sort(rows.begin(), rows.end(), [&](Index a, Index b) { return largest(a) > largest(b); });
    rows.resize(static_cast<std::size_t>(kMostColumns));
    std::sort(rows.begin(), rows.end());
  }
  const auto down = std::ssize(rows);
  const Shades shade(weights.of);
  Panel panel{"", {std::string(weights.thing), ScaleKind::factor, {}}, {"", ScaleKind::factor, {}}, {}};
  panel.x.grid = panel.y.grid = false;
  Rectangles cells;
  Words dark, pale;  // on pale cells and on dark ones, whatever the paper is
  double widest = 30;
  for (Index k = 0; k < things; ++k) {
    panel.x.levels.push_back(weights.things.at(static_cast<std::size_t>(k)));
    widest = std::max(widest, text_width(panel.x.levels.back(), kTickSize));
  }
  for (Index r = down - 1; r >= 0; --r)  // the first column on top
    panel.y.levels.push_back(weights.columns.at(static_cast<std::size_t>(rows[static_cast<std::size_t>(r)])));
  for (Index r = 0; r < down; ++r)
    for (Index k = 0; k < things; ++k) {
      const double value = weights.of(rows[static_cast<std::size_t>(r)], k);
      const auto x = static_cast<double>(k), y = static_cast<double>(down - 1 - r);
      const std::string told = format_significant(value, 2);
      add_cell(cells, x, y, shade(value),
               fmt::format("{}, {}: {}", panel.y.levels[static_cast<std::size_t>(down - 1 - r)],
                           panel.x.levels[static_cast<std::size_t>(k)], format_significant(value, 4)));
      if (down * things > kMostNumbers) continue;
      Words& to = takes_dark_words(cells.paints.back()) ? dark : pale;
      to.x.push_back(x), to.y.push_back(y), to.words.push_back(told);
      widest = std::max(widest, text_width(told, 10));
    }
  dark.size = pale.size = 10;
  dark.paint = dark_words(), pale.paint = pale_words();
  panel.marks = {cells, dark, pale};
  Figure out;
  out.width =
      std::clamp((down * things > kMostNumbers ? 24 : widest + 14) * static_cast<double>(things) + 260, 420.0, 1100.0);
  out.height = std::max(240.0, 22.0 * static_cast<double>(down) + 120);
  out.panels.push_back(std::move(panel));
  out.legend = shade.legend(weights.what);
  out.description =
      fmt::format("{}s of {} for {}{}.", weights.what, count_of(down, "column"), count_of(things, weights.thing),
                  down < weights.of.rows() || things < weights.of.cols()
                      ? fmt::format(", of {} and {}: the columns with the largest, the first {}s", weights.of.rows(),
                                    weights.of.cols(), weights.thing)
                      : "");
  return out;
}

Figure drawn(Weights weights) {
  require(weights.of.allFinite(), fmt::format("some {}s are no numbers", weights.what));
  const Index side = side_of_picture(weights.columns);
  Figure out = side > 0 ? as_pictures(weights, side) : as_colours(weights);
  out.description[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(out.description[0])));
  return out;
}

/// Results with a row for each column of the data and a column for each component, by the name under which methods declare them.
constexpr std::array<std::string_view, 3> kLoadings{"loadings", "mixing", "scaling"};

std::optional<Matrix> loadings_of(const TrainedModel& trained) {
  for (const std::string_view name : kLoadings)
    if (auto found = matrix_of(trained, name);
        found && found->rows() == static_cast<Index>(trained.design.features().size()))
      return found;
  return {};
}

}  // namespace

bool declares_loadings(const Method& method) {
  return std::ranges::any_of(method.results(), [](const FieldInfo& each) {
    return each.along.down == lemma::Axis::feature && std::ranges::find(kLoadings, each.name) != kLoadings.end();
  });
}
bool has_loadings(const TrainedModel& trained) {
  return declares_loadings(last_method(trained)) && loadings_of(trained).has_value();
}

Figure loadings(const Shown& shown) {
  Weights weights{*loadings_of(shown.trained), shown.trained.design.features(), {}, "loading", "component"};
  if (shown.trained.model->output_width() == weights.of.cols())
    weights.things = shown.trained.model->output_names(weights.columns);
  for (Index k = std::ssize(weights.things); k < weights.of.cols(); ++k)
    weights.things.push_back(std::to_string(k + 1));
  return drawn(std::move(weights));
}

Figure unit_weights(const Shown& shown) {
  const MlpModel* model = model_cast<MlpModel>(shown.trained.model);
  require(model != nullptr, "only mlp has units in a first layer");
  const auto& layers = model->spec.layers;
  const Index units = layers.empty() ? model->outputs() : static_cast<Index>(layers[0]), inputs = model->width();
  require(model->weights.size() >= units * inputs, "the weights do not fit the layers");
  Weights weights{Matrix(inputs, units), shown.trained.design.features(), {}, "weight", "unit"};
  for (Index k = 0; k < units; ++k) {  // W of the first layer comes first, a row for each unit
    weights.things.push_back(std::to_string(k + 1));
    for (Index j = 0; j < inputs; ++j) weights.of(j, k) = model->weights(k * inputs + j);
  }
  return drawn(std::move(weights));
}

}  // namespace lemma::plot
