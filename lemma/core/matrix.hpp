// lemma/core/matrix.hpp: the words for numbers. One example per row, everywhere.
#pragma once
#include <Eigen/Core>
#include <vector>

namespace lemma {

using Index = Eigen::Index;
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;
using MatrixView = Eigen::Ref<const Matrix>;  // rows may be further apart than they are long
using VectorView = Eigen::Ref<const Vector>;
using Labels = std::vector<int>;  // codes 0 … K−1 of classes or clusters; −1 is missing

}  // namespace lemma
