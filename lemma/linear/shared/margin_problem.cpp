// lemma/linear/shared/margin_problem.cpp: primal and dual values, and products with the rows.
#include <lemma/linear/shared/margin_problem.hpp>

#include <algorithm>
#include <cmath>
#include <lemma/math/blas.hpp>
#include <lemma/math/simd/logistic.hpp>
#include <limits>

namespace lemma::margin {
namespace {

constexpr Index kRuns = 16, kLeastRun = 512;  // of sparse rows: each sums into an array of its own
constexpr Index kColumnsAtOnce = 8192;

struct Runs {
  Index count, rows;
  explicit Runs(Index n) {
    count = std::clamp<Index>(n / kLeastRun, 1, kRuns);
    rows = (n + count - 1) / count;
  }
  std::pair<Index, Index> of(Index run, Index n) const {
    return {std::min(run * rows, n), std::min((run + 1) * rows, n)};
  }
};

std::span<const double> span_of(const Vector& v, Index from = 0) {
  return {v.data() + from, static_cast<std::size_t>(v.size() - from)};
}

/// The block with its rows about the centre; in place where there is none.
MatrixView about(const Vector& centre, const Block& block, Matrix& buffer) {
  if (centre.size() == 0) return block.x;
  buffer = block.x.rowwise() - centre.transpose();
  return buffer;
}

struct Sums {
  const Vector* r;
  const Vector* centre;
  Vector sum;
  void accumulate(const Block& block) {
    Matrix buffer;
    const auto part = r->segment(block.first, block.rows());
    sum(0) += part.sum();
    simd::add_rows(about(*centre, block, buffer), {part.data(), static_cast<std::size_t>(part.size())},
                   {sum.data() + 1, static_cast<std::size_t>(sum.size() - 1)});
  }
  void merge(const Sums& other) { sum += other.sum; }
};

struct Gram {
  const Vector* d;
  const Vector* centre;
  Matrix upper;
  void accumulate(const Block& block) {
    Matrix scaled(block.rows(), block.x.cols() + 1);
    Index count = 0;
    for (Index i = 0; i < block.rows(); ++i) {
      const double each = (*d)(block.first + i);
      if (!(each > 0)) continue;
      const double root = std::sqrt(each);
      scaled(count, 0) = root;
      if (centre->size() == 0) scaled.row(count).tail(block.x.cols()) = root * block.x.row(i);
      else scaled.row(count).tail(block.x.cols()) = root * (block.x.row(i) - centre->transpose());
      ++count;
    }
    if (count > 0) blas::gram(scaled.topRows(count), upper, 1);
  }
  void merge(const Gram& other) { upper += other.upper; }
};

}  // namespace

Vector RowProducts::times(const Vector& theta) const {
  Vector f(rows_.count());
  if (const Csr* x = rows_.sparse()) {
    const Runs runs(x->rows());
    parallel_for(runs.count, execution_, [&](Index run) {
      const auto [first, last] = runs.of(run, x->rows());
      for (Index i = first; i < last; ++i) {
        double sum = theta(0);
        const auto end = static_cast<std::size_t>(x->start[static_cast<std::size_t>(i) + 1]);
        for (auto k = static_cast<std::size_t>(x->start[static_cast<std::size_t>(i)]); k < end; ++k)
          sum += x->value[k] * theta(x->column[k] + 1);
        f(i) = sum;
      }
    });
    return f;
  }
  for_each_block(rows_, execution_, [&](const Block& block) {
    Matrix buffer;
    simd::rows_times(about(centre_, block, buffer), span_of(theta, 1), theta(0),
                     {f.data() + block.first, static_cast<std::size_t>(block.rows())});
  });
  return f;
}

Vector RowProducts::add_up(const Vector& r) const {
  const Csr* x = rows_.sparse();
  if (!x) return scan(rows_, Sums{&r, &centre_, Vector::Zero(width() + 1)}, execution_).sum;
  const Runs runs(x->rows());
  std::vector<Vector> parts(static_cast<std::size_t>(runs.count));
  parallel_for(runs.count, execution_, [&](Index run) {
    Vector& sum = parts[static_cast<std::size_t>(run)] = Vector::Zero(width() + 1);
    const auto [first, last] = runs.of(run, x->rows());
    for (Index i = first; i < last; ++i) {
      const double each = r(i);
      if (each == 0) continue;
      sum(0) += each;
      const auto end = static_cast<std::size_t>(x->start[static_cast<std::size_t>(i) + 1]);
      for (auto k = static_cast<std::size_t>(x->start[static_cast<std::size_t>(i)]); k < end; ++k)
        sum(x->column[k] + 1) += each * x->value[k];
    }
  });
  const Index size = width() + 1;
  parallel_for((size + kColumnsAtOnce - 1) / kColumnsAtOnce, execution_, [&](Index piece) {
    const Index first = piece * kColumnsAtOnce, count = std::min(kColumnsAtOnce, size - first);
    for (std::size_t run = 1; run < parts.size(); ++run)
      parts.front().segment(first, count) += parts[run].segment(first, count);
  });
  return std::move(parts.front());
}

Matrix RowProducts::gram(const Vector& d) const {
  return scan(rows_, Gram{&d, &centre_, Matrix::Zero(width() + 1, width() + 1)}, execution_).upper;
}

Vector RowProducts::row(Index i) const {
  BlockBuffer buffer;
  const Block block = rows_.read(i, 1, buffer);
  Vector out(width() + 1);
  out << 1.0, block.x.row(0).transpose();
  if (centre_.size() > 0) out.tail(width()) -= centre_;
  return out;
}

double Problem::penalty(const Vector& theta) const {
  const double w = 0.5 * theta.tail(theta.size() - 1).squaredNorm();
  return intercept && bias == Bias::penalised ? w + 0.5 * theta(0) * theta(0) : w;
}

double Problem::losses(const Vector& f) const {
  const auto slack = (1 - t.array() * f.array()).max(0.0);
  return squared() ? (c.array() * slack.square()).sum() : (c.array() * slack).sum();
}

double Problem::best_bias(const Vector& f) const {
  if (!intercept) return 0;
  // A row begins or ceases to cost something at b = t − f. Between those points the derivative is slope · b + rest.
  std::vector<std::pair<double, Index>> bends;
  double rest = 0, slope = bias == Bias::penalised ? 1 : 0, scale = 0;
  const auto take = [&](Index i, double sign) {  // the part of row i in the derivative, where it costs something
    rest -= sign * (squared() ? 2 * c(i) * (t(i) - f(i)) : c(i) * t(i));
    if (squared()) slope += sign * 2 * c(i);
  };
  for (Index i = 0; i < f.size(); ++i) {
    if (!(c(i) > 0)) continue;
    bends.emplace_back(t(i) - f(i), i);
    scale += c(i);
    if (t(i) > 0) take(i, 1);  // far to the left every positive row costs something, and no other
  }
  std::sort(bends.begin(), bends.end());
  const double zero = 1e-12 * scale;  // below it is rounding
  double left = -std::numeric_limits<double>::infinity();
  for (const auto& [at, i] : bends) {
    if (slope > zero && slope * at + rest >= 0) return std::clamp(-rest / slope, left, at);
    if (slope <= zero && rest > -zero) return 0.5 * (left + at);
    take(i, t(i) > 0 ? -1 : 1);
    if (slope * at + rest > zero) return at;
    left = at;
  }
  return slope > zero ? -rest / slope : left;
}

void Problem::make_feasible(Vector& alpha) const {
  double sum[2] = {0, 0};
  for (Index i = 0; i < alpha.size(); ++i) {
    double& each = alpha(i);
    each = c(i) > 0 && each > 0 ? (squared() ? each : std::min(each, c(i))) : 0.0;
    sum[t(i) > 0] += each;
  }
  if (!free_bias() || sum[0] == sum[1]) return;
  const bool larger = sum[1] > sum[0];
  const double share = sum[!larger] / sum[larger];
  for (Index i = 0; i < alpha.size(); ++i)
    if ((t(i) > 0) == larger) alpha(i) *= share;
}

double Problem::dual(const Vector& alpha, const Vector& sum) const {
  double value = alpha.sum() - penalty(sum);
  if (squared())
    for (Index i = 0; i < alpha.size(); ++i)
      if (alpha(i) > 0) value -= alpha(i) * alpha(i) / (4 * c(i));
  return value;
}

double Point::gap() const {
  const double absolute = std::max(0.0, primal - dual);
  return primal > 0 ? absolute / primal : absolute == 0 ? 0.0 : 1.0;
}

void judge(const Problem& problem, const RowProducts& rows, Point& point) {
  problem.make_feasible(point.alpha);
  point.primal = problem.penalty(point.theta) + problem.losses(rows.times(point.theta));
  point.dual = problem.dual(point.alpha, rows.add_up(point.alpha.cwiseProduct(problem.t)));
}

Point plane_of(const Problem& problem, const RowProducts& rows, Vector alpha, Vector* values) {
  Point point;
  point.alpha = std::move(alpha);
  problem.make_feasible(point.alpha);
  point.theta = rows.add_up(point.alpha.cwiseProduct(problem.t));
  point.dual = problem.dual(point.alpha, point.theta);
  point.theta(0) = 0;
  Vector f = rows.times(point.theta);
  point.theta(0) = problem.best_bias(f);
  f.array() += point.theta(0);
  point.primal = problem.penalty(point.theta) + problem.losses(f);
  if (values) *values = std::move(f);
  return point;
}

}  // namespace lemma::margin
