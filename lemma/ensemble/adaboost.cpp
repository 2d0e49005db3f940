// lemma/ensemble/adaboost.cpp
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/ensemble/adaboost.hpp>
#include <lemma/ensemble/adaboost/rounds.hpp>
#include <limits>
#include <numeric>

namespace lemma {
namespace {

using namespace ensemble;

/// Every choice that was left open.
AdaBoost chosen(AdaBoost spec) {
  if (!spec.base) spec.base = stump();
  if (!spec.resample) spec.resample = !spec.base->method().about().takes_weights;
  return spec;
}

bool is_whole(double number, double below) { return number >= 0 && number < below && number == std::floor(number); }

/// Σ_t β_t [G_t(x) = k], a column for each class.
Matrix votes_of(const AdaBoostModel& model, const MatrixView& x) {
  require_width(model, x.cols());
  Matrix out = Matrix::Zero(x.rows(), model.classes);
  for (Index t = 0; t < model.learners(); ++t) {
    const Labels said = model.says(t, x);
    for (Index i = 0; i < x.rows(); ++i) out(i, said[at(i)]) += model.beta(t);
  }
  return out;
}

Index greatest(const Matrix& votes, Index row) {
  Index best;
  votes.row(row).maxCoeff(&best);
  return best;
}

}  // namespace

void AdaBoost::check() const {
  if (!base) return;
  const MethodAbout& inside = base->method().about();
  require(inside.uses_response && (inside.task == Task::classification || inside.either_response),
          fmt::format("adaboost: base is {}, which does not predict classes", base->text()));
  require(inside.takes_weights || resample.value_or(true),
          fmt::format("adaboost: {} takes no weights, so that its rows have to be drawn; leave out resample=false",
                      base->method().name()));
}

Needs AdaBoost::needs(Needs usual) const { return needs_inside(base ? *base : stump(), usual); }

void AdaBoostModel::check() const {
  require(spec.base && spec.resample, "adaboost: a parameter was not chosen");
  const Index n = learners();
  require(n >= 1 && n <= spec.rounds && classes >= 2 && features >= 1,
          "adaboost: there are no learners, or more than rounds");
  for (const Vector* each : {&beta, &error, &training_error, &risk})
    require(each->size() == n && each->allFinite() && each->minCoeff() >= 0,
            "adaboost: what is told of the rounds does not fit the learners");
  require(n == 1 || error.head(n - 1).minCoeff() > 0, "adaboost: there is a learner after one without error");
  require(error.maxCoeff() < 1 && training_error.maxCoeff() <= 1, "adaboost: an error is above 1");
  const auto k = static_cast<double>(classes);
  if (stumps.rows() > 0) {
    require(models.empty() && stumps.rows() == n && stumps.cols() == 5 && stumps.allFinite(),
            "adaboost: the stumps do not fit the rounds");
    for (Index t = 0; t < n; ++t)
      require(is_whole(stumps(t, 0), static_cast<double>(features)) && is_whole(stumps(t, 2), k) &&
                  is_whole(stumps(t, 3), k) && is_whole(stumps(t, 4), 2),
              "adaboost: a stump asks for a column or class that there is not");
  } else {
    require(static_cast<Index>(models.size()) == n, "adaboost: there is not one learner for each round");
    for (const AnyModel& each : models) require_fits(AdaBoost::name, each, features, classes);
  }
  seed_of_text(AdaBoost::name, seed);
}

Labels AdaBoostModel::says(Index t, const MatrixView& x, const Execution& execution) const {
  Learner learner;
  if (stumps.rows() > 0) learner.stump = stump_at(stumps, t);
  else learner.model = models[at(t)];
  return ensemble::says(learner, x, execution);
}

Labels AdaBoostModel::predict(const MatrixView& x) const {
  const Matrix votes = votes_of(*this, x);
  Labels out(at(x.rows()));
  for (Index i = 0; i < x.rows(); ++i) out[at(i)] = static_cast<int>(greatest(votes, i));
  return out;
}

Matrix AdaBoostModel::probabilities(const MatrixView& x) const {
  Matrix out = votes_of(*this, x);
  for (Index i = 0; i < out.rows(); ++i) {
    const double most = out.row(i).maxCoeff();
    double sum = 0;
    for (Index k = 0; k < classes; ++k) sum += out(i, k) = std::exp(2 * (out(i, k) - most));
    for (Index k = 0; k < classes; ++k) out(i, k) /= sum;
  }
  return out;
}

Matrix AdaBoostModel::decision(const MatrixView& x) const {
  const Matrix votes = votes_of(*this, x);
  return classes == 2 ? Matrix(votes.col(1) - votes.col(0)) : votes;
}

std::vector<NamedColumn> AdaBoostModel::diagnostics(const Block& block) const {
  const Matrix votes = votes_of(*this, block.x);
  const double all = beta.sum(), k = static_cast<double>(classes);
  Vector margin(block.rows()), factor(block.rows());
  for (Index i = 0; i < block.rows(); ++i) {
    const int right = block.label[at(i)];
    if (right < 0) {  // a class that the model never saw, or none
      margin(i) = factor(i) = std::numeric_limits<double>::quiet_NaN();
      continue;
    }
    double other = 0;
    for (Index c = 0; c < classes; ++c)
      if (c != right) other = std::max(other, votes(i, c));
    margin(i) = all > 0 ? (votes(i, right) - other) / all : 0;
    factor(i) = std::exp(-2 * (votes(i, right) - all / k));
  }
  return {{"margin", margin}, {"weight", factor}};
}

std::string AdaBoostModel::summary(const Names& names) const {
  constexpr Index kShown = 10;
  std::vector<std::string> round, learner;
  std::vector<double> err, vote, staged, loss;
  for (Index t = 0; t < learners(); ++t) {
    if (learners() > kShown && t == kShown / 2) t = learners() - kShown / 2;
    round.push_back(std::to_string(t + 1));
    if (stumps.rows() > 0) {
      const Stump each = stump_at(stumps, t);
      const auto& below = names.classes[at(each.below)];
      learner.push_back(each.splits
                            ? fmt::format("{} < {}: {}, else {}", names.features[at(each.column)],
                                          format_significant(each.threshold, 4), below, names.classes[at(each.above)])
                            : below);
    } else {
      learner.push_back(models[at(t)]->method().name());
    }
    err.push_back(error(t));
    vote.push_back(beta(t));
    staged.push_back(training_error(t));
    loss.push_back(risk(t));
  }
  return fmt::format("{} of {}\n\n{}", count_of(learners(), "round"), spec.base->text(),
                     TextTable()
                         .right("round", round)
                         .words("learner", learner)
                         .numbers("error", err)
                         .numbers("beta", vote)
                         .numbers("training error", staged)
                         .numbers("risk", loss)
                         .str());
}

AdaBoostModel fit(const Valid<AdaBoost>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  AdaBoostModel model;
  model.spec = chosen(*spec);
  model.seed = text_of_seed(options.seed);
  const TrainingRows data(AdaBoost::name, rows, execution);
  model.features = rows.width();
  model.classes = data.classes();
  const Teacher teacher(model.spec, options.seed, data, execution.part(0, 0.05, "sorting columns"));
  Course course(data);
  std::vector<double> beta, error, training_error, risk;
  std::vector<Stump> stumps;
  double refused = 0;
  for (Index t = 0; t < spec->rounds; ++t) {
    Learner learner;
    Labels said;
    try {
      if (execution.cancelled()) throw Cancelled();
      learner = teacher.fit(t, course.weight(), execution.part(0, 0));
      said = says(learner, data.x, execution.part(0, 0));
    } catch (const Cancelled&) {
      if (beta.empty()) throw;
      model.spec.rounds = static_cast<int>(t);
      break;
    }
    const double err = course.error(said);
    if (err >= chance_of(model.classes)) {
      refused = err;
      break;
    }
    double vote = beta_of(err, model.classes, data.mass);
    if (err == 0) vote += std::accumulate(beta.begin(), beta.end(), 0.0);  // more than all others together
    course.take(said, err, vote);
    beta.push_back(vote);
    error.push_back(err);
    training_error.push_back(course.training_error());
    risk.push_back(course.risk());
    if (learner.model) model.models.push_back(*learner.model);
    else stumps.push_back(learner.stump);
    execution.report(0.05 + 0.85 * static_cast<double>(t + 1) / spec->rounds, "boosting");
    if (err == 0) break;
  }
  require(!beta.empty(),
          fmt::format("adaboost: the first learner, {}, is wrong about {:.3g} of the weight, no better than chance; "
                      "another base may do better",
                      model.spec.base->text(), refused));
  const auto as_vector = [](const std::vector<double>& v) {
    return Vector(Eigen::Map<const Vector>(v.data(), std::ssize(v)));
  };
  model.beta = as_vector(beta);
  model.error = as_vector(error);
  model.training_error = as_vector(training_error);
  model.risk = as_vector(risk);
  model.stumps.resize(std::ssize(stumps), 5);
  for (Index t = 0; t < std::ssize(stumps); ++t) {
    const Stump& each = stumps[at(t)];
    model.stumps.row(t) << static_cast<double>(each.column), each.threshold, each.below, each.above, each.missing_below;
  }
  if (model.spec.rounds < spec->rounds) model.certificate = cut_short(model.spec.rounds, spec->rounds, "rounds");
  else model.certificate = certify_rounds(model, rows, false, execution.part(0.9, 1, "certificate"));
  return model;
}

Certificate certify(const AdaBoostModel& model, const Rows& rows, const Execution& execution) {
  return certify_rounds(model, rows, true, execution);
}

template const Method& method_of<AdaBoost>();

}  // namespace lemma
