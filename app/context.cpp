// app/context.cpp
#include "context.hpp"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <mutex>
#include <unistd.h>

namespace lemma::app {
namespace {

/// Written by a signal handler and read by every thread: an atomic without a lock is safe for both.
std::atomic<bool> interrupt_seen = false;
static_assert(std::atomic<bool>::is_always_lock_free);

void on_interrupt(int) {
  interrupt_seen = true;
  std::signal(SIGINT, SIG_DFL);
}

/// Results that were printed before a note stand before it, also where both go to one file.
void write(std::FILE* file, std::string_view text) {
  if (file == stderr) std::fflush(stdout);
  if (std::fwrite(text.data(), 1, text.size(), file) != text.size())
    throw MachineError("cannot write the output: is the disk full?");
}

bool colours(std::FILE* file, bool no_color) {
  return !no_color && ::isatty(::fileno(file)) && !std::getenv("NO_COLOR");
}

}  // namespace

void catch_interrupt() { std::signal(SIGINT, on_interrupt); }
bool interrupted() { return interrupt_seen; }

/// One line on stderr, on a terminal only: drawn when the work has lasted half a second, ten times a second at most.
class Context::Bar final : public Progress {
 public:
  explicit Bar(const Context& context) : context_(context) {}
  ~Bar() override { clear(); }

  void report(double fraction, std::string_view message) override {
    if (context_.quiet || context_.json || !::isatty(STDERR_FILENO)) return;
    const auto now = Clock::now();
    const std::lock_guard lock(mutex_);
    if (message != message_) {
      message_ = message;
      began_ = now;
    }
    if (now - created_ < std::chrono::milliseconds(500) || now - drawn_ < std::chrono::milliseconds(100)) return;
    drawn_ = now;
    draw(fraction, std::chrono::duration<double>(now - began_).count());
  }
  bool cancelled() const override { return interrupted(); }

  void clear() {
    const std::lock_guard lock(mutex_);
    if (shown_) std::fputs("\r\x1b[K", stderr);
    shown_ = false;
  }

 private:
  using Clock = std::chrono::steady_clock;
  void draw(double fraction, double seconds) {
    constexpr int kWidth = 30;
    const int full = static_cast<int>(kWidth * fraction);
    std::string bar;
    for (int i = 0; i < kWidth; ++i) bar += i < full ? "█" : "░";
    const std::string left =
        fraction > 0.01 && fraction < 1 ? format_duration(seconds * (1 - fraction) / fraction) + " left" : "";
    fmt::print(stderr, "\r\x1b[K{} {} {:3.0f} %  {}", message_, bar, 100 * fraction, left);
    std::fflush(stderr);
    shown_ = true;
  }
  const Context& context_;
  std::mutex mutex_;
  std::string message_;
  Clock::time_point created_ = Clock::now(), began_ = created_, drawn_{};
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

void Context::print(std::string_view text) const {
  bar_->clear();
  write(stdout, text);
}
void Context::print_json(const Value& document) const { print(to_json(document) + "\n"); }

void Context::note(std::string_view text) const {
  if (quiet) return;
  bar_->clear();
  write(stderr, fmt::format("{}\n", text));
}
void Context::warn(std::string_view text) const {
  bar_->clear();
  const bool colour = colours(stderr, no_color);
  write(stderr, fmt::format("{}warning:{} {}\n", colour ? "\x1b[33m" : "", colour ? "\x1b[0m" : "", text));
}
void Context::error(std::string_view text) const {
  bar_->clear();
  const bool colour = colours(stderr, no_color);
  write(stderr, fmt::format("{}lemma: error:{} {}\n", colour ? "\x1b[31m" : "", colour ? "\x1b[0m" : "", text));
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
