// app/predicted.cpp
#include "predicted.hpp"

#include "data_options.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/params.hpp>
#include <lemma/data/rows_for.hpp>
#include <lemma/model/threshold.hpp>
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

bool wants_residual(const Asked& asked) {
  return asked.what.empty() || contains(asked.what, "all") || contains(asked.what, kResidual);
}

/// Everything the model says of the rows, as named columns; the residual last.
std::vector<Column> predicted_columns(const TrainedModel& trained, const Prediction& p, const Block& block,
                                      bool has_numbers, const Asked& asked) {
  std::vector<Column> out;
  for (const PredictedPart& part : p.parts()) {
    const bool value = part.info.name == kValuePart.name;
    if (!value || asked.what.empty() || contains(asked.what, "all") || contains(asked.what, part.info.name))
      for (Column& column : trained.columns_of(part)) out.push_back(std::move(column));
  }
  if (wants_residual(asked) && p.find(kValuePart.name) && has_numbers)
    out.push_back(column_of(kResidual, Eigen::Map<const Vector>(block.y.data(), block.rows()) - p.value()));
  else if (contains(asked.what, kResidual))
    throw Error("there is no residual: it is the response less the predicted number, and one of them is not there");
  return out;
}

/// A number with fewer digits is written with fewer: the shortest text that reads back to it.
void round_to_digits(Column& column, int digits) {
  if (digits == 0 || column.type() != ColumnType::numeric) return;
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

/// Back from transformed coordinates to the user's columns.
Table invert(const TrainedModel& trained, const Table& table, const Asked& asked) {
  const auto names = trained.model->output_names(trained.design.features());
  Matrix z(table.rows(), static_cast<Index>(names.size()));
  for (std::size_t j = 0; j < names.size(); ++j) {
    const Column& column = table.column(names[j]);
    if (column.type() != ColumnType::numeric) throw Error(fmt::format("column '{}' is not numeric", names[j]));
    z.col(static_cast<Index>(j)) = Eigen::Map<const Vector>(column.numbers().values.data(), table.rows());
  }
  return numeric_table(trained.model->inverse(z), trained.design.features(), asked.digits);
}

PredictOptions prediction_options(const Asked& asked, const Context& context) {
  PredictOptions how;
  how.what = asked.what;
  if (const auto residual = std::find(how.what.begin(), how.what.end(), kResidual); residual != how.what.end())
    *residual = kValuePart.name;
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
        how_(prediction_options(asked, context)),
        drops_(policy_of(trained, asked) == Missing::drop),
        given_(rows_for(trained.design, data, use(), memory,
                        context.execution().part(0, 0.1, "looking for missing values"))) {
    for (const auto& note : given_.notes) context.note("note: " + note);
    const Rows& rows = *given_.rows;
    has_numbers_ = rows.has_response && rows.classes.empty();
    if (asked.diagnostics && !rows.has_response)
      throw Error("--diagnostics need the response: give the rows the model was fitted on");
  }

  Blocks::Part operator()(Index first, Index count) const {
    const Index from = given_.kept.before(first), size = given_.kept.before(first + count) - from;
    BlockBuffer buffer;
    const Block block = given_.rows->read(from, size, buffer);
    PredictOptions how = how_;
    how.offset = block.offset;
    const Prediction said = asked_.threshold ? predict_at_threshold(trained_.model, *asked_.threshold, block.x, how)
                                             : trained_.model.predict(block.x, how);
    auto columns = predicted_columns(trained_, said, block, has_numbers_, asked_);
    if (asked_.diagnostics) add_diagnostics(block, columns);
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
      while (out.table.find(column.name) || contains(asked_.beside, column.name)) column.name += "_";
      out.table.add(std::move(column));
    }
    return out;
  }

  /// Rows that are predicted together: a few thousand, or all where they lie in memory and the answer is about all of them.
  Blocks blocks(const std::optional<std::size_t>& memory, const Execution& execution) const {
    const Rows& rows = *given_.rows;
    const Index threads = threads_of(execution);
    const bool in_memory = rows.matrix() || rows.sparse();
    const Method& method = trained_.model->method();
    if (asked_.samples > 0 || (asked_.diagnostics && !method.about().scans)) {
      if (!in_memory && asked_.samples > 0) throw Error("--samples are drawn at all rows together: leave --memory out");
      if (!in_memory)
        throw Error(fmt::format("--diagnostics of {} need all rows in memory: leave --memory out", method.name()));
      return {data_.rows(), data_.rows(), 1};
    }
    if (rows.sparse()) return {data_.rows(), block_rows(rows), threads};
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

  void add_diagnostics(const Block& block, std::vector<Column>& columns) const {
    const auto diagnostics = trained_.model->diagnostics(block);
    if (diagnostics.empty()) throw Error(fmt::format("{} has no diagnostics", trained_.model->method().name()));
    for (const auto& column : diagnostics) columns.push_back(column_of(column.name, column.values));
  }

  const TrainedModel& trained_;
  const TableStream& data_;
  const Asked& asked_;
  PredictOptions how_;
  bool drops_;
  RowsOfData given_;
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
}

}  // namespace lemma::app
