// lemma/core/file.cpp
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
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
      code == ENAMETOOLONG || code == ELOOP)
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

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

/// Where the links lead that the path ends in, also when there is nothing yet.
std::string behind_links(std::string path) {
  constexpr int kMostLinks = 40;
  for (int k = 0; k < kMostLinks; ++k) {
    std::error_code ignored;
    const auto link = std::filesystem::read_symlink(path, ignored);
    if (ignored) return path;
    path = link.is_absolute() ? link.string() : folder_of(path) + "/" + link.string();
  }
  errno = ELOOP;
  fail("write", path);
}

std::string name_of_descriptor(int descriptor) { return fmt::format("/proc/self/fd/{}", descriptor); }

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

FileWriter::FileWriter(std::string path) : path_(std::move(path)) {
  struct stat info {};
  if (const auto descriptor = descriptor_named(path_)) {
    file_ = ::fcntl(*descriptor, F_DUPFD_CLOEXEC, 3);
    if (file_ < 0) throw Error(fmt::format("cannot write '{}': nothing is open there", path_));
    return;
  }
  const bool exists = ::stat(path_.c_str(), &info) == 0;
  if (!exists && errno != ENOENT) fail("write", path_);
  if (exists && !S_ISREG(info.st_mode)) {
    file_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (file_ < 0) fail("write", path_);
    return;
  }
  if (exists && ::faccessat(AT_FDCWD, path_.c_str(), W_OK, AT_EACCESS) != 0) fail("write", path_);
  target_ = behind_links(path_);
  open_beside(exists);
  if (!exists) return;
  // Who may not give a file away keeps it; the mode comes after, since a new owner clears parts of it.
  if (::fchown(file_, info.st_uid, info.st_gid) != 0 && ::fchown(file_, static_cast<uid_t>(-1), info.st_gid) != 0)
    info.st_mode &= ~static_cast<mode_t>(S_ISUID | S_ISGID);
  if (::fchmod(file_, info.st_mode & 07777) != 0) give_up();
}

FileWriter::~FileWriter() {
  if (file_ < 0) return;
  ::close(file_);
  remove_temporary();
}

/// A file that no folder lists goes when the last who holds it ends, however that comes about.
bool FileWriter::open_nameless([[maybe_unused]] const std::string& folder) {
#ifdef O_TMPFILE
  file_ = ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
#endif
  return file_ >= 0;
}

void FileWriter::open_beside(bool replaces) {
  if (open_nameless(folder_of(target_))) {
    if (::access(name_of_descriptor(file_).c_str(), F_OK) == 0) return;  // without /proc it could not get a name
    ::close(std::exchange(file_, -1));
  }
  temporary_ = target_ + ".XXXXXX";
  file_ = ::mkostemp(temporary_.data(), O_CLOEXEC);
  if (file_ < 0) {
    temporary_.clear();
    fail("write", path_);
  }
  if (replaces) return;
  const auto mask = ::umask(0);
  ::umask(mask);
  if (::fchmod(file_, 0666 & ~mask) != 0) give_up();
}

/// A link never replaces a file: where there is one, the new file gets a name beside it first.
void FileWriter::take_name() {
  const std::string nameless = name_of_descriptor(file_);
  const auto link_to = [&](const std::string& name) {
    return ::linkat(AT_FDCWD, nameless.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
  };
  if (temporary_.empty()) {
    if (link_to(target_)) return;
    if (errno != EEXIST) give_up();
    for (unsigned k = 0; temporary_.empty(); ++k) {
      const std::string name = fmt::format("{}.{:06}", target_, (static_cast<unsigned>(::getpid()) + k) % 1'000'000);
      if (link_to(name)) temporary_ = name;
      else if (errno != EEXIST || k > 1000) give_up();
    }
  }
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) give_up();
  temporary_.clear();
}

void FileWriter::remove_temporary() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  temporary_.clear();
}

void FileWriter::give_up() {
  const int code = errno;
  ::close(std::exchange(file_, -1));
  remove_temporary();
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
  if (!target_.empty()) {
    if (::fsync(file_) != 0) give_up();
    take_name();
  }
  if (::close(std::exchange(file_, -1)) != 0) fail("write", path_);
}

std::optional<int> descriptor_named(std::string_view path) {
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(folder)) continue;
    const std::string_view digits = path.substr(folder.size());
    int number = 0;
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (code == std::errc() && end == digits.data() + digits.size() && number >= 0) return number;
  }
  return {};
}

bool same_file(const std::string& a, const std::string& b) {
  struct stat of_a {
  }, of_b{};
  const bool has_a = ::stat(a.c_str(), &of_a) == 0, has_b = ::stat(b.c_str(), &of_b) == 0;
  if (has_a != has_b) return false;
  if (has_a) return of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino && S_ISREG(of_a.st_mode);
  const auto place = [](const std::string& path) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(behind_links(path)));
  };
  return place(a) == place(b);
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
