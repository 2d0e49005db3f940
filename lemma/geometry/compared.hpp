// lemma/geometry/compared.hpp: things and how different each two of them are, whichever way the user has them.
//
//     --input rows      a thing in each row, compared by a metric (the default)
//     --input square    a matrix: column j of row i is the dissimilarity of i and j; the columns name the things. One of
//                       its triangles may be left empty, and for methods that do without some pairs both places of one.
//                       These take R's `dist` too as it prints (without the first row and the last column) and as a
//                       column of n(n − 1)/2 numbers
//     --input pairs     a pair in each row: i, j, their dissimilarity, and a weight as a fourth column
//
// What is wrong in given dissimilarities (asymmetric, negative, a diagonal that is not zero, missing) is an Error that
// names the first pair.
#pragma once
#include <lemma/core/rows.hpp>
#include <lemma/data/needs.hpp>
#include <lemma/geometry/dissimilarities.hpp>

namespace lemma {

enum class Input { rows, square, pairs };
constexpr auto names_of(Input) { return std::array<std::string_view, 3>{"rows", "square", "pairs"}; }

struct Compared {
  Dissimilarities dissimilarities;  // named where the data name the things
  Metric metric = {};               // of rows: resolved
  Matrix points = {};               // of rows: they themselves
  std::vector<double> weight =
      {};  // of each pair, in the order of dissimilarities.kept(); empty: 1 for all. 0: not given
  std::vector<std::string> names = {};  // of the things; none of rows

  Index count() const { return dissimilarities.count(); }
  /// Error naming the first pair of which nothing is known.
  void require_all(std::string_view method) const;
};

/// What a method that takes any of these needs of a table: categories as codes and missing values where the metric
/// (gower) or the pairs ask for them.
Needs needs_for(Input input, const Metric& metric, Needs usual);

/// Error saying how much memory the dissimilarities of so many rows take `times` over, when that is more than `gigabytes`.
void require_room(std::string_view method, const Rows& rows, Input input, double gigabytes, double times = 1);

/// The rows as things that are compared. Error when there are fewer than two.
Compared compare(std::string_view method, Input input, const Metric& metric, const Rows& rows,
                 const Execution& execution = {});
/// The same where pairs may be missing: in a square both places of one that is not known are empty.
Compared compare_known(std::string_view method, Input input, const Metric& metric, const Rows& rows,
                       const Execution& execution = {});

}  // namespace lemma
