// lemma/linear/ridge/seen.cpp: more columns than rows, in coordinates as many as the rows.
#include <lemma/core/hearing.hpp>
#include <lemma/linear/ridge/parts.hpp>
#include <lemma/math/blas.hpp>
#include <lemma/math/multiply.hpp>

namespace lemma::ridge {
namespace {

/// An orthonormal basis of the span of A's rows, and A in it; all of space when A has more rows than columns.
struct RowSpan {
  Matrix q, a;
};
RowSpan span_of(const Matrix& a) {
  const Index columns = a.cols(), rows = a.rows();
  if (columns <= rows) return {Matrix::Identity(columns, columns), a};
  blas::Columns turned = a.transpose();
  const Vector factors = blas::householder(turned);
  const Matrix triangle = turned.topRows(rows).triangularView<Eigen::Upper>();
  blas::form_q(turned, factors);
  return {turned, triangle.transpose()};
}

}  // namespace

Seen::Seen(const Problem& problem, const PenaltyRoot& root)
    : problem_(problem), root_(root), small_(root.is_diagonal() && problem.a.cols() > problem.a.rows()) {
  if (!small_) return;
  for (Index j = 0; j < problem.a.cols(); ++j) (root.diagonal(j) > 0 ? held_ : free_).push_back(j);
  stretch_ = root.diagonal(held_).cwiseInverse();
  const RowSpan held = span_of(problem.a(Eigen::all, held_) * stretch_.asDiagonal());
  const RowSpan free = span_of(problem.a(Eigen::all, free_));
  q_held_ = held.q;
  q_free_ = free.q;
  own_.resize(problem.a.rows(), held.a.cols() + free.a.cols());
  own_ << held.a, free.a;
  of_u_.diagonal = Vector::Zero(own_.cols());
  of_u_.diagonal.head(held.a.cols()).setOnes();
}

Vector Seen::of(const Vector& c) const {
  if (!small_) return c;
  Vector out(size());
  out << q_held_.transpose() * c(held_).cwiseQuotient(stretch_), q_free_.transpose() * c(free_);
  return out;
}

Matrix Seen::of_rows(const Matrix& rows) const {
  if (!small_) return rows;
  Matrix out(rows.rows(), size());
  out << multiply(Matrix(rows(Eigen::all, held_) * stretch_.asDiagonal()), q_held_, heard()),
      multiply(Matrix(rows(Eigen::all, free_)), q_free_, heard());
  return out;
}

Seen::Unseen Seen::unseen(const Vector& c) const {
  if (!small_) return {0, 0};
  const Vector held = c(held_).cwiseQuotient(stretch_), free = c(free_), u = of(c);
  return {(held - q_held_ * u.head(q_held_.cols())).squaredNorm(),
          (free - q_free_ * u.tail(q_free_.cols())).squaredNorm()};
}

Vector Seen::reach(const Matrix& m, double held) const {
  if (!small_) return m.rowwise().norm();
  const Matrix of_held = multiply(q_held_, m.topRows(q_held_.cols()), heard());
  const Matrix of_free = multiply(q_free_, m.bottomRows(q_free_.cols()), heard());
  Vector out(problem_.a.cols());
  out(held_) = stretch_.cwiseProduct(Vector(of_held.rowwise().norm()));
  out(held_) += held * stretch_;
  out(free_) = of_free.rowwise().norm();
  return out;
}

}  // namespace lemma::ridge
