// lemma/validate/ledger.cpp: the file.
#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/hash.hpp>
#include <lemma/validate/ledger.hpp>
#include <sqlite3.h>

namespace lemma {
namespace {

constexpr int kPatience = 20'000;  // milliseconds that a process waits for another one
constexpr int kVersion = 1;

std::string now() {
  const std::time_t t = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm utc{};
  ::gmtime_r(&t, &utc);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text.data();
}

/// A statement that is finalised with its block.
class Statement {
 public:
  Statement(sqlite3* file, const char* sql) : file_(file) {
    if (sqlite3_prepare_v2(file, sql, -1, &statement_, nullptr) != SQLITE_OK) fail();
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  void bind(int place, const std::string& text) {
    sqlite3_bind_text(statement_, place, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
  }
  void bind(int place, std::int64_t number) { sqlite3_bind_int64(statement_, place, number); }
  void bind(int place, const std::vector<std::uint64_t>& numbers) {
    sqlite3_bind_blob64(statement_, place, numbers.data(), numbers.size() * sizeof(std::uint64_t), SQLITE_TRANSIENT);
  }
  bool next() {
    const int code = sqlite3_step(statement_);
    if (code != SQLITE_ROW && code != SQLITE_DONE) fail();
    return code == SQLITE_ROW;
  }
  std::string text(int column) const {
    const auto* at = sqlite3_column_text(statement_, column);
    return at ? reinterpret_cast<const char*>(at) : "";
  }
  std::int64_t number(int column) const { return sqlite3_column_int64(statement_, column); }
  std::vector<std::uint64_t> numbers(int column) const {
    const auto bytes = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
    std::vector<std::uint64_t> out(bytes / sizeof(std::uint64_t));
    if (!out.empty())
      std::memcpy(out.data(), sqlite3_column_blob(statement_, column), out.size() * sizeof(std::uint64_t));
    return out;
  }

 private:
  [[noreturn]] void fail() const { throw MachineError(sqlite3_errmsg(file_)); }
  sqlite3* file_;
  sqlite3_stmt* statement_ = nullptr;
};

constexpr const char* kTables = R"(
create table if not exists data (id text primary key, rows integer not null, sum integer not null, smallest blob not null);
create table if not exists uses (
  use integer not null, data_id text not null references data(id), data text not null, model_id text not null,
  model text not null, method text not null, first text not null, last text not null, times integer not null,
  primary key (use, data_id, model_id));
)";

constexpr const char* kColumns =
    "select uses.use, uses.data_id, uses.data, data.rows, uses.model_id, uses.model, uses.method, uses.first, "
    "uses.last, "
    "uses.times from uses join data on data.id = uses.data_id ";

LedgerEntry entry_of(const Statement& s) {
  LedgerEntry out;
  const auto use = s.number(0);
  out.use = static_cast<RowsUsed>(std::clamp<std::int64_t>(use, 0, static_cast<int>(names_of(RowsUsed{}).size()) - 1));
  out.data_id = s.text(1);
  out.data = s.text(2);
  out.rows = s.number(3);
  out.model_id = s.text(4);
  out.model = s.text(5);
  out.method = s.text(6);
  out.first = s.text(7);
  out.last = s.text(8);
  out.times = s.number(9);
  return out;
}

}  // namespace

struct Ledger::Parts {
  sqlite3* file = nullptr;
  ~Parts() { sqlite3_close(file); }
  void run(const char* sql) const {
    if (sqlite3_exec(file, sql, nullptr, nullptr, nullptr) != SQLITE_OK) throw MachineError(sqlite3_errmsg(file));
  }
};

Ledger::Ledger(const std::string& path) : parts_(std::make_unique<Parts>()) {
  try {
    const auto folder = std::filesystem::path(path).parent_path();
    if (!folder.empty()) std::filesystem::create_directories(folder);
    if (sqlite3_open_v2(path.c_str(), &parts_->file, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr) != SQLITE_OK)
      throw MachineError(parts_->file ? sqlite3_errmsg(parts_->file) : "out of memory");
    sqlite3_busy_timeout(parts_->file, kPatience);
    parts_->run("begin immediate");
    int version = 0;
    {
      Statement asked(parts_->file, "pragma user_version");
      if (asked.next()) version = static_cast<int>(asked.number(0));
    }
    if (version > kVersion) throw MachineError("a newer lemma wrote it");
    if (version == 0) {
      parts_->run(kTables);
      parts_->run("pragma user_version = 1");
    }
    parts_->run("commit");
  } catch (const std::filesystem::filesystem_error& error) {
    throw MachineError(fmt::format("the ledger {} cannot be used: {}", path, error.code().message()));
  } catch (const MachineError& error) {
    throw MachineError(fmt::format("the ledger {} cannot be used: {}", path, error.what()));
  }
}

Ledger::~Ledger() = default;

void Ledger::add(RowsUsed use, const RowsPrint& rows, const std::string& data, const std::string& model_id,
                 const std::string& model, const std::string& method) {
  const std::string time = now();
  parts_->run("begin immediate");  // the only one who writes, until it is done
  try {
    Statement set(parts_->file, "insert or ignore into data values (?1, ?2, ?3, ?4)");
    set.bind(1, rows.id());
    set.bind(2, std::int64_t{rows.rows});
    set.bind(3, static_cast<std::int64_t>(rows.sum));
    set.bind(4, rows.smallest);
    set.next();
    Statement entry(
        parts_->file,
        "insert into uses values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, 1) on conflict (use, data_id, model_id) do "
        "update set times = times + 1, last = ?7, data = ?3, model = ?5");
    entry.bind(1, static_cast<std::int64_t>(use));
    entry.bind(2, rows.id());
    entry.bind(3, data);
    entry.bind(4, model_id);
    entry.bind(5, model);
    entry.bind(6, method);
    entry.bind(7, time);
    entry.next();
  } catch (...) {
    sqlite3_exec(parts_->file, "rollback", nullptr, nullptr, nullptr);
    throw;
  }
  parts_->run("commit");
}

std::vector<LedgerEntry> Ledger::entries(const std::string& data_id, const std::string& model_id) const {
  Statement s(parts_->file, (std::string(kColumns) +
                             "where (?1 = '' or uses.data_id = ?1) and (?2 = '' or uses.model_id = ?2) order by "
                             "uses.first, uses.rowid")
                                .c_str());
  s.bind(1, data_id);
  s.bind(2, model_id);
  std::vector<LedgerEntry> out;
  while (s.next()) out.push_back(entry_of(s));
  return out;
}

std::vector<Ledger::Chosen> Ledger::chosen_by(const RowsPrint& rows) const {
  std::vector<Chosen> out;
  for (const auto& entry : entries()) {
    if (entry.use != RowsUsed::tuned && entry.use != RowsUsed::compared && entry.use != RowsUsed::selected) continue;
    Statement s(parts_->file, "select rows, sum, smallest from data where id = ?1");
    s.bind(1, entry.data_id);
    if (!s.next()) continue;
    const RowsPrint other{s.number(0), static_cast<std::uint64_t>(s.number(1)), s.numbers(2)};
    const RowsShared found = shared_rows(rows, other);
    if (found.rows > 0) out.push_back({entry, found});
  }
  return out;
}

Index Ledger::looks(const RowsPrint& rows, const std::string& model_id) const {
  Index count = 1;
  for (const auto& entry : entries(rows.id()))
    if (entry.use == RowsUsed::evaluated && entry.model_id != model_id) ++count;
  return count;
}

double hoeffding_margin(Index looks, double rows, double delta) {
  return std::sqrt(std::log(2 * static_cast<double>(looks) / delta) / (2 * rows));
}

std::string model_id(std::span<const std::uint8_t> file) {
  return fmt::format("{:016x}", hash_bytes(file.data(), file.size()));
}

}  // namespace lemma
