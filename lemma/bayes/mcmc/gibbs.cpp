// lemma/bayes/mcmc/gibbs.cpp: each part of θ from its conditional, given the others.
//
//     gaussian  θ given σ is N(Λ⁻¹ Zᵀt/σ², Λ⁻¹), Λ = ZᵀZ/σ² + prior;  log σ given θ by a slice of its density (Neal 2003)
//     logistic  ωᵢ given θ is PG(wᵢ, ηᵢ);  θ given ω is N(Λ⁻¹ Zᵀ(w (t − ½)), Λ⁻¹), Λ = ZᵀΩZ + prior
//     softmax   plane k given the others is logistic with ψ = ηₖ − log Σ over the others of e^η; and what is added to a coefficient of
//               all planes at once changes the prior alone: it is Gaussian
#include <cmath>
#include <fmt/core.h>
#include <lemma/bayes/mcmc/gibbs.hpp>
#include <lemma/core/hearing.hpp>
#include <lemma/math/factorise.hpp>
#include <numbers>

namespace lemma::mcmc {
namespace {

constexpr double kTurn = 0.64;  // of the series: below it one form, above it the other
constexpr double kMostCopies = 10'000;

double exponential(RandomStream& random) { return -std::log1p(-random.uniform()); }
double log_normal_cdf(double x) { return std::log(0.5 * std::erfc(-x * std::numbers::sqrt2 / 2)); }

/// Terms of the alternating series for the density of J*(1, 0) at x.
double term(int n, double x) {
  const double k = (n + 0.5) * std::numbers::pi;
  if (x > kTurn) return k * std::exp(-0.5 * k * k * x);
  const double power = -1.5 * (std::log(0.5 * std::numbers::pi) + std::log(x));
  return k * std::exp(power - 2 * (n + 0.5) * (n + 0.5) / x);
}

/// Of the two parts of the proposal, how probable that beyond the turn is.
double share_beyond(double z) {
  const double rate = 0.125 * std::numbers::pi * std::numbers::pi + 0.5 * z * z, root = 1 / std::sqrt(kTurn);
  const double base = std::log(rate) + rate * kTurn;
  const double below = std::exp(base - z + log_normal_cdf(root * (kTurn * z - 1))) +
                       std::exp(base + z + log_normal_cdf(-root * (kTurn * z + 1)));
  return 1 / (1 + 4 / std::numbers::pi * below);
}

/// An inverse Gaussian of mean 1/z that is at most the turn.
double inverse_gaussian(double z, RandomStream& random) {
  if (z * kTurn < 1) {
    for (;;) {
      double e = exponential(random), f = exponential(random);
      while (e * e > 2 * f / kTurn) e = exponential(random), f = exponential(random);
      const double x = kTurn / ((1 + e * kTurn) * (1 + e * kTurn));
      if (random.uniform() <= std::exp(-0.5 * z * z * x)) return x;
    }
  }
  const double mean = 1 / z;
  for (;;) {
    const double n = random.normal(), y = mean * n * n;
    double x = mean + 0.5 * mean * (y - std::sqrt(4 * y + y * y));
    if (random.uniform() > mean / (mean + x)) x = mean * mean / x;
    if (x <= kTurn) return x;
  }
}

/// N(Λ⁻¹ b, Λ⁻¹).
Vector normal_of(const Matrix& precision, const Vector& b, RandomStream& random) {
  const auto r = cholesky(precision);
  if (!r) throw Error("mcmc: gibbs found a conditional without a width; standardize the columns or raise alpha");
  Vector noise(b.size());
  for (double& each : noise) each = random.normal();
  return solve_upper(*r, Matrix(solve_upper_transposed(*r, Matrix(b)) + noise));
}

/// A draw of log σ, of which the density is e^(−n s − ½ squares e^(−2s) − ½ s²), after s.
double slice_of_log_sigma(double s, double n, double squares, RandomStream& random) {
  const auto log_density = [&](double at) { return -n * at - 0.5 * squares * std::exp(-2 * at) - 0.5 * at * at; };
  const double height = log_density(s) - exponential(random), width = 4 / std::sqrt(2 * n + 1);
  double low = s - width * random.uniform(), high = low + width;
  while (log_density(low) > height) low -= width;
  while (log_density(high) > height) high += width;
  for (;;) {
    const double to = low + (high - low) * random.uniform();
    if (log_density(to) >= height) return to;
    (to < s ? low : high) = to;
  }
}

}  // namespace

double polya_gamma(double z, RandomStream& random) {
  z = 0.5 * std::abs(z);
  const double rate = 0.125 * std::numbers::pi * std::numbers::pi + 0.5 * z * z, beyond = share_beyond(z);
  for (;;) {
    const double x = random.uniform() < beyond ? kTurn + exponential(random) / rate : inverse_gaussian(z, random);
    double sum = term(0, x);
    const double height = random.uniform() * sum;
    for (int n = 1;; ++n) {
      sum += n % 2 == 1 ? -term(n, x) : term(n, x);
      if (n % 2 == 1 && height <= sum) return 0.25 * x;
      if (n % 2 == 0 && height > sum) break;
    }
  }
}

void Target::require_conditionals() const {
  if (family_ == McmcFamily::poisson)
    throw Error("mcmc: of a Poisson regression the conditionals are not known; use --sampler nuts or metropolis");
  if (family_ == McmcFamily::gaussian) return;
  for (Index i = 0; i < weight_.size(); ++i)
    if (weight_(i) != std::floor(weight_(i)) || weight_(i) > kMostCopies)
      throw Error(fmt::format("mcmc: gibbs takes a row of weight w as w rows, and a weight is {:g}; use --sampler nuts",
                              weight_(i)));
}

/// ZᵀΩZ + the prior's precision.
Matrix Target::precision_of(const Vector& omega) const {
  Matrix out = Matrix::Zero(terms_, terms_);
  for (Index i = 0; i < z_.rows(); ++i)
    for (Index j = 0; j < terms_; ++j) {
      const double by = omega(i) * z_(i, j);
      for (Index l = j; l < terms_; ++l) out(j, l) += by * z_(i, l);
    }
  for (Index j = 0; j < terms_; ++j) {
    out(j, j) += j < lead_ ? kInterceptPrecision : alpha_;
    for (Index l = j + 1; l < terms_; ++l) out(l, j) = out(j, l);
  }
  return out;
}

void Target::sweep_gaussian(Vector& theta, RandomStream& random) const {
  const double sigma = draws_noise_ ? std::exp(theta(terms_)) : sigma_, by = 1 / (sigma * sigma);
  const Vector c = normal_of(precision_of(Vector::Constant(z_.rows(), by)), by * (z_.transpose() * t_), random);
  theta.head(terms_) = c;
  if (draws_noise_) theta(terms_) = slice_of_log_sigma(theta(terms_), rows_, (t_ - z_ * c).squaredNorm(), random);
}

/// Plane k, of which `elsewhere` holds what its η is held against: 0, or log Σ e^η of the other planes.
void Target::sweep_plane(Eigen::Ref<Vector> c, Index k, const Vector& elsewhere, RandomStream& random) const {
  const Vector psi = z_ * c - elsewhere;
  Vector omega(z_.rows()), b = Vector::Zero(terms_);
  for (Index i = 0; i < z_.rows(); ++i) {
    omega(i) = 0;
    for (double copy = 0; copy < weight_(i); ++copy) omega(i) += polya_gamma(psi(i), random);
    const double pull = weight_(i) * (label_[at(i)] == k ? 0.5 : -0.5) + omega(i) * elsewhere(i);
    for (Index j = 0; j < terms_; ++j) b(j) += pull * z_(i, j);
  }
  c = normal_of(precision_of(omega), b, random);
}

void Target::sweep(Vector& theta, RandomStream& random) const {
  if (family_ == McmcFamily::gaussian) return sweep_gaussian(theta, random);
  if (family_ == McmcFamily::logistic) return sweep_plane(theta.head(terms_), 1, Vector::Zero(z_.rows()), random);
  Eigen::Map<Matrix> planes(theta.data(), planes_, terms_);
  for (Index k = 0; k < planes_; ++k) {
    const Matrix eta = z_ * planes.transpose();
    Vector elsewhere(z_.rows());
    for (Index i = 0; i < eta.rows(); ++i) {
      double most = -INFINITY, sum = 0;
      for (Index l = 0; l < planes_; ++l)
        if (l != k) most = std::max(most, eta(i, l));
      for (Index l = 0; l < planes_; ++l)
        if (l != k) sum += std::exp(eta(i, l) - most);
      elsewhere(i) = most + std::log(sum);
    }
    sweep_plane(theta.segment(k * terms_, terms_), k, elsewhere, random);
  }
  for (Index j = 0; j < terms_; ++j) {  // along (1, …, 1): the probabilities stay
    const double precision = j < lead_ ? kInterceptPrecision : alpha_;
    planes.col(j).array() +=
        random.normal() / std::sqrt(precision * static_cast<double>(planes_)) - planes.col(j).mean();
  }
}

Chain run_gibbs(const Mcmc& spec, const Target& target, Vector theta, RandomStream& random) {
  Chain out{Matrix(spec.draws, theta.size()), Vector(spec.draws), 1, 1};
  for (Index i = -spec.warmup; i < spec.draws; ++i) {
    ask();
    for (int round = 0; round < kSweeps; ++round) target.sweep(theta, random);
    if (i < 0) continue;
    out.q.row(i) = theta;
    out.energy(i) = target(theta, nullptr);
  }
  return out;
}

}  // namespace lemma::mcmc
