// lemma/cluster/kmedoids/certify.cpp
#include <algorithm>
#include <fmt/core.h>
#include <lemma/cluster/kmedoids/things.hpp>
#include <lemma/cluster/shared/row_prints.hpp>
#include <lemma/core/rounding_words.hpp>
#include <lemma/core/text.hpp>
#include <lemma/model/comparison.hpp>
#include <limits>

namespace lemma {
namespace {

constexpr double kTolerance = 1e-9;  // of the sum of all dissimilarities
constexpr const char* kKind = "gain of the best exchange";

Certificate certificate(double value) {
  Certificate out;
  out.strength = Strength::consistent;
  out.kind = kKind;
  out.value = value;
  out.tolerance = kTolerance;
  out.stopped = "no exchange is for the better";
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
  Certificate out = certificate(0);
  if (const auto medoids = model.found_among(n, things.points, things.names, same)) {
    const double total = model.compare(*medoids, things.all, same);
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
