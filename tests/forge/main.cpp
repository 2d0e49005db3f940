// tests/forge/main.cpp: many forged model files, under a sanitizer: lemma_forge [RUNS OF EACH METHOD] [SEED] [METHOD].
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <lemma/core/random.hpp>
#include <tests/forge/mutate.hpp>
#include <tests/forge/seeds.hpp>
#include <tests/forge/use.hpp>

int main(int count, char** words) {
  using namespace lemma;
  using Clock = std::chrono::steady_clock;
  const int runs = count > 1 ? std::atoi(words[1]) : 1000;
  const auto seed = static_cast<std::uint64_t>(count > 2 ? std::atoll(words[2]) : 1);
  const std::string only = count > 3 ? words[3] : "";
  const Value other = forge::seed("lda", "class ~ x1 + x2");
  int wrong = 0;
  for (const auto& subject : forge::subjects()) {
    if (!only.empty() && subject != only) continue;
    std::vector<forge::Seed> seeds;
    try {
      seeds = forge::seeds(subject);
    } catch (const Error& error) {
      ++wrong;
      std::printf("%s: no model to begin with: %s\n", subject.c_str(), error.what());
      continue;
    }
    int loaded = 0;
    const auto begun = Clock::now();
    for (int run = 0; run < runs; ++run) {
      RandomStream stream(seed, static_cast<std::uint64_t>(run));
      const forge::Dice dice = [&](std::size_t n) {
        return static_cast<std::size_t>(stream.below(static_cast<Index>(n)));
      };
      const auto& from = seeds[static_cast<std::size_t>(run) % seeds.size()];
      const Value document = forge::mutated(from.document, other, dice);
      if (std::FILE* last = std::fopen("forge_last.cbor", "wb")) {  // what to look at after a crash
        try {
          const auto bytes = to_cbor(document);
          std::fwrite(bytes.data(), 1, bytes.size(), last);
        } catch (const Error&) {  // no file
        }
        std::fclose(last);
      }
      const auto start = Clock::now();
      loaded += forge::load_and_use(document, forge::table(), [&](const std::string& what) {
        ++wrong;
        std::printf("%s, run %d (%s): %s\n", subject.c_str(), run, from.name.c_str(), what.c_str());
      });
      const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
      if (seconds > 3) std::printf("%s, run %d (%s): took %.1f s\n", subject.c_str(), run, from.name.c_str(), seconds);
      std::fflush(stdout);
    }
    std::printf("%-40s %d files, %d loaded, %.1f s\n", subject.c_str(), runs, loaded,
                std::chrono::duration<double>(Clock::now() - begun).count());
    std::fflush(stdout);
  }
  return wrong == 0 ? 0 : 1;
}
