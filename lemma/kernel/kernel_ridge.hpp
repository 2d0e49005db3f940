// lemma/kernel/kernel_ridge.hpp
#pragma once
#include <lemma/kernel/shared/rows.hpp>
#include <lemma/model/method.hpp>
#include <lemma/model/path.hpp>
#include <limits>

namespace lemma {

/// Kernel ridge regression: the function f of the kernel's space and the number b that minimise
///
///     J(f, b) = ½ Σ wᵢ (yᵢ − b − f(xᵢ))² + ½ λ ‖f‖²,        f = Σ αⱼ k(·, xⱼ),   ‖f‖² = αᵀKα.
///
/// Where J is least,
///
///     (K + λ W⁻¹) α + b 1 = y,     1ᵀα = 0        (without an intercept b = 0 and the second equation is not there),
///
/// one Cholesky factorisation of A = K + λ W⁻¹. Several λ take one eigendecomposition of W^½ K W^½ instead, and the λ with
/// the least leave-one-out error predicts. With B = A⁻¹ − u uᵀ / 1ᵀu, u = A⁻¹1 (or B = A⁻¹), the fitted values are S y with
/// S = I − λ W⁻¹ B, hence in closed form, for a row of weight 1,
///
///     y − (prediction from all other rows) = αᵢ / Bᵢᵢ,     effective df = trace S (+ 0: the intercept is in it).
///
/// Cost         O(n² d + n³/3) time and 8 n² bytes; as much again for the leave-one-out error, which is found unasked up to
///              kMostLeftOut rows; about 30 times as much for several λ.
/// Certificate  optimal: the gap between J and the dual's value at λα, which is ½ Σ w (y − b − Kα − λα/w)², with K made anew
///              from the rows, in units of what cancels in that residual.
struct KernelRidge {
  Kernel kernel;
  std::vector<double> lambda{1};
  bool intercept = true;
  double gigabytes = 1;

  static constexpr std::string_view name = "kernel_ridge";
  static constexpr MethodAbout about{.family = "kernel",
                                     .task = Task::regression,
                                     .summary = "ridge regression in the space of a kernel",
                                     .objective = "minimise ½ Σ w (y − b − f(x))² + ½ λ ‖f‖²",
                                     .example =
                                         "lemma fit kernel_ridge mcycle 'accel ~ times' --kernel 'rbf(0.05)' "
                                         "--lambda 0.1,0.5,2.5",
                                     .keeps_rows = true,
                                     .takes_weights = true,
                                     .takes_sparse = true};
  static constexpr auto params() {
    return Listing{param("kernel", &KernelRidge::kernel, "inner product of the features"),
                   param("lambda", &KernelRidge::lambda,
                         "penalty on the squared norm of f, or several to choose from; auto: a path of 50", above(0),
                         Step::logarithmic),
                   param("intercept", &KernelRidge::intercept, "fit an unpenalised intercept"),
                   param("gigabytes", &KernelRidge::gigabytes, "gigabytes that the kernel matrix may take", above(0))};
  }
  Needs needs(Needs usual) const {
    usual.letters = kernel.letters();
    return usual;
  }
};
static_assert(Described<KernelRidge>);

struct KernelRidgeModel : Evidence {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  /// Up to so many rows the leave-one-out error and the degrees of freedom of a single λ are found.
  static constexpr Index kMostLeftOut = 2000;

  KernelRidge spec;
  PathNumbers lambda, effective_df, rss, loocv_mse, objective;
  double chosen_lambda = kNone, intercept = 0;
  KeptRows points;
  RowNumbers places;
  Vector dual_coefficients;

  static constexpr auto fields() {
    using M = KernelRidgeModel;
    return Listing{
        result("lambda", &M::lambda, "the penalties, in the order given"),
        result("effective_df", &M::effective_df,
               "trace of the matrix that makes fitted values of responses, the intercept's 1 in it; null beyond 2,000 "
               "rows with one λ"),
        result("rss", &M::rss, "sum of squared residuals, weighted"),
        result("loocv_mse", &M::loocv_mse,
               "mean squared error of predicting each row from all others; null beyond 2,000 rows with one λ"),
        result("objective", &M::objective, "½ rss + ½ λ ‖f‖²"),
        result("chosen_lambda", &M::chosen_lambda, "the λ that predicts"),
        result("intercept", &M::intercept, "of the λ that predicts; 0 when none is fitted"),
        result("dual_coefficients", &M::dual_coefficients,
               "α of the λ that predicts, one for each row whose weight is above 0"),
        state("points", &M::points, "the rows with a weight above 0; none for a precomputed kernel"),
        state("places", &M::places, "of the rows, for a precomputed kernel")};
  }
  Index width() const { return points.width; }
  void check() const;
  Vector predict(const MatrixView& x) const;
  std::string summary(const Names& names) const;
};

KernelRidgeModel fit(const Valid<KernelRidge>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const KernelRidgeModel& model, const Rows& rows, const Execution& execution);

/// What is predicted of each row of the fit from all others, in closed form. Nothing where more than the coefficients changes
/// with the rows (a kernel or a λ that is chosen by them: `typed` says), rows have weights, or there are more than 8,000.
std::optional<Vector> leave_one_out(const KernelRidge& typed, const KernelRidgeModel& model, const Rows& rows,
                                    const Execution& execution = {});

extern template const Method& method_of<KernelRidge>();

}  // namespace lemma
