// lemma/linear/logistic_columns.cpp: coordinate descent on the columns of a working set.
#include <algorithm>
#include <cmath>
#include <lemma/linear/logistic_parts.hpp>
#include <lemma/linear/logistic_sparse.hpp>
#include <numeric>

namespace lemma::logit {
namespace {

constexpr int kMostModels = 12, kMostSweeps = 200, kMostHalvings = 30;
constexpr Index kLeastWorking = 100;

/// The columns of a working set, each in one piece: scaled values and their rows.
struct Columns {
  std::vector<Index> which, start;
  std::vector<std::int32_t> row;
  std::vector<double> value;

  Columns(const Csr& x, const Frame& frame, std::vector<Index> chosen) : which(std::move(chosen)) {
    std::vector<std::int32_t> place(static_cast<std::size_t>(x.width), -1);
    for (std::size_t k = 0; k < which.size(); ++k)
      place[static_cast<std::size_t>(which[k])] = static_cast<std::int32_t>(k);
    start.assign(which.size() + 1, 0);
    for (const std::int32_t j : x.column)
      if (const auto k = place[static_cast<std::size_t>(j)]; k >= 0) ++start[static_cast<std::size_t>(k) + 1];
    std::partial_sum(start.begin(), start.end(), start.begin());
    row.resize(static_cast<std::size_t>(start.back()));
    value.resize(row.size());
    std::vector<Index> next(start.begin(), start.end() - 1);
    for (Index i = 0; i < x.rows(); ++i)
      for (auto k = static_cast<std::size_t>(x.start[static_cast<std::size_t>(i)]);
           k < static_cast<std::size_t>(x.start[static_cast<std::size_t>(i) + 1]); ++k) {
        const auto at = place[static_cast<std::size_t>(x.column[k])];
        if (at < 0) continue;
        const auto to = static_cast<std::size_t>(next[static_cast<std::size_t>(at)]++);
        row[to] = static_cast<std::int32_t>(i);
        value[to] = x.value[k] * frame.inverse_scale(x.column[k]);
      }
  }
  std::size_t size() const { return which.size(); }
  std::size_t first(std::size_t k) const { return static_cast<std::size_t>(start[k]); }
  std::size_t last(std::size_t k) const { return static_cast<std::size_t>(start[k + 1]); }
};

/// The problem of the working set: β of its columns and of the intercept, η of all rows kept beside them.
class Working {
 public:
  Working(const SparseLoss& loss, const PenaltyTerm& penalty, Columns columns, Vector& beta, Vector& eta)
      : loss_(loss), frame_(loss.frame()), penalty_(penalty), columns_(std::move(columns)), beta_(beta), eta_(eta) {}

  /// Quadratic models, each minimised by coordinate descent and followed by a line search, until a step changes the
  /// objective by less than `enough`.
  void minimise(double enough) {
    double objective = loss_.rows_loss(eta_, residual_, curvature_) + penalty_.value(frame_, beta_);
    for (int model = 0; model < kMostModels; ++model) {
      const double promised = descend(model);
      const double found = search(objective, promised);
      const double fell = objective - found;
      objective = found;
      if (promised <= enough || !(fell > 0)) return;
    }
  }

 private:
  double slope_of(std::size_t k) const {  // Σ x r of a column, r = w (p − y) + h X(x − β)
    double a = 0, b = 0;
    std::size_t i = columns_.first(k);
    const std::size_t end = columns_.last(k);
    for (; i + 2 <= end; i += 2) {
      a += columns_.value[i] * residual_(columns_.row[i]);
      b += columns_.value[i + 1] * residual_(columns_.row[i + 1]);
    }
    if (i < end) a += columns_.value[i] * residual_(columns_.row[i]);
    return a + b;
  }

  /// Coordinate descent on the quadratic model at β; returns the decrease it promises. target_ becomes its minimum.
  double descend(int model) {
    const std::size_t count = columns_.size();
    target_ = beta_;
    bend_.resize(count);
    const double floor = 1e-12;
    for (std::size_t k = 0; k < count; ++k) {
      double h = 0;
      for (std::size_t i = columns_.first(k); i < columns_.last(k); ++i)
        h += columns_.value[i] * columns_.value[i] * curvature_(columns_.row[i]);
      bend_[k] = h + floor;
    }
    const double all = curvature_.sum();
    slopes_.resize(count);
    for (std::size_t k = 0; k < count; ++k) slopes_[k] = slope_of(k);
    const Vector first_slopes = Eigen::Map<const Vector>(slopes_.data(), static_cast<Index>(count));
    const double first_intercept = frame_.intercept ? residual_.sum() : 0.0;
    std::vector<std::size_t> active(count);
    std::iota(active.begin(), active.end(), std::size_t{0});
    double first = 0;
    const double rest = model == 0 ? 1e-3 : 1e-5;  // early models need not be minimised well
    bool whole = true;
    for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
      double largest = 0;
      if (frame_.intercept && all > 0) {
        const double step = -residual_.sum() / all;
        target_(0) += step;
        residual_ += step * curvature_;
        largest = all * step * step;
      }
      std::size_t kept = 0;
      for (const std::size_t k : active) {
        const Index j = columns_.which[k] + 1;
        const double slope = slope_of(k), h = bend_[k];
        const double to = penalty_.shrink(target_(j) - slope / h, h, frame_.factor(j - 1)), step = to - target_(j);
        if (step != 0) {
          target_(j) = to;
          for (std::size_t i = columns_.first(k); i < columns_.last(k); ++i) {
            const Index row = columns_.row[i];
            residual_(row) += step * columns_.value[i] * curvature_(row);
          }
          largest = std::max(largest, h * step * step);
        }
        if (to != 0 || step != 0) active[kept++] = k;
      }
      active.resize(kept);
      first = std::max(first, largest);
      if (largest <= rest * rest * first) {
        if (whole || first == 0) break;
        active.resize(count);  // all of them once more
        std::iota(active.begin(), active.end(), std::size_t{0});
        whole = true;
      } else {
        whole = kept == count;
      }
    }
    // −(g·d + ½ dᵀHd + pen(x) − pen(β)), with Hd = the change of the slopes.
    double change = penalty_.value(frame_, target_) - penalty_.value(frame_, beta_);
    for (std::size_t k = 0; k < count; ++k) {
      const Index j = columns_.which[k] + 1;
      const double d = target_(j) - beta_(j);
      if (d != 0) change += 0.5 * d * (first_slopes(static_cast<Index>(k)) + slope_of(k));
    }
    if (frame_.intercept) change += 0.5 * (target_(0) - beta_(0)) * (first_intercept + residual_.sum());
    return -change;
  }

  /// β and η move towards the target, by halves until the objective falls as promised.
  double search(double objective, double promised) {
    Vector move = Vector::Constant(eta_.size(), target_(0) - beta_(0));
    for (std::size_t k = 0; k < columns_.size(); ++k) {
      const Index j = columns_.which[k] + 1;
      const double d = target_(j) - beta_(j);
      if (d == 0) continue;
      for (std::size_t i = columns_.first(k); i < columns_.last(k); ++i) move(columns_.row[i]) += d * columns_.value[i];
    }
    const Vector from = beta_, eta = eta_;
    double step = 1, found = objective;
    for (int halvings = 0; halvings < kMostHalvings; ++halvings, step /= 2) {
      beta_ = from + step * (target_ - from);
      eta_ = eta + step * move;
      found = loss_.rows_loss(eta_, residual_, curvature_) + penalty_.value(frame_, beta_);
      if (found <= objective - 0.01 * step * promised + 1e-14 * objective) return found;
    }
    return found;
  }

  const SparseLoss& loss_;
  const Frame& frame_;
  const PenaltyTerm& penalty_;
  Columns columns_;
  Vector &beta_, &eta_;
  Vector residual_, curvature_, target_;
  std::vector<double> bend_, slopes_;
};

/// How far the slope of a column is beyond what its penalty can hold.
double violation(const PenaltyTerm& penalty, const Frame& frame, const Vector& beta, const Vector& gradient, Index j) {
  if (frame.inverse_scale(j) == 0) return 0;
  const double step = beta(j + 1) - penalty.shrink(beta(j + 1) - gradient(j + 1), 1, frame.factor(j));
  return std::abs(step);
}

}  // namespace

Solution coordinate_descent(const SparseLoss& loss, const PenaltyTerm& penalty, Vector start,
                            const SolveOptions& options) {
  const Frame& frame = loss.frame();
  Solution out;
  out.beta = std::move(start);
  out.stopped = "iteration limit";
  out.last_step = Vector::Zero(out.beta.size());
  double best = std::numeric_limits<double>::infinity();
  int stalls = 0;
  for (; out.iterations < options.max_iterations; ++out.iterations) {
    const DualParts parts = loss.split(out.beta);
    out.gap = duality_gap(loss, penalty, out.beta, parts);
    out.objective = out.gap.objective;
    out.trace.push_back(out.objective);
    if (out.gap.relative() <= options.tolerance) {
      out.stopped = "converged";
      break;
    }
    stalls = out.gap.absolute < 0.5 * best ? 0 : stalls + 1;
    best = std::min(best, out.gap.absolute);
    if (stalls > 8) {
      out.stopped = "no further descent";
      break;
    }
    options.execution.report(0.5, "coordinate descent");
    const Vector gradient = parts.gradient();
    std::vector<std::pair<double, Index>> beyond;
    std::vector<Index> chosen;
    for (Index j = 0; j < frame.width(); ++j) {
      if (out.beta(j + 1) != 0) chosen.push_back(j);
      else if (const double v = violation(penalty, frame, out.beta, gradient, j); v > 0) beyond.emplace_back(-v, j);
    }
    const auto room = static_cast<std::size_t>(std::max(kLeastWorking, static_cast<Index>(chosen.size())));
    if (out.iterations > 0 && beyond.size() > 4 * room) {
      std::nth_element(beyond.begin(), beyond.begin() + static_cast<std::ptrdiff_t>(4 * room), beyond.end());
      beyond.resize(4 * room);
    }
    for (const auto& [minus_v, j] : beyond) chosen.push_back(j);
    std::sort(chosen.begin(), chosen.end());
    Vector eta = loss.predictor(out.beta);
    Working(loss, penalty, Columns(loss.x(), frame, std::move(chosen)), out.beta, eta)
        .minimise(std::min(0.05 * out.gap.absolute, 0.1 * options.tolerance * out.objective));
  }
  return out;
}

}  // namespace lemma::logit
