// lemma/data/read.hpp: DATA as it stands on the command line: a path, "-", or the name of a built-in data set.
#pragma once
#include <lemma/data/csv.hpp>
#include <lemma/data/csv/text.hpp>
#include <lemma/data/stream.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lemma {

struct ReadOptions {
  CsvOptions csv;
  std::string rows;                                     // which rows, as parse_rows() takes it; empty: all
  std::size_t most_dense_bytes = std::size_t{4} << 30;  // a sparse file may not grow beyond this as a table
};

/// A file by its name's end (.npy; .svm .libsvm .svmlight; everything else is CSV, .tsv with tabs; .gz, .xz and .zst are unpacked), "-"
/// for CSV from standard input, or a built-in data set. A file that exists wins over a data set of that name.
Table read_table(const std::string& data, const ReadOptions& options = {});

/// Whether it is a LIBSVM file, of which most is zeros.
bool is_sparse_file(const std::string& data);

/// The same rows without holding a CSV or .npy file in memory. What can't be read in pieces is read whole.
std::unique_ptr<TableStream> open_table(const std::string& data, const ReadOptions& options = {});

/// A .npy file whose numbers can be used where they lie; nothing for anything else.
std::unique_ptr<TableStream> open_mapped(const std::string& data, const ReadOptions& options = {});

/// The same when its rows are to be passed on as they are written (options.rows is not looked at); nothing where they are
/// not CSV. `keep`: as CsvText takes it.
std::unique_ptr<CsvText> open_text(const std::string& data, const ReadOptions& options, bool keep);

/// Ranges [first, end) counted from 0, from "1:100", "1,5,9", "5:" or "-1:10" (all but these), counted from 1 with both
/// ends. Error when a row does not exist, or when rows are both asked for and left out.
std::vector<std::pair<Index, Index>> parse_rows(std::string_view text, Index rows);

}  // namespace lemma
