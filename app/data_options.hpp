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
  std::string where, rows;

  void add(CLI::App& command,
           const std::string& meaning = "CSV, .npy or LIBSVM file, '-' for standard input, or a built-in data set");
  ReadOptions read_options(const Context& context) const;
  /// The table after --rows and --where; notes about it go to stderr.
  Table table(const Context& context) const;
  /// A stream for fitting: of the file itself when it may be larger than `memory` and nothing must be selected from it.
  std::unique_ptr<TableStream> stream(const Context& context, const std::optional<std::size_t>& memory) const;
};

/// "500M", "2G", "1.5GB" or a number of bytes.
std::size_t parse_size(const std::string& text);

Missing parse_missing(const std::string& name);

}  // namespace lemma::app
