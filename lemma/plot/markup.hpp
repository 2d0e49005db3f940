// lemma/plot/markup.hpp: text inside XML and HTML.
#pragma once
#include <string>
#include <string_view>

namespace lemma::plot {

/// What is no UTF-8 or no character of XML becomes U+FFFD.
std::string escaped(std::string_view text);

}  // namespace lemma::plot
