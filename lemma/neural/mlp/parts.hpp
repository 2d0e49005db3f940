// lemma/neural/mlp/parts.hpp: what fitting and certifying a network share. Inner header.
#pragma once
#include <lemma/neural/mlp.hpp>

namespace lemma::mlp {

/// The rows as they are learned: scaled, in an order of their own, equal ones as one.
struct Prepared {
  neural::Examples train, held_out;
  Vector mean, scale, response_mean, response_scale;
  std::vector<std::string> constant;  // columns that are
};
/// Rows of an update, in the scales of the model.
neural::Examples prepare_more(const MlpModel& model, const Rows& rows, const Execution& execution);
Prepared prepare(const Mlp& spec, const Rows& rows, std::int64_t seed, const Execution& execution);

neural::Loss chosen_loss(const Mlp& spec, const Rows& rows);
neural::Network network_of(const Mlp& spec, Index inputs, Index outputs);
Index outputs_of(const Rows& rows);

/// A number of a row's response: of several the k-th.
inline double response(const Block& block, Index i, Index k) {
  return block.responses.empty() ? block.y[at(i)] : block.several()(i, k);
}
/// Of what the row says, whatever its place and weight.
std::uint64_t key_of_row(const Block& block, Index i);
/// Whether the row is one of those held out.
bool is_held_out(std::uint64_t key, double share, std::int64_t seed);
/// The weights that a start begins with, and its other chances.
RandomStream stream_of(std::int64_t seed, Index restart);
Vector start_of(const neural::Network& net, const Mlp& spec, std::int64_t seed, Index restart);
/// The start whose end was kept.
Index best_of(const Vector& restart_losses);

/// Nothing is claimed of it, and why; empty: something is.
std::string why_nothing(const MlpModel& model);

}  // namespace lemma::mlp
