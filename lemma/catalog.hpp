// lemma/catalog.hpp: every method of Lemma.
#pragma once
#include <lemma/model/method.hpp>

namespace lemma {

/// In the order of the rooms, then by name.
std::span<const Method* const> catalog();

}  // namespace lemma
