// lemma/validate/cross.cpp
#include <algorithm>
#include <atomic>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/hearing.hpp>
#include <lemma/core/random.hpp>
#include <lemma/core/text.hpp>
#include <lemma/math/distributions.hpp>
#include <lemma/validate/cross.hpp>
#include <lemma/validate/cross/parts.hpp>

namespace lemma {
namespace {

constexpr std::uint64_t kFitStream = 0x666974, kThinStream = 0x7468696e;

/// The fits of all resamples as one work: each tells how far it is, a cancel reaches every one.
class Shares {
 public:
  Shares(Index count, const Execution& execution) : execution_(execution), done_(static_cast<std::size_t>(count)) {}

  class One final : public Progress {
   public:
    One(Shares& all, Index i) : all_(all), i_(static_cast<std::size_t>(i)) {}
    void report(double fraction, std::string_view) override { all_.tell(i_, std::clamp(fraction, 0.0, 1.0)); }
    bool cancelled() const override { return all_.execution_.cancelled(); }

   private:
    Shares& all_;
    std::size_t i_;
  };
  bool cancelled() const { return execution_.cancelled(); }

 private:
  void tell(std::size_t i, double fraction) {
    const auto now = static_cast<int>(1000 * fraction);
    const int before = done_[i].exchange(now);
    const auto sum = total_ += now - before;
    execution_.report(static_cast<double>(sum) / (1000.0 * static_cast<double>(done_.size())),
                      execution_.message.empty() ? "resampling" : execution_.message);
  }
  const Execution& execution_;
  std::vector<std::atomic<int>> done_;  // thousandths of each
  std::atomic<std::int64_t> total_ = 0;
};

std::string place_of(const Plan& plan, const Resample& resample) {
  if (plan.kind == PlanKind::folds)
    return plan.repeats == 1 ? fmt::format("fold {}", resample.fold + 1)
                             : fmt::format("fold {} of repeat {}", resample.fold + 1, resample.repeat + 1);
  if (plan.kind == PlanKind::holdout) return fmt::format("holdout {}", resample.repeat + 1);
  if (plan.kind == PlanKind::loo)
    return plan.group.empty() ? fmt::format("without row {}", resample.fold + 1)
                              : fmt::format("without group {}", resample.fold + 1);
  const char* part = plan.kind == PlanKind::time ? "block" : plan.kind == PlanKind::given ? "fold" : "sample";
  return fmt::format("{} {}", part, resample.fold + 1);
}

bool has_truth(Task task) { return task == Task::regression || task == Task::classification; }

/// A part of the training rows, the same for every method and with the smaller ones in the larger.
void thin(Resample& resample, const CrossOptions& options, Index i) {
  RandomStream stream = RandomStream(options.seed, kThinStream).split(static_cast<std::uint64_t>(i));
  stream.shuffle(std::span(resample.train));
  const double wanted = options.train_share * static_cast<double>(resample.train.size());
  resample.train.resize(static_cast<std::size_t>(std::max(1.0, std::round(wanted))));
  std::sort(resample.train.begin(), resample.train.end());
}

/// Where the fit of resample i begins; nullptr: where the method itself does. Coefficients are those of the columns as they are, so
/// that they can begin nothing after another step.
Matrix* start_of(const Experiment& experiment, const CrossOptions& options, Index i) {
  const bool takes = experiment.spec().method().about().takes_start && experiment.learns_by_method_alone();
  return takes && options.starts ? &(*options.starts)[static_cast<std::size_t>(i)] : nullptr;
}

void keep_start(const Experiment::Learned& learned, Matrix* start) {
  if (!start) return;
  start->resize(0, 0);
  const auto map = learned.model->affine();
  if (!map || learned.design || !learned.model->certificate().holds()) return;  // what did not end may lie anywhere
  start->resize(map->a.rows(), map->a.cols() + 1);
  *start << map->b, map->a;
}

FoldScore one_fold(const Experiment& experiment, const Resampling& resampling, Index i, const CrossOptions& options,
                   Progress& progress) {
  Resample resample = resampling.at(i);
  if (options.train_share < 1) thin(resample, options, i);
  FoldScore out{i, resample.repeat, resample.fold, static_cast<Index>(resample.train.size()), {}, {}, {}, {}};
  if (resample.test.empty()) return out;  // every row was drawn
  try {
    FitOptions how;
    how.seed = fit_seed(options.seed, i);
    how.threads = options.execution.threads;
    how.progress = &progress;
    Matrix* start = start_of(experiment, options, i);
    if (start) how.start = *start;
    const auto learned = experiment.fit(resample.train, how);
    keep_start(learned, start);
    if (progress.cancelled()) throw Cancelled();  // what was given back is not what was asked for
    Execution asking;
    asking.threads = options.execution.threads;
    if (has_truth(experiment.task())) {
      auto asked = experiment.ask(learned, resample.test, asking);
      out.rows = std::move(asked.rows);
      out.answers = std::move(asked.answers);
      if (!out.rows.empty() && resampling.plan().kind != PlanKind::loo) out.measures = experiment.measure(out.answers);
      if (options.judge_training)
        out.apparent = experiment.measure(experiment.ask(learned, resample.train, asking).answers);
    } else {
      out.rows = resample.test;
      out.measures = experiment.measure_without_truth(learned, resample.test, asking);
    }
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", place_of(resampling.plan(), resample), error.what()));
  }
  progress.report(1, "");
  return out;
}

/// One row at a time is left out: its copies stay.
std::vector<Leak> leaks_of_rows(std::vector<std::uint64_t> hashes) {
  std::sort(hashes.begin(), hashes.end());
  Index equal = 0;
  for (std::size_t i = 0; i < hashes.size(); ++i)
    equal += (i > 0 && hashes[i] == hashes[i - 1]) || (i + 1 < hashes.size() && hashes[i] == hashes[i + 1]) ? 1 : 0;
  if (equal == 0) return {};
  return {{Leak::Kind::equal_rows,
           fmt::format("{} rows are equal to another one, response included: a copy that stays judges the one left out",
                       format_count(equal))}};
}

std::vector<Leak> leaks_of(const Experiment& experiment, const Resampling& resampling) {
  std::vector<Resample> some;  // one round: others are drawn alike
  const Plan& plan = resampling.plan();
  if (plan.kind == PlanKind::loo && plan.group.empty()) return leaks_of_rows(experiment.hashes());
  const Index round = plan.kind == PlanKind::folds ? plan.folds : std::min<Index>(resampling.size(), 20);
  for (Index i = 0; i < std::min(round, resampling.size()); ++i) some.push_back(resampling.at(i));
  const auto hashes = experiment.hashes();
  return leaks(some, resampling.rows(), hashes, resampling.size());
}

}  // namespace

std::uint64_t fit_seed(std::uint64_t seed, Index resample) {
  return RandomStream(seed, kFitStream).split(static_cast<std::uint64_t>(resample)).bits();
}

const Score* CrossResult::find(std::string_view measure) const {
  for (const auto& each : scores)
    if (each.name == measure) return &each;
  return nullptr;
}

CrossResult cross(const AnySpec& spec, const Formula& formula, const TableStream& data, const Plan& plan,
                  const CrossOptions& options) {
  const Experiment experiment(spec, formula, data, options.experiment);
  Plan settled = plan;
  PlanRows rows = experiment.rows_of(settled);
  CrossResult out = cross(experiment, Resampling(settled, std::move(rows), options.seed), options);
  crossing::bound_pooled(experiment, options, out);
  return out;
}

CrossResult cross(const Experiment& experiment, const Resampling& resampling, const CrossOptions& options) {
  CrossResult out;
  out.method = experiment.spec().text();
  out.formula = experiment.design().formula_text();
  out.data = experiment.data();
  out.plan = resampling.plan();
  out.seed = options.seed;
  out.task = experiment.task();
  out.rows = experiment.rows();
  out.classes = experiment.design().classes();
  out.kept = experiment.kept();
  out.planned = resampling.size();
  out.notes = experiment.notes();
  if (!has_truth(out.task) && out.task != Task::clustering)
    throw Error(fmt::format("{} predicts neither numbers nor classes nor clusters that could be judged",
                            experiment.spec().method().name()));
  if (options.look_for_leaks) out.leaks = leaks_of(experiment, resampling);
  if (options.closed_form && resampling.plan().kind == PlanKind::loo && resampling.plan().group.empty())
    if (auto left_out = crossing::left_out_in_closed_form(experiment, options)) {
      out.closed_form = true;
      out.folds.push_back(*std::move(left_out));
      summarise(experiment, out);
      return out;
    }
  std::vector<std::optional<FoldScore>> done(static_cast<std::size_t>(resampling.size()));
  if (options.starts) options.starts->resize(done.size());
  Shares shares(resampling.size(), options.execution);
  Execution silent;  // a cancel is not an exception here: the resamples that are done are kept
  silent.threads = options.execution.threads;
  parallel_for(resampling.size(), silent, [&](Index i) {
    if (shares.cancelled()) return;
    Shares::One progress(shares, i);
    try {
      done[static_cast<std::size_t>(i)] = one_fold(experiment, resampling, i, options, progress);
    } catch (const Cancelled&) {}
  });
  Index judged = 0;
  for (auto& each : done)
    if (each) {
      judged += static_cast<Index>(each->rows.size());
      out.folds.push_back(*std::move(each));
    }
  out.cancelled = static_cast<Index>(out.folds.size()) < out.planned;
  if (out.folds.empty()) throw Cancelled();
  require(judged > 0, "every row was drawn into every sample: there is none to judge by; use more samples");
  summarise(experiment, out);
  if ((out.plan.kind == PlanKind::e632 || out.plan.kind == PlanKind::e632_plus) && !out.cancelled)
    out.errors = crossing::bootstrap_errors(experiment, out, options);
  return out;
}

std::optional<Bounds> corrected_bounds(const std::vector<double>& scores, double ratio, double level) {
  const auto count = static_cast<double>(scores.size());
  if (count < 2) return {};
  double mean = 0, squares = 0;
  for (const double each : scores) mean += each / count;
  for (const double each : scores) squares += (each - mean) * (each - mean);
  const double variance = squares / (count - 1);
  const double half = t_upper_quantile((1 - level) / 2, count - 1) * std::sqrt((1 / count + ratio) * variance);
  if (!std::isfinite(half)) return {};
  return Bounds{mean - half, mean + half};
}

double test_over_train(const CrossResult& result) {
  double sum = 0;
  for (const auto& each : result.folds) sum += static_cast<double>(each.rows.size()) / static_cast<double>(each.train);
  return sum / static_cast<double>(result.folds.size());
}

}  // namespace lemma
