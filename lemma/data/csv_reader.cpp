// lemma/data/csv_reader.cpp
#include <algorithm>
#include <atomic>
#include <fmt/format.h>
#include <lemma/data/csv_reader.hpp>
#include <limits>
#include <mutex>
#include <numeric>
#include <optional>

namespace lemma::csv {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr std::int32_t kFewTexts = 20;  // up to so many different labels are levels, however few rows there are

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

}  // namespace

/// What is known about a column while passes run over the file. The pieces of a pass meet here in no order, so
/// everything that is kept must not depend on it: labels are sorted in the end, counts are sums, places are minima.
struct Reader::State {
  Sink::Mode mode = Sink::Mode::skip;
  Sink::Mode found = Sink::Mode::skip;  // what the last pass that looked at it took it for
  std::optional<ColumnType> asked;
  std::vector<double> numbers;
  std::vector<std::int32_t> codes;

  std::mutex door;
  std::atomic<bool> failed = false;
  Dictionary labels;
  std::vector<Kind> kinds;           // of the labels: columns of nothing but numbers are numeric after all
  std::vector<Index> kind_count = std::vector<Index>(4, 0);
  bool too_many = false;             // labels to remember; they are texts
  Index present = 0;
  std::vector<Index> spelled;
  std::uint64_t infinite_at = kNowhere;
  std::string infinite;

  Index count(Kind kind) const { return kind_count[static_cast<std::size_t>(kind)]; }
  bool all_numbers() const { return !asked && count(Kind::label) == 0; }

  void merge(const Sink& sink) {
    const std::lock_guard lock(door);
    present += sink.present;
    spelled.resize(sink.spelled.size());
    for (std::size_t k = 0; k < spelled.size(); ++k) spelled[k] += sink.spelled[k];
    if (sink.infinite_at < infinite_at) {
      infinite_at = sink.infinite_at;
      infinite = sink.infinite;
    }
  }

  /// The labels of a piece in the numbering of the whole column; without `keep`, texts are given up in time.
  std::vector<std::int32_t> merge_labels(const Dictionary& local, const MissingWords& missing, char decimal, bool keep) {
    const std::lock_guard lock(door);
    std::vector<std::int32_t> code(static_cast<std::size_t>(local.size()));
    for (std::int32_t k = 0; k < local.size(); ++k) {
      const std::int32_t before = labels.size();
      code[static_cast<std::size_t>(k)] = labels.code(local.at(k));
      if (labels.size() == before) continue;
      double value = 0;
      kinds.push_back(kind_of(local.at(k), missing, decimal, value));
      ++kind_count[static_cast<std::size_t>(kinds.back())];
    }
    if (!keep && asked != ColumnType::categorical && labels.size() > kMostLevels) {
      too_many = true;
      labels.clear();
      kinds.clear();
    }
    return code;
  }

  bool is_text() const {
    if (asked) return *asked == ColumnType::text;
    if (too_many || labels.size() > kMostLevels) return true;
    return labels.size() > kFewTexts && 2 * static_cast<Index>(labels.size()) > present;
  }
};

Reader::Reader(std::unique_ptr<Bytes> bytes, CsvOptions options, std::string source)
    : bytes_(std::move(bytes)), options_(std::move(options)), source_(std::move(source)), missing_(options_.missing) {
  if (options_.block_bytes == 0) throw Error("CSV: block_bytes must be at least 1");
  try {
    layout_ = find_layout(*bytes_, options_, missing_, source_);
  } catch (const Mistake& mistake) {
    throw error(mistake);
  }
  check_overrides();
  levels_.resize(layout_.names.size());
  for (std::size_t j = 0; j < levels_.size(); ++j) {
    const auto given = options_.levels.find(layout_.names[j]);
    if (given == options_.levels.end()) continue;
    for (const auto& level : given->second) levels_[j].code(level);
    if (levels_[j].size() != static_cast<std::int32_t>(given->second.size()))
      throw Error(fmt::format("levels of '{}': one of them is given twice", layout_.names[j]));
  }
  cut_into_pieces();
}

Reader::~Reader() = default;

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
    if (type != options_.types.end() && type->second != ColumnType::categorical)
      throw Error(fmt::format("column '{}' has levels, so its type is categorical, not {}", name, name_of(type->second)));
    if (levels.empty()) throw Error(fmt::format("column '{}' is given no levels", name));
  }
}

void Reader::cut_into_pieces() {
  pieces_ = exact_ ? cut_exactly(*bytes_, layout_, options_.block_bytes, options_.execution)
                   : cut(*bytes_, layout_, options_.block_bytes, options_.execution, "reading " + source_);
}

/// The first rows may be unlike the others: a look at a few rows elsewhere saves a second pass.
void Reader::widen_guess() {
  constexpr Index kPlaces = 8, kRecords = 20;
  constexpr std::uint64_t kBytes = std::uint64_t{1} << 16;
  Buffer buffer;
  std::string scratch;
  double value = 0;
  bool stray = false;
  for (Index place = 1; place <= kPlaces && pieces_.count() > kPlaces; ++place) {
    const auto k = at(place * (pieces_.count() - 1) / kPlaces);
    buffer.fill(*bytes_, pieces_.start[k], std::min(pieces_.start[k] + kBytes, pieces_.start[k + 1]), layout_.syntax.newline);
    const char* p = buffer.begin();
    try {
      for (Index record = 0; record < kRecords && p < buffer.end(); ++record) {
        std::size_t j = 0;
        for (const char* next = layout_.syntax.first(p); next; next = layout_.syntax.next(p), ++j) {
          Field field;
          p = layout_.syntax.scan(next, buffer.end(), field, stray);
          if (j < layout_.guess.size() && p < buffer.end() &&
              kind_of(field.text(scratch), missing_, layout_.syntax.decimal, value) == Kind::label)
            layout_.guess[j] = Kind::label;
        }
        while (*p != layout_.syntax.newline) ++p;
        ++p;
      }
    } catch (const Syntax::BadField&) {  // it is found again, and said, when the rows are read
    }
  }
}

void Reader::prepare(State& state, std::size_t column, bool keep) const {
  const auto& name = layout_.names[column];
  const auto asked = options_.types.find(name);
  if (asked != options_.types.end()) state.asked = asked->second;
  if (options_.levels.count(name) != 0) state.asked = ColumnType::categorical;
  if (levels_[column].size() > 0) state.mode = Sink::Mode::level;
  else if (state.asked) state.mode = *state.asked == ColumnType::numeric ? Sink::Mode::number : Sink::Mode::label;
  else state.mode = layout_.guess[column] == Kind::label ? Sink::Mode::label : Sink::Mode::number;
  if (!keep) return;
  if (state.mode == Sink::Mode::number) state.numbers.resize(at(rows()));
  else state.codes.resize(at(rows()));
}

void Reader::parse_piece(std::vector<State>& states, Index piece, bool keep, bool& stray_quote) const {
  thread_local Buffer buffer;
  const auto k = at(piece);
  buffer.fill(*bytes_, pieces_.start[k], pieces_.start[k + 1], layout_.syntax.newline);
  const Index rows = pieces_.rows_of(piece), first = keep ? pieces_.first_row[k] : 0;

  std::vector<Sink> sinks(states.size());
  std::vector<Dictionary> labels(states.size());
  std::vector<double> numbers(keep ? 0 : at(rows));  // where values go that nobody keeps
  std::vector<std::int32_t> codes(keep ? 0 : at(rows));
  for (std::size_t j = 0; j < states.size(); ++j) {
    State& state = states[j];
    Sink& sink = sinks[j];
    sink.mode = state.failed ? Sink::Mode::skip : state.mode;
    sink.asked = state.asked.has_value();
    sink.numbers = keep ? state.numbers.data() : numbers.data();
    sink.codes = keep ? state.codes.data() : codes.data();
    sink.labels = &labels[j];
    sink.levels = &levels_[j];
    sink.levels_win = true;
  }
  parse_records({layout_, missing_}, buffer.begin(), buffer.end(), pieces_.start[k], {0, rows, first}, sinks, stray_quote);

  for (std::size_t j = 0; j < states.size(); ++j) {
    State& state = states[j];
    if (sinks[j].failed) state.failed = true;
    if (state.mode == Sink::Mode::skip) continue;
    state.merge(sinks[j]);
    if (state.mode != Sink::Mode::label) continue;
    const auto code = state.merge_labels(labels[j], missing_, layout_.syntax.decimal, keep);
    if (!keep) continue;
    for (Index i = first; i < first + rows; ++i)
      if (state.codes[at(i)] >= 0) state.codes[at(i)] = code[static_cast<std::size_t>(state.codes[at(i)])];
  }
}

/// All pieces, on all threads. False when the file has to be cut again, because quotes do not only stand around fields.
bool Reader::pass(std::vector<State>& states, bool keep, double from, double to) {
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
           from + (to - from) * static_cast<double>(++done) / static_cast<double>(pieces_.count()), "reading " + source_);
  });
  if (stray && !exact_) return false;
  if (mistake) throw error(*mistake);
  for (auto& state : states)
    if (state.mode != Sink::Mode::skip) state.found = state.mode;
  return true;
}

/// Was the first pass mistaken about this column? Then it is prepared for another.
bool Reader::ask_again(State& state, std::size_t, bool keep) const {
  const bool not_numbers = state.found == Sink::Mode::number && state.failed;
  const bool where_is_infinity =
      state.found == Sink::Mode::label && state.all_numbers() && state.count(Kind::infinite) > 0;
  state.mode = not_numbers ? Sink::Mode::label : where_is_infinity ? Sink::Mode::number : Sink::Mode::skip;
  if (state.mode == Sink::Mode::skip) return false;
  state.failed = false;
  state.infinite_at = kNowhere;
  state.numbers = {};
  state.codes = {};
  if (!keep) return true;
  if (not_numbers) state.codes.resize(at(rows()));
  else state.numbers.resize(at(rows()));
  return true;
}

void Reader::refuse_infinity(const std::vector<State>& states) const {
  std::size_t first = states.size();
  for (std::size_t j = 0; j < states.size(); ++j)
    if (states[j].found == Sink::Mode::number && states[j].infinite_at != kNowhere &&
        (first == states.size() || states[j].infinite_at < states[first].infinite_at))
      first = j;
  if (first == states.size()) return;
  throw error({states[first].infinite_at, static_cast<Index>(first),
               fmt::format("'{}' is not a finite number; leave the field empty if the value is missing",
                           states[first].infinite)});
}

Table Reader::learn(bool keep) {
  const Index columns = static_cast<Index>(layout_.names.size());
  while (true) {
    widen_guess();
    std::vector<State> states(at(columns));
    Execution quiet = options_.execution;
    quiet.progress = nullptr;
    parallel_for(columns, quiet, [&](Index j) { prepare(states[at(j)], at(j), keep); });
    if (!pass(states, keep, 0.1, 0.9)) {
      exact_ = true;
      cut_into_pieces();
      continue;
    }
    bool again = false;
    for (std::size_t j = 0; j < states.size(); ++j) again |= ask_again(states[j], j, keep);
    if (again) pass(states, keep, 0.9, 1);
    refuse_infinity(states);

    std::vector<Column> made(at(columns));
    parallel_for(columns, quiet, [&](Index j) { made[at(j)] = finish(states[at(j)], at(j), keep); });
    Table table(std::move(made), source_);
    for (const auto& note : layout_.notes) table.note(note);
    for (std::size_t j = 0; j < states.size(); ++j) add_notes(states[j], j, table);
    remember_levels(table);
    return table;
  }
}

Column Reader::finish(State& state, std::size_t column, bool keep) const {
  const std::string& name = layout_.names[column];
  if (state.found == Sink::Mode::number || state.found == Sink::Mode::skip) return numeric(name, std::move(state.numbers));
  if (state.found == Sink::Mode::level) return {name, Categories{std::move(state.codes), options_.levels.at(name)}};

  const Dictionary& labels = state.labels;
  const auto count = static_cast<std::size_t>(labels.size());
  if (state.all_numbers()) {
    std::vector<double> value(count, kNaN), numbers(state.codes.size(), kNaN);
    for (std::size_t k = 0; k < count; ++k) {
      double number = 0;
      if (kind_of(labels.at(static_cast<std::int32_t>(k)), missing_, layout_.syntax.decimal, number) == Kind::number)
        value[k] = number;
    }
    for (std::size_t i = 0; i < numbers.size(); ++i)
      if (state.codes[i] >= 0) numbers[i] = value[static_cast<std::size_t>(state.codes[i])];
    return numeric(name, std::move(numbers));
  }
  if (state.is_text()) {
    Texts texts;
    texts.values.resize(state.codes.size());
    texts.missing.resize(state.codes.size());
    for (std::size_t i = 0; i < state.codes.size(); ++i) {
      texts.missing[i] = state.codes[i] < 0;
      if (state.codes[i] >= 0) texts.values[i] = labels.at(state.codes[i]);
    }
    return {name, std::move(texts)};
  }
  std::vector<std::int32_t> order(count), rank(count);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) { return labels.at(a) < labels.at(b); });
  Categories categories;
  for (std::size_t k = 0; k < count; ++k) {
    rank[static_cast<std::size_t>(order[k])] = static_cast<std::int32_t>(k);
    categories.levels.emplace_back(labels.at(order[k]));
  }
  for (auto& code : state.codes)
    if (code >= 0) code = rank[static_cast<std::size_t>(code)];
  if (keep) categories.codes = std::move(state.codes);
  return {name, std::move(categories)};
}

void Reader::add_notes(const State& state, std::size_t column, Table& table) const {
  const Column& made = table.column(static_cast<Index>(column));
  if (made.type() == ColumnType::numeric) return;
  for (std::size_t k = 0; k < state.spelled.size(); ++k) {
    const auto& word = missing_.words()[k];
    if (word.empty() || state.spelled[k] == 0) continue;
    table.note(fmt::format("column '{}': {} is read as missing in {} row{} (written in quotes it would be a label)", made.name,
                           word, state.spelled[k], state.spelled[k] == 1 ? "" : "s"));
  }
  if (state.asked || state.too_many || 2 * state.count(Kind::number) <= static_cast<Index>(state.labels.size())) return;
  std::string_view odd;
  bool found = false;
  for (std::size_t k = 0; k < state.kinds.size(); ++k) {
    const auto label = state.labels.at(static_cast<std::int32_t>(k));
    if (state.kinds[k] != Kind::label || (found && label >= odd)) continue;
    odd = label;
    found = true;
  }
  table.note(fmt::format("column '{}' is read as {}: most of its values are numbers, but '{}' is not", made.name,
                         name_of(made.type()), odd));
}

void Reader::remember_levels(const Table& table) {
  for (std::size_t j = 0; j < levels_.size(); ++j) {
    const Column& column = table.column(static_cast<Index>(j));
    if (column.type() != ColumnType::categorical || levels_[j].size() > 0) continue;
    for (const auto& level : column.categories().levels) levels_[j].code(level);
  }
}

Table Reader::read(const Table& schema, Index first, Index count) const {
  std::vector<Column> columns(schema.all().begin(), schema.all().end());
  std::vector<Sink> sinks(columns.size());
  for (std::size_t j = 0; j < columns.size(); ++j) {
    Sink& sink = sinks[j];
    sink.asked = true;
    sink.levels = &levels_[j];
    sink.levels_win = options_.levels.count(columns[j].name) != 0;
    switch (columns[j].type()) {
      case ColumnType::numeric: {
        auto& values = std::get<Numbers>(columns[j].data).values;
        values.resize(at(count));
        sink.mode = Sink::Mode::number;
        sink.numbers = values.data();
        break;
      }
      case ColumnType::categorical: {
        auto& codes = std::get<Categories>(columns[j].data).codes;
        codes.resize(at(count));
        sink.mode = Sink::Mode::level;
        sink.codes = codes.data();
        break;
      }
      case ColumnType::text: {
        auto& texts = std::get<Texts>(columns[j].data);
        texts.values.resize(at(count));
        texts.missing.resize(at(count));
        sink.mode = Sink::Mode::text;
        sink.texts = &texts;
      }
    }
  }
  Buffer buffer;
  bool stray = false;
  try {
    for (Index row = first; row < first + count;) {
      const Index piece = pieces_.piece_of(row);
      const auto k = at(piece);
      const Index skip = row - pieces_.first_row[k], take = std::min(pieces_.first_row[k + 1], first + count) - row;
      buffer.fill(*bytes_, pieces_.start[k], pieces_.start[k + 1], layout_.syntax.newline);
      parse_records({layout_, missing_}, buffer.begin(), buffer.end(), pieces_.start[k], {skip, take, row - first}, sinks,
                    stray);
      row += take;
    }
  } catch (const Mistake& mistake) {
    throw error(mistake);
  }
  return Table(std::move(columns), source_);
}

}  // namespace lemma::csv
