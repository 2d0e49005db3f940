// lemma/model/train.cpp
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/data/sparse_rows.hpp>
#include <lemma/data/stream_rows.hpp>
#include <lemma/model/fit.hpp>
#include <lemma/model/train.hpp>

namespace lemma {
namespace {

/// Weights and offsets that come beside the rows are looked up by the table's rows, so they need the table.
bool stays_sparse(const Method& method, const FitOptions& options) {
  return method.about().takes_sparse && options.weights.size() + options.precision.size() + options.offset.size() == 0;
}

Design learn_design(const Method& method, const Formula& formula, const TableStream& data, const DesignOptions& how,
                    const FitOptions& options) {
  if (!data.sparse()) return Design(formula, data, how);
  if (stays_sparse(method, options))
    if (auto design = plain_design(formula, *data.sparse(), how)) return *std::move(design);
  return Design(formula, to_table(*data.sparse()), how);
}

/// The rows a design makes of a table: in memory when it fits, else read from the stream block by block.
struct DesignedRows {
  std::unique_ptr<Rows> rows;
  std::vector<std::string> notes;
};
DesignedRows designed(const Method& method, const Design& design, const TableStream& data, bool streamed,
                      const FitOptions& options) {
  if (const SparseData* sparse = data.sparse()) {
    if (stays_sparse(method, options) && is_plain(design))
      return {std::make_unique<SparseRows>(design, *sparse), design.notes()};
    const Table table = to_table(*sparse);  // or an Error that says how much memory it would take
    return designed(method, design, MemoryTableStream(table), false, options);
  }
  if (streamed) {
    auto rows =
        std::make_unique<StreamRows>(design, data, StreamRows::Use::training, std::nullopt, options.execution());
    auto notes = design.notes();
    notes.insert(notes.end(), rows->notes().begin(), rows->notes().end());
    return {std::move(rows), std::move(notes)};
  }
  auto rows = data.table() ? detail::rows_of(design, *data.table(), options)
                           : detail::rows_of(design, read_all(data, options.execution()), options);
  auto notes = rows->data().notes;
  return {std::move(rows), std::move(notes)};
}

/// A formula without an intercept reaches the method as its parameter.
void pass_intercept(const Method& method, const Design& design, Value& params) {
  if (design.intercept()) return;
  for (const auto& info : method.params()) {
    const auto dot = info.name.rfind('.');
    if (info.name.substr(dot == std::string::npos ? 0 : dot + 1) == "intercept")
      set_path(params, info.name, Value(false));
  }
}

bool must_stream(const Method& method, const TableStream& data, const std::optional<std::size_t>& memory) {
  if (!memory || data.sparse()) return false;
  const std::size_t needed = 2 * memory_needed(data);  // the table, and the matrix made of it
  if (needed <= *memory) return false;
  if (method.about().scans) return true;
  throw Error(fmt::format(
      "{} needs all rows in memory: {} for this table, and {} are allowed; raise --memory or use a method that scans",
      method.name(), format_bytes(static_cast<double>(needed)), format_bytes(static_cast<double>(*memory))));
}

}  // namespace

TrainedModel train(std::shared_ptr<const Method> method, Value params, const Formula& formula, const TableStream& data,
                   const TrainOptions& options) {
  const auto& about = method->about();
  DesignOptions how = detail::design_options(about, options.design);
  if (about.takes_missing && how.missing == Missing::error) how.missing = Missing::native;
  method->check(params);
  how.letters = method->letters(params);
  const Design design = learn_design(*method, formula, data, how, options.fit);
  pass_intercept(*method, design, params);
  const bool streamed = must_stream(*method, data, options.memory);
  const auto [rows, notes] = designed(*method, design, data, streamed, options.fit);
  check_rows(method->name(), about, *rows);
  auto model = method->fit(params, *rows, options.fit);
  Execution to_the_end;  // a cancelled fit gives back what it has, and that is worth its fingerprint
  to_the_end.threads = options.fit.threads;
  return {std::move(model), design, {data.schema().source(), sketch(*rows, to_the_end)}, notes, std::move(method)};
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

Verification TrainedModel::verify(const TableStream& data, const std::optional<std::size_t>& memory,
                                  const Execution& execution) const {
  const Method& how = model->method();
  FitOptions options;
  options.threads = execution.threads;
  options.progress = execution.progress;
  const auto rows = designed(how, design, data, must_stream(how, data, memory), options).rows;
  check_rows(how.name(), how.about(), *rows);
  const RowSketch given = sketch_like(origin.rows, *rows, execution);
  return {model->verify(*rows, execution), given.hash() == origin.rows.hash() && given.rows() == origin.rows.rows(),
          given.rows()};
}

TrainedModel TrainedModel::update(const TableStream& data, const FitOptions& options,
                                  const std::optional<std::size_t>& memory) const {
  const Method& how = model->method();
  const auto [rows, notes_of_rows] = designed(how, design, data, must_stream(how, data, memory), options);
  check_rows(how.name(), how.about(), *rows);
  return {model->update(*rows, options),
          design,
          {data.schema().source(), sketch(*rows, options.execution())},
          notes_of_rows,
          method};
}

std::shared_ptr<const Method> method_from(std::string_view text, std::span<const Method* const> methods,
                                          Value& params) {
  auto steps = parse_pipeline(text, methods);
  if (steps.size() == 1) {
    params = steps.front().params;
    return {std::shared_ptr<const Method>(), steps.front().method};  // the catalog owns it
  }
  params = Value::object();
  return std::make_shared<Pipeline>(std::move(steps));
}

TrainedModel fit(const Pipeline& pipeline, const Formula& formula, const Table& table, const FitOptions& options) {
  TrainOptions how;
  how.fit = options;
  return train(std::make_shared<Pipeline>(pipeline), Value::object(), formula, MemoryTableStream(table), how);
}

}  // namespace lemma
