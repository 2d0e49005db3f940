// lemma/mixture/shared/factors.cpp
#include <algorithm>
#include <cmath>
#include <lemma/core/error.hpp>
#include <lemma/core/random.hpp>
#include <lemma/core/text.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/math/factorise.hpp>
#include <lemma/mixture/shared/factors.hpp>
#include <limits>
#include <numbers>
#include <optional>

namespace lemma::factors {
namespace {

/// The triangle of M = I + Wᵀ Ψ⁻¹ W.
Matrix root_of(const Matrix& w, const Vector& noise) {
  Matrix m = Matrix::Identity(w.cols(), w.cols());
  for (Index j = 0; j < w.rows(); ++j)
    for (Index a = 0; a < w.cols(); ++a)
      for (Index b = a; b < w.cols(); ++b) m(a, b) += w(j, a) * w(j, b) / noise(j);
  auto root = cholesky(m);
  require(root.has_value(), "factors: a covariance is not positive definite to working precision");
  return *std::move(root);
}

/// Sums of E and M over rows. Of each column (q+1)² products of (z, 1), q+1 with x, and x²; x about its mean of the start.
struct Sums {
  const Asker* asker;
  const Factors* at;
  double log_likelihood = 0, weight = 0, values = 0;
  Matrix products, with_x;  // blocks of q+1 rows; a row
  Vector squares, mass;

  Sums(const Asker& a, const Factors& f) : asker(&a), at(&f) {
    const Index p = f.width(), r = f.count() + 1;
    products = Matrix::Zero(p * r, r);
    with_x = Matrix::Zero(p, r);
    squares = mass = Vector::Zero(p);
  }
  void accumulate(const Block& block) {
    const Index q = at->count(), p = at->width();
    Vector z(q + 1);
    Matrix zz(q + 1, q + 1);
    for (Index i = 0; i < block.rows(); ++i) {
      const double w = block.weight_of(i);
      if (w == 0) continue;
      const double* row = block.x.row(i).data();
      const Hidden hidden = asker->of(row);
      if (hidden.known == 0) continue;
      log_likelihood += w * hidden.log_density;
      weight += w;
      values += w * static_cast<double>(hidden.known);
      z << hidden.mean, 1;
      zz = z * z.transpose();
      zz.topLeftCorner(q, q) += hidden.covariance;
      for (Index j = 0; j < p; ++j) {
        if (std::isnan(row[j])) continue;
        const double d = row[j] - at->mean(j);
        products.middleRows(j * (q + 1), q + 1) += w * zz;
        with_x.row(j) += (w * d) * z.transpose();
        squares(j) += w * d * d;
        mass(j) += w;
      }
    }
  }
  void merge(const Sums& other) {
    log_likelihood += other.log_likelihood;
    weight += other.weight;
    values += other.values;
    products += other.products;
    with_x += other.with_x;
    squares += other.squares;
    mass += other.mass;
  }
};

/// W, means, and log ψ in the unit of its column: numbers each of which may have any value.
Vector coordinates(const Factors& f, const Vector& unit) {
  Vector out(f.loadings.size() + 2 * f.width());
  for (Index j = 0; j < f.width(); ++j) {
    for (Index k = 0; k < f.count(); ++k) out(j * f.count() + k) = f.loadings(j, k);
    out(f.loadings.size() + j) = f.mean(j);
    out(f.loadings.size() + f.width() + j) = unit(j) * std::log(f.noise(j));
  }
  return out;
}

std::optional<Factors> at_coordinates(const Vector& c, const Factors& like, const Vector& unit, Noise noise,
                                      const Vector& floor) {
  if (!c.allFinite()) return {};
  Factors out = like;
  for (Index j = 0; j < like.width(); ++j) {
    for (Index k = 0; k < like.count(); ++k) out.loadings(j, k) = c(j * like.count() + k);
    out.mean(j) = c(like.loadings.size() + j);
    out.noise(j) = std::exp(c(like.loadings.size() + like.width() + j) / unit(j));
  }
  if (noise == Noise::equal) out.noise.setConstant(std::exp(out.noise.array().log().mean()));
  out.noise = out.noise.cwiseMax(floor);
  if (!out.noise.allFinite()) return {};
  return out;
}

/// θ₀ + 2s r + s² v (Varadhan and Roland 2008), s = ‖r‖ / ‖v‖.
std::optional<Factors> extrapolated(const Factors& first, const Factors& second, const Factors& third, Noise noise,
                                    const Vector& floor) {
  const Vector unit = (first.loadings.rowwise().squaredNorm() + first.noise).cwiseSqrt();
  const Vector a = coordinates(first, unit), b = coordinates(second, unit), c = coordinates(third, unit);
  const Vector r = b - a, v = c - b - r;
  if (!(v.norm() > 0)) return {};
  const double s = std::max(1.0, r.norm() / v.norm());
  return at_coordinates(a + 2 * s * r + s * s * v, first, unit, noise, floor);
}

}  // namespace

Matrix Factors::covariance() const {
  Matrix out = loadings * loadings.transpose();
  out.diagonal() += noise;
  return out;
}

Asker::Asker(const Factors& factors) : factors_(factors), root_(root_of(factors.loadings, factors.noise)) {}

Hidden Asker::from(const Vector& d, const Matrix& w, const Vector& noise, const Matrix& root) const {
  const Index p = d.size(), q = w.cols();
  Matrix right = Matrix::Zero(q, 1);
  for (Index j = 0; j < p; ++j)
    for (Index k = 0; k < q; ++k) right(k, 0) += w(j, k) * (d(j) / noise(j));
  Hidden out;
  out.known = p;
  out.mean = solve_upper(root, solve_upper_transposed(root, right)).col(0);
  double squares = 0, log_noise = 0;
  for (Index j = 0; j < p; ++j) {
    double rest = d(j);
    for (Index k = 0; k < q; ++k) rest -= w(j, k) * out.mean(k);
    squares += rest * rest / noise(j);
    log_noise += std::log(noise(j));
  }
  for (Index k = 0; k < q; ++k) squares += out.mean(k) * out.mean(k);
  out.log_density =
      -0.5 * (static_cast<double>(p) * std::log(2 * std::numbers::pi) + log_noise + log_determinant(root) + squares);
  return out;
}

Hidden Asker::of(const double* row) const {
  const Index p = factors_.width(), q = factors_.count();
  std::vector<Index> known;
  for (Index j = 0; j < p; ++j)
    if (!std::isnan(row[j])) known.push_back(j);
  if (known.empty()) return {Vector::Zero(q), Matrix::Identity(q, q), 0, 0};
  const bool all = static_cast<Index>(known.size()) == p;
  Vector d(static_cast<Index>(known.size()));
  for (std::size_t k = 0; k < known.size(); ++k) d(static_cast<Index>(k)) = row[known[k]] - factors_.mean(known[k]);
  const Matrix w = all ? Matrix() : Matrix(factors_.loadings(known, Eigen::all));
  const Vector noise = all ? Vector() : Vector(factors_.noise(known));
  const Matrix root = all ? Matrix() : root_of(w, noise);
  Hidden out = all ? from(d, factors_.loadings, factors_.noise, root_) : from(d, w, noise, root);
  out.covariance = solve_upper(all ? root_ : root, solve_upper_transposed(all ? root_ : root, Matrix::Identity(q, q)));
  return out;
}

Vector log_densities(const Factors& factors, const MatrixView& x) {
  const Asker asker(factors);
  Vector out(x.rows());
  for (Index i = 0; i < x.rows(); ++i) {
    const Hidden hidden = asker.of(x.row(i).data());
    out(i) = hidden.known > 0 ? hidden.log_density : std::numeric_limits<double>::quiet_NaN();
  }
  return out;
}

Matrix hidden_means(const Factors& factors, const MatrixView& x) {
  const Asker asker(factors);
  Matrix out(x.rows(), factors.count());
  for (Index i = 0; i < x.rows(); ++i) out.row(i) = asker.of(x.row(i).data()).mean.transpose();
  return out;
}

Matrix filled(const Factors& factors, const MatrixView& x) {
  const Asker asker(factors);
  Matrix out = x;
  for (Index i = 0; i < x.rows(); ++i) {
    if (!x.row(i).hasNaN()) continue;
    const Vector z = asker.of(x.row(i).data()).mean;
    for (Index j = 0; j < x.cols(); ++j) {
      if (!std::isnan(x(i, j))) continue;
      out(i, j) = factors.mean(j);
      for (Index k = 0; k < z.size(); ++k) out(i, j) += factors.loadings(j, k) * z(k);
    }
  }
  return out;
}

Step step(const Rows& rows, const Factors& at, Noise noise, const Vector& floor, const Execution& execution) {
  const Asker asker(at);
  const auto sums = scan(rows, Sums(asker, at), execution);
  Step out;
  out.log_likelihood = sums.log_likelihood;
  out.weight = sums.weight;
  out.values = sums.values;
  out.next = at;
  const Index q = at.count();
  double pooled = 0;
  for (Index j = 0; j < at.width(); ++j) {
    if (!(sums.mass(j) > 0)) continue;
    const auto root = cholesky(sums.products.middleRows(j * (q + 1), q + 1));
    require(root.has_value(), "factors: the hidden numbers of the rows do not spread");
    const Matrix b = sums.with_x.row(j).transpose();
    const Matrix solved = solve_upper(*root, solve_upper_transposed(*root, b));
    for (Index k = 0; k < q; ++k) out.next.loadings(j, k) = solved(k, 0);
    out.next.mean(j) = at.mean(j) + solved(q, 0);
    const double rest = std::max(0.0, sums.squares(j) - b.col(0).dot(solved.col(0)));
    pooled += rest;
    out.next.noise(j) = std::max(rest / sums.mass(j), floor(j));
  }
  if (noise == Noise::equal) out.next.noise.setConstant(std::max(pooled / sums.values, floor(0)));
  return out;
}

double distance(const Factors& from, const Factors& to) {
  double most = 0;
  for (Index j = 0; j < from.width(); ++j) {
    const double unit = std::sqrt(from.loadings.row(j).squaredNorm() + from.noise(j));
    most = std::max({most, std::abs(to.mean(j) - from.mean(j)) / unit,
                     (to.loadings.row(j) - from.loadings.row(j)).cwiseAbs().maxCoeff() / unit,
                     std::abs(to.noise(j) - from.noise(j)) / from.noise(j)});
  }
  return most;
}

Run run(const Rows& rows, const Factors& start, Noise noise, const Vector& floor, Index iterations, double movement,
        const Execution& execution) {
  Run out;
  Factors next;
  const auto done = [&] { return static_cast<double>(out.trace.size()) / static_cast<double>(iterations); };
  const auto take = [&](const Factors& at, Step found) {
    out.factors = at;
    out.trace.push_back(found.log_likelihood);
    out.movement = distance(at, found.next);
    next = std::move(found.next);
    execution.report(done(), "log-likelihood " + format_significant(found.log_likelihood, 8));
  };
  const auto look = [&](const Factors& at) { return step(rows, at, noise, floor, execution.part(done(), done())); };
  const auto arrived = [&] { return out.movement <= movement || static_cast<Index>(out.trace.size()) >= iterations; };
  take(start, look(start));
  try {
    while (!arrived()) {
      const Factors first = out.factors, second = next;
      take(second, look(second));
      if (arrived()) break;
      if (const auto far = extrapolated(first, second, next, noise, floor)) {
        Step found = look(*far);
        if (found.log_likelihood >= out.trace.back()) {
          take(*far, std::move(found));
          continue;
        }
      }
      const Factors third = next;
      take(third, look(third));
    }
  } catch (const Cancelled&) { out.cancelled = true; }
  return out;
}

Factors turned(Factors factors) {
  const Matrix scaled = factors.noise.cwiseSqrt().cwiseInverse().asDiagonal() * factors.loadings;
  const Eigenpairs pairs = symmetric_eigen(scaled.transpose() * scaled);
  factors.loadings = Matrix(factors.loadings * pairs.vectors);
  turn_columns(factors.loadings);
  return factors;
}

Matrix draw(const Factors& factors, Index count, std::uint64_t seed) {
  Matrix out(count, factors.width());
  Vector z(factors.count());
  for (Index i = 0; i < count; ++i) {
    RandomStream random(seed, at(i));
    for (double& each : z) each = random.normal();
    for (Index j = 0; j < factors.width(); ++j) {
      double value = factors.mean(j) + std::sqrt(factors.noise(j)) * random.normal();
      for (Index k = 0; k < z.size(); ++k) value += factors.loadings(j, k) * z(k);
      out(i, j) = value;
    }
  }
  return out;
}

}  // namespace lemma::factors
