// lemma/neighbor/prototypes/make.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/hearing.hpp>
#include <lemma/core/random.hpp>
#include <lemma/core/row_views.hpp>
#include <lemma/core/text.hpp>
#include <lemma/geometry/lloyd.hpp>
#include <lemma/geometry/lloyd/start.hpp>
#include <lemma/geometry/neighbors.hpp>
#include <lemma/math/simd.hpp>
#include <lemma/model/column_sizes.hpp>
#include <lemma/model/own_order.hpp>
#include <lemma/neighbor/prototypes/make.hpp>
#include <limits>

namespace lemma::prototypes {
namespace {

constexpr std::uint64_t kStart = 17, kPass = 29;  // streams of k-means and of the passes: the method has no seed
constexpr Index kFolds = 5;

double squared(const Matrix& x, Index i, const Matrix& points, Index k) {
  double sum = 0;
  for (Index j = 0; j < x.cols(); ++j) {
    const double d = x(i, j) - points(k, j);
    sum += d * d;
  }
  return sum;
}

Made some_rows(const Data& data, const std::vector<Index>& which) {
  Made out{Matrix(data.x(which, Eigen::all)), {}, Matrix(0, data.x.cols())};
  for (const Index i : which) out.label.push_back(data.label[at(i)]);
  return out;
}

Made condensed(const Data& data) {
  std::vector<Index> kept;
  std::vector<bool> is_kept(at(data.rows()), false);
  Vector least = Vector::Constant(data.rows(), std::numeric_limits<double>::infinity());
  Labels says(at(data.rows()), -1);
  const auto keep = [&](Index i) {
    ask();
    is_kept[at(i)] = true;
    kept.push_back(i);
    for (Index r = 0; r < data.rows(); ++r) {
      const double d = squared(data.x, r, data.x, i);
      if (d < least(r)) {
        least(r) = d;
        says[at(r)] = data.label[at(i)];
      }
    }
  };
  std::vector<bool> has(at(data.classes), false);
  for (Index i = 0; i < data.rows(); ++i)
    if (!has[at(data.label[at(i)])]) {
      has[at(data.label[at(i)])] = true;
      keep(i);
    }
  // A row at the place of a prototype can't be told from it: of equal rows one class alone is right.
  for (bool added = true; added;) {
    added = false;
    for (Index i = 0; i < data.rows(); ++i)
      if (!is_kept[at(i)] && says[at(i)] != data.label[at(i)] && least(i) > 0) {
        keep(i);
        added = true;
      }
  }
  return some_rows(data, kept);
}

Made edited(const Prototypes& spec, const Data& data, const Execution& execution) {
  const NeighborLists lists = Neighbors(data.x, Metric{}, SearchOptions{}, execution).nearest_own(spec.k, execution);
  std::vector<Index> kept;
  for (Index i = 0; i < data.rows(); ++i) {
    Vector votes = Vector::Zero(data.classes);
    for (const std::int32_t j : lists.rows_of(i)) votes(data.label[at(j)]) += 1;
    if (votes(data.label[at(i)]) == votes.maxCoeff()) kept.push_back(i);
  }
  if (kept.empty())
    throw Error(
        fmt::format("prototypes: the {} nearest others outvote every row; take another k, or another kind", spec.k));
  return some_rows(data, kept);
}

Made centres(const Prototypes& spec, const Data& data, const Execution& execution) {
  Made out{Matrix(0, data.x.cols()), {}, Matrix(0, data.x.cols())};
  for (int c = 0; c < data.classes; ++c) {
    std::vector<Index> own;
    for (Index i = 0; i < data.rows(); ++i)
      if (data.label[at(i)] == c) own.push_back(i);
    if (own.empty()) continue;
    const Matrix x = data.x(own, Eigen::all);
    const MemoryRows rows(x);
    const Index k = distinct_rows(rows, spec.each, execution);
    const Vector origin = x.colwise().mean();
    const double far = std::max((x.rowwise() - origin.transpose()).cwiseAbs().maxCoeff(), 1e-100);
    const simd::Frame frame{origin, std::ldexp(1.0, -std::ilogb(far) - 2)};
    const Matrix start =
        start_centers(KMeansStart::plus_plus, k, rows, RandomStream(kStart, static_cast<std::uint64_t>(c)), execution);
    const LloydRun run = lloyd(rows, frame, start, {}, execution);
    out.points.conservativeResize(out.points.rows() + k, Eigen::NoChange);
    out.points.bottomRows(k) = run.centers;
    out.label.insert(out.label.end(), at(k), c);
  }
  return out;
}

Data selected(const Data& data, const std::vector<Index>& which) {
  Data out{Matrix(data.x(which, Eigen::all)), {}, data.classes};
  for (const Index i : which) out.label.push_back(data.label[at(i)]);
  return out;
}

}  // namespace

Data gathered(const Rows& rows, const Execution& execution) {
  require_finite(rows, execution.part(0, 0.3));
  scan(rows, ColumnSizes(rows.width()), execution).require_usable(Prototypes::name, rows);
  const RowsInOwnOrder own(rows, execution.part(0.3, 0.9));
  Data out{gather(*own, execution.part(0.9, 1)), {}, static_cast<Index>(rows.classes.size())};
  BlockBuffer buffer;
  const Block beside = (*own).outcome(0, rows.count(), buffer);
  out.label.assign(beside.label.begin(), beside.label.end());
  for (Index c = 0; c < out.classes; ++c)
    if (std::find(out.label.begin(), out.label.end(), static_cast<int>(c)) == out.label.end())
      throw Error(fmt::format("prototypes: class '{}' has no rows; leave it out of the classes", rows.classes[at(c)]));
  return out;
}

Labels nearest_classes(const MatrixView& x, const Matrix& points, const Labels& label) {
  Labels which(at(x.rows()));
  std::vector<double> distance(which.size());
  simd::nearest(x, points, which, distance);
  for (int& each : which) each = label[at(each)];
  return which;
}

double share_wrong(const Data& data, const Made& prototypes) {
  const Labels says = nearest_classes(data.x, prototypes.points, prototypes.label);
  Index wrong = 0;
  for (Index i = 0; i < data.rows(); ++i) wrong += says[at(i)] != data.label[at(i)];
  return static_cast<double>(wrong) / static_cast<double>(data.rows());
}

Matrix learned(const Prototypes& spec, const Data& data, const Matrix& start, const Labels& label) {
  Matrix m = start;
  const double steps = static_cast<double>(spec.passes) * static_cast<double>(data.rows());
  const double window = (1 - spec.window) / (1 + spec.window);
  const auto go = [&](Index k, Index i, double share) { m.row(k) += share * (data.x.row(i) - m.row(k)); };
  double taken = 0;
  for (int pass = 0; pass < spec.passes; ++pass) {
    RandomStream random(kPass, static_cast<std::uint64_t>(pass));
    for (const Index i : permutation(random, data.rows())) {
      ask();
      const double alpha = spec.rate * (1 - taken++ / steps);
      Index first = -1, second = -1;
      double d1 = std::numeric_limits<double>::infinity(), d2 = d1;
      for (Index k = 0; k < m.rows(); ++k) {
        const double d = squared(data.x, i, m, k);
        if (d < d1) {
          second = first;
          d2 = d1;
          first = k;
          d1 = d;
        } else if (d < d2) {
          second = k;
          d2 = d;
        }
      }
      const bool right = label[at(first)] == data.label[at(i)];
      if (spec.by == PrototypesBy::lvq1) {
        go(first, i, right ? alpha : -alpha);
        continue;
      }
      if (second < 0) continue;
      const bool other = label[at(second)] == data.label[at(i)];
      if (right != other && std::sqrt(d1 / d2) > window) {
        go(right ? first : second, i, alpha);
        go(right ? second : first, i, -alpha);
      } else if (right && other && spec.by == PrototypesBy::lvq3) {
        go(first, i, spec.epsilon * alpha);
        go(second, i, spec.epsilon * alpha);
      }
    }
  }
  return m;
}

Made made(const Prototypes& spec, const Data& data, const Execution& execution) {
  if (spec.by == PrototypesBy::condensed) return condensed(data);
  if (spec.by == PrototypesBy::edited) return edited(spec, data, execution);
  Made out = centres(spec, data, execution);
  if (!by_lvq(spec)) return out;
  out.start = out.points;
  out.points = learned(spec, data, out.start, out.label);
  return out;
}

Vector held_out_errors(const Prototypes& spec, const Data& data, const Execution& execution) {
  std::vector<Index> fold(at(data.rows())), dealt(at(data.classes), 0);  // equal rows of a class lie in one
  for (Index i = 0; i < data.rows(); ++i) {
    fold[at(i)] = is_copy(data, i) ? fold[at(i - 1)] : dealt[at(data.label[at(i)])]++ % kFolds;
  }
  Vector wrong = Vector::Zero(2);
  for (Index f = 0; f < kFolds; ++f) {
    std::vector<Index> train, test;
    for (Index i = 0; i < data.rows(); ++i) (fold[at(i)] == f ? test : train).push_back(i);
    if (train.empty() || test.empty()) continue;
    const Data learn = selected(data, train), judged = selected(data, test);
    const Execution part = execution.part(static_cast<double>(f) / kFolds, static_cast<double>(f + 1) / kFolds);
    const auto count = static_cast<double>(judged.rows());
    wrong(0) += count * share_wrong(judged, made(spec, learn, part));
    wrong(1) += count * share_wrong(judged, {learn.x, learn.label, {}});
  }
  return wrong / static_cast<double>(data.rows());
}

}  // namespace lemma::prototypes
