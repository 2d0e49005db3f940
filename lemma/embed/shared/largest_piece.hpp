// lemma/embed/shared/largest_piece.hpp: of a graph in pieces the largest alone (--pieces largest).
#pragma once
#include <lemma/embed/shared/neighborhood.hpp>
#include <lemma/geometry/kept_rows.hpp>

namespace lemma {

/// What has places: all things, or those of the largest piece of their graph (of pieces of one size that with the first thing). A piece
/// is its own graph: all that is near a thing is in its piece.
struct Placed {
  Compared things;
  Index parts = 1;           // of the graph of all things; 1 where all have places
  RowNumbers left_out = {};  // things in other pieces, one after the other
};

/// Error when the largest piece has fewer than three things, all are equal, or the data are no rows and no square.
Placed placed_of(std::string_view method, Compared all, Input input, Index columns, const NearRows& how,
                 const Execution& execution = {});
/// The same of what a model was fitted on, rows in any order; `same` says when it is something else. Error when the largest piece has
/// not as many things as the model.
Placed placed_again(std::string_view method, const Embedded& model, const RowNumbers& left_out, Input input,
                    const Rows& rows, const Metric& metric, const NearRows& how, Comparison& same,
                    const Execution& execution = {});

/// The places of things with places among all things.
std::vector<Index> placed_numbers(const RowNumbers& left_out, Index placed);
/// Error unless these are numbers of other things, one after the other, and such as leave out some.
void check_left_out(std::string_view method, const RowNumbers& left_out, Index placed, Pieces pieces);

/// "the graph of 5 neighbours is in 2 pieces; …": nothing where all have places.
std::optional<std::string> warning_of(const Placed& placed, const NearRows& how);

}  // namespace lemma
