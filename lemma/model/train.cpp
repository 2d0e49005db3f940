// lemma/model/train.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/hearing.hpp>
#include <lemma/core/row_views.hpp>
#include <lemma/core/text.hpp>
#include <lemma/data/matrix_stream.hpp>
#include <lemma/data/rows_for.hpp>
#include <lemma/data/sparse_rows.hpp>
#include <lemma/data/words.hpp>
#include <lemma/model/column_sizes.hpp>
#include <lemma/model/fit.hpp>
#include <lemma/model/sketched_rows.hpp>
#include <lemma/model/train.hpp>
#include <mutex>

namespace lemma {
namespace {

/// A design, and whether its rows are known to be columns of a matrix as they stand, with nothing missing.
struct Learned {
  Design design;
  bool as_they_are = false;
};
Learned learn_design(const Method& method, const Formula& formula, const TableStream& data, const DesignOptions& how,
                     const RowOptions& beside) {
  // What comes beside the rows is looked up by the table's rows, so it needs the table.
  if (data.matrix() && beside.none())
    if (auto design = design_of_columns(formula, data, how)) return {*std::move(design), true};
  if (!data.sparse()) return {Design(formula, data, how)};
  if (method.about().takes_sparse && beside.none())
    if (auto design = plain_design(formula, *data.sparse(), how)) return {*std::move(design)};
  return {Design(formula, to_table(*data.sparse()), how)};
}

/// The rows a method learns from, or its certificate is computed from.
RowsOfData rows_to_learn_from(const Method& method, const Design& design, const TableStream& data,
                              const RowOptions& beside, const std::optional<std::size_t>& memory,
                              const Execution& execution, bool all_there = false) {
  RowsUse use = detail::training_use(beside);
  use.reader = method.name();
  use.sparse = method.about().takes_sparse;
  use.blocks = method.about().scans;
  use.all_there = all_there;
  return rows_for(design, data, use, memory, execution);
}

bool speaks_of_rows(const Method& method) {
  const auto results = method.results();
  return std::any_of(results.begin(), results.end(), [](const FieldInfo& each) { return each.speaks_of_rows(); });
}

/// The rows by their numbers in the table and, with an id, by their names.
RowNames names_of_rows(const TableStream& data, const RowSelection& kept, const std::string& id) {
  RowNames out;
  if (!kept.all())
    for (const Index row : kept.rows(0, kept.count())) out.numbers.push_back(row + 1);
  if (id.empty()) return out;
  out.column = id;
  const Column column = data.read_columns(0, data.rows(), {id}).column(id);
  for (Index i = 0; i < kept.count(); ++i) out.names.push_back(column.text(out.number(i) - 1));
  return out;
}

/// A pass over a file costs more than most fits: sizes are looked at as the fit reads. The steps of a pipeline look for
/// themselves: what the first one is given may be what it is there to mend.
AnyModel fit_measured(const Method& method, const Value& params, const Rows& rows, const FitOptions& options) {
  if (method.about().task == Task::transformation || dynamic_cast<const Pipeline*>(&method))
    return method.fit(params, rows, options);
  const MeasuredRows measured(rows);
  try {
    AnyModel model = method.fit(params, measured, options);
    measured.sizes().require_usable(method.name(), rows);
    return model;
  } catch (const Error&) {  // of what the sizes led to
    measured.sizes().require_usable(method.name(), rows);
    throw;
  }
}

/// A cancelled fit gives back what it has, and that is worth its memory of the rows.
Execution to_the_end(const FitOptions& options) {
  Execution out;
  out.threads = options.threads;
  return out;
}

}  // namespace

namespace {

/// A method that asks what its columns are (`kinds`), and was not told, is told which of them count words.
void pass_kinds(const Method& method, const Design& design, Value& params) {
  const auto tokens = token_columns(design);
  if (tokens.empty()) return;
  std::vector<std::string> kinds;
  for (const TokenColumn each : tokens)
    kinds.emplace_back(each == TokenColumn::counts   ? "multinomial"
                       : each == TokenColumn::binary ? "bernoulli"
                                                     : "auto");
  if (std::all_of(kinds.begin(), kinds.end(), [&](const auto& each) { return each == kinds[0]; })) kinds.resize(1);
  const Value all = method.check(params);
  const Value* told = all.find("kinds");
  if (told && told->as_strings("kinds").empty()) set_path(params, "kinds", Value(kinds));
}

}  // namespace

void pass_intercept(const Method& method, const Design& design, Value& params) {
  pass_kinds(method, design, params);
  if (design.intercept()) return;
  for (const auto& info : method.params()) {
    const auto dot = info.name.rfind('.');
    if (info.name.substr(dot == std::string::npos ? 0 : dot + 1) == "intercept")
      set_path(params, info.name, Value(false));
  }
}

TrainedModel train(std::shared_ptr<const Method> method, Value params, const Formula& formula, const TableStream& data,
                   const TrainOptions& options) {
  method->check(params);
  DesignOptions how = detail::design_options(method->needs(params), formula, options.design);
  how.id = options.id;
  const auto [design, as_they_are] = learn_design(*method, formula, data, how, options.rows);
  pass_intercept(*method, design, params);
  const RowsOfData given =
      rows_to_learn_from(*method, design, data, options.rows, options.memory, options.fit.execution(), as_they_are);
  const Rows& rows = *given.rows;
  const bool streamed = !data.sparse() && exceeds(data, options.memory);
  check_kind(method->name(), method->about(), rows);
  const Execution execution = options.fit.execution();
  SketchedRows sketched(rows, key_of(rows, method->about().uses_response));
  auto model = [&] {
    const Hearing hearing(execution);
    return streamed ? fit_measured(*method, params, sketched, options.fit) : method->fit(params, sketched, options.fit);
  }();
  RowSketch memory = sketched.sketch(to_the_end(options.fit));
  RowNames names;
  if (speaks_of_rows(*method)) names = names_of_rows(data, given.kept, options.id);
  return {std::move(model),  design,          {data.schema().source(), std::move(memory)}, given.notes,
          std::move(method), std::move(names)};
}

Prediction TrainedModel::predict(const Table& table, const PredictOptions& options, const Execution& execution) const {
  return predict(design.apply(table), options, execution);
}

Prediction TrainedModel::predict(const DesignData& data, const PredictOptions& options,
                                 const Execution& execution) const {
  std::vector<Index> starts{0};  // of the pieces: kept rows of the table, kPredictedTogether of its rows at a time
  const auto piece = [&](Index i) { return data.kept[static_cast<std::size_t>(i)] / kPredictedTogether; };
  for (Index i = 1; i < data.x.rows() && !options.samples; ++i)  // a function is drawn at all rows together
    if (piece(i) != piece(i - 1)) starts.push_back(i);
  starts.push_back(data.x.rows());
  std::vector<Prediction> parts(starts.size() - 1);
  parallel_for(static_cast<Index>(parts.size()), execution, [&](Index k) {
    const Index first = starts[static_cast<std::size_t>(k)], count = starts[static_cast<std::size_t>(k) + 1] - first;
    PredictOptions with_offset = options;
    if (!data.offset.empty())
      with_offset.offset =
          std::span(data.offset).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
    parts[static_cast<std::size_t>(k)] = model.predict(data.x.middleRows(first, count), with_offset);
  });
  return stack(parts);
}

Prediction TrainedModel::predict(const Rows& rows, const PredictOptions& options, const Execution& execution) const {
  if (const Csr* x = rows.sparse(); x && !rows.has_offset && x->width == model->width())
    if (auto out = model->predict_sparse(*x, options, execution)) return *std::move(out);
  if (options.samples) {  // a function is drawn at all rows together
    BlockBuffer buffer;
    const Block all = rows.read(0, rows.count(), buffer);
    PredictOptions with_offset = options;
    with_offset.offset = all.offset;
    return model.predict(all.x, with_offset);
  }
  std::vector<Prediction> parts(static_cast<std::size_t>(block_count(rows)));
  const Index size = block_rows(rows);
  for_each_block(rows, execution, [&](const Block& block) {
    Prediction& part = parts[static_cast<std::size_t>(block.first / size)];
    PredictOptions with_offset = options;
    with_offset.offset = block.offset;
    part = model.predict(block.x, with_offset);
  });
  return stack(parts);
}

TrainedModel TrainedModel::update(const TableStream& data, const FitOptions& options,
                                  const std::optional<std::size_t>& memory) const {
  const Method& how = model->method();
  const RowsOfData given = rows_to_learn_from(how, design, data, {}, memory, options.execution());
  check_kind(how.name(), how.about(), *given.rows);
  const Execution execution = options.execution();
  SketchedRows sketched(*given.rows, origin.rows.key());
  auto after = [&] {
    const Hearing hearing(execution);
    return model->update(sketched, options);
  }();
  const RowSketch more = sketched.sketch(to_the_end(options));
  std::vector<std::string> all_notes = notes;
  for (const auto& note : given.notes)
    if (std::find(notes.begin(), notes.end(), note) == notes.end()) all_notes.push_back(note);
  return {std::move(after), design, origin.with(data.schema().source(), more), std::move(all_notes), method};
}

namespace {

/// A table that was given, as rows of the model, and what the model remembers of them.
struct GivenRows {
  std::unique_ptr<Rows> rows;
  Recognition found;
};

GivenRows look_at(const TrainedModel& trained, const TableStream& data, const std::optional<std::size_t>& memory,
                  const Execution& execution) {
  const Method& how = trained.model->method();
  GivenRows out{rows_to_learn_from(how, trained.design, data, {}, memory, execution).rows, {}};
  check_kind(how.name(), how.about(), *out.rows);
  out.found = recognise(trained.origin.rows, *out.rows, execution);
  return out;
}

/// For each part of an updated model the table that holds it; nullptr where none does.
std::vector<const GivenRows*> matched(const std::vector<OriginPart>& parts, const std::vector<GivenRows>& given) {
  std::vector<const GivenRows*> out;
  std::vector<bool> taken(given.size());
  for (const auto& part : parts) {
    std::size_t i = 0;
    while (i < given.size() && (taken[i] || !part.is(given[i].found.given))) ++i;
    out.push_back(i < given.size() ? &given[i] : nullptr);
    if (i < given.size()) taken[i] = true;
  }
  return out;
}

/// One table that holds the rows of every part in their order, cut into the parts.
std::vector<Table> cut(const TableStream& data, const std::vector<OriginPart>& parts) {
  std::vector<Table> out;
  Index first = 0;
  for (const auto& part : parts) {
    out.push_back(data.read(first, part.rows));
    first += part.rows;
  }
  return out;
}

/// The fit and every update once more: the model must say what they say. `out` is the certificate of the last update,
/// which takes what the model knows of the rows before on trust.
void compare_with_repetition(const TrainedModel& trained, const std::vector<const GivenRows*>& parts,
                             const Execution& execution, Certificate& out) {
  FitOptions options;
  options.threads = execution.threads;
  options.progress = execution.progress;
  const Value state = trained.model->save();  // a method of chance keeps the seed that it was given
  if (const Value* seed = state.find("seed"))
    if (seed->is_number()) options.seed = static_cast<std::uint64_t>(std::max(0.0, seed->as_double()));
  AnyModel again = trained.model->method().fit(trained.model->params(), *parts.front()->rows, options);
  for (std::size_t i = 1; i < parts.size(); ++i) again = again->update(*parts[i]->rows, options);
  const double allowed = std::max(1e-6, 10 * std::sqrt(trained.model->certificate().tolerance));
  double worst = 0;
  std::mutex mutex;
  for (const GivenRows* part : parts)
    for_each_block(*part->rows, execution, [&](const Block& block) {
      PredictOptions with_offset;
      with_offset.offset = block.offset;
      const Prediction a = trained.model.predict(block.x, with_offset), b = again.predict(block.x, with_offset);
      const double off = a.probabilities().size() > 0 ? (a.probabilities() - b.probabilities()).cwiseAbs().maxCoeff()
                         : a.value().size() > 0       ? (a.value() - b.value()).cwiseAbs().maxCoeff()
                         : a.label() != b.label()     ? 1.0
                                                      : 0.0;
      const std::lock_guard lock(mutex);
      worst = off <= worst ? worst : off;  // NaN stays
    });
  if (!(worst <= allowed)) {
    out.kind = "difference of predictions from the fit and its updates done again";
    out.value = worst;
    out.tolerance = allowed;
    out.message = fmt::format(
        "The last update is right for what the model says of the rows before it, but that is not what they give: the "
        "fit and its updates, done again, predict otherwise by {:.1e} (allowed {:.0e}).",
        worst, allowed);
    return;
  }
  out.message += fmt::format(" The fit and {} done again on all {} rows, and predict the same to within {:.0e}.",
                             parts.size() == 2 ? "its update were" : "its updates were", trained.origin.rows.rows(),
                             std::max(worst, 1e-15));
}

/// A model that is what a fit to all its rows would be: they may come in any tables and in any order.
Verification verify_together(const TrainedModel& trained, const std::vector<GivenRows>& given, Verification out,
                             const Execution& execution) {
  const auto parts = matched(trained.origin.parts, given);
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (!parts[i]) out.missing.push_back(trained.origin.parts[i]);
  std::uint64_t sum = 0;
  std::vector<const Rows*> rows;
  for (const auto& each : given) {
    sum += each.found.given.hash();
    rows.push_back(each.rows.get());
  }
  const bool each_part = out.missing.empty() && given.size() == parts.size();
  out.same_rows = out.all_there = each_part || (given.size() == 1 && given[0].found.same) ||
                                  (out.rows == trained.origin.rows.rows() && sum == trained.origin.rows.hash() &&
                                   trained.origin.rows.weighted_hash() == std::nullopt);
  if (out.same_rows) out.missing.clear();
  out.certificate = trained.model->verify(StackedRows(rows), execution);
  return out;
}

}  // namespace

Verification TrainedModel::verify(const TableStream& data, const std::optional<std::size_t>& memory,
                                  const Execution& execution) const {
  const TableStream* only[] = {&data};
  return verify(only, memory, execution);
}

Verification TrainedModel::verify(std::span<const TableStream* const> data, const std::optional<std::size_t>& memory,
                                  const Execution& execution) const {
  require(!data.empty(), "there are no rows to verify the model on");
  const Hearing hearing(execution);
  if (origin.parts.empty() && data.size() > 1)
    throw Error(fmt::format(
        "the model was fitted on one table, {} ({} rows), and {} are given; several are for models after an update",
        origin.name, origin.rows.rows(), data.size()));
  std::vector<GivenRows> given;
  Verification out;
  for (const TableStream* each : data) {
    given.push_back(look_at(*this, *each, memory, execution));
    out.rows += given.back().found.given.rows();
    out.overlap.add(given.back().found.overlap);
  }
  if (origin.parts.empty()) {
    out.same_rows = out.all_there = given[0].found.same;
    out.certificate = model->verify(*given[0].rows, execution);
    return out;
  }
  if (model->method().verifies_together()) return verify_together(*this, given, std::move(out), execution);
  if (data.size() == 1 && given[0].found.same && data[0]->table() && data[0]->rows() == origin.rows.rows()) {
    const auto tables = cut(*data[0], origin.parts);
    std::vector<MemoryTableStream> streams(tables.begin(), tables.end());
    std::vector<const TableStream*> parts;
    for (const auto& stream : streams) parts.push_back(&stream);
    return verify(parts, memory, execution);
  }
  const auto parts = matched(origin.parts, given);
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (!parts[i]) out.missing.push_back(origin.parts[i]);
  out.same_rows = out.missing.empty() && given.size() == parts.size();
  std::uint64_t sum = 0;
  for (const auto& each : given) sum += each.found.given.hash();
  out.all_there = out.rows == origin.rows.rows() && sum == origin.rows.hash();
  out.certificate = model->verify(parts.back() ? *parts.back()->rows : *given.back().rows, execution);
  if (out.same_rows && out.certificate.holds()) compare_with_repetition(*this, parts, execution, out.certificate);
  return out;
}

std::shared_ptr<const Method> method_from(std::string_view text, std::span<const Method* const> methods,
                                          Value& params) {
  auto steps = parse_pipeline(text, methods);
  if (steps.size() == 1) {
    params = steps.front().params();
    return steps.front().shared();
  }
  params = Value::object();
  return std::make_shared<Pipeline>(std::move(steps));
}

TrainedModel fit(const Pipeline& pipeline, const Formula& formula, const Table& table, const CallOptions& options) {
  TrainOptions how;
  how.rows = options.rows();
  how.fit = options;
  return train(std::make_shared<Pipeline>(pipeline), Value::object(), formula, MemoryTableStream(table), how);
}

}  // namespace lemma
