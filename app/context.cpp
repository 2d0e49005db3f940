// app/context.cpp
#include "context.hpp"

#include "nothing_to_keep.hpp"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <mutex>
#include <unistd.h>

namespace lemma::app {
namespace {

/// Written by a signal handler and read by every thread: an atomic without a lock is safe for both.
std::atomic<int> signal_seen = 0;
static_assert(std::atomic<int>::is_always_lock_free);
constexpr int kStops[] = {SIGINT, SIGTERM, SIGHUP};
bool hangup_ignored = false;    // by who called: nohup
bool broken_pipe_ends = false;  // unless who called ignores it

/// Set by any thread that could not write a message.
std::atomic<bool> message_lost = false;
std::atomic<int> stdout_error = 0;

std::atomic<bool> nothing_to_keep = false;
static_assert(std::atomic<bool>::is_always_lock_free);

void on_stop(int number) {
  if (nothing_to_keep) {
    constexpr std::string_view kText = "lemma: error: cancelled; nothing was written\n";
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, kText.data(), kText.size());
    ::_exit(kSignal + number);
  }
  signal_seen = number;
  for (const int each : kStops)
    if (each != SIGHUP || !hangup_ignored) std::signal(each, SIG_DFL);
}

/// Messages are written past all buffers, so that a failure is seen where it happens.
void write_message(std::string_view text) {
  while (!text.empty()) {
    const auto written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      message_lost = true;
      return;
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::string why_stdout_failed() {
  if (errno == EPIPE && broken_pipe_ends) {  // as other tools end: quietly
    std::signal(SIGPIPE, SIG_DFL);
    std::raise(SIGPIPE);
  }
  return fmt::format("cannot write standard output: {}", std::strerror(errno));
}

bool colours(std::FILE* file, bool no_color) {
  return !no_color && ::isatty(::fileno(file)) && !std::getenv("NO_COLOR");
}

}  // namespace

void catch_signals() {
  std::signal(SIGINT, on_stop);
  std::signal(SIGTERM, on_stop);
  hangup_ignored = std::signal(SIGHUP, on_stop) == SIG_IGN;
  if (hangup_ignored) std::signal(SIGHUP, SIG_IGN);
  broken_pipe_ends = std::signal(SIGPIPE, SIG_IGN) != SIG_IGN;
  std::signal(SIGXFSZ, SIG_IGN);
}
int interrupted() { return signal_seen; }

NothingToKeep::NothingToKeep() : before_(nothing_to_keep.exchange(true)) {}
NothingToKeep::~NothingToKeep() { nothing_to_keep = before_; }

void hold_standard_descriptors() {
  for (const int each : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})  // the lowest that is free is taken
    if (::fcntl(each, F_GETFD) == -1 && ::open("/dev/null", each == STDIN_FILENO ? O_WRONLY : O_RDONLY) != each) return;
}

/// Work that has lasted half a second is shown on a terminal as one line, redrawn ten times a second at most. Elsewhere, when
/// --progress asks for it, as lines of text: the first at once, then one for each tenth of the work or after half a minute,
/// every two seconds at most.
class Context::Bar final : public Progress {
 public:
  explicit Bar(const Context& context) : context_(context) {}
  ~Bar() override { clear(); }

  void report(double fraction, std::string_view message) override {
    const bool terminal = ::isatty(STDERR_FILENO);
    if (context_.quiet || (!terminal && !context_.show_progress)) return;
    if (terminal && context_.json && !context_.show_progress) return;
    const auto now = Clock::now();
    const std::lock_guard lock(mutex_);
    if (message != message_) {
      message_ = message;
      began_ = now;
      first_ = fraction;
      told_ = -1;
    }
    if (!(terminal ? is_due(now) : is_line_due(now, fraction))) return;
    drawn_ = now;
    told_ = fraction;
    const std::string time_left = left(fraction, std::chrono::duration<double>(now - began_).count());
    if (terminal) draw(fraction, time_left);
    else tell(fraction, time_left);
  }
  bool cancelled() const override { return interrupted() != 0; }

  void clear() {
    const std::lock_guard lock(mutex_);
    if (shown_) write_message("\r\x1b[K");
    shown_ = false;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kPatience{500}, kRedraw{100}, kNextLine{2000}, kLongSilence{30000};

  bool is_due(Clock::time_point now) const { return now - created_ >= kPatience && now - drawn_ >= kRedraw; }
  bool is_line_due(Clock::time_point now, double fraction) const {
    if (drawn_ == Clock::time_point()) return true;
    return now - drawn_ >= kNextLine && (fraction >= told_ + 0.1 || now - drawn_ >= kLongSilence);
  }
  /// If the rest goes as fast as what this message was about so far.
  std::string left(double fraction, double seconds) const {
    const double done = fraction - first_;
    return done > 0.01 && fraction < 1 ? format_duration(seconds * (1 - fraction) / done) + " left" : "";
  }
  void draw(double fraction, const std::string& time_left) {
    constexpr int kWidth = 30;
    const int full = static_cast<int>(kWidth * fraction);
    std::string bar;
    for (int i = 0; i < kWidth; ++i) bar += i < full ? "█" : "░";
    write_message(fmt::format("\r\x1b[K{} {} {:3.0f} %  {}", message_, bar, 100 * fraction, time_left));
    shown_ = true;
  }
  void tell(double fraction, const std::string& time_left) {
    write_message(fmt::format("progress: {}, {:.0f} %{}{}\n", message_, 100 * fraction, time_left.empty() ? "" : ", ",
                              time_left));
  }
  const Context& context_;
  std::mutex mutex_;
  std::string message_;
  Clock::time_point created_ = Clock::now(), began_ = created_, drawn_{};
  double first_ = 0, told_ = -1;  // of this message: where it began, and what was shown last
  bool shown_ = false;
};

Context::Context() : bar_(std::make_unique<Bar>(*this)) {}
Context::~Context() = default;

Progress* Context::progress() const { return bar_.get(); }

Execution Context::execution() const {
  Execution out;
  if (threads > 0) out.threads = threads;
  out.progress = bar_.get();
  return out;
}

void Context::write_stdout(std::string_view bytes) const {
  if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) != bytes.size()) throw MachineError(why_stdout_failed());
}

void Context::flush_stdout() const {
  if (std::fflush(stdout) != 0) throw MachineError(why_stdout_failed());
}

void Context::print(std::string_view text) const {
  if (stdout_is_taken_) {
    if (!quiet) say(text);
    return;
  }
  bar_->clear();
  write_stdout(text);
}
void Context::print_json(const Value& document) const { print(to_json(document) + "\n"); }

/// Results that were printed before a message stand before it, also where both go to one file.
void Context::say(std::string_view text) const {
  bar_->clear();
  if (std::fflush(stdout) != 0) stdout_error = errno;  // finish() tells
  write_message(text);
}

void Context::note(std::string_view text) const {
  if (!quiet) say(fmt::format("{}\n", text));
}
void Context::warn(std::string_view text) const {
  const bool colour = colours(stderr, no_color);
  say(fmt::format("{}warning:{} {}\n", colour ? "\x1b[33m" : "", colour ? "\x1b[0m" : "", text));
}
void Context::error(std::string_view text) const {
  const bool colour = colours(stderr, no_color);
  say(fmt::format("{}lemma: error:{} {}\n", colour ? "\x1b[31m" : "", colour ? "\x1b[0m" : "", text));
}

int Context::finish(int code) const {
  const bool done = code == kDone || code == kAnswerIsNo;
  bool failed = std::fflush(stdout) != 0 || ::close(STDOUT_FILENO) != 0;
  if (const int before = stdout_error) {
    errno = before;
    failed = true;
  }
  if (!done) return code;
  if (failed) error(why_stdout_failed());
  return failed || message_lost ? static_cast<int>(kMachineFailed) : code;
}

std::string Context::bold(std::string_view text) const {
  return colours(stdout, no_color) ? fmt::format("\x1b[1m{}\x1b[0m", text) : std::string(text);
}
std::string Context::good(std::string_view text) const {
  return colours(stdout, no_color) ? fmt::format("\x1b[32m{}\x1b[0m", text) : std::string(text);
}
std::string Context::bad(std::string_view text) const {
  return colours(stdout, no_color) ? fmt::format("\x1b[31m{}\x1b[0m", text) : std::string(text);
}

}  // namespace lemma::app
