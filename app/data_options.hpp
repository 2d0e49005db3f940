// app/data_options.hpp: the options that say how DATA is read, shared by every subcommand that reads some.
#pragma once
#include "context.hpp"

#include <lemma/data/design.hpp>
#include <lemma/data/read.hpp>
#include <lemma/data/stream.hpp>
#include <memory>

namespace CLI {
class App;
}

namespace lemma::app {

/// What the user typed about the data.
struct DataOptions {
  std::string data;  // path, "-", or the name of a built-in set
  std::string delimiter, decimal, header;
  std::vector<std::string> types;   // "col=categorical"
  std::vector<std::string> levels;  // "col=a,b,c"
  std::vector<std::string> na;
  std::string where, rows, memory;

  void add(CLI::App& command,
           const std::string& meaning = "CSV, .npy or LIBSVM file, '-' for standard input, or a built-in data set");
  /// --memory, for commands that can read a file in blocks.
  void add_memory(CLI::App& command);
  std::optional<std::size_t> limit() const;
  ReadOptions read_options(const Context& context) const;
  /// The table after --rows and --where; notes about it go to stderr.
  Table table(const Context& context) const;
  /// The rows as they lie in the file when it is sparse, or may be larger than --memory and nothing is selected from it;
  /// else the table.
  std::unique_ptr<TableStream> stream(const Context& context) const;
};

Missing parse_missing(const std::string& name);

}  // namespace lemma::app
