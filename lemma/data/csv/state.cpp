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

/// A vector of megabytes costs a page fault every 4 kB on its first touch, as much time as parsing its numbers. Asking
/// for large pages between reserve() and resize() avoids nearly all of them; where the system has none it is no loss.
template <class T>
void resize_in_large_pages(std::vector<T>& values, Index count) {
  constexpr std::size_t kLarge = std::size_t{1} << 21, kPage = 4096;
  const auto size = static_cast<std::size_t>(count);
  values.reserve(size);
  void* begin = values.data();
  std::size_t bytes = size * sizeof(T);
  if (std::align(kPage, 2 * kLarge, begin, bytes)) ::madvise(begin, bytes / kPage * kPage, MADV_HUGEPAGE);
  values.resize(size);
}

}  // namespace

void ColumnState::make_room(Index rows) {
  if (mode == Sink::Mode::number) resize_in_large_pages(numbers, rows);
  else resize_in_large_pages(codes, rows);
}

bool ColumnState::ask_again() {
  const bool not_numbers = found == Sink::Mode::number && failed;
  const bool where_is_infinity = found == Sink::Mode::label && all_numbers() && count(Kind::infinite) > 0;
  mode = not_numbers ? Sink::Mode::label : where_is_infinity ? Sink::Mode::number : Sink::Mode::skip;
  if (mode == Sink::Mode::skip) return false;
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
  if (sink.infinite_at < infinite_at) {
    infinite_at = sink.infinite_at;
    make_more().infinite = sink.infinite;
  }
}

std::vector<std::int32_t> ColumnState::merge_labels(const Dictionary& local, const MissingWords& missing, char decimal,
                                                    bool keep) {
  auto& [labels, kinds, kind_count, forgotten, present, spelled, infinite] = make_more();
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
    forgotten = true;
    labels.clear();
    kinds.clear();
  }
  return code;
}

bool ColumnState::is_text() const {
  if (asked) return *asked == ColumnType::text;
  return too_many() ||
         (more().labels.size() > kFewTexts && 2 * static_cast<Index>(more().labels.size()) > more().present);
}

std::vector<double> ColumnState::as_numbers(const MissingWords& missing, char decimal) const {
  std::vector<double> value(static_cast<std::size_t>(more().labels.size()), kNaN), made(codes.size(), kNaN);
  for (std::size_t k = 0; k < value.size(); ++k) {
    double number = 0;
    if (kind_of(more().labels.at(static_cast<std::int32_t>(k)), missing, decimal, number) == Kind::number)
      value[k] = number;
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
  if (found != Sink::Mode::label) return numeric(name, std::move(numbers));
  if (all_numbers()) return numeric(name, as_numbers(missing, decimal));
  if (is_text()) return {name, as_texts()};
  return {name, as_categories()};
}

void ColumnState::add_notes(const Column& made, const MissingWords& missing, Table& table) const {
  if (made.type() == ColumnType::numeric) return;
  for (std::size_t k = 0; k < more().spelled.size(); ++k) {
    const auto& word = missing.words()[k];
    if (word.empty() || more().spelled[k] == 0) continue;
    table.note(fmt::format("column '{}': {} is read as missing in {} row{} (written in quotes it would be a label)",
                           made.name, word, more().spelled[k], more().spelled[k] == 1 ? "" : "s"));
  }
  if (asked || too_many() || 2 * count(Kind::number) <= static_cast<Index>(more().labels.size())) return;
  std::optional<std::string_view> odd;  // the first by its bytes
  for (std::size_t k = 0; k < more().kinds.size(); ++k) {
    const auto label = more().labels.at(static_cast<std::int32_t>(k));
    if (more().kinds[k] == Kind::label && (!odd || label < *odd)) odd = label;
  }
  table.note(fmt::format("column '{}' is read as {}: most of its values are numbers, but '{}' is not", made.name,
                         name_of(made.type()), odd.value_or("")));
}

}  // namespace lemma::csv
