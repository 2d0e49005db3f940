// lemma/linear/glm/parts.hpp: rows as a generalised linear model sees them, and Fisher scoring over them. Inner header:
// use lemma/linear/glm.hpp.
#pragma once
#include <lemma/linear/glm.hpp>
#include <lemma/linear/shared/or_none.hpp>
#include <lemma/linear/shared/separation.hpp>
#include <lemma/math/residuals.hpp>
#include <optional>
#include <utility>

namespace lemma::glm {

inline constexpr double kGapTolerance = 1e-20;

/// What is fitted to the rows: which columns are free, and whether the intercept is.
struct Problem {
  GlmLaw law;
  bool intercept = true, counts = false;
  std::vector<Index> columns;
};
/// Problem of a model's family, link and response, with the columns still to be found.
Problem problem_of(const Glm& spec, const Rows& rows);

/// A point in the space of coefficients: all columns have one, 0 where they take no part.
struct Coefficients {
  double intercept = 0;
  Vector slopes;
};

/// A block at given coefficients, or at R's first guess of the means.
struct Evaluated {
  std::vector<double> y, eta, frequency, prior;  // a row counts `frequency` times, each time with a prior weight
  std::vector<GlmPoint> at;
  Index size() const { return static_cast<Index>(y.size()); }
  double mass(Index i) const { return frequency[static_cast<std::size_t>(i)] * prior[static_cast<std::size_t>(i)]; }
  const GlmPoint& operator[](Index i) const { return at[static_cast<std::size_t>(i)]; }
};
/// `precise`: the linear predictor in twice the working precision.
Evaluated evaluate(const Problem& problem, const Block& block, const Coefficients& at, bool precise);
Evaluated evaluate_first_guess(const Problem& problem, const Block& block);

/// An excess beside the deviance, where the squares that cancel in it are larger: they are Pearson's Σ W r², and one row far from
/// its mean makes those as large as it likes.
Excess beside_deviance(Excess found, double pearson, double deviance);
/// An excess beside the squares that cancel in it and those that rounding coefficients and means leaves, below which
/// none can be seen. One pass, where the first alone are not enough.
Excess beside_rounding(Excess found, const Problem& problem, const Coefficients& at, const Rows& rows,
                       const Execution& execution);

/// The rows of one least-squares step: the problem's columns (at the first guess all of them), as response the working
/// residual (at the first guess η − offset + residual), as precision the prior weight times W.
class WorkingRows final : public Rows {
 public:
  WorkingRows(const Rows& rows, const Problem& problem, const Coefficients* at);
  Index count() const override { return rows_.count(); }
  Block read(Index first, Index size, BlockBuffer& buffer) const override;

 private:
  const Rows& rows_;
  const Problem& problem_;
  const Coefficients* at_;  // nothing: the first guess
};

/// What is known before the first step. Error for a response that the family cannot have.
struct Survey {
  Problem problem;
  double n = 0;     // Σ frequency
  double mass = 0;  // Σ frequency · prior
  double sum = 0;   // Σ frequency · prior · y
  double first_deviance = 0;
  bool first_guess = true;  // the link is defined at every first guess
  bool zero_one = true;     // no y but 0 and 1
  bool whole = true;        // successes are whole numbers
  Index first_bad = -1;
  double bad = 0;
  double mean() const { return sum / mass; }

  void accumulate(const Block& block);
  void merge(const Survey& other);
};
Survey survey(const Problem& problem, const Rows& rows, const Execution& execution);

/// The triangle of the first step, over all columns: it decides which of them take part.
LeastSquares first_triangle(const Problem& problem, const Survey& known, const Rows& rows, LeastSquares::Route route,
                            const Execution& execution);

/// One pass at given coefficients: the deviance, and the triangle whose solution is the next step.
struct Pass {
  const Problem* problem = nullptr;
  Coefficients at;
  bool precise = false;
  LeastSquares squares;
  Residuals gradient;  // when precise
  double deviance = 0;
  bool valid = true;  // every mean is one that the family can have

  Pass(const Problem& of, Coefficients where, bool in_twice_the_precision);
  void accumulate(const Block& block);
  void merge(const Pass& other);
  bool usable() const;
};

/// Fisher scoring from the first guess to where rounding ends it.
struct Fit {
  Problem problem;
  Coefficients at;
  LinearSolution solution;  // over problem.columns, at `at`: the triangle; its coefficients are the next step
  LeastSquares data;
  std::optional<Excess> excess;
  double deviance = 0;
  int iterations = 0;      // by R's rule
  bool converged = false;  // by R's rule
  bool cancelled = false;
  std::vector<Index> aliased;
  Vector separating;        // all columns, then the intercept; empty: the maximum exists
  bool completely = false;  // separated: every row lies on its side
  bool undecided = false;   // whether the maximum exists
};
Fit maximise(const Problem& problem, const Survey& known, const Rows& rows, const Glm& spec,
             const Execution& execution);

/// The least deviance with the columns and the intercept of `problem` free and the others held at `at`; a step that would gain
/// less than `enough` of it is not taken.
struct Held {
  Coefficients at;
  double deviance = 0;
};
Held minimise_deviance(const Problem& problem, Coefficients at, const Rows& rows, const Execution& execution,
                       double enough = 1e-12);

/// Does the likelihood only grow along a direction (all columns, then the intercept)? Looked up row by row: on no row may
/// it point to the wrong side, and on some it must point to the right one.
struct Separation {
  const Problem* problem;
  Vector direction;
  double least = 0, most = 0;  // of the rows' signed margins
  bool any = false;

  void accumulate(const Block& block);
  void merge(const Separation& other);
  bool holds() const { return any && most > 0 && least >= -1e-7 * most; }
  bool complete() const { return holds() && least > 1e-7 * most; }
};
bool can_be_separated(const GlmLaw& law);
/// The first of the candidates that separates, without the columns that have next to no part in it.
std::optional<Separation> find_separation(const Fit& fit, const std::vector<Vector>& candidates, const Vector& spread,
                                          const Rows& rows, const Execution& execution);
/// Whether the likelihood has a maximum at all, by the test that is one for all families (separation.hpp); `at`:
/// where the work ended.
separation::Finding judge_overlap(const Problem& problem, const Coefficients& at, const Rows& rows,
                                  const Execution& execution);
/// The finding's direction in the user's units: all columns, then the intercept.
Vector users_direction(const separation::Finding& finding, const Problem& problem, const Rows& rows,
                       const Execution& execution);

/// Deviance residuals etc. of all rows at once.
struct Totals {
  const Problem* problem = nullptr;
  Coefficients at;
  double null_mean = 0, dispersion = 1;
  double deviance = 0, null_deviance = 0, pearson = 0, log_likelihood = 0;

  void accumulate(const Block& block);
  void merge(const Totals& other);
};
/// Of the dispersion that R's logLik uses: deviance / n (Gaussian), deviance / Σ weights (gamma, inverse Gaussian).
double likelihood_dispersion(const GlmLaw& law, const Survey& known, double deviance);
/// With an offset, or without an intercept, the null model is a fit of its own.
double null_deviance(const Problem& problem, const Survey& known, const Totals& totals, const Rows& rows,
                     const Execution& execution);

double deviance_residual(double y, double prior, const GlmPoint& point);
Vector residual_quantiles(const Problem& problem, const Coefficients& at, const Rows& rows, const Execution& execution);

/// Profile-likelihood limits of the coefficient of column `term` (−1: the intercept); NaN where there is none.
std::pair<double, double> profile_limits(const Fit& fit, Index term, double estimate, double std_error,
                                         const Vector& along, double dispersion, double level, const Rows& rows,
                                         const Execution& execution);
/// The signed root of the drop in deviance, in units of the dispersion, with the coefficient of that column held at
/// `value`.
double profile_root(const Fit& fit, Index term, double estimate, double value, double dispersion, const Rows& rows,
                    const Execution& execution);

/// What the scores of the rows scatter by, for errors that are not classical, with the triangle of `model`.
ScoreScatter scatter_of(const GlmModel& model, const Rows& rows, const Execution& execution);

/// The θ of a negative binomial family that maximises the likelihood together with the coefficients, by turns: θ by Newton's
/// steps beside the means, the coefficients by scoring beside θ. Error where it has no maximum: the counts scatter no more than
/// Poisson's do.
double learn_theta(Problem problem, const Survey& known, const Rows& rows, const Glm& spec, const Execution& execution);
/// d log L / d log θ and what a Newton step would move log θ by, at these coefficients; the observed information of θ.
struct ThetaLook {
  double step = 0, information = 0;
};
ThetaLook look_at_theta(const Problem& problem, const Coefficients& at, const Rows& rows, const Execution& execution);

/// Where the iterations ended, and the triangle of the last step.
void take_point(GlmModel& model, const Fit& fit, const Rows& rows);
/// Covariance, standard errors, tests and Wald's limits at that point.
void judge_coefficients(GlmModel& model, const Fit& fit);
/// The certificate of an updated model, on the rows of its last update.
Certificate certify_updated(const GlmModel& model, const Rows& rows, const Execution& execution);

/// How many numbers the likelihood was maximised over.
double parameters_of(const GlmModel& model);

/// Without an excess the work was cut short.
Certificate certificate_of(const GlmLaw& law, const std::optional<Excess>& excess, const Fit* fit);
/// Where the likelihood has no maximum nothing is certified but that.
void say_separated(Certificate& certificate, bool completely);
void say_undecided(Certificate& certificate);

}  // namespace lemma::glm
