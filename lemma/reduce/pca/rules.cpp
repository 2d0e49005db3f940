// lemma/reduce/pca/rules.cpp: how many components are more than chance.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <lemma/core/random.hpp>
#include <lemma/core/text.hpp>
#include <lemma/math/blas.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/reduce/pca/parts.hpp>

namespace lemma::pca {
namespace {

constexpr double kAbove = 1 + 1e-9;  // a variance is above a limit when it is so beyond rounding

/// Variances of the components of the rows `a`, descending, at most `count`.
Vector variances_of(const Matrix& a, Index count, double divisor) {
  const bool tall = a.rows() >= a.cols();
  const Index side = tall ? a.cols() : a.rows();
  Matrix products = Matrix::Zero(side, side);
  if (tall) blas::gram(a, products);
  else blas::outer_gram(a, products);
  return symmetric_eigen(products).values.head(count) / divisor;
}

/// The place, from 0, of the shuffled variance that as many of B + 1 equally likely ones lie below as the level asks for.
Index limit_place(const Pca& spec) {
  return static_cast<Index>(std::ceil(spec.level * (spec.permutations + 1) * (1 - 1e-12))) - 1;
}

/// Of each component the quantile of its variance over shuffles of the columns.
Vector by_chance(const Pca& spec, const Matrix& rows, Index count, double divisor, std::uint64_t seed,
                 const Execution& execution) {
  const Index n = rows.rows(), p = rows.cols();
  blas::Columns sorted = rows;
  parallel_for(p, execution.part(0, 0), [&](Index j) { std::sort(sorted.col(j).data(), sorted.col(j).data() + n); });
  Matrix found(spec.permutations, count);
  parallel_for(spec.permutations, execution, [&](Index b) {
    const RandomStream stream(seed, static_cast<std::uint64_t>(b) + 1);
    blas::Columns shuffled = sorted;
    for (Index j = 0; j < p; ++j) {
      RandomStream own = stream.split(static_cast<std::uint64_t>(j));
      own.shuffle(std::span<double>(shuffled.col(j).data(), at(n)));
    }
    found.row(b) = variances_of(shuffled, count, divisor);
  });
  Vector out(count);
  for (Index k = 0; k < count; ++k) {
    Vector each = found.col(k);
    std::sort(each.begin(), each.end());
    out(k) = std::max(0.0, each(limit_place(spec)));
  }
  return out;
}

}  // namespace

Matrix scree_of(const Pca& spec, const Rows& rows, const Ground& ground, const Vector& variances, std::uint64_t seed,
                const Execution& execution) {
  if (rows.has_weights)
    throw Error("pca: a rule shuffles columns of rows that count alike; leave out the weights, or --rule");
  const auto varying = static_cast<Index>((ground.variances.array() > 0).count());
  const Index sticks = std::min(varying, ground.most(spec.center)), count = std::min(variances.size(), sticks);
  const double total = ground.variances.sum();
  Matrix out(count, 4);
  out.col(0) = variances.head(count).cwiseMax(0);
  out.col(1) = by_chance(spec, framed_rows(rows, ground.frame, execution.part(0, 0)), count, ground.divisor(), seed,
                         execution.part(0, 1, "shuffled columns"));
  double harmonic = 0;
  for (Index k = sticks; k > 0; --k) {
    harmonic += 1 / static_cast<double>(k);
    if (k <= count) out(k - 1, 2) = total * harmonic / static_cast<double>(sticks);
  }
  out.col(3).setConstant(total / static_cast<double>(varying));
  return out;
}

Vector suggested_by(const Matrix& scree) {
  Vector out(3);
  for (Index rule = 0; rule < 3; ++rule) {
    Index k = 0;
    while (k < scree.rows() && scree(k, 0) > kAbove * scree(k, rule + 1)) ++k;
    out(rule) = static_cast<double>(k);
  }
  return out;
}

}  // namespace lemma::pca
