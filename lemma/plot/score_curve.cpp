// lemma/plot/score_curve.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/plot/score_curve.hpp>

namespace lemma::plot {

Figure drawn(const ScoreCurve& curve) {
  Panel panel{"", {curve.along == "rows" ? "rows learned from" : curve.along}, {curve.metric}, {}};
  double least = HUGE_VAL, most = 0;
  for (const auto& point : curve.points) least = std::min(least, point.value), most = std::max(most, point.value);
  if (curve.along != "rows" && least > 0 && most / least >= 50) panel.x.kind = ScaleKind::log;
  for (const bool test : {false, true}) {
    Line line;
    Area band;
    Points points;
    for (const auto& point : curve.points) {
      const Score& score = test ? point.test : point.training;
      line.x.push_back(point.value), line.y.push_back(score.mean);
      points.tooltips.push_back(fmt::format("{} {}: {} of {}", curve.along, point.at, format_significant(score.mean, 4),
                                            test ? "rows not learned from" : "the rows learned from"));
      if (!score.bounds || !test) continue;
      band.x.push_back(point.value), band.lower.push_back(score.bounds->lower),
          band.upper.push_back(score.bounds->upper);
    }
    points.x = line.x, points.y = line.y, points.radius = 3.5;
    line.paint = points.paint = series(test ? 0 : 1), line.dashed = !test, band.paint = series(0, 0.18);
    if (band.x.size() > 1) panel.marks.emplace_back(std::move(band));
    panel.marks.emplace_back(std::move(line)), panel.marks.emplace_back(std::move(points));
  }
  Figure out;
  out.title = fmt::format("{} of {}: {}", curve.method, curve.data, curve.formula);
  out.panels.push_back(std::move(panel));
  out.legend = {"",
                {{"rows not learned from", series(0), LegendEntry::Key::line},
                 {"rows learned from", series(1), LegendEntry::Key::line, true}}};
  out.description =
      fmt::format("{} of {} along {}, by {}.", curve.metric, curve.method,
                  curve.along == "rows" ? "the number of rows learned from" : curve.along, curve.plan.text());
  return out;
}

}  // namespace lemma::plot
