// lemma/core/nameless_file.cpp
#include <cstdlib>
#include <fcntl.h>
#include <lemma/core/nameless_file.hpp>
#include <string>
#include <unistd.h>

namespace lemma {
namespace {

int nameless_file_in(const std::string& folder) {
#ifdef O_TMPFILE
  if (const int file = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600); file >= 0) return file;
#endif
  std::string name = folder + "/lemma-rows-XXXXXX";
  const int file = ::mkostemp(name.data(), O_CLOEXEC);
  if (file >= 0) ::unlink(name.c_str());
  return file;
}

}  // namespace

int nameless_file() {
  if (const char* given = std::getenv("TMPDIR"); given && *given)
    if (const int file = nameless_file_in(given); file >= 0) return file;
  const int file = nameless_file_in("/var/tmp");
  return file >= 0 ? file : nameless_file_in("/tmp");
}

}  // namespace lemma
