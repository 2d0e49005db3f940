// lemma/cluster/divisive.cpp
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <lemma/cluster/divisive.hpp>
#include <lemma/cluster/divisive/bisecting.hpp>
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

std::string_view kind_of(const DivisiveModel& model) {
  return model.spec.by == PartBy::diana ? "rows that would rather leave, and diameters"
                                        : "rows nearer to the other mean, and sums of squares";
}

/// What a hierarchy is held against: dissimilarities, or the rows that 2-means parted.
struct Things {
  std::optional<Dissimilarities> all;
  Matrix points;
};

/// How far a parting is from what its method says, and its height from that of its cluster.
struct Off {
  double parting = 0, height = 0;
};
Off off_by_diana(const Dissimilarities& all, const std::vector<Index>& one, const std::vector<Index>& other,
                 double told) {
  double diameter = 0;
  auto both = one;
  both.insert(both.end(), other.begin(), other.end());
  for (std::size_t a = 0; a < both.size(); ++a)
    for (std::size_t b = 0; b < a; ++b) diameter = std::max(diameter, all(both[a], both[b]));
  return {std::min(splinter_error(all, one, other), splinter_error(all, other, one)), std::abs(diameter - told)};
}

/// The rows summed from the last to the first, around the last one.
Vector mean_again(const Matrix& x, const std::vector<Index>& rows) {
  const Vector last = x.row(rows.back()).transpose();
  Vector sum = Vector::Zero(x.cols());
  for (auto row = rows.rbegin(); row != rows.rend(); ++row) sum += x.row(*row).transpose() - last;
  return last + sum / static_cast<double>(rows.size());
}
/// How much nearer a row is to the mean of the other side, in squares; the sum of squares of both sides about the mean of all.
Off off_by_means(const Matrix& x, const std::vector<Index>& one, const std::vector<Index>& other, double told) {
  const Vector first = mean_again(x, one), second = mean_again(x, other);
  auto both = one;
  both.insert(both.end(), other.begin(), other.end());
  const Vector middle = mean_again(x, both);
  Off out;
  double squares = 0;
  const auto look = [&](const std::vector<Index>& rows, const Vector& own, const Vector& far) {
    for (const Index row : rows) {
      const Vector place = x.row(row).transpose();
      out.parting = std::max(out.parting, (place - own).squaredNorm() - (place - far).squaredNorm());
      squares += (place - middle).squaredNorm();
    }
  };
  look(one, first, second);
  look(other, second, first);
  out.height = std::abs(squares - told);
  return out;
}

Certificate certificate_of(const DivisiveModel& model, const MergeTree& tree, const Things& things,
                           const Execution& execution) {
  const bool diana = model.spec.by == PartBy::diana;
  const double greatest = model.heights.maxCoeff(), unit = greatest > 0 ? greatest : 1;
  std::vector<double> heights(at(tree.steps())), splinters(at(tree.steps()));
  parallel_for(tree.steps(), execution, [&](Index t) {
    const auto one = rows_below(tree, tree.left(t)), other = rows_below(tree, tree.right(t));
    const Off off = diana ? off_by_diana(*things.all, one, other, model.heights(t))
                          : off_by_means(things.points, one, other, model.heights(t));
    heights[at(t)] = off.height / unit;
    splinters[at(t)] = off.parting / unit;
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
  out.kind = kind_of(model);
  out.value = same ? found.by : std::max(1.0, found.by);
  out.tolerance = kTolerance;
  out.iterations = tree.steps();
  out.stopped = "each row is alone";
  if (out.holds() && !diana)
    out.message = fmt::format(
        "In each of the {} no row is nearer to the mean of the other side, by more than {} of the sum of all squares "
        "(allowed {}), and each height is the sum of squares of its cluster.",
        count_of(tree.steps(), "parting"), residue_text(out.value, out.tolerance),
        format_significant(out.tolerance, 2));
  else if (out.holds())
    out.message = fmt::format(
        "In each of the {} no row that stayed is on average nearer to those that left by more than {} of the greatest "
        "dissimilarity "
        "(allowed {}), and each height is the diameter of its cluster.",
        count_of(tree.steps(), "parting"), residue_text(out.value, out.tolerance),
        format_significant(out.tolerance, 2));
  else if (!same) out.message = "The divisive coefficient is not that of these heights.";
  else if (found.what == "height")
    out.message =
        fmt::format("Parting {} has the height {}, which is not the {} of its cluster.", tree.steps() - found.step,
                    format_significant(model.heights(found.step), 5), diana ? "diameter" : "sum of squares");
  else if (!diana)
    out.message =
        fmt::format("In parting {} a row is nearer to the mean of the other side, by {} of the sum of all squares.",
                    tree.steps() - found.step, format_significant(found.by, 2));
  else
    out.message = fmt::format(
        "In parting {} a row stayed that is nearer to those that left, by {} of the greatest dissimilarity.",
        tree.steps() - found.step, format_significant(found.by, 2));
  return out;
}

/// The metric of the spec is resolved by the rows. A given hierarchy is verified in whatever room it takes.
Things things_of(Divisive& spec, const Rows& rows, const Execution& execution) {
  Things out;
  if (spec.by == PartBy::bisecting) {
    out.points = measured_points(spec.metric, rows, execution).points;
    if (out.points.rows() < 2) throw Error("divisive: there is only 1 row; give at least 2");
    return out;
  }
  Compared data = compare(Divisive::name, spec.input, spec.metric, rows, execution);
  if (spec.input == Input::rows) spec.metric = data.metric;
  out.all = std::move(data.dissimilarities);
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
  if (by == PartBy::bisecting && input == Input::square)
    throw Error("divisive: input is a square, but bisecting takes means of rows; take --by diana");
  if (by == PartBy::bisecting && !metric.get<EuclideanMetric>())
    throw Error(
        fmt::format("divisive: metric is {}, but bisecting takes means, which are nearest by squares: euclidean; "
                    "take --by diana for others",
                    metric.name()));
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
  return fmt::format("Hierarchy of {} from the top ({}{})\n\n{}\n{}\n{}: {} of {}\n\ndivisive coefficient {}\n",
                     count_of(n, "row"), spec.input == Input::square ? "dissimilarities as given" : spec.metric.text(),
                     spec.by == PartBy::bisecting ? ", by 2-means" : "",
                     shown < n - 1 ? fmt::format("The first {} partings:", shown) : "The partings:",
                     TextTable()
                         .right("parting", number)
                         .numbers(spec.by == PartBy::diana ? "diameter" : "squares", at_height, 4)
                         .right("rows parted", parts)
                         .str(),
                     *spec.k == 1 ? "All together" : "Cut", count_of(*spec.k, "cluster"), join_words(words),
                     format_significant(coefficient, 4));
}

DivisiveModel fit(const Valid<Divisive>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  DivisiveModel model;
  model.spec = *spec;
  const bool diana = spec->by == PartBy::diana;
  if (diana) require_room(Divisive::name, rows, spec->input, spec->gigabytes);
  const Things things = things_of(model.spec, rows, execution.part(0, 0.2));
  const Index n = diana ? things.all->count() : things.points.rows();
  if (spec->k && *spec->k > n)
    throw Error(fmt::format("divisive: k is {}, but there are only {}", *spec->k, count_of(n, "row")));
  // Partings backwards are merges, the narrowest first: a cluster is never wider than the one that it was parted from.
  std::vector<Parting> partings =
      diana ? lemma::diana(*things.all, execution.part(0.2, 0.8)) : bisect(things.points, execution.part(0.2, 0.8));
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
  model.certificate = certificate_of(model, tree, things, execution.part(0.8, 1));
  return model;
}

Certificate certify(const DivisiveModel& model, const Rows& rows, const Execution& execution) {
  const MergeTree tree(model.merges, Divisive::name);
  if (rows.count() != tree.rows()) {
    Certificate out;
    out.strength = Strength::consistent;
    out.kind = kind_of(model);
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
  Divisive spec = model.spec;
  return certificate_of(model, tree, things_of(spec, ordered, execution.part(0.1, 0.4)), execution.part(0.4, 1));
}

template const Method& method_of<Divisive>();

}  // namespace lemma
