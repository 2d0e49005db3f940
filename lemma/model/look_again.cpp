// lemma/model/look_again.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/model/look_again.hpp>

namespace lemma {
namespace {

bool is_left_open(const Value& asked) {
  return asked.is_null() || (asked.is_string() && (asked.as_string() == "auto" || asked.as_string() == "automatic"));
}

/// Where `told` is not what was asked for: "depth"; nothing where it is. What was left open may be anything.
std::string first_other(const Value& asked, const Value& told, const std::string& where) {
  if (is_left_open(asked)) return {};
  if (!asked.is_object()) return asked == told ? "" : where;
  if (!told.is_object()) return where;
  for (const auto& [key, value] : asked.as_object()) {
    const Value* found = told.find(key);
    const std::string here = where.empty() ? key : where + "." + key;
    if (const std::string other = found ? first_other(value, *found, here) : here; !other.empty()) return other;
  }
  return {};
}

bool same_claim(const Certificate& a, const Certificate& b) {
  return a.strength == b.strength && a.kind == b.kind &&
         std::abs(a.tolerance - b.tolerance) <= 1e-6 * std::max(std::abs(a.tolerance), std::abs(b.tolerance));
}

}  // namespace

Certificate look_again(const AnyModel& inside, const AnySpec& asked, const Rows& rows, const Execution& execution) {
  const auto fails = [](std::string why) {
    return Certificate{.strength = Strength::consistent,
                       .kind = "a second look",
                       .value = 1,
                       .tolerance = 0,
                       .stopped = "at once",
                       .message = std::move(why)};
  };
  if (inside->method().name() != asked.method().name())
    return fails(fmt::format("{} stands where {} was asked for", inside->method().name(), asked.method().name()));
  if (const std::string other = first_other(asked.completed().params(), inside->params(), ""); !other.empty())
    return fails(fmt::format("its {} is not the one that was asked for", other));
  Certificate found = inside->verify(rows, execution);
  if (!found.fails() && !same_claim(found, inside->certificate()))
    return fails(fmt::format("it carries a certificate of '{}', and what is found is one of '{}'",
                             inside->certificate().kind, found.kind));
  return found;
}

}  // namespace lemma
