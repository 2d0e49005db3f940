// lemma/plot/model/variates.cpp: canonical variates beside one another, sources along the rows, prototypes among them, factors of things.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/neighbor/prototypes.hpp>
#include <lemma/plot/model/kinds.hpp>
#include <lemma/reduce/cca.hpp>
#include <lemma/reduce/factorise.hpp>

namespace lemma::plot {

Figure variates(const Shown& shown) {
  constexpr Index kMost = 4;
  const CcaModel* model = model_cast<CcaModel>(shown.trained.model);
  require(model != nullptr, "only cca has pairs of variates");
  const DesignData data = shown.trained.design.apply(*shown.rows, Missing::drop);
  require(data.has_response, "the rows need their responses");
  const Matrix x = model->transform(data.x);
  const auto& y = model->responses() > 1 ? data.responses : data.y;
  require(std::ssize(y) == x.rows() * model->responses(), "the rows need their responses");
  const Matrix v = model->response_variates(Eigen::Map<const Matrix>(y.data(), x.rows(), model->responses()));
  std::vector<Index> kept = data.kept;
  for (Index i = 0; data.kept.empty() && i < x.rows(); ++i) kept.push_back(i);
  const Groups groups = groups_for(shown.rows->select(kept), shown.options);
  std::vector<std::string> tooltips;
  for (Index i = 0; i < x.rows() && x.rows() <= kMostTooltips; ++i)
    tooltips.push_back(fmt::format("row {}", kept[static_cast<std::size_t>(i)] + 1));
  Figure out;
  const Index pairs = std::min(model->components(), kMost);
  for (Index k = 0; k < pairs; ++k) {
    Panel panel{fmt::format("correlation {:.3f}", model->correlations(k)),
                {fmt::format("variate {} of the columns", k + 1)},
                {fmt::format("variate {} of the responses", k + 1)},
                {}};
    panel.marks.emplace_back(Points{list_of(x.col(k)), list_of(v.col(k)), groups.code, tooltips});
    out.panels.push_back(std::move(panel));
  }
  in_grid(out);
  if (pairs > 1) out.width = 820, out.height = pairs > 2 ? 720 : 420;
  else out.width = 560;
  if (!groups.empty()) out.legend = legend_of(groups, LegendEntry::Key::point);
  out.description = fmt::format("{} of canonical variates of {}; the correlations are those of the fit.",
                                count_of(pairs, "pair"), count_of(x.rows(), "row"));
  return out;
}

Figure sources(const Shown& shown) {
  constexpr Index kMost = 8, kMostPlaces = 2'000;
  const DesignData data = shown.trained.design.apply(*shown.rows, Missing::drop);
  const Matrix found = shown.trained.predict(data, {.what = {"coordinates"}}).coordinates();
  const auto names = shown.trained.model->output_names(shown.trained.design.features());
  const Index count = std::min(found.cols(), kMost), n = found.rows(), places = std::min(n, kMostPlaces);
  Figure out;
  for (Index k = 0; k < count; ++k) {
    Panel panel{"", {k + 1 == count ? "row" : ""}, {names.at(static_cast<std::size_t>(k))}, {}};
    Line line;
    for (Index p = 0; p < places; ++p) {
      const Index i = p * n / places;
      line.x.push_back(static_cast<double>((data.kept.empty() ? i : data.kept[static_cast<std::size_t>(i)]) + 1));
      line.y.push_back(found(i, k));
    }
    line.paint = series(static_cast<int>(k)), line.width = 1.2;
    panel.x.shown = k + 1 == count, panel.row = static_cast<int>(k);
    panel.marks.emplace_back(std::move(line));
    out.panels.push_back(std::move(panel));
  }
  out.height = 110.0 * static_cast<double>(count) + 90;
  out.description = fmt::format("{} along {}{}.", count_of(count, "source"), count_of(n, "row"),
                                places < n ? fmt::format(", of which {} are drawn", format_count(places)) : "");
  return out;
}

bool has_factors(const TrainedModel& trained) {
  const auto* model = model_cast<FactoriseModel>(trained.model);
  return model && model->factors.cols() >= 2;
}

/// What a column's things are called: levels by their names, numbers as they are.
Figure factors(const Shown& shown) {
  constexpr Index kMostNames = 80;
  const FactoriseModel& model = *model_cast<FactoriseModel>(shown.trained.model);
  const auto levels = shown.trained.design.levels();
  const auto& columns = shown.trained.design.features();
  const Matrix& a = model.factors;
  Points points{list_of(a.col(0)), list_of(a.col(1)), {}, {}};
  Figure out;
  Index thing = 0;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    for (int k = 0; k < model.counts[c]; ++k, ++thing) {
      const double value = model.things(thing);
      const bool code =
          c < levels.size() && !levels[c].empty() && value >= 0 && value < static_cast<double>(levels[c].size());
      points.group.push_back(static_cast<int>(c));
      points.tooltips.push_back(code ? levels[c][static_cast<std::size_t>(value)] : shortest(value));
    }
    out.legend.entries.push_back({columns[c], series(static_cast<int>(c)), LegendEntry::Key::point});
  }
  Panel panel{"", {"factor 1"}, {"factor 2"}, {}};
  panel.equal = true;
  Words names{points.x, points.y, points.tooltips};
  names.centred = false;
  points.radius = thing <= kMostNames ? 3.5 : 2.5;
  for (Index i = 0; i < thing; ++i)
    points.tooltips[at(i)] = columns[at(Index{points.group[at(i)]})] + ": " + points.tooltips[at(i)];
  panel.marks.emplace_back(std::move(points));
  if (thing <= kMostNames) panel.marks.emplace_back(std::move(names));
  out.panels.push_back(std::move(panel));
  out.description = fmt::format(
      "The first two factors of {} of {}: of two of different columns, the value grows with the product of their "
      "places.",
      count_of(thing, "thing"), join_words(columns));
  return out;
}

Figure prototypes(const Shown& shown) {
  const PrototypesModel* model = model_cast<PrototypesModel>(shown.trained.model);
  require(model != nullptr, "only prototypes has prototypes");
  const DesignData data = shown.trained.design.apply(*shown.rows, Missing::drop);
  require(std::ssize(data.label) == data.x.rows(), "the rows need their classes");
  Labels of;
  for (const double k : model->classes) of.push_back(static_cast<int>(k));
  Figure out = pairs_of_groups(shown, data.x,
                               {shown.trained.design.target(),
                                Categories{{data.label.begin(), data.label.end()}, shown.trained.design.classes()}},
                               &model->prototypes, of);
  out.description = fmt::format("{} of {}: {}, with rims.", count_of(data.x.rows(), "row"),
                                count_of(std::ssize(shown.trained.design.classes()), "class"),
                                count_of(model->prototypes.rows(), "prototype"));
  return out;
}

}  // namespace lemma::plot
