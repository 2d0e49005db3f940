// app/flags.hpp: commands, options and flags. The command-line parser makes all of itself anew in every file that calls it; these
// few calls keep that in flags.cpp.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace lemma::app {

CLI::App* add_command(CLI::App& tool, const std::string& name, const std::string& meaning);

CLI::Option* add_option(CLI::App& command, const std::string& names, std::string& value, const std::string& meaning);
CLI::Option* add_option(CLI::App& command, const std::string& names, std::vector<std::string>& value,
                        const std::string& meaning);
CLI::Option* add_option(CLI::App& command, const std::string& names, int& value, const std::string& meaning);
CLI::Option* add_option(CLI::App& command, const std::string& names, long& value, const std::string& meaning);
CLI::Option* add_option(CLI::App& command, const std::string& names, long long& value, const std::string& meaning);
CLI::Option* add_option(CLI::App& command, const std::string& names, std::uint64_t& value, const std::string& meaning);
CLI::Option* add_option(CLI::App& command, const std::string& names, double& value, const std::string& meaning);
CLI::Option* add_option(CLI::App& command, const std::string& names, std::optional<double>& value,
                        const std::string& meaning);

CLI::Option* add_flag(CLI::App& command, const std::string& names, bool& value, const std::string& meaning);

}  // namespace lemma::app
