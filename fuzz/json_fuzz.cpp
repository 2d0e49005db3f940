// fuzz/json_fuzz.cpp: any text is an Error or a Value; a Value is written and read back to the same text.
#include <cstdint>
#include <cstdlib>
#include <lemma/core/error.hpp>
#include <lemma/core/value.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  lemma::Value value;
  try {
    value = lemma::from_json({reinterpret_cast<const char*>(data), size});
  } catch (const lemma::Error&) { return 0; }
  for (const int indent : {-1, 2}) {
    const std::string text = lemma::to_json(value, indent);
    if (lemma::to_json(lemma::from_json(text), indent) != text) std::abort();
  }
  return 0;
}
