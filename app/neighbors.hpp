// app/neighbors.hpp
#pragma once
#include "context.hpp"

namespace CLI {
class App;
}

namespace lemma::app {

/// lemma neighbors DATA [QUERY]
void add_neighbors(CLI::App& tool, Context& context);

}  // namespace lemma::app
