// lemma/linear/shared/separation.hpp: has a likelihood of classes a maximum at all? One test for every solver and family.
#pragma once
#include <functional>
#include <lemma/core/rows.hpp>
#include <optional>
#include <string>
#include <vector>

/// With x̃ᵢ = (1, standardised columns) of a row of class c, and one row d_k of coefficients for each class (d₀ = 0),
/// a direction d separates the rows when
///
///     z·d = x̃ᵢ·(d_c − d_k) ≥ 0      for every row i and every class k ≠ c,  and not always 0:
///
/// along it every row becomes likelier (or stays as likely), without end. Either there is one, or (Stiemke's lemma)
/// numbers λ > 0 with Σ λ z = 0, one for each z: then the maximum exists. `complete`: some d has z·d > 0 everywhere.
namespace lemma::separation {

enum class Verdict { overlap, quasi, complete, undecided };

/// What a row asks of a direction, in the place of its class: that x̃·d = 0 (a proportion, a count above 0), or
/// nothing.
inline constexpr int kStays = -1, kNoPart = -2;

struct Problem {
  const Rows& rows;
  Vector mean, inverse_scale;  // of the columns; an inverse scale of 0: the column takes no part
  bool intercept = true;
  Index classes = 2;
  std::function<int(const Block&, Index)> side;  // the class of a row, kStays or kNoPart

  Index terms() const { return mean.size() + 1; }
  Index size() const { return (classes - 1) * terms(); }
};

struct Finding {
  Verdict verdict = Verdict::undecided;
  Matrix direction;                            // classes × terms, the first row 0; empty unless it separates
  std::vector<Index> alone;                    // columns each of which separates two classes by itself
  std::vector<std::pair<Index, Index>> pairs;  // classes that the direction tells apart
  bool completely = false;                     // a direction leaves no row of these classes on the border

  bool separated() const { return verdict == Verdict::quasi || verdict == Verdict::complete; }
};

/// Proof that the rows overlap, from a point near the maximum: its gradient g = Σ λ z with λ > 0 and a matrix G for
/// which dᵀG d ≤ Σ λ (z·d)² (the Hessian is one). Were d to separate, Σ λ |z·d| = g·d ≤ ‖g‖_G⁻¹ ‖d‖_G; but Σ λ |z·d|
/// ≥ dᵀG d / max |z·d|, and |z·d| ≤ ‖z‖_G⁻¹ ‖d‖_G. So there is none where ‖g‖_G⁻¹ max ‖z‖_G⁻¹ < 1. `longest`: the
/// largest ‖z‖.
bool overlap_is_proved(const Matrix& curvature, const Vector& gradient, double longest);
/// The largest ‖z‖ of the rows. One pass.
double longest_row(const Problem& problem, const Execution& execution);

/// By the candidates (directions in which a solver was going), else by linear programmes of the rows that matter:
///
///     maximise  mean(z)·d   subject to  z·d ≥ 0 for some rows,  |d| ≤ 1:
///
/// 0 proves that all rows overlap; otherwise the rows on the wrong side of d join, until there are none: then d
/// separates. Each round is one pass over the rows.
Finding decide(const Problem& problem, const std::vector<Matrix>& candidates, const Execution& execution);

/// "'dose' separates the classes completely": which columns and classes, in words.
std::string in_words(const Finding& finding, const Rows& rows);

}  // namespace lemma::separation
