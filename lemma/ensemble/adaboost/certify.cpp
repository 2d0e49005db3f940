// lemma/ensemble/adaboost/certify.cpp: the rounds played again from the learners and the rows alone.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/ensemble/adaboost/rounds.hpp>
#include <lemma/model/look_again.hpp>

namespace lemma::ensemble {
namespace {

/// What is told against what is found, and the first of the worst by its name.
struct Differences {
  double worst = 0;
  std::string where;

  void see(double told, double found, const std::string& what, double unit = 1) {
    const double apart = std::abs(told - found) / unit;
    if (apart <= worst) return;  // NaN is worse than all
    worst = std::isnan(apart) ? std::numeric_limits<double>::infinity() : apart;
    where = what;
  }
};

/// The rows as the rounds leave them: not weights multiplied round by round, but for each row the votes for and against it.
class Replay {
 public:
  Replay(const AdaBoostModel& model, const TrainingRows& rows)
      : model_(model),
        rows_(rows),
        right_(Vector::Zero(rows.count())),
        votes_(Matrix::Zero(rows.count(), model.classes)) {}

  /// ∝ w exp(2 Σ_t β_t [G_t wrong]), with the sum of the rows.
  Vector weight() const {
    Vector out = Vector::Zero(rows_.count());
    double least = std::numeric_limits<double>::infinity();
    for (const Index i : rows_.counting) least = std::min(least, right_(i));
    for (const Index i : rows_.counting) out(i) = rows_.weight(i) * std::exp(-2 * (right_(i) - least));
    return out * (rows_.mass / out.sum());
  }
  void see(const Labels& said, double beta) {
    for (const Index i : rows_.counting) {
      votes_(i, said[at(i)]) += beta;
      if (said[at(i)] == rows_.label[at(i)]) right_(i) += beta;
    }
    all_ += beta;
  }
  double wrong(const Labels& said, const Vector& weight) const {
    double sum = 0;
    for (const Index i : rows_.counting) sum += said[at(i)] != rows_.label[at(i)] ? weight(i) : 0;
    return sum;
  }
  double training_error() const {
    double sum = 0;
    for (const Index i : rows_.counting) {
      const auto row = votes_.row(i);
      const int right = rows_.label[at(i)];
      bool beaten = false;
      for (Index k = 0; k < model_.classes; ++k)
        beaten = beaten || row(k) > row(right) || (k < right && row(k) == row(right));
      if (beaten) sum += rows_.weight(i);
    }
    return sum / rows_.mass;
  }
  double risk() const {
    double sum = 0;
    for (const Index i : rows_.counting)
      sum += rows_.weight(i) * std::exp(-2 * (right_(i) - all_ / static_cast<double>(model_.classes)));
    return sum / rows_.mass;
  }

 private:
  const AdaBoostModel& model_;
  const TrainingRows& rows_;
  Vector right_;  // of each row: votes for its class
  Matrix votes_;
  double all_ = 0;
};

std::string about_learner(const AdaBoostModel& model, const Teacher& teacher, Index t, const Vector& weight, bool look,
                          const Execution& execution) {
  const AnyModel& learner = model.models[at(t)];
  Certificate found = learner->certificate();
  if (look)
    teacher.with_rows(t, weight, [&](const Rows& rows) {
      found = look_again(learner, *model.spec.base, rows, execution.part(0, 0));
    });
  if (!found.fails()) return {};
  return fmt::format("the learner of round {} ({}) does not hold by itself: {}", t + 1, learner->method().name(),
                     found.message);
}

}  // namespace

Certificate certify_rounds(const AdaBoostModel& model, const Rows& source, bool look, const Execution& execution) {
  const TrainingRows rows(AdaBoost::name, source, execution);
  const Teacher teacher(model.spec, seed_of_text(AdaBoost::name, model.seed), rows, execution.part(0, 0));
  const bool alone = model.error(model.learners() - 1) == 0;
  Replay replay(model, rows);
  Differences apart;
  std::string failure;
  const auto round_of = [](const char* what, Index t) { return fmt::format("the {} of round {}", what, t + 1); };
  if (teacher.teaches_stumps() != (model.stumps.rows() > 0))
    failure = "its learners are not of the kind that base gives";
  for (Index t = 0; t < model.learners() && failure.empty(); ++t) {
    if (execution.cancelled()) throw Cancelled();
    const Vector weight = replay.weight();
    const Labels said = model.says(t, rows.x, execution.part(0, 0));
    const double wrong = replay.wrong(said, weight);
    apart.see(model.error(t), wrong / rows.mass, round_of("error", t));
    const bool last_alone = alone && t + 1 == model.learners();
    apart.see(model.beta(t),
              beta_of(model.error(t), model.classes, rows.mass) + (last_alone ? model.beta.head(t).sum() : 0),
              round_of("vote", t));
    if (model.stumps.rows() > 0) {
      const Stump stump = stump_at(model.stumps, t);
      const double least = teacher.columns().least_wrong(weight, execution.part(0, 0));
      apart.see(std::max(wrong - least, 0.0) / rows.mass, 0, round_of("stump", t));
      if (stump.splits) {
        const auto place = teacher.columns().place_of(stump, weight);
        apart.see(stump.threshold, place.middle, round_of("threshold", t), std::max(1e-300, std::abs(place.middle)));
        const double heavier = 2 * place.weight_below - rows.mass;
        if (std::abs(heavier) > 1e-9 * rows.mass)
          apart.see(stump.missing_below, heavier > 0, round_of("side of missing values", t));
      } else {
        apart.see(std::abs(stump.threshold) + static_cast<double>(stump.column), 0, round_of("threshold", t));
        apart.see(stump.missing_below, 1, round_of("side of missing values", t));
      }
    } else {
      failure = about_learner(model, teacher, t, weight, look, execution);
    }
    replay.see(said, model.beta(t));
    apart.see(model.training_error(t), replay.training_error(), round_of("training error", t));
    const double risk = replay.risk();
    apart.see(model.risk(t), risk, round_of("risk", t), std::max(risk, 1e-300));
    execution.report(static_cast<double>(t + 1) / static_cast<double>(model.learners()), "certificate");
  }
  if (failure.empty() && !alone && model.learners() < model.spec.rounds) {
    const Vector weight = replay.weight();
    const Learner next = teacher.fit(model.learners(), weight, execution.part(0, 0));
    const double err = replay.wrong(says(next, rows.x, execution.part(0, 0)), weight) / rows.mass;
    if (err < chance_of(model.classes))
      failure = fmt::format("it ended after {} of {} rounds, though the next learner errs on {:.3g} of the weight only",
                            model.learners(), model.spec.rounds, err);
  }
  Certificate out;
  out.strength = Strength::consistent;
  out.kind = "rounds played again";
  out.value = failure.empty() ? apart.worst : std::max(1.0, apart.worst);
  out.tolerance = 1e-8;
  out.iterations = model.learners();
  out.stopped = alone                                   ? "a learner without error"
                : model.learners() == model.spec.rounds ? "all rounds"
                                                        : "a learner no better than chance";
  if (!failure.empty()) out.message = "The rounds are not those of AdaBoost on these rows: " + failure + ".";
  else if (!out.holds())
    out.message =
        fmt::format("Played again, {} is off by {:.1e} (allowed {:.0e}).", apart.where, out.value, out.tolerance);
  else
    out.message = fmt::format(
        "Played again from the rows, weights, errors, votes and risk of all rounds are those told to within {:.1e} "
        "(allowed "
        "{:.0e}); {}.",
        out.value, out.tolerance,
        model.stumps.rows() > 0 ? "no stump errs less than that of any round"
                                : "each learner holds for the weights of its round");
  return out;
}

}  // namespace lemma::ensemble
