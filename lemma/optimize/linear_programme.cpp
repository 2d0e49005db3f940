// lemma/optimize/linear_programme.cpp: the simplex method's answer, or the proof that there is none.
#include <algorithm>
#include <cmath>
#include <lemma/optimize/programme_parts.hpp>
#include <utility>

namespace lemma {
namespace programme {
namespace {

double largest_finite(const Vector& v) {
  double out = 0;
  for (const double x : v)
    if (!std::isinf(x)) out = std::max(out, std::abs(x));
  return out;
}

/// Adds rows one entry at a time, columns rising.
class RowsBuilder {
 public:
  explicit RowsBuilder(Index width) { out_.width = width, out_.start = {0}; }
  void add(Index column, double value) {
    out_.column.push_back(static_cast<std::int32_t>(column));
    out_.value.push_back(value);
  }
  void end_row() { out_.start.push_back(static_cast<Index>(out_.column.size())); }
  Csr take() { return std::move(out_); }

 private:
  Csr out_;
};

/// Calls row_end(i) after the entries of each row, also of empty ones.
template <class Entry, class RowEnd>
void for_rows(const LinearProgramme& p, Entry entry, RowEnd row_end) {
  Index row = 0;
  for_entries(p.a, [&](Index i, Index j, double value) {
    while (row < i) row_end(row++);
    entry(j, value);
  });
  while (row < p.rows()) row_end(row++);
}

/// minimise Σ (s⁺ + s⁻)  subject to  row_lower ≤ A x + s⁺ − s⁻ ≤ row_upper,  lower ≤ x ≤ upper,  s ≥ 0.
/// Always has a solution; its value is 0 exactly when the set is not empty, and else its multipliers are Farkas's.
LinearProgramme distance_to_feasibility(const LinearProgramme& p) {
  const Index n = p.columns(), m = p.rows();
  LinearProgramme out;
  out.c = Vector::Zero(n + 2 * m);
  out.c.tail(2 * m).setOnes();
  RowsBuilder rows(n + 2 * m);
  for_rows(
      p, [&](Index j, double value) { rows.add(j, value); },
      [&](Index i) { rows.add(n + i, 1), rows.add(n + m + i, -1), rows.end_row(); });
  out.a = rows.take();
  out.row_lower = p.row_lower, out.row_upper = p.row_upper;
  out.lower = Vector::Zero(n + 2 * m), out.upper = Vector::Constant(n + 2 * m, kInfinity);
  out.lower.head(n) = p.lower, out.upper.head(n) = p.upper;
  return out;
}

/// minimise c·r over the directions r in [−1, 1] along which no bound is ever met and Q r = 0. Always has a solution;
/// its value is below 0 exactly when the objective of a programme with a feasible point falls without end.
LinearProgramme steepest_ray(const Matrix& q, const LinearProgramme& p) {
  const Index n = p.columns(), m = p.rows(), extra = q.rows();
  const auto cone = [](const Vector& bounds, double open) {
    return Vector(bounds.unaryExpr([open](double b) { return std::isinf(b) ? open : 0.0; }));
  };
  LinearProgramme out;
  out.c = p.c;
  RowsBuilder rows(n);
  for_rows(
      p, [&](Index j, double value) { rows.add(j, value); }, [&](Index) { rows.end_row(); });
  for (Index i = 0; i < extra; ++i) {
    for (Index j = 0; j < n; ++j)
      if (q(i, j) != 0) rows.add(j, q(i, j));
    rows.end_row();
  }
  out.a = rows.take();
  out.row_lower = Vector::Zero(m + extra), out.row_upper = Vector::Zero(m + extra);
  out.row_lower.head(m) = cone(p.row_lower, -kInfinity), out.row_upper.head(m) = cone(p.row_upper, kInfinity);
  out.lower = cone(p.lower, -1), out.upper = cone(p.upper, 1);
  return out;
}

/// A proof must stand clear of what rounding and the solver's tolerance can fake.
bool stands(const ProofReport& proof, double tolerance, double scale) {
  return proof.margin > 100 * tolerance * std::max(1.0, scale) && proof.holds(1e-6);
}

}  // namespace

bool explain(const Matrix& q, const LinearProgramme& p, const LinearProgrammeOptions& options,
             ProgrammeAnswer& answer) {
  const ClpAnswer distance = run_clp(distance_to_feasibility(p), options);
  answer.iterations += distance.iterations;
  if (distance.status != ClpStatus::optimal) return false;
  Multipliers farkas{distance.dual.rows, -transposed_times(p.a, distance.dual.rows, p.columns())};
  // What is left of a column without the bound it would need is rounding.
  for (Index j = 0; j < p.columns(); ++j) {
    double& d = farkas.columns[j];
    if (std::isinf(d > 0 ? p.lower[j] : p.upper[j]) && std::abs(d) < 1e-9) d = 0;
  }
  const double bounds = std::max({largest_finite(p.row_lower), largest_finite(p.row_upper)});
  if (stands(check_farkas(p, farkas), options.tolerance, bounds)) {
    answer.status = ProgrammeStatus::infeasible;
    answer.message = "infeasible: no point meets all the constraints";
    answer.farkas = std::move(farkas);
    return true;
  }
  const ClpAnswer direction = run_clp(steepest_ray(q, p), options);
  answer.iterations += direction.iterations;
  if (direction.status != ClpStatus::optimal) return false;
  const ProofReport proof = q.size() ? check_ray(QuadraticProgramme{q, p}, direction.x) : check_ray(p, direction.x);
  if (!stands(proof, options.tolerance, largest_finite(p.c))) return false;
  answer.status = ProgrammeStatus::unbounded;
  answer.message = "unbounded: the objective falls without end along the ray";
  answer.ray = direction.x;
  return true;
}

}  // namespace programme

ProgrammeAnswer solve(const LinearProgramme& given, const LinearProgrammeOptions& options) {
  using programme::ClpStatus;
  const LinearProgramme p = programme::checked(given);
  ProgrammeAnswer answer;
  const auto run = [&](Simplex simplex) {
    LinearProgrammeOptions how = options;
    how.simplex = simplex;
    programme::ClpAnswer found = programme::run_clp(p, how);
    answer.x = std::move(found.x), answer.dual = std::move(found.dual);
    answer.value = p.c.dot(answer.x), answer.iterations += found.iterations;
    return found.status;
  };
  ClpStatus status = run(options.simplex);
  if (status == ClpStatus::infeasible || status == ClpStatus::unbounded) {
    if (programme::explain(Matrix(), p, options, answer)) return answer;
    status = run(options.simplex == Simplex::dual ? Simplex::primal : Simplex::dual);  // its verdict has no proof
  }
  // Among many ties Clp has been seen to call a point optimal that is far from it: it is asked for its conditions, and if
  // it does not meet them the other simplex method is asked too.
  constexpr double kMet = 1e-6;
  if (status == ClpStatus::optimal) {
    const double first = check_kkt(p, answer.x, answer.dual).worst();
    if (!(first <= kMet)) {
      const ProgrammeAnswer before = answer;
      const ClpStatus other = run(options.simplex == Simplex::dual ? Simplex::primal : Simplex::dual);
      if (other != ClpStatus::optimal || !(check_kkt(p, answer.x, answer.dual).worst() < first)) {
        const long long iterations = answer.iterations;
        answer = before;
        answer.iterations = iterations;
      }
    }
  }
  if (status == ClpStatus::optimal) answer.status = ProgrammeStatus::solved;
  if (status == ClpStatus::optimal) answer.message = "solved";
  else if (status == ClpStatus::cancelled) answer.message = "stopped: cancelled";
  else if (answer.iterations >= options.most_iterations) answer.message = "stopped: iteration limit";
  else answer.message = "stopped: the simplex method could not finish; scale rows and columns to about 1";
  return answer;
}

}  // namespace lemma
