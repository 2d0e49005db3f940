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

/// Exit codes of the tool (the same for every subcommand). Who is cancelled by a signal gives 128 and its number, as a
/// shell does: 130 for Ctrl-C, 143 for SIGTERM, 129 for SIGHUP.
enum ExitCode { kDone = 0, kAnswerIsNo = 1, kWrongCall = 2, kMachineFailed = 3, kSignal = 128 };

class Context {
 public:
  Context();
  ~Context();

  bool json = false, quiet = false, no_color = false;
  bool show_progress = false;  // as lines of text where there is no terminal
  std::uint64_t seed = 1;
  int threads = 0;   // 0: not given
  std::string simd;  // empty: not given
  bool portable = false;
  int exit_code = kDone;
  std::string written;                    // what a cancel would leave behind, in words; empty: nothing
  std::vector<std::string> method_words;  // of `fit`: the method's own parameters, as they stand on the command line

  Execution execution() const;
  Progress* progress() const;

  // Results go to stdout; notes, warnings and progress to stderr. --quiet silences notes. What cannot be printed is a
  // MachineError. A message that cannot be written must not cost the work it speaks of: finish() tells of it.
  void print(std::string_view text) const;
  void print_json(const Value& document) const;
  void note(std::string_view text) const;
  void warn(std::string_view text) const;
  void error(std::string_view text) const;
  /// From now on results are notes: standard output is where the file goes that was asked for.
  void give_away_stdout() { stdout_is_taken_ = true; }
  /// Bytes of that file; flush_stdout() at its end, so that nobody says it is written before it is.
  void write_stdout(std::string_view bytes) const;
  void flush_stdout() const;
  /// The exit code, when everything printed has reached its place; else that of a failed machine.
  int finish(int code) const;

  /// Colour codes on a terminal, nothing elsewhere (or with --no-color, or NO_COLOR in the environment).
  std::string bold(std::string_view text) const;
  std::string good(std::string_view text) const;
  std::string bad(std::string_view text) const;

 private:
  class Bar;
  void say(std::string_view text) const;
  std::unique_ptr<Bar> bar_;
  bool stdout_is_taken_ = false;
};

/// Signals as the tool takes them from now on. Ctrl-C, SIGTERM and SIGHUP (unless it is ignored, as under nohup) ask for a
/// stop, and a second one ends the process at once. A file that grows too long (ulimit -f) is a full disk. Nobody reading
/// standard output ends the process as it does others, but not in the middle of a message.
void catch_signals();
/// The signal that asked for a stop; 0 when none did.
int interrupted();

/// Descriptors 0, 1 and 2 that the caller has closed are held by something that can be neither read nor written, so that no
/// file opened later takes their place and gets what is printed. Call it before any file is opened.
void hold_standard_descriptors();

}  // namespace lemma::app
