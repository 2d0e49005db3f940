// lemma/linear/chebyshev/parts.hpp: what fitting and certifying share. Inner header: use lemma/linear/chebyshev.hpp.
#pragma once
#include <cmath>
#include <lemma/linear/chebyshev.hpp>
#include <lemma/linear/shared/programme_gap.hpp>

namespace lemma::chebyshev {

struct Plane {
  double intercept;
  Vector slopes;  // 0 where aliased
};

/// A row of large error.
struct Extreme {
  Index row;
  double error;  // signed
  double weight;
  Vector x;
  double y, offset;
};
double residual(const Extreme& row, const Plane& plane);

/// The rows of largest error (the first of equals), and the size of the terms that cancel in an error.
class Extremes {
 public:
  Extremes(Plane plane, Index most) : plane_(std::move(plane)), most_(static_cast<std::size_t>(most)) {}
  void accumulate(const Block& block);
  void merge(const Extremes& other);

  const std::vector<Extreme>& rows() const { return rows_; }  // largest first
  double largest() const { return rows_.empty() ? 0 : std::abs(rows_.front().error); }
  double terms() const { return terms_; }

 private:
  void shorten();
  Plane plane_;
  std::size_t most_;
  std::vector<Extreme> rows_;
  double terms_ = 0;
};

/// The rows held against the model.
struct Look {
  double largest = 0, gap = 0, active = 0;
  bool holders = true;  // the rows that the model calls active are there, and have the largest error
};
/// Marks of the rows with these numbers, and of the order of all.
Labels marks_of(const Labels& which, const Rows& rows, const Execution& execution);
Look look(const ChebyshevModel& model, const Rows& rows, const Execution& execution);
ProgrammeGap gap_of(const Look& look);
Certificate certificate_of(const Look& look, long long rounds, bool done);

}  // namespace lemma::chebyshev
