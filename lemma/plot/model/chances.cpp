// lemma/plot/model/chances.cpp: what may be: components of a mixture, drawn functions; and what was tried.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/cluster/kmeans.hpp>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/mixture/gmm.hpp>
#include <lemma/model/fit.hpp>
#include <lemma/plot/model/kinds.hpp>
#include <map>
#include <numbers>

namespace lemma::plot {
namespace {

/// {m + r Σ^½ u : |u| = 1} in two of the columns.
Line ellipse(const Vector& mean, const Matrix& covariance, Index a, Index b, double radius) {
  constexpr int kSteps = 72;
  Matrix two(2, 2);
  two << covariance(a, a), covariance(a, b), covariance(b, a), covariance(b, b);
  const Eigenpairs axes = symmetric_eigen(two);
  Line out;
  for (int k = 0; k <= kSteps; ++k) {
    const double turn = 2 * std::numbers::pi * k / kSteps;
    const double u = radius * std::sqrt(std::max(0.0, axes.values(0))) * std::cos(turn),
                 v = radius * std::sqrt(std::max(0.0, axes.values(1))) * std::sin(turn);
    out.x.push_back(mean(a) + u * axes.vectors(0, 0) + v * axes.vectors(0, 1));
    out.y.push_back(mean(b) + u * axes.vectors(1, 0) + v * axes.vectors(1, 1));
  }
  return out;
}

std::string component_name(const GmmModel& model, Index k) {
  return fmt::format("component {}: share {}", k + 1, format_significant(model.weights(k), 3));
}

}  // namespace

bool has_ellipses(const TrainedModel& trained) {
  const auto* model = model_cast<GmmModel>(trained.model);
  return model && model->width() >= 2;
}

Figure ellipses(const Shown& shown) {
  constexpr Index kMost = 4;  // columns
  const GmmModel& model = *model_cast<GmmModel>(shown.trained.model);
  const DesignData data = shown.trained.design.apply(*shown.rows, Missing::drop);
  const Labels label = model.assign(data.x);
  const auto& names = shown.trained.design.features();
  const Index p = std::min(model.width(), kMost);
  Figure out;
  for (Index b = 1; b < p; ++b)
    for (Index a = 0; a < b; ++a) {
      Panel panel{"", {names[static_cast<std::size_t>(a)]}, {names[static_cast<std::size_t>(b)]}, {}};
      panel.row = static_cast<int>(b - 1), panel.column = static_cast<int>(a);
      Points points{list_of(data.x.col(a)), list_of(data.x.col(b)), {label.begin(), label.end()}, {}};
      points.paint = series(0, 0.55), points.radius = p > 2 ? 2 : 2.6;
      for (Index i = 0; i < data.x.rows() && data.x.rows() <= kMostTooltips; ++i)
        points.tooltips.push_back(fmt::format("row {}: component {}",
                                              (data.kept.empty() ? i : data.kept[static_cast<std::size_t>(i)]) + 1,
                                              label[static_cast<std::size_t>(i)] + 1));
      panel.marks.emplace_back(std::move(points));
      for (Index k = 0; k < model.k(); ++k)
        for (const double radius : {1.0, 2.0}) {
          Line line = ellipse(model.means.row(k), model.covariance(k), a, b, radius);
          line.paint = series(static_cast<int>(k)), line.dashed = radius > 1, line.tooltip = component_name(model, k);
          panel.marks.emplace_back(std::move(line));
        }
      out.panels.push_back(std::move(panel));
    }
  if (p > 2) out.width = out.height = 720;
  out.legend.title = "component";
  for (Index k = 0; k < model.k(); ++k)
    out.legend.entries.push_back({std::to_string(k + 1), series(static_cast<int>(k)), LegendEntry::Key::point});
  out.description = fmt::format(
      "{} in {} of a mixture after {}, each with its ellipses of one and two standard deviations{}.",
      count_of(data.x.rows(), "row"), count_of(model.k(), "component"), count_of(model.iterations, "iteration"),
      model.width() > kMost ? fmt::format(", along the first {} of {} columns", kMost, model.width()) : "");
  return out;
}

Figure drawn_functions(const Shown& shown) {
  constexpr int kDraws = 8;
  const std::string name = shown.trained.design.columns()[0];
  const Column& x = shown.rows->column(name);
  const Range range = range_of(x);
  const auto grid = spread(range.low, range.high, 150);
  const Table at({numeric(name, grid)});
  Panel before{"Before the rows", axis_of(x), {shown.trained.design.target()}, {}}, after = before;
  after.title = "After the rows", after.y.label.clear();
  for (const bool prior : {true, false}) {
    const Prediction said = shown.trained.predict(at, {.what = {"value"}, .samples = SampleOptions{kDraws, prior, 1}});
    const Matrix& draws = said.matrix(kSamplesPart.name);
    Panel& panel = prior ? before : after;
    for (Index k = 0; k < draws.cols(); ++k)
      panel.marks.emplace_back(Line{grid, list_of(draws.col(k)), series(static_cast<int>(k), 0.85), 1.3});
    if (!prior) panel.marks.emplace_back(Line{grid, list_of(said.value()), ink(), 2.2});
  }
  const DesignData data = shown.trained.design.apply(*shown.rows, Missing::drop);
  Points points;
  for (std::size_t i = 0; i < data.y.size(); ++i) {
    const auto row = static_cast<std::size_t>(data.kept.empty() ? static_cast<Index>(i) : data.kept[i]);
    points.x.push_back(x.numbers().values[row]), points.y.push_back(data.y[i]);
    points.tooltips.push_back(fmt::format("row {}", row + 1));
  }
  points.paint = ink(0.45), points.radius = 2;
  after.marks.emplace_back(std::move(points));
  after.column = 1;
  Figure out;
  out.panels = {std::move(before), std::move(after)};
  out.width = 820, out.height = 400;
  out.description = fmt::format(
      "{} functions of {} drawn at random, before and after the rows, with the mean after them.", kDraws, name);
  return out;
}

Figure knee(const Shown& shown) {
  constexpr Index kMost = 10;
  const KMeansModel* model = model_cast<KMeansModel>(shown.trained.model);
  require(model != nullptr, "only kmeans has a knee");
  const DesignData data = shown.trained.design.apply(*shown.rows, Missing::drop);
  const Index most = std::min(kMost, data.x.rows());
  Panel panel{"", {"clusters"}, {"scatter within them"}, {}};
  panel.y.from = 0;
  Points points;
  for (Index k = 1; k <= most; ++k) {
    const KMeansModel fitted = fit(KMeans{.k = static_cast<int>(k)}, data.x);
    points.x.push_back(static_cast<double>(k)), points.y.push_back(fitted.total_within);
    points.tooltips.push_back(fmt::format("{}: {}, {:.1f} % of the scatter of all rows", count_of(k, "cluster"),
                                          format_significant(fitted.total_within, 4),
                                          fitted.total_ss > 0 ? 100 * fitted.total_within / fitted.total_ss : 0));
  }
  points.radius = 4;
  panel.marks = {Line{points.x, points.y, series(0)}, points};
  Figure out;
  out.width = 560;
  out.panels.push_back(std::move(panel));
  out.description =
      fmt::format("The scatter within clusters by their number, each fitted to {} from ten starts; the model has {}.",
                  count_of(data.x.rows(), "row"), count_of(model->k(), "cluster"));
  return out;
}

namespace {

/// The numbers that differ among the tries, by their names: "lambda", "kernel.gamma".
void gather(const Value& params, const std::string& prefix, std::map<std::string, std::vector<double>>& out,
            std::size_t at, std::size_t tries) {
  if (!params.is_object()) return;
  for (const auto& [name, value] : params.as_object()) {
    const bool alone = value.is_array() && value.as_vector().size() == 1;  // a list of one
    if (value.is_number() || alone) {
      auto& all = out[prefix + name];
      all.resize(tries, std::nan(""));
      all[at] = alone ? value.as_vector()(0) : value.as_double();
    } else {
      gather(value, prefix + name + ".", out, at, tries);
    }
  }
}

bool spans_decades(const std::vector<double>& values) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return *least > 0 && *most / *least >= 50;
}

}  // namespace

Figure tuning(const Shown& shown) {
  const Value& choice = shown.trained.choice;
  const std::string metric = choice.at("metrics").as_strings("metrics").at(0);
  const auto& tries = choice.at("tries").as_list();
  const auto taken = static_cast<std::size_t>(choice.at("taken").as_integer()) - 1;
  std::map<std::string, std::vector<double>> along;
  std::vector<double> score;
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < tries.size(); ++i) {
    gather(tries[i].at("params"), "", along, i, tries.size());
    const Value* found = tries[i].at("scores").find(metric);
    const Value* mean = found ? found->find("mean") : nullptr;
    score.push_back(mean && mean->is_number() ? mean->as_double() : std::nan(""));
    texts.push_back(
        fmt::format("{}: {} {}", tries[i].at("text").as_string(), metric, format_significant(score.back(), 4)));
  }
  std::vector<std::string> names;
  for (const auto& [name, values] : along) {
    const bool differ = std::any_of(values.begin(), values.end(), [&](double v) { return v != values[0]; });
    if (differ && std::none_of(values.begin(), values.end(), [](double v) { return std::isnan(v); }))
      names.push_back(name);
  }
  Figure out;
  Panel panel;
  if (names.size() >= 2) {  // a place for each try, its score as a colour
    const auto &x = along[names[0]], &y = along[names[1]];
    panel.x.label = names[0], panel.y.label = names[1];
    if (spans_decades(x)) panel.x.kind = ScaleKind::log;
    if (spans_decades(y)) panel.y.kind = ScaleKind::log;
    const auto of_score = sorted_values(score);
    require(!of_score.empty(), "no try has a score");
    const double least = of_score.front(), most = of_score.back();
    panel.marks.emplace_back(Points{{x[taken]}, {y[taken]}, {}, {}, ink(), 11.5});
    for (std::size_t i = 0; i < tries.size(); ++i)
      panel.marks.emplace_back(Points{
          {x[i]}, {y[i]}, {}, {texts[i]}, sequential(most > least ? (score[i] - least) / (most - least) : 0.5), 9});
    panel.marks.emplace_back(Words{{x[taken]}, {y[taken]}, {"taken"}, ink(), 11, false, 14});
    out.legend = {metric, {}, Legend::Ramp{Paint::Of::sequential, least, most}};
  } else {
    Points points;
    points.y = score, points.tooltips = texts, points.radius = 4;
    panel.y.label = metric;
    if (names.size() == 1) {
      points.x = along[names[0]], panel.x.label = names[0];
      if (spans_decades(points.x)) panel.x.kind = ScaleKind::log;
    } else {
      panel.x.label = "try";
      for (std::size_t i = 0; i < tries.size(); ++i) points.x.push_back(static_cast<double>(i + 1));
    }
    std::vector<std::size_t> order(tries.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return points.x[a] < points.x[b]; });
    Line line;
    for (const std::size_t i : order) line.x.push_back(points.x[i]), line.y.push_back(points.y[i]);
    panel.marks = {line, points, Points{{points.x[taken]}, {points.y[taken]}, {}, {texts[taken]}, series(1), 6}};
    panel.marks.emplace_back(Words{{points.x[taken]}, {points.y[taken]}, {"taken"}, ink(), 11, false});
  }
  out.panels.push_back(std::move(panel));
  out.description = fmt::format("{} of all that was tried, {}; taken was {}.", metric,
                                count_of(static_cast<Index>(tries.size()), "place"), texts[taken]);
  return out;
}

}  // namespace lemma::plot
