// lemma/select/stepwise.cpp
#include <algorithm>
#include <cctype>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/params.hpp>
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

bool among(const Term& term, const std::vector<Term>& terms) {
  const auto own = variables_of(term);
  return std::any_of(terms.begin(), terms.end(), [&](const Term& each) { return variables_of(each) == own; });
}

/// Where the search may go: every term of the scope, and those that have to stay.
struct Scope {
  const std::vector<Term>& upper;
  std::vector<Term> lower;
};

std::vector<Move> moves_from(const std::vector<Term>& terms, const Scope& scope, StepwiseDirection direction) {
  std::vector<Move> out;
  if (direction != StepwiseDirection::forward)
    for (const Term& term : terms) {
      if (!may_leave(term, terms) || among(term, scope.lower)) continue;
      Move move{"- " + term.name(), {}, {}, {}};
      for (const Term& each : terms)
        if (!(each == term)) move.terms.push_back(each);
      out.push_back(std::move(move));
    }
  if (direction != StepwiseDirection::backward)
    for (const Term& term : scope.upper) {
      if (among(term, terms) || !may_join(term, terms, scope.upper)) continue;
      Move move{"+ " + term.name(), {}, {}, {}};
      for (const Term& each : scope.upper)  // in the order of the formula
        if (each == term || among(each, terms)) move.terms.push_back(each);
      out.push_back(std::move(move));
    }
  return out;
}

AnovaTable table_of(const std::vector<Move>& moves, const Fitness& now, const std::string& criterion, double k) {
  const bool ols = now.family.empty();
  AnovaTable out;
  out.columns.reserve(4);
  auto& df = out.add("Df", "df");
  AnovaTable::Column* squares = ols ? &out.add("Sum of Sq", "sum_of_squares") : nullptr;
  auto &deviance = out.add(ols ? "RSS" : "Deviance", "deviance"), &value = out.add(criterion, "criterion");
  for (const Move& move : moves) {
    const bool stays = move.name == "<none>";
    out.rows.push_back(move.name);
    df.values.push_back(stays ? kNone : std::abs(move.fitness.df_residual - now.df_residual));
    if (squares) squares->values.push_back(stays ? kNone : std::abs(move.fitness.deviance - now.deviance));
    deviance.values.push_back(move.fitness.deviance);
    value.values.push_back(move.fitness.criterion(k));
  }
  return out;
}

std::string note_of(const Stepwise& found, StepwiseDirection direction) {
  std::string path;
  for (const StepwiseStep& step : found.steps)
    if (!step.taken.empty()) path += (path.empty() ? "" : ", ") + step.taken;
  return fmt::format("stepwise {} by {} from {} to {}: {}; the tests of the final model take no account of the choice",
                     name_of(direction), found.criterion, format_fixed(found.steps.front().criterion, 2),
                     format_fixed(found.steps.back().criterion, 2), path.empty() ? "no step" : path);
}

/// `.` in a scope is what the formula has.
std::string with_dot_replaced(const std::string& text, const std::string& own) {
  const auto part_of_a_word = [&](std::size_t i) {
    return i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) || text[i] == '_' || text[i] == '.' ||
                               static_cast<unsigned char>(text[i]) >= 0x80);
  };
  std::string out;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (quote ? text[i] == quote : text[i] == '`' || text[i] == '"') quote = quote ? 0 : text[i];
    const bool alone = !quote && text[i] == '.' && !part_of_a_word(i + 1) && !(i > 0 && part_of_a_word(i - 1));
    out += alone ? "(" + own + ")" : std::string(1, text[i]);
  }
  return out;
}

std::vector<Term> terms_of_scope(const char* flag, const std::string& text, const std::vector<Term>& own) {
  if (text.empty()) return {};
  std::string sum;
  for (const Term& term : own) sum += (sum.empty() ? "" : " + ") + term.name();
  const Formula out = formula(with_dot_replaced(text, sum.empty() ? "1" : sum));
  require(out.response.empty(), fmt::format("{} is '{}', and a scope has no response: write '~ a + b'", flag, text));
  require(out.offsets.empty(), fmt::format("{} is '{}', and an offset belongs into the formula", flag, text));
  return out.terms;
}

std::string name_of_criterion(const std::optional<double>& k) {
  if (!k) return "BIC";
  return *k == 2 ? "AIC" : fmt::format("AIC (k = {})", format_significant(*k));
}

}  // namespace

std::string Stepwise::trace() const {
  std::string out;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const double shown = std::round(steps[i].criterion * 100) / 100;
    out += fmt::format("{}  {}={}\n{}\n\n", i == 0 ? "Start:" : "\nStep:", criterion, format_significant(shown, 7),
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
    one.set("criterion", criterion);
    one.set("value", step.criterion);
    one.set("moves", step.moves.to_value());
    one.set("taken", step.taken.empty() ? Value() : Value(step.taken));
    all.push_back(std::move(one));
  }
  return all;
}

Stepwise stepwise(std::shared_ptr<const Method> method, Value params, const Formula& formula, const TableStream& data,
                  const TrainOptions& options, const StepwiseOptions& how) {
  require(!how.k || *how.k > 0, "stepwise: what a coefficient costs (k) must be above 0");
  const TrainedModel full = train(std::move(method), std::move(params), formula, data, options);
  const std::vector<Term> own = Refit(full, data, options).terms();
  const std::vector<Term> upper = terms_of_scope("--scope", how.upper, own);
  if (!upper.empty())
    for (const Term& term : own)
      require(among(term, upper),
              fmt::format("--scope is '{}', and it leaves out '{}' of the formula; the scope is what "
                          "the search may use, and begins with the formula: '~ . + more'",
                          how.upper, term.name()));
  const std::vector<Term> lower = terms_of_scope("--scope-lower", how.lower, own);
  const Refit refit(full, data, options, upper);
  for (const Term& term : lower)
    require(among(term, refit.terms()),
            fmt::format("--scope-lower is '{}', and '{}' is no term of the search", how.lower, term.name()));
  const Scope scope{refit.terms(), lower};
  std::vector<Term> terms = own;
  if (how.direction == StepwiseDirection::forward && upper.empty()) {
    terms.clear();
    for (const Term& term : own)
      if (among(term, lower)) terms.push_back(term);
  }
  Stepwise out{refit.fit(terms), name_of_criterion(how.k), {}, false};
  const Fitness start = fitness_of(out.model);
  require(start.family.empty() || !std::isnan(start.aic),
          fmt::format("the {} family has no likelihood, so there is no AIC to choose terms by", start.family));
  const double k = how.k.value_or(std::log(start.n));
  const auto at = [&](const Fitness& fitness) { return fitness.criterion(k); };
  try {
    while (true) {
      const Fitness fitness = fitness_of(out.model);
      out.steps.push_back({refit.text(terms), at(fitness), {}, ""});
      auto moves = moves_from(terms, scope, how.direction);
      for (Move& move : moves) {
        move.model = refit.fit(move.terms);
        move.fitness = fitness_of(*move.model);
      }
      moves.push_back({"<none>", terms, {}, fitness});
      std::stable_sort(moves.begin(), moves.end(),
                       [&](const Move& a, const Move& b) { return at(a.fitness) < at(b.fitness); });
      out.steps.back().moves = table_of(moves, fitness, out.criterion, k);
      Move& best = moves.front();
      if (!best.model || !(at(best.fitness) < at(fitness) - kBetter)) break;
      out.steps.back().taken = best.name;
      terms = best.terms;
      out.model = std::move(*best.model);
    }
  } catch (const Cancelled&) { out.cancelled = true; }
  if (out.model.origin.rows.rows() < data.rows() && out.model.design.missing() == Missing::drop)
    out.model.notes.push_back(
        fmt::format("every step was fitted to the {} rows that are complete in all columns of the "
                    "scope, as after R's na.omit",
                    out.model.origin.rows.rows()));
  out.model.notes.push_back(note_of(out, how.direction));
  return out;
}

}  // namespace lemma
