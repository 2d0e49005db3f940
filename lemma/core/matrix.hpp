// lemma/core/matrix.hpp: the words for numbers. One example per row, everywhere.
#pragma once
#include <Eigen/Core>
#include <cstddef>
#include <vector>

namespace lemma {

using Index = Eigen::Index;
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;
using MatrixView = Eigen::Ref<const Matrix>;  // rows may be further apart than they are long
using VectorView = Eigen::Ref<const Vector>;
using Labels = std::vector<int>;  // codes 0 … K−1 of classes or clusters; −1 is missing

/// An index of ours as the standard library's containers count.
constexpr std::size_t at(Index i) { return static_cast<std::size_t>(i); }

}  // namespace lemma
