// lemma/tree/boost/linear.hpp: componentwise linear boosting: each round adds a line in the one column that helps most.
#pragma once
#include <lemma/tree/boost/outcome.hpp>

namespace lemma::boost {

/// With the slopes g and curvatures h of the rows, the line a + b x of each column that minimises Σ g (a + b x) + ½ h (a + b x)²
/// is that of least squares of −g / h by the weights h; the column is taken whose line lowers the sum most. A pass for each round.
void add_lines(BoostModel& model, const Rows& rows, const Outcome& outcome, const Execution& execution);

/// What a step adds to the score of a row.
double line_at(const BoostModel& model, Index step, const double* row);
/// Of lines SHAP values are Σ b (x − mean), with the mean of the training rows.
void add_shap(const BoostModel& model, const MatrixView& x, Matrix& phi);
Vector shap_base(const BoostModel& model);

/// Sums over the rows for the line of one column, with x from its mean.
struct LineSums {
  double g = 0, h = 0, gx = 0, hx = 0, hxx = 0;
  void add(double slope, double curvature, double x) {
    g += slope;
    h += curvature;
    gx += slope * x;
    hx += curvature * x;
    hxx += curvature * x * x;
  }
  void operator+=(const LineSums& other) {
    g += other.g, h += other.h, gx += other.gx, hx += other.hx, hxx += other.hxx;
  }
  /// The line, and by how much it lowers Σ w ℓ (of the parabola).
  struct Line {
    double slope = 0, intercept = 0, gain = 0;
  };
  Line line() const;
};

}  // namespace lemma::boost
