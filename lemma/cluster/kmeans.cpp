// lemma/cluster/kmeans.cpp
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <lemma/cluster/kmeans.hpp>
#include <lemma/core/quietly.hpp>
#include <lemma/core/random.hpp>
#include <lemma/core/rounding_words.hpp>
#include <lemma/core/text.hpp>
#include <lemma/geometry/lloyd.hpp>
#include <lemma/math/column_moments.hpp>
#include <lemma/math/simd/distance.hpp>
#include <lemma/model/claim.hpp>
#include <limits>
#include <numeric>

namespace lemma {
namespace {

constexpr int kDefaultClusters = 3, kDefaultRestarts = 10;
constexpr Index kFewRows = 1 << 16;  // up to here restarts run side by side, beyond it one after the other

const Matrix* given_centers(const KMeans& spec) { return std::get_if<Matrix>(&spec.start); }

/// What is known of the rows before the first start.
struct Survey {
  simd::Frame frame;
  double total_ss = 0, weight = 0;
  double unit() const {
    return total_ss > 0 ? std::sqrt(total_ss / weight) : 1.0;
  }  // root mean square distance to the mean
};

Survey survey(const Rows& rows, const Execution& execution) {
  require_finite(rows, execution);
  const auto moments = scan(rows, ColumnMoments(rows.width()), execution);
  Survey out;
  out.weight = moments.weight()(0);
  if (!(out.weight > 0)) throw Error("kmeans: all weights are 0, so there are no rows to learn from");
  out.frame.origin = moments.mean();
  out.total_ss = moments.squares().sum();
  const double far =
      std::max((moments.greatest() - moments.mean()).maxCoeff(), (moments.mean() - moments.least()).maxCoeff());
  if (!(far < 1e150) || (far > 0 && far < 1e-150))
    throw Error(fmt::format(
        "kmeans: values lie up to {} from the mean of their column, and squared distances leave the range of "
        "numbers; scale the columns first ('scale | kmeans')",
        format_significant(far, 3)));
  out.frame.scale = far > 0 ? std::ldexp(1.0, -std::ilogb(far) - 1) : 1.0;
  return out;
}

/// The spec with what was left open filled in, and fitting the rows.
KMeans completed(KMeans spec, const Rows& rows, const Execution& execution) {
  const Matrix* given = given_centers(spec);
  if (!spec.k) spec.k = given ? static_cast<int>(given->rows()) : kDefaultClusters;
  if (!spec.restarts) spec.restarts = given ? 1 : kDefaultRestarts;
  if (given && given->cols() != rows.width())
    throw Error(fmt::format("kmeans: start has {} columns, but the rows have {}: {}", given->cols(), rows.width(),
                            join_words(rows.features)));
  if (const Index distinct = distinct_rows(rows, *spec.k, execution); distinct < *spec.k)
    throw Error(fmt::format("kmeans: k is {}, but there {} only {} among {}; k can be at most {}", *spec.k,
                            distinct == 1 ? "is" : "are", count_of(distinct, "different row"),
                            format_count(rows.count()), distinct));
  return spec;
}

/// A result for each start that got far enough; a cancel leaves the others empty.
std::vector<std::optional<LloydRun>> run_all(const KMeans& spec, const Rows& rows, const Survey& ground,
                                             const FitOptions& options, const Execution& execution) {
  const int restarts = *spec.restarts;
  const LloydLimits limits{spec.max_iterations, spec.tolerance * ground.unit()};
  std::vector<std::optional<LloydRun>> runs(static_cast<std::size_t>(restarts));
  const auto run = [&](Index r, const Execution& part) {
    const Matrix* given = given_centers(spec);
    const Matrix start =
        given ? *given
              : start_centers(std::get<KMeansStart>(spec.start), *spec.k, rows,
                              RandomStream(options.seed, static_cast<std::uint64_t>(r)), part.part(0, 0.3));
    runs[static_cast<std::size_t>(r)] = lloyd(rows, ground.frame, start, limits, part.part(given ? 0 : 0.3, 1));
  };
  try {
    if (restarts > 1 && rows.count() <= kFewRows) {
      Quietly silent(execution.progress);
      Execution inner;
      inner.threads = execution.threads;
      inner.progress = &silent;
      parallel_for(restarts, execution.part(0, 1, "restarts"), [&](Index r) { run(r, inner); });
    } else {
      for (Index r = 0; r < restarts; ++r)
        run(r, execution.part(static_cast<double>(r) / restarts, static_cast<double>(r + 1) / restarts));
    }
  } catch (const Cancelled&) {}
  return runs;
}

/// The least sum of squares; of those that differ by rounding only the first.
LloydRun* best_of(std::vector<std::optional<LloydRun>>& runs) {
  LloydRun* best = nullptr;
  for (auto& run : runs)
    if (run && (!best || run->total_within() < best->total_within() * (1 - 1e-12))) best = &*run;
  return best;
}

Certificate unverified(const KMeansModel& model, double movement) {
  Certificate out;
  out.strength = Strength::consistent;
  out.kind = "movement of the centres in one more step";
  out.value = std::numeric_limits<double>::quiet_NaN();
  out.iterations = model.iterations;
  out.stopped = "cancelled";
  out.message = fmt::format(
      "Cancelled after {}; the last step moved a centre by {} of the rows' spread, and nothing was checked. "
      "Go on from these centres with --start, or check them with 'lemma verify'.",
      count_of(model.iterations, "iteration"), format_significant(movement, 2));
  return out;
}

Certificate certificate_of(const KMeansModel& model, const LloydRun& run, double unit, bool cancelled, const Rows& rows,
                           const Execution& execution) {
  if (cancelled) return unverified(model, run.movement / unit);
  try {
    return certify(model, rows, execution);
  } catch (const Cancelled&) { return unverified(model, run.movement / unit); }
}

// ---- the certifier: one step of the textbook ----

/// The plain search for whole blocks. The filter only guesses where to look first, which saves time and decides nothing.
class PlainSearch {
 public:
  explicit PlainSearch(const Matrix& centers) : plain_(centers), frame_(around(centers)), filter_(centers, frame_) {}

  void operator()(const MatrixView& x, Labels& label, std::vector<double>& distance) const {
    const auto rows = static_cast<std::size_t>(x.rows());
    label.resize(rows);
    distance.resize(rows);
    std::iota(label.begin(), label.end(), 0);
    simd::Scores scores;
    simd::filter(x, label, filter_, frame_, scores);
    for (std::size_t i = 0; i < rows; ++i)
      label[i] = plain_.nearest(x.row(static_cast<Index>(i)).data(), scores.which[i], distance[i]);
  }

 private:
  static simd::Frame around(const Matrix& centers) {
    simd::Frame frame{centers.colwise().mean().transpose(), 1};
    const double far = (centers.rowwise() - frame.origin.transpose()).cwiseAbs().maxCoeff();
    if (far > 0 && std::isfinite(far)) frame.scale = std::ldexp(1.0, std::clamp(-std::ilogb(far), -1000, 1000));
    return frame;
  }
  simd::PlainCenters plain_;
  simd::Frame frame_;
  simd::FilterCenters filter_;
};

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

/// What the model says of sizes and sums of squares against what was found, as shares of the whole.
double mismatch(const KMeansModel& model, const PlainStep& found) {
  const double n = found.weight.sum(), largest = model.centers.cwiseAbs().maxCoeff();
  const double rounding = 0x1p-74 * n * static_cast<double>(model.width()) * largest * largest;  // rows all but equal
  const double total = std::max({found.total_ss(), rounding, std::numeric_limits<double>::min()});
  return std::max({way_error(model, found, total), (model.sizes - found.weight).cwiseAbs().maxCoeff() / n,
                   (model.within - found.within).cwiseAbs().maxCoeff() / total,
                   std::abs(model.total_within - found.within.sum()) / total,
                   std::abs(model.total_ss - found.total_ss()) / total});
}

std::string verdict(const KMeansModel& model, const Certificate& out, double movement, double disagreement,
                    bool empty) {
  const std::string moves = fmt::format("one more step moves a centre by {} of the rows' spread (allowed {})",
                                        residue_text(movement, out.tolerance), format_significant(out.tolerance, 2));
  if (out.holds())
    return "Every row belongs to its nearest centre and every centre is the mean of its rows: " + moves + ".";
  if (disagreement > 1e-9)
    return fmt::format("The sizes or sums of squares of the model are not those of these rows (off by {}); {}.",
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

std::vector<double> numbers(const auto& values) { return {values.begin(), values.end()}; }

}  // namespace

void KMeans::check() const {
  const Matrix* given = given_centers(*this);
  if (!given) return;
  if (given->size() == 0) throw Error("kmeans: start has no centres");
  if (k && *k != given->rows())
    throw Error(fmt::format("kmeans: k is {}, but start has {}; leave k out or make them agree", *k,
                            count_of(given->rows(), "centre")));
  if (restarts && *restarts > 1)
    throw Error(fmt::format("kmeans: restarts is {}, but from given centres there is only 1 way to start", *restarts));
}

void KMeansModel::check() const {
  require(k() > 0 && width() > 0, "kmeans: there are no centres");
  require(!spec.k || *spec.k == k(), "kmeans: there are not k centres");
  require(sizes.size() == k() && within.size() == k(), "kmeans: sizes and within must have one number for each centre");
  require(centers.allFinite() && sizes.allFinite() && within.allFinite() && objective.allFinite() &&
              std::isfinite(total_ss) && std::isfinite(total_within) && std::isfinite(between),
          "kmeans: a number is not finite");
  require((sizes.array() >= 0).all() && (within.array() >= 0).all(), "kmeans: a size or sum of squares is negative");
  require(std::abs(total_ss - total_within - between) <= 1e-9 * std::abs(total_ss),
          "kmeans: between is not total_ss - total_within");
  require(updates >= 0, "kmeans: the number of updates is not usable");
  require(iterations >= 0 && objective.size() == iterations,
          "kmeans: objective must have one number for each iteration");
}

Matrix KMeansModel::distances(const MatrixView& x) const {
  Matrix out(x.rows(), k());
  for (Index i = 0; i < x.rows(); ++i)
    for (Index c = 0; c < k(); ++c) {
      double squares = 0;
      for (Index j = 0; j < width(); ++j) squares += (x(i, j) - centers(c, j)) * (x(i, j) - centers(c, j));
      out(i, c) = std::sqrt(squares);
    }
  return out;
}

Labels KMeansModel::assign(const MatrixView& x) const {
  require(x.cols() == width(), "kmeans: wrong number of columns");
  const PlainSearch search(centers);
  Labels labels(static_cast<std::size_t>(x.rows()));
  for_each_block(MemoryRows(x), {}, [&](const Block& block) {
    Labels part;
    std::vector<double> distance;
    search(block.x, part, distance);
    std::copy(part.begin(), part.end(), labels.begin() + block.first);
  });
  return labels;
}

std::string KMeansModel::summary(const Names& names) const {
  constexpr Index most = 50;
  const Index shown = std::min(k(), most);
  std::vector<std::string> cluster, size;
  for (Index c = 0; c < shown; ++c) {
    cluster.push_back(fmt::format("{}", c + 1));
    size.push_back(format_significant(sizes(c), 7));
  }
  TextTable table;
  table.right("cluster", cluster).right("size", size).numbers("within", numbers(within.head(shown)), 5);
  for (Index j = 0; j < width(); ++j) {
    const auto column = static_cast<std::size_t>(j);
    table.numbers(column < names.features.size() ? names.features[column] : fmt::format("x{}", j + 1),
                  numbers(centers.col(j).head(shown)), 4);
  }
  std::string out = fmt::format("K-means with {} after {}\n\nCentres, sizes and within-cluster sums of squares:\n",
                                count_of(k(), "cluster"), count_of(iterations, "iteration"));
  out += table.str({.width = 100});
  if (shown < k()) out += fmt::format("... and {} more\n", k() - shown);
  out += fmt::format("\ntotal within {}   between {}   total {}   (between / total = {} %)\n",
                     format_significant(total_within, 7), format_significant(between, 7),
                     format_significant(total_ss, 7), format_fixed(total_ss > 0 ? 100 * between / total_ss : 100.0, 1));
  return out;
}

KMeansModel fit(const Valid<KMeans>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  const Survey ground = survey(rows, execution.part(0, 0.05));
  KMeansModel model;
  model.spec = completed(*spec, rows, execution);
  auto runs = run_all(model.spec, rows, ground, options, execution.part(0.05, 0.9));
  LloydRun* best = best_of(runs);
  if (!best) throw Cancelled();

  model.centers = std::move(best->centers);
  model.sizes = best->sizes;
  model.within = best->within;
  model.total_within = best->total_within();
  model.total_ss = ground.total_ss;
  model.between = model.total_ss - model.total_within;
  model.iterations = static_cast<int>(best->objective.size());
  model.objective = Eigen::Map<const Vector>(best->objective.data(), model.iterations);

  const auto finished = std::count_if(runs.begin(), runs.end(), [](const auto& run) { return run && !run->cancelled; });
  const bool cancelled = finished < *model.spec.restarts;
  if (cancelled)
    model.warnings.push_back(
        fmt::format("cancelled: {} of {} finished", finished, count_of(*model.spec.restarts, "start")));
  model.certificate = certificate_of(model, *best, ground.unit(), cancelled, rows, execution.part(0.9, 1));
  return model;
}

Certificate certify(const KMeansModel& model, const Rows& rows, const Execution& execution) {
  const PlainSearch search(model.centers);
  const auto step = scan(rows, PlainStep(model, search), execution);
  const double unit = step.total_ss() > 0 ? std::sqrt(step.total_ss() / step.weight.sum()) : 1.0;
  const double movement = step.movement() / unit;
  if (model.updates > 0) return certificate_of_update(model, step, movement);
  const double disagreement = mismatch(model, step);
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

template const Method& method_of<KMeans>();

}  // namespace lemma
