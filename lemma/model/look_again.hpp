// lemma/model/look_again.hpp: a second look at a model that is part of another.
#pragma once
#include <lemma/model/any_spec.hpp>

namespace lemma {

/// The certificate of a model inside another, computed again from these rows. It does not hold either where the model is not of the
/// method that was asked for, with the parameters that were given (those left to the method may be any), or where it carries a
/// certificate of another claim than the one that is found.
Certificate look_again(const AnyModel& inside, const AnySpec& asked, const Rows& rows, const Execution& execution);

}  // namespace lemma
