// lemma/validate/experiment.cpp
#include <algorithm>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/hearing.hpp>
#include <lemma/core/row_views.hpp>
#include <lemma/data/matrix_stream.hpp>
#include <lemma/data/rows_for.hpp>
#include <lemma/data/sparse_rows.hpp>
#include <lemma/data/split.hpp>
#include <lemma/model/fit.hpp>
#include <lemma/model/row_hash.hpp>
#include <lemma/validate/experiment.hpp>
#include <lemma/validate/judge/parts.hpp>
#include <mutex>

namespace lemma {
namespace {

/// Some of the rows, gathered once: methods pass over them many times.
class GatheredRows final : public Rows {
 public:
  GatheredRows(const Rows& all, const std::vector<Index>& which) : Rows(all), count_(static_cast<Index>(which.size())) {
    const SelectedRows selected(all, which);
    const Block block = selected.read(0, count_, buffer_);
    if (block.x.data() != buffer_.x.data()) buffer_.x = block.x;
    view_.emplace(buffer_.x);
  }
  Index count() const override { return count_; }
  Block read(Index first, Index size, BlockBuffer&) const override {
    const auto from = static_cast<std::size_t>(first), n = static_cast<std::size_t>(size);
    const auto part = [&](const auto& all, std::size_t each = 1) {
      return std::span(all).subspan(all.empty() ? 0 : from * each, all.empty() ? 0 : n * each);
    };
    RowOutcome outcome;
    outcome.y = part(buffer_.y);
    outcome.label = part(buffer_.label);
    outcome.responses = part(buffer_.responses, responses.size());
    outcome.weight = part(buffer_.weight);
    outcome.precision = part(buffer_.precision);
    outcome.offset = part(buffer_.offset);
    return {view_->middleRows(first, size), first, outcome};
  }
  const MatrixView* matrix() const override { return &*view_; }

 private:
  Index count_;
  BlockBuffer buffer_;
  std::optional<MatrixView> view_;
};

bool fills_in(Missing policy) {
  return policy == Missing::mean || policy == Missing::median || policy == Missing::mode;
}

Task task_of(const MethodAbout& about, const Rows& rows) {
  if (!about.either_response) return about.task;
  return rows.classes.empty() ? Task::regression : Task::classification;
}

}  // namespace

Experiment::Experiment(const AnySpec& spec, const Formula& formula, const TableStream& data,
                       const ExperimentOptions& options)
    : spec_(spec.completed()), formula_(formula), options_(options), source_(data.schema().source()) {
  const Method& method = spec_.method();
  how_ = detail::design_options(method.needs(spec_.params()), formula, options.design);
  RowsUse use = detail::training_use({});
  use.reader = method.name();
  use.sparse = method.about().takes_sparse;
  RowsOfData given;
  if (data.sparse() && use.sparse) {
    if (auto plain = plain_design(formula, *data.sparse(), how_)) {
      design_ = *std::move(plain);
      plain_ = true;
      given = rows_for(design_, data, use, {}, options.execution);
    }
  }
  if (!given.rows) {
    table_ = data.table()    ? std::make_shared<const Table>(*data.table())
             : data.sparse() ? std::make_shared<const Table>(to_table(*data.sparse()))
                             : std::make_shared<const Table>(read_all(data, options.execution));
    design_ = Design(formula, *table_, how_);
    given = rows_for(design_, MemoryTableStream(*table_), use, {}, options.execution);
    plain_ = takes_columns_as_they_are(design_) && !fills_in(design_.missing());
    if (!given.kept.all())
      table_ = std::make_shared<const Table>(table_->select(given.kept.rows(0, given.kept.count())));
    saved_ = design_.save();
  }
  rows_ = std::move(given.rows);
  kept_ = given.kept;
  notes_ = given.notes;
  check_kind_of_rows(method.name(), method.about(), *rows_);
  if (!rows_->responses.empty())
    throw Error(fmt::format("{} are several responses, and methods are judged by one", design_.target()));
  task_ = task_of(method.about(), *rows_);
  for_each_block(*rows_, options.execution, [&, door = std::make_shared<std::mutex>()](const Block& block) {
    const std::lock_guard lock(*door);
    const auto put = [&](auto& into, const auto& from) {
      if (from.empty()) return;
      if (into.size() == 0) into.resize(static_cast<std::size_t>(rows_->count()));
      std::copy(from.begin(), from.end(), into.data() + block.first);
    };
    put(y_, block.y);
    put(labels_, block.label);
    put(weights_, block.weight);
  });
}

PlanRows Experiment::rows_of(Plan& plan) const {
  PlanRows out;
  out.count = rows();
  const auto column = [&](const std::string& name) -> const Column& {
    if (!table_) throw Error(fmt::format("a sparse file has no column '{}' that rows could be set apart by", name));
    return table_->column(name);
  };
  if (!plan.group.empty()) out.groups = groups_of(column(plan.group));
  if (!plan.fold.empty()) out.folds = groups_of(column(plan.fold));
  if (!plan.time.empty()) out.time = times_of(column(plan.time));
  const bool divides = plan.kind == PlanKind::folds || plan.kind == PlanKind::holdout;
  if (!plan.stratify)
    plan.stratify = divides && plan.group.empty() && plan.time.empty() && task_ == Task::classification;
  if (!*plan.stratify || !divides) return out;
  if (!labels_.empty()) out.strata.assign(labels_.begin(), labels_.end());
  else if (y_.size() > 0) out.strata = strata_of(numeric("response", {y_.data(), y_.data() + y_.size()}));
  else throw Error("there is no response to stratify by");
  return out;
}

std::vector<std::uint64_t> Experiment::hashes() const {
  RowHashes out;  // ascending only once they are sorted: here they stay in the order of the rows
  const RowKey key = key_of(*rows_, true);
  BlockBuffer buffer;
  const Index size = block_rows(*rows_);
  for (Index first = 0; first < rows(); first += size) {
    const Block block = rows_->read(first, std::min(size, rows() - first), buffer);
    hash_rows(block, 0, block.rows(), *rows_, key, out);
  }
  return out.ascending;
}

bool Experiment::design_is_shared(const std::vector<Index>& train) const {
  if (!plain_) return false;
  if (labels_.empty()) return true;
  std::vector<bool> seen(design_.classes().size());
  for (const Index i : train) seen[static_cast<std::size_t>(labels_[static_cast<std::size_t>(i)])] = true;
  const bool all = std::all_of(seen.begin(), seen.end(), [](bool each) { return each; });
  if (!all && !table_) throw Error("a class has no training row; use fewer folds, or --stratify");
  return all;
}

bool Experiment::learns_by_method_alone() const { return plain_ && !dynamic_cast<const Pipeline*>(&spec_.method()); }

std::unique_ptr<Rows> Experiment::some(const std::vector<Index>& which) const {
  if (rows_->sparse()) return std::make_unique<SelectedRows>(*rows_, which);
  return std::make_unique<GatheredRows>(*rows_, which);
}

Experiment::Learned Experiment::fit(const std::vector<Index>& train, const FitOptions& options) const {
  const Execution execution = options.execution();
  const Hearing hearing(execution);
  if (design_is_shared(train)) return {learn(design_, *some(train), options), {}};
  const Table part = table_->select(train);
  Design own(formula_, part, how_);
  if (own.save() == saved_) return {learn(design_, *some(train), options), {}};
  RowsUse use = detail::training_use({});
  use.reader = spec_.method().name();
  const MemoryTableStream stream(part);
  const RowsOfData given = rows_for(own, stream, use, {}, execution);
  AnyModel model = learn(own, *given.rows, options);
  return {std::move(model), std::move(own)};
}

AnyModel Experiment::learn(const Design& design, const Rows& rows, const FitOptions& options) const {
  Value params = spec_.params();
  pass_intercept(spec_.method(), design, params);
  return spec_.method().fit(params, rows, options);
}

Experiment::Learned Experiment::fit_drawn(const std::vector<Index>& train, const FitOptions& options) const {
  const MethodAbout& about = spec_.method().about();
  const bool by_copies = about.takes_weights && !about.random && !about.keeps_rows && learns_by_method_alone();
  if (!by_copies || rows_->sparse() || !design_is_shared(train)) return fit(train, options);
  Vector drawn = Vector::Zero(rows());
  for (const Index i : train) drawn(i) += 1;
  std::vector<Index> once;
  std::vector<double> copies;
  for (Index i = 0; i < rows(); ++i)
    if (drawn(i) > 0) {
      once.push_back(i);
      copies.push_back(drawn(i));
    }
  const Execution execution = options.execution();
  const Hearing hearing(execution);
  const auto distinct = some(once);
  return {learn(design_, ReweightedRows(*distinct, copies), options), {}};
}

Answers Experiment::truth_of(const std::vector<Index>& which) const {
  Answers out;
  const auto n = static_cast<Index>(which.size());
  if (y_.size() > 0) out.y.resize(n);
  if (weights_.size() > 0) out.weight.resize(n);
  for (Index i = 0; i < n; ++i) {
    const Index row = which[static_cast<std::size_t>(i)];
    if (y_.size() > 0) out.y(i) = y_(row);
    if (weights_.size() > 0) out.weight(i) = weights_(row);
    if (!labels_.empty()) out.label.push_back(labels_[static_cast<std::size_t>(row)]);
  }
  return out;
}

namespace {

/// Classes of a design by their numbers in another one.
void rename_classes(const std::vector<std::string>& from, const std::vector<std::string>& to, Answers& answers) {
  std::vector<int> place;
  for (const auto& name : from) place.push_back(static_cast<int>(std::find(to.begin(), to.end(), name) - to.begin()));
  for (int& label : answers.predicted) label = place[static_cast<std::size_t>(label)];
  if (answers.probabilities.size() == 0) return;
  Matrix all = Matrix::Zero(answers.probabilities.rows(), static_cast<Index>(to.size()));
  for (std::size_t k = 0; k < place.size(); ++k) all.col(place[k]) = answers.probabilities.col(static_cast<Index>(k));
  answers.probabilities = std::move(all);
}

}  // namespace

Experiment::Asked Experiment::ask(const Learned& learned, const std::vector<Index>& test,
                                  const Execution& execution) const {
  Asked out{test, {}};
  if (!learned.design) {
    out.answers = judging::ask_model(learned.model, *some(test), {}, execution);
  } else {
    const MemoryTableStream stream(std::make_shared<const Table>(table_->select(test)));
    RowsUse use;
    use.use = spec_.method().about().uses_response ? Use::judging : Use::prediction;
    if (options_.leave_out_unseen) use.missing = Missing::keep;
    const RowsOfData given = rows_for(*learned.design, stream, use, {}, execution);
    out.answers = judging::ask_model(learned.model, *given.rows, {}, execution);
    if (task_ == Task::classification) rename_classes(learned.design->classes(), design_.classes(), out.answers);
    if (!given.kept.all()) {
      out.rows.clear();
      for (const Index i : given.kept.rows(0, given.kept.count()))
        out.rows.push_back(test[static_cast<std::size_t>(i)]);
    }
  }
  Answers truth = truth_of(out.rows);
  out.answers.y = std::move(truth.y);
  out.answers.label = std::move(truth.label);
  out.answers.weight = std::move(truth.weight);
  return out;
}

std::vector<Measure> Experiment::measure_without_truth(const Learned& learned, const std::vector<Index>& test,
                                                       const Execution& execution) const {
  JudgeOptions options;
  options.execution = execution;
  if (!learned.design) return judge(learned.model, *some(test), options).measures;
  const MemoryTableStream stream(std::make_shared<const Table>(table_->select(test)));
  RowsUse use;
  use.use = Use::prediction;
  return judge(learned.model, *rows_for(*learned.design, stream, use, {}, execution).rows, options).measures;
}

std::vector<Measure> Experiment::measure(const Answers& answers) const {
  Judgement out;
  out.task = task_;
  judging::measure_answers(design_.classes(), answers, out);
  return out.measures;
}

}  // namespace lemma
