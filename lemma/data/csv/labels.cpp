// lemma/data/csv/labels.cpp
#include <lemma/core/error.hpp>
#include <lemma/data/csv/labels.hpp>
#include <limits>

namespace lemma::csv {

std::int32_t Dictionary::insert(std::string_view text, std::uint64_t hash, std::size_t place) {
  if (entries_.size() == static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
    throw Error("a column with more than 2147483647 different labels");
  const auto code = static_cast<std::int32_t>(entries_.size());
  slots_[place] = code;
  entries_.push_back({hash, texts_.size(), text.size()});
  texts_.append(text);
  if (2 * entries_.size() > slots_.size()) grow();
  return code;
}

void Dictionary::grow() {
  slots_.assign(slots_.empty() ? 64 : 4 * slots_.size(), kAbsent);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t k = 0; k < entries_.size(); ++k) {
    std::size_t place = entries_[k].hash & mask;
    while (slots_[place] != kAbsent) place = (place + 1) & mask;
    slots_[place] = static_cast<std::int32_t>(k);
  }
}

}  // namespace lemma::csv
