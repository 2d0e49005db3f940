// app/elsewhere.hpp: what R and scikit-learn call the commands and parameters of the tool.
#pragma once
#include <string>
#include <vector>

namespace lemma::app {

/// What is said behind a flag that is not known: how it is called here, " (did you mean '--depth'?)", or nothing.
std::string flag_here(const std::string& typed, const std::vector<std::string>& known);
/// The same of a command.
std::string command_here(const std::string& typed, const std::vector<std::string>& known);

}  // namespace lemma::app
