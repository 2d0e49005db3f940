// lemma/ensemble/mixture_of_experts.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/ensemble/mixture_of_experts.hpp>
#include <lemma/ensemble/mixture_of_experts/rounds.hpp>
#include <lemma/ensemble/shared/out_of_fold.hpp>
#include <lemma/model/look_again.hpp>

namespace lemma {
namespace {

using namespace ensemble;

constexpr double kApart = 1e-7;  // of what is told, relative
constexpr int kFirst = 30;       // rounds of every start, before the likeliest goes on alone

AnySpec usual_expert(bool of_classes) { return parse_method(of_classes ? "multinomial" : "ols").completed(); }
AnySpec usual_gate() { return parse_method("multinomial").completed(); }

void require_weights(const AnySpec& method, std::string_view what) {
  require(method.method().about().takes_weights,
          fmt::format("mixture_of_experts: {} is {}, which takes no weights", what, method.text()));
}

/// One way of EM from a start to where responsibilities stay as they are.
struct Way {
  Panel panel;
  Matrix responsibilities;  // by which the panel was fitted
  Shared end;               // what it gives
  double divergence = 0;
  std::vector<double> trace;
  bool rests(const MixtureOfExperts& spec) const { return !trace.empty() && divergence <= spec.tolerance; }
};

/// Rounds until it comes to rest, or until there are `most`.
void walk_on(Way& way, const Assembly& assembly, const MixtureOfExperts& spec, int most, const FitOptions& options,
             const Execution& execution) {
  while (!way.rests(spec) && std::ssize(way.trace) < most) {
    if (!way.trace.empty()) way.responsibilities = way.end.responsibilities;
    way.panel = assembly.fit(way.responsibilities, options);
    way.end = assembly.share(way.panel, execution);
    way.trace.push_back(way.end.log_likelihood);
    way.divergence = assembly.divergence(way.end.responsibilities, way.responsibilities);
    execution.report(static_cast<double>(way.trace.size()) / most,
                     fmt::format("log likelihood {:.6g}", way.end.log_likelihood));
  }
}

/// The first of gate and experts that does not hold for its share of the rows.
std::string failure_inside(const MixtureOfExpertsModel& model, const Assembly& assembly, bool again,
                           const Execution& execution) {
  const auto look = [&](const AnyModel& inside, const AnySpec& asked, const Rows& rows) {
    if (execution.cancelled()) throw Cancelled();
    return again ? look_again(inside, asked, rows, execution.part(0, 0)) : inside->certificate();
  };
  std::string out;
  for (Index k = 0; k < model.spec.experts && out.empty(); ++k)
    assembly.with_rows_of(k, model.responsibilities, [&](const Rows& rows) {
      const Certificate found = look(model.experts[at(k)], *model.spec.expert, rows);
      if (found.fails()) out = fmt::format("expert {} does not hold for its share: {}", k + 1, found.message);
    });
  if (!out.empty()) return out;
  assembly.with_rows_of_gate(model.responsibilities, [&](const Rows& rows) {
    const Certificate found = look(model.gate, *model.spec.gate, rows);
    if (found.fails()) out = fmt::format("the gate does not hold: {}", found.message);
  });
  return out;
}

double apart_of(const Vector& told, const Vector& found) {
  if (told.size() != found.size()) return 1;
  return told.size() == 0 ? 0 : ((told - found).array().abs() / found.array().abs().max(1e-300)).maxCoeff();
}

Certificate certify_panel(const MixtureOfExpertsModel& model, const Rows& source, bool again,
                          const Execution& execution) {
  const TrainingRows rows(MixtureOfExperts::name, source, execution);
  const Assembly assembly(model.spec, rows);
  Certificate out;
  out.strength = Strength::consistent;
  out.kind = "a fixed point of EM";
  out.tolerance = model.spec.tolerance;
  out.iterations = model.trace.size();
  out.value = 1;
  std::string failure;
  if (assembly.size() != model.responsibilities.rows())
    failure = fmt::format("it was fitted to {} rows, and there are {}", model.responsibilities.rows(), assembly.size());
  else failure = failure_inside(model, assembly, again, execution);
  if (failure.empty()) {
    const Panel panel{model.experts, model.gate, model.deviations};
    const Shared found = assembly.share(panel, execution);
    const double apart =
        std::max({std::abs(found.log_likelihood - model.log_likelihood) / std::max(1.0, std::abs(found.log_likelihood)),
                  apart_of(model.shares, assembly.shares(model.responsibilities)),
                  apart_of(model.deviations, assembly.deviations(model.experts, model.responsibilities, execution)),
                  std::abs(model.trace(model.trace.size() - 1) - model.log_likelihood)});
    if (!(apart <= kApart)) failure = fmt::format("what is told lies {:.1e} from what is found", apart);
    else out.value = assembly.divergence(found.responsibilities, model.responsibilities);
  }
  out.stopped = out.holds() ? "converged" : "iteration limit";
  if (!failure.empty()) out.message = fmt::format("Gate and experts are not those of these rows: {}.", failure);
  else
    out.message = fmt::format(
        "Gate and experts hold for the responsibilities kept, and give responsibilities that diverge from them by "
        "{:.1e} nats per "
        "row (allowed {:.0e}){}",
        out.value, out.tolerance,
        out.holds() ? "." : ": EM has not come to rest; try more max_iterations, or fewer experts.");
  return out;
}

}  // namespace

void MixtureOfExperts::check() const {
  if (expert) {
    const Needs own = expert->method().needs(expert->params());
    require(
        own.classes || own.numbers,
        fmt::format("mixture_of_experts: expert is {}, which predicts neither classes nor numbers", expert->text()));
    require_weights(*expert, "expert");
  }
  if (!gate) return;
  require(gate->method().needs(gate->params()).classes,
          fmt::format("mixture_of_experts: gate is {}, which predicts no classes", gate->text()));
  require_weights(*gate, "gate");
}

Needs MixtureOfExperts::needs(Needs usual) const {
  std::vector<AnySpec> inside;
  if (expert) {
    const Needs own = expert->method().needs(expert->params());
    usual.classes = own.classes;
    usual.numbers = own.numbers;
    inside.push_back(*expert);
  }
  if (expert || gate) inside.push_back(gate ? *gate : usual_gate());
  return expert ? needs_inside(inside, usual) : usual;
}

void MixtureOfExpertsModel::check() const {
  require(spec.expert && spec.gate, "mixture_of_experts: a parameter was not chosen");
  require(features >= 1 && classes >= 0 && classes != 1 && std::ssize(experts) == spec.experts &&
              shares.size() == spec.experts && responsibilities.cols() == spec.experts,
          "mixture_of_experts: there is not one model and one share for each expert");
  require(responsibilities.rows() >= 1 && responsibilities.allFinite() && responsibilities.minCoeff() >= 0 &&
              (responsibilities.rowwise().sum().array() - 1).abs().maxCoeff() <= 1e-9,
          "mixture_of_experts: responsibilities are not shares of 1");
  require(classes > 0 ? deviations.size() == 0
                      : deviations.size() == spec.experts && deviations.allFinite() && deviations.minCoeff() > 0,
          "mixture_of_experts: there is not one deviation above 0 for each expert");
  require(trace.size() >= 1 && trace.size() <= spec.max_iterations && trace.allFinite() && shares.allFinite() &&
              std::isfinite(log_likelihood),
          "mixture_of_experts: a likelihood or share is not usable");
  for (const AnyModel& each : experts) {
    require_fits(MixtureOfExperts::name, each, features, classes);
    require(classes == 0 || gives(each, kProbabilitiesPart.name), "mixture_of_experts: an expert has no probabilities");
  }
  require_fits(MixtureOfExperts::name, gate, features, spec.experts);
  require(gives(gate, kProbabilitiesPart.name), "mixture_of_experts: the gate has no probabilities");
}

Matrix MixtureOfExpertsModel::shares_at(const MatrixView& x) const {
  require_width(*this, x.cols());
  return said(gate, x, kProbabilitiesPart.name).probabilities();
}

Vector MixtureOfExpertsModel::predict(const MatrixView& x) const {
  require(classes == 0, "mixture_of_experts: it was fitted to classes; ask it to classify");
  const Matrix share = shares_at(x);
  Vector out = Vector::Zero(x.rows());
  for (Index k = 0; k < share.cols(); ++k)
    out.array() += share.col(k).array() * said(experts[at(k)], x, kValuePart.name).value().array();
  return out;
}

Matrix MixtureOfExpertsModel::probabilities(const MatrixView& x) const {
  require(classes > 0, "mixture_of_experts: it was fitted to numbers; ask it to predict");
  const Matrix share = shares_at(x);
  Matrix out = Matrix::Zero(x.rows(), classes);
  for (Index k = 0; k < share.cols(); ++k) {
    const Matrix p = said(experts[at(k)], x, kProbabilitiesPart.name).probabilities();
    for (Index i = 0; i < x.rows(); ++i) out.row(i) += share(i, k) * p.row(i);
  }
  return out;
}

Labels MixtureOfExpertsModel::classify(const MatrixView& x) const { return likeliest(probabilities(x)); }

std::string MixtureOfExpertsModel::summary(const Names& names) const {
  std::string out =
      fmt::format("{} experts ({}), gate {}; EM in {}\nLog likelihood per row: {}\n", spec.experts, spec.expert->text(),
                  spec.gate->text(), count_of(trace.size(), "round"), format_significant(log_likelihood, 5));
  Names of_gate = names;
  of_gate.classes.clear();
  for (Index k = 0; k < spec.experts; ++k) of_gate.classes.push_back(fmt::format("expert {}", k + 1));
  out += "\nGate:\n" + gate->summary(of_gate);
  for (Index k = 0; k < spec.experts; ++k) {
    out += fmt::format("\nExpert {}: {:.3g} of the rows", k + 1, shares(k));
    if (classes == 0) out += fmt::format(", standard deviation {}", format_significant(deviations(k), 4));
    out += ":\n" + experts[at(k)]->summary(names);
  }
  return out;
}

MixtureOfExpertsModel fit(const Valid<MixtureOfExperts>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  const TrainingRows data(MixtureOfExperts::name, rows, execution);
  MixtureOfExpertsModel model;
  model.spec = *spec;
  if (!model.spec.expert) model.spec.expert = usual_expert(data.of_classes());
  if (!model.spec.gate) model.spec.gate = usual_gate();
  require(std::ssize(data.counting) >= spec->experts,
          fmt::format("mixture_of_experts: {} experts need as many rows, and there are {}", spec->experts,
                      data.counting.size()));
  model.features = rows.width();
  model.classes = data.classes();
  const Assembly assembly(model.spec, data);
  std::optional<Way> best;
  std::string refused;
  for (int start = 0; start < spec->restarts; ++start) {
    try {
      Way way;
      way.responsibilities = assembly.draw(options.seed, start);
      walk_on(way, assembly, model.spec, std::min(kFirst, spec->max_iterations), options,
              execution.part(0.5 * start / spec->restarts, 0.5 * (start + 1) / spec->restarts));
      if (!best || way.end.log_likelihood > best->end.log_likelihood) best = std::move(way);
    } catch (const Error& error) { refused = error.what(); }  // this start comes to nothing; another may not
  }
  if (!best) throw Error(refused.starts_with(MixtureOfExperts::name) ? refused : "mixture_of_experts: " + refused);
  walk_on(*best, assembly, model.spec, spec->max_iterations, options, execution.part(0.5, 0.95));
  model.experts = std::move(best->panel.experts);
  model.gate = std::move(best->panel.gate);
  model.deviations = best->panel.deviations;
  model.responsibilities = std::move(best->responsibilities);
  model.shares = assembly.shares(model.responsibilities);
  for (Index k = 0; k < spec->experts; ++k)
    if (model.shares(k) * data.mass < 1)
      model.warnings.push_back(fmt::format("expert {} is left with less than a row; fewer experts would do", k + 1));
  model.log_likelihood = best->end.log_likelihood;
  model.trace = Eigen::Map<const Vector>(best->trace.data(), std::ssize(best->trace));
  model.check();
  model.certificate = certify_panel(model, rows, false, execution.part(0.95, 1, "certificate"));
  return model;
}

Certificate certify(const MixtureOfExpertsModel& model, const Rows& rows, const Execution& execution) {
  return certify_panel(model, rows, true, execution);
}

template const Method& method_of<MixtureOfExperts>();

}  // namespace lemma
