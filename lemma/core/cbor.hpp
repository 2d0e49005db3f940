// lemma/core/cbor.hpp: a document behind the head of its file, in one piece of memory.
#pragma once
#include <lemma/core/value.hpp>

namespace lemma {

/// to_cbor(value) behind so many bytes of room, in which a head can be written that says what follows.
std::vector<std::uint8_t> to_cbor_behind(std::size_t room, const Value& value);
/// The same of a document that nobody reads again: the memory of long arrays is given back while they are written, so that there
/// is hardly more than one copy of them at a time.
std::vector<std::uint8_t> to_cbor_behind(std::size_t room, Value&& value);

}  // namespace lemma
