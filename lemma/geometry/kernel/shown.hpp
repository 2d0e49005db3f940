// lemma/geometry/kernel/shown.hpp: a kernel as summaries show it.
#pragma once
#include <lemma/geometry/kernel.hpp>

namespace lemma {

/// The kernel's text with its numbers to six significant digits; what it was exactly stands in the parameters.
std::string shown(const Kernel& kernel);

}  // namespace lemma
