// lemma/ensemble/adaboost/rounds.cpp
#include <algorithm>
#include <cmath>
#include <lemma/core/finite.hpp>
#include <lemma/ensemble/adaboost/rounds.hpp>

namespace lemma::ensemble {

Stump stump_at(const Matrix& stumps, Index t) {
  return {static_cast<Index>(stumps(t, 0)), stumps(t, 1),      static_cast<int>(stumps(t, 2)),
          static_cast<int>(stumps(t, 3)),   stumps(t, 4) == 1, stumps(t, 2) != stumps(t, 3)};
}

double chance_of(Index classes) { return (1 - 1 / static_cast<double>(classes)) * (1 - 1e-10); }

double beta_of(double error, Index classes, double mass) {
  const double e = error > 0 ? error : std::min(0.25, 0.5 / mass);
  return 0.5 * (std::log((1 - e) / e) + std::log(static_cast<double>(classes - 1)));
}

Teacher::Teacher(const AdaBoost& chosen, std::uint64_t seed, const TrainingRows& rows, const Execution& execution)
    : spec_(chosen), seed_(seed), rows_(rows) {
  const bool thresholds = std::all_of(rows.rows.levels.begin(), rows.rows.levels.end(), [](const auto& levels) {
    return levels.size() <= 2;  // numbers, or two categories, which lie on either side of a threshold
  });
  if (is_stump(*chosen.base) && !*chosen.resample && thresholds && !rows.x.hasNaN()) {
    if (!all_finite(rows.x)) require_finite(rows.rows, execution);  // which names the column
    columns_.emplace(rows, execution);
  }
  if (*chosen.resample) order_ = own_order(rows);
}

void Teacher::with_rows(Index t, const Vector& weight, const std::function<void(const Rows&)>& visit) const {
  if (*spec_.resample) {
    const Urn urn(order_, weight);
    const auto drawn = urn.with_replacement(urn.copies(), RandomStream(seed_, 0).split(static_cast<std::uint64_t>(t)));
    return visit(ChosenRows(rows_, drawn));
  }
  std::vector<double> factors(at(rows_.count()), 1.0);
  for (const Index i : rows_.counting) factors[at(i)] = weight(i) / rows_.weight(i);
  visit(ReweightedRows(rows_.rows, std::move(factors)));
}

Learner Teacher::fit(Index t, const Vector& weight, const Execution& execution) const {
  Learner out;
  if (columns_) {
    out.stump = columns_->best(weight, execution);
    return out;
  }
  Quietly quiet(execution.progress);
  FitOptions options;
  options.seed = seed_inside(seed_, static_cast<std::uint64_t>(t));
  options.threads = execution.threads;
  options.progress = &quiet;
  with_rows(t, weight, [&](const Rows& rows) { out.model = spec_.base->fit(rows, options); });
  if (execution.cancelled()) throw Cancelled();
  require_fits(AdaBoost::name, *out.model, rows_.x.cols(), rows_.classes());
  return out;
}

Labels says(const Learner& learner, const MatrixView& x, const Execution& execution) {
  if (learner.model) return said(*learner.model, x, kClassPart.name, execution).label();
  Labels out(at(x.rows()));
  for (Index i = 0; i < x.rows(); ++i) out[at(i)] = learner.stump.of(x(i, learner.stump.column));
  return out;
}

Course::Course(const TrainingRows& rows)
    : rows_(rows), weight_(rows.weight), votes_(Matrix::Zero(rows.count(), rows.classes())) {}

double Course::error(const Labels& said) const {
  double wrong = 0;
  for (const Index i : rows_.counting)
    if (said[at(i)] != rows_.label[at(i)]) wrong += weight_(i);
  return wrong / rows_.mass;
}

void Course::take(const Labels& said, double error, double beta) {
  const double k = static_cast<double>(rows_.classes());
  risk_ *= (1 - error) * std::exp(-2 * beta * (1 - 1 / k)) + error * std::exp(2 * beta / k);
  const double factor = std::exp(2 * beta);
  for (const Index i : rows_.counting) {
    votes_(i, said[at(i)]) += beta;
    if (said[at(i)] != rows_.label[at(i)]) weight_(i) *= factor;
  }
  weight_ *= rows_.mass / weight_.sum();
}

double Course::training_error() const {
  double wrong = 0;
  for (const Index i : rows_.counting) {
    Index best;
    votes_.row(i).maxCoeff(&best);
    if (best != rows_.label[at(i)]) wrong += rows_.weight(i);
  }
  return wrong / rows_.mass;
}

}  // namespace lemma::ensemble
