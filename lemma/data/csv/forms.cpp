// lemma/data/csv/forms.cpp
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <lemma/data/csv/forms.hpp>
#include <lemma/data/csv/number.hpp>
#include <lemma/data/dates.hpp>

namespace lemma::csv {
namespace {

using Style = Form::Style;

constexpr std::array<std::string_view, 7> kSymbols = {"", "$", "\u20AC", "\u00A3", "\u00A5", "\u20B9", "%"};
constexpr std::size_t kPercent = 6;

constexpr std::uint8_t bit(Style style) { return static_cast<std::uint8_t>(1u << static_cast<unsigned>(style)); }

/// Takes a blank off that may stand between a number and its symbol: an ordinary, or one that does not break.
void trim(std::string_view& text, bool front) {
  for (const std::string_view blank : {" ", "\u00A0", "\u202F"}) {
    if (front && text.starts_with(blank)) return text.remove_prefix(blank.size());
    if (!front && text.ends_with(blank)) return text.remove_suffix(blank.size());
  }
}

/// [+-]digits[.digits] taken apart, with or without its thousands set apart.
struct Digits {
  char text[64];
  std::size_t size = 0;
  bool plain = false, grouped = false;  // which of the two it may be
};

/// The digits behind the sign.
std::optional<Digits> digits_of(std::string_view text, char decimal) {
  Digits out;
  if (text.size() >= sizeof out.text) return {};
  const char separator = decimal == ',' ? '.' : ',';
  std::size_t run = 0, separators = 0, k = 0;  // digits since the last separator
  bool groups = true;
  for (; k < text.size() && text[k] != decimal; ++k) {
    if (digit_of(text[k]) < 10) {
      out.text[out.size++] = text[k];
      ++run;
    } else if (text[k] == separator) {
      groups &= separators == 0 ? run >= 1 && run <= 3 : run == 3;
      ++separators;
      run = 0;
    } else {
      return {};
    }
  }
  groups &= separators == 0 ? run <= 3 : run == 3;
  if (k < text.size()) {
    out.text[out.size++] = decimal;
    for (++k; k < text.size(); ++k) {
      if (digit_of(text[k]) > 9) return {};
      out.text[out.size++] = text[k];
    }
  }
  out.text[out.size] = '\0';
  out.plain = separators == 0;
  out.grouped = groups;
  return out;
}

/// A number and its symbol.
struct Amount {
  std::uint8_t symbol = 0;
  bool before = false, negative = false;
  Digits digits;
};

std::optional<Amount> amount_of(std::string_view text, char decimal) {
  Amount out;
  bool signed_before = false;
  const auto take_sign = [&] {
    if (signed_before || text.empty() || (text[0] != '-' && text[0] != '+')) return;
    out.negative = text[0] == '-';
    signed_before = true;
    text.remove_prefix(1);
  };
  take_sign();
  for (std::size_t s = 1; s < kSymbols.size() && out.symbol == 0; ++s) {
    if (s != kPercent && text.starts_with(kSymbols[s])) {
      out.symbol = static_cast<std::uint8_t>(s);
      out.before = true;
      text.remove_prefix(kSymbols[s].size());
      trim(text, true);
      take_sign();
    } else if (text.ends_with(kSymbols[s])) {
      out.symbol = static_cast<std::uint8_t>(s);
      text.remove_suffix(kSymbols[s].size());
      trim(text, false);
    }
  }
  const auto digits = digits_of(text, decimal);
  if (!digits) return {};
  out.digits = *digits;
  return out;
}

bool value_of(const Amount& amount, char decimal, double& value) {
  const Digits& digits = amount.digits;
  if (read_number(digits.text, decimal, value) != digits.text + digits.size || !std::isfinite(value)) return false;
  if (amount.negative) value = -value;
  return true;
}

}  // namespace

Quantity Form::quantity() const {
  switch (style) {
    case Style::date: return Quantity::date;
    case Style::time: return Quantity::time;
    case Style::utc: return Quantity::utc;
    case Style::plain:
    case Style::grouped: break;
  }
  return Quantity::number;
}

std::string Form::note(std::string_view column) const {
  std::string what;
  if (style == Style::date) what = "is read as dates, in days since 1970-01-01";
  else if (style == Style::time) what = "is read as times, in days since 1970-01-01";
  else if (style == Style::utc) what = "is read as times, in days since 1970-01-01 (UTC)";
  else if (symbol == 0) what = "is read as numbers with their thousands set apart";
  else
    what = fmt::format("is read as numbers, without their {}{}{}", kSymbols[symbol],
                       symbol == kPercent ? " (12 % is 12)" : "",
                       style == Style::grouped ? ", with their thousands set apart" : "");
  return fmt::format("column '{0}' {1} (--type {0}=categorical leaves it as it is written)", column, what);
}

bool read_formed(std::string_view text, const Form& form, char decimal, double& value) {
  if (form.moments()) {
    const auto moment = parse_moment(text);
    if (!moment) return false;
    // Midnight is a time too.
    const bool fits =
        moment->quantity == form.quantity() || (moment->quantity == Quantity::date && form.style == Style::time);
    value = moment->days;
    return fits;
  }
  const auto amount = amount_of(text, decimal);
  return amount && amount->symbol == form.symbol && amount->before == form.before &&
         (form.style == Style::grouped ? amount->digits.grouped : amount->digits.plain) &&
         value_of(*amount, decimal, value);
}

void Forms::add(std::string_view text, char decimal, bool is_number) {
  if (none()) return;
  std::uint8_t styles = is_number ? bit(Style::plain) : 0;
  std::uint8_t symbol = 0;
  bool before = false;
  double value = 0;
  if (const auto moment = parse_moment(text)) {
    if (moment->quantity == Quantity::date) styles = bit(Style::date) | bit(Style::time);
    else styles = bit(moment->quantity == Quantity::time ? Style::time : Style::utc);
  } else if (const auto amount = amount_of(text, decimal); amount && value_of(*amount, decimal, value)) {
    symbol = amount->symbol;
    before = amount->before;
    if (amount->digits.plain) styles |= bit(Style::plain);
    if (amount->digits.grouped) styles |= bit(Style::grouped);
  }
  Forms other;
  other.styles_ = styles;
  other.symbol_ = symbol;
  other.before_ = before;
  merge(other);
}

void Forms::merge(const Forms& other) {
  styles_ &= other.styles_;
  if (!other.symbol_) return;
  if (symbol_ && (*symbol_ != *other.symbol_ || before_ != other.before_)) styles_ = 0;
  symbol_ = other.symbol_;
  before_ = other.before_;
}

std::optional<Form> Forms::form() const {
  for (const Style style : {Style::plain, Style::grouped, Style::date, Style::time, Style::utc})
    if ((styles_ & bit(style)) != 0) return Form{style, symbol_.value_or(0), before_};
  return {};
}

}  // namespace lemma::csv
