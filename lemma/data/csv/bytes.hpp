// lemma/data/csv/bytes.hpp: where the bytes of a text file lie: on disk, or in memory once unpacked.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace lemma {

/// Bytes that can be read at any offset, from several threads at once.
class Bytes {
 public:
  virtual ~Bytes() = default;
  virtual std::uint64_t size() const = 0;
  /// Fills `into` with the bytes [offset, offset + count), which must exist.
  virtual void read(std::uint64_t offset, std::size_t count, char* into) const = 0;
};

/// A regular file, read where it lies (nothing is kept in memory). Error when it can't be opened.
std::unique_ptr<Bytes> file_bytes(const std::string& path);
std::unique_ptr<Bytes> memory_bytes(std::string owned);
std::unique_ptr<Bytes> view_bytes(std::string_view borrowed);

/// What `path` holds, unpacked: "-" is standard input, a file that is packed by its first bytes is unpacked into memory,
/// what is not a regular file (a pipe) is read into memory, everything else is read where it lies.
std::unique_ptr<Bytes> open_bytes(const std::string& path);

/// Can the path be read piece by piece? Not standard input, a pipe or a packed file.
bool is_seekable_text(const std::string& path);

}  // namespace lemma
