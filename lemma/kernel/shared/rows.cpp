// lemma/kernel/shared/rows.cpp
#include <algorithm>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/kernel/shared/rows.hpp>
#include <numeric>

namespace lemma {
namespace {

bool is_precomputed(const Kernel& kernel) { return kernel.get<Precomputed>() != nullptr; }

void require_symmetric(std::string_view method, const Rows& rows, const Matrix& x) {
  require(x.rows() == x.cols(),
          fmt::format("{}: a precomputed kernel matrix has a column for each row, and this has {} "
                      "rows and {} columns",
                      method, x.rows(), x.cols()));
  const double size = x.cwiseAbs().maxCoeff();
  Index i = 0, j = 0;
  const double off = (x - x.transpose()).cwiseAbs().maxCoeff(&i, &j);
  require(off <= 1e-10 * size,
          fmt::format("{}: the precomputed kernel matrix is not symmetric: row {} of '{}' is {}, row {} of '{}' is {}",
                      method, i + 1, rows.features[static_cast<std::size_t>(j)], x(i, j), j + 1,
                      rows.features[static_cast<std::size_t>(i)], x(j, i)));
}

}  // namespace

KernelRows kernel_rows(std::string_view method, const Kernel& kernel, const Rows& rows, const Execution& execution) {
  require_finite(rows, execution);
  BlockBuffer buffer;
  const Block outcome = rows.outcome(0, rows.count(), buffer);
  KernelRows out;
  out.rows = rows.count();
  std::vector<Index> kept;
  for (Index i = 0; i < rows.count(); ++i)
    if (outcome.weight_of(i) > 0) kept.push_back(i);
  const auto n = static_cast<Index>(kept.size());
  require(n > 0, fmt::format("{}: no row has a weight above 0", method));
  out.y.resize(n);
  out.weight.resize(n);
  for (Index i = 0; i < n; ++i) {
    const Index at = kept[static_cast<std::size_t>(i)];
    out.weight(i) = outcome.weight_of(at);
    out.y(i) = outcome.y.empty() ? 0 : outcome.y[static_cast<std::size_t>(at)];
    if (!outcome.label.empty()) out.label.push_back(outcome.label[static_cast<std::size_t>(at)]);
  }
  out.points = Points::of(rows, execution);
  if (is_precomputed(kernel) && !out.points.is_sparse()) require_symmetric(method, rows, out.points.dense());
  if (n < rows.count()) out.points = out.points.select(kept);
  return out;
}

Vector class_counts(std::string_view method, const KernelRows& data, const std::vector<std::string>& classes) {
  Vector out = Vector::Zero(static_cast<Index>(classes.size()));
  for (Index i = 0; i < data.count(); ++i) out(data.label_of(i)) += data.weight(i);
  for (Index k = 0; k < out.size(); ++k)
    require(out(k) > 0, fmt::format("{}: class '{}' has no rows of a weight above 0; leave it out of the classes",
                                    method, classes[static_cast<std::size_t>(k)]));
  return out;
}

void require_memory(std::string_view method, Index rows, double gigabytes) {
  const double bytes = static_cast<double>(rows) * static_cast<double>(rows) * sizeof(double);
  if (bytes > gigabytes * 1e9)
    throw Error(
        fmt::format("{}: the kernel matrix of {} rows would take {} ({} x {} numbers of 8 bytes), and {} are "
                    "allowed: give --gigabytes {:.0f}, or take fewer rows",
                    method, format_count(rows), format_bytes(bytes), format_count(rows), format_count(rows),
                    format_bytes(gigabytes * 1e9), std::max(1.0, bytes / 1e9 + 0.5)));
}

RowNumbers kept_places(const Kernel& kernel, const Points& points) {
  return {is_precomputed(kernel) ? points.places() : std::vector<Index>()};
}

void check_places(std::string_view method, const Kernel& kernel, const RowNumbers& places, Index width, Index count) {
  require(static_cast<Index>(places.of.size()) == (is_precomputed(kernel) ? count : 0),
          fmt::format("{}: the places of the kept rows do not suit the kernel", method));
  for (const Index place : places.of)
    require(place >= 0 && place < width, fmt::format("{}: a kept row is none of the fit", method));
}

void compare_rows(Comparison& same, const Kernel& kernel, const KeptRows& kept, const RowNumbers& places,
                  const Points& points) {
  const RowNumbers expected_places = kept_places(kernel, points);
  same.relative("places", static_cast<double>(places.of.size()), static_cast<double>(expected_places.of.size()), 0);
  for (std::size_t i = 0; i < expected_places.of.size() && !same.finding(); ++i)
    same.entry("places", static_cast<Index>(i), static_cast<double>(places.of[i]),
               static_cast<double>(expected_places.of[i]), 0);
  if (is_precomputed(kernel)) return;
  const Points stored = kept.points(kernel, places.of);
  for (Index i = 0; i < points.count() && !same.finding(); ++i) {
    const Matrix a = stored.rows(i, 1), b = points.rows(i, 1);
    for (Index j = 0; j < b.cols(); ++j) same.entry("points", i * b.cols() + j, a(0, j), b(0, j), 0);
  }
}

}  // namespace lemma
