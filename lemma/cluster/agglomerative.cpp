// lemma/cluster/agglomerative.cpp
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <lemma/cluster/agglomerative.hpp>
#include <lemma/cluster/agglomerative/facts.hpp>
#include <lemma/cluster/agglomerative/linkage.hpp>
#include <lemma/cluster/shared/measured_points.hpp>
#include <lemma/cluster/shared/row_prints.hpp>
#include <lemma/core/rounding_words.hpp>
#include <lemma/core/text.hpp>

namespace lemma {
namespace {

constexpr double kTolerance = 1e-9;  // of the greatest height

/// A square is all that rows need; where dissimilarities are given it stands besides them, if the memory allowed has room for both.
Kept kept_in(const Agglomerative& spec, Index count) {
  return spec.input == Input::rows || 3 * Dissimilarities::bytes(count) <= 1e9 * spec.gigabytes ? Kept::square
                                                                                                : Kept::triangle;
}

/// The merges, and the metric with all that it learned of the rows. Of rows the square of the work stays in `room`, for the
/// certificate; where dissimilarities are given memory is dearer than time.
std::vector<Joined> join(Agglomerative& spec, const Rows& rows, NumberRoom& room, const Execution& execution) {
  if (spec.input == Input::rows) {
    if (rows.count() < 2) throw Error("agglomerative: there is 1 row, must be at least 2 to compare them");
    if (spec.linkage != Linkage::single) require_room(Agglomerative::name, rows, spec.input, spec.gigabytes, 2);
    const MeasuredPoints found = measured_points(spec.metric, rows, execution.part(0, 0.1));
    spec.metric = found.metric.metric();
    if (spec.linkage == Linkage::single)
      return joined_by_single_linkage(found.points, found.metric, execution.part(0.1, 1));
    const auto all = Dissimilarities::on_demand(found.points, found.metric, {}, execution.part(0.1, 0.1));
    return joined_rows(spec.linkage, all, execution.part(0.1, 1), Kept::square, &room);
  }
  require_room(Agglomerative::name, rows, spec.input, spec.gigabytes, 2);
  const Compared found = compare(Agglomerative::name, spec.input, spec.metric, rows, execution.part(0, 0.5));
  const Dissimilarities& all = found.dissimilarities;
  return joined_rows(spec.linkage, all, execution.part(0.5, 1), kept_in(spec, all.count()));
}

/// So many clusters as leave the widest gap between the merge that made the last of them and the next; at least 2.
Index widest_gap(const Vector& heights) {
  const Index n = heights.size() + 1;
  const double slack = 1e-12 * heights.cwiseAbs().maxCoeff();
  Index out = 2;
  double widest = n > 2 ? heights(n - 2) - heights(n - 3) : 0;
  for (Index k = 3; k < n; ++k)
    if (const double gap = heights(n - k) - heights(n - k - 1); gap > widest + slack) {
      widest = gap;
      out = k;
    }
  return out;
}

Vector numbers_from_one(const auto& places) {
  Vector out(static_cast<Index>(places.size()));
  for (std::size_t i = 0; i < places.size(); ++i) out(static_cast<Index>(i)) = static_cast<double>(places[i]) + 1;
  return out;
}

/// Squares of dissimilarities must be numbers too, where heights are squares.
void require_squares(Linkage linkage, const Vector& heights, double unit) {
  if (!may_invert(linkage) || unit == 1) return;
  const double greatest = 2 / unit;
  if (!heights.allFinite() || !(greatest * greatest < 1e300) || !(greatest * greatest > 1e-280))
    throw Error(
        fmt::format("agglomerative: the dissimilarities are about {}, and their squares, by which {} linkage compares "
                    "centres, leave "
                    "the range of numbers; scale the columns first ('scale | agglomerative')",
                    format_significant(greatest / 2, 1), name_of(linkage)));
}

/// Two numbers of which none may be known.
double apart(double a, double b) {
  return std::isnan(a) && std::isnan(b) ? 0.0 : std::isnan(a) || std::isnan(b) ? 1.0 : std::abs(a - b);
}

struct Finding {
  double heights = 0, statistics = 0;
  Missed missed;
  Index wrong = -1;  // the merge whose height is not that of its clusters
};

Certificate certificate_of(const AgglomerativeModel& model, const MergeTree& tree, const MergeFacts& facts,
                           const Dissimilarities& all, NumberRoom& room, const Execution& execution) {
  const Vector& heights = model.heights;
  double scale = heights.cwiseAbs().maxCoeff();
  if (may_invert(model.spec.linkage)) scale = std::max(scale, facts.greatest * facts.greatest);
  if (!(scale > 0)) scale = facts.greatest > 0 ? facts.greatest : 1;
  Finding found;
  for (Index t = 0; t < heights.size(); ++t)
    if (const double off = std::abs(heights(t) - facts.heights(t)) / scale; off > found.heights) {
      found.heights = off;
      found.wrong = t;
    }
  found.missed =
      missed_pairs(tree, heights, all, model.spec.linkage, facts, execution, kept_in(model.spec, tree.rows()), &room);
  found.statistics = std::max(apart(model.cophenetic_correlation, cophenetic_correlation(tree, heights, facts)),
                              apart(model.coefficient, agglomerative_coefficient(tree, heights)));
  const double missed = found.missed.by / scale;
  Certificate out;
  out.strength = Strength::consistent;
  out.kind = "the closest pair at each merge";
  out.value = std::max({found.heights, missed, found.statistics});
  out.tolerance = kTolerance;
  out.iterations = heights.size();
  out.stopped = "one cluster is left";
  const std::string merges = count_of(heights.size(), "merge");
  if (out.holds())
    out.message = fmt::format(
        "Each of the {} joins the closest pair of its moment: by {} linkage computed anew from the dissimilarities, no "
        "two "
        "clusters were closer by more than {} of the greatest height (allowed {}).",
        merges, name_of(model.spec.linkage), residue_text(out.value, out.tolerance),
        format_significant(out.tolerance, 2));
  else if (found.heights > kTolerance)
    out.message = fmt::format("Merge {} has the height {}, but by {} linkage of these rows its clusters are {} apart.",
                              found.wrong + 1, format_significant(heights(found.wrong), 5), name_of(model.spec.linkage),
                              format_significant(facts.heights(found.wrong), 5));
  else if (missed > kTolerance)
    out.message = fmt::format(
        "Two clusters that were there before merge {} are closer than a merge that was made in their time, by {} of "
        "the "
        "greatest height.",
        found.missed.step + 1, format_significant(missed, 2));
  else
    out.message = "The agglomerative coefficient or the cophenetic correlation is not that of these merges and rows.";
  return out;
}

}  // namespace

void Agglomerative::check() const {
  if (input == Input::pairs)
    throw Error("agglomerative: input is pairs, but it takes rows or a square: the dissimilarity of each two");
}

void AgglomerativeModel::check() const {
  const MergeTree tree(merges, Agglomerative::name);
  const Index n = tree.rows();
  require(columns > 0 && (spec.input != Input::square || columns == n),
          "agglomerative: the columns do not fit the rows");
  require(heights.size() == n - 1 && heights.allFinite(), "agglomerative: there is not one height for each merge");
  require(order.size() == n && order == numbers_from_one(tree.order()),
          "agglomerative: the order is not that of the merges");
  require(spec.k.has_value() && *spec.k >= 1 && *spec.k <= n, "agglomerative: k is not a number of clusters");
  require(labels.size() == n && labels == numbers_from_one(cut_into(merges, *spec.k)),
          "agglomerative: the labels are not those of the merges");
  require(inversions == inversions_of(tree, heights), "agglomerative: the inversions are not those of the heights");
  require(prints.size() == n && prints.allFinite(), "agglomerative: there is not one print for each row");
  require(!std::isinf(coefficient) && !std::isinf(cophenetic_correlation), "agglomerative: a number is infinite");
}

Prediction AgglomerativeModel::cut(const Valid<Cut>& how) const {
  Prediction out;
  return out.add(kClusterPart, lemma::cut(merges, heights, *how, *spec.k, Agglomerative::name));
}

std::string AgglomerativeModel::summary(const Names&) const {
  const MergeTree tree(merges, Agglomerative::name);
  const Index n = rows(), shown = std::min<Index>(10, n - 1);
  std::vector<std::string> left, joins;
  std::vector<double> at_height;
  for (Index t = n - 1 - shown; t < n - 1; ++t) {
    left.push_back(format_count(n - 1 - t));
    at_height.push_back(heights(t));
    joins.push_back(fmt::format("{} + {}", tree.size(tree.left(t)), tree.size(tree.right(t))));
  }
  Vector sizes = Vector::Zero(*spec.k);
  for (const double label : labels) sizes(static_cast<Index>(label) - 1) += 1;
  std::vector<std::string> words;
  for (const double size : sizes) words.push_back(format_count(static_cast<Index>(size)));
  return fmt::format(
      "Hierarchy of {} by {} linkage ({})\n\n{}\n{}\n{}: {} of {}\n\nagglomerative coefficient {}   cophenetic "
      "correlation {}   inversions {}\n",
      count_of(n, "row"), name_of(spec.linkage),
      spec.input == Input::square ? "dissimilarities as given" : spec.metric.text(),
      shown < n - 1 ? fmt::format("The last {} merges:", shown) : "The merges:",
      TextTable().right("clusters left", left).numbers("height", at_height, 4).right("rows joined", joins).str(),
      *spec.k == 1 ? "All together" : "Cut", count_of(*spec.k, "cluster"), join_words(words),
      format_significant(coefficient, 4), format_significant(cophenetic_correlation, 4), inversions);
}

AgglomerativeModel fit(const Valid<Agglomerative>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  AgglomerativeModel model;
  model.spec = *spec;
  NumberRoom room;
  const std::vector<Joined> joined = join(model.spec, rows, room, execution.part(0, 0.6));
  const auto n = static_cast<Index>(joined.size()) + 1;
  if (spec->k && *spec->k > n)
    throw Error(fmt::format("agglomerative: k is {}, but there are only {}", *spec->k, count_of(n, "row")));
  model.merges = merges_of(joined);
  model.heights.resize(n - 1);
  for (Index t = 0; t + 1 < n; ++t) model.heights(t) = joined[at(t)].height;
  const MergeTree tree(model.merges, Agglomerative::name);
  model.order = numbers_from_one(tree.order());
  if (!model.spec.k) model.spec.k = static_cast<int>(widest_gap(model.heights));
  model.labels = numbers_from_one(cut_into(model.merges, *model.spec.k));
  model.columns = rows.width();
  const Matrix x = gather(rows, execution.part(0.6, 0.6));
  model.prints = prints_of(x);
  const Dissimilarities in_order = ordered(model.spec, x, rows, tree, execution.part(0.6, 0.7));
  const MergeFacts facts = facts_of(tree, in_order, model.spec.linkage, execution.part(0.7, 0.8));
  require_squares(model.spec.linkage, model.heights, facts.unit);
  model.inversions = inversions_of(tree, model.heights);
  model.coefficient = agglomerative_coefficient(tree, model.heights);
  model.cophenetic_correlation = cophenetic_correlation(tree, model.heights, facts);
  if (std::isnan(model.coefficient))
    model.warnings.push_back("the last height is 0: there is no agglomerative coefficient");
  if (std::isnan(model.cophenetic_correlation))
    model.warnings.push_back("all dissimilarities, or all heights, are the same: there is no cophenetic correlation");
  if (model.inversions > 0)
    model.warnings.push_back(
        fmt::format("{} lower than one they build on: {} linkage allows it, and a cut by height has no meaning",
                    model.inversions == 1 ? "1 merge is" : fmt::format("{} merges are", model.inversions),
                    name_of(model.spec.linkage)));
  if (works_on_squares(model.spec.linkage) && model.spec.metric.get<SqEuclideanMetric>() &&
      model.spec.input == Input::rows)
    model.warnings.push_back(
        fmt::format("{} linkage squares the distances itself: take the metric euclidean", name_of(model.spec.linkage)));
  model.certificate = certificate_of(model, tree, facts, in_order, room, execution.part(0.8, 1));
  return model;
}

Certificate certify(const AgglomerativeModel& model, const Rows& rows, const Execution& execution) {
  const MergeTree tree(model.merges, Agglomerative::name);
  if (rows.count() != tree.rows()) {
    Certificate out;
    out.strength = Strength::consistent;
    out.kind = "the closest pair at each merge";
    out.value = 1;
    out.tolerance = kTolerance;
    out.iterations = tree.steps();
    out.stopped = "one cluster is left";
    out.message = fmt::format("The hierarchy is one of {}, and there are {}.", count_of(tree.rows(), "row"),
                              format_count(rows.count()));
    return out;
  }
  const Matrix given = gather(rows, execution.part(0, 0.1));
  const std::vector<Index> places = places_by_prints(model.prints, given);
  Matrix x(given.rows(), given.cols());
  for (Index i = 0; i < x.rows(); ++i) x.row(i) = given.row(places[at(i)]);
  const Dissimilarities in_order = ordered(model.spec, x, rows, tree, execution.part(0.1, 0.4));
  const MergeFacts facts = facts_of(tree, in_order, model.spec.linkage, execution.part(0.4, 0.6));
  NumberRoom room;
  return certificate_of(model, tree, facts, in_order, room, execution.part(0.6, 1));
}

template const Method& method_of<Agglomerative>();

}  // namespace lemma
