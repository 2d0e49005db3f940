// lemma/data/formula.hpp: R's model formulas: what is predicted from what.
#pragma once
#include <lemma/data/expression.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace lemma {

constexpr int kMostLetters = 12;  // of the pieces that kmers() counts

/// A product of factors: `a`, `log(b)`, `d:e`.
struct Term {
  std::vector<Expression> factors;
  std::string name() const;  // "d:e"
  bool operator==(const Term&) const = default;
};

/// A formula after expansion of * ^ / - () except for `.`, which needs the table.
///
///     a + b        both terms                   (a + b)^2    a + b + a:b
///     a:b          the interaction              a/b          a + a:b
///     a*b          a + b + a:b                  -1, +0       no intercept
///     terms - b    without b                    offset(z)    known part of the linear predictor
///     I(x^2)       arithmetic as it stands      log(x) …     functions of known_functions()
///     scale(x)     less mean, over sd           poly(x, k)   orthogonal polynomials of degree 1 … k
///     factor(x)    x as levels                  factor(x, ref = "b")   with b as the reference level
///     kmers(t, k)  how often each piece of k letters is in the text t
struct Formula {
  std::string text;  // as typed
  std::vector<Expression>
      response;                     // empty: none; several: the joint class u:v; one cbind(s, f) call is kept as a call
  std::vector<Term> terms;          // in R's order: by degree, then as written
  std::vector<Expression> offsets;  // the z of offset(z)
  bool intercept = true;

  /// Does `.` still stand among the terms?
  bool has_dot() const;
  /// `.` replaced by every column of `columns` that the response (or an offset) does not use. Call it before use.
  Formula expand(const std::vector<std::string>& columns) const;
};

/// An error shows the formula with a caret under the place.
Formula formula(std::string_view text);

}  // namespace lemma
