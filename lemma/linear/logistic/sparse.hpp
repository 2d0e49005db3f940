// lemma/linear/logistic/sparse.hpp: the logistic loss of rows that lie in memory without their zeros. Inner header.
#pragma once
#include <lemma/linear/logistic/loss.hpp>

namespace lemma::logit {

/// Rows are cut into a fixed number of runs; each sums into an array of its own, and these are added in their order:
/// the same bits on any number of threads.
class SparseLoss final : public Loss {
 public:
  SparseLoss(const Csr& x, const Rows& rows, Frame frame, Execution execution);
  /// Rows with their zeros, and so many columns that they are worked on one by one: x̃ itself, in a copy.
  static std::unique_ptr<SparseLoss> of_dense(const Rows& rows, const Frame& frame, const Execution& execution);

  double value(const Vector& beta) const override;
  double value(const Vector& beta, Vector& gradient) const override;
  double value(const Vector& beta, Vector& gradient, Matrix& hessian) const override;
  DualParts split(const Vector& beta) const override;
  double mismatch(const Vector& beta, double t_positive, double t_negative) const override;

  /// η of each row.
  Vector predictor(const Vector& beta) const;
  /// Loss, residuals w (p − y) and curvatures w p (1 − p) of rows with these η.
  double rows_loss(const Vector& eta, Vector& residual, Vector& curvature) const;
  /// Σ r (1, x̃), and Σ r (1, x̃²): the diagonal of a Hessian.
  Vector add_up(const Vector& r) const;
  Vector add_up_squares(const Vector& r) const;
  /// Both at once: Σ r (1, x̃) and Σ h (1, x̃²).
  void add_up_both(const Vector& r, const Vector& h, Vector& sums, Vector& squares) const;
  /// Σ r (1, x̃) of the rows with r > 0, and of the others.
  void add_up_by_sign(const Vector& r, Vector& positive, Vector& negative) const;
  /// The loss of row i alone; its gradient is added.
  double add_term(Index i, const Vector& beta, Vector& gradient) const;
  /// Σ h x̃ (x̃ · v): the Hessian with these curvatures times v, in one look at the rows.
  Vector hessian_times(const Vector& curvature, const Vector& v) const;

  const Csr& x() const { return x_; }
  Index rows() const { return x_.rows(); }
  const Execution& execution() const { return execution_; }

 private:
  Vector slopes_of(const Vector& beta) const;
  Vector merged(const std::vector<Vector>& parts) const;
  /// visit(run, first row, row after the last) for every run.
  void for_each_run(const std::function<void(std::size_t, Index, Index)>& visit) const;
  std::shared_ptr<const Csr> own_;  // of_dense
  const Csr& x_;
  std::vector<double> y_, w_, offset_;
  Index runs_, run_rows_;
  Execution execution_;
};

}  // namespace lemma::logit
