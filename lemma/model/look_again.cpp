// lemma/model/look_again.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/model/look_again.hpp>

namespace lemma {
namespace {

/// Nothing, the word for it, or a part such as a kernel, whose kind and numbers may have been learned (methods inside are looked at
/// by the method that they are in).
bool is_left_open(const Value& asked) {
  if (asked.is_object()) return true;
  if (asked.is_array()) return asked.as_array().data.empty();
  if (asked.is_list()) return asked.as_list().empty();
  return asked.is_null() || (asked.is_string() && (asked.as_string() == "auto" || asked.as_string() == "automatic"));
}

/// The first parameter that is not what was asked for; nothing where all are.
std::string first_other(const Value& asked, const Value& told) {
  for (const auto& [name, value] : asked.as_object())
    if (const Value* found = told.find(name); !is_left_open(value) && !(found && *found == value)) return name;
  return {};
}

bool same_claim(const Certificate& a, const Certificate& b) {
  return a.strength == b.strength && a.kind == b.kind &&
         std::abs(a.tolerance - b.tolerance) <= 1e-6 * std::max(std::abs(a.tolerance), std::abs(b.tolerance));
}

/// Why a model is not one of the method that was asked for; nothing where it is.
std::string not_as_asked(const AnyModel& inside, const AnySpec& asked) {
  if (inside->method().name() != asked.method().name())
    return fmt::format("{} stands where {} was asked for", inside->method().name(), asked.method().name());
  const std::string other = first_other(asked.completed().params(), inside->params());
  return other.empty() ? "" : fmt::format("its {} is not the one that was asked for", other);
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
  if (std::string why = not_as_asked(inside, asked); !why.empty()) return fails(std::move(why));
  Certificate found = inside->verify(rows, execution);
  if (!found.fails() && !same_claim(found, inside->certificate()))
    return fails(fmt::format("it carries a certificate of '{}', and what is found is one of '{}'",
                             inside->certificate().kind, found.kind));
  return found;
}

}  // namespace lemma
