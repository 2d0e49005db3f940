// fuzz/kernel_fuzz.cpp: any text is an Error or a kernel, which is written and read back to the same text.
#include <cstdint>
#include <cstdlib>
#include <lemma/geometry/kernel.hpp>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lemma;
  if (size > 4096) return 0;
  Kernel kernel;
  try {
    kernel = Kernel::parse({reinterpret_cast<const char*>(data), size});
    kernel.check("kernel");
  } catch (const Error&) { return 0; }
  const std::string text = kernel.text();
  if (Kernel::parse(text).text() != text) std::abort();
  Kernel back;
  Codec<Kernel>::read(back, Codec<Kernel>::write(kernel), "kernel");
  if (back.text() != text) std::abort();
  return 0;
}
