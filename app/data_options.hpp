// app/data_options.hpp: the options that say how DATA is read, shared by every subcommand that reads some.
#pragma once
#include "context.hpp"

#include <lemma/data/design.hpp>
#include <lemma/data/parsed_matrix.hpp>
#include <lemma/data/read.hpp>
#include <lemma/data/stream.hpp>
#include <memory>

namespace CLI {
class App;
}

namespace lemma::app {

/// Rows that are passed on as they are written. Nothing where they do not come from a CSV file.
struct PassedOn {
  std::shared_ptr<const CsvText> text;
  std::vector<Index> rows;  // of the file, when `selected`
  bool selected = false;
  Index row(Index i) const { return selected ? rows[static_cast<std::size_t>(i)] : i; }
};

/// What the user typed about the data.
struct DataOptions {
  std::string data;  // path, "-", or the name of a built-in set
  std::string delimiter, decimal, header;
  std::vector<std::string> types;   // "col=categorical"
  std::vector<std::string> levels;  // "col=a,b,c"
  std::vector<std::string> na, na_only;
  std::string comment, ragged, encoding;
  long long skip = 0;
  std::string where, rows, memory;

  void add(CLI::App& command,
           const std::string& meaning = "CSV, .npy or LIBSVM file, '-' for standard input, or a built-in data set");
  /// --memory, for commands that can read a file in blocks.
  void add_memory(CLI::App& command);
  std::optional<std::size_t> limit() const;
  ReadOptions read_options(const Context& context) const;
  /// The table after --rows and --where; notes about it go to stderr. `passed` gets the text of its rows.
  Table table(const Context& context, PassedOn* passed = nullptr) const;
  /// The rows as they lie in the file when it is sparse, or may be larger than --memory and nothing is selected from it;
  /// else the table.
  std::shared_ptr<const TableStream> stream(const Context& context, PassedOn* passed = nullptr) const;
  /// The same, and a file of numbers is not copied where they can be used as they lie in it (TableStream::matrix). Of a CSV
  /// file the columns that are wanted as they stand are parsed into a matrix, if they are numbers.
  std::shared_ptr<const TableStream> where_it_lies(const Context& context, const ChooseColumns& wanted = {}) const;
};

/// Whether a file begins as the models do that `fit -o` writes.
bool is_model_file(const std::string& path);

Missing parse_missing(const std::string& name);

}  // namespace lemma::app
