// app/flags.cpp
#include "flags.hpp"

#include <CLI/CLI.hpp>
#include <cctype>
#include <fmt/core.h>
#include <lemma/core/error.hpp>

namespace lemma::app {

using std::string;

namespace {

/// The parser takes whatever word comes next as the value; one that is an option itself says that the value was forgotten.
CLI::Option* with_value(CLI::Option* option) {
  if (option->get_positional()) return option;
  return option->each([name = option->get_name()](const string& value) {
    if (value.size() > 3 && value.starts_with("--") && std::isalpha(static_cast<unsigned char>(value[2])) != 0)
      throw Error(fmt::format("{} needs a value, and what follows it is the option {}", name, value));
  });
}

}  // namespace

CLI::App* add_command(CLI::App& tool, const string& name, const string& meaning) {
  return tool.add_subcommand(name, meaning);
}

CLI::Option* add_option(CLI::App& command, const string& names, string& value, const string& meaning) {
  return with_value(command.add_option(names, value, meaning));
}
CLI::Option* add_option(CLI::App& command, const string& names, std::vector<string>& value, const string& meaning) {
  return with_value(command.add_option(names, value, meaning));
}
CLI::Option* add_option(CLI::App& command, const string& names, int& value, const string& meaning) {
  return command.add_option(names, value, meaning);
}
CLI::Option* add_option(CLI::App& command, const string& names, long& value, const string& meaning) {
  return command.add_option(names, value, meaning);
}
CLI::Option* add_option(CLI::App& command, const string& names, long long& value, const string& meaning) {
  return command.add_option(names, value, meaning);
}
CLI::Option* add_option(CLI::App& command, const string& names, std::uint64_t& value, const string& meaning) {
  return command.add_option(names, value, meaning);
}
CLI::Option* add_option(CLI::App& command, const string& names, double& value, const string& meaning) {
  return command.add_option(names, value, meaning);
}
CLI::Option* add_option(CLI::App& command, const string& names, std::optional<double>& value, const string& meaning) {
  return command.add_option(names, value, meaning);
}

CLI::Option* add_flag(CLI::App& command, const string& names, bool& value, const string& meaning) {
  return command.add_flag(names, value, meaning);
}

}  // namespace lemma::app
