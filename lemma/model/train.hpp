// lemma/model/train.hpp: from a table and a formula to a model that can be kept, and back to predictions.
#pragma once
#include <lemma/data/design.hpp>
#include <lemma/data/stream.hpp>
#include <lemma/model/method.hpp>
#include <lemma/model/origin.hpp>
#include <lemma/model/pipeline.hpp>

namespace lemma {

/// How the user calls the training rows, where results speak of them one by one.
struct RowNames {
  std::string column;              // whose entries name them (--id); empty: they are known by their numbers
  std::vector<std::string> names;  // these, a row each; none without such a column
  std::vector<Index> numbers;      // of the rows in the table, from 1; none: all of them, as they came

  Index number(Index i) const { return numbers.empty() ? i + 1 : numbers.at(static_cast<std::size_t>(i)); }
  std::string name(Index i) const;
  bool empty() const { return names.empty() && numbers.empty(); }
  Value save() const;
  static RowNames load(const Value& value, Index rows);  // Error unless there is one for each row
};

/// What a second look at a model finds.
struct Verification {
  Certificate certificate;               // computed anew
  bool same_rows = false;                // the data are those the model was fitted on, all of them
  bool all_there = false;                // they are, but those of an updated model may be mixed
  Index rows = 0;                        // given
  Overlap overlap;                       // of these with the rows of the model
  std::vector<OriginPart> missing = {};  // of an updated model: what was learned from and is not there
};

/// Rows that one thread predicts at a time. What is said of a row does not depend on it (math/row_products.hpp).
inline constexpr Index kPredictedTogether = 4096;

/// A model with all it needs to meet a raw table again: what a .lemma file holds.
struct TrainedModel {
  AnyModel model;
  Design design;
  Origin origin;
  std::vector<std::string> notes;        // of the training: rows dropped, columns left out
  std::shared_ptr<const Method> method;  // owned here when it is a pipeline
  RowNames row_names = {};               // kept where results speak of rows
  Value choice = {};                     // how it was chosen among others: every try with its score; null: it was not

  Names names() const;
  /// What the model is about, as JSON shows it: results() of the model, with the training rows by the table's numbers.
  Value results() const;
  /// One result as a table: entries with the names of what they run along. Error that lists the results when there is none
  /// of that name, or it is no array.
  Table result_table(std::string_view name) const;
  /// What a command of its family makes of it (Method::actions): what is said of the training rows, as a table with their
  /// names, or another model of the same rows.
  std::variant<Table, TrainedModel> act(std::string_view action, const Value& params) const;
  /// Rows drawn from the model, as a table with the columns of its design and its response; the first ones do not depend on how
  /// many there are. Error when it is no density.
  Table draw(Index count, std::uint64_t seed) const;
  /// A part of its predictions as it is written: named columns, classes by their names.
  std::vector<Column> columns_of(const PredictedPart& part) const;
  /// Of a raw table, or of what the design made of one. The offset of a formula is part of the prediction, as in R.
  /// Rows of the table are predicted kPredictedTogether at a time; a table cut anywhere gives the same bits.
  Prediction predict(const Table& table, const PredictOptions& options = {}, const Execution& execution = {}) const;
  Prediction predict(const DesignData& data, const PredictOptions& options = {}, const Execution& execution = {}) const;
  /// Of rows that are too many, or too wide, to be dense at once.
  Prediction predict(const Rows& rows, const PredictOptions& options = {}, const Execution& execution = {}) const;
  /// The model after the rows of `data` too, which need not hold those it was fitted on. Its certificate is about the
  /// new rows, and what is known of the old ones.
  TrainedModel update(const TableStream& data, const FitOptions& options,
                      const std::optional<std::size_t>& memory = {}) const;
  /// The certificate computed again, from the model and the data alone. Of an updated model all its rows are wanted:
  /// those of the fit and of each update apart, in any order, or one table with all in their order. What it knows of
  /// the rows before the last update is then made again from them.
  Verification verify(const TableStream& data, const std::optional<std::size_t>& memory = {},
                      const Execution& execution = {}) const;
  Verification verify(std::span<const TableStream* const> data, const std::optional<std::size_t>& memory = {},
                      const Execution& execution = {}) const;
};

struct TrainOptions {
  DesignOptions design;
  RowOptions rows;  // beside those of the design, by the rows of the table
  FitOptions fit;
  std::string id;                     // a column that names the rows; it is left out of `.`
  std::optional<std::size_t> memory;  // bytes that the table may take; larger ones are streamed in blocks
};

/// Fits a method (or pipeline) to a table by a formula. A table larger than the memory allowed is streamed; a method that
/// cannot work by scans then says how much memory it would take.
TrainedModel train(std::shared_ptr<const Method> method, Value params, const Formula& formula, const TableStream& data,
                   const TrainOptions& options = {});

/// A formula without an intercept reaches the method as its parameter.
void pass_intercept(const Method& method, const Design& design, Value& params);

/// The method a text names: one of `methods`, or a pipeline of them. Parameters in the text become `params`.
std::shared_ptr<const Method> method_from(std::string_view text, std::span<const Method* const> methods, Value& params);

/// In C++: fit(Scale{} | Pca{.components = 5} | Lda{}, formula("species ~ ."), iris).
TrainedModel fit(const Pipeline& pipeline, const Formula& formula, const Table& table, const CallOptions& options = {});

}  // namespace lemma
