// tests/run_tool.hpp: the tool as a user runs it: in a folder of its own, through a shell.
#pragma once
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/wait.h>
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
        "cd '" + path_.string() + "' && " + before + " '" LEMMA_TOOL "' " + arguments + " >.out 2>.err";
    const int status = std::system(("{ " + command + "; }").c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read(".out"), read(".err")};
  }

 private:
  static int& made() {
    static int count = 0;
    return count;
  }
  std::filesystem::path path_;
};

}  // namespace lemma
