// lemma/math/partial_eigen.hpp: a few eigenpairs of a large symmetric matrix, by block Krylov spaces with restarts.
//
// A cycle spans [Z, TZ, T²Z, …] of an orthonormal block Z, T the matrix or its inverse, and goes on from the best Ritz vectors in
// it. A block is wider than the number of pairs that are wanted, so that an eigenvalue found several times (the zeros of a graph
// in pieces) is found as often as it is there, which one vector alone could not promise. The start is the same always, and
// products are cut by the shapes alone: the same bits on any number of threads.
#pragma once
#include <functional>
#include <lemma/core/parallel.hpp>
#include <lemma/core/sparse.hpp>

namespace lemma {

struct PartialEigen {
  Vector values;
  Matrix vectors;    // a column each, of unit length, turned as in math/eigen.hpp
  Vector residuals;  // ‖A v − λ v‖ of each
  int cycles = 0;    // 0: all eigenvalues were found at once, there being few
};

/// The `count` smallest eigenvalues, ascending, of a symmetric positive semidefinite matrix of which both triangles are stored:
/// T = (A + σI)⁻¹ by a sparse factorisation, σ = 1e-10 of A's size.
/// Error when they are not found to 1e-10 of A's size.
PartialEigen smallest_eigen(const Csr& symmetric, Index count, const Execution& execution = {});

/// The `count` largest, descending, of a dense symmetric matrix, of which both triangles are read.
PartialEigen largest_eigen(const MatrixView& symmetric, Index count, const Execution& execution = {});
/// The same of an operator y = A x on n numbers.
PartialEigen largest_eigen(Index n, const std::function<void(const double* x, double* y)>& multiply, Index count,
                           const Execution& execution = {});

/// Σ_j a_ij x_j for each column of x: the rows of a sparse matrix times a dense one.
Matrix multiply(const Csr& a, const MatrixView& x, const Execution& execution = {});

}  // namespace lemma
