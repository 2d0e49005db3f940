// lemma/kernel/gp/likelihood.cpp: the log marginal likelihood and its gradient.
#include <cmath>
#include <lemma/kernel/gp/parts.hpp>
#include <lemma/math/tiled_cholesky.hpp>
#include <limits>
#include <numbers>

namespace lemma::gp {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// What w − 1 further observations of the same y add: −½ Σ (w − 1) log 2πσ² − ½ Σ log w.
double of_copies(const Vector& weights, double diagonal) {
  if ((weights.array() == 1).all()) return 0;
  return -0.5 * ((weights.array() - 1).sum() * std::log(2 * std::numbers::pi * diagonal) + weights.array().log().sum());
}

}  // namespace

Vector Setting::values() const {
  const auto of_kernel = hyperparameters(kernel);
  Vector out(static_cast<Index>(of_kernel.size()) + 1);
  for (std::size_t t = 0; t < of_kernel.size(); ++t) out(static_cast<Index>(t)) = of_kernel[t].value;
  out(out.size() - 1) = noise;
  return out;
}

Setting with_values(const Setting& setting, const Vector& values) {
  const Index of_kernel = values.size() - 1;
  return {with_hyperparameters(setting.kernel, values.head(of_kernel)), values(of_kernel)};
}

std::optional<Matrix> factorise(const BoundKernel& kernel, const Vector& weights, double diagonal,
                                const Execution& execution) {
  Matrix a(kernel.count(), kernel.count());
  kernel.gram_upper(a, execution.part(0, 0.3, execution.message));
  a.diagonal() += diagonal * weights.cwiseInverse();
  const Vector given = a.diagonal();
  if (!tiled_cholesky(a, execution.part(0.3, 1, execution.message))) return {};
  // A pivot within the rounding of what it is left of is no pivot, though its sign may be right by chance.
  const double rounding = static_cast<double>(kernel.count()) * std::numeric_limits<double>::epsilon();
  if (!(a.diagonal().array().square() > rounding * given.array()).all()) return {};
  return a;
}

double mean_of(GpMean mean, const KernelRows& data) {
  return mean == GpMean::constant ? data.weight.dot(data.y) / data.mass() : 0;
}

Solved solve(const Matrix& r, GpMean mean, const KernelRows& data, double diagonal) {
  const Index n = data.count();
  Solved out{};
  out.mean = mean_of(mean, data);
  out.alpha = solve_factored(r, data.y.array() - out.mean);
  const double log_root = r.diagonal().array().log().sum();
  out.log_likelihood = -0.5 * out.alpha.dot((data.y.array() - out.mean).matrix()) - log_root -
                       0.5 * static_cast<double>(n) * std::log(2 * std::numbers::pi) + of_copies(data.weight, diagonal);
  return out;
}

double Likelihood::value(const Setting& setting, Vector* gradient_out) const {
  const BoundKernel kernel(setting.kernel, data_.points);
  auto r = factorise(kernel, data_.weight, setting.noise + jitter_, execution_);
  if (!r) return -kInfinity;
  const Solved solved = solve(*r, mean_, data_, setting.noise + jitter_);
  if (gradient_out) *gradient_out = gradient(setting, solved.alpha, std::move(*r));
  return solved.log_likelihood;
}

Vector Likelihood::gradient(const Setting& setting, const Vector& alpha, Matrix factor) const {
  tiled_invert_upper(factor, execution_);
  const KernelGradient of(setting.kernel, data_.points);
  Vector out(of.count() + 1);
  if (of.count() > 0)
    out.head(of.count()) = 0.5 * of.trace(
                                     [&](Index i, Index rows, Index j, Index columns) -> Matrix {
                                       return alpha.segment(i, rows) * alpha.segment(j, columns).transpose() -
                                              outer_tile(factor, i, rows, j, columns);
                                     },
                                     execution_);
  const Vector pull = (alpha.cwiseAbs2() - outer_diagonal(factor)).cwiseQuotient(data_.weight);
  const double diagonal = setting.noise + jitter_;
  const double of_copies = diagonal > 0 ? (data_.weight.array() - 1).sum() / diagonal : 0;
  out(of.count()) = 0.5 * setting.noise * (pull.sum() - of_copies);
  return out;
}

}  // namespace lemma::gp
