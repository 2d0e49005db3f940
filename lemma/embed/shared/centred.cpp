// lemma/embed/shared/centred.cpp
#include <cmath>
#include <fmt/core.h>
#include <lemma/embed/shared/centred.hpp>
#include <lemma/math/partial_eigen.hpp>
#include <lemma/model/column_sizes.hpp>

namespace lemma {
namespace {

constexpr double kCarries = 1e-10;  // beside the largest eigenvalue; what is smaller is rounding of the squares
constexpr Index kMostDense = 1000;  // beyond it a few eigenvalues come by Lanczos

Centred centred(const Dissimilarities& d, const std::function<double(double)>& f, const Execution& execution) {
  const Index n = d.count();
  Centred out{Matrix(n, n), Vector(n)};
  parallel_for(n, execution, [&](Index i) {
    d.row(i, {out.inner.row(i).data(), at(n)});
    double sum = 0;
    for (Index j = 0; j < n; ++j) sum += out.inner(i, j) = i == j ? 0.0 : f(out.inner(i, j));
    out.means(i) = sum / static_cast<double>(n);
  });
  const double mean = out.means.mean();
  parallel_for(n, execution.part(0, 0), [&](Index i) {
    for (Index j = 0; j < n; ++j) out.inner(i, j) = -0.5 * (out.inner(i, j) - (out.means(i) + out.means(j)) + mean);
  });
  return out;
}

}  // namespace

Centred centred_squares(const Dissimilarities& d, double unit, double constant, const Execution& execution) {
  return centred(
      d, [=](double far) { return ((far + constant) / unit) * ((far + constant) / unit); }, execution);
}

Centred centred_plain(const Dissimilarities& d, double unit, const Execution& execution) {
  return centred(
      d, [=](double far) { return far / unit; }, execution);
}

double largest_dissimilarity(std::string_view method, const Dissimilarities& d) {
  double largest = 0;
  for (const double each : d.kept()) largest = std::max(largest, each);
  if (largest == 0)
    throw Error(
        fmt::format("{}: all {} things are equal, and there is nothing to tell them apart by", method, d.count()));
  if (!(largest >= kLeastSize && largest <= kGreatestSize))
    throw Error(fmt::format("{}: the largest dissimilarity is {:.0e}, too {} to be squared; use another unit", method,
                            largest, largest > 1 ? "large" : "small"));
  return largest;
}

Index carrying(const Vector& eigenvalues, Index dimensions) {
  Index count = 0;
  while (count < std::min(dimensions, eigenvalues.size()) && eigenvalues(count) > kCarries * eigenvalues(0) &&
         eigenvalues(count) > 0)
    ++count;
  return count;
}

Matrix classical_places(std::string_view method, const Dissimilarities& d, Index dimensions,
                        const Execution& execution) {
  const double unit = largest_dissimilarity(method, d);
  const Matrix inner = centred_squares(d, unit, 0, execution).inner;
  const Index wanted = std::min(dimensions, d.count());
  Vector values;
  Matrix vectors;
  if (d.count() <= kMostDense) {
    const Eigenpairs pairs = symmetric_eigen(inner, wanted);
    values = pairs.values;
    vectors = pairs.vectors;
  } else {
    const PartialEigen pairs = largest_eigen(inner, wanted, execution);
    values = pairs.values;
    vectors = pairs.vectors;
  }
  const Index kept = carrying(values, dimensions);
  return unit * (vectors.leftCols(kept) * values.head(kept).cwiseSqrt().asDiagonal());
}

}  // namespace lemma
