// fuzz/forged_fuzz.cpp: model files whose documents were changed and signed again: each byte is a decision of the forger.
#include <lemma/core/error.hpp>
#include <tests/forge/mutate.hpp>
#include <tests/forge/seeds.hpp>
#include <tests/forge/use.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lemma;
  static const std::vector<forge::Seed> seeds = [] {
    std::vector<forge::Seed> out;
    for (const auto& subject : forge::subjects())
      for (auto& seed : forge::seeds(subject)) out.push_back(std::move(seed));
    return out;
  }();
  std::size_t at = 0;
  const forge::Dice dice = [&](std::size_t n) {
    std::size_t number = at < size ? data[at++] : 0;
    if (n > 256 && at < size) number = number << 8 | data[at++];
    return n == 0 ? 0 : number % n;
  };
  const Value& document = forge::one_of(seeds, dice).document;
  const Value& other = forge::one_of(seeds, dice).document;
  forge::load_and_use(forge::mutated(document, other, dice), forge::table(), [](const std::string&) { std::abort(); });
  return 0;
}
