// lemma/neural/shared/training.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/model/cut_short.hpp>
#include <lemma/neural/shared/levenberg.hpp>
#include <numeric>
#include <type_traits>

namespace lemma::neural {
namespace {

constexpr double kQuieter = 0.275;  // half of 0.55: Neelakantan and others (2015)
constexpr double kSecond = 0.999, kSquares = 0.9, kTiny = 1e-8;
constexpr double kNoLoss = 1e-6;               // less is nothing to be measured by
constexpr double kDiverged = 10;               // times the loss of the start: of an epoch
constexpr double kBelow = 0.99;                // of the tolerance, so that another way of adding does not find it above
constexpr double kDivergedAtOnce = 1e6;        // of a batch
constexpr Index kAtLeast = 32, kAtMost = 256;  // rows of a piece
constexpr Index kImages = 4, kMostImages = 32, kNumbers = 2'000'000;  // of a layer, for all images of a piece

/// Rows of a piece: half of a batch, so that two threads share it, but neither few nor many; of images fewer, each being much work.
Index piece_of(const Network& net, Index rows) {
  if (net.has(Layer::Kind::convolution)) {
    const Index most = std::clamp<Index>(kNumbers / net.most_numbers(), 1, kMostImages);
    return std::clamp((rows + 1) / 2, std::min(kImages, most), most);
  }
  return std::clamp((rows + 1) / 2, kAtLeast, kAtMost);
}

/// The rows held out, judged after each epoch, and the best weights there were.
class Judge {
 public:
  Judge(const Objective& objective, const Examples& held_out, int patience,
        double least = std::numeric_limits<double>::infinity())
      : held_out_(objective.net(), held_out, 0, objective.execution()),
        has_rows_(held_out.count() > 0),
        patience_(patience),
        least_(least) {}
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
  double least() const { return least_; }

 private:
  Objective held_out_;
  bool has_rows_;
  int patience_;
  double least_;
};

/// v, or m and s, and the step that they make of a gradient.
class Stepper {
 public:
  Stepper(const TrainingOptions& how, const Network& net) : how_(how), first_(Vector::Zero(net.weight_count())) {
    if (how.solver == Solver::adam || how.solver == Solver::rmsprop) second_ = first_;
    std::size_t number = 0;
    for (const Index l : net.with_weights())
      layers_.push_back({net.begin(l), net.layers[at(l)].weights(), how.rates.empty() ? 1 : how.rates[number++]});
  }
  /// The t-th step, of this size.
  void step(Vector& weights, const Vector& gradient, double size, double t) {
    const double of_first = 1 - std::pow(how_.momentum, t), of_second = 1 - std::pow(kSecond, t);
    for (const Part& part : layers_) {
      const auto g = gradient.segment(part.begin, part.count).array();
      auto theta = weights.segment(part.begin, part.count).array();
      auto v = first_.segment(part.begin, part.count).array();
      const double mu = how_.momentum, epsilon = size * part.rate;
      switch (how_.solver) {
        case Solver::adam: {
          auto s = second_.segment(part.begin, part.count).array();
          v = mu * v + (1 - mu) * g;
          s = kSecond * s + (1 - kSecond) * g.square();
          theta -= epsilon * (v / of_first) / ((s / of_second).sqrt() + kTiny);
          break;
        }
        case Solver::rmsprop: {
          auto s = second_.segment(part.begin, part.count).array();
          s = kSquares * s + (1 - kSquares) * g.square();
          theta -= epsilon * g / (s.sqrt() + kTiny);
          break;
        }
        case Solver::nesterov:
          v = mu * v + g;
          theta -= epsilon * (g + mu * v);
          break;
        default:
          v = mu * v + g;
          theta -= epsilon * v;
          break;
      }
    }
  }
  const Vector& first() const { return first_; }
  const Vector& second() const { return second_; }
  void go_on_from(const Vector& first, const Vector& second) {
    first_ = first;
    second_ = second;
  }

 private:
  struct Part {
    Index begin, count;
    double rate;
  };
  const TrainingOptions& how_;
  std::vector<Part> layers_;
  Vector first_, second_;
};

void shake(Vector& gradient, double deviation, const RandomStream& chance) {
  RandomStream stream = chance.split(~0ULL);  // units of rows have those of the rows' numbers
  for (double& each : gradient) each += deviation * stream.normal();
}

}  // namespace

template <class T>
double Objective::sum(const VectorOf<T>& weights, std::span<const Index> which, VectorOf<T>* gradient,
                      const Dropout& dropout, Passes<T>& free) const {
  const Index rows = which.empty() ? examples_.count() : std::ssize(which), piece = piece_of(net_, rows);
  if (gradient) *gradient = VectorOf<T>::Zero(net_.weight_count());
  if (rows == 0) return 0;
  const auto give = [this, &free](PassOf<T>* pass) {
    const std::lock_guard lock(mutex_);
    free.emplace_back(pass);
  };
  const auto leaf = [&](Index p) -> State {
    std::unique_ptr<PassOf<T>> taken;
    {
      const std::lock_guard lock(mutex_);
      if (!free.empty()) {
        taken = std::move(free.back());
        free.pop_back();
      }
    }
    if (!taken) taken = std::make_unique<PassOf<T>>();
    const std::shared_ptr<PassOf<T>> pass(taken.release(), give);
    const Index first = p * piece, count = std::min(piece, rows - first);
    if constexpr (std::is_same_v<T, double>) {
      if (which.empty()) {
        net_.run(weights, examples_.x.middleRows(first, count), examples_.targets.middleRows(first, count),
                 examples_.weight.segment(first, count), gradient != nullptr, *pass, dropout, first);
        return pass;
      }
    }
    pass->x.resize(count, examples_.x.cols());
    pass->targets.resize(count, examples_.targets.cols());
    pass->weight.resize(count);
    for (Index i = 0; i < count; ++i) {
      const Index row = which[at(first + i)];
      pass->x.row(i) = examples_.x.row(row).cast<T>();
      pass->targets.row(i) = examples_.targets.row(row);
      pass->weight(i) = examples_.weight(row);
    }
    net_.run(weights, pass->x, pass->targets, pass->weight, gradient != nullptr, *pass, dropout, first);
    return pass;
  };
  const auto merge = [&](State& into, const State& from) {
    auto& all = *static_cast<PassOf<T>*>(into.get());
    const auto& more = *static_cast<const PassOf<T>*>(from.get());
    all.loss += more.loss;
    if (gradient) all.gradient += more.gradient;
  };
  const State all = fold_tree((rows + piece - 1) / piece, execution_, leaf, merge);
  auto& found = *static_cast<PassOf<T>*>(all.get());
  if (gradient) gradient->swap(found.gradient);
  return found.loss;
}

double Objective::loss(const Vector& weights) const { return sum<double>(weights, {}, nullptr, {}, free_); }

double Objective::value(const Vector& weights) const { return loss(weights) + added(weights, nullptr); }

double Objective::value(const Vector& weights, Vector& gradient) const {
  const double of_rows = sum<double>(weights, {}, &gradient, {}, free_);
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
  for (const Index l : net_.with_weights())
    out.segment(net_.begin(l), net_.layers[at(l)].matrix_size()).array() += decay_;
  if (past_) out += past_->pull;
  return out;
}

Matrix Objective::gauss_newton(const Vector& weights) const {
  constexpr Index kLeaves = 8;  // each holds a matrix as large as the answer
  const Index rows = examples_.count(), of_leaf = std::max(kAtMost, (rows + kLeaves - 1) / kLeaves);
  const auto leaf = [&](Index p) -> State {
    const auto sum = std::make_shared<Matrix>(Matrix::Zero(weights.size(), weights.size()));
    Pass pass;
    const Index end = std::min(rows, (p + 1) * of_leaf);
    for (Index first = p * of_leaf; first < end; first += kAtMost) {
      const Index count = std::min(kAtMost, end - first);
      net_.add_gauss_newton(weights, examples_.x.middleRows(first, count), examples_.weight.segment(first, count), pass,
                            *sum);
    }
    return sum;
  };
  const State all = fold_tree((rows + of_leaf - 1) / of_leaf, execution_, leaf, [](State& into, const State& from) {
    *static_cast<Matrix*>(into.get()) += *static_cast<const Matrix*>(from.get());
  });
  Matrix out = std::move(*static_cast<Matrix*>(all.get()));
  for (const Index l : net_.with_weights())
    out.diagonal().segment(net_.begin(l), net_.layers[at(l)].matrix_size()).array() += decay_;
  if (past_) out.diagonal() += past_->pull;
  return out;
}

double Objective::batch(const Vector& weights, std::span<const Index> which, const Dropout& dropout,
                        Vector& gradient) const {
  if (precision_ == Precision::full) return sum<double>(weights, which, &gradient, dropout, free_);
  weights_ = weights.cast<float>();
  const double loss = sum<float>(weights_, which, &gradient_, dropout, free_single_);
  gradient = gradient_.cast<double>();
  return loss;
}

Course train_by_batches(const Objective& objective, const Examples& held_out, Vector start, const TrainingOptions& how,
                        const RandomStream& order, const RandomStream& drops, const Keeper& keeper) {
  Course out;
  const Index n = objective.examples().count(), size = std::min(how.batch, n);
  const double first_loss = std::max(kNoLoss, objective.loss(start) / objective.total());
  const Snapshot* from = keeper.from;
  Judge judge(objective, held_out, how.patience, from ? from->least : Snapshot{}.least);
  Stepper stepper(how, objective.net());
  Vector weights = std::move(start), before, gradient;
  out.weights = weights;
  std::uint64_t steps = 0;
  if (from) {
    stepper.go_on_from(from->first, from->second);
    weights = from->weights;
    steps = from->steps;
    out = from->course;
  }
  before = weights;
  try {
    for (long long epoch = from ? from->epoch : 0; epoch < how.epochs && out.stopped == Stop::not_yet; ++epoch) {
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
        stepper.step(weights, gradient, step, static_cast<double>(steps));
      }
      out.diverged = out.diverged || !weights.allFinite() || sum > kDiverged * mass * first_loss;
      if (out.diverged) {
        weights = before;
        out.stopped = Stop::not_a_number;
        break;
      }
      out.training.push_back(sum / mass);
      if (judge.see(out, weights)) out.stopped = Stop::by_caller;
      if (keeper.keep) keeper.keep({epoch + 1, steps, weights, stepper.first(), stepper.second(), judge.least(), out});
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
  double norm_at_start = how.norm_at_start;
  Vector last = start;
  bool waited = false;
  MinimiseOptions options;
  options.most_iterations = how.max_iterations;
  options.tolerance = 0;
  options.stop = [&](const Iterate& at) {
    const double norm = at.gradient.stableNorm();
    if (at.iteration == 0) {
      if (norm_at_start == 0) norm_at_start = norm;
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
    const Minimum found = how.solver == Solver::cg   ? conjugate_gradient(objective, std::move(start), options)
                          : how.solver == Solver::lm ? levenberg_marquardt(objective, std::move(start), options)
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
