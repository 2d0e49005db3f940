// lemma/neural/shared/layer.hpp: one layer of a network: what it takes and gives, and where its windows lie.
#pragma once
#include <array>
#include <cstdint>
#include <lemma/core/matrix.hpp>
#include <string_view>
#include <vector>

namespace lemma::neural {

enum class Activation { sigmoid, tanh, relu, softplus, softmax, identity };
constexpr auto names_of(Activation) {
  return std::array<std::string_view, 6>{"sigmoid", "tanh", "relu", "softplus", "softmax", "identity"};
}

/// An image: pixel row by pixel row, the channels of a pixel side by side. Numbers without an order are one pixel of many channels.
struct Shape {
  Index height = 1, width = 1, channels = 1;
  Index size() const { return height * width * channels; }
  bool operator==(const Shape&) const = default;
};

/// dense        z = W a + b
/// convolution  z(y, x, k) = b_k + Σ over the window and the channels of W(k; i, j, c) a(y·down + i − above, x·right + j − left, c),
///              with a = 0 beyond the edge
/// max_pool, mean_pool: of each channel the largest, or the mean, of what the window holds of the image
///
/// and then s(z). The weights of a layer are W row by row, a row for each unit (k), then b.
struct Layer {
  enum class Kind { dense, convolution, max_pool, mean_pool };
  Kind kind = Kind::dense;
  Shape in, out;
  Activation activation = Activation::identity;
  Index height = 1, width = 1;  // of the window
  Index down = 1, right = 1;    // steps from window to window
  Index above = 0, left = 0;    // how far the first window reaches beyond the edge

  bool pools() const { return kind == Kind::max_pool || kind == Kind::mean_pool; }
  Index places() const { return out.height * out.width; }
  Index units() const { return pools() ? 0 : kind == Kind::dense ? out.size() : out.channels; }
  /// How many numbers a unit takes, and how many units take one number.
  Index fan_in() const { return kind == Kind::dense ? in.size() : height * width * in.channels; }
  Index fan_out() const { return kind == Kind::dense ? out.size() : height * width * out.channels; }
  Index matrix_size() const { return units() * fan_in(); }
  Index weights() const { return matrix_size() + units(); }
};
Layer dense_layer(Index in, Index out, Activation activation);

/// A matrix of numbers of 8 bytes, or of 4.
template <class T>
using MatrixOf = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// The windows of an image, one below the other.
template <class T>
void windows_of(const Layer& layer, const T* image, MatrixOf<T>& windows);
/// Backwards: what each window is told is added to the pixels it holds.
template <class T>
void add_windows(const Layer& layer, const MatrixOf<T>& windows, T* image);
/// `chosen`: of each number that comes out of max_pool its place in the image.
template <class T>
void pool(const Layer& layer, const T* image, T* out, std::int32_t* chosen);
template <class T>
void pool_back(const Layer& layer, const T* delta, const std::int32_t* chosen, T* before);

}  // namespace lemma::neural
