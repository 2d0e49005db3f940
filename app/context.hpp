// app/context.hpp: what every subcommand shares: the global options, where text goes, progress and cancel.
#pragma once
#include <cstdint>
#include <lemma/core/parallel.hpp>
#include <lemma/core/value.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lemma::app {

/// Exit codes of the tool (the same for every subcommand).
enum ExitCode { kDone = 0, kAnswerIsNo = 1, kWrongCall = 2, kMachineFailed = 3, kCancelled = 130 };

class Context {
 public:
  Context();
  ~Context();

  bool json = false, quiet = false, no_color = false;
  std::uint64_t seed = 1;
  int threads = 0;  // 0: not given
  int exit_code = kDone;
  std::vector<std::string> method_words;  // of `fit`: the method's own parameters, as they stand on the command line

  Execution execution() const;
  Progress* progress() const;

  // Results go to stdout; notes, warnings and progress to stderr. --quiet silences notes.
  void print(std::string_view text) const;
  void print_json(const Value& document) const;
  void note(std::string_view text) const;
  void warn(std::string_view text) const;
  void error(std::string_view text) const;

  /// Colour codes on a terminal, nothing elsewhere (or with --no-color, or NO_COLOR in the environment).
  std::string bold(std::string_view text) const;
  std::string good(std::string_view text) const;
  std::string bad(std::string_view text) const;

 private:
  class Bar;
  std::unique_ptr<Bar> bar_;
};

/// From now on Ctrl-C asks for a stop; a second one ends the process at once.
void catch_interrupt();
bool interrupted();

}  // namespace lemma::app
