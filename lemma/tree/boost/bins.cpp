// lemma/tree/boost/bins.cpp
#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/tree/boost/bins.hpp>
#include <limits>
#include <memory>

namespace lemma::boost {
namespace {

constexpr Index kSeen = Index{1} << 16;  // rows from which cuts are made
constexpr int kMostBins = 65535;
constexpr Index kTile = 64;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::uint64_t mixed(std::uint64_t v) {  // of SplitMix64
  v = (v ^ (v >> 30)) * 0xbf58476d1ce4e5b9U;
  v = (v ^ (v >> 27)) * 0x94d049bb133111ebU;
  return v ^ (v >> 31);
}

double midway(double low, double high) {
  const double middle = low + (high - low) / 2;
  return middle > low && std::isfinite(middle) ? middle : high;
}

/// A value and how much weight it has.
struct Seen {
  double value, weight;
};

/// The values of a share of the rows, column by column; and of all rows whether a column has few values, and which.
struct ValuesSeen {
  const Rows* rows;
  double share;  // of the rows whose values are kept
  std::size_t few;
  std::vector<std::vector<Seen>> kept;
  std::vector<std::vector<double>> distinct;  // sorted, up to `few`; more: just few + 1 of them
  std::vector<char> has_missing;
  std::shared_ptr<std::vector<std::atomic<bool>>> has_many;  // more than `few`, in some block

  ValuesSeen(const Rows& of, double which, std::size_t most)
      : rows(&of),
        share(which),
        few(most),
        kept(at(of.width())),
        distinct(at(of.width())),
        has_missing(at(of.width()), 0),
        has_many(std::make_shared<std::vector<std::atomic<bool>>>(at(of.width()))) {}

  void accumulate(const Block& block) {
    std::vector<char> keep(at(block.rows()), 1);
    for (Index i = 0; i < block.rows(); ++i) {
      const double response = block.y.empty() ? block.label[at(i)] : block.y[at(i)];
      if (block.weight_of(i) == 0) keep[at(i)] = 2;
      else if (share < 1 && chance(row_key(row_of(block.x, i), block.x.cols(), response), 0, ~0ULL) >= share)
        keep[at(i)] = 0;
    }
    for (Index j = 0; j < block.x.cols(); ++j) add_column(block, j, keep);
  }
  void add_column(const Block& block, Index j, const std::vector<char>& keep) {
    const bool codes = rows->holds_codes(j);
    for (Index i = 0; i < block.rows(); ++i) {
      const double v = block.x(i, j);
      if (std::isnan(v)) has_missing[at(j)] = 1;
      else if (std::isinf(v))
        throw Error(fmt::format("boost: '{}' is {} in row {}; numbers must be finite, or missing",
                                rows->features[at(j)], v > 0 ? "infinity" : "minus infinity", block.first + i + 1));
      else if (!codes && keep[at(i)] != 2) {
        if (keep[at(i)] == 1) kept[at(j)].push_back({v, block.weight_of(i)});
        if (share < 1) note(at(j), v);
      }
    }
  }
  void note(std::size_t j, double v) {
    std::vector<double>& known = distinct[j];
    if (known.size() > few || (*has_many)[j].load(std::memory_order_relaxed)) return;
    const auto place = std::lower_bound(known.begin(), known.end(), v);
    if (place == known.end() || *place != v) known.insert(place, v);
    if (known.size() > few) (*has_many)[j] = true;  // then no block need look any further
  }
  void merge(const ValuesSeen& other) {
    for (std::size_t j = 0; j < kept.size(); ++j) {
      kept[j].insert(kept[j].end(), other.kept[j].begin(), other.kept[j].end());
      has_missing[j] |= other.has_missing[j];
      for (const double v : other.distinct[j]) note(j, v);
    }
  }
};

/// Bins of about the same weight; a value that has more than its share gets a bin of its own.
std::vector<double> cuts_of(std::vector<Seen> values, std::size_t most) {
  std::sort(values.begin(), values.end(), [](const Seen& a, const Seen& b) { return a.value < b.value; });
  std::size_t size = 0;
  double left = 0;
  for (const Seen& each : values) {
    left += each.weight;
    if (size > 0 && values[size - 1].value == each.value) values[size - 1].weight += each.weight;
    else values[size++] = each;
  }
  values.resize(size);
  std::vector<double> cuts;
  const bool one_each = size <= most;
  double share = left / static_cast<double>(most), in_bin = 0;
  for (std::size_t i = 0; i + 1 < size; ++i) {
    in_bin += values[i].weight;
    left -= values[i].weight;
    const bool next_is_large = values[i + 1].weight >= share;
    if (!one_each && in_bin < share && !(next_is_large && in_bin >= 0.5 * share)) continue;
    if (cuts.size() + 1 >= most) break;
    cuts.push_back(midway(values[i].value, values[i + 1].value));
    in_bin = 0;
    share = left / static_cast<double>(most - cuts.size());
  }
  return cuts;
}

std::vector<double> cuts_between(const std::vector<double>& values) {
  std::vector<double> cuts;
  for (std::size_t i = 0; i + 1 < values.size(); ++i) cuts.push_back(midway(values[i], values[i + 1]));
  return cuts;
}

/// The least and the greatest value of each bin, over all rows: cuts made from some of them are moved midway between neighbours.
struct Extent {
  std::vector<double> least, greatest;
  explicit Extent(std::size_t bins) : least(bins, kInfinity), greatest(bins, -kInfinity) {}
  void merge(const Extent& other) {
    for (std::size_t b = 0; b < least.size(); ++b) {
      least[b] = std::min(least[b], other.least[b]);
      greatest[b] = std::max(greatest[b], other.greatest[b]);
    }
  }
};

void move_midway(std::vector<double>& cuts, const Extent& extent, std::uint32_t first) {
  double below = -kInfinity;
  for (std::size_t b = 0; b < cuts.size(); ++b) {
    below = std::max(below, extent.greatest[first + b]);
    double above = kInfinity;
    for (std::size_t next = b + 1; next <= cuts.size() && above == kInfinity; ++next)
      above = extent.least[first + next];
    if (std::isfinite(below) && std::isfinite(above)) cuts[b] = midway(below, above);
  }
}

/// Codes are written as the rows are read.
struct Writer {
  const Rows* rows;
  BinnedRows* out;
  const std::vector<Search>* search;
  bool measures;
  Extent extent;

  void accumulate(const Block& block) {
    for (Index from = 0; from < block.rows(); from += kTile)  // whose numbers and codes stay in the nearest cache
      for (Index j = 0; j < block.x.cols(); ++j) {
        const Index first = block.first + from, count = std::min(kTile, block.rows() - from);
        if (out->is_wide(j))
          write(block, j, from, count, out->wide_rows.data() + first * std::ssize(out->wide), std::ssize(out->wide),
                out->wide_columns.data() + out->place[at(j)] * out->count + first);
        else
          write(block, j, from, count, out->narrow_rows.data() + first * out->narrow_stride, out->narrow_stride,
                out->narrow_columns.data() + out->place[at(j)] * out->count + first);
      }
  }
  template <class Code>
  void write(const Block& block, Index j, Index from, Index count, Code* side_by_side, Index stride, Code* column) {
    const BinnedColumn& about = out->columns[at(j)];
    const Search& find = (*search)[at(j)];
    const Index step = block.x.outerStride();
    const double* const x = block.x.data() + j + from * step;
    std::uint32_t codes[kTile];
    if (about.levels > 0)
      for (Index i = 0; i < count; ++i)
        codes[i] = static_cast<std::uint32_t>(std::isnan(x[i * step]) ? 0 : x[i * step]);
    else
      for (Index i = 0; i < count; ++i) codes[i] = find(x[i * step]);
    if (about.has_missing)
      for (Index i = 0; i < count; ++i)
        if (std::isnan(x[i * step])) codes[i] = static_cast<std::uint32_t>(about.missing());
    if (measures && about.levels == 0)
      for (Index i = 0; i < count; ++i) {
        const double v = x[i * step];
        if (std::isnan(v) || block.weight_of(from + i) == 0) continue;
        double &least = extent.least[about.first + codes[i]], &greatest = extent.greatest[about.first + codes[i]];
        least = std::min(least, v);
        greatest = std::max(greatest, v);
      }
    Code* const row = side_by_side + out->place[at(j)];
    for (Index i = 0; i < count; ++i) {
      row[i * stride] = static_cast<Code>(codes[i]);
      column[i] = static_cast<Code>(codes[i]);
    }
  }
  void merge(const Writer& other) { extent.merge(other.extent); }
};

void lay_out(BinnedRows& out, Lies where) {
  out.narrow_rows = out.narrow_columns = Kept<std::uint8_t>(where);
  out.wide_rows = out.wide_columns = Kept<std::uint16_t>(where);
  out.place.assign(out.columns.size(), 0);
  out.narrow.clear();
  out.wide.clear();
  out.histogram_size = 0;
  for (Index j = 0; j < std::ssize(out.columns); ++j) {
    auto& part = out.is_wide(j) ? out.wide : out.narrow;
    out.place[at(j)] = std::ssize(part);
    part.push_back(j);
  }
  for (const auto* part : {&out.narrow, &out.wide})  // in the order of a row's codes
    for (const Index j : *part) {
      BinnedColumn& column = out.columns[at(j)];
      const auto bins = static_cast<std::uint32_t>(column.bins());
      column.first = out.histogram_size;
      column.room = bins > BinnedRows::kWholeRoom / 2 ? std::max(bins, BinnedRows::kWholeRoom) : bins;
      out.histogram_size += column.room;
    }
  out.narrow_stride = std::ssize(out.narrow);
  if (out.narrow_stride > 16)
    out.narrow_stride = (out.narrow_stride + 31) / 32 * 32;  // a row in as few cache lines as it can
  out.narrow_rows.resize(at(out.count * out.narrow_stride));
  out.wide_rows.resize(at(out.count) * out.wide.size());
  out.narrow_columns.resize(at(out.count) * out.narrow.size());
  out.wide_columns.resize(at(out.count) * out.wide.size());
}

}  // namespace

int BinnedColumn::code(double x) const {
  if (levels > 0) return x >= 0 && x < levels ? static_cast<int>(x) : missing();
  if (std::isnan(x)) return missing();
  return static_cast<int>(std::upper_bound(cuts.begin(), cuts.end(), x) - cuts.begin());
}

std::uint64_t row_key(const double* x, Index width, double response) {
  const auto bits = [](double v) { return std::isnan(v) ? ~0ULL : std::bit_cast<std::uint64_t>(v + 0.0); };
  std::uint64_t key = bits(response);
  for (Index j = 0; j < width; ++j) key = std::rotl((key ^ bits(x[j])) * 0x9e3779b97f4a7c15U, 31);
  return mixed(key);
}

double chance(std::uint64_t row, std::uint64_t seed, std::uint64_t purpose) {
  const std::uint64_t stream = mixed(seed + 0x9e3779b97f4a7c15U) ^ mixed(purpose + 0x632be59bd9b4e019U);
  return static_cast<double>(mixed(row ^ stream) >> 11) * 0x1p-53;
}

BinnedRows bin(const Rows& rows, const Binning& binning, const Execution& execution) {
  BinnedRows out;
  out.count = rows.count();
  out.columns.resize(at(rows.width()));
  const bool all = binning.exact || out.count <= kSeen;
  const std::size_t most = at(binning.exact ? kMostBins : binning.most);
  ValuesSeen seen =
      scan(rows, ValuesSeen(rows, all ? 1.0 : static_cast<double>(kSeen) / static_cast<double>(out.count), most),
           execution.part(0, 0.4));
  parallel_for(rows.width(), execution.part(0.4, 0.6), [&](Index j) {
    BinnedColumn& column = out.columns[at(j)];
    column.has_missing = seen.has_missing[at(j)] != 0;
    if (rows.holds_codes(j)) {
      column.levels = static_cast<int>(rows.levels[at(j)].size());
      return;
    }
    column.has_values = !seen.kept[at(j)].empty() || !seen.distinct[at(j)].empty() || (*seen.has_many)[at(j)];
    if (!all && !(*seen.has_many)[at(j)]) column.cuts = cuts_between(seen.distinct[at(j)]);
    else column.cuts = cuts_of(std::move(seen.kept[at(j)]), most);
  });
  for (Index j = 0; j < rows.width(); ++j) {
    const int bins = out.columns[at(j)].bins();
    if (bins > kMostBins)
      throw Error(fmt::format("boost: '{}' has {} categories, and {} is the most there can be", rows.features[at(j)],
                              out.columns[at(j)].levels, kMostBins - 1));
  }
  lay_out(out, place_for(rows));
  std::vector<Search> search;
  for (const BinnedColumn& column : out.columns) search.emplace_back(column.cuts);
  const Writer written =
      scan(rows, Writer{&rows, &out, &search, !all, Extent(all ? 0 : out.histogram_size)}, execution.part(0.6, 1));
  for (Index j = 0; !all && j < rows.width(); ++j)
    move_midway(out.columns[at(j)].cuts, written.extent, out.columns[at(j)].first);
  return out;
}

}  // namespace lemma::boost
