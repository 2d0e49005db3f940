// lemma/tree/boost/rounds.hpp: round after round, a tree for what is left.
#pragma once
#include <lemma/tree/boost/grow.hpp>
#include <lemma/tree/boost/outcome.hpp>

namespace lemma::boost {

/// Scores, slopes and losses of all rows, in pieces fixed by the number of rows.
class Slopes {
 public:
  Slopes(const Loss& loss, const Outcome& outcome, const Vector& start, const Execution& execution);

  /// The losses of the rows as the scores are now; g and h of a single output, of several their probabilities (softmax).
  void begin_round();
  /// g and h of one output.
  void make(Index output);

  const Loss& loss() const { return loss_; }
  double training_loss() const { return training_loss_; }  // means
  double validation_loss() const { return validation_loss_; }
  Kept<double>& g() { return g_; }
  Kept<double>& h() { return h_; }
  const Kept<double>& g() const { return g_; }
  const Kept<double>& h() const { return h_; }
  double& score(Index row, Index output) { return f_[at(row * outputs_ + output)]; }
  double sum_of_g() const { return sum_g_; }  // Σ |g|
  double sum_of_h() const { return sum_h_; }
  double largest_curvature() const { return largest_; }
  /// After g and h were changed.
  void measure();

 private:
  struct Measured {  // of the rows of a piece
    double loss = 0, held_out = 0, g = 0, h = 0, curvature = 0;
  };
  Index piece_count() const;
  void measure_piece(Index first, Index count, Measured& out) const;
  void add_up(const std::vector<Measured>& pieces);
  void in_pieces(const std::function<void(Index piece, Index first, Index count)>& body) const;
  double held_out_loss(Index first, Index count) const;

  Loss loss_;
  const Outcome& outcome_;
  Execution execution_;
  Index outputs_;
  Kept<double> f_, p_, g_, h_;  // scores and probabilities: those of a row one after the other
  double training_loss_ = 0, validation_loss_ = 0, sum_g_ = 0, sum_h_ = 0, largest_ = 0;
};

/// Adds trees to the model until `rounds`, until rows held out say stop, or until nothing is gained.
void add_trees(BoostModel& model, const Rows& rows, const Outcome& outcome, const Execution& execution);

/// Has the loss of the rows held out not fallen for so long?
bool has_waited(const std::vector<double>& validation_loss, int patience);
/// The round after which it was least, from 1.
Index best_round(const std::vector<double>& validation_loss);

}  // namespace lemma::boost
