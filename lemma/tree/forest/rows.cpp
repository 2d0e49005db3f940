// lemma/tree/forest/rows.cpp
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/tree/forest/rows.hpp>
#include <limits>
#include <numeric>
#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace lemma::forest {
namespace {

constexpr double kMostDraws = 2e9;

/// The order of the rows by their ranks, then their response, then their weight. The first column is sorted already.
std::vector<std::uint32_t> own_order(const RankedColumns& data, const std::vector<std::uint32_t>& ranks) {
  const auto d = at(data.width());
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    const std::uint32_t *p = ranks.data() + a * d, *q = ranks.data() + b * d;
    for (std::size_t j = 0; j < d; ++j)
      if (p[j] != q[j]) return p[j] < q[j];
    if (data.classes > 0 && data.label[a] != data.label[b]) return data.label[a] < data.label[b];
    if (data.classes == 0 && data.y[a] != data.y[b]) return data.y[a] < data.y[b];
    if (data.weight_of(a) != data.weight_of(b)) return data.weight_of(a) < data.weight_of(b);
    return a < b;
  };
  std::vector<std::uint32_t> order;
  order.reserve(at(data.rows()));
  for (const RankedRow& each : data.order[0]) order.push_back(each.row);
  for (std::size_t i = 0, end; i < order.size(); i = end) {
    for (end = i + 1; end < order.size() && ranks[order[end] * d] == ranks[order[i] * d];) ++end;
    if (end - i > 1) std::sort(order.begin() + static_cast<Index>(i), order.begin() + static_cast<Index>(end), before);
  }
  return order;
}

/// The orders of all columns are as large as the columns; glibc would keep them for later.
void give_back_what_was_freed() {
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

/// Ranks as bins of about equal weight: of each old rank the bin, and the bins' least and greatest values.
std::vector<std::uint32_t> bin_ranks(const RankedColumns& data, Index column, int bins, ForestRows& out) {
  const auto& values = data.values[at(column)];
  std::vector<double> weight(values.size(), 0.0);
  double total = 0;
  for (const RankedRow& each : data.order[at(column)])
    if (!each.is_missing()) {
      weight[each.rank] += data.weight_of(each.row);
      total += data.weight_of(each.row);
    }
  std::vector<std::uint32_t> bin(values.size());
  auto &low = out.low[at(column)], &high = out.high[at(column)];
  double up_to = 0;
  std::int64_t last = -1;
  for (std::size_t r = 0; r < values.size(); ++r) {  // by the middle of the rank's own weight
    const auto share = (up_to + weight[r] / 2) / total;
    const auto place = static_cast<std::int64_t>(share * bins);
    if (place != last) {
      low.push_back(values[r]);
      high.push_back(values[r]);
      last = place;
    }
    high.back() = values[r];
    bin[r] = static_cast<std::uint32_t>(low.size() - 1);
    up_to += weight[r];
  }
  return bin;
}

}  // namespace

std::vector<double> factors_of(const Plan& plan, const std::vector<double>& counts,
                               const std::vector<std::string>& classes) {
  if (const auto* by_name = std::get_if<ClassWeights>(&plan.class_weights); by_name && *by_name == ClassWeights::equal)
    return {};
  return class_factors(plan.method, plan.class_weights, counts, classes);
}

void ForestRows::standardise() {
  double mean = 0, total = 0, spread = 0;
  for (Index i = 0; i < rows; ++i) {
    const double w = weight_of(static_cast<std::uint32_t>(i));
    total += w;
    mean += w * ((y[at(i)] - mean) / total);  // the mean so far: no sum that overflows
  }
  centre = mean;
  for (const double each : y) spread = std::max(spread, std::abs(each - mean));
  scale = spread > 0 && std::isfinite(spread) ? spread : 1;
  for (double& each : y) each = (each - centre) / scale;
}

double ForestRows::threshold(Index column, std::uint32_t below, std::uint32_t above) const {
  if (!high[at(column)].empty()) above = below + 1;  // no threshold inside a bin that the node has no row of
  const double a = highest(column, below), b = low[at(column)][above], middle = std::midpoint(a, b);
  return middle > a ? middle : b;
}

double ForestRows::total_weight() const {
  return weight.empty() ? static_cast<double>(rows) : std::accumulate(weight.begin(), weight.end(), 0.0);
}

ForestRows forest_rows(const Plan& plan, const Rows& rows, const Execution& execution) {
  require(rows.width() > 0, fmt::format("{}: there is no column to split on", plan.method));
  RankedColumns data = ranked_columns(plan.method, rows, execution);
  ForestRows out;
  out.rows = data.rows();
  out.width = data.width();
  out.classes = data.classes;
  out.levels = data.levels;
  if (data.classes > 0) {
    std::vector<double> counts(at(data.classes), 0.0);
    for (Index i = 0; i < data.rows(); ++i) counts[data.label[at(i)]] += data.weight_of(static_cast<std::uint32_t>(i));
    out.factor = factors_of(plan, counts, rows.classes);
  }
  out.low.resize(at(out.width));
  out.high.resize(at(out.width));
  const auto n = at(out.rows), d = at(out.width);
  std::vector<std::uint32_t> ranks(n * d);
  const auto needs_order = [&](std::size_t j) { return j == 0 || (data.levels[j] == 0 && plan.bins > 0); };
  for (std::size_t j = 0; j < d; ++j) {
    for (const RankedRow& each : data.order[j]) ranks[each.row * d + j] = each.rank;
    if (!needs_order(j)) std::vector<RankedRow>().swap(data.order[j]);
  }
  const auto order = own_order(data, ranks);
  for (std::size_t j = 0; j < d; ++j) {
    if (data.levels[j] == 0 && plan.bins > 0) {
      const auto bin = bin_ranks(data, static_cast<Index>(j), plan.bins, out);
      for (std::size_t i = 0; i < n; ++i)
        if (auto& rank = ranks[i * d + j]; rank != kMissing) rank = bin[rank];
    } else {
      out.low[j] = std::move(data.values[j]);
    }
    std::vector<RankedRow>().swap(data.order[j]);
  }
  give_back_what_was_freed();
  out.ranks.resize(n * d);
  for (std::size_t i = 0; i < n; ++i) std::copy_n(ranks.data() + order[i] * d, d, out.ranks.data() + i * d);
  std::vector<std::uint32_t>().swap(ranks);
  if (plan.random_cuts > 0) {
    out.values.resize(n * d);
    for (std::size_t i = 0; i < n * d; ++i) {
      const std::uint32_t rank = out.ranks[i];
      const auto& low = out.low[i % d];
      out.values[i] = rank == kMissing ? std::numeric_limits<double>::quiet_NaN() : low.empty() ? rank : low[rank];
    }
  }
  for (const std::uint32_t row : order) {
    out.source.push_back(data.source[row]);
    if (!data.weight.empty()) out.weight.push_back(data.weight[row]);
    if (data.classes > 0) out.label.push_back(data.label[row]);
    else out.y.push_back(data.y[row]);
  }
  if (data.classes == 0) out.standardise();
  out.lay_out_columns();
  return out;
}

void ForestRows::lay_out_columns() {
  by_column.clear();
  if (!is_large(at(rows))) return;
  by_column.resize(ranks.size());
  constexpr std::size_t kTile = 64;  // rows whose ranks stay near while all columns take them
  const auto n = at(rows), d = at(width);
  for (std::size_t first = 0; first < n; first += kTile)
    for (std::size_t j = 0; j < d; ++j)
      for (std::size_t i = first; i < std::min(n, first + kTile); ++i) by_column[j * n + i] = ranks[i * d + j];
}

ForestRows with_shadows(const ForestRows& rows, std::uint64_t seed) {
  ForestRows out = rows;
  const auto n = at(rows.rows), d = at(rows.width);
  RandomStream stream = stream_of(seed, 0, Purpose::shadows);
  const auto order = permutation(stream, rows.rows);
  out.width = 2 * rows.width;
  out.levels.insert(out.levels.end(), rows.levels.begin(), rows.levels.end());
  out.low.insert(out.low.end(), rows.low.begin(), rows.low.end());
  out.high.insert(out.high.end(), rows.high.begin(), rows.high.end());
  out.ranks.resize(2 * n * d);
  out.values.resize(2 * rows.values.size());
  for (std::size_t i = 0; i < n; ++i) {
    std::copy_n(rows.ranks.data() + i * d, d, out.ranks.data() + 2 * i * d);
    std::copy_n(rows.ranks.data() + at(order[i]) * d, d, out.ranks.data() + (2 * i + 1) * d);
    if (rows.values.empty()) continue;
    std::copy_n(rows.values.data() + i * d, d, out.values.data() + 2 * i * d);
    std::copy_n(rows.values.data() + at(order[i]) * d, d, out.values.data() + (2 * i + 1) * d);
  }
  out.lay_out_columns();
  return out;
}

// ---- Bags ----

Bags::Bags(const Plan& plan, const ForestRows& rows, std::uint64_t seed) : Bags(plan, rows.rows, rows.weight, seed) {}

Bags::Bags(const Plan& plan, Index rows, std::vector<double> weights, std::uint64_t seed)
    : plan_(plan), rows_(rows), weight_(std::move(weights)), total_(static_cast<double>(rows)), seed_(seed) {
  if (!weight_.empty()) {
    total_ = 0;
    for (const double w : weight_) {
      total_ += w;
      up_to_.push_back(total_);
      whole_ = whole_ && w == std::floor(w);
    }
  }
  draws_ = 0;
  if (plan.takes_all_rows()) return;
  if (!(total_ <= kMostDraws))
    throw Error(
        fmt::format("{}: the weights add up to {}, and each counts a row that may be drawn; divide them by a "
                    "constant so that they add up to the number of rows they stand for",
                    plan.method, format_significant(total_)));
  if (!plan.replace && !whole_)
    throw Error(
        fmt::format("{}: drawing without replacement needs weights that are whole numbers of copies; draw with "
                    "replacement, or give --share 1 for trees of all rows",
                    plan.method));
  draws_ = static_cast<Index>(std::llround(plan.share * total_));
  if (draws_ < 1)
    throw Error(
        fmt::format("{}: a share of {} of rows that weigh {} together leaves no row to draw; give a larger share "
                    "or larger weights",
                    plan.method, format_significant(plan.share), format_significant(total_)));
}

void Bags::draw(Index tree, std::vector<double>& copies) const {
  if (plan_.takes_all_rows()) {
    if (weight_.empty()) copies.assign(at(rows_), 1.0);
    else copies = weight_;
    return;
  }
  copies.assign(at(rows_), 0.0);
  RandomStream stream = stream_of(seed_, tree, Purpose::bag);
  if (!plan_
           .replace) {  // each copy in turn, with the probability that the rest needs it (Fan, Muller and Rezucha 1962)
    Index needed = draws_, left = static_cast<Index>(total_);
    for (std::size_t i = 0; i < copies.size() && needed > 0; ++i)
      for (Index copy = 0; copy < (weight_.empty() ? 1 : static_cast<Index>(weight_[i])); ++copy, --left)
        if (stream.below(left) < needed) {
          ++copies[i];
          --needed;
        }
    return;
  }
  if (weight_.empty()) {
    for (Index i = 0; i < draws_; ++i) ++copies[at(stream.below(rows_))];
    return;
  }
  for (Index i = 0; i < draws_; ++i) {
    const double place =
        whole_ ? static_cast<double>(stream.below(static_cast<Index>(total_))) : stream.uniform() * total_;
    const auto row = std::upper_bound(up_to_.begin(), up_to_.end() - 1, place) - up_to_.begin();
    ++copies[at(row)];
  }
}

// ---- Columns ----

ColumnDraw::ColumnDraw(Index width) : columns_(at(width)), places_(at(width)) {
  std::iota(columns_.begin(), columns_.end(), 0);
}

void ColumnDraw::begin(const RandomStream& tree, Index node) {
  for (; drawn_ > 0; --drawn_) std::swap(columns_[at(drawn_ - 1)], columns_[at(places_[at(drawn_ - 1)])]);
  random_ = tree.split(static_cast<std::uint64_t>(node));
}

Index ColumnDraw::next() {
  const auto place = drawn_ + random_.below(static_cast<Index>(columns_.size()) - drawn_);
  places_[at(drawn_)] = static_cast<std::int32_t>(place);
  std::swap(columns_[at(drawn_)], columns_[at(place)]);
  return columns_[at(drawn_++)];
}

}  // namespace lemma::forest
