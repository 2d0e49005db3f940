// lemma/cluster/affinity_propagation.cpp
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <fmt/core.h>
#include <lemma/cluster/affinity_propagation/messages.hpp>
#include <lemma/cluster/shared/dissimilarity_rows.hpp>
#include <lemma/cluster/shared/row_prints.hpp>
#include <lemma/core/hearing.hpp>
#include <lemma/core/rounding_words.hpp>
#include <lemma/core/text.hpp>
#include <limits>
#include <map>
#include <span>

namespace lemma {
namespace {

constexpr double kTolerance = 1e-9;

/// The number at this place of all in ascending order, from 0: by sixteen bits at a time, which takes no copy of them and hears
/// a cancel between any two pieces.
double at_place(std::span<const double> numbers, std::size_t place) {
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  std::uint64_t known = 0;  // the first bits of the number, in an order in which bits count as the numbers do
  for (int shift = 48; shift >= 0; shift -= 16) {
    std::vector<std::size_t> counts(std::size_t{1} << 16, 0);
    for (std::size_t first = 0; first < numbers.size(); first += kPiece) {
      ask();
      for (const double each : numbers.subspan(first, std::min(kPiece, numbers.size() - first))) {
        auto bits = std::bit_cast<std::uint64_t>(each + 0.0);  // one zero
        bits = bits & kSign ? ~bits : bits | kSign;
        if (shift == 48 || bits >> (shift + 16) == known) ++counts[(bits >> shift) & 0xffff];
      }
    }
    std::uint64_t next = 0;
    for (; place >= counts[next]; ++next) place -= counts[next];
    known = known << 16 | next;
  }
  return std::bit_cast<double>(known & kSign ? known & ~kSign : ~known);
}

/// The median of −d over all pairs; of an even number the mean of the two in the middle.
double median_similarity(const Dissimilarities& all) {
  const std::span<const double> d = all.kept();
  if (d.empty()) return 0;  // one row is its own exemplar
  const double above = at_place(d, d.size() / 2);
  return d.size() % 2 == 1 ? -above : -(0.5 * above + 0.5 * at_place(d, d.size() / 2 - 1));
}

/// A number below 1 for each row that its values decide, and of equal rows how many came before.
Vector apart_from_each_other(const Compared& data) {
  const Index n = data.count();
  const Vector prints = data.points.rows() == n ? prints_of(data.points) : Vector::Zero(n);
  std::map<double, int> before;
  Vector out(n);
  for (Index i = 0; i < n; ++i) {
    const double turned = prints(i) * 0x1p-53 + 0.6180339887498949 * before[prints(i)]++;
    out(i) = turned - std::floor(turned);
  }
  return out;
}

/// The greatest net similarity that one exemplar more, one fewer or another one gives: each sum taken anew.
double best_nearby(const Dissimilarities& all, const std::vector<Index>& which, double preference,
                   const Execution& execution) {
  const Index n = all.count();
  const auto k = static_cast<double>(which.size());
  double best = k * preference - least_total(all, which, execution.part(0, 0.8));
  for (std::size_t m = 0; m < which.size() && which.size() > 1; ++m) {
    std::vector<Index> fewer = which;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(m));
    best = std::max(best, (k - 1) * preference - total_of(all, fewer));
  }
  const Vector nearest = far_from(all, which).colwise().minCoeff().transpose();
  std::vector<double> more(at(n));
  parallel_for(n, execution.part(0.8, 1), [&](Index c) {
    std::vector<double> d(at(n));
    all.row(c, d);
    double sum = 0;
    for (Index i = 0; i < n; ++i) sum += std::min(nearest(i), d[at(i)]);
    more[at(c)] = sum;
  });
  return std::max(best, (k + 1) * preference - *std::min_element(more.begin(), more.end()));
}

Certificate certificate_of(const AffinityPropagationModel& model, const Compared& data, const Execution& execution) {
  Certificate out;
  out.strength = Strength::consistent;
  out.kind = "gain of one exemplar more, fewer or another";
  out.tolerance = kTolerance;
  out.stopped = "messages settled";
  Comparison same;
  const auto which = model.found_among(data.count(), data.points, data.names, same);
  if (which) {
    const double preference = *model.spec.preference;
    const double total = model.compare(*which, data.dissimilarities, same);
    const double net = preference * static_cast<double>(model.k()) - total;
    same.number("net_similarity", model.net_similarity, net, std::max(std::abs(net), std::abs(preference)));
    const double best =
        best_nearby(data.dissimilarities, *which, preference, execution.part(0, 1, "exemplars looked at again"));
    out.value = best > net ? (best - net) / std::max(std::abs(net), std::numeric_limits<double>::min()) : 0.0;
  }
  if (!out.holds()) {
    out.stopped = "iteration limit";
    out.message = fmt::format(
        "One exemplar more, fewer or another raises the net similarity by {} of its size (allowed {}). Raise "
        "max_iterations ({}) or damping ({}).",
        format_significant(out.value, 2), format_significant(out.tolerance, 2), model.spec.max_iterations,
        format_significant(model.spec.damping, 3));
  } else if (same.finding()) {
    same.report(out);
    out.message =
        fmt::format("What the model tells is not what the rows give: {}'{}' is off by {} of its size (allowed {}).",
                    same.finding()->place, same.finding()->field, format_significant(same.finding()->value, 2),
                    format_significant(same.finding()->tolerance, 2));
  } else {
    out.message = fmt::format(
        "Every row is with its nearest exemplar, and neither another row in the place of one of the {}, nor one of "
        "them left out, nor one more raises the net similarity by more than {} of it (allowed {}): each sum was taken "
        "anew.",
        count_of(model.k(), "exemplar"), residue_text(out.value, out.tolerance), format_significant(out.tolerance, 2));
  }
  return out;
}

}  // namespace

void AffinityPropagation::check() const {
  if (input == Input::pairs)
    throw Error("affinity_propagation: input is pairs, but it takes rows or a square: the dissimilarity of each two");
  if (preference && !(*preference <= 0 && std::isfinite(*preference)))
    throw Error(
        fmt::format("affinity_propagation: preference is {}, must be a number of at most 0, which is how similar "
                    "a row is to itself",
                    *preference));
}

void AffinityPropagationModel::check() const {
  check_medoids(AffinityPropagation::name, spec.input, spec.metric);
  require(spec.preference.has_value() && std::isfinite(net_similarity),
          "affinity_propagation: preference or net similarity is not known");
}

std::string AffinityPropagationModel::summary(const Names& names) const {
  return fmt::format(
      "{} ({}), preference {}\n\nExemplars, sizes, and dissimilarities to the exemplar:\n{}\nnet similarity {}   total "
      "dissimilarity {}\n",
      count_of(k(), "exemplar"), spec.input == Input::square ? "dissimilarities as given" : spec.metric.text(),
      format_significant(*spec.preference, 5), table(names), format_significant(net_similarity, 7),
      format_significant(total, 7));
}

AffinityPropagationModel fit(const Valid<AffinityPropagation>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  require_room(AffinityPropagation::name, rows, spec->input, spec->gigabytes, 5);
  const Compared data =
      compare(AffinityPropagation::name, spec->input, spec->metric, rows, execution.part(0, 0.1, "dissimilarities"));
  const Dissimilarities& all = data.dissimilarities;
  AffinityPropagationModel model;
  model.spec = *spec;
  if (spec->input == Input::rows) model.spec.metric = data.metric;
  if (!spec->preference) model.spec.preference = median_similarity(all);
  const Settled found = exchange_messages(model.spec, all, apart_from_each_other(data), execution.part(0.1, 0.8));
  std::vector<Index> exemplars = found.exemplars;
  if (found.settled) exemplars = bettered(all, std::move(exemplars), -*model.spec.preference, execution.part(0.8, 0.9));
  else
    model.warnings.push_back(
        fmt::format("messages did not settle in {}: the exemplars are those of the last ones; "
                    "raise max_iterations, or damping when they go to and fro",
                    count_of(found.rounds, "round")));
  model.tell(exemplars, all, data.points, data.names, rows.width());
  model.net_similarity = *model.spec.preference * static_cast<double>(model.k()) - model.total;
  if (!std::isfinite(model.net_similarity))
    throw Error(
        "affinity_propagation: the sum of all dissimilarities is beyond the range of numbers; use another "
        "unit");
  model.certificate = certificate_of(model, data, execution.part(0.9, 1));
  model.certificate.iterations = found.rounds;
  if (!found.settled) model.certificate.stopped = "iteration limit";
  return model;
}

Certificate certify(const AffinityPropagationModel& model, const Rows& rows, const Execution& execution) {
  return certificate_of(
      model, compare(AffinityPropagation::name, model.spec.input, model.spec.metric, rows, execution.part(0, 0.3)),
      execution.part(0.3, 1));
}

template const Method& method_of<AffinityPropagation>();

}  // namespace lemma
