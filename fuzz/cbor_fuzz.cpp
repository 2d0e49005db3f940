// fuzz/cbor_fuzz.cpp: any bytes are an Error or a Value; a Value is written and read back to the same bytes.
#include <cstdint>
#include <cstdlib>
#include <lemma/core/error.hpp>
#include <lemma/core/value.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  lemma::Value value;
  try {
    value = lemma::from_cbor(data, size);
  } catch (const lemma::Error&) { return 0; }
  const auto bytes = lemma::to_cbor(value);
  if (bytes.size() > size) std::abort();  // ours is the shortest form
  if (lemma::to_cbor(lemma::from_cbor(bytes.data(), bytes.size())) != bytes) std::abort();
  lemma::to_json(value);
  return 0;
}
