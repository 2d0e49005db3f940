// lemma/tree/boost/slopes.cpp
#include <algorithm>
#include <cmath>
#include <lemma/tree/boost/rounds.hpp>

namespace lemma::boost {
namespace {

constexpr Index kPiece = 8192;

std::span<const double> part_of(const Kept<double>& all, Index first, Index count) {
  return all.empty() ? std::span<const double>() : std::span<const double>(all).subspan(at(first), at(count));
}

}  // namespace

Slopes::Slopes(const Loss& loss, const Outcome& outcome, const Vector& start, const Execution& execution)
    : loss_(loss),
      outcome_(outcome),
      execution_(execution),
      outputs_(loss.outputs()),
      f_(outcome.where()),
      p_(outcome.where()),
      g_(outcome.where()),
      h_(outcome.where()) {
  const std::size_t n = outcome.y.size();
  f_.resize(n * at(outputs_));
  for (std::size_t i = 0; i < f_.size(); ++i) f_[i] = start(static_cast<Index>(i) % outputs_);
  if (outputs_ > 1) p_.resize(f_.size());
  g_.resize(n);
  h_.resize(n);
}

Index Slopes::piece_count() const { return (outcome_.count() + kPiece - 1) / kPiece; }

void Slopes::in_pieces(const std::function<void(Index, Index, Index)>& body) const {
  const Index n = outcome_.count();
  parallel_for(piece_count(), execution_, [&](Index k) { body(k, k * kPiece, std::min(kPiece, n - k * kPiece)); });
}

double Slopes::held_out_loss(Index first, Index count) const {
  double sum = 0;
  for (Index i = first; !outcome_.held_out.empty() && i < first + count; ++i) {
    const double w = outcome_.held_out[at(i)];
    if (w == 0) continue;
    sum += w * (outputs_ > 1 ? loss_.of_scores(static_cast<int>(outcome_.y[at(i)]), &f_[at(i * outputs_)])
                             : loss_.of(outcome_.y[at(i)], f_[at(i)]));
  }
  return sum;
}

void Slopes::begin_round() {
  std::vector<Measured> pieces(at(piece_count()));
  in_pieces([&](Index k, Index first, Index count) {
    Measured& here = pieces[at(k)];
    here.held_out = held_out_loss(first, count);
    if (outputs_ == 1) {
      const auto begin = at(first), size = at(count);
      here.loss = loss_.slopes_and_loss(part_of(outcome_.y, first, count), part_of(f_, first, count),
                                        part_of(outcome_.weight, first, count), {g_.data() + begin, size},
                                        {h_.data() + begin, size});
      measure_piece(first, count, here);  // while they are near
      return;
    }
    for (Index i = first; i < first + count; ++i) {
      const double* const scores = &f_[at(i * outputs_)];
      softmax(scores, outputs_, &p_[at(i * outputs_)]);
      const double w = outcome_.weight_of(i);
      if (w > 0) here.loss += w * loss_.of_scores(static_cast<int>(outcome_.y[at(i)]), scores);
    }
  });
  add_up(pieces);
  training_loss_ = validation_loss_ = 0;
  for (const Measured& each : pieces) {
    training_loss_ += each.loss;
    validation_loss_ += each.held_out;
  }
  training_loss_ /= outcome_.total;
  if (outcome_.total_held_out > 0) validation_loss_ /= outcome_.total_held_out;
}

void Slopes::make(Index output) {
  if (outputs_ == 1) return;  // begin_round() made them
  std::vector<Measured> pieces(at(piece_count()));
  in_pieces([&](Index k, Index first, Index count) {
    for (Index i = first; i < first + count; ++i)
      loss_.slopes_of_class(p_[at(i * outputs_ + output)], outcome_.y[at(i)] == static_cast<double>(output),
                            outcome_.weight_of(i), g_[at(i)], h_[at(i)]);
    measure_piece(first, count, pieces[at(k)]);
  });
  add_up(pieces);
}

void Slopes::measure() {
  std::vector<Measured> pieces(at(piece_count()));
  in_pieces([&](Index k, Index first, Index count) { measure_piece(first, count, pieces[at(k)]); });
  add_up(pieces);
}

void Slopes::measure_piece(Index first, Index count, Measured& out) const {
  double sum_g = 0, sum_h = 0, most = 0;
  for (Index i = first; i < first + count; ++i) {
    sum_g += std::abs(g_[at(i)]);
    sum_h += h_[at(i)];
    if (outcome_.weight.empty()) most = std::max(most, h_[at(i)]);
    else if (outcome_.weight[at(i)] > 0) most = std::max(most, h_[at(i)] / outcome_.weight[at(i)]);
  }
  out.g = sum_g;
  out.h = sum_h;
  out.curvature = most;
}

void Slopes::add_up(const std::vector<Measured>& pieces) {
  sum_g_ = sum_h_ = largest_ = 0;
  for (const Measured& each : pieces) {
    sum_g_ += each.g;
    sum_h_ += each.h;
    largest_ = std::max(largest_, each.curvature);
  }
}

}  // namespace lemma::boost
