// lemma/kernel/gp/anew.cpp: log p(y) and its gradient by other routes than that of the fit.
#include <algorithm>
#include <cmath>
#include <lemma/core/random.hpp>
#include <lemma/kernel/gp/parts.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/math/multiply.hpp>
#include <lemma/math/tiled_cholesky.hpp>
#include <numbers>
#include <numeric>

namespace lemma::gp {
namespace {

/// The kernel with hyperparameter t multiplied by e^step.
Kernel moved(const Setting& setting, Index t, double step) {
  Vector theta = setting.values();
  theta(t) *= std::exp(step);
  return with_values(setting, theta).kernel;
}

constexpr double kStep =
    2e-3;  // the error of these differences is about its fourth power, and the rounding of k over it
constexpr double kSteps[] = {kStep, -kStep, 2 * kStep, -2 * kStep};

/// The derivative at 0 of a function of the step, by its values at the four.
Matrix derivative(const auto& at) { return (8 * (at(0) - at(1)) - (at(2) - at(3))) / (12 * kStep); }

/// W^½ A W^½ = U (Λ + s²) Uᵀ: log p(y) and its gradient by another route than the Cholesky factor of the fit.
class ByEigenvalues {
 public:
  ByEigenvalues(const Setting& setting, GpMean mean, double jitter, const KernelRows& data, const Execution& execution)
      : setting_(setting), data_(data), s2_(setting.noise + jitter), root_(data.weight.cwiseSqrt()) {
    Eigenpairs pairs = symmetric_eigen(upper_of(BoundKernel(setting.kernel, data.points), execution));
    u_ = std::move(pairs.vectors);
    values_ = pairs.values.array() + s2_;
    z_ = u_.transpose() * root_.cwiseProduct((data.y.array() - mean_of(mean, data)).matrix());
  }

  bool is_positive() const { return values_.minCoeff() > 0; }
  /// log det A = Σ log values − Σ log w; of the copies −½ Σ (w − 1) log 2πs² − ½ Σ log w.
  double log_likelihood() const {
    if (!is_positive()) return -std::numeric_limits<double>::infinity();
    const double copies = (data_.weight.array() - 1).sum();
    return -0.5 * (z_.dot(z_.cwiseQuotient(values_)) + values_.array().log().sum() +
                   static_cast<double>(data_.count()) * std::log(2 * std::numbers::pi) +
                   (copies == 0 ? 0 : copies * std::log(2 * std::numbers::pi * s2_)));
  }
  /// ½ (αᵀ ∂A α − tr A⁻¹∂A), where ∂K is the central difference of the kernel's values: these have all their digits, which
  /// differences of log p(y) itself have not when A is ill conditioned.
  Vector gradient(const Execution& execution) const {
    const Vector theta = setting_.values();
    Vector out = Vector::Constant(theta.size(), GpModel::kNone);
    if (!is_positive()) return out;
    const Vector along = z_.cwiseQuotient(values_), alpha = u_ * along;
    const Matrix pull = alpha * alpha.transpose() -
                        multiply_transposed(Matrix(u_ * values_.cwiseInverse().asDiagonal()), u_, execution.part(1, 1));
    for (Index t = 0; t + 1 < theta.size(); ++t) {
      const Matrix change = difference(t, execution);
      double sum = 0.5 * pull.diagonal().dot(change.diagonal());
      for (Index i = 0; i + 1 < change.rows(); ++i)
        sum += pull.row(i).tail(change.rows() - i - 1).dot(change.row(i).tail(change.rows() - i - 1));
      out(t) = sum;
    }
    const double copies = (data_.weight.array() - 1).sum();
    out(theta.size() - 1) =
        setting_.noise == 0
            ? 0
            : 0.5 * setting_.noise *
                  (along.squaredNorm() - values_.cwiseInverse().sum() - (copies == 0 ? 0 : copies / s2_));
    return out;
  }

 private:
  /// W^½ K W^½ in the upper triangle.
  Matrix upper_of(const BoundKernel& kernel, const Execution& execution) const {
    const Index n = data_.count();
    Matrix k = Matrix::Zero(n, n);
    kernel.gram_upper(k, execution);
    for (Index i = 0; i < n; ++i) k.row(i).tail(n - i).array() *= root_(i) * root_.tail(n - i).transpose().array();
    return k;
  }
  Matrix difference(Index t, const Execution& execution) const {
    return derivative(
        [&](int which) { return upper_of(BoundKernel(moved(setting_, t, kSteps[which]), data_.points), execution); });
  }

  const Setting& setting_;
  const KernelRows& data_;
  double s2_;
  Vector root_;
  Matrix u_;
  Vector values_, z_;
};

/// With T upper triangular and TᵀAT = I, A⁻¹ = TTᵀ and log det A = −2 Σ log Tᵢᵢ. Where T comes from does not matter: that it
/// is right is found by multiplying, with a kernel made anew.
class ByInverse {
 public:
  ByInverse(const Setting& setting, GpMean mean, double jitter, const KernelRows& data, const Execution& execution)
      : setting_(setting), data_(data), kernel_(setting.kernel, data.points), s2_(setting.noise + jitter) {
    auto factor = factorise(kernel_, data.weight, s2_, execution.part(0, 0.4));
    if (!factor) return;
    t_ = std::move(*factor);
    tiled_invert_upper(t_, execution.part(0.4, 0.7));
    const Matrix probes = normal_matrix(data.count(), kProbes, 1);
    const Matrix left = times_transposed(with_a(times(probes), execution.part(0.7, 0.8))) - probes;
    apart_ = left.norm() / probes.norm();
    y_ = data.y.array() - mean_of(mean, data);
    alpha_ = times(times_transposed(Matrix(y_))).col(0);
  }

  /// ‖TᵀAT − I‖ over √n, as far as random directions tell: beyond rounding and beyond a tenth of what a slope may be, T is not
  /// what it should be.
  bool is_inverse() const { return apart_ <= std::max(0.1 * kFlat, 10 * rounding_of(kernel_, data_, s2_)); }
  double log_likelihood() const {
    const double copies = (data_.weight.array() - 1).sum();
    const double of_copies =
        copies == 0 && (data_.weight.array() == 1).all()
            ? 0
            : -0.5 * (copies * std::log(2 * std::numbers::pi * s2_) + data_.weight.array().log().sum());
    return -0.5 * (y_.dot(alpha_) + static_cast<double>(data_.count()) * std::log(2 * std::numbers::pi)) +
           t_.diagonal().array().log().sum() + of_copies;
  }
  /// ½ (αᵀ ∂A α − tr A⁻¹∂A) with differences of the kernel's values.
  Vector gradient(const Execution& execution) const {
    const Index count = setting_.values().size() - 1;
    std::vector<BoundKernel> stepped;
    for (Index t = 0; t < count; ++t)
      for (const double step : kSteps) stepped.emplace_back(moved(setting_, t, step), data_.points);
    Vector out(count + 1);
    out.head(count) = 0.5 * tile_sums(stepped, count, execution);
    const Vector pull = (alpha_.cwiseAbs2() - outer_diagonal(t_)).cwiseQuotient(data_.weight);
    const double copies = (data_.weight.array() - 1).sum();
    out(count) = setting_.noise == 0 ? 0 : 0.5 * setting_.noise * (pull.sum() - (copies == 0 ? 0 : copies / s2_));
    return out;
  }

 private:
  static constexpr Index kProbes = 8;

  Matrix times(const Matrix& b) const { return t_.triangularView<Eigen::Upper>() * b; }
  Matrix times_transposed(const Matrix& b) const { return t_.triangularView<Eigen::Upper>().transpose() * b; }
  Matrix with_a(const Matrix& b, const Execution& execution) const {
    return kernel_.expand_own(b, execution) + s2_ * (data_.weight.cwiseInverse().asDiagonal() * b);
  }
  /// Σ (ααᵀ − A⁻¹) ∂K for each hyperparameter, tile after tile of the upper triangle.
  Vector tile_sums(const std::vector<BoundKernel>& stepped, Index count, const Execution& execution) const {
    const Index n = data_.count(), across = (n + kCholeskyTile - 1) / kCholeskyTile;
    Matrix sums(across * (across + 1) / 2, count);
    parallel_for(sums.rows(), execution, [&](Index tile) {
      Index i = 0, j = tile;
      for (; j >= across - i; ++i) j -= across - i;
      const Index from = i * kCholeskyTile, to = (i + j) * kCholeskyTile, rows = std::min(kCholeskyTile, n - from),
                  columns = std::min(kCholeskyTile, n - to);
      const Matrix pull = alpha_.segment(from, rows) * alpha_.segment(to, columns).transpose() -
                          outer_tile(t_, from, rows, to, columns);
      std::vector<Index> which(static_cast<std::size_t>(rows));
      std::iota(which.begin(), which.end(), from);
      for (Index t = 0; t < count; ++t) {
        const Matrix change = derivative([&](int step) {
          Matrix block(rows, columns);
          stepped[static_cast<std::size_t>(4 * t + step)].own_block(which, to, block);
          return block;
        });
        sums(tile, t) = (j > 0 ? 2 : 1) * pull.cwiseProduct(change).sum();  // its mirror image too
      }
    });
    return sums.colwise().sum().transpose();
  }

  const Setting& setting_;
  const KernelRows& data_;
  BoundKernel kernel_;
  double s2_;
  Matrix t_;
  double apart_ = GpModel::kNone;
  Vector y_, alpha_;
};

}  // namespace

Anew by_eigenvalues(const Setting& setting, GpMean mean, double jitter, const KernelRows& data,
                    const Execution& execution) {
  const ByEigenvalues again(setting, mean, jitter, data, execution);
  return {again.log_likelihood(), again.gradient(execution)};
}

Anew by_inverse(const Setting& setting, GpMean mean, double jitter, const KernelRows& data, bool with_gradient,
                const Execution& execution) {
  const ByInverse again(setting, mean, jitter, data, execution.part(0, 0.7));
  Anew out{GpModel::kNone, Vector::Constant(setting.values().size(), GpModel::kNone)};
  if (!again.is_inverse()) return out;
  out.log_likelihood = again.log_likelihood();
  if (with_gradient) out.gradient = again.gradient(execution.part(0.7, 1));
  return out;
}

double rounding_of(const BoundKernel& kernel, const KernelRows& data, double diagonal) {
  const double most = kernel.diagonal().cwiseAbs().dot(data.weight);
  return std::numeric_limits<double>::epsilon() * (1 + most / diagonal);
}

}  // namespace lemma::gp
