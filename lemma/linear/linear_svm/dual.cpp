// lemma/linear/linear_svm/dual.cpp: many columns: one row after the other, in random order.
#include <algorithm>
#include <cmath>
#include <lemma/core/random.hpp>
#include <lemma/linear/linear_svm/entry_rows.hpp>
#include <lemma/linear/shared/margin_problem.hpp>
#include <limits>

namespace lemma::margin {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kShareOfTolerance = 0.5;  // what is left is for `verify`, which has to find a dual point of its own
constexpr std::size_t kAhead = 6, kFarAhead = 12;  // rows whose memory is asked for before it is needed
constexpr std::size_t kMostAhead = 1024;           // bytes of one row
constexpr std::size_t kBetweenQuestions = 16'384;  // rows between two looks at whether to stop

/// All that a visit to a row needs, side by side.
struct RowState {
  Index start;
  std::int32_t size;
  float t;
  double alpha, c, curvature;  // ‖x‖² (+ 1), and 1/2c for the squared hinge
};

/// Asks for the memory of rows that will be visited soon. Inlined by force: a compiler that sees a function without effects
/// leaves out the call, and a pass takes three times as long.
template <class Value>
[[gnu::always_inline]] inline void ask_ahead(const std::vector<std::int32_t>& order, std::size_t count, std::size_t s,
                                             const std::vector<RowState>& row, const Entry<Value>* entries) {
  if (s + kFarAhead < count) __builtin_prefetch(&row[static_cast<std::size_t>(order[s + kFarAhead])]);
  if (s + kAhead >= count) return;
  const RowState& next = row[static_cast<std::size_t>(order[s + kAhead])];
  const auto* memory = reinterpret_cast<const char*>(entries + next.start);
  const std::size_t bytes = std::min(static_cast<std::size_t>(next.size) * sizeof(Entry<Value>), kMostAhead);
  for (std::size_t at = 0; at < bytes; at += 64) __builtin_prefetch(memory + at);
}

template <class Value>
double dot(const Entry<Value>* entry, std::int32_t size, const double* w) {
  double a = 0, b = 0, c = 0, d = 0;
  std::int32_t k = 0;
  for (; k + 4 <= size; k += 4) {
    a += entry[k].value * w[entry[k].column];
    b += entry[k + 1].value * w[entry[k + 1].column];
    c += entry[k + 2].value * w[entry[k + 2].column];
    d += entry[k + 3].value * w[entry[k + 3].column];
  }
  for (; k < size; ++k) a += entry[k].value * w[entry[k].column];
  return (a + b) + (c + d);
}

template <class Value>
void add(const Entry<Value>* entry, std::int32_t size, double factor, double* w) {
  for (std::int32_t k = 0; k < size; ++k) w[entry[k].column] += factor * entry[k].value;
}

template <class Value>
std::vector<RowState> states_of(const Problem& problem, const EntryRows& rows,
                                const std::vector<Entry<Value>>& entries) {
  std::vector<RowState> out(static_cast<std::size_t>(rows.rows()));
  for (std::size_t i = 0; i < out.size(); ++i) {
    RowState& row = out[i];
    row.start = rows.start()[i];
    row.size = static_cast<std::int32_t>(rows.start()[i + 1] - row.start);
    row.t = static_cast<float>(problem.t(static_cast<Index>(i)));
    row.alpha = 0;
    row.c = problem.c(static_cast<Index>(i));
    row.curvature = problem.intercept ? 1 : 0;
    for (std::int32_t k = 0; k < row.size; ++k) {
      const double value = entries[static_cast<std::size_t>(row.start + k)].value;
      row.curvature += value * value;
    }
    if (problem.squared()) row.curvature += 1 / (2 * row.c);
  }
  return out;
}

/// Coordinate descent: α of one row at a time to its optimum, w = Σ α t x kept beside it. A free bias is the multiplier of
/// Σ α t = 0: rows see b + Σ α t, and b moves by Σ α t after each pass (the method of multipliers).
template <class Value>
class Descent {
 public:
  Descent(const Problem& problem, const EntryRows& rows, const std::vector<Entry<Value>>& entries, std::uint64_t seed)
      : problem_(problem),
        entries_(entries.data()),
        row_(states_of(problem, rows, entries)),
        w_(Vector::Zero(rows.width())),
        stream_(seed) {
    for (std::size_t i = 0; i < row_.size(); ++i)
      if (row_[i].c > 0) order_.push_back(static_cast<std::int32_t>(i));
    active_ = order_.size();
  }

  void start_from(const Vector& alpha, double bias) {
    bias_ = bias;
    for (const std::int32_t i : order_) {
      RowState& row = row_[static_cast<std::size_t>(i)];
      row.alpha = alpha(i);
      add(entries_ + row.start, row.size, row.alpha * row.t, w_.data());
      sum_ += row.alpha * row.t;
    }
  }

  /// One visit to each row that may still move. The distance P − D as the visits saw it: it is exact were w to stand still.
  double pass(const Execution& execution) {
    stream_.shuffle(std::span(order_.data(), active_));
    const bool squared = problem_.squared();
    double distance = 0, greatest = -kInfinite, least = kInfinite;
    visited_ = 0;
    for (std::size_t s = 0; s < active_;) {
      if (visited_++ % kBetweenQuestions == 0 && execution.cancelled()) return kInfinite;
      ask_ahead(order_, active_, s, row_, entries_);
      RowState& row = row_[static_cast<std::size_t>(order_[s])];
      const Entry<Value>* entry = entries_ + row.start;
      const double g = row.t * (offset() + dot(entry, row.size, w_.data())) - 1;
      const double slope = squared ? g + row.alpha / (2 * row.c) : g, upper = squared ? kInfinite : row.c;
      if ((row.alpha == 0 && slope > rest_above_) || (row.alpha == upper && slope < rest_below_)) {
        std::swap(order_[s], order_[--active_]);  // it has come to rest
        continue;
      }
      const double cost = std::max(0.0, -g);
      distance += row.alpha * g + (squared ? row.c * cost * cost + row.alpha * row.alpha / (4 * row.c) : row.c * cost);
      const double projected = row.alpha == 0       ? std::min(slope, 0.0)
                               : row.alpha == upper ? std::max(slope, 0.0)
                                                    : slope;
      greatest = std::max(greatest, projected);
      least = std::min(least, projected);
      if (projected != 0) {
        const double alpha = std::clamp(row.alpha - slope / row.curvature, 0.0, upper);
        const double change = (alpha - row.alpha) * row.t;
        row.alpha = alpha;
        sum_ += change;
        add(entry, row.size, change, w_.data());
      }
      ++s;
    }
    rest_above_ = greatest > 0 ? greatest : kInfinite;
    rest_below_ = least < 0 ? least : -kInfinite;
    if (problem_.free_bias()) bias_ += sum_;
    return distance;
  }
  std::size_t visited() const { return visited_; }
  bool all_active() const { return active_ == order_.size(); }

  Vector alpha() const {
    Vector out(static_cast<Index>(row_.size()));
    for (std::size_t i = 0; i < row_.size(); ++i) out(static_cast<Index>(i)) = row_[i].alpha;
    return out;
  }
  double dual() const {
    double value = -0.5 * w_.squaredNorm() - (problem_.free_bias() || !problem_.intercept ? 0.0 : 0.5 * sum_ * sum_);
    for (const std::int32_t i : order_) {
      const RowState& row = row_[static_cast<std::size_t>(i)];
      value += row.alpha - (problem_.squared() ? row.alpha * row.alpha / (4 * row.c) : 0.0);
    }
    return value;
  }
  /// Rows that rest where these f say they should move take part again.
  void wake(const Vector& f) {
    for (std::size_t s = active_; s < order_.size(); ++s) {
      const RowState& row = row_[static_cast<std::size_t>(order_[s])];
      const double slope = row.t * f(order_[s]) - 1;
      if (row.alpha == 0 ? slope < 0 : slope > 0) std::swap(order_[s], order_[active_++]);
    }
  }

 private:
  double offset() const { return problem_.intercept ? bias_ + sum_ : 0.0; }
  const Problem& problem_;
  const Entry<Value>* entries_;
  std::vector<RowState> row_;
  Vector w_;
  double sum_ = 0, bias_ = 0;  // Σ α t, and the multiplier of a free bias
  RandomStream stream_;
  std::vector<std::int32_t> order_;  // the first `active_` may move
  std::size_t active_ = 0, visited_ = 0;
  double rest_above_ = kInfinite, rest_below_ = -kInfinite;
};

template <class Value>
Point descended(const Problem& problem, const RowProducts& rows, const EntryRows& entries,
                const std::vector<Entry<Value>>& values, const SolveOptions& options, const Vector& start) {
  Descent<Value> descent(problem, entries, values, options.seed);
  if (start.size() > 0) {
    const Point first = plane_of(problem, rows, start);
    descent.start_from(first.alpha, problem.free_bias() ? first.theta(0) : 0.0);
  }
  const double goal = kShareOfTolerance * options.tolerance;
  const auto n = static_cast<double>(entries.rows());
  double trust = 1, since = 0, since_dual = kInfinite, scale = 1;  // how often the passes' own distance was right
  Point best;
  for (long long pass = 1;; ++pass) {
    const double distance = descent.pass(options.execution);
    since += static_cast<double>(descent.visited());
    since_dual += static_cast<double>(descent.visited());
    if (since_dual > 0.25 * n) {
      scale = std::max(descent.dual(), std::numeric_limits<double>::min());
      since_dual = 0;
    }
    const bool cancelled = options.execution.cancelled(), last = pass >= options.max_iterations || cancelled;
    options.execution.report(std::clamp(std::log(std::max(distance / scale, goal)) / std::log(goal), 0.0, 1.0),
                             "coordinate descent");
    if (!last && distance > trust * goal * scale && since < 12 * n) continue;
    Vector f;
    Point point = plane_of(problem, rows, descent.alpha(), &f);
    if (best.theta.size() == 0 || point.gap() < best.gap()) best = std::move(point);
    best.iterations = pass;
    best.stopped = best.gap() <= goal ? Stop::converged : cancelled ? Stop::cancelled : Stop::iteration_limit;
    if (best.gap() <= goal || last) return best;
    trust = std::clamp(distance / (scale * std::max(best.gap(), goal)), 0.1, 1.5) * 0.9;
    since = 0;
    descent.wake(f);
  }
}

}  // namespace

Point descend(const Problem& problem, const RowProducts& rows, const EntryRows& entries, const SolveOptions& options,
              const Vector& start) {
  return entries.with([&](const auto& values) { return descended(problem, rows, entries, values, options, start); });
}

namespace {

template <class Value>
Point stochastic(const Problem& problem, const RowProducts& rows, const EntryRows& entries,
                 const std::vector<Entry<Value>>& values, const SolveOptions& options) {
  std::vector<RowState> row = states_of(problem, entries, values);  // α: Σ epoch · gradient
  std::vector<std::int32_t> order;
  for (std::size_t i = 0; i < row.size(); ++i)
    if (row[i].c > 0) order.push_back(static_cast<std::int32_t>(i));
  RandomStream stream(options.seed);
  Vector w = Vector::Zero(entries.width());
  double sum = 0, bias = 0, mass = 0;  // w and Σ α t, times `mass`
  Point best;
  long long next = 1;
  for (long long epoch = 1;; ++epoch) {
    stream.shuffle(std::span(order));
    const auto weight = static_cast<double>(epoch);
    for (std::size_t s = 0; s < order.size(); ++s) {
      if (s % kBetweenQuestions == 0 && options.execution.cancelled()) break;
      ask_ahead(order, order.size(), s, row, values.data());
      RowState& at = row[static_cast<std::size_t>(order[s])];
      const Entry<Value>* entry = values.data() + at.start;
      const double now = mass + weight * static_cast<double>(s + 1) / static_cast<double>(order.size());
      const double f = (sum + dot(entry, at.size, w.data())) / now;
      const double slack = 1 - at.t * (problem.intercept ? f + bias : f);
      if (!(slack > 0)) continue;
      // The slope is that after the step: with that before it, steps on long rows would grow without end.
      const double length = problem.squared() ? at.curvature - 1 / (2 * at.c) : at.curvature,
                   reach = weight * length / now;
      const double change = weight * (problem.squared() ? 2 * at.c * slack / (1 + 2 * at.c * reach)
                                      : reach > 0       ? std::min(at.c, slack / reach)
                                                        : at.c);
      at.alpha += change;
      if (problem.intercept) sum += change * at.t;
      add(entry, at.size, change * at.t, w.data());
    }
    mass += weight;
    if (problem.free_bias()) bias += sum / mass;
    const bool cancelled = options.execution.cancelled(), last = epoch >= options.max_iterations || cancelled;
    options.execution.report(static_cast<double>(epoch) / options.max_iterations, "stochastic subgradients");
    if (epoch < next && !last) continue;
    next = epoch + std::max<long long>(1, epoch / 4);
    Vector alpha(static_cast<Index>(row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) alpha(static_cast<Index>(i)) = row[i].alpha / mass;
    Point point = plane_of(problem, rows, std::move(alpha));
    if (best.theta.size() == 0 || point.gap() < best.gap()) best = std::move(point);
    best.iterations = epoch;
    best.stopped = best.gap() <= kShareOfTolerance * options.tolerance ? Stop::converged
                   : cancelled                                         ? Stop::cancelled
                                                                       : Stop::iteration_limit;
    if (best.stopped == Stop::converged || last) return best;
  }
}

}  // namespace

Point pegasos(const Problem& problem, const RowProducts& rows, const EntryRows& entries, const SolveOptions& options) {
  return entries.with([&](const auto& values) { return stochastic(problem, rows, entries, values, options); });
}

}  // namespace lemma::margin
