// lemma/mixture/shared/searched.hpp: what the models that em::search ends in have in common, whatever their components are:
// how numbers of components are asked for, the criteria, what must be so of a stored one, and the words of it.
//
// A Model has weights, k(), trace, iterations, tried, tried_bic, parameters, log_likelihood, aic, bic, icl, warnings, certificate, and
// a spec with components.
#pragma once
#include <algorithm>
#include <cmath>
#include <lemma/core/certificate.hpp>
#include <lemma/core/error.hpp>
#include <lemma/core/random.hpp>
#include <lemma/mixture/shared/search.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lemma::mixture {

Vector vector_of(const std::vector<double>& v);

/// Error, in the name of the method, unless these are numbers of components.
void require_numbers(std::string_view method, const std::vector<double>& components);

/// The component each row belongs to most; -1 where that is not known.
Labels likeliest_component(const Matrix& memberships);

/// A component with its share as the chance of it.
Index drawn_component(const Vector& weights, RandomStream& random);

/// A work that ended before its last step could be looked at again.
Certificate unverified(int iterations, double movement);

/// What a second look at a mixture that EM ended in found.
struct Look {
  double movement = 0, rounding = 0;  // of a step more, and what rounding makes of it
  bool same = true;                   // all that is said of the likelihood is so; else
  double off = 0;                     // by how much it is not, and
  std::string_view of_what = "The likelihood, its way or the criteria";
  std::string_view moving;  // what moves: "a weight, a mean or a covariance"
};
Certificate fixed_point(const Look& look, double tolerance, int iterations, Index limit);

/// "Numbers of components tried", where there was more than one, and the line of the criteria.
std::string tried_text(const Vector& tried, const Vector& bic);
std::string criteria_text(double log_likelihood, int parameters, double aic, double bic, double icl);

/// A line for each of the first 50 components: its share, what else has a number for each, and its mean.
std::string means_text(const Vector& weights, const std::vector<std::pair<std::string, Vector>>& more,
                       const Matrix& means, const std::vector<std::string>& features);

void warn_of_dead(const Vector& weights, std::vector<std::string>& warnings);

template <class Model>
void check_searched(std::string_view method, const Model& model) {
  const auto holds = [&](bool so, std::string_view what) {
    require(so, std::string(method) + ": " + std::string(what));
  };
  const auto& asked = model.spec.components;
  holds(std::find(asked.begin(), asked.end(), static_cast<double>(model.k())) != asked.end(),
        "there are not as many components as were asked for");
  holds(model.weights.size() == model.k() && model.weights.allFinite() && (model.weights.array() >= 0).all() &&
            std::abs(model.weights.sum() - 1) <= 1e-9,
        "the weights are not shares of one");
  holds(model.trace.allFinite() && std::isfinite(model.log_likelihood) && std::isfinite(model.aic) &&
            std::isfinite(model.bic) && std::isfinite(model.icl),
        "a number is not finite");
  holds(model.iterations > 0 && model.trace.size() == model.iterations,
        "trace must have one number for each iteration");
  holds(model.tried.size() == model.tried_bic.size() && model.tried.size() > 0 &&
            model.tried.size() <= static_cast<Index>(asked.size()) &&
            model.tried == vector_of(asked).head(model.tried.size()) && model.tried_bic.allFinite(),
        "what was tried is not what was asked for");
}

/// The likelihood, its way and the criteria: AIC = −2ℓ + 2m, BIC = −2ℓ + m log n, ICL = BIC − 2 Σ w log max_k r_k; and the certificate,
/// by the method's own certify(model, rows, execution).
template <class Model>
void finish(Model& model, const em::Search& found, Index parameters, double weight, const Rows& rows,
            const Execution& execution) {
  const em::Run& best = *found.best;
  model.iterations = static_cast<int>(best.trace.size());
  model.trace = vector_of(best.trace);
  model.tried = vector_of(found.tried);
  model.tried_bic = vector_of(found.bic);
  model.parameters = static_cast<int>(parameters);
  model.log_likelihood = best.log_likelihood;
  model.aic = -2 * best.log_likelihood + 2.0 * model.parameters;
  model.bic = -2 * best.log_likelihood + static_cast<double>(model.parameters) * std::log(weight);
  model.icl = model.bic;
  model.certificate = unverified(model.iterations, best.movement);
  try {
    model.icl = model.bic - 2 * em::step(rows, best.mixture, execution.part(0.95, 0.96)).hard;
    if (!found.cancelled) model.certificate = certify(model, rows, execution.part(0.96, 1));
  } catch (const Cancelled&) {}  // it says that nothing was looked at
}

/// How far what a model says of its likelihood is from what the rows say, in units of the likelihood of a column: the
/// criteria, the way to it, which may not fall, and the number of components that was chosen by them.
struct Told {
  double criteria = 0, way = 0;
};
template <class Model>
Told told_apart(const Model& model, double log_likelihood, double hard, double weight) {
  const double unit = std::abs(log_likelihood) + weight * static_cast<double>(model.width());
  const auto apart = [&](double a, double b) { return std::abs(a - b) / unit; };
  const double bic = -2 * log_likelihood + model.parameters * std::log(weight);
  Told out{std::max({apart(model.log_likelihood, log_likelihood),
                     apart(model.aic, -2 * log_likelihood + 2.0 * model.parameters), apart(model.bic, bic),
                     apart(model.icl, bic - 2 * hard)}),
           apart(model.trace(model.trace.size() - 1), model.log_likelihood)};
  for (Index i = 0; i + 1 < model.trace.size(); ++i)
    out.way = std::max(out.way, (model.trace(i) - model.trace(i + 1)) / unit);
  for (Index i = 0; i < model.tried.size(); ++i)
    if (model.tried(i) == static_cast<double>(model.k()))
      out.way = std::max(out.way, apart(model.tried_bic(i), model.bic));
  return out;
}

}  // namespace lemma::mixture
