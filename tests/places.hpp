// tests/places.hpp: where the sources and the tool lie. Only places.cpp is compiled with their paths, so that a compiler
// cache serves every clone.
#pragma once
#include <string>

namespace lemma {

std::string source_dir();  // the repository
std::string tool_path();   // the command `lemma` of this build

}  // namespace lemma
