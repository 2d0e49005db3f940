// lemma/neural/shared/network.cpp: what a network is made of; passes.cpp sends rows through it.
#include <algorithm>
#include <cmath>
#include <lemma/neural/shared/network.hpp>

namespace lemma::neural {

Network dense_network(const std::vector<Index>& sizes, Activation activation, Loss loss) {
  Network out{{}, loss};
  for (std::size_t l = 0; l + 1 < sizes.size(); ++l)
    out.layers.push_back(dense_layer(sizes[l], sizes[l + 1], l + 2 < sizes.size() ? activation : Activation::identity));
  return out;
}

Index Network::begin(Index layer) const {
  Index out = 0;
  for (Index l = 0; l < layer; ++l) out += layers[at(l)].weights();
  return out;
}

Index Network::most_numbers() const {
  Index out = in();
  for (const Layer& each : layers) out = std::max(out, each.out.size());
  return out;
}

std::vector<Index> Network::with_weights() const {
  std::vector<Index> out;
  for (Index l = 0; l < depth(); ++l)
    if (layers[at(l)].weights() > 0) out.push_back(l);
  return out;
}

bool Network::has(Layer::Kind kind) const {
  return std::any_of(layers.begin(), layers.end(), [&](const Layer& each) { return each.kind == kind; });
}
bool Network::has(Activation activation) const {
  return std::any_of(layers.begin(), layers.end(), [&](const Layer& each) { return each.activation == activation; });
}

Vector Network::initial(Init init, RandomStream stream) const {
  Vector out = Vector::Zero(weight_count());
  for (Index l = 0; l < depth(); ++l) {
    const Layer& layer = layers[at(l)];
    const auto in = static_cast<double>(layer.fan_in()), both = in + static_cast<double>(layer.fan_out());
    const double deviation = std::sqrt(init == Init::fan_in ? 1 / in : init == Init::he ? 2 / in : 2 / both);
    for (double& each : out.segment(begin(l), layer.matrix_size())) each = deviation * stream.normal();
  }
  return out;
}

double Network::value(const Vector& weights, const MatrixView& x, const MatrixView& targets, const Vector& row_weights,
                      Vector* gradient, const Dropout& dropout) const {
  Pass pass;
  run(weights, x, targets, row_weights, gradient != nullptr, pass, dropout);
  if (gradient) *gradient = std::move(pass.gradient);
  return pass.loss;
}

double Network::decay(const Vector& weights, double factor, Vector* gradient) const {
  double sum = 0;
  for (const Index l : with_weights()) {
    const Index size = layers[at(l)].matrix_size();
    const auto of_layer = weights.segment(begin(l), size);
    sum += 0.5 * of_layer.squaredNorm();
    if (gradient) gradient->segment(begin(l), size) += factor * of_layer;
  }
  return sum;
}

Vector Network::size_by_layer(const Vector& gradient) const {
  std::vector<double> out;
  for (const Index l : with_weights()) {
    const Index size = layers[at(l)].weights();
    out.push_back(gradient.segment(begin(l), size).stableNorm() / std::sqrt(static_cast<double>(size)));
  }
  return Eigen::Map<const Vector>(out.data(), std::ssize(out));
}

}  // namespace lemma::neural
