// lemma/data/image/beside.cpp
#include <algorithm>
#include <filesystem>
#include <lemma/data/image.hpp>
#include <lemma/data/image/beside.hpp>

namespace lemma {
namespace {

namespace fs = std::filesystem;

bool names_image_in(const fs::path& folder, const std::string& name) {
  if (!is_image_name(name) || fs::path(name).is_absolute()) return false;
  std::error_code ignored;
  return fs::is_regular_file(folder / name, ignored);
}

/// Whether there is something to be done.
bool names_images_in(const fs::path& folder, const Column& column) {
  if (column.type() == ColumnType::numeric) return false;
  const auto found = [&](const std::string& name) { return names_image_in(folder, name); };
  if (column.type() == ColumnType::text)
    return std::any_of(column.texts().values.begin(), column.texts().values.end(), found);
  const auto& levels = column.categories().levels;
  return !levels.empty() && std::all_of(levels.begin(), levels.end(), is_image_name) &&
         std::any_of(levels.begin(), levels.end(), found);
}

Column led_there(const fs::path& folder, Column column) {
  if (column.type() == ColumnType::categorical) {  // a name before all of them leaves their order as it is
    for (auto& level : std::get<Categories>(column.data).levels) level = (folder / level).string();
    return column;
  }
  for (auto& value : std::get<Texts>(column.data).values)
    if (names_image_in(folder, value)) value = (folder / value).string();
  return column;
}

}  // namespace

Table with_images_beside(Table table, const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  const auto& all = table.all();
  if (path == "-" || folder.empty() ||
      std::none_of(all.begin(), all.end(), [&](const Column& each) { return names_images_in(folder, each); }))
    return table;
  std::vector<Column> columns;
  for (const Column& column : all)
    columns.push_back(names_images_in(folder, column) ? led_there(folder, column) : column);
  Table out(std::move(columns), table.source());
  for (const auto& note : table.notes()) out.note(note);
  return out;
}

}  // namespace lemma
