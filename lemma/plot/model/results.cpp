// lemma/plot/model/results.cpp: pictures of what a model has found.
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/model/placed_rows.hpp>
#include <lemma/plot/model/kinds.hpp>
#include <lemma/plot/scale.hpp>
#include <numeric>

namespace lemma::plot {
namespace {

std::vector<double> counted(std::size_t n) {
  std::vector<double> out(n);
  std::iota(out.begin(), out.end(), 1.0);
  return out;
}

Figure of_panel(Panel panel, std::string description) {
  Figure out;
  out.panels.push_back(std::move(panel));
  out.description = std::move(description);
  return out;
}

/// Names down the side, the first on top, a row of at least so many pixels each.
Figure by_name(Panel panel, std::size_t names, std::string description) {
  Figure out = of_panel(std::move(panel), std::move(description));
  out.height = std::max(240.0, 20.0 * static_cast<double>(names) + 100);
  return out;
}

}  // namespace

Figure scree(const Shown& shown) {
  Vector variance;
  std::string what = "variance";
  if (const auto sdev = vector_of(shown.trained, "sdev")) variance = sdev->cwiseAbs2();
  else if (const auto eigenvalues = vector_of(shown.trained, "eigenvalues"))
    variance = *eigenvalues, what = "eigenvalue";
  else variance = vector_of(shown.trained, "svd")->cwiseAbs2(), what = "variance between classes";
  Panel panel{"", {"component"}, {what}, {}};
  panel.x.grid = false, panel.y.from = std::min(0.0, variance.minCoeff());
  panel.x.kind = ScaleKind::factor;
  Rectangles bars;
  const double total = variance.cwiseAbs().sum();
  for (Index k = 0; k < variance.size(); ++k) {
    const auto x = static_cast<double>(k);
    panel.x.levels.push_back(std::to_string(k + 1));
    bars.x0.push_back(x - 0.35), bars.x1.push_back(x + 0.35), bars.y0.push_back(0), bars.y1.push_back(variance(k));
    bars.tooltips.push_back(fmt::format("{}: {}, {:.1f} % of all that are shown", k + 1,
                                        format_significant(variance(k), 4), 100 * variance(k) / total));
  }
  bars.paints = {series(0, 0.5)};
  Points points{counted(static_cast<std::size_t>(variance.size())), list_of(variance), {}, {}};
  for (double& x : points.x) x -= 1;  // level k lies at k
  panel.marks = {bars, Line{points.x, points.y, series(0)}, points};
  return of_panel(std::move(panel),
                  fmt::format("Scree plot: {} of each of {}.", what, count_of(variance.size(), "component")));
}

namespace {

/// Of several classes or responses: a row of points for each column, a colour for each of them.
Figure coefficients_of_each(const Shown& shown, const Matrix& b) {
  const std::vector<std::string>& names = shown.trained.design.features();
  require(static_cast<Index>(names.size()) == b.cols(), "the coefficients are not one for each column");
  const auto& classes = shown.trained.design.classes();
  Panel panel{"", {"coefficient"}, {"", ScaleKind::factor, {names.rbegin(), names.rend()}}, {}};
  const auto last = static_cast<double>(b.cols() - 1);
  panel.marks.emplace_back(Segments{{0}, {-0.5}, {0}, {last + 0.5}, faint(), 1, true});
  Points points;
  Figure legend;
  const auto skipped = static_cast<Index>(classes.size()) - b.rows();  // reference classes have none
  for (Index k = 0; k < b.rows(); ++k) {
    const bool named = skipped >= 0 && k + skipped < static_cast<Index>(classes.size());
    const std::string of = named ? classes[static_cast<std::size_t>(k + skipped)] : std::to_string(k + 1);
    if (b.rows() > 1) legend.legend.entries.push_back({of, series(static_cast<int>(k)), LegendEntry::Key::point});
    for (Index j = 0; j < b.cols(); ++j) {
      points.x.push_back(b(k, j)), points.y.push_back(last - static_cast<double>(j));
      points.group.push_back(static_cast<int>(k));
      points.tooltips.push_back(
          fmt::format("{}, {}: {}", names[static_cast<std::size_t>(j)], of, format_significant(b(k, j), 4)));
    }
  }
  panel.marks.emplace_back(std::move(points));
  Figure out =
      by_name(std::move(panel), names.size(),
              fmt::format("Coefficients of {} for each of {}.", join_words(names), count_of(b.rows(), "output")));
  out.legend = std::move(legend.legend);
  return out;
}

}  // namespace

Figure coefficients(const Shown& shown) {
  if (const auto several = matrix_of(shown.trained, "coefficients")) return coefficients_of_each(shown, *several);
  const Vector b = *vector_of(shown.trained, "coefficients");
  const auto lower = vector_of(shown.trained, "lower"), upper = vector_of(shown.trained, "upper");
  std::vector<std::string> names = shown.trained.design.features();
  const Value results = shown.trained.results();
  if (const Value* own = results.find("features")) names = own->as_strings("features");
  require(static_cast<Index>(names.size()) == b.size(), "the coefficients are not one for each column");
  Panel panel{"", {"coefficient"}, {"", ScaleKind::factor, {names.rbegin(), names.rend()}}, {}};
  Points points;
  Segments intervals{{}, {}, {}, {}, series(0), 2};
  const auto last = static_cast<double>(b.size() - 1);
  for (Index j = 0; j < b.size(); ++j) {
    const double y = last - static_cast<double>(j);
    points.x.push_back(b(j)), points.y.push_back(y);
    std::string told = fmt::format("{}: {}", names[static_cast<std::size_t>(j)], format_significant(b(j), 4));
    if (lower && upper && lower->size() == b.size()) {
      intervals.x0.push_back((*lower)(j)), intervals.x1.push_back((*upper)(j)), intervals.y0.push_back(y),
          intervals.y1.push_back(y);
      told += fmt::format(" [{}, {}]", format_significant((*lower)(j), 4), format_significant((*upper)(j), 4));
    }
    points.tooltips.push_back(std::move(told));
  }
  panel.marks = {Segments{{0}, {-0.5}, {0}, {last + 0.5}, faint(), 1, true}, intervals, points};
  return by_name(
      std::move(panel), names.size(),
      fmt::format("Coefficients of {}{}.", join_words(names), intervals.x0.empty() ? "" : ", with their intervals"));
}

Figure path(const Shown& shown) {
  const Vector lambda = *vector_of(shown.trained, "lambda");
  const Matrix b = *matrix_of(shown.trained, "coefficients");
  const auto& names = shown.trained.design.features();
  std::vector<Index> order(static_cast<std::size_t>(lambda.size()));
  std::iota(order.begin(), order.end(), Index{0});
  std::sort(order.begin(), order.end(), [&](Index i, Index j) { return lambda(i) < lambda(j); });
  // What each column's coefficient does to the prediction: times the column's own scale, where the model tells it.
  const auto scale = vector_of(shown.trained, "scale");
  const bool scaled = scale && scale->size() == b.cols();
  Panel panel{"", {"lambda"}, {scaled ? "coefficient of the standardised column" : "coefficient"}, {}};
  panel.x.kind = ScaleKind::log;
  Figure out;
  for (Index j = 0; j < b.cols(); ++j) {
    Line one;
    one.paint = series(static_cast<int>(j)), one.dashed = j / 8 % 2 == 1;
    one.tooltip = static_cast<std::size_t>(j) < names.size() ? names[static_cast<std::size_t>(j)]
                                                             : fmt::format("column {}", j + 1);
    for (const Index i : order) one.x.push_back(lambda(i)), one.y.push_back(b(i, j) * (scaled ? (*scale)(j) : 1));
    out.legend.entries.push_back({one.tooltip, one.paint, LegendEntry::Key::line, one.dashed});
    panel.marks.emplace_back(std::move(one));
  }
  out.panels.push_back(std::move(panel));
  out.description = fmt::format("Paths of {} over {} of lambda.", count_of(b.cols(), "coefficient"),
                                count_of(lambda.size(), "value"));
  return out;
}

Figure importance(const Shown& shown) {
  constexpr std::size_t kMost = 40;
  const Vector found = *vector_of(shown.trained, "importance");
  const auto& names = shown.trained.design.features();
  std::vector<std::size_t> order(static_cast<std::size_t>(found.size()));
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) {
    return found(static_cast<Index>(i)) > found(static_cast<Index>(j));
  });
  const std::size_t shown_count = std::min(order.size(), kMost);
  order.resize(shown_count);
  Panel panel{"", {"importance"}, {"", ScaleKind::factor, {}}, {}};
  panel.y.grid = false;
  Rectangles bars;
  for (std::size_t k = 0; k < shown_count; ++k) {  // the greatest on top
    const std::size_t j = order[shown_count - 1 - k];
    panel.y.levels.push_back(j < names.size() ? names[j] : fmt::format("column {}", j + 1));
    const auto y = static_cast<double>(k);
    bars.x0.push_back(0), bars.x1.push_back(found(static_cast<Index>(j))), bars.y0.push_back(y - 0.36),
        bars.y1.push_back(y + 0.36);
    bars.tooltips.push_back(panel.y.levels.back() + ": " + format_significant(found(static_cast<Index>(j)), 4));
  }
  bars.paints = {series(0, 0.8)};
  const std::string most = panel.y.levels.empty() ? "" : panel.y.levels.back();
  panel.marks.emplace_back(std::move(bars));
  return by_name(std::move(panel), shown_count,
                 fmt::format("Importance of {}; the greatest is that of {}.", count_of(found.size(), "column"), most));
}

namespace {

/// A result that goes along with a fit. Where another method calls something else by its name, `only` says whose it is.
struct Curve {
  std::string_view result, name, along, unit, only = {};
};
constexpr std::array kCurves{Curve{"oob_error_by_tree", "out of the bag", "trees", "error"},
                             Curve{"training_loss", "training rows", "rounds", "mean loss"},
                             Curve{"validation_loss", "rows held out", "rounds", "mean loss"},
                             Curve{"training_error", "all learners, training rows", "rounds", "error"},
                             Curve{"error", "the learner of the round", "rounds", "error", "adaboost"},
                             Curve{"trace", "", "iterations", ""},
                             Curve{"objective", "objective", "iterations", "objective", "kmeans"}};

bool is_of(const Curve& curve, const Method& method) { return curve.only.empty() || curve.only == method.name(); }

/// What a trace is one of: the number that the method tells at its end.
std::string traced(const Method& method) {
  constexpr std::array<std::pair<std::string_view, const char*>, 4> kEnds{{{"lower_bound", "lower bound"},
                                                                           {"log_likelihood", "log-likelihood"},
                                                                           {"stress", "stress"},
                                                                           {"objective", "objective"}}};
  const auto results = method.results();
  for (const auto& [name, words] : kEnds)
    if (std::ranges::any_of(results, [&](const FieldInfo& each) { return each.name == name; })) return words;
  return "objective";
}

/// Whether the first number of a trace is that before the first step.
bool from_the_start(const Method& method) {
  constexpr std::array<std::string_view, 6> kThese{"logistic", "mixture_of_experts", "nmf", "nonmetric_mds", "sammon",
                                                   "smacof"};
  return std::ranges::find(kThese, method.name()) != kThese.end();
}

/// A network counts passes over its rows, or steps with all of them at once.
std::string along_of(const Curve& curve, const TrainedModel& trained) {
  if (last_method(trained).about().family != "neural") return std::string(curve.along);
  const auto steps = steps_of(trained.model);
  const Value params = (steps.empty() ? trained.model : steps.back())->params();
  const Value* solver = params.find("solver");
  constexpr std::array<std::string_view, 4> kByBatches{"sgd", "nesterov", "adam", "rmsprop"};
  const bool batches =
      solver && solver->is_string() && std::ranges::find(kByBatches, solver->as_string()) != kByBatches.end();
  return batches ? "epochs" : "iterations";
}

}  // namespace

std::vector<std::string_view> convergence_results(const Method& method) {
  std::vector<std::string_view> out;
  for (const Curve& curve : kCurves)
    if (is_of(curve, method)) out.push_back(curve.result);
  return out;
}

Figure convergence(const Shown& shown) {
  const Method& method = last_method(shown.trained);
  Figure out;
  Panel panel;
  for (const Curve& curve : kCurves) {
    const auto values = vector_of(shown.trained, curve.result);
    if (!values || !is_of(curve, method)) continue;
    const bool trace = curve.unit.empty();
    const std::string along = along_of(curve, shown.trained), unit = trace ? traced(method) : std::string(curve.unit);
    const bool another = !panel.marks.empty() && (panel.x.label != along || panel.y.label != unit);
    if (another) continue;
    panel.x.label = along, panel.y.label = unit;
    auto at = counted(static_cast<std::size_t>(values->size()));
    if (trace && from_the_start(method))
      for (double& step : at) step -= 1;
    const auto number = static_cast<int>(panel.marks.size());
    const std::string name(trace ? unit : curve.name);
    panel.marks.emplace_back(Line{at, list_of(*values), series(number), 1.8, false, name});
    if (values->size() <= 30) panel.marks.emplace_back(Points{at, list_of(*values), {}, {}, series(number), 2.6});
    out.legend.entries.push_back({name, series(number), LegendEntry::Key::line});
  }
  // where a network that holds rows out stopped: the weights of that moment are kept
  const Value results = shown.trained.results();
  if (const Value* best = results.find("best_epoch"); best && vector_of(shown.trained, "validation_loss")) {
    const double at = best->as_double();
    const Extents all = extents_of(panel);
    panel.marks.emplace_back(Segments{{at}, {all.y.least}, {at}, {all.y.greatest}, faint(), 1.2, true});
    out.legend.entries.push_back({"kept", faint(), LegendEntry::Key::line, true});
  }
  if (out.legend.entries.size() == 1) out.legend.entries.clear();
  out.description = fmt::format("{} by {}.", panel.y.label, panel.x.label);
  out.panels.push_back(std::move(panel));
  return out;
}

namespace {

/// --color of the rows of the fit; Error where these are not among the rows given. Nothing where none is asked for.
std::optional<Column> colour_of_things(const Shown& shown, Index things) {
  if (shown.options.colour.empty()) return {};
  require(shown.rows != nullptr, "--color takes a column of DATA: give the rows of the fit too");
  std::vector<Index> rows = placed_rows(shown.trained, things);
  for (Index& row : rows) row = shown.trained.row_names.number(row) - 1;
  for (const Index row : rows)
    require(row < shown.rows->rows(), fmt::format("the map has {} and DATA {}: they are not the rows of the fit",
                                                  count_of(things, "thing"), count_of(shown.rows->rows(), "row")));
  return shown.rows->select(rows).column(shown.options.colour);
}

}  // namespace

Figure map(const Shown& shown) {
  constexpr Index kMostNames = 200, kMostNumbers = 60;
  const Matrix places = *matrix_of(shown.trained, "coordinates");
  require(places.cols() >= 2, "a map needs two dimensions");
  const Index n = places.rows();
  std::vector<std::string> names;
  const Value results = shown.trained.results();
  if (const Value* things = results.find("things")) names = things->as_strings("things");
  const bool named = std::ssize(names) == n || !shown.trained.row_names.names.empty();
  const std::vector<Index> rows = placed_rows(shown.trained, n);
  for (Index i = std::ssize(names); i < n; ++i)
    names.push_back(shown.trained.row_names.name(rows[static_cast<std::size_t>(i)]));
  const auto by = colour_of_things(shown, n);
  Figure out;
  Panel panel{"", {"coordinate 1"}, {"coordinate 2"}, {}};
  panel.equal = true;
  const std::vector<double> x = list_of(places.col(0)), y = list_of(places.col(1));
  Points points{x, y, {}, names};
  if (by && is_numeric(*by) && !few_values(*by)) {
    add_shaded(out, panel, points, *by, by->numbers().values);
  } else {
    const Groups groups = by ? groups_of(*by) : Groups();
    points.group = groups.code;
    for (std::size_t i = 0; !groups.empty() && i < names.size(); ++i)
      if (groups.code[i] >= 0) points.tooltips[i] += ": " + groups.names[static_cast<std::size_t>(groups.code[i])];
    panel.marks.emplace_back(std::move(points));
    if (!groups.empty()) out.legend = legend_of(groups, LegendEntry::Key::point);
  }
  if (n <= (named ? kMostNames : kMostNumbers)) {
    Words words{x, y, names};
    words.centred = false;
    panel.marks.emplace_back(std::move(words));
  }
  out.panels.push_back(std::move(panel));
  out.description = fmt::format("Map of {} in the first two coordinates.", count_of(n, "thing"));
  return out;
}

}  // namespace lemma::plot
