// lemma/linear/lp_svm.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/linear/lp_svm.hpp>
#include <lemma/linear/shared/margin_problem.hpp>
#include <lemma/linear/shared/planes.hpp>
#include <lemma/linear/shared/programme_gap.hpp>
#include <lemma/math/factorise.hpp>
#include <lemma/model/comparison.hpp>
#include <lemma/model/one_vs_rest.hpp>
#include <lemma/optimize/programme.hpp>
#include <limits>

namespace lemma {
namespace {

using namespace margin;

constexpr double kTolerance = 1e-8;    // of the gap, relative to the objective
constexpr double kOnTheMargin = 1e-7;  // |t f − 1|
constexpr double kNothing = 1e-11;     // of the largest coefficient times spread: rounding of a 0
constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kRounding = 8 * std::numeric_limits<double>::epsilon();  // of the terms that cancel in a sum

/// Σ α |xⱼ − centreⱼ|: the size of the terms that cancel in Σ α t x.
struct Sizes {
  const Vector* alpha;
  const Vector* centre;
  Vector sum;

  void accumulate(const Block& block) {
    for (Index i = 0; i < block.rows(); ++i) {
      const double each = (*alpha)(block.first + i);
      if (each == 0) continue;
      if (centre->size() > 0) sum += each * (block.x.row(i).transpose() - *centre).cwiseAbs();
      else sum += each * block.x.row(i).transpose().cwiseAbs();
    }
  }
  void merge(const Sizes& other) { sum += other.sum; }
};

/// What the rows of the programme are divided by: Clp takes numbers from 1e30 on for infinite.
Vector units_of(const Vector& spread) {
  return spread.unaryExpr([](double each) { return each > 1e10 ? each : 1.0; });
}

/// The dual programme, of the rows `which`, while the others add `given` = Σ α t [1 x]: a row for each column, tᵢ xᵢⱼ in it.
LinearProgramme dual_programme(const Problem& problem, const RowProducts& rows, bool hard, const Vector& units,
                               const std::vector<Index>& which, const Vector& given) {
  const Index p = rows.width(), lead = problem.intercept ? 1 : 0;
  const auto m = static_cast<Index>(which.size());
  LinearProgramme out;
  out.c = Vector::Constant(m, -1.0);
  out.lower = Vector::Zero(m);
  out.upper.resize(m);
  for (Index k = 0; k < m; ++k) out.upper(k) = hard ? kInfinite : problem.c(which[static_cast<std::size_t>(k)]);
  out.row_lower = Vector::Constant(p + lead, -1.0) - given.tail(p + lead);
  out.row_upper = Vector::Constant(p + lead, 1.0) - given.tail(p + lead);
  if (lead == 1) out.row_lower(0) = out.row_upper(0) = -given(0);
  for (Vector* each : {&out.row_lower, &out.row_upper}) each->tail(p) = each->tail(p).cwiseQuotient(units);
  const Csr* x = rows.rows().sparse();
  if (!x) {
    Matrix a(p + lead, m);
    for (Index k = 0; k < m; ++k) {
      const Index i = which[static_cast<std::size_t>(k)];
      a.col(k) = problem.t(i) * rows.row(i).tail(p + lead);
      a.col(k).tail(p) = a.col(k).tail(p).cwiseQuotient(units);
    }
    out.a = std::move(a);
    return out;
  }
  Csr a;  // the rows as columns
  a.width = m;
  a.start.assign(static_cast<std::size_t>(p + lead) + 1, 0);
  const auto entries_of = [&](Index i, const auto& visit) {
    for (auto k = static_cast<std::size_t>(x->start[static_cast<std::size_t>(i)]);
         k < static_cast<std::size_t>(x->start[static_cast<std::size_t>(i) + 1]); ++k)
      visit(static_cast<std::size_t>(x->column[k] + lead), x->value[k] / units(x->column[k]));
    if (lead == 1) visit(0, 1.0);
  };
  for (const Index i : which) entries_of(i, [&](std::size_t j, double) { ++a.start[j + 1]; });
  for (std::size_t j = 1; j < a.start.size(); ++j) a.start[j] += a.start[j - 1];
  a.column.resize(static_cast<std::size_t>(a.start.back()));
  a.value.resize(a.column.size());
  std::vector<Index> next(a.start.begin(), a.start.end() - 1);
  for (Index k = 0; k < m; ++k) {
    const Index i = which[static_cast<std::size_t>(k)];
    entries_of(i, [&](std::size_t j, double value) {
      const auto at = static_cast<std::size_t>(next[j]++);
      a.column[at] = static_cast<std::int32_t>(k);
      a.value[at] = problem.t(i) * value;
    });
  }
  out.a = std::move(a);
  return out;
}

std::vector<Index> used_rows(const Problem& problem) {
  std::vector<Index> out;
  for (Index i = 0; i < problem.c.size(); ++i)
    if (problem.c(i) > 0) out.push_back(i);
  return out;
}

double length_of(const Vector& theta) { return theta.tail(theta.size() - 1).lpNorm<1>(); }

/// Σ |w| + Σ c ξ; with hard margins, infinite where a row is not beyond its own.
double primal_value(const Problem& problem, bool hard, const Vector& theta, const Vector& f) {
  if (!hard) return length_of(theta) + problem.losses(f);
  for (Index i = 0; i < f.size(); ++i)
    if (problem.c(i) > 0 && problem.t(i) * f(i) < 1 - 1e-9) return kInfinite;
  return length_of(theta);
}

/// Σ α of the feasible point next to these α: within bounds, balanced between the classes, and shrunk until no column
/// exceeds 1 by more than the rounding of its terms, which no α can avoid.
double dual_value(const Problem& problem, const RowProducts& rows, bool hard, Vector alpha) {
  Problem bounds = problem;
  if (hard) bounds.c = problem.c.unaryExpr([](double c) { return c > 0 ? kInfinite : 0.0; });
  bounds.make_feasible(alpha);
  const Vector sum = rows.add_up(alpha.cwiseProduct(problem.t));
  const Vector size = scan(rows.rows(), Sizes{&alpha, &rows.centre(), Vector::Zero(rows.width())}).sum;
  const double largest = (sum.tail(rows.width()).cwiseAbs() - kRounding * size).maxCoeff();
  return alpha.sum() / std::max(1.0, largest);
}

/// The α strictly between their bounds, moved such that the columns with a coefficient have Σ α t x = sign(w), as at
/// the optimum, and the classes balance: what is left by the tolerance of the simplex method is removed to the last
/// digits.
Vector polished(const Problem& problem, const RowProducts& rows, bool hard, const Vector& theta, const Vector& spread,
                const Vector& alpha) {
  constexpr Index kMost = 2000;
  std::vector<Index> open, columns;
  for (Index i = 0; i < alpha.size(); ++i)
    if (problem.c(i) > 0 && alpha(i) > 0 && (hard || alpha(i) < problem.c(i))) open.push_back(i);
  for (Index j = 0; j < rows.width(); ++j)
    if (theta(j + 1) != 0 && spread(j) > 0) columns.push_back(j);
  const Index lead = problem.intercept ? 1 : 0, m = static_cast<Index>(open.size()),
              equations = static_cast<Index>(columns.size()) + lead;
  if (m == 0 || equations == 0 || m > kMost || equations > kMost) return alpha;
  Matrix a(equations, m);
  for (Index k = 0; k < m; ++k) {
    const Index i = open[static_cast<std::size_t>(k)];
    const Vector row = problem.t(i) * rows.row(i);
    if (lead == 1) a(0, k) = row(0);
    for (std::size_t j = 0; j < columns.size(); ++j)
      a(lead + static_cast<Index>(j), k) = row(columns[j] + 1) / spread(columns[j]);
  }
  Vector out = alpha;
  for (int round = 0; round < 2; ++round) {
    const Vector sum = rows.add_up(out.cwiseProduct(problem.t));
    Vector left(equations);
    if (lead == 1) left(0) = -sum(0);
    for (std::size_t j = 0; j < columns.size(); ++j) {
      const double w = theta(columns[j] + 1);
      left(lead + static_cast<Index>(j)) = ((w > 0 ? 1 : -1) - sum(columns[j] + 1)) / spread(columns[j]);
    }
    const Vector change = least_squares(a, left).w;
    for (Index k = 0; k < m; ++k) {
      double& each = out(open[static_cast<std::size_t>(k)]);
      each = std::max(0.0, each + change(k));
      if (!hard) each = std::min(each, problem.c(open[static_cast<std::size_t>(k)]));
    }
  }
  return out.allFinite() ? out : alpha;
}

/// The better of α and α polished.
double best_dual_value(const Problem& problem, const RowProducts& rows, bool hard, const Vector& theta,
                       const Vector& spread, const Vector& alpha) {
  return std::max(dual_value(problem, rows, hard, alpha),
                  dual_value(problem, rows, hard, polished(problem, rows, hard, theta, spread, alpha)));
}

[[noreturn]] void refuse_to_separate(const ProgrammeAnswer& answer, const std::vector<Index>& which) {
  std::vector<std::string> rows;
  for (Index k = 0; k < answer.ray.size(); ++k)
    if (answer.ray(k) > 1e-9 * answer.ray.maxCoeff())
      rows.push_back(std::to_string(which[static_cast<std::size_t>(k)] + 1));
  throw Error(fmt::format("lp_svm: no plane separates the classes{}; use a finite C, or more columns",
                          rows.empty()
                              ? ""
                              : fmt::format(": a mixture of rows of one is a mixture of rows of the other (rows {})",
                                            join_words(rows, 6))));
}

/// The plane from the multipliers of the dual programme, with its best bias.
/// `ended` says why it is this one.
Point solve_plane(const Problem& problem, const RowProducts& rows, bool hard, const Vector& spread,
                  const Execution& execution, std::string& ended) {
  const Vector units = units_of(spread);
  const auto which = used_rows(problem);
  LinearProgrammeOptions how;
  how.execution = execution;
  const ProgrammeAnswer answer =
      solve(dual_programme(problem, rows, hard, units, which, Vector::Zero(rows.width() + 1)), how);
  if (hard && answer.status == ProgrammeStatus::unbounded) refuse_to_separate(answer, which);
  Point out;
  out.iterations = answer.iterations;
  ended = answer.solved() ? "optimal vertex" : execution.cancelled() ? name_of(Stop::cancelled) : answer.message;
  out.alpha = Vector::Zero(problem.c.size());
  if (answer.x.size() == static_cast<Index>(which.size()))
    for (std::size_t k = 0; k < which.size(); ++k) out.alpha(which[k]) = answer.x(static_cast<Index>(k));
  out.theta = Vector::Zero(rows.width() + 1);
  const Index p = rows.width();
  if (answer.dual.rows.size() > 0) out.theta.tail(p) = -answer.dual.rows.tail(p).cwiseQuotient(units);
  const Vector part = out.theta.tail(p).cwiseAbs().cwiseProduct(spread.cwiseMax(std::numeric_limits<double>::min()));
  for (Index j = 0; j < p; ++j)
    if (!(part(j) > kNothing * part.maxCoeff()) || !std::isfinite(part(j))) out.theta(j + 1) = 0;
  out.theta(0) = problem.best_bias(rows.times(out.theta));
  if (hard) {  // rounding may have left a row a little within the margin
    const Vector f = rows.times(out.theta);
    double least = 1;
    for (const Index i : which) least = std::min(least, problem.t(i) * f(i));
    if (least > 0.5) out.theta /= least;
  }
  return out;
}

/// α from the plane: at their bounds but for the rows on the margin, which a small programme settles.
Vector alpha_of(const Problem& problem, const RowProducts& rows, bool hard, const Vector& spread, const Vector& f) {
  const Vector units = units_of(spread);
  Vector alpha = Vector::Zero(f.size());
  std::vector<Index> on;
  for (Index i = 0; i < f.size(); ++i) {
    const double slack = 1 - problem.t(i) * f(i);
    if (!(problem.c(i) > 0)) continue;
    if (std::abs(slack) <= kOnTheMargin * (1 + std::abs(f(i)))) on.push_back(i);
    else if (slack > 0 && !hard) alpha(i) = problem.c(i);
  }
  const auto settle = [&](const std::vector<Index>& which) {
    const Vector given = rows.add_up(alpha.cwiseProduct(problem.t));
    const ProgrammeAnswer answer = solve(dual_programme(problem, rows, hard, units, which, given));
    if (!answer.solved()) return false;
    for (std::size_t k = 0; k < which.size(); ++k) alpha(which[k]) = answer.x(static_cast<Index>(k));
    return true;
  };
  if (!on.empty() && settle(on)) return alpha;
  alpha.setZero();  // these rows alone do not do it: all of them may
  settle(used_rows(problem));
  return alpha;
}

double slack_weight(const Problem& problem, const Rows& rows, const Vector& f) {
  double sum = 0;
  BlockBuffer buffer;
  constexpr Index kRowsAtOnce = 16'384;
  for (Index first = 0; first < rows.count(); first += kRowsAtOnce) {
    const Index size = std::min(kRowsAtOnce, rows.count() - first);
    const Block block = rows.outcome(first, size, buffer);
    for (Index i = 0; i < size; ++i) sum += block.weight_of(i) * std::max(0.0, 1 - problem.t(first + i) * f(first + i));
  }
  return sum;
}

Problem lp_problem(const LpSvm& spec, const Rows& rows, const std::vector<double>& factors, Index plane) {
  Problem out;
  out.intercept = spec.intercept;
  set_sides(out, rows, spec.hard() ? 1.0 : spec.C, factors, plane);
  return out;
}

Certificate gap_certificate(const Point& worst, std::string_view ended) {
  return certificate_of({worst.primal, worst.gap(), kTolerance, "plane has"}, worst.iterations, ended);
}

}  // namespace

LpSvmModel fit(const Valid<LpSvm>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  const Columns columns = look_at_columns(LpSvm::name, rows, execution.part(0, 0.05, "looking at the columns"));
  const auto factors = class_factors(LpSvm::name, spec->class_weights, class_counts(LpSvm::name, rows), rows.classes);
  LpSvmModel model;
  model.spec = *spec;
  model.class_factors = Eigen::Map<const Vector>(factors.data(), static_cast<Index>(factors.size()));
  if (auto complaint = complaint_about(LpSvm::name, rows, columns); !complaint.empty())
    model.warnings.push_back(std::move(complaint));
  const Index planes = planes_for(rows), p = rows.width();
  model.coefficients.of.resize(planes, p);
  for (PathNumbers* each : {&model.intercept, &model.objective, &model.slack, &model.n_zero}) each->of.resize(planes);

  const bool centred = spec->intercept && columns.centre.size() > 0;  // it changes b alone, and keeps digits
  const RowProducts products(rows, {}, execution), about(rows, centred ? columns.centre : Vector{}, execution);
  for (Index k = 0; k < planes; ++k) {
    const auto share = [&](Index of) { return 0.05 + 0.95 * static_cast<double>(of) / static_cast<double>(planes); };
    const Problem problem = lp_problem(*spec, rows, factors, k);
    std::string ended;
    Point point =
        solve_plane(problem, about, spec->hard(), columns.spread, execution.part(share(k), share(k + 1)), ended);
    if (centred) point.theta(0) -= columns.centre.dot(point.theta.tail(p));
    lemma::planes::require_numbers(LpSvm::name, point.theta.allFinite(), rows.features, columns.spread);
    const Vector f = products.times(point.theta);
    point.dual = best_dual_value(problem, about, spec->hard(), point.theta, columns.spread, point.alpha);
    point.primal = primal_value(problem, spec->hard(), point.theta, f);
    model.coefficients.of.row(k) = point.theta.tail(p).transpose();
    model.intercept.of(k) = point.theta(0);
    model.objective.of(k) = length_of(point.theta) + (spec->hard() ? 0.0 : problem.losses(f));
    model.slack.of(k) = spec->hard() ? 0.0 : slack_weight(problem, rows, f);
    model.n_zero.of(k) = static_cast<double>((point.theta.tail(p).array() == 0).count());
    if (k == 0 || !(point.gap() <= model.certificate.value)) model.certificate = gap_certificate(point, ended);
  }
  return model;
}

/// α is made from the margins alone; both values are taken from the rows.
Certificate certify(const LpSvmModel& model, const Rows& rows, const Execution& execution) {
  const Columns columns = look_at_columns(LpSvm::name, rows, execution);
  const auto factors =
      class_factors(LpSvm::name, model.spec.class_weights, class_counts(LpSvm::name, rows), rows.classes);
  const bool centred = model.spec.intercept && columns.centre.size() > 0, hard = model.spec.hard();
  const RowProducts products(rows, {}, execution), about(rows, centred ? columns.centre : Vector{}, execution);
  Certificate out;
  Comparison same;
  for (Index k = 0; k < model.planes(); ++k) {
    const Problem problem = lp_problem(model.spec, rows, factors, k);
    Point point;
    point.theta.resize(model.width() + 1);
    point.theta << model.intercept.of(k), model.coefficients.of.row(k).transpose();
    const Vector f = products.times(point.theta);
    point.primal = primal_value(problem, hard, point.theta, f);
    const Vector alpha = alpha_of(problem, about, hard, columns.spread, f);
    point.dual = best_dual_value(problem, about, hard, point.theta, columns.spread, alpha);
    if (k == 0 || !(point.gap() <= out.value)) out = gap_certificate(point, name_of(Stop::looked_again));
    Vector slopes = point.theta;
    slopes(0) = 0;
    const double best = problem.best_bias(products.times(slopes));
    const double slack = hard ? 0.0 : slack_weight(problem, rows, f);
    same.entry("objective", k, model.objective.of(k), point.primal, point.primal, 1e-9);
    same.entry("intercept", k, model.intercept.of(k), best, 1 + std::abs(best), 1e-6);
    same.entry("slack", k, model.slack.of(k), slack, 1 + slack, 1e-9);
    same.entry("n_zero", k, model.n_zero.of(k),
               static_cast<double>((model.coefficients.of.row(k).array() == 0).count()), 0);
  }
  for (Index k = 0; k < model.class_factors.size(); ++k)
    same.entry("class_factors", k, model.class_factors(k), factors[static_cast<std::size_t>(k)], 1);
  if (out.holds() && same.finding()) same.report(out);
  return out;
}

void LpSvmModel::check() const { check_planes(LpSvm::name, spec.intercept, {&objective, &slack, &n_zero}); }

Matrix LpSvmModel::decision(const MatrixView& x) const { return planes::decision(LpSvm::name, affine(), x); }
Labels LpSvmModel::predict(const MatrixView& x) const { return greatest_class(decision(x)); }
std::vector<NamedColumn> LpSvmModel::diagnostics(const Block& block) const {
  return planes::diagnose(decision(block.x), block.label);
}

std::string LpSvmModel::summary(const Names& names) const {
  std::vector<std::string> which, zeros;
  for (Index k = 0; k < planes(); ++k) {
    which.push_back(planes::name(names, k, planes()));
    zeros.push_back(fmt::format("{} of {}", n_zero.of(k), width()));
  }
  TextTable table;
  table.words("", which);
  table.numbers("objective", {objective.of.begin(), objective.of.end()}, 7);
  table.numbers("slack", {slack.of.begin(), slack.of.end()}, 7);
  table.right("coefficients 0", zeros);
  return planes::table(affine(), spec.intercept, names) +
         (spec.hard() ? std::string("\nC = infinite: hard margins\n") : fmt::format("\nC = {:.5g}\n", spec.C)) +
         table.str({.gap = 2, .width = 100});
}

template const Method& method_of<LpSvm>();

}  // namespace lemma
