// lemma/embed/hessian_lle.cpp
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/embed/hessian_lle.hpp>
#include <lemma/embed/shared/tangent_fit.hpp>

namespace lemma {
namespace {

/// The products of coordinates, orthonormal to 1, to the coordinates and to each other: second derivatives.
Matrix second_derivatives(const Matrix& tangent) {
  const Index k = tangent.rows(), d = tangent.cols();
  const Index terms = 1 + d + d * (d + 1) / 2;
  if (k < terms)
    throw Error(fmt::format(
        "hessian_lle: a row has {} within the radius, must have {}: a quadratic function of {} has {} terms",
        count_of(k - 1, "row"), terms - 1, count_of(d, "coordinate"), terms));
  Matrix basis(k, terms);
  basis.col(0).setOnes();
  basis.middleCols(1, d) = tangent;
  for (Index a = 0, at_column = 1 + d; a < d; ++a)
    for (Index b = a; b < d; ++b) basis.col(at_column++) = tangent.col(a).cwiseProduct(tangent.col(b));
  return orthogonal_part(basis, 1 + d);
}

LocalPlanes planes_of(const HessianLle& spec, const ComparedPoints& data, const Execution& execution) {
  const int terms = 1 + spec.dimensions + spec.dimensions * (spec.dimensions + 1) / 2;
  if (!spec.radius && spec.neighbors + 1 < terms)
    throw Error(
        fmt::format("hessian_lle: neighbors is {}, must be at least {}: a quadratic function of {} has {} terms",
                    spec.neighbors, terms - 1, count_of(spec.dimensions, "coordinate"), terms));
  return local_planes(HessianLle::name, data, spec.near(), spec.dimensions, second_derivatives, execution);
}

}  // namespace

HessianLleModel fit(const Valid<HessianLle>& spec, const Rows& rows, const FitOptions& options) {
  return fit_planes(*spec, planes_of, rows, options);
}

Certificate certify(const HessianLleModel& model, const Rows& rows, const Execution& execution) {
  return certify_planes(model, planes_of, rows, execution);
}

template const Method& method_of<HessianLle>();

}  // namespace lemma
