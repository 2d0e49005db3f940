// lemma/plot/scale.hpp: from the units of an axis to 0 … 1, with ticks at round values. Inner header of the room.
#pragma once
#include <lemma/plot/figure.hpp>
#include <limits>
#include <string>
#include <vector>

namespace lemma::plot {

struct Tick {
  double at;
  std::string text;
};

/// Least and greatest of what an axis must show; infinities turned round while there is nothing.
struct Extent {
  double least = std::numeric_limits<double>::infinity(), greatest = -least;
  double least_positive = least;
  void add(double value);
  bool any() const { return least <= greatest; }
};

class Scale {
 public:
  /// From the axis, and where it leaves an end open from the marks and a little more.
  Scale(const Axis& axis, Extent marks);
  double place(double value) const;  // 0 … 1 inside; NaN where there is no place (the logarithm of 0)
  double from() const { return from_; }
  double to() const { return to_; }
  void widen(double factor);  // around its middle
  ScaleKind kind() const { return kind_; }
  /// At most about so many, at 1, 2 or 5 times a power of ten, at round dates, or one a level.
  std::vector<Tick> ticks(int most) const;

 private:
  ScaleKind kind_;
  double from_ = 0, to_ = 1;  // of a log scale: their logarithms to base 10
  std::vector<std::string> levels_;
};

/// What the marks of a panel need.
struct Extents {
  Extent x, y;
};
Extents extents_of(const Panel& panel);

}  // namespace lemma::plot
