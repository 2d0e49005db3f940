// lemma/ensemble/calibrate/maps.hpp: curves from scores to probabilities, and what tells that one is the best. Inner header.
#pragma once
#include <lemma/core/matrix.hpp>
#include <vector>

namespace lemma::calibrating {

/// Held-out scores, a column for each map, with the class and weight of each row.
struct HeldOut {
  Matrix score;
  Labels label;
  Vector weight;
  Index classes = 2;

  /// 1 where a row is of the class that column k is about.
  double target(Index i, Index k) const {
    return label[at(i)] == (score.cols() == 1 && classes == 2 ? 1 : static_cast<int>(k)) ? 1.0 : 0.0;
  }
};

struct Sigmoid {
  double slope = 0, offset = 0;
};
/// Newton's method on two numbers, of scores brought to mean 0 and spread 1. Scores without spread have slope 0.
Sigmoid fit_sigmoid(const HeldOut& rows, Index map);
/// The largest entry of the gradient for each unit of weight, of scores with spread 1.
double gradient_of(const HeldOut& rows, Index map, const Sigmoid& sigmoid);

/// A curve that never falls: (score, value) pairs, linear between them and constant beyond.
struct Steps {
  std::vector<double> score, value;
};
Steps fit_isotonic(const HeldOut& rows, Index map);
double value_at(const double* score, const double* value, Index count, double s);
/// How far the curve is from the projection: cumulative residuals below 0, or not 0 where it rises, for each unit of weight.
double violation_of(const HeldOut& rows, Index map, const double* score, const double* value, Index count);

/// The β ≥ 0 of p ∝ e^(β s) with the largest likelihood; not above 1000 for each unit of spread, where rows are told apart perfectly.
double fit_temperature(const HeldOut& rows);
double gradient_of(const HeldOut& rows, double beta);

/// p of one row of scores: a probability for each class.
void temper(const double* score, Index classes, double beta, double* p);

}  // namespace lemma::calibrating
