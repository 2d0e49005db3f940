// lemma/linear/chebyshev.cpp: small programmes of the rows that matter.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/linear/chebyshev/parts.hpp>
#include <lemma/linear/shared/learn_triangle.hpp>
#include <lemma/math/blas.hpp>
#include <lemma/math/factorise.hpp>
#include <lemma/optimize/programme.hpp>

namespace lemma {
namespace {

using chebyshev::Extreme;
using chebyshev::Extremes;
using chebyshev::Plane;

constexpr int kMostRounds = 1000;
constexpr double kDone = 1e-12;  // an error above h by this share of it is none

/// Rows as the programme sees them: z = [1 (x − mean) R⁻¹ √n] and what least squares leaves of y, over the largest such error.
/// No |c_j| of the best plane is above 2: it and the least squares plane are nowhere further apart than twice that error.
struct Working {
  const LeastSquares& data;
  const LinearSolution& ols;
  bool intercept;
  double unit;
  std::vector<Extreme> rows;
  Matrix z;
  Vector y;

  bool add(const std::vector<Extreme>& more) {
    std::size_t before = rows.size();
    for (const Extreme& each : more)
      if (std::none_of(rows.begin(), rows.end(), [&](const Extreme& old) { return old.row == each.row; }))
        rows.push_back(each);
    refresh();
    return rows.size() > before;
  }

  void refresh() {
    const Index m = static_cast<Index>(rows.size()), k = static_cast<Index>(ols.kept.size()), lead = intercept ? 1 : 0;
    Matrix part(m, k);
    y.resize(m);
    const Plane least{ols.intercept, ols.coefficients};
    for (Index i = 0; i < m; ++i) {
      const Extreme& row = rows[static_cast<std::size_t>(i)];
      for (Index j = 0; j < k; ++j) {
        const Index column = ols.kept[static_cast<std::size_t>(j)];
        part(i, j) = (row.x(column) - data.mean()(column)) - data.mean_rest()(column);
      }
      y(i) = chebyshev::residual(row, least) / unit;
    }
    if (k > 0 && m > 0) blas::divide_by_upper(ols.triangle, part);
    z.resize(m, k + lead);
    if (lead == 1) z.col(0).setOnes();
    z.rightCols(k) = std::sqrt(data.mass()) * part;
  }
};

/// minimise h subject to y ≤ z c + h and z c − h ≤ y.
struct Answer {
  Vector c;
  double h = 0;
  std::vector<std::size_t> support;  // rows with a multiplier
};

Answer solve_working(const Working& working, const Execution& execution) {
  const Index m = working.z.rows(), k = working.z.cols();
  LinearProgramme programme;
  programme.c = Vector::Unit(k + 1, k);
  Matrix a(2 * m, k + 1);
  a << working.z, Vector::Ones(m), working.z, -Vector::Ones(m);
  programme.a = std::move(a);
  const Vector free = Vector::Constant(m, INFINITY);
  programme.row_lower.resize(2 * m);
  programme.row_upper.resize(2 * m);
  programme.row_lower << working.y, -free;
  programme.row_upper << free, working.y;
  programme.lower = Vector::Constant(k + 1, -3);
  programme.upper = Vector::Constant(k + 1, 3);
  programme.lower(k) = 0;
  LinearProgrammeOptions options;
  options.execution = execution;
  const ProgrammeAnswer found = solve(programme, options);
  Answer out{found.x.head(k), found.x(k), {}};
  if (found.dual.rows.size() == 2 * m)
    for (Index i = 0; i < m; ++i)
      if (std::abs(found.dual.rows(i)) + std::abs(found.dual.rows(m + i)) > 1e-9)
        out.support.push_back(static_cast<std::size_t>(i));
  return out;
}

/// The plane of the programme's c in the user's units.
Plane plane_of(const Working& working, const Vector& c) {
  const Index lead = working.intercept ? 1 : 0, k = static_cast<Index>(working.ols.kept.size());
  Plane out{working.ols.intercept, working.ols.coefficients};
  Vector slopes = c.tail(k) * (working.unit * std::sqrt(working.data.mass()));
  if (k > 0) blas::solve_upper(blas::Op::plain, working.ols.triangle, slopes);
  for (Index j = 0; j < k; ++j) out.slopes(working.ols.kept[static_cast<std::size_t>(j)]) += slopes(j);
  if (lead == 1) out.intercept = intercept_for(working.data, out.slopes) + working.unit * c(0);
  return out;
}

/// The errors of the rows that hold the plane, made equal in size to the last digit: [1 x] d + sign δ = r, twice.
Plane levelled(const Working& working, const std::vector<std::size_t>& support, Plane plane) {
  const auto& kept = working.ols.kept;
  const Index k = static_cast<Index>(kept.size()), lead = working.intercept ? 1 : 0,
              m = static_cast<Index>(support.size());
  if (m != k + lead + 1) return plane;  // fewer rows than it takes: they do not determine it
  for (int round = 0; round < 2; ++round) {
    Matrix a(m, k + lead + 1);
    Vector r(m);
    for (Index i = 0; i < m; ++i) {
      const Extreme& row = working.rows[support[static_cast<std::size_t>(i)]];
      r(i) = chebyshev::residual(row, plane);
      if (lead == 1) a(i, 0) = 1;
      for (Index j = 0; j < k; ++j) {
        const Index column = kept[static_cast<std::size_t>(j)];
        a(i, lead + j) = row.x(column) - working.data.mean()(column);
      }
      a(i, k + lead) = r(i) > 0 ? 1 : -1;
    }
    const double h = r.cwiseAbs().maxCoeff();
    const Vector d = least_squares(a, r).w;
    Plane next = plane;
    double moved = lead == 1 ? d(0) : 0;
    for (Index j = 0; j < k; ++j) {
      const Index column = kept[static_cast<std::size_t>(j)];
      next.slopes(column) += d(lead + j);
      moved -= (next.slopes(column) - plane.slopes(column)) * working.data.mean()(column);
    }
    if (lead == 1) next.intercept += moved;
    double worst = 0;
    for (const std::size_t s : support) worst = std::max(worst, std::abs(chebyshev::residual(working.rows[s], next)));
    if (!(worst <= h * (1 + 1e-9))) break;
    plane = next;
  }
  return plane;
}

std::vector<std::string> warnings_of(const ChebyshevModel& model, const LinearSolution& ols, const Rows& rows,
                                     bool perfect) {
  std::vector<std::string> out, names;
  for (const Index j : ols.aliased) names.push_back("'" + rows.features[static_cast<std::size_t>(j)] + "'");
  if (!names.empty())
    out.push_back(fmt::format("{} {} of {}the columns before; the coefficient is NA", join_words(names),
                              names.size() == 1 ? "is a linear combination" : "are linear combinations",
                              model.spec.intercept ? "the intercept and " : ""));
  if (!perfect && static_cast<Index>(model.active.rows.size()) <= model.rank)
    out.push_back(
        fmt::format("{} rows hold a plane of {} coefficients: other coefficients may have the same largest error",
                    model.active.rows.size(), model.rank));
  return out;
}

}  // namespace

ChebyshevModel fit(const Valid<Chebyshev>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  const LeastSquares data = learn_triangle(Chebyshev::name, rows, spec->intercept, LeastSquares::Route::by_condition,
                                           execution.part(0, 0.2, "reading rows"));
  const LinearSolution ols = solve(data, spec->tolerance);
  ChebyshevModel model;
  model.spec = *spec;
  model.kept.assign(ols.kept.begin(), ols.kept.end());
  model.rank = ols.rank(spec->intercept);

  const Index at_once = 2 * model.rank + 10;
  Plane plane{ols.intercept, ols.coefficients};
  Extremes found = scan(rows, Extremes(plane, at_once), execution.part(0.2, 0.3));
  const bool perfect = !(found.largest() > 1e-14 * found.terms());
  Working working{data, ols, spec->intercept, found.largest(), {}, {}, {}};
  Answer answer;
  bool done = perfect || model.rank == 0;
  long long rounds = 0;
  for (; !done && rounds < kMostRounds && !execution.cancelled(); ++rounds) {
    const bool grew = working.add(found.rows());
    answer = solve_working(working, execution.part(0.3, 0.3));
    plane = plane_of(working, answer.c);
    const double share = 1 - 1 / (2 + 0.2 * static_cast<double>(rounds));
    found = scan(rows, Extremes(plane, at_once), execution.part(0.3, 0.3 + 0.6 * share));
    done = found.largest() <= answer.h * working.unit * (1 + kDone) + 1e-14 * found.terms() || !grew;
  }
  if (!perfect && rounds > 0) plane = levelled(working, answer.support, plane);
  for (const std::size_t s : answer.support) model.active.rows.push_back(static_cast<int>(working.rows[s].row));
  std::sort(model.active.rows.begin(), model.active.rows.end());
  model.active.marks = chebyshev::marks_of(model.active.rows, rows, execution.part(0.9, 0.9));

  model.intercept = plane.intercept;
  model.coefficients = plane.slopes;
  model.coefficients(ols.aliased).setConstant(ChebyshevModel::kNone);
  const chebyshev::Look look = chebyshev::look(model, rows, execution.part(0.9, 1));
  model.objective = look.largest;
  model.n_active = look.active;
  model.warnings = warnings_of(model, ols, rows, perfect);
  model.certificate = chebyshev::certificate_of(look, rounds, done);
  return model;
}

template const Method& method_of<Chebyshev>();

}  // namespace lemma
