// lemma/data/csv/bytes.cpp
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <lemma/core/error.hpp>
#include <lemma/data/csv/bytes.hpp>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

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

bool is_gzip(std::string_view bytes) { return bytes.size() >= 2 && bytes[0] == '\x1f' && bytes[1] == '\x8b'; }

bool starts_as_gzip(const Bytes& bytes) {
  char first[2] = {};
  if (bytes.size() < 2) return false;
  bytes.read(0, 2, first);
  return is_gzip({first, 2});
}

bool is_regular(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

struct Inflater {
  z_stream stream{};
  Inflater() {
    if (inflateInit2(&stream, 15 + 16) != Z_OK) throw MachineError("zlib could not start");
  }
  ~Inflater() { inflateEnd(&stream); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
};

struct Deflater {
  z_stream stream{};
  Deflater() {
    if (deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
      throw MachineError("zlib could not start");
  }
  ~Deflater() { deflateEnd(&stream); }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;
};

constexpr std::size_t kPiece = std::size_t{1} << 18;

/// zlib counts in 32 bits: hands over the next part of what is left.
void feed(z_stream& stream, std::string_view& left) {
  if (stream.avail_in != 0 || left.empty()) return;
  const std::size_t count = std::min<std::size_t>(left.size(), std::size_t{1} << 30);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(left.data()));
  stream.avail_in = static_cast<uInt>(count);
  left.remove_prefix(count);
}

}  // namespace

bool ends_with_gz(std::string_view path) { return path.ends_with(".gz") || path.ends_with(".GZ"); }

std::unique_ptr<Bytes> file_bytes(const std::string& path) { return std::make_unique<FileBytes>(path); }
std::unique_ptr<Bytes> memory_bytes(std::string owned) { return std::make_unique<ViewBytes>(std::move(owned)); }
std::unique_ptr<Bytes> view_bytes(std::string_view borrowed) { return std::make_unique<ViewBytes>(borrowed); }

std::string gunzip(std::string_view packed, const std::string& source) {
  Inflater inflater;
  std::string plain;
  auto& stream = inflater.stream;
  bool ended = false;
  while (true) {
    feed(stream, packed);
    if (ended) {  // several gzip streams one after the other are one file
      if (stream.avail_in == 0) return plain;
      if (inflateReset(&stream) != Z_OK) throw MachineError("zlib could not start again");
      ended = false;
    }
    const std::size_t filled = plain.size();
    plain.resize(filled + kPiece);
    stream.next_out = reinterpret_cast<Bytef*>(plain.data() + filled);
    stream.avail_out = static_cast<uInt>(kPiece);
    const int status = inflate(&stream, Z_NO_FLUSH);
    plain.resize(plain.size() - stream.avail_out);
    if (status == Z_MEM_ERROR) throw MachineError("no memory left to unpack " + source);
    if (status == Z_STREAM_END) ended = true;
    else if (status != Z_OK) throw Error(source + " is not a whole gzip file: it is damaged or cut off");
  }
}

std::string gzip(std::string_view plain) {
  Deflater deflater;
  std::string packed;
  auto& stream = deflater.stream;
  int status = Z_OK;
  while (status != Z_STREAM_END) {
    feed(stream, plain);
    const std::size_t filled = packed.size();
    packed.resize(filled + kPiece);
    stream.next_out = reinterpret_cast<Bytef*>(packed.data() + filled);
    stream.avail_out = static_cast<uInt>(kPiece);
    status = deflate(&stream, plain.empty() ? Z_FINISH : Z_NO_FLUSH);
    packed.resize(packed.size() - stream.avail_out);
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) throw MachineError("zlib failed to pack");
  }
  return packed;
}

std::unique_ptr<Bytes> open_bytes(const std::string& path) {
  if (path == "-") {
    auto text = read_all(File(STDIN_FILENO), "standard input");
    return memory_bytes(is_gzip(text) ? gunzip(text, "standard input") : std::move(text));
  }
  const File file(open_or_throw(path));
  if (!S_ISREG(status_of(file, path).st_mode)) {
    auto text = read_all(file, path);
    return memory_bytes(is_gzip(text) ? gunzip(text, path) : std::move(text));
  }
  auto bytes = file_bytes(path);
  if (!starts_as_gzip(*bytes)) return bytes;
  return memory_bytes(gunzip(read_all(file, path), path));
}

bool is_seekable_text(const std::string& path) {
  return path != "-" && is_regular(path) && !starts_as_gzip(*file_bytes(path));
}

}  // namespace lemma
