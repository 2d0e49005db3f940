// lemma/data/formula/calls.hpp: the calls that a term can be, and what their arguments say.
#pragma once
#include <lemma/data/expression/parser.hpp>
#include <lemma/data/expression/types.hpp>
#include <lemma/data/image/pixels.hpp>
#include <lemma/data/words.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lemma {

/// Error unless the call can be a term, with the arguments that it takes.
void check_term(const Expression& call, const Tokens& tokens);

/// factor(x), as.factor(x), cut(x, 3): their values are levels.
bool makes_levels(std::string_view function);
bool makes_levels(const Expression& e);

/// cut(x, breaks, labels, include.lowest, right, dig.lab) of R.
struct CutCall {
  Expression value;
  int pieces = 0;                   // so many of equal length; 0: the breaks are given
  std::vector<double> breaks;       // rising
  std::vector<std::string> labels;  // empty: the intervals are written out
  bool lowest = false, right = true;
  int digits = 3;
};
CutCall cut_call(const Expression& call, const FailAt& fail);

/// bs(x, df, knots, degree, intercept, Boundary.knots) and ns(x, df, knots, intercept, Boundary.knots) of R.
struct SplineCall {
  Expression value;
  bool natural = false, intercept = false;
  int degree = 3;
  int inner_knots = 0;         // at quantiles of the values; 0: `knots` are all there are
  std::vector<double> knots;   // rising
  std::vector<double> bounds;  // two; empty: the ends of the values
};
SplineCall spline_call(const Expression& call, const FailAt& fail);

/// text(column, by, n, lower, stop, min, weight, hash, mail).
Wording text_call(const Expression& call, const FailAt& fail);

/// image(column, size) and hog(column, size, cell, block, bins, signed).
bool makes_pixels(std::string_view function);
Picturing picture_call(const Expression& call, const FailAt& fail);

}  // namespace lemma
