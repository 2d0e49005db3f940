// tests/places.cpp
#include <tests/places.hpp>

namespace lemma {

std::string source_dir() { return LEMMA_SOURCE_DIR; }
std::string tool_path() { return LEMMA_TOOL; }

}  // namespace lemma
