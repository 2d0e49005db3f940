// app/output.cpp
#include "output.hpp"

#include "nothing_to_keep.hpp"

#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/data/csv.hpp>
#include <sys/stat.h>
#include <unistd.h>

namespace lemma::app {
namespace {

/// Built-in data sets are no files, whatever lies beside.
bool exists(const std::string& path) {
  struct stat ignored {};
  return ::stat(path.c_str(), &ignored) == 0;
}

}  // namespace

Value to_value(const Column& column) {
  if (column.type() == ColumnType::numeric && column.numbers().quantity == Quantity::number)
    return Value::Array{{column.rows()}, column.numbers().values};
  Value::List texts;
  for (Index i = 0; i < column.rows(); ++i) texts.push_back(column.is_missing(i) ? Value() : Value(column.text(i)));
  return texts;
}

Value to_value(const Table& table) {
  Value out = Value::object();
  for (const Column& column : table.all()) out.set(column.name, to_value(column));
  return out;
}

void write_rows(const Table& table, const std::string& output, Context& context) {
  const std::string csv = format_csv(table);
  if (output.empty() || is_stdout(output)) return context.print(csv);
  Output file(output, Output::Content::text, context);
  file.write(csv);
  file.done();
  context.note(fmt::format("{} written to {}", count_of(table.rows(), "row"), file.name()));
}

bool is_stdout(const std::string& path) { return path == "-" || descriptor_named(path) == STDOUT_FILENO; }

void check_named(const std::string& output) {
  if (output.empty()) throw Error("-o is empty: name a file, or - for standard output");
}

void check_outputs(const std::vector<std::string>& outputs, const std::vector<std::string>& inputs) {
  for (const auto& output : outputs) {
    const std::string written = is_stdout(output) ? "/dev/stdout" : output;
    for (const auto& input : inputs) {
      const std::string read = input == "-" ? "/dev/stdin" : input;
      if (exists(read) && same_file(read, written))
        throw Error(fmt::format("the output {} is also the input {}; write to another file", output, input));
    }
    for (const auto& other : outputs)
      if (&other != &output && (is_stdout(output) ? is_stdout(other) : same_file(output, other)))
        throw Error(fmt::format("{} and {} are the same file, and two are needed", output, other));
  }
}

Output::Output(const std::string& path, Content content, Context& context) : path_(path), context_(context) {
  if (!is_stdout(path)) {
    const NothingToKeep opening;
    file_.emplace(path);
    return;
  }
  if (content == Content::binary && context.json) throw Error("--json and -o - both want standard output");
  if (content == Content::binary && ::isatty(STDOUT_FILENO))
    throw Error("standard output is a terminal, and a model is not text: name a file, or redirect the output");
  context.give_away_stdout();
}

void Output::write(std::string_view bytes) {
  if (file_) file_->write(bytes);
  else context_.write_stdout(bytes);
}

void Output::write(std::span<const std::uint8_t> bytes) {
  write(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

void Output::done() {
  if (file_) file_->done();
  else context_.flush_stdout();
}

std::string Output::name() const { return file_ ? path_ : "standard output"; }

}  // namespace lemma::app
