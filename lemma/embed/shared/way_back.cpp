// lemma/embed/shared/way_back.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/finite.hpp>
#include <lemma/core/text.hpp>
#include <lemma/embed/shared/way_back.hpp>
#include <lemma/geometry/neighbors.hpp>
#include <lemma/math/factorise.hpp>

namespace lemma {
namespace {

constexpr double kRidge = 1e-3;
constexpr double kBeyond = 1.05;  // of the farthest place: where weights end

bool has_columns(const Embedded& model, const Metric& metric) {
  return model.points.rows() > 0 && !metric.takes_missing();
}

Index near_places(const Embedded& model) { return std::min(model.count() - 1, 4 * (model.dimensions() + 1)); }

/// How much each of the near places counts at z: the first row of (AᵀWA + R)⁻¹ AᵀW with A = (1, (y − z) / h).
Vector shares_at(const MatrixView& z, const Matrix& places, std::span<const std::int32_t> which,
                 std::span<const double> far) {
  const auto m = static_cast<Index>(which.size());
  const double h = kBeyond * far.back();
  if (!(h > 0)) return Vector::Constant(m, 1 / static_cast<double>(m));
  Matrix a(m, places.cols() + 1);
  Vector w(m);
  for (Index j = 0; j < m; ++j) {
    w(j) = std::pow(1 - std::pow(far[at(j)] / h, 3), 3);
    a(j, 0) = 1;
    a.row(j).tail(places.cols()) = (places.row(which[at(j)]) - z.row(0)) / h;
  }
  Matrix normal = a.transpose() * w.asDiagonal() * a;
  normal.diagonal().tail(places.cols()).array() += kRidge * w.sum();
  const auto triangle = cholesky(normal);
  if (!triangle) return w / w.sum();
  Matrix first = Matrix::Zero(normal.rows(), 1);
  first(0, 0) = 1;
  return w.asDiagonal() * (a * solve_upper(*triangle, solve_upper_transposed(*triangle, first)));
}

Eigen::RowVectorXd columns_at(const MatrixView& z, const Embedded& model, std::span<const std::int32_t> which,
                              std::span<const double> far) {
  const Vector shares = shares_at(z, model.places, which, far);
  Eigen::RowVectorXd out = Eigen::RowVectorXd::Zero(model.points.cols());
  for (Index j = 0; j < shares.size(); ++j) out += shares(j) * model.points.row(which[at(j)]);
  return out;
}

}  // namespace

Matrix way_back(std::string_view method, const Embedded& model, const Metric& metric, const MatrixView& z) {
  if (!has_columns(model, metric))
    throw Error(
        fmt::format("{} has no inverse here: it was {}, and there are no columns of numbers to go back to", method,
                    model.points.rows() > 0 ? "fitted on categories or rows with gaps" : "given dissimilarities"));
  if (z.cols() != model.dimensions())
    throw Error(fmt::format("{}: the inverse takes {}, and there are {}", method,
                            count_of(model.dimensions(), "coordinate"), count_of(z.cols(), "column")));
  Matrix out(z.rows(), model.points.cols());
  if (z.rows() == 0) return out;
  const Matrix finite = z;
  require_finite(MemoryRows(finite));
  const NeighborLists near = Neighbors(model.places, Metric()).nearest(z, near_places(model));
  for (Index i = 0; i < z.rows(); ++i)
    out.row(i) = columns_at(z.middleRows(i, 1), model, near.rows_of(i), near.distances_of(i));
  return out;
}

Vector way_back_error(const Embedded& model, const Metric& metric, const Execution& execution) {
  if (!has_columns(model, metric)) return {};
  const NeighborLists near = Neighbors(model.places, Metric(), SearchOptions{}, execution.part(0, 0.1))
                                 .nearest_own(near_places(model), execution.part(0.1, 0.5));
  Matrix off(model.count(), model.points.cols());
  parallel_for(model.count(), execution.part(0.5, 1), [&](Index i) {
    off.row(i) =
        columns_at(model.places.middleRows(i, 1), model, near.rows_of(i), near.distances_of(i)) - model.points.row(i);
  });
  return (off.cwiseAbs2().colwise().sum() / static_cast<double>(model.count())).cwiseSqrt().transpose();
}

std::string told_way_back(const Embedded& model) {
  if (model.inverse_error.size() == 0) return {};
  const double spread = (model.points.rowwise() - model.points.colwise().mean()).squaredNorm();
  const double left = static_cast<double>(model.count()) * model.inverse_error.squaredNorm();
  return fmt::format("Way back to the columns: {} of their variance, each row by the others.\n",
                     format_fixed(1 - left / spread, 4));
}

}  // namespace lemma
