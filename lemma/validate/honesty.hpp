// lemma/validate/honesty.hpp: what can be said of rows that a model is judged on: are they rows it has learned from?
#pragma once
#include <lemma/model/train.hpp>

namespace lemma {

/// An estimate from rows that chose a model is not an estimate of its error. What is known is whether a row is equal to
/// a training row; whether it is one, where real data have equal rows, only the training rows can suggest.
struct Honesty {
  /// test      nothing speaks against an honest estimate;
  /// training  all are rows that the model has learned from, so that its figures flatter it;
  /// mixed     some are equal to training rows, more than among new rows;
  /// unknown   there is nothing to tell it by.
  enum class Kind { test, training, mixed, unknown };
  Kind kind = Kind::unknown;
  Overlap overlap;
  bool same_rows = false;       // they are the rows the model was fitted on, all of them and no other
  Index training_rows = 0;      // that trained the model; 0: it does not remember them
  std::optional<double> twins;  // share of those that are equal to another one; nothing: not known
  std::string sentence;         // all of it in words
};
std::string_view name_of(Honesty::Kind kind);

/// Compares the rows with the model's memory of its training rows: one pass.
Honesty honesty(const TrainedModel& trained, const Rows& rows, const Execution& execution = {});

/// {"kind": "test", "same_rows": …, "message": …}: see docs/json.md.
Value to_value(const Honesty& honesty);

}  // namespace lemma
