// lemma/mixture/shared/known_values.cpp
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/math/column_moments.hpp>
#include <lemma/math/factorise.hpp>
#include <lemma/mixture/shared/known_values.hpp>
#include <lemma/model/finite_or_missing.hpp>
#include <numbers>

namespace lemma::factors {
namespace {

struct Missing {
  bool any = false;
  double weight = 0;
  void accumulate(const Block& block) {
    for (Index i = 0; i < block.rows(); ++i) {
      if (block.weight_of(i) == 0) continue;
      Index known = 0;
      for (const double each : block.x.row(i)) known += std::isnan(each) ? 0 : 1;
      any = any || known < block.x.cols();
      if (known > 0) weight += block.weight_of(i);
    }
  }
  void merge(const Missing& other) {
    any = any || other.any;
    weight += other.weight;
  }
};

struct FilledScatter {
  const Vector* mean;
  double weight = 0;
  Vector shift;
  Matrix scatter;
  explicit FilledScatter(const Vector& m)
      : mean(&m), shift(Vector::Zero(m.size())), scatter(Matrix::Zero(m.size(), m.size())) {}
  void accumulate(const Block& block) {
    Vector d(mean->size());
    for (Index i = 0; i < block.rows(); ++i) {
      const double w = block.weight_of(i);
      if (w == 0) continue;
      for (Index j = 0; j < d.size(); ++j) d(j) = std::isnan(block.x(i, j)) ? 0 : block.x(i, j) - (*mean)(j);
      weight += w;
      shift += w * d;
      scatter += w * (d * d.transpose());
    }
  }
  void merge(const FilledScatter& other) {
    weight += other.weight;
    shift += other.shift;
    scatter += other.scatter;
  }
};

/// Sums of E and M, as the textbook has them.
struct PlainSums {
  const Factors* at;
  const Matrix* covariance;
  double log_likelihood = 0, weight = 0, values = 0;
  std::vector<Matrix> products;
  Matrix with_x;
  Vector squares, mass;

  PlainSums(const Factors& f, const Matrix& c) : at(&f), covariance(&c) {
    const Index r = f.count() + 1;
    products.assign(lemma::at(f.width()), Matrix::Zero(r, r));
    with_x = Matrix::Zero(f.width(), r);
    squares = mass = Vector::Zero(f.width());
  }
  void accumulate(const Block& block) {
    const Index q = at->count();
    for (Index i = 0; i < block.rows(); ++i) {
      const double w = block.weight_of(i);
      std::vector<Index> known;
      for (Index j = 0; j < at->width(); ++j)
        if (!std::isnan(block.x(i, j))) known.push_back(j);
      if (w == 0 || known.empty()) continue;
      const auto o = static_cast<Index>(known.size());
      Matrix d(o, 1);
      for (Index k = 0; k < o; ++k) d(k, 0) = block.x(i, known[lemma::at(k)]) - at->mean(known[lemma::at(k)]);
      const Matrix c = (*covariance)(known, known), wo = at->loadings(known, Eigen::all);
      const auto root = cholesky(c);
      require(root.has_value(), "the covariance of known values is not positive definite");
      const Matrix solved = solve_upper(*root, solve_upper_transposed(*root, d));
      const Matrix half = solve_upper_transposed(*root, wo);
      Vector z(q + 1);
      z << (wo.transpose() * solved).col(0), 1;
      Matrix zz = z * z.transpose();
      zz.topLeftCorner(q, q) += Matrix::Identity(q, q) - half.transpose() * half;
      log_likelihood -= 0.5 * w *
                        (static_cast<double>(o) * std::log(2 * std::numbers::pi) + log_determinant(*root) +
                         d.col(0).dot(solved.col(0)));
      weight += w;
      values += w * static_cast<double>(o);
      for (Index k = 0; k < o; ++k) {
        const Index j = known[lemma::at(k)];
        products[lemma::at(j)] += w * zz;
        with_x.row(j) += w * d(k, 0) * z.transpose();
        squares(j) += w * d(k, 0) * d(k, 0);
        mass(j) += w;
      }
    }
  }
  void merge(const PlainSums& other) {
    log_likelihood += other.log_likelihood;
    weight += other.weight;
    values += other.values;
    for (std::size_t j = 0; j < products.size(); ++j) products[j] += other.products[j];
    with_x += other.with_x;
    squares += other.squares;
    mass += other.mass;
  }
};

}  // namespace

Known known_values(std::string_view method, const Rows& rows, const Execution& execution) {
  require_finite_or_missing(method, rows, execution.part(0, 0.3));
  const auto moments = scan(rows, ColumnMoments(rows.width()), execution.part(0.3, 0.7));
  const auto missing = scan(rows, Missing{}, execution.part(0.7, 1));
  if (!(missing.weight > 0))
    throw Error(fmt::format("{}: there is no row with a value and a weight above 0 to learn from", method));
  Known out{moments.mean(), Vector(rows.width()), missing.weight, missing.any};
  for (Index j = 0; j < rows.width(); ++j) {
    const auto& column = rows.features[at(j)];
    if (!(moments.weight()(j) > 0))
      throw Error(fmt::format("{}: '{}' has no value in any row; leave it out", method, column));
    const double far = std::max(moments.greatest()(j) - moments.mean()(j), moments.mean()(j) - moments.least()(j));
    if (!(far < 1e150) || (far > 0 && far < 1e-150))
      throw Error(
          fmt::format("{0}: values of '{1}' lie up to {2} from their mean, and their squares leave the range of "
                      "numbers; scale the columns first ('scale | {0}')",
                      method, column, format_significant(far, 3)));
    out.variance(j) = moments.squares()(j) / moments.weight()(j);
    const double digit = 1e-15 * std::abs(moments.mean()(j));
    if (!(out.variance(j) > digit * digit))
      throw Error(fmt::format("{}: '{}' has the same value in all rows, which leaves no density; leave it out", method,
                              column));
  }
  return out;
}

Matrix filled_covariance(const Rows& rows, const Vector& mean, const Execution& execution) {
  const auto sums = scan(rows, FilledScatter(mean), execution);
  const Vector shift = sums.shift / sums.weight;
  return sums.scatter / sums.weight - shift * shift.transpose();
}

Step step_by_covariance(const Rows& rows, const Factors& at, Noise noise, const Vector& floor,
                        const Execution& execution) {
  const Matrix c = at.covariance();
  const auto sums = scan(rows, PlainSums(at, c), execution);
  Step out;
  out.log_likelihood = sums.log_likelihood;
  out.weight = sums.weight;
  out.values = sums.values;
  out.next = at;
  const Index q = at.count();
  double pooled = 0;
  for (Index j = 0; j < at.width(); ++j) {
    if (!(sums.mass(j) > 0)) continue;
    const Vector b = sums.with_x.row(j).transpose();
    const Vector solved = least_squares(sums.products[lemma::at(j)], b).w;  // by QR, not by a triangle of the products
    out.next.loadings.row(j) = solved.head(q).transpose();
    out.next.mean(j) = at.mean(j) + solved(q);
    const double rest = sums.squares(j) - 2 * b.dot(solved) + solved.dot(sums.products[lemma::at(j)] * solved);
    pooled += std::max(0.0, rest);
    out.next.noise(j) = std::max(rest / sums.mass(j), floor(j));
  }
  if (noise == Noise::equal) out.next.noise.setConstant(std::max(pooled / sums.values, floor(0)));
  return out;
}

}  // namespace lemma::factors
