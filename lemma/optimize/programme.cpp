// lemma/optimize/programme.cpp: what a programme must be, and the proof of an answer.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <lemma/core/error.hpp>
#include <lemma/optimize/programme_parts.hpp>

namespace lemma {

Index LinearProgramme::rows() const {
  if (const auto* sparse = std::get_if<Csr>(&a)) return sparse->rows();
  return std::get<Matrix>(a).rows();
}

std::string_view name_of(ProgrammeStatus status) {
  switch (status) {
    case ProgrammeStatus::solved: return "solved";
    case ProgrammeStatus::infeasible: return "infeasible";
    case ProgrammeStatus::unbounded: return "unbounded";
    case ProgrammeStatus::stopped: break;
  }
  return "stopped";
}

namespace programme {
namespace {

constexpr double kLargestBound = 1e30;  // Clp takes larger ones for none

void check_bounds(Vector& lower, Vector& upper, Index count, const char* what) {
  if (lower.size() == 0) lower = Vector::Constant(count, -kInfinity);
  if (upper.size() == 0) upper = Vector::Constant(count, kInfinity);
  for (const Vector* side : {&lower, &upper})
    require(side->size() == count,
            fmt::format("the programme has {} {}s but {} bounds for them", count, what, side->size()));
  for (Index i = 0; i < count; ++i) {
    const double l = lower[i], u = upper[i];
    require(!std::isnan(l) && !std::isnan(u), fmt::format("a bound of {} {} is not a number", what, i));
    require(l <= u && l < kInfinity && u > -kInfinity,
            fmt::format("the bounds of {} {} cross: {} is above {}", what, i, l, u));
    for (const double b : {l, u})
      require(std::isinf(b) || std::abs(b) < kLargestBound,
              fmt::format("a bound of {} {} is {}: scale it below {} or make it infinite", what, i, b, kLargestBound));
  }
}

/// A without rows may be left out whole, and then has no width either.
void check_matrix(const LinearProgramme& p) {
  const auto* sparse = std::get_if<Csr>(&p.a);
  const Index width = sparse ? sparse->width : std::get<Matrix>(p.a).cols();
  require(p.rows() == 0 || width == p.columns(),
          fmt::format("the matrix of the programme has {} columns, its costs are {}", width, p.columns()));
  for_entries(p.a, [&](Index i, Index j, double value) {
    require(j >= 0 && j < p.columns(),
            fmt::format("row {} of the programme has an entry in column {} of {}", i, j, p.columns()));
    require(std::isfinite(value), fmt::format("entry ({}, {}) of the programme's matrix is {}", i, j, value));
  });
}

double largest(const Vector& v) { return v.size() ? v.cwiseAbs().maxCoeff() : 0.0; }

/// Sums over one kind of constraint (rows or columns): `at` lies between lower and upper, with multipliers m.
void judge(const Vector& at, const Vector& lower, const Vector& upper, const Vector& m, KktReport& out) {
  for (Index i = 0; i < at.size(); ++i) {
    out.primal = std::max({out.primal, lower[i] - at[i], at[i] - upper[i]});
    const double bound = m[i] > 0 ? lower[i] : upper[i];
    if (m[i] == 0) continue;
    if (std::isinf(bound)) {
      out.dual_sign = std::max(out.dual_sign, std::abs(m[i]));
    } else {
      out.complementarity = std::max(out.complementarity, std::abs(m[i] * (at[i] - bound)));
      out.dual_value += m[i] * bound;
    }
  }
}

KktReport kkt(const Matrix& q, const LinearProgramme& given, const VectorView& point, const Multipliers& dual) {
  const LinearProgramme p = checked(given);
  const Vector x = point;
  require(x.size() == p.columns() && dual.columns.size() == p.columns() && dual.rows.size() == p.rows(),
          fmt::format("the programme has {} columns and {} rows; the points have {}, {} and {}", p.columns(), p.rows(),
                      x.size(), dual.columns.size(), dual.rows.size()));
  const Vector qx = q.size() ? Vector(q * x) : Vector(Vector::Zero(x.size()));
  const Vector ax = times(p.a, x), aty = transposed_times(p.a, dual.rows, p.columns());
  const double curvature = 0.5 * x.dot(qx);

  KktReport out;
  out.stationarity = largest(qx + p.c - aty - dual.columns);
  out.value = curvature + p.c.dot(x);
  out.dual_value = -curvature;
  judge(ax, p.row_lower, p.row_upper, dual.rows, out);
  judge(x, p.lower, p.upper, dual.columns, out);
  out.gap = out.value - out.dual_value;
  out.gradient_scale = std::max({1.0, largest(qx), largest(p.c), largest(aty)});
  out.point_scale = std::max({1.0, largest(x), largest(ax)});
  out.value_scale = std::max({1.0, std::abs(out.value), std::abs(out.dual_value)});
  if (!x.allFinite() || !dual.rows.allFinite() || !dual.columns.allFinite()) out.stationarity = kInfinity;
  return out;
}

ProofReport ray_report(const Matrix& q, const LinearProgramme& given, const VectorView& direction) {
  const LinearProgramme p = checked(given);
  const Vector ray = direction;
  require(ray.size() == p.columns(), fmt::format("the programme has {} columns, the ray {}", p.columns(), ray.size()));
  ProofReport out;
  const auto judge_side = [&](const Vector& along, const Vector& lower, const Vector& upper) {
    for (Index i = 0; i < along.size(); ++i) {
      if (!std::isinf(lower[i])) out.residual = std::max(out.residual, -along[i]);
      if (!std::isinf(upper[i])) out.residual = std::max(out.residual, along[i]);
    }
  };
  judge_side(times(p.a, ray), p.row_lower, p.row_upper);
  judge_side(ray, p.lower, p.upper);
  if (q.size()) out.residual = std::max(out.residual, largest(q * ray));
  out.margin = -p.c.dot(ray);
  return out;
}

}  // namespace

LinearProgramme checked(const LinearProgramme& given) {
  LinearProgramme p = given;
  for (Index j = 0; j < p.columns(); ++j)
    require(std::isfinite(p.c[j]), fmt::format("the cost of column {} is {}", j, p.c[j]));
  check_matrix(p);
  check_bounds(p.row_lower, p.row_upper, p.rows(), "row");
  check_bounds(p.lower, p.upper, p.columns(), "column");
  return p;
}

QuadraticProgramme checked(const QuadraticProgramme& given) {
  QuadraticProgramme p{given.q, checked(given.linear)};
  const Index n = p.linear.columns();
  require(p.q.rows() == n && p.q.cols() == n, fmt::format("Q is {} × {}, the costs are {}", p.q.rows(), p.q.cols(), n));
  require(p.q.allFinite(), "Q has an entry that is not a finite number");
  const double scale = p.q.size() ? p.q.cwiseAbs().maxCoeff() : 0.0;
  require(p.q.size() == 0 || (p.q - p.q.transpose()).cwiseAbs().maxCoeff() <= 1e-12 * scale,
          "Q is not symmetric: give (Q + Qᵀ)/2, which has the same objective");
  return p;
}

Vector times(const std::variant<Matrix, Csr>& a, const VectorView& x) {
  if (const auto* dense = std::get_if<Matrix>(&a)) return dense->rows() ? Vector(*dense * x) : Vector();
  Vector out = Vector::Zero(std::get<Csr>(a).rows());
  for_entries(a, [&](Index i, Index j, double value) { out[i] += value * x[j]; });
  return out;
}

Vector transposed_times(const std::variant<Matrix, Csr>& a, const VectorView& y, Index columns) {
  Vector out = Vector::Zero(columns);
  if (const auto* dense = std::get_if<Matrix>(&a)) {
    if (dense->rows()) out.noalias() = dense->transpose() * y;
  } else {
    for_entries(a, [&](Index i, Index j, double value) { out[j] += value * y[i]; });
  }
  return out;
}

}  // namespace programme

double KktReport::worst() const {
  const double parts[] = {stationarity / gradient_scale, primal / point_scale, dual_sign / gradient_scale,
                          complementarity / value_scale, std::abs(gap) / value_scale};
  double out = 0;
  for (const double part : parts) out = std::isnan(part) ? programme::kInfinity : std::max(out, part);
  return out;
}

KktReport check_kkt(const LinearProgramme& programme, const VectorView& x, const Multipliers& dual) {
  return programme::kkt(Matrix(), programme, x, dual);
}
KktReport check_kkt(const QuadraticProgramme& programme, const VectorView& x, const Multipliers& dual) {
  return programme::kkt(programme::checked(programme).q, programme.linear, x, dual);
}

ProofReport check_farkas(const LinearProgramme& given, const Multipliers& farkas) {
  const LinearProgramme p = programme::checked(given);
  require(farkas.rows.size() == p.rows() && farkas.columns.size() == p.columns(),
          fmt::format("the programme has {} rows and {} columns; the proof has {} and {}", p.rows(), p.columns(),
                      farkas.rows.size(), farkas.columns.size()));
  // With c = 0 the proof is a dual point of positive value: the dual of a feasible programme has none.
  KktReport report;
  const Vector nowhere = Vector::Zero(p.columns());
  programme::judge(programme::times(p.a, nowhere), p.row_lower, p.row_upper, farkas.rows, report);
  programme::judge(nowhere, p.lower, p.upper, farkas.columns, report);
  const Vector balance = programme::transposed_times(p.a, farkas.rows, p.columns()) + farkas.columns;
  return {std::max(programme::largest(balance), report.dual_sign), report.dual_value};
}
ProofReport check_ray(const LinearProgramme& programme, const VectorView& ray) {
  return programme::ray_report(Matrix(), programme, ray);
}
ProofReport check_ray(const QuadraticProgramme& programme, const VectorView& ray) {
  return programme::ray_report(programme.q, programme.linear, ray);
}

}  // namespace lemma
