// lemma/kernel/gp/parts.hpp: what fitting, predicting and certifying share. Inner header: use lemma/kernel/gp.hpp.
#pragma once
#include <lemma/kernel/gp.hpp>
#include <lemma/optimize/stop.hpp>
#include <mutex>

namespace lemma {

class GpFactor {
 public:
  /// R, by `make` when it is asked for the first time.
  const Matrix& get(const std::function<Matrix()>& make) {
    std::call_once(once_, [&] { r_ = make(); });
    return r_;
  }

 private:
  std::once_flag once_;
  Matrix r_;
};

namespace gp {

/// What the hyperparameters of a kernel are called, in their order; then the noise.
std::vector<std::string> names_of(const Kernel& kernel);

/// The hyperparameters of a model: of the kernel, and the noise.
struct Setting {
  Kernel kernel;
  double noise;
  Vector values() const;  // of all, the noise last
};

/// A = K + (noise + jitter) W⁻¹, factorised: R in the upper triangle. Nothing when it is not positive definite.
std::optional<Matrix> factorise(const BoundKernel& kernel, const Vector& weights, double diagonal,
                                const Execution& execution);

/// What the process is about.
double mean_of(GpMean mean, const KernelRows& data);

/// What follows from a factor.
struct Solved {
  Vector alpha;
  double mean, log_likelihood;
};
Solved solve(const Matrix& r, GpMean mean, const KernelRows& data, double diagonal);

/// log p(y) as a function of the setting.
class Likelihood {
 public:
  Likelihood(const KernelRows& data, GpMean mean, double jitter, Execution execution)
      : data_(data), mean_(mean), jitter_(jitter), execution_(std::move(execution)) {}
  /// −∞ where A is not positive definite. The gradient is in the logarithms of `setting.values()`.
  double value(const Setting& setting, Vector* gradient = nullptr) const;
  /// The gradient from a factor that is overwritten.
  Vector gradient(const Setting& setting, const Vector& alpha, Matrix factor) const;

 private:
  const KernelRows& data_;
  GpMean mean_;
  double jitter_;
  Execution execution_;
};

/// Where the search begins and how far it may go: each logarithm within kReach of that of its reference, a value that
/// follows from the rows alone.
inline constexpr double kReach = 14;
/// What an entry of the gradient may be for each row where hyperparameters are learned.
inline constexpr double kFlat = 1e-6;
/// Up to so many rows the certificate takes the eigenvalues of the matrix, and differences of the kernel's values.
inline constexpr Index kMostByEigenvalues = 600;
Setting start(const Gp& spec, const KernelRows& data);
Vector references(const Setting& setting, const KernelRows& data);
/// The setting with other values.
Setting with_values(const Setting& setting, const Vector& values);

struct Learned {
  Setting setting;
  long long iterations = 0;
  Stop stopped = Stop::not_yet;
};
Learned learn(const Gp& spec, const Setting& start, const KernelRows& data, double jitter, std::uint64_t seed,
              const Execution& execution);

/// Which entries of the gradient should be 0: not those of a noise that is given, nor those that pull beyond the reach.
std::vector<bool> must_be_flat(const Gp& spec, const Setting& setting, const Vector& references,
                               const Vector& gradient);

/// The gradient that the certificate is about: found by another route than that of the fit, where that does not take too
/// long, so that the fit and a second look say the same.
Vector certified_gradient(const GpModel& model, const Setting& setting, const KernelRows& data,
                          const Execution& execution);

/// log p(y) and its gradient anew, by other routes than the fit's Cholesky factor and formulas. Not a number where they do not
/// lead to an answer.
struct Anew {
  double log_likelihood;
  Vector gradient;
};
/// By the eigenvalues of A, and differences of the kernel's values.
Anew by_eigenvalues(const Setting& setting, GpMean mean, double jitter, const KernelRows& data,
                    const Execution& execution);
/// By a triangle that is found to be A's inverse by multiplying with a kernel made anew, and the same differences: for many
/// rows.
Anew by_inverse(const Setting& setting, GpMean mean, double jitter, const KernelRows& data, bool with_gradient,
                const Execution& execution);

/// What rounding may do to an entry of the gradient, for each row: an error E of A, of the size ε ‖A‖, moves α and A⁻¹ by
/// ‖A⁻¹E‖ of themselves, and with them the two parts of an entry, which at a maximum are equal and at most about n.
double rounding_of(const BoundKernel& kernel, const KernelRows& data, double diagonal);

/// The equations and, for learned hyperparameters, the gradient.
Certificate certificate_of(const GpModel& model, const Setting& setting, const BoundKernel& kernel,
                           const KernelRows& data, const Vector& gradient, const Execution& execution);

}  // namespace gp
}  // namespace lemma
