// lemma/core/file.hpp: whole files, read and written so that nobody ever sees half of one.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lemma {

/// Error when there is no such file or it may not be read; MachineError when the disk fails.
std::vector<std::uint8_t> read_file(const std::string& path);

/// Written beside the path under a temporary name, then renamed: a reader sees the old file or the new one.
/// Error when the folder does not exist or may not be written; MachineError when the disk fails or is full.
void write_file(const std::string& path, std::span<const std::uint8_t> bytes);
void write_file(const std::string& path, std::string_view text);

/// The same piece by piece: done() gives the file its name, and without it nothing remains.
class FileWriter {
 public:
  explicit FileWriter(std::string path);
  ~FileWriter();
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;
  void write(std::span<const std::uint8_t> bytes);
  void write(std::string_view text);
  void done();

 private:
  [[noreturn]] void give_up();
  std::string path_, temporary_;
  int file_ = -1;
};

}  // namespace lemma
