// lemma/linear/quantile/errors.cpp: standard errors and what follows from them, as R's summary.rq has them.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/hash.hpp>
#include <lemma/linear/quantile/parts.hpp>
#include <lemma/linear/shared/or_none.hpp>
#include <lemma/math/distributions.hpp>
#include <lemma/math/factorise.hpp>
#include <numbers>
#include <numeric>
#include <optional>

namespace lemma::quantile {
namespace {

constexpr double kNone = QuantileNumbers::kNone;

/// Hall and Sheather's bandwidth for the density at a quantile (the level of its test is 0.05).
double bandwidth(double tau, double n) {
  const double x = normal_quantile(tau), f = std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
  return std::cbrt(1 / n) * std::pow(normal_quantile(0.975), 2.0 / 3) * std::cbrt(1.5 * f * f / (2 * x * x + 1));
}

/// From the orthogonal coordinates to [b₀ b]: b = √n unit R⁻¹ γ, b₀ = unit γ₀ − mean·b.
Matrix to_coefficients(const Asked& asked, const Prepared& prepared) {
  const auto k = static_cast<Index>(prepared.ols.kept.size()), lead = Index{asked.intercept ? 1 : 0};
  Matrix out = Matrix::Zero(k + lead, k + lead);
  const Matrix slopes =
      prepared.unit * std::sqrt(prepared.data.mass()) * solve_upper(prepared.ols.triangle, Matrix::Identity(k, k));
  out.bottomRightCorner(k, k) = slopes;
  if (lead == 0) return out;
  out(0, 0) = prepared.unit;
  const Vector mean = prepared.data.mean()(prepared.ols.kept);
  out.row(0).tail(k) = -mean.transpose() * slopes;
  return out;
}

/// Planes closer to each other than this (in units of the residuals) meet at the row, and what is between them is
/// rounding: R's eps^(2/3) leaves such rows out, too.
constexpr double kMeet = 1e-10;

/// The rows that count, in an order of their own numbers, and a number in [−1, 1) that these give to each. Equal rows
/// are interchangeable.
struct ByValue {
  std::vector<Index> order;
  Vector own;
};
ByValue by_value(const Prepared& prepared, const Rows& rows, const Execution& execution) {
  std::vector<std::uint64_t> key(static_cast<std::size_t>(rows.count()));
  for_each_block(rows, execution, [&](const Block& block) {
    for (Index i = 0; i < block.rows(); ++i) {
      const double rest[] = {block.y[static_cast<std::size_t>(i)], block.offset_of(i)};
      const auto x = block.x.row(i);
      key[static_cast<std::size_t>(block.first + i)] =
          hash_numbers({x.data(), static_cast<std::size_t>(x.size())}, hash_numbers(rest));
    }
  });
  const auto key_of = [&](Index i) {
    return key[static_cast<std::size_t>(prepared.rows[static_cast<std::size_t>(i)])];
  };
  ByValue out{std::vector<Index>(prepared.rows.size()), Vector(prepared.y.size())};
  std::iota(out.order.begin(), out.order.end(), Index{0});
  std::sort(out.order.begin(), out.order.end(), [&](Index i, Index j) {
    const std::uint64_t a = key_of(i), b = key_of(j);
    return a != b ? a < b : i < j;
  });
  for (Index i = 0; i < out.own.size(); ++i)
    out.own(i) = static_cast<double>(key_of(out.order[static_cast<std::size_t>(i)]) >> 11) * 0x1p-52 - 1;
  return out;
}

/// R with RᵀR = G; nothing where G cannot be told from a singular matrix: with its columns brought to length 1,
/// rounding leaves a pivot of about 1e-8 where there is none.
std::optional<Matrix> in_unit_columns(const Matrix& g) {
  constexpr double kNoPivot = 3e-7;
  const Vector length = g.diagonal().cwiseSqrt();
  if (!(length.minCoeff() > 0)) return {};
  const Vector inverse = length.cwiseInverse();
  auto r = cholesky(Matrix(inverse.asDiagonal() * g * inverse.asDiagonal()));
  if (!r || !(r->diagonal().minCoeff() > kNoPivot)) return {};
  return Matrix(*r * length.asDiagonal());
}

/// Row i becomes what row order[i] was.
void reorder(Matrix& z, std::vector<Index> order) {
  Vector first(z.cols());
  for (Index start = 0; start < z.rows(); ++start) {
    first.head(z.cols()) = z.row(start).transpose();
    for (Index i = start, from = 0; order[at(i)] != i; i = from) {  // round the cycle; rows that are in place stay
      from = order[at(i)];
      order[at(i)] = i;
      if (from == start) z.row(i) = first.transpose();
      else z.row(i) = z.row(from);
    }
  }
}

/// Hendricks and Koenker's sandwich: the density at each row from the fits at τ ± h, fᵢ = 2h / (ŷᵢ(τ + h) − ŷᵢ(τ − h)),
/// and τ(1−τ) G⁻¹ (ZᵀWZ) G⁻¹ with G = ZᵀWFZ. In the orthogonal coordinates ZᵀWZ = n I.
Matrix covariance_nid(double tau, Prepared& prepared, const Rows& rows, const Execution& execution) {
  Matrix& z = prepared.z;  // in place: it is as large as the rows
  const Index k = z.cols();
  // Where several planes are best, which of them is found must not depend on the order of the rows, nor on rounding:
  // they are taken in an order of their values, with weights changed by so little that one plane alone is best, and
  // still passes through the same rows.
  constexpr double kUnseenWeight = 1e-7;
  const ByValue rule = by_value(prepared, rows, execution);
  const Vector factor = 1 + kUnseenWeight * rule.own.array(), weight = prepared.weight(rule.order);
  const Vector y = factor.cwiseProduct(prepared.y(rule.order));
  reorder(z, rule.order);
  z.array().colwise() *= factor.array();
  const double n = prepared.data.weight();
  double h = bandwidth(tau, n);
  while (tau - h < 0 || tau + h > 1) h /= 2;
  const Vector above = solve(z, y, tau + h, execution.part(0, 0.5)).c,
               below = solve(z, y, tau - h, execution.part(0.5, 1)).c;
  z.array().colwise() /= factor.array();
  const Vector apart = z * (above - below);  // times the weight
  Matrix g = Matrix::Zero(k, k);
  Index used = 0;
  for (Index i = 0; i < apart.size(); ++i) {
    const double w = weight(i);
    if (!(apart(i) > kMeet * w)) continue;
    const double f = 2 * h * w / apart(i);
    ++used;
    g.selfadjointView<Eigen::Upper>().rankUpdate(z.row(i).transpose(), f / w);  // z is w times the row
  }
  const auto r = used < k ? std::nullopt : in_unit_columns(g);
  if (!r) return Matrix::Constant(k, k, kNone);
  const Matrix inverse = solve_upper(*r, solve_upper_transposed(*r, Matrix::Identity(k, k)));
  return tau * (1 - tau) * n * inverse * inverse;
}

/// The residuals of the rows, each as often as its weight says, ordered by size.
std::vector<double> smallest_residuals(const QuantileNumbers& model, const Asked& asked, const Rows& rows,
                                       const Execution& execution) {
  std::vector<std::pair<double, double>> all(static_cast<std::size_t>(rows.count()));
  const Coefficients at{model.intercept, model.slopes(), model.rank};
  for_each_block(rows, execution, [&](const Block& block) {
    for (Index i = 0; i < block.rows(); ++i)
      all[static_cast<std::size_t>(block.first + i)] = {residual(block, i, at), block.weight_of(i)};
  });
  std::vector<double> out;
  for (const auto& [r, weight] : all) {
    require(weight == std::floor(weight) && weight < 1e6,
            fmt::format("{}: a weight is {}; 'errors' can be iid only for whole weights, which count copies",
                        asked.name, weight));
    out.insert(out.end(), static_cast<std::size_t>(weight), r);
  }
  std::sort(out.begin(), out.end(),
            [](double a, double b) { return std::abs(a) < std::abs(b) || (std::abs(a) == std::abs(b) && a < b); });
  return out;
}

/// One density for all errors: 1/f is the slope of the ordered residuals about the quantile, as a line through their
/// medians; the covariance is τ(1−τ)/f² (ZᵀWZ)⁻¹.
double sparsity(const QuantileNumbers& model, const Asked& asked, const Rows& rows, double on_plane,
                const Execution& execution) {
  const auto sorted = smallest_residuals(model, asked, rows, execution);
  const double n = static_cast<double>(sorted.size());
  const auto rank = static_cast<double>(model.rank);
  const auto width = static_cast<std::size_t>(std::max(rank + 1, std::ceil(n * bandwidth(asked.tau, n)))) + 1;
  const auto first = static_cast<std::size_t>(on_plane);
  const std::size_t last = std::min(first + width, sorted.size());
  if (last < first + 3) return kNone;
  std::vector<double> window(sorted.begin() + static_cast<std::ptrdiff_t>(first),
                             sorted.begin() + static_cast<std::ptrdiff_t>(last));
  std::sort(window.begin(), window.end());
  const auto m = static_cast<Index>(window.size());
  const double unit = std::max(std::abs(window.front()), std::abs(window.back()));
  if (!(unit > 0)) return kNone;
  Matrix z(m, 2);
  Vector y(m);
  for (Index i = 0; i < m; ++i) {
    z(i, 0) = 1;
    z(i, 1) = (static_cast<double>(i) - 0.5 * static_cast<double>(m)) / static_cast<double>(m);
    y(i) = window[static_cast<std::size_t>(i)] / unit;
  }
  const double slope = solve(z, y, 0.5, execution).c(1) * unit / static_cast<double>(m);
  return slope * (n - rank);
}

void judge_coefficients(QuantileNumbers& model, const Asked& asked, const Matrix& covariance,
                        const std::vector<Index>& kept) {
  const Index lead = asked.intercept ? 1 : 0, p = model.width();
  model.covariance = Matrix::Constant(p + lead, p + lead, kNone);
  std::vector<Index> terms;
  if (lead == 1) terms.push_back(0);
  for (const Index j : kept) terms.push_back(j + lead);
  model.covariance(terms, terms) = covariance.unaryExpr(&or_none);
  const auto test = [&](Index term, double estimate, double& error, double& t, double& p_value) {
    error = or_none(std::sqrt(model.covariance(term, term)));
    t = or_none(estimate / error);
    p_value = std::isnan(t) ? kNone : t_two_sided(t, model.df_residual);
  };
  model.std_errors = model.t = model.p = Vector::Constant(p, kNone);
  for (const Index j : kept) test(j + lead, model.coefficients(j), model.std_errors(j), model.t(j), model.p(j));
  if (lead == 1) test(0, model.intercept, model.intercept_std_error, model.intercept_t, model.intercept_p);
}

}  // namespace

void judge(QuantileNumbers& model, const Asked& asked, Prepared& prepared, const Look& found, const Rows& rows,
           const Execution& execution) {
  const double n = prepared.data.weight(), tau = asked.tau;
  const auto rank = static_cast<double>(model.rank);
  model.objective = asked.unit * found.objective;
  model.on_plane = found.on_plane;
  model.df_residual = n - rank;
  model.log_likelihood =
      prepared.perfect ? kNone : or_none(n * (std::log(tau * (1 - tau)) - 1 - std::log(found.objective / n)));
  model.aic = or_none(-2 * model.log_likelihood + 2 * rank);
  model.bic = or_none(-2 * model.log_likelihood + std::log(n) * rank);
  const Index k = prepared.z.cols();
  Matrix covariance = Matrix::Constant(k, k, kNone);
  if (!prepared.perfect && model.df_residual > 0 && k > 0) {
    const Matrix map = to_coefficients(asked, prepared);
    if (asked.errors == QuantileErrors::nid)
      covariance = map * covariance_nid(tau, prepared, rows, execution) * map.transpose();
    if (asked.errors == QuantileErrors::iid) {
      const double s = sparsity(model, asked, rows, found.on_plane, execution) / prepared.unit;
      covariance = (tau * (1 - tau) * s * s / n) * (map * map.transpose());
    }
  }
  judge_coefficients(model, asked, covariance, prepared.ols.kept);
}

}  // namespace lemma::quantile
