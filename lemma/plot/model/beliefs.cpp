// lemma/plot/model/beliefs.cpp: what rows leave open of parameters: their densities, and the chains that draws came from.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/bayes/conjugate/parts.hpp>
#include <lemma/bayes/gaussian_wishart.hpp>
#include <lemma/bayes/mcmc/target.hpp>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/math/distributions.hpp>
#include <lemma/plot/model/kinds.hpp>

namespace lemma::plot {
namespace {

using conjugate::Belief;
using Kind = Belief::Kind;

constexpr Index kMost = 12;  // parameters

/// One parameter: its density after the rows, and before them where the picture shows it.
struct Believed {
  std::string name;
  std::vector<double> at, after, before = {};
  bool of_a_column = false;  // zero would say that the column plays no part
};
struct Beliefs {
  std::vector<Believed> shown;  // kMost at most
  Index all = 0;
  std::string_view what;  // "coefficient"
};

std::vector<double> heights(const Belief& belief, const std::vector<double>& at) {
  std::vector<double> out;
  for (const double x : at) out.push_back(belief.density(x));
  return out;
}

/// Where all but a thousandth lies, inside what the parameter can be.
std::vector<double> where(const Belief& belief) {
  constexpr int kSteps = 160;
  constexpr double kTail = 5e-4;
  double low = belief.quantile(kTail), high = belief.quantile(1 - kTail);
  const double room = 0.05 * (high - low);
  low -= room, high += room;
  const bool positive = belief.kind != Kind::normal && belief.kind != Kind::student;
  if (positive) low = std::max(low, 1e-4 * room);
  if (belief.kind == Kind::beta) high = std::min(high, 1 - 1e-4 * room);
  return spread(low, high, kSteps);
}

Beliefs normal(const TrainedModel& trained) {
  const Vector mean = *vector_of(trained, "coefficients"), sd = *vector_of(trained, "std_errors");
  const auto& names = trained.design.features();
  require(mean.size() == sd.size() && static_cast<std::size_t>(mean.size()) == names.size(),
          "the coefficients are not one for each column");
  Beliefs out{{}, mean.size(), "coefficient"};
  for (Index j = 0; j < std::min(mean.size(), kMost); ++j) {
    const Belief belief{Kind::normal, mean(j), std::max(sd(j), 1e-300)};
    const auto at = spread(mean(j) - 4 * belief.b, mean(j) + 4 * belief.b, 120);
    out.shown.push_back({names[static_cast<std::size_t>(j)], at, heights(belief, at), {}, true});
  }
  return out;
}

/// "glu", or of several classes "type C: glu".
std::vector<std::string> quantity_names(const TrainedModel& trained, const McmcModel& model) {
  const auto &features = trained.design.features(), &classes = trained.design.classes();
  std::vector<std::string> out;
  for (Index k = 0; k < model.planes(); ++k) {
    const std::string of = model.planes() > 1 ? classes.at(static_cast<std::size_t>(k)) + ": " : "";
    if (model.spec.intercept) out.push_back(of + "(Intercept)");
    for (const std::string& name : features) out.push_back(of + name);
  }
  if (model.draws_noise()) out.emplace_back("sigma");
  return out;
}

Beliefs of_draws(const TrainedModel& trained, const McmcModel& model) {
  constexpr Index kMostDraws = 20'000;  // a curve needs no more
  const Matrix draws = mcmc::user_draws(model, model.theta);
  const auto names = quantity_names(trained, model);
  Beliefs out{{}, draws.cols(), "parameter"};
  const Index step = (draws.rows() + kMostDraws - 1) / kMostDraws;
  for (Index j = 0; j < std::min(draws.cols(), kMost); ++j) {
    std::vector<double> values;
    for (Index s = 0; s < draws.rows(); s += step) values.push_back(draws(s, j));
    const auto sorted = sorted_values(values);
    const double h = bandwidth_of(sorted);
    const auto at = spread(sorted.front() - 3 * h, sorted.back() + 3 * h, 160);
    const std::string& name = names.at(static_cast<std::size_t>(j));
    out.shown.push_back({name, at, density_at(sorted, h, at), {}, !name.ends_with("(Intercept)") && name != "sigma"});
  }
  return out;
}

/// As the summary calls them.
std::vector<std::string> parameter_names(const TrainedModel& trained, const ConjugateModel& model, Index column) {
  const std::string name = trained.design.features().at(static_cast<std::size_t>(column));
  switch (model.spec.family) {
    case ConjugateFamily::beta_binomial: return {name + ": P(1)"};
    case ConjugateFamily::gamma_poisson: return {name + ": rate"};
    case ConjugateFamily::normal_normal: return {name + ": mean", name + ": variance"};
    case ConjugateFamily::dirichlet_multinomial: break;
  }
  std::vector<std::string> out;
  const auto levels = trained.design.levels();
  for (const auto& level : levels.at(static_cast<std::size_t>(column)))
    out.push_back(fmt::format("{}: P({})", name, level));
  return out;
}

Beliefs of_conjugates(const TrainedModel& trained, const ConjugateModel& model) {
  const auto start = conjugate::starts(model.spec, model.levels);
  const bool by_level = model.spec.family == ConjugateFamily::dirichlet_multinomial;
  Beliefs out{{}, model.quantities.rows(), "parameter"};
  for (Index j = 0; j < model.width(); ++j) {
    const Index levels = start[at(j) + 1] - start[at(j)];
    const auto prior = conjugate::prior_of(model.spec, by_level ? levels : 0);
    Matrix before(levels, model.posterior.cols());
    for (Index l = 0; l < levels; ++l)
      for (Index c = 0; c < before.cols(); ++c) before(l, c) = prior.at(at(by_level ? l : c));
    const auto after = conjugate::beliefs(model.spec, model.posterior, start[at(j)], levels);
    const auto prior_beliefs = conjugate::beliefs(model.spec, before, 0, levels);
    const auto names = parameter_names(trained, model, j);
    for (std::size_t k = 0; k < after.size() && std::ssize(out.shown) < kMost; ++k) {
      const auto places = where(after[k]);
      out.shown.push_back({names.at(k), places, heights(after[k], places), heights(prior_beliefs[k], places)});
    }
  }
  return out;
}

/// μ_j is Student's t with d = ν' − p + 1 degrees about m'_j, of squared scale Ψ'_jj / (k' d).
Beliefs of_means(const TrainedModel& trained, const GaussianWishartModel& model) {
  const Index p = model.width();
  const double df = model.degrees - static_cast<double>(p) + 1;
  Beliefs out{{}, p, "mean"};
  for (Index j = 0; j < std::min(p, kMost); ++j) {
    const Belief belief{Kind::student, model.mean(j), std::sqrt(model.scale(j, j) / (model.strength * df)), df};
    const auto places = where(belief);
    out.shown.push_back({trained.design.features().at(at(j)) + ": mean", places, heights(belief, places)});
  }
  return out;
}

Beliefs beliefs_of(const TrainedModel& trained) {
  if (const auto* model = model_cast<McmcModel>(trained.model)) return of_draws(trained, *model);
  if (const auto* model = model_cast<ConjugateModel>(trained.model)) return of_conjugates(trained, *model);
  if (const auto* model = model_cast<GaussianWishartModel>(trained.model)) return of_means(trained, *model);
  return normal(trained);
}

}  // namespace

Figure posterior(const Shown& shown) {
  const Beliefs beliefs = beliefs_of(shown.trained);
  Figure out;
  bool before = false, zero = false;
  for (const Believed& each : beliefs.shown) {
    Panel panel{each.name, {""}, {""}, {}};
    panel.y.from = 0, panel.y.shown = panel.y.grid = false;
    panel.marks = {Area{each.at, std::vector<double>(each.at.size(), 0), each.after, series(0, 0.2)},
                   Line{each.at, each.after, series(0), 2}};
    const double top = *std::max_element(each.after.begin(), each.after.end());
    if (!each.before.empty()) {
      panel.marks.emplace_back(Line{each.at, each.before, series(1), 1.6, true});
      panel.y.to = 1.08 * top, before = true;  // a prior may have no greatest density
    }
    const double low = each.at.front(), high = each.at.back();
    if (each.of_a_column && low <= high - low && high >= low - high)  // zero is near: within their width
      panel.marks.emplace_back(Segments{{0}, {0}, {0}, {top}, faint(), 1.2, true}), zero = true;
    out.panels.push_back(std::move(panel));
  }
  in_grid(out);
  for (Panel& panel : out.panels)
    if (panel.column == 0) panel.y.label = "density";
  out.width = 820, out.height = std::max(280.0, 40 + 190.0 * (out.panels.back().row + 1));
  if (before)
    out.legend.entries = {{"after the rows", series(0), LegendEntry::Key::line},
                          {"before", series(1), LegendEntry::Key::line, true}},
    out.width += 120;
  out.description =
      fmt::format("Posterior densities of {}{}{}{}.", count_of(std::ssize(beliefs.shown), beliefs.what),
                  beliefs.all > std::ssize(beliefs.shown) ? fmt::format(", the first of {}", beliefs.all) : "",
                  before ? ", and what was believed of them before the rows" : "",
                  zero ? "; a dashed line where zero is near" : "");
  return out;
}

Figure traces(const Shown& shown) {
  constexpr Index kMostTraces = 8, kMostChains = 8, kMostPlaces = 1'000;
  const McmcModel* model = model_cast<McmcModel>(shown.trained.model);
  require(model != nullptr, "only mcmc has chains");
  const Matrix draws = mcmc::user_draws(*model, model->theta);
  const auto names = quantity_names(shown.trained, *model);
  const Index count = std::min(draws.cols(), kMostTraces), chains = std::min(Index{model->spec.chains}, kMostChains);
  const Index step = (Index{model->spec.draws} + kMostPlaces - 1) / kMostPlaces;
  Figure out;
  for (Index j = 0; j < count; ++j) {
    const Matrix of = mcmc::chains_of(draws, j, model->spec.chains);
    Panel panel{fmt::format("{}, R-hat {:.2f}", names.at(at(j)), model->quantities(j, 6)), {""}, {""}, {}};
    for (Index c = 0; c < chains; ++c) {
      Line line;
      for (Index s = 0; s < of.cols(); s += step)
        line.x.push_back(static_cast<double>(s + 1)), line.y.push_back(of(c, s));
      line.paint = series(static_cast<int>(c), 0.75), line.width = 0.8, line.tooltip = fmt::format("chain {}", c + 1);
      panel.marks.emplace_back(std::move(line));
    }
    panel.row = static_cast<int>(j / 2), panel.column = static_cast<int>(j % 2);
    if (j + 2 >= count) panel.x.label = "draw";
    out.panels.push_back(std::move(panel));
  }
  out.legend.title = "chain";
  for (Index c = 0; c < chains; ++c)
    out.legend.entries.push_back({std::to_string(c + 1), series(static_cast<int>(c)), LegendEntry::Key::line});
  out.width = 900, out.height = 170.0 * static_cast<double>((count + 1) / 2) + 60;
  out.description = fmt::format("Draws of {} in {}{}: chains that have found the posterior go to and fro in one band.",
                                count_of(count, "parameter"), count_of(chains, "chain"),
                                draws.cols() > count || chains < model->spec.chains
                                    ? fmt::format(", the first of {} in {}", draws.cols(), model->spec.chains)
                                    : "");
  return out;
}

}  // namespace lemma::plot
