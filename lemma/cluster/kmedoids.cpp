// lemma/cluster/kmedoids.cpp
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <lemma/cluster/kmedoids.hpp>
#include <lemma/cluster/kmedoids/pam.hpp>
#include <lemma/cluster/kmedoids/things.hpp>
#include <lemma/cluster/shared/row_prints.hpp>
#include <lemma/core/text.hpp>
#include <limits>

namespace lemma {
namespace {

constexpr Index kMostBuilt = 5000;      // beyond so many rows BUILD looks at a sample
constexpr Index kMostTogether = 20000;  // beyond so many rows CLARA takes samples

// ---- the fit ----

/// The first medoids of one start.
std::vector<Index> first_medoids(const KMedoids& spec, const KMedoidThings& things, bool random, RandomStream stream,
                                 const Execution& execution) {
  const Index n = things.all.count();
  std::vector<Index> out;
  if (!random && *spec.start == KMedoidsStart::build) return pam_build(things.all, spec.k, execution);
  if (!random && *spec.start == KMedoidsStart::sampled) {
    std::vector<Index> which = sample_without_replacement(stream, n, std::min<Index>(n, 1000 + 10 * spec.k));
    std::sort(which.begin(), which.end());
    std::vector<double> packed;
    for (std::size_t i = 0; i < which.size(); ++i)
      for (std::size_t j = i + 1; j < which.size(); ++j) packed.push_back(things.all(which[i], which[j]));
    for (const Index each : pam_build(Dissimilarities::of_triangle(std::move(packed)), spec.k, execution))
      out.push_back(which[at(each)]);
    return out;
  }
  out = sample_without_replacement(stream, n, spec.k);
  std::sort(out.begin(), out.end());
  return out;
}

struct Found {
  std::vector<Index> medoids;
  double total = std::numeric_limits<double>::infinity();
  long long exchanges = 0;
  bool finished = false, cancelled = false;
  std::vector<Index> sample;  // CLARA: the rows of it
};

/// The best of several starts on all rows.
Found exchanged(const KMedoids& spec, const KMedoidThings& things, const RandomStream& stream,
                const Execution& execution) {
  Found best;
  for (int r = 0; r < spec.restarts && !best.cancelled; ++r) {
    const Execution part =
        execution.part(static_cast<double>(r) / spec.restarts, static_cast<double>(r + 1) / spec.restarts);
    try {
      const auto start =
          first_medoids(spec, things, r > 0, stream.split(static_cast<std::uint64_t>(r)), part.part(0, 0.5));
      const PamRun run = pam(things.all, start, spec.max_iterations, part.part(0.5, 1));
      if (run.total < best.total * (1 - 1e-12)) best = {run.medoids, run.total, run.exchanges, run.finished, false, {}};
      best.cancelled = run.cancelled;
    } catch (const Cancelled&) {
      if (best.medoids.empty()) throw;
      best.cancelled = true;
    }
  }
  return best;
}

/// CLARA: the medoids of samples, of which the best for all rows are kept.
Found from_samples(const KMedoids& spec, const KMedoidThings& things, const RandomStream& stream,
                   const Execution& execution) {
  const Index n = things.all.count(), size = *spec.sample;
  KMedoids inside = spec;
  inside.start = KMedoidsStart::build;
  Found best;
  for (int s = 0; s < spec.samples && !best.cancelled; ++s) {
    const Execution part =
        execution.part(static_cast<double>(s) / spec.samples, static_cast<double>(s + 1) / spec.samples);
    RandomStream own = stream.split(static_cast<std::uint64_t>(1000 + s));
    std::vector<Index> which = best.medoids;  // the best so far, and others
    for (const Index row : sample_without_replacement(own, n, size))
      if (static_cast<Index>(which.size()) < size &&
          std::find(best.medoids.begin(), best.medoids.end(), row) == best.medoids.end())
        which.push_back(row);
    std::sort(which.begin(), which.end());
    try {
      Matrix points = rows_at(things.points, which);
      Dissimilarities all = compare_points(points, *things.bound, spec.gigabytes, part.part(0, 0.2));
      if (distinct_things(all, spec.k) < spec.k) continue;
      const KMedoidThings sample{std::move(all), std::move(points), things.bound, {}};
      Found found = exchanged(inside, sample, own.split(1), part.part(0.2, 0.9));
      for (Index& each : found.medoids) each = which[at(each)];
      found.total = total_of(things.all, found.medoids);
      const bool cancelled = found.cancelled;
      if (found.total < best.total * (1 - 1e-12)) {
        best = std::move(found);
        best.sample = which;
      }
      best.cancelled = cancelled;
    } catch (const Cancelled&) {
      if (best.medoids.empty()) throw;
      best.cancelled = true;
    }
  }
  if (best.medoids.empty())
    throw Error(fmt::format("kmedoids: no sample of {} had {} different rows; take a larger --sample, or a smaller --k",
                            count_of(size, "row"), spec.k));
  return best;
}

KMedoids completed(KMedoids spec, Index n) {
  if (spec.k > n)
    throw Error(
        fmt::format("kmedoids: k is {}, but there {} only {}", spec.k, n == 1 ? "is" : "are", count_of(n, "row")));
  if (!spec.sample && n > kMostTogether && spec.input == Input::rows)
    spec.sample = static_cast<int>(std::min<Index>(n, 1000 + 40 * static_cast<Index>(spec.k)));
  if (spec.sample && *spec.sample < spec.k)
    throw Error(fmt::format("kmedoids: sample is {}, must be at least k, which is {}", *spec.sample, spec.k));
  if (!spec.start) spec.start = spec.sample || n <= kMostBuilt ? KMedoidsStart::build : KMedoidsStart::sampled;
  return spec;
}

}  // namespace

void KMedoids::check() const {
  if (input == Input::pairs)
    throw Error("kmedoids: input is pairs, but it takes rows or a square: the dissimilarity of each two");
  if (input == Input::square && sample)
    throw Error(fmt::format("kmedoids: sample is {}, but samples are taken of rows, not of a square", *sample));
}

void KMedoidsModel::check() const {
  require(k() == spec.k, "kmedoids: there are not k medoids");
  check_medoids(KMedoids::name, spec.input, spec.metric);
  require(sample_prints.allFinite(), "kmedoids: the sample is not usable");
}

std::string KMedoidsModel::summary(const Names& names) const {
  std::string out = fmt::format(
      "{} ({}){}\n\nMedoids, sizes, and dissimilarities to the medoid:\n", count_of(k(), "medoid"),
      spec.input == Input::square ? "dissimilarities as given" : spec.metric.text(),
      sample_prints.size() > 0 ? fmt::format(", the best of {} of {} rows", count_of(spec.samples, "sample"),
                                             format_count(sample_prints.size()))
                               : "");
  out += table(names);
  return out + fmt::format("\ntotal dissimilarity {}   mean {}\n", format_significant(total, 7),
                           format_significant(total / std::max(1.0, sizes.sum()), 6));
}

KMedoidsModel fit(const Valid<KMedoids>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  KMedoidsModel model;
  model.spec = completed(*spec, rows.count());
  const KMedoidThings things = things_of(model.spec, rows, execution.part(0, 0.3));
  if (things.bound) model.spec.metric = things.bound->metric();
  if (const Index distinct = distinct_things(things.all, model.spec.k); distinct < model.spec.k)
    throw Error(fmt::format("kmedoids: k is {}, but there {} only {} among {}; k can be at most {}", model.spec.k,
                            distinct == 1 ? "is" : "are", count_of(distinct, "different row"),
                            format_count(rows.count()), distinct));
  const RandomStream stream(options.seed);
  const bool clara = model.spec.sample && *model.spec.sample < things.all.count();
  const Found found = clara ? from_samples(model.spec, things, stream, execution.part(0.3, 0.9))
                            : exchanged(model.spec, things, stream, execution.part(0.3, 0.9));

  model.tell(found.medoids, things.all, things.points, things.names, rows.width());
  if (!std::isfinite(model.total))
    throw Error("kmedoids: the sum of all dissimilarities is beyond the range of numbers; use another unit");
  if (clara) model.sample_prints = prints_of(rows_at(things.points, found.sample));
  if (found.cancelled) {
    model.warnings.push_back("cancelled: the medoids are the best so far");
    model.certificate = unverified_medoids();
    return model;
  }
  if (!found.finished)
    model.warnings.push_back(fmt::format("{} were not enough: exchanges for the better are left",
                                         count_of(model.spec.max_iterations, "pass")));
  try {
    model.certificate = certificate_of(model, things, execution.part(0.9, 1));
    model.certificate.iterations = found.exchanges;
    if (!found.finished) model.certificate.stopped = "iteration limit";
  } catch (const Cancelled&) { model.certificate = unverified_medoids(); }
  return model;
}

template const Method& method_of<KMedoids>();

}  // namespace lemma
