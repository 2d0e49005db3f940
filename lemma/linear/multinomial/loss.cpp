// lemma/linear/multinomial/loss.cpp: the softmax loss by scans, and its dual.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/linear/multinomial/parts.hpp>
#include <lemma/math/blas.hpp>
#include <lemma/math/factorise.hpp>
#include <lemma/math/special.hpp>

namespace lemma::softmax {
namespace {

struct FirstLook {
  Vector counts;
  ColumnMoments columns;
  void accumulate(const Block& block) {
    for (Index i = 0; i < block.rows(); ++i) counts(block.label[static_cast<std::size_t>(i)]) += block.weight_of(i);
    columns.accumulate(block);
  }
  void merge(const FirstLook& other) {
    counts += other.counts;
    columns.merge(other.columns);
  }
};

/// (1, x̃) of a block's rows, and their probabilities at B.
struct Looked {
  Looked(const Block& block, const Frame& frame, const Matrix& b) : z(block.rows(), frame.width() + 1) {
    z.col(0).setConstant(frame.intercept ? 1 : 0);
    z.rightCols(frame.width()) =
        (block.x.rowwise() - frame.mean.transpose()).array().rowwise() * frame.inverse_scale.transpose().array();
    p.resize(block.rows(), b.rows());
    blas::gemm(blas::Op::plain, z, blas::Op::transposed, b, p);
    own.resize(block.rows());
    for (Index i = 0; i < block.rows(); ++i) own(i) = p(i, block.label[static_cast<std::size_t>(i)]);
    log_own = own - softmax_rows(p);  // η_class − log Σ e^η
  }
  double loss(const Block& block) const {
    double sum = 0;
    for (Index i = 0; i < block.rows(); ++i)
      if (const double w = block.weight_of(i); w > 0) sum -= w * log_own(i);
    return sum;
  }
  Matrix z, p;
  Vector own, log_own;
};

/// 1 − p_class without cancellation: the sum of the others.
double others(const Looked& look, Index i, int label) {
  double sum = 0;
  for (Index k = 0; k < look.p.cols(); ++k)
    if (k != label) sum += look.p(i, k);
  return sum;
}

struct Sums {
  const Frame* frame;
  const Matrix* b;
  bool bends;
  double loss = 0;
  Matrix gradient, hessian;

  void accumulate(const Block& block) {
    const Looked look(block, *frame, *b);
    const Index classes = b->rows(), terms = b->cols();
    loss += look.loss(block);
    Matrix residual = look.p;
    for (Index i = 0; i < block.rows(); ++i) {
      const int label = block.label[static_cast<std::size_t>(i)];
      residual(i, label) = -others(look, i, label);
      residual.row(i) *= block.weight_of(i);
    }
    Matrix part(classes, terms);
    blas::gemm(blas::Op::transposed, residual, blas::Op::plain, look.z, part);
    gradient = gradient.size() == 0 ? part : Matrix(gradient + part);
    if (bends) add_hessian(block, look);
  }
  void add_hessian(const Block& block, const Looked& look) {
    const Index classes = b->rows(), terms = b->cols();
    if (hessian.size() == 0) hessian = Matrix::Zero(classes * terms, classes * terms);
    Matrix scaled(look.z.rows(), terms), part(terms, terms);
    for (Index k = 0; k < classes; ++k)
      for (Index l = k; l < classes; ++l) {
        for (Index i = 0; i < look.z.rows(); ++i) {
          const double pk = look.p(i, k);
          const double h = k == l ? pk * others(look, i, static_cast<int>(k)) : -pk * look.p(i, l);
          scaled.row(i) = block.weight_of(i) * h * look.z.row(i);
        }
        blas::gemm(blas::Op::transposed, look.z, blas::Op::plain, scaled, part);
        hessian.block(k * terms, l * terms, terms, terms) += part;
      }
  }
  void merge(const Sums& other) {
    loss += other.loss;
    if (gradient.size() == 0) gradient = other.gradient;
    else if (other.gradient.size() > 0) gradient += other.gradient;
    if (hessian.size() == 0) hessian = other.hessian;
    else if (other.hessian.size() > 0) hessian += other.hessian;
  }
};

struct Split {
  const Frame* frame;
  const Matrix* b;
  DualParts parts;

  void accumulate(const Block& block) {
    const Looked look(block, *frame, *b);
    const Index classes = b->rows();
    if (parts.of_class.empty()) {
      parts.of_class.assign(static_cast<std::size_t>(classes), Matrix::Zero(classes, b->cols()));
      parts.pearson = Vector::Zero(classes);
    }
    parts.loss += look.loss(block);
    for (Index i = 0; i < block.rows(); ++i) {
      const double w = block.weight_of(i);
      if (w == 0) continue;
      const int label = block.label[static_cast<std::size_t>(i)];
      const double rest = others(look, i, label);
      Matrix& sum = parts.of_class[static_cast<std::size_t>(label)];
      for (Index k = 0; k < classes; ++k) sum.row(k) += (k == label ? w * rest : -w * look.p(i, k)) * look.z.row(i);
      parts.pearson(label) += w * rest / look.p(i, label);
    }
  }
  void merge(const Split& other) {
    if (other.parts.of_class.empty()) return;
    if (parts.of_class.empty()) {
      parts = other.parts;
      return;
    }
    parts.loss += other.parts.loss;
    parts.pearson += other.parts.pearson;
    for (std::size_t c = 0; c < parts.of_class.size(); ++c) parts.of_class[c] += other.parts.of_class[c];
  }
};

struct Mismatch {
  const Frame* frame;
  const Matrix* b;
  const Vector* t;
  double sum = 0;

  /// Of a row of class c: q_k = t p_k for k ≠ c, so that KL(q ‖ p) = t (1 − p_c) log t + q_c log(q_c / p_c).
  void accumulate(const Block& block) {
    const Looked look(block, *frame, *b);
    for (Index i = 0; i < block.rows(); ++i) {
      const int label = block.label[static_cast<std::size_t>(i)];
      const double share = (*t)(label), rest = others(look, i, label), p = look.p(i, label);
      const double shift = (1 - share) * rest;
      double kl = (p + shift) * std::log1p(shift / p);
      if (share > 0) kl += share * rest * std::log1p(share - 1);
      if (block.weight_of(i) > 0) sum += block.weight_of(i) * std::max(0.0, kl);
    }
  }
  void merge(const Mismatch& other) { sum += other.sum; }
};

/// t ≥ 0 with Σ_c t_c s_c = 0, the largest 1: s_c = Σ u of the rows of class c has its positive entry at c alone, so that this
/// is the stationary distribution of a chain.
Vector balance(const DualParts& parts) {
  const Index classes = parts.pearson.size();
  Vector t = Vector::Ones(classes);
  if (classes < 2) return t;
  Matrix a(classes - 1, classes - 1);
  Vector right(classes - 1);
  for (Index k = 1; k < classes; ++k) {
    for (Index c = 1; c < classes; ++c) a(k - 1, c - 1) = parts.of_class[static_cast<std::size_t>(c)](k, 0);
    right(k - 1) = -parts.of_class[0](k, 0);
  }
  t.tail(classes - 1) = least_squares(a, right).w;
  if (!t.allFinite() || (t.array() < 0).any()) return Vector::Zero(classes);  // u = 0 is always a dual point
  return t / t.maxCoeff();
}

}  // namespace

Classes learn_classes(const Multinomial& spec, const Rows& rows, const Execution& execution) {
  if (rows.has_weights) require_finite(rows, execution);
  const auto count = static_cast<Index>(rows.classes.size());
  const FirstLook look = scan(rows, FirstLook{Vector::Zero(count), ColumnMoments(rows.width())}, execution);
  Classes out;
  out.counts = look.counts;
  out.frame.intercept = spec.intercept;
  out.frame.rows_weight = look.counts.sum();
  if (!(out.frame.rows_weight > 0)) throw Error("multinomial: all weights are 0, so there are no rows to learn from");
  for (Index k = 0; k < count; ++k)
    if (!(look.counts(k) > 0))
      throw Error(fmt::format("multinomial: class '{}' has no rows with a positive weight; leave it out of the classes",
                              rows.classes[static_cast<std::size_t>(k)]));
  logit::take_columns(out.frame, Multinomial::name, rows, look.columns, spec.standardize, execution);
  return out;
}

double Loss::value(const Matrix& b) const { return scan(rows_, Sums{&frame(), &b, false}, execution_).loss; }

double Loss::value(const Matrix& b, Matrix& gradient) const {
  Sums found = scan(rows_, Sums{&frame(), &b, false}, execution_);
  gradient = std::move(found.gradient);
  return found.loss;
}

double Loss::value(const Matrix& b, Matrix& gradient, Matrix& hessian) const {
  Sums found = scan(rows_, Sums{&frame(), &b, true}, execution_);
  gradient = std::move(found.gradient);
  hessian = found.hessian.selfadjointView<Eigen::Upper>();
  return found.loss;
}

DualParts Loss::split(const Matrix& b) const { return scan(rows_, Split{&frame(), &b, {}}, execution_).parts; }

double Loss::mismatch(const Matrix& b, const Vector& t) const {
  return scan(rows_, Mismatch{&frame(), &b, &t}, execution_).sum;
}

double penalty_value(const PenaltyTerm& penalty, const Frame& frame, const Matrix& b) {
  double sum = 0;
  for (Index k = 0; k < b.rows(); ++k) sum += penalty.value(frame, b.row(k));
  return sum;
}

Gap duality_gap(const Loss& loss, const PenaltyTerm& penalty, const Matrix& b, const DualParts& parts) {
  const Frame& frame = loss.frame();
  Gap out;
  out.objective = parts.loss + penalty_value(penalty, frame, b);
  Vector t = frame.intercept ? balance(parts) : Vector::Ones(b.rows());
  Matrix z = Matrix::Zero(b.rows(), b.cols());
  for (Index c = 0; c < b.rows(); ++c) z += t(c) * parts.of_class[static_cast<std::size_t>(c)];
  double share = 1;
  for (Index k = 0; k < b.rows(); ++k)
    for (Index j = 0; j < frame.width(); ++j)
      if (frame.inverse_scale(j) > 0) share = std::min(share, penalty.feasible_share(z(k, j + 1), frame.factor(j)));
  t *= share;
  double of_penalty = 0;
  for (Index k = 0; k < b.rows(); ++k)
    for (Index j = 0; j < frame.width(); ++j) {
      const double bounded = share < 1 ? share * z(k, j + 1) * (1 - 1e-15) : z(k, j + 1);
      of_penalty += frame.inverse_scale(j) > 0 ? penalty.mismatch(b(k, j + 1), bounded, frame.factor(j))
                                               : penalty.value(b(k, j + 1), 1);
    }
  double at_most = 0;
  for (Index c = 0; c < t.size(); ++c)
    if (t(c) != 1) at_most += (1 - t(c)) * (1 - t(c)) * parts.pearson(c);
  const bool good_enough = at_most + of_penalty <= 1e-12 * out.objective;
  out.absolute = of_penalty + (good_enough ? at_most : loss.mismatch(b, t));
  return out;
}

}  // namespace lemma::softmax
