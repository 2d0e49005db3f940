// lemma/math/simd/relax.hpp: one step of shortest ways from several sources at once. Sums and lesser ones: the same bits at every width.
#pragma once
#include <cstdint>
#include <lemma/core/matrix.hpp>
#include <span>

namespace lemma::simd {

/// Numbers that lie together: the lengths of the ways from so many sources to one vertex.
constexpr Index kSources = 8;

/// For each edge k to vertex to[k]: length[to[k]] becomes min(length[to[k]], from + weight[k]), entry by entry, and least[k] the least
/// of those that became smaller, infinity where none did. `from` does not lie among the lengths that change.
void relax(const double* from, std::span<const std::int32_t> to, std::span<const double> weight, double* length,
           double* least);

}  // namespace lemma::simd
