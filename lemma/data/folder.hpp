// lemma/data/folder.hpp: a folder of texts or of images as a table, one subfolder for each class.
#pragma once
#include <lemma/data/csv.hpp>
#include <lemma/data/table.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace lemma {

struct FolderOptions {
  std::optional<Encoding> encoding;  // of texts; UTF-8 otherwise
  Execution execution;
};

/// A row for each file, by the bytes of their paths:
///
///     class   the subfolder that it lies in (at any depth); no such column when the files lie in the folder itself
///     file    its path below the folder
///     body    its text
///
/// Where at least half of the files are images by their names (.png .jpg .jpeg), the others are left out with a note, and
///
///     file    is the path that leads to the image, from where `path` counts: image(file, 16x16) opens it. There is no body.
///
/// Hidden files are passed over; files beside the subfolders too, with a note. Error for a folder without files, and for a file
/// that is no text, naming it.
Table read_folder(const std::string& path, const FolderOptions& options = {});

/// The bytes of a file as a text of UTF-8. Error when they are none; `file` is its name.
std::string text_of_bytes(std::string bytes, const std::optional<Encoding>& encoding, const std::string& file);

}  // namespace lemma
