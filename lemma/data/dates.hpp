// lemma/data/dates.hpp: dates and times as ISO 8601 writes them, and as numbers of days since 1970-01-01.
#pragma once
#include <lemma/data/table.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace lemma {

struct Moment {
  double days = 0;
  Quantity quantity = Quantity::date;
};

/// 2024-02-29, or a date and a time: 2024-02-29T12:30, 2024-02-29 12:30:05.250, the same with Z, +01:00, +0100 or +01 behind
/// it (then the number is that of UTC). Nothing for anything else, a 30th of February among it.
std::optional<Moment> parse_moment(std::string_view text);

/// Rounded to as few decimals of a second as parse_moment needs to read the same number, or to a nanosecond. A number
/// beyond the years 0000 to 9999 is written as a number.
std::string moment_text(double days, Quantity quantity);

/// "date", "time", as --type and descriptions call it; "numeric" for a number.
std::string_view name_of(Quantity quantity);

}  // namespace lemma
