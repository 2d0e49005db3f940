// lemma/neural/shared/passes.cpp: rows on their way through a network and back, in numbers of 8 bytes or of 4.
#include <algorithm>
#include <cmath>
#include <lemma/core/error.hpp>
#include <lemma/core/parallel.hpp>
#include <lemma/math/simd.hpp>
#include <lemma/math/special.hpp>
#include <lemma/neural/shared/network.hpp>
#include <type_traits>

namespace lemma::neural {
namespace {

// When a network is asked what it says of rows:
constexpr Index kRowsAtOnce = 96;            // go through all layers before the next, in what a core's cache holds
constexpr Index kNumbersAtOnce = 1'000'000;  // of a layer, at most
constexpr Index kPieces = 11;                // of those rows for one thread at a time, which makes its room once

using blas::Op;
template <class T>
using Map = Eigen::Map<const MatrixOf<T>>;

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
      z = z.cwiseMax(0.0);  // as std::max(z, 0.0), so that NaN stays; no branch, which would be guessed
      break;
    case Activation::softplus:
      for (double& each : all) each = log1p_exp(each);
      break;
    case Activation::softmax: softmax_rows(z); break;
    case Activation::identity: break;
  }
}
void activate(Activation s, SingleMatrix& z) {
  if (s == Activation::identity) return;
  if (s == Activation::relu) {
    z = z.cwiseMax(0.0F);
    return;
  }
  thread_local Matrix wide;
  wide = z.cast<double>();
  activate(s, wide);
  z = wide.cast<float>();
}

/// s'(z), by a = s(z).
template <class T>
T slope(Activation s, T a) {
  switch (s) {
    case Activation::sigmoid: return a * (1 - a);
    case Activation::tanh: return 1 - a * a;
    case Activation::relu: return a > 0 ? 1 : 0;
    case Activation::softplus: return -std::expm1(-a);
    default: return 1;
  }
}

/// From ∂/∂a to ∂/∂z, in its place; of softmax ∂/∂z_j = a_j (∂/∂a_j − Σ_k a_k ∂/∂a_k).
template <class T>
void back_through(Activation s, const MatrixOf<T>& a, MatrixOf<T>& delta) {
  if (s == Activation::identity) return;
  for (Index i = 0; i < a.rows(); ++i) {
    if (s == Activation::softmax) {
      const T mean = a.row(i).dot(delta.row(i));
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
template <class T>
ViewOf<T> input(const ViewOf<T>& x, const PassOf<T>& pass, Index l) {
  if (l == 0) return x;
  return ViewOf<T>(pass.fed[at(l - 1)].size() == 0 ? pass.a[at(l - 1)] : pass.fed[at(l - 1)]);
}

template <class T>
Map<T> matrix_of(const Layer& layer, const T* weights) {
  return {weights, layer.units(), layer.fan_in()};
}
/// The numbers that a row has in a convolution: a row for each place, a column for each channel.
template <class T>
Eigen::Map<MatrixOf<T>> by_place(const Layer& layer, T* row) {
  return {row, layer.places(), layer.out.channels};
}

/// z of each row; multiply(a, z) is z = a Wᵀ.
template <class T>
void apply(const Layer& layer, const Eigen::Ref<const VectorOf<T>>& b, const ViewOf<T>& a, MatrixOf<T>& z,
           MatrixOf<T>& windows, std::vector<std::int32_t>& chosen, const auto& multiply) {
  z.resize(a.rows(), layer.out.size());
  switch (layer.kind) {
    case Layer::Kind::dense:
      multiply(a, z);
      z.rowwise() += b.transpose();
      break;
    case Layer::Kind::convolution:
      for (Index i = 0; i < a.rows(); ++i) {
        windows_of(layer, a.row(i).data(), windows);
        Eigen::Map<MatrixOf<T>> of_row = by_place(layer, z.row(i).data());
        multiply(windows, of_row);
        of_row.rowwise() += b.transpose();
      }
      break;
    default:
      chosen.resize(at(z.size()));
      for (Index i = 0; i < a.rows(); ++i)
        pool(layer, a.row(i).data(), z.row(i).data(), chosen.data() + i * layer.out.size());
      break;
  }
}

/// C = AᵀB, or C += AᵀB.
void add_product(const MatrixView& a, const MatrixView& b, Eigen::Ref<Matrix> c, bool onto) {
  blas::gemm(Op::transposed, a, Op::plain, b, c, 1, onto ? 1 : 0);
}
void add_product(const SingleView& a, const SingleView& b, Eigen::Ref<SingleMatrix> c, bool onto) {
  blas::gemm(Op::transposed, a, Op::plain, b, c, onto ? 1.0F : 0.0F);
}

template <class T>
void draw_kept(const Dropout& dropout, Index first, MatrixOf<T>& kept, std::vector<RandomStream>& streams) {
  const auto stays = static_cast<T>(1 / (1 - dropout.share));
  while (std::ssize(streams) < kept.rows())
    streams.push_back(dropout.stream.split(static_cast<std::uint64_t>(first + std::ssize(streams))));
  for (Index i = 0; i < kept.rows(); ++i)
    for (Index j = 0; j < kept.cols(); ++j) kept(i, j) = streams[at(i)].uniform() < dropout.share ? T(0) : stays;
}

}  // namespace

MatrixView Standards::of(const MatrixView& x, Matrix& into) const {
  if (!changes()) return x;
  into = x.rowwise() - mean.transpose();
  into.array().rowwise() /= scale.transpose().array();
  return into;
}

SingleView Standards::of(const MatrixView& x, SingleMatrix& into) const {
  if (changes()) into = ((x.rowwise() - mean.transpose()).array().rowwise() / scale.transpose().array()).cast<float>();
  else into = x.cast<float>();
  return into;
}

template <class T>
Matrix Network::outputs_as(const Vector& weights, const MatrixView& x, Index of_layers,
                           const Standards& standards) const {
  using Factor = std::conditional_t<std::is_same_v<T, float>, SingleFactor, RightFactor>;
  std::vector<Factor> factors;
  std::vector<VectorOf<T>> b;
  for (Index l = 0; l < of_layers; ++l) {
    const Layer& layer = layers[at(l)];
    factors.emplace_back(matrix_of(layer, weights.data() + begin(l)), RightFactor::As::transposed);
    b.push_back(weights.segment(begin(l) + layer.matrix_size(), layer.units()).template cast<T>());
  }
  const Index piece = std::clamp<Index>(kNumbersAtOnce / most_numbers(), 1, kRowsAtOnce), part = piece * kPieces;
  Matrix out(x.rows(), of_layers == 0 ? in() : layers[at(of_layers - 1)].out.size());
  parallel_for((x.rows() + part - 1) / part, {}, [&](Index p) {
    std::vector<MatrixOf<T>> a(at(of_layers + 1));
    MatrixOf<T> windows;
    std::vector<std::int32_t> chosen;
    const Index last = std::min(x.rows(), (p + 1) * part);
    for (Index first = p * part; first < last; first += piece) {
      const Index count = std::min(piece, last - first);
      const ViewOf<T> taken = standards.of(x.middleRows(first, count), a[0]);
      for (Index l = 0; l < of_layers; ++l) {
        const Layer& layer = layers[at(l)];
        MatrixOf<T>& z = a[at(l + 1)];
        apply<T>(
            layer, b[at(l)], l == 0 ? taken : ViewOf<T>(a[at(l)]), z, windows, chosen,
            [&](const ViewOf<T>& from, Eigen::Ref<MatrixOf<T>> product) { factors[at(l)].multiply(from, product); });
        activate(layer.activation, z);
      }
      out.middleRows(first, count) = (of_layers == 0 ? taken : ViewOf<T>(a.back())).template cast<double>();
    }
  });
  return out;
}

Matrix Network::outputs(const Vector& weights, const MatrixView& x, Index of_layers, const Standards& standards,
                        Precision precision) const {
  require(weights.size() == weight_count() && x.cols() == in(), "network: weights or rows do not fit it");
  return precision == Precision::single ? outputs_as<float>(weights, x, of_layers, standards)
                                        : outputs_as<double>(weights, x, of_layers, standards);
}

template <class T>
void Network::forwards(const VectorOf<T>& weights, const ViewOf<T>& x, PassOf<T>& pass, const Dropout& dropout,
                       Index first) const {
  pass.a.resize(layers.size());
  pass.fed.resize(layers.size());
  pass.kept.resize(layers.size());
  pass.chosen.resize(layers.size());
  std::vector<RandomStream> streams;
  for (Index l = 0; l < depth(); ++l) {
    const Layer& layer = layers[at(l)];
    const T* of_layer = weights.data() + begin(l);
    MatrixOf<T>& a = pass.a[at(l)];
    apply<T>(layer, weights.segment(begin(l) + layer.matrix_size(), layer.units()), input(x, pass, l), a, pass.windows,
             pass.chosen[at(l)], [&](const ViewOf<T>& from, Eigen::Ref<MatrixOf<T>> product) {
               blas::gemm(Op::plain, from, Op::transposed, matrix_of(layer, of_layer), product);
             });
    activate(layer.activation, a);
    if (dropout.share == 0 || !drops(l)) {
      pass.fed[at(l)].resize(0, 0);
      continue;
    }
    pass.kept[at(l)].resize(x.rows(), layer.out.size());
    draw_kept(dropout, first, pass.kept[at(l)], streams);
    pass.fed[at(l)] = a.cwiseProduct(pass.kept[at(l)]);
  }
}

template <class T>
void Network::backwards(const VectorOf<T>& weights, const ViewOf<T>& x, PassOf<T>& pass, const auto& add) const {
  for (Index l = depth() - 1; l >= 0; --l) {
    const Layer& layer = layers[at(l)];
    if (!layer.pools()) add(l, pass.delta, input(x, pass, l));
    if (l == 0) break;
    const Map<T> w = matrix_of(layer, weights.data() + begin(l));
    pass.before.resize(x.rows(), layer.in.size());
    if (layer.kind == Layer::Kind::dense) {
      blas::gemm(Op::plain, pass.delta, Op::plain, w, pass.before);
    } else if (layer.kind == Layer::Kind::convolution) {
      pass.before.setZero();
      pass.windows.resize(layer.places(), layer.fan_in());
      for (Index i = 0; i < x.rows(); ++i) {
        blas::gemm(Op::plain, by_place(layer, pass.delta.row(i).data()), Op::plain, w, pass.windows);
        add_windows(layer, pass.windows, pass.before.row(i).data());
      }
    } else {
      for (Index i = 0; i < x.rows(); ++i)
        pool_back(layer, pass.delta.row(i).data(), pass.chosen[at(l)].data() + i * layer.out.size(),
                  pass.before.row(i).data());
    }
    if (pass.fed[at(l - 1)].size() > 0) pass.before.array() *= pass.kept[at(l - 1)].array();
    back_through(layers[at(l - 1)].activation, pass.a[at(l - 1)], pass.before);
    pass.delta.swap(pass.before);
  }
}

template <class T>
void Network::run_as(const VectorOf<T>& weights, const ViewOf<T>& x, const MatrixView& targets,
                     const VectorView& row_weights, bool backward, PassOf<T>& pass, const Dropout& dropout,
                     Index first) const {
  require(weights.size() == weight_count() && x.cols() == in() && targets.cols() == out() &&
              targets.rows() == x.rows() && row_weights.size() == x.rows(),
          "network: weights, rows or targets do not fit it");
  forwards(weights, x, pass, dropout, first);
  pass.delta.resize(x.rows(), out());
  pass.loss = 0;
  Eigen::RowVectorXd z(out()), delta(out());
  for (Index i = 0; i < x.rows(); ++i) {
    z = pass.a.back().row(i).template cast<double>();
    pass.loss += row_weights(i) * loss_of(loss, z, targets.row(i), delta);
    pass.delta.row(i) = (delta * row_weights(i)).template cast<T>();
  }
  if (!backward) return;
  pass.gradient.resize(weight_count());
  backwards(weights, x, pass, [&](Index l, MatrixOf<T>& of_units, const ViewOf<T>& a) {
    const Layer& layer = layers[at(l)];
    Eigen::Map<MatrixOf<T>> of_matrix(pass.gradient.data() + begin(l), layer.units(), layer.fan_in());
    auto of_bias = pass.gradient.segment(begin(l) + layer.matrix_size(), layer.units());
    if (layer.kind == Layer::Kind::dense) {
      blas::gemm(Op::transposed, of_units, Op::plain, a, of_matrix);
      of_bias = of_units.colwise().sum().transpose();
      return;
    }
    of_bias.setZero();
    for (Index i = 0; i < a.rows(); ++i) {
      const auto of_row = by_place(layer, of_units.row(i).data());
      windows_of(layer, a.row(i).data(), pass.windows);
      add_product(of_row, pass.windows, of_matrix, i > 0);
      of_bias += of_row.colwise().sum().transpose();
    }
  });
}
template void Network::run_as(const Vector&, const MatrixView&, const MatrixView&, const VectorView&, bool, Pass&,
                              const Dropout&, Index) const;
template void Network::run_as(const SingleVector&, const SingleView&, const MatrixView&, const VectorView&, bool,
                              PassOf<float>&, const Dropout&, Index) const;

/// Of the losses with H = diag(c) output by output; of cross_entropy H = Σ_k p_k (p − e_k)(p − e_k)ᵀ.
void Network::backwards_by_output(const Vector& weights, const MatrixView& x, const VectorView& row_weights, Pass& pass,
                                  const auto& add, const auto& done) const {
  forwards<double>(weights, x, pass, {}, 0);
  Matrix size = pass.a.back();
  if (loss == Loss::cross_entropy) softmax_rows(size);
  else if (loss == Loss::poisson) size = size.array().exp();
  else size.setOnes();
  for (Index k = 0; k < out(); ++k) {
    if (loss == Loss::cross_entropy) pass.delta = size;
    else pass.delta = Matrix::Zero(x.rows(), out());
    pass.delta.col(k).array() -= 1;
    for (Index i = 0; i < x.rows(); ++i) pass.delta.row(i) *= std::sqrt(row_weights(i) * size(i, k));
    backwards<double>(weights, x, pass, add);
    done();
  }
}

Vector Network::curvature(const Vector& weights, const MatrixView& x, const VectorView& row_weights, Pass& pass) const {
  require(!has(Layer::Kind::convolution) && !has(Layer::Kind::max_pool) && !has(Layer::Kind::mean_pool),
          "network: its curvature is known of dense layers alone");
  Vector found = Vector::Zero(weight_count());
  const auto add = [&](Index l, const Matrix& delta, const MatrixView& a) {
    const Matrix squared = delta.cwiseAbs2(), of_inputs = a.cwiseAbs2();
    Eigen::Map<Matrix> of_matrix(found.data() + begin(l), delta.cols(), a.cols());
    blas::gemm(Op::transposed, squared, Op::plain, of_inputs, of_matrix, 1, 1);
    found.segment(begin(l) + layers[at(l)].matrix_size(), delta.cols()) += squared.colwise().sum().transpose();
  };
  backwards_by_output(weights, x, row_weights, pass, add, [] {});
  return found;
}

void Network::add_gauss_newton(const Vector& weights, const MatrixView& x, const VectorView& row_weights, Pass& pass,
                               Matrix& into) const {
  Matrix& jacobian = pass.jacobian;
  jacobian.resize(x.rows(), weight_count());
  const auto add = [&](Index l, Matrix& delta, const MatrixView& a) {
    const Layer& layer = layers[at(l)];
    for (Index i = 0; i < a.rows(); ++i) {
      double* to = jacobian.row(i).data() + begin(l);
      Eigen::Map<Matrix> of_matrix(to, layer.units(), layer.fan_in());
      Eigen::Map<Eigen::RowVectorXd> of_bias(to + layer.matrix_size(), layer.units());
      if (layer.kind == Layer::Kind::dense) {
        of_matrix.noalias() = delta.row(i).transpose() * a.row(i);
        of_bias = delta.row(i);
      } else {
        const auto of_row = by_place(layer, delta.row(i).data());
        windows_of(layer, a.row(i).data(), pass.windows);
        blas::gemm(Op::transposed, of_row, Op::plain, pass.windows, of_matrix);
        of_bias = of_row.colwise().sum();
      }
    }
  };
  backwards_by_output(weights, x, row_weights, pass, add, [&] { blas::gram(jacobian, into, 1); });
}

}  // namespace lemma::neural
