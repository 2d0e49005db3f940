// lemma/cluster/kmedoids/certify.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/cluster/kmedoids/things.hpp>
#include <lemma/cluster/shared/dissimilarity_rows.hpp>
#include <lemma/cluster/shared/row_prints.hpp>
#include <lemma/core/rounding_words.hpp>
#include <lemma/core/text.hpp>
#include <lemma/model/comparison.hpp>
#include <limits>

namespace lemma {
namespace {

constexpr double kTolerance = 1e-9;  // of the sum of all dissimilarities
constexpr const char* kKind = "gain of the best exchange";

/// Σᵢ min(dᵢ, restᵢ) in eight lanes.
double sum_of_least(const double* d, const double* rest, Index n) {
  double lane[8] = {};
  Index i = 0;
  for (; i + 8 <= n; i += 8)
    for (Index l = 0; l < 8; ++l) lane[l] += d[i + l] < rest[i + l] ? d[i + l] : rest[i + l];
  for (; i < n; ++i) lane[0] += std::min(d[i], rest[i]);
  return ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
}

/// The least total that an exchange of one medoid with one row leaves: with restₘ(i) the way of row i to the nearest medoid
/// other than m, the total of c in the place of m is Σᵢ min(d(i, c), restₘ(i)).
double least_total(const Dissimilarities& all, const std::vector<Index>& medoids, const Execution& execution) {
  constexpr Index kTogether = 16;
  const Index n = all.count();
  const Matrix far = far_from(all, medoids);
  Matrix rest = Matrix::Constant(far.rows(), n, std::numeric_limits<double>::infinity());
  for (Index m = 0; m < far.rows(); ++m)
    for (Index other = 0; other < far.rows(); ++other)
      if (other != m) rest.row(m) = rest.row(m).cwiseMin(far.row(other));
  const Index parts = (n + kTogether - 1) / kTogether;
  std::vector<double> least(at(parts), std::numeric_limits<double>::infinity());
  parallel_for(parts, execution, [&](Index part) {
    const Index first = part * kTogether, count = std::min(kTogether, n - first);
    std::vector<double> rows(at(count * n));
    dissimilarity_rows(all, first, count, rows.data());
    for (Index m = 0; m < rest.rows(); ++m)
      for (Index r = 0; r < count; ++r)
        least[at(part)] = std::min(least[at(part)], sum_of_least(rows.data() + r * n, rest.row(m).data(), n));
  });
  return *std::min_element(least.begin(), least.end());
}

Certificate certificate(double value) {
  Certificate out;
  out.strength = Strength::consistent;
  out.kind = kKind;
  out.value = value;
  out.tolerance = kTolerance;
  out.stopped = "no exchange is for the better";
  return out;
}

/// Which of the rows the medoids are. Rows may come in another order than that of the fit, in which the numbers say nothing.
std::optional<std::vector<Index>> medoids_among(const KMedoidsModel& model, const KMedoidThings& things,
                                                bool same_order, Comparison& same) {
  std::vector<Index> out;
  const Index n = things.all.count();
  for (Index m = 0; m < model.k(); ++m) {
    Index row = static_cast<Index>(model.medoid_rows(m)) - 1;
    if (model.spec.input == Input::rows) {
      const auto is_it = [&](Index i) {
        for (Index j = 0; j < model.columns; ++j) {
          const double a = things.points(i, j), b = model.medoids(m, j);
          if (!(a == b || (std::isnan(a) && std::isnan(b)))) return false;
        }
        return true;
      };
      if (!same_order) {
        row = 0;
        while (row < n && !is_it(row)) ++row;
      }
      if (row >= n || !is_it(row)) {
        same.entry("medoids", m, 1, 0, 1);
        return {};
      }
    } else if (row >= n || model.things[at(m)] != things.names[at(row)]) {
      same.entry("medoid_rows", m, 1, 0, 1);
      return {};
    }
    out.push_back(row);
  }
  return out;
}

std::string verdict(const KMedoidsModel& model, const Certificate& found, Index n) {
  const Index sampled = model.sample_prints.size();
  const std::string rows =
      sampled > 0 ? fmt::format("the {} of the sample", count_of(sampled, "row")) : count_of(n, "row");
  const std::string allowed = format_significant(found.tolerance, 2);
  if (found.holds())
    return fmt::format(
        "No exchange of one of the {} with another of {} lowers the sum of the dissimilarities by more than {} of it "
        "(allowed {}): each of the {} sums was taken anew.",
        count_of(model.k(), "medoid"), rows, residue_text(found.value, found.tolerance), allowed,
        format_count(model.k() * (sampled > 0 ? sampled : n)));
  return fmt::format(
      "An exchange of a medoid with another of {} lowers the sum of the dissimilarities by {} of it (allowed {}). "
      "Raise "
      "max_iterations ({}).",
      rows, format_significant(found.value, 2), allowed, model.spec.max_iterations);
}

/// The rows in which exchanges were looked for: all, or those of the sample.
Dissimilarities compared_part(const KMedoidsModel& model, const KMedoidThings& things, std::vector<Index>& medoids,
                              const Execution& execution) {
  std::vector<Index> which = places_by_prints(model.sample_prints, things.points);
  for (Index& each : medoids) {
    const auto place = std::find(which.begin(), which.end(), each);
    if (place == which.end()) which.push_back(each);
    each = std::find(which.begin(), which.end(), each) - which.begin();
  }
  return compare_points(rows_at(things.points, which), *things.bound, model.spec.gigabytes, execution);
}

}  // namespace

Certificate certificate_of(const KMedoidsModel& model, const KMedoidThings& things, const Execution& execution) {
  Comparison same;
  const Index n = things.all.count();
  const bool same_order = model.spec.input == Input::rows && print_of_all(things.points) == model.order;
  Certificate out = certificate(0);
  if (const auto medoids = medoids_among(model, things, same_order, same)) {
    const MedoidClusters found = clusters_of(far_from(things.all, *medoids));
    const double total = found.within.sum(), unit = total > 0 ? total : 1;
    for (Index m = 0; m < model.k(); ++m) {
      same.entry("sizes", m, model.sizes(m), found.sizes(m), static_cast<double>(n));
      same.entry("within", m, model.within(m), found.within(m), unit);
      same.entry("farthest", m, model.farthest(m), found.farthest(m), unit / static_cast<double>(n));
    }
    same.number("total", model.total, total, unit);
    const Index sampled = model.sample_prints.size();
    double before = total, after = total;
    std::vector<Index> among = *medoids;
    if (sampled > 0) {
      const Dissimilarities part = compared_part(model, things, among, execution.part(0, 0.1));
      before = total_of(part, among);
      after = least_total(part, among, execution.part(0.1, 1, "exchanges looked at again"));
    } else {
      after = least_total(things.all, among, execution.part(0, 1, "exchanges looked at again"));
    }
    out.value = before > 0 ? std::max(0.0, (before - after) / before) : 0.0;
    out.message = verdict(model, out, n);
  }
  if (!out.holds()) out.stopped = "iteration limit";
  if (same.finding()) {
    same.report(out);
    out.message =
        fmt::format("What the model tells is not what the rows give: {}'{}' is off by {} of its size (allowed {}).",
                    same.finding()->place, same.finding()->field, format_significant(same.finding()->value, 2),
                    format_significant(same.finding()->tolerance, 2));
  }
  return out;
}

Certificate unverified_medoids() {
  Certificate out = certificate(std::numeric_limits<double>::quiet_NaN());
  out.stopped = "cancelled";
  out.message =
      "Cancelled: these are the best medoids so far, and whether an exchange would better them was not looked at; "
      "'lemma "
      "verify' does.";
  return out;
}

Certificate certify(const KMedoidsModel& model, const Rows& rows, const Execution& execution) {
  return certificate_of(model, things_of(model.spec, rows, execution.part(0, 0.4)), execution.part(0.4, 1));
}

}  // namespace lemma
