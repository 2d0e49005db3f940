// app/flags.cpp
#include "flags.hpp"

#include <CLI/CLI.hpp>

namespace lemma::app {

using std::string;

CLI::App* add_command(CLI::App& tool, const string& name, const string& meaning) {
  return tool.add_subcommand(name, meaning);
}

CLI::Option* add_option(CLI::App& command, const string& names, string& value, const string& meaning) {
  return command.add_option(names, value, meaning);
}
CLI::Option* add_option(CLI::App& command, const string& names, std::vector<string>& value, const string& meaning) {
  return command.add_option(names, value, meaning);
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

CLI::Option* add_flag(CLI::App& command, const string& names, bool& value, const string& meaning) {
  return command.add_flag(names, value, meaning);
}

}  // namespace lemma::app
