// lemma/reduce/select.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/reduce/select.hpp>

namespace lemma {
namespace {

constexpr double kTolerance = 1e-8;

/// How many columns are kept, of those in order.
Index count_kept(const Select& spec, const filters::Scores& found) {
  Index most = spec.k.value_or(static_cast<int>(found.scores.size()));
  if (!spec.false_discoveries) return most;
  const Vector adjusted = filters::adjusted(found.p_values);
  const auto discoveries = static_cast<Index>((adjusted.array() <= *spec.false_discoveries).count());
  return std::max<Index>(1, std::min(most, discoveries));
}

/// The largest difference of two lists of numbers, in units of the largest of them, or 1 where it is less.
double difference(const Vector& a, const Vector& b) {
  if (a.size() == 0) return 0;
  const double scale = std::max(1.0, b.cwiseAbs().maxCoeff());
  return (a - b).cwiseAbs().maxCoeff() / scale;
}

}  // namespace

void Select::check() const {
  if (false_discoveries && !has_p_values(filter))
    throw Error(
        fmt::format("select: false_discoveries needs p-values, and the filter {} has none; use t, welch, auc, "
                    "correlation, anova, chi_squared or information",
                    name_of(filter)));
}

Needs Select::needs(Needs usual) const {
  usual.codes = takes_categories(filter);
  return usual;
}

void SelectModel::check() const {
  const Index p = width();
  require(!std::holds_alternative<AutoFilter>(spec.filter), "select: the model does not say by which filter");
  require(p > 0 && rank.size() == p && kept.size() == p, "select: scores, ranks and kept columns differ in number");
  require(p_values.size() == (has_p_values(spec.filter) ? p : 0), "select: there is not a p-value for each column");
  require(scores.allFinite() && (p_values.array() >= 0).all() && (p_values.array() <= 1).all(),
          "select: a score or p-value is not usable");
  std::vector<bool> seen(at(p));
  for (Index j = 0; j < p; ++j) {
    const double r = rank(j);
    require(r >= 1 && r <= static_cast<double>(p) && r == std::floor(r) && !seen[at(static_cast<Index>(r) - 1)],
            "select: the ranks are not 1, 2, …, one for each column");
    seen[at(static_cast<Index>(r) - 1)] = true;
  }
  require(output_width() > 0, "select: no column is kept");
  for (Index j = 0; j < p; ++j)
    require(kept(j) == (rank(j) <= static_cast<double>(output_width()) ? 1.0 : 0.0),
            "select: the columns kept are not those of the best ranks");
  require(spec.false_discoveries || spec.k == static_cast<int>(output_width()),
          "select: other than k columns are kept");
  require(classes >= 0 && classes != 1, "select: the response has one class");
}

Index SelectModel::output_width() const { return static_cast<Index>((kept.array() > 0).count()); }

std::vector<Index> SelectModel::order() const {
  std::vector<Index> out(at(width()));
  for (Index j = 0; j < width(); ++j) out[at(static_cast<Index>(rank(j)) - 1)] = j;
  return out;
}

std::vector<Index> SelectModel::kept_columns() const {
  std::vector<Index> out;
  for (Index j = 0; j < width(); ++j)
    if (kept(j) > 0) out.push_back(j);
  return out;
}

Matrix SelectModel::transform(const MatrixView& x) const {
  require_width(*this, x.cols());
  return x(Eigen::all, kept_columns());
}

std::vector<std::string> SelectModel::output_names(const std::vector<std::string>& features) const {
  std::vector<std::string> out;
  for (const Index j : kept_columns()) out.push_back(features.at(at(j)));
  return out;
}

AffineMap SelectModel::affine() const {
  const auto columns = kept_columns();
  AffineMap map{Matrix::Zero(output_width(), width()), Vector::Zero(output_width())};
  for (std::size_t i = 0; i < columns.size(); ++i) map.a(static_cast<Index>(i), columns[i]) = 1;
  return map;
}

std::string SelectModel::summary(const Names& names) const {
  constexpr std::size_t kShown = 40;
  std::vector<std::string> columns, marks, p_cells;
  std::vector<double> score, p;
  for (const Index j : order()) {
    if (columns.size() == kShown) break;
    columns.push_back(names.features.at(at(j)));
    score.push_back(scores(j));
    if (p_values.size() > 0) p.push_back(p_values(j));
    marks.emplace_back(kept(j) > 0 ? "kept" : "");
  }
  TextTable table;
  table.words("column", columns).numbers(std::string(name_of(spec.filter)), score);
  if (!p.empty()) table.right("p", format_p_column(p));
  table.words("", marks);
  std::string out =
      fmt::format("{} of {} kept by {}\n\n", output_width(), count_of(width(), "column"), words_of(spec.filter)) +
      table.str();
  if (at(width()) > kShown) out += fmt::format("and {} more\n", at(width()) - kShown);
  return out;
}

SelectModel fit(const Valid<Select>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  const auto columns = filters::columns_of(rows, execution.part(0, 0.2, "reading columns"));
  SelectModel model;
  model.spec = *spec;
  model.spec.filter = filters::resolved(spec->filter, columns);
  model.classes = columns.classes;
  filters::require_suits(model.spec.filter, columns);
  if (!spec->k && !spec->false_discoveries) model.spec.k = static_cast<int>((rows.width() + 1) / 2);
  if (spec->k && *spec->k > rows.width())
    throw Error(fmt::format("select: k = {} columns are to be kept, and there are {}", *spec->k, rows.width()));
  const auto found = filters::score(model.spec.filter, columns, model.spec.k.value_or(static_cast<int>(rows.width())),
                                    execution.part(0.2, 0.6, "judging columns"));
  model.scores = found.scores;
  model.p_values = found.p_values;
  model.rank.resize(rows.width());
  model.kept = Vector::Zero(rows.width());
  const Index count = count_kept(model.spec, found);
  for (Index r = 0; r < rows.width(); ++r) {
    model.rank(found.order[at(r)]) = static_cast<double>(r + 1);
    if (r < count) model.kept(found.order[at(r)]) = 1;
  }
  if (spec->false_discoveries && !(filters::adjusted(found.p_values).minCoeff() <= *spec->false_discoveries))
    model.warnings.push_back(fmt::format(
        "no column passes at a share of {:g} false discoveries; the best one, '{}', is kept so that a step can follow",
        *spec->false_discoveries, rows.features[at(found.order[0])]));
  model.certificate = certify(model, rows, execution.part(0.6, 1, "certificate"));
  return model;
}

Certificate certify(const SelectModel& model, const Rows& rows, const Execution& execution) {
  const auto columns = filters::columns_of(rows, execution);
  const auto order = model.order();
  filters::require_suits(model.spec.filter, columns);
  const auto again = filters::score_again(model.spec.filter, columns,
                                          model.spec.k.value_or(static_cast<int>(model.width())), order, execution);
  const bool incremental = std::holds_alternative<IncrementalFilter>(model.spec.filter);
  const double scale = std::max(1.0, again.scores.cwiseAbs().maxCoeff());
  double worst = std::max(difference(model.scores, again.scores), difference(model.p_values, again.p_values));
  const Index fixed = incremental ? model.spec.k.value_or(static_cast<int>(model.width())) : 0;
  for (Index r = fixed; r + 1 < model.width(); ++r)  // of incremental only those that were not chosen are in order
    worst = std::max(worst, (filters::merit(model.spec.filter, again.scores(order[at(r + 1)])) -
                             filters::merit(model.spec.filter, again.scores(order[at(r)]))) /
                                scale);
  worst = std::max(worst, again.shortfall / scale);
  if (model.spec.false_discoveries && count_kept(model.spec, again) != model.output_width()) worst = std::nan("");
  Certificate out;
  out.strength = Strength::consistent;
  out.kind = "scores and ranks of the columns";
  out.value = worst;
  out.tolerance = kTolerance;
  out.iterations = 1;
  out.stopped = "closed form";
  out.message = fmt::format(
      "The scores of all columns ({}), computed anew by other formulas, agree to {:.1e} (allowed {:.0e}), and no "
      "column that "
      "was "
      "left out is better than one that is kept.",
      words_of(model.spec.filter), worst, out.tolerance);
  if (!out.holds())
    out.message = fmt::format(
        "Scores computed anew from the rows differ by {:.1e} (allowed {:.0e}), or columns stand in "
        "another order: these are not the best columns of these rows.",
        worst, out.tolerance);
  return out;
}

template const Method& method_of<Select>();

}  // namespace lemma
