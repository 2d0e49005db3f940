// lemma/embed/ltsa.cpp
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/embed/ltsa.hpp>
#include <lemma/embed/shared/tangent_fit.hpp>

namespace lemma {
namespace {

/// An orthonormal basis of what is no affine function of the coordinates: I − 11ᵀ/k − UUᵀ is its projection.
Matrix outside_plane(const Matrix& tangent) {
  const Index k = tangent.rows(), d = tangent.cols();
  Matrix basis(k, k);
  basis << Vector::Ones(k), tangent, Matrix::Identity(k, k).leftCols(k - d - 1);
  return orthogonal_part(basis, d + 1);
}

LocalPlanes planes_of(const Ltsa& spec, const ComparedPoints& data, const Execution& execution) {
  if (!spec.radius && spec.neighbors < spec.dimensions + 1)
    throw Error(fmt::format("ltsa: neighbors is {}, must be at least {}: a plane of {} passes through {} rows exactly",
                            spec.neighbors, spec.dimensions + 1, count_of(spec.dimensions, "dimension"),
                            spec.dimensions + 1));
  return local_planes(Ltsa::name, data, spec.near(), spec.dimensions, outside_plane, execution);
}

}  // namespace

LtsaModel fit(const Valid<Ltsa>& spec, const Rows& rows, const FitOptions& options) {
  return fit_planes(*spec, planes_of, rows, options);
}

Certificate certify(const LtsaModel& model, const Rows& rows, const Execution& execution) {
  return certify_planes(model, planes_of, rows, execution);
}

template const Method& method_of<Ltsa>();

}  // namespace lemma
