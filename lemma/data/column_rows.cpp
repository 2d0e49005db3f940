// lemma/data/column_rows.cpp
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/data/column_rows.hpp>

namespace lemma {
namespace {

constexpr Index kTile = 64;  // rows that are filled column after column: they stay in the nearest cache

std::vector<std::string> names(std::size_t count) {
  std::vector<std::string> out;
  for (std::size_t j = 1; j <= count; ++j) out.push_back(fmt::format("x{}", j));
  return out;
}

}  // namespace

ColumnRows::ColumnRows(std::vector<const double*> columns, Index rows)
    : columns_(std::move(columns)), rows_(rows), all_(true) {
  features = names(columns_.size());
}

ColumnRows::ColumnRows(std::vector<const double*> columns, std::vector<Index> chosen)
    : columns_(std::move(columns)), chosen_(std::move(chosen)), rows_(static_cast<Index>(chosen_.size())), all_(false) {
  features = names(columns_.size());
}

Block ColumnRows::read(Index first, Index size, BlockBuffer& buffer) const {
  require(first >= 0 && size >= 0 && first <= rows_ - size, "rows outside the columns");
  const Index width = static_cast<Index>(columns_.size());
  buffer.x.resize(size, width);
  for (Index from = 0; from < size; from += kTile)
    for (Index j = 0; j < width; ++j) {
      const double* const column = columns_[static_cast<std::size_t>(j)];
      const Index end = std::min(from + kTile, size);
      if (all_)
        for (Index i = from; i < end; ++i) buffer.x(i, j) = column[first + i];
      else
        for (Index i = from; i < end; ++i) buffer.x(i, j) = column[chosen_[static_cast<std::size_t>(first + i)]];
    }
  return Block(buffer.x, first);
}

}  // namespace lemma
