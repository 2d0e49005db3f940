// lemma/data/csv/prepare.cpp: what a reader does before it looks at the fields: layout, pieces, rows, and guesses.
#include <algorithm>
#include <atomic>
#include <fmt/format.h>
#include <lemma/data/csv/doors.hpp>
#include <lemma/data/csv/encoding.hpp>
#include <lemma/data/csv/reader.hpp>
#include <mutex>

namespace lemma::csv {
namespace {}  // namespace

Reader::Reader(std::unique_ptr<Bytes> bytes, CsvOptions options, std::string source)
    : options_(std::move(options)),
      source_(std::move(source)),
      missing_(options_.missing),
      doors_(std::make_unique<Doors>()) {
  if (options_.block_bytes == 0) throw Error("CSV: block_bytes must be at least 1");
  Execution quiet = options_.execution;
  quiet.progress = nullptr;
  bytes_ = as_utf8(std::move(bytes), options_.encoding, source_, quiet);
  lay_out();
  cut_into_pieces();
}

Reader::~Reader() = default;

void Reader::lay_out() {
  try {
    layout_ = find_layout(*bytes_, options_, missing_, source_, believe_trailing_);
  } catch (const Mistake& mistake) { throw error(mistake); }
  check_overrides();
  levels_.clear();
  levels_.resize(layout_.names.size());
  for (std::size_t j = 0; j < levels_.size(); ++j) {
    const auto* given = given_levels(j);
    if (!given) continue;
    levels_[j] = std::make_unique<Dictionary>();
    for (const auto& level : *given) levels_[j]->code(level);
    if (levels_[j]->size() != static_cast<std::int32_t>(given->size()))
      throw Error(fmt::format("levels of '{}': one of them is given twice", layout_.names[j]));
  }
}

Error Reader::error(const Mistake& mistake) const {
  return error_at(*bytes_, source_, layout_.syntax.newline, layout_.names, mistake);
}

void Reader::check_overrides() const {
  const auto check = [&](const std::string& name) {
    if (std::find(layout_.names.begin(), layout_.names.end(), name) == layout_.names.end())
      throw Error(fmt::format("{}: there is no column '{}'{}", source_, name, did_you_mean(name, layout_.names)));
  };
  for (const auto& [name, type] : options_.types) check(name);
  for (const auto& [name, levels] : options_.levels) {
    check(name);
    const auto type = options_.types.find(name);
    if (type != options_.types.end() && type->second != ReadAs::categorical)
      throw Error(
          fmt::format("column '{}' has levels, so its type is categorical, not {}", name, name_of(type->second)));
    if (levels.empty()) throw Error(fmt::format("column '{}' is given no levels", name));
  }
}

void Reader::cut_into_pieces() {
  pieces_ = exact_ ? cut_exactly(*bytes_, layout_, options_.block_bytes, options_.execution)
                   : cut(*bytes_, layout_, options_.block_bytes, options_.execution, "reading " + source_);
  if (count_rows()) return;
  exact_ = true;
  cut_into_pieces();
}

/// The lines of the pieces without those that are no rows. False when the file has to be cut again, byte after byte.
bool Reader::count_rows() {
  left_out_ = {};
  const bool any = options_.ragged == Ragged::skip;  // any line may be one of them
  if (!any && !options_.comment && !layout_.passes_over_blank_lines())
    std::fill(pieces_.odd.begin(), pieces_.odd.end(), 0);
  std::vector<Index> rows(at(pieces_.count()));
  std::atomic<bool> stray = false;
  std::mutex door;
  Execution quiet = options_.execution;
  quiet.progress = nullptr;
  parallel_for(pieces_.count(), quiet, [&](Index piece) {
    const auto k = at(piece);
    rows[k] = pieces_.rows_of(piece);
    if (pieces_.odd[k] == 0 && !any) return;
    thread_local Buffer buffer;
    buffer.fill(*bytes_, pieces_.start[k], pieces_.start[k + 1], layout_.syntax.newline);
    const Text text{buffer.begin(), buffer.end(), pieces_.start[k], rows[k]};
    const Gaps found = find_gaps(text, layout_, options_.ragged, exact_);
    if (found.stray_quote) stray = true;
    rows[k] -= static_cast<Index>(found.gaps.size());
    pieces_.odd[k] = found.gaps.empty() ? 0 : 1;
    const std::lock_guard lock(door);
    left_out_.merge(found.why);
  });
  if (stray) return false;
  for (std::size_t k = 0; k < rows.size(); ++k) pieces_.first_row[k + 1] = pieces_.first_row[k] + rows[k];
  left_out_.blank.merge(layout_.blank_lines);
  return true;
}

/// The first rows may be unlike the others: a look at a few rows elsewhere saves a second pass.
void Reader::widen_guess() {
  constexpr Index kPlaces = 8, kRecords = 20;
  constexpr std::uint64_t kBytes = std::uint64_t{1} << 16;
  Buffer buffer;
  std::string scratch;
  bool stray = false;
  for (Index place = 1; place <= kPlaces && pieces_.count() > kPlaces; ++place) {
    const auto k = at(place * (pieces_.count() - 1) / kPlaces);
    buffer.fill(*bytes_, pieces_.start[k], std::min(pieces_.start[k] + kBytes, pieces_.start[k + 1]),
                layout_.syntax.newline);
    const char* p = buffer.begin();
    try {
      for (Index record = 0; record < kRecords && p < buffer.end(); ++record) {
        const char* const content = layout_.syntax.content(p);
        if (layout_.syntax.at_end(content) || layout_.syntax.is_comment(content)) {
          p = layout_.syntax.after_line(content);
          continue;
        }
        std::size_t j = 0;
        for (const char* next = layout_.syntax.first(p); next; next = layout_.syntax.next(p), ++j) {
          Field field;
          p = layout_.syntax.scan(next, buffer.end(), field, stray);
          if (j < layout_.guess.size() && p < buffer.end())
            narrow(layout_.guess[j], field.text(scratch), missing_, layout_.syntax.decimal);
        }
        p = layout_.syntax.after_line(p);
      }
    } catch (const Syntax::BadField&) {  // it is found again, and said, when the rows are read
    }
  }
}

}  // namespace lemma::csv
