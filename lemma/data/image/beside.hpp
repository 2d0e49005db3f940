// lemma/data/image/beside.hpp: names of images in a table that lies somewhere else.
#pragma once
#include <lemma/data/table.hpp>
#include <string>

namespace lemma {

/// A table whose cells name images beside its own file, or below: they become the paths that lead there. So is each name of a
/// PNG or JPEG file in a column of texts, when there is such a file; and the levels of a column, when all are such names.
/// `path` is that of the table. A table in the current folder, and one from standard input, stay as they are.
Table with_images_beside(Table table, const std::string& path);

}  // namespace lemma
