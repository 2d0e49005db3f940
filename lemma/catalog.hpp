// lemma/catalog.hpp: every method of Lemma.
#pragma once
#include <lemma/model/any_spec.hpp>  // declares catalog(): in the order of the rooms, then by name
