// lemma/cluster/shared/centers_text.cpp
#include <algorithm>
#include <fmt/core.h>
#include <lemma/cluster/shared/centers_text.hpp>
#include <lemma/core/text.hpp>

namespace lemma {

std::string centers_text(const Matrix& centers, const Vector& sizes, const Vector* within, const Names& names,
                         Index most) {
  const Index shown = std::min(centers.rows(), most);
  const auto head = [&](const auto& v) { return std::vector<double>(v.begin(), v.begin() + shown); };
  std::vector<std::string> cluster, size;
  for (Index c = 0; c < shown; ++c) {
    cluster.push_back(fmt::format("{}", c + 1));
    size.push_back(format_significant(sizes(c), 7));
  }
  TextTable table;
  table.right("cluster", cluster).right("size", size);
  if (within) table.numbers("within", head(*within), 5);
  for (Index j = 0; j < centers.cols(); ++j) {
    const auto column = static_cast<std::size_t>(j);
    table.numbers(column < names.features.size() ? names.features[column] : fmt::format("x{}", j + 1),
                  head(centers.col(j)), 4);
  }
  std::string out = table.str({.width = 100});
  if (shown < centers.rows()) out += fmt::format("... and {} more\n", centers.rows() - shown);
  return out;
}

}  // namespace lemma
