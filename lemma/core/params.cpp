// lemma/core/params.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/params.hpp>

namespace lemma {

std::string Range::text() const {
  const Range all;
  const bool below = low > all.low, over = high < all.high;
  auto lower = fmt::format("{} {}", low_open ? "above" : "at least", low);
  auto upper = fmt::format("{} {}", high_open ? "below" : "at most", high);
  if (below && over) return low_open || high_open ? lower + " and " + upper : fmt::format("from {} to {}", low, high);
  if (below) return std::isinf(high) ? lower + ", or inf" : lower;
  if (over) return upper;
  return "finite";
}

void refuse(std::string_view where, const Value& value, std::string_view allowed) {
  throw Error(fmt::format("{} is {}, must be {}", where,
                          value.is_array() || value.is_object() ? std::string(value.kind()) : to_json(value, -1),
                          allowed));
}

void check_range(std::string_view where, double value, const Range& range) {
  if (!range.contains(value)) throw Error(fmt::format("{} is {}, must be {}", where, value, range.text()));
}

int choose(std::string_view where, const std::string& typed, const std::vector<std::string>& choices) {
  const auto it = std::find(choices.begin(), choices.end(), typed);
  if (it != choices.end()) return static_cast<int>(it - choices.begin());
  std::string all;
  for (const auto& choice : choices) all += (all.empty() ? "" : ", ") + choice;
  throw Error(fmt::format("{} is '{}', must be one of {}{}", where, typed, all, did_you_mean(typed, choices)));
}

void refuse_unknown(std::string_view where, std::string_view name, const std::vector<std::string>& known) {
  std::string all;
  for (const auto& each : known) all += (all.empty() ? "" : ", ") + each;
  const std::string_view owner = where.substr(0, where.find(':'));
  throw Error(fmt::format("{}: there is no parameter '{}'{}; it has {}", owner, name, did_you_mean(name, known),
                          all.empty() ? "none" : all));
}

}  // namespace lemma
