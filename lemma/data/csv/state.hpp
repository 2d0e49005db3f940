// lemma/data/csv/state.hpp: what is known about a column while passes run over a CSV file.
#pragma once
#include <array>
#include <atomic>
#include <lemma/data/csv/parse.hpp>
#include <memory>
#include <optional>
#include <vector>

namespace lemma::csv {

/// A column with more labels than this is text, so that levels never grow without bound.
inline constexpr std::int32_t kMostLevels = 1 << 20;

/// Megabytes of memory cost a page fault every 4 kB on their first touch, as much time as parsing the numbers that go there.
/// Asking for large pages before avoids nearly all of them; where the system has none it is no loss.
void ask_for_large_pages(void* begin, std::size_t bytes);

/// The pieces of a pass meet here in no order, so everything that is kept must not depend on it: labels are sorted in the
/// end, counts are sums, places are minima.
struct ColumnState {
  Sink::Mode mode = Sink::Mode::skip;   // in the pass that runs
  Sink::Mode found = Sink::Mode::skip;  // in the last pass that looked at it
  enum class Keep { nothing, column, matrix };
  Keep keep = Keep::nothing;  // its values: by themselves, or as a column of a matrix
  double* place = nullptr;    // of its first value in the matrix
  Index stride = 1;           // from a row of the matrix to the next
  bool complete = false;      // nobody wants it if it is not numbers in the matrix, or a value is missing
  std::optional<ReadAs> asked;
  Form form;            // of its numbers; what was guessed before it is known
  bool strict = false;  // what is no such number is a mistake
  bool formed = false;  // was there any number, in a form that is not plain?
  std::vector<double> numbers;
  std::vector<std::int32_t> codes;
  std::atomic<bool> failed = false;  // a label among numbers
  std::uint64_t infinite_at = kNowhere;
  const std::string& infinite() const { return more().infinite; }  // as written there

  /// Room for the values of this mode, if they are kept by themselves.
  void make_room(Index rows);
  /// May numbers of this form be what the user asked for, if anything?
  bool allows(const Form& written) const;
  /// Was the pass mistaken about this column? Then it is prepared for another: as labels where there were other things than
  /// numbers, as numbers where there were only numbers and the place of an infinity is wanted, or where the user asked
  /// for numbers and the place of something else is wanted.
  bool ask_again();

  // Pieces that finish at the same time take turns here: the caller's lock.
  void merge(const Sink& sink, Index rows);
  /// The labels of a piece in the numbering of the whole column; without `keep`, texts are given up in time.
  std::vector<std::int32_t> merge_labels(const Dictionary& local, const MissingWords& missing, char decimal);

  /// The column; what is in this state is moved there. `given` are the user's levels, if there are any.
  Column finish(const std::string& name, const std::vector<std::string>* given, const MissingWords& missing,
                char decimal);
  /// What the user should know about the column that finish() made.
  void add_notes(const Column& made, const MissingWords& missing, Table& table) const;

 private:
  /// What a column of plain numbers never has: most columns of a wide file.
  struct More {
    Dictionary labels;
    std::vector<Kind> kinds;  // of the labels: a column of nothing but numbers is numeric after all
    std::array<Index, 5> kind_count{};
    Forms forms;
    bool forgotten = false;  // there were too many labels
    Index present = 0;
    std::vector<Index> spelled;
    std::string infinite;
  };
  const More& more() const;
  More& make_more();

  Index count(Kind kind) const { return more().kind_count[static_cast<std::size_t>(kind)]; }
  /// How many different values there are, missing ones in quotes apart.
  Index values() const {
    return count(Kind::label) + count(Kind::formed) + count(Kind::number) + count(Kind::infinite);
  }
  bool wants_numbers() const { return asked == ReadAs::numeric || asked == ReadAs::date; }
  /// The form that all values have, when the column may be numbers.
  std::optional<Form> numbers_form() const;
  bool too_many() const { return more().forgotten || more().labels.size() > kMostLevels; }
  bool is_text() const;
  std::vector<double> as_numbers(const MissingWords& missing, char decimal) const;
  Texts as_texts() const;
  Categories as_categories();

  std::unique_ptr<More> more_;
};

}  // namespace lemma::csv
