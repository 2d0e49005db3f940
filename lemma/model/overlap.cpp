// lemma/model/overlap.cpp
#include <algorithm>
#include <cmath>
#include <lemma/math/distributions.hpp>
#include <lemma/model/overlap.hpp>

namespace lemma {
namespace {

constexpr double kAccident = 1e-6, kTail = 0.005;

/// The first number in [from, to) for which `holds`, which then holds for all that follow; `to` when there is none.
template <class Holds>
Index first_that(Index from, Index to, const Holds& holds) {
  while (from < to) {
    const Index middle = from + (to - from) / 2;
    if (holds(middle)) to = middle;
    else from = middle + 1;
  }
  return from;
}

}  // namespace

double binomial_upper(Index successes, Index trials, double p) {
  if (successes <= 0) return 1;
  if (successes > trials || !(p > 0)) return 0;
  if (p >= 1) return 1;
  // P(X ≥ k) = I_p(k, n − k + 1), which is the distribution function of F with 2k and 2(n − k + 1) degrees of freedom.
  const auto k = static_cast<double>(successes), rest = static_cast<double>(trials - successes + 1);
  return f_cdf(p / (1 - p) * rest / k, 2 * k, 2 * rest);
}

void Overlap::add(const Overlap& more) {
  rows += more.rows;
  equal += more.equal;
  asked += more.asked;
  alarms += more.alarms;
  distinct_asked += more.distinct_asked;
  distinct_alarms += more.distinct_alarms;
  if (more.copies > copies) {
    copies = more.copies;
    as_many_copies = more.as_many_copies;
  } else if (more.copies == copies) {
    as_many_copies += more.as_many_copies;
  }
  unknown += more.unknown;
  false_alarm = std::max(false_alarm, more.false_alarm);
}

bool Overlap::exact() const { return unknown == 0 && (alarms == 0 || by_chance() < kAccident); }

double Overlap::chance() const {
  const double many = binomial_upper(distinct_alarms, distinct_asked, false_alarm);
  if (copies <= 1) return many;
  const double often = binomial_upper(1, as_many_copies, false_alarm);
  return std::min(1.0, 2 * std::min(many, often));  // the less likely of two
}

// Of different rows o = distinct_asked − distinct_alarms are certainly no training rows; the number F of false alarms
// is then one of Bin(o + F, f). They have as many copies as those rows have on average.

double Overlap::estimate() const {
  const double falsely = static_cast<double>(distinct_asked - distinct_alarms) * false_alarm / (1 - false_alarm);
  return exact() ? static_cast<double>(equal + alarms) : static_cast<double>(equal) + rows_without(falsely);
}

double Overlap::rows_without(double falsely) const {
  const Index other = distinct_asked - distinct_alarms;
  const double each = other > 0 ? static_cast<double>(asked - alarms) / static_cast<double>(other) : 1;
  return std::max(0.0, static_cast<double>(alarms) - falsely * each);
}

Index Overlap::least() const {
  if (exact()) return equal + alarms;
  const Index other = distinct_asked - distinct_alarms;
  const Index too_many = first_that(1, distinct_alarms + 1, [&](Index falsely) {
    return binomial_upper(falsely, other + falsely, false_alarm) < kTail;
  });
  return equal + static_cast<Index>(std::floor(rows_without(static_cast<double>(too_many - 1)) + 1e-9));
}

Index Overlap::most() const {
  if (exact()) return equal + alarms;
  const Index other = distinct_asked - distinct_alarms;
  const Index fewest = first_that(0, distinct_alarms, [&](Index falsely) {
    return 1 - binomial_upper(falsely + 1, other + falsely, false_alarm) >= kTail;
  });
  return equal + static_cast<Index>(std::ceil(rows_without(static_cast<double>(fewest)) - 1e-9));
}

}  // namespace lemma
