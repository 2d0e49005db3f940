// lemma/validate/honesty.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/validate/honesty.hpp>

namespace lemma {
namespace {

using Kind = Honesty::Kind;

constexpr double kUnlikely = 0.01;  // a count that chance exceeds more seldom is not put down to it

/// "0.24 %": two digits, and never 0 or 100 for a share that is neither.
std::string percent(double part, double whole) {
  const double p = 100 * part / whole, from_end = std::min(p, 100 - p);
  if (!(from_end > 0)) return fmt::format("{:.0f} %", p);
  const int decimals = from_end >= 10 ? 0 : std::max(1, 1 - static_cast<int>(std::floor(std::log10(from_end))));
  return fmt::format("{:.{}f} %", p, decimals);
}

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

struct Verdict {
  Kind kind;
  std::string sentence;
};

/// A sentence begins with what the rows are, so that the two never disagree.
Verdict verdict(Kind kind, const std::string& rest) {
  switch (kind) {
    case Kind::test: return {kind, "Test rows" + rest};
    case Kind::training: return {kind, "TRAINING rows" + rest};
    case Kind::mixed: return {kind, "MIXED rows" + rest};
    case Kind::unknown: return {kind, "UNKNOWN" + rest};
  }
  return {kind, rest};
}

/// The rows are equal to training rows, so many of them (in words): is this more than new ones would be?
Verdict judged(Index rows, const RowSketch& training, Index equal, const std::string& how_many,
               const std::string& aside) {
  const std::string what = fmt::format(": {} {} equal to {}{}", how_many, are(equal),
                                       equal == 1 ? "a training row" : "training rows", aside);
  if (const auto why = expected_of_new_rows(training, equal, rows); !why.empty()) {
    if (equal < rows) return verdict(Kind::test, fmt::format("{}, as many as among new rows: {}.", what, why));
    return verdict(Kind::unknown, fmt::format("{}, and so would new ones be: {}.", what, why));
  }
  if (equal == rows) return verdict(Kind::training, what + ", so these figures flatter the model.");
  return verdict(Kind::mixed,
                 fmt::format("{}: the same example{}, or others with the same values; these figures may flatter the "
                             "model.",
                             what, equal == 1 ? "" : "s"));
}

/// Of an old file's many training rows only a sample is known.
Verdict from_a_sample(const Overlap& found, const RowSketch& training) {
  const std::string lacks =
      fmt::format("the model file is of an older kind that keeps {} of its {} training rows",
                  format_count(static_cast<Index>(training.smallest().size())), format_count(training.rows()));
  if (found.decided() == 0)
    return verdict(Kind::unknown,
                   fmt::format(": {}, which cannot rule out that {} trained the model; fit it again to know.", lacks,
                               found.rows == 1 ? "this row" : fmt::format("these {} rows", format_count(found.rows))));
  if (found.equal == 0)
    return verdict(
        Kind::test,
        fmt::format(", as far as can be told: none of the {} that can be compared is equal to a training row, but the "
                    "other {} cannot be ruled out: {}.",
                    count_of(found.decided(), "row"), format_count(found.unknown), lacks));
  return verdict(
      Kind::mixed,
      fmt::format(": about {} of {} are equal to training rows; these figures may flatter the model (an estimate from "
                  "the {} of them that can be compared: {}).",
                  percent(static_cast<double>(found.equal), static_cast<double>(found.decided())),
                  count_of(found.rows, "row"), format_count(found.decided()), lacks));
}

/// The filter's alarms are no more than it gives of rows that it never saw.
Verdict by_chance(const Overlap& found) {
  return verdict(
      Kind::test,
      fmt::format(
          ", as far as can be told: {} of {} are not equal to a training row, for certain; {} as if {}, and "
          "chance alone makes about {} look so ({} of new rows), so {}.",
          format_count(found.rows - found.alarms), count_of(found.rows, "row"),
          found.alarms == 1 ? "1 looks" : fmt::format("{} look", format_count(found.alarms)),
          found.alarms == 1 ? "it were" : "they were", format_significant(found.by_chance(), 2),
          percent(found.false_alarm, 1),
          found.most() == 0 ? "probably none is equal" : fmt::format("at most about {} can be equal", found.most())));
}

/// Nothing, or how little the tables had to be compared by.
std::string without_weights(const TrainedModel& trained) {
  const bool weighted =
      trained.origin.rows.weighted_hash() || !trained.design.weights().empty() || !trained.design.precision().empty();
  return weighted ? " but for weights" : "";
}

Verdict verdict_of(const TrainedModel& trained, const Overlap& overlap, bool same_rows) {
  const RowSketch& training = trained.origin.rows;
  const std::string weights = without_weights(trained);
  if (training.rows() == 0)
    return verdict(Kind::unknown, ": the model does not remember the rows that trained it, which may be among these.");
  if (same_rows)
    return verdict(Kind::training,
                   overlap.rows == 1
                       ? ": this is the row that trained the model, so these figures flatter it."
                       : fmt::format(": these are the {} that trained the model, so these figures flatter it.",
                                     count_of(overlap.rows, "row")));
  if (overlap.unknown > 0) return from_a_sample(overlap, training);
  if (overlap.none())
    return verdict(Kind::test, overlap.rows == 1 ? ": the only row is not equal to a row that trained the model."
                                                 : fmt::format(": none of {} is equal to a row that trained the model.",
                                                               count_of(overlap.rows, "row")));
  if (overlap.exact()) {
    const Index equal = overlap.equal + overlap.alarms;
    return judged(overlap.rows, training, equal, some_of(equal, overlap.rows), weights);
  }
  const double chance = overlap.chance();
  if (overlap.equal == 0 && chance >= kUnlikely) return by_chance(overlap);
  if (overlap.least() == overlap.most())  // every alarm is a training row
    return judged(overlap.rows, training, overlap.least(), some_of(overlap.least(), overlap.rows),
                  weights + (chance < 1e-12 ? ""
                                            : fmt::format(" (the chance that new rows only look so is {})",
                                                          format_significant(chance, 1))));
  const auto about = std::max(overlap.least(), static_cast<Index>(std::llround(overlap.estimate())));
  return judged(overlap.rows, training, about, "about " + some_of(about, overlap.rows),
                weights + fmt::format(" ({} to {})", format_count(overlap.least()), format_count(overlap.most())));
}

}  // namespace

std::string_view name_of(Honesty::Kind kind) {
  switch (kind) {
    case Kind::test: return "test";
    case Kind::training: return "training";
    case Kind::mixed: return "mixed";
    case Kind::unknown: return "unknown";
  }
  return "";
}

Honesty honesty(const TrainedModel& trained, const Rows& rows, const Execution& execution) {
  Honesty out;
  const RowSketch& training = trained.origin.rows;
  out.training_rows = training.rows();
  out.overlap.rows = out.overlap.unknown = rows.count();
  if (training.rows() > 0) {
    const Recognition found = recognise(training, rows, execution);
    out.overlap = found.overlap;
    out.same_rows = found.same;
    if (const auto twins = training.twins()) out.twins = twins->share();
  }
  auto [kind, sentence] = verdict_of(trained, out.overlap, out.same_rows);
  out.kind = kind;
  out.sentence = std::move(sentence);
  return out;
}

Value to_value(const Honesty& honesty) {
  const Overlap& overlap = honesty.overlap;
  Value out = Value::object();
  out.set("kind", name_of(honesty.kind));
  out.set("same_rows", honesty.same_rows);
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
  out.set("training_rows", honesty.training_rows > 0 ? Value(honesty.training_rows) : Value());
  out.set("share_of_training_rows_equal_to_another", honesty.twins ? Value(*honesty.twins) : Value());
  out.set("message", honesty.sentence);
  return out;
}

}  // namespace lemma
