// lemma/cluster/shared/column_centers.cpp
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <lemma/cluster/shared/column_centers.hpp>
#include <lemma/core/text.hpp>
#include <lemma/model/comparison.hpp>
#include <limits>
#include <unordered_map>

namespace lemma {
namespace {

constexpr Index kBlock = 512;  // rows that a thread takes

/// The nearest centre of each row, the first of equals, and how far it is.
struct Assigned {
  std::vector<Index> to;
  Vector distance;
};
Assigned assigned(const ColumnLosses& losses, const Matrix& x, const Matrix& centers, const Execution& execution) {
  Assigned out{std::vector<Index>(at(x.rows()), 0), Vector(x.rows())};
  parallel_for((x.rows() + kBlock - 1) / kBlock, execution, [&](Index block) {
    for (Index i = block * kBlock; i < std::min(x.rows(), (block + 1) * kBlock); ++i) {
      out.distance(i) = losses.distance(x.row(i).data(), centers.row(0).data());
      for (Index c = 1; c < centers.rows(); ++c)
        if (const double d = losses.distance(x.row(i).data(), centers.row(c).data()); d < out.distance(i))
          out.distance(i) = d, out.to[at(i)] = c;
    }
  });
  return out;
}

std::vector<std::vector<Index>> members_of(const Assigned& found, Index k) {
  std::vector<std::vector<Index>> out(at(k));
  for (std::size_t i = 0; i < found.to.size(); ++i) out[at(found.to[i])].push_back(static_cast<Index>(i));
  return out;
}

/// A value and its weight.
using Values = std::vector<std::pair<double, double>>;

// Sums of weights are as good as equal within this share of them: tenths do not add up to the last bit, in whatever order.
constexpr double kEqual = 1e-12;

/// Where half of the weight lies on either side; the middle of the two values between which that is so.
double median_of(Values& values) {
  std::sort(values.begin(), values.end());
  double all = 0, below = 0;
  for (const auto& [value, weight] : values) all += weight;
  for (std::size_t i = 0; i < values.size(); ++i) {
    below += values[i].second;
    if (std::abs(2 * below - all) <= kEqual * all && i + 1 < values.size())
      return 0.5 * values[i].first + 0.5 * values[i + 1].first;
    if (2 * below >= all) return values[i].first;
  }
  return values.back().first;
}

/// Around the first value, so that an offset of all costs no digits.
double mean_of(const Values& values) {
  const double first = values.front().first;
  double sum = 0, all = 0;
  for (const auto& [value, weight] : values) sum += weight * (value - first), all += weight;
  return first + sum / all;
}

/// The value of the greatest weight, the least of equals.
double mode_of(Values& values) {
  std::sort(values.begin(), values.end());
  double best = values.front().first, most = 0;
  for (std::size_t i = 0; i < values.size();) {
    const double value = values[i].first;
    double weight = 0;
    for (; i < values.size() && values[i].first == value; ++i) weight += values[i].second;
    if (weight > most * (1 + kEqual)) most = weight, best = value;
  }
  return best;
}

double best_of(ColumnLoss loss, Values& values) {
  switch (loss) {
    case ColumnLoss::absolute: return median_of(values);
    case ColumnLoss::square: return mean_of(values);
    case ColumnLoss::mismatch: break;
  }
  return mode_of(values);
}

/// Each centre to what is best for its rows, column by column.
void move_centers(const ColumnLosses& losses, const AlikeRows& rows, const Assigned& found, Matrix& centers,
                  const Execution& execution) {
  const auto members = members_of(found, centers.rows());
  parallel_for(centers.size(), execution, [&](Index task) {
    const Index c = task / centers.cols(), j = task % centers.cols();
    Values values;
    for (const Index i : members[at(c)]) values.emplace_back(rows.x(i, j), rows.w(i));
    centers(c, j) = best_of(losses.of[at(j)], values);
  });
}

/// Each row drawn in proportion to w · D.
Matrix start_rows(const ColumnLosses& losses, const AlikeRows& rows, Index k, RandomStream stream,
                  const Execution& execution) {
  Matrix out(k, rows.x.cols());
  Vector mass = rows.w;
  Vector nearest = Vector::Constant(rows.x.rows(), std::numeric_limits<double>::infinity());
  for (Index c = 0; c < k; ++c) {
    if (execution.cancelled()) throw Cancelled();
    double left = stream.uniform() * mass.sum();
    Index row = 0;
    while (row + 1 < mass.size() && (left >= mass(row) || mass(row) == 0)) left -= mass(row++);
    while (mass(row) == 0 && row > 0) --row;
    out.row(c) = rows.x.row(row);
    for (Index i = 0; i < mass.size(); ++i) {
      nearest(i) = std::min(nearest(i), losses.distance(rows.x.row(i).data(), out.row(c).data()));
      mass(i) = rows.w(i) * nearest(i);
    }
  }
  return out;
}

/// A centre without rows goes to the row that is farthest from its own.
bool fill_empty(const AlikeRows& rows, Assigned& found, Matrix& centers) {
  std::vector<Index> held(at(centers.rows()), 0);
  for (const Index c : found.to) ++held[at(c)];
  bool moved = false;
  for (Index c = 0; c < centers.rows(); ++c) {
    if (held[at(c)] > 0) continue;
    Index farthest = -1;
    for (Index i = 0; i < rows.x.rows(); ++i)  // of a centre that keeps another row
      if (held[at(found.to[at(i)])] > 1 && (farthest < 0 || found.distance(i) > found.distance(farthest))) farthest = i;
    centers.row(c) = rows.x.row(farthest);
    --held[at(found.to[at(farthest)])];
    ++held[at(c)];
    found.to[at(farthest)] = c;
    found.distance(farthest) = 0;
    moved = true;
  }
  return moved;
}

struct Run {
  Matrix centers;
  double total = std::numeric_limits<double>::infinity();
  int iterations = 0;
  bool cancelled = false;
};

Run one_start(const ColumnSearch& search, const ColumnLosses& losses, const AlikeRows& rows, RandomStream stream,
              const Execution& execution) {
  Run out;
  std::vector<Index> before;
  try {
    Matrix centers = start_rows(losses, rows, search.k, stream, execution);
    for (; out.iterations < search.max_iterations; ++out.iterations) {
      Assigned now = assigned(losses, rows.x, centers, execution.part(0, 0));
      const bool moved = fill_empty(rows, now, centers);
      out.total = rows.w.dot(now.distance);
      out.centers = centers;
      if (!moved && now.to == before) break;
      move_centers(losses, rows, now, centers, execution.part(0, 0));
      before = std::move(now.to);
    }
    out.centers = std::move(centers);
  } catch (const Cancelled&) { out.cancelled = true; }
  return out;
}

/// A median by the weight below and above it, and where these are halves by the two values beside it.
bool is_median(double m, const Values& values) {
  double below = 0, above = 0, equal = 0, left = -HUGE_VAL, right = HUGE_VAL;
  for (const auto& [v, w] : values) {
    if (v < m) below += w, left = std::max(left, v);
    else if (v > m) above += w, right = std::min(right, v);
    else equal += w;
  }
  const double all = below + above + equal, half = (1 - kEqual / 2) * all / 2;
  const bool halves = std::abs(below - above) <= 2 * kEqual * all;
  return (equal == 0 && halves && m == 0.5 * left + 0.5 * right) || (equal > 0 && below < half && above < half);
}

/// A mean leaves nothing: Σ w (x − m) is 0 but for rounding, of the sum and of the numbers themselves.
bool is_mean(double m, const Values& values) {
  double left = 0, sizes = 0;
  for (const auto& [v, w] : values) left += w * (v - m), sizes += w * (1e-9 * std::abs(v - m) + 1e-14 * std::abs(v));
  return std::abs(left) <= sizes;
}

/// A mode: no value has more weight, and none that is less as much.
bool is_mode(double m, const Values& values) {
  std::unordered_map<double, double> counted;
  for (const auto& [v, w] : values) counted[v] += w;
  const auto found = counted.find(m);
  const double own = found == counted.end() ? 0 : found->second;
  const auto beats = [&](const auto& each) {
    return each.second > own * (1 + 2 * kEqual) || (each.second > own * (1 - kEqual / 2) && each.first < m);
  };
  return own > 0 && std::none_of(counted.begin(), counted.end(), beats);
}

bool is_best(ColumnLoss loss, double value, const Values& values) {
  if (values.empty()) return true;  // a centre without rows is anywhere
  switch (loss) {
    case ColumnLoss::absolute: return is_median(value, values);
    case ColumnLoss::square: return is_mean(value, values);
    case ColumnLoss::mismatch: break;
  }
  return is_mode(value, values);
}

}  // namespace

double ColumnLosses::distance(const double* x, const double* c) const {
  double out = 0;
  for (std::size_t j = 0; j < of.size(); ++j) {
    const double d = x[j] - c[j];
    switch (of[j]) {
      case ColumnLoss::absolute: out += std::abs(d); break;
      case ColumnLoss::square: out += d * d; break;
      case ColumnLoss::mismatch: out += x[j] == c[j] ? 0 : price; break;
    }
  }
  return out;
}

ColumnCenters column_centers(const ColumnSearch& search, const ColumnLosses& losses, const AlikeRows& rows,
                             const Execution& execution) {
  if (const Index distinct = rows.x.rows(); distinct < search.k)
    throw Error(fmt::format("{}: k is {}, but there {} only {}; k can be at most {}", search.method, search.k,
                            distinct == 1 ? "is" : "are", count_of(distinct, "different row"), distinct));
  Run best;
  for (int r = 0; r < search.restarts && !best.cancelled; ++r) {
    execution.report(static_cast<double>(r) / search.restarts, "restarts");
    Run run = one_start(search, losses, rows, RandomStream(search.seed, static_cast<std::uint64_t>(r)), execution);
    const bool cancelled = run.cancelled;
    if (run.total < best.total * (1 - 1e-12)) best = std::move(run);
    best.cancelled = cancelled;
  }
  if (!std::isfinite(best.total)) {
    if (best.cancelled) throw Cancelled();
    throw Error(
        fmt::format("{}: the numbers are too large for their distances; put 'scale |' before it", search.method));
  }
  return {std::move(best.centers), best.iterations, best.cancelled};
}

void tell_how_it_ended(Evidence& evidence, const ColumnCenters& found) {
  evidence.certificate.iterations = found.iterations;
  if (!found.cancelled) return;
  evidence.warnings.push_back("cancelled: the centres are the best so far");
  evidence.certificate.stopped = "cancelled";
  evidence.certificate.value = std::numeric_limits<double>::quiet_NaN();
  evidence.certificate.message =
      "Cancelled: not all starts were made, and nothing is claimed of these centres; 'lemma verify' looks at them.";
}

CenterTold told_of(const ColumnLosses& losses, const Matrix& centers, const AlikeRows& rows,
                   const Execution& execution) {
  const Assigned found = assigned(losses, rows.x, centers, execution);
  CenterTold out{Vector::Zero(centers.rows()), Vector::Zero(centers.rows())};
  for (Index i = 0; i < rows.x.rows(); ++i) {
    out.sizes(found.to[at(i)]) += rows.w(i);
    out.within(found.to[at(i)]) += rows.w(i) * found.distance(i);
  }
  const auto members = members_of(found, centers.rows());
  for (Index c = 0; c < centers.rows(); ++c)
    for (Index j = 0; j < centers.cols(); ++j) {
      Values values;
      for (const Index i : members[at(c)]) values.emplace_back(rows.x(i, j), rows.w(i));
      out.wrong += !is_best(losses.of[at(j)], centers(c, j), values);
    }
  return out;
}

Certificate certify_centers(const CenterClaim& claim, const ColumnLosses& losses, const AlikeRows& rows,
                            const Execution& execution) {
  const CenterTold told = told_of(losses, claim.centers, rows, execution);
  Comparison same;
  const double all = rows.w.sum(), total = told.within.sum(), unit = total > 0 ? total : 1;
  for (Index c = 0; c < claim.centers.rows(); ++c) {
    same.entry("sizes", c, claim.sizes(c), told.sizes(c), all);
    same.entry("within", c, claim.within(c), told.within(c), unit);
  }
  same.number("total_within", claim.total_within, total, unit);
  Certificate out;
  out.strength = Strength::consistent;
  out.kind = claim.kind;
  out.value = static_cast<double>(told.wrong);
  out.tolerance = 0;
  out.stopped = told.wrong == 0 ? "converged" : "iteration limit";
  if (!out.holds())
    out.message = fmt::format(
        "{} of the centres {} not {} of the rows that are nearest to it. Raise max_iterations ({}).",
        count_of(told.wrong, "coordinate"), told.wrong == 1 ? "is" : "are", claim.what, claim.max_iterations);
  else if (same.finding()) {
    same.report(out);
    out.message = fmt::format("What the model tells is not what the rows give: {}'{}' is off.", same.finding()->place,
                              same.finding()->field);
  } else {
    out.message = fmt::format("Every row belongs to its nearest centre, and each of the {} is {} of its rows.",
                              count_of(claim.centers.size(), "coordinate"), claim.what);
  }
  return out;
}

Matrix center_distances(const ColumnLosses& losses, const Matrix& centers, const MatrixView& x) {
  Matrix out(x.rows(), centers.rows());
  Vector row(x.cols());
  for (Index i = 0; i < x.rows(); ++i) {
    row = x.row(i);
    for (Index c = 0; c < centers.rows(); ++c) out(i, c) = losses.distance(row.data(), centers.row(c).data());
  }
  return out;
}

Labels nearest_centers(const ColumnLosses& losses, const Matrix& centers, const MatrixView& x) {
  const Matrix far = center_distances(losses, centers, x);
  Labels out(at(x.rows()), 0);
  for (Index i = 0; i < x.rows(); ++i)
    for (Index c = 1; c < centers.rows(); ++c)
      if (far(i, c) < far(i, out[at(i)])) out[at(i)] = static_cast<int>(c);
  return out;
}

}  // namespace lemma
