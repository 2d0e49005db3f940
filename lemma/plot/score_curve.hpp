// lemma/plot/score_curve.hpp: learning and validation curves as pictures.
#pragma once
#include <lemma/plot/figure.hpp>
#include <lemma/select/score_curve.hpp>

namespace lemma::plot {

/// Scores of the rows learned from and of the others, along rows or a parameter: where the two part, a method learns by heart.
Figure drawn(const ScoreCurve& curve);

}  // namespace lemma::plot
