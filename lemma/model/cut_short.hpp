// lemma/model/cut_short.hpp: a fit of many parts, one after the other, that was cancelled and keeps the parts it has.
#pragma once
#include <fmt/core.h>
#include <lemma/core/certificate.hpp>
#include <lemma/core/parallel.hpp>

namespace lemma {

/// The model is that of `done` parts ("rounds", "trees"), and its spec says so. Nothing else of it was looked at, which would
/// take its time.
inline Certificate cut_short(long long done, long long asked, std::string_view parts) {
  Certificate out;
  out.strength = Strength::consistent;
  out.kind = fmt::format("share of the {} left out", parts);
  out.value = 1 - static_cast<double>(done) / static_cast<double>(asked);
  out.iterations = done;
  out.stopped = "cancelled";
  out.message = fmt::format(
      "Cancelled after {} of {} {}: the model is that of {}. 'lemma verify' looks at them; for all {} fit it again.",
      done, asked, parts, done, asked);
  return out;
}

/// What a cancelled fit still has to finish hears nothing.
inline Execution unheard(const Execution& execution) { return {execution.threads, nullptr, 0, 1, {}}; }

}  // namespace lemma
