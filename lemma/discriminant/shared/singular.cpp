// lemma/discriminant/shared/singular.cpp
#include <cmath>
#include <lemma/discriminant/shared/singular.hpp>
#include <limits>

namespace lemma {

std::vector<std::string> quoted(const Rows& rows, const std::vector<Index>& columns) {
  std::vector<std::string> names;
  names.reserve(columns.size());
  for (const Index j : columns) names.push_back("'" + rows.features[static_cast<std::size_t>(j)] + "'");
  return names;
}

std::vector<Index> constant_columns(const Matrix& covariance, const Matrix& means) {
  std::vector<Index> out;
  for (Index j = 0; j < covariance.cols(); ++j)
    if (!(std::sqrt(covariance(j, j)) >
          8 * std::numeric_limits<double>::epsilon() * means.col(j).cwiseAbs().maxCoeff()))
      out.push_back(j);
  return out;
}

std::vector<Index> dependent_columns(const Matrix& covariance) {
  const Vector by = covariance.diagonal().cwiseSqrt().cwiseInverse();
  Matrix rest = by.asDiagonal() * covariance * by.asDiagonal();  // what the columns so far leave of each
  std::vector<Index> out;
  const Index p = rest.cols();
  for (Index j = 0; j < p; ++j) {
    if (!(rest(j, j) > kLeastShare)) {
      out.push_back(j);
      continue;
    }
    const Vector row = rest.row(j).tail(p - j - 1).transpose();
    rest.bottomRightCorner(p - j - 1, p - j - 1) -= row * row.transpose() / rest(j, j);
  }
  return out;
}

}  // namespace lemma
