// lemma/optimize/gradient_check.cpp
#include <algorithm>
#include <cmath>
#include <lemma/optimize/gradient_check.hpp>
#include <limits>

namespace lemma {
namespace {

double larger(double a, double b) {  // NaN is the largest
  return std::isnan(b) ? std::numeric_limits<double>::infinity() : std::max(a, b);
}

}  // namespace

DerivativeCheck check_derivatives(const Objective& f, const VectorView& at) {
  const Index n = at.size();
  Vector x = at, gradient = Vector::Zero(n), above = gradient, below = gradient;
  DerivativeCheck out;
  const double value = f.value(x, gradient), alone = f.value(x);
  out.values = std::abs(value - alone) / std::max(1.0, std::abs(value));
  if (std::isnan(out.values)) out.values = std::numeric_limits<double>::infinity();
  const Matrix hessian = f.has_hessian() ? f.hessian(x) : Matrix();
  const double scale = std::max(1.0, n ? gradient.cwiseAbs().maxCoeff() : 0.0);
  const double hessian_scale = std::max(1.0, hessian.size() ? hessian.cwiseAbs().maxCoeff() : 0.0);
  for (Index j = 0; j < n; ++j) {
    // The error is about h² f‴/6 + ε|f|/h: least near h = ε^⅓.
    const double h = std::cbrt(std::numeric_limits<double>::epsilon()) * std::max(1.0, std::abs(at[j]));
    x[j] = at[j] + h;
    const double f_above = f.value(x, above);
    x[j] = at[j] - h;
    const double f_below = f.value(x, below);
    x[j] = at[j];
    const double error = std::abs((f_above - f_below) / (2 * h) - gradient[j]) / scale;
    if (larger(out.gradient, error) > out.gradient) out.worst = j;
    out.gradient = larger(out.gradient, error);
    const Vector column = (above - below) / (2 * h);
    const double column_scale = std::max(1.0, column.cwiseAbs().maxCoeff());
    if (hessian.size())
      out.hessian = larger(out.hessian, (column - hessian.col(j)).cwiseAbs().maxCoeff() / hessian_scale);
    if (f.has_hessian_product())
      out.hessian_product = larger(
          out.hessian_product, (column - f.hessian_times(x, Vector::Unit(n, j))).cwiseAbs().maxCoeff() / column_scale);
  }
  return out;
}

}  // namespace lemma
