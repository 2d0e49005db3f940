// app/actions.hpp: the commands that methods declare for their models (Method::actions), as subcommands.
#pragma once
#include "context.hpp"

#include <lemma/model/method.hpp>
#include <span>

namespace CLI {
class App;
}

namespace lemma::app {

/// One subcommand for each name among the actions of the methods.
void add_actions(CLI::App& tool, std::span<const Method* const> catalog, Context& context);

}  // namespace lemma::app
