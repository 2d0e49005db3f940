// lemma/neural/shared/training.hpp: from weights to better ones: by batches of rows, or by all rows at once.
#pragma once
#include <functional>
#include <lemma/neural/shared/network.hpp>
#include <lemma/optimize/stop.hpp>
#include <limits>
#include <memory>
#include <mutex>
#include <span>

namespace lemma::neural {

enum class Solver { lbfgs, cg, lm, sgd, nesterov, adam, rmsprop };
constexpr auto names_of(Solver) {
  return std::array<std::string_view, 7>{"lbfgs", "cg", "lm", "sgd", "nesterov", "adam", "rmsprop"};
}
constexpr bool takes_all_rows(Solver solver) {
  return solver == Solver::lbfgs || solver == Solver::cg || solver == Solver::lm;
}

/// Rows as a network takes them, all in memory.
struct Examples {
  Matrix x, targets;
  Vector weight;
  Index count() const { return x.rows(); }
};

/// What pulls weights back to where they were: ½ Σ_j pull_j (θ_j − centre_j)².
struct Past {
  Vector centre, pull;
};

/// J(θ) = Σ w loss + ½ λ Σ W² over rows, and what the past adds, in pieces cut by the number of rows alone, whose gradients are added in a tree fixed by
/// their numbers: the same bits on any number of threads.
class Objective {
 public:
  Objective(const Network& net, const Examples& examples, double decay, Execution execution, const Past* past = nullptr,
            Precision precision = Precision::full)
      : net_(net),
        examples_(examples),
        decay_(decay),
        total_(examples.weight.sum()),
        execution_(std::move(execution)),
        past_(past),
        precision_(precision) {}
  const Network& net() const { return net_; }
  const Examples& examples() const { return examples_; }
  const Execution& execution() const { return execution_; }
  double decay() const { return decay_; }
  double total() const { return total_; }  // Σ w

  double value(const Vector& weights) const;
  double value(const Vector& weights, Vector& gradient) const;
  /// What is added to the losses; and its gradient, to a gradient.
  double added(const Vector& weights, Vector* gradient = nullptr) const;
  /// Σ w loss alone, of all rows.
  double loss(const Vector& weights) const;
  /// The diagonal of the Hessian as Gauss and Newton have it, of the losses and of what is added to them.
  Vector curvature(const Vector& weights) const;
  /// All of it: a positive semidefinite matrix for the Hessian, its upper triangle.
  Matrix gauss_newton(const Vector& weights) const;
  /// Σ w loss over the rows named, and its gradient, in numbers of the precision. (All rows at once are always looked at in full.)
  double batch(const Vector& weights, std::span<const Index> which, const Dropout& dropout, Vector& gradient) const;

 private:
  template <class T>
  using Passes = std::vector<std::unique_ptr<PassOf<T>>>;
  template <class T>
  double sum(const VectorOf<T>& weights, std::span<const Index> which, VectorOf<T>* gradient, const Dropout& dropout,
             Passes<T>& free) const;
  const Network& net_;
  const Examples& examples_;
  double decay_, total_;
  Execution execution_;
  const Past* past_;
  Precision precision_;
  mutable std::mutex mutex_;
  mutable Passes<double> free_;  // spaces of passes that are over
  mutable Passes<float> free_single_;
  mutable SingleVector weights_, gradient_;  // of a batch, rounded
};

struct TrainingOptions {
  Solver solver = Solver::adam;
  double tolerance = 1e-5;  // all rows at once: of the gradient's norm, relative to that at the start
  long long max_iterations = 2000;
  long long epochs = 100;
  Index batch = 32;
  double step = 0.001, fade = 0, momentum = 0.9, dropout = 0, noise = 0;
  std::vector<double> rates = {};  // factor on the step of each layer with weights; empty: all 1
  int patience = 10;               // epochs, or iterations, without a lower loss of the rows held out
  double norm_at_start = 0;        // of the gradient, that `tolerance` is relative to; 0: where the work begins
};

/// What became of it.
struct Course {
  Vector weights;  // those of the least loss of the rows held out, where there are some
  std::vector<double> training,
      held_out;        // mean loss after each epoch or iteration; by batches, of each before its step
  long long best = 0;  // after which epoch, counted from 1, the weights are kept; 0: the start
  Stop stopped = Stop::not_yet;
  bool diverged = false;
};

/// Where training by batches stands after an epoch, and all it needs to go on with the same bits.
struct Snapshot {
  long long epoch = 0;      // epochs done
  std::uint64_t steps = 0;  // steps done
  Vector weights, first, second;
  double least = std::numeric_limits<double>::infinity();  // loss of the rows held out
  Course course;                                           // so far
};
/// Is told each, and may have one to go on from.
struct Keeper {
  const Snapshot* from = nullptr;
  std::function<void(const Snapshot&)> keep = {};
};

/// By batches, in another order each epoch: rows of `order.split(epoch)`, units left out, and noise, by `drops.split(step)`. With g the mean
/// gradient of a batch, λ/n θ in it, and ε = step / (1 + fade · epochs done):
///
///     sgd       v ← μ v + g,   θ ← θ − ε v                    nesterov   the same v,  θ ← θ − ε (g + μ v)
///     adam      m ← μ m + (1 − μ) g,  s ← 0.999 s + 0.001 g²,  θ ← θ − ε m̂ / (√ŝ + 1e−8),  m̂ and ŝ without their start at 0
///     rmsprop   s ← 0.9 s + 0.1 g²,   θ ← θ − ε g / (√s + 1e−8)
///
/// A batch whose loss is no number, or an epoch whose loss is ten times that of the start, ends it: the weights are then those
/// from the end of the epoch before.
Course train_by_batches(const Objective& objective, const Examples& held_out, Vector start, const TrainingOptions& how,
                        const RandomStream& order, const RandomStream& drops, const Keeper& keeper = {});
/// By L-BFGS, nonlinear conjugate gradients, or Levenberg and Marquardt.
Course train_on_all(const Objective& objective, const Examples& held_out, Vector start, const TrainingOptions& how);

}  // namespace lemma::neural
