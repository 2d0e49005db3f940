// lemma/neural/shared/network.cpp
#include <cmath>
#include <lemma/core/error.hpp>
#include <lemma/math/blas.hpp>
#include <lemma/math/row_products.hpp>
#include <lemma/math/simd.hpp>
#include <lemma/math/special.hpp>
#include <lemma/neural/shared/network.hpp>

namespace lemma::neural {
namespace {

using blas::Op;
using Weights = Eigen::Map<const Matrix>;

/// Numbers become s of them, in their place; each by itself (of softmax: each row), so that none depends on the others.
void activate(Activation s, Matrix& z) {
  const std::span<double> all(z.data(), at(z.size()));
  switch (s) {
    case Activation::sigmoid:
      for (double& each : all) each = -each;
      simd::exp(all, all);
      for (double& each : all) each = 1 / (1 + each);
      break;
    case Activation::tanh: {  // with e = exp(−2|z|): (1 − e) / (1 + e), of the sign of z
      thread_local std::vector<double> e;
      e.resize(all.size());
      for (std::size_t i = 0; i < all.size(); ++i) e[i] = -2 * std::abs(all[i]);
      simd::exp(e, e);
      for (std::size_t i = 0; i < all.size(); ++i)
        all[i] = std::isnan(all[i]) ? all[i] : std::copysign((1 - e[i]) / (1 + e[i]), all[i]);
      break;
    }
    case Activation::relu:
      for (double& each : all) each = each < 0 ? 0 : each;
      break;
    case Activation::softplus:
      for (double& each : all) each = log1p_exp(each);
      break;
    case Activation::softmax: softmax_rows(z); break;
    case Activation::identity: break;
  }
}

/// s'(z), by a = s(z).
double slope(Activation s, double a) {
  switch (s) {
    case Activation::sigmoid: return a * (1 - a);
    case Activation::tanh: return 1 - a * a;
    case Activation::relu: return a > 0 ? 1 : 0;
    case Activation::softplus: return -std::expm1(-a);
    default: return 1;
  }
}

/// From ∂/∂a to ∂/∂z, in its place; of softmax ∂/∂z_j = a_j (∂/∂a_j − Σ_k a_k ∂/∂a_k).
void back_through(Activation s, const Matrix& a, Matrix& delta) {
  if (s == Activation::identity) return;
  for (Index i = 0; i < a.rows(); ++i) {
    if (s == Activation::softmax) {
      const double mean = a.row(i).dot(delta.row(i));
      delta.row(i).array() = a.row(i).array() * (delta.row(i).array() - mean);
    } else {
      for (Index j = 0; j < a.cols(); ++j) delta(i, j) *= slope(s, a(i, j));
    }
  }
}

/// The loss of a row, and ∂loss/∂z.
double loss_of(Loss loss, const Eigen::Ref<const Eigen::RowVectorXd>& z, const Eigen::Ref<const Eigen::RowVectorXd>& t,
               Eigen::Ref<Eigen::RowVectorXd> delta) {
  const double all = loss == Loss::cross_entropy ? log_sum_exp(z.transpose()) : 0;
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

/// What layer l takes.
MatrixView input(const MatrixView& x, const Pass& pass, Index l) {
  return l == 0 ? x : MatrixView(pass.fed.empty() ? pass.a[at(l - 1)] : pass.fed[at(l - 1)]);
}

void draw_kept(const Dropout& dropout, Index first, Matrix& kept, std::vector<RandomStream>& streams) {
  const double stays = 1 / (1 - dropout.share);
  while (std::ssize(streams) < kept.rows())
    streams.push_back(dropout.stream.split(static_cast<std::uint64_t>(first + std::ssize(streams))));
  for (Index i = 0; i < kept.rows(); ++i)
    for (Index j = 0; j < kept.cols(); ++j) kept(i, j) = streams[at(i)].uniform() < dropout.share ? 0 : stays;
}

}  // namespace

Index Network::begin(Index layer) const {
  Index out = 0;
  for (Index l = 0; l < layer; ++l) out += sizes[at(l + 1)] * (sizes[at(l)] + 1);
  return out;
}

Vector Network::initial(Init init, RandomStream stream) const {
  Vector out = Vector::Zero(weight_count());
  for (Index l = 0; l < layers(); ++l) {
    const auto in = static_cast<double>(sizes[at(l)]), both = in + static_cast<double>(sizes[at(l + 1)]);
    const double deviation = std::sqrt(init == Init::fan_in ? 1 / in : init == Init::he ? 2 / in : 2 / both);
    for (double& each : out.segment(begin(l), matrix_size(l))) each = deviation * stream.normal();
  }
  return out;
}

Matrix Network::outputs(const Vector& weights, const MatrixView& x) const {
  require(weights.size() == weight_count() && x.cols() == sizes.front(), "network: weights or rows do not fit it");
  Matrix a;
  for (Index l = 0; l < layers(); ++l) {
    const Index in = sizes[at(l)], out = sizes[at(l + 1)];
    const Weights w(weights.data() + begin(l), out, in);
    Matrix z(x.rows(), out);
    RightFactor(w, RightFactor::As::transposed).multiply(l == 0 ? x : MatrixView(a), z);
    z.rowwise() += weights.segment(begin(l) + out * in, out).transpose();
    if (l + 1 < layers()) activate(activation, z);
    a = std::move(z);
  }
  return a;
}

void Network::forwards(const Vector& weights, const MatrixView& x, Pass& pass, const Dropout& dropout,
                       Index first) const {
  const bool drops = dropout.share > 0;
  pass.a.resize(at(layers()));
  pass.fed.resize(drops ? pass.a.size() : 0);
  pass.kept.resize(pass.fed.size());
  std::vector<RandomStream> streams;
  for (Index l = 0; l < layers(); ++l) {
    const Index in = sizes[at(l)], out = sizes[at(l + 1)];
    Matrix& a = pass.a[at(l)];
    a.resize(x.rows(), out);
    blas::gemm(Op::plain, input(x, pass, l), Op::transposed, Weights(weights.data() + begin(l), out, in), a);
    a.rowwise() += weights.segment(begin(l) + out * in, out).transpose();
    if (l + 1 == layers()) break;
    activate(activation, a);
    if (!drops) continue;
    pass.kept[at(l)].resize(x.rows(), out);
    draw_kept(dropout, first, pass.kept[at(l)], streams);
    pass.fed[at(l)] = a.cwiseProduct(pass.kept[at(l)]);
  }
}

void Network::backwards(const Vector& weights, const MatrixView& x, Pass& pass, const auto& add) const {
  for (Index l = layers() - 1; l >= 0; --l) {
    const Index in = sizes[at(l)], out = sizes[at(l + 1)];
    add(l, pass.delta, input(x, pass, l));
    if (l == 0) break;
    pass.before.resize(x.rows(), in);
    blas::gemm(Op::plain, pass.delta, Op::plain, Weights(weights.data() + begin(l), out, in), pass.before);
    if (!pass.kept.empty()) pass.before.array() *= pass.kept[at(l - 1)].array();
    back_through(activation, pass.a[at(l - 1)], pass.before);
    pass.delta.swap(pass.before);
  }
}

void Network::run(const Vector& weights, const MatrixView& x, const MatrixView& targets, const VectorView& row_weights,
                  bool backward, Pass& pass, const Dropout& dropout, Index first) const {
  require(weights.size() == weight_count() && x.cols() == sizes.front() && targets.cols() == sizes.back() &&
              targets.rows() == x.rows() && row_weights.size() == x.rows(),
          "network: weights, rows or targets do not fit it");
  forwards(weights, x, pass, dropout, first);
  pass.delta.resize(x.rows(), sizes.back());
  pass.loss = 0;
  for (Index i = 0; i < x.rows(); ++i) {
    pass.loss += row_weights(i) * loss_of(loss, pass.a.back().row(i), targets.row(i), pass.delta.row(i));
    pass.delta.row(i) *= row_weights(i);
  }
  if (!backward) return;
  pass.gradient.resize(weight_count());
  backwards(weights, x, pass, [&](Index l, const Matrix& delta, const MatrixView& a) {
    Eigen::Map<Matrix> of_matrix(pass.gradient.data() + begin(l), delta.cols(), a.cols());
    blas::gemm(Op::transposed, delta, Op::plain, a, of_matrix);
    pass.gradient.segment(begin(l) + matrix_size(l), delta.cols()) = delta.colwise().sum().transpose();
  });
}

/// Of the losses with H = diag(c) output by output; of cross_entropy H = Σ_k p_k (p − e_k)(p − e_k)ᵀ.
Vector Network::curvature(const Vector& weights, const MatrixView& x, const VectorView& row_weights, Pass& pass) const {
  Vector out = Vector::Zero(weight_count());
  forwards(weights, x, pass, {}, 0);
  Matrix size = pass.a.back();
  if (loss == Loss::cross_entropy) softmax_rows(size);
  else if (loss == Loss::poisson) size = size.array().exp();
  else size.setOnes();
  for (Index k = 0; k < sizes.back(); ++k) {
    if (loss == Loss::cross_entropy) pass.delta = size;
    else pass.delta = Matrix::Zero(x.rows(), sizes.back());
    pass.delta.col(k).array() -= 1;
    for (Index i = 0; i < x.rows(); ++i) pass.delta.row(i) *= std::sqrt(row_weights(i) * size(i, k));
    backwards(weights, x, pass, [&](Index l, const Matrix& delta, const MatrixView& a) {
      const Matrix squared = delta.cwiseAbs2(), of_inputs = a.cwiseAbs2();
      Eigen::Map<Matrix> of_matrix(out.data() + begin(l), delta.cols(), a.cols());
      blas::gemm(Op::transposed, squared, Op::plain, of_inputs, of_matrix, 1, 1);
      out.segment(begin(l) + matrix_size(l), delta.cols()) += squared.colwise().sum().transpose();
    });
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
  for (Index l = 0; l < layers(); ++l) {
    const auto of_layer = weights.segment(begin(l), matrix_size(l));
    sum += 0.5 * of_layer.squaredNorm();
    if (gradient) gradient->segment(begin(l), matrix_size(l)) += factor * of_layer;
  }
  return sum;
}

Vector Network::size_by_layer(const Vector& gradient) const {
  Vector out(layers());
  for (Index l = 0; l < layers(); ++l) {
    const Index size = begin(l + 1) - begin(l);
    out(l) = gradient.segment(begin(l), size).stableNorm() / std::sqrt(static_cast<double>(size));
  }
  return out;
}

}  // namespace lemma::neural
