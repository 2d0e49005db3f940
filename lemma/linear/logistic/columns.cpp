// lemma/linear/logistic/columns.cpp: coordinate descent on the columns of a working set.
#include <algorithm>
#include <cmath>
#include <lemma/linear/logistic/parts.hpp>
#include <lemma/linear/logistic/sparse.hpp>
#include <lemma/linear/shared/conjugate_gradients.hpp>
#include <numeric>
#include <optional>
#include <utility>

namespace lemma::logit {
namespace {

constexpr int kMostModels = 12, kMostSweeps = 100, kFewSweeps = 3, kMostHalvings = 30, kMostStalls = 8,
              kMostProducts = 10;
constexpr double kLittle = 0.1, kDeviations = 2, kLeastBend = 1e-12, kSteep = 0.01, kSteepAtFirst = 0.1;
constexpr double kRoughly = 1e-3, kClosely = 1e-3;  // of what the first model promised
constexpr Index kLeastWorking = 100, kRuns = 16, kGroups = 4, kColumnsAtOnce = 64;

/// The columns of a working set, each in one piece: scaled values and their rows.
struct Columns {
  std::vector<Index> which, start;
  std::vector<std::int32_t> row;
  std::vector<double> value;

  /// Runs of rows count and fill their own part of each column, so that rows rise within it.
  Columns(const Csr& x, const Frame& frame, std::vector<Index> chosen, const Execution& execution)
      : which(std::move(chosen)), start(which.size() + 1, 0) {
    std::vector<std::int32_t> place(static_cast<std::size_t>(x.width), -1);
    for (std::size_t k = 0; k < which.size(); ++k)
      place[static_cast<std::size_t>(which[k])] = static_cast<std::int32_t>(k);
    const Index run_rows = std::max<Index>(1, (x.rows() + kRuns - 1) / kRuns);
    const auto each = [&](Index run, auto&& visit) {
      for (Index i = std::min(x.rows(), run * run_rows); i < std::min(x.rows(), (run + 1) * run_rows); ++i)
        for (auto k = static_cast<std::size_t>(x.start[static_cast<std::size_t>(i)]);
             k < static_cast<std::size_t>(x.start[static_cast<std::size_t>(i) + 1]); ++k)
          if (const auto at = place[static_cast<std::size_t>(x.column[k])]; at >= 0)
            visit(i, static_cast<std::size_t>(at), k);
    };
    std::vector<std::vector<Index>> next(kRuns, std::vector<Index>(which.size(), 0));
    parallel_for(kRuns, execution, [&](Index run) {
      auto& count = next[static_cast<std::size_t>(run)];
      each(run, [&](Index, std::size_t at, std::size_t) { ++count[at]; });
    });
    Index total = 0;
    for (std::size_t at = 0; at < which.size(); ++at) {
      start[at] = total;
      for (auto& of_run : next) total += std::exchange(of_run[at], total);
    }
    start.back() = total;
    row.resize(static_cast<std::size_t>(total));
    value.resize(row.size());
    parallel_for(kRuns, execution, [&](Index run) {
      auto& to = next[static_cast<std::size_t>(run)];
      each(run, [&](Index i, std::size_t at, std::size_t k) {
        const auto here = static_cast<std::size_t>(to[at]++);
        row[here] = static_cast<std::int32_t>(i);
        value[here] = x.value[k] * frame.inverse_scale(x.column[k]);
      });
    });
  }
  std::size_t size() const { return which.size(); }
  std::size_t first(std::size_t k) const { return static_cast<std::size_t>(start[k]); }
  std::size_t last(std::size_t k) const { return static_cast<std::size_t>(start[k + 1]); }
};

/// The problem of the working set: β of its columns and of the intercept, η of all rows kept beside them.
class Working {
 public:
  Working(const SparseLoss& loss, const PenaltyTerm& penalty, const Columns& columns, Vector& beta, Vector& eta)
      : loss_(loss), frame_(loss.frame()), penalty_(penalty), columns_(columns), beta_(beta), eta_(eta) {}

  /// Quadratic models, each nearly minimised and followed by a line search, until one promises less than `share` of what
  /// the first did.
  void minimise(double share) {
    double objective = loss_.rows_loss(eta_, residual_, curvature_) + penalty_.value(frame_, beta_), enough = 0;
    for (int model = 0; model < kMostModels; ++model) {
      slopes_ = residual_;
      descend(model == 0 ? kSteepAtFirst : kSteep);
      double promised = 0;
      const double found = search(objective, promised), fell = objective - found;
      objective = found;
      if (model == 0) enough = share * promised;
      if (promised <= enough || !(fell > 0)) return;
    }
  }

 private:
  /// Σ x r of a column.
  double sum_over(std::size_t k, const double* r) const {
    const double* value = columns_.value.data();
    const std::int32_t* row = columns_.row.data();
    double a = 0, b = 0, c = 0, d = 0;
    std::size_t i = columns_.first(k);
    const std::size_t end = columns_.last(k);
    for (; i + 4 <= end; i += 4) {
      a += value[i] * r[row[i]];
      b += value[i + 1] * r[row[i + 1]];
      c += value[i + 2] * r[row[i + 2]];
      d += value[i + 3] * r[row[i + 3]];
    }
    for (; i < end; ++i) a += value[i] * r[row[i]];
    return (a + b) + (c + d);
  }

  /// The first look at a column in a model: its curvature with its slope.
  double slope_and_bend(std::size_t k) {
    const double *value = columns_.value.data(), *residual = residual_.data(), *curvature = curvature_.data();
    const std::int32_t* row = columns_.row.data();
    double a = 0, h = kLeastBend;
    for (std::size_t i = columns_.first(k); i < columns_.last(k); ++i) {
      a += value[i] * residual[row[i]];
      h += value[i] * value[i] * curvature[row[i]];
    }
    bend_[k] = h;
    return a;
  }

  /// One coordinate of the model goes to its minimum; h step².
  double move(std::size_t k, double slope) {
    const Index j = columns_.which[k] + 1;
    const double h = bend_[k];
    const double to = penalty_.shrink(target_(j) - slope / h, h, frame_.factor(j - 1)), step = to - target_(j);
    if (step == 0) return 0;
    target_(j) = to;
    const double* curvature = curvature_.data();
    double* residual = residual_.data();
    for (std::size_t i = columns_.first(k); i < columns_.last(k); ++i) {
      const auto row = columns_.row[i];
      residual[row] += step * columns_.value[i] * curvature[row];
    }
    return h * step * step;
  }

  double move_intercept() {
    if (!frame_.intercept || !(all_ > 0)) return 0;
    const double step = -residual_.sum() / all_;
    target_(0) += step;
    residual_ += step * curvature_;
    return all_ * step * step;
  }

  /// target_ becomes nearly the minimum of the quadratic model at β, and residual_ w (p − y) + h X (target − β): one sweep
  /// over all columns, then those that are not 0, by conjugate gradients where the penalty is a parabola on each side of 0,
  /// and by sweeps.
  void descend(double steep) {
    const std::size_t count = columns_.size();
    target_ = beta_;
    bend_.resize(count);
    all_ = curvature_.sum();
    std::vector<std::size_t> active;
    double first = move_intercept();
    for (std::size_t k = 0; k < count; ++k) {
      const double moved = move(k, slope_and_bend(k));
      first += moved;
      if (moved > 0 || target_(columns_.which[k] + 1) != 0) active.push_back(k);
    }
    const bool parabolas = penalty_.parabolas();
    for (int sweep = 0; sweep < (parabolas ? kFewSweeps : kMostSweeps); ++sweep) {
      if (parabolas) conjugate_gradients(active, steep);
      double sum = move_intercept();
      for (const std::size_t k : active) sum += move(k, sum_over(k, residual_.data()));
      if (sum <= kLittle * first) break;
    }
  }

  /// X v: groups of columns sum into arrays of their own, which are added in their order.
  void multiply(const std::vector<std::size_t>& which, const Vector& v, Vector& out) {
    groups_.resize(kGroups);
    const Index size = (static_cast<Index>(which.size()) + kGroups - 1) / kGroups;
    parallel_for(kGroups, loss_.execution(), [&](Index group) {
      Vector& sum = groups_[static_cast<std::size_t>(group)];
      sum.setZero(eta_.size());
      double* to = sum.data();
      for (Index a = group * size; a < std::min(static_cast<Index>(which.size()), (group + 1) * size); ++a) {
        const std::size_t k = which[static_cast<std::size_t>(a)];
        const double factor = v(a + 1);
        if (factor == 0) continue;
        for (std::size_t i = columns_.first(k); i < columns_.last(k); ++i)
          to[columns_.row[i]] += factor * columns_.value[i];
      }
    });
    out = groups_.front();
    for (std::size_t group = 1; group < groups_.size(); ++group) out += groups_[group];
    if (v(0) != 0) out.array() += v(0);
  }

  /// Xᵀ r of these columns, Σ r in front.
  Vector correlate(const std::vector<std::size_t>& which, const Vector& r) const {
    const auto count = static_cast<Index>(which.size());
    Vector out(count + 1);
    out(0) = frame_.intercept ? r.sum() : 0.0;
    parallel_for((count + kColumnsAtOnce - 1) / kColumnsAtOnce, loss_.execution(), [&](Index piece) {
      for (Index a = piece * kColumnsAtOnce; a < std::min(count, (piece + 1) * kColumnsAtOnce); ++a)
        out(a + 1) = sum_over(which[static_cast<std::size_t>(a)], r.data());
    });
    return out;
  }

  /// The columns that are not 0 move together, each on its side of 0: a few steps of conjugate gradients on the model, and
  /// those that would change their sign stop at 0.
  void conjugate_gradients(const std::vector<std::size_t>& active, double steep) {
    std::vector<std::size_t> which;
    for (const std::size_t k : active)
      if (target_(columns_.which[k] + 1) != 0) which.push_back(k);
    const auto count = static_cast<Index>(which.size());
    Vector ridge = Vector::Zero(count + 1), diagonal(count + 1), r = -correlate(which, residual_);
    diagonal(0) = frame_.intercept && all_ > 0 ? all_ : 1.0;
    for (Index a = 0; a < count; ++a) {
      const std::size_t k = which[static_cast<std::size_t>(a)];
      const Index j = columns_.which[k];
      ridge(a + 1) = penalty_.quadratic(frame_.factor(j));
      diagonal(a + 1) = bend_[k] + ridge(a + 1);
      r(a + 1) -= penalty_.slope(target_(j + 1), frame_.factor(j));
    }
    Vector rows;
    const auto times = [&](const Vector& q, Vector& hq) {
      multiply(which, q, rows);
      hq = correlate(which, rows.cwiseProduct(curvature_)) + ridge.cwiseProduct(q);
    };
    take_step(which, lemma::conjugate_gradients(diagonal, std::move(r), steep, kMostProducts, times));
  }

  /// target_ + d, stopped at 0, if the model falls; else half of it, and again.
  void take_step(const std::vector<std::size_t>& which, const Vector& d) {
    Vector rows;
    for (double share = 1; share > 0.1; share /= 2) {
      Vector moved = share * d;
      double change = 0;
      for (std::size_t a = 0; a < which.size(); ++a) {
        const Index j = columns_.which[which[a]] + 1, at = static_cast<Index>(a) + 1;
        if ((target_(j) + moved(at)) * target_(j) < 0) moved(at) = -target_(j);
        change += penalty_.value(target_(j) + moved(at), frame_.factor(j - 1)) -
                  penalty_.value(target_(j), frame_.factor(j - 1));
      }
      multiply(which, moved, rows);
      change += residual_.dot(rows) + 0.5 * (curvature_.array() * rows.array().square()).sum();
      if (!(change < 0)) continue;
      target_(0) += moved(0);
      for (std::size_t a = 0; a < which.size(); ++a)
        target_(columns_.which[which[a]] + 1) += moved(static_cast<Index>(a) + 1);
      residual_ += curvature_.cwiseProduct(rows);
      return;
    }
  }

  /// β and η move towards the target, by halves until the objective falls as the model promised:
  /// −(g·d + ½ dᵀHd + pen(x) − pen(β)), summed over the rows.
  double search(double objective, double& promised) {
    std::vector<std::size_t> which;
    std::vector<double> moves{target_(0) - beta_(0)};
    for (std::size_t k = 0; k < columns_.size(); ++k)
      if (const Index j = columns_.which[k] + 1; target_(j) != beta_(j)) {
        which.push_back(k);
        moves.push_back(target_(j) - beta_(j));
      }
    Vector change;
    multiply(which, Eigen::Map<const Vector>(moves.data(), static_cast<Index>(moves.size())), change);
    promised = penalty_.value(frame_, beta_) - penalty_.value(frame_, target_) - slopes_.dot(change) -
               0.5 * (curvature_.array() * change.array().square()).sum();
    const Vector from = beta_, eta = eta_;
    double step = 1, found = objective;
    for (int halvings = 0; halvings < kMostHalvings; ++halvings, step /= 2) {
      beta_ = from + step * (target_ - from);
      eta_ = eta + step * change;
      found = loss_.rows_loss(eta_, residual_, curvature_) + penalty_.value(frame_, beta_);
      if (found <= objective - 0.01 * step * promised + 1e-14 * objective) return found;
    }
    return found;
  }

  const SparseLoss& loss_;
  const Frame& frame_;
  const PenaltyTerm& penalty_;
  const Columns& columns_;
  Vector &beta_, &eta_;
  Vector residual_, curvature_, target_, slopes_;  // slopes_: the residuals at β
  double all_ = 0;                                 // Σ h
  std::vector<double> bend_;
  std::vector<Vector> groups_;
};

/// How far the slope of a column whose coefficient is 0 is beyond what its penalty can hold.
double violation(const PenaltyTerm& penalty, const Frame& frame, double slope, Index j) {
  return frame.inverse_scale(j) == 0 ? 0.0 : std::abs(penalty.shrink(-slope, 1, frame.factor(j)));
}

/// The columns to work on: those that are not 0, and those that would move, the furthest first. At the start also those
/// whose slope may grow beyond its bound by `doubt`, a few standard deviations of it.
std::vector<Index> working_set(const PenaltyTerm& penalty, const Frame& frame, const Vector& beta,
                               const Vector& gradient, const Vector& doubt) {
  std::vector<Index> chosen;
  std::vector<std::pair<double, Index>> beyond;
  for (Index j = 0; j < frame.width(); ++j) {
    if (beta(j + 1) != 0) {
      chosen.push_back(j);
      continue;
    }
    const double slope = std::abs(gradient(j + 1)) + (doubt.size() > 0 ? kDeviations * std::sqrt(doubt(j + 1)) : 0.0);
    if (const double v = violation(penalty, frame, slope, j); v > 0) beyond.emplace_back(-v, j);
  }
  const auto room = 4 * static_cast<std::size_t>(std::max(kLeastWorking, static_cast<Index>(chosen.size())));
  if (doubt.size() == 0 && beyond.size() > room) {
    std::nth_element(beyond.begin(), beyond.begin() + static_cast<std::ptrdiff_t>(room), beyond.end());
    beyond.resize(room);
  }
  for (const auto& [minus_v, j] : beyond) chosen.push_back(j);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace

Solution coordinate_descent(const SparseLoss& loss, const PenaltyTerm& penalty, Vector start,
                            const SolveOptions& options) {
  const Frame& frame = loss.frame();
  Solution out;
  out.beta = std::move(start);
  out.stopped = Stop::iteration_limit;
  double best = std::numeric_limits<double>::infinity();
  int stalls = 0;
  std::optional<Columns> columns;
  for (; out.iterations < options.max_iterations; ++out.iterations) {
    Vector gradient, doubt, eta;
    if (out.iterations == 0) {  // no gap is small at the start, and less work will do
      Vector residual, curvature;
      eta = loss.predictor(out.beta);
      out.objective = loss.rows_loss(eta, residual, curvature) + penalty.value(frame, out.beta);
      loss.add_up_both(residual, curvature, gradient, doubt);
    } else {
      const DualParts parts = loss.split(out.beta);
      out.gap = duality_gap(loss, penalty, out.beta, parts);
      out.objective = out.gap.objective;
      gradient = parts.gradient();
    }
    out.trace.push_back(out.objective);
    if (out.iterations > 0) {
      if (out.gap.relative() <= options.tolerance) {
        out.stopped = Stop::converged;
        break;
      }
      stalls = out.gap.absolute < 0.5 * best ? 0 : stalls + 1;
      best = std::min(best, out.gap.absolute);
      if (stalls > kMostStalls) {
        out.stopped = Stop::no_descent;
        break;
      }
    }
    options.execution.report(0.5, "coordinate descent");
    std::vector<Index> chosen = working_set(penalty, frame, out.beta, gradient, doubt);
    if (!columns || !std::includes(columns->which.begin(), columns->which.end(), chosen.begin(), chosen.end()))
      columns.emplace(loss.x(), frame, std::move(chosen), loss.execution());
    if (out.iterations > 0) eta = loss.predictor(out.beta);
    Working(loss, penalty, *columns, out.beta, eta).minimise(out.iterations == 0 ? kRoughly : kClosely);
  }
  return out;
}

}  // namespace lemma::logit
