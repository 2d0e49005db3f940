// lemma/neural/shared/network.hpp: a network of layers as a function of its weights, with its backward pass.
#pragma once
#include <lemma/core/random.hpp>
#include <lemma/math/single.hpp>
#include <lemma/neural/shared/layer.hpp>

namespace lemma::neural {

enum class Loss { squared, absolute, cross_entropy, poisson };
constexpr auto names_of(Loss) {
  return std::array<std::string_view, 4>{"squared", "absolute", "cross_entropy", "poisson"};
}
enum class Init { fan_in, glorot, he };
constexpr auto names_of(Init) { return std::array<std::string_view, 3>{"fan_in", "glorot", "he"}; }

/// In what numbers a network is multiplied out: of 4 bytes or of 8. Weights, their steps, losses and what is told of them have 8.
enum class Precision { single, full };
constexpr auto names_of(Precision) { return std::array<std::string_view, 2>{"single", "double"}; }

/// Inverted dropout: of each unit of a hidden dense layer, for each row, whether it is left out, and those that stay count
/// 1 / (1 − share). Row r of the batch draws from stream.split(r), layer after layer.
struct Dropout {
  double share = 0;
  RandomStream stream = RandomStream(0);
};

template <class T>
using VectorOf = Eigen::Matrix<T, Eigen::Dynamic, 1>;
template <class T>
using ViewOf = Eigen::Ref<const MatrixOf<T>>;

/// Space for one pass over some rows, used again from pass to pass.
template <class T>
struct PassOf {
  std::vector<MatrixOf<T>> a;                     // s(z_l) of each hidden layer, then z_L
  std::vector<MatrixOf<T>> fed;                   // with dropout: what the next layer takes in the place of a
  std::vector<MatrixOf<T>> kept;                  // with dropout: 0 or 1 / (1 − share) of each unit
  std::vector<std::vector<std::int32_t>> chosen;  // of max_pool: the places of the largest
  MatrixOf<T> windows, x, delta, before, jacobian;
  Matrix targets;
  Vector weight;
  VectorOf<T> gradient;
  double loss = 0;
};
using Pass = PassOf<double>;

/// Columns in units of their own: (x − mean) / scale. Of no columns: as they are.
struct Standards {
  Vector mean, scale;
  bool changes() const { return mean.size() > 0 && !(mean.isZero(0) && (scale.array() == 1).all()); }
  /// Rows of them: in `into`, or x itself where nothing changes.
  MatrixView of(const MatrixView& x, Matrix& into) const;
  /// The same, found in numbers of 8 bytes and then rounded to 4.
  SingleView of(const MatrixView& x, SingleMatrix& into) const;
};

/// Layer l takes the activations a_{l−1} of the layer before (a_0 = x) and gives z_l, and a_l = s(z_l); of the last layer z_L alone,
/// which the loss takes as it is:
///
///     z_l = W_l a_{l−1} + b_l                 of dense layers; of convolutions the same of each window; pools have no weights
///
///     squared ½‖z − t‖²    absolute ‖z − t‖₁    cross_entropy log Σ exp z_k − t·z    poisson Σ exp z_k − t·z
///
/// Backwards along the same graph: δ_L = ∂loss/∂z_L, δ_{l−1} = s'(z_{l−1}) ∘ W_lᵀ δ_l, and ∂/∂W_l = δ_l a_{l−1}ᵀ, ∂/∂b_l = δ_l. Of a
/// convolution a_{l−1} is a matrix of windows, and what W_lᵀ δ_l tells each window is added up in the pixels it holds; a pool hands δ
/// to the largest pixel, or in equal parts to all. The products of a convolution are those of one image: their shapes are fixed by the
/// layer, and no image's numbers depend on the others.
struct Network {
  std::vector<Layer> layers;
  Loss loss = Loss::squared;

  Index depth() const { return std::ssize(layers); }
  Index in() const { return layers.front().in.size(); }
  Index out() const { return layers.back().out.size(); }
  Index weight_count() const { return begin(depth()); }
  /// Where the weights of layer l begin: W_l row by row (a row for each unit), then b_l.
  Index begin(Index layer) const;
  /// Of a row that a layer takes or gives, at most.
  Index most_numbers() const;
  /// The layers that have weights.
  std::vector<Index> with_weights() const;
  bool has(Layer::Kind kind) const;
  bool has(Activation activation) const;
  /// Whether z is a smooth function of the weights.
  bool smooth() const { return !has(Activation::relu) && !has(Layer::Kind::max_pool); }
  /// Whether dropout leaves out units of layer l.
  bool drops(Index l) const { return layers[at(l)].kind == Layer::Kind::dense && l + 1 < depth(); }
  /// Weights to begin with, drawn in their order: normal with mean 0 and variance 1 / in (fan_in), 2 / (in + out) (glorot) or
  /// 2 / in (he) of each layer, `in` the numbers that a unit takes, `out` the units that take one; the b are 0.
  Vector initial(Init init, RandomStream stream) const;
  /// z_L of each row, or a_l of the first layers; a row's numbers depend on that row alone. Rows go to several threads.
  Matrix outputs(const Vector& weights, const MatrixView& x, const Standards& standards = {},
                 Precision precision = Precision::full) const {
    return outputs(weights, x, depth(), standards, precision);
  }
  Matrix outputs(const Vector& weights, const MatrixView& x, Index of_layers, const Standards& standards = {},
                 Precision precision = Precision::full) const;
  /// Σ w loss over the rows (targets: a row each, of classes 1 at its class), and with `backward` its gradient, both in `pass`.
  /// `first`: the number in its batch of the first of these rows, by which its dropout is drawn.
  void run(const Vector& weights, const MatrixView& x, const MatrixView& targets, const VectorView& row_weights,
           bool backward, Pass& pass, const Dropout& dropout = {}, Index first = 0) const {
    run_as<double>(weights, x, targets, row_weights, backward, pass, dropout, first);
  }
  void run(const SingleVector& weights, const SingleView& x, const MatrixView& targets, const VectorView& row_weights,
           bool backward, PassOf<float>& pass, const Dropout& dropout = {}, Index first = 0) const {
    run_as<float>(weights, x, targets, row_weights, backward, pass, dropout, first);
  }
  /// The same at once.
  double value(const Vector& weights, const MatrixView& x, const MatrixView& targets, const Vector& row_weights,
               Vector* gradient, const Dropout& dropout = {}) const;
  /// The diagonal of Σ w JᵀHJ, with J the derivatives of z by the weights and H those of the loss by z, twice: the curvature
  /// of the losses in each weight (Gauss and Newton), never negative. Of absolute losses H is 1. Of dense layers alone.
  Vector curvature(const Vector& weights, const MatrixView& x, const VectorView& row_weights, Pass& pass) const;
  /// All of Σ w JᵀHJ: the upper triangle of `into` gains it.
  void add_gauss_newton(const Vector& weights, const MatrixView& x, const VectorView& row_weights, Pass& pass,
                        Matrix& into) const;
  /// ½ Σ W², without the b; and factor times its gradient is added.
  double decay(const Vector& weights, double factor = 0, Vector* gradient = nullptr) const;
  /// The root of the mean square of a gradient's numbers, of each layer with weights.
  Vector size_by_layer(const Vector& gradient) const;

 private:
  template <class T>
  Matrix outputs_as(const Vector& weights, const MatrixView& x, Index of_layers, const Standards& standards) const;
  template <class T>
  void run_as(const VectorOf<T>& weights, const ViewOf<T>& x, const MatrixView& targets, const VectorView& row_weights,
              bool backward, PassOf<T>& pass, const Dropout& dropout, Index first) const;
  template <class T>
  void forwards(const VectorOf<T>& weights, const ViewOf<T>& x, PassOf<T>& pass, const Dropout& dropout,
                Index first) const;
  /// From pass.delta = ∂/∂z_L on; add(layer, δ, a) takes what a layer with weights is told.
  template <class T>
  void backwards(const VectorOf<T>& weights, const ViewOf<T>& x, PassOf<T>& pass, const auto& add) const;
  /// The same from δ of each output in turn, with Σ δδᵀ of each row w H; done() after each.
  void backwards_by_output(const Vector& weights, const MatrixView& x, const VectorView& row_weights, Pass& pass,
                           const auto& add, const auto& done) const;
};
/// Inputs, hidden layers, outputs.
Network dense_network(const std::vector<Index>& sizes, Activation activation, Loss loss);

}  // namespace lemma::neural
