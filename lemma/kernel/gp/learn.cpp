// lemma/kernel/gp/learn.cpp: type II maximum likelihood on the logarithms of the hyperparameters.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/random.hpp>
#include <lemma/kernel/gp/parts.hpp>
#include <lemma/math/factorise.hpp>
#include <lemma/math/tiled_cholesky.hpp>
#include <lemma/optimize/minimise.hpp>
#include <string>

namespace lemma::gp {
namespace {

constexpr double kSpread = 3;  // of the starts by chance, in natural logarithms to either side of the reference

double variance_of(const KernelRows& data) {
  const double mean = data.weight.dot(data.y) / data.mass();
  const double variance = data.weight.dot((data.y.array() - mean).square().matrix()) / data.mass();
  return variance > 0 && std::isfinite(variance) ? variance : 1;
}

/// Widths as chosen from the rows' spread, in the place of those that are there.
double chosen_width(const KernelRows& data) {
  const Kernel kernel = Kernel(Rbf{}).resolved(data.points, data.weights());
  return 1 / std::sqrt(2 * kernel.get<Rbf>()->gamma.value());
}
std::vector<double> chosen_lengths(const KernelRows& data) {
  const Vector sd = data.points.variances(data.weights()).cwiseSqrt();
  const double root = std::sqrt(static_cast<double>(sd.size())), all = chosen_width(data);
  std::vector<double> out;
  for (const double each : sd) out.push_back(each > 0 ? root * each : all);
  return out;
}

/// Every number as the rows would choose it, factors 1.
Kernel skeleton(const Kernel& kernel, const KernelRows& data) {
  return kernel.changed([&](const Kernel::Named& named) -> Kernel {
    if (const auto* rbf = std::get_if<Rbf>(&named)) {
      if (rbf->metric.size() > 0) return *rbf;
      if (!rbf->lengths.empty()) return Rbf{.lengths = chosen_lengths(data)};
      if (rbf->sigma) return Rbf{.sigma = chosen_width(data)};
      return Kernel(Rbf{}).resolved(data.points, data.weights());
    }
    if (const auto* matern = std::get_if<Matern>(&named)) {
      if (!matern->lengths.empty()) return Matern{.nu = matern->nu, .lengths = chosen_lengths(data)};
      return Matern{.nu = matern->nu, .length = chosen_width(data)};
    }
    if (const auto* poly = std::get_if<Poly>(&named))
      return Kernel(Poly{.degree = poly->degree, .offset = poly->offset > 0 ? 1.0 : 0.0})
          .resolved(data.points, data.weights());
    if (std::get_if<Laplace>(&named)) return Kernel(Laplace{}).resolved(data.points, data.weights());
    if (std::get_if<Tanh>(&named)) return Kernel(Tanh{}).resolved(data.points, data.weights());
    if (const auto* constant = std::get_if<ConstantKernel>(&named))
      return ConstantKernel{constant->value > 0 ? 1.0 : 0.0};
    return std::visit([](const auto& atom) { return Kernel(atom); }, named);
  });
}

double mean_diagonal(const Kernel& kernel, const KernelRows& data) {
  const double all = BoundKernel(kernel, data.points).diagonal().dot(data.weight) / data.mass();
  return all > 0 && std::isfinite(all) ? all : 1;
}

Kernel with_lengths(const Kernel& kernel, const KernelRows& data) {
  return kernel.changed([&](const Kernel::Named& named) -> Kernel {
    const auto same = [&](double width) {
      return std::vector<double>(static_cast<std::size_t>(data.points.width()), width);
    };
    if (const auto* rbf = std::get_if<Rbf>(&named); rbf && rbf->lengths.empty() && rbf->metric.size() == 0)
      return Rbf{.lengths = rbf->rate() ? same(1 / std::sqrt(2 * *rbf->rate())) : chosen_lengths(data)};
    if (const auto* matern = std::get_if<Matern>(&named); matern && matern->lengths.empty())
      return Matern{.nu = matern->nu, .lengths = matern->length ? same(*matern->length) : chosen_lengths(data)};
    return std::visit([](const auto& atom) { return Kernel(atom); }, named);
  });
}

bool has_factor(const Kernel& term) {
  if (term.get<ConstantKernel>()) return true;
  const auto* product = std::get_if<Kernel::Product>(&term.node());
  return product && std::any_of(product->factors.begin(), product->factors.end(),
                                [](const Kernel& factor) { return factor.get<ConstantKernel>() != nullptr; });
}

/// A variance for each term that has none.
Kernel with_factors(const Kernel& kernel, const KernelRows& data) {
  if (kernel.get<Precomputed>()) return kernel;
  const auto* sum = std::get_if<Kernel::Sum>(&kernel.node());
  const std::vector<Kernel> terms = sum ? sum->terms : std::vector<Kernel>{kernel};
  const double share = variance_of(data) / static_cast<double>(terms.size());
  std::vector<Kernel> out;
  for (const Kernel& term : terms) out.push_back(has_factor(term) ? term : (share / mean_diagonal(term, data)) * term);
  return out.size() == 1 ? out[0] : Kernel(Kernel::Sum{std::move(out)});
}

/// −log p(y) in u, with log θ = reference + kReach tanh(u / kReach): the same near the reference, and never beyond reach.
struct Search {
  const Setting& like;
  const Likelihood& likelihood;
  const Vector& references;  // logarithms
  const std::vector<Index>& free;
  const Vector& fixed;  // values of all

  Vector logs(const Vector& u) const {
    Vector out(u.size());
    for (Index t = 0; t < u.size(); ++t) out(t) = references(free[at(t)]) + kReach * std::tanh(u(t) / kReach);
    return out;
  }
  Vector coordinates(const Vector& all_values) const {
    Vector out(static_cast<Index>(free.size()));
    for (Index t = 0; t < out.size(); ++t) {
      const double share = (std::log(all_values(free[at(t)])) - references(free[at(t)])) / kReach;
      out(t) = kReach * std::atanh(std::clamp(share, -0.98, 0.98));
    }
    return out;
  }
  Setting setting(const Vector& u) const {
    Vector values = fixed;
    const Vector found = logs(u);
    for (Index t = 0; t < u.size(); ++t) values(free[at(t)]) = std::exp(found(t));
    return with_values(like, values);
  }
  double value(const Vector& u) const { return -likelihood.value(setting(u)); }
  double value(const Vector& u, Vector& gradient) const {
    Vector of_logs = Vector::Zero(references.size());
    const double value = -likelihood.value(setting(u), &of_logs);
    gradient.resize(u.size());
    for (Index t = 0; t < u.size(); ++t) {
      const double bend = std::tanh(u(t) / kReach);
      gradient(t) = -of_logs(free[at(t)]) * (1 - bend * bend);
    }
    return value;
  }
};

/// What a factorisation of a kernel matrix near singularity leaves of the likelihood's digits.
constexpr double kRoundingOfLikelihood = 1e-10;

/// Ends a descent when two steps in a row have won nothing that rounding could not: line searches would go on and on.
class Exhausted {
 public:
  bool operator()(const Iterate& at) {
    const bool won = at.iteration == 0 || last_ - at.value > kRoundingOfLikelihood * std::max(1.0, std::abs(at.value));
    idle_ = won ? 0 : idle_ + 1;
    last_ = at.value;
    return idle_ >= 2;
  }

 private:
  double last_ = 0;
  int idle_ = 0;
};

/// The likelihood cannot tell more of them, and a person can read these.
double six_digits(double value) { return std::stod(fmt::format("{:.5e}", value)); }

/// The last digits, which values cannot show: Newton's steps with the Hessian from differences of the gradient at the start.
Vector polished(const Search& search, Vector u) {
  constexpr double h = 1e-3;
  const Index count = u.size();
  Matrix hessian(count, count);
  for (Index t = 0; t < count; ++t) {
    Vector up, down;
    search.value(u + h * Vector::Unit(count, t), up);
    search.value(u - h * Vector::Unit(count, t), down);
    hessian.row(t) = (up - down).transpose() / (2 * h);
  }
  const auto r = cholesky((hessian + hessian.transpose()) / 2);
  if (!r || !hessian.allFinite()) return u;
  Vector gradient;
  search.value(u, gradient);
  for (int step = 0; step < 5; ++step) {
    const Vector next = u - solve_factored(*r, gradient);
    Vector there;
    search.value(next, there);
    if (!(there.cwiseAbs().maxCoeff() < gradient.cwiseAbs().maxCoeff())) break;
    u = next;
    gradient = there;
  }
  return u;
}

}  // namespace

Setting start(const Gp& spec, const KernelRows& data) {
  Kernel kernel = spec.ard ? with_lengths(spec.kernel, data) : spec.kernel;
  kernel = kernel.resolved(data.points, data.weights());
  if (spec.optimise) kernel = with_factors(kernel, data);
  return {kernel, spec.noise.value_or(0.1 * variance_of(data))};
}

Vector references(const Setting& setting, const KernelRows& data) {
  const double variance = variance_of(data);
  const Kernel plain = skeleton(setting.kernel, data);
  Vector out = Setting{plain, 0.1 * variance}.values();
  const auto names = hyperparameters(setting.kernel);
  const double size = variance / mean_diagonal(plain, data);
  for (std::size_t t = 0; t < names.size(); ++t)
    if (names[t].name.starts_with(ConstantKernel::name)) out(static_cast<Index>(t)) = size;
  return out.array().log();
}

Learned learn(const Gp& spec, const Setting& begin, const KernelRows& data, double jitter, std::uint64_t seed,
              const Execution& execution) {
  const Vector values = begin.values(), middle = references(begin, data);
  std::vector<Index> free;
  for (Index t = 0; t < values.size(); ++t) {
    const bool is_noise = t + 1 == values.size();
    if (!is_noise || (spec.learn_noise && begin.noise > 0)) free.push_back(t);
  }
  if (free.empty()) return {begin, 0, Stop::closed_form};
  Execution quiet = execution;
  quiet.message.clear();
  const Likelihood likelihood(data, spec.mean, jitter, quiet);
  const Search search{begin, likelihood, middle, free, values};
  const bool exact = data.count() <= GpModel::kMostForGradient;
  MinimiseOptions options;
  options.tolerance = exact ? 1e-11 : 1e-7;
  options.most_iterations = 200;
  options.rounding = kRoundingOfLikelihood;
  Learned best{begin, 0, Stop::no_descent};
  double least = 0;
  Vector place;   // of the best; none while that is the start itself
  Vector latest;  // where the descent under way has come to
  double latest_value = 0;
  const auto descend = [&](int round) {
    latest.resize(0);
    Vector u = search.coordinates(values);
    if (round > 0) {
      RandomStream chance(seed, static_cast<std::uint64_t>(round));
      for (Index t = 0; t < u.size(); ++t) u(t) = kSpread * (2 * chance.uniform() - 1);
    }
    const double from = static_cast<double>(round) / (spec.restarts + 1), share = 1.0 / (spec.restarts + 1);
    options.stop = [&, exhausted = Exhausted()](const Iterate& at) mutable {
      latest = at.x;
      latest_value = at.value;
      execution.report(from + share * (1 - 1 / (1 + 0.05 * static_cast<double>(at.iteration))),
                       "learning hyperparameters");
      return exhausted(at);
    };
    if (round == 0) {  // values that are the best already stay as they are, to the last bit
      Vector gradient;
      least = search.value(u, gradient);
      if (std::isfinite(least) && gradient.cwiseAbs().maxCoeff() <= kFlat * data.mass()) {
        best = {begin, 0, Stop::converged};
        return;
      }
    }
    if (!std::isfinite(search.value(u))) return;
    const Minimum found = lbfgs(search, u, options);
    best.iterations += found.iterations;
    if (round == 0 || !std::isfinite(least) || found.value < least - 1e-6 * (1 + std::abs(least))) {
      least = found.value;
      place = found.x;
      best.stopped = found.stopped == Stop::by_caller ? Stop::converged : found.stopped;
    }
  };
  try {
    for (int round = 0; round <= spec.restarts; ++round) descend(round);
  } catch (const Cancelled&) {  // the best there is
    if (latest.size() > 0 && (place.size() == 0 || latest_value < least)) place = latest;
    if (place.size() > 0) best.setting = search.setting(place);
    best.stopped = Stop::cancelled;
    return best;
  }
  if (place.size() > 0) best.setting = search.setting(exact ? polished(search, place) : place);
  if (place.size() > 0) {
    const Setting plain = with_values(best.setting, best.setting.values().unaryExpr(&six_digits));
    Vector gradient;
    search.value(search.coordinates(plain.values()), gradient);
    if (gradient.size() > 0 && gradient.cwiseAbs().maxCoeff() <= 0.5 * kFlat * data.mass()) best.setting = plain;
  }
  return best;
}

std::vector<bool> must_be_flat(const Gp& spec, const Setting& setting, const Vector& middle, const Vector& gradient) {
  const Vector values = setting.values();
  std::vector<bool> out;
  for (Index t = 0; t < values.size(); ++t) {
    const bool is_noise = t + 1 == values.size();
    if (is_noise && (!spec.learn_noise || setting.noise == 0)) {
      out.push_back(false);
      continue;
    }
    const double share = (std::log(values(t)) - middle(t)) / kReach;
    out.push_back(!(std::abs(share) > 0.9 && share * gradient(t) >= 0));
  }
  return out;
}

}  // namespace lemma::gp
