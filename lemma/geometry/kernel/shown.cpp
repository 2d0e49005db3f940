// lemma/geometry/kernel/shown.cpp
#include <cctype>
#include <cstdlib>
#include <fmt/core.h>
#include <lemma/geometry/kernel/shown.hpp>

namespace lemma {

std::string shown(const Kernel& kernel) {
  const std::string text = kernel.text();
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const bool in_word = i > 0 && (std::isalnum(static_cast<unsigned char>(text[i - 1])) || text[i - 1] == '_');
    if (!std::isdigit(static_cast<unsigned char>(text[i])) || in_word) {
      out += text[i++];
      continue;
    }
    char* end = nullptr;
    const double number = std::strtod(text.c_str() + i, &end);
    const auto size = static_cast<std::size_t>(end - (text.c_str() + i));
    const std::string few = fmt::format("{:.6g}", number);
    out += few.size() < size ? few : text.substr(i, size);
    i += size;
  }
  return out;
}

}  // namespace lemma
