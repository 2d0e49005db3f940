// lemma/geometry/lloyd/start.hpp: where k-means begins.
#pragma once
#include <array>
#include <lemma/core/random.hpp>
#include <lemma/core/rows.hpp>
#include <string_view>

namespace lemma {

enum class KMeansStart { plus_plus, random };
constexpr auto names_of(KMeansStart) { return std::array<std::string_view, 2>{"kmeans++", "random"}; }

/// k starting centres among the rows.
///
/// random    each is a row drawn in proportion to the weights.
/// kmeans++  each is drawn in proportion to w·D², D the distance to the nearest centre drawn before (Arthur and
///           Vassilvitskii 2007); of 2 + ⌊ln k⌋ such candidates the one stays that lowers Σ w·D² most.
///
/// A draw finds its row by the cumulated mass, so that weight 2 is the same as a row standing there twice.
/// Cost  O(n p k log k) and 2k scans for kmeans++; 8 bytes of memory for each row.
Matrix start_centers(KMeansStart rule, Index k, const Rows& rows, RandomStream random, const Execution& execution);

/// How many different rows there are, counted no further than `enough`. Rows of weight 0 are not there.
Index distinct_rows(const Rows& rows, Index enough, const Execution& execution);

}  // namespace lemma
