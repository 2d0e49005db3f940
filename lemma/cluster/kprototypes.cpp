// lemma/cluster/kprototypes.cpp
#include <fmt/core.h>

#include <cmath>
#include <lemma/cluster/kprototypes.hpp>
#include <lemma/core/text.hpp>
#include <lemma/model/cut_short.hpp>

namespace lemma {
namespace {

template <class HoldsCodes>
ColumnLosses losses_of(Index columns, double gamma, const HoldsCodes& holds_codes) {
  ColumnLosses out{{}, gamma};
  for (Index j = 0; j < columns; ++j) out.of.push_back(holds_codes(j) ? ColumnLoss::mismatch : ColumnLoss::square);
  return out;
}
ColumnLosses losses_of(const KPrototypesModel& model) {
  return losses_of(model.width(), *model.spec.gamma, [&](Index j) { return model.holds_codes(j); });
}

double variance_of(const VectorView& x, const Vector& w) {
  const Vector around = x.array() - x(0);
  const double mean = w.dot(around) / w.sum();
  return w.dot((around.array() - mean).square().matrix()) / w.sum();
}

/// 1 − Σ p²: how often two rows drawn at random have different levels.
double diversity_of(const VectorView& codes, const Vector& w, Index levels) {
  Vector share = Vector::Zero(levels);
  for (Index i = 0; i < codes.size(); ++i) share(static_cast<Index>(codes(i))) += w(i) / w.sum();
  return 1 - share.squaredNorm();
}

/// What makes a column of either kind count alike; 1 where there is none of a kind, or it does not vary.
double usual_gamma(const Rows& rows, const AlikeRows& alike) {
  double variances = 0, diversities = 0;
  Index numbers = 0, categories = 0;
  for (Index j = 0; j < rows.width(); ++j) {
    const Vector column = alike.x.col(j);
    if (rows.holds_codes(j))
      diversities += diversity_of(column, alike.w, static_cast<Index>(rows.levels[at(j)].size())), ++categories;
    else variances += variance_of(column, alike.w), ++numbers;
  }
  if (!(variances > 0) || !(diversities > 0)) return 1;
  return (variances / static_cast<double>(numbers)) / (diversities / static_cast<double>(categories));
}

Certificate certificate_of(const KPrototypesModel& model, const Rows& rows, const AlikeRows& alike,
                           const Execution& execution) {
  return model.look(KPrototypes::name,
                    {model.centers, model.sizes, model.within, model.total_within, model.spec.max_iterations,
                     "coordinates that are neither means nor modes", "the mean or the commonest value"},
                    losses_of(model), rows, alike, execution);
}

}  // namespace

void KPrototypesModel::check() const {
  check_centers(KPrototypes::name, spec.k);
  require(spec.gamma.has_value() && std::isfinite(*spec.gamma), "kprototypes: gamma is not known");
}

Matrix KPrototypesModel::distances(const MatrixView& x) const {
  require_width(*this, x.cols());
  return center_distances(losses_of(*this), centers, x);
}

Labels KPrototypesModel::assign(const MatrixView& x) const {
  require_width(*this, x.cols());
  return nearest_centers(losses_of(*this), centers, x);
}

std::string KPrototypesModel::summary(const Names& names) const {
  return fmt::format(
      "K-prototypes with {}; a mismatch costs {}\n\nMeans and modes, sizes and sums of distances:\n{}\ntotal within "
      "{}\n",
      count_of(k(), "cluster"), format_significant(*spec.gamma, 5), table(names), format_significant(total_within, 7));
}

KPrototypesModel fit(const Valid<KPrototypes>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  const AlikeRows alike = alike_rows(KPrototypes::name, rows, execution.part(0, 0.1));
  KPrototypesModel model;
  model.spec = *spec;
  model.spec.gamma = spec->gamma.value_or(usual_gamma(rows, alike));
  const ColumnLosses losses = losses_of(rows.width(), *model.spec.gamma, [&](Index j) { return rows.holds_codes(j); });
  const ColumnCenters found =
      column_centers({KPrototypes::name, spec->k, spec->restarts, spec->max_iterations, options.seed}, losses, alike,
                     execution.part(0.1, 0.9));
  model.tell(found, losses, alike, rows, execution);
  model.certificate = certificate_of(model, rows, alike, unheard(execution));
  tell_how_it_ended(model, found);
  return model;
}

Certificate certify(const KPrototypesModel& model, const Rows& rows, const Execution& execution) {
  return certificate_of(model, rows, alike_rows(KPrototypes::name, rows, execution.part(0, 0.3)),
                        execution.part(0.3, 1));
}

template const Method& method_of<KPrototypes>();

}  // namespace lemma
