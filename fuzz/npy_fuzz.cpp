// fuzz/npy_fuzz.cpp: any bytes are a matrix or an Error.
#include <cstdint>
#include <cstdlib>
#include <lemma/core/error.hpp>
#include <lemma/data/npy.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = lemma::view_bytes({reinterpret_cast<const char*>(data), size});
  try {
    const auto header = lemma::read_npy_header(*bytes, "fuzz.npy");
    const lemma::Matrix x = lemma::read_npy_rows(*bytes, header, 0, header.rows, "fuzz.npy");
    if (static_cast<std::size_t>(x.size()) > size) std::abort();
    const lemma::Index half = header.rows / 2;
    const lemma::Matrix part = lemma::read_npy_rows(*bytes, header, half, header.rows - half, "fuzz.npy");
    for (lemma::Index i = 0; i < part.rows(); ++i)
      for (lemma::Index j = 0; j < part.cols(); ++j)
        if (part(i, j) != x(half + i, j) && part(i, j) == part(i, j)) std::abort();
  } catch (const lemma::Error&) {}
  return 0;
}
