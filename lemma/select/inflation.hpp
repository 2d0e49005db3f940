// lemma/select/inflation.hpp: what the other terms of a linear model cost a term: variance inflation factors.
#pragma once
#include <lemma/select/anova.hpp>

namespace lemma {

/// With C the covariance of the slopes over the dispersion, C₁ its block for a term's columns and C₂ for all others (Fox and
/// Monette),
///
///     GVIF = det C₁ det C₂ / det C
///
/// is the factor by which the term's joint confidence region has grown, squared, beside that of a term that is not correlated
/// with the others. For one column it is 1 / (1 − R²) of that column on the others (VIF); GVIF^(1/(2 Df)) compares terms of
/// different widths. C is that of the model with an intercept about the means, and always the classical one.
AnovaTable inflation_of(const TrainedModel& model);

}  // namespace lemma
