// lemma/model/column_sizes.cpp
#include <cmath>
#include <fmt/core.h>
#include <lemma/model/column_sizes.hpp>

namespace lemma {
namespace {

void take(double value, double& largest) {
  const double size = std::abs(value);
  if (size > largest) largest = size;  // false for NaN
}

void take_responses(const Block& block, Index i, Vector& largest) {
  const auto several = block.several();
  if (largest.size() == 0) largest = Vector::Zero(several.cols());
  for (Index k = 0; k < several.cols(); ++k) take(several(i, k), largest(k));
}

void require_usable_size(double size, std::string_view method, const std::string& whose) {
  if (size == 0 || !std::isfinite(size) || (size >= kLeastSize && size <= kGreatestSize)) return;
  throw Error(fmt::format("{}: {} are too {} to be squared (they are about {:.0e}); use another unit", method, whose,
                          size > 1 ? "large" : "small", size));
}

}  // namespace

void ColumnSizes::accumulate(const Block& block) {
  double* const largest = x.data();
  for (Index i = 0; i < block.rows(); ++i) {
    if (block.weight_of(i) == 0) continue;  // it takes no part
    const double* const row = block.x.row(i).data();
    for (Index j = 0; j < x.size(); ++j) take(row[j], largest[j]);
    if (!block.responses.empty()) take_responses(block, i, responses);
    if (!block.y.empty()) take(block.y[static_cast<std::size_t>(i)], y);
    take(block.offset_of(i), offset);
  }
  for (const double v : block.weight) take(v, weight);
  for (const double v : block.precision) take(v, precision);
}

void ColumnSizes::merge(const ColumnSizes& other) {
  x = x.cwiseMax(other.x);
  take(other.y, y);
  if (responses.size() == 0) responses = other.responses;
  for (Index k = 0; k < other.responses.size(); ++k) take(other.responses(k), responses(k));
  take(other.offset, offset);
  take(other.weight, weight);
  take(other.precision, precision);
}

void ColumnSizes::require_usable(std::string_view method, const Rows& rows) const {
  for (Index j = 0; j < x.size(); ++j)
    require_usable_size(x(j), method, "the values of '" + rows.features[static_cast<std::size_t>(j)] + "'");
  require_usable_size(y, method, rows.target.empty() ? "the responses" : "the values of '" + rows.target + "'");
  for (Index k = 0; k < responses.size(); ++k)
    if (const ResponseColumn& column = rows.responses[static_cast<std::size_t>(k)]; column.classes.empty())
      require_usable_size(responses(k), method, "the values of '" + column.name + "'");
  require_usable_size(offset, method, "the offsets");
  require_usable_size(weight, method, "the weights");
  require_usable_size(precision, method, "the precisions");
}

void check_sizes(std::string_view name, const MethodAbout& about, const Rows& rows) {
  if (about.task == Task::transformation || dynamic_cast<const MeasuredRows*>(&rows)) return;
  if (const Csr* x = rows.sparse()) {
    ColumnSizes sizes(rows.width());
    for (std::size_t k = 0; k < x->value.size(); ++k) take(x->value[k], sizes.x(x->column[k]));
    sizes.require_usable(name, rows);
  } else {
    scan(rows, ColumnSizes(rows.width())).require_usable(name, rows);
  }
}

MeasuredRows::MeasuredRows(const Rows& rows) : Rows(rows), rows_(rows), sizes_(rows.width()) {}

Block MeasuredRows::read(Index first, Index size, BlockBuffer& buffer) const {
  const Block block = rows_.read(first, size, buffer);
  ColumnSizes found(width());
  found.accumulate(block);
  const std::lock_guard lock(mutex_);
  sizes_.merge(found);
  return block;
}

}  // namespace lemma
