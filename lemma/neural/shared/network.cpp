// lemma/neural/shared/network.cpp
#include <cmath>
#include <lemma/core/error.hpp>
#include <lemma/math/multiply.hpp>
#include <lemma/math/row_products.hpp>
#include <lemma/neural/shared/network.hpp>

namespace lemma::neural {
namespace {

using Weights = Eigen::Map<const Matrix>;

double log_sum_exp(const Eigen::Ref<const Eigen::RowVectorXd>& z) {
  const double top = z.maxCoeff();
  double sum = 0;
  for (Index k = 0; k < z.size(); ++k) sum += std::exp(z(k) - top);
  return top + std::log(sum);
}

double sigmoid(double z) { return z >= 0 ? 1 / (1 + std::exp(-z)) : std::exp(z) / (1 + std::exp(z)); }

double activated(Activation s, double z) {
  switch (s) {
    case Activation::sigmoid: return sigmoid(z);
    case Activation::tanh: return std::tanh(z);
    case Activation::relu: return z > 0 ? z : 0;
    case Activation::softplus: return z > 0 ? z + std::log1p(std::exp(-z)) : std::log1p(std::exp(z));
    default: return z;
  }
}

/// s'(z), with a = s(z).
double slope(Activation s, double z, double a) {
  switch (s) {
    case Activation::sigmoid: return a * (1 - a);
    case Activation::tanh: return 1 - a * a;
    case Activation::relu: return z > 0 ? 1 : 0;
    case Activation::softplus: return sigmoid(z);
    default: return 1;
  }
}

Matrix activations(Activation s, const Matrix& z) {
  Matrix a(z.rows(), z.cols());
  for (Index i = 0; i < z.rows(); ++i) {
    const double all = s == Activation::softmax ? log_sum_exp(z.row(i)) : 0;
    for (Index j = 0; j < z.cols(); ++j)
      a(i, j) = s == Activation::softmax ? std::exp(z(i, j) - all) : activated(s, z(i, j));
  }
  return a;
}

/// From ∂/∂a to ∂/∂z, in its place; of softmax ∂/∂z_j = a_j (∂/∂a_j − Σ_k a_k ∂/∂a_k).
void back_through(Activation s, const Matrix& z, const Matrix& a, Matrix& delta) {
  for (Index i = 0; i < z.rows(); ++i) {
    double mean = 0;
    for (Index j = 0; s == Activation::softmax && j < z.cols(); ++j) mean += a(i, j) * delta(i, j);
    for (Index j = 0; j < z.cols(); ++j)
      delta(i, j) =
          s == Activation::softmax ? a(i, j) * (delta(i, j) - mean) : delta(i, j) * slope(s, z(i, j), a(i, j));
  }
}

/// The loss of a row, and ∂loss/∂z.
double loss_of(Loss loss, const Eigen::Ref<const Eigen::RowVectorXd>& z, const Eigen::Ref<const Eigen::RowVectorXd>& t,
               Eigen::Ref<Eigen::RowVectorXd> delta) {
  const double all = loss == Loss::cross_entropy ? log_sum_exp(z) : 0;
  double sum = all;
  for (Index k = 0; k < z.size(); ++k) {
    const double off = z(k) - t(k);
    switch (loss) {
      case Loss::squared: sum += 0.5 * off * off, delta(k) = off; break;
      case Loss::absolute: sum += std::abs(off), delta(k) = off > 0 ? 1 : off < 0 ? -1 : 0; break;
      case Loss::cross_entropy: sum -= t(k) * z(k), delta(k) = std::exp(z(k) - all) - t(k); break;
      case Loss::poisson: sum += std::exp(z(k)) - t(k) * z(k), delta(k) = std::exp(z(k)) - t(k); break;
    }
  }
  return sum;
}

}  // namespace

Index Network::begin(Index layer) const {
  Index out = 0;
  for (Index l = 0; l < layer; ++l) out += sizes[at(l + 1)] * (sizes[at(l)] + 1);
  return out;
}

Index Network::weight_count() const { return begin(layers()); }

namespace {
Matrix sums(const Network& net, const Vector& weights, Index layer, const MatrixView& a) {
  const Index in = net.sizes[at(layer)], out = net.sizes[at(layer + 1)];
  const Weights w(weights.data() + net.begin(layer), out, in);
  const Eigen::Map<const Vector> b(weights.data() + net.begin(layer) + out * in, out);
  Matrix z = row_products_transposed(a, w);
  z.rowwise() += b.transpose();
  return z;
}
}  // namespace

Matrix Network::outputs(const Vector& weights, const MatrixView& x) const {
  require(weights.size() == weight_count() && x.cols() == sizes.front(), "network: weights or rows do not fit it");
  Matrix z = sums(*this, weights, 0, x);
  for (Index l = 1; l < layers(); ++l) z = sums(*this, weights, l, activations(activation, z));
  return z;
}

double Network::value(const Vector& weights, const MatrixView& x, const MatrixView& targets, const Vector& row_weights,
                      Vector* gradient) const {
  require(weights.size() == weight_count() && x.cols() == sizes.front() && targets.cols() == sizes.back() &&
              targets.rows() == x.rows() && row_weights.size() == x.rows(),
          "network: weights, rows or targets do not fit it");
  std::vector<Matrix> z, a{Matrix(x)};
  for (Index l = 0; l < layers(); ++l) {
    z.push_back(sums(*this, weights, l, a.back()));
    if (l + 1 < layers()) a.push_back(activations(activation, z.back()));
  }
  Matrix delta(x.rows(), sizes.back());
  double sum = 0;
  for (Index i = 0; i < x.rows(); ++i) {
    sum += row_weights(i) * loss_of(loss, z.back().row(i), targets.row(i), delta.row(i));
    delta.row(i) *= row_weights(i);
  }
  if (!gradient) return sum;
  gradient->resize(weight_count());
  for (Index l = layers() - 1; l >= 0; --l) {
    const Index in = sizes[at(l)], out = sizes[at(l + 1)];
    Eigen::Map<Matrix>(gradient->data() + begin(l), out, in) = transposed_multiply(delta, a[at(l)]);
    gradient->segment(begin(l) + out * in, out) = delta.colwise().sum().transpose();
    if (l == 0) break;
    Matrix before = multiply(delta, Weights(weights.data() + begin(l), out, in));
    back_through(activation, z[at(l - 1)], a[at(l)], before);
    delta = std::move(before);
  }
  return sum;
}

}  // namespace lemma::neural
