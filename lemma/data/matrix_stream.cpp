// lemma/data/matrix_stream.cpp
#include <algorithm>
#include <atomic>
#include <cmath>
#include <fcntl.h>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/data/csv/bytes.hpp>
#include <lemma/data/design/parts.hpp>
#include <lemma/data/matrix_stream.hpp>
#include <lemma/data/npy.hpp>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <unordered_map>
#include <unordered_set>

namespace lemma {
namespace {

constexpr Index kBlock = 4096;  // rows that are looked at together

bool is_column(const Expression& e) { return e.kind == Expression::Kind::name; }

/// Columns of the schema by their names.
std::vector<Index> places_of(const std::vector<std::string>& names, const Table& schema) {
  std::unordered_map<std::string, Index> place;
  for (Index j = 0; j < schema.columns(); ++j) place.emplace(schema.column(j).name, j);
  std::vector<Index> out;
  for (const auto& name : names) {
    const auto found = place.find(name);
    if (found == place.end())
      throw Error(
          fmt::format("column '{}' is missing from {}{}", name, schema.source(), did_you_mean(name, schema.names())));
    out.push_back(found->second);
  }
  return out;
}

/// Whether all numbers of the columns are there. Error naming the first that is infinite.
bool all_there(const MatrixView& x, const std::vector<Index>& columns, const Table& schema,
               const Execution& execution) {
  std::atomic<bool> missing = false;
  parallel_for((x.rows() + kBlock - 1) / kBlock, execution, [&](Index b) {
    const auto rows = x.middleRows(b * kBlock, std::min(kBlock, x.rows() - b * kBlock));
    if ((rows.array() * 0.0).sum() == 0.0) return;  // 0·NaN and 0·∞ are NaN
    for (Index i = 0; i < rows.rows(); ++i)
      for (const Index j : columns) {
        if (std::isinf(rows(i, j)))
          throw Error(fmt::format("{}, row {}, column {}: the number is not finite", schema.source(),
                                  b * kBlock + i + 1, j + 1));
        if (std::isnan(rows(i, j))) missing = true;
      }
  });
  return !missing;
}

/// The first row of each value of a column, as long as they are few: all that classes are learned from.
std::vector<Index> one_of_each(const MatrixView& x, Index column) {
  constexpr std::size_t kMost = 1001;  // more values are a number, not classes
  std::vector<Index> rows;
  std::unordered_set<double> seen;
  for (Index i = 0; i < x.rows() && seen.size() < kMost; ++i)
    if (seen.insert(x(i, column)).second) rows.push_back(i);
  return rows;
}

bool is_factor(const Expression& e) {
  return e.kind == Expression::Kind::call && e.text == "factor" && e.arguments.size() == 1;
}

bool names_columns(const Formula& formula) {
  const auto plain = [](const Term& term) { return term.factors.size() == 1 && is_column(term.factors[0]); };
  const bool one = formula.response.empty() ||
                   (formula.response.size() == 1 && (is_column(formula.response[0]) || is_factor(formula.response[0])));
  return one && formula.offsets.empty() && std::all_of(formula.terms.begin(), formula.terms.end(), plain);
}

bool side_by_side(const std::vector<Index>& columns) {
  for (std::size_t j = 1; j < columns.size(); ++j)
    if (columns[j] != columns[0] + static_cast<Index>(j)) return false;
  return !columns.empty();
}

}  // namespace

std::unique_ptr<MappedNpy> MappedNpy::open(const std::string& path) {
  if (!is_seekable_text(path)) return nullptr;
  const std::string source = path.substr(path.rfind('/') + 1);
  const NpyHeader header = read_npy_header(*file_bytes(path), source);
  const bool as_it_lies = header.kind == 'f' && header.bytes == 8 && header.data % alignof(double) == 0 &&
                          (!header.fortran || header.columns == 1);
  if (!as_it_lies || header.rows == 0) return nullptr;
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return nullptr;
  struct stat about {};
  const auto size = static_cast<std::size_t>(header.data) + at(header.rows) * at(header.columns) * sizeof(double);
  const bool fits = ::fstat(file, &about) == 0 && static_cast<std::size_t>(about.st_size) >= size;
  void* const mapping = fits ? ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
  ::close(file);
  if (mapping == MAP_FAILED) return nullptr;  // reading it may still do
  std::unique_ptr<MappedNpy> out(new MappedNpy);
  out->mapping_ = mapping;
  out->size_ = size;
  const auto* numbers = reinterpret_cast<const double*>(static_cast<const char*>(mapping) + header.data);
  out->x_.emplace(Eigen::Map<const Matrix>(numbers, header.rows, header.columns));
  std::vector<Column> columns;
  for (Index j = 0; j < header.columns; ++j) columns.push_back(numeric(fmt::format("x{}", j + 1), {}));
  out->schema_ = Table(std::move(columns), source);
  return out;
}

MappedNpy::~MappedNpy() {
  if (mapping_) ::munmap(mapping_, size_);
}

Table MappedNpy::read(Index first, Index count) const {
  if (first < 0 || count < 0 || first > rows() - count)
    throw Error(
        fmt::format("there are no rows {} to {}: {} has {} rows", first + 1, first + count, schema_.source(), rows()));
  const auto part = x_->middleRows(first, count);
  std::vector<Column> columns = schema_.all();
  for (Index j = 0; j < part.cols(); ++j) {
    std::get<Numbers>(columns[at(j)].data).values.assign(part.col(j).begin(), part.col(j).end());
    for (Index i = 0; i < count; ++i)
      if (std::isinf(part(i, j)))
        throw Error(
            fmt::format("{}, row {}, column {}: the number is not finite", schema_.source(), first + i + 1, j + 1));
  }
  return Table(std::move(columns), schema_.source());
}

bool takes_columns_as_they_are(const Design& design) {
  const DesignParts& parts = design.parts();
  const auto plain = [](const Variable& v) { return v.kind == Variable::Kind::numeric && is_column(v.value); };
  const auto& response = parts.response;
  const bool one = response.kind == Response::Kind::none ||
                   (response.kind == Response::Kind::numeric && is_column(response.numbers[0])) ||
                   (response.kind == Response::Kind::classes && response.parts.size() == 1);
  return one && parts.offsets.empty() && parts.weights.empty() && parts.precision.empty() && !parts.terms.empty() &&
         std::all_of(parts.variables.begin(), parts.variables.end(), plain) &&
         std::all_of(parts.terms.begin(), parts.terms.end(), [](const auto& t) { return t.factors.size() == 1; });
}

std::optional<Design> design_of_columns(const Formula& formula, const TableStream& data, const DesignOptions& options) {
  const MatrixView* x = data.matrix();
  if (!x || !options.weights.empty() || !options.precision.empty() || !options.id.empty()) return {};
  if (!names_columns(formula.expand(data.schema().names()))) return {};  // what else there is to learn takes all rows
  std::vector<Index> few{0};
  if (formula.response.size() == 1 && (options.classify || options.classify_categories)) {
    const Expression& e = formula.response[0];
    const Expression& column = is_factor(e) ? e.arguments[0] : e;
    if (data.schema().find(column.text)) few = one_of_each(*x, places_of({column.text}, data.schema())[0]);
  }
  std::vector<Table> rows;
  rows.reserve(few.size());
  for (const Index row : few) rows.push_back(data.read(row, 1));
  Design design(formula, stack(rows), options);
  if (!numbers_are_all_there(design, data, options.execution)) return {};
  return design;
}

bool numbers_are_all_there(const Design& design, const TableStream& data, const Execution& execution) {
  return takes_columns_as_they_are(design) &&
         all_there(*data.matrix(), places_of(design.looked_at(), data.schema()), data.schema(), execution);
}

MatrixRows::MatrixRows(const Design& design, const TableStream& data, Use use) {
  const MatrixView& all = *data.matrix();
  const auto columns = places_of(design.features(), data.schema());
  if (side_by_side(columns)) {
    x_.emplace(all.middleCols(columns[0], static_cast<Index>(columns.size())));
  } else {
    copy_.resize(all.rows(), static_cast<Index>(columns.size()));
    for (Index i = 0; i < all.rows(); ++i)
      for (std::size_t j = 0; j < columns.size(); ++j) copy_(i, static_cast<Index>(j)) = all(i, columns[j]);
    x_.emplace(copy_);
  }
  features = design.features();
  target = design.target();
  classes = design.classes();
  has_response = !target.empty();
  if (!has_response) return;
  // The response is one column: the design says what it makes of it, from a table of that column alone.
  const std::string name = design.response_columns()[0];
  const auto y = all.col(places_of({name}, data.schema())[0]);
  const Table one({numeric(name, std::vector<double>(y.begin(), y.end()))}, data.schema().source());
  DesignParts response_alone = design.parts();
  response_alone.terms.clear();
  response_alone.variables.clear();
  response_alone.finish();
  const BoundTable bound(response_alone, one, use);
  std::vector<Index> every(at(all.rows()));
  for (std::size_t i = 0; i < every.size(); ++i) every[i] = static_cast<Index>(i);
  fill_outcome(bound, every, Gaps::refuse, outcome_);
}

Block MatrixRows::read(Index first, Index size, BlockBuffer&) const {
  require(first >= 0 && size >= 0 && first <= count() - size, "rows outside the matrix");
  Block block(x_->middleRows(first, size), first);
  if (!outcome_.y.empty()) block.y = std::span(outcome_.y).subspan(at(first), at(size));
  if (!outcome_.label.empty()) block.label = std::span(outcome_.label).subspan(at(first), at(size));
  return block;
}

}  // namespace lemma
