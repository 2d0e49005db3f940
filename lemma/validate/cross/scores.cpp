// lemma/validate/cross/scores.cpp: from scores of resamples to scores of the method; .632 and .632+.
#include <algorithm>
#include <cmath>
#include <lemma/metric/classification.hpp>
#include <lemma/metric/regression.hpp>
#include <lemma/validate/cross/parts.hpp>
#include <lemma/validate/judge/parts.hpp>
#include <numeric>

namespace lemma {
namespace {

/// All answers in one, in the order of the resamples.
Answers stacked(const std::vector<FoldScore>& folds) {
  Answers out;
  Index rows = 0, columns = 0;
  for (const auto& each : folds) {
    rows += static_cast<Index>(each.rows.size());
    columns = std::max(columns, each.answers.probabilities.cols());
  }
  const auto join = [&](Vector Answers::*part) {
    Vector all(rows);
    Index at = 0;
    for (const auto& each : folds) {
      const Vector& some = each.answers.*part;
      if (some.size() > 0) all.segment(at, some.size()) = some;
      at += some.size();
    }
    if (at == rows) out.*part = std::move(all);
  };
  join(&Answers::value);
  join(&Answers::y);
  join(&Answers::weight);
  out.probabilities.resize(columns > 0 ? rows : 0, columns);
  Index at = 0;
  for (const auto& each : folds) {
    out.predicted.insert(out.predicted.end(), each.answers.predicted.begin(), each.answers.predicted.end());
    out.label.insert(out.label.end(), each.answers.label.begin(), each.answers.label.end());
    if (each.answers.probabilities.size() > 0)
      out.probabilities.middleRows(at, each.answers.probabilities.rows()) = each.answers.probabilities;
    at += static_cast<Index>(each.rows.size());
  }
  return out;
}

/// Of one judgement: its own interval.
std::vector<Score> scores_of(const std::vector<Measure>& measures) {
  std::vector<Score> out;
  for (const auto& m : measures)
    out.push_back({m.name, m.meaning, m.higher_is_better, m.value, std::nan(""), m.bounds, 1});
  return out;
}

bool corrected(const Plan& plan) {
  return plan.kind == PlanKind::folds || plan.kind == PlanKind::holdout || plan.kind == PlanKind::given;
}

/// What the measure can be: an interval ends there.
std::optional<Bounds> within_range(const std::string& name, std::optional<Bounds> bounds) {
  const auto is_one_of = [&](std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  const bool share = is_one_of({"accuracy", "error", "balanced_accuracy", "sensitivity", "specificity", "precision",
                                "f1", "auc", "macro_auc", "average_precision"}) ||
                     name.ends_with("_precision") || name.ends_with("_recall") || name.ends_with("_f1");
  const bool correlation = is_one_of({"matthews", "kappa", "pearson", "spearman", "kendall"});
  const bool size =
      is_one_of({"rmse", "mse", "mae", "median_absolute_error", "max_error", "mape", "log_loss", "brier"});
  if (!bounds) return bounds;
  if (share || size) bounds->lower = std::max(bounds->lower, 0.0);
  if (correlation) bounds->lower = std::max(bounds->lower, -1.0);
  if (share || correlation || is_one_of({"r_squared", "explained_variance"}))
    bounds->upper = std::min(bounds->upper, 1.0);
  return bounds;
}

/// The mean over the resamples of every measure.
std::vector<Score> averaged(const CrossResult& result, std::vector<Measure> FoldScore::*part) {
  const double ratio = test_over_train(result);
  std::vector<Score> out;
  for (const auto& first : result.folds)
    for (const auto& m : first.*part) {
      if (std::any_of(out.begin(), out.end(), [&](const Score& s) { return s.name == m.name; })) continue;
      Score score{m.name, m.meaning, m.higher_is_better, 0, std::nan(""), {}, 0};
      std::vector<double> values;
      for (const auto& fold : result.folds)
        if (const Measure* found = find_measure(fold.*part, m.name); found && !std::isnan(found->value))
          values.push_back(found->value);
      const auto count = static_cast<double>(values.size());
      score.resamples = static_cast<Index>(values.size());
      score.mean = values.empty() ? std::nan("") : std::accumulate(values.begin(), values.end(), 0.0) / count;
      double squares = 0;
      for (const double v : values) squares += (v - score.mean) * (v - score.mean);
      if (values.size() > 1) score.sd = std::sqrt(squares / (count - 1));
      if (corrected(result.plan)) score.bounds = within_range(m.name, corrected_bounds(values, ratio));
      out.push_back(std::move(score));
    }
  return out;
}

}  // namespace

void summarise(const Experiment& experiment, CrossResult& result) {
  result.apparent = averaged(result, &FoldScore::apparent);
  if (result.plan.kind == PlanKind::loo && result.plan.group.empty() && result.task != Task::clustering) {
    result.scores = scores_of(experiment.measure(stacked(result.folds)));
    return;
  }
  if (result.plan.kind == PlanKind::loo)
    for (auto& each : result.folds)
      if (each.measures.empty() && !each.rows.empty()) each.measures = experiment.measure(each.answers);
  if (result.folds.size() == 1) result.scores = scores_of(result.folds.front().measures);
  else result.scores = averaged(result, &FoldScore::measures);
}

void crossing::bound_pooled(const Experiment& experiment, const CrossOptions& options, CrossResult& result) {
  const bool pooled =
      result.plan.kind == PlanKind::loo ? result.plan.group.empty() : result.folds.size() == 1 && result.planned == 1;
  if (!pooled || result.task == Task::clustering) return;
  const Answers answers = stacked(result.folds);
  Judgement judged;
  judged.task = result.task;
  judged.rows = static_cast<Index>(std::max(answers.y.size(), static_cast<Index>(answers.label.size())));
  judging::measure_answers(experiment.design().classes(), answers, judged);
  JudgeOptions how;
  how.seed = options.seed;
  Execution quiet;
  quiet.threads = options.execution.threads;
  judging::add_bootstrap_bounds(answers, how, quiet, judged);
  result.scores = scores_of(judged.measures);
}

namespace crossing {
namespace {

/// An error that each row has by itself, and what it would be if the columns said nothing of the response.
struct RowErrors {
  std::string name;
  Vector of;
  double no_information = 0;
};

double mean_of(const Vector& values, const Vector& weights) {
  return weights.size() > 0 ? values.dot(weights) / weights.sum() : values.mean();
}

/// Mean of |y − v| over all pairs of responses and predictions.
double mean_absolute_pairs(const Vector& y, const Vector& v, const Vector& weights) {
  std::vector<Index> order(static_cast<std::size_t>(y.size()));
  std::iota(order.begin(), order.end(), Index{0});
  std::sort(order.begin(), order.end(), [&](Index a, Index b) { return y(a) < y(b); });
  const auto w = [&](Index i) { return weights.size() > 0 ? weights(i) : 1.0; };
  std::vector<double> sorted, mass{0}, moment{0};
  for (const Index i : order) {
    sorted.push_back(y(i));
    mass.push_back(mass.back() + w(i));
    moment.push_back(moment.back() + w(i) * y(i));
  }
  double sum = 0;
  for (Index j = 0; j < v.size(); ++j) {
    const auto below = static_cast<std::size_t>(std::lower_bound(sorted.begin(), sorted.end(), v(j)) - sorted.begin());
    sum += w(j) *
           (v(j) * mass[below] - moment[below] + (moment.back() - moment[below]) - v(j) * (mass.back() - mass[below]));
  }
  return sum / (mass.back() * mass.back());
}

std::vector<RowErrors> errors_of(Task task, const Answers& a, Index classes) {
  std::vector<RowErrors> out;
  const Vector& w = a.weight;
  if (task == Task::regression) {
    const Vector e = a.value - a.y;
    const double shift = mean_of(a.value, w) - mean_of(a.y, w);
    const Vector y = a.y.array() - mean_of(a.y, w), v = a.value.array() - mean_of(a.value, w);
    out.push_back({"mse", e.cwiseAbs2(), mean_of(y.cwiseAbs2(), w) + mean_of(v.cwiseAbs2(), w) + shift * shift});
    out.push_back({"mae", e.cwiseAbs(), mean_absolute_pairs(a.y, a.value, w)});
    return out;
  }
  const auto n = static_cast<Index>(a.label.size());
  Vector wrong(n), share = Vector::Zero(classes), said = Vector::Zero(classes);
  for (Index i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const double weight = w.size() > 0 ? w(i) : 1;
    wrong(i) = a.label[at] == a.predicted[at] ? 0 : 1;
    share(a.label[at]) += weight;
    said(a.predicted[at]) += weight;
  }
  share /= share.sum();
  said /= said.sum();
  out.push_back({"error", wrong, 1 - share.dot(said)});
  if (a.probabilities.size() == 0) return out;
  double log_loss = 0, brier = 0;  // of a response drawn without looking at the row
  for (Index k = 0; k < classes; ++k) {
    const Labels always(static_cast<std::size_t>(n), static_cast<int>(k));
    log_loss += share(k) * mean_of(log_losses(always, a.probabilities), w);
    brier += share(k) * mean_of(brier_scores(always, a.probabilities), w);
  }
  out.push_back({"log_loss", log_losses(a.label, a.probabilities), log_loss});
  out.push_back({"brier", brier_scores(a.label, a.probabilities), brier});
  return out;
}

}  // namespace

std::vector<BootstrapError> bootstrap_errors(const Experiment& experiment, const CrossResult& result,
                                             const CrossOptions& options) {
  const auto classes = static_cast<Index>(result.classes.size());
  std::vector<Index> all(static_cast<std::size_t>(result.rows));
  std::iota(all.begin(), all.end(), Index{0});
  FitOptions how;
  how.seed = options.seed;
  how.threads = options.execution.threads;
  how.progress = options.execution.progress;
  const auto apparent = errors_of(result.task, experiment.ask(experiment.fit(all, how), all).answers, classes);
  std::vector<Vector> sum(apparent.size(), Vector::Zero(result.rows));
  Vector times = Vector::Zero(result.rows);
  for (const auto& fold : result.folds) {
    if (fold.rows.empty()) continue;
    const auto errors = errors_of(result.task, fold.answers, classes);
    for (std::size_t i = 0; i < fold.rows.size(); ++i) {
      times(fold.rows[i]) += 1;
      for (std::size_t k = 0; k < sum.size(); ++k) sum[k](fold.rows[i]) += errors[k].of(static_cast<Index>(i));
    }
  }
  std::vector<BootstrapError> out;
  for (std::size_t k = 0; k < apparent.size(); ++k) {
    double total = 0, mass = 0;
    for (Index i = 0; i < result.rows; ++i) {
      if (times(i) == 0) continue;
      const double w = experiment.weights().size() > 0 ? experiment.weights()(i) : 1;
      total += w * sum[k](i) / times(i);
      mass += w;
    }
    BootstrapError e;
    e.name = apparent[k].name;
    e.apparent = mean_of(apparent[k].of, experiment.weights());
    e.out_of_bag = total / mass;
    e.no_information = apparent[k].no_information;
    e.e632 = 0.368 * e.apparent + 0.632 * e.out_of_bag;
    const double capped = std::min(e.out_of_bag, e.no_information);
    const bool overfits = capped > e.apparent && e.no_information > e.apparent;
    const double rate = overfits ? (capped - e.apparent) / (e.no_information - e.apparent) : 0;
    const double weight = 0.632 / (1 - 0.368 * rate);
    e.e632_plus = overfits ? (1 - weight) * e.apparent + weight * capped : e.e632;
    out.push_back(e);
  }
  return out;
}

}  // namespace crossing

}  // namespace lemma
