// lemma/plot/markup.cpp
#include <algorithm>
#include <lemma/core/text.hpp>
#include <lemma/plot/markup.hpp>

namespace lemma::plot {

std::string escaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const Character c = first_character(text);
    const bool allowed = c.bytes > 0 && (c.code >= 32 || c.code == '\t' || c.code == '\n') && c.code != 0x7f &&
                         c.code != 0xfffe && c.code != 0xffff;
    if (!allowed) out += "\uFFFD";
    else if (c.code == '<') out += "&lt;";
    else if (c.code == '>') out += "&gt;";
    else if (c.code == '&') out += "&amp;";
    else if (c.code == '"') out += "&quot;";
    else out += text.substr(0, c.bytes);
    text.remove_prefix(std::max<std::size_t>(c.bytes, 1));
  }
  return out;
}

}  // namespace lemma::plot
