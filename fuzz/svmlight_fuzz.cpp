// fuzz/svmlight_fuzz.cpp: any bytes are sparse rows or an Error, and what is written is read back.
#include <cstdint>
#include <cstdlib>
#include <lemma/core/error.hpp>
#include <lemma/data/svmlight.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto rows = lemma::parse_svmlight({reinterpret_cast<const char*>(data), size});
    const auto again = lemma::parse_svmlight(lemma::format_svmlight(rows));
    if (!(again.x == rows.x) || again.y != rows.y) std::abort();
    constexpr std::size_t kMostBytes = std::size_t{1} << 20;
    lemma::to_table(rows, kMostBytes);
  } catch (const lemma::Error&) {}
  return 0;
}
