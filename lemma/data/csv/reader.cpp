// lemma/data/csv/reader.cpp
#include <algorithm>
#include <array>
#include <atomic>
#include <fmt/format.h>
#include <lemma/core/text.hpp>
#include <lemma/data/csv/encoding.hpp>
#include <lemma/data/csv/reader.hpp>
#include <mutex>
#include <optional>

namespace lemma::csv {

/// A column's state is entered by one piece at a time; columns share the doors, so that each costs nothing.
struct Reader::Doors {
  std::mutex& of(std::size_t column) { return doors[column % doors.size()]; }
  std::array<std::mutex, 64> doors;
};

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

void Reader::prepare(ColumnState& state, std::size_t column, bool keep) const {
  if (column == layout_.columns()) {
    state.mode = Sink::Mode::empty;
    return;
  }
  const auto& name = layout_.names[column];
  const auto asked = options_.types.find(name);
  if (asked != options_.types.end()) state.asked = asked->second;
  if (options_.levels.count(name) != 0) state.asked = ReadAs::categorical;
  const auto guess = layout_.guess[column].form();
  if (has_levels(column)) state.mode = Sink::Mode::level;
  else if (guess && state.allows(*guess)) {
    state.mode = Sink::Mode::number;
    state.form = *guess;
  } else state.mode = Sink::Mode::label;
  if (keep) state.make_room(rows());
}

void Reader::parse_piece(std::vector<ColumnState>& states, Index piece, bool keep, bool& stray_quote) const {
  thread_local Buffer buffer;
  const Text text = load(piece, buffer);
  const Index rows = text.rows, first = keep ? pieces_.first_row[at(piece)] : 0;

  std::vector<Sink> sinks(states.size());
  const auto of_labels = [](const ColumnState& state) { return state.mode == Sink::Mode::label; };
  std::vector<Dictionary> labels(at(std::count_if(states.begin(), states.end(), of_labels)));
  std::size_t next_labels = 0;
  std::vector<double> numbers(keep ? 0 : at(rows));  // where values go that nobody keeps
  std::vector<std::int32_t> codes(keep ? 0 : at(rows));
  for (std::size_t j = 0; j < states.size(); ++j) {
    ColumnState& state = states[j];
    Sink& sink = sinks[j];
    sink.mode = state.failed ? Sink::Mode::skip : state.mode;
    sink.strict = state.strict;
    sink.form = state.form;
    sink.numbers = keep ? state.numbers.data() : numbers.data();
    sink.codes = keep ? state.codes.data() : codes.data();
    sink.labels = of_labels(state) ? &labels[next_labels++] : nullptr;
    sink.levels = levels_[j].get();
    sink.levels_win = true;
  }
  parse_records({layout_, missing_, exact_}, text, {0, rows, first}, sinks, stray_quote);
  refuse_other_bytes(labels, text);

  for (std::size_t j = 0; j < states.size(); ++j) {
    ColumnState& state = states[j];
    if (sinks[j].failed) state.failed = true;
    if (state.mode == Sink::Mode::skip || state.mode == Sink::Mode::empty) continue;
    const std::lock_guard lock(doors_->of(j));
    state.merge(sinks[j], rows);
    if (state.mode != Sink::Mode::label) continue;
    const auto code = state.merge_labels(*sinks[j].labels, missing_, layout_.syntax.decimal, keep);
    if (!keep) continue;
    for (Index i = first; i < first + rows; ++i)
      if (state.codes[at(i)] >= 0) state.codes[at(i)] = code[static_cast<std::size_t>(state.codes[at(i)])];
  }
}

/// Labels are texts, and texts are UTF-8: said here, and not when a model is saved. The first such field is the mistake.
void Reader::refuse_other_bytes(const std::vector<Dictionary>& labels, const Text& text) const {
  bool good = true;
  for (const Dictionary& each : labels)
    for (std::int32_t k = 0; k < each.size() && good; ++k) good = is_utf8(each.at(k));
  if (good) return;
  const char* p = text.begin;
  bool stray = false;
  try {
    while (p < text.end) {
      Index column = 0;
      for (const char* next = layout_.syntax.first(p); next; next = layout_.syntax.next(p), ++column) {
        Field field;
        p = layout_.syntax.scan(next, text.end, field, stray);
        if (!is_utf8(field.raw())) throw not_utf8(field.raw(), text.place(field.begin), column);
      }
      p = layout_.syntax.after_line(p);
    }
  } catch (const Syntax::BadField&) {  // the piece was cut wrongly: it comes again
  }
}

/// All pieces, on all threads. False when the file has to be cut again, because quotes do not only stand around fields.
/// That is also suspected behind every mistake: where quotes are miscounted, a later piece may start anywhere.
bool Reader::pass(std::vector<ColumnState>& states, bool keep, double from, double to) {
  std::atomic<bool> stray = false;
  std::atomic<Index> done = 0, first_bad = pieces_.count();
  std::mutex door;
  std::optional<Mistake> mistake;  // the first in the file, whatever thread found it
  parallel_for(pieces_.count(), options_.execution, [&](Index piece) {
    if (piece > first_bad) return;
    bool stray_here = false;
    try {
      parse_piece(states, piece, keep, stray_here);
    } catch (Mistake& found) {
      const std::lock_guard lock(door);
      if (!mistake || found.offset < mistake->offset) mistake = std::move(found);
      first_bad = std::min(first_bad.load(), piece);
    }
    if (stray_here) stray = true;
    report(options_.execution.progress,
           from + (to - from) * static_cast<double>(++done) / static_cast<double>(pieces_.count()),
           "reading " + source_);
  });
  if ((stray || (mistake && pieces_.quotes)) && !exact_) return false;
  if (mistake) throw error(*mistake);
  for (auto& state : states)
    if (state.mode != Sink::Mode::skip) state.found = state.mode;
  return true;
}

void Reader::refuse_infinity(const std::vector<ColumnState>& states) const {
  std::size_t first = states.size();
  for (std::size_t j = 0; j < states.size(); ++j)
    if (states[j].found == Sink::Mode::number && states[j].infinite_at != kNowhere &&
        (first == states.size() || states[j].infinite_at < states[first].infinite_at))
      first = j;
  if (first == states.size()) return;
  throw error({states[first].infinite_at, static_cast<Index>(first),
               fmt::format("'{}' is not a finite number; leave the field empty if the value is missing",
                           states[first].infinite())});
}

Table Reader::learn(bool keep) {
  while (true) {
    widen_guess();
    const Index columns = static_cast<Index>(layout_.columns());
    std::vector<ColumnState> states(layout_.names.size());
    Execution quiet = options_.execution;
    quiet.progress = nullptr;
    parallel_for(static_cast<Index>(states.size()), quiet, [&](Index j) { prepare(states[at(j)], at(j), keep); });
    bool cut_well = pass(states, keep, 0.1, 0.9);
    if (layout_.trailing && states.back().failed) {  // something does stand behind the last delimiter
      believe_trailing_ = false;
      lay_out();
      cut_into_pieces();
      continue;
    }
    for (bool again = true; again && cut_well;) {
      again = false;
      for (auto& state : states)
        if (state.ask_again()) {
          again = true;
          if (keep) state.make_room(rows());
        }
      if (again) cut_well = pass(states, keep, 0.9, 1);
    }
    if (!cut_well) {
      exact_ = true;
      cut_into_pieces();
      continue;
    }
    refuse_infinity(states);

    std::vector<Column> made(at(columns));
    forms_.assign(at(columns), {});
    parallel_for(columns, quiet, [&](Index j) {
      made[at(j)] = states[at(j)].finish(layout_.names[at(j)], given_levels(at(j)), missing_, layout_.syntax.decimal);
      forms_[at(j)] = states[at(j)].form;
    });
    Table table(std::move(made), source_);
    add_notes(states, table);
    remember_levels(table);
    return table;
  }
}

/// What the user should know about the lines, and about each column.
void Reader::add_notes(const std::vector<ColumnState>& states, Table& table) const {
  for (const auto& note : layout_.notes) table.note(note);
  const auto line = [&](const Tally& tally) { return line_of(*bytes_, tally.first, layout_.syntax.newline); };
  if (const Tally& blank = left_out_.blank; blank.count > 0)
    table.note(fmt::format("{} passed over ({}line {})",
                           blank.count == 1 ? "1 blank line is" : count_of(blank.count, "blank line") + " are",
                           blank.count == 1 ? "" : "the first is ", line(blank)));
  if (const Tally& ragged = left_out_.ragged; ragged.count > 0)
    table.note(fmt::format("{} with another number of fields than {} {} skipped ({}line {}, with {})",
                           count_of(ragged.count, "line"), layout_.names.size(), ragged.count == 1 ? "is" : "are",
                           ragged.count == 1 ? "" : "the first is ", line(ragged), left_out_.fields));
  for (Index j = 0; j < table.columns(); ++j) states[at(j)].add_notes(table.column(j), missing_, table);
}

const std::vector<std::string>* Reader::given_levels(std::size_t column) const {
  const auto given = options_.levels.find(layout_.names[column]);
  return given == options_.levels.end() ? nullptr : &given->second;
}

void Reader::remember_levels(const Table& table) {
  for (std::size_t j = 0; j < layout_.columns(); ++j) {
    const Column& column = table.column(static_cast<Index>(j));
    if (column.type() != ColumnType::categorical || has_levels(j)) continue;
    levels_[j] = std::make_unique<Dictionary>();
    for (const auto& level : column.categories().levels) levels_[j]->code(level);
  }
}

}  // namespace lemma::csv
