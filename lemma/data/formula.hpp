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
  std::string name() const;  // "d:e", "(x > 10):e": what reads back to the same term
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
///     bs(x, df)    B-splines                    ns(x, df)    natural cubic splines
///     factor(x)    x as levels                  factor(x, ref = "b")   with b as the reference level
///     cut(x, k)    k intervals as levels        cut(x, c(0, 5, 10))    with these breaks
///     x > 10       FALSE and TRUE as levels     x %in% c("a", "b")     likewise; so are == != & | ! is.na(x)
///     kmers(t, k)  how often each piece of k letters is in the text t
///
/// Comparisons bind looser than +, as in R: `a + x > 10` compares a sum, `a + (x > 10)` are two terms.
struct Formula {
  std::string text;                  // as typed
  std::vector<Expression> response;  // empty: none; several: the joint class u:v; cbind(…), cut(y, 3), y > 3 are kept
  std::vector<Term> terms;           // in R's order: by degree, then as written
  std::vector<Expression> offsets;   // the z of offset(z)
  bool intercept = true;

  /// Does `.` still stand among the terms?
  bool has_dot() const;
  /// `.` replaced by every column of `columns` that the response (or an offset) does not use. Call it before use.
  Formula expand(const std::vector<std::string>& columns) const;
};

/// An error shows the formula with a caret under the place.
Formula formula(std::string_view text);

}  // namespace lemma
