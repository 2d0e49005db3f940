// lemma/cluster/shared/dissimilarity_rows.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/cluster/shared/dissimilarity_rows.hpp>
#include <lemma/core/error.hpp>

namespace lemma {
namespace {

using simd::kPanel;

void rows_of_triangle(const Dissimilarities& all, Index first, Index count, double* out) {
  const Index n = all.count();
  const double* kept = all.kept().data();
  for (Index i = 0; i < first; ++i) {
    const double* from = kept + all.pair(i, first);
    for (Index r = 0; r < count; ++r) out[r * n + i] = from[r];
  }
  for (Index r = 0; r < count; ++r) {
    const Index i = first + r;
    out[r * n + i] = 0;
    if (i + 1 < n) std::copy_n(kept + all.pair(i, i + 1), n - i - 1, out + r * n + i + 1);
    for (Index below = r + 1; below < count; ++below) out[below * n + i] = out[r * n + first + below];
  }
}

void rows_of_points(const Dissimilarities& all, Index first, Index count, double* out, bool far_where_unknown) {
  constexpr Index kPanels = 32;
  const PackedPoints& points = *all.points();
  const Index n = all.count(), width = points.metric().width();
  std::vector<double> x(at(count * width)), tile(at(count * kPanels * kPanel));
  for (Index r = 0; r < count; ++r) points.unpack(first + r, x.data() + r * width);
  for (Index k = 0; k < points.panels(); k += kPanels) {
    const Index panels = std::min(kPanels, points.panels() - k), from = k * kPanel;
    points.distances(x.data(), count, k, panels, tile.data());
    for (Index r = 0; r < count; ++r)
      std::copy_n(tile.data() + r * panels * kPanel, std::min(panels * kPanel, n - from), out + r * n + from);
  }
  for (Index r = 0; r < count; ++r)
    for (Index j = 0; j < n; ++j)
      if (far_where_unknown && std::isnan(out[r * n + j])) out[r * n + j] = HUGE_VAL;
      else if (!std::isfinite(out[r * n + j]))
        throw Error(fmt::format(
            "the dissimilarity of {} and {} {}", all.name(first + r), all.name(j),
            std::isnan(out[r * n + j]) ? "is not known: no column is known of both" : "is too large for a number"));
}

}  // namespace

void dissimilarity_rows(const Dissimilarities& all, Index first, Index count, double* out, bool far_where_unknown) {
  if (all.is_kept()) rows_of_triangle(all, first, count, out);
  else rows_of_points(all, first, count, out, far_where_unknown);
}

}  // namespace lemma
