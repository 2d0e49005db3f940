// lemma/data/response_quantity.hpp: what the numbers are that a model predicts.
#pragma once
#include <lemma/data/design.hpp>

namespace lemma {

/// Of each response in its order: dates and times where its column holds such, numbers otherwise. Empty without a response
/// of numbers.
std::vector<Quantity> response_quantities(const Design& design);

/// A number predicted for such a column: of dates a whole day, of times a whole second.
double rounded_moment(double days, Quantity quantity);

}  // namespace lemma
