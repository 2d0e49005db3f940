// lemma/core/file.hpp: whole files, read and written so that nobody ever sees half of one.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lemma {

/// Error when there is no such file or it may not be read; MachineError when the disk fails.
std::vector<std::uint8_t> read_file(const std::string& path);

/// A file is written beside its path, without a name where the system can do that and else under a temporary one, and takes
/// its name at the end: a reader sees the old file or the new one. A symbolic link is followed and stays; of a file that
/// is replaced the mode stays, and the owner where the system allows it. What is not a regular file (a device, a FIFO,
/// /dev/stdout, /dev/fd/3) is never replaced but written to.
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
  /// Whether nothing can be seen before done(); otherwise what is written is written.
  bool appears_whole() const { return !target_.empty(); }

 private:
  void open_beside(bool replaces);
  bool open_nameless(const std::string& folder);
  void take_name();
  void remove_temporary();
  [[noreturn]] void give_up();
  std::string path_;       // as it was given
  std::string target_;     // the regular file to make, links followed; empty: written to as it is
  std::string temporary_;  // empty: the file has no name yet
  int file_ = -1;
};

/// The descriptor that a path such as /dev/stdout, /dev/fd/3 or /proc/self/fd/3 stands for.
std::optional<int> descriptor_named(std::string_view path);

/// Two names of one regular file, or of one that is to be made. Of devices and pipes it is not asked: what is written to
/// /dev/null does not come out of it.
bool same_file(const std::string& a, const std::string& b);

}  // namespace lemma
