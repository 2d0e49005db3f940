// lemma/data/csv/state.cpp
#include <algorithm>
#include <fmt/format.h>
#include <lemma/data/csv/state.hpp>
#include <limits>
#include <memory>
#include <numeric>
#include <sys/mman.h>

namespace lemma::csv {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr std::int32_t kFewTexts = 20;  // up to so many different labels are levels, however few rows there are

template <class T>
void resize_in_large_pages(std::vector<T>& values, Index count) {
  const auto size = static_cast<std::size_t>(count);
  values.reserve(size);
  ask_for_large_pages(values.data(), size * sizeof(T));
  values.resize(size);
}

/// What a label of a column is; narrows the forms of its numbers.
Kind look_at(std::string_view text, const MissingWords& missing, char decimal, Forms& forms) {
  double value = 0;
  const Kind kind = kind_of(text, missing, decimal, value);
  if (kind == Kind::missing) return kind;
  Forms here;
  here.add(text, decimal, kind != Kind::label);
  forms.merge(here);
  return kind == Kind::label && !here.none() ? Kind::formed : kind;
}

}  // namespace

void ask_for_large_pages(void* begin, std::size_t bytes) {
  constexpr std::size_t kLarge = std::size_t{1} << 21, kPage = 4096;
  if (std::align(kPage, 2 * kLarge, begin, bytes)) ::madvise(begin, bytes / kPage * kPage, MADV_HUGEPAGE);
}

void ColumnState::make_room(Index rows) {
  if (keep != Keep::column) return;
  if (mode == Sink::Mode::number) resize_in_large_pages(numbers, rows);
  else resize_in_large_pages(codes, rows);
}

bool ColumnState::allows(const Form& written) const {
  if (!asked) return true;
  if (*asked == ReadAs::numeric) return !written.moments();
  return *asked == ReadAs::date && written.moments();
}

std::optional<Form> ColumnState::numbers_form() const {
  if (wants_numbers() && values() == 0) return Form{asked == ReadAs::date ? Form::Style::date : Form::Style::plain};
  const auto written = more().forms.form();
  return written && allows(*written) ? written : std::nullopt;
}

bool ColumnState::ask_again() {
  if (found == Sink::Mode::number && failed) {
    mode = Sink::Mode::label;
  } else if (found == Sink::Mode::label && numbers_form() && count(Kind::infinite) > 0) {
    mode = Sink::Mode::number;
    form = {};
  } else if (found == Sink::Mode::label && wants_numbers() && !numbers_form()) {
    mode = Sink::Mode::number;
    if (asked == ReadAs::numeric) form = {};
    else if (!form.moments()) form = {Form::Style::time};
    strict = true;
  } else {
    mode = Sink::Mode::skip;
    return false;
  }
  failed = false;
  infinite_at = kNowhere;
  numbers = {};
  codes = {};
  if (more_) more_->present = 0;
  return true;
}

const ColumnState::More& ColumnState::more() const {
  static const More nothing;
  return more_ ? *more_ : nothing;
}
ColumnState::More& ColumnState::make_more() {
  if (!more_) more_ = std::make_unique<More>();
  return *more_;
}

void ColumnState::merge(const Sink& sink, Index rows) {
  if (mode != Sink::Mode::number) {
    More& more = make_more();
    more.present += rows - std::accumulate(sink.spelled.begin(), sink.spelled.end(), Index{0});
    more.spelled.resize(sink.spelled.size());
    for (std::size_t k = 0; k < sink.spelled.size(); ++k) more.spelled[k] += sink.spelled[k];
  }
  formed |= sink.formed;
  if (sink.infinite_at < infinite_at) {
    infinite_at = sink.infinite_at;
    make_more().infinite = sink.infinite;
  }
}

std::vector<std::int32_t> ColumnState::merge_labels(const Dictionary& local, const MissingWords& missing,
                                                    char decimal) {
  auto& [labels, kinds, kind_count, forms, forgotten, present, spelled, infinite] = make_more();
  std::vector<std::int32_t> code(static_cast<std::size_t>(local.size()));
  for (std::int32_t k = 0; k < local.size(); ++k) {
    const std::int32_t before = labels.size();
    code[static_cast<std::size_t>(k)] = labels.code(local.at(k));
    if (labels.size() == before) continue;
    kinds.push_back(look_at(local.at(k), missing, decimal, forms));
    ++kind_count[static_cast<std::size_t>(kinds.back())];
  }
  if (keep != Keep::column && asked != ReadAs::categorical && labels.size() > kMostLevels) {
    forgotten = true;
    labels.clear();
    kinds.clear();
  }
  return code;
}

bool ColumnState::is_text() const {
  if (asked) return *asked == ReadAs::text;
  return too_many() ||
         (more().labels.size() > kFewTexts && 2 * static_cast<Index>(more().labels.size()) > more().present);
}

std::vector<double> ColumnState::as_numbers(const MissingWords& missing, char decimal) const {
  std::vector<double> value(static_cast<std::size_t>(more().labels.size()), kNaN), made(codes.size(), kNaN);
  for (std::size_t k = 0; k < value.size(); ++k) {
    const auto text = more().labels.at(static_cast<std::int32_t>(k));
    double number = 0;
    const Kind kind = kind_of(text, missing, decimal, number);
    if (kind == Kind::missing) continue;
    if (form.plain() ? kind == Kind::number : read_formed(text, form, decimal, number)) value[k] = number;
  }
  for (std::size_t i = 0; i < made.size(); ++i)
    if (codes[i] >= 0) made[i] = value[static_cast<std::size_t>(codes[i])];
  return made;
}

Texts ColumnState::as_texts() const {
  Texts texts;
  texts.values.resize(codes.size());
  texts.missing.resize(codes.size());
  for (std::size_t i = 0; i < codes.size(); ++i) {
    texts.missing[i] = codes[i] < 0;
    if (codes[i] >= 0) texts.values[i] = more().labels.at(codes[i]);
  }
  return texts;
}

Categories ColumnState::as_categories() {
  const Dictionary& labels = more().labels;
  const auto count = static_cast<std::size_t>(labels.size());
  std::vector<std::int32_t> order(count), rank(count);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) { return labels.at(a) < labels.at(b); });
  Categories categories;
  for (std::size_t k = 0; k < count; ++k) {
    rank[static_cast<std::size_t>(order[k])] = static_cast<std::int32_t>(k);
    categories.levels.emplace_back(labels.at(order[k]));
  }
  for (auto& code : codes)
    if (code >= 0) code = rank[static_cast<std::size_t>(code)];
  categories.codes = std::move(codes);
  return categories;
}

Column ColumnState::finish(const std::string& name, const std::vector<std::string>* given, const MissingWords& missing,
                           char decimal) {
  if (found == Sink::Mode::level) return {name, Categories{std::move(codes), *given}};
  if (found == Sink::Mode::label) {
    const auto written = numbers_form();
    form = written.value_or(Form{});
    if (written) numbers = as_numbers(missing, decimal);
    else if (is_text()) return {name, as_texts()};
    else return {name, as_categories()};
  }
  // Of what was guessed there may be no value: it stood in lines that are no rows.
  if (found == Sink::Mode::number && !formed) form = {asked == ReadAs::date ? Form::Style::date : Form::Style::plain};
  return {name, Numbers{std::move(numbers), form.quantity()}};
}

void ColumnState::add_notes(const Column& made, const MissingWords& missing, Table& table) const {
  if (made.type() == ColumnType::numeric) {
    if (!form.plain() && !asked) table.note(form.note(made.name));
    return;
  }
  for (std::size_t k = 0; k < more().spelled.size(); ++k) {
    const auto& word = missing.words()[k];
    if (word.empty() || more().spelled[k] == 0) continue;
    table.note(fmt::format("column '{}': {} is read as missing in {} row{} (written in quotes it would be a label)",
                           made.name, word, more().spelled[k], more().spelled[k] == 1 ? "" : "s"));
  }
  const Index numbers_among = count(Kind::number) + count(Kind::formed);
  if (asked || too_many() || 2 * numbers_among <= static_cast<Index>(more().labels.size())) return;
  std::optional<std::string_view> odd;  // the first by its bytes
  for (std::size_t k = 0; k < more().kinds.size(); ++k) {
    const auto label = more().labels.at(static_cast<std::int32_t>(k));
    if (more().kinds[k] == Kind::label && (!odd || label < *odd)) odd = label;
  }
  table.note(odd ? fmt::format("column '{}' is read as {}: most of its values are numbers, but '{}' is not", made.name,
                               name_of(made.type()), *odd)
                 : fmt::format("column '{}' is read as {}: its numbers or dates are not all written in the same way",
                               made.name, name_of(made.type())));
}

}  // namespace lemma::csv
