// lemma/plot/model/rows.cpp: pictures of what a model says of rows.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/data/stream.hpp>
#include <lemma/metric/classification.hpp>
#include <lemma/metric/curves.hpp>
#include <lemma/plot/colours.hpp>
#include <lemma/plot/model/kinds.hpp>
#include <lemma/validate/judge.hpp>
#include <numeric>

namespace lemma::plot {
namespace {

AskedTable asked(const Shown& shown) {
  return ask(shown.trained, MemoryTableStream(*shown.rows), {.missing = Missing::drop});
}

std::string row_name(const AskedTable& answers, Index i) { return fmt::format("row {}", answers.kept.row(i) + 1); }

Panel from_zero_to_one(std::string x, std::string y) {
  Panel out{"", {std::move(x)}, {std::move(y)}, {}};
  out.x.from = out.y.from = -0.01, out.x.to = out.y.to = 1.01;
  return out;
}

Line diagonal() { return {{0, 1}, {0, 1}, faint(), 1.2, true}; }

Figure of_panel(Panel panel, std::string description, double width = 560) {
  Figure out;
  out.width = width;
  out.panels.push_back(std::move(panel));
  out.description = std::move(description);
  return out;
}

/// That the rows trained the model, where they did: a measure of them flatters it.
std::string flattered(const AskedTable& answers) {
  using enum Honesty::Kind;
  return answers.honesty.kind == training || answers.honesty.kind == mixed ? " " + answers.honesty.sentence : "";
}

/// Truth and a score of the second class, which is the positive one.
struct Scored {
  Labels truth;
  Vector score;
  std::string positive, flattered;
};
Scored scored(const Shown& shown) {
  const AskedTable all = asked(shown);
  require(!all.answers.label.empty(), "the rows need their classes");
  Scored out{all.answers.label, {}, all.classes.at(1), flattered(all)};
  if (all.answers.probabilities.cols() == 2) out.score = all.answers.probabilities.col(1);
  else {
    const Prediction said =
        shown.trained.predict(shown.trained.design.apply(*shown.rows, Missing::drop), {.what = {"decision"}});
    const Matrix& decision = said.decision();
    require(decision.rows() == static_cast<Index>(out.truth.size()),
            "some rows have no response: leave them out with --where");
    out.score = decision.col(decision.cols() - 1);
  }
  return out;
}

}  // namespace

std::vector<double> spread(double from, double to, int steps) {
  std::vector<double> out;
  for (int i = 0; i <= steps; ++i) out.push_back(from + (to - from) * i / steps);
  return out;
}

Range range_of(const Column& column) {
  require(is_numeric(column), fmt::format("'{}' is no column of numbers", column.name));
  const auto sorted = sorted_values(column.numbers().values);
  require(!sorted.empty(), fmt::format("'{}' is missing in every row", column.name));
  const double room = sorted.front() < sorted.back() ? 0.05 * (sorted.back() - sorted.front()) : 1;
  return {sorted.front() - room, sorted.back() + room};
}

Figure fitted_curve(const Shown& shown) {
  const std::string name = shown.trained.design.columns()[0];
  const Column& x = shown.rows->column(name);
  const Range range = range_of(x);
  const auto grid = spread(range.low, range.high, 300);
  Column along = numeric(name, grid);
  std::get<Numbers>(along.data).quantity = x.numbers().quantity;
  const Table at({along});
  Panel panel{"", axis_of(x), {shown.trained.design.target()}, {}};
  Prediction said;
  try {
    said = shown.trained.predict(at, {.interval = IntervalKind::confidence});
    panel.marks.emplace_back(
        Area{grid, list_of(said.interval().col(0)), list_of(said.interval().col(1)), series(1, 0.25)});
  } catch (const Error&) { said = shown.trained.predict(at); }  // it gives no interval
  const AskedTable all = asked(shown);
  Points points;
  for (Index i = 0; i < all.answers.y.size(); ++i) {
    points.x.push_back(x.numbers().values[static_cast<std::size_t>(all.kept.row(i))]),
        points.y.push_back(all.answers.y(i));
    points.tooltips.push_back(row_name(all, i));
  }
  const bool band = !panel.marks.empty();
  points.paint = series(0, 0.6);
  panel.marks.emplace_back(std::move(points));
  panel.marks.emplace_back(Line{grid, list_of(said.value()), series(1), 2.2});
  return of_panel(std::move(panel),
                  fmt::format("The fitted curve of {} along {}{}.", shown.trained.design.target(), name,
                              band ? ", with its 95 % band" : ""),
                  720);
}

Figure regions(const Shown& shown) {
  constexpr int kSteps = 160;
  const auto names = shown.trained.design.columns();
  const Column &cx = shown.rows->column(names[0]), &cy = shown.rows->column(names[1]);
  const Range rx = range_of(cx), ry = range_of(cy);
  const auto gx = spread(rx.low, rx.high, kSteps), gy = spread(ry.low, ry.high, kSteps);
  std::vector<double> x, y;
  for (const double b : gy)
    for (const double a : gx) x.push_back(a), y.push_back(b);
  const Table at({numeric(names[0], x), numeric(names[1], y)});
  const Prediction said = shown.trained.predict(at);
  const Labels& label = said.label();
  const auto wide = static_cast<Index>(gx.size()), high = static_cast<Index>(gy.size());
  const double dx = gx[1] - gx[0], dy = gy[1] - gy[0];
  Rectangles cells;  // a run of one class in a row of the grid is one rectangle
  for (Index i = 0; i < high; ++i)
    for (Index j = 0, end = 0; j < wide; j = end) {
      const int k = label[static_cast<std::size_t>(i * wide + j)];
      for (end = j; end < wide && label[static_cast<std::size_t>(i * wide + end)] == k;) ++end;
      cells.x0.push_back(gx[static_cast<std::size_t>(j)] - dx / 2),
          cells.x1.push_back(gx[static_cast<std::size_t>(end - 1)] + dx / 2);
      cells.y0.push_back(gy[static_cast<std::size_t>(i)] - dy / 2),
          cells.y1.push_back(gy[static_cast<std::size_t>(i)] + dy / 2);
      cells.paints.push_back(series(k, 0.2));
    }
  Panel panel{"", axis_of(cx), axis_of(cy), {}};
  panel.x.from = rx.low, panel.x.to = rx.high, panel.y.from = ry.low, panel.y.to = ry.high;
  panel.marks.emplace_back(std::move(cells));
  const auto& classes = shown.trained.design.classes();
  const bool probable = said.probabilities().cols() == 2;
  const bool decides = std::ranges::any_of(shown.trained.model->parts(),
                                           [](const PartInfo& each) { return each.name == kDecisionPart.name; });
  if (classes.size() == 2 && (probable || decides)) {
    Matrix f(high, wide);
    if (probable) f = Eigen::Map<const Matrix>(Matrix(said.probabilities().col(1)).data(), high, wide);
    else {
      const Matrix decision = shown.trained.predict(at, {.what = {"decision"}}).decision();
      f = Eigen::Map<const Matrix>(Matrix(decision.col(decision.cols() - 1)).data(), high, wide);
    }
    // the border, and where the class is three times as probable as the other; of a machine its margin
    for (const double level : probable ? std::array{0.5, 0.25, 0.75} : std::array{0.0, -1.0, 1.0}) {
      Segments line = contour(gx, gy, f, level);
      const bool border = level == (probable ? 0.5 : 0.0);
      line.width = border ? 1.8 : 1, line.paint = border ? ink() : faint();
      panel.marks.emplace_back(std::move(line));
    }
  }
  const AskedTable all = asked(shown);
  Points points;
  for (Index i = 0; i < static_cast<Index>(all.answers.label.size()); ++i) {
    const auto row = static_cast<std::size_t>(all.kept.row(i));
    points.x.push_back(cx.numbers().values[row]), points.y.push_back(cy.numbers().values[row]);
    points.group.push_back(all.answers.label[static_cast<std::size_t>(i)]);
    points.tooltips.push_back(row_name(all, i) + ": " + classes[static_cast<std::size_t>(points.group.back())]);
  }
  // the rows that a machine leans on, where these are the rows it was fitted to
  const auto support = vector_of(shown.trained, "support");
  Points rings;
  for (Index k = 0; support && all.honesty.same_rows && k < support->size(); ++k)
    for (std::size_t i = 0; i < points.x.size(); ++i)
      if (all.kept.row(static_cast<Index>(i)) + 1 == static_cast<Index>((*support)(k)))
        rings.x.push_back(points.x[i]), rings.y.push_back(points.y[i]);
  rings.paint = ink(0.8), rings.radius = points.radius + 1.6;
  const auto ringed = static_cast<Index>(rings.x.size());
  if (ringed > 0) panel.marks.emplace_back(std::move(rings)), points.paint.opacity = 1;  // no ring shines through
  panel.marks.emplace_back(std::move(points));
  Figure out = of_panel(std::move(panel),
                        fmt::format("Where each of {} is predicted, along {} and {}{}.",
                                    count_of(static_cast<Index>(classes.size()), "class"), names[0], names[1],
                                    ringed > 0 ? fmt::format("; {} in rings", count_of(ringed, "support vector")) : ""),
                        720);
  out.legend.title = shown.trained.design.target();
  for (std::size_t k = 0; k < classes.size(); ++k)
    out.legend.entries.push_back({classes[k], series(static_cast<int>(k)), LegendEntry::Key::point});
  return out;
}

namespace {

/// The three largest in size, by their rows.
void name_extremes(Panel& panel, const std::vector<double>& x, const std::vector<double>& y,
                   const std::vector<std::string>& names) {
  std::vector<std::size_t> order(y.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto most = std::min<std::size_t>(3, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(most), order.end(),
                    [&](std::size_t i, std::size_t j) { return std::abs(y[i]) > std::abs(y[j]); });
  Words words;
  for (std::size_t k = 0; k < most; ++k)
    words.x.push_back(x[order[k]]), words.y.push_back(y[order[k]]), words.words.push_back(names[order[k]]);
  words.centred = false, words.size = 9;
  panel.marks.emplace_back(std::move(words));
}

Panel smoothed_points(std::string title, std::string along, std::string down, const std::vector<double>& x,
                      const std::vector<double>& y, const std::vector<std::string>& tooltips) {
  Panel panel{std::move(title), {std::move(along)}, {std::move(down)}, {}};
  std::vector<std::size_t> order(x.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return x[i] < x[j]; });
  std::vector<double> sx, sy;
  for (const std::size_t i : order)
    if (std::isfinite(x[i]) && std::isfinite(y[i])) sx.push_back(x[i]), sy.push_back(y[i]);
  Points points{x, y, {}, tooltips};
  points.radius = 2.2;
  panel.marks.emplace_back(std::move(points));
  constexpr std::size_t kMostSmoothed = 20'000;  // lowess looks at two thirds of the rows at each of 100 places
  if (sx.size() <= kMostSmoothed) panel.marks.emplace_back(Line{sx, lowess(sx, sy), series(1)});
  return panel;
}

Panel normal_quantiles(std::string down, const std::vector<double>& values) {
  Panel panel{"Normal quantiles", {"quantiles of the normal distribution"}, {std::move(down)}, {}};
  Points look;
  look.radius = 2.2;
  add_normal_quantiles(panel, sorted_values(values), look);
  return panel;
}

}  // namespace

Figure residuals(const Shown& shown) {
  const AskedTable all = asked(shown);
  require(all.answers.y.size() == all.answers.value.size(), "the rows need their response");
  const std::vector<double> fitted = list_of(all.answers.value);
  std::vector<double> residual = list_of(all.answers.y - all.answers.value), standard, leverage;
  std::vector<std::string> tooltips, numbers;
  for (Index i = 0; i < all.answers.y.size(); ++i)
    tooltips.push_back(row_name(all, i)), numbers.push_back(std::to_string(all.kept.row(i) + 1));
  const DesignData data = shown.trained.design.apply(*shown.rows, Missing::drop);
  if (static_cast<std::size_t>(data.x.rows()) == residual.size())
    for (const NamedColumn& each : shown.trained.model->diagnostics(
             Block(data.x, 0, {data.y, data.label, {}, data.weight, data.precision, data.offset, {}}))) {
      if (each.name == "standardised_residual" || each.name == "standardised_deviance_residual")
        standard = list_of(each.values);
      if (each.name == "deviance_residual") residual = list_of(each.values);
      if (each.name == "leverage") leverage = list_of(each.values);
    }
  Figure out;
  out.panels.push_back(smoothed_points("Residuals", "fitted", "residual", fitted, residual, tooltips));
  name_extremes(out.panels.back(), fitted, residual, numbers);
  out.panels.push_back(normal_quantiles(standard.empty() ? "residual" : "standardised residual",
                                        standard.empty() ? residual : standard));
  if (!standard.empty()) {
    std::vector<double> root;
    for (const double r : standard) root.push_back(std::sqrt(std::abs(r)));
    out.panels.push_back(
        smoothed_points("Scale and location", "fitted", "√|standardised residual|", fitted, root, tooltips));
  }
  if (!standard.empty() && !leverage.empty()) {
    out.panels.push_back(
        smoothed_points("Leverage", "leverage", "standardised residual", leverage, standard, tooltips));
    name_extremes(out.panels.back(), leverage, standard, numbers);
  }
  in_grid(out);
  out.width = 820, out.height = out.panels.size() > 2 ? 680 : 380;
  out.description = fmt::format("Residuals of {}: against fitted values, and beside normal quantiles{}.",
                                count_of(static_cast<Index>(residual.size()), "row"),
                                standard.empty() ? "" : "; their spread, and leverage");
  return out;
}

Figure roc(const Shown& shown) {
  const Scored rows = scored(shown);
  const RocCurve curve = roc_curve(rows.truth, rows.score);
  Panel panel = from_zero_to_one("false positive rate", "true positive rate of " + rows.positive);
  panel.marks = {diagonal(),
                 Line{list_of(curve.false_positive_rate), list_of(curve.true_positive_rate), series(0), 2.2}};
  const Auc area = auc(rows.truth, rows.score);
  Figure out =
      of_panel(std::move(panel), fmt::format("ROC curve of {}: the area below it is {:.3f}.",
                                             count_of(static_cast<Index>(rows.truth.size()), "row"), area.value) +
                                     rows.flattered);
  out.panels[0].marks.emplace_back(Words{{0.72}, {0.1}, {fmt::format("AUC {:.3f}", area.value)}});
  return out;
}

Figure precision_recall(const Shown& shown) {
  const Scored rows = scored(shown);
  const PrecisionRecallCurve curve = precision_recall_curve(rows.truth, rows.score);
  Panel panel = from_zero_to_one("recall of " + rows.positive, "precision");
  panel.marks.emplace_back(Line{list_of(curve.recall), list_of(curve.precision), series(0), 2.2});
  return of_panel(std::move(panel), fmt::format("Precision against recall; average precision {:.3f}.",
                                                average_precision(rows.truth, rows.score)) +
                                        rows.flattered);
}

Figure lift(const Shown& shown) {
  const Scored rows = scored(shown);
  const LiftCurve curve = lift_curve(rows.truth, rows.score);
  Panel panel = from_zero_to_one("share of the rows", "share of " + rows.positive + " found");
  panel.marks = {diagonal(), Line{list_of(curve.share), list_of(curve.gain), series(0), 2.2}};
  return of_panel(std::move(panel), "Positives found against rows taken, the highest scores first." + rows.flattered);
}

Figure calibration_curve(const Shown& shown) {
  const Scored rows = scored(shown);
  const Calibration found = calibration(rows.truth, rows.score);
  Panel panel = from_zero_to_one("probability of " + rows.positive + ", as said", "how often it is so");
  Points points;
  Segments bounds{{}, {}, {}, {}, series(0)};
  for (const CalibrationBin& bin : found.bins) {
    points.x.push_back(bin.predicted), points.y.push_back(bin.observed);
    points.tooltips.push_back(
        fmt::format("{} rows: said {:.3f}, is {:.3f}", format_significant(bin.weight, 6), bin.predicted, bin.observed));
    if (!bin.bounds) continue;
    bounds.x0.push_back(bin.predicted), bounds.x1.push_back(bin.predicted), bounds.y0.push_back(bin.bounds->lower),
        bounds.y1.push_back(bin.bounds->upper);
  }
  panel.marks = {diagonal(), bounds, Line{points.x, points.y, series(0)}, points};
  return of_panel(std::move(panel),
                  fmt::format("Calibration in {}; expected error {:.3f}.",
                              count_of(static_cast<Index>(found.bins.size()), "bin"), found.expected_error) +
                      rows.flattered);
}

Figure confusion_table(const Shown& shown) {
  const AskedTable all = asked(shown);
  require(!all.answers.label.empty(), "the rows need their classes");
  const auto k = static_cast<Index>(all.classes.size());
  const Confusion table = confusion(all.answers.label, all.answers.predicted, k, all.answers.weight);
  Panel panel{"",
              {"predicted", ScaleKind::factor, all.classes},
              {"true", ScaleKind::factor, {all.classes.rbegin(), all.classes.rend()}},
              {}};
  panel.x.grid = panel.y.grid = false;
  Rectangles cells;
  Words pale, dark;
  for (Index i = 0; i < k; ++i)
    for (Index j = 0; j < k; ++j) {
      const double share = table.of_class(i) > 0 ? table.counts(i, j) / table.of_class(i) : 0;
      const double x = static_cast<double>(j), y = static_cast<double>(k - 1 - i);
      cells.x0.push_back(x - 0.5), cells.x1.push_back(x + 0.5), cells.y0.push_back(y - 0.5),
          cells.y1.push_back(y + 0.5);
      cells.paints.push_back(diverging(i == j ? 0.5 - share / 2 : 0.5 + share / 2));
      cells.tooltips.push_back(fmt::format("{} of {} {} predicted as {}", format_significant(table.counts(i, j), 6),
                                           format_significant(table.of_class(i), 6),
                                           all.classes[static_cast<std::size_t>(i)],
                                           all.classes[static_cast<std::size_t>(j)]));
      Words& words = takes_dark_words(cells.paints.back()) ? dark : pale;
      words.x.push_back(x), words.y.push_back(y), words.words.push_back(format_significant(table.counts(i, j), 6));
    }
  pale.paint = pale_words(), dark.paint = dark_words(), pale.size = dark.size = k > 12 ? 9 : 12;
  panel.marks = {cells, dark, pale};
  Figure out = of_panel(
      std::move(panel),
      fmt::format("Confusion of {}: {:.1f} % of the rows are right.", count_of(k, "class"), 100 * table.accuracy()) +
          flattered(all),
      std::max(480.0, 40.0 * static_cast<double>(k) + 160));
  out.height = std::max(400.0, 32.0 * static_cast<double>(k) + 120);
  return out;
}

}  // namespace lemma::plot
