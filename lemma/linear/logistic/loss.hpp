// lemma/linear/logistic/loss.hpp: the logistic loss of all rows, as the solvers and the certificate see it. Inner header.
#pragma once
#include <lemma/core/rows.hpp>
#include <memory>

namespace lemma::logit {

/// Columns depend on each other where the root of their Hessian, in units in which its diagonal is 1, has a smaller reciprocal
/// condition: rounding leaves of such a column a pivot of about ε, above 0 or below it as chance has it, in the root its
/// square root.
inline constexpr double kDependent = 3e-7;

/// The coordinates in which the work is done, whatever the units of the user: x̃ = (x − mean) / scale, coefficients
/// β = (β₀, β₁, …, β_p) of 1 and x̃. A column without spread has the inverse scale 0 and takes no part.
struct Frame {
  bool intercept = true;
  Vector mean;           // 0 without an intercept
  Vector inverse_scale;  // 1 / standard deviation (divisor n)
  Vector factor;  // cⱼ = factorⱼ βⱼ is what is penalised: 1, or 1 / scale when columns are not standardised
  bool prepare = false;  // x̃ is made before use: the plain columns would lose digits or overflow
  double class_factor[2] = {1, 1};
  bool of_classes = true;

  double rows_weight = 0;  // n = Σ weight
  double response = 0;     // Σ w y, class weights included
  double mass = 0;         // Σ w
  double saturated = 0;    // least loss any predictor could have: 0 for classes

  Index width() const { return mean.size(); }
  /// To the user's units and back; the intercept comes first.
  Vector users(const Vector& beta) const;
  Vector inner(const Vector& coefficients) const;
};

/// What one pass finds for the dual point u = w (y − p): the parts of Σ u (1, x̃) of the rows with u > 0 and with u < 0.
struct DualParts {
  double loss = 0;
  Vector positive, negative;
  double pearson_positive = 0, pearson_negative = 0;  // Σ w (y − p)² / (p (1 − p)) of the same rows

  Vector gradient() const { return -(positive + negative); }
};

/// Σ w (log(1 + e^η) − y η) at β, and its derivatives. Every call is one pass.
class Loss {
 public:
  virtual ~Loss() = default;
  const Frame& frame() const { return frame_; }
  Index size() const { return frame_.width() + 1; }

  virtual double value(const Vector& beta) const = 0;
  virtual double value(const Vector& beta, Vector& gradient) const = 0;
  /// Both triangles. Without an intercept its gradient is 0 and its curvature 1.
  virtual double value(const Vector& beta, Vector& gradient, Matrix& hessian) const = 0;
  virtual DualParts split(const Vector& beta) const = 0;
  /// Σ w KL(q ‖ p) for q = y − t (y − p), with t by the sign of y − p: what it costs that u / t is not η's own dual point.
  virtual double mismatch(const Vector& beta, double t_positive, double t_negative) const = 0;

 protected:
  explicit Loss(Frame frame) : frame_(std::move(frame)) {}
  Frame frame_;
};

/// By scans: in memory or streamed, the same bits on any number of threads.
class DenseLoss final : public Loss {
 public:
  DenseLoss(const Rows& rows, Frame frame, Execution execution)
      : Loss(std::move(frame)), rows_(rows), execution_(std::move(execution)) {}
  double value(const Vector& beta) const override;
  double value(const Vector& beta, Vector& gradient) const override;
  double value(const Vector& beta, Vector& gradient, Matrix& hessian) const override;
  DualParts split(const Vector& beta) const override;
  double mismatch(const Vector& beta, double t_positive, double t_negative) const override;

 private:
  const Rows& rows_;
  Execution execution_;
};

/// y in [0, 1] and w of a block's rows, which may have no x, in two arrays of one's own.
void responses(const Block& block, Index rows, const Frame& frame, std::vector<double>& y, std::vector<double>& w);

/// w KL(q ‖ p) of one row, q = y − t (y − p), without cancellation.
double row_mismatch(double eta, double y, double w, double t);

}  // namespace lemma::logit
