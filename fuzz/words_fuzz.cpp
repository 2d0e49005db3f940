// fuzz/words_fuzz.cpp: any bytes are cut into tokens that lie in the cut text, a mail's body is the end of it, and what a file
// holds is a text of UTF-8 or an Error. The first bytes say how.
#include <cstdint>
#include <cstdlib>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/data/folder.hpp>
#include <lemma/data/words.hpp>

namespace {

using namespace lemma;

Wording wording_of(std::uint8_t how) {
  Wording out;
  out.letters = how & 1;
  out.shortest = 1 + (how >> 1) % 3;
  out.longest = out.shortest + (how >> 3) % 3;
  out.lower = how & 0x20;
  out.mail = how & 0x40;
  if (how & 0x80) out.stop = english_stop_words();
  return out;
}

void check_tokens(const Wording& wording, std::string_view text) {
  const Tokeniser tokeniser(wording);
  TextTokens cut;
  tokeniser(text, cut);
  for (const std::string_view token : cut.tokens) {
    const bool inside =
        token.data() >= cut.text.data() && token.data() + token.size() <= cut.text.data() + cut.text.size();
    if (!inside || token.empty() || !is_utf8(token)) std::abort();
  }
  // Words cut once are cut the same way again.
  if (wording.letters || wording.mail) return;
  TextTokens again;
  tokeniser(cut.text, again);
  if (again.tokens.size() != cut.tokens.size()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
  check_tokens(wording_of(data[0]), text);
  const std::string_view body = without_mail_headers(text);
  if (!text.ends_with(body)) std::abort();
  try {
    const auto encoding = data[1] % 7 == 6 ? std::optional<Encoding>() : static_cast<Encoding>(data[1] % 7);
    if (!is_utf8(text_of_bytes(std::string(text), encoding, "fuzzed"))) std::abort();
  } catch (const Error&) {}
  return 0;
}
