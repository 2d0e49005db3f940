// lemma/data/use.hpp: what the rows of a table are wanted for.
#pragma once

namespace lemma {

/// training    the response and the weights must be there; rows without them are refused or left out;
/// judging     the same of a response that the table has, and the weights may be absent;
/// prediction  the response may be absent, or missing here and there.
enum class Use { training, judging, prediction };

}  // namespace lemma
