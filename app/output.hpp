// app/output.hpp: the files that a command writes.
#pragma once
#include "context.hpp"

#include <lemma/core/file.hpp>
#include <lemma/core/value.hpp>
#include <lemma/data/table.hpp>
#include <optional>
#include <span>

namespace lemma::app {

/// Where -o points: a path, or "-" for standard output, which then holds nothing else: results become notes. Opened before
/// the work, so that nothing is computed for a place that cannot be written.
class Output {
 public:
  enum class Content { text, binary };
  /// Error when a terminal would get bytes that are no text, or --json wants standard output too.
  Output(const std::string& path, Content content, Context& context);
  void write(std::string_view bytes);
  void write(std::span<const std::uint8_t> bytes);
  void done();
  /// Whether nothing is there before done().
  bool appears_whole() const { return file_ && file_->appears_whole(); }
  /// For messages.
  std::string name() const;

 private:
  std::string path_;
  const Context& context_;
  std::optional<FileWriter> file_;  // nothing: standard output
};

/// A column in a JSON document: numbers, or texts; missing ones are null.
Value to_value(const Column& column);

/// The columns by name, each an array.
Value to_value(const Table& table);

/// As CSV: on standard output where no other place is named, or in a file, with a note.
void write_rows(const Table& table, const std::string& output, Context& context);

bool is_stdout(const std::string& path);

/// Error for an empty -o: a script whose variable is not set would lose the work otherwise.
void check_named(const std::string& output);

/// Error when a file to be written is also read ("-" is standard input there), or is to be written twice.
void check_outputs(const std::vector<std::string>& outputs, const std::vector<std::string>& inputs);

}  // namespace lemma::app
