// lemma/math/multiply.hpp: large products on several threads, in tiles fixed by the shapes alone: the same bits always.
#pragma once
#include <lemma/core/parallel.hpp>

namespace lemma {

/// Rows and columns of a tile of the result, where it has fewer than 1536 rows or columns: a product made of parts that are whole
/// tiles has the bits of the product made at once.
constexpr Index kProductTile = 256;

Matrix multiply(const MatrixView& a, const MatrixView& b, const Execution& execution = {});             // A B
Matrix multiply_transposed(const MatrixView& a, const MatrixView& b, const Execution& execution = {});  // A Bᵀ
Matrix transposed_multiply(const MatrixView& a, const MatrixView& b, const Execution& execution = {});  // Aᵀ B
Matrix gram(const MatrixView& a, const Execution& execution = {});        // Aᵀ A, both triangles
Matrix outer_gram(const MatrixView& a, const Execution& execution = {});  // A Aᵀ, both triangles

}  // namespace lemma
