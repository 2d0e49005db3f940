// lemma/mixture/gmm/components.cpp
#include <cmath>
#include <lemma/core/error.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/math/factorise.hpp>
#include <lemma/math/simd/gram.hpp>
#include <lemma/math/simd/triangle.hpp>
#include <lemma/mixture/gmm/components.hpp>
#include <lemma/mixture/shared/spread.hpp>
#include <numbers>

namespace lemma::gmm {
namespace {

constexpr double kNoMass = 1e-12;  // of all rows: a component with less has died

Matrix both_triangles(const Matrix& upper) {
  Matrix out = upper;
  for (Index i = 0; i < out.rows(); ++i)
    for (Index j = 0; j < i; ++j) out(i, j) = upper(j, i);
  return out;
}

Matrix root_of(const Matrix& covariance) {
  auto root = cholesky(covariance);
  if (!root)
    throw Error(
        "gmm: a covariance is singular to working precision; use fewer columns, --covariance diagonal, or a larger "
        "--floor");
  return *std::move(root);
}

}  // namespace

Matrix clipped(const Matrix& covariance, const Ground& ground, bool& binds) {
  if (cholesky(covariance - ground.floor * ground.covariance)) return covariance;
  // B = R⁻ᵀ Σ R⁻¹ for S = RᵀR; Σ = Rᵀ V max(Λ, floor) Vᵀ R
  const Matrix half = divide_by_upper(covariance, ground.root);
  const Eigenpairs pairs = symmetric_eigen(solve_upper_transposed(ground.root, half));
  if (!(pairs.values.minCoeff() < ground.floor)) return covariance;
  binds = true;
  const Vector lengths = pairs.values.cwiseMax(ground.floor).cwiseSqrt();
  const Matrix factor = lengths.asDiagonal() * pairs.vectors.transpose() * ground.root;
  return both_triangles(factor.transpose() * factor);
}

Index covariance_rows(Covariance kind, Index k, Index p) {
  return kind == Covariance::full ? k * p : kind == Covariance::tied ? p : k;
}
Index covariance_columns(Covariance kind, Index p) { return kind == Covariance::spherical ? 1 : p; }

Index parameter_count(Covariance kind, bool given_variance, Index k, Index p) {
  const Index of_covariances = given_variance                 ? 0
                               : kind == Covariance::full     ? k * p * (p + 1) / 2
                               : kind == Covariance::tied     ? p * (p + 1) / 2
                               : kind == Covariance::diagonal ? k * p
                                                              : k;
  return k - 1 + k * p + of_covariances;
}

Gaussians::Gaussians(Covariance kind, std::shared_ptr<const Ground> ground, Matrix means, Matrix covariances)
    : kind_(kind), ground_(std::move(ground)), means_(std::move(means)), covariances_(std::move(covariances)) {
  about_ = absolute_means();
  factorise();
}

/// Clips at the floor and makes what the densities need.
void Gaussians::factorise() {
  const Index p = width();
  constants_ = Vector::Constant(count(), -0.5 * static_cast<double>(p) * std::log(2 * std::numbers::pi));
  if (has_matrices()) {
    roots_.resize(covariances_.rows(), p);
    inverse_.resize(matrices(), p);
    for (Index m = 0; m < matrices(); ++m) {
      auto sigma = covariances_.middleRows(m * p, p);
      if (ground_->shape) sigma = ground_->shape(sigma, floor_binds_);
      else if (ground_->floor > 0) sigma = clipped(sigma, *ground_, floor_binds_);
      const Matrix root = root_of(sigma);
      roots_.middleRows(m * p, p) = root;
      inverse_.row(m) = root.diagonal().cwiseInverse().transpose();
    }
    for (Index k = 0; k < count(); ++k) constants_(k) -= 0.5 * log_determinant(block(roots_, matrix_of(k)));
    return;
  }
  for (Index k = 0; k < count(); ++k) {
    for (Index j = 0; j < covariances_.cols(); ++j) {
      double& v = covariances_(k, j);
      if (ground_->variance) v = *ground_->variance;
      if (ground_->variance || ground_->floor == 0) continue;
      const double least =
          ground_->floor * (kind_ == Covariance::spherical ? ground_->mean_variance() : ground_->covariance(j, j));
      if (v >= least) continue;
      v = least;
      floor_binds_ = true;
    }
    for (Index j = 0; j < p; ++j) constants_(k) -= 0.5 * std::log(variance_of(k, j));
  }
}

void Gaussians::log_densities(const MatrixView& x, Eigen::Ref<Matrix> out) const {
  const Index p = width();
  if (has_matrices()) {
    const auto columns = lemma::at(p);
    simd::RowsAside rows(x, {ground_->origin.data(), columns});
    Vector squares(x.rows());
    for (Index k = 0; k < count(); ++k) {
      const std::span<const double> inverse(inverse_.row(matrix_of(k)).data(), columns);
      rows.squares({means_.row(k).data(), columns}, block(roots_, matrix_of(k)), inverse,
                   {squares.data(), lemma::at(x.rows())});
      out.col(k) = constants_(k) - 0.5 * squares.array();
    }
    return;
  }
  const Matrix centred = x.rowwise() - ground_->origin.transpose();
  Matrix y(x.rows(), p);
  Vector scale(p);
  for (Index k = 0; k < count(); ++k) {
    for (Index j = 0; j < p; ++j) scale(j) = 1 / std::sqrt(variance_of(k, j));
    y = (centred.rowwise() - means_.row(k)).array().rowwise() * scale.transpose().array();
    for (Index i = 0; i < x.rows(); ++i) out(i, k) = constants_(k) - 0.5 * mixture::square_sum(y.row(i).data(), p);
  }
}

/// Σ r (x − about_k) of each component; then the products: full p² each, tied p² for all; diagonal p squares each, spherical 1.
Index Gaussians::sums_size() const {
  const Index p = width(), k = count();
  return k * p + (has_matrices() ? matrices() * p * p : kind_ == Covariance::diagonal ? k * p : k);
}

void Gaussians::add(const MatrixView& x, const MatrixView& r, std::span<double> sums) const {
  if (has_matrices()) add_products(x, r, sums);
  else add_squares(x, r, sums);
}

void Gaussians::add_products(const MatrixView& x, const MatrixView& r, std::span<double> sums) const {
  const auto p = lemma::at(width());
  std::vector<double> root(lemma::at(x.rows()));
  for (Index k = 0; k < count(); ++k) {
    const auto sum = sums.subspan(lemma::at(k) * p, p);
    Eigen::Map<Matrix> upper(sums.data() + count() * width() + matrix_of(k) * width() * width(), width(), width());
    simd::GramTile tile(upper, simd::GramTile::Start::onto);
    for (Index i = 0; i < x.rows(); ++i) root[lemma::at(i)] = r(i, k) > 0 ? std::sqrt(r(i, k)) : 0;
    tile.add(x, {about_.row(k).data(), p}, root, sum);
    tile.finish();
  }
}

void Gaussians::add_squares(const MatrixView& x, const MatrixView& r, std::span<double> sums) const {
  const Index p = width(), cols = covariances_.cols();
  for (Index k = 0; k < count(); ++k) {
    double* sum = sums.data() + k * p;
    double* squares = sums.data() + count() * p + k * cols;
    const double* about = about_.row(k).data();
    for (Index i = 0; i < x.rows(); ++i) {
      const double weight = r(i, k);
      if (weight == 0) continue;
      const double* row = x.row(i).data();
      double all = 0;
      for (Index j = 0; j < p; ++j) {
        const double d = row[j] - about[j];
        sum[j] += weight * d;
        if (cols == 1) all += d * d;
        else squares[j] += weight * d * d;
      }
      if (cols == 1) squares[0] += weight * all;
    }
  }
}

std::shared_ptr<const em::Components> Gaussians::with(Matrix means, Matrix covariances) const {
  return std::make_shared<Gaussians>(kind_, ground_, std::move(means), std::move(covariances));
}

/// With δ = Σ r d / n_k, d = x − about_k:  μ = about_k + δ,  Σ = Σ r d dᵀ / n_k − δ δᵀ.
std::shared_ptr<const em::Components> Gaussians::maximised(const Vector& mass, std::span<const double> sums) const {
  const Index p = width();
  Matrix means = means_, covariances = covariances_;
  const double least = kNoMass * mass.sum();
  const Eigen::Map<const Matrix> shift(sums.data(), count(), p);
  const double* products = sums.data() + count() * p;
  if (kind_ == Covariance::tied) covariances = both_triangles(Eigen::Map<const Matrix>(products, p, p)) / mass.sum();
  for (Index k = 0; k < count(); ++k) {
    if (!(mass(k) > least)) continue;
    const Vector delta = shift.row(k).transpose() / mass(k);
    means.row(k) = about_.row(k) - ground_->origin.transpose() + delta.transpose();
    if (kind_ == Covariance::full) {
      const Eigen::Map<const Matrix> upper(products + k * p * p, p, p);
      covariances.middleRows(k * p, p) = both_triangles(upper) / mass(k) - delta * delta.transpose();
    } else if (kind_ == Covariance::tied) {
      covariances -= mass(k) / mass.sum() * (delta * delta.transpose());
    } else if (kind_ == Covariance::diagonal) {
      for (Index j = 0; j < p; ++j) covariances(k, j) = products[k * p + j] / mass(k) - delta(j) * delta(j);
    } else {
      covariances(k, 0) = (products[k] / mass(k) - delta.squaredNorm()) / static_cast<double>(p);
    }
  }
  return with(std::move(means), std::move(covariances));
}

double Gaussians::distance(const em::Components& to) const {
  const auto& other = static_cast<const Gaussians&>(to);
  double farthest = 0;
  for (Index k = 0; k < count(); ++k) {
    const Vector way = (other.means_.row(k) - means_.row(k)).transpose();
    if (has_matrices()) {
      farthest = std::max(farthest, solve_upper_transposed(block(roots_, matrix_of(k)), way).norm());
      continue;
    }
    double squares = 0;
    for (Index j = 0; j < width(); ++j) {
      squares += way(j) * way(j) / variance_of(k, j);
      farthest = std::max(farthest, std::abs(other.variance_of(k, j) / variance_of(k, j) - 1));
    }
    farthest = std::max(farthest, std::sqrt(squares));
  }
  for (Index m = 0; has_matrices() && m < matrices(); ++m) {
    const Matrix root = block(roots_, m);
    const Matrix turned = solve_upper_transposed(root, divide_by_upper(block(other.covariances_, m), root));
    farthest = std::max(farthest, (turned - Matrix::Identity(width(), width())).cwiseAbs().maxCoeff());
  }
  return farthest;
}

/// Means; then the triangles with the logarithms of their diagonals, or the logarithms of the variances.
Vector Gaussians::coordinates() const {
  std::vector<double> out(means_.data(), means_.data() + means_.size());
  if (has_matrices()) {
    for (Index row = 0; row < roots_.rows(); ++row)
      for (Index j = row % width(); j < width(); ++j)
        out.push_back(j == row % width() ? std::log(roots_(row, j)) : roots_(row, j));
  } else {
    for (const double v : covariances_.reshaped<Eigen::RowMajor>()) out.push_back(std::log(v));
  }
  return Eigen::Map<const Vector>(out.data(), static_cast<Index>(out.size()));
}

std::shared_ptr<const em::Components> Gaussians::at(const Vector& coordinates) const {
  const Index p = width();
  Matrix means = Eigen::Map<const Matrix>(coordinates.data(), count(), p), covariances = covariances_;
  const double* next = coordinates.data() + means.size();
  if (has_matrices()) {
    for (Index m = 0; m < matrices(); ++m) {
      Matrix root = Matrix::Zero(p, p);
      for (Index i = 0; i < p; ++i)
        for (Index j = i; j < p; ++j, ++next) root(i, j) = i == j ? std::exp(*next) : *next;
      covariances.middleRows(m * p, p) = both_triangles(root.transpose() * root);
    }
  } else {
    for (Index i = 0; i < covariances.rows(); ++i)
      for (Index j = 0; j < covariances.cols(); ++j) covariances(i, j) = std::exp(*next++);
  }
  if (!covariances.allFinite()) return nullptr;
  return with(std::move(means), std::move(covariances));
}

em::Mixture mixture_of(const GmmModel& model) {
  auto ground = std::make_shared<Ground>();  // no floor: the numbers are what they are
  ground->origin = Vector::Zero(model.width());
  return {model.weights,
          std::make_shared<Gaussians>(model.spec.covariance, std::move(ground), model.means, model.covariances)};
}

}  // namespace lemma::gmm
