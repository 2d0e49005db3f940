// lemma/linear/quantile/simplex.cpp
#include <algorithm>
#include <cmath>
#include <lemma/core/error.hpp>
#include <lemma/core/random.hpp>
#include <lemma/linear/quantile/simplex.hpp>
#include <lemma/math/blas.hpp>
#include <numeric>

namespace lemma::quantile {
namespace {

constexpr Index kFew = 2500;             // so many rows are pivoted over without a sample
constexpr Index kBlock = 8192;           // rows looked at by one thread at a time
constexpr double kUnseen = 1e-10;        // the change of y that breaks ties, in units of the residuals
constexpr double kDualTolerance = 1e-9;  // on a
constexpr double kOnPlane = 1e-8;        // residuals below it may be the change of y
constexpr std::uint64_t kStream = 0x51ab;

/// A number in [−1, 1) of the row's own (the finaliser of SplitMix64).
double tie_breaker(Index row) {
  auto bits = static_cast<std::uint64_t>(row) + 0x9e3779b97f4a7c15U;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9U;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebU;
  return static_cast<double>((bits ^ (bits >> 31)) >> 11) * 0x1p-52 - 1;
}

/// y − z c, on several threads.
Vector residuals_of(const Matrix& z, const Vector& y, const Vector& c, const Execution& execution) {
  Vector r(y.size());
  parallel_for((y.size() + kBlock - 1) / kBlock, execution, [&](Index block) {
    const Index first = block * kBlock, size = std::min(kBlock, y.size() - first);
    r.segment(first, size).noalias() = y.segment(first, size) - z.middleRows(first, size) * c;
  });
  return r;
}

/// B⁻¹ by Householder; empty when B is singular.
Matrix inverse_of(const Matrix& b) {
  blas::Columns q = b;
  const Vector factors = blas::householder(q);
  const Matrix r = Matrix(q.triangularView<Eigen::Upper>());
  const Vector size = r.diagonal().cwiseAbs();
  if (!(size.minCoeff() > 1e-13 * size.maxCoeff())) return {};
  blas::form_q(q, factors);
  Matrix inverse = q.transpose();
  blas::solve_upper(blas::Op::plain, r, inverse);
  return inverse;
}

/// The first of the rows, in the order given, that are independent: each at least `share` of its length away from the span
/// of those before it.
std::vector<Index> independent_rows(const Matrix& z, const std::vector<Index>& order, double share) {
  const Index k = z.cols();
  Matrix span(k, k);
  std::vector<Index> chosen;
  for (const Index i : order) {
    const auto found = static_cast<Index>(chosen.size());
    if (found == k) break;
    Vector part = z.row(i);
    const double length = part.norm();
    if (length == 0) continue;
    for (int twice = 0; twice < 2; ++twice) part -= span.topRows(found).transpose() * (span.topRows(found) * part);
    if (part.norm() < share * length) continue;
    span.row(found) = part.normalized();
    chosen.push_back(i);
  }
  return chosen;
}

/// A basis of rows near the plane: with residuals as small as independence allows.
std::vector<Index> basis_near(const Matrix& z, const Vector& r) {
  std::vector<Index> order(at(z.rows()));
  std::iota(order.begin(), order.end(), Index{0});
  const auto smaller = [&](Index i, Index j) {
    const double a = std::abs(r(i)), b = std::abs(r(j));
    return a < b || (a == b && i < j);
  };
  const Index near = std::min(z.rows(), 20 * z.cols());
  std::partial_sort(order.begin(), order.begin() + near, order.end(), smaller);
  auto chosen = independent_rows(z, {order.begin(), order.begin() + near}, 0.1);
  for (const double share : {0.1, 1e-4, 1e-9})
    if (static_cast<Index>(chosen.size()) < z.cols()) {
      std::sort(order.begin(), order.end(), smaller);
      chosen = independent_rows(z, order, share);
    }
  require(static_cast<Index>(chosen.size()) == z.cols(), "quantile: the columns depend on each other");
  return chosen;
}

/// The rows that take part in the pivots, and the plane through k of them.
class Pivots {
 public:
  Pivots(const Matrix& z, const Vector& y, double tau, double unseen)
      : all_z_(z), all_y_(y), tau_(tau), unseen_(unseen) {}

  /// Rows join, and `outside` is the sum of aᵢ zᵢ over those that do not take part.
  void set(std::vector<Index> rows, const std::vector<Index>& basis, Vector outside) {
    rows_ = std::move(rows);
    outside_ = std::move(outside);
    const auto m = static_cast<Index>(rows_.size()), k = all_z_.cols();
    z_.resize(m, k);
    y_.resize(m);
    for (Index i = 0; i < m; ++i) {
      z_.row(i) = all_z_.row(rows_[at(i)]);
      y_(i) = all_y_(rows_[at(i)]) + unseen_ * tie_breaker(rows_[at(i)]);
    }
    basis_.clear();
    for (const Index row : basis) basis_.push_back(std::lower_bound(rows_.begin(), rows_.end(), row) - rows_.begin());
    refresh();
  }

  void run(Vertex& into, const Execution& execution) {
    const long long most = 200 * all_z_.cols() + 20 * static_cast<long long>(rows_.size()), begun = into.pivots;
    into.optimal = false;
    for (long long since = 1; into.pivots - begun < most; ++since) {
      if (since % 64 == 0) refresh();
      const auto leaving = worst_of_basis();
      if (leaving < 0) {
        if (since == 1) {  // seen with fresh numbers
          into.optimal = true;
          break;
        }
        refresh();
        since = 0;
        continue;
      }
      if (into.pivots % 16 == 0 && execution.cancelled()) break;
      if (!pivot(leaving)) break;
      ++into.pivots;
    }
    into.c = c_;
    into.basis.clear();
    for (const Index i : basis_) into.basis.push_back(rows_[at(i)]);
  }

  /// Is there an edge along which the objective does not change, and that has a length?
  bool unique(const Vector& all_r) const {
    for (Index k = 0; k < all_z_.cols(); ++k)
      for (const double end : {tau_, tau_ - 1}) {
        if (std::abs(dual_(k) - end) > kDualTolerance) continue;
        const Vector step = (all_z_ * inverse_.col(k)) * (end == tau_ ? -1.0 : 1.0);
        double length = INFINITY;  // a row on the plane that does not stay there ends the edge at once
        for (Index i = 0; i < step.size(); ++i)
          if (std::abs(step(i)) > 1e-9 && !in_basis(i) && (all_r(i) / step(i) > 0 || std::abs(all_r(i)) < kOnPlane))
            length = std::min(length, std::abs(all_r(i) / step(i)));
        if (length > 10 * kOnPlane) return false;
      }
    return true;
  }

 private:
  bool in_basis(Index row) const {
    return std::any_of(basis_.begin(), basis_.end(), [&](Index i) { return rows_[at(i)] == row; });
  }
  double slope(Index i) const { return side_(i) > 0 ? tau_ : tau_ - 1; }

  /// Everything anew from the basis.
  void refresh() {
    const Index k = all_z_.cols();
    Matrix b(k, k);
    Vector through(k);
    for (Index j = 0; j < k; ++j) {
      b.row(j) = z_.row(basis_[at(j)]);
      through(j) = y_(basis_[at(j)]);
    }
    inverse_ = inverse_of(b);
    require(inverse_.size() > 0, "quantile: the columns depend on each other");
    c_ = inverse_ * through;
    r_.noalias() = y_ - z_ * c_;
    side_ = r_.unaryExpr([](double r) { return r > 0 ? 1.0 : -1.0; });
    for (const Index i : basis_) side_(i) = 0;
    const Vector a = side_.unaryExpr([&](double s) { return s == 0 ? 0.0 : s > 0 ? tau_ : tau_ - 1; });
    pull_ = outside_;
    pull_.noalias() += z_.transpose() * a;
  }

  /// Position in the basis of the row whose a is furthest outside, −1 when there is none.
  Index worst_of_basis() {
    dual_.noalias() = -(inverse_.transpose() * pull_);
    Index worst = -1;
    double most = 0;
    for (Index j = 0; j < dual_.size(); ++j) {
      const double outside = std::max(dual_(j) - tau_, tau_ - 1 - dual_(j));
      if (outside <= kDualTolerance) continue;
      const double steep = outside / inverse_.col(j).norm();
      if (steep > most) {
        most = steep;
        worst = j;
      }
    }
    return worst;
  }

  bool pivot(Index j) {
    const double direction = dual_(j) > tau_ ? -1 : 1;  // the leaving row comes to lie above, or below
    const Vector d = direction * inverse_.col(j);
    step_.noalias() = z_ * d;  // residuals become r − t step
    double fall = dual_(j) > tau_ ? dual_(j) - tau_ : tau_ - 1 - dual_(j);
    breaks_.clear();
    for (Index i = 0; i < r_.size(); ++i)
      if (side_(i) * step_(i) > 1e-13) breaks_.push_back({std::max(r_(i) / step_(i), 0.0), i});
    const auto later = [](const Break& a, const Break& b) { return a.t > b.t || (a.t == b.t && a.row > b.row); };
    std::make_heap(breaks_.begin(), breaks_.end(), later);
    Index entering = -1;
    double t = 0;
    while (!breaks_.empty()) {
      std::pop_heap(breaks_.begin(), breaks_.end(), later);
      const Break next = breaks_.back();
      breaks_.pop_back();
      pull_ -= slope(next.row) * z_.row(next.row).transpose();
      fall -= std::abs(step_(next.row));
      if (fall <= 0) {
        entering = next.row;
        t = next.t;
        break;
      }
      side_(next.row) = -side_(next.row);
      pull_ += slope(next.row) * z_.row(next.row).transpose();
    }
    if (entering < 0) return false;  // rounding alone: the objective is bounded below
    const Index leaving = basis_[at(j)];
    r_ -= t * step_;
    c_ += t * d;
    r_(leaving) = -direction * t;
    side_(leaving) = -direction;
    pull_ += slope(leaving) * z_.row(leaving).transpose();
    basis_[at(j)] = entering;
    side_(entering) = 0;
    r_(entering) = 0;
    exchange(j, entering);
    return true;
  }

  /// Row j of B becomes the entering row: a correction of rank one to B⁻¹.
  void exchange(Index j, Index entering) {
    const Vector along = inverse_.transpose() * z_.row(entering).transpose();
    const Vector column = inverse_.col(j) / along(j);
    Vector others = along;
    others(j) = 0;
    inverse_.noalias() -= column * others.transpose();
    inverse_.col(j) = column;
  }

  struct Break {
    double t;
    Index row;
  };
  const Matrix& all_z_;
  const Vector& all_y_;
  double tau_, unseen_;
  std::vector<Index> rows_, basis_;  // ascending rows of z; places among them
  Matrix z_, inverse_;
  Vector y_, c_, r_, side_, outside_, pull_, dual_, step_;
  std::vector<Break> breaks_;
};

/// The rows nearest to the plane, and the basis.
std::vector<Index> band(const Vector& r, Index count, const std::vector<Index>& basis) {
  Vector size = r.cwiseAbs();
  std::vector<double> sorted(size.begin(), size.end());
  std::nth_element(sorted.begin(), sorted.begin() + count, sorted.end());
  for (const Index i : basis) size(i) = -1;
  std::vector<Index> out;
  for (Index i = 0; i < r.size(); ++i)
    if (size(i) < sorted[at(count)]) out.push_back(i);
  return out;
}

/// Σ aᵢ zᵢ over the rows that do not take part.
Vector pull_of_others(const Matrix& z, const Vector& r, const std::vector<Index>& rows, double tau,
                      const Execution& execution) {
  Vector a = r.unaryExpr([&](double each) { return each > 0 ? tau : tau - 1; });
  for (const Index i : rows) a(i) = 0;
  const Index blocks = (r.size() + kBlock - 1) / kBlock;
  Matrix sums(blocks, z.cols());
  parallel_for(blocks, execution, [&](Index block) {
    const Index first = block * kBlock, size = std::min(kBlock, r.size() - first);
    sums.row(block).noalias() = a.segment(first, size).transpose() * z.middleRows(first, size);
  });
  return sums.colwise().sum();
}

/// Those on the other side of the plane than they were taken to be, and had no part.
std::vector<Index> turned(const Vector& before, const Vector& now, const std::vector<Index>& rows) {
  std::vector<Index> out;
  std::size_t next = 0;
  for (Index i = 0; i < now.size(); ++i) {
    if (next < rows.size() && rows[next] == i) ++next;
    else if ((before(i) > 0) != (now(i) > 0)) out.push_back(i);
  }
  return out;
}

Vertex solve_all(const Matrix& z, const Vector& y, double tau, const Execution& execution);

/// The vertex of a sample, as one of these rows.
Vertex solve_sample(const Matrix& z, const Vector& y, double tau, Index size, const Execution& execution) {
  RandomStream stream(kStream, static_cast<std::uint64_t>(y.size()));
  auto sample = sample_without_replacement(stream, y.size(), size);
  const auto spanning = basis_near(z, y);  // a column that few rows have must not be lost
  sample.insert(sample.end(), spanning.begin(), spanning.end());
  std::sort(sample.begin(), sample.end());
  sample.erase(std::unique(sample.begin(), sample.end()), sample.end());
  const Matrix some_z = z(sample, Eigen::all);
  Vertex vertex = solve_all(some_z, y(sample), tau, execution);
  for (Index& row : vertex.basis) row = sample[at(row)];
  return vertex;
}

/// From a vertex near the best one.
void improve(Vertex& vertex, const Matrix& z, const Vector& y, double tau, Index count, double unseen,
             const Execution& execution) {
  Pivots pivots(z, y, tau, unseen);
  std::vector<Index> rows;
  if (count >= y.size()) {
    rows.resize(at(y.size()));
    std::iota(rows.begin(), rows.end(), Index{0});
    pivots.set(rows, vertex.basis, Vector::Zero(z.cols()));
    pivots.run(vertex, execution);
  } else {
    Vector before = residuals_of(z, y, vertex.c, execution);
    rows = band(before, count, vertex.basis);
    for (;;) {
      pivots.set(rows, vertex.basis, pull_of_others(z, before, rows, tau, execution));
      pivots.run(vertex, execution);
      const Vector now = residuals_of(z, y, vertex.c, execution);
      const auto wrong = turned(before, now, rows);
      if (wrong.empty() || !vertex.optimal) break;
      std::vector<Index> more(rows.size() + wrong.size());
      std::merge(rows.begin(), rows.end(), wrong.begin(), wrong.end(), more.begin());
      rows = std::move(more);
      before = now;
    }
  }
  if (vertex.optimal) vertex.unique = pivots.unique(residuals_of(z, y, vertex.c, execution));
}

Vertex solve_all(const Matrix& z, const Vector& y, double tau, const Execution& execution) {
  const double n = static_cast<double>(y.size()), k = static_cast<double>(z.cols());
  const auto size = static_cast<Index>(std::pow(n * (k + 1), 2.0 / 3));
  Vertex vertex;
  if (y.size() <= kFew || 2 * size > y.size()) {
    vertex.basis = basis_near(z, y);
    improve(vertex, z, y, tau, y.size(), kUnseen, execution);
  } else {
    vertex = solve_sample(z, y, tau, size, execution.part(0, 0.5));
    improve(vertex, z, y, tau, size, kUnseen, execution.part(0.5, 1));
  }
  return vertex;
}

double median_size(const Vector& r) {
  std::vector<double> sizes;
  for (const double each : r)
    if (std::abs(each) > 1e-13) sizes.push_back(std::abs(each));
  if (sizes.empty()) return 0;
  const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
  std::nth_element(sizes.begin(), middle, sizes.end());
  return *middle;
}

}  // namespace

Vertex solve(const Matrix& z, const Vector& y, double tau, const Execution& execution) {
  Vertex vertex = solve_all(z, y, tau, execution.part(0, 0.9));
  // Where most residuals are far below 1 (a few huge ones set the unit), ties are broken again, more finely.
  const double middle = median_size(residuals_of(z, y, vertex.c, execution));
  if (vertex.optimal && middle < 1e-3 && middle > 0)
    improve(vertex, z, y, tau, y.size(), kUnseen * middle, execution.part(0.9, 1));
  vertex.c = inverse_of(z(vertex.basis, Eigen::all)) * y(vertex.basis);  // of y as it is
  return vertex;
}

}  // namespace lemma::quantile
