// app/predicted.cpp
#include "predicted.hpp"

#include "data_options.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/params.hpp>
#include <lemma/core/text.hpp>
#include <lemma/data/sparse_rows.hpp>
#include <lemma/data/stream/rows.hpp>
#include <limits>

namespace lemma::app {
namespace {

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Columns for the rows the design kept, spread over all rows of the table; the others stay missing.
class Spread {
 public:
  Spread(Index rows, const std::vector<Index>& kept) : rows_(static_cast<std::size_t>(rows)), kept_(kept) {}
  Column operator()(Column column) const {
    if (kept_.size() == rows_) return column;
    if (auto* numbers = std::get_if<Numbers>(&column.data))
      numbers->values = spread(numbers->values, std::numeric_limits<double>::quiet_NaN());
    else if (auto* categories = std::get_if<Categories>(&column.data))
      categories->codes = spread(categories->codes, -1);
    else {
      auto& texts = std::get<Texts>(column.data);
      texts.values = spread(texts.values, std::string());
      texts.missing = spread(std::vector<bool>(kept_.size(), false), true);
    }
    return column;
  }
  Column operator()(std::string name, const Vector& numbers) const {
    return (*this)(numeric(std::move(name), {numbers.begin(), numbers.end()}));
  }

 private:
  template <class T>
  std::vector<T> spread(const std::vector<T>& values, std::type_identity_t<T> missing) const {
    std::vector<T> all(rows_, missing);
    for (std::size_t i = 0; i < kept_.size(); ++i) all[static_cast<std::size_t>(kept_[i])] = values[i];
    return all;
  }
  std::size_t rows_;
  const std::vector<Index>& kept_;
};

constexpr const char* kResidual = "residual";  // what the response and the value leave: the model alone gives none

/// Another residual than that: deviance_residual, pearson_residual, …, which a model has among its diagnostics.
bool is_kind_of_residual(const std::string& name) { return name.ends_with("_residual"); }

/// How many rows diagnostics were made of, and how many of them did not train the model.
struct Diagnosed {
  std::atomic<Index> rows{0}, others{0};
};

Block block_of(const DesignData& data) {
  Block block(data.x, 0);
  block.y = data.y;
  block.label = data.label;
  block.weight = data.weight;
  block.precision = data.precision;
  block.offset = data.offset;
  return block;
}

/// Rows that are certainly equal to none that trained the model.
Index others_among(const TrainedModel& trained, const DesignData& data) {
  MemoryRows rows(data.x);
  rows.features = trained.design.features();
  std::vector<int> label(data.label);
  Index unknown = 0;
  for (int& each : label)
    if (each < 0) {
      each = 0;
      ++unknown;
    }
  if (!data.y.empty()) rows.response(data.y);
  if (!label.empty()) rows.labels(label, trained.design.classes());
  if (!data.offset.empty()) rows.offset(data.offset);
  const Overlap found = recognise(trained.origin.rows, rows, {}).overlap;
  return std::max(unknown, found.rows - found.equal - found.alarms - found.unknown);
}

bool wants_residual(const Asked& asked) {
  return asked.what.empty() || contains(asked.what, "all") || contains(asked.what, kResidual);
}

/// Everything the model says of the rows, as named columns; the residual last.
std::vector<Column> predicted_columns(const TrainedModel& trained, const Prediction& p, const DesignData& data,
                                      const Asked& asked, Index table_rows) {
  const Spread spread(table_rows, data.kept);
  const bool residual = wants_residual(asked) && p.value().size() > 0 && data.has_response && !data.y.empty();
  std::vector<Column> out;
  for (const PredictedPart& part : p.parts()) {
    const bool value = part.info.name == kValuePart.name;
    if (!value || asked.what.empty() || contains(asked.what, "all") || contains(asked.what, part.info.name))
      for (Column& column : trained.columns_of(part)) out.push_back(spread(std::move(column)));
  }
  if (residual) out.push_back(spread(kResidual, Eigen::Map<const Vector>(data.y.data(), p.value().size()) - p.value()));
  else if (contains(asked.what, kResidual) && p.value().size() > 0)
    throw Error("there is no residual: it is the response less the predicted number, and the rows have no response");
  return out;
}

/// Residuals of other kinds that were asked for by name; of classes `residual` is the response less its probability.
std::vector<NamedColumn> kinds_of_residuals(const TrainedModel& trained, const DesignData& data, const Asked& asked,
                                            bool has_residual) {
  std::vector<std::string> wanted;
  for (const auto& name : asked.what)
    if (is_kind_of_residual(name) || (name == kResidual && !has_residual)) wanted.push_back(name);
  if (wanted.empty()) return {};
  if (!data.has_response)
    throw Error(fmt::format("there is no {}: it takes the response, and the rows have none", wanted.front()));
  const auto diagnostics = trained.model->diagnostics(block_of(data));
  std::vector<std::string> known;
  for (const auto& each : diagnostics)
    if (is_kind_of_residual(each.name)) known.push_back(each.name);
  std::vector<NamedColumn> out;
  for (const auto& name : wanted) {
    const std::string sought = name == kResidual ? "response_residual" : name;
    const auto found = std::find_if(diagnostics.begin(), diagnostics.end(),
                                    [&](const NamedColumn& each) { return each.name == sought; });
    if (found == diagnostics.end())
      throw Error(known.empty() ? fmt::format("{} has no {}", trained.model->method().name(), name)
                                : fmt::format("{} has no {}{}; it has {}", trained.model->method().name(), name,
                                              did_you_mean(name, known), join_words(known)));
    out.push_back({name, found->values});
  }
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

/// `needed`: the part that residuals are made of.
PredictOptions prediction_options(const Asked& asked, const TrainedModel& trained, const Context& context) {
  PredictOptions how;
  const std::string_view needed = trained.model->task() == Task::regression ? kValuePart.name : kClassPart.name;
  for (const auto& name : asked.what)
    if (!is_kind_of_residual(name)) how.what.push_back(name == kResidual ? std::string(needed) : name);
  if (!asked.what.empty() && how.what.empty()) how.what.emplace_back(needed);
  how.interval = static_cast<IntervalKind>(choose("--interval", asked.interval, {"none", "confidence", "prediction"}));
  how.level = asked.level;
  how.deviations = asked.sd;
  if (asked.samples > 0) how.samples = SampleOptions{asked.samples, asked.prior, context.seed};
  if (asked.prior && asked.samples == 0) throw Error("--prior says where --samples come from: how many?");
  return how;
}

constexpr const char* kNothingToPredict = "no row is complete: there is nothing to predict";

/// What was asked, of the rows that the design made of a table.
Table table_of(const TrainedModel& trained, const Table& table, const DesignData& data, const Asked& asked,
               Diagnosed& diagnosed, const Context& context) {
  if (data.kept.empty() && table.rows() > 0) throw Error(kNothingToPredict);
  const Prediction p = trained.predict(data, prediction_options(asked, trained, context), context.execution());
  auto columns = predicted_columns(trained, p, data, asked, table.rows());
  const Spread spread(table.rows(), data.kept);
  for (const auto& each : kinds_of_residuals(trained, data, asked, p.value().size() > 0))
    columns.push_back(spread(each.name, each.values));
  if (asked.diagnostics) {
    if (!data.has_response) throw Error("--diagnostics need the response: give the rows the model was fitted on");
    const auto diagnostics = trained.model->diagnostics(block_of(data));
    if (diagnostics.empty()) throw Error(fmt::format("{} has no diagnostics", trained.model->method().name()));
    for (const auto& column : diagnostics)
      if (std::none_of(columns.begin(), columns.end(), [&](const Column& each) { return each.name == column.name; }))
        columns.push_back(spread(column.name, column.values));
    diagnosed.rows += static_cast<Index>(data.kept.size());
    diagnosed.others += others_among(trained, data);
  }
  Table out = asked.append ? table : Table();
  const auto is_taken = [&](const std::string& name) {
    return out.find(name) || std::find(asked.beside.begin(), asked.beside.end(), name) != asked.beside.end();
  };
  for (auto& column : columns) {
    round_to_digits(column, asked.digits);
    const std::string name = column.name;
    for (int k = 2; is_taken(column.name); ++k) column.name = fmt::format("{}_{}", name, k);
    out.add(std::move(column));
  }
  return out;
}

std::optional<Missing> policy_of(const Asked& asked) {
  if (asked.missing.empty()) return {};
  return parse_missing(asked.missing);
}

Table predict_table(const TrainedModel& trained, const Table& table, const Asked& asked, Diagnosed& diagnosed,
                    const Context& context) {
  if (asked.inverse) return invert(trained, table, asked);
  const DesignData data = trained.design.apply(table, policy_of(asked));
  for (const auto& note : data.notes) context.note("note: " + note);
  return table_of(trained, table, data, asked, diagnosed, context);
}

/// Of a sparse file: never dense as a whole. A column that the file does not mention is 0.
Table predict_sparse(const TrainedModel& trained, const SparseData& data, const Asked& asked, const Context& context) {
  const SparseRows rows(trained.design, data);
  const Prediction p = trained.predict(rows, prediction_options(asked, trained, context), context.execution());
  auto columns = predicted_columns(trained, p, sparse_outcome(trained.design, data), asked, rows.count());
  for (auto& column : columns) round_to_digits(column, asked.digits);
  return Table(std::move(columns));
}

bool stays_sparse(const TrainedModel& trained, const TableStream& data, const Asked& asked) {
  return data.sparse() && is_plain(trained.design) && !asked.append && !asked.diagnostics && !asked.inverse &&
         std::none_of(asked.what.begin(), asked.what.end(), is_kind_of_residual);
}

/// Rows that stay on disk, a block at a time for each thread. In every block there are the same columns: whether there is a
/// response is a question to the whole file.
class Blocks {
 public:
  Blocks(const TrainedModel& trained, const TableStream& data, const Asked& asked, std::size_t memory,
         Diagnosed& diagnosed, const Context& context)
      : trained_(trained), data_(data), asked_(asked), diagnosed_(diagnosed), context_(context) {
    const Method& method = trained.model->method();
    if (asked.samples > 0) throw Error("--samples are drawn at all rows together: leave --memory out");
    if (asked.diagnostics && !method.about().scans)
      throw Error(fmt::format("--diagnostics of {} need all rows in memory: leave --memory out", method.name()));
    const auto together = static_cast<std::size_t>(threads_of(context.execution()));
    const std::size_t a_row = memory_needed(data) / static_cast<std::size_t>(std::max<Index>(1, data.rows())) + 1;
    const auto pieces = static_cast<Index>(memory / (4 * a_row * together)) / kPredictedTogether;
    size_ = std::clamp<Index>(pieces, 1, 16) * kPredictedTogether;
    if (asked.inverse) return;
    const StreamRows rows(trained.design, data, Use::prediction, policy_of(asked), context.execution());
    for (const auto& note : rows.notes()) context.note("note: " + note);
    has_response_ = rows.has_response;
  }

  void visit(const std::function<void(const Table&)>& take) const {
    const Execution execution = context_.execution();
    const Index blocks = std::max<Index>(1, (data_.rows() + size_ - 1) / size_), together = threads_of(execution);
    std::optional<Table> like;   // what every block looks like, without its rows
    std::vector<Index> waiting;  // blocks before that is known: no row of them can be predicted
    for (Index from = 0; from < blocks; from += together) {
      std::vector<std::optional<Table>> parts(static_cast<std::size_t>(std::min(together, blocks - from)));
      parallel_for(static_cast<Index>(parts.size()), execution,
                   [&](Index b) { parts[static_cast<std::size_t>(b)] = block((from + b) * size_); });
      for (std::size_t b = 0; b < parts.size(); ++b) {
        const Index first = (from + static_cast<Index>(b)) * size_;
        if (parts[b] && !like) {
          like = parts[b]->slice(0, 0);
          for (const Index before : waiting) take(unpredicted(before, *like));
        }
        if (parts[b]) take(*parts[b]);
        else if (like) take(unpredicted(first, *like));
        else waiting.push_back(first);
      }
      const double done = static_cast<double>(from + together) / static_cast<double>(blocks);
      execution.report(std::min(done, 1.0), "predicting");
    }
    if (!like) throw Error(kNothingToPredict);
  }

 private:
  Index count_from(Index first) const { return std::min(size_, data_.rows() - first); }

  /// Nothing where rows with missing values are left out and all have some.
  std::optional<Table> block(Index first) const {
    const Index count = count_from(first);
    if (asked_.inverse) return invert(trained_, data_.read(first, count), asked_);
    const Table table =
        asked_.append ? data_.read(first, count) : data_.read_columns(first, count, trained_.design.looked_at());
    DesignData data = trained_.design.apply(table, policy_of(asked_), {}, first);
    if (data.kept.empty() && count > 0) return {};
    if (has_response_ && !data.has_response) {
      data.has_response = true;
      data.y.assign(data.kept.size(), std::numeric_limits<double>::quiet_NaN());
    }
    return table_of(trained_, table, data, asked_, diagnosed_, context_);
  }

  /// The columns of `like` for a block without predictions: missing, but for the table's own.
  Table unpredicted(Index first, const Table& like) const {
    Table out = asked_.append ? data_.read(first, count_from(first)) : Table();
    const auto rows = static_cast<std::size_t>(count_from(first));
    for (Index j = out.columns(); j < like.columns(); ++j) {
      Column column = like.column(j);
      if (column.type() == ColumnType::categorical) std::get<Categories>(column.data).codes.assign(rows, -1);
      else column.data = Numbers{std::vector<double>(rows, std::numeric_limits<double>::quiet_NaN())};
      out.add(std::move(column));
    }
    return out;
  }

  const TrainedModel& trained_;
  const TableStream& data_;
  const Asked& asked_;
  Diagnosed& diagnosed_;
  const Context& context_;
  Index size_ = 0;
  bool has_response_ = false;
};

}  // namespace

void predict_all(const TrainedModel& trained, const TableStream& data, const Asked& asked,
                 const std::optional<std::size_t>& memory, const Context& context,
                 const std::function<void(const Table&)>& take) {
  Diagnosed diagnosed;
  if (stays_sparse(trained, data, asked)) take(predict_sparse(trained, *data.sparse(), asked, context));
  else if (data.sparse()) take(predict_table(trained, to_table(*data.sparse()), asked, diagnosed, context));
  else if (data.table()) take(predict_table(trained, *data.table(), asked, diagnosed, context));
  else Blocks(trained, data, asked, memory.value(), diagnosed, context).visit(take);
  if (diagnosed.others > 0)
    context.warn(
        fmt::format("{} of {} did not train the model: of them leverage, standardised residuals and what else "
                    "tells how a row steers the fit are only what it would be for a row there",
                    format_count(diagnosed.others), count_of(diagnosed.rows, "row")));
}

}  // namespace lemma::app
