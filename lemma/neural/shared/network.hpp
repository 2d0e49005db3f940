// lemma/neural/shared/network.hpp: a network of dense layers as a function of its weights, with its backward pass.
#pragma once
#include <array>
#include <lemma/core/matrix.hpp>
#include <lemma/core/random.hpp>
#include <string_view>
#include <vector>

namespace lemma::neural {

enum class Activation { sigmoid, tanh, relu, softplus, softmax, identity };
constexpr auto names_of(Activation) {
  return std::array<std::string_view, 6>{"sigmoid", "tanh", "relu", "softplus", "softmax", "identity"};
}
enum class Loss { squared, absolute, cross_entropy, poisson };
constexpr auto names_of(Loss) {
  return std::array<std::string_view, 4>{"squared", "absolute", "cross_entropy", "poisson"};
}
enum class Init { fan_in, glorot, he };
constexpr auto names_of(Init) { return std::array<std::string_view, 3>{"fan_in", "glorot", "he"}; }

/// Inverted dropout: of each hidden unit of each row whether it is left out, and those that stay count 1 / (1 − share). Row r of
/// the batch draws from stream.split(r), layer after layer.
struct Dropout {
  double share = 0;
  RandomStream stream = RandomStream(0);
};

/// Space for one pass over some rows, used again from pass to pass.
struct Pass {
  std::vector<Matrix> a;     // s(z_l) of each hidden layer, then z_L
  std::vector<Matrix> fed;   // with dropout: what the next layer takes in the place of a
  std::vector<Matrix> kept;  // with dropout: 0 or 1 / (1 − share) of each unit
  Matrix x, targets, delta, before;
  Vector weight, gradient;
  double loss = 0;
};

/// Layer l takes the activations a_{l−1} of the layer before (a_0 = x) and gives
///
///     z_l = W_l a_{l−1} + b_l,     a_l = s(z_l),      of the last layer z_L alone, which the loss takes as it is:
///
///     squared ½‖z − t‖²    absolute ‖z − t‖₁    cross_entropy log Σ exp z_k − t·z    poisson Σ exp z_k − t·z
///
/// Backwards along the same graph: δ_L = ∂loss/∂z_L, δ_{l−1} = s'(z_{l−1}) ∘ W_lᵀ δ_l, and ∂/∂W_l = δ_l a_{l−1}ᵀ, ∂/∂b_l = δ_l.
struct Network {
  std::vector<Index> sizes;  // inputs, hidden layers, outputs
  Activation activation = Activation::tanh;
  Loss loss = Loss::squared;

  Index layers() const { return std::ssize(sizes) - 1; }
  Index weight_count() const { return begin(layers()); }
  /// Where layer l begins in the weights: W_l row by row (a row for each output), then b_l.
  Index begin(Index layer) const;
  /// How many numbers W_l has.
  Index matrix_size(Index layer) const { return sizes[at(layer)] * sizes[at(layer + 1)]; }
  /// Weights to begin with, drawn in their order: normal with mean 0 and variance 1 / in (fan_in), 2 / (in + out) (glorot) or
  /// 2 / in (he) of each layer; the b are 0.
  Vector initial(Init init, RandomStream stream) const;
  /// z_L of each row; a row's numbers depend on that row alone.
  Matrix outputs(const Vector& weights, const MatrixView& x) const;
  /// Σ w loss over the rows (targets: a row each, of classes 1 at its class), and with `backward` its gradient, both in `pass`.
  /// `first`: the number in its batch of the first of these rows, by which its dropout is drawn.
  void run(const Vector& weights, const MatrixView& x, const MatrixView& targets, const VectorView& row_weights,
           bool backward, Pass& pass, const Dropout& dropout = {}, Index first = 0) const;
  /// The same at once.
  double value(const Vector& weights, const MatrixView& x, const MatrixView& targets, const Vector& row_weights,
               Vector* gradient, const Dropout& dropout = {}) const;
  /// The diagonal of Σ w JᵀHJ, with J the derivatives of z by the weights and H those of the loss by z, twice: the curvature
  /// of the losses in each weight (Gauss and Newton), never negative. Of absolute losses H is 1.
  Vector curvature(const Vector& weights, const MatrixView& x, const VectorView& row_weights, Pass& pass) const;
  /// ½ Σ W², without the b; and factor times its gradient is added.
  double decay(const Vector& weights, double factor = 0, Vector* gradient = nullptr) const;
  /// The root of the mean square of a gradient's numbers, of each layer.
  Vector size_by_layer(const Vector& gradient) const;

 private:
  void forwards(const Vector& weights, const MatrixView& x, Pass& pass, const Dropout& dropout, Index first) const;
  /// From pass.delta = ∂/∂z_L on; add(layer, δ, a) takes what a layer is told.
  void backwards(const Vector& weights, const MatrixView& x, Pass& pass, const auto& add) const;
};

}  // namespace lemma::neural
