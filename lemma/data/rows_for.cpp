// lemma/data/rows_for.cpp
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/data/design/parts.hpp>
#include <lemma/data/matrix_stream.hpp>
#include <lemma/data/rows_for.hpp>
#include <lemma/data/sparse_rows.hpp>
#include <lemma/data/stream/rows.hpp>

namespace lemma {
namespace {

/// Numbers that come beside the rows are looked up by the table's rows, so they need the table.
bool has_numbers_beside(const RowsUse& use) {
  return use.weights.size() + use.precision.size() + use.offset.size() + use.clusters.size() > 0;
}

std::size_t bytes_needed(const TableStream& data) {
  return 2 * memory_needed(data);
}  // the table, and the matrix made of it

/// The same with the images that the table names.
std::size_t bytes_needed(const Design& design, const TableStream& data) {
  const std::size_t pixels = design.parts().reads_images() ? sizeof(double) * design.features().size() : 0;
  return bytes_needed(data) + pixels * static_cast<std::size_t>(data.rows());
}

bool must_stream(const Design& design, const TableStream& data, const RowsUse& use,
                 const std::optional<std::size_t>& memory) {
  if (data.sparse() || !memory || bytes_needed(design, data) <= *memory) return false;
  if (use.blocks) return true;
  throw Error(fmt::format(
      "{} needs all rows in memory: {} for this table, and {} are allowed; raise --memory or use a method that scans",
      use.reader, format_bytes(static_cast<double>(bytes_needed(design, data))),
      format_bytes(static_cast<double>(*memory))));
}

std::vector<std::string> notes_of(const Design& design, const RowsUse& use, const std::vector<std::string>& more = {}) {
  auto notes = use.use == Use::training ? design.notes() : std::vector<std::string>();
  notes.insert(notes.end(), more.begin(), more.end());
  return notes;
}

RowsOfData in_memory(const Design& design, const Table& table, const RowsUse& use, const Execution& execution) {
  const DesignParts& parts = design.parts();
  DesignData data = make_data(parts, table, use.use, parts.policy(use.missing), 0, execution);
  const auto take = [&]<class T>(std::span<const T> from, std::vector<T>& into, const char* what) {
    if (from.empty()) return;
    if (static_cast<Index>(from.size()) != table.rows())
      throw Error(fmt::format("there are {} {} for {} rows", from.size(), what, table.rows()));
    into.clear();
    for (const Index row : data.kept) into.push_back(from[static_cast<std::size_t>(row)]);
  };
  take(use.weights, data.weight, "weights");
  take(use.precision, data.precision, "precisions");
  take(use.offset, data.offset, "offsets");
  take(use.clusters, data.cluster, "clusters");
  RowsOfData out{nullptr, RowSelection(table.rows(), data.kept), notes_of(design, use, data.notes)};
  out.rows = std::make_unique<DesignRows>(design, std::move(data));
  return out;
}

constexpr std::size_t kMostDense = std::size_t{4} << 30;

/// The rows of texts without their zeros. They can be read with them too, block by block.
RowsOfData of_words(const Design& design, const Table& table, const RowsUse& use, const Execution& execution) {
  const DesignParts& parts = design.parts();
  const Missing policy = parts.policy(use.missing);
  const BoundTable bound(parts, table, use.use);
  auto found = completeness(bound, policy, 0, table.rows(), execution);
  check_missing(found, policy, table.rows(), use.use);
  DesignData data;
  std::vector<std::string> more;
  if (auto note = missing_note(found, policy, table.rows(), std::ssize(found.kept), use.use); !note.empty())
    more.push_back(std::move(note));
  data.kept = std::move(found.kept);
  Csr x = sparse_x(bound, data.kept, gaps_of(policy), execution);
  fill_outcome(bound, data.kept, gaps_of(policy), data);
  RowsOfData out{nullptr, RowSelection(table.rows(), data.kept), notes_of(design, use, more)};
  out.rows = std::make_unique<WordRows>(design, std::move(x), std::move(data));
  return out;
}

/// Error when the rows of texts would be too large with their zeros.
void require_room(const Design& design, const TableStream& data, const RowsUse& use) {
  const auto bytes = 8.0 * static_cast<double>(data.rows()) * static_cast<double>(design.features().size());
  if (bytes <= static_cast<double>(kMostDense)) return;
  throw Error(
      fmt::format("{} takes rows with their zeros: {} rows of {} columns are {}; give text() a greater min, or hash = "
                  "1024, or use a "
                  "method that takes sparse rows, such as naive_bayes, logistic or linear_svm",
                  use.reader.empty() ? "this method" : use.reader, format_count(data.rows()),
                  format_count(std::ssize(design.features())), format_bytes(bytes)));
}

/// Whether the numbers of a matrix can be read where they lie. For predictions a column may be absent: then there is a table.
bool stays_a_matrix(const Design& design, const TableStream& data, const RowsUse& use, const Execution& execution) {
  if (!data.matrix() || has_numbers_beside(use)) return false;
  if (use.all_there) return true;
  for (const auto& name : design.looked_at())
    if (use.use != Use::training && !data.schema().find(name)) return false;
  return numbers_are_all_there(design, data, execution);
}

}  // namespace

bool exceeds(const TableStream& data, const std::optional<std::size_t>& memory) {
  return memory && bytes_needed(data) > *memory;
}

RowsOfData rows_for(const Design& design, const TableStream& data, const RowsUse& use,
                    const std::optional<std::size_t>& memory, const Execution& execution) {
  if (const SparseData* sparse = data.sparse()) {
    if (use.sparse && is_plain(design) && !has_numbers_beside(use))
      return {std::make_unique<SparseRows>(design, *sparse), RowSelection(data.rows()), notes_of(design, use)};
    return in_memory(design, to_table(*sparse), use, execution);  // or an Error that says how much memory it would take
  }
  const bool streamed = must_stream(design, data, use, memory);
  if (design.parts().counts_words() && !streamed) {
    if ((use.sparse || use.blocks) && !has_numbers_beside(use))
      return data.table() ? of_words(design, *data.table(), use, execution)
                          : of_words(design, read_all(data, execution), use, execution);
    require_room(design, data, use);
  }
  if (stays_a_matrix(design, data, use, execution))
    return {std::make_unique<MatrixRows>(design, data, use.use), RowSelection(data.rows()), notes_of(design, use)};
  if (streamed) {
    auto rows = std::make_unique<StreamRows>(design, data, use.use, use.missing, execution);
    RowsOfData out{nullptr, rows->kept(), notes_of(design, use, rows->notes())};
    out.rows = std::move(rows);
    return out;
  }
  if (data.table()) return in_memory(design, *data.table(), use, execution);
  return in_memory(design, read_all(data, execution), use, execution);
}

}  // namespace lemma
