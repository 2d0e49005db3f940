// lemma/linear/glm/irls.cpp: Fisher scoring, each step a weighted least-squares fit of the working residuals.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/linear/glm/parts.hpp>
#include <lemma/linear/shared/learn_triangle.hpp>
#include <numeric>

namespace lemma::glm {
namespace {

constexpr int kMostHalvings = 40, kMostPolishing = 100;
constexpr double kPolished = 1e-26;  // of the relative gap: rounding the coefficients moves it by 1e-32

std::string quoted(const Rows& rows) { return rows.target.empty() ? "the response" : "'" + rows.target + "'"; }

Coefficients stepped(Coefficients at, const Problem& problem, const LinearSolution& step) {
  at.intercept += step.intercept;
  at.slopes(problem.columns) += step.coefficients;
  return at;
}
Coefficients middle(const Coefficients& a, const Coefficients& b) {
  return {0.5 * (a.intercept + b.intercept), 0.5 * (a.slopes + b.slopes)};
}

/// Where every mean is the mean of the response: the way out when the first step leads nowhere.
std::optional<Coefficients> constant_fit(const Problem& problem, const Survey& known, Index width) {
  const double eta = problem.law.eta(known.mean());
  if (!problem.intercept || !std::isfinite(eta)) return {};
  return Coefficients{eta, Vector::Zero(width)};
}

[[noreturn]] void refuse_start(const Problem& problem, const Rows& rows) {
  throw Error(fmt::format(
      "glm: there are no coefficients to begin with: with the {} link some means of {} would not be those of the {} "
      "family; use another link{}",
      names_of(problem.law.link)[static_cast<std::size_t>(problem.law.link)], quoted(rows),
      names_of(problem.law.family)[static_cast<std::size_t>(problem.law.family)],
      problem.intercept ? "" : ", or an intercept"));
}

/// One scan after another at ever new coefficients, each halfway back while it leads to a worse place.
class Scoring {
 public:
  Scoring(const Problem& problem, const Rows& rows, const Execution& execution)
      : problem_(problem), rows_(rows), execution_(execution) {}

  Pass look(const Coefficients& at, bool precise) {
    const double begin = 1 - std::pow(0.8, looks_), end = 1 - std::pow(0.8, looks_ + 1);
    ++looks_;
    return scan(rows_, Pass(problem_, at, precise), execution_.part(begin, end, fmt::format("pass {}", looks_)));
  }
  /// `before`: where the step came from, and the deviance there. A pass that is not usable says that no halving helped.
  Pass look_or_halve(Coefficients at, const std::optional<Coefficients>& before, double deviance_before, bool precise) {
    Pass pass = look(at, precise);
    const double most = deviance_before + 1e-3 * (std::abs(deviance_before) + 0.1);
    for (int k = 0; k < kMostHalvings && before && !(pass.usable() && pass.deviance <= most); ++k) {
      at = middle(at, *before);
      pass = look(at, precise);
    }
    return pass;
  }
  LinearSolution step(const Pass& pass) const { return solve(pass.squares, 1e-15); }
  int looks() const { return looks_; }

 private:
  const Problem& problem_;
  const Rows& rows_;
  Execution execution_;
  int looks_ = 0;
};

/// The gap at the pass's coefficients, over the columns that take part.
Excess excess_of(const Pass& pass, LinearSolution solution) {
  solution.coefficients = pass.at.slopes(pass.problem->columns);
  solution.intercept = pass.at.intercept;
  return beside_deviance(excess(pass.squares, solution, pass.gradient), pass.gradient.sum_of_squares(), pass.deviance);
}

void keep(Fit& fit, const Pass& pass, const LinearSolution& step) {
  fit.at = pass.at;
  fit.data = pass.squares;
  fit.solution = step;
  fit.deviance = pass.deviance;
}

Vector direction_of(const Coefficients& to, const Coefficients& from) {
  Vector out(to.slopes.size() + 1);
  out << to.slopes - from.slopes, to.intercept - from.intercept;
  return out;
}

/// Whether the maximum exists, where the way there did not show that it does not.
void settle_overlap(Fit& fit, const Vector& spread, const Rows& rows, const Execution& execution) {
  const separation::Finding finding = judge_overlap(fit.problem, fit.at, rows, execution);
  fit.undecided = finding.verdict == separation::Verdict::undecided;
  if (!finding.separated()) return;
  const Vector direction = users_direction(finding, fit.problem, rows, execution);
  const auto cleaned = find_separation(fit, {direction}, spread, rows, execution);
  fit.separating = cleaned ? cleaned->direction : direction;
  fit.completely = finding.verdict == separation::Verdict::complete;
}

}  // namespace

Problem problem_of(const Glm& spec, const Rows& rows) {
  Problem out;
  out.law.family =
      spec.family.value_or(!rows.classes.empty() || rows.counts ? GlmFamily::binomial : GlmFamily::gaussian);
  out.law.link = spec.link.value_or(GlmLaw::canonical(out.law.family));
  out.law.variance = spec.variance.value_or(GlmVariance::constant);
  out.law.theta = spec.theta.value_or(1);
  out.intercept = spec.intercept;
  out.counts = rows.counts;
  const auto links = GlmLaw::links_of(out.law.family);
  if (std::find(links.begin(), links.end(), out.law.link) == links.end()) {
    std::vector<std::string> names;
    for (const GlmLink link : links) names.emplace_back(name_of(link));
    throw Error(fmt::format("glm: the {} family has no {} link; it has {}", name_of(out.law.family),
                            name_of(out.law.link), join_words(names)));
  }
  if (out.law.base() != GlmFamily::binomial) {
    if (!rows.classes.empty())
      throw Error(fmt::format("glm: the {} family is for numbers, and {} is categorical; use --family binomial",
                              name_of(out.law.family), quoted(rows)));
    if (rows.counts)
      throw Error(
          fmt::format("glm: {} are successes and failures, which the {} family cannot take; use --family "
                      "binomial",
                      quoted(rows), name_of(out.law.family)));
  }
  if (rows.classes.size() == 1)
    throw Error(fmt::format("glm needs two classes, and {} has only '{}'", quoted(rows), rows.classes.front()));
  if (rows.classes.size() > 2)
    throw Error(
        fmt::format("glm needs two classes, and {} has {}: {}; take one of them against the rest, or a method "
                    "for several classes such as multinomial or lda",
                    quoted(rows), rows.classes.size(), join_words(rows.classes, 5)));
  return out;
}

Survey survey(const Problem& problem, const Rows& rows, const Execution& execution) {
  if (rows.has_weights || rows.has_precision || rows.has_offset) require_finite(rows, execution.part(0, 0.4));
  Survey empty;
  empty.problem = problem;
  Survey out = scan(rows, empty, execution.part(0.4, 1));
  if (out.first_bad >= 0) {
    require_finite(rows, execution);
    const char* needed = problem.law.base() == GlmFamily::binomial ? "from 0 to 1"
                         : problem.law.admits(0)                   ? "at least 0"
                                                                   : "above 0";
    const char* hint =
        problem.law.base() == GlmFamily::binomial ? "; counts are given as cbind(successes, failures)" : "";
    throw Error(fmt::format("glm: {} is {} in row {}, and the {} family takes values {}{}", quoted(rows),
                            format_significant(out.bad), out.first_bad + 1, name_of(problem.law.family), needed, hint));
  }
  require(out.n > 0, "glm: all weights are 0, so there are no rows to learn from");
  if (problem.law.base() == GlmFamily::binomial && (out.sum == 0 || out.sum == out.mass))
    throw Error(fmt::format("glm: {} has one outcome only ({} in every row); a binomial model needs both", quoted(rows),
                            rows.classes.empty() ? (out.sum == 0 ? "0" : "1") : rows.classes[out.sum == 0 ? 0 : 1]));
  if (!problem.law.valid_mean(0) && problem.law.admits(0) && problem.law.base() != GlmFamily::binomial && out.sum == 0)
    throw Error(fmt::format("glm: {} is 0 in every row, so there is no rate to fit", quoted(rows)));
  return out;
}

LeastSquares first_triangle(const Problem& problem, const Survey& known, const Rows& rows, LeastSquares::Route route,
                            const Execution& execution) {
  Problem all = problem;
  all.columns.resize(static_cast<std::size_t>(rows.width()));
  std::iota(all.columns.begin(), all.columns.end(), 0);
  const auto constant = constant_fit(problem, known, rows.width());
  if (!known.first_guess && !constant) refuse_start(problem, rows);
  const WorkingRows first(rows, all, known.first_guess ? nullptr : &*constant);
  return learn_triangle(Glm::name, first, problem.intercept, route, execution);
}

Fit maximise(const Problem& problem, const Survey& known, const Rows& rows, const Glm& spec,
             const Execution& execution) {
  Fit out{problem, {}, {}, LeastSquares(0), {}, 0, 0, false, false, {}, {}, false, false};
  const auto constant = constant_fit(problem, known, rows.width());
  const LeastSquares start =
      first_triangle(problem, known, rows, LeastSquares::Route::by_condition, execution.part(0, 0.2));
  LinearSolution solved = solve(start, spec.tolerance);
  out.problem.columns = solved.kept;
  out.aliased = solved.aliased;
  Coefficients at{solved.intercept, solved.coefficients};
  if (!known.first_guess) at = {at.intercept + constant->intercept, at.slopes};
  Vector spread(rows.width());
  for (Index j = 0; j < spread.size(); ++j) spread(j) = start.triangle().col(j).stableNorm() / std::sqrt(start.mass());

  Scoring scoring(out.problem, rows, execution.part(0.2, 1));
  Coefficients midway = at;
  double deviance = known.first_guess ? known.first_deviance : std::numeric_limits<double>::infinity();
  double gap = std::numeric_limits<double>::infinity();
  bool tested = false;
  try {
    // By R's rule. At the first step only a place that is not usable leads back: R's first guess is no fit.
    out.iterations = 1;
    Pass pass = scoring.look(at, false);
    if (!pass.usable()) pass = scoring.look_or_halve(at, constant, std::numeric_limits<double>::infinity(), false);
    if (!pass.usable()) refuse_start(problem, rows);
    while (true) {
      solved = scoring.step(pass);
      keep(out, pass, solved);
      out.converged = std::abs(pass.deviance - deviance) / (std::abs(pass.deviance) + 0.1) < spec.epsilon;
      if (out.converged || out.iterations >= spec.max_iterations) break;
      deviance = pass.deviance;
      if (out.iterations == 4) midway = pass.at;
      pass = scoring.look_or_halve(stepped(pass.at, out.problem, solved), pass.at, deviance, false);
      if (!pass.usable()) break;
      ++out.iterations;
    }
    // On to where rounding ends it.
    for (int polishing = 0; polishing < kMostPolishing; ++polishing) {
      const Coefficients next = out.converged ? stepped(out.at, out.problem, out.solution) : out.at;
      pass = scoring.look_or_halve(next, out.at, out.deviance, true);
      if (!pass.usable()) break;
      solved = scoring.step(pass);
      const Excess found = excess_of(pass, solved);
      const bool better = polishing == 0 || found.gap < gap;
      const bool stalls = !(found.gap < 0.9 * gap);
      const bool slow = polishing >= 3 && !(found.gap < 0.1 * gap);
      gap = std::min(gap, found.gap);
      const Vector last = direction_of(stepped(pass.at, out.problem, solved), pass.at);
      if (better) {
        keep(out, pass, solved);
        out.excess = found;
      }
      const bool done = out.excess->relative <= kPolished || (polishing > 0 && stalls) || !out.converged;
      if (can_be_separated(problem.law) && !tested && (slow || (done && out.excess->relative > kGapTolerance))) {
        tested = true;
        const auto separation = find_separation(
            out, {last, direction_of(out.at, {0, Vector::Zero(rows.width())}), direction_of(out.at, midway)}, spread,
            rows, execution.part(0.9, 1));
        if (separation) {
          out.separating = separation->direction;
          out.completely = separation->complete();
          break;
        }
      }
      if (done) break;
    }
    if (out.excess) out.excess = beside_rounding(*out.excess, out.problem, out.at, rows, execution.part(0.9, 1));
    if (can_be_separated(problem.law) && out.separating.size() == 0)
      settle_overlap(out, spread, rows, execution.part(0.9, 1));
  } catch (const Cancelled&) {
    if (out.data.rows() == 0) throw;
    out.cancelled = true;
    out.excess.reset();  // nobody asked whether there is a maximum, and what follows from it is not looked at
  }
  return out;
}

Held minimise_deviance(const Problem& problem, Coefficients at, const Rows& rows, const Execution& execution,
                       double enough) {
  constexpr int kMost = 50;
  Scoring scoring(problem, rows, execution);
  Pass pass = scoring.look(at, false);
  for (int k = 0; k < kMost && pass.usable(); ++k) {
    const LinearSolution step = scoring.step(pass);
    const double gain =
        (step.triangle * step.coefficients).squaredNorm() +
        (problem.intercept ? pass.squares.mass() * std::pow(pass.squares.mean()(step.coefficients.size()), 2) : 0.0);
    if (gain <= enough * (std::abs(pass.deviance) + 0.1)) break;
    Pass next = scoring.look_or_halve(stepped(pass.at, problem, step), pass.at, pass.deviance, false);
    if (!next.usable()) break;
    pass = std::move(next);
  }
  return {pass.at, pass.usable() ? pass.deviance : std::numeric_limits<double>::infinity()};
}

double null_deviance(const Problem& problem, const Survey& known, const Totals& totals, const Rows& rows,
                     const Execution& execution) {
  if (problem.intercept && !rows.has_offset) return totals.null_deviance;
  Problem alone = problem;
  alone.columns.clear();
  Coefficients at{0, Vector::Zero(rows.width())};
  if (!problem.intercept) {
    const Pass pass = scan(rows, Pass(alone, at, false), execution);
    return pass.valid ? pass.deviance : GlmModel::kNone;
  }
  if (const auto constant = constant_fit(problem, known, rows.width())) at = *constant;
  return minimise_deviance(alone, at, rows, execution).deviance;
}

}  // namespace lemma::glm
