// lemma/tree/boost/slopes.cpp
#include <algorithm>
#include <cmath>
#include <lemma/tree/boost/rounds.hpp>

namespace lemma::boost {
namespace {

constexpr Index kPiece = 8192;

std::span<const double> part_of(const std::vector<double>& all, Index first, Index count) {
  return all.empty() ? std::span<const double>() : std::span<const double>(all).subspan(at(first), at(count));
}

}  // namespace

Slopes::Slopes(const Loss& loss, const Outcome& outcome, const Vector& start, const Execution& execution)
    : loss_(loss), outcome_(outcome), execution_(execution), outputs_(loss.outputs()) {
  const std::size_t n = outcome.y.size();
  f_.resize(n * at(outputs_));
  for (std::size_t i = 0; i < f_.size(); ++i) f_[i] = start(static_cast<Index>(i) % outputs_);
  if (outputs_ > 1) p_.resize(f_.size());
  g_.resize(n);
  h_.resize(n);
}

void Slopes::in_pieces(const std::function<void(Index, Index, Index)>& body) const {
  const Index n = outcome_.count();
  parallel_for((n + kPiece - 1) / kPiece, execution_,
               [&](Index k) { body(k, k * kPiece, std::min(kPiece, n - k * kPiece)); });
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
  const std::size_t pieces = at((outcome_.count() + kPiece - 1) / kPiece);
  std::vector<double> losses(pieces, 0.0), held(pieces, 0.0);
  in_pieces([&](Index k, Index first, Index count) {
    held[at(k)] = held_out_loss(first, count);
    if (outputs_ == 1) {
      const auto end = at(first), size = at(count);
      losses[at(k)] = loss_.slopes_and_loss(part_of(outcome_.y, first, count), part_of(f_, first, count),
                                            part_of(outcome_.weight, first, count), {g_.data() + end, size},
                                            {h_.data() + end, size});
      return;
    }
    for (Index i = first; i < first + count; ++i) {
      const double* const scores = &f_[at(i * outputs_)];
      softmax(scores, outputs_, &p_[at(i * outputs_)]);
      const double w = outcome_.weight_of(i);
      if (w > 0) losses[at(k)] += w * loss_.of_scores(static_cast<int>(outcome_.y[at(i)]), scores);
    }
  });
  training_loss_ = validation_loss_ = 0;
  for (std::size_t k = 0; k < pieces; ++k) {
    training_loss_ += losses[k];
    validation_loss_ += held[k];
  }
  training_loss_ /= outcome_.total;
  if (outcome_.total_held_out > 0) validation_loss_ /= outcome_.total_held_out;
}

void Slopes::make(Index output) {
  if (outputs_ > 1)
    in_pieces([&](Index, Index first, Index count) {
      for (Index i = first; i < first + count; ++i)
        loss_.slopes_of_class(p_[at(i * outputs_ + output)], outcome_.y[at(i)] == static_cast<double>(output),
                              outcome_.weight_of(i), g_[at(i)], h_[at(i)]);
    });
  measure();
}

void Slopes::measure() {
  const std::size_t pieces = at((outcome_.count() + kPiece - 1) / kPiece);
  std::vector<double> g(pieces, 0.0), h(pieces, 0.0), largest(pieces, 0.0);
  in_pieces([&](Index k, Index first, Index count) {
    double sum_g = 0, sum_h = 0, most = 0;
    for (Index i = first; i < first + count; ++i) {
      sum_g += std::abs(g_[at(i)]);
      sum_h += h_[at(i)];
      if (outcome_.weight.empty()) most = std::max(most, h_[at(i)]);
      else if (outcome_.weight[at(i)] > 0) most = std::max(most, h_[at(i)] / outcome_.weight[at(i)]);
    }
    g[at(k)] = sum_g;
    h[at(k)] = sum_h;
    largest[at(k)] = most;
  });
  sum_g_ = sum_h_ = largest_ = 0;
  for (std::size_t k = 0; k < pieces; ++k) {
    sum_g_ += g[k];
    sum_h_ += h[k];
    largest_ = std::max(largest_, largest[k]);
  }
}

}  // namespace lemma::boost
