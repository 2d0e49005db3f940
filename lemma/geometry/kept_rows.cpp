// lemma/geometry/kept_rows.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/finite.hpp>
#include <lemma/geometry/kept_rows.hpp>

namespace lemma {
namespace {

template <class Whole>
std::vector<Whole> whole_numbers(const Value& value, const std::string& where) {
  const Vector numbers = value.as_vector(where);
  std::vector<Whole> out;
  for (const double number : numbers) {
    if (!(number >= 0 && number < 2e9 && number == std::floor(number)))
      throw Error(fmt::format("{}: {} is not a place", where, number));
    out.push_back(static_cast<Whole>(number));
  }
  return out;
}

template <class Whole>
Value as_array(const std::vector<Whole>& numbers) {
  return Value::Array{{static_cast<Index>(numbers.size())}, {numbers.begin(), numbers.end()}};
}

}  // namespace

Value Codec<RowNumbers>::write(const RowNumbers& rows) {
  std::vector<Index> counted = rows.of;
  for (Index& row : counted) ++row;
  return as_array(counted);
}

void Codec<RowNumbers>::read(RowNumbers& field, const Value& value, const std::string& where) {
  field.of = whole_numbers<Index>(value, where);
  for (Index& row : field.of)
    if (--row < 0) throw Error(where + ": rows are counted from 1");
}

KeptRows KeptRows::of(const Kernel& kernel, const Points& points) {
  KeptRows out;
  out.width = points.width();
  if (kernel.contains<Precomputed>()) return out;
  if (points.is_sparse()) out.sparse = points.sparse();
  else out.dense = points.dense();
  return out;
}

Points KeptRows::points(const Kernel& kernel, const std::vector<Index>& places) const {
  if (kernel.contains<Precomputed>()) return Points::at_places(places, width);
  return sparse ? Points(*sparse) : Points(dense);
}

void KeptRows::check(std::string_view method, const Kernel& kernel, Index count) const {
  const auto fail = [&] { throw Error(fmt::format("{}: the rows that the model keeps are damaged", method)); };
  if (kernel.contains<Precomputed>()) {
    if (sparse || dense.size() > 0) fail();
    return;
  }
  if (!sparse) {
    if (dense.rows() != count || dense.cols() != width || !all_finite(dense)) fail();
    return;
  }
  const auto& [start, column, value, columns] = *sparse;
  if (sparse->rows() != count || columns != width || start.size() != at(count) + 1 || start[0] != 0 ||
      start.back() != static_cast<Index>(column.size()) || column.size() != value.size() ||
      !std::is_sorted(start.begin(), start.end()))
    fail();
  for (Index i = 0; i < count; ++i)
    for (Index k = start[at(i)]; k < start[at(i) + 1]; ++k)
      if (column[at(k)] >= width || (k > start[at(i)] && column[at(k)] <= column[at(k) - 1]) ||
          !std::isfinite(value[at(k)]))
        fail();
}

Value Codec<KeptRows>::write(const KeptRows& rows) {
  if (!rows.sparse && rows.dense.cols() == rows.width) return rows.dense;
  Value out = Value::object();
  out.set("width", rows.width);
  if (!rows.sparse) return out;
  out.set("start", as_array(rows.sparse->start));
  out.set("column", as_array(rows.sparse->column));
  out.set("value", Value(rows.sparse->value));
  return out;
}

void Codec<KeptRows>::read(KeptRows& field, const Value& value, const std::string& where) {
  field = {};
  if (!value.is_object()) {
    field.dense = value.as_matrix(where);
    field.width = field.dense.cols();
    return;
  }
  field.width = value.at("width").as_integer(where);
  require(field.width >= 0 && field.width < 2'000'000'000, where + ": the width is not usable");
  if (!value.find("start")) return;
  Csr& sparse = field.sparse.emplace();
  sparse.width = field.width;
  sparse.start = whole_numbers<Index>(value.at("start"), where);
  sparse.column = whole_numbers<std::int32_t>(value.at("column"), where);
  const Vector numbers = value.at("value").as_vector(where);
  sparse.value.assign(numbers.begin(), numbers.end());
}

}  // namespace lemma
