// fuzz/design_fuzz.cpp: any document is an Error or a design that can be applied and is saved as it was read. The first
// byte chooses: JSON, CBOR, or else a formula bound to a small table.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <lemma/core/error.hpp>
#include <lemma/data/design.hpp>
#include <string_view>

namespace {

using namespace lemma;

const Table& table() {
  static const Table t({numeric("y", {1, 2, 3, 4}), numeric("x", {0.5, 2, std::nan(""), 8}),
                        categorical("s", {"k", "l", "k", "m"}),
                        Column{"t", Texts{{"one", "", "two", "one"}, {false, true, false, false}}}});
  return t;
}

void check_same(const Design& design) {
  const Design again = Design::load(design.save());
  if (!(again.save() == design.save()) || again.features() != design.features()) std::abort();
  if (design.features().size() > 10'000) return;
  try {
    const auto a = design.apply(table(), Missing::drop), b = again.apply(table(), Missing::drop);
    if (a.x != b.x || !a.x.allFinite() || a.label != b.label) std::abort();
    if (a.responses.size() != design.responses().size() * static_cast<std::size_t>(a.has_response ? a.x.rows() : 0))
      std::abort();
    if (a.x.cols() != static_cast<Index>(design.features().size())) std::abort();
    if (design.sparse(table(), Missing::drop).rows() != a.x.rows()) std::abort();
  } catch (const Error&) {}
}

Design made(std::uint8_t kind, const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (kind == 'j') return Design::load(from_json(text));
  if (kind == 'c') return Design::load(from_cbor(data, size));
  DesignOptions options;
  options.coding = static_cast<Coding>(kind % 3);
  options.missing = static_cast<Missing>(kind / 3 % 5);
  options.classify = kind / 15 % 2 == 1;
  options.takes_offset = true;
  options.classify_categories = kind / 30 % 2 == 1;
  options.takes_counts = kind / 60 % 2 == 0;
  options.takes_several = kind / 120 % 2 == 1;
  return Design(formula(text), table(), options);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2 || size > 16384) return 0;
  Design design;
  try {
    design = made(data[0], data + 1, size - 1);
  } catch (const Error&) { return 0; }
  check_same(design);
  return 0;
}
