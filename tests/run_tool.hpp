// tests/run_tool.hpp: the tool as a user runs it: in a folder of its own, through a shell.
#pragma once
#include <array>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <pty.h>
#include <string>
#include <sys/wait.h>
#include <tests/places.hpp>
#include <unistd.h>

namespace lemma {

struct Outcome {
  int code;
  std::string out, err;
};

/// An empty folder, removed at the end, in which commands run.
class Folder {
 public:
  Folder()
      : path_(std::filesystem::temp_directory_path() /
              ("lemma_tool_" + std::to_string(::getpid()) + "_" + std::to_string(made()++))) {
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string path(const std::string& name) const { return (path_ / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
  }
  std::string read(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  bool has(const std::string& name) const { return std::filesystem::exists(path(name)); }

  /// `lemma ARGUMENTS` in this folder; `before` may hold a pipe's left side: "printf 'a,b\n' |".
  Outcome lemma(const std::string& arguments, const std::string& before = "") const {
    const std::string command =
        "cd '" + path_.string() + "' && " + before + " '" + tool_path() + "' " + arguments + " >.out 2>.err";
    const int status = std::system(("{ " + command + "; }").c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read(".out"), read(".err")};
  }

  /// `lemma ARGUMENTS` with its messages on a terminal, where it is sent `signal` as soon as `sign` appears: an event in
  /// its work, not a time. What it says there is `err`.
  Outcome lemma_signalled(const std::string& arguments, const std::string& sign, int signal) const {
    int terminal = -1, its_end = -1;
    if (::openpty(&terminal, &its_end, nullptr, nullptr, nullptr) != 0) return {-1, "", "there is no terminal"};
    const std::string command = "exec '" + tool_path() + "' " + arguments + " >.out";
    const pid_t child = ::fork();
    if (child == 0) {
      ::close(terminal);
      ::dup2(its_end, STDERR_FILENO);
      ::setenv("NO_COLOR", "1", 1);
      if (::chdir(path_.c_str()) == 0) ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
      ::_exit(127);
    }
    ::close(its_end);
    std::string said;
    std::array<char, 4096> some{};
    bool sent = false;
    for (ssize_t got = 0; (got = ::read(terminal, some.data(), some.size())) > 0;) {
      said.append(some.data(), static_cast<std::size_t>(got));
      if (!sent && said.find(sign) != std::string::npos) sent = ::kill(child, signal) == 0;
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ::close(terminal);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read(".out"), said};
  }

 private:
  static int& made() {
    static int count = 0;
    return count;
  }
  std::filesystem::path path_;
};

}  // namespace lemma
