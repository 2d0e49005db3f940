// app/images.cpp: lemma images DATA --size 8x8 -o FOLDER: rows of numbers, or columns, as PNG files.
#include "commands.hpp"
#include "data_options.hpp"
#include "flags.hpp"
#include "output.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <fmt/core.h>
#include <lemma/catalog.hpp>
#include <lemma/core/params.hpp>
#include <lemma/core/text.hpp>
#include <lemma/data/image/pixels.hpp>
#include <lemma/model/store.hpp>

namespace lemma::app {
namespace {

namespace fs = std::filesystem;

struct ImagesCall {
  DataOptions data;
  std::string size, by, id, of = "rows", scale = "all", output;
};

/// One image in each row, and what it is called below the folder.
struct Pictures {
  Matrix values;
  std::vector<std::string> names;
};

std::vector<const Column*> numbers_of(const Table& table, const ImagesCall& options) {
  std::vector<const Column*> out;
  for (const Column& column : table.all())
    if (column.type() == ColumnType::numeric && column.name != options.by && column.name != options.id)
      out.push_back(&column);
  return out;
}

/// What a file may be called: letters, digits, . _ and -, not hidden.
std::string file_name(std::string text) {
  for (char& c : text)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '_' && c != '-' &&
        static_cast<signed char>(c) > 0)
      c = '_';
  if (text.empty() || text.front() == '.') text.insert(0, "_");
  return text;
}

std::string numbered(Index i, Index count) { return fmt::format("{:0{}}", i + 1, std::to_string(count).size()); }

Pictures pictures_of(const ImagesCall& options, const Table& table, Index pixels) {
  const bool rows = options.of == "rows";
  const Column* by = options.by.empty() ? nullptr : &table.column(options.by);
  const Column* id = options.id.empty() ? nullptr : &table.column(options.id);
  if ((by || id) && !rows) throw Error("--by and --id tell of rows: they go with --of rows");
  const auto columns = numbers_of(table, options);
  const auto across = static_cast<Index>(columns.size()), has = rows ? across : table.rows();
  if (has != pixels || table.rows() == 0 || columns.empty())
    throw Error(fmt::format("--size {} is {}, but each {} of {} has {}{}", options.size, count_of(pixels, "number"),
                            rows ? "row" : "column", table.source(), has,
                            rows ? "; --of columns makes an image of each column" : ""));
  Pictures out{rows ? Matrix(table.rows(), across) : Matrix(across, table.rows()), {}};
  for (Index j = 0; j < across; ++j) {
    const auto& values = columns[at(j)]->numbers().values;
    for (Index i = 0; i < table.rows(); ++i) {
      if (!std::isfinite(values[at(i)]))
        throw Error(fmt::format("'{}' is missing or infinite in row {}, and no pixel", columns[at(j)]->name, i + 1));
      (rows ? out.values(i, j) : out.values(j, i)) = values[at(i)];
    }
    if (!rows) out.names.push_back(file_name(columns[at(j)]->name));
  }
  for (Index i = 0; rows && i < table.rows(); ++i) {
    for (const Column* each : {by, id})
      if (each && each->is_missing(i)) throw Error(fmt::format("'{}' is missing in row {}", each->name, i + 1));
    out.names.push_back((by ? file_name(by->text(i)) + "/" : "") +
                        (id ? file_name(id->text(i)) : numbered(i, table.rows())));
  }
  auto sorted = out.names;
  std::sort(sorted.begin(), sorted.end());
  if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end())
    throw Error(fmt::format("two images would be called {}.png", *twice));
  return out;
}

std::vector<Image> drawn(const Pictures& pictures, std::pair<int, int> size, int scale) {
  std::vector<Image> out;
  double low = pictures.values.minCoeff(), high = pictures.values.maxCoeff();
  for (Index i = 0; i < pictures.values.rows(); ++i) {
    const auto row = pictures.values.row(i);
    if (scale == 1) {
      low = row.minCoeff();
      high = row.maxCoeff();
    } else if (scale == 2) {
      high = row.cwiseAbs().maxCoeff();
      low = -high;
    }
    const Matrix values = Eigen::Map<const Matrix>(row.data(), size.first, size.second);
    const bool even = !(low < high);
    out.push_back(image_of(values, even ? low - 1 : low, even ? low + 1 : high));  // a middle grey
  }
  return out;
}

void write_folder(const std::string& folder, const Pictures& pictures, const std::vector<Image>& images) {
  for (std::size_t i = 0; i < images.size(); ++i) {
    const fs::path path = fs::path(folder) / (pictures.names[i] + ".png");
    std::error_code failed;
    fs::create_directories(path.parent_path(), failed);
    if (failed)
      throw Error(fmt::format("the folder '{}' cannot be made: {}", path.parent_path().string(), failed.message()));
    write_file(path.string(), encode_png(images[i]));
  }
}

/// The table of the data; of a model that of its components, a column each.
Table table_of(ImagesCall& options, Context& context) {
  if (!is_model_file(options.data.data)) return options.data.table(context);
  const TrainedModel trained = load(options.data.data, catalog());
  const Value results = trained.model->results(trained.names());
  if (!results.find("loadings"))
    throw Error(fmt::format("{}: a model of {} has no loadings to make images of", options.data.data,
                            trained.model->method().name()));
  options.of = "columns";
  return trained.result_table("loadings");
}

void images(ImagesCall options, Context& context) {
  const auto size = parse_size(options.size);
  if (!size || size->first < 1 || size->second < 1 || size->first > kMostSide || size->second > kMostSide)
    throw Error(fmt::format("--size is '{}', must be height x width, such as 8x8, of at most {} pixels a side",
                            options.size, kMostSide));
  choose("--of", options.of, {"rows", "columns"});
  const int scale = choose("--scale", options.scale, {"all", "each", "signed"});
  check_named(options.output);
  const bool one_file = is_image_name(options.output) || is_stdout(options.output);
  if (one_file && !options.output.ends_with(".png") && !is_stdout(options.output))
    throw Error(fmt::format("images are written as PNG: call the file something.png, not {}", options.output));
  if (one_file) check_outputs({options.output}, {options.data.data});
  const Table table = table_of(options, context);
  const Pictures pictures = pictures_of(options, table, Index{size->first} * size->second);
  const auto made = drawn(pictures, *size, scale);
  const std::string count = count_of(std::ssize(made), "image");
  if (one_file) {
    Output file(options.output, Output::Content::binary, context);
    file.write(encode_png(sheet_of(made, static_cast<Index>(std::ceil(std::sqrt(made.size()))))));
    file.done();
    context.note(
        fmt::format("{} of {}{} in {}", count, options.size, made.size() > 1 ? " side by side" : "", file.name()));
  } else {
    write_folder(options.output, pictures, made);
    context.note(fmt::format("{} of {} written to {}", count, options.size, options.output));
  }
  if (!context.json) return;
  Value out = Value::object();
  out.set("data", table.source()).set("images", static_cast<std::int64_t>(made.size()));
  out.set("size", options.size).set("output", options.output);
  context.print_json(out);
}

}  // namespace

void add_images(CLI::App& tool, Context& context) {
  auto options = std::make_shared<ImagesCall>();
  auto* command = add_command(tool, "images", "rows or columns of numbers as PNG files");
  options->data.add(*command,
                    "the numbers: CSV, .npy or LIBSVM file, '-', a built-in data set, or a model with components");
  add_option(*command, "--size,--image", options->size,
             "height x width: 8x8; so many numbers each image has, row after row")
      ->required();
  add_option(*command, "--of", options->of, "what an image is made of: rows, or columns, such as those of components")
      ->capture_default_str();
  add_option(*command, "--by", options->by, "a column: the images of each of its values lie in a subfolder");
  add_option(*command, "--id", options->id, "a column that names the files, in the place of the numbers of the rows");
  add_option(*command, "--scale", options->scale,
             "black to white: from the least to the greatest number of all, of each image, or signed, where 0 is grey")
      ->capture_default_str();
  add_option(*command, "-o,--output", options->output, "a folder of PNG files, or one .png with all side by side")
      ->required();
  command->footer(
      "Example: lemma images digits --size 8x8 --by digit -o digit_images\n"
      "Components as images: lemma images pca.lemma --size 16x16 -o faces.png");
  command->callback([options, &context] { images(*options, context); });
}

}  // namespace lemma::app
