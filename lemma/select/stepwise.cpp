// lemma/select/stepwise.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/select/stepwise.hpp>
#include <limits>
#include <numeric>

namespace lemma {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr double kBetter = 1e-7;  // R's: a smaller fall of AIC is none

struct Move {
  std::string name;
  std::vector<Term> terms;  // after it
  std::optional<TrainedModel> model;
  Fitness fitness;
};

std::vector<Move> moves_from(const std::vector<Term>& terms, const Refit& refit, StepwiseDirection direction) {
  std::vector<Move> out;
  if (direction != StepwiseDirection::forward)
    for (const Term& term : terms) {
      if (!may_leave(term, terms)) continue;
      Move move{"- " + term.name(), {}, {}, {}};
      for (const Term& each : terms)
        if (!(each == term)) move.terms.push_back(each);
      out.push_back(std::move(move));
    }
  if (direction != StepwiseDirection::backward)
    for (const Term& term : refit.terms()) {
      if (std::find(terms.begin(), terms.end(), term) != terms.end() || !may_join(term, terms, refit.terms())) continue;
      Move move{"+ " + term.name(), {}, {}, {}};
      for (const Term& each : refit.terms())  // in the order of the formula
        if (each == term || std::find(terms.begin(), terms.end(), each) != terms.end()) move.terms.push_back(each);
      out.push_back(std::move(move));
    }
  return out;
}

AnovaTable table_of(const std::vector<Move>& moves, const Fitness& now) {
  const bool ols = now.family.empty();
  AnovaTable out;
  out.columns.reserve(4);
  auto& df = out.add("Df", "df");
  AnovaTable::Column* squares = ols ? &out.add("Sum of Sq", "sum_of_squares") : nullptr;
  auto &deviance = out.add(ols ? "RSS" : "Deviance", "deviance"), &aic = out.add("AIC", "aic");
  for (const Move& move : moves) {
    const bool stays = move.name == "<none>";
    out.rows.push_back(move.name);
    df.values.push_back(stays ? kNone : std::abs(move.fitness.df_residual - now.df_residual));
    if (squares) squares->values.push_back(stays ? kNone : std::abs(move.fitness.deviance - now.deviance));
    deviance.values.push_back(move.fitness.deviance);
    aic.values.push_back(move.fitness.aic);
  }
  return out;
}

std::string note_of(const Stepwise& found, StepwiseDirection direction) {
  std::string path;
  for (const StepwiseStep& step : found.steps)
    if (!step.taken.empty()) path += (path.empty() ? "" : ", ") + step.taken;
  return fmt::format("stepwise {} by AIC from {} to {}: {}; the tests of the final model take no account of the choice",
                     names_of(direction)[static_cast<std::size_t>(direction)], format_fixed(found.steps.front().aic, 2),
                     format_fixed(found.steps.back().aic, 2), path.empty() ? "no step" : path);
}

}  // namespace

std::string Stepwise::trace() const {
  std::string out;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const double shown = std::round(steps[i].aic * 100) / 100;
    out += fmt::format("{}  AIC={}\n{}\n\n", i == 0 ? "Start:" : "\nStep:", format_significant(shown, 7),
                       steps[i].formula);
    if (!steps[i].moves.rows.empty()) out += steps[i].moves.str();
  }
  return out;
}

Value Stepwise::to_value() const {
  Value::List all;
  for (const StepwiseStep& step : steps) {
    Value one = Value::object();
    one.set("formula", step.formula);
    one.set("aic", step.aic);
    one.set("moves", step.moves.to_value());
    one.set("taken", step.taken.empty() ? Value() : Value(step.taken));
    all.push_back(std::move(one));
  }
  return all;
}

Stepwise stepwise(std::shared_ptr<const Method> method, Value params, const Formula& formula, const TableStream& data,
                  const TrainOptions& options, StepwiseDirection direction) {
  TrainedModel full = train(std::move(method), std::move(params), formula, data, options);
  const Refit refit(full, data, options);
  std::vector<Term> terms = direction == StepwiseDirection::forward ? std::vector<Term>{} : refit.terms();
  TrainedModel now = direction == StepwiseDirection::forward ? refit.fit(terms) : std::move(full);
  Stepwise out{std::move(now), {}, false};
  try {
    while (true) {
      const Fitness fitness = fitness_of(out.model);
      out.steps.push_back({refit.text(terms), fitness.aic, {}, ""});
      auto moves = moves_from(terms, refit, direction);
      for (Move& move : moves) {
        move.model = refit.fit(move.terms);
        move.fitness = fitness_of(*move.model);
      }
      moves.push_back({"<none>", terms, {}, fitness});
      std::stable_sort(moves.begin(), moves.end(),
                       [](const Move& a, const Move& b) { return a.fitness.aic < b.fitness.aic; });
      out.steps.back().moves = table_of(moves, fitness);
      Move& best = moves.front();
      if (!best.model || !(best.fitness.aic < fitness.aic - kBetter)) break;
      out.steps.back().taken = best.name;
      terms = best.terms;
      out.model = std::move(*best.model);
    }
  } catch (const Cancelled&) { out.cancelled = true; }
  out.model.notes.push_back(note_of(out, direction));
  return out;
}

}  // namespace lemma
