// lemma/geometry/shared/arguments.hpp: how kernels and metrics are written: a name with arguments, rbf(gamma=0.5),
// mahalanobis([1, 0; 0, 2]). Inner header.
//
//     arguments := [ '(' [ argument (',' argument)* ] ')' ]
//     argument  := [ name '=' ] ( number | number '/' number | 'inf' | '[' numbers with ',' and, between rows, ';' ']' )
#pragma once
#include <lemma/core/error.hpp>
#include <lemma/core/params.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace lemma {

/// A place in a text. An error shows the text with a caret under it.
class ArgumentReader {
 public:
  explicit ArgumentReader(std::string_view text) : text_(text) {}

  std::size_t place() const { return at_; }
  bool at_end();
  bool take(char c);
  std::string word();  // letters, digits and '_'; empty where none begins here
  double number();
  bool number_begins();
  /// The text up to `end`, or to the end of all; the place is then there.
  std::string_view up_to(char end);
  /// Those of `name`, by their own names or in this order.
  Value arguments(const std::string& name, const std::vector<std::string>& order);
  [[noreturn]] void fail(std::string_view what) const;
  /// An Error of the work is shown at the place.
  void guarded(std::size_t place, const auto& work) {
    try {
      work();
    } catch (const Error& error) {
      at_ = place;
      fail(error.what());
    }
  }

 private:
  void skip();
  void argument(const std::string& of, const std::vector<std::string>& order, Value& into);
  Value value();
  Value numbers();

  std::string_view text_;
  std::size_t at_ = 0;
};

std::string argument_text(const Value& value);
/// "rbf(gamma=0.5)": the name with the arguments that are not at their defaults.
template <class... Atoms>
std::string text_of_atom(const std::variant<Atoms...>& named) {
  return std::visit(
      []<class Atom>(const Atom& atom) {
        const Value given = to_value(atom), usual = to_value(Atom{});
        std::string arguments;
        for (const auto& [key, value] : given.as_object()) {
          const bool is_given = !value.is_null() && !(value.is_array() && value.as_array().data.empty());
          if (is_given && !(value == usual.at(key)))
            arguments += (arguments.empty() ? "" : ", ") + key + "=" + argument_text(value);
        }
        return std::string(Atom::name) + (arguments.empty() ? "" : "(" + arguments + ")");
      },
      named);
}

}  // namespace lemma
