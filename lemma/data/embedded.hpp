// lemma/data/embedded.hpp: the bytes of data/*.csv as they lie in the library; the build writes the table.
#pragma once
#include <cstddef>

namespace lemma::embedded {

/// One file: its name without ".csv", and its bytes from begin up to, not including, end. A zero byte stands at end.
struct File {
  const char* name;
  const char* begin;
  const char* end;
};

/// Every built-in data set, in the order of their names.
extern const File files[];
extern const std::size_t file_count;

/// data/README.md: what each data set holds and where it comes from.
extern const File credits;

}  // namespace lemma::embedded
