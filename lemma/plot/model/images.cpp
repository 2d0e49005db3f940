// lemma/plot/model/images.cpp: what a convolutional network looks for, and what its layers make of an image.
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/neural/cnn.hpp>
#include <lemma/plot/model/kinds.hpp>

namespace lemma::plot {
namespace {

constexpr Index kMost = 64, kMostOfALayer = 8;  // panels
constexpr double kSide = 110;                   // of a panel

/// One channel of an image, its first row of pixels at the top; ±most are the ends of the ramp.
Panel channel_panel(const double* image, const neural::Shape& shape, Index channel, double most) {
  Panel out{"", {}, {}, {}};
  out.x.shown = out.y.shown = out.x.grid = out.y.grid = false;
  out.equal = true;
  Rectangles cells;
  for (Index y = 0; y < shape.height; ++y)
    for (Index x = 0; x < shape.width; ++x) {
      const auto left = static_cast<double>(x), top = static_cast<double>(shape.height - y);
      cells.x0.push_back(left), cells.x1.push_back(left + 1), cells.y0.push_back(top - 1), cells.y1.push_back(top);
      const double value = image[(y * shape.width + x) * shape.channels + channel];
      cells.paints.push_back(diverging(most > 0 ? 0.5 + 0.5 * value / most : 0.5));
    }
  out.marks.emplace_back(std::move(cells));
  return out;
}

Figure sized(std::vector<Panel> panels, Index rows, Index columns) {
  Figure out;
  out.panels = std::move(panels);
  out.width = kSide * static_cast<double>(columns) + 150;
  out.height = (kSide + 20) * static_cast<double>(rows) + 40;
  return out;
}

}  // namespace

Figure filters(const Shown& shown) {
  const CnnModel& model = *model_cast<CnnModel>(shown.trained.model);
  const neural::Plan plan = model.plan();
  const neural::Layer& layer = plan.net.layers[at(first_convolution(plan.net))];
  const neural::Shape window{layer.height, layer.width, layer.in.channels};
  const double most = model.filters.cwiseAbs().maxCoeff();
  const Index all = model.filters.rows() * window.channels, count = std::min(all, kMost);
  const auto columns = static_cast<Index>(std::ceil(std::sqrt(static_cast<double>(count))));
  std::vector<Panel> panels;
  for (Index i = 0; i < count; ++i) {
    const Index filter = i / window.channels, channel = i % window.channels;
    Panel panel = channel_panel(model.filters.row(filter).data(), window, channel, most);
    panel.title =
        window.channels == 1 ? fmt::format("{}", filter + 1) : fmt::format("{}, channel {}", filter + 1, channel + 1);
    panel.row = static_cast<int>(i / columns), panel.column = static_cast<int>(i % columns);
    panels.push_back(std::move(panel));
  }
  Figure out = sized(std::move(panels), (count + columns - 1) / columns, columns);
  out.legend = {"weight", {}, Legend::Ramp{Paint::Of::diverging, -most, most}};
  out.description = fmt::format("The {} of the first convolution, {} x {} pixels each{}.",
                                count_of(model.filters.rows(), "filter"), window.height, window.width,
                                count < all ? fmt::format(", the first {} of {} windows", count, all) : "");
  return out;
}

Figure activations(const Shown& shown) {
  const CnnModel& model = *model_cast<CnnModel>(shown.trained.model);
  const neural::Plan plan = model.plan();
  const DesignData data = shown.trained.design.apply(*shown.rows, Missing::drop);
  require(data.x.rows() > 0, "there is no row to look at");
  const MatrixView first = data.x.topRows(1);
  const Matrix image = model.scaled(first), said = model.activations(first, {}).values;
  std::vector<Panel> panels;
  int row = 0;
  const auto add = [&](const std::string& name, const double* numbers, const neural::Shape& shape) {
    const Index count = std::min(shape.channels, kMostOfALayer);
    const double most = Eigen::Map<const Vector>(numbers, shape.size()).cwiseAbs().maxCoeff();
    for (Index k = 0; k < count; ++k) {
      Panel panel = channel_panel(numbers, shape, k, most);
      panel.title = k == 0 ? name : fmt::format("{}", k + 1);
      panel.row = row, panel.column = static_cast<int>(k);
      panels.push_back(std::move(panel));
    }
    ++row;
    return count;
  };
  Index columns = add("image", image.data(), plan.net.layers[0].in), begin = 0;
  for (Index l = 0; l + 1 < plan.net.depth(); ++l) {
    const neural::Layer& layer = plan.net.layers[at(l)];
    if (layer.kind == neural::Layer::Kind::dense) break;
    const std::string name = layer.kind == neural::Layer::Kind::convolution ? "conv" : "pool";
    columns = std::max(columns, add(fmt::format("{} {}: 1", name, l + 1), said.data() + begin, layer.out));
    begin += layer.out.size();
  }
  Figure out = sized(std::move(panels), row, columns);
  out.description = fmt::format(
      "What the layers make of the first row: its pixels as the network takes them, then of each layer up to {} "
      "channels; each layer on a scale of its own.",
      kMostOfALayer);
  return out;
}

}  // namespace lemma::plot
