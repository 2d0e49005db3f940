// lemma/neighbor/neighbor_components/objective.hpp: how well rows are told by their neighbours. Inner header: use
// lemma/neighbor/neighbor_components.hpp.
#pragma once
#include <lemma/core/matrix.hpp>
#include <lemma/core/parallel.hpp>

namespace lemma::neighbor_components {

/// Rows in an order of their own, columns centred and scaled, and what is to be told of them.
struct Data {
  Matrix x;
  Labels label;  // of classes
  Vector y;      // of numbers, in standard deviations (divisor n) from their mean
  Vector mean, scale, counts;

  Index rows() const { return x.rows(); }
  bool of_classes() const { return !label.empty(); }
  /// What row j says of row i: whether it has its class, or its number.
  double said(Index i, Index j) const { return of_classes() ? label[at(i)] == label[at(j)] : y(j); }
  /// The loss of a row of which the others say u on average, and its slope.
  double loss(Index i, double u) const { return of_classes() ? 1 - u : (y(i) - u) * (y(i) - u); }
  double slope(Index i, double u) const { return of_classes() ? -1 : 2 * (u - y(i)); }
};

/// J of A, its rows one after the other, and ∇J.
class Loss {
 public:
  Loss(const Data& data, Index components, double penalty, const Execution& execution)
      : data_(data), components_(components), penalty_(penalty), execution_(execution) {}
  double value(const Vector& a) const { return sum(a, nullptr); }
  double value(const Vector& a, Vector& gradient) const { return sum(a, &gradient); }

 private:
  double sum(const Vector& a, Vector* gradient) const;
  const Data& data_;
  Index components_;
  double penalty_;
  Execution execution_;
};

/// The same pair by pair: slower, and by another route.
struct Plain {
  double objective = 0, loss = 0;
  Matrix gradient;
};
Plain plainly(const Data& data, const Matrix& a, double penalty, const Execution& execution);

/// Of the nearest other row in these coordinates: the share that has another class, or the mean squared difference of the numbers.
double nearest_error(const Data& data, const Matrix& z, const Execution& execution);

}  // namespace lemma::neighbor_components
