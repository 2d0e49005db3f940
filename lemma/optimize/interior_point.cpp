// lemma/optimize/interior_point.cpp: convex quadratic programmes by Mehrotra's predictor and corrector.
//
// With E x = e for the equations and G x − t = h, t ≥ 0 for every finite bound, the conditions of the optimum are
//     Qx + c − Eᵀy − Gᵀz = 0,   E x = e,   G x − t = h,   t z = 0,   t, z ≥ 0.
// Newton's step on them with t z = σμ in place of 0 needs, after elimination of t and z, with W = z/t,
//     (Q + GᵀWG) dx − Eᵀdy = …,   E dx = …
#include <algorithm>
#include <cmath>
#include <lemma/core/error.hpp>
#include <lemma/math/blas.hpp>
#include <lemma/math/factorise.hpp>
#include <lemma/optimize/programme_parts.hpp>
#include <optional>
#include <utility>

namespace lemma {
namespace {

using programme::kInfinity;

double largest(const Vector& v) { return v.size() ? v.cwiseAbs().maxCoeff() : 0.0; }

/// One side of a bound: sign·(row of A, or a column of the identity)·x ≥ sign·bound.
struct Side {
  bool row;
  Index index;
  double sign, bound;
};

/// The programme with equations and sides apart, objective and rows scaled to entries of about 1.
struct Standard {
  Matrix q;
  Vector c;
  double objective_scale = 1;
  Matrix rows;  // A, each row over row_scale
  Vector row_scale;
  Matrix equations;                                 // rows of A, then rows of the identity
  Vector right;                                     // e
  std::vector<std::pair<bool, Index>> equation_of;  // as in Side
  std::vector<Side> sides;

  Index columns() const { return c.size(); }
  Index side_count() const { return static_cast<Index>(sides.size()); }

  Vector sides_times(const Vector& x) const {
    const Vector ax = rows * x;
    Vector out(side_count());
    for (Index k = 0; k < out.size(); ++k) {
      const Side& s = sides[static_cast<std::size_t>(k)];
      out[k] = s.sign * (s.row ? ax[s.index] : x[s.index]);
    }
    return out;
  }
  Vector sides_transposed_times(const Vector& z) const {
    Vector of_rows = Vector::Zero(rows.rows()), out = Vector::Zero(columns());
    for (Index k = 0; k < z.size(); ++k) {
      const Side& s = sides[static_cast<std::size_t>(k)];
      (s.row ? of_rows[s.index] : out[s.index]) += s.sign * z[k];
    }
    out.noalias() += rows.transpose() * of_rows;
    return out;
  }
  Vector bounds() const {
    Vector h(side_count());
    for (Index k = 0; k < h.size(); ++k)
      h[k] = sides[static_cast<std::size_t>(k)].sign * sides[static_cast<std::size_t>(k)].bound;
    return h;
  }
};

Matrix dense(const LinearProgramme& p) {
  Matrix out = Matrix::Zero(p.rows(), p.columns());
  programme::for_entries(p.a, [&](Index i, Index j, double value) { out(i, j) = value; });
  return out;
}

Standard standard_form(const QuadraticProgramme& p) {
  const LinearProgramme& l = p.linear;
  Standard s;
  s.objective_scale = std::max(largest(l.c), p.q.size() ? p.q.cwiseAbs().maxCoeff() : 0.0);
  if (!(s.objective_scale > 0)) s.objective_scale = 1;
  s.q = 0.5 / s.objective_scale * (p.q + p.q.transpose()), s.c = l.c / s.objective_scale;
  s.rows = dense(l);
  s.row_scale = Vector::Ones(l.rows());
  for (Index i = 0; i < l.rows(); ++i) {
    const double size = l.columns() ? s.rows.row(i).cwiseAbs().maxCoeff() : 0.0;
    if (size > 0) s.row_scale[i] = size, s.rows.row(i) /= size;
  }
  std::vector<double> right;
  const auto add = [&](bool row, Index i, double lower, double upper) {
    if (lower == upper) {
      s.equation_of.emplace_back(row, i), right.push_back(lower);
      return;
    }
    if (!std::isinf(lower)) s.sides.push_back({row, i, 1, lower});
    if (!std::isinf(upper)) s.sides.push_back({row, i, -1, upper});
  };
  for (Index i = 0; i < l.rows(); ++i) add(true, i, l.row_lower[i] / s.row_scale[i], l.row_upper[i] / s.row_scale[i]);
  for (Index j = 0; j < l.columns(); ++j) add(false, j, l.lower[j], l.upper[j]);
  s.right = Eigen::Map<const Vector>(right.data(), static_cast<Index>(right.size()));
  s.equations = Matrix::Zero(s.right.size(), s.columns());
  for (Index i = 0; i < s.right.size(); ++i) {
    const auto [row, index] = s.equation_of[static_cast<std::size_t>(i)];
    if (row) s.equations.row(i) = s.rows.row(index);
    else s.equations(i, index) = 1;
  }
  return s;
}

struct Point {
  Vector x, y, t, z;
};

struct Residuals {
  Vector dual, equations, sides;
};

Residuals residuals(const Standard& s, const Vector& h, const Point& p) {
  return {s.q * p.x + s.c - s.equations.transpose() * p.y - s.sides_transposed_times(p.z), s.equations * p.x - s.right,
          s.sides_times(p.x) - p.t - h};
}

/// Solves (H) dx − Eᵀdy = a, E dx = b for H = Q + GᵀWG. Adding Eᵀ times the second to the first makes the matrix definite
/// where only the equations hold x; a small multiple of the identity helps where nothing does, and refinement
/// against the true system takes its effect back.
class NewtonSystem {
 public:
  NewtonSystem(const Standard& s, const Vector& w) : s_(s), h_(s.q) {
    const Index n = s.columns();
    Matrix weighted = Matrix::Zero(s.rows.rows(), n);
    Vector of_rows = Vector::Zero(s.rows.rows());
    for (Index k = 0; k < w.size(); ++k) {
      const Side& side = s.sides[static_cast<std::size_t>(k)];
      if (side.row) of_rows[side.index] += w[k];
      else h_(side.index, side.index) += w[k];
    }
    weighted = of_rows.cwiseSqrt().asDiagonal() * s.rows;
    add_gram(weighted, h_);
    Matrix m = h_;
    add_gram(s.equations, m);
    r_ = nearly(std::move(m));
    if (s.equations.rows() == 0) return;
    const Matrix half = solve_upper_transposed(r_, s.equations.transpose());  // R⁻ᵀEᵀ
    schur_ = nearly(half.transpose() * half);                                 // equations may repeat
  }

  void solve(const Vector& a, const Vector& b, Vector& dx, Vector& dy) const {
    once(a, b, dx, dy);
    for (int k = 0; k < 3; ++k) {
      const Vector ra = a - h_ * dx + s_.equations.transpose() * dy, rb = b - s_.equations * dx;
      if (std::max(largest(ra), largest(rb)) <= 1e-15 * std::max(largest(a), largest(b))) return;
      Vector ddx, ddy;
      once(ra, rb, ddx, ddy);
      const Vector nx = dx + ddx, ny = dy + ddy;
      const double before = std::max(largest(ra), largest(rb));
      const double after =
          std::max(largest(a - h_ * nx + s_.equations.transpose() * ny), largest(b - s_.equations * nx));
      if (!(after < before)) return;
      dx = nx, dy = ny;
    }
  }

 private:
  static void add_gram(const Matrix& a, Matrix& into) {
    if (a.rows() == 0 || a.cols() == 0) return;
    Matrix upper = Matrix::Zero(a.cols(), a.cols());
    blas::gram(a, upper);
    into += upper.triangularView<Eigen::Upper>();
    into += Matrix(upper.triangularView<Eigen::StrictlyUpper>()).transpose();
  }
  /// R with RᵀR = A plus as little of A's diagonal as makes it definite: the entries of A may be 1e16 apart.
  static Matrix nearly(Matrix a) {
    const Vector diagonal = a.diagonal();
    const double floor = 1e-16 * std::max(1.0, largest(diagonal));
    for (double share = 1e-15;; share *= 10) {
      a.diagonal() = diagonal + share * diagonal.cwiseMax(floor);
      if (auto r = cholesky(a)) return *std::move(r);
      if (!(share < 1e6)) return Matrix::Identity(a.rows(), a.cols());  // not finite: the step will be refused
    }
  }
  void once(const Vector& a, const Vector& b, Vector& dx, Vector& dy) const {
    const auto inverse = [](const Matrix& r, const Vector& v) {
      return Vector(solve_upper(r, solve_upper_transposed(r, v)));
    };
    const Vector right = a + s_.equations.transpose() * b;
    dx = inverse(r_, right), dy = Vector::Zero(b.size());
    if (b.size() == 0) return;
    dy = inverse(schur_, b - s_.equations * dx);
    dx += inverse(r_, s_.equations.transpose() * dy);
  }

  const Standard& s_;
  Matrix h_, r_, schur_;
};

/// The longest step ≤ 1 that keeps v + step·dv ≥ 0.
double longest_step(const Vector& v, const Vector& dv) {
  double step = 1;
  for (Index k = 0; k < v.size(); ++k)
    if (dv[k] < 0) step = std::min(step, -v[k] / dv[k]);
  return step;
}

/// The least-squares point of the sides as equations, with slacks and multipliers pushed inside (as in CVXOPT).
Point start(const Standard& s, const Vector& h) {
  const NewtonSystem system(s, Vector::Ones(s.side_count()));
  Point p;
  system.solve(-s.c + s.sides_transposed_times(h), s.right, p.x, p.y);
  const Vector t = s.sides_times(p.x) - h;
  const auto inside = [](Vector v) {
    const double least = v.size() ? v.minCoeff() : 1.0;
    if (least <= 1e-8) v.array() += 1 - least;
    return v;
  };
  p.t = inside(t), p.z = inside(-t);
  return p;
}

/// One step of the method; false when it can go nowhere.
bool improve(const Standard& s, const Vector& h, Point& p) {
  const Residuals r = residuals(s, h, p);
  const NewtonSystem system(s, p.z.cwiseQuotient(p.t));
  const auto m = static_cast<double>(s.side_count());
  const double mu = m > 0 ? p.t.dot(p.z) / m : 0;
  Point d;
  const auto direct = [&](const Vector& product) {  // z dt + t dz = −product
    const Vector push = -product.cwiseQuotient(p.t) - p.z.cwiseQuotient(p.t).cwiseProduct(r.sides);
    system.solve(-r.dual + s.sides_transposed_times(push), -r.equations, d.x, d.y);
    d.t = s.sides_times(d.x) + r.sides;
    d.z = -(product + p.z.cwiseProduct(d.t)).cwiseQuotient(p.t);
  };
  direct(p.t.cwiseProduct(p.z));
  if (m > 0) {
    const double reach = std::min(longest_step(p.t, d.t), longest_step(p.z, d.z));
    const double mu_reached = (p.t + reach * d.t).dot(p.z + reach * d.z) / m;
    const double sigma = std::pow(std::clamp(mu_reached / mu, 0.0, 1.0), 3);
    direct((p.t.cwiseProduct(p.z) + d.t.cwiseProduct(d.z)).array() - sigma * mu);
  }
  const auto longest = [&] { return std::min(longest_step(p.t, d.t), longest_step(p.z, d.z)); };
  // A short step means that some products t z are far below the others: first bring them together again.
  if (m > 0 && longest() < 0.1) direct(p.t.cwiseProduct(p.z).array() - 0.8 * mu);
  if (!d.x.allFinite() || !d.y.allFinite() || !d.z.allFinite()) return false;
  double step = longest() < 1 ? std::max(0.99, 1 - mu) * longest() : 1.0;
  const auto evenness = [&](double at) {
    const Vector products = (p.t + at * d.t).cwiseProduct(p.z + at * d.z);
    return products.minCoeff() / products.mean();
  };
  const double enough = m > 0 ? std::min(1e-4, 0.5 * evenness(0)) : 0.0;
  for (int k = 0; k < 6 && m > 0 && evenness(step) < enough; ++k) step *= 0.8;
  if (!(step > 1e-12)) return false;
  p.x += step * d.x, p.y += step * d.y, p.t += step * d.t, p.z += step * d.z;
  return true;
}

/// The multipliers of the programme as it was given.
Multipliers multipliers(const Standard& s, const Point& p) {
  Multipliers out{Vector::Zero(s.rows.rows()), Vector::Zero(s.columns())};
  const auto add = [&](bool row, Index i, double value) { (row ? out.rows[i] : out.columns[i]) += value; };
  for (Index i = 0; i < p.y.size(); ++i) {
    const auto [row, index] = s.equation_of[static_cast<std::size_t>(i)];
    add(row, index, p.y[i]);
  }
  for (Index k = 0; k < p.z.size(); ++k) {
    const Side& side = s.sides[static_cast<std::size_t>(k)];
    add(side.row, side.index, side.sign * p.z[k]);
  }
  out.rows = s.objective_scale * out.rows.cwiseQuotient(s.row_scale), out.columns *= s.objective_scale;
  return out;
}

/// Q + ε‖Q‖ I must have a Cholesky factor.
void require_convex(const Matrix& q) {
  if (q.size() == 0) return;
  Matrix shifted = q;
  shifted.diagonal().array() += 1e-10 * std::max(1e-300, q.cwiseAbs().maxCoeff());
  require(cholesky(shifted).has_value(), "Q is not positive semidefinite: the quadratic programme is not convex");
}

}  // namespace

ProgrammeAnswer solve(const QuadraticProgramme& given, const QuadraticProgrammeOptions& options) {
  const QuadraticProgramme p = programme::checked(given);
  require_convex(p.q);
  const Standard s = standard_form(p);
  const Vector h = s.bounds();
  Point point = start(s, h);
  ProgrammeAnswer answer;
  double best = kInfinity, mark = kInfinity;
  long long since_mark = 0;
  std::string why = "iteration limit";
  while (true) {
    Multipliers dual = multipliers(s, point);
    const KktReport report = check_kkt(p, point.x, dual);
    ++since_mark;
    if (const double worst = report.worst(); worst < best || answer.x.size() == 0) {
      if (!(worst > 0.5 * mark)) mark = worst, since_mark = 0;
      best = worst, answer.x = point.x, answer.dual = std::move(dual), answer.value = report.value;
    }
    if (best <= options.tolerance || answer.iterations >= options.most_iterations) break;
    options.execution.report(static_cast<double>(answer.iterations) / static_cast<double>(options.most_iterations),
                             "interior point");
    if (options.execution.cancelled()) {
      answer.message = "stopped: cancelled";
      return answer;
    }
    if (since_mark > 15 || !improve(s, h, point)) {
      why = "no further progress";
      break;
    }
    ++answer.iterations;
  }
  if (best <= options.tolerance) {
    answer.status = ProgrammeStatus::solved, answer.message = "solved";
  } else if (!programme::explain(p.q, p.linear, {.execution = options.execution}, answer)) {
    answer.message = "stopped: " + why;
  }
  return answer;
}

}  // namespace lemma
