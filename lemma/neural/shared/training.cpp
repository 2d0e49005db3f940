// lemma/neural/shared/training.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/model/cut_short.hpp>
#include <lemma/neural/shared/training.hpp>
#include <lemma/optimize/minimise.hpp>
#include <numeric>

namespace lemma::neural {
namespace {

constexpr double kQuieter = 0.275;  // half of 0.55: Neelakantan and others (2015)
constexpr double kSecond = 0.999, kSquares = 0.9, kTiny = 1e-8;
constexpr double kNoLoss = 1e-6;               // less is nothing to be measured by
constexpr double kDiverged = 10;               // times the loss of the start: of an epoch
constexpr double kBelow = 0.99;                // of the tolerance, so that another way of adding does not find it above
constexpr double kDivergedAtOnce = 1e6;        // of a batch
constexpr Index kAtLeast = 32, kAtMost = 256;  // rows of a piece

/// Rows of a piece: half of a batch, so that two threads share it, but neither few nor many.
Index piece_of(Index rows) { return std::clamp((rows + 1) / 2, kAtLeast, kAtMost); }

/// The rows held out, judged after each epoch, and the best weights there were.
class Judge {
 public:
  Judge(const Objective& objective, const Examples& held_out, int patience)
      : held_out_(objective.net(), held_out, 0, objective.execution()),
        has_rows_(held_out.count() > 0),
        patience_(patience) {}
  /// Whether it has waited long enough for a lower loss.
  bool see(Course& course, const Vector& weights) {
    if (!has_rows_) return false;
    const double loss = held_out_.loss(weights) / held_out_.total();
    course.held_out.push_back(loss);
    if (loss < least_) {
      least_ = loss;
      course.best = std::ssize(course.held_out);
      course.weights = weights;
    }
    return std::ssize(course.held_out) - course.best >= patience_;
  }
  bool has_rows() const { return has_rows_; }

 private:
  Objective held_out_;
  bool has_rows_;
  int patience_;
  double least_ = std::numeric_limits<double>::infinity();
};

/// v, or m and s, and the step that they make of a gradient.
class Stepper {
 public:
  Stepper(const TrainingOptions& how, Index size) : how_(how), first_(Vector::Zero(size)) {
    if (how.solver == Solver::adam || how.solver == Solver::rmsprop) second_ = Vector::Zero(size);
  }
  void step(Vector& weights, const Vector& gradient, double size) {
    const double mu = how_.momentum;
    switch (how_.solver) {
      case Solver::adam: {
        ++steps_;
        const double of_first = 1 - std::pow(mu, steps_), of_second = 1 - std::pow(kSecond, steps_);
        first_.array() = mu * first_.array() + (1 - mu) * gradient.array();
        second_.array() = kSecond * second_.array() + (1 - kSecond) * gradient.array().square();
        weights.array() -= size * (first_.array() / of_first) / ((second_.array() / of_second).sqrt() + kTiny);
        break;
      }
      case Solver::rmsprop:
        second_.array() = kSquares * second_.array() + (1 - kSquares) * gradient.array().square();
        weights.array() -= size * gradient.array() / (second_.array().sqrt() + kTiny);
        break;
      case Solver::nesterov:
        first_.array() = mu * first_.array() + gradient.array();
        weights.array() -= size * (gradient.array() + mu * first_.array());
        break;
      default:
        first_.array() = mu * first_.array() + gradient.array();
        weights.array() -= size * first_.array();
        break;
    }
  }

 private:
  const TrainingOptions& how_;
  Vector first_, second_;
  double steps_ = 0;
};

void shake(Vector& gradient, double deviation, const RandomStream& chance) {
  RandomStream stream = chance.split(~0ULL);  // units of rows have those of the rows' numbers
  for (double& each : gradient) each += deviation * stream.normal();
}

}  // namespace

double Objective::sum(const Vector& weights, std::span<const Index> which, Vector* gradient,
                      const Dropout& dropout) const {
  const Index rows = which.empty() ? examples_.count() : std::ssize(which), piece = piece_of(rows);
  if (gradient) *gradient = Vector::Zero(net_.weight_count());
  if (rows == 0) return 0;
  const auto give = [this](Pass* pass) {
    const std::lock_guard lock(mutex_);
    free_.emplace_back(pass);
  };
  const auto leaf = [&](Index p) -> State {
    std::unique_ptr<Pass> taken;
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        taken = std::move(free_.back());
        free_.pop_back();
      }
    }
    if (!taken) taken = std::make_unique<Pass>();
    const std::shared_ptr<Pass> pass(taken.release(), give);
    const Index first = p * piece, count = std::min(piece, rows - first);
    if (which.empty()) {
      net_.run(weights, examples_.x.middleRows(first, count), examples_.targets.middleRows(first, count),
               examples_.weight.segment(first, count), gradient != nullptr, *pass, dropout, first);
      return pass;
    }
    pass->x.resize(count, examples_.x.cols());
    pass->targets.resize(count, examples_.targets.cols());
    pass->weight.resize(count);
    for (Index i = 0; i < count; ++i) {
      const Index row = which[at(first + i)];
      pass->x.row(i) = examples_.x.row(row);
      pass->targets.row(i) = examples_.targets.row(row);
      pass->weight(i) = examples_.weight(row);
    }
    net_.run(weights, pass->x, pass->targets, pass->weight, gradient != nullptr, *pass, dropout, first);
    return pass;
  };
  const auto merge = [&](State& into, const State& from) {
    auto& all = *static_cast<Pass*>(into.get());
    const auto& more = *static_cast<const Pass*>(from.get());
    all.loss += more.loss;
    if (gradient) all.gradient += more.gradient;
  };
  const State all = fold_tree((rows + piece - 1) / piece, execution_, leaf, merge);
  auto& found = *static_cast<Pass*>(all.get());
  if (gradient) gradient->swap(found.gradient);
  return found.loss;
}

double Objective::loss(const Vector& weights) const { return sum(weights, {}, nullptr, {}); }

double Objective::value(const Vector& weights) const { return loss(weights) + added(weights, nullptr); }

double Objective::value(const Vector& weights, Vector& gradient) const {
  const double of_rows = sum(weights, {}, &gradient, {});
  return of_rows + added(weights, &gradient);
}

double Objective::added(const Vector& weights, Vector* gradient) const {
  double out = decay_ * net_.decay(weights, decay_, gradient);
  if (!past_) return out;
  const Vector off = weights - past_->centre, back = past_->pull.cwiseProduct(off);
  if (gradient) *gradient += back;
  return out + 0.5 * off.dot(back);
}

Vector Objective::curvature(const Vector& weights) const {
  const Index rows = examples_.count(), piece = kAtMost;
  const auto leaf = [&](Index p) -> State {
    Pass pass;
    const Index first = p * piece, count = std::min(piece, rows - first);
    return std::make_shared<Vector>(
        net_.curvature(weights, examples_.x.middleRows(first, count), examples_.weight.segment(first, count), pass));
  };
  const State all = fold_tree((rows + piece - 1) / piece, execution_, leaf, [](State& into, const State& from) {
    *static_cast<Vector*>(into.get()) += *static_cast<const Vector*>(from.get());
  });
  Vector out = *static_cast<const Vector*>(all.get());
  for (Index l = 0; l < net_.layers(); ++l) out.segment(net_.begin(l), net_.matrix_size(l)).array() += decay_;
  if (past_) out += past_->pull;
  return out;
}

double Objective::batch(const Vector& weights, std::span<const Index> which, const Dropout& dropout,
                        Vector& gradient) const {
  return sum(weights, which, &gradient, dropout);
}

Course train_by_batches(const Objective& objective, const Examples& held_out, Vector start, const TrainingOptions& how,
                        const RandomStream& order, const RandomStream& drops) {
  Course out;
  const Index n = objective.examples().count(), size = std::min(how.batch, n);
  const double first_loss = std::max(kNoLoss, objective.loss(start) / objective.total());
  Judge judge(objective, held_out, how.patience);
  Stepper stepper(how, start.size());
  Vector weights = std::move(start), before = weights, gradient;
  out.weights = weights;
  std::uint64_t steps = 0;
  try {
    for (long long epoch = 0; epoch < how.epochs && out.stopped == Stop::not_yet; ++epoch) {
      RandomStream shuffled = order.split(static_cast<std::uint64_t>(epoch));
      const std::vector<Index> rows = permutation(shuffled, n);
      const double step = how.step / (1 + how.fade * static_cast<double>(epoch));
      double sum = 0, mass = 0;
      before = weights;
      for (Index begin = 0; begin < n; begin += size) {
        if (objective.execution().cancelled()) throw Cancelled();
        const std::span<const Index> which(rows.data() + begin, at(std::min(size, n - begin)));
        const RandomStream chance = drops.split(steps++);
        const double loss = objective.batch(weights, which, {how.dropout, chance}, gradient);
        double weight = 0;
        for (const Index row : which) weight += objective.examples().weight(row);
        sum += loss;
        mass += weight;
        const bool lost = !std::isfinite(loss) || !gradient.allFinite() || loss > kDivergedAtOnce * weight * first_loss;
        if (lost) {
          out.diverged = true;
          break;
        }
        // of the mean over all rows, as this batch estimates it
        gradient *= static_cast<double>(n) / (static_cast<double>(which.size()) * objective.total());
        objective.net().decay(weights, objective.decay() / objective.total(), &gradient);
        if (how.noise > 0) shake(gradient, how.noise / std::pow(static_cast<double>(steps), kQuieter), chance);
        stepper.step(weights, gradient, step);
      }
      out.diverged = out.diverged || !weights.allFinite() || sum > kDiverged * mass * first_loss;
      if (out.diverged) {
        weights = before;
        out.stopped = Stop::not_a_number;
        break;
      }
      out.training.push_back(sum / mass);
      if (judge.see(out, weights)) out.stopped = Stop::by_caller;
      objective.execution().report(static_cast<double>(epoch + 1) / static_cast<double>(how.epochs),
                                   fmt::format("epoch {}, mean loss {:.4g}", epoch + 1, sum / mass));
    }
    if (out.stopped == Stop::not_yet) out.stopped = Stop::pass_limit;
  } catch (const Cancelled&) {
    if (out.training.empty()) throw;
    weights = before;
    out.stopped = Stop::cancelled;
  }
  if (!judge.has_rows() || out.held_out.empty()) {
    out.weights = weights;
    out.best = std::ssize(out.training);
  }
  return out;
}

Course train_on_all(const Objective& objective, const Examples& held_out, Vector start, const TrainingOptions& how) {
  Course out;
  Judge judge(objective, held_out, how.patience);
  double norm_at_start = 0;
  Vector last = start;
  bool waited = false;
  MinimiseOptions options;
  options.most_iterations = how.max_iterations;
  options.tolerance = 0;
  options.stop = [&](const Iterate& at) {
    const double norm = at.gradient.stableNorm();
    if (at.iteration == 0) {
      norm_at_start = norm;
    } else {
      const double mean = (at.value - objective.added(at.x)) / objective.total();
      last = at.x;
      out.training.push_back(mean);
      waited = judge.see(out, at.x);
      objective.execution().report(static_cast<double>(at.iteration) / static_cast<double>(how.max_iterations),
                                   fmt::format("iteration {}, mean loss {:.4g}", at.iteration, mean));
    }
    return waited || norm <= kBelow * how.tolerance * norm_at_start;
  };
  try {
    const Minimum found = how.solver == Solver::cg ? conjugate_gradient(objective, std::move(start), options)
                                                   : lbfgs(objective, std::move(start), options);
    last = found.x;
    out.stopped = waited ? Stop::by_caller : found.stopped == Stop::by_caller ? Stop::converged : found.stopped;
  } catch (const Cancelled&) {
    if (out.training.empty()) throw;
    out.stopped = Stop::cancelled;
  }
  if (!judge.has_rows() || out.held_out.empty()) {
    out.weights = last;
    out.best = std::ssize(out.training);
  }
  return out;
}

}  // namespace lemma::neural
