// lemma/tree/boost/outcome.hpp: what the rows say besides their columns, and which of them take part.
#pragma once
#include <lemma/tree/boost.hpp>
#include <lemma/tree/boost/bins.hpp>

namespace lemma::boost {

inline constexpr std::uint64_t kHeldOut = ~1ULL;  // purposes of chance; those of a round are its number

/// The loss that the rows ask for where the spec leaves it open. Error where it does not suit them.
BoostLoss chosen_loss(const Boost& spec, const Rows& rows);
Loss loss_of(const Boost& spec, BoostLoss kind, Index classes);

/// Of columns by their names. Error when there is none of that name.
Index column_named(const Rows& rows, const std::string& name, std::string_view parameter);

struct Outcome {
  Kept<double> y;           // numbers; of two classes 0 and 1; of several the code
  Kept<double> weight;      // 0 of rows held out; empty: all 1
  Kept<double> held_out;    // weight of rows held out, 0 of the others; empty: none are
  Kept<std::uint64_t> key;  // of rows, where chance takes part
  double total = 0, total_held_out = 0;

  Lies where() const { return y.get_allocator().where(); }
  Index count() const { return static_cast<Index>(y.size()); }
  double weight_of(Index i) const { return weight.empty() ? 1.0 : weight[at(i)]; }
};
/// Error for responses that the loss cannot take, and when no row has weight.
Outcome read_outcome(const Boost& spec, const Loss& loss, const Rows& rows, std::uint64_t seed,
                     const Execution& execution);

/// The score before the first round, of each output.
Vector start_of(const Loss& loss, const Outcome& outcome);

/// Of each column +1 where the score must rise with it, −1 where it must fall; empty: none is named.
std::vector<signed char> directions(const Boost& spec, const Rows& rows);
/// Groups of columns that may be asked on one path; none: all may.
std::vector<std::vector<char>> interaction_groups(const Boost& spec, const Rows& rows);

/// The columns that a tree may ask.
std::vector<char> drawn_columns(const Boost& spec, Index width, std::uint64_t seed, Index tree);

}  // namespace lemma::boost
