// lemma/linear/glm/separation.cpp: directions along which the likelihood grows without end.
#include <algorithm>
#include <cmath>
#include <lemma/linear/glm/parts.hpp>
#include <lemma/math/column_moments.hpp>

namespace lemma::glm {
namespace {

/// Of the largest share that a column has in a direction: less is rounding.
constexpr double kNoPart = 1e-5;

/// How far a row lies on the side where its likelihood only grows: for a sure outcome the margin towards it, for any other
/// the linear predictor must stay where it is.
double signed_margin(const GlmLaw& law, double y, double margin) {
  const bool two_sided = law.base() == GlmFamily::binomial && law.link != GlmLink::log;
  if (y == 0) return -margin;
  if (y == 1 && two_sided) return margin;
  return -std::abs(margin);
}

/// Without the columns that have next to no part in it; scaled so that its largest share is 1.
Vector cleaned(Vector direction, const Vector& spread, bool intercept) {
  const Index p = spread.size();
  const Vector share = direction.head(p).cwiseAbs().cwiseProduct(spread);
  const double largest = p > 0 ? share.maxCoeff() : 0;
  if (!(largest > 0) || !direction.allFinite()) return {};
  for (Index j = 0; j < p; ++j)
    if (share(j) < kNoPart * largest) direction(j) = 0;
  if (!intercept || std::abs(direction(p)) < kNoPart * largest) direction(p) = 0;
  return direction / largest;
}

}  // namespace

void Separation::accumulate(const Block& block) {
  const Index p = block.x.cols();
  const Vector margin = (block.x * direction.head(p)).array() + direction(p);
  for (Index i = 0; i < block.rows(); ++i) {
    if (block.weight_of(i) * block.precision_of(i) == 0) continue;
    const auto k = static_cast<std::size_t>(i);
    const double towards = signed_margin(problem->law, block.label.empty() ? block.y[k] : block.label[k], margin(i));
    least = any ? std::min(least, towards) : towards;
    most = any ? std::max(most, towards) : towards;
    any = true;
  }
}

void Separation::merge(const Separation& other) {
  if (!other.any) return;
  least = any ? std::min(least, other.least) : other.least;
  most = any ? std::max(most, other.most) : other.most;
  any = true;
}

bool can_be_separated(const GlmLaw& law) {
  if (law.base() == GlmFamily::binomial)
    return law.link == GlmLink::logit || law.link == GlmLink::probit || law.link == GlmLink::cloglog ||
           law.link == GlmLink::log;
  return (law.base() == GlmFamily::poisson || law.base() == GlmFamily::negative_binomial) && law.link == GlmLink::log;
}

std::optional<Separation> find_separation(const Fit& fit, const std::vector<Vector>& candidates, const Vector& spread,
                                          const Rows& rows, const Execution& execution) {
  for (const Vector& candidate : candidates) {
    const Vector direction = cleaned(candidate, spread, fit.problem.intercept);
    if (direction.size() == 0) continue;
    const Separation found = scan(rows, Separation{&fit.problem, direction, 0, 0, false}, execution);
    if (found.holds()) return found;
  }
  return {};
}

namespace {

/// What a row asks of a direction.
int side_of(const GlmLaw& law, const Block& block, Index i) {
  if (block.weight_of(i) * block.precision_of(i) == 0) return separation::kNoPart;
  const auto k = static_cast<std::size_t>(i);
  const double y = block.label.empty() ? block.y[k] : block.label[k];
  if (y == 0) return 0;
  return y == 1 && law.base() == GlmFamily::binomial && law.link != GlmLink::log ? 1 : separation::kStays;
}

/// Standardised columns; those that take no part have the inverse scale 0.
separation::Problem standardised(const Problem& problem, const Rows& rows, const Execution& execution) {
  constexpr double kNoSpread = 1e-14;
  const auto moments = scan(rows, ColumnMoments(rows.width()), execution);
  const Vector deviation = moments.deviation();
  Vector inverse = Vector::Zero(rows.width());
  for (const Index j : problem.columns) {
    const double spread = problem.intercept ? deviation(j) : std::hypot(deviation(j), moments.mean()(j));
    if (spread > kNoSpread * std::abs(moments.mean()(j))) inverse(j) = 1 / spread;
  }
  const GlmLaw law = problem.law;
  return {rows, problem.intercept ? moments.mean() : Vector::Zero(rows.width()).eval(), inverse, problem.intercept,
          2,    [law](const Block& block, Index i) { return side_of(law, block, i); }};
}

/// Σ score · x̃ of all rows, and Σ |score| x̃ x̃ᵀ of those with a side; a row that stays is 0 along every direction
/// that is asked for, so that any multiple of its x̃ x̃ᵀ may be added: its information.
struct Scores {
  const Problem* problem;
  const separation::Problem* frame;
  const Coefficients* at;
  Matrix upper;
  Vector sum;

  void accumulate(const Block& block) {
    const Evaluated rows = evaluate(*problem, block, *at, true);
    Matrix terms(block.rows(), frame->terms());
    Vector score(block.rows()), root(block.rows());
    for (Index i = 0; i < block.rows(); ++i) {
      terms(i, 0) = frame->intercept ? 1 : 0;
      terms.row(i).tail(block.x.cols()) =
          (block.x.row(i).transpose() - frame->mean).cwiseProduct(frame->inverse_scale).transpose();
      const int side = frame->side(block, i);
      const double information = rows.mass(i) * rows[i].information;
      score(i) = side == separation::kNoPart ? 0.0 : information * rows[i].residual;
      root(i) = std::sqrt(side == separation::kNoPart  ? 0.0
                          : side == separation::kStays ? information
                                                       : std::abs(score(i)));
    }
    sum += terms.transpose() * score;
    terms = root.asDiagonal() * terms;
    upper.selfadjointView<Eigen::Upper>().rankUpdate(terms.transpose());
  }
  void merge(const Scores& other) {
    upper += other.upper;
    sum += other.sum;
  }
};

}  // namespace

separation::Finding judge_overlap(const Problem& problem, const Coefficients& at, const Rows& rows,
                                  const Execution& execution) {
  const separation::Problem frame = standardised(problem, rows, execution);
  const Index terms = frame.terms();
  const Scores scores =
      scan(rows, Scores{&problem, &frame, &at, Matrix::Zero(terms, terms), Vector::Zero(terms)}, execution);
  const double longest = separation::longest_row(frame, execution);
  if (separation::overlap_is_proved(scores.upper, scores.sum, longest))
    return {separation::Verdict::overlap, {}, {}, {}, false};
  return separation::decide(frame, {}, execution);
}

Vector users_direction(const separation::Finding& finding, const Problem& problem, const Rows& rows,
                       const Execution& execution) {
  const separation::Problem frame = standardised(problem, rows, execution);
  const Index p = rows.width();
  Vector out(p + 1);
  out.head(p) = finding.direction.row(1).tail(p).transpose().cwiseProduct(frame.inverse_scale);
  out(p) = problem.intercept ? finding.direction(1, 0) - out.head(p).dot(frame.mean) : 0.0;
  return out;
}

}  // namespace lemma::glm
