// lemma/neural/shared/network.hpp: a network of dense layers as a function of its weights, with its backward pass.
#pragma once
#include <array>
#include <lemma/core/matrix.hpp>
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
  Index weight_count() const;
  /// Where layer l begins in the weights: W_l row by row (a row for each output), then b_l.
  Index begin(Index layer) const;
  /// z_L of each row; a row's numbers depend on that row alone.
  Matrix outputs(const Vector& weights, const MatrixView& x) const;
  /// Σ w loss over the rows (targets: a row each, of classes 1 at its class), and its gradient, where asked for.
  double value(const Vector& weights, const MatrixView& x, const MatrixView& targets, const Vector& row_weights,
               Vector* gradient) const;
};

}  // namespace lemma::neural
