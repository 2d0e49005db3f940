// lemma/plot/model/spaces.cpp: rows in the coordinates of a model, clusters, densities, silhouettes, and the effects of columns.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/metric/clustering.hpp>
#include <lemma/plot/model/kinds.hpp>
#include <lemma/validate/effect.hpp>
#include <numeric>

namespace lemma::plot {
namespace {

/// A density goes on where the rows end.
Range wider(const Range& range) {
  const double room = 0.1 * (range.high - range.low);
  return {range.low - room, range.high + room};
}

Figure density_along(const Shown& shown, const Column& x) {
  const Range range = wider(range_of(x));
  const auto grid = spread(range.low, range.high, 300);
  const Prediction said = shown.trained.predict(Table({numeric(x.name, grid)}), {.what = {"log_density"}});
  std::vector<double> height;
  for (const double log : said.log_density()) height.push_back(std::exp(log));
  Panel panel{"", axis_of(x), {"density"}, {}};
  panel.y.from = 0;
  Segments rug{{}, {}, {}, {}, series(0, 0.4), 1};
  const double top = *std::max_element(height.begin(), height.end());
  for (const double value : x.numbers().values)
    rug.x0.push_back(value), rug.x1.push_back(value), rug.y0.push_back(0), rug.y1.push_back(0.03 * top);
  panel.marks = {rug, Area{grid, std::vector<double>(grid.size(), 0), height, series(1, 0.15)},
                 Line{grid, height, series(1), 2.2}};
  Figure out;
  out.panels.push_back(std::move(panel));
  out.description = fmt::format("The density along {}.", x.name);
  return out;
}

}  // namespace

Figure density_contours(const Shown& shown) {
  constexpr int kSteps = 160;
  const auto names = shown.trained.design.columns();
  if (names.size() == 1) return density_along(shown, shown.rows->column(names[0]));
  const Column &cx = shown.rows->column(names[0]), &cy = shown.rows->column(names[1]);
  const Range rx = wider(range_of(cx)), ry = wider(range_of(cy));
  const auto gx = spread(rx.low, rx.high, kSteps), gy = spread(ry.low, ry.high, kSteps);
  std::vector<double> x, y;
  for (const double b : gy)
    for (const double a : gx) x.push_back(a), y.push_back(b);
  const Vector log =
      shown.trained.predict(Table({numeric(names[0], x), numeric(names[1], y)}), {.what = {"log_density"}})
          .log_density();
  const Matrix f = Eigen::Map<const Matrix>(log.data(), static_cast<Index>(gy.size()), static_cast<Index>(gx.size()));
  Panel panel{"", axis_of(cx), axis_of(cy), {}};
  panel.x.from = rx.low, panel.x.to = rx.high, panel.y.from = ry.low, panel.y.to = ry.high;
  Points points{cx.numbers().values, cy.numbers().values, {}, {}};
  points.paint = series(0, 0.5), points.radius = 2.2;
  panel.marks.emplace_back(std::move(points));
  // each line at half the density of the one inside it
  constexpr int kLines = 8;
  for (int k = 1; k <= kLines; ++k) {
    Segments line = contour(gx, gy, f, f.maxCoeff() - k * std::log(2.0));
    line.paint = series(1, 1 - 0.6 * k / kLines), line.width = 1.4;
    panel.marks.emplace_back(std::move(line));
  }
  Figure out;
  out.panels.push_back(std::move(panel));
  out.description = fmt::format(
      "Contours of the density over {} and {}, each at half the density of the one inside it.", names[0], names[1]);
  return out;
}

namespace {

bool assigns(const TrainedModel& trained) {
  const auto parts = trained.model->parts();
  return std::ranges::any_of(parts, [](const PartInfo& each) { return each.name == kClusterPart.name; });
}

/// As the model assigns rows, or where it knows those of its fit alone, theirs: −1 is none.
Labels clusters_of(const Shown& shown, const DesignData& data) {
  if (assigns(shown.trained)) return shown.trained.predict(data).label();
  const Vector found = *vector_of(shown.trained, "labels");
  require(found.size() == data.x.rows(), fmt::format("this {} has clusters of the {} of its fit alone, and DATA has {}",
                                                     shown.trained.model->method().name(),
                                                     count_of(found.size(), "row"), format_count(data.x.rows())));
  Labels out;
  for (const double label : found) out.push_back(static_cast<int>(label) - 1);
  return out;
}

}  // namespace

bool has_clusters(const TrainedModel& trained) {
  if (trained.model->task() != Task::clustering) return false;
  if (assigns(trained)) return true;
  const Value params = trained.model->params();
  const Value* input = params.find("input");
  return vector_of(trained, "labels") && (!input || !input->is_string() || input->as_string() == "rows");
}

Figure silhouette_bars(const Shown& shown) {
  const DesignData data = shown.trained.design.apply(*shown.rows, Missing::drop);
  const Labels all = clusters_of(shown, data);
  std::vector<Index> clustered;  // noise has no silhouette
  Labels label;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i] >= 0) clustered.push_back(static_cast<Index>(i)), label.push_back(all[i]);
  Matrix x =
      data.x(clustered, Eigen::all);  // of a pipeline where the clusters were found: after the steps before the last
  const auto steps = steps_of(shown.trained.model);
  for (std::size_t k = 0; k + 1 < steps.size(); ++k) x = steps[k]->transform(x);
  const Vector width = silhouettes(x, label);
  std::vector<std::size_t> order(label.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return label[a] != label[b] ? label[a] > label[b] : width(static_cast<Index>(a)) < width(static_cast<Index>(b));
  });
  Panel panel{"", {"silhouette"}, {"rows, by cluster"}, {}};
  panel.y.shown = panel.y.grid = false;
  Rectangles bars;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const auto i = static_cast<Index>(order[k]);
    bars.x0.push_back(0), bars.x1.push_back(width(i)), bars.y0.push_back(static_cast<double>(k)),
        bars.y1.push_back(static_cast<double>(k + 1));
    bars.paints.push_back(series(label[order[k]], 0.85));
  }
  const double mean = width.mean();
  panel.marks = {bars, Segments{{mean}, {0}, {mean}, {static_cast<double>(order.size())}, ink(), 1.2, true}};
  Figure out;
  out.legend.title = "cluster";
  for (int k = 0; k <= *std::max_element(label.begin(), label.end()); ++k)
    out.legend.entries.push_back({std::to_string(k + 1), series(k), LegendEntry::Key::area});
  out.panels.push_back(std::move(panel));
  out.description =
      fmt::format("Silhouettes of {}, {}; their mean is {:.3f}.", count_of(width.size(), "row"),
                  steps.size() > 1 ? "after the steps before the clusters" : "in the units of the columns", mean);
  return out;
}

namespace {

/// The columns, those of the greatest importance (or coefficient of the standardised column) first where there are more than `most`.
std::vector<std::string> telling_columns(const TrainedModel& trained, std::size_t most) {
  auto columns = trained.design.columns();
  const auto& features = trained.design.features();
  auto weight = vector_of(trained, "importance");
  if (!weight && columns.size() > most)
    if (auto b = vector_of(trained, "coefficients"), scale = vector_of(trained, "scale");
        b && scale && b->size() == scale->size())
      weight = (b->array() * scale->array()).abs();
  if (columns.size() <= most || !weight || static_cast<std::size_t>(weight->size()) != features.size()) return columns;
  const auto of = [&](const std::string& column) {
    const auto at = std::find(features.begin(), features.end(), column) - features.begin();
    return at < weight->size() ? (*weight)(at) : -1.0;
  };
  std::stable_sort(columns.begin(), columns.end(),
                   [&](const std::string& a, const std::string& b) { return of(a) > of(b); });
  return columns;
}

}  // namespace

Figure effects(const Shown& shown) {
  constexpr std::size_t kMost = 9;
  const auto columns = telling_columns(shown.trained, kMost);
  Figure out;
  for (std::size_t j = 0; j < std::min(columns.size(), kMost); ++j) {
    const Effect found = effect(shown.trained, *shown.rows, columns[j]);
    const Index output = found.partial.cols() - 1;  // of two classes the positive one
    Panel panel{"", axis_of(found.at), {j % 3 == 0 ? found.outputs.back() : ""}, {}};
    const auto at = places_of(found.at);
    const bool levels = panel.x.kind == ScaleKind::factor;
    const double mean = found.partial.col(output).mean() - found.accumulated.col(output).mean();  // beside one another
    const Vector accumulated = found.accumulated.col(output).array() + mean;
    if (levels) {
      panel.marks = {Points{at, list_of(found.partial.col(output)), {}, {}, series(0), 4},
                     Points{at, list_of(accumulated), {}, {}, series(1), 3}};
    } else {
      panel.marks = {Line{at, list_of(found.partial.col(output)), series(0), 2},
                     Line{at, list_of(accumulated), series(1), 1.4, true}};
    }
    out.panels.push_back(std::move(panel));
  }
  out.legend = {
      "", {{"partial", series(0), LegendEntry::Key::line}, {"accumulated", series(1), LegendEntry::Key::line, true}}};
  if (out.panels.size() > 1) in_grid(out);
  out.description = fmt::format("How the prediction changes with {}{}.",
                                count_of(static_cast<Index>(std::min(columns.size(), kMost)), "column"),
                                columns.size() > kMost ? fmt::format(", of {}", columns.size()) : "");
  return out;
}

namespace {

/// The first two coordinates of each row, and its class where the rows have one.
Table coordinates_of(const Shown& shown) {
  const DesignData data = shown.trained.design.apply(*shown.rows, Missing::drop);
  const Matrix places = shown.trained.predict(data, {.what = {"coordinates"}}).coordinates();
  const auto names = shown.trained.model->output_names(shown.trained.design.features());
  const auto name = [&](std::size_t k) { return k < names.size() ? names[k] : fmt::format("coordinate {}", k + 1); };
  Table out({numeric(name(0), list_of(places.col(0))), numeric(name(1), list_of(places.col(1)))});
  const auto& classes = shown.trained.design.classes();
  const std::string& colour = shown.options.colour;
  if (!colour.empty()) {
    std::vector<Index> kept = data.kept;
    if (kept.empty())
      for (Index i = 0; i < places.rows(); ++i) kept.push_back(i);
    Column by = shown.rows->select(kept).column(colour);
    if (by.name == name(0) || by.name == name(1)) by.name += " ";  // the coordinates of a step that keeps its columns
    out.add(std::move(by));
  } else if (!classes.empty() && data.label.size() == static_cast<std::size_t>(places.rows())) {
    out.add({shown.trained.design.target(), Categories{{data.label.begin(), data.label.end()}, classes}});
  }
  return out;
}

/// What tells the rows of DATA apart: the first column of words that the model does not look at, each of them once. Empty: nothing.
std::vector<std::string> names_of_rows(const Shown& shown) {
  if (shown.rows->rows() > kMostTooltips) return {};
  const auto& features = shown.trained.design.features();
  for (const Column& column : shown.rows->all()) {
    if (is_numeric(column) || std::find(features.begin(), features.end(), column.name) != features.end()) continue;
    std::vector<std::string> names;
    for (Index i = 0; i < shown.rows->rows(); ++i) names.push_back(column.text(i));
    std::vector<std::string> sorted = names;
    std::sort(sorted.begin(), sorted.end());
    if (names.size() > 2 && std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end()) return names;
  }
  return {};
}

/// Points get their rows' names; few of them are written beside.
void name_rows(Figure& figure, const Shown& shown) {
  constexpr std::size_t kMostNames = 60;
  auto& points = std::get<Points>(figure.panels[0].marks[0]);
  const std::vector<std::string> names = names_of_rows(shown);
  if (names.size() != points.x.size()) return;  // there are none, or rows with missing values were left out
  points.tooltips = names;
  if (names.size() > kMostNames) return;
  Words words{points.x, points.y, names, ink(), 9};
  words.centred = false, words.gap = 4;
  figure.panels[0].marks.emplace_back(std::move(words));
}

Figure scattered(const Table& table, const Shown& shown) {
  PlotOptions options;
  if (table.columns() > 2) options.colour = table.column(2).name;
  const auto quoted = [](const std::string& name) { return "`" + name + "`"; };
  Figure out = draw("scatter", table, quoted(table.column(1).name) + " ~ " + quoted(table.column(0).name), options);
  out.title.clear();
  out.description = fmt::format("{} in the first two coordinates of {}.", count_of(table.rows(), "row"),
                                shown.trained.model->method().name());
  return out;
}

}  // namespace

Figure scores(const Shown& shown) {
  Figure out = scattered(coordinates_of(shown), shown);
  name_rows(out, shown);
  return out;
}

/// Gabriel's: X = U D V'. Points U D^alpha, arrows V D^(1 - alpha), of a common length that the points leave room for.
Figure biplot(const Shown& shown) {
  const double alpha = shown.options.alpha;
  require(alpha >= 0 && alpha <= 1, fmt::format("--alpha is {}, must be from 0 to 1", alpha));
  const Matrix loadings = *matrix_of(shown.trained, "loadings");
  const Vector sdev = *vector_of(shown.trained, "sdev");
  require(loadings.cols() >= 2 && sdev.size() >= 2, "a biplot needs two components");
  const auto& features = shown.trained.design.features();
  require(static_cast<Index>(features.size()) == loadings.rows(), "the loadings are not one for each column");
  const Vector power = sdev.head(2).array().pow(alpha - 1);
  Figure out = scattered(coordinates_of(shown), shown);
  auto& points = std::get<Points>(out.panels[0].marks[0]);
  const auto rows = static_cast<Index>(points.x.size());
  double reach = 0;
  for (std::size_t i = 0; i < points.x.size(); ++i) {
    points.x[i] *= power(0), points.y[i] *= power(1);
    reach = std::max({reach, std::abs(points.x[i]), std::abs(points.y[i])});
  }
  points.radius = 2.2;
  Matrix arrows = loadings.leftCols(2);
  arrows.col(0) *= std::pow(sdev(0), 1 - alpha), arrows.col(1) *= std::pow(sdev(1), 1 - alpha);
  arrows *= 0.85 * reach / arrows.rowwise().norm().maxCoeff();
  const Paint arrow = points.group.empty() ? series(1) : ink();  // a colour of the palette would be a class
  Segments drawn{{}, {}, {}, {}, arrow, 1.6};
  drawn.arrows = true;
  Words names;
  for (Index j = 0; j < arrows.rows(); ++j) {
    drawn.x0.push_back(0), drawn.y0.push_back(0), drawn.x1.push_back(arrows(j, 0)), drawn.y1.push_back(arrows(j, 1));
    names.x.push_back(arrows(j, 0)), names.y.push_back(arrows(j, 1)),
        names.words.push_back(features[static_cast<std::size_t>(j)]);
  }
  names.centred = false, names.outward = true;
  out.panels[0].marks.emplace_back(std::move(drawn)), out.panels[0].marks.emplace_back(std::move(names));
  name_rows(out, shown);
  out.panels[0].equal = true;
  out.description = fmt::format("Biplot of {} and {}: rows as points, columns as arrows.", count_of(rows, "row"),
                                count_of(arrows.rows(), "column"));
  return out;
}

namespace {

/// The columns that pairs show: those of numbers, and where these are fewer than two the codes of categories too, moved aside a
/// little so that equal ones are seen.
struct PairColumns {
  std::vector<std::size_t> which;
  std::vector<Column> columns;
};
PairColumns pair_columns(const TrainedModel& trained, const Matrix& x) {
  constexpr std::size_t kMost = 6;
  constexpr double kGolden = 0.6180339887498949;
  const auto& features = trained.design.features();
  const auto levels = trained.design.levels();
  const auto code = [&](std::size_t j) { return j < levels.size() && !levels[j].empty(); };
  std::size_t numbers = 0;
  for (std::size_t j = 0; j < features.size(); ++j) numbers += !code(j);
  PairColumns out;
  for (std::size_t j = 0; j < features.size() && out.which.size() < kMost; ++j) {
    if (code(j) && numbers >= 2) continue;
    auto values = list_of(x.col(static_cast<Index>(j)));
    for (std::size_t i = 0; code(j) && i < values.size(); ++i)
      values[i] += 0.4 * (std::fmod(static_cast<double>(i) * kGolden, 1) - 0.5);
    out.which.push_back(j), out.columns.push_back(numeric(features[j], std::move(values)));
  }
  return out;
}

/// What methods call the centres of clusters, one in each row.
std::optional<Matrix> centers_of(const TrainedModel& trained) {
  if (steps_of(trained.model).size() > 1) return {};  // they lie where the steps before the last put the rows
  for (const std::string_view name : {"centers", "medoids", "modes"})
    if (auto found = matrix_of(trained, name);
        found && found->cols() == static_cast<Index>(trained.design.features().size()))
      return found;
  return {};
}

}  // namespace

Figure pairs_of_groups(const Shown& shown, const Matrix& x, const Column& groups, const Matrix* centers,
                       const Labels& of) {
  PairColumns chosen = pair_columns(shown.trained, x);
  const auto count = chosen.which.size();
  chosen.columns.push_back(groups);
  Figure out = draw(count > 1 ? "pairs" : "histogram", Table(chosen.columns), "", {.colour = groups.name});
  out.title.clear();
  if (!centers || count < 2) return out;
  for (Panel& panel : out.panels) {
    if (panel.row == panel.column) continue;
    const auto along = list_of(centers->col(static_cast<Index>(chosen.which[static_cast<std::size_t>(panel.column)])));
    const auto down = list_of(centers->col(static_cast<Index>(chosen.which[static_cast<std::size_t>(panel.row)])));
    const double radius = count > 4 ? 3.2 : 4.2;
    panel.marks.emplace_back(Points{along, down, {}, {}, ink(), radius + 1.6});
    panel.marks.emplace_back(Points{along, down, of, {}, series(0), radius});
  }
  return out;
}

Figure clusters(const Shown& shown) {
  const DesignData data = shown.trained.design.apply(*shown.rows, Missing::drop);
  const Labels label = clusters_of(shown, data);
  const auto& features = shown.trained.design.features();
  const int most = label.empty() ? 0 : *std::max_element(label.begin(), label.end());
  Categories found{{label.begin(), label.end()}, {}};
  for (int k = 0; k <= most; ++k) found.levels.push_back(std::to_string(k + 1));
  const auto centers = centers_of(shown.trained);
  Labels of;
  for (Index k = 0; centers && k < centers->rows(); ++k) of.push_back(static_cast<int>(k));
  Figure out = pairs_of_groups(shown, data.x, {"cluster", std::move(found)}, centers ? &*centers : nullptr, of);
  const auto drawn = std::sqrt(static_cast<double>(out.panels.size()));
  out.description = fmt::format(
      "{} in {}{}{}.", count_of(static_cast<Index>(label.size()), "row"), count_of(most + 1, "cluster"),
      drawn < static_cast<double>(features.size()) ? fmt::format(", along {:.0f} of {} columns", drawn, features.size())
                                                   : "",
      centers && drawn > 1 ? "; the centres have rims" : "");
  return out;
}

}  // namespace lemma::plot
