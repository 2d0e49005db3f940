// lemma/geometry/dissimilarities.cpp
#include <cmath>
#include <fmt/core.h>
#include <lemma/geometry/dissimilarities.hpp>
#include <lemma/math/simd/panels.hpp>

namespace lemma {
namespace {

using simd::kPanel;
constexpr double kRounding = 1e-10;  // of the largest number of a given matrix
constexpr Index kRows = 32;          // of a tile
constexpr Index kPanels = 32;

}  // namespace

Dissimilarities::Dissimilarities(Index count, Names names) : count_(count), names_(std::move(names)) {
  if (!names_.empty() && static_cast<Index>(names_.size()) != count)
    throw Error(fmt::format("there are {} names for {} rows", names_.size(), count));
}

std::string Dissimilarities::name(Index i) const {
  return names_.empty() ? fmt::format("{}", i + 1) : "'" + names_[at(i)] + "'";
}

void Dissimilarities::refuse(Index i, Index j, std::string_view what) const {
  throw Error(fmt::format("the dissimilarity of {} and {} {}", name(i), name(j), what));
}

Dissimilarities Dissimilarities::of_rows(const MatrixView& rows, const BoundMetric& metric, Names names,
                                         const Execution& execution) {
  Dissimilarities out(rows.rows(), std::move(names));
  out.kept_.resize(at(out.count_ * (out.count_ - 1) / 2));
  if (out.count_ > 0) out.compute(PackedPoints(metric, rows, execution.part(0, 0)), execution);
  return out;
}

Dissimilarities Dissimilarities::of_rows(const MatrixView& rows, const Metric& metric, Names names,
                                         const Execution& execution) {
  return of_rows(rows, BoundMetric::of(metric, rows, {}, execution.part(0, 0)), std::move(names), execution);
}

Dissimilarities Dissimilarities::on_demand(const MatrixView& rows, const BoundMetric& metric, Names names,
                                           const Execution& execution) {
  Dissimilarities out(rows.rows(), std::move(names));
  out.points_ = std::make_shared<const PackedPoints>(metric, rows, execution);
  return out;
}

Dissimilarities Dissimilarities::on_demand(const MatrixView& rows, const Metric& metric, Names names,
                                           const Execution& execution) {
  return on_demand(rows, BoundMetric::of(metric, rows, {}, execution.part(0, 0)), std::move(names), execution);
}

/// Bands of rows with all points after them, tile by tile.
void Dissimilarities::compute(const PackedPoints& points, const Execution& execution) {
  const Index width = points.metric().width();
  parallel_for((count_ + kRows - 1) / kRows, execution, [&](Index band) {
    const Index first = band * kRows, rows = std::min(kRows, count_ - first);
    std::vector<double> x(at(rows * width)), tile(at(rows * kPanels * kPanel));
    for (Index i = 0; i < rows; ++i) points.unpack(first + i, x.data() + i * width);
    for (Index k = first / kPanel; k < points.panels(); k += kPanels) {
      const Index panels = std::min(kPanels, points.panels() - k), size = panels * kPanel;
      points.distances(x.data(), rows, k, panels, tile.data());
      for (Index i = 0; i < rows; ++i) {
        const Index from = std::max(first + i + 1, k * kPanel), to = std::min(count_, k * kPanel + size);
        if (from < to)
          std::copy(tile.data() + i * size + from - k * kPanel, tile.data() + i * size + to - k * kPanel,
                    kept_.data() + pair(first + i, from));
      }
    }
    for (Index i = first; i < first + rows; ++i)
      for (Index j = i + 1; j < count_; ++j)
        if (const double d = kept_[at(pair(i, j))]; !std::isfinite(d))
          refuse(i, j, std::isnan(d) ? "is not known: no column is known of both" : "is too large for a number");
  });
}

Dissimilarities Dissimilarities::of_square(const MatrixView& square, Names names) {
  const Index n = square.rows();
  if (square.cols() != n)
    throw Error(
        fmt::format("a matrix of dissimilarities is square, this one has {} rows and {} columns", n, square.cols()));
  Dissimilarities out(n, std::move(names));
  out.kept_.resize(at(n * (n - 1) / 2));
  double largest = 0;
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) {
      if (!std::isfinite(square(i, j))) out.refuse(i, j, std::isnan(square(i, j)) ? "is missing" : "is infinite");
      largest = std::max(largest, std::abs(square(i, j)));
    }
  const double rounding = kRounding * largest;
  for (Index i = 0; i < n; ++i) {
    if (std::abs(square(i, i)) > rounding)
      throw Error(fmt::format("the dissimilarity of {} and itself is {}, must be 0", out.name(i), square(i, i)));
    for (Index j = i + 1; j < n; ++j) {
      const double d = square(i, j), back = square(j, i);
      if (std::min(d, back) < -rounding)
        out.refuse(i, j, fmt::format("is {}, must not be negative", std::min(d, back)));
      if (std::abs(d - back) > rounding)
        out.refuse(
            i, j,
            fmt::format("is {}, but that of {} and {} is {}: it must be the same", d, out.name(j), out.name(i), back));
      out.kept_[at(out.pair(i, j))] = std::max(0.0, d == back ? d : 0.5 * d + 0.5 * back);
    }
  }
  return out;
}

Dissimilarities Dissimilarities::of_triangle(std::vector<double> packed, Names names) {
  const double size = static_cast<double>(packed.size());
  const Index n = packed.empty() && names.empty() ? 1
                  : packed.empty()                ? static_cast<Index>(names.size())
                                                  : static_cast<Index>(std::lround((1 + std::sqrt(1 + 8 * size)) / 2));
  if (static_cast<std::size_t>(n * (n - 1) / 2) != packed.size())
    throw Error(
        fmt::format("a triangle of dissimilarities has n (n - 1) / 2 numbers, {} is not such a number", packed.size()));
  Dissimilarities out(n, std::move(names));
  double largest = 0;
  for (const double d : packed)
    if (std::isfinite(d)) largest = std::max(largest, std::abs(d));
  for (Index i = 0; i < n; ++i)
    for (Index j = i + 1; j < n; ++j) {
      double& d = packed[at(out.pair(i, j))];
      if (!std::isfinite(d)) out.refuse(i, j, std::isnan(d) ? "is missing" : "is infinite");
      if (d < -kRounding * largest) out.refuse(i, j, fmt::format("is {}, must not be negative", d));
      d = std::max(0.0, d);
    }
  out.kept_ = std::move(packed);
  return out;
}

double Dissimilarities::operator()(Index i, Index j) const {
  if (i == j) return 0;
  if (is_kept()) return kept_[at(i < j ? pair(i, j) : pair(j, i))];
  std::vector<double> x(at(points_->metric().width()));
  points_->unpack(i, x.data());
  return points_->metric().between(x.data(), points_->at(j), kPanel);
}

void Dissimilarities::row(Index i, std::span<double> out) const {
  if (static_cast<Index>(out.size()) != count_)
    throw Error(fmt::format("a row of {} dissimilarities does not fit into {} numbers", count_, out.size()));
  if (is_kept()) {
    for (Index j = 0; j < i; ++j) out[at(j)] = kept_[at(pair(j, i))];
    out[at(i)] = 0;
    if (i + 1 < count_) std::copy_n(kept_.data() + pair(i, i + 1), count_ - i - 1, out.data() + i + 1);
    return;
  }
  std::vector<double> x(at(points_->metric().width())), tile(at(kPanels * kPanel));
  points_->unpack(i, x.data());
  for (Index k = 0; k < points_->panels(); k += kPanels) {
    const Index panels = std::min(kPanels, points_->panels() - k), first = k * kPanel;
    points_->distances(x.data(), 1, k, panels, tile.data());
    std::copy_n(tile.data(), std::min(panels * kPanel, count_ - first), out.data() + first);
  }
  out[at(i)] = 0;
}

Matrix Dissimilarities::square() const {
  Matrix out(count_, count_);
  for (Index i = 0; i < count_; ++i) row(i, {out.data() + i * count_, at(count_)});
  return out;
}

}  // namespace lemma
