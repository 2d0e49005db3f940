// lemma/core/error.hpp: what can go wrong, by whose hand it is mended.
#pragma once
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace lemma {

/// The caller's mistake: what is wrong, with which value, where, and what would be right.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The machine failed us: disk, memory, a library that cannot be loaded.
struct MachineError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The user asked to stop before there was anything worth keeping.
struct Cancelled : std::runtime_error {
  Cancelled() : std::runtime_error("cancelled") {}
};

/// Throws Error(otherwise) unless the condition holds.
void require(bool condition, std::string_view otherwise);

/// The candidate nearest to what was typed, by edit distance (case counts little); empty when none is near enough.
std::string nearest(std::string_view typed, const std::vector<std::string>& candidates);

/// " (did you mean 'species'?)", or nothing when no candidate is near: ready to be appended to a message.
std::string did_you_mean(std::string_view typed, const std::vector<std::string>& candidates);

}  // namespace lemma
