// app/honesty.cpp
#include "honesty.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>

namespace lemma::app {
namespace {

constexpr double kUnlikely = 0.01;  // a count that chance exceeds more seldom is not put down to it

std::string are(Index count) { return count == 1 ? "is" : "are"; }

/// "12 of 5,000 rows (0.24 %)", "all 3 rows"
std::string some_of(Index part, Index whole) {
  if (part == whole) return whole == 1 ? "the only row" : fmt::format("all {} rows", format_count(whole));
  return fmt::format("{} of {} rows ({})", format_count(part), format_count(whole),
                     percent(static_cast<double>(part), static_cast<double>(whole)));
}

/// What the training rows say of equal rows, when new ones of their kind would be equal to them as often as these are.
std::string expected_of_new_rows(const RowSketch& training, Index equal, Index rows) {
  const auto twins = training.twins();
  if (!twins || twins->rows == 0 || binomial_upper(equal, rows, twins->share()) < kUnlikely) return "";
  const auto some = static_cast<Index>(twins->rows), all = static_cast<Index>(twins->of);
  return twins->exact
             ? fmt::format("of the training rows {} of {} ({}) {} equal to another one", format_count(some),
                           format_count(all), percent(twins->rows, twins->of), are(some))
             : fmt::format("of the training rows about {} are equal to another one", percent(twins->rows, twins->of));
}

/// The rows are equal to training rows, so many of them (in words): is this more than new ones would be?
std::string judged(const Honesty& found, const RowSketch& training, Index equal, const std::string& how_many,
                   const std::string& aside, bool& fresh) {
  const Index rows = found.overlap.rows;
  const std::string to_what = equal == 1 ? "equal to a training row" : "equal to training rows";
  if (const auto why = expected_of_new_rows(training, equal, rows); !why.empty()) {
    fresh = equal < rows;
    return fresh ? fmt::format("Test rows: {} {} {}{}, as many as among new rows: {}.", how_many, are(equal), to_what,
                               aside, why)
                 : fmt::format("UNKNOWN: {} {} {}{}, and so would new ones be: {}.", how_many, are(equal), to_what,
                               aside, why);
  }
  if (equal == rows)
    return fmt::format("TRAINING rows: {} {} {}{}, so these figures flatter the model.", how_many, are(equal), to_what,
                       aside);
  return fmt::format(
      "MIXED rows: {} {} {}{}: the same example{}, or others with the same values; these figures may "
      "flatter the model.",
      how_many, are(equal), to_what, aside, equal == 1 ? "" : "s");
}

/// Of an old file's many training rows only a sample is known.
std::string from_a_sample(const Overlap& found, const RowSketch& training) {
  const std::string lacks =
      fmt::format("the model file is of an older kind that keeps {} of its {} training rows",
                  format_count(static_cast<Index>(training.smallest().size())), format_count(training.rows()));
  if (found.decided() == 0)
    return fmt::format("UNKNOWN: {}, which cannot rule out that {} trained the model; fit it again to know.", lacks,
                       found.rows == 1 ? "this row" : fmt::format("these {} rows", format_count(found.rows)));
  if (found.equal == 0)
    return fmt::format(
        "Test rows, as far as can be told: none of the {} that can be compared is equal to a training row, but the "
        "other {} cannot be ruled out: {}.",
        count_of(found.decided(), "row"), format_count(found.unknown), lacks);
  return fmt::format(
      "MIXED rows: about {} of {} are equal to training rows; these figures may flatter the model (an estimate from "
      "the {} of them that can be compared: {}).",
      percent(static_cast<double>(found.equal), static_cast<double>(found.decided())), count_of(found.rows, "row"),
      format_count(found.decided()), lacks);
}

/// The filter's alarms are no more than it gives of rows that it never saw.
std::string by_chance(const Overlap& found) {
  return fmt::format(
      "Test rows, as far as can be told: {} of {} are not equal to a training row, for certain; {} as if {}, and "
      "chance alone makes about {} look so ({} of new rows), so {}.",
      format_count(found.rows - found.alarms), count_of(found.rows, "row"),
      found.alarms == 1 ? "1 looks" : fmt::format("{} look", format_count(found.alarms)),
      found.alarms == 1 ? "it were" : "they were", format_significant(found.by_chance(), 2),
      percent(found.false_alarm, 1),
      found.most() == 0 ? "probably none is equal" : fmt::format("at most about {} can be equal", found.most()));
}

/// Nothing, or how little the tables had to be compared by.
std::string without_weights(const TrainedModel& trained) {
  const bool weighted =
      trained.origin.rows.weighted_hash() || !trained.design.weights().empty() || !trained.design.precision().empty();
  return weighted ? " but for weights" : "";
}

std::string sentence_of(const TrainedModel& trained, Honesty& found) {
  const Overlap& overlap = found.overlap;
  const RowSketch& training = trained.origin.rows;
  const std::string weights = without_weights(trained);
  if (found.same_rows)
    return overlap.rows == 1 ? "TRAINING rows: this is the row that trained the model, so these figures flatter it."
                             : fmt::format(
                                   "TRAINING rows: these are the {} that trained the model, so these figures "
                                   "flatter it.",
                                   count_of(overlap.rows, "row"));
  if (overlap.unknown > 0) {
    found.fresh = overlap.decided() > 0 && overlap.equal == 0;
    return from_a_sample(overlap, training);
  }
  if (overlap.none()) {
    found.fresh = true;
    return overlap.rows == 1 ? "Test rows: the only row is not equal to a row that trained the model."
                             : fmt::format("Test rows: none of {} is equal to a row that trained the model.",
                                           count_of(overlap.rows, "row"));
  }
  if (overlap.exact()) {
    const Index equal = overlap.equal + overlap.alarms;
    found.all_equal = equal == overlap.rows;
    return judged(found, training, equal, some_of(equal, overlap.rows), weights, found.fresh);
  }
  if (overlap.equal == 0 && overlap.chance() >= kUnlikely) {
    found.fresh = true;
    return by_chance(overlap);
  }
  if (overlap.least() == overlap.most()) {  // every alarm is a training row
    const double chance = overlap.chance();
    found.all_equal = overlap.least() == overlap.rows;
    return judged(found, training, overlap.least(), some_of(overlap.least(), overlap.rows),
                  weights + (chance < 1e-12 ? ""
                                            : fmt::format(" (the chance that new rows only look so is {})",
                                                          format_significant(chance, 1))),
                  found.fresh);
  }
  const auto about = std::max(overlap.least(), static_cast<Index>(std::llround(overlap.estimate())));
  return judged(found, training, about, "about " + some_of(about, overlap.rows),
                weights + fmt::format(" ({} to {})", format_count(overlap.least()), format_count(overlap.most())),
                found.fresh);
}

Value document_of(const TrainedModel& trained, const Honesty& found) {
  const Overlap& overlap = found.overlap;
  Value out = Value::object();
  out.set("same_rows", found.same_rows);
  out.set("exact", overlap.exact());
  const Index known = overlap.rows - overlap.unknown;
  const double share = known > 0 ? overlap.estimate() / static_cast<double>(known) : std::nan("");
  if (overlap.exact()) out.set("equal_rows", overlap.equal + overlap.alarms);
  else out.set("equal_rows", share * static_cast<double>(overlap.rows));
  out.set("share", share);
  out.set("at_least", overlap.least());
  out.set("at_most", overlap.most() + overlap.unknown);
  out.set("proved_unequal", overlap.rows - overlap.equal - overlap.alarms - overlap.unknown);
  out.set("unknown", overlap.unknown);
  out.set("false_alarm_rate", overlap.false_alarm);
  out.set("training_rows", trained.origin.rows.rows());
  const auto twins = trained.origin.rows.twins();
  out.set("share_of_training_rows_equal_to_another", twins ? Value(twins->share()) : Value());
  out.set("message", found.sentence);
  return out;
}

}  // namespace

std::string percent(double part, double whole) {
  const double p = 100 * part / whole, from_end = std::min(p, 100 - p);
  if (!(from_end > 0)) return fmt::format("{:.0f} %", p);
  const int decimals = from_end >= 10 ? 0 : std::max(1, 1 - static_cast<int>(std::floor(std::log10(from_end))));
  return fmt::format("{:.{}f} %", p, decimals);
}

Honesty honesty(const TrainedModel& trained, const Rows& rows, const Execution& execution) {
  Honesty out;
  const Recognition found = recognise(trained.origin.rows, rows, execution);
  out.overlap = found.overlap;
  out.same_rows = out.all_equal = found.same;
  out.sentence = sentence_of(trained, out);
  out.document = document_of(trained, out);
  return out;
}

}  // namespace lemma::app
