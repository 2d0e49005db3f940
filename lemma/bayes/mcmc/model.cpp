// lemma/bayes/mcmc/model.cpp: what the draws say of rows, words, and the certificate.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/bayes/mcmc/diagnostics.hpp>
#include <lemma/bayes/mcmc/target.hpp>
#include <lemma/core/row_views.hpp>
#include <lemma/core/text.hpp>
#include <lemma/math/distributions.hpp>
#include <lemma/math/row_products.hpp>
#include <lemma/math/special.hpp>
#include <lemma/model/comparison.hpp>

namespace lemma {
namespace mcmc {
namespace {

constexpr Index kRowsAtOnce = 64;
constexpr double kMostRHat = 1.05, kMostErrors = 5, kMostDivergent = 0.01;
constexpr std::uint64_t kOwnSeed = 0x5ec0'4d5e;  // of the second set of chains

/// η of a few rows for every draw: row by row, the planes of a draw side by side.
class Predictors {
 public:
  explicit Predictors(const McmcModel& model) : model_(model), right_(planes_of(model), RightFactor::As::transposed) {}
  Matrix operator()(const MatrixView& x) const {
    Matrix z(x.rows(), model_.terms());
    for (Index i = 0; i < x.rows(); ++i) {
      if (model_.lead() == 1) z(i, 0) = 1;
      for (Index j = 0; j < x.cols(); ++j) z(i, model_.lead() + j) = (x(i, j) - model_.mean(j)) / model_.scale(j);
    }
    Matrix out(x.rows(), model_.theta.rows() * model_.planes());
    right_.multiply(z, out);
    return out;
  }
  /// body(first, η) for a few rows at a time.
  void each(const MatrixView& x, const std::function<void(Index, const Matrix&)>& body) const {
    for (Index first = 0; first < x.rows(); first += kRowsAtOnce)
      body(first, (*this)(x.middleRows(first, std::min(kRowsAtOnce, x.rows() - first))));
  }

 private:
  static Matrix planes_of(const McmcModel& m) {
    Matrix out(m.theta.rows() * m.planes(), m.terms());
    for (Index s = 0; s < m.theta.rows(); ++s)
      for (Index k = 0; k < m.planes(); ++k)
        for (Index j = 0; j < m.terms(); ++j) out(s * m.planes() + k, j) = m.theta(s, k * m.terms() + j);
    return out;
  }
  const McmcModel& model_;
  RightFactor right_;
};

/// σ of draw s, where the response has unit size.
double sigma_of(const McmcModel& m, Index s) {
  return m.draws_noise() ? std::exp(m.theta(s, m.terms())) : m.spec.noise.value_or(1) / m.unit;
}

/// Σ w ℓ of each draw by plain sums, the Gaussian's as squares.
struct Losses {
  const McmcModel* model;
  const Predictors* predictors;
  Vector sum;
  double rows = 0;

  void accumulate(const Block& block) {
    const McmcModel& m = *model;
    predictors->each(block.x, [&](Index first, const Matrix& eta) {
      for (Index i = 0; i < eta.rows(); ++i) {
        const double w = block.weight_of(first + i);
        if (w == 0) continue;
        rows += w;
        for (Index s = 0; s < sum.size(); ++s) sum(s) += w * loss(m, block, first + i, eta, i, s);
      }
    });
  }
  static double loss(const McmcModel& m, const Block& block, Index row, const Matrix& eta, Index i, Index s) {
    const Index k = m.planes();
    const double e = eta(i, s * k);
    switch (*m.spec.family) {
      case McmcFamily::logistic: return log1p_exp(block.label[at(row)] == 1 ? -e : e);
      case McmcFamily::softmax: {
        const auto own = eta.row(i).segment(s * k, k);
        const double most = own.maxCoeff();
        double total = 0;
        for (const double each : own) total += std::exp(each - most);
        return most + std::log(total) - own(block.label[at(row)]);
      }
      case McmcFamily::poisson: return std::exp(e) - block.y[at(row)] * e;
      case McmcFamily::gaussian: break;
    }
    const double off = (block.y[at(row)] - m.centre) / m.unit - e;
    return off * off;
  }
  void merge(const Losses& other) {
    sum += other.sum;
    rows += other.rows;
  }
};

/// U of each draw, from the rows by another way than the chains took.
Vector energies(const McmcModel& m, const Rows& rows, const Execution& execution) {
  const Predictors predictors(m);
  const Losses found = scan(rows, Losses{&m, &predictors, Vector::Zero(m.theta.rows())}, execution);
  Vector out = found.sum;
  for (Index s = 0; s < out.size(); ++s) {
    if (*m.spec.family == McmcFamily::gaussian) {
      const double sigma = sigma_of(m, s), log_sigma = m.draws_noise() ? std::log(sigma) : 0;
      out(s) = 0.5 * out(s) / (sigma * sigma) + found.rows * log_sigma + 0.5 * log_sigma * log_sigma;
    }
    for (Index k = 0; k < m.planes(); ++k)
      for (Index j = 0; j < m.terms(); ++j) {
        const double c = m.theta(s, k * m.terms() + j);
        out(s) += 0.5 * (j < m.lead() ? kInterceptPrecision : m.spec.alpha) * c * c;
      }
  }
  return out;
}

/// How far the means of chains of their own are from the model's, in Monte Carlo errors of both.
double apart_in_errors(const McmcModel& m, const Sizes& sizes, const Rows& rows, const Execution& execution) {
  Mcmc shorter = m.spec;
  shorter.sampler = McmcSampler::nuts;  // also where the draws are a random walk's
  shorter.draws = std::max(m.spec.draws / 4, 50);
  shorter.warmup = std::clamp(m.spec.warmup / 2, 50, 1000);
  shorter.chains = std::min(m.spec.chains, 4);
  const Target target(shorter, sizes, rows, execution.part(0, 0.1));
  const Matrix draws = user_draws(m, drawn(shorter, target, kOwnSeed, 0, execution.part(0.1, 1)).theta);
  double worst = 0;
  for (Index j = 0; j < draws.cols(); ++j) {
    const Known other = known_of(chains_of(draws, j, shorter.chains), m.spec.level);
    const double error = std::hypot(other.error, m.quantities(j, 4));
    const double off = std::abs(other.mean - m.quantities(j, 0)) / error;
    if (!(off <= worst)) worst = off;
  }
  return worst;
}

}  // namespace
}  // namespace mcmc

void McmcModel::check() const {
  const Index p = width(), count = Index{spec.chains} * spec.draws;
  require(p >= 1 && spec.family.has_value() && planes() >= 1 && coefficients.of.cols() == p &&
              intercept.size() == planes() && scale.size() == p,
          "mcmc: the arrays do not fit together");
  require(*spec.family == McmcFamily::softmax ? planes() >= 2 : planes() == 1,
          "mcmc: the planes do not fit the family");
  require(spec.noise ? *spec.family == McmcFamily::gaussian : true, "mcmc: only the gaussian family has a noise");
  const Index size = planes() * terms() + (draws_noise() ? 1 : 0);
  require(theta.rows() == count && theta.cols() == size && energy.size() == count && quantities.rows() == size &&
              quantities.cols() == 7,
          "mcmc: the draws do not fit together");
  require(theta.allFinite() && energy.allFinite() && quantities.allFinite() && mean.allFinite() && scale.allFinite() &&
              (scale.array() > 0).all() && std::isfinite(centre) && std::isfinite(unit) && unit > 0 &&
              coefficients.of.allFinite() && intercept.of.allFinite(),
          "mcmc: a number is not finite");
  require(divergences >= 0 && divergences <= count && acceptance >= 0 && acceptance <= 1 + 1e-9 && step > 0,
          "mcmc: how the chains went is not usable");
}

Vector McmcModel::predict(const MatrixView& x) const {
  require_width(*this, x.cols());
  require(!of_classes(), "mcmc: this is a model of classes; ask for the class");
  const bool counts = *spec.family == McmcFamily::poisson;
  Vector out(x.rows());
  mcmc::Predictors(*this).each(x, [&](Index first, const Matrix& eta) {
    for (Index i = 0; i < eta.rows(); ++i) {
      double sum = 0;
      for (Index s = 0; s < eta.cols(); ++s) sum += counts ? std::exp(eta(i, s)) : eta(i, s);
      out(first + i) = centre + unit * (sum / static_cast<double>(eta.cols()));
    }
  });
  return out;
}

Matrix McmcModel::probabilities(const MatrixView& x) const {
  require_width(*this, x.cols());
  require(of_classes(), "mcmc: this is a model of numbers; it has no probabilities of classes");
  const Index k = planes();
  const auto count = static_cast<double>(theta.rows());
  Matrix out = Matrix::Zero(x.rows(), class_count());
  mcmc::Predictors(*this).each(x, [&](Index first, const Matrix& eta) {
    std::vector<double> own(at(k));
    for (Index i = 0; i < eta.rows(); ++i) {
      for (Index s = 0; s < theta.rows(); ++s) {
        if (k == 1) {
          out(first + i, 0) += logistic(-eta(i, s)) / count;
          out(first + i, 1) += logistic(eta(i, s)) / count;
          continue;
        }
        double most = eta(i, s * k), total = 0;
        for (Index c = 1; c < k; ++c) most = std::max(most, eta(i, s * k + c));
        for (Index c = 0; c < k; ++c) total += own[at(c)] = std::exp(eta(i, s * k + c) - most);
        for (Index c = 0; c < k; ++c) out(first + i, c) += own[at(c)] / total / count;
      }
      double total = 0;
      for (Index c = 0; c < out.cols(); ++c) total += out(first + i, c);
      for (Index c = 0; c < out.cols(); ++c) out(first + i, c) /= total;
    }
  });
  return out;
}

Labels McmcModel::classify(const MatrixView& x) const { return greatest_class(probabilities(x)); }

Interval McmcModel::interval(const MatrixView& x, IntervalKind kind, double at_level) const {
  require_width(*this, x.cols());
  require(at_level > 0 && at_level < 1,
          fmt::format("the level of an interval is {}, must be above 0 and below 1", at_level));
  require(!of_classes(), "mcmc: classes have no interval");
  const bool counts = *spec.family == McmcFamily::poisson, anew = kind == IntervalKind::prediction;
  require(!(anew && counts),
          "mcmc: a new count has no interval of this kind; ask for the mean's by --interval confidence");
  Interval out{Vector(x.rows()), Vector(x.rows())};
  mcmc::Predictors(*this).each(x, [&](Index first, const Matrix& eta) {
    for (Index i = 0; i < eta.rows(); ++i) {
      const Vector all = eta.row(i);
      const auto end = [&](double p) {
        double q = mcmc::quantile_of(all, p);
        if (!anew) return counts ? std::exp(q) : centre + unit * q;
        double widest = 0;  // the mixture of N(η, σ²) over the draws, by halving
        for (Index s = 0; s < all.size(); ++s) widest = std::max(widest, mcmc::sigma_of(*this, s));
        double low = all.minCoeff() - 40 * widest, high = all.maxCoeff() + 40 * widest;
        for (int halving = 0; halving < 60; ++halving) {
          q = 0.5 * (low + high);
          double below = 0;
          for (Index s = 0; s < all.size(); ++s) below += normal_cdf((q - all(s)) / mcmc::sigma_of(*this, s));
          (below < p * static_cast<double>(all.size()) ? low : high) = q;
        }
        return centre + unit * q;
      };
      out.lower(first + i) = end(0.5 - 0.5 * at_level);
      out.upper(first + i) = end(0.5 + 0.5 * at_level);
    }
  });
  return out;
}

std::string McmcModel::summary(const Names& names) const {
  std::string out =
      fmt::format("Family: {}, prior precision {}\n{} chains of {} draws by {}: acceptance {:.2f}, {} divergent\n",
                  name_of(*spec.family), format_significant(spec.alpha), spec.chains, spec.draws, name_of(spec.sampler),
                  acceptance, divergences == 0 ? "none" : fmt::format("{}", divergences));
  const auto column = [&](Index first, Index count, Index j) {
    const Vector c = quantities.col(j).segment(first, count);
    return std::vector<double>(c.begin(), c.end());
  };
  for (Index k = 0; k < planes(); ++k) {
    std::vector<std::string> rows;
    if (spec.intercept) rows.emplace_back("(Intercept)");
    for (Index j = 0; j < width(); ++j)
      rows.push_back(at(j) < names.features.size() ? names.features[at(j)] : fmt::format("x{}", j + 1));
    Index count = terms();
    if (draws_noise()) {
      rows.emplace_back("sigma");
      ++count;
    }
    if (of_classes()) {
      const auto named = at(planes() == 1 ? 1 : k);
      out += fmt::format("\n{} of {}:\n", planes() == 1 ? "Log odds" : "Score",
                         named < names.classes.size() ? names.classes[named] : fmt::format("class {}", named + 1));
    } else {
      out += "\n";
    }
    const Index first = k * terms();
    std::vector<std::string> sizes, r_hats;
    for (Index j = 0; j < count; ++j) {
      sizes.push_back(fmt::format("{:.0f}", quantities(first + j, 5)));
      r_hats.push_back(fmt::format("{:.3f}", quantities(first + j, 6)));
    }
    out += TextTable()
               .words("", rows)
               .numbers("Mean", column(first, count, 0), 4)
               .numbers("SD", column(first, count, 1), 3)
               .numbers("Lower", column(first, count, 2), 4)
               .numbers("Upper", column(first, count, 3), 4)
               .numbers("MC error", column(first, count, 4), 2)
               .words("ESS", sizes)
               .words("R-hat", r_hats)
               .str({.gap = 2});
  }
  return out + fmt::format("\nLower and Upper hold {}% of the draws.\n", format_significant(100 * spec.level));
}

Certificate certify(const McmcModel& model, const Rows& rows, const Execution& execution) {
  using namespace mcmc;
  Certificate out;
  out.strength = Strength::consistent;
  out.kind = "doubt about the chains, of what is allowed";
  out.tolerance = 1;
  out.iterations = model.theta.rows();
  out.stopped = "all draws";
  Comparison same;
  same.number("family", static_cast<double>(*model.spec.family), static_cast<double>(family_of(model.spec, rows)), 1);
  const Sizes sizes = sizes_of(model.spec, rows, execution.part(0, 0.05));
  for (Index j = 0; j < model.width(); ++j) {
    same.entry("mean", j, model.mean(j), sizes.mean(j), sizes.scale(j) + 1e-6 * std::abs(sizes.mean(j)));
    same.entry("scale", j, model.scale(j), sizes.scale(j), sizes.scale(j));
  }
  same.number("centre", model.centre, sizes.centre, sizes.unit + 1e-6 * std::abs(sizes.centre));
  same.relative("unit", model.unit, sizes.unit);
  const Vector found = energies(model, rows, execution.part(0.05, 0.5));
  for (Index s = 0; s < found.size(); ++s)
    same.entry("energy", s, model.energy(s), found(s), 1 + std::abs(found(s)) + sizes.rows);
  McmcModel anew = model;
  tell(anew);
  for (Index j = 0; j < model.quantities.rows(); ++j)
    for (Index c = 0; c < 7; ++c)
      same.entry("quantities", 7 * j + c, model.quantities(j, c), anew.quantities(j, c),
                 c < 4 ? anew.quantities(j, 1) + 1e-6 * std::abs(anew.quantities(j, c)) : anew.quantities(j, c), 1e-7);
  for (Index k = 0; k < model.planes(); ++k) {
    same.entry(
        "intercept", k, model.intercept.of(k), anew.intercept.of(k),
        (model.spec.intercept ? anew.quantities(k * model.terms(), 1) : 1) + 1e-6 * std::abs(anew.intercept.of(k)));
    for (Index j = 0; j < model.width(); ++j)
      same.entry("coefficients", k * model.width() + j, model.coefficients.of(k, j), anew.coefficients.of(k, j),
                 anew.quantities(k * model.terms() + model.lead() + j, 1));
  }
  if (same.finding()) {
    same.report(out);
    return out;
  }
  const double r_hat = model.quantities.col(6).maxCoeff();
  const double divergent = static_cast<double>(model.divergences) / static_cast<double>(model.theta.rows());
  const double apart = apart_in_errors(model, sizes, rows, execution.part(0.5, 1, "a second set of chains"));
  out.value = std::max({(r_hat - 1) / (kMostRHat - 1), divergent / kMostDivergent, apart / kMostErrors});
  out.message = fmt::format(
      "Every draw has the posterior of these rows; R-hat is at most {:.3f} (allowed {}), {} of {} draws are divergent, "
      "and "
      "the means of a second, shorter set of chains are within {:.1f} Monte Carlo errors (allowed {}).",
      r_hat, kMostRHat, model.divergences, model.theta.rows(), apart, kMostErrors);
  return out;
}

}  // namespace lemma
