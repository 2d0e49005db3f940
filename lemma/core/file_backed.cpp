// lemma/core/file_backed.cpp
#include <fcntl.h>
#include <lemma/core/file_backed.hpp>
#include <lemma/core/nameless_file.hpp>
#include <sys/mman.h>
#include <unistd.h>

namespace lemma {

void* map_bytes(std::size_t bytes) {
  const int file = nameless_file();
  void* begin = MAP_FAILED;
  if (file >= 0) {  // room on the disk is taken now: there is no way to say later that there is none
    if (::posix_fallocate(file, 0, static_cast<off_t>(bytes)) == 0)
      begin = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ::close(file);
  }
  if (begin == MAP_FAILED) begin = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (begin == MAP_FAILED) throw std::bad_alloc();
  return begin;
}

void unmap_bytes(void* begin, std::size_t bytes) noexcept { ::munmap(begin, bytes); }

}  // namespace lemma
