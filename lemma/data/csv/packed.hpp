// lemma/data/csv/packed.hpp: packed files: gzip, xz and Zstandard are read and written, others are known by name.
#pragma once
#include <string>
#include <string_view>

namespace lemma {

enum class Packing { none, gzip, xz, zstd, bzip2, zip };

inline constexpr std::size_t kPackingMark = 10;  // so many bytes tell
/// How a file is packed, by its first bytes.
Packing packing_of(std::string_view first_bytes);

/// What is packed, whole. Several packed texts one after the other are one. Error naming `source` when it is damaged, or
/// packed in a way that Lemma (or this build of it) does not read: then with the command that unpacks it.
std::string unpack(Packing packing, std::string_view packed, const std::string& source);

/// How a file of this name is written: by its end, .gz, .xz or .zst.
Packing packing_named(std::string_view path);
/// The path without such an end.
std::string_view without_packing(std::string_view path);
/// Packed texts may follow each other in a file.
std::string pack(Packing packing, std::string plain);

}  // namespace lemma
