// lemma/density/histogram.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/finite.hpp>
#include <lemma/core/random.hpp>
#include <lemma/core/text.hpp>
#include <lemma/density/histogram.hpp>
#include <lemma/density/shared/rows.hpp>
#include <map>
#include <numeric>

namespace lemma {
namespace {

using density::DensityRows;
using density::kLogOfNothing;
using density::SortedColumn;

constexpr double kMostBins = 100000;  // of a column
constexpr int kMostTried = 200;
using Cell = std::vector<int>;

/// Where bin b of a column begins: the last ends where the column does.
double edge(double low, double high, double bins, double b) { return low + (high - low) * (b / bins); }

/// The bin with edge(b) ≤ x < edge(b + 1), the last one with its end; −1 outside. From the quotient, and a step where it is rounded.
int bin_of(double x, double low, double high, double bins) {
  if (!(x >= low && x <= high)) return -1;
  double b = std::clamp(std::floor((x - low) / (high - low) * bins), 0.0, bins - 1);
  while (b > 0 && x < edge(low, high, bins, b)) --b;
  while (b + 1 < bins && x >= edge(low, high, bins, b + 1)) ++b;
  return static_cast<int>(b);
}

/// The same by halving among the edges.
int bin_among_edges(double x, double low, double high, double bins) {
  double first = 0, last = bins;  // edge(first) ≤ x, and x < edge(last) but at the end
  while (last - first > 1) {
    const double middle = std::floor(0.5 * (first + last));
    (x >= edge(low, high, bins, middle) ? first : last) = middle;
  }
  return static_cast<int>(first);
}

std::map<Cell, double> counted(const DensityRows& rows, const Vector& low, const Vector& high, const Vector& bins,
                               const auto& bin) {
  std::map<Cell, double> out;
  Cell cell(at(rows.width()));
  for (Index i = 0; i < rows.count(); ++i) {
    for (Index j = 0; j < rows.width(); ++j) cell[at(j)] = bin(rows.x(i, j), low(j), high(j), bins(j));
    out[cell] += rows.weight(i);
  }
  return out;
}

double risk_of(const std::vector<double>& counts, double n, double log_volume) {
  double squares = 0;
  for (const double each : counts) squares += each * each;
  return (2 - (n + 1) / n * (squares / n)) / (n - 1) * std::exp(-log_volume);
}
double log_volume_of(const Vector& low, const Vector& high, const Vector& bins) {
  return ((high - low).array() / bins.array()).log().sum();
}
std::vector<double> numbers_of(const std::map<Cell, double>& cells) {
  std::vector<double> out;
  for (const auto& [cell, count] : cells) out.push_back(count);
  return out;
}

/// Of a rule that is a formula; R / h rounded up, but for its last digits.
double bins_by(BinRule rule, double sd, double quartiles, double range, double n, Index d) {
  if (rule == BinRule::sturges) return std::min(kMostBins, std::ceil(std::log2(n) - 1e-9) + 1);
  const double shrink = std::pow(n, -1 / static_cast<double>(d + 2));
  const double h = rule == BinRule::freedman_diaconis && quartiles > 0 ? 2 * quartiles * shrink : 3.49 * sd * shrink;
  return std::clamp(std::ceil(range / h - 1e-9), 1.0, kMostBins);
}

Vector bins_of_least_risk(const DensityRows& rows, const Vector& low, const Vector& high, const Execution& execution) {
  const int most = static_cast<int>(std::min<double>(kMostTried, std::max(2.0, rows.mass)));
  std::vector<double> risk(at(most));
  parallel_for(most, execution, [&](Index m) {
    const Vector bins = Vector::Constant(rows.width(), static_cast<double>(m + 1));
    risk[at(m)] =
        risk_of(numbers_of(counted(rows, low, high, bins, bin_of)), rows.mass, log_volume_of(low, high, bins));
  });
  const auto best = std::min_element(risk.begin(), risk.end()) - risk.begin();
  return Vector::Constant(rows.width(), static_cast<double>(best + 1));
}

Vector given_bins(const std::vector<double>& given, Index width) {
  if (given.size() == 1) return Vector::Constant(width, given[0]);
  if (static_cast<Index>(given.size()) != width)
    throw Error(fmt::format("histogram: bins has {}, and there {}; give one for all or one for each",
                            count_of(static_cast<Index>(given.size()), "number"),
                            width == 1 ? "is 1 column" : fmt::format("are {} columns", width)));
  return Eigen::Map<const Vector>(given.data(), width);
}

Vector bins_of(const Histogram& spec, const DensityRows& rows, const Vector& low, const Vector& high,
               const Execution& execution) {
  if (const auto* given = std::get_if<std::vector<double>>(&spec.bins)) return given_bins(*given, rows.width());
  const auto rule = std::get<BinRule>(spec.bins);
  if (rule == BinRule::least_risk) return bins_of_least_risk(rows, low, high, execution);
  Vector out(rows.width());
  for (Index j = 0; j < rows.width(); ++j) {
    const SortedColumn column(rows, j);
    out(j) =
        bins_by(rule, column.standard_deviation(), column.quartile_range(), high(j) - low(j), rows.mass, rows.width());
  }
  return out;
}

/// The rules again: standard deviations by plain sums about the least value, quartiles of the copies one by one.
Vector bins_again(const Histogram& spec, const DensityRows& rows, const Vector& low, const Vector& high,
                  const Execution& execution) {
  const auto* rule = std::get_if<BinRule>(&spec.bins);
  if (!rule || *rule == BinRule::least_risk) return bins_of(spec, rows, low, high, execution);
  Vector out(rows.width());
  for (Index j = 0; j < rows.width(); ++j) {
    long double sum = 0, squares = 0;
    for (Index i = 0; i < rows.count(); ++i) {
      const long double d = static_cast<long double>(rows.x(i, j)) - low(j);
      sum += rows.weight(i) * d;
      squares += rows.weight(i) * d * d;
    }
    const long double n = rows.mass;
    out(j) = bins_by(*rule, static_cast<double>(std::sqrt((squares - sum * sum / n) / (n - 1))),
                     SortedColumn(rows, j).quartile_range(), high(j) - low(j), rows.mass, rows.width());
  }
  return out;
}

bool same_cells(const HistogramModel& model, const std::map<Cell, double>& cells) {
  if (static_cast<Index>(cells.size()) != model.counts.size()) return false;
  Index c = 0;
  for (const auto& [cell, count] : cells) {
    for (Index j = 0; j < model.width(); ++j)
      if (model.cells(c, j) != cell[at(j)]) return false;
    if (!(std::abs(model.counts(c) - count) <= 1e-9 * (1 + count))) return false;
    ++c;
  }
  return true;
}

}  // namespace

void Histogram::check() const {
  if (const auto* given = std::get_if<std::vector<double>>(&bins)) {
    if (given->empty()) throw Error("histogram: bins names no number; give at least one, or a rule");
    for (const double each : *given)
      if (each != std::floor(each)) throw Error(fmt::format("histogram: bins is {:g}, must be a whole number", each));
  }
}

void HistogramModel::check() const {
  const Index d = width();
  require(d > 0 && high.size() == d && bins.size() == d && cells.cols() == d && cells.rows() == counts.size() &&
              counts.size() > 0,
          "histogram: columns, bins and cells do not fit together");
  require(low.allFinite() && high.allFinite() && (high.array() > low.array()).all() && std::isfinite(risk),
          "histogram: a column has no range, or the risk is not usable");
  require(counts.allFinite() && (counts.array() > 0).all(), "histogram: a count is not usable");
  for (const double each : bins)
    require(each >= 1 && each <= kMostBins && each == std::floor(each), "histogram: a number of bins is not usable");
  for (Index c = 0; c < cells.rows(); ++c)
    for (Index j = 0; j < d; ++j)
      require(cells(c, j) >= 0 && cells(c, j) < bins(j) && cells(c, j) == std::floor(cells(c, j)),
              "histogram: a cell is none of those there are");
  for (Index c = 1; c < cells.rows(); ++c)
    require(std::lexicographical_compare(cells.row(c - 1).begin(), cells.row(c - 1).end(), cells.row(c).begin(),
                                         cells.row(c).end()),
            "histogram: the cells are not in their order");
  if (const auto* given = std::get_if<std::vector<double>>(&spec.bins))
    require(given_bins(*given, d) == bins, "histogram: the bins are not those given");
}

Vector HistogramModel::log_density(const MatrixView& x) const {
  require_width(*this, x.cols());
  double mass = 0;
  for (const double each : counts) mass += each;
  const double constant = log_volume_of(low, high, bins) + std::log(mass);
  Vector out(x.rows());
  std::vector<double> cell(at(width()));
  for (Index i = 0; i < x.rows(); ++i) {
    bool inside = true;
    for (Index j = 0; j < width(); ++j) {
      cell[at(j)] = bin_of(x(i, j), low(j), high(j), bins(j));
      inside = inside && cell[at(j)] >= 0;
    }
    Index first = 0, last = inside ? cells.rows() : 0;
    while (first < last) {
      const Index middle = (first + last) / 2;
      const bool below =
          std::lexicographical_compare(cells.row(middle).begin(), cells.row(middle).end(), cell.begin(), cell.end());
      (below ? first : last) = below ? middle + 1 : middle;
    }
    const bool holds = inside && first < cells.rows() &&
                       std::equal(cell.begin(), cell.end(), cells.row(first).begin(), cells.row(first).end());
    out(i) = !all_finite(x.row(i)) ? std::nan("") : holds ? std::log(counts(first)) - constant : kLogOfNothing;
  }
  return out;
}

DrawnRows HistogramModel::draw(Index count, std::uint64_t seed) const {
  std::vector<double> end(at(counts.size()));
  double mass = 0;
  for (Index c = 0; c < counts.size(); ++c) end[at(c)] = mass += counts(c);
  DrawnRows out{Matrix(count, width())};
  for (Index i = 0; i < count; ++i) {
    RandomStream random(seed, at(i));
    const auto found = std::upper_bound(end.begin(), end.end(), random.uniform() * mass);
    const Index c = std::min<Index>(found - end.begin(), counts.size() - 1);
    for (Index j = 0; j < width(); ++j) {
      const double from = edge(low(j), high(j), bins(j), cells(c, j)),
                   to = edge(low(j), high(j), bins(j), cells(c, j) + 1);
      out.x(i, j) = from + random.uniform() * (to - from);
    }
  }
  return out;
}

std::string HistogramModel::summary(const Names& names) const {
  TextTable table;
  std::vector<std::string> features, number;
  for (Index j = 0; j < width(); ++j) {
    features.push_back(at(j) < names.features.size() ? names.features[at(j)] : fmt::format("x{}", j + 1));
    number.push_back(fmt::format("{:g}", bins(j)));
  }
  const Vector size = (high - low).cwiseQuotient(bins);
  table.words("column", features)
      .right("bins", number)
      .numbers("from", {low.begin(), low.end()}, 5)
      .numbers("to", {high.begin(), high.end()}, 5)
      .numbers("width", {size.begin(), size.end()}, 5);
  const auto* rule = std::get_if<BinRule>(&spec.bins);
  return fmt::format("Histogram with {} that hold rows, bins {}\n\n", count_of(counts.size(), "cell"),
                     rule ? fmt::format("by {}", name_of(*rule)) : "given") +
         table.str({.width = 100}) + fmt::format("\nrisk {}\n", format_significant(risk, 6));
}

HistogramModel fit(const Valid<Histogram>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  const DensityRows data = density::density_rows(Histogram::name, rows, execution.part(0, 0.1));
  density::require_spread(Histogram::name, data, rows.features, "");
  HistogramModel model;
  model.spec = *spec;
  model.low = data.x.colwise().minCoeff().transpose();
  model.high = data.x.colwise().maxCoeff().transpose();
  model.bins = bins_of(*spec, data, model.low, model.high, execution.part(0.1, 0.5));
  const auto cells = counted(data, model.low, model.high, model.bins, bin_of);
  model.cells.resize(static_cast<Index>(cells.size()), model.width());
  model.counts.resize(model.cells.rows());
  Index c = 0;
  for (const auto& [cell, count] : cells) {
    for (Index j = 0; j < model.width(); ++j) model.cells(c, j) = cell[at(j)];
    model.counts(c++) = count;
  }
  model.risk = risk_of(numbers_of(cells), data.mass, log_volume_of(model.low, model.high, model.bins));
  if (!std::isfinite(model.risk))
    throw Error(
        fmt::format("histogram: the volume of a cell in {} is beyond the range of numbers; scale the columns "
                    "first ('scale | histogram')",
                    join_words(rows.features)));
  execution.report(0.6, "counting again");
  model.certificate = certify(model, rows, execution.part(0.6, 1));
  return model;
}

Certificate certify(const HistogramModel& model, const Rows& rows, const Execution& execution) {
  const DensityRows data = density::density_rows(Histogram::name, rows, execution.part(0, 0.2));
  Certificate out;
  out.strength = Strength::consistent;
  out.kind = "cells counted anew";
  out.tolerance = 1e-9;
  out.stopped = "closed form";
  const Vector low = data.x.colwise().minCoeff().transpose(), high = data.x.colwise().maxCoeff().transpose();
  const auto fails = [&](std::string_view what) {
    out.value = 1;
    out.message = fmt::format("The {} are not those of these rows.", what);
    return out;
  };
  if (low != model.low || high != model.high) return fails("ranges of the columns");
  if (bins_again(model.spec, data, low, high, execution.part(0.2, 0.6)) != model.bins) return fails("numbers of bins");
  const auto cells = counted(data, low, high, model.bins, bin_among_edges);
  if (!same_cells(model, cells)) return fails("cells and their counts");
  double squares = 0,
         mass = 0;  // J as the sum over cells of n_cell / (n V) and of what is left without each of their rows
  for (const auto& [cell, count] : cells) {
    squares += count / data.mass * (count / data.mass);
    mass += count / data.mass * (count - 1) / (data.mass - 1);
  }
  const double risk = (squares - 2 * mass) * std::exp(-log_volume_of(low, high, model.bins));
  out.value = std::abs(risk - model.risk) / (std::abs(risk) + std::abs(model.risk));
  out.message = out.holds() ? fmt::format(
                                  "The density is its definition: rows counted anew by a search among the edges are "
                                  "those of the {}, and their risk is the one told.",
                                  count_of(model.counts.size(), "cell"))
                            : "The risk is not that of the counts.";
  return out;
}

template const Method& method_of<Histogram>();

}  // namespace lemma
