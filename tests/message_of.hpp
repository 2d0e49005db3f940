// tests/message_of.hpp: what an Error says.
#pragma once
#include <lemma/core/error.hpp>
#include <string>

namespace lemma {

inline std::string message_of(const auto& work) {
  try {
    work();
  } catch (const Error& error) { return error.what(); }
  return "no error";
}

}  // namespace lemma
