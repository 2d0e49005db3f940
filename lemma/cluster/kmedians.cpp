// lemma/cluster/kmedians.cpp
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <lemma/cluster/kmedians.hpp>
#include <lemma/cluster/shared/centers_text.hpp>
#include <lemma/cluster/shared/column_centers.hpp>
#include <lemma/core/text.hpp>
#include <lemma/model/cut_short.hpp>

namespace lemma {
namespace {

ColumnLosses losses_of(Index columns) { return {std::vector<ColumnLoss>(at(columns), ColumnLoss::absolute), 1}; }

Certificate certificate_of(const KMediansModel& model, const AlikeRows& rows, const Execution& execution) {
  return certify_centers({model.centers, model.sizes, model.within, model.total_within, model.spec.max_iterations,
                          "coordinates that are not medians", "the median"},
                         losses_of(model.width()), rows, execution);
}

}  // namespace

void KMediansModel::check() const {
  require(k() == spec.k && width() > 0, "kmedians: there are not k centres");
  require(sizes.size() == k() && within.size() == k() && centers.allFinite() && sizes.allFinite() &&
              within.allFinite() && std::isfinite(total_within),
          "kmedians: a number is not usable");
}

Matrix KMediansModel::distances(const MatrixView& x) const {
  require_width(*this, x.cols());
  return center_distances(losses_of(width()), centers, x);
}

Labels KMediansModel::assign(const MatrixView& x) const {
  require_width(*this, x.cols());
  return nearest_centers(losses_of(width()), centers, x);
}

std::string KMediansModel::summary(const Names& names) const {
  const std::string out = fmt::format("K-medians with {}\n\nMedians, sizes and sums of Manhattan distances:\n{}",
                                      count_of(k(), "cluster"), centers_text(centers, sizes, &within, names));
  return out + fmt::format("\ntotal within {}\n", format_significant(total_within, 7));
}

KMediansModel fit(const Valid<KMedians>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  const AlikeRows alike = alike_rows(KMedians::name, rows, execution.part(0, 0.1));
  const ColumnLosses losses = losses_of(rows.width());
  const ColumnCenters found =
      column_centers({KMedians::name, spec->k, spec->restarts, spec->max_iterations, options.seed}, losses, alike,
                     execution.part(0.1, 0.9));
  KMediansModel model;
  model.spec = *spec;
  model.centers = found.centers;
  const CenterTold told = told_of(losses, model.centers, alike, unheard(execution));
  model.sizes = told.sizes;
  model.within = told.within;
  model.total_within = told.within.sum();
  model.certificate = certificate_of(model, alike, unheard(execution));
  tell_how_it_ended(model, found);
  return model;
}

Certificate certify(const KMediansModel& model, const Rows& rows, const Execution& execution) {
  return certificate_of(model, alike_rows(KMedians::name, rows, execution.part(0, 0.3)), execution.part(0.3, 1));
}

template const Method& method_of<KMedians>();

}  // namespace lemma
