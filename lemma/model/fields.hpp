// lemma/model/fields.hpp: the one description of what a model holds; results, model files and pages follow from it.
#pragma once
#include <lemma/core/certificate.hpp>
#include <lemma/core/params.hpp>
#include <span>
#include <utility>

namespace lemma {

template <>
struct Codec<Vector> {
  static Value write(const Vector& v) { return v; }
  static void read(Vector& field, const Value& value, const std::string& where) { field = value.as_vector(where); }
};
template <>
struct Codec<Labels> {
  static Value write(const Labels& labels) {
    return Value::Array{{static_cast<Index>(labels.size())}, {labels.begin(), labels.end()}};
  }
  static void read(Labels& field, const Value& value, const std::string& where);
};

/// `result`: shown to the user. `state`: needed to predict or verify, but not shown.
enum class Shown { result, state };

/// What the entries of a result run along; where it is shown as a table they are named by it. `row`: the training rows, one
/// after the other. `row_number`: the entries themselves are numbers of training rows, from 1.
enum class Axis { number, feature, label, row, row_number };
/// Of a matrix its rows run along `down` and its columns along `across`; of an array its entries run along `across`.
struct Along {
  Axis across = Axis::number, down = Axis::number;
};

inline constexpr Along kByFeature{Axis::feature}, kByClass{Axis::label}, kClassesByFeature{Axis::feature, Axis::label},
    kFeaturesDown{Axis::number, Axis::feature}, kRowNumbers{Axis::row_number};

template <class Model, class T>
struct Field {
  std::string_view name;
  T Model::*member;
  std::string_view meaning;
  Shown shown;
  Along along;
  bool later = false;  // older files do not have it
};
template <class Model, class T>
constexpr Field<Model, T> result(std::string_view name, T Model::*member, std::string_view meaning, Along along = {}) {
  return {name, member, meaning, Shown::result, along};
}
template <class Model, class T>
constexpr Field<Model, T> state(std::string_view name, T Model::*member, std::string_view meaning) {
  return {name, member, meaning, Shown::state, {}};
}

/// A model is an aggregate: what it derives from (Evidence, or a struct of fields that several models share, which it then calls
/// Base), its spec, and its fields. A member that is none of these, such as something that is made again when it is asked for,
/// is counted by kNotStored.
template <class T, std::size_t count = 1>
consteval std::size_t field_count() {
  if constexpr (takes_members<T>(std::make_index_sequence<count>())) return field_count<T, count + 1>();
  else return count - 1;
}
template <class M>
consteval std::size_t members_of_base() {
  if constexpr (requires { typename M::Base; }) return field_count<typename M::Base>() - 1;
  else return 0;
}
template <class M>
consteval std::size_t not_stored() {
  if constexpr (requires { M::kNotStored; }) return M::kNotStored;
  else return 0;
}
/// Each member is a field, so that none is lost in a file; a forgotten one does not compile.
template <class M>
concept AllFields = std::is_aggregate_v<M> && requires {
  M::fields();
} && has_members < M, 2 + decltype(M::fields())::size + not_stored<M>()
- members_of_base<M>() > ();

/// A field that the method gained after files of its models were written: where a file lacks it, it keeps its initial value.
template <class Model, class T>
constexpr Field<Model, T> later(Field<Model, T> field) {
  field.later = true;
  return field;
}

template <class Model>
constexpr void for_each_field(auto&& visit) {
  Model::fields().for_each(visit);
}

struct FieldInfo {
  std::string name, meaning;
  Shown shown;
  Along along = {};

  bool speaks_of_rows() const {
    const auto of_rows = [](Axis axis) { return axis == Axis::row || axis == Axis::row_number; };
    return of_rows(along.across) || of_rows(along.down);
  }
};
/// A field without its types.
struct PlainField {
  std::string_view name, meaning;
  Shown shown;
  Along along;
};
std::vector<FieldInfo> to_infos(std::span<const PlainField> fields);
template <class Model>
std::vector<FieldInfo> field_infos() {
  static constexpr auto all = Model::fields().apply([](const auto&... f) {
    return std::array<PlainField, sizeof...(f)>{PlainField{f.name, f.meaning, f.shown, f.along}...};
  });
  return to_infos(all);
}

/// All fields, or only those shown to the user.
template <class Model>
Value write_fields(const Model& model, bool results_only) {
  Value out = Value::object();
  for_each_field<Model>([&]<class Of, class T>(const Field<Of, T>& f) {  // of the model, or of what it derives from
    if (!results_only || f.shown == Shown::result) out.set(f.name, Codec<T>::write(model.*f.member));
  });
  return out;
}

/// Reads every field by its name; a missing one is an error, unless it came later than the file. The model's own check() then
/// ties the parts together.
template <class Model>
void read_fields(Model& model, const Value& value) {
  for_each_field<Model>([&]<class Of, class T>(const Field<Of, T>& f) {
    if (f.later && !value.find(f.name)) return;
    Codec<T>::read(model.*f.member, value.at(f.name), std::string(f.name));
  });
}

Value to_value(const Certificate& certificate);
Certificate certificate_from(const Value& value);

}  // namespace lemma
