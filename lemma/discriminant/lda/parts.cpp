// lemma/discriminant/lda/parts.cpp
#include <fmt/core.h>

#include <cmath>
#include <lemma/core/text.hpp>
#include <lemma/discriminant/lda/parts.hpp>
#include <lemma/discriminant/shared/singular.hpp>
#include <lemma/math/blas.hpp>
#include <lemma/math/factorise.hpp>

namespace lemma::lda {
namespace {

/// Σ w z zᵀ and Σ w z² z²ᵀ over the rows standardised within their class.
struct Products {
  const Matrix* means;
  const Vector* sd;
  Matrix first, second;

  Products(const Matrix& m, const Vector& s)
      : means(&m), sd(&s), first(Matrix::Zero(m.cols(), m.cols())), second(Matrix::Zero(m.cols(), m.cols())) {}
  void accumulate(const Block& block) {
    Matrix z(block.rows(), means->cols()), squared = z;
    for (Index i = 0; i < z.rows(); ++i) {
      const int k = block.label[static_cast<std::size_t>(i)];
      const double root = k < 0 ? 0 : std::sqrt(block.weight_of(i));
      z.row(i) = (block.x.row(i) - means->row(std::max(k, 0))).array() / sd->transpose().array();
      squared.row(i) = root * z.row(i).cwiseAbs2();
      z.row(i) *= root;
    }
    blas::gram(z, first, 1);
    blas::gram(squared, second, 1);
  }
  void merge(const Products& other) {
    first += other.first;
    second += other.second;
  }
};

}  // namespace

Matrix shrunk(Matrix covariance, double shrinkage) {
  const Vector diagonal = covariance.diagonal();
  covariance *= 1 - shrinkage;
  covariance.diagonal() = diagonal;
  return covariance;
}

Matrix between_rows(const Lda& spec, const Matrix& means, const Vector& prior, double weight) {
  const auto classes = static_cast<double>(means.rows());
  const double by = weight / (spec.covariance == PooledDivisor::unbiased ? classes - 1 : classes);
  const Vector centre = means.transpose() * prior;
  return (by * prior.array()).sqrt().matrix().asDiagonal() * (means.rowwise() - centre.transpose());
}

void require_regular(const Rows& rows, const Matrix& covariance, const Matrix& means, double degrees) {
  const auto constant = constant_columns(covariance, means);
  if (!constant.empty())
    throw Error(fmt::format("lda: {} {} constant within each class, so the pooled covariance is singular; leave {} out",
                            join_words(quoted(rows, constant)), constant.size() == 1 ? "is" : "are",
                            constant.size() == 1 ? "it" : "them"));
  const Index p = covariance.cols();
  if (static_cast<double>(p) > degrees)
    throw Error(
        fmt::format("lda: the pooled covariance of {} is singular, because {:g} rows in {} classes vary in at most "
                    "{:g} directions; "
                    "use shrinkage (--shrinkage 0.1, or auto) or fewer columns",
                    count_of(p, "column"), degrees + static_cast<double>(means.rows()), means.rows(), degrees));
  const auto dependent = dependent_columns(covariance);
  if (!dependent.empty())
    throw Error(fmt::format(
        "lda: the pooled covariance is singular: within the classes {} {} of the columns before; leave {} out or use "
        "shrinkage (--shrinkage 0.1, or auto)",
        join_words(quoted(rows, dependent)), dependent.size() == 1 ? "is a combination" : "are combinations",
        dependent.size() == 1 ? "it" : "them"));
}

namespace {

constexpr double kSquaresKeepDigits = 1e-5;  // share of a column's variance that is left by the others

/// The triangle of the rows less their class means, in units of the deviations.
class WithinRows {
 public:
  WithinRows(const Matrix& means, const Vector& deviation)
      : means_(&means), deviation_(&deviation), r_(0, means.cols()) {}
  void accumulate(const Block& block) {
    Matrix a = Matrix::Zero(block.rows(), means_->cols());
    for (Index i = 0; i < a.rows(); ++i) {
      const int k = block.label[static_cast<std::size_t>(i)];
      if (k >= 0 && k < means_->rows())
        a.row(i) = std::sqrt(block.weight_of(i)) *
                   ((block.x.row(i) - means_->row(k)).array() / deviation_->transpose().array()).matrix();
    }
    absorb(a);
  }
  void merge(const WithinRows& other) { absorb(other.r_); }
  const Matrix& triangle() const { return r_; }

 private:
  void absorb(const Matrix& rows) {
    if (rows.rows() == 0) return;
    Matrix stacked(r_.rows() + rows.rows(), r_.cols());
    stacked.topRows(r_.rows()) = r_;
    stacked.bottomRows(rows.rows()) = rows;
    r_ = triangle_of(stacked);
  }
  const Matrix* means_;
  const Vector* deviation_;
  Matrix r_;  // no rows while empty
};

}  // namespace

std::optional<Matrix> within_triangle(const LdaModel& model, const Matrix& covariance, const Rows& rows,
                                      const Execution& execution) {
  const Vector deviation = covariance.diagonal().cwiseSqrt(), by = deviation.cwiseInverse();
  auto triangle = cholesky(by.asDiagonal() * covariance * by.asDiagonal());
  const bool plain = model.spec.shrinkage.value_or(0) == 0;
  if (!plain || (triangle && triangle->diagonal().cwiseAbs2().minCoeff() > kSquaresKeepDigits)) return triangle;
  Matrix r = scan(rows, WithinRows(model.means, deviation), execution).triangle() / std::sqrt(model.divisor());
  const bool regular = r.rows() == r.cols() && r.allFinite() && r.diagonal().cwiseAbs2().minCoeff() > 0.1 * kLeastShare;
  return regular ? std::optional<Matrix>(std::move(r)) : std::nullopt;
}

double best_shrinkage(const Rows& rows, const ClassMoments& moments, const Execution& execution) {
  const double n = moments.weights().sum(), degrees = n - static_cast<double>(moments.classes());
  const Vector sd = (moments.within_scatter().diagonal() / degrees).cwiseSqrt();
  const Matrix means = moments.means();
  const auto products = scan(rows, Products(means, sd), execution);
  // r = n/(n−K) · mean of z_i z_j;  Var(r) = (n/(n−K))² · variance of that mean, Σ (z_i z_j − mean)² / (n (n − 1)).
  double variance = 0, squares = 0;
  for (Index i = 0; i < sd.size(); ++i)
    for (Index j = i + 1; j < sd.size(); ++j) {
      const double mean = products.first(i, j) / n;
      variance += (products.second(i, j) - n * mean * mean) * n / (degrees * degrees * (n - 1));
      squares += std::pow(products.first(i, j) / degrees, 2);
    }
  return squares > 0 ? std::clamp(variance / squares, 0.0, 1.0) : 1.0;
}

}  // namespace lemma::lda
