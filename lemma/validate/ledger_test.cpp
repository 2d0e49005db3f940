// lemma/validate/ledger_test.cpp
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <lemma/core/error.hpp>
#include <lemma/data/csv.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/data/matrix_stream.hpp>
#include <lemma/data/npy.hpp>
#include <lemma/validate/ledger.hpp>
#include <set>
#include <sys/wait.h>
#include <unistd.h>

namespace lemma {
namespace {

namespace fs = std::filesystem;

struct Place {
  Place()
      : folder(fs::temp_directory_path() /
               ("lemma_ledger_" + std::to_string(::getpid()) + "_" + std::to_string(count()++))) {
    fs::create_directories(folder);
  }
  ~Place() {
    fs::permissions(folder, fs::perms::owner_all);
    fs::remove_all(folder);
  }
  static int& count() {
    static int n = 0;
    return n;
  }
  std::string file(const std::string& name = "ledger.db") const { return (folder / name).string(); }
  fs::path folder;
};

RowsPrint some_rows(int from, int count) {
  std::string text;
  for (int i = from; i < from + count; ++i) text += std::to_string(i) + "," + std::to_string(3 * i) + "\n";
  return print_of_lines(text, false);
}

TEST(RowsPrint, DoesNotDependOnTheOrderOfTheRows) {
  const Table iris = dataset("iris");
  std::vector<Index> order;
  for (Index i = 149; i >= 0; --i) order.push_back(i);
  EXPECT_TRUE(print_of(iris).same_as(print_of(iris.select(order))));
  EXPECT_EQ(print_of(iris).id(), print_of(iris.select(order)).id());
  order.pop_back();
  EXPECT_FALSE(print_of(iris).same_as(print_of(iris.select(order))));
}

/// A stream that gives blocks alone, so that nothing can ask it for all rows at once.
class BlocksOnly final : public TableStream {
 public:
  explicit BlocksOnly(const Table& table) : inner_(table) {}
  Index rows() const override { return inner_.rows(); }
  const Table& schema() const override { return inner_.schema(); }
  Table read(Index first, Index count) const override {
    EXPECT_LE(count, 4096);
    return inner_.read(first, count);
  }

 private:
  MemoryTableStream inner_;
};

TEST(RowsPrint, OfNumbersIsTheSameWhereTheyLieFromBlocksAndFromMemory) {
  const Place place;
  const std::string path = place.file("x.npy");
  Matrix x(9000, 3);
  for (Index i = 0; i < x.rows(); ++i) x.row(i) << static_cast<double>(i), std::sin(static_cast<double>(i)), -0.0;
  write_npy(x, path);
  const auto mapped = MappedNpy::open(path);
  ASSERT_TRUE(mapped && mapped->matrix());
  const RowsPrint where_it_lies = print_of(path, *mapped, false);
  EXPECT_EQ(where_it_lies.rows, 9000);
  const Table table = read_npy(path);
  const MemoryTableStream memory(table);
  EXPECT_TRUE(where_it_lies.same_as(print_of(path, memory, true)));
  EXPECT_TRUE(where_it_lies.same_as(print_of(path, BlocksOnly(table), false)));
  const Table few = table.slice(0, 8999);
  const RowsPrint some = print_of(path, MemoryTableStream(few), true);
  EXPECT_FALSE(where_it_lies.same_as(some));
  EXPECT_NEAR(shared_rows(some, where_it_lies).rows, 8999, 1);
}

TEST(RowsPrint, ATextAndItsTableAreTheSameRows) {
  const Table iris = dataset("iris");
  const MemoryTableStream stream(iris);
  EXPECT_EQ(print_of("iris", stream, false).rows, 150);
  EXPECT_TRUE(print_of_lines(format_csv(iris), true).same_as(print_of(iris)));
  EXPECT_TRUE(print_of_lines("a,b\r\n1,2\r\n\r\n3,4", true).same_as(print_of_lines("3,4\n1,2\n", false)));
}

TEST(RowsPrint, SharedRowsAreCountedExactlyWhereAllHashesAreKept) {
  EXPECT_EQ(shared_rows(some_rows(0, 100), some_rows(60, 100)).rows, 40);
  EXPECT_TRUE(shared_rows(some_rows(0, 100), some_rows(60, 100)).exact);
  EXPECT_EQ(shared_rows(some_rows(0, 100), some_rows(100, 100)).rows, 0);
  const auto many = shared_rows(some_rows(0, 40000), some_rows(20000, 40000));
  EXPECT_FALSE(many.exact);
  EXPECT_NEAR(many.rows, 20000, 1200);
}

TEST(Ledger, TheSameUseAgainIsTheSameEntry) {
  const Place place;
  Ledger ledger(place.file());
  const auto rows = some_rows(0, 10);
  for (int i = 0; i < 3; ++i) ledger.add(RowsUsed::evaluated, rows, "test.csv", "m1", "a.lemma", "lda");
  ledger.add(RowsUsed::fitted, rows, "test.csv", "m1", "a.lemma", "lda");
  const auto entries = Ledger(place.file()).entries();
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].times, 3);
  EXPECT_EQ(entries[0].rows, 10);
  EXPECT_EQ(entries[0].use, RowsUsed::evaluated);
  EXPECT_EQ(entries[0].first.size(), std::string("2026-03-01T12:00:00Z").size());
}

TEST(Ledger, LooksAreModelsNotRepetitions) {
  const Place place;
  Ledger ledger(place.file());
  const auto rows = some_rows(0, 10);
  EXPECT_EQ(ledger.looks(rows, "m1"), 1);
  ledger.add(RowsUsed::evaluated, rows, "t", "m1", "", "lda");
  ledger.add(RowsUsed::evaluated, rows, "t", "m1", "", "lda");
  ledger.add(RowsUsed::evaluated, rows, "t", "m2", "", "svm");
  ledger.add(RowsUsed::evaluated, some_rows(10, 10), "other", "m3", "", "svm");
  EXPECT_EQ(ledger.looks(rows, "m1"), 2);
  EXPECT_EQ(ledger.looks(rows, "m4"), 3);
}

TEST(Ledger, RowsThatHaveChosenAreKnownAgainInOtherFiles) {
  const Place place;
  Ledger ledger(place.file());
  ledger.add(RowsUsed::tuned, some_rows(0, 50), "test.csv", "m1", "", "svm(C=10)");
  const auto chosen = ledger.chosen_by(some_rows(40, 20));
  ASSERT_EQ(chosen.size(), 1u);
  EXPECT_EQ(chosen[0].shared.rows, 10);
  EXPECT_TRUE(chosen[0].shared.exact);
  EXPECT_TRUE(ledger.chosen_by(some_rows(50, 20)).empty());
}

TEST(Ledger, EightProcessesWritingAtOnceLoseNothingAndWriteNothingTwice) {
  const Place place;
  constexpr int kProcesses = 8, kEntries = 25;
  std::vector<pid_t> children;
  for (int p = 0; p < kProcesses; ++p) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      try {
        Ledger ledger(place.file());
        for (int i = 0; i < kEntries; ++i)
          ledger.add(RowsUsed::evaluated, some_rows(i, 5), "t", std::to_string(p) + "/" + std::to_string(i), "", "lda");
      } catch (...) { ::_exit(1); }
      ::_exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0);
  }
  std::set<std::string> ids;
  const auto entries = Ledger(place.file()).entries();
  for (const auto& each : entries) {
    ids.insert(each.model_id);
    EXPECT_EQ(each.times, 1);
  }
  EXPECT_EQ(entries.size(), static_cast<std::size_t>(kProcesses * kEntries));
  EXPECT_EQ(ids.size(), entries.size());
}

TEST(Ledger, AFileThatIsNoLedgerIsRefusedInWords) {
  const Place place;
  std::ofstream(place.file()) << "this is no database, whatever its name says, and it is long enough to be looked at\n";
  try {
    Ledger ledger(place.file());
    FAIL();
  } catch (const MachineError& error) {
    EXPECT_NE(std::string(error.what()).find("cannot be used: file is not a database"), std::string::npos)
        << error.what();
  }
  EXPECT_THROW(Ledger("/proc/no/such/ledger.db"), MachineError);
}

TEST(Ledger, TheMarginIsHoeffdingsWithTheUnionOverLooks) {
  EXPECT_DOUBLE_EQ(hoeffding_margin(1, 100), std::sqrt(std::log(40) / 200));
  EXPECT_DOUBLE_EQ(hoeffding_margin(7, 350, 0.1), std::sqrt(std::log(140) / 700));
}

}  // namespace
}  // namespace lemma
