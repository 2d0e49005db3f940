// lemma/bayes/mcmc/certify.cpp: what the draws must be if they are draws of the posterior of these rows.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/bayes/mcmc/diagnostics.hpp>
#include <lemma/bayes/mcmc/predictors.hpp>
#include <lemma/bayes/mcmc/target.hpp>
#include <lemma/math/factorise.hpp>
#include <lemma/math/special.hpp>
#include <lemma/model/comparison.hpp>

namespace lemma {
namespace mcmc {
namespace {

constexpr double kMostRHat = 1.05, kLeastEffective = 100, kMostDivergent = 0.01, kMostErrors = 5;
constexpr double kTail = 0.05;                   // of the draws, below and above
constexpr std::uint64_t kOwnSeed = 0x5ec0'4d5e;  // of the second set of chains

// ---- The energy of each draw and its gradient, from the rows by another way than the chains took ----

/// Σ w ℓ of each draw and its gradient by plain sums; of the Gaussian Σ w (t − η)² and −Σ w (t − η) z.
struct PlainSums {
  const McmcModel* model;
  const Predictors* predictors;
  Vector loss;
  Matrix slope;  // a row for each plane of each draw
  double rows = 0;

  PlainSums(const McmcModel& m, const Predictors& p)
      : model(&m),
        predictors(&p),
        loss(Vector::Zero(m.theta.rows())),
        slope(Matrix::Zero(m.theta.rows() * m.planes(), m.terms())) {}
  void accumulate(const Block& block) {
    const Index k = model->planes();
    Matrix pull;  // dℓ/dη
    predictors->each(block.x, [&](Index first, const Matrix& z, const Matrix& eta) {
      pull.resize(eta.rows(), eta.cols());
      for (Index i = 0; i < eta.rows(); ++i) {
        const double w = block.weight_of(first + i);
        rows += w;
        for (Index s = 0; s < loss.size(); ++s) {
          const double* own = &eta(i, s * k);
          double* by = &pull(i, s * k);
          const double l = w == 0 ? 0 : loss_of(block, first + i, own, by);
          loss(s) += w * l;
          for (Index c = 0; c < k; ++c) by[c] = w == 0 ? 0 : w * by[c];
        }
      }
      slope.noalias() += pull.transpose() * z;
    });
  }
  double loss_of(const Block& block, Index row, const double* eta, double* pull) const {
    switch (*model->spec.family) {
      case McmcFamily::logistic: {
        const double sign = block.label[at(row)] == 1 ? -1 : 1;
        *pull = sign * logistic(sign * *eta);
        return log1p_exp(sign * *eta);
      }
      case McmcFamily::softmax: {
        const Index k = model->planes(), own = block.label[at(row)];
        const double most = *std::max_element(eta, eta + k);
        double total = 0;
        for (Index c = 0; c < k; ++c) total += pull[c] = std::exp(eta[c] - most);
        for (Index c = 0; c < k; ++c) pull[c] = pull[c] / total - (c == own ? 1 : 0);
        return most + std::log(total) - eta[own];
      }
      case McmcFamily::poisson: {
        const double mu = std::exp(*eta);
        *pull = mu - block.y[at(row)];
        return mu - block.y[at(row)] * *eta;
      }
      case McmcFamily::gaussian: break;
    }
    const double off = (block.y[at(row)] - model->centre) / model->unit - *eta;
    *pull = -off;
    return off * off;
  }
  void merge(const PlainSums& other) {
    loss += other.loss;
    slope += other.slope;
    rows += other.rows;
  }
};

struct Energies {
  Vector value;
  Matrix slope;  // ∂U/∂θ, a row for each draw
};
Energies energies(const McmcModel& m, const Rows& rows, const Execution& execution) {
  const Predictors predictors(m);
  const PlainSums found = scan(rows, PlainSums(m, predictors), execution);
  const Index size = m.planes() * m.terms();
  Energies out{found.loss, Matrix(m.theta.rows(), m.theta.cols())};
  out.slope.leftCols(size) = Eigen::Map<const Matrix>(found.slope.data(), m.theta.rows(), size);
  for (Index s = 0; s < m.theta.rows(); ++s) {
    if (*m.spec.family == McmcFamily::gaussian) {
      const double sigma = sigma_of(m, s), log_sigma = m.draws_noise() ? std::log(sigma) : 0;
      const double squares = found.loss(s) / (sigma * sigma);
      out.value(s) = 0.5 * squares + found.rows * log_sigma + 0.5 * log_sigma * log_sigma;
      out.slope.row(s).head(size) /= sigma * sigma;
      if (m.draws_noise()) out.slope(s, size) = found.rows - squares + log_sigma;
    }
    for (Index j = 0; j < size; ++j) {
      const double c = m.theta(s, j), precision = j % m.terms() < m.lead() ? kInterceptPrecision : m.spec.alpha;
      out.value(s) += 0.5 * precision * c * c;
      out.slope(s, j) += precision * c;
    }
  }
  return out;
}

// ---- Doubts: how far something is from what it should be, in Monte Carlo errors ----

struct Doubt {
  double worst = 0;
  std::string about;
  void add(double off, double error, const std::string& what) {
    const double found = off == 0 ? 0 : std::abs(off) / error;
    if (found <= worst) return;
    worst = found;  // NaN too
    about = what;
  }
};

std::string named(const char* what, Index j) { return fmt::format("{} {}", what, j + 1); }

/// Of draws of e^−U alone E f′(q) = E f(q) ∂U/∂q, for every f that does not grow too fast. Here f is 1, q, and what of q lies
/// beyond one posterior deviation on either side; for f = q all coordinates together as well. q is any linear map of θ.
Doubt stein(const McmcModel& m, const Matrix& q, const Matrix& slope) {
  Doubt out;
  const auto ask = [&](const Vector& h, const std::string& what) {
    const Matrix chains = Eigen::Map<const Matrix>(h.data(), m.spec.chains, m.spec.draws);
    out.add(h.mean(), mean_error(chains), what);
  };
  for (Index j = 0; j < q.cols(); ++j) {
    const auto x = q.col(j).array(), g = slope.col(j).array();
    ask(g.matrix(), named("the mean of direction", j));
    ask((1 - x * g).matrix(), named("the spread of direction", j));
    ask(((x > 1).cast<double>() - (x - 1).max(0) * g).matrix(), named("the upper tail of direction", j));
    ask(((x < -1).cast<double>() - (x + 1).min(0) * g).matrix(), named("the lower tail of direction", j));
  }
  ask((static_cast<double>(q.cols()) - q.cwiseProduct(slope).rowwise().sum().array()).matrix(), "the spread of all");
  return out;
}

/// The other sampler's draws of the same posterior, fewer.
Matrix other_draws(const McmcModel& m, const Target& target, const Round& round, const Execution& execution) {
  Mcmc other = m.spec;
  const bool walks = m.spec.sampler == McmcSampler::nuts;
  other.sampler = walks ? McmcSampler::metropolis : McmcSampler::nuts;
  other.chains = 4;
  other.draws = std::clamp(m.spec.draws / 5, 60, 1000);
  other.warmup = walks ? 60 : 150;
  other.target = 0.8;
  return user_draws(m, drawn(other, target, round, kOwnSeed, execution).theta);
}

/// Means, spreads and tails of two sets of draws.
Doubt apart(const McmcModel& m, const Matrix& other, Index chains) {
  Doubt out;
  const Matrix own = user_draws(m, m.theta);
  for (Index j = 0; j < own.cols(); ++j) {
    const Matrix a = chains_of(own, j, m.spec.chains), b = chains_of(other, j, chains);
    out.add(a.mean() - b.mean(), std::hypot(mean_error(a), mean_error(b)), named("the mean of quantity", j));
    out.add(deviation_of(a) - deviation_of(b), std::hypot(deviation_error(a), deviation_error(b)),
            named("the standard deviation of quantity", j));
    for (const double p : {kTail, 1 - kTail}) {
      const double end = quantile_of(a.reshaped(), p);
      const double by_chance = std::sqrt(p * (1 - p) / effective_size(b));  // where none of b is there
      out.add((a.array() <= end).cast<double>().mean() - (b.array() <= end).cast<double>().mean(),
              std::hypot(share_error(a, end), std::max(share_error(b, end), by_chance)),
              named(p < 0.5 ? "the lower tail of quantity" : "the upper tail of quantity", j));
    }
  }
  return out;
}

void compare(Comparison& same, const McmcModel& model, const Sizes& sizes) {
  for (Index j = 0; j < model.width(); ++j) {
    same.entry("mean", j, model.mean(j), sizes.mean(j), sizes.scale(j) + 1e-6 * std::abs(sizes.mean(j)));
    same.entry("scale", j, model.scale(j), sizes.scale(j), sizes.scale(j));
  }
  same.number("centre", model.centre, sizes.centre, sizes.unit + 1e-6 * std::abs(sizes.centre));
  same.relative("unit", model.unit, sizes.unit);
}

/// What is told of the draws, told anew.
void compare_told(Comparison& same, const McmcModel& model) {
  McmcModel anew = model;
  tell(anew);
  for (Index j = 0; j < model.quantities.rows(); ++j)
    for (Index c = 0; c < model.quantities.cols(); ++c)
      same.entry("quantities", model.quantities.cols() * j + c, model.quantities(j, c), anew.quantities(j, c),
                 c < 4 ? anew.quantities(j, 1) + 1e-6 * std::abs(anew.quantities(j, c)) : anew.quantities(j, c), 1e-7);
  for (Index k = 0; k < model.planes(); ++k) {
    const double size = model.spec.intercept ? anew.quantities(k * model.terms(), 1) : 1;
    same.entry("intercept", k, model.intercept.of(k), anew.intercept.of(k),
               size + 1e-6 * std::abs(anew.intercept.of(k)));
    for (Index j = 0; j < model.width(); ++j)
      same.entry("coefficients", k * model.width() + j, model.coefficients.of(k, j), anew.coefficients.of(k, j),
                 anew.quantities(k * model.terms() + model.lead() + j, 1));
  }
}

}  // namespace
}  // namespace mcmc

Certificate certify(const McmcModel& model, const Rows& rows, const Execution& execution) {
  using namespace mcmc;
  Certificate out;
  out.strength = Strength::consistent;
  out.kind = "doubt about the draws, of what is allowed";
  out.tolerance = 1;
  out.iterations = model.theta.rows();
  out.stopped = "all draws";
  Comparison same;
  same.number("family", static_cast<double>(*model.spec.family), static_cast<double>(family_of(model.spec, rows)), 1);
  const Sizes sizes = sizes_of(model.spec, rows, execution.part(0, 0.05));
  compare(same, model, sizes);
  compare_told(same, model);
  if (same.finding()) {  // before what takes longer
    same.report(out);
    return out;
  }
  const Energies found = energies(model, rows, execution.part(0.05, 0.4));
  for (Index s = 0; s < found.value.size(); ++s)
    same.entry("energy", s, model.energy(s), found.value(s), 1 + std::abs(found.value(s)) + sizes.rows);
  if (same.finding()) {
    same.report(out);
    return out;
  }
  const Target target(model.spec, sizes, rows, execution.part(0.4, 0.42));
  const Round round = round_about_the_mode(target, execution.part(0.42, 0.45));
  const Matrix q = solve_upper(round.from_q, (model.theta.rowwise() - round.mode.transpose()).transpose()).transpose();
  const Doubt identities = stein(model, q, found.slope * round.from_q);
  const Matrix other = other_draws(model, target, round, execution.part(0.45, 1, "chains of the other sampler"));
  const Doubt others = apart(model, other, 4);
  const double r_hat = model.quantities.col(6).maxCoeff(), effective = model.quantities.col(5).minCoeff();
  const double divergent = static_cast<double>(model.divergences) / static_cast<double>(model.theta.rows());
  out.value = 0;
  for (const double part : {(r_hat - 1) / (kMostRHat - 1), kLeastEffective / effective, divergent / kMostDivergent,
                            identities.worst / kMostErrors, others.worst / kMostErrors})
    if (!(part <= out.value)) out.value = part;
  out.message = fmt::format(
      "R-hat is at most {:.3f} (allowed {}), the effective size at least {:.0f} (wanted {:.0f}), {} of {} draws are "
      "divergent; identities that draws of this posterior alone meet are met up to {:.1f} Monte Carlo errors (allowed "
      "{}{}), and means, spreads and tails of chains of another kind are within {:.1f} (allowed {}{}).",
      r_hat, kMostRHat, effective, kLeastEffective, model.divergences, model.theta.rows(), identities.worst,
      kMostErrors, identities.worst <= kMostErrors ? "" : "; worst for " + identities.about, others.worst, kMostErrors,
      others.worst <= kMostErrors ? "" : "; worst for " + others.about);
  return out;
}

}  // namespace lemma
