// lemma/cluster/divisive.cpp
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <lemma/cluster/divisive.hpp>
#include <lemma/cluster/divisive/diana.hpp>
#include <lemma/cluster/shared/measured_points.hpp>
#include <lemma/cluster/shared/row_prints.hpp>
#include <lemma/core/rounding_words.hpp>
#include <lemma/core/text.hpp>

namespace lemma {
namespace {

constexpr double kTolerance = 1e-9;  // of the greatest dissimilarity

Vector numbers_from_one(const auto& places) {
  Vector out(static_cast<Index>(places.size()));
  for (std::size_t i = 0; i < places.size(); ++i) out(static_cast<Index>(i)) = static_cast<double>(places[i]) + 1;
  return out;
}

std::vector<Index> rows_below(const MergeTree& tree, Index node) {
  const auto from = tree.order().begin() + tree.first(node);
  return {from, from + tree.size(node)};
}

/// The mean dissimilarity of a row to some others, itself left out.
double mean_to(const Dissimilarities& all, Index row, const std::vector<Index>& others) {
  double sum = 0;
  Index count = 0;
  for (const Index each : others)
    if (each != row) sum += all(row, each), ++count;
  return count > 0 ? sum / static_cast<double>(count) : 0;
}

struct Finding {
  double by = 0;
  Index step = -1;
  std::string_view what;
  void see(double off, Index at, std::string_view which) {
    if (!(off <= by)) by = off, step = at, what = which;
  }
};

/// One of the two sides is a splinter group: no row of the other is nearer to it than to its own, and the row of the greatest mean
/// dissimilarity in the whole is in it. How far the better side is from that.
double splinter_error(const Dissimilarities& all, const std::vector<Index>& left, const std::vector<Index>& stayed) {
  double worst = 0;
  if (stayed.size() > 1)
    for (const Index row : stayed) worst = std::max(worst, mean_to(all, row, stayed) - mean_to(all, row, left));
  std::vector<Index> both = left;
  both.insert(both.end(), stayed.begin(), stayed.end());
  double first = 0, among_left = 0;
  for (const Index row : both) first = std::max(first, mean_to(all, row, both));
  for (const Index row : left) among_left = std::max(among_left, mean_to(all, row, both));
  return std::max(worst, first - among_left);
}

Certificate certificate_of(const DivisiveModel& model, const MergeTree& tree, const Dissimilarities& all,
                           const Execution& execution) {
  const double greatest = model.heights.maxCoeff(), unit = greatest > 0 ? greatest : 1;
  std::vector<double> heights(at(tree.steps())), splinters(at(tree.steps()));
  parallel_for(tree.steps(), execution, [&](Index t) {
    const auto one = rows_below(tree, tree.left(t)), other = rows_below(tree, tree.right(t));
    double diameter = 0;
    auto both = one;
    both.insert(both.end(), other.begin(), other.end());
    for (std::size_t a = 0; a < both.size(); ++a)
      for (std::size_t b = 0; b < a; ++b) diameter = std::max(diameter, all(both[a], both[b]));
    heights[at(t)] = std::abs(diameter - model.heights(t)) / unit;
    splinters[at(t)] = std::min(splinter_error(all, one, other), splinter_error(all, other, one)) / unit;
  });
  Finding found;
  for (Index t = 0; t < tree.steps(); ++t) {
    found.see(heights[at(t)], t, "height");
    found.see(splinters[at(t)], t, "parting");
  }
  const double coefficient = agglomerative_coefficient(tree, model.heights);
  const bool same =
      std::isnan(coefficient) ? std::isnan(model.coefficient) : std::abs(coefficient - model.coefficient) <= kTolerance;
  Certificate out;
  out.strength = Strength::consistent;
  out.kind = "rows that would rather leave, and diameters";
  out.value = same ? found.by : std::max(1.0, found.by);
  out.tolerance = kTolerance;
  out.iterations = tree.steps();
  out.stopped = "each row is alone";
  if (out.holds())
    out.message = fmt::format(
        "In each of the {} no row that stayed is on average nearer to those that left by more than {} of the greatest "
        "dissimilarity "
        "(allowed {}), and each height is the diameter of its cluster.",
        count_of(tree.steps(), "parting"), residue_text(out.value, out.tolerance),
        format_significant(out.tolerance, 2));
  else if (!same) out.message = "The divisive coefficient is not that of these heights.";
  else if (found.what == "height")
    out.message = fmt::format("Parting {} has the height {}, which is not the diameter of its cluster.",
                              tree.steps() - found.step, format_significant(model.heights(found.step), 5));
  else
    out.message = fmt::format(
        "In parting {} a row stayed that is nearer to those that left, by {} of the greatest dissimilarity.",
        tree.steps() - found.step, format_significant(found.by, 2));
  return out;
}

/// So many clusters as leave the widest gap between two heights; at least 2.
Index widest_gap(const Vector& heights) {
  const Index n = heights.size() + 1;
  Index out = std::min<Index>(2, n);
  double widest = n > 2 ? heights(n - 2) - heights(n - 3) : 0;
  for (Index k = 3; k < n; ++k)
    if (const double gap = heights(n - k) - heights(n - k - 1); gap > widest + 1e-12 * heights.maxCoeff())
      widest = gap, out = k;
  return out;
}

}  // namespace

void Divisive::check() const {
  if (input == Input::pairs)
    throw Error("divisive: input is pairs, but it takes rows or a square: the dissimilarity of each two");
}

void DivisiveModel::check() const {
  const MergeTree tree(merges, Divisive::name);
  const Index n = tree.rows();
  require(columns > 0 && (spec.input != Input::square || columns == n), "divisive: the columns do not fit the rows");
  require(heights.size() == n - 1 && heights.allFinite() && (heights.array() >= 0).all(),
          "divisive: there is not one height for each parting");
  for (Index t = 1; t < heights.size(); ++t) require(heights(t) >= heights(t - 1), "divisive: the heights do not rise");
  require(order.size() == n && order == numbers_from_one(tree.order()),
          "divisive: the order is not that of the partings");
  require(spec.k.has_value() && *spec.k >= 1 && *spec.k <= n, "divisive: k is not a number of clusters");
  require(labels.size() == n && labels == numbers_from_one(cut_into(merges, *spec.k)),
          "divisive: the labels are not those of the partings");
  require(prints.size() == n && prints.allFinite() && !std::isinf(coefficient), "divisive: a number is not usable");
}

Prediction DivisiveModel::cut(const Valid<Cut>& how) const {
  Prediction out;
  return out.add(kClusterPart, lemma::cut(merges, heights, *how, *spec.k, Divisive::name));
}

std::string DivisiveModel::summary(const Names&) const {
  const MergeTree tree(merges, Divisive::name);
  const Index n = rows(), shown = std::min<Index>(10, n - 1);
  std::vector<std::string> number, parts;
  std::vector<double> at_height;
  for (Index t = n - 2; t >= n - 1 - shown; --t) {
    number.push_back(format_count(n - 1 - t));
    at_height.push_back(heights(t));
    parts.push_back(fmt::format("{} + {}", tree.size(tree.left(t)), tree.size(tree.right(t))));
  }
  Vector sizes = Vector::Zero(*spec.k);
  for (const double label : labels) sizes(static_cast<Index>(label) - 1) += 1;
  std::vector<std::string> words;
  for (const double size : sizes) words.push_back(format_count(static_cast<Index>(size)));
  return fmt::format(
      "Hierarchy of {} from the top ({})\n\n{}\n{}\n{}: {} of {}\n\ndivisive coefficient {}\n", count_of(n, "row"),
      spec.input == Input::square ? "dissimilarities as given" : spec.metric.text(),
      shown < n - 1 ? fmt::format("The first {} partings:", shown) : "The partings:",
      TextTable().right("parting", number).numbers("diameter", at_height, 4).right("rows parted", parts).str(),
      *spec.k == 1 ? "All together" : "Cut", count_of(*spec.k, "cluster"), join_words(words),
      format_significant(coefficient, 4));
}

DivisiveModel fit(const Valid<Divisive>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  require_room(Divisive::name, rows, spec->input, spec->gigabytes);
  Compared data = compare(Divisive::name, spec->input, spec->metric, rows, execution.part(0, 0.2));
  DivisiveModel model;
  model.spec = *spec;
  if (spec->input == Input::rows) model.spec.metric = data.metric;
  const Index n = data.count();
  if (spec->k && *spec->k > n)
    throw Error(fmt::format("divisive: k is {}, but there are only {}", *spec->k, count_of(n, "row")));
  // Partings backwards are merges, the narrowest first: a cluster is never wider than the one that it was parted from.
  std::vector<Parting> partings = diana(data.dissimilarities, execution.part(0.2, 0.8));
  std::reverse(partings.begin(), partings.end());
  std::vector<Joined> joined;
  for (const Parting& each : partings) joined.push_back({each.left.front(), each.stayed.front(), each.diameter});
  model.merges = merges_of(joined);
  model.heights.resize(n - 1);
  for (Index t = 0; t + 1 < n; ++t) model.heights(t) = joined[at(t)].height;
  const MergeTree tree(model.merges, Divisive::name);
  model.order = numbers_from_one(tree.order());
  if (!model.spec.k) model.spec.k = static_cast<int>(widest_gap(model.heights));
  model.labels = numbers_from_one(cut_into(model.merges, *model.spec.k));
  model.columns = rows.width();
  model.prints = prints_of(gather(rows, execution.part(0.8, 0.8)));
  model.coefficient = agglomerative_coefficient(tree, model.heights);
  if (std::isnan(model.coefficient)) model.warnings.push_back("all rows are equal: there is no divisive coefficient");
  model.certificate = certificate_of(model, tree, data.dissimilarities, execution.part(0.8, 1));
  return model;
}

Certificate certify(const DivisiveModel& model, const Rows& rows, const Execution& execution) {
  const MergeTree tree(model.merges, Divisive::name);
  if (rows.count() != tree.rows()) {
    Certificate out;
    out.strength = Strength::consistent;
    out.kind = "rows that would rather leave, and diameters";
    out.value = 1;
    out.tolerance = kTolerance;
    out.stopped = "each row is alone";
    out.message = fmt::format("The hierarchy is one of {}, and there are {}.", count_of(tree.rows(), "row"),
                              format_count(rows.count()));
    return out;
  }
  Matrix given = gather(rows, execution.part(0, 0.1));
  if (model.spec.input == Input::rows) given = rows_at(given, places_by_prints(model.prints, given));
  MemoryRows ordered(given);
  ordered.features = rows.features;
  ordered.levels = rows.levels;
  const Compared data = compare(Divisive::name, model.spec.input, model.spec.metric, ordered, execution.part(0.1, 0.4));
  return certificate_of(model, tree, data.dissimilarities, execution.part(0.4, 1));
}

template const Method& method_of<Divisive>();

}  // namespace lemma
