// lemma/cluster/kmeans/lower_bound.cpp
#include <algorithm>
#include <array>
#include <cmath>
#include <lemma/cluster/kmeans/lower_bound.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/math/multiply.hpp>
#include <set>

namespace lemma {
namespace {

constexpr double kRounding = 1e-11;  // of tr G: more than eigenvalues can be off
constexpr int kLook = 25;            // steps between two looks at the bound
constexpr int kFirstTriples = 100;   // steps before triangles are looked for,
constexpr int kTriples = 50;         // and between two searches
constexpr Index kNewTriples = 20;    // a row, at most, in one search
constexpr double kViolated = 5e-4;   // beside what z is within a cluster of mean weight
constexpr double kStride = 2.5;      // of the steps of t, beside their Lipschitz constant

struct Triple {
  Index i, j, k;
  double t;
};

/// The rows as they are compared: √w, u, and the weights that A has.
struct Ground {
  explicit Ground(const Vector& w) : root(w.cwiseSqrt()), u(root / root.norm()) {}

  Index count() const { return root.size(); }
  double scaled(const Matrix& z, Index a, Index b) const { return z(a, b) / (root(a) * root(b)); }
  /// By how much z_ij + z_ik is above z_ii + z_jk.
  double violation(const Matrix& z, const Triple& of) const {
    return scaled(z, of.i, of.j) + scaled(z, of.i, of.k) - scaled(z, of.i, of.i) - scaled(z, of.j, of.k);
  }
  /// M + Σ t A.
  void add(const std::vector<Triple>& triples, Matrix& m) const {
    const auto put = [&](Index a, Index b, double t) {
      const double half = 0.5 * t / (root(a) * root(b));
      m(a, b) += half;
      m(b, a) += half;
    };
    for (const Triple& each : triples) {
      put(each.i, each.i, each.t);
      put(each.j, each.k, each.t);
      put(each.i, each.j, -each.t);
      put(each.i, each.k, -each.t);
    }
  }
  double squared_norm(const Triple& of) const {
    const double a = 1 / root(of.i), b = 1 / root(of.j), c = 1 / root(of.k);
    return a * a * a * a + 0.5 * (b * b * c * c + a * a * b * b + a * a * c * c);
  }
  /// What M does across u: P M P, P = I − uuᵀ.
  Matrix across(const Matrix& m) const {
    const Vector mu = m * u;
    Matrix out = m - u * mu.transpose() - mu * u.transpose() + u.dot(mu) * u * u.transpose();
    return 0.5 * (out + out.transpose());
  }

  Vector root, u;
};

/// What the multipliers prove, as a share of tr G.
double bound_of(const Ground& ground, const Matrix& m, Index k, bool all_eigenvalues) {
  double most = ground.u.dot(m * ground.u);
  if (k > 1) {
    const Matrix across = ground.across(m);
    most += (all_eigenvalues ? symmetric_eigen(across) : symmetric_eigen(across, k - 1)).values.head(k - 1).sum();
  }
  return 1 - most - kRounding;
}

/// The nearest to λ that are not negative and add up to `sum`; λ falls.
Vector on_simplex(const Vector& lambda, double sum) {
  double shift = 0, so_far = 0;
  for (Index r = 0; r < lambda.size(); ++r) {
    so_far += lambda(r);
    const double here = (so_far - sum) / static_cast<double>(r + 1);
    if (lambda(r) <= here) break;
    shift = here;
  }
  return (lambda.array() - shift).cwiseMax(0.0);
}

/// maximise ⟨G, Z⟩ over Z = X = Y, X of the trace k and not negative as a form, Y not negative in any entry; U, the multiplier of
/// X = Y, is −N / σ.
class Directions {
 public:
  Directions(const AlikeRows& rows, const Matrix& g, Index k)
      : ground_(rows.w), g_(g), k_(k), typical_(static_cast<double>(k) / rows.w.sum()) {
    const Index n = ground_.count();
    y_ = u_ = of_triples_ = Matrix::Zero(n, n);
  }

  Matrix pairs() const { return -sigma_ * u_; }
  const std::vector<Triple>& triples() const { return triples_; }
  double bound() const { return bound_of(ground_, g_ + pairs() + of_triples_, k_, false); }

  void step() {
    const Matrix m = ground_.across(y_ - u_ + (g_ + of_triples_) / sigma_);
    const Eigenpairs pairs = symmetric_eigen(m);
    const Vector lambda = on_simplex(pairs.values, static_cast<double>(k_ - 1));
    const Index rank = (lambda.array() > 0).count();
    const Matrix half = pairs.vectors.leftCols(rank) * lambda.head(rank).cwiseSqrt().asDiagonal();
    const Matrix x = outer_gram(half) + ground_.u * ground_.u.transpose();
    const Matrix before = y_;
    y_ = (x + u_).cwiseMax(0.0);
    u_ = (x + u_).cwiseMin(0.0);
    raise(2 * x - before);
    if (++steps_ % 10 == 0) balance((x - y_).norm(), (y_ - before).norm());
  }

  /// Triangles that Y violates most, besides those that have a multiplier.
  void look_for_triples() {
    std::erase_if(triples_, [](const Triple& each) { return each.t == 0; });
    std::set<std::array<Index, 3>> known;
    for (const Triple& each : triples_) known.insert({each.i, each.j, each.k});
    const Index n = ground_.count();
    std::vector<Triple> found;
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j)
        for (Index k = j + 1; k < n && j != i; ++k) {
          Triple each{i, j, k, 0};
          each.t = k == i ? 0 : ground_.violation(y_, each);
          if (each.t > kViolated * typical_) found.push_back(each);
        }
    std::sort(found.begin(), found.end(), [](const Triple& a, const Triple& b) {
      return a.t != b.t ? a.t > b.t : std::array{a.i, a.j, a.k} < std::array{b.i, b.j, b.k};
    });
    if (std::ssize(found) > kNewTriples * n) found.resize(at(kNewTriples * n));
    for (const Triple& each : found)
      if (!known.contains({each.i, each.j, each.k})) triples_.push_back({each.i, each.j, each.k, 0});
    touching_.assign(at(n), 0);
    for (const Triple& each : triples_)
      for (const Index row : {each.i, each.j, each.k}) touching_[at(row)] += 1;
  }

 private:
  /// t rises by how much its triangle is violated, and falls to 0 at least.
  void raise(const Matrix& z) {
    if (triples_.empty()) return;
    for (Triple& each : triples_) {
      const double many = std::max({touching_[at(each.i)], touching_[at(each.j)], touching_[at(each.k)]});
      each.t =
          std::max(0.0, each.t + kStride * sigma_ * ground_.violation(z, each) / (ground_.squared_norm(each) * many));
    }
    of_triples_.setZero();
    ground_.add(triples_, of_triples_);
  }

  /// σ so that X = Y and the rest of the conditions are met at the same pace.
  void balance(double primal, double dual) {
    const double by = primal > 3 * dual ? 1.5 : dual > 3 * primal ? 1 / 1.5 : 1;
    sigma_ *= by;
    u_ /= by;
  }

  Ground ground_;
  const Matrix& g_;
  Index k_;
  double typical_;  // z within a cluster of mean weight
  double sigma_ = 1;
  int steps_ = 0;
  Matrix y_, u_, of_triples_;
  std::vector<Triple> triples_;
  std::vector<double> touching_;  // triangles that each row is in
};

Vector packed(const Matrix& symmetric) {
  const Index n = symmetric.rows();
  Vector out(n * (n + 1) / 2);
  for (Index i = 0, at = 0; i < n; ++i)
    for (Index j = 0; j <= i; ++j) out(at++) = std::max(0.0, symmetric(i, j));
  return out;
}

Matrix told(const std::vector<Triple>& triples) {
  std::vector<Triple> some;
  std::copy_if(triples.begin(), triples.end(), std::back_inserter(some), [](const Triple& each) { return each.t > 0; });
  Matrix out(std::ssize(some), 4);
  for (std::size_t l = 0; l < some.size(); ++l)
    out.row(static_cast<Index>(l)) << static_cast<double>(some[l].i), static_cast<double>(some[l].j),
        static_cast<double>(some[l].k), some[l].t;
  return out;
}

Matrix weighted_and_centred(const AlikeRows& rows) {
  const Vector mean = rows.x.transpose() * rows.w / rows.w.sum();
  Matrix b = rows.x.rowwise() - mean.transpose();
  return rows.w.cwiseSqrt().asDiagonal() * b;
}

}  // namespace

LowerBound lower_bound(const AlikeRows& rows, Index k, double within, int steps, const Execution& execution) {
  const Matrix b = weighted_and_centred(rows);
  const double total = b.squaredNorm();
  LowerBound out;
  out.pairs = Vector::Zero(b.rows() * (b.rows() + 1) / 2);
  if (!(total > 0)) return out;
  const Matrix scaled = b / std::sqrt(total), g = outer_gram(scaled);
  Directions search(rows, g, k);
  double best = 0;
  const auto look = [&] {
    if (const double here = search.bound(); here > best) {
      best = here;
      out.pairs = packed(search.pairs());
      out.triples = told(search.triples());
    }
    return within - best * total <= kBoundReached * within;
  };
  for (int step = 0; !look() && step < steps; step += kLook) {
    if (execution.cancelled()) break;
    execution.report(static_cast<double>(step) / steps, "lower bound");
    if (step >= kFirstTriples && step % kTriples == 0) search.look_for_triples();
    for (int inner = 0; inner < std::min(kLook, steps - step); ++inner) search.step();
  }
  out.value = std::min(proved_bound(rows, k, out.pairs, out.triples), within);
  return out;
}

double proved_bound(const AlikeRows& rows, Index k, const Vector& pairs, const Matrix& triples) {
  const Index n = rows.x.rows();
  if (pairs.size() != n * (n + 1) / 2 || (triples.rows() > 0 && triples.cols() != 4) || k > n) return 0;
  // G = −½ √w (D − rows' means − columns' means + mean) √w of the squared distances D.
  const double weight = rows.w.sum();
  Matrix g(n, n);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) g(i, j) = (rows.x.row(i) - rows.x.row(j)).squaredNorm();
  const Vector mean = g * rows.w / weight;
  const double all = mean.dot(rows.w) / weight, total = 0.5 * weight * all;
  if (!(total > 0)) return 0;
  const Ground ground(rows.w);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j)
      g(i, j) = -0.5 * ground.root(i) * ground.root(j) * (g(i, j) - mean(i) - mean(j) + all) / total;
  for (Index i = 0, place = 0; i < n; ++i)
    for (Index j = 0; j <= i; ++j, ++place)
      if (const double more = std::max(0.0, pairs(place)); more > 0) {
        g(i, j) += more;
        if (i != j) g(j, i) += more;
      }
  std::vector<Triple> some;
  for (Index l = 0; l < triples.rows(); ++l) {
    const Vector row = triples.row(l);
    if (!(row.head(3).minCoeff() >= 0 && row.head(3).maxCoeff() < static_cast<double>(n))) return 0;
    const Triple each{static_cast<Index>(row(0)), static_cast<Index>(row(1)), static_cast<Index>(row(2)),
                      std::max(0.0, row(3))};
    if (each.i == each.j || each.i == each.k || each.j == each.k) return 0;
    some.push_back(each);
  }
  ground.add(some, g);
  if (!g.allFinite()) return 0;
  return std::max(0.0, total * bound_of(ground, g, k, true));
}

}  // namespace lemma
