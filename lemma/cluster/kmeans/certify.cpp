// lemma/cluster/kmeans/certify.cpp: one step of the textbook.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/cluster/kmeans/lower_bound.hpp>
#include <lemma/cluster/kmeans/mahalanobis.hpp>
#include <lemma/cluster/kmeans/plain_search.hpp>
#include <lemma/core/rounding_words.hpp>
#include <lemma/core/text.hpp>
#include <lemma/model/claim.hpp>
#include <limits>

namespace lemma {
namespace {

/// Every row goes to its nearest centre by the plain distances, and the differences to that centre are summed: their mean
/// is how far the centre would move.
struct PlainStep {
  const KMeansModel* model;
  const PlainSearch* search;
  Vector middle;       // of the centres; total_ss is taken about it and moved to the mean afterwards
  Matrix differences;  // Σ w (x − c)
  Vector weight, within, shift;
  double squares = 0;

  PlainStep(const KMeansModel& m, const PlainSearch& s)
      : model(&m),
        search(&s),
        middle(m.centers.colwise().mean().transpose()),
        differences(Matrix::Zero(m.k(), m.width())),
        weight(Vector::Zero(m.k())),
        within(weight),
        shift(Vector::Zero(m.width())) {}

  void accumulate(const Block& block) {
    Labels label;
    std::vector<double> distance;
    (*search)(block.x, label, distance);
    Vector gap(block.x.cols());
    for (Index i = 0; i < block.rows(); ++i) {
      const double w = block.weight_of(i);
      if (w == 0) continue;
      const int k = label[static_cast<std::size_t>(i)];
      weight(k) += w;
      within(k) += w * distance[static_cast<std::size_t>(i)];
      differences.row(k) += w * (block.x.row(i) - model->centers.row(k));
      gap = block.x.row(i).transpose() - middle;
      shift += w * gap;
      squares += w * gap.squaredNorm();
    }
  }
  void merge(const PlainStep& other) {
    differences += other.differences;
    weight += other.weight;
    within += other.within;
    shift += other.shift;
    squares += other.squares;
  }
  double total_ss() const { return std::max(0.0, squares - shift.squaredNorm() / weight.sum()); }
  bool has_empty() const { return (weight.array() == 0).any(); }
  double movement() const {
    double most = 0;
    for (Index k = 0; k < weight.size(); ++k)
      if (weight(k) > 0) most = std::max(most, differences.row(k).norm() / weight(k));
    return most;
  }
};

/// The objective never rose, and ended where the model is; where it began leaves no trace in the rows.
double way_error(const KMeansModel& model, const PlainStep& found, double total) {
  const Vector& way = model.objective;
  if (way.size() == 0) return 0;
  double worst = std::max(0.0, found.within.sum() - way(way.size() - 1));
  for (Index i = 0; i + 1 < way.size(); ++i) worst = std::max(worst, way(i + 1) - way(i));
  return worst / total;
}

/// What is told of the starts and of the k that were tried beside the model itself: the best of them is the one that was kept.
double told_error(const KMeansModel& model, double total) {
  double worst = model.starts.size() > 0 ? std::abs(model.starts.minCoeff() - model.total_within) / total : 0;
  for (Index t = 0; t < model.curve.rows(); ++t) {
    if (model.curve(t, 0) == static_cast<double>(model.k()))
      worst = std::max(worst, std::abs(model.curve(t, 1) - model.total_within) / total);
    if (model.curve(t, 0) == 1) worst = std::max(worst, std::abs(model.curve(t, 1) - model.total_ss) / total);
  }
  return worst;
}

/// What the model says of sizes and sums of squares against what was found, as shares of the whole.
double mismatch(const KMeansModel& model, const PlainStep& found) {
  const double n = found.weight.sum(), largest = model.centers.cwiseAbs().maxCoeff();
  const double rounding = 0x1p-74 * n * static_cast<double>(model.width()) * largest * largest;  // rows all but equal
  const double total = std::max({found.total_ss(), rounding, std::numeric_limits<double>::min()});
  return std::max(
      {told_error(model, total), way_error(model, found, total), (model.sizes - found.weight).cwiseAbs().maxCoeff() / n,
       (model.within - found.within).cwiseAbs().maxCoeff() / total,
       std::abs(model.total_within - found.within.sum()) / total, std::abs(model.total_ss - found.total_ss()) / total});
}

/// How far the lower bound that is told is from the one that its multipliers prove of these rows, beside the whole.
double bound_error(const KMeansModel& model, const Rows& rows, const PlainStep& found, const Execution& execution) {
  const bool proof = model.bound_pairs.size() > 0;
  if (proof != (model.spec.bound > 0)) return 1;
  if (!proof && model.lower_bound == 0) return 0;
  const double proved =
      proved_bound(alike_rows(KMeans::name, rows, execution), model.k(), model.bound_pairs, model.bound_triples);
  return std::abs(model.lower_bound - std::min(proved, found.within.sum())) /
         std::max(found.total_ss(), std::numeric_limits<double>::min());
}

std::string verdict(const KMeansModel& model, const Certificate& out, double movement, double disagreement,
                    bool empty) {
  const std::string moves = fmt::format("one more step moves a centre by {} of the rows' spread (allowed {})",
                                        residue_text(movement, out.tolerance), format_significant(out.tolerance, 2));
  if (out.holds())
    return "Every row belongs to its nearest centre and every centre is the mean of its rows: " + moves + "." +
           (model.lower_bound > 0 ? " The lower bound is proved by its multipliers, all eigenvalues found anew." : "");
  if (disagreement > 1e-9)
    return fmt::format(
        "The sizes, sums of squares or lower bound of the model are not those of these rows (off by {}); {}.",
        format_significant(disagreement, 2), moves);
  if (!empty && movement <= model.spec.tolerance)
    return fmt::format(
        "Not a fixed point: {}. The work ended at the tolerance of {} that was given; take a smaller one.", moves,
        format_significant(model.spec.tolerance, 3));
  return fmt::format("Not a fixed point: {}{}. Raise max_iterations ({}), or go on from these centres with --start.",
                     empty ? "a cluster is empty, and " : "", moves, model.spec.max_iterations);
}

/// After an update old rows may lie nearer to another centre than to that of their cluster; what holds of all rows together is
/// their weight, their mean, Σ sizes c / n, their total sum of squares, and that they lie no farther from the nearest centre than
/// the model says of their own.
Certificate certificate_of_update(const KMeansModel& model, const PlainStep& found, double movement) {
  const double n = found.weight.sum(), total = std::max(found.total_ss(), std::numeric_limits<double>::min());
  const Vector mean = model.centers.transpose() * model.sizes / model.sizes.sum(),
               seen = found.middle + found.shift / n;
  const double digits = 0x1p-50 * std::sqrt(static_cast<double>(model.width())) * model.centers.cwiseAbs().maxCoeff();
  const double off_mean = std::max(0.0, (mean - seen).norm() - digits) / std::sqrt(total / n);
  Certificate out;
  out.strength = Strength::consistent;
  out.kind = "mean and sum of squares of all rows";
  out.tolerance = 1e-9;
  out.value = std::max({std::abs(model.sizes.sum() - n) / n, off_mean, std::abs(model.total_ss - total) / total,
                        (found.within.sum() - model.total_within) / total});
  out.iterations = model.iterations;
  out.stopped = "updated";
  out.message = fmt::format(
      "Weight, mean and total sum of squares of the clusters are those of all rows to within {:.1e} (allowed {:.0e}). "
      "Rows "
      "from before an update stayed with the centre that they had: one more step over all rows would move a centre by "
      "{} "
      "of their spread, and lower the sum of squares within from {} to {}.",
      out.value, out.tolerance, format_significant(movement, 2), format_significant(model.total_within, 5),
      format_significant(found.within.sum(), 5));
  return out;
}

}  // namespace

Certificate certify(const KMeansModel& model, const Rows& rows, const Execution& execution) {
  if (is_mahalanobis(model.spec)) return certify_mahalanobis(model, rows, execution);
  const PlainSearch search(model.centers);
  const auto step = scan(rows, PlainStep(model, search), execution);
  const double unit = step.total_ss() > 0 ? std::sqrt(step.total_ss() / step.weight.sum()) : 1.0;
  const double movement = step.movement() / unit;
  if (model.updates > 0) return certificate_of_update(model, step, movement);
  const double disagreement = std::max(mismatch(model, step), bound_error(model, rows, step, execution.part(1, 1)));
  Certificate out;
  out.strength = Strength::consistent;
  out.kind = "movement of the centres in one more step";
  // A centre is a rounded mean: beside an offset of 1e9 its last digit is no longer small.
  out.tolerance = std::max(1e-9, claimed(model.spec.tolerance)) +
                  0x1p-50 * std::sqrt(static_cast<double>(model.width())) * model.centers.cwiseAbs().maxCoeff() / unit;
  out.value = movement;
  if (step.has_empty()) out.value = std::max(out.value, 1 + out.tolerance);
  if (disagreement > 1e-9) out.value = std::max(out.value, disagreement + out.tolerance);
  out.iterations = model.iterations;
  out.stopped = out.holds() ? "converged" : movement <= model.spec.tolerance ? "tolerance reached" : "iteration limit";
  out.message = verdict(model, out, movement, disagreement, step.has_empty());
  return out;
}

}  // namespace lemma
