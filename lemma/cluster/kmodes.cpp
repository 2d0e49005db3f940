// lemma/cluster/kmodes.cpp
#include <fmt/core.h>

#include <algorithm>
#include <lemma/cluster/kmodes.hpp>
#include <lemma/core/text.hpp>
#include <lemma/model/cut_short.hpp>

namespace lemma {
namespace {

ColumnLosses losses_of(Index columns) { return {std::vector<ColumnLoss>(at(columns), ColumnLoss::mismatch), 1}; }

Certificate certificate_of(const KModesModel& model, const Rows& rows, const AlikeRows& alike,
                           const Execution& execution) {
  return model.look(KModes::name,
                    {model.centers, model.sizes, model.within, model.total_within, model.spec.max_iterations,
                     "coordinates that are not modes", "the commonest value"},
                    losses_of(model.width()), rows, alike, execution);
}

/// Columns of numbers that are seldom equal: their mismatches say little.
void warn_of_measurements(KModesModel& model, const Rows& rows, const AlikeRows& alike) {
  for (Index j = 0; j < rows.width(); ++j) {
    if (rows.holds_codes(j)) continue;
    const Vector column = alike.x.col(j);
    std::vector<double> values(column.begin(), column.end());
    std::sort(values.begin(), values.end());
    const auto different = std::unique(values.begin(), values.end()) - values.begin();
    if (different <= 20 || 2 * different <= alike.x.rows()) continue;
    model.warnings.push_back(
        fmt::format("'{}' holds {} different numbers, and here they are equal or not, however near: kprototypes "
                    "measures numbers, or make them levels by cut()",
                    rows.features[at(j)], format_count(different)));
    return;
  }
}

}  // namespace

Matrix KModesModel::distances(const MatrixView& x) const {
  require_width(*this, x.cols());
  return center_distances(losses_of(width()), centers, x);
}

Labels KModesModel::assign(const MatrixView& x) const {
  require_width(*this, x.cols());
  return nearest_centers(losses_of(width()), centers, x);
}

std::string KModesModel::summary(const Names& names) const {
  return fmt::format("K-modes with {}\n\nModes, sizes and mismatches:\n{}\ntotal within {}\n", count_of(k(), "cluster"),
                     table(names), format_significant(total_within, 7));
}

KModesModel fit(const Valid<KModes>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  const AlikeRows alike = alike_rows(KModes::name, rows, execution.part(0, 0.1));
  const ColumnLosses losses = losses_of(rows.width());
  const ColumnCenters found =
      column_centers({KModes::name, spec->k, spec->restarts, spec->max_iterations, options.seed}, losses, alike,
                     execution.part(0.1, 0.9));
  KModesModel model;
  model.spec = *spec;
  model.tell(found, losses, alike, rows, execution);
  model.certificate = certificate_of(model, rows, alike, unheard(execution));
  warn_of_measurements(model, rows, alike);
  tell_how_it_ended(model, found);
  return model;
}

Certificate certify(const KModesModel& model, const Rows& rows, const Execution& execution) {
  return certificate_of(model, rows, alike_rows(KModes::name, rows, execution.part(0, 0.3)), execution.part(0.3, 1));
}

template const Method& method_of<KModes>();

}  // namespace lemma
