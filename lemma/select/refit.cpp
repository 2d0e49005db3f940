// lemma/select/refit.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/params.hpp>
#include <lemma/data/design/parts.hpp>
#include <lemma/linear/glm.hpp>
#include <lemma/linear/ols.hpp>
#include <lemma/select/refit.hpp>

namespace lemma {
namespace {

bool contains(const std::vector<std::string>& large, const std::vector<std::string>& small) {
  return std::includes(large.begin(), large.end(), small.begin(), small.end());
}

bool has_offset(const TrainedModel& model) { return !model.design.save().at("offsets").as_strings("offsets").empty(); }

Fitness fitness_of_ols(const OlsModel& ols, const TrainedModel& model) {
  Fitness out;
  out.rank = ols.rank;
  out.df_residual = ols.df_residual;
  out.n = ols.df_residual + static_cast<double>(ols.rank);
  out.deviance = ols.rss;
  out.dispersion = ols.sigma * ols.sigma;
  out.estimated = true;
  out.aic = out.n * std::log(ols.rss / out.n) + 2 * static_cast<double>(ols.rank);
  out.null_deviance = ols.spec.intercept ? ols.rss / (1 - ols.r_squared) : OlsModel::kNone;
  out.offset = has_offset(model);
  return out;
}

Fitness fitness_of_glm(const GlmModel& glm, const TrainedModel& model) {
  if (glm.updates > 0)
    throw Error("the deviance of a glm is not known after an update, so it cannot be compared; fit it to all rows");
  if (glm.separating.size() > 0 || std::isnan(glm.residual_deviance))
    throw Error(fmt::format("the likelihood of '{}' has no maximum, so it cannot be compared; see its warnings",
                            model.design.formula_text()));
  Fitness out;
  out.rank = glm.rank;
  out.df_residual = glm.df_residual;
  out.n = glm.df_residual + static_cast<double>(glm.rank);
  out.deviance = glm.residual_deviance;
  out.dispersion = glm.dispersion;
  out.estimated = glm.law().estimates_dispersion();
  out.aic = glm.aic;
  out.null_deviance = glm.spec.intercept ? glm.null_deviance : GlmModel::kNone;
  out.offset = has_offset(model);
  out.by_likelihood = glm.spec.family == GlmFamily::negative_binomial;
  if (out.by_likelihood) {
    out.deviance = -2 * glm.log_likelihood;
    out.null_deviance = GlmModel::kNone;
  }
  out.family = out.by_likelihood ? "negative binomial" : glm.law().family_in_r();
  out.link = name_of(*glm.spec.link);
  return out;
}

}  // namespace

Fitness fitness_of(const TrainedModel& model) {
  if (const auto* ols = model_cast<OlsModel>(model.model)) return fitness_of_ols(*ols, model);
  if (const auto* glm = model_cast<GlmModel>(model.model)) return fitness_of_glm(*glm, model);
  throw Error(fmt::format("ols and glm models can be compared by their terms, and this is one of {}",
                          model.model->method().name()));
}

std::vector<std::string> variables_of(const Term& term) {
  std::vector<std::string> out;
  for (const auto& factor : term.factors) out.push_back(to_text(factor));
  std::sort(out.begin(), out.end());
  return out;
}

bool may_leave(const Term& term, const std::vector<Term>& terms) {
  const auto own = variables_of(term);
  return std::none_of(terms.begin(), terms.end(), [&](const Term& other) {
    const auto variables = variables_of(other);
    return variables != own && contains(variables, own);
  });
}

bool may_join(const Term& term, const std::vector<Term>& terms, const std::vector<Term>& scope) {
  const auto own = variables_of(term);
  return std::all_of(scope.begin(), scope.end(), [&](const Term& lower) {
    const auto variables = variables_of(lower);
    if (variables == own || !contains(own, variables)) return true;
    return std::any_of(terms.begin(), terms.end(), [&](const Term& each) { return variables_of(each) == variables; });
  });
}

namespace {

/// Those that rows must have: of the formula, and what the model's own rows had to have (it may itself be what a search left).
std::vector<std::string> columns_to_be_complete(const Formula& formula, const Design& design) {
  std::vector<std::string> out = design.parts().complete;
  const auto add = [&](const Expression& e) {
    if (is_soft(e)) return;  // is.na(x) takes what is missing
    for (auto& name : columns_of(e))
      if (std::find(out.begin(), out.end(), name) == out.end()) out.push_back(std::move(name));
  };
  for (const Term& term : formula.terms)
    for (const auto& factor : term.factors) add(factor);
  for (const auto& offset : formula.offsets) add(offset);
  return out;
}

}  // namespace

Refit::Refit(const TrainedModel& model, const TableStream& data, TrainOptions options, const std::vector<Term>& more)
    : method_(model.method ? model.method
                           : std::shared_ptr<const Method>(std::shared_ptr<const Method>(), &model.model->method())),
      params_(model.model->params()),
      full_(formula(model.design.formula_text()).expand(model.design.columns())),
      data_(data),
      options_(std::move(options)) {
  fitness_of(model);  // an Error before any work
  if (const auto* glm = model_cast<GlmModel>(model.model); glm && glm->theta_learned) params_.set("theta", Value());
  for (const Term& term : more)
    if (std::none_of(full_.terms.begin(), full_.terms.end(),
                     [&](const Term& own) { return variables_of(own) == variables_of(term); }))
      full_.terms.push_back(term);
  options_.design.coding = model.design.coding();
  options_.design.missing = model.design.missing();
  options_.design.weights = model.design.weights();
  options_.design.precision = model.design.precision();
  options_.design.cluster = model.design.cluster();
  options_.design.response = model.design.classes().empty() ? ResponseAs::numbers : ResponseAs::classes;
  if (model.design.missing() == Missing::drop) options_.design.complete = columns_to_be_complete(full_, model.design);
}

std::string Refit::text(const std::vector<Term>& terms) const {
  std::string out;
  for (const auto& part : full_.response) out += (out.empty() ? "" : ":") + to_text(part);
  out += out.empty() ? "~ " : " ~ ";
  std::string right;
  const auto add = [&](const std::string& word) { right += (right.empty() ? "" : " + ") + word; };
  for (const Term& term : terms) add(term.name());
  for (const auto& offset : full_.offsets) add("offset(" + to_text(offset) + ")");
  if (terms.empty() && full_.intercept) right = right.empty() ? "1" : "1 + " + right;
  if (!full_.intercept) right = right.empty() ? "0" : right + " - 1";
  return out + right;
}

TrainedModel Refit::fit(const std::vector<Term>& terms) const {
  Formula some = full_;
  some.terms = terms;
  some.text = text(terms);
  return train(method_, params_, some, data_, options_);
}

}  // namespace lemma
