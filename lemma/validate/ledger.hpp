// lemma/validate/ledger.hpp: what rows have been used for: a small SQLite file that remembers for people who forget.
//
// A set of rows is known by its content: how many there are, an order-free sum of their hashes, and the smallest hashes. No row
// is stored, and nothing leaves the machine. Several processes may write at once.
#pragma once
#include <array>
#include <cstdint>
#include <lemma/core/value.hpp>
#include <lemma/data/stream.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lemma {

/// Rows by their content, in any order.
struct RowsPrint {
  static constexpr std::size_t kSmallest = 8192;
  Index rows = 0;
  std::uint64_t sum = 0;
  std::vector<std::uint64_t> smallest = {};  // ascending, at most kSmallest, equal ones as often as they occur

  std::string id() const;  // 16 hexadecimal digits
  bool complete() const { return static_cast<Index>(smallest.size()) == rows; }
  bool same_as(const RowsPrint& other) const { return rows == other.rows && sum == other.sum; }
};
/// Of the lines of a text; the first one is left out when it is a header. An empty line is no row.
RowsPrint print_of_lines(std::string_view text, bool header);
/// Of a table: each row as a CSV line. A file whose numbers are written shortest has the same print as its text.
RowsPrint print_of(const Table& table);
/// Of DATA as it stands on the command line. A CSV or LIBSVM file and a built-in set are taken by their lines, without parsing them;
/// a .npy file by its numbers, where they lie (so rows of it are not known again in a CSV file); other data by the table that was
/// made of them.
RowsPrint print_of(const std::string& data, const TableStream& stream, bool selected);

/// Of the rows of one set those that are rows of another. Exact while both are complete, else an estimate.
struct RowsShared {
  double rows = 0;
  bool exact = true;
};
RowsShared shared_rows(const RowsPrint& of, const RowsPrint& with);

enum class RowsUsed { fitted, tuned, compared, crossed, evaluated, selected };
constexpr auto names_of(RowsUsed) {
  return std::array<std::string_view, 6>{"fitted", "tuned", "compared", "crossed", "evaluated", "selected"};
}

/// One use of a set of rows by one model. The same use again is the same entry, one more time.
struct LedgerEntry {
  RowsUsed use = RowsUsed::fitted;
  std::string data_id, data;  // of the rows, and how they were called
  Index rows = 0;
  std::string model_id, model;  // by the content of its file; how it was called
  std::string method;
  std::string first, last;  // "2026-03-01T12:00:00Z"
  Index times = 1;
};

class Ledger {
 public:
  /// Makes the file, and the folder it lies in, where there is none. MachineError when it cannot be opened, or is no ledger.
  explicit Ledger(const std::string& path);
  ~Ledger();
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  void add(RowsUsed use, const RowsPrint& rows, const std::string& data, const std::string& model_id,
           const std::string& model, const std::string& method);
  /// In the order of their first use; of one data set, or one model, where that is asked.
  std::vector<LedgerEntry> entries(const std::string& data_id = {}, const std::string& model_id = {}) const;
  /// Sets of rows that were tuned on, compared by, or columns selected by, and have rows in common with these.
  struct Chosen {
    LedgerEntry entry;
    RowsShared shared;
  };
  std::vector<Chosen> chosen_by(const RowsPrint& rows) const;
  /// Models, this one included, that have been evaluated on these rows.
  Index looks(const RowsPrint& rows, const std::string& model_id) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// R ≤ R̂ + √(log(2m/δ) / 2k): how far the true risk of each of m models may lie from its mean loss in [0, 1] on k rows, with
/// probability 1 − δ, if the rows are independent and had no part in making the models.
double hoeffding_margin(Index looks, double rows, double delta = 0.05);

/// How a model is known to the ledger: by the bytes of its file.
std::string model_id(std::span<const std::uint8_t> file);

}  // namespace lemma
