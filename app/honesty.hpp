// app/honesty.hpp: what can be said of rows that a model is judged on: are they rows it has learned from?
#pragma once
#include <lemma/model/train.hpp>

namespace lemma::app {

/// An estimate from rows that chose a model is not an estimate of its error. What is known is whether a row is equal to
/// a training row; whether it is one, where real data have equal rows, only the training rows can suggest.
struct Honesty {
  Overlap overlap;
  bool same_rows = false;  // they are the rows the model was fitted on, all of them and no other
  bool all_equal = false;  // each is equal to a training row
  bool fresh = false;      // nothing speaks against an honest estimate
  std::string sentence;
  Value document;
};
Honesty honesty(const TrainedModel& trained, const Rows& rows, const Execution& execution);

/// "0.24 %": two digits, and never 0 or 100 for a share that is neither.
std::string percent(double part, double whole);

}  // namespace lemma::app
