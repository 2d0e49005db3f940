// lemma/metric/calibration.cpp: whether what is said with probability p is so in p of the cases.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/metric/curves.hpp>
#include <numeric>

namespace lemma {
namespace {

/// The bin of each row, and where the bins begin and end.
struct Binned {
  std::vector<std::size_t> bin;
  std::vector<CalibrationBin> bins;
};

Binned by_width(const VectorView& p, int count) {
  Binned out;
  for (int k = 0; k < count; ++k)
    out.bins.push_back({static_cast<double>(k) / count, static_cast<double>(k + 1) / count, 0, 0, 0, {}});
  for (const double each : p) {
    auto k = static_cast<std::size_t>(each * count);
    k = std::min(k, out.bins.size() - 1);
    while (k > 0 && each < out.bins[k].lower) --k;  // what the product rounds up
    while (k + 1 < out.bins.size() && each >= out.bins[k].upper) ++k;
    out.bin.push_back(k);
  }
  return out;
}

/// Equal probabilities stay together, so that there may be fewer bins.
Binned by_count(const VectorView& p, int count, const Vector& w) {
  std::vector<Index> order(static_cast<std::size_t>(p.size()));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index i, Index j) { return p(i) < p(j); });
  Binned out;
  out.bin.resize(order.size());
  const double each = w.sum() / count;
  double before = 0;
  for (std::size_t at = 0; at < order.size(); ++at) {
    const Index i = order[at];
    const bool tied = at > 0 && p(i) == p(order[at - 1]);
    if (out.bins.empty() || (!tied && before >= each * static_cast<double>(out.bins.size()))) {
      if (!out.bins.empty()) out.bins.back().upper = p(i);
      out.bins.push_back({p(i), 1, 0, 0, 0, {}});
    }
    out.bin[static_cast<std::size_t>(i)] = out.bins.size() - 1;
    before += w(i);
  }
  out.bins.front().lower = 0;
  return out;
}

void require_probabilities(const Labels& truth, const VectorView& p) {
  if (static_cast<Index>(truth.size()) != p.size())
    throw Error(
        fmt::format("there are {} probabilities for {}", p.size(), count_of(static_cast<Index>(truth.size()), "row")));
  for (Index i = 0; i < p.size(); ++i)
    if (!(p(i) >= 0 && p(i) <= 1))
      throw Error(fmt::format("the probability of row {} is {}, must be between 0 and 1", i + 1, p(i)));
}

}  // namespace

Calibration calibration(const Labels& truth, const VectorView& probability, int positive, int bins, Bins by,
                        const VectorView& weights) {
  if (bins < 1) throw Error(fmt::format("the number of bins is {}, must be at least 1", bins));
  require_probabilities(truth, probability);
  const Vector w = detail::frequencies(probability.size(), weights);
  Binned found = by == Bins::width ? by_width(probability, bins) : by_count(probability, bins, w);
  const auto y = [&](Index i) { return truth[static_cast<std::size_t>(i)] == positive ? 1.0 : 0.0; };
  const auto bin_of = [&](Index i) -> CalibrationBin& { return found.bins[found.bin[static_cast<std::size_t>(i)]]; };
  const double n = w.sum();
  double positives = 0;
  for (Index i = 0; i < w.size(); ++i) {
    bin_of(i).weight += w(i);
    bin_of(i).predicted += w(i) * probability(i);
    bin_of(i).observed += w(i) * y(i);
    positives += w(i) * y(i);
  }
  const double mean = positives / n;
  Calibration out;
  out.brier.uncertainty = mean * (1 - mean);
  for (auto& bin : found.bins) {
    if (bin.weight == 0) continue;
    bin.predicted /= bin.weight;
    bin.observed /= bin.weight;
    bin.bounds = wilson(bin.observed, bin.weight);
    const double off = bin.predicted - bin.observed, apart = bin.observed - mean;
    out.expected_error += bin.weight / n * std::abs(off);
    out.largest_error = std::max(out.largest_error, std::abs(off));
    out.brier.reliability += bin.weight / n * off * off;
    out.brier.resolution += bin.weight / n * apart * apart;
  }
  for (Index i = 0; i < w.size(); ++i) {
    if (w(i) == 0) continue;
    const double off = probability(i) - y(i), dp = probability(i) - bin_of(i).predicted, dy = y(i) - bin_of(i).observed;
    out.brier.brier += w(i) / n * off * off;
    out.brier.within += w(i) / n * (dp * dp - 2 * dp * dy);
  }
  for (auto& bin : found.bins)
    if (bin.weight > 0) out.bins.push_back(bin);
  return out;
}

std::vector<Measure> measures(const Calibration& found) {
  const BrierParts& b = found.brier;
  return {
      {"ece",
       found.expected_error,
       "expected calibration error: mean of |frequency - probability| over the bins",
       false,
       {}},
      {"largest_calibration_error", found.largest_error, "the same of the worst bin", false, {}},
      {"brier", b.brier, "mean of (probability of the positive class - truth) squared", false, {}},
      {"reliability", b.reliability, "of that: what is said is not what happens; 0 is best", false, {}},
      {"resolution", b.resolution, "less: what happens differs between the bins", true, {}},
      {"uncertainty", b.uncertainty, "and: of the classes alone, whatever is said", false, {}},
      {"within_bins", b.within, "and: what differs inside the bins", false, {}},
  };
}

}  // namespace lemma
