// lemma/data/csv/bytes.cpp
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <lemma/core/error.hpp>
#include <lemma/data/csv/bytes.hpp>
#include <lemma/data/csv/packed.hpp>
#include <sys/stat.h>
#include <unistd.h>

namespace lemma {
namespace {

std::string reason() { return std::strerror(errno); }

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ > 2) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

int open_or_throw(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) throw Error(fmt::format("cannot read '{}': {}", path, reason()));
  return descriptor;
}

struct stat status_of(const File& file, const std::string& path) {
  struct stat status {};
  if (::fstat(file.descriptor(), &status) != 0) throw MachineError(fmt::format("'{}': {}", path, reason()));
  if (S_ISDIR(status.st_mode)) throw Error(fmt::format("'{}' is a folder, not a file", path));
  return status;
}

class FileBytes final : public Bytes {
 public:
  explicit FileBytes(const std::string& path)
      : path_(path), file_(open_or_throw(path)), size_(static_cast<std::uint64_t>(status_of(file_, path).st_size)) {}

  std::uint64_t size() const override { return size_; }

  void read(std::uint64_t offset, std::size_t count, char* into) const override {
    while (count > 0) {
      const auto got = ::pread(file_.descriptor(), into, count, static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) throw MachineError(fmt::format("reading '{}': {}", path_, reason()));
      if (got == 0) throw MachineError(fmt::format("'{}' became shorter while it was read", path_));
      into += got;
      offset += static_cast<std::uint64_t>(got);
      count -= static_cast<std::size_t>(got);
    }
  }

 private:
  std::string path_;
  File file_;
  std::uint64_t size_;
};

class ViewBytes final : public Bytes {
 public:
  explicit ViewBytes(std::string_view text) : text_(text) {}
  explicit ViewBytes(std::string owned) : owned_(std::move(owned)), text_(owned_) {}
  std::uint64_t size() const override { return text_.size(); }
  void read(std::uint64_t offset, std::size_t count, char* into) const override {
    if (count > 0) std::memcpy(into, text_.data() + offset, count);
  }

 private:
  std::string owned_;
  std::string_view text_;
};

std::string read_all(const File& file, const std::string& name) {
  std::string all;
  std::string piece(1 << 20, '\0');
  while (true) {
    const auto got = ::read(file.descriptor(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw MachineError(fmt::format("reading {}: {}", name, reason()));
    if (got == 0) return all;
    all.append(piece, 0, static_cast<std::size_t>(got));
  }
}

Packing packing_in(const Bytes& bytes) {
  std::string first(static_cast<std::size_t>(std::min<std::uint64_t>(kPackingMark, bytes.size())), '\0');
  bytes.read(0, first.size(), first.data());
  return packing_of(first);
}

std::unique_ptr<Bytes> unpacked(std::string all, const std::string& source) {
  const Packing packing = packing_of(std::string_view(all));
  return memory_bytes(packing == Packing::none ? std::move(all) : unpack(packing, all, source));
}

bool is_regular(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

}  // namespace

std::unique_ptr<Bytes> file_bytes(const std::string& path) { return std::make_unique<FileBytes>(path); }
std::unique_ptr<Bytes> memory_bytes(std::string owned) { return std::make_unique<ViewBytes>(std::move(owned)); }
std::unique_ptr<Bytes> view_bytes(std::string_view borrowed) { return std::make_unique<ViewBytes>(borrowed); }

std::unique_ptr<Bytes> open_bytes(const std::string& path) {
  if (path == "-") return unpacked(read_all(File(STDIN_FILENO), "standard input"), "standard input");
  const File file(open_or_throw(path));
  if (!S_ISREG(status_of(file, path).st_mode)) return unpacked(read_all(file, path), path);
  auto bytes = file_bytes(path);
  if (packing_in(*bytes) == Packing::none) return bytes;
  return unpacked(read_all(file, path), path);
}

bool is_seekable_text(const std::string& path) {
  return path != "-" && is_regular(path) && packing_in(*file_bytes(path)) == Packing::none;
}

}  // namespace lemma
