// lemma/linear/glm/update.cpp: a model after new rows, without the old ones.
//
// Of the rows before the model knows the maximum b̂ and the Fisher information there, RᵀR about the mean and Σw. Their deviance
// is taken to be quadratic about it,
//
//     D(b) = D(b̂) + Σ w (η̂ − η)²        over a few rows that have this information,
//
// which is what one step of Fisher scoring sees of them; that of the new rows is exact. Fisher scoring over both: each step is a
// least-squares fit in which the rows before respond with η̂ − η.
#include <cmath>
#include <fmt/core.h>
#include <lemma/linear/glm/parts.hpp>
#include <lemma/math/rows_like.hpp>
#include <lemma/model/comparison.hpp>

namespace lemma {
namespace glm {
namespace {

constexpr int kMostSteps = 200, kMostHalvings = 40;
constexpr double kNone = GlmModel::kNone;

/// What is known of the rows before: a few with their information, and where their likelihood has its maximum.
class Past {
 public:
  explicit Past(const GlmModel& model) : centre_{model.past(model.width()), model.past.head(model.width())} {
    const WeightedRows rows = rows_like(model.past_mass, model.past_mean, model.past_triangle);
    x_ = rows.x;
    weight_ = rows.weight;
  }
  /// The part of a step that they ask for at `at`, and Σ w (η̂ − η)².
  struct Part {
    LeastSquares squares;
    double deviance = 0;
  };
  Part at(const Coefficients& at, bool intercept) const {
    const double shift = centre_.intercept - at.intercept;
    Vector y = x_ * (centre_.slopes - at.slopes);
    y.array() += shift;
    Part out{LeastSquares(x_.cols(), intercept)};
    Block block(x_, 0);
    block.y = {y.data(), static_cast<std::size_t>(y.size())};
    block.precision = weight_;
    out.squares.accumulate(block);
    for (Index i = 0; i < y.size(); ++i) out.deviance += weight_[static_cast<std::size_t>(i)] * y(i) * y(i);
    return out;
  }

 private:
  Coefficients centre_;
  Matrix x_;
  std::vector<double> weight_;
};

/// Both kinds of rows at one place.
struct Both {
  Coefficients at;
  LeastSquares squares{0};
  LinearSolution step;
  double deviance = 0;  // of the new rows, and what that of the old ones has grown by
  double gain = 0;      // what one more step would lower it by
  bool usable = false;
};

Both look(const Problem& problem, const Past& past, const Coefficients& at, const Rows& rows,
          const Execution& execution) {
  Both out;
  out.at = at;
  const Pass pass = scan(rows, Pass(problem, at, true), execution);
  Past::Part before = past.at(at, problem.intercept);
  out.deviance = pass.deviance + before.deviance;
  out.usable = pass.valid && std::isfinite(out.deviance);
  if (!out.usable) return out;
  before.squares.merge(pass.squares);
  out.squares = std::move(before.squares);
  out.step = solve(out.squares, 1e-15);
  const double of_intercept =
      problem.intercept ? out.step.intercept + out.squares.mean().head(at.slopes.size()).dot(out.step.coefficients) : 0;
  out.gain = (out.step.triangle * out.step.coefficients(out.step.kept)).squaredNorm() +
             out.squares.mass() * of_intercept * of_intercept;
  return out;
}

double relative_gain(const Both& found, double n) { return found.gain / (std::abs(found.deviance) + n); }

Certificate certificate_of_update(const GlmLaw& law, double value, int steps) {
  Certificate out = certificate_of(law, {}, nullptr);
  out.strength = Strength::stationary;
  out.value = value;
  out.iterations = steps;
  out.stopped = value <= out.tolerance ? "converged" : "iteration limit";
  out.message = fmt::format(
      "One more step would lower the deviance of the new rows, with the quadratic that stands for those before, by "
      "{:.1e} "
      "of itself (allowed {:.0e}).",
      value, out.tolerance);
  return out;
}

/// Σ frequency and Pearson's sum of the new rows alone.
struct NewRows {
  double n = 0, pearson = 0;
};
NewRows count(const Problem& problem, const Coefficients& at, const Rows& rows, const Execution& execution) {
  Survey empty;
  empty.problem = problem;
  Survey known = scan(rows, empty, execution);
  if (known.first_bad >= 0) known = survey(problem, rows, execution);  // an Error that says which
  Totals totals{&problem, at, problem.law.mean(0), 1, 0, 0, 0, 0};
  totals = scan(rows, totals, execution);
  return {known.n, totals.pearson};
}

void require_kept(const GlmModel& model) {
  if (model.errors() != StandardErrors::classical)
    throw Error(
        fmt::format("glm: errors {} need the scores of all rows, and those before are not kept; fit it to all rows",
                    name_of(model.errors())));
  if (model.separating.size() > 0)
    throw Error("glm: the likelihood of the rows before has no maximum to go on from; fit it to all rows");
  if (static_cast<Index>(model.kept.size()) < model.width())
    throw Error(
        "glm: a column of the model is aliased, and what it is a combination of is not kept; fit it to all rows");
  if (model.counts)
    throw Error(
        "glm: with cbind(successes, failures) how the rows before were weighed is not kept; fit it to all rows");
}

}  // namespace

Certificate certify_updated(const GlmModel& model, const Rows& rows, const Execution& execution) {
  Problem problem = problem_of(model.spec, rows);
  problem.law.theta_learned = model.theta_learned;
  problem.columns.assign(model.kept.begin(), model.kept.end());
  const Coefficients at{model.base, model.slopes};
  const Both found = look(problem, Past(model), at, rows, execution.part(0, 0.6));
  const double n = count(problem, at, rows, execution.part(0.6, 1)).n;
  Certificate out = certificate_of_update(problem.law, found.usable ? relative_gain(found, n) : kNone, 0);
  if (!out.holds()) return out;
  Comparison same;
  same.triangle("triangle", model.triangle, found.step.triangle,
                kAgree + 100 * std::numeric_limits<double>::epsilon() * found.step.condition);
  same.relative("mass", model.mass, found.squares.mass());
  if (same.finding()) same.report(out);
  return out;
}

}  // namespace glm

GlmModel updated(const GlmModel& model, const Rows& rows, const FitOptions& options) {
  using namespace glm;
  require(rows.width() == model.width(),
          fmt::format("glm: the model has {} columns and the rows have {}", model.width(), rows.width()));
  require_kept(model);
  const Execution execution = options.execution();
  GlmModel out = model;
  out.past.resize(model.width() + 1);
  out.past << model.slopes, model.base;
  out.past_triangle = model.triangle;
  out.past_mean = model.mean + model.mean_rest;
  out.past_mass = model.mass;
  out.updates = model.updates + 1;
  Problem problem = problem_of(model.spec, rows);
  problem.law.theta_learned = model.theta_learned;
  problem.columns.assign(model.kept.begin(), model.kept.end());
  const NewRows seen = count(problem, {model.base, model.slopes}, rows, execution.part(0, 0.1));

  const Past past(out);
  Both here = look(problem, past, {model.base, model.slopes}, rows, execution.part(0.1, 0.2));
  if (!here.usable) throw Error("glm: the means that the model has for the new rows are not those of its family");
  int steps = 0;
  for (double before = INFINITY; steps < kMostSteps && here.gain < before; ++steps) {
    before = here.gain;
    if (relative_gain(here, seen.n) <= 1e-30) break;
    Coefficients to{here.at.intercept + here.step.intercept, here.at.slopes + here.step.coefficients};
    Both next = look(problem, past, to, rows, execution.part(0.2, 0.9, "pass"));
    for (int k = 0; k < kMostHalvings && !(next.usable && next.deviance <= here.deviance * (1 + 1e-12) + 1e-12); ++k) {
      to = {0.5 * (to.intercept + here.at.intercept), 0.5 * (to.slopes + here.at.slopes)};
      next = look(problem, past, to, rows, execution.part(0.2, 0.9, "pass"));
    }
    if (!next.usable) break;
    here = std::move(next);
  }

  Fit found{problem, here.at, here.step, here.squares, {}, kNone, std::max(steps, 1), true};
  take_point(out, found, rows);
  const double n = model.df_residual + static_cast<double>(model.rank) + seen.n;
  out.df_null = n - (problem.intercept ? 1 : 0);
  out.df_residual = n - static_cast<double>(out.rank);
  out.null_deviance = out.residual_deviance = out.log_likelihood = out.aic = out.bic = kNone;
  out.pearson_chi2 = or_none(model.pearson_chi2 + count(problem, here.at, rows, execution.part(0.9, 1)).pearson);
  if (problem.law.estimates_dispersion())
    out.dispersion = out.df_residual > 0 ? or_none(out.pearson_chi2 / out.df_residual) : kNone;
  out.residual_quantiles.resize(0);
  judge_coefficients(out, found);
  out.warnings.clear();
  out.certificate = certificate_of_update(problem.law, relative_gain(here, seen.n), steps);
  return out;
}

}  // namespace lemma
