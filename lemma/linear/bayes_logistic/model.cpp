// lemma/linear/bayes_logistic/model.cpp: probabilities, words, and the certificate.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/linear/bayes_logistic/parts.hpp>
#include <lemma/math/factorise.hpp>
#include <lemma/math/special.hpp>
#include <lemma/model/comparison.hpp>
#include <lemma/model/one_vs_rest.hpp>
#include <numbers>

namespace lemma {
namespace bayes_logistic {

Certificate certificate_of(const BayesLogistic& spec, double value, long long iterations, bool done) {
  Certificate out;
  const bool bounded = spec.approximation == LogisticPosterior::variational;
  out.strength = bounded ? Strength::consistent : Strength::stationary;
  out.kind = bounded ? "movement in posterior standard deviations" : "gradient in posterior standard deviations";
  out.value = value;
  out.tolerance = 1e-7;
  out.iterations = iterations;
  out.stopped = done ? "converged" : "iteration limit";
  if (bounded)
    out.message = fmt::format(
        "One more turn moves mean and covariance by at most about {:.1e} posterior standard deviations (allowed "
        "{:.0e}).",
        value, out.tolerance);
  else
    out.message =
        fmt::format("The mode is at most about {:.1e} of its posterior standard deviations away (allowed {:.0e}).",
                    value, out.tolerance);
  return out;
}

namespace {

/// Σ w (p − t) [1 (x − mean)/scale] by plain sums, with η from the user's own coefficients.
struct PlainGradient {
  const BayesLogisticModel* model;
  Matrix sum;  // a row for each plane

  void accumulate(const Block& block) {
    const Index lead = model->spec.intercept ? 1 : 0;
    const Matrix eta = model->decision(block.x);
    for (Index i = 0; i < block.rows(); ++i)
      for (Index k = 0; k < eta.cols(); ++k) {
        const bool positive = is_positive(block.label[static_cast<std::size_t>(i)], k, eta.cols());
        const double off = block.weight_of(i) * (positive ? -logistic(-eta(i, k)) : logistic(eta(i, k)));
        if (lead == 1) sum(k, 0) += off;
        for (Index j = 0; j < block.x.cols(); ++j)
          sum(k, lead + j) += off * ((block.x(i, j) - model->mean(j)) / model->scale(j));
      }
  }
  void merge(const PlainGradient& other) { sum += other.sum; }
};

/// The gradient of J with its kinks, in posterior standard deviations.
double distance_from_mode(const BayesLogistic& spec, const Vector& w, Vector g, const Matrix& covariance) {
  const Index lead = spec.intercept ? 1 : 0;
  double outside = 0;
  for (Index j = lead; j < w.size(); ++j) {
    if (spec.prior == LogisticPrior::gaussian) g(j) += spec.alpha * w(j);
    else if (w(j) != 0) g(j) += w(j) > 0 ? spec.alpha : -spec.alpha;
    else {
      outside = std::max(outside, std::abs(g(j)) / spec.alpha - 1);
      g(j) = 0;
    }
  }
  const double squared = g.dot(covariance * g);
  return squared >= 0 ? std::sqrt(squared) + outside : NAN;
}

}  // namespace
}  // namespace bayes_logistic

void BayesLogisticModel::check() const {
  const Index p = width(), terms = p + (spec.intercept ? 1 : 0);
  require(planes() >= 1 && p >= 1 && coefficients.of.allFinite(), "bayes_logistic: the coefficients are not usable");
  require(planes() == functions_for(class_count()), "bayes_logistic: two classes need one plane");
  require(std_errors.of.rows() == planes() && std_errors.of.cols() == p && posterior.rows() == planes() * terms &&
              posterior.cols() == terms && mean.size() == p && scale.size() == p,
          "bayes_logistic: the arrays do not fit together");
  for (const PathNumbers* each : {&intercept, &intercept_std_error, &log_likelihood, &log_evidence})
    require(each->size() == planes() && each->of.allFinite(), "bayes_logistic: arrays over the planes are not usable");
  require(posterior.allFinite() && mean.allFinite() && scale.allFinite() && (scale.array() > 0).all(),
          "bayes_logistic: the posterior is not usable");
}

Matrix BayesLogisticModel::decision(const MatrixView& x) const {
  require_width(*this, x.cols());
  Matrix out(x.rows(), planes());
  for (Index i = 0; i < x.rows(); ++i)
    for (Index k = 0; k < planes(); ++k) out(i, k) = coefficients.of.row(k).dot(x.row(i)) + intercept.of(k);
  return out;
}

Matrix BayesLogisticModel::probabilities(const MatrixView& x) const {
  const Matrix eta = decision(x);
  const Index lead = spec.intercept ? 1 : 0, terms = width() + lead;
  Matrix one(x.rows(), planes());
  Vector z(terms);
  for (Index i = 0; i < x.rows(); ++i) {
    if (lead == 1) z(0) = 1;
    z.tail(width()) = (x.row(i).transpose() - mean).cwiseQuotient(scale);
    for (Index k = 0; k < planes(); ++k) {
      const double v = std::max(0.0, z.dot(posterior.middleRows(k * terms, terms) * z));
      one(i, k) = logistic(eta(i, k) / std::sqrt(1 + std::numbers::pi * v / 8));
    }
  }
  if (planes() > 1) {
    for (Index i = 0; i < x.rows(); ++i) {
      double sum = 0;
      for (Index k = 0; k < planes(); ++k) sum += one(i, k);
      if (sum > 0) one.row(i) /= sum;
      else one.row(i).setConstant(1.0 / static_cast<double>(planes()));
    }
    return one;
  }
  Matrix both(x.rows(), 2);
  both << (1 - one.array()).matrix(), one;
  return both;
}

Labels BayesLogisticModel::predict(const MatrixView& x) const { return greatest_class(probabilities(x)); }

std::string BayesLogisticModel::summary(const Names& names) const {
  std::vector<std::string> terms;
  if (spec.intercept) terms.emplace_back("(Intercept)");
  terms.insert(terms.end(), names.features.begin(), names.features.end());
  std::string out =
      fmt::format("Prior: {}, {} {}\n", name_of(spec.prior),
                  spec.prior == LogisticPrior::gaussian ? "precision" : "rate", format_significant(spec.alpha));
  const bool bounded = spec.approximation == LogisticPosterior::variational;
  for (Index k = 0; k < planes(); ++k) {
    const auto at = static_cast<std::size_t>(planes() == 1 ? 1 : k);
    const std::string name = at < names.classes.size() ? names.classes[at] : fmt::format("class {}", at + 1);
    std::vector<double> modes, sds;
    if (spec.intercept) {
      modes.push_back(intercept.of(k));
      sds.push_back(intercept_std_error.of(k));
    }
    for (Index j = 0; j < width(); ++j) {
      modes.push_back(coefficients.of(k, j));
      sds.push_back(std_errors.of(k, j));
    }
    out += fmt::format(
        "\nLog odds of {}{}:\n{}Log likelihood: {}, log evidence: {}{}\n", name,
        planes() == 1 ? "" : " against the others",
        TextTable().words("", terms).numbers(bounded ? "Mean" : "Mode", modes).numbers("SD", sds).str({.gap = 2}),
        format_significant(log_likelihood.of(k)), bounded ? "at least " : "", format_significant(log_evidence.of(k)));
  }
  return out;
}

Certificate certify(const BayesLogisticModel& model, const Rows& rows, const Execution& execution) {
  using namespace bayes_logistic;
  const Columns columns = columns_of(model.spec, rows, execution.part(0, 0.2));
  const Index lead = model.spec.intercept ? 1 : 0;
  BayesLogisticModel expected;
  expected.spec = model.spec;
  make_room(expected, model.planes(), model.width());
  const auto plain =
      scan(rows, PlainGradient{&model, Matrix::Zero(model.planes(), model.width() + lead)}, execution.part(0.2, 0.4));
  double worst = 0;
  for (Index k = 0; k < model.planes(); ++k) {
    Vector w(model.width() + lead);
    w.tail(model.width()) = model.coefficients.of.row(k).transpose().cwiseProduct(columns.scale);
    if (lead == 1) w(0) = model.intercept.of(k) + model.coefficients.of.row(k).dot(columns.mean);
    const Likelihood at =
        likelihood_at(Likelihood(columns, w, model.spec.intercept, k, model.planes()), rows, execution.part(0.4, 1));
    Posterior posterior;
    double away = 0;
    if (model.spec.approximation == LogisticPosterior::laplace) {
      posterior = posterior_of(model.spec, at);
      away = distance_from_mode(model.spec, w, plain.sum.row(k), posterior.covariance);
    } else {
      posterior.covariance = model.posterior.middleRows(k * w.size(), w.size());
      const BoundCheck found =
          bound_check(model.spec, columns, w, posterior.covariance, k, model.planes(), rows, execution.part(0.7, 1));
      posterior.log_evidence = found.log_evidence;
      away = found.away;
    }
    fill_plane(expected, k, at, posterior);
    worst = std::isnan(away) ? away : std::max(worst, away);
    if (std::isnan(worst)) break;
  }
  Certificate out = certificate_of(model.spec, worst, 0, true);
  if (!out.holds()) return out;
  Comparison same;
  constexpr double kFollows = 1e-6;
  for (Index j = 0; j < model.width(); ++j) {
    same.entry("mean", j, model.mean(j), expected.mean(j), expected.scale(j) + 1e-6 * std::abs(expected.mean(j)));
    same.entry("scale", j, model.scale(j), expected.scale(j), expected.scale(j));
  }
  for (Index k = 0; k < model.planes(); ++k) {
    same.entry("log_likelihood", k, model.log_likelihood.of(k), expected.log_likelihood.of(k),
               1 + std::abs(expected.log_likelihood.of(k)), kFollows);
    same.entry("log_evidence", k, model.log_evidence.of(k), expected.log_evidence.of(k),
               1 + std::abs(expected.log_evidence.of(k)), kFollows);
    same.entry("intercept_std_error", k, model.intercept_std_error.of(k), expected.intercept_std_error.of(k),
               expected.intercept_std_error.of(k), kFollows);
    for (Index j = 0; j < model.width(); ++j)
      same.entry("std_errors", k * model.width() + j, model.std_errors.of(k, j), expected.std_errors.of(k, j),
                 expected.std_errors.of(k, j), kFollows);
  }
  const Index terms = model.posterior.cols();
  for (Index i = 0; i < model.posterior.rows(); ++i)
    for (Index j = 0; j < terms; ++j) {
      const double size = std::sqrt(expected.posterior(i, i % terms) * expected.posterior(i / terms * terms + j, j));
      same.entry("posterior", i * terms + j, model.posterior(i, j), expected.posterior(i, j), size, kFollows);
    }
  if (same.finding()) same.report(out);
  return out;
}

}  // namespace lemma
