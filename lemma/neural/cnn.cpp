// lemma/neural/cnn.cpp
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/model/cut_short.hpp>
#include <lemma/neural/cnn.hpp>
#include <lemma/neural/cnn/layers.hpp>

namespace lemma {
namespace {

using neural::Layer;
using neural::Plan;
using neural::Shape;

/// The network of a spec whose image and layers are chosen.
Plan plan_of(const Cnn& spec, Index outputs) {
  const Shape image = cnn::image_of(*spec.image);
  Plan out{Cnn::name,
           {cnn::layers_of(*spec.layers, image), spec.loss.value_or(neural::Loss::squared)},
           neural::settings_of(spec),
           image.channels};
  Layer last = neural::dense_layer(1, outputs, neural::Activation::identity);
  last.in = out.net.layers.empty() ? image : out.net.layers.back().out;
  out.net.layers.push_back(last);
  return out;
}

void require_columns(const Cnn& spec, Index columns) {
  const Shape image = cnn::image_of(*spec.image);
  if (image.size() != columns)
    throw Error(fmt::format("cnn: an image of {} has {} numbers, and there are {}", cnn::text_of(image),
                            format_count(image.size()), count_of(columns, "column")));
}

double weights_of(const Plan& plan) {
  double out = 0;
  for (const Layer& each : plan.net.layers)
    out += static_cast<double>(each.units()) * (1 + static_cast<double>(each.fan_in()));
  return out;
}

Matrix first_filters(const neural::Network& net, const Vector& weights) {
  const Index l = first_convolution(net);
  if (l < 0) return Matrix(0, 0);
  const Layer& layer = net.layers[at(l)];
  return Eigen::Map<const Matrix>(weights.data() + net.begin(l), layer.units(), layer.fan_in());
}

std::string name_of_layer(const Layer& layer) {
  switch (layer.kind) {
    case Layer::Kind::dense: return "dense";
    case Layer::Kind::convolution: return "conv";
    default: return "pool";
  }
}

}  // namespace

void Cnn::check() const {
  std::optional<Shape> shape;
  if (image) shape = cnn::image_of(*image);
  if (layers) {
    const std::vector<Layer> found = cnn::layers_of(*layers, shape);
    const auto is_dense = [](const Layer& each) { return each.kind == Layer::Kind::dense; };
    if (dropout > 0 && std::none_of(found.begin(), found.end(), is_dense))
      throw Error("cnn: dropout leaves out units of hidden dense layers, and layers has none");
  }
  neural::check_settings(name, neural::settings_of(*this), loss);
}

Index first_convolution(const neural::Network& net) {
  for (Index l = 0; l < net.depth(); ++l)
    if (net.layers[at(l)].kind == Layer::Kind::convolution) return l;
  return -1;
}

Plan CnnModel::plan() const { return plan_of(spec, outputs()); }

CnnModel fit(const Valid<Cnn>& spec, const Rows& rows, const FitOptions& options) {
  CnnModel model;
  model.spec = *spec;
  const auto told = [](const Shape& s) { return fmt::format("{}x{}x{}", s.height, s.width, s.channels); };
  if (!spec->image) model.spec.image = told(cnn::usual_image(rows.width()));
  require_columns(model.spec, rows.width());
  if (!spec->layers) model.spec.layers = cnn::usual_layers(cnn::image_of(*model.spec.image));
  model.spec.loss = neural::chosen_loss(Cnn::name, spec->loss, rows);
  model.spec.check();  // now that the sizes are known
  Plan plan = plan_of(model.spec, neural::outputs_of(rows));
  neural::require_weights(Cnn::name, weights_of(plan));
  const neural::Course course = neural::train(model, plan, rows, options);
  neural::tell(model.spec, plan.settings);
  model.filters = first_filters(plan.net, model.weights);
  neural::certify_now(model, plan, course, [&] { return certify(model, rows, unheard(options.execution())); });
  return model;
}

Certificate certify(const CnnModel& model, const Rows& rows, const Execution& execution) {
  return neural::certify(model, model.plan(), {}, rows, execution);
}

void CnnModel::check() const {
  require(spec.loss && spec.image && spec.layers && outputs() > 0, "cnn: a parameter was not chosen");
  require_columns(spec, width());
  const Plan made = plan();
  require(static_cast<double>(weights.size()) == weights_of(made), "cnn: its weights are not those of its layers");
  neural::check(*this, made, false);
  for (Index j = 0; j < width(); ++j)
    require(mean(j) == mean(made.scaled_with(j)) && scale(j) == scale(made.scaled_with(j)),
            "cnn: the pixels of a channel are not scaled alike");
  const Matrix expected = first_filters(made.net, weights);
  require(filters.rows() == expected.rows() && filters.cols() == expected.cols() && filters == expected,
          "cnn: its filters are not those of its weights");
}

NamedMatrix CnnModel::activations(const MatrixView& x, const PredictOptions&) const {
  require_width(*this, x.cols());
  const Plan made = plan();
  Index count = 0;
  for (Index l = 0; l + 1 < made.net.depth(); ++l) count += made.net.layers[at(l)].out.size();
  NamedMatrix out{Matrix(x.rows(), count), {}};
  Matrix a = scaled(x);
  Index column = 0;
  for (Index l = 0; l + 1 < made.net.depth(); ++l) {
    const Layer& layer = made.net.layers[at(l)];
    a = neural::Network{{layer}}.outputs(weights.segment(made.net.begin(l), layer.weights()), a);
    out.values.middleCols(column, a.cols()) = a;
    column += a.cols();
    const std::string of_layer = fmt::format("{}_{}", name_of_layer(layer), l + 1);
    for (Index row = 1; row <= layer.out.height; ++row)
      for (Index place = 1; place <= layer.out.width; ++place)
        for (Index k = 1; k <= layer.out.channels; ++k)
          out.columns.push_back(layer.kind == Layer::Kind::dense ? fmt::format("{}_{}", of_layer, k)
                                                                 : fmt::format("{}_{}_{}_{}", of_layer, row, place, k));
  }
  return out;
}

std::string CnnModel::summary(const Names&) const {
  const Plan made = plan();
  std::string layers =
      fmt::format("images of {}: {}\n", cnn::text_of(cnn::image_of(*spec.image)), count_of(weights.size(), "weight"));
  std::vector<std::string> names;
  for (Index l = 0; l < made.net.depth(); ++l) {
    const Layer& layer = made.net.layers[at(l)];
    const Shape& out = layer.out;
    const std::string gives = layer.kind == Layer::Kind::dense ? count_of(out.channels, "number") : cnn::text_of(out);
    const bool last = l + 1 == made.net.depth();
    const std::string window =
        layer.kind == Layer::Kind::dense ? "" : fmt::format(" {} x {}", layer.height, layer.width);
    const std::string bend =
        layer.activation == neural::Activation::identity ? "" : fmt::format(", {}", name_of(layer.activation));
    const std::string kind = layer.kind == Layer::Kind::mean_pool  ? "mean pool"
                             : layer.kind == Layer::Kind::max_pool ? "max pool"
                                                                   : name_of_layer(layer);
    layers += fmt::format("  {}{}{}: {}\n", last ? "output" : kind, window, bend, gives);
    if (layer.weights() > 0) names.push_back(last ? "output" : fmt::format("{} {}", kind, l + 1));
  }
  return neural::summary(*this, made, layers, names, false);
}

template const Method& method_of<Cnn>();

}  // namespace lemma
