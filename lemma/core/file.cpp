// lemma/core/file.cpp
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/file.hpp>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace lemma {
namespace {

/// ENOENT, EACCES and the like are the caller's to mend; the rest is the machine's.
[[noreturn]] void fail(std::string_view what, const std::string& path) {
  const int code = errno;
  const auto text = fmt::format("cannot {} '{}': {}", what, path, std::strerror(code));
  if (code == ENOENT || code == EACCES || code == EISDIR || code == ENOTDIR || code == EPERM || code == EROFS ||
      code == ENAMETOOLONG)
    throw Error(text);
  throw MachineError(text);
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

bool write_all(int descriptor, std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

std::vector<std::uint8_t> read_file(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.number() < 0) fail("read", path);
  struct stat info {};
  if (::fstat(file.number(), &info) != 0) fail("read", path);
  if (S_ISDIR(info.st_mode)) {
    errno = EISDIR;
    fail("read", path);
  }
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(info.st_size > 0 ? info.st_size : 0));
  std::size_t have = 0;
  for (;;) {
    if (have == bytes.size()) bytes.resize(bytes.size() + (std::size_t{1} << 16));
    const auto got = ::read(file.number(), bytes.data() + have, bytes.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("read", path);
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  bytes.resize(have);
  return bytes;
}

FileWriter::FileWriter(std::string path)
    : path_(std::move(path)), temporary_(path_ + ".XXXXXX"), file_(::mkostemp(temporary_.data(), O_CLOEXEC)) {
  if (file_ < 0) fail("write", path_);
  const auto mask = ::umask(0);
  ::umask(mask);
  if (::fchmod(file_, 0666 & ~mask) != 0) give_up();
}

FileWriter::~FileWriter() {
  if (file_ < 0) return;
  ::close(file_);
  ::unlink(temporary_.c_str());
}

void FileWriter::give_up() {
  const int code = errno;
  ::close(std::exchange(file_, -1));
  ::unlink(temporary_.c_str());
  errno = code;
  fail("write", path_);
}

void FileWriter::write(std::span<const std::uint8_t> bytes) {
  if (!write_all(file_, bytes)) give_up();
}

void FileWriter::write(std::string_view text) {
  write(std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
}

void FileWriter::done() {
  if (::fsync(file_) != 0 || ::rename(temporary_.c_str(), path_.c_str()) != 0) give_up();
  if (::close(std::exchange(file_, -1)) != 0) fail("write", path_);
}

void write_file(const std::string& path, std::span<const std::uint8_t> bytes) {
  FileWriter file(path);
  file.write(bytes);
  file.done();
}

void write_file(const std::string& path, std::string_view text) {
  write_file(path, std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
}

}  // namespace lemma
