// lemma/data/csv/forms.hpp: other ways to write numbers: 1,234 and $5 and 12 %, and dates and times.
#pragma once
#include <cstdint>
#include <lemma/data/table.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace lemma::csv {

/// How the numbers of a column are written, all of them alike.
struct Form {
  enum class Style : std::uint8_t { plain, grouped, date, time, utc };
  Style style =
      Style::plain;  // grouped: thousands are set apart, by a comma, or a point where the decimal mark is a comma
  std::uint8_t symbol = 0;  // of a currency, or %; 0: none
  bool before = false;      // does the symbol stand before the number?

  bool plain() const { return style == Style::plain && symbol == 0; }
  bool moments() const { return style >= Style::date; }
  Quantity quantity() const;
  /// What the user should know about such a column.
  std::string note(std::string_view column) const;
  bool operator==(const Form&) const = default;
};

/// The number that a text is in this form; `plain` has no symbol, but no exponent either.
bool read_formed(std::string_view text, const Form& form, char decimal, double& value);

/// The forms that every one of some texts has.
class Forms {
 public:
  /// One more text. What plain numbers are is known to the caller: `is_number`.
  void add(std::string_view text, char decimal, bool is_number);
  void merge(const Forms& other);
  bool none() const { return styles_ == 0; }
  /// The simplest of them; nothing when there is none. Of no text at all it is plain.
  std::optional<Form> form() const;

 private:
  std::uint8_t styles_ = 0xFF;  // a bit for each that is possible
  std::optional<std::uint8_t> symbol_;
  bool before_ = false;
};

}  // namespace lemma::csv
