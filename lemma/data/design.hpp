// lemma/data/design.hpp: from columns with names, types and levels to numbers, and the same way again at prediction.
#pragma once
#include <lemma/core/matrix.hpp>
#include <lemma/core/parallel.hpp>
#include <lemma/core/rows.hpp>
#include <lemma/core/sparse.hpp>
#include <lemma/core/value.hpp>
#include <lemma/data/formula.hpp>
#include <lemma/data/needs.hpp>
#include <lemma/data/table.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lemma {

class TableStream;
struct DesignParts;

/// How a factor with k levels becomes columns:
/// treatment  k − 1 columns, one for each level but the first (the reference), named `sexM`;
/// sum        k − 1 columns whose effects sum to zero over the levels (the last level is −1 in each), named `sex1`;
/// one_hot    k columns, one for each level;
/// codes      one column that holds 0 … k − 1, for methods that take categories as they are (Needs::codes). An interaction
///            has no such column and is refused.
/// Under treatment and sum a factor has all k columns where its contrasts would lose something: without an intercept,
/// or in an interaction whose lower term is absent (R's rule).
enum class Coding { treatment, sum, one_hot, codes };
/// What becomes of rows with missing values: refused, left out, filled in with what the training rows have, left empty
/// (keep, at prediction), or passed on as NaN to a method that takes them (native).
enum class Missing { error, drop, mean, median, mode, keep, native };
/// What a response is for a method that takes numbers and classes: what the type of its column says (numbers are numbers;
/// levels, factor(y), cut(y, 3) and y > 3 are classes), or what the user says. Never what its values happen to be.
enum class ResponseAs { by_type, numbers, classes };
std::string_view name_of(Coding coding);
std::string_view name_of(Missing missing);

struct DesignOptions {
  Coding coding = Coding::treatment;
  Missing missing = Missing::error;
  Unseen unseen = Unseen::error;
  ResponseAs response = ResponseAs::by_type;  // of a method that takes both
  bool classify = false;  // the method predicts classes: a numeric response becomes a class label as it is written
  bool classify_categories = false;  // it predicts numbers or classes: the type of the response decides
  bool takes_offset = false;         // offset(z) is an error otherwise
  bool takes_counts = false;         // cbind(successes, failures) is an error otherwise,
  bool takes_several = false;        // so is cbind(y1, y2)
  int letters = 0;                 // text columns become counts of their pieces of so many letters; 0: they are refused
  std::string weights, precision;  // names of columns that weigh the rows; empty: none. Left out of `.`
  std::string id;                  // a column that names the rows; empty: none. Left out of `.`, and not kept
  std::vector<std::string> complete;  // columns that a training row must have, beside those of the formula, to be kept
  std::string cluster;                // column whose equal values are one cluster; empty: none. Left out of `.`
  Execution execution;                // for learning; not kept
};

/// The numbers a method sees, in memory. DesignRows (stream_rows.hpp) shows them as Rows.
struct DesignData {
  Matrix x;
  std::vector<double> y;          // numeric response, NaN where it is missing (at prediction)
  std::vector<int> label;         // class codes, −1 where the response is missing or unseen (at prediction)
  std::vector<double> responses;  // several: row after row; NaN where one is missing or unseen (at prediction)
  std::vector<double> weight, precision, offset;
  std::vector<std::uint64_t> cluster;  // at training: the hash of the value in the cluster's column
  std::vector<Index> kept;             // row of the table that row i came from (rows may be dropped)
  std::vector<std::string> notes;      // what the user should know: rows dropped, values imputed
  bool has_response = false;           // at prediction the response may be absent from the table
};

/// A term of the formula as columns of x.
struct DesignTermColumns {
  std::string name;                    // "d:e"
  std::vector<std::string> variables;  // "d", "e"
  Index first = 0, width = 0;
};

/// A formula bound to the columns of a table: feature names, levels, the constants of scale() and poly(), the knots of
/// bs() and ns(), the breaks of cut(), the values that stand in for missing ones. Learned once from the training table, then applied to any table with these columns.
/// A value: copies share what was learned, and it never changes.
///
/// Levels and classes that do not occur in the training rows are left out, but a condition (x > 10) among the terms has
/// both FALSE and TRUE. Levels made from numbers, by factor(x) or a numeric response, are named as the number is written
/// shortest and ordered by value; texts are ordered by their bytes unless the table's column holds another order. cbind(s, f) gives y = s / (s + f), and s + f as (a factor of) the weight, for methods that
/// take counts; otherwise cbind(…) are several responses, each numbers or classes.
class Design {
 public:
  Design();
  /// Learns levels, constants and fill-ins from the training rows. The intercept is not a column of x.
  Design(const Formula& formula, const Table& table, const DesignOptions& options = {});
  /// The same from a stream: two passes, one more for cut(x, k), for each scale() inside another call, and for each 256 MB
  /// of columns whose median or mode is needed. Only columns of poly(), of bs() and ns() whose knots are quantiles,
  /// medians and modes are ever in memory as a whole.
  Design(const Formula& formula, const TableStream& stream, const DesignOptions& options = {});

  const std::vector<std::string>& features() const;      // "log(FL)", "sexM", "poly(x, 2)1", "a:b"
  std::vector<std::vector<std::string>> levels() const;  // of each feature, as Rows tells them; empty: all are numbers
  const std::vector<std::string>& classes() const;       // "B:F", …; empty for a numeric response
  std::vector<ResponseColumn> responses() const;         // of cbind(y1, y2); empty unless there are several
  const std::string& target() const;                     // "sp:sex"; empty when there is no response
  std::vector<DesignTermColumns> terms() const;          // in the order of the features
  bool has_response() const;
  bool counts() const;      // the response is cbind(successes, failures)
  bool has_offset() const;  // the formula has one
  bool intercept() const;
  const std::string& formula_text() const;
  std::vector<std::string> columns() const;  // the columns of the table it needs for x (and the offset)
  std::vector<std::string> response_columns() const;
  std::vector<std::string> looked_at() const;  // all of these, and those of the weights
  Coding coding() const;
  const std::string& weights() const;  // the columns that weigh the rows; empty: none
  const std::string& precision() const;
  const std::string& cluster() const;  // the column that tells clusters; empty: none
  Missing missing() const;             // the policy it was trained with
  Unseen unseen() const;
  const std::vector<std::string>& notes() const;  // columns and levels left out when it was learned

  /// Training: rows with a missing response are an error or dropped; weights are read.
  DesignData train(const Table& table, const Execution& execution = {}) const;
  /// Prediction: column order is free, the response may be absent, unknown levels and missing columns are errors. With
  /// `drop` and `keep` x has only the complete rows, and `kept` tells which. Without a policy that of the training
  /// holds. Of a table that is part of a larger one, errors name rows by their numbers there, from `base` on.
  DesignData apply(const Table& table, std::optional<Missing> policy = {}, const Execution& execution = {},
                   Index base = 0) const;
  /// x of apply() without its zeros, never made dense.
  Csr sparse(const Table& table, std::optional<Missing> policy = {}) const;

  Value save() const;
  /// Checks every index; Error on anything inconsistent. Of a design that must make so many columns this is asked before
  /// any of them gets its name: levels and interactions multiply, and a short file could ask for much.
  static Design load(const Value& value, std::optional<Index> width = {});

  const DesignParts& parts() const { return *parts_; }

 private:
  explicit Design(std::shared_ptr<const DesignParts> parts) : parts_(std::move(parts)) {}
  std::shared_ptr<const DesignParts> parts_;
};

}  // namespace lemma
