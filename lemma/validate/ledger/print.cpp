// lemma/validate/ledger/print.cpp: rows known by their content.
#include <algorithm>
#include <filesystem>
#include <fmt/core.h>
#include <fstream>
#include <lemma/core/error.hpp>
#include <lemma/core/hash.hpp>
#include <lemma/data/csv.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/data/read.hpp>
#include <lemma/validate/ledger.hpp>

namespace lemma {
namespace {

constexpr Index kTogether = 4096;  // rows that are looked at together

/// Keeps the smallest hashes as they come.
class Collector {
 public:
  void add(std::uint64_t hash) {
    ++print_.rows;
    print_.sum += hash;
    auto& heap = print_.smallest;
    if (heap.size() < RowsPrint::kSmallest) {
      heap.push_back(hash);
      std::push_heap(heap.begin(), heap.end());
    } else if (hash < heap.front()) {
      std::pop_heap(heap.begin(), heap.end());
      heap.back() = hash;
      std::push_heap(heap.begin(), heap.end());
    }
  }
  RowsPrint done() {
    std::sort_heap(print_.smallest.begin(), print_.smallest.end());
    return std::move(print_);
  }

 private:
  RowsPrint print_;
};

/// The lines of a text that comes piece by piece.
class Lines {
 public:
  void take(std::string_view piece) {
    for (std::size_t from = 0; from < piece.size();) {
      const auto to = piece.find('\n', from);
      if (to == std::string_view::npos) {
        open_ += piece.substr(from);
        return;
      }
      if (open_.empty()) add(piece.substr(from, to - from));
      else {
        open_ += piece.substr(from, to - from);
        add(open_);
        open_.clear();
      }
      from = to + 1;
    }
  }
  Index count() const { return count_ + (open_.empty() || open_ == "\r" ? 0 : 1); }
  /// Without the first line, where that is a header.
  RowsPrint done(bool header) {
    add(open_);
    if (count_ > 0 && !header) collector_.add(first_);
    return collector_.done();
  }

 private:
  void add(std::string_view line) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) return;
    if (++count_ == 1) first_ = hash_text(line);
    else collector_.add(hash_text(line));
  }
  Collector collector_;
  std::string open_;  // the line that is not at its end yet
  Index count_ = 0;
  std::uint64_t first_ = 0;
};

bool is_packed(const std::string& path) {
  return path.ends_with(".gz") || path.ends_with(".xz") || path.ends_with(".zst");
}

/// Rows of numbers by the numbers themselves, where they lie or a block at a time: a file of them may be larger than memory.
RowsPrint print_of_numbers(const TableStream& stream) {
  Collector out;
  if (const MatrixView* x = stream.matrix()) {
    for (Index i = 0; i < x->rows(); ++i)
      out.add(hash_numbers({x->row(i).data(), static_cast<std::size_t>(x->cols())}));
    return out.done();
  }
  std::vector<double> row;
  for (Index first = 0; first < stream.rows(); first += kTogether) {
    const Table block = stream.read(first, std::min(kTogether, stream.rows() - first));
    row.resize(block.all().size());
    for (std::size_t i = 0; i < static_cast<std::size_t>(block.rows()); ++i) {
      for (std::size_t j = 0; j < row.size(); ++j) row[j] = block.all()[j].numbers().values[i];
      out.add(hash_numbers(row));
    }
  }
  return out.done();
}

}  // namespace

std::string RowsPrint::id() const {
  const std::array<std::uint64_t, 2> both{static_cast<std::uint64_t>(rows), sum};
  return fmt::format("{:016x}", hash_bytes(both.data(), sizeof both));
}

RowsPrint print_of_lines(std::string_view text, bool header) {
  Lines lines;
  lines.take(text);
  return lines.done(header);
}

RowsPrint print_of(const Table& table) {
  Lines lines;
  for (Index first = 0; first < table.rows(); first += kTogether)  // never all of it as one text
    lines.take(format_csv(table.slice(first, std::min(kTogether, table.rows() - first)), false));
  return lines.done(false);
}

RowsPrint print_of(const std::string& data, const TableStream& stream, bool selected) {
  Lines lines;
  const bool by_lines = !selected && data != "-" && !is_packed(data) && !data.ends_with(".npy");
  std::error_code none;
  if (by_lines && std::filesystem::is_regular_file(data, none)) {
    std::ifstream file(data, std::ios::binary);
    std::string piece(std::size_t{1} << 20, '\0');
    while (file.read(piece.data(), static_cast<std::streamsize>(piece.size())), file.gcount() > 0)
      lines.take(std::string_view(piece).substr(0, static_cast<std::size_t>(file.gcount())));
    if (file.bad()) throw MachineError(fmt::format("{} could not be read again", data));
    return lines.done(lines.count() > stream.rows());
  }
  if (by_lines && find_dataset(data)) {
    lines.take(dataset_csv(data));
    return lines.done(lines.count() > stream.rows());
  }
  if (data.ends_with(".npy")) return print_of_numbers(stream);
  if (stream.table()) return print_of(*stream.table());
  return print_of(read_all(stream));
}

RowsShared shared_rows(const RowsPrint& of, const RowsPrint& with) {
  if (of.same_as(with)) return {static_cast<double>(of.rows), true};
  RowsShared out;
  out.exact = of.complete() && with.complete();
  // Beyond the largest hash that both keep nothing is known.
  const std::uint64_t up_to =
      std::min(of.complete() || of.smallest.empty() ? ~std::uint64_t{0} : of.smallest.back(),
               with.complete() || with.smallest.empty() ? ~std::uint64_t{0} : with.smallest.back());
  double known = 0;
  for (const auto hash : of.smallest) {
    if (hash > up_to) break;
    ++known;
    if (std::binary_search(with.smallest.begin(), with.smallest.end(), hash)) ++out.rows;
  }
  if (!out.exact && known > 0) out.rows *= static_cast<double>(of.rows) / known;
  return out;
}

}  // namespace lemma
