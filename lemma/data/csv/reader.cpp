// lemma/data/csv/reader.cpp: the passes over the fields.
#include <algorithm>
#include <atomic>
#include <fmt/format.h>
#include <lemma/core/text.hpp>
#include <lemma/data/csv/doors.hpp>
#include <optional>

namespace lemma::csv {

void Reader::prepare(ColumnState& state, std::size_t column) const {
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
  state.make_room(rows());
}

void Reader::parse_piece(States& states, Index piece, bool& stray_quote) const {
  using Keep = ColumnState::Keep;
  thread_local Buffer buffer;
  const Text text = load(piece, buffer);
  const Index rows = text.rows, first = pieces_.first_row[at(piece)];

  std::vector<Sink> sinks(states.size());
  const auto of_labels = [](const ColumnState& state) { return state.mode == Sink::Mode::label; };
  std::vector<Dictionary> labels(at(std::count_if(states.begin(), states.end(), of_labels)));
  std::size_t next_labels = 0;
  std::vector<double> numbers;  // where values go that nobody keeps
  std::vector<std::int32_t> codes;
  for (std::size_t j = 0; j < states.size(); ++j) {
    ColumnState& state = states[j];
    Sink& sink = sinks[j];
    sink.mode = state.failed ? Sink::Mode::skip : state.mode;
    sink.strict = state.strict;
    sink.form = state.form;
    if (state.keep == Keep::nothing) numbers.resize(at(rows));
    if (state.keep != Keep::column) codes.resize(at(rows));
    sink.numbers = state.keep == Keep::column   ? state.numbers.data() + first
                   : state.keep == Keep::matrix ? state.place + first * state.stride
                                                : numbers.data();
    if (state.keep == Keep::matrix) sink.stride = state.stride;
    sink.codes = state.keep == Keep::column ? state.codes.data() + first : codes.data();
    sink.labels = of_labels(state) ? &labels[next_labels++] : nullptr;
    sink.levels = levels_[j].get();
    sink.levels_win = true;
  }
  parse_records({layout_, missing_, exact_}, text, {0, rows, 0}, sinks, stray_quote);
  refuse_other_bytes(labels, text);

  for (std::size_t j = 0; j < states.size(); ++j) {
    ColumnState& state = states[j];
    if (sinks[j].failed) state.failed = true;
    if (state.complete && (sinks[j].missing || (sinks[j].failed && state.keep == Keep::matrix))) given_up_ = true;
    if (state.mode == Sink::Mode::skip || state.mode == Sink::Mode::empty) continue;
    const std::lock_guard lock(doors_->of(j));
    state.merge(sinks[j], rows);
    if (state.mode != Sink::Mode::label) continue;
    const auto code = state.merge_labels(*sinks[j].labels, missing_, layout_.syntax.decimal);
    if (state.keep != Keep::column) continue;
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
  if (const auto found = other_bytes(text)) throw *found;
}

/// The first field of a piece that is not UTF-8.
std::optional<Mistake> Reader::other_bytes(const Text& text) const {
  const char* p = text.begin;
  bool stray = false;
  try {
    while (p < text.end) {
      Index column = 0;
      for (const char* next = layout_.syntax.first(p); next; next = layout_.syntax.next(p), ++column) {
        Field field;
        p = layout_.syntax.scan(next, text.end, field, stray);
        if (!is_utf8(field.raw())) return not_utf8(field.raw(), text.place(field.begin), column);
      }
      p = layout_.syntax.after_line(p);
    }
  } catch (const Syntax::BadField&) {  // the piece was cut wrongly, or that is the mistake which is said
  }
  return {};
}

/// A mistake, or what is not UTF-8 before it: which columns were taken for numbers must not matter.
Mistake Reader::first_of(const Mistake& mistake) const {
  Buffer buffer;
  for (Index piece = 0; piece < pieces_.count() && pieces_.start[at(piece)] < mistake.offset; ++piece) {
    const Text text = load(piece, buffer);
    if (is_utf8({text.begin, static_cast<std::size_t>(text.end - text.begin)})) continue;
    if (const auto found = other_bytes(text); found && found->offset < mistake.offset) return *found;
  }
  return mistake;
}

/// All pieces, on all threads. False when the file has to be cut again, because quotes do not only stand around fields.
/// That is also suspected behind every mistake: where quotes are miscounted, a later piece may start anywhere.
bool Reader::pass(States& states, double from, double to) {
  std::atomic<bool> stray = false;
  std::atomic<Index> done = 0, first_bad = pieces_.count();
  std::mutex door;
  std::optional<Mistake> mistake;  // the first in the file, whatever thread found it
  parallel_for(pieces_.count(), options_.execution, [&](Index piece) {
    if (piece > first_bad || given_up_) return;
    bool stray_here = false;
    try {
      parse_piece(states, piece, stray_here);
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
  if (given_up_) return true;  // not all was parsed: what is wrong with it is found by who parses it next
  if ((stray || (mistake && pieces_.quotes)) && !exact_) return false;
  if (mistake) throw error(first_of(*mistake));
  for (auto& state : states)
    if (state.mode != Sink::Mode::skip) state.found = state.mode;
  return true;
}

void Reader::refuse_infinity(const States& states) const {
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

/// As many passes as it takes. False when the layout or the pieces are others now, so that all begins again.
bool Reader::look_at_all(States& states) {
  Execution quiet = options_.execution;
  quiet.progress = nullptr;
  parallel_for(static_cast<Index>(states.size()), quiet, [&](Index j) { prepare(states[at(j)], at(j)); });
  bool cut_well = pass(states, 0.1, 0.9);
  if (given_up_) return true;
  if (layout_.trailing && states.back().failed) {  // something does stand behind the last delimiter
    believe_trailing_ = false;
    lay_out();
    cut_into_pieces();
    return false;
  }
  for (bool again = true; again && cut_well;) {
    again = false;
    for (auto& state : states)
      if (state.ask_again()) {
        again = true;
        state.make_room(rows());
      }
    if (again) cut_well = pass(states, 0.9, 1);
    if (given_up_) return true;
  }
  if (cut_well) {
    refuse_infinity(states);
    return true;
  }
  exact_ = true;
  cut_into_pieces();
  return false;
}

std::vector<Column> Reader::finish(States& states) {
  const auto columns = static_cast<Index>(layout_.columns());
  std::vector<Column> made(at(columns));
  forms_.assign(at(columns), {});
  Execution quiet = options_.execution;
  quiet.progress = nullptr;
  parallel_for(columns, quiet, [&](Index j) {
    made[at(j)] = states[at(j)].finish(layout_.names[at(j)], given_levels(at(j)), missing_, layout_.syntax.decimal);
    forms_[at(j)] = states[at(j)].form;
  });
  remember_levels(made);
  return made;
}

Table Reader::learn(bool keep) {
  given_up_ = false;
  while (true) {
    widen_guess();
    States states(layout_.names.size());
    for (auto& state : states) state.keep = keep ? ColumnState::Keep::column : ColumnState::Keep::nothing;
    if (!look_at_all(states)) continue;
    Table table(finish(states), source_);
    add_notes(states, table);
    return table;
  }
}

std::optional<Reader::Parsed> Reader::learn_matrix(const std::vector<std::size_t>& features,
                                                   const std::vector<std::size_t>& others) {
  const std::vector<std::string> names = layout_.names;
  given_up_ = false;
  while (true) {
    widen_guess();
    if (layout_.names != names) return {};
    States states(names.size());
    Parsed out;
    out.x.resize(rows(), static_cast<Index>(features.size()));
    ask_for_large_pages(out.x.data(), static_cast<std::size_t>(out.x.size()) * sizeof(double));
    for (const std::size_t j : others) {
      states[j].keep = ColumnState::Keep::column;
      states[j].complete = true;
    }
    for (std::size_t f = 0; f < features.size(); ++f) {
      ColumnState& state = states[features[f]];
      state.keep = ColumnState::Keep::matrix;
      state.complete = true;
      state.place = out.x.data() + f;
      state.stride = out.x.cols();
      if (!may_be_numbers(features[f])) return {};
    }
    if (!look_at_all(states)) continue;
    if (given_up_) return {};
    std::vector<Column> made = finish(states), beside;
    for (const std::size_t j : others) beside.push_back(std::move(made[j]));
    out.others = Table(std::move(beside), source_);
    const Table empty = out.others.slice(0, 0);
    for (std::size_t k = 0; k < others.size(); ++k) made[others[k]] = empty.column(static_cast<Index>(k));
    out.schema = Table(std::move(made), source_);
    add_notes(states, out.schema);
    return out;
  }
}

/// By what is known of the first rows, and by what the user asked for.
bool Reader::may_be_numbers(std::size_t column) const {
  ColumnState state;
  prepare(state, column);
  return state.mode == Sink::Mode::number;
}

/// What the user should know about the lines, and about each column.
void Reader::add_notes(const States& states, Table& table) const {
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

void Reader::remember_levels(const std::vector<Column>& columns) {
  for (std::size_t j = 0; j < columns.size(); ++j) {
    const Column& column = columns[j];
    if (column.type() != ColumnType::categorical || has_levels(j)) continue;
    levels_[j] = std::make_unique<Dictionary>();
    for (const auto& level : column.categories().levels) levels_[j]->code(level);
  }
}

}  // namespace lemma::csv
