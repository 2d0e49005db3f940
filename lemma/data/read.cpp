// lemma/data/read.cpp
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fmt/format.h>
#include <lemma/core/error.hpp>
#include <lemma/data/csv/bytes.hpp>
#include <lemma/data/csv/open.hpp>
#include <lemma/data/csv/packed.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/data/folder.hpp>
#include <lemma/data/image.hpp>
#include <lemma/data/matrix_stream.hpp>
#include <lemma/data/npy.hpp>
#include <lemma/data/read.hpp>
#include <lemma/data/sparse_rows.hpp>

namespace lemma {
namespace {

using Range = std::pair<Index, Index>;

enum class Format { csv, npy, svmlight, dataset, folder };

struct Place {
  Format format = Format::csv;
  CsvOptions csv;
};

bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

std::string ending_of(const std::string& path) {
  std::string ending = std::filesystem::path(without_packing(path)).extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(), [](unsigned char c) { return std::tolower(c); });
  return ending;
}

[[noreturn]] void not_found(const std::string& data) {
  const std::string stem = std::filesystem::path(data).stem().string();
  if (stem != data && find_dataset(stem))
    throw Error(fmt::format("there is no file '{}' (the built-in data set is called '{}')", data, stem));
  throw Error(fmt::format("there is no file and no built-in data set '{}'{}; `lemma datasets` lists them", data,
                          did_you_mean(data, dataset_names())));
}

Place find_place(const std::string& data, const ReadOptions& options) {
  Place place{Format::csv, options.csv};
  if (data == "-") return place;
  if (!exists(data)) {
    if (!find_dataset(data)) not_found(data);
    place.format = Format::dataset;
    return place;
  }
  if (std::error_code ignored; std::filesystem::is_directory(data, ignored)) {
    place.format = Format::folder;
    const CsvOptions& csv = place.csv;
    if (!csv.types.empty() || !csv.levels.empty() || csv.skip > 0 || csv.comment || csv.ragged != Ragged::error)
      throw Error(
          fmt::format("'{}' is a folder: --type, --levels, --skip, --comment and --ragged are about CSV files", data));
    return place;
  }
  if (is_image_name(data))
    throw Error(fmt::format(
        "'{}' is an image, not a table: as data images lie in a folder, with a subfolder for each class, or "
        "stand by their names in a CSV file",
        data));
  const std::string ending = ending_of(data);
  if (ending == ".npy") place.format = Format::npy;
  if (ending == ".svm" || ending == ".libsvm" || ending == ".svmlight") place.format = Format::svmlight;
  if (ending == ".tsv" && !place.csv.delimiter) place.csv.delimiter = '\t';
  if (place.format != Format::csv && !(place.csv.types.empty() && place.csv.levels.empty()))
    throw Error(fmt::format("'{}' holds numbers only: its columns can't be given types or levels", data));
  if (place.format != Format::csv &&
      (place.csv.skip > 0 || place.csv.comment || place.csv.encoding || place.csv.ragged != Ragged::error))
    throw Error(fmt::format("'{}' is no CSV file: --skip, --comment, --ragged and --encoding are about those", data));
  return place;
}

Table read_whole(const std::string& data, const Place& place, const ReadOptions& options) {
  switch (place.format) {
    case Format::npy: return read_npy(data, place.csv.execution);
    case Format::svmlight: return to_table(read_svmlight(data), options.most_dense_bytes);
    case Format::dataset: return dataset(data, place.csv);
    case Format::folder: return read_folder(data, {place.csv.encoding, place.csv.execution});
    case Format::csv: break;
  }
  return read_csv(data, place.csv);
}

// ---- rows ----

class RowsParser {
 public:
  RowsParser(std::string_view text, Index rows) : text_(text), left_(text), rows_(rows) {}

  std::vector<Range> run() {
    bool first = true, leaves_out = false;
    std::vector<Range> ranges;
    do {
      const bool minus = accept('-');
      if (!first && minus != leaves_out) bad("rows are either asked for or left out (-), not both");
      leaves_out = minus;
      first = false;
      ranges.push_back(range());
    } while (accept(','));
    if (!left_.empty()) bad(fmt::format("'{}' can't be understood; write 1:100, 1,5,9, 5: or -1:10", left_));
    return leaves_out ? complement(std::move(ranges)) : ranges;
  }

 private:
  Range range() {
    const bool open_start = !left_.empty() && left_.front() == ':';
    const Index from = open_start ? 1 : number();
    Index to = from;
    if (accept(':')) to = left_.empty() || left_.front() == ',' ? rows_ : number();
    for (const Index row : {from, to})
      if (row < 1 || row > rows_) bad(fmt::format("there is no row {}: there are {} rows", row, rows_));
    if (to < from) bad(fmt::format("{}:{} ends before it starts", from, to));
    return {from - 1, to};
  }

  Index number() {
    Index value = 0;
    const auto [end, code] = std::from_chars(left_.data(), left_.data() + left_.size(), value);
    if (code != std::errc() || left_.front() == '-')
      bad(fmt::format("'{}' can't be understood; write 1:100, 1,5,9, 5: or -1:10", left_));
    left_.remove_prefix(static_cast<std::size_t>(end - left_.data()));
    return value;
  }

  std::vector<Range> complement(std::vector<Range> out) const {
    std::sort(out.begin(), out.end());
    std::vector<Range> kept;
    Index next = 0;
    for (const auto& [first, end] : out) {
      if (first > next) kept.push_back({next, first});
      next = std::max(next, end);
    }
    if (next < rows_) kept.push_back({next, rows_});
    return kept;
  }

  bool accept(char c) {
    if (left_.empty() || left_.front() != c) return false;
    left_.remove_prefix(1);
    return true;
  }
  [[noreturn]] void bad(const std::string& what) const { throw Error(fmt::format("rows '{}': {}", text_, what)); }

  std::string_view text_, left_;
  Index rows_;
};

Table chosen_rows(Table table, const std::string& rows) {
  if (rows.empty()) return table;
  std::vector<Index> chosen;
  for (const auto& [first, end] : parse_rows(rows, table.rows()))
    for (Index i = first; i < end; ++i) chosen.push_back(i);
  return table.select(chosen);
}

}  // namespace

std::vector<Range> parse_rows(std::string_view text, Index rows) { return RowsParser(text, rows).run(); }

Table read_table(const std::string& data, const ReadOptions& options) {
  return chosen_rows(read_whole(data, find_place(data, options), options), options.rows);
}

std::unique_ptr<csv::Reader> open_reader(const std::string& data, const ReadOptions& options) {
  const Place place = find_place(data, options);
  if (place.format != Format::csv) return nullptr;
  const std::string source = data == "-" ? "standard input" : data.substr(data.rfind('/') + 1);
  return std::make_unique<csv::Reader>(open_bytes(data), place.csv, source);
}

std::unique_ptr<CsvText> open_text(const std::string& data, const ReadOptions& options, bool keep) {
  const Place place = find_place(data, options);
  if (place.format != Format::csv || (!keep && !is_seekable_text(data))) return nullptr;
  return std::make_unique<CsvText>(data, place.csv, keep);
}

bool is_sparse_file(const std::string& data) {
  return data != "-" && exists(data) && find_place(data, {}).format == Format::svmlight;
}

std::unique_ptr<TableStream> open_mapped(const std::string& data, const ReadOptions& options) {
  if (data == "-" || !exists(data) || find_place(data, options).format != Format::npy) return nullptr;
  return MappedNpy::open(data);
}

std::unique_ptr<TableStream> open_table(const std::string& data, const ReadOptions& options) {
  const Place place = find_place(data, options);
  std::unique_ptr<TableStream> whole;
  if (place.format == Format::csv && is_seekable_text(data)) whole = std::make_unique<CsvStream>(data, place.csv);
  else if (place.format == Format::npy && is_seekable_text(data)) whole = std::make_unique<NpyStream>(data);
  else if (place.format == Format::svmlight)
    whole = std::make_unique<SparseStream>(std::make_shared<SparseData>(read_svmlight(data)));
  else whole = std::make_unique<MemoryTableStream>(std::make_shared<Table>(read_whole(data, place, options)));
  if (options.rows.empty()) return whole;
  auto ranges = parse_rows(options.rows, whole->rows());
  return std::make_unique<SelectedStream>(std::move(whole), std::move(ranges));
}

}  // namespace lemma
