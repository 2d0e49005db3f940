// lemma/select/nested.hpp: is a model a special case of another?
#pragma once
#include <lemma/model/train.hpp>

namespace lemma {

/// The columns of `smaller` that are no combination of the columns of `larger` (and of its intercept): none when the models
/// are nested. What the columns are decides, not what they are called: lstat lies within poly(lstat, 2). Columns of the same
/// name are the same; of the others the span is taken on rows made up for both designs.
std::vector<std::string> outside_of(const TrainedModel& larger, const TrainedModel& smaller);

}  // namespace lemma
