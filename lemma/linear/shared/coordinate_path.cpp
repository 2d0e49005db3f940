// lemma/linear/shared/coordinate_path.cpp
#include <algorithm>
#include <cmath>
#include <lemma/linear/shared/coordinate_path.hpp>
#include <lemma/math/simd/vector.hpp>
#include <numeric>

namespace lemma {
namespace {

constexpr Index kMostPolished = 5000;   // coefficients solved for at once
constexpr int kSweepsBeforePolish = 4;  // at most, while the support changes
constexpr double kRounding = 1e-13;     // of λ₁: a violation that is none
constexpr double kClearly = 1 + 1e-12;  // |zⱼ·r| beyond its bound by more than rounding

std::span<double> head(Vector& v, Index size) { return {v.data(), static_cast<std::size_t>(size)}; }

double soft(double g, double threshold, bool positive) {
  if (g > threshold) return g - threshold;
  return g < -threshold && !positive ? g + threshold : 0;
}

}  // namespace

CoordinatePath::CoordinatePath(const StandardisedColumns& columns, NetPenalty penalty, PathLimits limits,
                               const Execution& execution)
    : columns_(columns), penalty_(std::move(penalty)), limits_(limits), execution_(execution) {
  const Index p = columns.count;
  covariance_ = !columns.sparse && p <= columns.rows && p <= kMostInGram;
  is_member_.assign(static_cast<std::size_t>(p), 0);
  if (covariance_) {
    auto [gram, along_y] = columns.normal_equations(execution);
    gram_ = std::move(gram);
    q_ = std::move(along_y);
    members_.resize(static_cast<std::size_t>(p));
    std::iota(members_.begin(), members_.end(), Index{0});
    std::fill(is_member_.begin(), is_member_.end(), char{1});
    c_ = Vector::Zero(p);
    h_ = q_;
    return;
  }
  std::vector<Index> all(static_cast<std::size_t>(p)), free;
  std::iota(all.begin(), all.end(), Index{0});
  columns.correlations(all, columns.y, known_, execution);
  latest_ = known_;
  at_ = columns.y;
  for (Index j = 0; j < p; ++j)
    if (penalty_.factors(j) == 0 && columns.length(j) > 0) free.push_back(j);
  join(free);
}

/// The unpenalised columns are fitted first; then every other column stands still as long as |zⱼ·r| ≤ λα fⱼ.
double CoordinatePath::largest_lambda() {
  PathPoint free;
  if ((penalty_.factors.array() == 0).any()) {
    solve_working_set(HUGE_VAL, free);
    if (!covariance_) refresh();
  }
  double largest = 0;
  const Vector& g = covariance_ ? h_ : latest_;
  for (Index j = 0; j < columns_.count; ++j) {
    if (penalty_.factors(j) == 0) continue;
    const double size = penalty_.positive ? g(j) : std::abs(g(j));
    largest = std::max(largest, size / (penalty_.factors(j) * std::max(penalty_.alpha, 1e-3)));
  }
  return largest;
}

/// New rows and columns of the Gram matrix; their coefficients start at 0.
void CoordinatePath::join(const std::vector<Index>& newcomers) {
  if (newcomers.empty()) return;
  const auto before = static_cast<Index>(members_.size()), after = before + static_cast<Index>(newcomers.size());
  if (gram_.rows() < after) {
    const Index capacity = std::max<Index>(after, std::min<Index>(2 * before + 64, columns_.count));
    gram_.conservativeResize(capacity, capacity);
  }
  for (const Index j : newcomers) {
    members_.push_back(j);
    is_member_[static_cast<std::size_t>(j)] = 1;
  }
  for (Vector* each : {&q_, &c_, &h_, &c_before_, &h_before_}) each->conservativeResize(after);
  const std::vector<Index> all = members_;
  const auto fill = [&](Index i) {
    const Index j = all[static_cast<std::size_t>(before + i)];
    const std::vector<Index> with(all.begin(), all.begin() + before + i + 1);
    gram_.row(before + i).head(before + i + 1) = columns_.products(j, with);
    q_(before + i) = columns_.dot(j, columns_.y);
  };
  if (after - before < 4)
    for (Index i = 0; i < after - before; ++i) fill(i);
  else parallel_for(after - before, execution_, fill);
  for (Index i = before; i < after; ++i) {
    gram_.col(i).head(i) = gram_.row(i).head(i);
    c_(i) = c_before_(i) = 0;
  }
  for (Index i = before; i < after; ++i) {
    h_(i) = q_(i) - gram_.row(i).head(before).dot(c_.head(before));
    h_before_(i) = q_(i) - gram_.row(i).head(before).dot(c_before_.head(before));
  }
}

/// Between two changes of the support c is linear in λ, so the line through the last two solutions is followed, except for
/// coefficients that are 0 or would change their sign.
void CoordinatePath::start_from(double lambda) {
  const auto m = static_cast<Index>(members_.size());
  const double step = lambda_before_ > lambda_ && lambda_ > 0 ? (lambda_ - lambda) / (lambda_before_ - lambda_) : 0;
  const Vector c = c_.head(m), h = h_.head(m);
  if (step > 0 && step < 4 && c_before_.size() == m) {
    std::vector<std::pair<Index, double>> kept_back;
    for (Index i = 0; i < m; ++i) {
      const double moved = c(i) + step * (c(i) - c_before_(i));
      if (moved == c(i)) continue;
      const bool same = c(i) != 0 && c_before_(i) != 0 && (moved > 0) == (c(i) > 0);
      if (!same) kept_back.emplace_back(i, moved - c(i));
    }
    if (static_cast<Index>(kept_back.size()) * 4 <= m) {
      c_.head(m) += step * (c - c_before_.head(m));
      h_.head(m) += step * (h - h_before_.head(m));
      for (const auto& [i, moved] : kept_back) {
        c_(i) = c(i);
        simd::add_multiple(moved, {gram_.row(i).data(), static_cast<std::size_t>(m)}, head(h_, m));
      }
    }
  }
  c_before_ = c;
  h_before_ = h;
  lambda_before_ = lambda_;
  lambda_ = lambda;
}

/// One step of each coordinate, or of each that is 0: c = S(h + G c, λ₁) / (G + λ₂). Steps that only move rounding are left
/// out: after a Newton step these are nearly all.
CoordinatePath::Sweep CoordinatePath::sweep(double lambda, Steps steps) {
  const auto m = static_cast<Index>(members_.size());
  Sweep out;
  for (Index i = 0; i < m; ++i) {
    const Index j = members_[static_cast<std::size_t>(i)];
    const double own = gram_(i, i), f = penalty_.factors(j);
    const double l1 = f == 0 ? 0 : penalty_.l1(j, lambda), l2 = f == 0 ? 0 : penalty_.l2(j, lambda);
    if (own == 0 || !std::isfinite(l1) || (steps == Steps::of_zeros && c_(i) != 0)) continue;
    const double moved = soft(h_(i) + own * c_(i), l1, penalty_.positive) / (own + l2), d = moved - c_(i);
    if (d == 0 || (moved != 0 && std::abs(d) * own <= kRounding * l1)) continue;
    out.changes += (moved > 0) != (c_(i) > 0) || (moved < 0) != (c_(i) < 0);
    c_(i) = moved;
    simd::add_multiple(-d, {gram_.row(i).data(), static_cast<std::size_t>(m)}, head(h_, m));
    out.fall = std::max(out.fall, d * d * (own + l2));
  }
  return out;
}

/// Primal minus dual of the problem in the working set, where ‖r‖² = ‖y‖² − c·(q + h). Free columns have h = 0 to rounding
/// and are left out.
double CoordinatePath::gap(double lambda) const {
  const auto m = static_cast<Index>(members_.size());
  const double fit = q_.head(m).dot(c_.head(m)), rss = std::max(columns_.total - fit - h_.head(m).dot(c_.head(m)), 0.0);
  const double yr = columns_.total - fit;
  double penalty = 0, shrink = 1, within = 1, stray = 0;
  for (Index i = 0; i < m; ++i) {
    const Index j = members_[static_cast<std::size_t>(i)];
    const double l1 = penalty_.l1(j, lambda), l2 = penalty_.l2(j, lambda),
                 g = penalty_.positive ? h_(i) : std::abs(h_(i));
    if (penalty_.factors(j) == 0 || l1 + l2 == 0) {
      if (gram_(i, i) > 0 && !(penalty_.positive && c_(i) == 0 && h_(i) <= 0)) stray += h_(i) * h_(i) / gram_(i, i);
      continue;
    }
    penalty += l1 * std::abs(c_(i)) + 0.5 * l2 * c_(i) * c_(i);
    if (l2 == 0 && g > l1) shrink = std::min(shrink, l1 / g);
    if (g > l1) within = std::min(within, l1 / g);
  }
  double conjugate = 0;
  for (Index i = 0; i < m; ++i) {
    const Index j = members_[static_cast<std::size_t>(i)];
    const double l2 = penalty_.l2(j, lambda), g = shrink * (penalty_.positive ? h_(i) : std::abs(h_(i)));
    const double over = std::max(0.0, g - penalty_.l1(j, lambda));
    if (l2 > 0) conjugate += over * over / (2 * l2);
  }
  // Of two dual points the better one: the residual, or so much of it that no |h| is above λ₁, for λ₂ so small that
  // it costs more to be a rounding above it.
  const double dual =
      std::max(shrink * yr - 0.5 * shrink * shrink * rss - conjugate, within * yr - 0.5 * within * within * rss);
  return 0.5 * rss + penalty - dual + stray;
}

/// c of the working set without the members that are 0, as one number: ½ c·(Gc) − q·c + penalty, up to a constant.
double CoordinatePath::objective(double lambda) const {
  const auto m = static_cast<Index>(members_.size());
  double out = 0;
  for (Index i = 0; i < m; ++i) {
    if (c_(i) == 0) continue;
    const Index j = members_[static_cast<std::size_t>(i)];
    out -= 0.5 * (q_(i) + h_(i)) * c_(i);
    if (penalty_.factors(j) > 0)
      out += penalty_.l1(j, lambda) * std::abs(c_(i)) + 0.5 * penalty_.l2(j, lambda) * c_(i) * c_(i);
  }
  return out;
}

/// h = q − G c, in pieces of members on several threads.
void CoordinatePath::gradient_anew() {
  const auto m = static_cast<Index>(members_.size());
  constexpr Index kPiece = 512;
  std::vector<Index> active;
  for (Index i = 0; i < m; ++i)
    if (c_(i) != 0) active.push_back(i);
  const auto piece = [&](Index at) {
    const Index first = at * kPiece;
    const auto size = static_cast<std::size_t>(std::min(kPiece, m - first));
    double* const h = h_.data() + first;
    std::copy_n(q_.data() + first, size, h);
    for (const Index i : active) simd::add_multiple(-c_(i), {gram_.row(i).data() + first, size}, {h, size});
  };
  const Index pieces = (m + kPiece - 1) / kPiece;
  if (pieces == 1 || active.size() < 100)
    for (Index at = 0; at < pieces; ++at) piece(at);
  else parallel_for(pieces, {execution_.threads, nullptr, 0, 1, {}}, piece);
}

/// The same right after c was solved for: h is λ₁ sign(c) + λ₂ c where c is not 0, so that the others are enough when they
/// are few.
void CoordinatePath::gradient_at_solution(double lambda) {
  const auto m = static_cast<Index>(members_.size());
  const Index zeros = (c_.head(m).array() == 0).count();
  if (2 * zeros > m) return gradient_anew();
  const std::span<const double> c(c_.data(), static_cast<std::size_t>(m));
  for (Index i = 0; i < m; ++i) {
    const Index j = members_[static_cast<std::size_t>(i)];
    if (c_(i) == 0) h_(i) = q_(i) - simd::inner_product({gram_.row(i).data(), c.size()}, c);
    else if (penalty_.factors(j) == 0) h_(i) = 0;
    else h_(i) = std::copysign(penalty_.l1(j, lambda), c_(i)) + penalty_.l2(j, lambda) * c_(i);
  }
}

/// Newton's step: (G + λ₂) c = q − λ₁ sign(c) over the coefficients that are not 0. Those that would change their sign
/// leave, and the others are solved for again. Kept when the objective falls.
bool CoordinatePath::polish(double lambda) {
  const auto m = static_cast<Index>(members_.size());
  const Vector c = c_.head(m), h = h_.head(m);
  const double before = objective(lambda);
  std::vector<Index> active;
  for (Index i = 0; i < m; ++i)
    if (c_(i) != 0) active.push_back(i);
  for (int round = 0; round < 4; ++round) {
    if (active.empty() || static_cast<Index>(active.size()) > kMostPolished || !factorise(active, lambda)) break;
    const auto& order = solved_for_;
    Vector b(static_cast<Index>(order.size()));
    for (std::size_t a = 0; a < order.size(); ++a) {
      const Index i = order[a], j = members_[static_cast<std::size_t>(i)];
      b(static_cast<Index>(a)) = q_(i) - (penalty_.factors(j) > 0 ? std::copysign(penalty_.l1(j, lambda), c(i)) : 0);
    }
    factor_.solve(b);
    if (!b.allFinite()) break;
    std::vector<Index> stay;
    for (std::size_t a = 0; a < order.size(); ++a) {
      const Index i = order[a];
      const bool free = penalty_.factors(members_[static_cast<std::size_t>(i)]) == 0 && !penalty_.positive;
      if (free || (b(static_cast<Index>(a)) > 0) == (c(i) > 0)) stay.push_back(i);
    }
    if (stay.size() < active.size() && round < 3) {
      active = std::move(stay);
      continue;
    }
    c_.head(m).setZero();
    for (std::size_t a = 0; a < order.size(); ++a) c_(order[a]) = b(static_cast<Index>(a));
    const bool exact = stay.size() == active.size();
    if (!exact)
      for (std::size_t a = 0; a < order.size(); ++a)
        if ((penalty_.factors(members_[static_cast<std::size_t>(order[a])]) > 0 || penalty_.positive) &&
            (c_(order[a]) > 0) != (c(order[a]) > 0))
          c_(order[a]) = 0;
    if (exact) gradient_at_solution(lambda);
    else gradient_anew();
    if (objective(lambda) <= before + 1e-14 * columns_.total) return true;
    break;
  }
  c_.head(m) = c;
  h_.head(m) = h;
  return false;
}

/// The factor of G_AA is kept from λ to λ; with λ₂ on its diagonal it is made anew.
bool CoordinatePath::factorise(const std::vector<Index>& active, double lambda) {
  if (penalty_.alpha == 1) {
    if (!factor_.become(active, gram_)) return false;
    solved_for_ = factor_.order();
    return true;
  }
  Matrix shifted = gram_(active, active);
  std::vector<Index> all;
  for (Index k = 0; k < shifted.rows(); ++k) {
    const Index j = members_[static_cast<std::size_t>(active[static_cast<std::size_t>(k)])];
    if (penalty_.factors(j) > 0) shifted(k, k) += penalty_.l2(j, lambda);
    all.push_back(k);
  }
  factor_.clear();
  if (!factor_.become(all, shifted)) return false;
  solved_for_.clear();
  for (const Index k : factor_.order()) solved_for_.push_back(active[static_cast<std::size_t>(k)]);
  return true;
}

/// Is the gap small with every h found anew, too? If not, rounding has worn the factor.
bool CoordinatePath::confirmed(double lambda, double allowed) {
  gradient_anew();
  if (gap(lambda) <= allowed) return true;
  factor_.clear();
  return false;
}

/// Sweeps until the support stays, then Newton's step, until the gap is small. After such a step, as after the one along
/// the path, only coefficients that are 0 can be wrong: the sweep leaves the others alone.
void CoordinatePath::solve_working_set(double lambda, PathPoint& point) {
  const double allowed = limits_.tolerance * 0.5 * columns_.total;
  point.converged = false;
  int swept = 0, next = 0, pause = 1;
  Steps steps = Steps::of_zeros;
  for (int round = 0; round < limits_.sweeps; ++round) {
    if (round % 16 == 15 && execution_.cancelled()) return;
    const Sweep done = sweep(lambda, steps);
    ++point.sweeps;
    point.converged = (done.fall == 0 && steps == Steps::of_all) || gap(lambda) <= allowed;
    if (point.converged) {
      if ((done.fall > 0 || round == 0) && polish(lambda))  // a small gap leaves half its digits to the coefficients
        point.converged = confirmed(lambda, allowed);
      if (point.converged) return;
    }
    const bool still = done.fall == 0 && round > 0;
    const bool unsettled = steps == Steps::of_all && done.changes > 0 && ++swept < kSweepsBeforePolish;
    steps = Steps::of_all;
    if (still || unsettled || round < next) continue;
    swept = 0;
    if (!polish(lambda)) {
      next = round + pause;
      pause = std::min(2 * pause, 64);
      continue;
    }
    steps = Steps::of_zeros;
    point.converged = gap(lambda) <= allowed && confirmed(lambda, allowed);
    if (point.converged) return;
  }
}

/// y − Z c.
Vector CoordinatePath::residual() const {
  std::vector<Index> support;
  Vector c = Vector::Zero(columns_.count);
  for (std::size_t i = 0; i < members_.size(); ++i)
    if (c_(static_cast<Index>(i)) != 0) {
      support.push_back(members_[i]);
      c(members_[i]) = c_(static_cast<Index>(i));
    }
  return columns_.residual(support, c);
}

void CoordinatePath::refresh() {
  std::vector<Index> all(static_cast<std::size_t>(columns_.count));
  std::iota(all.begin(), all.end(), Index{0});
  at_ = residual();
  columns_.correlations(all, at_, known_, execution_);
  latest_ = known_;
}

std::vector<Index> CoordinatePath::violators(const std::vector<Index>& of, double lambda) {
  std::vector<Index> out;
  for (const Index j : of) {
    const double g = penalty_.positive ? latest_(j) : std::abs(latest_(j));
    if (columns_.length(j) > 0 && g > kClearly * penalty_.l1(j, lambda)) out.push_back(j);
  }
  return out;
}

/// Looks outside the working set; true when a column joined it.
bool CoordinatePath::admit_violators(double lambda) {
  const Vector r = residual();
  const auto look = [&](const std::vector<Index>& at) {
    Vector found;
    columns_.correlations(at, r, found, execution_);
    for (std::size_t k = 0; k < at.size(); ++k) latest_(at[k]) = found(static_cast<Index>(k));
  };
  std::vector<Index> strong, others;
  const double distance = (r - at_).norm();
  for (Index j = 0; j < columns_.count; ++j) {
    if (is_member_[static_cast<std::size_t>(j)] || columns_.length(j) == 0) continue;
    const double f = penalty_.factors(j);
    if (std::abs(latest_(j)) >= penalty_.alpha * f * (2 * lambda - lambda_before_)) strong.push_back(j);
    else if (std::abs(known_(j)) + columns_.length(j) * distance >= penalty_.l1(j, lambda)) others.push_back(j);
  }
  look(strong);
  auto newcomers = violators(strong, lambda);
  if (newcomers.empty()) {
    if (static_cast<Index>(others.size()) * 2 > columns_.count) {
      refresh();
    } else {
      look(others);
    }
    newcomers = violators(others, lambda);
  }
  join(newcomers);
  return !newcomers.empty();
}

PathPoint CoordinatePath::move_to(double lambda) {
  PathPoint point;
  point.lambda = lambda;
  if (!covariance_ && members_.empty() && lambda_ == 0) lambda_ = lambda;
  start_from(lambda);
  do {
    solve_working_set(lambda, point);
  } while (point.converged && !covariance_ && admit_violators(lambda) && !execution_.cancelled());
  std::vector<std::pair<Index, double>> found;
  for (std::size_t i = 0; i < members_.size(); ++i)
    if (c_(static_cast<Index>(i)) != 0) found.emplace_back(members_[i], c_(static_cast<Index>(i)));
  std::sort(found.begin(), found.end());
  point.values.resize(static_cast<Index>(found.size()));
  for (std::size_t k = 0; k < found.size(); ++k) {
    point.support.push_back(found[k].first);
    point.values(static_cast<Index>(k)) = found[k].second;
  }
  return point;
}

}  // namespace lemma
