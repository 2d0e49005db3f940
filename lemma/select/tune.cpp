// lemma/select/tune.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/quietly.hpp>
#include <lemma/core/text.hpp>
#include <lemma/select/tune.hpp>
#include <lemma/select/tune/parts.hpp>

namespace lemma {
namespace {

constexpr std::uint64_t kSearchStream = 0x74756e65;

std::vector<std::string> usual_metrics(Task task) {
  if (task == Task::classification) return {"accuracy"};
  return {task == Task::regression ? "rmse" : "silhouette"};
}

}  // namespace

namespace tuning {

Searcher::Searcher(const AnySpec& spec, const SearchSpace& space, const Formula& formula, const TableStream& data,
                   const Plan& plan, const TuneOptions& options)
    : space_(space), formula_(formula), data_(data), plan_(plan), options_(options) {
  const Experiment first(spec, formula, data, options.cross.experiment);
  result.data = first.data();
  result.formula = first.design().formula_text();
  result.rows = first.rows();
  result.notes = first.notes();
  result.search = options.search;
  result.one_se = options.one_se;
  result.metrics = options.metrics.empty() ? usual_metrics(first.task()) : options.metrics;
  plan_rows_ = first.rows_of(plan_);
  result.plan = plan_;
}

void Searcher::look_back_from(const Place& place) {
  bool near = last_.size() == place.size();
  for (std::size_t j = 0; near && j < place.size(); ++j) {
    const SearchAxis& axis = space_.axes()[j];
    const auto of_numbers = [&](double at) { return axis.at(at).is_number() || axis.at(at).is_array(); };
    near = last_[j] == place[j] || (of_numbers(last_[j]) && of_numbers(place[j]));
  }
  if (!near) starts_.clear();
  last_ = place;
}

bool Searcher::add(const Place& place, double share, double from, double to) {
  const AnySpec spec = space_.spec(place);
  CrossOptions how = options_.cross;
  how.train_share = share;
  look_back_from(place);
  how.starts = &starts_;
  how.look_for_leaks = options_.cross.look_for_leaks && result.tries.empty();
  how.execution = options_.cross.execution.part(from, to, "tuning");
  try {
    const Experiment experiment(spec, formula_, data_, how.experiment);
    require(experiment.rows() == plan_rows_.count, "other parameters take other rows: set --missing");
    CrossResult found = cross(experiment, Resampling(plan_, plan_rows_, how.seed), how);
    if (found.cancelled) throw Cancelled();
    if (result.tries.empty()) result.leaks = found.leaks;
    result.tries.push_back({place, space_.params(place), space_.text(place), share, std::move(found.scores)});
  } catch (const Cancelled&) {
    result.cancelled = true;
    if (result.tries.empty()) throw;
    return false;
  } catch (const Error& error) { throw Error(fmt::format("{}: {}", space_.text(place), error.what())); }
  return true;
}

double Searcher::merit(std::size_t i) const {
  const auto& scores = result.tries[i].scores;
  for (const auto& metric : result.metrics)
    if (std::none_of(scores.begin(), scores.end(), [&](const Score& s) { return s.name == metric; })) {
      std::vector<std::string> names;
      for (const auto& each : scores) names.push_back(each.name);
      throw Error(fmt::format("there is no measure '{}' here{}; there are {}", metric, did_you_mean(metric, names),
                              join_words(names, 30)));
    }
  const auto found =
      std::find_if(scores.begin(), scores.end(), [&](const Score& s) { return s.name == result.metrics[0]; });
  return (found->higher_is_better ? 1 : -1) * found->mean;
}

std::size_t Searcher::best_of(double share) const {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < result.tries.size(); ++i)
    if (result.tries[i].share == share && !std::isnan(merit(i)) && (!best || merit(i) > merit(*best))) best = i;
  if (!best) throw Error(fmt::format("{} is not defined for any of the tries", result.metrics[0]));
  return *best;
}

void Searcher::by_grid() {
  const auto places = space_.grid();
  for (std::size_t i = 0; i < places.size(); ++i)
    if (!add(places[i], 1, part(i, places.size()), part(i + 1, places.size()))) return;
}

void Searcher::at_random() {
  for (int i = 0; i < options_.tries; ++i) {
    RandomStream stream = RandomStream(options_.cross.seed, kSearchStream).split(static_cast<std::uint64_t>(i));
    if (!add(space_.draw(stream), 1, part(i, options_.tries), part(i + 1, options_.tries))) return;
  }
}

/// Rungs: the shares of rows 3⁻ˢ, …, 1/3, 1; of each rung's tries the better third goes on.
void Searcher::by_halving() {
  int rungs = 1;
  for (int n = options_.tries; n >= 3; n /= 3) ++rungs;
  std::vector<Place> places;
  for (int i = 0; i < options_.tries; ++i) {
    RandomStream stream = RandomStream(options_.cross.seed, kSearchStream).split(static_cast<std::uint64_t>(i));
    places.push_back(space_.draw(stream));
  }
  for (int rung = 0; rung < rungs; ++rung) {
    const double share = rung + 1 == rungs ? 1 : std::pow(3.0, rung + 1 - rungs);
    const std::size_t first = result.tries.size();
    for (std::size_t i = 0; i < places.size(); ++i) {
      const double from = (rung + part(i, places.size())) / rungs, to = (rung + part(i + 1, places.size())) / rungs;
      if (!add(places[i], share, from, to)) return;
    }
    std::vector<std::size_t> order;
    for (std::size_t i = first; i < result.tries.size(); ++i) order.push_back(i);
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) {
      const double x = merit(a), y = merit(b);
      return std::isnan(y) ? !std::isnan(x) : x > y;
    });
    places.clear();
    for (std::size_t i = 0; i < std::max<std::size_t>(1, order.size() / 3); ++i)
      places.push_back(result.tries[order[i]].place);
  }
}

/// Where the improvement on the best so far that a Gaussian process expects is greatest, among places drawn at random and
/// places near the best ones.
Place Searcher::most_promising(int step) const {
  const auto n = static_cast<Index>(result.tries.size());
  const Index width = space_.coordinates(result.tries[0].place).size();
  Matrix x(n, width);
  std::vector<double> y(static_cast<std::size_t>(n));
  double mean = 0, size = 0, best = -1e300, worst = 1e300;
  for (Index i = 0; i < n; ++i)
    if (const double m = merit(static_cast<std::size_t>(i)); !std::isnan(m)) worst = std::min(worst, m);
  for (Index i = 0; i < n; ++i) {
    x.row(i) = space_.coordinates(result.tries[static_cast<std::size_t>(i)].place);
    const double m = merit(static_cast<std::size_t>(i));
    y[static_cast<std::size_t>(i)] = std::isnan(m) ? worst : m;
    mean += y[static_cast<std::size_t>(i)] / static_cast<double>(n);
  }
  for (const double each : y) size = std::max(size, std::abs(each - mean));
  for (double& each : y) {
    each = size > 0 ? (each - mean) / size : 0;
    best = std::max(best, each);
  }
  RandomStream stream =
      RandomStream(options_.cross.seed, kSearchStream).split(1'000'000 + static_cast<std::uint64_t>(step));
  constexpr int kDrawn = 400, kNear = 100;
  std::vector<Place> places;
  const Place& top = result.tries[best_of(1)].place;
  for (int i = 0; i < kDrawn + kNear; ++i) {
    places.push_back(space_.draw(stream));
    if (i < kDrawn) continue;
    for (std::size_t j = 0; j < top.size(); ++j)
      if (space_.axes()[j].is_range()) places.back()[j] = std::clamp(top[j] + 0.08 * stream.normal(), 0.0, 1.0);
      else if (stream.uniform() < 0.7) places.back()[j] = top[j];
  }
  if (size == 0) return places.front();  // all scores are equal: nothing is known
  Value params = Value::object();
  params.set("restarts", 0);
  MemoryRows rows(x);
  rows.response(y);
  FitOptions how;
  how.seed = options_.cross.seed;
  how.threads = options_.cross.execution.threads;
  const AnyModel model = find_method("gp", catalog()).fit(params, rows, how);
  Matrix z(static_cast<Index>(places.size()), width);
  for (std::size_t i = 0; i < places.size(); ++i) z.row(static_cast<Index>(i)) = space_.coordinates(places[i]);
  PredictOptions spread;
  spread.deviations = true;
  const Prediction said = model.predict(z, spread);
  const Matrix& deviations = said.matrix(kDeviationsPart.name);
  return places[most_expected(said.value(), deviations.col(0), best)];
}

void Searcher::by_gp() {
  const int first = std::min(options_.tries, std::max(5, 2 * static_cast<int>(space_.axes().size()) + 1));
  for (int i = 0; i < options_.tries; ++i) {
    RandomStream stream = RandomStream(options_.cross.seed, kSearchStream).split(static_cast<std::uint64_t>(i));
    const Place place = i < first ? space_.draw(stream) : most_promising(i);
    if (!add(place, 1, part(i, options_.tries), part(i + 1, options_.tries))) return;
  }
}

void Searcher::choose() {
  const double full = std::any_of(result.tries.begin(), result.tries.end(), [](const Try& t) { return t.share == 1; })
                          ? 1
                          : result.tries.back().share;
  result.best = result.taken = best_of(full);
  const auto& scores = result.tries[result.best].scores;
  const Score& top =
      *std::find_if(scores.begin(), scores.end(), [&](const Score& s) { return s.name == result.metrics[0]; });
  result.higher_is_better = top.higher_is_better;
  if (options_.one_se && top.resamples > 1) {
    const double allowed = top.sd / std::sqrt(static_cast<double>(top.resamples));
    for (std::size_t i = 0; i <= result.best; ++i)
      if (merit(i) >= merit(result.best) - allowed) {
        result.taken = i;
        break;
      }
  }
  result.chosen = space_.spec(result.tries[result.taken].place);
  result.method = result.chosen.completed().text();
}

}  // namespace tuning

namespace {

TuneResult searched(const AnySpec& spec, const SearchSpace& space, const Formula& formula, const TableStream& data,
                    const Plan& plan, const TuneOptions& options) {
  tuning::Searcher search(spec, space, formula, data, plan, options);
  switch (options.search) {
    case Search::grid: search.by_grid(); break;
    case Search::random: search.at_random(); break;
    case Search::halving: search.by_halving(); break;
    case Search::gp: search.by_gp(); break;
  }
  search.choose();
  return std::move(search.result);
}

/// The whole search anew in each training set of the outer plan, and what it chose judged on rows it has not seen.
void judge_honestly(const AnySpec& spec, const SearchSpace& space, const Formula& formula, const Plan& inner,
                    const TuneOptions& options, const Table& table, TuneResult& out) {
  const MemoryTableStream all(table);
  const Experiment whole(spec, formula, all, options.cross.experiment);
  Plan plan = *options.outer;
  PlanRows rows = whole.rows_of(plan);
  const Resampling outer(plan, std::move(rows), options.cross.seed + 1);
  CrossResult honest;
  honest.plan = plan;
  honest.task = whole.task();
  honest.rows = whole.rows();
  honest.classes = whole.design().classes();
  honest.planned = outer.size();
  for (Index i = 0; i < outer.size(); ++i) {
    const Resample resample = outer.at(i);
    std::vector<Index> of_table;
    for (const Index row : resample.train) of_table.push_back(whole.kept().row(row));
    const Table part = table.select(of_table);
    TuneOptions inside = options;
    inside.outer.reset();
    inside.cross.look_for_leaks = false;
    const double step = 1.0 / static_cast<double>(outer.size());
    inside.cross.execution =
        options.cross.execution.part(static_cast<double>(i) * step, static_cast<double>(i + 1) * step);
    inside.cross.seed = fit_seed(options.cross.seed + 1, i);
    TuneResult found;
    try {
      found = searched(spec, space, formula, MemoryTableStream(part), inner, inside);
    } catch (const Cancelled&) { found.cancelled = true; }
    if (found.cancelled) break;
    const Experiment chosen(found.chosen, formula, all, options.cross.experiment);
    FitOptions how;
    how.seed = inside.cross.seed;
    how.threads = options.cross.execution.threads;
    Quietly quiet(options.cross.execution.progress);
    how.progress = &quiet;
    FoldScore fold{i, resample.repeat, resample.fold, static_cast<Index>(resample.train.size()), {}, {}, {}};
    Experiment::Asked asked;
    try {
      const auto learned = chosen.fit(resample.train, how);
      if (quiet.cancelled()) break;  // it may have ended early
      asked = chosen.ask(learned, resample.test);
    } catch (const Cancelled&) { break; }
    fold.rows = std::move(asked.rows);
    fold.answers = std::move(asked.answers);
    fold.measures = chosen.measure(fold.answers);
    honest.folds.push_back(std::move(fold));
    out.choices.push_back(found.tries[found.taken].text);
  }
  honest.cancelled = static_cast<Index>(honest.folds.size()) < outer.size();
  out.cancelled = out.cancelled || honest.cancelled;
  if (honest.folds.empty()) return;
  summarise(whole, honest);
  out.honest = std::move(honest);
}

}  // namespace

const Score& TuneResult::score(std::size_t i) const {
  const auto& scores = tries.at(i).scores;
  return *std::find_if(scores.begin(), scores.end(), [&](const Score& s) { return s.name == metrics[0]; });
}

TuneResult tune(const AnySpec& spec, const std::vector<std::string>& texts, const Formula& formula,
                const TableStream& data, const Plan& plan, const TuneOptions& options) {
  const SearchSpace space(spec, texts);
  if (options.one_se && options.search != Search::grid)
    throw Error("one standard error needs a grid: the order of its values says which are simpler");
  if (options.search == Search::halving && options.tries < 3)
    throw Error("halving needs at least 3 tries: a third of them goes on");
  require(options.tries >= 1, "there must be at least one try");
  TuneOptions first = options;
  if (options.outer) first.cross.execution = options.cross.execution.part(0, 0.3);
  TuneResult out = searched(space.spec(Place(space.axes().size(), 0.5)), space, formula, data, plan, first);
  if (!options.outer || out.cancelled) return out;
  TuneOptions rest = options;
  rest.cross.execution = options.cross.execution.part(0.3, 1);
  const Table table = data.table() ? *data.table() : read_all(data);
  judge_honestly(spec, space, formula, plan, rest, table, out);
  return out;
}

}  // namespace lemma
