// lemma/cluster/kmeans.cpp
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <lemma/cluster/kmeans.hpp>
#include <lemma/cluster/kmeans/batches.hpp>
#include <lemma/cluster/kmeans/choose.hpp>
#include <lemma/cluster/kmeans/lower_bound.hpp>
#include <lemma/cluster/kmeans/mahalanobis.hpp>
#include <lemma/cluster/kmeans/plain_search.hpp>
#include <lemma/cluster/shared/centers_text.hpp>
#include <lemma/core/quietly.hpp>
#include <lemma/core/random.hpp>
#include <lemma/core/text.hpp>
#include <lemma/geometry/lloyd.hpp>
#include <lemma/math/column_moments.hpp>
#include <limits>

namespace lemma {
namespace {

constexpr int kDefaultClusters = 3, kDefaultRestarts = 10;
constexpr std::uint64_t kBatches = 7;  // a stream of their own
constexpr Index kFewRows = 1 << 16;    // up to here restarts run side by side, beyond it one after the other

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

KMeans filled_with(KMeans spec, const ClusterCounts& k) {
  spec.k = k;
  return spec;
}

/// Every start that got far enough, and which of them has the least sum of squares; of those that differ by rounding only the
/// first. Throws Cancelled when a cancel left none.
KMeansStarts run_all(const KMeans& spec, const Rows& rows, const Survey& ground, std::uint64_t seed,
                     std::uint64_t stream, const Execution& execution) {
  const int restarts = *spec.restarts;
  const LloydLimits limits{spec.max_iterations, spec.tolerance * ground.unit()};
  std::vector<std::optional<LloydRun>> runs(static_cast<std::size_t>(restarts));
  const auto run = [&](Index r, const Execution& part) {
    const Matrix* given = given_centers(spec);
    const RandomStream random(seed, stream + static_cast<std::uint64_t>(r));
    Matrix start =
        given ? *given : start_centers(std::get<KMeansStart>(spec.start), *spec.k, rows, random, part.part(0, 0.3));
    if (spec.batch)
      start = followed(std::move(start), rows, *spec.batch, spec.passes, random.split(kBatches), part.part(0.3, 0.3));
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
  KMeansStarts out;
  for (auto& each : runs) {
    out.cancelled = out.cancelled || !each || each->cancelled;
    if (!each) continue;
    out.runs.push_back(std::move(*each));
    if (out.runs.back().total_within() < out.kept().total_within() * (1 - 1e-12)) out.best = out.runs.size() - 1;
  }
  if (out.runs.empty()) throw Cancelled();
  return out;
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

constexpr Index kMostBounded = 1000;  // different rows: multipliers are as many as their pairs

void require_few_rows(const KMeans& spec, const Rows& rows, const Execution& execution) {
  if (spec.bound > 0 && distinct_rows(rows, kMostBounded + 1, execution) > kMostBounded)
    throw Error(fmt::format(
        "kmeans: bound is {}, but there are more than {} different rows among {}, and a lower bound on the sum of "
        "squares is looked for up to there; leave bound out",
        spec.bound, format_count(kMostBounded), format_count(rows.count())));
}

void bound_from_below(KMeansModel& model, const Rows& rows, const Execution& execution) {
  LowerBound found = lower_bound(alike_rows(KMeans::name, rows, execution.part(0, 0)), model.k(), model.total_within,
                                 model.spec.bound, execution);
  model.lower_bound = found.value;
  model.bound_pairs = std::move(found.pairs);
  model.bound_triples = std::move(found.triples);
}

/// To some digits, and never nearer to what is claimed than it is.
double rounded(double x, int digits, bool up) {
  const double unit = std::pow(10.0, std::floor(std::log10(x)) + 1 - digits);
  return unit * (up ? std::ceil(x / unit) : std::floor(x / unit));
}

std::string bound_text(const KMeansModel& model) {
  if (!(model.lower_bound > 0)) return {};
  const double share = (model.total_within - model.lower_bound) / model.total_within;
  if (share <= kBoundReached)
    return fmt::format("No clustering into {} has less by more than {} of it: this is the best there is\n", model.k(),
                       format_significant(kBoundReached, 1));
  return fmt::format("No clustering into {} has less than {}: the best is at most {} % below this one\n", model.k(),
                     format_significant(rounded(model.lower_bound, 5, false), 5),
                     format_significant(100 * rounded(share, 2, true), 2));
}

std::vector<double> numbers(const auto& values) { return {values.begin(), values.end()}; }

}  // namespace

void KMeans::check() const {
  const Matrix* given = given_centers(*this);
  if (!given) return;
  if (given->size() == 0) throw Error("kmeans: start has no centres");
  if (k.are_several())
    throw Error("kmeans: of several k none could start from given centres, which are as many as they are");
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
  require(starts.allFinite() && proposals.allFinite() && curve.allFinite() &&
              (curve.rows() == 0 || curve.cols() == 6) && (proposals.size() == 0 || proposals.size() == 3),
          "kmeans: what is told of the starts or of other k is not usable");
  require(updates >= 0, "kmeans: the number of updates is not usable");
  require(lower_bound >= 0 && std::isfinite(lower_bound) && bound_pairs.allFinite() && bound_triples.allFinite() &&
              (bound_triples.rows() == 0 || bound_triples.cols() == 4),
          "kmeans: the lower bound is not usable");
  if (const auto* told = std::get_if<MahalanobisMetric>(&spec.metric)) {
    require(told->covariance.size() > 0, "kmeans: the covariance is not known");
    BoundMetric(metric_of(spec), width());
  }
  require(iterations >= 0 && objective.size() == iterations,
          "kmeans: objective must have one number for each iteration");
}

Matrix KMeansModel::distances(const MatrixView& x) const {
  if (is_mahalanobis(spec)) {
    const BoundMetric bound(metric_of(spec), width());
    return as_compared(*this, bound).distances(bound.mapped(x));
  }
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
  if (is_mahalanobis(spec)) {
    const BoundMetric bound(metric_of(spec), width());
    return as_compared(*this, bound).assign(bound.mapped(x));
  }
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
  std::string out = fmt::format("K-means with {} after {}{}\n\nCentres, sizes and within-cluster sums of squares:\n",
                                count_of(k(), "cluster"), count_of(iterations, "iteration"),
                                is_mahalanobis(spec) ? ", by Mahalanobis distances" : "");
  out += centers_text(centers, sizes, &within, names);
  out += fmt::format("\ntotal within {}   between {}   total {}   (between / total = {} %)\n",
                     format_significant(total_within, 7), format_significant(between, 7),
                     format_significant(total_ss, 7), format_fixed(total_ss > 0 ? 100 * between / total_ss : 100.0, 1));
  if (starts.size() > 1)
    out += fmt::format("{} ended between {} and {}\n", count_of(starts.size(), "start"),
                       format_significant(starts.minCoeff(), 7), format_significant(starts.maxCoeff(), 7));
  out += bound_text(*this);
  if (curve.rows() == 0) return out;
  TextTable tried;
  std::vector<std::string> ks;
  for (Index t = 0; t < curve.rows(); ++t) ks.push_back(format_significant(curve(t, 0), 6));
  tried.right("k", ks).numbers("within", numbers(curve.col(1)), 5).numbers("worst start", numbers(curve.col(2)), 5);
  tried.numbers("silhouette", numbers(curve.col(3)), 3);
  if (spec.references > 0) tried.numbers("gap", numbers(curve.col(4)), 3).numbers("se", numbers(curve.col(5)), 2);
  return out + fmt::format(
                   "\nOf the k that were tried {} is taken, by the {}:\n{}\nproposed: {} by the gap, {} by the "
                   "silhouette, {} "
                   "by the knee\n",
                   k(), name_of(spec.choose), tried.str(),
                   proposals(0) > 0 ? format_significant(proposals(0), 6) : "none", proposals(1), proposals(2));
}

KMeansModel fit(const Valid<KMeans>& spec, const Rows& rows, const FitOptions& options) {
  if (is_mahalanobis(*spec)) return fit_mahalanobis(*spec, rows, options);
  const Execution execution = options.execution();
  const Survey ground = survey(rows, execution.part(0, 0.05));
  require_few_rows(*spec, rows, execution);
  KMeansModel model;
  model.spec = *spec;
  KMeansStarts starts;
  if (spec->k.are_several()) {
    const int most = static_cast<int>(*std::max_element(spec->k.of.begin(), spec->k.of.end()));
    KMeans largest = *spec;
    largest.k = most;
    const KMeans filled = completed(largest, rows, execution);  // the most clusters there can be
    const RunKMeans run = [&](int k, const Rows& on, std::uint64_t stream, const Execution& part) {
      KMeans one = filled;
      one.k = k;
      return run_all(one, on, &on == &rows ? ground : survey(on, {}), options.seed, stream, part);
    };
    KMeansCurve chosen = choose_k(filled_with(filled, spec->k), rows, options, run, execution.part(0.05, 0.9));
    model.spec = filled;
    model.spec.k = chosen.k;
    model.curve = std::move(chosen.curve);
    model.proposals = chosen.proposals;
    starts = std::move(chosen.taken);
  } else {
    model.spec = completed(*spec, rows, execution);
    starts = run_all(model.spec, rows, ground, options.seed, 0, execution.part(0.05, 0.9));
  }
  const LloydRun& best = starts.kept();
  model.centers = best.centers;
  model.sizes = best.sizes;
  model.within = best.within;
  model.total_within = best.total_within();
  model.starts.resize(static_cast<Index>(starts.runs.size()));
  for (std::size_t r = 0; r < starts.runs.size(); ++r)
    model.starts(static_cast<Index>(r)) = starts.runs[r].total_within();
  model.total_ss = ground.total_ss;
  model.between = model.total_ss - model.total_within;
  model.iterations = static_cast<int>(best.objective.size());
  model.objective = Eigen::Map<const Vector>(best.objective.data(), model.iterations);

  if (model.spec.bound > 0 && !starts.cancelled) bound_from_below(model, rows, execution.part(0.5, 0.9));

  const auto finished =
      std::count_if(starts.runs.begin(), starts.runs.end(), [](const LloydRun& each) { return !each.cancelled; });
  if (starts.cancelled)
    model.warnings.push_back(
        fmt::format("cancelled: {} of {} finished", finished, count_of(*model.spec.restarts, "start")));
  model.certificate = certificate_of(model, best, ground.unit(), starts.cancelled, rows, execution.part(0.9, 1));
  return model;
}

template const Method& method_of<KMeans>();

}  // namespace lemma
