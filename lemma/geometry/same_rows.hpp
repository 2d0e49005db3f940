// lemma/geometry/same_rows.hpp: rows of a fit, given in any order, found again among those that a model keeps.
#pragma once
#include <functional>
#include <lemma/geometry/points.hpp>
#include <optional>

namespace lemma {

/// A fingerprint of one point: of its numbers that are not 0, each with its column, so that it is the same however the
/// point lies in memory.
std::uint64_t fingerprint(const Points& points, Index i);

/// Of all rows in their order, with their places, responses and weights: 52 bits, never 0.
std::int64_t fingerprint_in_order(const Points& points, const std::function<double(Index)>& response,
                                  const std::function<double(Index)>& weight);

/// Some kept rows and the given rows that they are: a row each, of the same features, by what else is known of them.
class RowMatch {
 public:
  using Allowed = std::function<bool(Index kept, Index row)>;
  using Better = std::function<bool(Index kept, Index row, Index than)>;
  RowMatch(const Points& kept, const Points& given, Allowed allowed);
  /// The best row that is free; where none is, others make room if they can. False when they cannot.
  bool take(Index kept, const Better& better = {});
  /// Of each kept row; −1: none yet.
  const std::vector<Index>& rows() const { return row_of_; }

 private:
  bool make_room(Index kept, std::vector<Index>& asked);
  void give(Index kept, Index row);
  std::vector<std::vector<Index>> alike_;  // given rows of each kept one's features
  std::vector<std::size_t> group_;         // of each kept row
  std::vector<Index> row_of_, owner_;
  Allowed allowed_;
};

/// What tells rows of equal features apart: a row of numbers for each kept row, and one for each given row that has the
/// same order.
struct Ties {
  Matrix kept, given;
};

/// For each kept row which of the given ones it is: by their features, and rows that agree in these by `ties`, which is asked
/// for only when there are some. Nothing when the rows are not the same.
std::optional<std::vector<Index>> found_again(const Points& kept, const Points& given,
                                              const std::function<Ties()>& ties);

}  // namespace lemma
