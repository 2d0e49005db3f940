// lemma/neural/shared/training_test.cpp: training held against the same arithmetic in plain loops, and its bits on many threads.
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/params.hpp>
#include <lemma/neural/shared/training.hpp>
#include <lemma/optimize/gradient_check.hpp>

namespace lemma::neural {
namespace {

Examples made_up(Index n, std::uint64_t seed) {
  Examples out{normal_matrix(n, 3, seed, 1), Matrix::Zero(n, 2), Vector::Ones(n)};
  for (Index i = 0; i < n; ++i) {
    out.targets(i, out.x(i, 0) * out.x(i, 1) > 0.2 * out.x(i, 2) ? 1 : 0) = 1;
    out.weight(i) = 1 + static_cast<double>(i % 3);
  }
  return out;
}

using Numbers = std::vector<double>;

/// One hidden layer of tanh and a softmax, written out: weights as W₁, b₁, W₂, b₂.
struct Plain {
  int in = 3, hidden = 5, out = 2;
  Numbers theta;

  double w1(int k, int j) const { return theta[static_cast<std::size_t>(k * in + j)]; }
  int b1() const { return hidden * in; }
  int w2() const { return b1() + hidden; }
  int b2() const { return w2() + out * hidden; }

  /// −log p of the row's class, and w times its derivatives added.
  double row(const Examples& all, Index i, double w, Numbers* gradient) const {
    const auto t = [&](int place) { return theta[static_cast<std::size_t>(place)]; };
    Numbers h, z, p;
    for (int k = 0; k < hidden; ++k) {
      double sum = t(b1() + k);
      for (int j = 0; j < in; ++j) sum += w1(k, j) * all.x(i, j);
      h.push_back(std::tanh(sum));
    }
    double total = 0;
    for (int c = 0; c < out; ++c) {
      double sum = t(b2() + c);
      for (int k = 0; k < hidden; ++k) sum += t(w2() + c * hidden + k) * h[static_cast<std::size_t>(k)];
      z.push_back(sum);
      total += std::exp(sum);
    }
    for (const double each : z) p.push_back(std::exp(each) / total);
    const int label = all.targets(i, 1) == 1 ? 1 : 0;
    if (gradient) {
      const auto add = [&](int place, double v) { (*gradient)[static_cast<std::size_t>(place)] += w * v; };
      for (int k = 0; k < hidden; ++k) {
        double back = 0;
        for (int c = 0; c < out; ++c) {
          const double d = p[static_cast<std::size_t>(c)] - (c == label);
          add(w2() + c * hidden + k, d * h[static_cast<std::size_t>(k)]);
          back += d * t(w2() + c * hidden + k);
        }
        back *= 1 - h[static_cast<std::size_t>(k)] * h[static_cast<std::size_t>(k)];
        for (int j = 0; j < in; ++j) add(k * in + j, back * all.x(i, j));
        add(b1() + k, back);
      }
      for (int c = 0; c < out; ++c) add(b2() + c, p[static_cast<std::size_t>(c)] - (c == label));
    }
    return -std::log(p[static_cast<std::size_t>(label)]);
  }
};

/// The mean loss of each epoch, by batches in the order of the same stream.
Numbers plain_epochs(const Network& net, const Examples& all, const Vector& start, const TrainingOptions& how,
                     double decay, const RandomStream& order) {
  Plain plain;
  plain.theta.assign(start.begin(), start.end());
  const std::size_t size = plain.theta.size();
  Numbers velocity(size, 0), squares(size, 0), out;
  int steps = 0;
  const auto n = static_cast<std::size_t>(all.count());
  double total = 0;
  for (const double w : all.weight) total += w;
  for (int epoch = 0; epoch < how.epochs; ++epoch) {
    RandomStream shuffled = order.split(static_cast<std::uint64_t>(epoch));
    const std::vector<Index> rows = permutation(shuffled, all.count());
    const double step = how.step / (1 + how.fade * epoch);
    double sum = 0;
    for (std::size_t begin = 0; begin < n; begin += static_cast<std::size_t>(how.batch)) {
      const std::size_t end = std::min(n, begin + static_cast<std::size_t>(how.batch));
      Numbers g(size, 0);
      for (std::size_t i = begin; i < end; ++i)
        sum += all.weight(rows[i]) * plain.row(all, rows[i], all.weight(rows[i]), &g);
      for (double& each : g) each *= static_cast<double>(n) / static_cast<double>(end - begin) / total;
      for (Index l = 0; l < 2; ++l)
        for (Index i = net.begin(l); i < net.begin(l) + net.layers[static_cast<std::size_t>(l)].matrix_size(); ++i)
          g[static_cast<std::size_t>(i)] += decay / total * plain.theta[static_cast<std::size_t>(i)];
      ++steps;
      for (std::size_t i = 0; i < size; ++i) {
        double& v = velocity[i];
        double& s = squares[i];
        const double mu = how.momentum;
        double move = 0;
        switch (how.solver) {
          case Solver::nesterov: v = mu * v + g[i], move = g[i] + mu * v; break;
          case Solver::adam:
            v = mu * v + (1 - mu) * g[i], s = 0.999 * s + 0.001 * g[i] * g[i];
            move = v / (1 - std::pow(mu, steps)) / (std::sqrt(s / (1 - std::pow(0.999, steps))) + 1e-8);
            break;
          case Solver::rmsprop: s = 0.9 * s + 0.1 * g[i] * g[i], move = g[i] / (std::sqrt(s) + 1e-8); break;
          default: v = mu * v + g[i], move = v; break;
        }
        plain.theta[i] -= step * move;
      }
    }
    out.push_back(sum / total);
  }
  return out;
}

const Network kNet = dense_network({3, 5, 2}, Activation::tanh, Loss::cross_entropy);

TEST(Training, GivesTheLossOfEachEpochThatPlainLoopsGive) {
  const Examples all = made_up(203, 5), none{Matrix(0, 3), Matrix(0, 2), Vector(0)};
  const Vector start = kNet.initial(Init::glorot, RandomStream(3));
  const RandomStream order(7, 1);
  for (const Solver solver : {Solver::sgd, Solver::nesterov, Solver::adam, Solver::rmsprop})
    for (const Index batch : {1, 32, 75, 203}) {
      TrainingOptions how{.solver = solver, .epochs = 6, .batch = batch, .step = 0.01, .fade = 0.1, .momentum = 0.8};
      const Objective objective(kNet, all, 0.5, {});
      const Course found = train_by_batches(objective, none, start, how, order, RandomStream(7, 2));
      const Numbers plain = plain_epochs(kNet, all, start, how, 0.5, order);
      ASSERT_EQ(found.training.size(), plain.size());
      for (std::size_t e = 0; e < plain.size(); ++e)
        EXPECT_NEAR(found.training[e] / plain[e], 1, 1e-9)
            << name_of(solver) << " batches of " << batch << " epoch " << e;
      EXPECT_LT(plain.back(), plain.front());
    }
}

TEST(Training, InSinglePrecisionGivesTheLossesOfPlainLoopsToFourDigits) {
  const Examples all = made_up(203, 5), none{Matrix(0, 3), Matrix(0, 2), Vector(0)};
  const Vector start = kNet.initial(Init::glorot, RandomStream(3));
  const RandomStream order(7, 1);
  for (const Solver solver : {Solver::sgd, Solver::nesterov, Solver::adam, Solver::rmsprop}) {
    TrainingOptions how{.solver = solver, .epochs = 10, .batch = 32, .step = 0.01, .fade = 0.1, .momentum = 0.8};
    const Objective objective(kNet, all, 0.5, {}, nullptr, Precision::single);
    const Course found = train_by_batches(objective, none, start, how, order, RandomStream(7, 2));
    const Numbers plain = plain_epochs(kNet, all, start, how, 0.5, order);
    ASSERT_EQ(found.training.size(), plain.size());
    double off = 0;
    for (std::size_t e = 0; e < plain.size(); ++e) off = std::max(off, std::abs(found.training[e] / plain[e] - 1));
    EXPECT_LE(off, 1e-4) << name_of(solver);
    EXPECT_GT(off, 0) << name_of(solver);
  }
}

TEST(Training, HasTheSameBitsOnAnyNumberOfThreads) {
  const Examples all = made_up(1501, 5), held_out = made_up(300, 6);
  const Vector start = kNet.initial(Init::glorot, RandomStream(3));
  const auto trained = [&](int threads, bool on_all, Precision precision) {
    Execution execution;
    execution.threads = threads;
    const Objective objective(kNet, all, 0.1, execution, nullptr, precision);
    TrainingOptions how{
        .solver = on_all ? Solver::lbfgs : Solver::adam, .max_iterations = 40, .epochs = 3, .batch = 200};
    how.dropout = on_all ? 0 : 0.2;
    return on_all ? train_on_all(objective, held_out, start, how)
                  : train_by_batches(objective, held_out, start, how, RandomStream(1), RandomStream(2));
  };
  for (const auto& [on_all, precision] :
       {std::pair{false, Precision::full}, {false, Precision::single}, {true, Precision::full}}) {
    const Course one = trained(1, on_all, precision);
    for (const int threads : {2, 3, 8}) {
      const Course other = trained(threads, on_all, precision);
      EXPECT_EQ(other.weights, one.weights) << threads;
      EXPECT_EQ(other.training, one.training) << threads;
      EXPECT_EQ(other.held_out, one.held_out) << threads;
    }
  }
}

TEST(Training, OfAllRowsMovesAlongRightDerivatives) {
  const Examples all = made_up(600, 5);
  const Objective objective(kNet, all, 0.7, {});
  const auto found = check_derivatives(objective, kNet.initial(Init::he, RandomStream(2)));
  EXPECT_LE(found.gradient, 1e-6);
  EXPECT_LE(found.values, 1e-12);
}

TEST(Training, OnAllRowsEndsWhereTheGradientVanishes) {
  const Examples all = made_up(200, 5), none{Matrix(0, 3), Matrix(0, 2), Vector(0)};
  const Vector start = kNet.initial(Init::glorot, RandomStream(3));
  const Objective objective(kNet, all, 0.5, {});
  Vector before, after;
  objective.value(start, before);
  for (const Solver solver : {Solver::lbfgs, Solver::cg, Solver::lm}) {
    const Course found =
        train_on_all(objective, none, start, {.solver = solver, .tolerance = 1e-6, .max_iterations = 5000});
    EXPECT_EQ(found.stopped, Stop::converged) << name_of(solver);
    objective.value(found.weights, after);
    EXPECT_LE(after.norm(), 1e-6 * before.norm()) << name_of(solver);
    EXPECT_EQ(found.best, std::ssize(found.training));
  }
}

TEST(Training, ByLevenbergAndMarquardtIsThereInAFewSteps) {
  Examples all = made_up(200, 5), none{Matrix(0, 3), Matrix(0, 1), Vector(0)};
  all.targets = (all.x.col(0) - 0.5 * all.x.col(2)).array() + 0.1 * all.x.col(1).array().square();
  const Network linear = dense_network({3, 1}, Activation::identity, Loss::squared);
  const Objective straight(linear, all, 0.5, {});
  const Course one = train_on_all(straight, none, linear.initial(Init::glorot, RandomStream(3)),
                                  {.solver = Solver::lm, .tolerance = 1e-3});
  EXPECT_LE(one.training.size(), 2U);  // but for the damping it would be one
  const Network bent = dense_network({3, 6, 1}, Activation::tanh, Loss::squared);
  const Objective curved(bent, all, 1e-3, {});
  const Vector start = bent.initial(Init::glorot, RandomStream(3));
  const auto iterations = [&](Solver solver) {
    const Course found =
        train_on_all(curved, none, start, {.solver = solver, .tolerance = 1e-6, .max_iterations = 20000});
    EXPECT_EQ(found.stopped, Stop::converged) << name_of(solver);
    return found.training.size();
  };
  EXPECT_LT(2 * iterations(Solver::lm), iterations(Solver::lbfgs));
}

TEST(Training, ByRatesStepsOfALayerAreLongerOrNone) {
  const Examples all = made_up(203, 5), none{Matrix(0, 3), Matrix(0, 2), Vector(0)};
  const Vector start = kNet.initial(Init::glorot, RandomStream(3));
  const Objective objective(kNet, all, 0.5, {});
  for (const Solver solver : {Solver::sgd, Solver::nesterov, Solver::adam, Solver::rmsprop}) {
    const auto trained = [&](double step, std::vector<double> rates) {
      const TrainingOptions how{.solver = solver, .epochs = 4, .step = step, .rates = std::move(rates)};
      return train_by_batches(objective, none, start, how, RandomStream(7, 1), RandomStream(7, 2)).weights;
    };
    EXPECT_EQ(trained(0.01, {2, 2}), trained(0.02, {})) << name_of(solver);
    const Vector held = trained(0.01, {0, 1});
    EXPECT_EQ(held.head(kNet.begin(1)), start.head(kNet.begin(1)));
    EXPECT_NE(held.tail(3), start.tail(3));
  }
}

TEST(Training, GoesOnFromAnyEpochWithTheSameBits) {
  const Examples all = made_up(203, 5), held_out = made_up(90, 6);
  const Vector start = kNet.initial(Init::glorot, RandomStream(3));
  const Objective objective(kNet, all, 0.5, {});
  for (const Solver solver : {Solver::sgd, Solver::nesterov, Solver::adam, Solver::rmsprop}) {
    TrainingOptions how{.solver = solver, .epochs = 9, .step = 0.01, .fade = 0.1, .dropout = 0.3, .noise = 0.01};
    const auto trained = [&](const Keeper& keeper) {
      return train_by_batches(objective, held_out, start, how, RandomStream(7, 1), RandomStream(7, 2), keeper);
    };
    std::vector<Snapshot> kept;
    const Course whole = trained({nullptr, [&](const Snapshot& snapshot) { kept.push_back(snapshot); }});
    ASSERT_EQ(kept.size(), 9U);
    for (const std::size_t epoch : {0U, 4U, 8U}) {
      const Course again = trained({&kept[epoch], {}});
      EXPECT_EQ(again.weights, whole.weights) << name_of(solver) << epoch;
      EXPECT_EQ(again.training, whole.training);
      EXPECT_EQ(again.held_out, whole.held_out);
      EXPECT_EQ(again.best, whole.best);
    }
  }
}

TEST(Training, KeepsTheWeightsOfTheLeastLossOfTheRowsHeldOut) {
  const Examples all = made_up(40, 5), held_out = made_up(200, 6);
  const Network net = dense_network({3, 30, 2}, Activation::tanh, Loss::cross_entropy);
  const Vector start = net.initial(Init::glorot, RandomStream(3));
  const Objective objective(net, all, 0, {}), judged(net, held_out, 0, {});
  for (const Solver solver : {Solver::adam, Solver::lbfgs}) {
    TrainingOptions how{.solver = solver, .epochs = 500, .step = 0.05, .patience = 7};
    const Course found = solver == Solver::adam
                             ? train_by_batches(objective, held_out, start, how, RandomStream(1), RandomStream(2))
                             : train_on_all(objective, held_out, start, how);
    EXPECT_EQ(found.stopped, Stop::by_caller) << name_of(solver);
    EXPECT_EQ(std::ssize(found.held_out), found.best + 7);
    const double least = *std::min_element(found.held_out.begin(), found.held_out.end());
    EXPECT_EQ(least, found.held_out[static_cast<std::size_t>(found.best - 1)]);
    EXPECT_EQ(judged.loss(found.weights) / judged.total(), least);
  }
}

TEST(Training, ShakesTheGradientByNoiseThatGrowsQuieter) {
  // without any slope, a step of sgd is the noise itself
  const Examples all{Matrix::Zero(20, 3), Matrix::Zero(20, 1), Vector::Ones(20)},
      none{Matrix(0, 3), Matrix(0, 1), Vector(0)};
  const Network net = dense_network({3, 800, 1}, Activation::identity, Loss::squared);
  const Objective objective(net, all, 0, {});
  const auto moved = [&](long long epochs, double noise) {
    Vector start = Vector::Zero(net.weight_count());
    const TrainingOptions how{
        .solver = Solver::sgd, .epochs = epochs, .batch = 20, .step = 1e-3, .momentum = 0, .noise = noise};
    return train_by_batches(objective, none, start, how, RandomStream(1), RandomStream(2)).weights;
  };
  const auto deviation = [](const Vector& v) { return v.norm() / std::sqrt(static_cast<double>(v.size())); };
  EXPECT_NEAR(deviation(moved(1, 0.5)) / (1e-3 * 0.5), 1, 0.05);
  EXPECT_NEAR(deviation(moved(2, 0.5) - moved(1, 0.5)) / (1e-3 * 0.5 / std::pow(2, 0.275)), 1, 0.05);
  EXPECT_EQ(moved(3, 0).norm(), 0);
}

TEST(Training, FindsStepsThatDivergeWithinAnEpochAndKeepsTheWeightsBefore) {
  const Examples all = made_up(400, 5), none{Matrix(0, 3), Matrix(0, 1), Vector(0)};
  const Network net = dense_network({3, 8, 1}, Activation::identity, Loss::squared);
  Examples numbers = all;
  numbers.targets = all.x.rowwise().sum();
  const Vector start = net.initial(Init::glorot, RandomStream(3));
  const Objective objective(net, numbers, 0, {});
  const Course at_once = train_by_batches(objective, none, start, {.solver = Solver::sgd, .step = 50, .momentum = 0},
                                          RandomStream(1), RandomStream(2));
  EXPECT_TRUE(at_once.diverged);
  EXPECT_TRUE(at_once.training.empty());
  EXPECT_EQ(at_once.weights, start);
  // a step that grows: it goes well until it does not
  const Course later = train_by_batches(
      objective, none, start, {.solver = Solver::sgd, .epochs = 400, .step = 0.01, .fade = -0.02, .momentum = 0},
      RandomStream(1), RandomStream(2));
  EXPECT_TRUE(later.diverged);
  EXPECT_GT(later.training.size(), 5U);
  EXPECT_TRUE(later.weights.allFinite());
  EXPECT_LT(objective.loss(later.weights), objective.loss(start));
}

}  // namespace
}  // namespace lemma::neural
