// lemma/data/design/constants.cpp: what scale(), poly(), bs(), ns() and cut() learn from the training rows.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <lemma/core/error.hpp>
#include <lemma/data/design/learn.hpp>
#include <limits>

namespace lemma {
namespace {

/// The numbers of an expression in the training rows.
struct Seen {
  RunningMoments moments;
  double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();
  std::vector<double> values;  // all of them, where they are needed
};

struct Wanted {
  const Expression* value;
  bool keep = false;  // all values
};

struct SeenOfEach {
  std::vector<Seen> seen;
  void merge(const SeenOfEach& other) {
    for (std::size_t w = 0; w < seen.size(); ++w) {
      seen[w].moments.merge(other.seen[w].moments);
      seen[w].low = std::min(seen[w].low, other.seen[w].low);
      seen[w].high = std::max(seen[w].high, other.seen[w].high);
      seen[w].values.insert(seen[w].values.end(), other.seen[w].values.begin(), other.seen[w].values.end());
    }
  }
};

/// One pass over the rows that are kept.
std::vector<Seen> look_at(const std::vector<Wanted>& wanted, const DesignParts& parts, Gaps gaps,
                          const TableSource& source, const Execution& execution) {
  if (wanted.empty()) return {};
  const SeenOfEach empty{std::vector<Seen>(wanted.size())};
  auto found =
      pass(parts, source, execution, empty, [&](SeenOfEach& state, const BoundTable& bound, Index first, Index rows) {
        const auto kept = completeness(bound, parts.missing, first, rows).kept;
        Rowset block(bound, first, rows, gaps);
        for (std::size_t w = 0; w < wanted.size(); ++w) {
          const auto all = block.numbers(*wanted[w].value, kept);
          std::vector<double> used;
          for (const Index row : kept)
            if (const double value = all[at(row - first)]; !std::isnan(value)) used.push_back(value);
          Seen& seen = state.seen[w];
          seen.moments.add(used);
          for (const double value : used) {
            seen.low = std::min(seen.low, value);
            seen.high = std::max(seen.high, value);
          }
          if (wanted[w].keep) seen.values = std::move(used);
        }
      });
  return std::move(found.seen);
}

// -- scale()

/// What is not given is learned: the mean, and √(Σ (x − center)² / (n − 1)).
ScaleConstants learned_scale(const Expression& call, const RunningMoments& found, const std::string& label) {
  ScaleConstants constants = constants_of(call);
  const double n = found.count;
  if (!constants.center) constants.center = found.mean;
  if (constants.spread) return constants;
  require(n > 1, fmt::format("{} needs at least two rows", label));
  const double apart = found.mean - *constants.center;
  constants.spread = std::sqrt((found.squares + n * apart * apart) / (n - 1));
  require(std::isfinite(*constants.spread) && *constants.spread > 0,
          fmt::format("{} cannot be scaled: its spread is {}", label, shortest(*constants.spread)));
  return constants;
}

/// The scale() calls in an expression that are to be learned and have no such call inside.
void find_scales(Expression& e, std::vector<Expression*>& found) {
  const std::size_t before = found.size();
  for (auto& argument : e.arguments) find_scales(argument, found);
  if (e.kind != Expression::Kind::call || e.text != "scale" || found.size() > before) return;
  const auto [center, spread] = constants_of(e);
  if (!center || !spread) found.push_back(&e);
}

/// I(scale(x)^2) becomes I(scale(x, center = 3.5, scale = 1.2)^2), from the innermost call outwards.
void learn_scales_inside(DesignParts& parts, const TableSource& source, const Execution& execution) {
  while (true) {
    std::vector<Expression*> scales;
    for (auto& variable : parts.variables) find_scales(variable.value, scales);
    for (auto& number : parts.response.numbers) find_scales(number, scales);
    if (scales.empty()) return;
    std::vector<Wanted> wanted;
    for (const Expression* e : scales) wanted.push_back({&e->arguments[0]});
    const auto seen = look_at(wanted, parts, gaps_of(parts.missing), source, execution);
    for (std::size_t i = 0; i < scales.size(); ++i) {
      Expression& e = *scales[i];
      const auto [center, spread] = learned_scale(e, seen[i].moments, to_text(e));
      const std::size_t place = e.place;
      e.arguments.resize(1);
      e.keywords = {"", "center", "scale"};
      for (const double constant : {*center, *spread}) {
        Expression number;
        number.number = constant;
        number.place = place;
        e.arguments.push_back(std::move(number));
      }
    }
  }
}

// -- poly()

/// The recurrence of the monic polynomials that are orthogonal on these values.
void set_polynomial(const std::vector<double>& v, Variable& variable) {
  auto distinct = v;
  std::sort(distinct.begin(), distinct.end());
  const auto count = std::unique(distinct.begin(), distinct.end()) - distinct.begin();
  require(count > variable.degree, fmt::format("{} needs more than {} different values, but there are {}",
                                               variable.label, variable.degree, count));
  std::vector<double> before(v.size(), 0.0), now(v.size(), 1.0);
  variable.norm2 = {static_cast<double>(v.size())};
  variable.alpha.clear();
  for (int j = 0; j < variable.degree; ++j) {
    const auto k = static_cast<std::size_t>(j);
    RunningMoments center;  // Σ v p² / Σ p², about the mean of v so that no digits are lost
    double shift = 0, moment = 0;
    if (j == 0) center.add(v);
    else shift = variable.alpha[0];
    for (std::size_t i = 0; i < v.size(); ++i) moment += (v[i] - shift) * now[i] * now[i];
    variable.alpha.push_back(j == 0 ? center.mean : shift + moment / variable.norm2[k]);
    double norm2 = 0;
    for (std::size_t i = 0; i < v.size(); ++i) {
      const double next =
          (v[i] - variable.alpha[k]) * now[i] - (j == 0 ? 0 : variable.norm2[k] / variable.norm2[k - 1] * before[i]);
      before[i] = now[i];
      now[i] = next;
      norm2 += next * next;
    }
    require(std::isfinite(norm2) && norm2 > 0,
            fmt::format("{} cannot be computed in degree {}: the values are too {}", variable.label, j + 1,
                        norm2 > 0 ? "large" : "close together"));
    variable.norm2.push_back(norm2);
  }
}

// -- bs() and ns()

/// Quantile p of rising numbers: R's type 7, linear between the order statistics.
double quantile(const std::vector<double>& sorted, double p) {
  const double place = p * static_cast<double>(sorted.size() - 1), below = std::floor(place), share = place - below;
  const auto i = static_cast<std::size_t>(below), j = static_cast<std::size_t>(std::ceil(place));
  return sorted[i] == sorted[j] ? sorted[i] : (1 - share) * sorted[i] + share * sorted[j];
}

void set_spline(const SplineCall& call, Seen seen, Variable& variable) {
  SplineShape shape{call.knots, seen.low, seen.high, call.degree, call.natural, call.intercept};
  if (!call.bounds.empty()) {
    shape.low = call.bounds[0];
    shape.high = call.bounds[1];
  }
  require(shape.low < shape.high, fmt::format("{} needs at least two different values", variable.label));
  for (const double knot : call.knots)
    require(knot >= shape.low && knot <= shape.high,
            fmt::format("{}: the knot {} does not lie between the ends of the values, {} and {}", variable.label,
                        shortest(knot), shortest(shape.low), shortest(shape.high)));
  if (call.inner_knots > 0) {
    std::erase_if(seen.values, [&](double v) { return v < shape.low || v > shape.high; });
    require(!seen.values.empty(), fmt::format("{}: no value lies between the Boundary.knots", variable.label));
    std::sort(seen.values.begin(), seen.values.end());
    for (int k = 1; k <= call.inner_knots; ++k)
      shape.knots.push_back(quantile(seen.values, static_cast<double>(k) / (call.inner_knots + 1)));
  }
  try {
    variable.spline = SplineBasis(std::move(shape));
  } catch (const Error& e) {
    throw Error(fmt::format("{}: {}; take a smaller df, or other knots", variable.label, e.what()));
  }
}

}  // namespace

void learn_breaks(Draft& draft, const TableSource& source, const Execution& execution) {
  struct Place {
    Variable* variable;
    const CutCall* call;
  };
  std::vector<Place> places;
  const auto add = [&](std::vector<Variable>& variables, const std::vector<Draft::Source>& sources) {
    for (std::size_t v = 0; v < variables.size(); ++v)
      if (sources[v].cut && sources[v].cut->pieces > 0) places.push_back({&variables[v], &*sources[v].cut});
  };
  add(draft.parts.variables, draft.sources);
  add(draft.parts.response.parts, draft.response_sources);
  std::vector<Wanted> wanted;
  for (const auto& place : places) wanted.push_back({&place.variable->value});
  const auto seen = look_at(wanted, draft.parts, Gaps::leave, source, execution);
  for (std::size_t i = 0; i < places.size(); ++i) {
    auto& [variable, call] = places[i];
    require(seen[i].low <= seen[i].high, fmt::format("{} has no values in these rows", variable->label));
    variable->cut.breaks = equal_breaks(seen[i].low, seen[i].high, call->pieces);
    require(std::adjacent_find(variable->cut.breaks.begin(), variable->cut.breaks.end(), std::greater_equal<>()) ==
                variable->cut.breaks.end(),
            fmt::format("{}: the values are too close together for so many pieces", variable->label));
    if (call->labels.empty()) variable->cut.labels = interval_labels(variable->cut, call->digits);
  }
}

void learn_constants(Draft& draft, const TableSource& source, const Execution& execution) {
  DesignParts& parts = draft.parts;
  learn_scales_inside(parts, source, execution);
  std::vector<Wanted> wanted;
  std::vector<std::size_t> places;
  for (std::size_t v = 0; v < parts.variables.size(); ++v) {
    const Variable& variable = parts.variables[v];
    const bool polynomial = variable.kind == Variable::Kind::polynomial && !variable.raw;
    const bool spline = variable.kind == Variable::Kind::spline;
    if (variable.kind != Variable::Kind::scaled && !polynomial && !spline) continue;
    wanted.push_back({&variable.value, polynomial || (spline && draft.sources[v].spline->inner_knots > 0)});
    places.push_back(v);
  }
  auto seen = look_at(wanted, parts, gaps_of(parts.missing), source, execution);
  for (std::size_t i = 0; i < places.size(); ++i) {
    Variable& variable = parts.variables[places[i]];
    const Draft::Source& from = draft.sources[places[i]];
    if (variable.kind == Variable::Kind::scaled) {
      const auto [center, spread] = learned_scale(from.expression, seen[i].moments, variable.label);
      variable.center = *center;
      variable.spread = *spread;
    } else if (variable.kind == Variable::Kind::spline) {
      set_spline(*from.spline, std::move(seen[i]), variable);
    } else {
      set_polynomial(seen[i].values, variable);
    }
  }
}

}  // namespace lemma
