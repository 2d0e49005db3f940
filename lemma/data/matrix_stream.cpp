// lemma/data/matrix_stream.cpp
#include <algorithm>
#include <atomic>
#include <cmath>
#include <fcntl.h>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/data/csv/bytes.hpp>
#include <lemma/data/design/parts.hpp>
#include <lemma/data/formula/removed.hpp>
#include <lemma/data/matrix_stream.hpp>
#include <lemma/data/npy.hpp>
#include <numeric>
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

/// Whether all values of the columns are there. Error naming the first that is infinite.
bool all_there(const TableStream& data, std::vector<Index> columns, const Execution& execution) {
  const MatrixView& x = *data.matrix();
  const Table& schema = data.schema();
  std::atomic<bool> missing = false;
  for (const Index j : columns)
    if (j >= x.cols() && data.column(schema.column(j).name)->missing() > 0) return false;
  std::erase_if(columns, [&](Index j) { return j >= x.cols(); });
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
constexpr std::size_t kMostValues = 1001;  // more are a number, not classes
std::vector<Index> one_of_each(const TableStream& data, Index column) {
  std::vector<Index> rows;
  std::unordered_set<double> seen;
  const MatrixView& x = *data.matrix();
  const Column* beside = column < x.cols() ? nullptr : data.column(data.schema().column(column).name);
  if (beside && beside->type() == ColumnType::text) return {0};
  const bool of_levels = beside && beside->type() == ColumnType::categorical;
  const std::size_t most = of_levels ? beside->categories().levels.size() : kMostValues;
  for (Index i = 0; i < x.rows() && seen.size() < most; ++i) {
    const double value = of_levels ? beside->categories().codes[at(i)]
                         : beside  ? beside->numbers().values[at(i)]
                                   : x(i, column);
    if (seen.insert(value).second) rows.push_back(i);
  }
  return rows;
}

bool is_factor(const Expression& e) {
  return e.kind == Expression::Kind::call && (e.text == "factor" || e.text == "as.factor") && e.arguments.size() == 1 &&
         is_column(e.arguments[0]);
}

/// A number that each row gives by itself, whatever the other rows are: log(y), y / n. A condition may know a value where a
/// column is missing, and has classes.
bool is_made_row_by_row(const Expression& e) {
  const auto& known = known_functions();
  const bool call = e.kind == Expression::Kind::call;
  if (call && e.text != "I" && std::find(known.begin(), known.end(), e.text) == known.end()) return false;
  return !columns_of(e).empty() && !has_scale(e) && !has_condition(e);
}

bool names_columns(const Formula& formula) {
  const auto plain = [](const Term& term) { return term.factors.size() == 1 && is_column(term.factors[0]); };
  const auto response = [](const Expression& e) { return is_column(e) || is_factor(e) || is_made_row_by_row(e); };
  const bool one = formula.response.empty() || (formula.response.size() == 1 && response(formula.response[0]));
  return one && formula.offsets.empty() && std::all_of(formula.terms.begin(), formula.terms.end(), plain);
}

/// The columns that such a formula names.
WantedColumns columns_named(const Formula& formula) {
  WantedColumns out;
  for (const auto& term : formula.terms) out.features.push_back(term.factors[0].text);
  for (const auto& e : formula.response) {
    const auto names = columns_of(e);
    out.others.insert(out.others.end(), names.begin(), names.end());
  }
  return out;
}

/// A column is parsed into the matrix or beside it, not both.
bool are_apart(const WantedColumns& wanted) {
  return std::none_of(wanted.others.begin(), wanted.others.end(), [&](const auto& name) {
    return std::find(wanted.features.begin(), wanted.features.end(), name) != wanted.features.end();
  });
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

namespace {

/// Whether the features are columns as they stand, and the response is one that `numbers` allows, or classes of a column, or none.
template <class Allowed>
bool takes_columns(const DesignParts& parts, const Allowed& numbers) {
  const auto plain = [](const Variable& v) { return v.kind == Variable::Kind::numeric && is_column(v.value); };
  const auto& response = parts.response;
  const bool one = response.kind == Response::Kind::none ||
                   (response.kind == Response::Kind::numeric && numbers(response.numbers[0])) ||
                   (response.kind == Response::Kind::classes && response.parts.size() == 1 &&
                    response.parts[0].takes_levels_of_column());
  return one && parts.offsets.empty() && parts.weights.empty() && parts.precision.empty() && parts.cluster.empty() &&
         parts.complete.empty() && !parts.terms.empty() &&
         std::all_of(parts.variables.begin(), parts.variables.end(), plain) &&
         std::all_of(parts.terms.begin(), parts.terms.end(), [](const auto& t) { return t.factors.size() == 1; });
}

/// The same, where the response may be made of columns too.
bool reads_columns_as_they_are(const Design& design) {
  return takes_columns(design.parts(), [](const Expression& e) { return is_column(e) || is_made_row_by_row(e); });
}

}  // namespace

bool takes_columns_as_they_are(const Design& design) { return takes_columns(design.parts(), is_column); }

std::optional<WantedColumns> columns_as_they_are(const Formula& formula, const std::vector<std::string>& names) {
  const Formula expanded = formula.expand(names);
  if (!names_columns(expanded)) return {};
  WantedColumns out = columns_named(expanded);
  if (!are_apart(out)) return {};
  for (const auto& name : removed_names(formula)) {  // the design asks whether they are there
    const auto named = [&](const auto& all) { return std::find(all.begin(), all.end(), name.text) != all.end(); };
    if (!named(out.features) && !named(out.others)) out.others.push_back(name.text);
  }
  return out;
}

std::optional<WantedColumns> columns_as_they_are(const Design& design) {
  if (!reads_columns_as_they_are(design)) return {};
  WantedColumns out{design.features(), design.response_columns()};
  if (!are_apart(out)) return {};
  return out;
}

std::optional<Design> design_of_columns(const Formula& formula, const TableStream& data, const DesignOptions& options) {
  const MatrixView* x = data.matrix();
  if (!x || !options.weights.empty() || !options.precision.empty() || !options.id.empty() || !options.cluster.empty())
    return {};
  if (!names_columns(formula.expand(data.schema().names()))) return {};  // what else there is to learn takes all rows
  const bool made = formula.response.size() == 1 && !is_column(formula.response[0]) && !is_factor(formula.response[0]);
  if (made && options.classify) return {};  // each of its values is a class
  std::vector<Index> few{0};
  if (formula.response.size() == 1 && !made && (options.classify || options.classify_categories)) {
    const Expression& e = formula.response[0];
    const Expression& column = is_factor(e) ? e.arguments[0] : e;
    const Column* found = data.schema().find(column.text);
    if (found && is_factor(e) && found->type() == ColumnType::text) return {};  // each of its texts is a class
    if (found) few = one_of_each(data, places_of({column.text}, data.schema())[0]);
    if (few.size() == kMostValues && is_factor(e)) return {};  // more classes than these rows show
  }
  std::vector<Table> rows;
  rows.reserve(few.size());
  for (const Index row : few) rows.push_back(data.read(row, 1));
  Design design(formula, stack(rows), options);
  if (!numbers_are_all_there(design, data, options.execution)) return {};
  return design;
}

bool numbers_are_all_there(const Design& design, const TableStream& data, const Execution& execution) {
  return reads_columns_as_they_are(design) &&
         (data.complete() || all_there(data, places_of(design.looked_at(), data.schema()), execution));
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
  if (has_response) take_response(design, data, use);
}

/// A column of numbers is looked at where it lies. Of anything else the design says what it makes of it, from tables of the
/// columns of the response alone.
void MatrixRows::take_response(const Design& design, const TableStream& data, Use use) {
  const std::vector<std::string> names = design.response_columns();
  const Column* beside = data.column(names[0]);
  const auto& response = design.parts().response;
  const bool as_it_stands = response.kind == Response::Kind::numeric && is_column(response.numbers[0]);
  if (beside && beside->type() == ColumnType::numeric && as_it_stands) {
    y_ = beside->numbers().values;
    return;
  }
  const auto places = places_of(names, data.schema());
  if (!beside && as_it_stands) {
    y_column_.emplace(data.matrix()->middleCols(places[0], 1));
    return;
  }
  DesignParts response_alone = design.parts();
  response_alone.terms.clear();
  response_alone.variables.clear();
  response_alone.finish();
  std::vector<std::string> names_beside;
  for (const auto& name : names)
    if (data.column(name)) names_beside.push_back(name);
  if (response.kind == Response::Kind::numeric) numbers_.reserve(at(count()));
  else label_.reserve(at(count()));
  constexpr Index kTogether = Index{1} << 16;
  for (Index first = 0; first < count(); first += kTogether) {
    const Index size = std::min(kTogether, count() - first);
    std::vector<Column> columns;
    if (!names_beside.empty()) columns = data.read_columns(first, size, names_beside).all();
    for (std::size_t k = 0; k < names.size(); ++k) {
      if (data.column(names[k])) continue;
      const auto y = data.matrix()->col(places[k]).segment(first, size);
      columns.push_back(numeric(names[k], std::vector<double>(y.begin(), y.end())));
    }
    const Table part(std::move(columns), data.schema().source());
    const BoundTable bound(response_alone, part, use, first);
    std::vector<Index> every(at(size));
    std::iota(every.begin(), every.end(), 0);
    DesignData outcome;
    fill_outcome(bound, every, Gaps::refuse, outcome);
    numbers_.insert(numbers_.end(), outcome.y.begin(), outcome.y.end());
    label_.insert(label_.end(), outcome.label.begin(), outcome.label.end());
  }
  y_ = numbers_;
}

Block MatrixRows::read(Index first, Index size, BlockBuffer& buffer) const {
  require(first >= 0 && size >= 0 && first <= count() - size, "rows outside the matrix");
  Block block(x_->middleRows(first, size), first);
  if (y_column_) {
    const auto y = y_column_->col(0).segment(first, size);
    buffer.y.assign(y.begin(), y.end());
    block.y = buffer.y;
  }
  if (!y_.empty()) block.y = y_.subspan(at(first), at(size));
  if (!label_.empty()) block.label = std::span(label_).subspan(at(first), at(size));
  return block;
}

}  // namespace lemma
