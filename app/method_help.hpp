// app/method_help.hpp: all about a method, from its description alone.
#pragma once
#include <lemma/model/method.hpp>
#include <string>

namespace lemma::app {

/// Objective, parameters with defaults and ranges, results, one example that runs as printed.
std::string method_help(const Method& method);

/// The parameter table of the method's page, in Markdown.
std::string params_markdown(const Method& method);

}  // namespace lemma::app
