// lemma/cluster/affinity_propagation/messages.cpp
#include <algorithm>
#include <cmath>
#include <lemma/cluster/affinity_propagation/messages.hpp>
#include <lemma/cluster/kmedoids/pam.hpp>
#include <lemma/cluster/shared/dissimilarity_rows.hpp>
#include <limits>

namespace lemma {
namespace {

constexpr Index kRows = 32, kColumns = 64;  // that a thread takes at once
constexpr double kFar = std::numeric_limits<double>::infinity();
constexpr double kLeastGain = 1e-12;  // of the sum of all: less is rounding

Index pieces(Index n, Index size) { return (n + size - 1) / size; }

class Messages {
 public:
  Messages(const Dissimilarities& all, const Vector& preference, double damping)
      : all_(all), preference_(preference), damping_(damping), r_(Matrix::Zero(n(), n())), a_(Matrix::Zero(n(), n())) {}

  Index n() const { return all_.count(); }

  void round(const Execution& execution) {
    parallel_for(pieces(n(), kRows), execution, [&](Index part) { tell_responsibilities(part * kRows); });
    Vector wanted(n());
    parallel_for(pieces(n(), kColumns), execution, [&](Index part) { count_wanted(part * kColumns, wanted); });
    parallel_for(pieces(n(), kRows), execution, [&](Index part) { tell_availabilities(part * kRows, wanted); });
  }
  std::vector<Index> exemplars() const {
    std::vector<Index> out;
    for (Index k = 0; k < n(); ++k)
      if (r_(k, k) + a_(k, k) > 0) out.push_back(k);
    return out;
  }
  /// The row that comes nearest to being one.
  Index likeliest() const {
    Index out = 0;
    (r_.diagonal() + a_.diagonal()).maxCoeff(&out);
    return out;
  }

 private:
  void tell_responsibilities(Index first) {
    const Index count = std::min(kRows, n() - first);
    std::vector<double> d(at(count * n()));
    dissimilarity_rows(all_, first, count, d.data());
    for (Index row = 0; row < count; ++row) {
      const Index i = first + row;
      double* s = d.data() + row * n();
      for (Index k = 0; k < n(); ++k) s[k] = -s[k];
      s[i] = preference_(i);
      double best = -kFar, second = -kFar;
      Index which = 0;
      for (Index k = 0; k < n(); ++k) {
        const double sum = a_(i, k) + s[k];
        if (sum > best) second = best, best = sum, which = k;
        else if (sum > second) second = sum;
      }
      if (second == -kFar) second = best;  // the only row
      for (Index k = 0; k < n(); ++k)
        r_(i, k) = damping_ * r_(i, k) + (1 - damping_) * (s[k] - (k == which ? second : best));
    }
  }
  /// Of each column r(k, k) + Σ_{i≠k} max(0, r(i, k)).
  void count_wanted(Index first, Vector& wanted) const {
    const Index count = std::min(kColumns, n() - first);
    Vector sum = Vector::Zero(count);
    for (Index i = 0; i < n(); ++i)
      for (Index c = 0; c < count; ++c) sum(c) += i == first + c ? r_(i, i) : std::max(0.0, r_(i, first + c));
    wanted.segment(first, count) = sum;
  }
  void tell_availabilities(Index first, const Vector& wanted) {
    for (Index i = first; i < std::min(n(), first + kRows); ++i)
      for (Index k = 0; k < n(); ++k) {
        const double told = i == k ? wanted(k) - r_(k, k) : std::min(0.0, wanted(k) - std::max(0.0, r_(i, k)));
        a_(i, k) = damping_ * a_(i, k) + (1 - damping_) * told;
      }
  }

  const Dissimilarities& all_;
  const Vector& preference_;
  double damping_;
  Matrix r_, a_;
};

/// Of each row the way to its nearest exemplar, and to the next one.
struct Ways {
  Vector nearest, second;
};
Ways ways_to(const Matrix& far) {
  Ways out{Vector::Constant(far.cols(), kFar), Vector::Constant(far.cols(), kFar)};
  for (Index m = 0; m < far.rows(); ++m)
    for (Index i = 0; i < far.cols(); ++i) {
      if (far(m, i) < out.nearest(i)) out.second(i) = out.nearest(i), out.nearest(i) = far(m, i);
      else out.second(i) = std::min(out.second(i), far(m, i));
    }
  return out;
}

/// One more exemplar, or one fewer, whichever is best; false where neither is for the better.
bool take_in_or_leave_out(const Dissimilarities& all, std::vector<Index>& exemplars, double price) {
  const Index n = all.count();
  const Matrix far = far_from(all, exemplars);
  const Ways ways = ways_to(far);
  double best = kLeastGain * (ways.nearest.sum() + price * static_cast<double>(exemplars.size()));
  Index in = -1, out = -1;
  if (exemplars.size() > 1)
    for (Index m = 0; m < far.rows(); ++m) {
      double saved = price;
      for (Index i = 0; i < n; ++i)
        if (far(m, i) == ways.nearest(i)) saved -= ways.second(i) - ways.nearest(i);
      if (saved > best) best = saved, out = m;
    }
  std::vector<double> d(at(n));
  for (Index c = 0; c < n; ++c) {
    all.row(c, d);
    double saved = -price;
    for (Index i = 0; i < n; ++i) saved += std::max(0.0, ways.nearest(i) - d[at(i)]);
    if (saved > best) best = saved, in = c, out = -1;
  }
  if (in >= 0) exemplars.insert(std::lower_bound(exemplars.begin(), exemplars.end(), in), in);
  else if (out >= 0) exemplars.erase(exemplars.begin() + out);
  return in >= 0 || out >= 0;
}

}  // namespace

Settled exchange_messages(const AffinityPropagation& spec, const Dissimilarities& all, const Vector& aside,
                          const Execution& execution) {
  double greatest = 0;
  for (const double each : all.kept()) greatest = std::max(greatest, each);
  if (greatest == 0) return {{0}, 0, true};  // all rows are equal: any of them stands for all
  const Vector preference = (*spec.preference - 1e-9 * greatest * aside.array()).matrix();
  Messages messages(all, preference, spec.damping);
  Settled out;
  int same = 0;
  while (out.rounds < spec.max_iterations && !out.settled) {
    execution.report(static_cast<double>(out.rounds) / spec.max_iterations, "messages");
    messages.round(execution.part(0, 0));
    ++out.rounds;
    auto now = messages.exemplars();
    same = now == out.exemplars ? same + 1 : 1;
    out.exemplars = std::move(now);
    out.settled = same >= spec.patience && !out.exemplars.empty();
  }
  if (out.exemplars.empty()) out.exemplars.push_back(messages.likeliest());
  return out;
}

std::vector<Index> bettered(const Dissimilarities& all, std::vector<Index> exemplars, double price,
                            const Execution& execution) {
  do {
    if (execution.cancelled()) throw Cancelled();
    const PamRun run = pam(all, std::move(exemplars), all.count(), execution.part(0, 0));
    if (run.cancelled) throw Cancelled();
    exemplars = run.medoids;
  } while (take_in_or_leave_out(all, exemplars, price));
  return exemplars;
}

}  // namespace lemma
