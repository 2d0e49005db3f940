// lemma/neighbor/neighbor_components/objective.cpp
#include <algorithm>
#include <cmath>
#include <lemma/math/blas.hpp>
#include <lemma/neighbor/neighbor_components/objective.hpp>
#include <limits>

namespace lemma::neighbor_components {
namespace {

constexpr Index kRows = 64;         // that are looked at together
constexpr double kTied = 1 + 1e-9;  // distances that differ by less are rounding apart
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Matrix shaped(const Vector& a, Index components) {
  return Eigen::Map<const Matrix>(a.data(), components, a.size() / components);
}

Matrix product(const Matrix& a, const Matrix& b, blas::Op of_a = blas::Op::plain, blas::Op of_b = blas::Op::plain) {
  Matrix out(of_a == blas::Op::plain ? a.rows() : a.cols(), of_b == blas::Op::plain ? b.cols() : b.rows());
  blas::gemm(of_a, a, of_b, b, out);
  return out;
}

/// p_i, from squared distances; the row itself has none.
void probabilities(Index own, Eigen::Ref<Vector> from_distances) {
  from_distances(own) = kInfinity;
  const double nearest = from_distances.minCoeff();
  from_distances = (nearest - from_distances.array()).exp();
  from_distances(own) = 0;
  from_distances /= from_distances.sum();
}

struct Part {
  double loss = 0;
  Vector of_columns;  // Σᵢ Qᵢⱼ
  Matrix gradient;    // the rest
};

}  // namespace

/// With Qᵢⱼ = ∂J/∂‖zᵢ − zⱼ‖² = −slopeᵢ p_ij (said_ij − uᵢ) / n, whose rows add up to 0,
///     ∇J = 2 Σ Qᵢⱼ (zᵢ − zⱼ)(xᵢ − xⱼ)ᵀ + λA = 2 (Zᵀ diag(Σᵢ Qᵢⱼ) X − ZᵀQX − ZᵀQᵀX) + λA.
double Loss::sum(const Vector& flat, Vector* gradient) const {
  const Matrix a = shaped(flat, components_), z = product(data_.x, a, blas::Op::plain, blas::Op::transposed),
               across = z.transpose();
  const Index n = data_.rows(), blocks = (n + kRows - 1) / kRows;
  std::vector<Part> parts(at(blocks));
  parallel_for(blocks, execution_, [&](Index block) {
    const Index first = block * kRows, rows = std::min(kRows, n - first);
    Part& part = parts[at(block)];
    Matrix q(rows, n);
    Vector p(n);
    for (Index i = 0; i < rows; ++i) {
      p.setZero();
      for (Index k = 0; k < components_; ++k)
        p.array() += (across.row(k).transpose().array() - z(first + i, k)).square();
      probabilities(first + i, p);
      double u = 0;
      for (Index j = 0; j < n; ++j) u += p(j) * data_.said(first + i, j);
      part.loss += data_.loss(first + i, u);
      if (!gradient) continue;
      const double slope = -data_.slope(first + i, u) / static_cast<double>(n);
      for (Index j = 0; j < n; ++j) q(i, j) = slope * p(j) * (data_.said(first + i, j) - u);
    }
    if (!gradient) return;
    part.of_columns = q.colwise().sum();
    const Matrix own_z = z.middleRows(first, rows), own_x = data_.x.middleRows(first, rows);
    part.gradient = -product(own_z, product(q, data_.x), blas::Op::transposed) -
                    product(product(q, z), own_x, blas::Op::transposed);
  });
  double loss = 0;
  for (const Part& part : parts) loss += part.loss;
  if (gradient) {
    Vector of_columns = Vector::Zero(n);
    Matrix total = Matrix::Zero(a.rows(), a.cols());
    for (const Part& part : parts) {
      of_columns += part.of_columns;
      total += part.gradient;
    }
    total += product(across * of_columns.asDiagonal(), data_.x);
    total = 2 * total + penalty_ * a;
    *gradient = Eigen::Map<const Vector>(total.data(), total.size());
  }
  return loss / static_cast<double>(n) + 0.5 * penalty_ * a.squaredNorm();
}

Plain plainly(const Data& data, const Matrix& a, double penalty, const Execution& execution) {
  const Index n = data.rows(), blocks = (n + kRows - 1) / kRows;
  Matrix z(n, a.rows());
  for (Index i = 0; i < n; ++i)
    for (Index k = 0; k < a.rows(); ++k) z(i, k) = data.x.row(i).dot(a.row(k));
  std::vector<Plain> parts(at(blocks));
  parallel_for(blocks, execution, [&](Index block) {
    Plain& part = parts[at(block)];
    part.gradient = Matrix::Zero(a.rows(), a.cols());
    Vector p(n);
    for (Index i = block * kRows; i < std::min(n, (block + 1) * kRows); ++i) {
      double nearest = kInfinity, mass = 0, u = 0;
      for (Index j = 0; j < n; ++j) {
        p(j) = (z.row(i) - z.row(j)).squaredNorm();
        if (j != i) nearest = std::min(nearest, p(j));
      }
      for (Index j = 0; j < n; ++j) mass += p(j) = j == i ? 0 : std::exp(nearest - p(j));
      for (Index j = 0; j < n; ++j) u += (p(j) /= mass) * data.said(i, j);
      part.loss += data.loss(i, u);
      for (Index j = 0; j < n; ++j) {
        const double q = -data.slope(i, u) * p(j) * (data.said(i, j) - u);
        if (q != 0) part.gradient += 2 * q * (z.row(i) - z.row(j)).transpose() * (data.x.row(i) - data.x.row(j));
      }
    }
  });
  Plain out{0, 0, penalty * a};
  for (const Plain& part : parts) {
    out.loss += part.loss / static_cast<double>(n);
    out.gradient += part.gradient / static_cast<double>(n);
  }
  out.objective = out.loss + 0.5 * penalty * a.squaredNorm();
  return out;
}

double nearest_error(const Data& data, const Matrix& z, const Execution& execution) {
  const Index n = data.rows(), blocks = (n + kRows - 1) / kRows;
  std::vector<double> parts(at(blocks), 0.0);
  parallel_for(blocks, execution, [&](Index block) {
    for (Index i = block * kRows; i < std::min(n, (block + 1) * kRows); ++i) {
      Vector distance = (z.rowwise() - z.row(i)).rowwise().squaredNorm();
      distance(i) = kInfinity;
      const double nearest = distance.minCoeff();
      double sum = 0, count = 0;
      for (Index j = 0; j < n; ++j) {
        if (!(distance(j) <= nearest * kTied)) continue;
        sum += data.loss(i, data.said(i, j));
        ++count;
      }
      parts[at(block)] += sum / count;
    }
  });
  double sum = 0;
  for (const double part : parts) sum += part;
  return sum / static_cast<double>(n);
}

}  // namespace lemma::neighbor_components
