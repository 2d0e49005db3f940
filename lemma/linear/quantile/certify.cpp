// lemma/linear/quantile/certify.cpp: a feasible point of the dual, and with it the gap.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/linear/quantile/parts.hpp>
#include <lemma/math/column_moments.hpp>
#include <lemma/model/comparison.hpp>
#include <limits>

namespace lemma {
namespace quantile {
namespace {

constexpr double kTolerance = 1e-9;
constexpr double kRounding = 16 * std::numeric_limits<double>::epsilon();  // of the terms that cancel in a residual
constexpr double kCancelled = 1e-6;  // a gap is also measured in this share of them

/// Of every row: residual, weight, and the size of the terms that cancel in the residual.
struct Seen {
  Vector residual, weight, terms;
  double middle = 0;  // median of the terms: a row whose own are all 0 knows its residual no better than others

  bool on_plane(Index i) const { return std::abs(residual(i)) <= kRounding * (terms(i) + middle); }
};

Seen see(const Coefficients& at, const Rows& rows, const Execution& execution) {
  Seen out{Vector(rows.count()), Vector(rows.count()), Vector(rows.count())};
  const Vector size = at.slopes.cwiseAbs();
  for_each_block(rows, execution, [&](const Block& block) {
    for (Index i = 0; i < block.rows(); ++i) {
      const Index row = block.first + i;
      out.residual(row) = residual(block, i, at);
      out.weight(row) = block.weight_of(i);
      out.terms(row) = std::abs(block.y[static_cast<std::size_t>(i)]) + std::abs(block.offset_of(i)) +
                       std::abs(at.intercept) + block.x.row(i).cwiseAbs().dot(size);
    }
  });
  Vector sorted = out.terms;
  std::nth_element(sorted.begin(), sorted.begin() + sorted.size() / 2, sorted.end());
  out.middle = sorted(sorted.size() / 2);
  return out;
}

/// Rows whose a is not settled by the side they lie on: those on the plane, and at least as many as determine it.
std::vector<Index> open_rows(const Seen& seen, Index rank) {
  std::vector<Index> order;
  for (Index i = 0; i < seen.residual.size(); ++i)
    if (seen.weight(i) > 0) order.push_back(i);
  const auto nearer = [&](Index i, Index j) {
    const double a = std::abs(seen.residual(i)), b = std::abs(seen.residual(j));
    return a < b || (a == b && i < j);
  };
  const auto least = static_cast<std::ptrdiff_t>(std::min<std::size_t>(static_cast<std::size_t>(rank), order.size()));
  std::partial_sort(order.begin(), order.begin() + least, order.end(), nearer);
  std::vector<Index> out(order.begin(), order.begin() + least);
  for (auto i = order.begin() + least; i != order.end(); ++i)
    if (seen.on_plane(*i)) out.push_back(*i);
  std::sort(out.begin(), out.end());
  return out;
}

/// Σ aᵢ tᵢ and Σ wᵢ |tᵢ| over the rows, with the terms t = [1 (x − centre)].
struct DualSums {
  const Vector* a;
  const Vector* weight;
  const Vector* centre;
  Vector sum, size;

  void accumulate(const Block& block) {
    for (Index i = 0; i < block.rows(); ++i) {
      const double each = (*a)(block.first + i), w = (*weight)(block.first + i);
      sum(0) += each;
      size(0) += w;
      for (Index j = 0; j < block.x.cols(); ++j) {
        const double x = block.x(i, j) - (*centre)(j);
        sum(j + 1) += each * x;
        size(j + 1) += w * std::abs(x);
      }
    }
  }
  void merge(const DualSums& other) {
    sum += other.sum;
    size += other.size;
  }
};

}  // namespace

Look look(const Asked& asked, const Coefficients& at, const Rows& rows, const Execution& execution) {
  const Index lead = asked.intercept ? 1 : 0;
  const Seen seen = see(at, rows, execution.part(0, 0.4));
  Look out;
  double terms = 0;
  Vector a(seen.residual.size());
  for (Index i = 0; i < a.size(); ++i) {
    const double r = seen.residual(i), w = seen.weight(i);
    a(i) = w * (r > 0 ? asked.tau : asked.tau - 1);
    out.objective += a(i) * r;
    terms += w * seen.terms(i);
    if (seen.on_plane(i)) out.on_plane += w;
  }
  if (!std::isfinite(out.objective)) {
    out.gap = std::numeric_limits<double>::quiet_NaN();
    return out;
  }
  const auto open = open_rows(seen, at.rank);
  for (const Index i : open) a(i) = 0;
  const Vector centre = asked.intercept ? scan(rows, ColumnMoments(rows.width()), execution.part(0.4, 0.6)).mean()
                                        : Vector::Zero(rows.width()).eval();
  const Vector none = Vector::Zero(rows.width() + 1);
  const auto sums = scan(rows, DualSums{&a, &seen.weight, &centre, none, none}, execution.part(0.6, 1));

  // The equations, each in units of Σ w |t|; a column without a spread is no equation.
  std::vector<Index> equations;
  for (Index j = 1 - lead; j <= rows.width(); ++j)
    if (sums.size(j) > 1e-13 * sums.size(0) * (j > 0 ? std::abs(centre(j - 1)) : 0) && sums.size(j) > 0)
      equations.push_back(j);
  Matrix system(static_cast<Index>(equations.size()), static_cast<Index>(open.size()));
  Vector low(system.cols()), high(system.cols());
  BlockBuffer buffer;
  for (Index c = 0; c < system.cols(); ++c) {
    const Index row = open[static_cast<std::size_t>(c)];
    const Block block = rows.read(row, 1, buffer);
    for (Index e = 0; e < system.rows(); ++e) {
      const Index j = equations[static_cast<std::size_t>(e)];
      system(e, c) = (j == 0 ? 1.0 : block.x(0, j - 1) - centre(j - 1)) / sums.size(j);
    }
    low(c) = seen.weight(row) * (asked.tau - 1);
    high(c) = seen.weight(row) * asked.tau;
  }
  double wrong = 0, not_complementary = 0;
  if (system.size() > 0) {
    const Vector g = sums.sum(equations).cwiseQuotient(sums.size(equations));
    const DualPoint point = dual_point(system, g, low, high);
    const Vector& dual = point.multipliers;
    wrong = point.wrong;
    for (Index c = 0; c < dual.size(); ++c) {
      const double r = seen.residual(open[static_cast<std::size_t>(c)]);
      not_complementary += (r > 0 ? high(c) : low(c)) * r - dual(c) * r;
    }
    const Vector span = high - low;
    out.strict = static_cast<Index>(open.size()) == at.rank && ((dual - low).array() > 1e-7 * span.array()).all() &&
                 ((high - dual).array() > 1e-7 * span.array()).all();
  }
  const double unit = out.objective + kCancelled * terms;
  out.gap = wrong + (unit > 0 ? not_complementary / unit : 0);
  return out;
}

ProgrammeGap gap_of(const Asked& asked, const Look& found) {
  return {asked.unit * found.objective, found.gap, kTolerance};
}

Certificate certificate_of(const Asked& asked, const Look& found, bool optimal, long long pivots) {
  Certificate out = lemma::certificate_of(gap_of(asked, found), pivots, optimal ? "optimal vertex" : "stopped early");
  if (!optimal) out.message += " The search was stopped before its end; run it again for the best plane.";
  return out;
}

namespace {

/// `condition`: of the columns; covariances are found through the inverse of their triangle.
void compare(Comparison& same, const QuantileNumbers& model, const QuantileNumbers& expected, const Look& found,
             double condition) {
  // The fits beside τ are found to 1e-10 of the residuals.
  const double follows = 1e-6 + 100 * std::numeric_limits<double>::epsilon() * condition;
  same.number("rank", static_cast<double>(model.rank), static_cast<double>(expected.rank), 0);
  same.number("kept", static_cast<double>(model.kept.size()), static_cast<double>(expected.kept.size()), 0);
  for (std::size_t i = 0; i < expected.kept.size() && !same.finding(); ++i)
    same.entry("kept", static_cast<Index>(i), model.kept[i], expected.kept[i], 0);
  if (same.finding()) return;
  same.relative("objective", model.objective, expected.objective);
  same.relative("df_residual", model.df_residual, expected.df_residual);
  same.relative("on_plane", model.on_plane, expected.on_plane);
  if (found.strict) same.number("unique", model.unique, 1, 0);
  same.number("log_likelihood", model.log_likelihood, expected.log_likelihood, 1 + std::abs(expected.log_likelihood));
  same.number("aic", model.aic, expected.aic, 1 + std::abs(expected.aic));
  same.number("bic", model.bic, expected.bic, 1 + std::abs(expected.bic));
  const Vector size = expected.covariance.diagonal().cwiseSqrt();
  for (Index i = 0; i < size.size(); ++i)
    for (Index j = 0; j < size.size(); ++j)
      same.entry("covariance", i * size.size() + j, model.covariance(i, j), expected.covariance(i, j),
                 size(i) * size(j), follows);
  const auto test = [&](const std::string& prefix, Index j, double error, double t, double p, double error_now,
                        double t_now, double p_now) {
    same.entry(prefix + (prefix.empty() ? "std_errors" : "std_error"), j, error, error_now, std::abs(error_now),
               follows);
    same.entry(prefix + "t", j, t, t_now, std::abs(t_now), follows);
    same.entry(prefix + "p", j, p, p_now, p_now + 1e-300, 1e-3);
  };
  test("intercept_", 0, model.intercept_std_error, model.intercept_t, model.intercept_p, expected.intercept_std_error,
       expected.intercept_t, expected.intercept_p);
  for (Index j = 0; j < model.width(); ++j)
    test("", j, model.std_errors(j), model.t(j), model.p(j), expected.std_errors(j), expected.t(j), expected.p(j));
}

/// Which columns take part, and every number beside the coefficients, are found anew.
template <class Spec>
Certificate certify_either(const QuantileFit<Spec>& model, const Rows& rows, const Execution& execution) {
  const Asked wanted = asked(model.spec);
  require_finite(rows, execution);
  const Look found = look(wanted, {model.intercept, model.slopes(), model.rank}, rows, execution.part(0, 0.4));
  Certificate out = certificate_of(wanted, found, true, 0);
  if (!out.holds()) {
    out.message = not_shown(gap_of(wanted, found));
    return out;
  }
  Prepared prepared = prepare(wanted, rows, execution.part(0.4, 0.6));
  QuantileFit<Spec> expected;
  expected.coefficients = model.coefficients;
  expected.intercept = model.intercept;
  expected.kept.assign(prepared.ols.kept.begin(), prepared.ols.kept.end());
  expected.rank = prepared.ols.rank(wanted.intercept);
  judge(expected, wanted, prepared, found, rows, execution.part(0.6, 1));
  Comparison same;
  compare(same, model, expected, found, prepared.ols.condition);
  if (same.finding()) same.report(out);
  return out;
}

}  // namespace
}  // namespace quantile

Certificate certify(const QuantileModel& model, const Rows& rows, const Execution& execution) {
  return quantile::certify_either(model, rows, execution);
}
Certificate certify(const LadModel& model, const Rows& rows, const Execution& execution) {
  return quantile::certify_either(model, rows, execution);
}

}  // namespace lemma
