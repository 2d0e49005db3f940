// lemma/embed/shared/tangent.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/embed/shared/planes_model.hpp>
#include <lemma/embed/shared/tangent.hpp>
#include <lemma/math/blas.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/math/svd.hpp>

namespace lemma {

namespace {

Matrix tangent_coordinates(std::string_view method, const Matrix& rows, Index dimensions, Index row,
                           const std::vector<std::string>& names) {
  constexpr double kSpans = 1e-7;  // of the largest singular value
  Matrix centred = rows.rowwise() - rows.colwise().mean();
  Index widest = 0;
  const double size = centred.cwiseAbs().colwise().maxCoeff().maxCoeff(&widest);
  if (size > 0) centred /= size;  // squares of what is left are in the range of numbers
  const Svd svd = thin_svd(centred);
  if (!(size > 0 && svd.s.size() >= dimensions && svd.s(dimensions - 1) > kSpans * svd.s(0)))
    throw Error(
        fmt::format("{}: row {} and its neighbours span less than {} ('{}' differs most among them); take more "
                    "neighbors, another unit for a column that hides the others, or leave out rows that others equal",
                    method, row + 1, count_of(dimensions, "dimension"), names[at(widest)]));
  return svd.u.leftCols(dimensions);
}

}  // namespace

LocalPlanes local_planes(std::string_view method, const ComparedPoints& data, const NearRows& how, Index dimensions,
                         const std::function<Matrix(const Matrix& tangent)>& outside, const Execution& execution) {
  if (dimensions > data.points.cols())
    throw Error(fmt::format("{}: dimensions is {}, must be at most {}: a surface has no more than there are columns",
                            method, dimensions, data.points.cols()));
  LocalPlanes out;
  out.near = neighborhood(method, Neighbors(data.points, data.metric, SearchOptions{}, execution.part(0, 0.1)),
                          data.points, how, execution.part(0.1, 0.5));
  const Index n = data.points.rows();
  out.which.resize(at(n));
  out.outside.resize(at(n));
  parallel_for(n, execution.part(0.5, 1, "tangent planes"), [&](Index i) {
    const auto near = out.near.lists.rows_of(i);
    auto& which = out.which[at(i)];
    which.push_back(static_cast<std::int32_t>(i));
    which.insert(which.end(), near.begin(), near.end());
    Matrix rows(static_cast<Index>(which.size()), data.points.cols());
    for (std::size_t j = 0; j < which.size(); ++j) rows.row(static_cast<Index>(j)) = data.points.row(which[j]);
    out.outside[at(i)] = outside(tangent_coordinates(method, rows, dimensions, i, data.names));
  });
  return out;
}

SpectralProblem problem_of(const LocalPlanes& planes) {
  const auto n = static_cast<Index>(planes.which.size());
  SparseSum sum(n);
  for (Index i = 0; i < n; ++i) sum.add(planes.which[at(i)], planes.outside[at(i)] * planes.outside[at(i)].transpose());
  const auto times = [&planes, n](const Matrix& v) -> Matrix {
    Matrix out = Matrix::Zero(n, v.cols());
    for (Index i = 0; i < n; ++i) {
      const auto& which = planes.which[at(i)];
      const Matrix& q = planes.outside[at(i)];
      Matrix near(q.rows(), v.cols());
      for (Index j = 0; j < q.rows(); ++j) near.row(j) = v.row(which[at(j)]);
      const Matrix back = q * (q.transpose() * near);
      for (Index j = 0; j < q.rows(); ++j) out.row(which[at(j)]) += back.row(j);
    }
    return out;
  };
  return {sum.matrix(), Vector::Constant(n, 1 / std::sqrt(static_cast<double>(n))), times};
}

void check_planes(std::string_view method, const Embedded& model, const Metric& metric, int dimensions,
                  const Vector& eigenvalues, Index graph_pieces) {
  model.check_embedded(method, Input::rows, metric, dimensions);
  require(eigenvalues.size() == model.dimensions() && eigenvalues.allFinite() && graph_pieces >= 1 &&
              std::is_sorted(eigenvalues.begin(), eigenvalues.end()),
          std::string(method) + ": the eigenvalues do not fit the coordinates, or do not rise");
}

std::string planes_summary(const Embedded& model, const Vector& eigenvalues) {
  TextTable table;
  table.words("", dimension_names(model.dimensions())).numbers("eigenvalue", {eigenvalues.begin(), eigenvalues.end()});
  return table.str() + "\n" + model.picture();
}

Matrix orthogonal_part(const Matrix& basis, Index first) {
  blas::Columns q = basis;
  const Vector factors = blas::householder(q);
  blas::form_q(q, factors);
  return q.rightCols(q.cols() - first);
}

}  // namespace lemma
