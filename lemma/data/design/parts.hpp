// lemma/data/design/parts.hpp: what a Design is made of. Only the files of the design include it.
#pragma once
#include <lemma/data/design.hpp>
#include <lemma/data/design/token_table.hpp>
#include <lemma/data/image/pixels.hpp>
#include <lemma/data/use.hpp>
#include <lemma/data/words.hpp>
#include <lemma/math/splines.hpp>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace lemma {

/// The pieces into which cut() cuts the numbers: (a, b], or [a, b) unless `right`.
struct Cut {
  std::vector<double> breaks;         // rising
  std::vector<std::string> labels;    // one for each piece
  bool lowest = false, right = true;  // lowest: the outermost break belongs to its piece too
  int piece_of(double value) const;   // −1: outside, or missing
};

class WordCounter;

/// What terms are made of: one expression of the formula, as one or more columns.
struct Variable {
  enum class Kind { numeric, scaled, polynomial, spline, categorical, pieces, words, pixels };
  Kind kind = Kind::numeric;
  Expression value;   // what is taken from the table; for `pieces`, `words` and `pixels` always a column
  std::string label;  // "log(FL)", "poly(x, 2)", "sex"
  // scaled: (value − center) / spread
  double center = 0, spread = 1;
  // polynomial: p₀ = 1, p₁ = v − α₁, pⱼ₊₁ = (v − αⱼ₊₁) pⱼ − (nⱼ₊₁ / nⱼ) pⱼ₋₁, each over its norm √nⱼ₊₁; raw: v, v², …
  int degree = 0;
  bool raw = false;
  std::vector<double> alpha, norm2;  // degree and degree + 1 numbers; none when raw
  SplineBasis spline;
  // categorical: levels of a column, FALSE and TRUE of a condition, numbers, or pieces of numbers; and pieces: the texts of
  // `degree` letters that are counted, by their bytes; words: the tokens that have a column, by their bytes
  std::vector<std::string> levels;  // the first is the reference
  int fill = -1;                    // the level that stands in for a missing one; −1: none was learned
  bool cuts = false;
  Cut cut;
  // words
  Wording wording;
  std::vector<double> rarity;                  // tfidf: log((1 + n) / (1 + d)) + 1 of each column
  std::shared_ptr<const WordCounter> counter;  // follows from these, see DesignParts::finish()
  Picturing picturing;                         // pixels

  bool is_column() const { return value.kind == Expression::Kind::name; }
  const std::string& column() const { return value.text; }  // of one that is
  bool categorical() const { return kind == Kind::categorical; }
  bool pieces() const { return kind == Kind::pieces; }
  bool words() const { return kind == Kind::words; }
  bool counted() const { return pieces() || words(); }
  bool pixels() const { return kind == Kind::pixels; }
  bool numeric() const { return !categorical() && !counted() && !pixels(); }
  bool logical() const { return categorical() && is_condition(value); }  // FALSE and TRUE, whatever the rows
  bool takes_levels_of_column() const { return is_column() && !numeric() && !cuts; }
};

/// How a categorical variable is coded in one term.
enum class Contrast { full, treatment, sum, codes };

struct DesignFactor {
  int variable = 0;
  Contrast contrast = Contrast::full;
};

/// A term as columns of x: the product of its factors' columns, the first factor's varying fastest.
struct DesignTerm {
  std::vector<DesignFactor> factors;
  Index first = 0, width = 0;
};

struct Response {
  enum class Kind { none, numeric, counts, classes, several };
  Kind kind = Kind::none;
  std::string target;
  std::vector<Expression> numbers;   // numeric: y; counts: successes, failures; several: those that are numbers
  std::vector<Quantity> quantities;  // of `numbers`: what a column holds, a number for an expression
  std::vector<Variable> parts;       // classes: one categorical variable, or several for a joint class
  std::vector<bool> of_classes;      // several: whether each is the next of `parts`, or of `numbers`
  std::vector<std::vector<int>> combinations;  // classes: the levels of the parts that make class k
  // These follow from the above.
  std::vector<std::string> classes;
  std::vector<ResponseColumn> several;
  std::map<std::vector<int>, int> code;
  std::vector<std::string> columns;
  std::vector<std::string> required;  // those that must not be missing
};

struct DesignParts {
  std::string text;  // the formula as typed
  bool intercept = true;
  Coding coding = Coding::treatment;
  Missing missing = Missing::error;
  Unseen unseen = Unseen::error;
  std::vector<Variable> variables;
  std::vector<DesignTerm> terms;
  std::vector<Expression> offsets;
  Response response;
  std::string weights, precision, cluster;
  std::vector<std::string> complete;              // columns that a training row must have besides
  std::vector<std::string> word_columns;          // used in expressions, and holding words: type == "Yes"
  std::map<std::string, double> fills;            // what stands in for a missing number, by column
  std::map<std::string, std::string> word_fills;  // and for a missing word
  std::vector<std::string> notes;

  // These follow from the above: see finish().
  std::vector<std::string> features;
  std::vector<std::string> numeric_columns;  // used as numbers in x or the offset
  std::vector<std::string> columns;          // all of x and the offset, in the order of their first use
  std::vector<std::string> required;         // those of them that must not be missing

  /// Places the terms in x, names the features, lists the columns. Error when there would be too many, or not `width`.
  void finish(std::optional<Index> width = {});
  void name_features();
  void list_columns();
  /// Is the column of the response used as numbers?
  bool needs_numbers(const std::string& response_column) const;
  /// Is there text() among the terms? Then most of x is zeros.
  bool counts_words() const;
  /// Is there image() or hog()? Then each row is a file to open.
  bool reads_images() const;
  /// All columns of a table that are looked at: those of x, the offset, the response and the weights.
  std::vector<std::string> looked_at() const;
  /// What becomes of missing values at prediction, where the caller may ask for another policy than that of the training.
  Missing policy(std::optional<Missing> asked) const;
};

// ---- texts (design_pieces.cpp) ----

/// Each run of so many letters (UTF-8 characters) of the text, from left to right.
void for_each_piece(std::string_view text, int letters, const std::function<void(std::string_view piece)>& visit);

/// How often the pieces of a variable occur in a text.
class PieceCounter {
 public:
  explicit PieceCounter(const Variable& variable);
  std::vector<std::pair<Index, double>> counts(std::string_view text) const;  // columns rising

 private:
  int letters_;
  std::map<std::string, Index, std::less<>> column_;
};

/// The tokens of texts as the columns of a variable. A value for each, columns rising.
class WordCounter {
 public:
  explicit WordCounter(const Variable& variable);
  std::vector<std::pair<Index, double>> values(std::string_view text) const;

 private:
  Tokeniser tokeniser_;
  TokenWeight weight_;
  Index hashed_;
  std::vector<double> rarity_;
  TokenTable column_;
};
/// The column that a token shares with others.
Index hashed_column(std::string_view token, Index columns);
/// The text of a row, without a copy of it where it is one.
std::string_view text_of(const Column& column, Index row, std::string& copy);

Index width_of(const Variable& variable, Contrast contrast);
/// What the variable's column is called: the label with the level, the number of the contrast or the degree.
std::string name_of(const Variable& variable, Contrast contrast, Index column);
void finish(Response& response);
/// Is it missing only where its value is not known, rather than wherever one of its columns is? NA | TRUE is TRUE.
bool is_soft(const Expression& value);
/// Does scale() stand in it?
bool has_scale(const Expression& value);
bool imputes(Missing policy);
/// What a missing value in a kept row becomes: an error (it should not be there), the fill-in, or NaN.
enum class Gaps { refuse, fill, leave };
Gaps gaps_of(Missing policy);

// ---- learning (design_learn.cpp) ----

/// Rows as they come: a table in memory or a stream, cut into the same blocks.
class TableSource {
 public:
  explicit TableSource(const Table& table) : table_(&table) {}
  explicit TableSource(const TableStream& stream);
  Index rows() const;
  const Table& schema() const;
  /// visit(table, first row of it, count, row of the source at which that is)
  using Visit = std::function<void(const Table& table, Index first, Index count, Index base)>;
  /// Of columns that `parts` has no use for, the table may hold none.
  void visit(const DesignParts& parts, Index first, Index count, const Visit& visit) const;

 private:
  const Table* table_ = nullptr;
  const TableStream* stream_ = nullptr;
};

DesignParts learn_design(const Formula& formula, const TableSource& source, const DesignOptions& options);

// ---- a table bound to a design (design_bind.cpp) ----

/// Codes of a categorical variable in some rows, into `levels` of the column itself; −1 is missing.
struct LocalCodes {
  std::span<const std::int32_t> codes;
  std::span<const std::string> levels;
  std::vector<std::int32_t> own_codes;  // where the column does not hold codes itself
  std::vector<std::string> own_levels;

  LocalCodes() = default;
  LocalCodes(LocalCodes&&) = default;  // a copy would look at the other's own codes
  LocalCodes& operator=(LocalCodes&&) = default;
};
LocalCodes local_codes(const Column& column, Index first, Index count);

// The intervals are written with as many digits as tell the breaks apart, and at least `digits`, as R does.
std::vector<std::string> interval_labels(const Cut& cut, int digits);
/// So many pieces of equal length from the least value to the largest, 1/1000 further at both ends, as R does.
std::vector<double> equal_breaks(double low, double high, int pieces);

class BoundRows;

/// "a, b, c and 7 more"
std::string some_of(const std::vector<std::string>& names, std::size_t most);

/// A table whose columns were found and checked against what a design needs.
class BoundTable {
 public:
  BoundTable(const DesignParts& parts, const Table& table, Use use, Index base = 0);

  const DesignParts& parts() const { return parts_; }
  const Table& table() const { return table_; }
  Use use() const { return use_; }
  bool has_response() const { return has_response_; }
  Index row_number(Index row) const { return base_ + row + 1; }  // as a person counts, from 1
  const Column& column(const std::string& name) const;           // one of the design's
  const Column* find(const std::string& name) const;
  /// Numbers of rows from `first` on; NaN for all when the column holds nothing but missing values.
  const double* numbers(const std::string& name, Index first) const;
  /// Codes of rows into the variable's levels: −1 missing, −2 a level it does not know.
  void codes(const Variable& variable, const BoundRows& rows, std::int32_t* out) const;
  std::string level(const Variable& variable, Index row) const;  // as it is named in the table
  [[noreturn]] void fail_unknown_level(const Variable& variable, Index row) const;
  const PieceCounter& counter(const Variable& variable) const { return counters_.at(&variable); }

  /// The columns that must not be missing.
  const std::vector<std::string>& predictors() const { return parts_.required; }
  std::vector<std::string> outcomes() const;  // response and weights; none for predictions

 private:
  void bind_numbers(const std::string& name);
  void bind_levels(const Variable& variable);
  bool response_is_usable() const;

  const DesignParts& parts_;
  const Table& table_;
  Use use_;
  Index base_;
  bool has_response_ = false;
  std::unordered_map<std::string, const Column*> columns_;
  std::unordered_map<const Variable*, std::vector<std::int32_t>> remap_;                     // of categorical columns
  std::unordered_map<const Variable*, std::unordered_map<std::string, std::int32_t>> code_;  // of all others
  std::unordered_map<const Variable*, PieceCounter> counters_;
  std::vector<double> nothing_;  // NaN, for columns that are missing altogether
};

/// Some consecutive rows of a bound table, missing values filled in when asked.
class BoundRows final : public RowColumns {
 public:
  BoundRows(const BoundTable& bound, Index first, Index count, Gaps gaps);
  const BoundTable& bound() const { return bound_; }
  const double* numbers(const std::string& name) const override;
  const Column* words(const std::string& name) const override;
  const std::string* stand_in(const std::string& name) const override;
  const RowColumns& as_they_are() const override;

 private:
  const BoundTable& bound_;
  Gaps gaps_;
  mutable std::map<std::string, std::vector<double>> filled_;
  std::unique_ptr<BoundRows> raw_;  // where something may be filled in
};

/// The codes of a categorical variable: of its column, or of what its expression gives.
LocalCodes local_codes(const Variable& variable, const BoundRows& rows);

/// Which rows can be used, and what is missing in which columns.
struct Completeness {
  std::vector<Index> kept;
  using Counts = std::vector<std::pair<std::string, Index>>;  // by column, where there are some
  Counts missing, unseen;  // values that are not there; levels that the training rows did not have, taken for missing
  std::vector<std::string> broken;  // images that cannot be used, each with the reason
  Index incomplete = 0;             // rows with any of these
};
/// Rows [first, first + count) of the table. `kept` follows the policy; nothing is raised. Images are opened where the policy is
/// to do without those that are broken (drop, keep).
Completeness completeness(const BoundTable& bound, Missing policy, Index first, Index count,
                          const Execution& execution = Execution{.threads = 1});
/// Counts by column, in the order in which the design looks at them.
Completeness::Counts in_order(const DesignParts& parts, std::map<std::string, Index> counts);
/// Error when the policy allows no missing values and there are some.
void check_missing(const Completeness& found, Missing policy, Index rows, Use use);
/// What the user is told when rows were left out or values filled in: "12 missing values in …; 3 rows left out".
std::string missing_note(const Completeness& found, Missing policy, Index rows, Index kept, Use use);
/// "12 missing values in 3 of 200 rows: age (7), bmi (5)", "2 levels that training did not have in 2 of 200 rows: city (2)"
std::string describe_missing(const Completeness& found, Index rows);

// ---- numbers (design_fill.cpp) ----

/// Some consecutive rows of a bound table: evaluates variables for them. Missing numbers are filled in when asked.
class Rowset {
 public:
  Rowset(const BoundTable& bound, Index first, Index count, Gaps gaps);
  Index first() const { return rows_.first(); }
  Index count() const { return rows_.count(); }

  /// The value of an expression for each row; it must be finite in the rows of `used` (table rows).
  std::vector<double> numbers(const Expression& value, std::span<const Index> used);
  /// Numeric variable: width_of(variable) runs of `count` numbers.
  std::vector<double> columns(const Variable& variable, std::span<const Index> used);
  std::vector<std::int32_t> codes(const Variable& variable, std::span<const Index> used);
  /// The pieces or words of each row; none where the text is missing.
  std::vector<std::vector<std::pair<Index, double>>> pieces(const Variable& variable, std::span<const Index> used);

 private:
  std::vector<double> pixels(const Variable& variable, std::span<const Index> used);
  bool is_gap(const Expression& value, Index row);  // NaN because a column it needs is missing, which is allowed
  std::string written(const std::string& name, Index row);
  [[noreturn]] void fail_not_finite(const Expression& value, Index row, double result);

  const BoundTable& bound_;
  Gaps gaps_;
  BoundRows rows_;
};

/// x of the kept rows (of the whole table, ascending): dense into `x`, whose rows are theirs, or as sparse rows.
void fill_x(const BoundTable& bound, std::span<const Index> kept, Gaps gaps, const Execution& execution, Matrix& x);
Csr sparse_x(const BoundTable& bound, std::span<const Index> kept, Gaps gaps, const Execution& execution = {});
/// y or labels, weight, precision, cluster and offset of the kept rows.
void fill_outcome(const BoundTable& bound, std::span<const Index> kept, Gaps gaps, DesignData& data);

/// All of it: the table's rows as numbers. Errors count rows from `base` on.
DesignData make_data(const DesignParts& parts, const Table& table, Use use, Missing policy, Index base,
                     const Execution& execution);

// ---- files (design_store.cpp) ----
Value save_design(const DesignParts& parts);
DesignParts load_design(const Value& value, std::optional<Index> width);

}  // namespace lemma
