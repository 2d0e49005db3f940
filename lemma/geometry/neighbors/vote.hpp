// lemma/geometry/neighbors/vote.hpp: what the neighbours of a row say of it.
#pragma once
#include <array>
#include <lemma/core/matrix.hpp>
#include <span>
#include <string_view>

namespace lemma {

/// What a neighbour at distance d counts: 1, 1/d (neighbours at distance 0, if there are any, decide alone), or K(d/h) for
/// a distance h, K(u) = exp(−2u²), 1 − u² or 1 − u. Where all would count nothing, all count the same.
enum class VoteWeights { uniform, distance, gaussian, epanechnikov, triangular };
constexpr auto names_of(VoteWeights) {
  return std::array<std::string_view, 5>{"uniform", "distance", "gaussian", "epanechnikov", "triangular"};
}

/// copies[j] becomes what neighbour j counts; the nearest stands first.
void weigh(VoteWeights by, std::span<const double> distance, double h, std::span<double> copies);

/// The shares of the classes 0 … classes − 1, or (classes = 0) the mean of numbers. `response`: of each neighbour.
Vector vote(std::span<const double> response, std::span<const double> counts, Index classes);

}  // namespace lemma
