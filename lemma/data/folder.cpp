// lemma/data/folder.cpp
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <lemma/core/error.hpp>
#include <lemma/core/file.hpp>
#include <lemma/core/text.hpp>
#include <lemma/data/csv/encoding.hpp>
#include <lemma/data/folder.hpp>
#include <lemma/data/image.hpp>

namespace lemma {
namespace {

namespace fs = std::filesystem;

bool is_hidden(const fs::path& path) { return path.filename().string().starts_with('.'); }

struct Found {
  std::vector<std::string> files;  // below the folder
  Index beside = 0;                // files of the folder itself
  bool has_subfolders = false;
};

/// All files below it. Links to folders are not followed: they may lead in circles.
Found files_below(const fs::path& folder) {
  Found out;
  std::vector<std::string> of_itself;
  std::error_code failed;
  auto at = fs::recursive_directory_iterator(folder, failed);
  for (; !failed && at != fs::recursive_directory_iterator(); at.increment(failed)) {
    std::error_code ignored;
    const bool is_folder = at->is_directory(ignored);
    if (is_hidden(at->path())) {
      if (is_folder) at.disable_recursion_pending();
      continue;
    }
    if (is_folder) {
      out.has_subfolders = true;
    } else if (at->is_regular_file(ignored)) {
      const std::string name = at->path().lexically_relative(folder).generic_string();
      (at.depth() == 0 ? of_itself : out.files).push_back(name);
    }
  }
  if (failed) throw Error(fmt::format("the folder '{}' cannot be read: {}", folder.string(), failed.message()));
  if (out.files.empty()) {
    out.files = std::move(of_itself);
    out.has_subfolders = false;
  } else {
    out.beside = std::ssize(of_itself);
  }
  std::sort(out.files.begin(), out.files.end());
  return out;
}

}  // namespace

std::string text_of_bytes(std::string bytes, const std::optional<Encoding>& encoding, const std::string& file) {
  const auto text = as_utf8(view_bytes(bytes), encoding, file, Execution{.threads = 1});
  std::string out(text->size(), '\0');
  text->read(0, out.size(), out.data());
  if (out.starts_with("\xEF\xBB\xBF")) out.erase(0, 3);
  if (out.find('\0') != std::string::npos) throw Error(fmt::format("{} is no text: it holds a byte 0", file));
  if (!is_utf8(out))
    throw Error(
        fmt::format("{} is not UTF-8; --encoding says how the files are written (latin-1, windows-1252 …)", file));
  return out;
}

namespace {

/// Leaves the images, where they are at least half of the files: then what was left out is told.
std::optional<Index> keep_images(std::vector<std::string>& files) {
  const auto images = std::count_if(files.begin(), files.end(), [](const auto& file) { return is_image_name(file); });
  if (2 * images < std::ssize(files)) return {};
  return static_cast<Index>(std::erase_if(files, [](const auto& file) { return !is_image_name(file); }));
}

}  // namespace

Table read_folder(const std::string& path, const FolderOptions& options) {
  Found found = files_below(path);
  if (found.files.empty())
    throw Error(fmt::format(
        "the folder '{}' has no files; as data it holds texts or images, or a subfolder of them for each class", path));
  const auto no_images = keep_images(found.files);
  if (no_images && options.encoding)
    throw Error(fmt::format("'{}' is a folder of images: --encoding is about texts", path));
  const auto count = found.files.size();
  std::vector<std::string> classes(count), bodies(count);
  parallel_for(static_cast<Index>(count), options.execution, [&](Index i) {
    std::string& file = found.files[at(i)];
    classes[at(i)] = file.substr(0, file.find('/'));
    const std::string whole = (fs::path(path) / file).string();
    if (no_images) {
      file = whole;
    } else {
      const auto bytes = read_file(whole);
      bodies[at(i)] = text_of_bytes({bytes.begin(), bytes.end()}, options.encoding, file);
    }
  });
  std::vector<Column> columns;
  if (found.has_subfolders) columns.push_back(categorical("class", classes));
  columns.push_back(text("file", found.files));
  if (!no_images) columns.push_back(text("body", std::move(bodies)));
  fs::path name = fs::path(path).lexically_normal();
  if (!name.has_filename()) name = name.parent_path();
  Table out(std::move(columns), name.has_filename() ? name.filename().string() : path);
  if (found.beside > 0)
    out.note(
        fmt::format("left out, lying beside the subfolders and so in no class: {}", count_of(found.beside, "file")));
  if (no_images.value_or(0) > 0)
    out.note(fmt::format("left out, being no images by their names: {}", count_of(*no_images, "file")));
  return out;
}

}  // namespace lemma
