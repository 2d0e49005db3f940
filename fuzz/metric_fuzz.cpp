// fuzz/metric_fuzz.cpp: any text is an Error or a metric, which is written and read back to the same text.
#include <cstdint>
#include <cstdlib>
#include <lemma/geometry/metric.hpp>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lemma;
  if (size > 4096) return 0;
  Metric metric;
  try {
    metric = Metric::parse({reinterpret_cast<const char*>(data), size});
    metric.check("metric");
  } catch (const Error&) { return 0; }
  const std::string text = metric.text();
  if (Metric::parse(text).text() != text) std::abort();
  Metric back;
  Codec<Metric>::read(back, Codec<Metric>::write(metric), "metric");
  if (back.text() != text) std::abort();
  return 0;
}
