// lemma/data/dates.cpp
#include <array>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <lemma/data/dates.hpp>

namespace lemma {
namespace {

constexpr double kSeconds = 86400;                  // in a day
constexpr double kFirst = -719528, kEnd = 2932897;  // 0000-01-01, 10000-01-01

/// Can it be written? The last nanoseconds of the year 9999 are the next year as numbers.
bool has_a_text(double days) { return days >= kFirst && days < kEnd - 1e-9; }

/// Takes a text apart from its front.
class Reader {
 public:
  explicit Reader(std::string_view text) : left_(text) {}
  bool done() const { return left_.empty(); }
  bool accept(char c) {
    if (left_.empty() || left_.front() != c) return false;
    left_.remove_prefix(1);
    return true;
  }
  /// Exactly so many digits, no more than `most` as a number.
  std::optional<int> digits(std::size_t count, int most) {
    if (left_.size() < count) return {};
    int value = 0;
    for (std::size_t k = 0; k < count; ++k) {
      const unsigned digit = static_cast<unsigned char>(left_[k]) - unsigned{'0'};
      if (digit > 9) return {};
      value = 10 * value + static_cast<int>(digit);
    }
    if (value > most) return {};
    left_.remove_prefix(count);
    return value;
  }
  /// Up to nine digits behind a decimal mark.
  std::optional<double> fraction() {
    double value = 0, unit = 1;
    std::size_t count = 0;
    for (; count < left_.size() && count < 9 && left_[count] >= '0' && left_[count] <= '9'; ++count) {
      value = 10 * value + (left_[count] - '0');
      unit *= 10;
    }
    if (count == 0) return {};
    left_.remove_prefix(count);
    return value / unit;
  }

 private:
  std::string_view left_;
};

std::optional<int> read_date(Reader& reader) {
  using namespace std::chrono;
  const auto y = reader.digits(4, 9999);
  if (!y || !reader.accept('-')) return {};
  const auto m = reader.digits(2, 12);
  if (!m || !reader.accept('-')) return {};
  const auto d = reader.digits(2, 31);
  if (!d) return {};
  const year_month_day date{year{*y}, month{static_cast<unsigned>(*m)}, day{static_cast<unsigned>(*d)}};
  if (!date.ok()) return {};
  return static_cast<int>(sys_days(date).time_since_epoch().count());
}

/// Seconds since midnight.
std::optional<double> read_clock(Reader& reader) {
  const auto hours = reader.digits(2, 23);
  if (!hours || !reader.accept(':')) return {};
  const auto minutes = reader.digits(2, 59);
  if (!minutes) return {};
  double seconds = *hours * 3600.0 + *minutes * 60.0;
  if (!reader.accept(':')) return seconds;
  const auto whole = reader.digits(2, 59);
  if (!whole) return {};
  seconds += *whole;
  if (!reader.accept('.')) return seconds;
  const auto part = reader.fraction();
  if (!part) return {};
  return seconds + *part;
}

/// Seconds that the zone is ahead of UTC.
std::optional<double> read_zone(Reader& reader) {
  if (reader.accept('Z')) return 0.0;
  const bool behind = reader.accept('-');
  if (!behind && !reader.accept('+')) return {};
  const auto hours = reader.digits(2, 23);
  if (!hours) return {};
  double seconds = *hours * 3600.0;
  if (!reader.done()) {
    reader.accept(':');
    const auto minutes = reader.digits(2, 59);
    if (!minutes) return {};
    seconds += *minutes * 60.0;
  }
  return behind ? -seconds : seconds;
}

std::string date_text(double day) {
  const std::chrono::year_month_day date{std::chrono::sys_days{std::chrono::days{static_cast<int>(day)}}};
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()));
}

/// With so many decimals of a second.
std::string time_text(double seconds, int decimals, bool utc) {
  static constexpr std::array<std::int64_t, 10> kUnits = {1,      10,      100,      1000,      10000,
                                                          100000, 1000000, 10000000, 100000000, 1000000000};
  const std::int64_t unit = kUnits[static_cast<std::size_t>(decimals)], day_units = 86400 * unit;
  const double whole = std::floor(seconds);  // its square with a unit of 10⁹ would not be a whole number
  const auto units =
      static_cast<std::int64_t>(whole) * unit + std::llround((seconds - whole) * static_cast<double>(unit));
  std::int64_t day = units / day_units, left = units % day_units;
  if (left < 0) {
    left += day_units;
    --day;
  }
  const std::int64_t clock = left / unit;
  std::string text = fmt::format("{}T{:02}:{:02}:{:02}", date_text(static_cast<double>(day)), clock / 3600,
                                 clock / 60 % 60, clock % 60);
  if (decimals > 0) text += fmt::format(".{:0{}}", left % unit, decimals);
  return utc ? text + 'Z' : text;
}

}  // namespace

std::optional<Moment> parse_moment(std::string_view text) {
  Reader reader(text);
  const auto day = read_date(reader);
  if (!day) return {};
  if (reader.done()) return Moment{static_cast<double>(*day), Quantity::date};
  if (!reader.accept('T') && !reader.accept(' ')) return {};
  const auto clock = read_clock(reader);
  if (!clock) return {};
  Moment moment{0, Quantity::time};
  double seconds = *day * kSeconds;
  if (!reader.done()) {
    const auto zone = read_zone(reader);
    if (!zone || !reader.done()) return {};
    seconds -= *zone;
    moment.quantity = Quantity::utc;
  }
  moment.days = (seconds + *clock) / kSeconds;
  if (!has_a_text(moment.days)) return {};
  return moment;
}

std::string moment_text(double days, Quantity quantity) {
  if (quantity == Quantity::number || !has_a_text(days)) return to_text(days);
  if (quantity == Quantity::date && days == std::floor(days)) return date_text(days);
  const bool utc = quantity == Quantity::utc;
  for (int decimals = 0; decimals < 9; ++decimals) {
    std::string text = time_text(days * kSeconds, decimals, utc);
    const auto again = parse_moment(text);
    if (again && again->days == days) return text;
  }
  return time_text(days * kSeconds, 9, utc);
}

std::string_view name_of(Quantity quantity) {
  switch (quantity) {
    case Quantity::number: return "numeric";
    case Quantity::date: return "date";
    case Quantity::time:
    case Quantity::utc: break;
  }
  return "time";
}

}  // namespace lemma
