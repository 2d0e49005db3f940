// lemma/select/wrapper.cpp
#include <lemma/core/quietly.hpp>
#include <lemma/select/wrapper.hpp>

#include <algorithm>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/random.hpp>
#include <lemma/core/row_views.hpp>
#include <lemma/validate/judge.hpp>
#include <limits>
#include <numeric>

namespace lemma {
namespace {

/// The fold of each row: rows in random order, class after class, dealt one after the other.
std::vector<int> folds_of(const Rows& rows, int folds, std::uint64_t seed) {
  RandomStream random(seed, 0x5e1ec7);
  auto order = permutation(random, rows.count());
  std::vector<int> label(at(rows.count()));
  if (!rows.classes.empty()) {
    BlockBuffer buffer;
    for (Index first = 0, size = block_rows(rows); first < rows.count(); first += size) {
      const Block block = rows.outcome(first, std::min(size, rows.count() - first), buffer);
      std::copy(block.label.begin(), block.label.end(), label.begin() + first);
    }
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return label[at(a)] < label[at(b)]; });
  }
  std::vector<int> out(at(rows.count()));
  for (std::size_t i = 0; i < order.size(); ++i)
    out[at(order[i])] = static_cast<int>(i % static_cast<std::size_t>(folds));
  return out;
}

/// Sum of the losses over the rows of a fold, and their weight.
std::pair<double, double> loss_of(const AnySpec& method, const Rows& train, const Rows& test,
                                  const FitOptions& options) {
  FitOptions alone = options;
  alone.threads = 1;  // subsets share the threads
  Quietly quiet(options.progress);
  alone.progress = &quiet;
  const AnyModel model = method.fit(train, alone);
  if (quiet.cancelled()) throw Cancelled();  // it may have ended early
  JudgeOptions how;
  how.execution.threads = 1;
  const Judgement found = judge(model, test, how);
  const Measure* loss = find_measure(found.measures, found.task == Task::classification ? "error" : "mse");
  require(loss != nullptr,
          "the method predicts neither numbers nor classes, so subsets cannot be judged by its errors");
  const double weight = found.weight.value_or(static_cast<double>(found.rows));
  return {loss->value * weight, weight};
}

struct Parts {
  std::vector<Index> train, test;
};

SubsetScore score_over(const AnySpec& method, const Rows& rows, std::vector<Parts> parts, const FitOptions& options) {
  return [method, &rows, parts = std::move(parts), options](const std::vector<Index>& columns) {
    const SomeColumns some(rows, columns);
    double loss = 0, weight = 0;
    for (const auto& part : parts) {
      const auto [l, w] = loss_of(method, SelectedRows(some, part.train), SelectedRows(some, part.test), options);
      loss += l;
      weight += w;
    }
    return loss / weight;
  };
}

}  // namespace

SomeColumns::SomeColumns(const Rows& rows, std::vector<Index> columns)
    : Rows(rows), rows_(rows), columns_(std::move(columns)) {
  features.clear();
  std::vector<std::vector<std::string>> some;
  for (const Index j : columns_) {
    require(j >= 0 && j < rows.width(), "there is no such column");
    features.push_back(rows.features[at(j)]);
    if (!rows.levels.empty()) some.push_back(rows.levels[at(j)]);
  }
  levels = std::move(some);
}

Block SomeColumns::read(Index first, Index size, BlockBuffer& buffer) const {
  BlockBuffer below;
  const Block all = rows_.read(first, size, below);
  buffer.x = all.x(Eigen::all, columns_);
  buffer.clear_outcome();
  buffer.copy_outcome(all);
  return Block(buffer.x, first, buffer.outcome());
}

SubsetScore fold_score(const AnySpec& method, const Rows& rows, int folds, const FitOptions& options) {
  if (folds < 2 || folds > rows.count())
    throw Error(fmt::format("{} rows cannot be cut into {} folds; take from 2 to as many as there are rows",
                            rows.count(), folds));
  const auto fold = folds_of(rows, folds, options.seed);
  std::vector<Parts> parts(static_cast<std::size_t>(folds));
  for (std::size_t k = 0; k < parts.size(); ++k)
    for (Index i = 0; i < rows.count(); ++i)
      (fold[at(i)] == static_cast<int>(k) ? parts[k].test : parts[k].train).push_back(i);
  return score_over(method, rows, std::move(parts), options);
}

SubsetScore plan_score(const AnySpec& method, const Rows& rows, const Plan& plan, const FitOptions& options) {
  PlanRows all;
  all.count = rows.count();
  const Resampling resampling(plan, std::move(all), options.seed);
  std::vector<Parts> parts;
  for (Index i = 0; i < resampling.size(); ++i) {
    Resample each = resampling.at(i);
    if (!each.test.empty()) parts.push_back({std::move(each.train), std::move(each.test)});
  }
  require(!parts.empty(), "every row was drawn into every sample: there is none to judge by; use more samples");
  return score_over(method, rows, std::move(parts), options);
}

SubsetScore holdout_score(const AnySpec& method, const Rows& rows, double share, const FitOptions& options) {
  require(share > 0 && share < 1, "the share of rows held out must be above 0 and below 1");
  const int every = std::max(2, static_cast<int>(std::lround(1 / share)));
  require(rows.count() >= 2 * every, "there are too few rows to hold some out");
  const auto fold = folds_of(rows, every, options.seed);
  Parts part;
  for (Index i = 0; i < rows.count(); ++i) (fold[at(i)] == 0 ? part.test : part.train).push_back(i);
  return score_over(method, rows, {std::move(part)}, options);
}

namespace {

struct Candidate {
  std::vector<Index> columns;
  std::string move;
  double score = std::numeric_limits<double>::infinity();
};

/// Judges all of them, in parallel; the first of the best comes back.
const Candidate* best_of(std::vector<Candidate>& candidates, const SubsetScore& score, const Execution& execution) {
  parallel_for(static_cast<Index>(candidates.size()), execution,
               [&](Index i) { candidates[at(i)].score = score(candidates[at(i)].columns); });
  const auto best = std::min_element(candidates.begin(), candidates.end(),
                                     [](const Candidate& a, const Candidate& b) { return a.score < b.score; });
  return best == candidates.end() ? nullptr : &*best;
}

std::vector<Candidate> moves_from(const std::vector<Index>& now, const std::vector<std::string>& names, bool join,
                                  bool leave) {
  std::vector<Candidate> out;
  for (Index j = 0; j < static_cast<Index>(names.size()); ++j) {
    const bool there = std::binary_search(now.begin(), now.end(), j);
    if (there ? !leave || now.size() == 1 : !join) continue;
    Candidate candidate{now, (there ? "- " : "+ ") + names[at(j)]};
    if (there) std::erase(candidate.columns, j);
    else candidate.columns.insert(std::lower_bound(candidate.columns.begin(), candidate.columns.end(), j), j);
    out.push_back(std::move(candidate));
  }
  return out;
}

WrapperPath exhausted(const std::vector<std::string>& names, const SubsetScore& score, const Execution& execution) {
  const auto p = names.size();
  if (static_cast<Index>(p) > kMostExhausted)
    throw Error(fmt::format("all subsets of {} columns are too many to fit; {} columns are the most, or search forward",
                            p, kMostExhausted));
  std::vector<Candidate> all;
  for (std::size_t bits = 1; bits < (std::size_t{1} << p); ++bits) {
    Candidate candidate;
    for (std::size_t j = 0; j < p; ++j)
      if (bits >> j & 1U) candidate.columns.push_back(static_cast<Index>(j));
    all.push_back(std::move(candidate));
  }
  best_of(all, score, execution);
  WrapperPath out;
  out.fits = static_cast<long long>(all.size());
  for (std::size_t size = 1; size <= p; ++size) {
    const Candidate* best = nullptr;
    for (const auto& each : all)
      if (each.columns.size() == size && (!best || each.score < best->score)) best = &each;
    out.steps.push_back({best->columns, best->score, ""});
    if (best->score < out.steps[out.choice].score) out.choice = out.steps.size() - 1;
  }
  return out;
}

}  // namespace

WrapperPath search_subsets(const std::vector<std::string>& names, SubsetSearch search, const SubsetScore& score,
                           std::optional<Index> most, const Execution& execution) {
  require(!names.empty(), "there are no columns to choose from");
  if (search == SubsetSearch::best) return exhausted(names, score, execution);
  const bool backward = search == SubsetSearch::backward;
  WrapperPath out;
  std::vector<Candidate> first;
  if (backward) {
    first.push_back({std::vector<Index>(names.size()), ""});
    std::iota(first[0].columns.begin(), first[0].columns.end(), Index{0});
  } else {
    first = moves_from({}, names, true, false);
  }
  const Candidate* begin = best_of(first, score, execution);
  out.fits += static_cast<long long>(first.size());
  out.steps.push_back({begin->columns, begin->score, begin->move});
  try {
    while (true) {
      const auto now = out.steps.back();
      const auto size = static_cast<Index>(now.columns.size());
      if (most && (backward ? size <= *most : size >= *most && search == SubsetSearch::forward)) break;
      auto moves =
          moves_from(now.columns, names, !backward && (!most || size < *most), search != SubsetSearch::forward);
      const Candidate* best = best_of(moves, score, execution);
      out.fits += static_cast<long long>(moves.size());
      // With a number of columns to reach the way goes on; else it ends where no move is better.
      const bool goes_on = most && search != SubsetSearch::both;
      if (!best || (!goes_on && !(best->score < now.score))) break;
      out.steps.push_back({best->columns, best->score, best->move});
    }
  } catch (const Cancelled&) { out.cancelled = true; }
  for (std::size_t i = 1; i < out.steps.size(); ++i) {
    const auto &a = out.steps[i], &b = out.steps[out.choice];
    if (a.score < b.score || (a.score == b.score && a.columns.size() < b.columns.size())) out.choice = i;
  }
  if (most && search != SubsetSearch::both) out.choice = out.steps.size() - 1;
  return out;
}

}  // namespace lemma
