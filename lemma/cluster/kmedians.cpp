// lemma/cluster/kmedians.cpp
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <lemma/cluster/kmedians.hpp>
#include <lemma/cluster/shared/measured_points.hpp>
#include <lemma/core/random.hpp>
#include <lemma/core/text.hpp>
#include <lemma/geometry/lloyd/start.hpp>
#include <lemma/model/comparison.hpp>
#include <limits>

namespace lemma {
namespace {

constexpr Index kBlock = 512;  // rows that a thread takes

double manhattan(const Matrix& x, Index i, const Matrix& centers, Index c) {
  double out = 0;
  for (Index j = 0; j < x.cols(); ++j) out += std::abs(x(i, j) - centers(c, j));
  return out;
}

/// Rows with a weight above 0.
struct Weighted {
  Matrix x;
  Vector w;
};
Weighted weighted(const Rows& rows, const Execution& execution) {
  require_finite(rows, execution.part(0, 0.5));
  const Vector all = weights_of(rows, execution.part(0.5, 0.5));
  std::vector<Index> there;
  for (Index i = 0; i < all.size(); ++i)
    if (all(i) > 0) there.push_back(i);
  if (there.empty()) throw Error("kmedians: all weights are 0, so there are no rows to learn from");
  return {rows_at(gather(rows, execution.part(0.5, 1)), there), all(there)};
}

/// The nearest centre of each row, the first of equals, and how far it is.
struct Assigned {
  std::vector<Index> to;
  Vector distance;
};
Assigned assigned(const Matrix& x, const Matrix& centers, const Execution& execution) {
  Assigned out{std::vector<Index>(at(x.rows()), 0), Vector(x.rows())};
  parallel_for((x.rows() + kBlock - 1) / kBlock, execution, [&](Index block) {
    for (Index i = block * kBlock; i < std::min(x.rows(), (block + 1) * kBlock); ++i) {
      out.distance(i) = manhattan(x, i, centers, 0);
      for (Index c = 1; c < centers.rows(); ++c)
        if (const double d = manhattan(x, i, centers, c); d < out.distance(i)) out.distance(i) = d, out.to[at(i)] = c;
    }
  });
  return out;
}

/// Where half of the weight lies on either side; the middle of the two values between which that is so.
double weighted_median(std::vector<std::pair<double, double>>& values) {
  std::sort(values.begin(), values.end());
  double all = 0, below = 0;
  for (const auto& [value, weight] : values) all += weight;
  for (std::size_t i = 0; i < values.size(); ++i) {
    below += values[i].second;
    if (2 * below == all && i + 1 < values.size()) return 0.5 * values[i].first + 0.5 * values[i + 1].first;
    if (2 * below >= all) return values[i].first;
  }
  return values.back().first;
}

struct Run {
  Matrix centers;
  double total = std::numeric_limits<double>::infinity();
  int iterations = 0;
  bool finished = false, cancelled = false;
};

/// Each row drawn in proportion to w · D.
Matrix start_rows(const Weighted& data, Index k, RandomStream stream) {
  Matrix out(k, data.x.cols());
  Vector mass = data.w;
  Vector nearest = Vector::Constant(data.x.rows(), std::numeric_limits<double>::infinity());
  for (Index c = 0; c < k; ++c) {
    double left = stream.uniform() * mass.sum();
    Index row = 0;
    while (row + 1 < mass.size() && (left >= mass(row) || mass(row) == 0)) left -= mass(row++);
    while (mass(row) == 0 && row > 0) --row;
    out.row(c) = data.x.row(row);
    for (Index i = 0; i < mass.size(); ++i) {
      nearest(i) = std::min(nearest(i), manhattan(data.x, i, out, c));
      mass(i) = data.w(i) * nearest(i);
    }
  }
  return out;
}

/// A centre without rows goes to the row that is farthest from its own.
bool fill_empty(const Weighted& data, Assigned& found, Matrix& centers) {
  std::vector<char> used(at(centers.rows()), 0);
  for (const Index c : found.to) used[at(c)] = 1;
  bool moved = false;
  for (Index c = 0; c < centers.rows(); ++c) {
    if (used[at(c)]) continue;
    Index farthest = 0;
    found.distance.maxCoeff(&farthest);
    centers.row(c) = data.x.row(farthest);
    found.to[at(farthest)] = c;
    found.distance(farthest) = 0;
    moved = true;
  }
  return moved;
}

Run one_start(const KMedians& spec, const Weighted& data, RandomStream stream, const Execution& execution) {
  Run out;
  out.centers = start_rows(data, spec.k, stream);
  Assigned before;
  for (; out.iterations < spec.max_iterations; ++out.iterations) {
    if ((out.cancelled = execution.cancelled())) return out;
    Assigned now = assigned(data.x, out.centers, execution.part(0, 0));
    const bool moved = fill_empty(data, now, out.centers);
    out.total = data.w.dot(now.distance);
    out.finished = !moved && now.to == before.to;
    if (out.finished) break;
    const Index tasks = spec.k * data.x.cols();
    parallel_for(tasks, execution.part(0, 0), [&](Index task) {
      const Index c = task / data.x.cols(), j = task % data.x.cols();
      std::vector<std::pair<double, double>> values;
      for (Index i = 0; i < data.x.rows(); ++i)
        if (now.to[at(i)] == c) values.emplace_back(data.x(i, j), data.w(i));
      out.centers(c, j) = weighted_median(values);
    });
    before = std::move(now);
  }
  return out;
}

struct Told {
  Vector sizes, within;
};
Told told_of(const Weighted& data, const Assigned& found, Index k) {
  Told out{Vector::Zero(k), Vector::Zero(k)};
  for (Index i = 0; i < data.x.rows(); ++i) {
    out.sizes(found.to[at(i)]) += data.w(i);
    out.within(found.to[at(i)]) += data.w(i) * found.distance(i);
  }
  return out;
}

/// Coordinates that are not the medians of their rows: by the weight below and above, and where these are halves by the two values
/// beside it.
Index wrong_medians(const KMediansModel& model, const Weighted& data, const Assigned& found) {
  Index out = 0;
  for (Index c = 0; c < model.k(); ++c)
    for (Index j = 0; j < model.width(); ++j) {
      const double m = model.centers(c, j);
      double below = 0, above = 0, equal = 0, left = -HUGE_VAL, right = HUGE_VAL;
      for (Index i = 0; i < data.x.rows(); ++i) {
        if (found.to[at(i)] != c) continue;
        const double v = data.x(i, j);
        if (v < m) below += data.w(i), left = std::max(left, v);
        else if (v > m) above += data.w(i), right = std::min(right, v);
        else equal += data.w(i);
      }
      const double half = (below + above + equal) / 2;
      const bool between = equal == 0 && below == above && m == 0.5 * left + 0.5 * right;
      out += !(between || (equal > 0 && below < half && above < half) || half == 0);
    }
  return out;
}

Certificate certificate_of(const KMediansModel& model, const Weighted& data, const Execution& execution) {
  const Assigned found = assigned(data.x, model.centers, execution);
  const Told told = told_of(data, found, model.k());
  Comparison same;
  const double all = data.w.sum(), total = told.within.sum(), unit = total > 0 ? total : 1;
  for (Index c = 0; c < model.k(); ++c) {
    same.entry("sizes", c, model.sizes(c), told.sizes(c), all);
    same.entry("within", c, model.within(c), told.within(c), unit);
  }
  same.number("total_within", model.total_within, total, unit);
  Certificate out;
  out.strength = Strength::consistent;
  out.kind = "coordinates that are not medians";
  out.value = static_cast<double>(wrong_medians(model, data, found));
  out.tolerance = 0;
  out.stopped = out.value == 0 ? "converged" : "iteration limit";
  if (!out.holds())
    out.message = fmt::format(
        "{} of the centres {} not the median of the rows that are nearest to it. Raise max_iterations ({}).",
        count_of(static_cast<Index>(out.value), "coordinate"), out.value == 1 ? "is" : "are",
        model.spec.max_iterations);
  else if (same.finding()) {
    same.report(out);
    out.message = fmt::format("What the model tells is not what the rows give: {}'{}' is off.", same.finding()->place,
                              same.finding()->field);
  } else {
    out.message = fmt::format(
        "Every row belongs to its nearest centre, and each of the {} is the median of its rows: as much weight lies "
        "below it as "
        "above.",
        count_of(model.centers.size(), "coordinate"));
  }
  return out;
}

}  // namespace

void KMediansModel::check() const {
  require(k() == spec.k && width() > 0, "kmedians: there are not k centres");
  require(sizes.size() == k() && within.size() == k() && centers.allFinite() && sizes.allFinite() &&
              within.allFinite() && std::isfinite(total_within),
          "kmedians: a number is not usable");
}

Matrix KMediansModel::distances(const MatrixView& x) const {
  require_width(*this, x.cols());
  Matrix out(x.rows(), k());
  for (Index i = 0; i < x.rows(); ++i)
    for (Index c = 0; c < k(); ++c) {
      double sum = 0;
      for (Index j = 0; j < width(); ++j) sum += std::abs(x(i, j) - centers(c, j));
      out(i, c) = sum;
    }
  return out;
}

Labels KMediansModel::assign(const MatrixView& x) const {
  const Matrix far = distances(x);
  Labels out(at(x.rows()), 0);
  for (Index i = 0; i < x.rows(); ++i)
    for (Index c = 1; c < k(); ++c)
      if (far(i, c) < far(i, out[at(i)])) out[at(i)] = static_cast<int>(c);
  return out;
}

std::string KMediansModel::summary(const Names& names) const {
  const Index shown = std::min<Index>(k(), 50);
  std::vector<std::string> cluster, size;
  std::vector<double> sum;
  for (Index c = 0; c < shown; ++c) {
    cluster.push_back(fmt::format("{}", c + 1));
    size.push_back(format_significant(sizes(c), 7));
    sum.push_back(within(c));
  }
  TextTable table;
  table.right("cluster", cluster).right("size", size).numbers("within", sum, 5);
  for (Index j = 0; j < width(); ++j) {
    std::vector<double> column;
    for (Index c = 0; c < shown; ++c) column.push_back(centers(c, j));
    table.numbers(at(j) < names.features.size() ? names.features[at(j)] : fmt::format("x{}", j + 1), column, 4);
  }
  std::string out = fmt::format("K-medians with {}\n\nMedians, sizes and sums of Manhattan distances:\n{}",
                                count_of(k(), "cluster"), table.str({.width = 100}));
  if (shown < k()) out += fmt::format("... and {} more\n", k() - shown);
  return out + fmt::format("\ntotal within {}\n", format_significant(total_within, 7));
}

KMediansModel fit(const Valid<KMedians>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  const Weighted data = weighted(rows, execution.part(0, 0.1));
  if (const Index distinct = distinct_rows(rows, spec->k, execution.part(0.1, 0.1)); distinct < spec->k)
    throw Error(fmt::format("kmedians: k is {}, but there {} only {} among {}; k can be at most {}", spec->k,
                            distinct == 1 ? "is" : "are", count_of(distinct, "different row"),
                            format_count(rows.count()), distinct));
  Run best;
  for (int r = 0; r < spec->restarts && !best.cancelled; ++r) {
    execution.report(0.1 + 0.8 * r / spec->restarts, "restarts");
    Run run = one_start(*spec, data, RandomStream(options.seed, static_cast<std::uint64_t>(r)), execution);
    const bool cancelled = run.cancelled;
    if (run.total < best.total * (1 - 1e-12)) best = std::move(run);
    best.cancelled = cancelled;
  }
  if (!std::isfinite(best.total)) throw Cancelled();
  KMediansModel model;
  model.spec = *spec;
  model.centers = best.centers;
  const Told told = told_of(data, assigned(data.x, model.centers, {}), spec->k);
  model.sizes = told.sizes;
  model.within = told.within;
  model.total_within = told.within.sum();
  if (best.cancelled) model.warnings.push_back("cancelled: the centres are the best so far");
  model.certificate = certificate_of(model, data, {execution.threads, nullptr, 0, 1, {}});
  model.certificate.iterations = best.iterations;
  if (best.cancelled) {
    model.certificate.stopped = "cancelled";
    model.certificate.value = std::numeric_limits<double>::quiet_NaN();
    model.certificate.message =
        "Cancelled: not all starts were made, and nothing is claimed of these centres; 'lemma verify' looks at them.";
  }
  return model;
}

Certificate certify(const KMediansModel& model, const Rows& rows, const Execution& execution) {
  return certificate_of(model, weighted(rows, execution.part(0, 0.3)), execution.part(0.3, 1));
}

template const Method& method_of<KMedians>();

}  // namespace lemma
