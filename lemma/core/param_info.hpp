// lemma/core/param_info.hpp: a parameter's description without its types, as front ends and pages read it.
#pragma once
#include <lemma/core/params.hpp>

namespace lemma {

struct ParamInfo {
  std::string name;  // "lambda", or "kernel.gamma" for a part's parameter
  std::string meaning;
  std::string allowed;               // "at least 0", "true or false", "rbf, linear", "a whole number, at least 1"
  std::vector<std::string> choices;  // names it may take; empty for numbers
  Value initial;                     // the default
  std::string only_when;             // "kernel is rbf"; empty when it always applies
  Range range;
  Step step = Step::linear;
  enum class Kind {
    truth,
    number,
    whole,
    name,
    text,
    numbers,
    names,
    matrix,
    name_or_numbers,
    name_or_matrix,
    name_or_text,
    part,
    method,
    methods
  } kind = Kind::number;
  bool optional = false;  // empty means: chosen by the method

  std::string initial_text() const;  // "1", "true", "chosen by the method"
};

namespace detail {

template <class T>
struct Describe {
  static void kind(ParamInfo& info) {
    using K = ParamInfo::Kind;
    if constexpr (std::is_same_v<T, bool>) info.kind = K::truth;
    else if constexpr (std::is_same_v<T, double>) info.kind = K::number;
    else if constexpr (std::is_integral_v<T>) info.kind = K::whole;
    else if constexpr (std::is_same_v<T, std::string>) info.kind = K::text;
    else if constexpr (std::is_same_v<T, std::vector<double>>) info.kind = K::numbers;
    else if constexpr (std::is_same_v<T, std::vector<std::string>>) info.kind = K::names;
    else if constexpr (std::is_same_v<T, Matrix>) info.kind = K::matrix;
    else if constexpr (NamedEnum<T>) {
      info.kind = K::name;
      info.choices = choices_of<T>();
    } else info.kind = K::part;
  }
  static void parts(const std::string&, std::vector<ParamInfo>&) {}
};
template <class T>
struct Describe<std::optional<T>> {
  static void kind(ParamInfo& info) {
    Describe<T>::kind(info);
    info.optional = true;
  }
  static void parts(const std::string& prefix, std::vector<ParamInfo>& out) { Describe<T>::parts(prefix, out); }
};
template <NamedEnum E, class T>
struct Describe<std::variant<E, T>> {
  static void kind(ParamInfo& info) {
    info.kind = std::is_same_v<T, Matrix> ? ParamInfo::Kind::name_or_matrix : ParamInfo::Kind::name_or_numbers;
    info.choices = choices_of<E>();
  }
  static void parts(const std::string&, std::vector<ParamInfo>&) {}
};
/// What does not depend on the type of the parameter: all but its kind, choices and default.
struct PlainParam {
  std::string_view name, meaning;
  Range range;
  Step step;
};
/// Makes what front ends read of a parameter, by `kind` for its type, and puts it at the end of `out` unless it is a part that has
/// parameters alone. Its full name.
std::string add_info(std::vector<ParamInfo>& out, const std::string& prefix, const std::string& only_when,
                     const PlainParam& param, Value initial, void (*kind)(ParamInfo&));

template <Described Spec>
void describe(const std::string& prefix, const std::string& only_when, std::vector<ParamInfo>& out) {
  for_each_param<Spec>([&]<class T>(const Param<Spec, T>& p) {
    const std::string name = add_info(out, prefix, only_when, {p.name, p.meaning, p.range, p.step},
                                      Codec<T>::write(Spec{}.*p.field), &Describe<T>::kind);
    Describe<T>::parts(name, out);
  });
}
template <Described Spec>
struct Describe<Spec> {
  static void kind(ParamInfo& info) { info.kind = ParamInfo::Kind::part; }
  static void parts(const std::string& name, std::vector<ParamInfo>& out) { describe<Spec>(name + ".", "", out); }
};
template <Described... Specs>
struct Describe<std::variant<Specs...>> {
  static void kind(ParamInfo& info) {
    info.kind = ParamInfo::Kind::name;
    info.choices = Codec<std::variant<Specs...>>::kinds();
    info.initial = info.initial.at("kind");
  }
  static void parts(const std::string& name, std::vector<ParamInfo>& out) {
    (describe<Specs>(name + ".", name + " is " + std::string(Specs::name), out), ...);
  }
};

}  // namespace detail

template <Described Spec>
std::vector<ParamInfo> param_infos() {
  std::vector<ParamInfo> out;
  detail::describe<Spec>("", "", out);
  return out;
}

/// A truth value as people type it: true, yes, on, 1, or false, no, off, 0; nothing for other words.
std::optional<bool> parse_truth(std::string_view text);

/// What was typed for a parameter as a value: "0.1" is a number, "rbf" a name, "0.2,0.8" numbers; "auto" is null for an
/// optional one. A text that is not one of the names of a name_or_matrix parameter comes back as it is: the front end
/// reads the file of that name. `method` stands before the parameter in messages.
Value parse_param(const ParamInfo& info, const std::string& text, std::string_view method);

/// Sets path "kernel.gamma" of an object, making the objects on the way.
void set_path(Value& object, std::string_view path, Value value);

}  // namespace lemma
