// lemma/core/version.hpp: the one place that says which version this is (CMake reads it here too).
#pragma once
#include <string_view>

namespace lemma {
inline constexpr std::string_view kVersion = "0.1.0";
}  // namespace lemma
