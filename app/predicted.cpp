// app/predicted.cpp
#include "predicted.hpp"

#include "data_options.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/params.hpp>
#include <lemma/core/text.hpp>
#include <lemma/data/rows_for.hpp>
#include <lemma/model/asked_rows.hpp>
#include <lemma/model/method.hpp>
#include <limits>
#include <numeric>

namespace lemma::app {
namespace {

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Columns for some of the rows spread over all; the others stay missing.
class Spread {
 public:
  Spread(Index rows, std::vector<Index> kept) : rows_(static_cast<std::size_t>(rows)), kept_(std::move(kept)) {}
  void operator()(Column& column) const {
    if (kept_.size() == rows_) return;
    if (auto* numbers = std::get_if<Numbers>(&column.data))
      numbers->values = spread(numbers->values, std::numeric_limits<double>::quiet_NaN());
    else if (auto* categories = std::get_if<Categories>(&column.data))
      categories->codes = spread(categories->codes, -1);
    else {
      auto& texts = std::get<Texts>(column.data);
      texts.values = spread(texts.values, std::string());
      texts.missing = spread(std::vector<bool>(kept_.size(), false), true);
    }
  }

 private:
  template <class T>
  std::vector<T> spread(const std::vector<T>& values, std::type_identity_t<T> missing) const {
    std::vector<T> all(rows_, missing);
    for (std::size_t i = 0; i < kept_.size(); ++i) all[static_cast<std::size_t>(kept_[i])] = values[i];
    return all;
  }
  std::size_t rows_;
  std::vector<Index> kept_;
};

Column column_of(std::string name, const Vector& numbers) {
  return numeric(std::move(name), {numbers.begin(), numbers.end()});
}

constexpr const char* kResidual = "residual";  // what the response and the value leave: the model alone gives none

/// Another residual than that: deviance_residual, pearson_residual, …, which a model has among its diagnostics.
bool is_kind_of_residual(const std::string& name) { return name.ends_with("_residual"); }

bool wants_residual(const Asked& asked) {
  return asked.what.empty() || contains(asked.what, "all") || contains(asked.what, kResidual);
}

/// Everything the model says of the rows, as named columns; the residual last.
std::vector<Column> predicted_columns(const TrainedModel& trained, const Prediction& p, const Block& block,
                                      bool has_numbers, const Asked& asked) {
  std::vector<Column> out;
  for (const PredictedPart& part : p.parts()) {  // what residuals are made of may be there for their sake
    const bool needed = part.info.name == kValuePart.name || part.info.name == kClassPart.name;
    if (!needed || asked.what.empty() || contains(asked.what, "all") || contains(asked.what, part.info.name))
      for (Column& column : trained.columns_of(part)) out.push_back(std::move(column));
  }
  if (wants_residual(asked) && p.find(kValuePart.name) && has_numbers)
    out.push_back(column_of(kResidual, Eigen::Map<const Vector>(block.y.data(), block.rows()) - p.value()));
  else if (contains(asked.what, kResidual) && trained.model->task() == Task::regression)
    throw Error("there is no residual: it is the response less the predicted number, and the rows have no response");
  return out;
}

/// The residuals among what is asked that are not the response less the predicted number: of classes `residual` is the
/// response, 0 or 1, less its probability.
std::vector<std::string> kinds_of_residuals(const TrainedModel& trained, const Asked& asked) {
  std::vector<std::string> out;
  for (const auto& name : asked.what)
    if (is_kind_of_residual(name) || (name == kResidual && trained.model->task() != Task::regression))
      out.push_back(name);
  return out;
}

std::vector<Column> residuals_of(const TrainedModel& trained, const std::vector<NamedColumn>& diagnostics,
                                 const std::vector<std::string>& wanted) {
  const std::string method = trained.model->method().name();
  std::vector<std::string> known;
  for (const auto& each : diagnostics)
    if (is_kind_of_residual(each.name)) known.push_back(each.name);
  std::vector<Column> out;
  for (const auto& name : wanted) {
    const std::string sought = name == kResidual ? "response_residual" : name;
    const auto found = std::find_if(diagnostics.begin(), diagnostics.end(),
                                    [&](const NamedColumn& each) { return each.name == sought; });
    if (found == diagnostics.end())
      throw Error(known.empty() ? fmt::format("{} has no {}", method, name)
                                : fmt::format("{} has no {}{}; it has {}", method, name, did_you_mean(name, known),
                                              join_words(known)));
    out.push_back(column_of(name, found->values));
  }
  return out;
}

/// A number with fewer digits is written with fewer: the shortest text that reads back to it.
void round_to_digits(Column& column, int digits) {
  if (digits == 0 || column.type() != ColumnType::numeric || column.numbers().quantity != Quantity::number) return;
  for (double& each : std::get<Numbers>(column.data).values)
    if (std::isfinite(each)) each = std::strtod(fmt::format("{:.{}e}", each, digits - 1).c_str(), nullptr);
}

Table numeric_table(const Matrix& x, const std::vector<std::string>& names, int digits) {
  std::vector<Column> columns;
  for (Index j = 0; j < x.cols(); ++j) {
    columns.push_back(
        numeric(names[static_cast<std::size_t>(j)], std::vector<double>(x.col(j).begin(), x.col(j).end())));
    round_to_digits(columns.back(), digits);
  }
  return Table(std::move(columns));
}

/// What coordinates are called, of models that place no new rows too.
std::vector<std::string> coordinate_names(const TrainedModel& trained) {
  auto names = trained.model->output_names(trained.design.features());
  if (!names.empty()) return names;
  const Value results = trained.model->results(trained.names());
  if (const Value* places = results.find("coordinates"))
    for (Index k = 1; k <= places->as_matrix("coordinates").cols(); ++k) names.push_back(fmt::format("D{}", k));
  return names;
}

/// Back from transformed coordinates to the user's columns.
Table invert(const TrainedModel& trained, const Table& table, const Asked& asked) {
  const auto names = coordinate_names(trained);
  Matrix z(table.rows(), static_cast<Index>(names.size()));
  for (std::size_t j = 0; j < names.size(); ++j) {
    const Column& column = table.column(names[j]);
    if (column.type() != ColumnType::numeric) throw Error(fmt::format("column '{}' is not numeric", names[j]));
    z.col(static_cast<Index>(j)) = Eigen::Map<const Vector>(column.numbers().values.data(), table.rows());
  }
  return numeric_table(trained.model->inverse(z), trained.design.features(), asked.digits);
}

PredictOptions prediction_options(const TrainedModel& trained, const Asked& asked, const Context& context) {
  PredictOptions how;
  const std::string_view needed = trained.model->task() == Task::regression ? kValuePart.name : kClassPart.name;
  const auto parts = trained.model->parts();
  for (const auto& name : asked.what)
    if (!is_kind_of_residual(name) && name != kResidual && !nearest(name, {kResidual}).empty() &&
        std::none_of(parts.begin(), parts.end(), [&](const PartInfo& part) { return part.name == name; }))
      throw Error(
          fmt::format("{} gives no {}{}", trained.model->method().name(), name, did_you_mean(name, {kResidual})));
  for (const std::string_view name : {"leverage", "cooks_distance", "loo_residual", "dffits"})
    if (std::ranges::count(asked.what, name) > 0)
      throw Error(
          fmt::format("{} is not said of new rows: --diagnostics tells it of those that trained the model", name));
  for (const auto& name : asked.what)  // residuals are made of it
    if (!is_kind_of_residual(name)) how.what.push_back(name == kResidual ? std::string(needed) : name);
  if (!asked.what.empty() && how.what.empty()) how.what.emplace_back(needed);
  how.interval = static_cast<IntervalKind>(choose("--interval", asked.interval, {"none", "confidence", "prediction"}));
  how.level = asked.level;
  how.deviations = asked.sd;
  if (asked.samples > 0) how.samples = SampleOptions{asked.samples, asked.prior, context.seed};
  if (asked.prior && asked.samples == 0) throw Error("--prior says where --samples come from: how many?");
  return how;
}

/// What becomes of incomplete rows. That they are left out at training is no reason to lose them here: who wants that says so.
std::optional<Missing> policy_of(const TrainedModel& trained, const Asked& asked) {
  if (!asked.missing.empty()) return parse_missing(asked.missing);
  if (trained.design.missing() == Missing::drop) return Missing::keep;
  return {};
}

/// Block after block, as many at a time as there are threads.
class Blocks {
 public:
  struct Part {
    Table table;
    std::vector<Index> rows;  // of the data
  };
  Blocks(Index rows, Index size, Index together) : rows_(rows), size_(std::max<Index>(1, size)), together_(together) {}

  void visit(const Execution& execution, const std::function<Part(Index first, Index count)>& block,
             const TakePredictions& take) const {
    const Index blocks = std::max<Index>(1, (rows_ + size_ - 1) / size_);
    for (Index from = 0; from < blocks; from += together_) {
      execution.report(static_cast<double>(from) / static_cast<double>(blocks), "predicting");
      std::vector<Part> parts(static_cast<std::size_t>(std::min(together_, blocks - from)));
      parallel_for(static_cast<Index>(parts.size()), execution, [&](Index b) {
        const Index first = (from + b) * size_;
        parts[static_cast<std::size_t>(b)] = block(first, std::min(size_, rows_ - first));
      });
      for (const Part& part : parts) take(part.table, part.rows);
    }
  }

 private:
  Index rows_, size_, together_;
};

/// What the model says of the rows of the data, wherever they lie.
class Predicted {
 public:
  Predicted(const TrainedModel& trained, const TableStream& data, const Asked& asked,
            const std::optional<std::size_t>& memory, const Context& context)
      : trained_(trained),
        data_(data),
        asked_(asked),
        kinds_(kinds_of_residuals(trained, asked)),
        drops_(policy_of(trained, asked) == Missing::drop),
        given_(rows_for(trained.design, data, use(), memory,
                        context.execution().part(0, 0.1, "looking for missing values"))),
        said_(trained.model, *given_.rows, prediction_options(trained, asked, context), asked.threshold) {
    for (const auto& note : given_.notes) context.note("note: " + note);
    const Rows& rows = *given_.rows;
    has_numbers_ = rows.has_response && rows.classes.empty();
    if (asked.diagnostics && !rows.has_response)
      throw Error("--diagnostics need the response: give the rows the model was fitted on");
    if (!kinds_.empty() && !rows.has_response)
      throw Error(fmt::format("there is no {}: it takes the response, and the rows have none", kinds_.front()));
  }

  Blocks::Part operator()(Index first, Index count) const {
    const Index from = given_.kept.before(first), size = given_.kept.before(first + count) - from;
    BlockBuffer buffer;
    const auto [said, block] = said_(from, size, buffer);
    auto columns = predicted_columns(trained_, said, block, has_numbers_, asked_);
    if (asked_.diagnostics || !kinds_.empty()) add_diagnostics(from, size, columns);
    Blocks::Part out{asked_.append ? data_.read(first, count) : Table(), given_.kept.rows(from, size)};
    std::vector<Index> kept = out.rows;
    for (Index& row : kept) row -= first;
    if (drops_ && asked_.append) out.table = out.table.select(kept);
    if (!drops_) {
      const Spread spread(count, std::move(kept));
      for (Column& column : columns) spread(column);
      out.rows.resize(static_cast<std::size_t>(count));
      std::iota(out.rows.begin(), out.rows.end(), first);
    }
    for (Column& column : columns) {
      round_to_digits(column, asked_.digits);
      const std::string name = column.name;
      for (int k = 2; out.table.find(column.name) || contains(asked_.beside, column.name); ++k)
        column.name = fmt::format("{}_{}", name, k);
      out.table.add(std::move(column));
    }
    return out;
  }

  /// Diagnostics tell how a row steers the fit, which rows that did not train the model do not.
  void warn_of_other_rows(const Context& context) const {
    if (!asked_.diagnostics) return;
    const Overlap found = recognise(trained_.origin.rows, *given_.rows, context.execution()).overlap;
    const Index others = found.rows - found.equal - found.alarms - found.unknown;
    if (others > 0)
      context.warn(
          fmt::format("{} of {} did not train the model: of them leverage, standardised residuals and what else "
                      "tells how a row steers the fit are only what it would be for a row there",
                      format_count(others), count_of(found.rows, "row")));
  }

  /// Rows that are predicted together: a few thousand, or all where they lie in memory and the answer is about all of them.
  Blocks blocks(const std::optional<std::size_t>& memory, const Execution& execution) const {
    const Rows& rows = *given_.rows;
    const Index threads = threads_of(execution);
    const bool in_memory = rows.matrix() || rows.sparse();
    const Method& method = trained_.model->method();
    if (asked_.samples > 0 || ((asked_.diagnostics || !kinds_.empty()) && !method.about().scans)) {
      if (!in_memory && asked_.samples > 0) throw Error("--samples are drawn at all rows together: leave --memory out");
      if (!in_memory)
        throw Error(fmt::format("--diagnostics of {} need all rows in memory: leave --memory out", method.name()));
      return {data_.rows(), data_.rows(), 1};
    }
    if (rows.sparse()) return {data_.rows(), said_.together(), threads};
    if (in_memory || !memory) return {data_.rows(), kPredictedTogether, 4 * threads};
    const std::size_t a_row = memory_needed(data_) / static_cast<std::size_t>(std::max<Index>(1, data_.rows())) + 1;
    const auto pieces = static_cast<Index>(*memory / (4 * a_row * static_cast<std::size_t>(threads)));
    return {data_.rows(), std::clamp<Index>(pieces / kPredictedTogether, 1, 16) * kPredictedTogether, threads};
  }

 private:
  RowsUse use() const {
    RowsUse out;
    out.use = Use::prediction;
    out.missing = policy_of(trained_, asked_);
    return out;
  }

  /// Each once, though it was asked for by its name too.
  void add_diagnostics(Index from, Index size, std::vector<Column>& columns) const {
    BlockBuffer buffer;
    const auto diagnostics = trained_.model->diagnostics(given_.rows->read(from, size, buffer));
    for (Column& column : residuals_of(trained_, diagnostics, kinds_)) columns.push_back(std::move(column));
    if (!asked_.diagnostics) return;
    if (diagnostics.empty()) throw Error(fmt::format("{} has no diagnostics", trained_.model->method().name()));
    for (const auto& each : diagnostics)
      if (std::none_of(columns.begin(), columns.end(), [&](const Column& column) { return column.name == each.name; }))
        columns.push_back(column_of(each.name, each.values));
  }

  const TrainedModel& trained_;
  const TableStream& data_;
  const Asked& asked_;
  std::vector<std::string> kinds_;  // of residuals that are asked for by name
  bool drops_;
  RowsOfData given_;
  AskedRows said_;
  bool has_numbers_ = false;  // the response, in the table as a whole: every block has the same columns
};

}  // namespace

void predict_all(const TrainedModel& trained, const TableStream& data, const Asked& asked,
                 const std::optional<std::size_t>& memory, const Context& context, const TakePredictions& take) {
  const Execution execution = context.execution();
  if (asked.inverse) {
    const auto invert_block = [&](Index first, Index count) {
      std::vector<Index> rows(static_cast<std::size_t>(count));
      std::iota(rows.begin(), rows.end(), first);
      return Blocks::Part{invert(trained, data.read(first, count), asked), std::move(rows)};
    };
    return Blocks(data.rows(), kPredictedTogether, threads_of(execution)).visit(execution, invert_block, take);
  }
  const Predicted predicted(trained, data, asked, memory, context);
  predicted.blocks(memory, execution).visit(execution.part(0.1, 1), std::cref(predicted), take);
  predicted.warn_of_other_rows(context);
}

}  // namespace lemma::app
