// lemma/validate/strata.cpp
#include <algorithm>
#include <lemma/data/split.hpp>
#include <lemma/validate/strata.hpp>

namespace lemma {

std::vector<int> strata_by(const Table& table, const std::string& columns) {
  std::vector<int> out;
  for (std::size_t from = 0; from <= columns.size() && !columns.empty();) {
    const auto to = std::min(columns.find(':', from), columns.size());
    const auto next = strata_of(table.column(columns.substr(from, to - from)));
    const int count = next.empty() ? 0 : *std::max_element(next.begin(), next.end()) + 1;
    if (out.empty()) out.assign(next.size(), 0);
    for (std::size_t i = 0; i < next.size(); ++i) out[i] = out[i] * count + next[i];
    from = to + 1;
  }
  return out;
}

}  // namespace lemma
