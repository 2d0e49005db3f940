// lemma/model/overlap.hpp: how many rows are equal to training rows, and how surely that is known.
#pragma once
#include <lemma/core/matrix.hpp>

namespace lemma {

/// Of rows that were compared with a model's memory of its training rows. Each was decided by the whole hash, or a
/// filter was asked, which never overlooks a training row but now and then takes another row for one.
struct Overlap {
  Index rows = 0;                                 // compared
  Index equal = 0;                                // have the hash, all 64 bits of it, of a training row
  Index asked = 0;                                // about which the filter was asked
  Index alarms = 0;                               // of these, look like a training row
  Index distinct_asked = 0, distinct_alarms = 0;  // equal rows counted once: chance meets them together
  Index copies = 0, as_many_copies = 0;  // of the alarm that occurs most often; different rows asked about with so many
  Index unknown = 0;       // there was nothing to ask: an old file keeps a sample of many rows, and no filter
  double false_alarm = 0;  // the probability that the filter takes a row that it never saw for a training row

  void add(const Overlap& more);
  Index decided() const { return rows - asked - unknown; }  // by the whole hash
  /// Whether it is certain that none of them is equal to a training row.
  bool none() const { return equal + alarms + unknown == 0; }
  /// Whether equal + alarms is the number of equal rows, but for an accident of less than one in a million.
  bool exact() const;
  /// Alarms to be expected if no row asked about is equal.
  double by_chance() const { return static_cast<double>(asked) * false_alarm; }
  /// If no row asked about is equal, the chance of alarms for so many different rows, or for one with so many copies.
  double chance() const;
  /// Of the rows that are not unknown those equal to a training row: the likeliest number, and bounds that hold 99
  /// times out of 100.
  double estimate() const;
  Index least() const;
  Index most() const;

 private:
  double rows_without(double falsely) const;  // those with an alarm, less so many different false ones
};

/// The chance of at least so many successes in `trials` that succeed with probability p.
double binomial_upper(Index successes, Index trials, double p);

}  // namespace lemma
