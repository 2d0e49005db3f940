// lemma/model/any_spec.hpp: a method and its parameters as a value: a step of a pipeline, the learner inside an ensemble.
#pragma once
#include <lemma/model/method.hpp>

namespace lemma {

class Pipeline;

/// Every method there is. It is said here, so that a method can be made of methods; the list itself is the last room,
/// lemma/catalog.cpp.
std::span<const Method* const> catalog();

/// In C++ Bagging{.base = Tree{.depth = 3}} or {.base = Scale{} | Logistic{}}; as METHOD bagging(tree(depth=3)); as flags
/// --base tree --base.depth 3; in JSON and in files {"kind": "tree", "depth": 3}. A copy shares the method.
class AnySpec {
 public:
  AnySpec() = default;  // no method yet: "choose one" is refused where the spec that holds it is checked
  AnySpec(std::shared_ptr<const Method> method, Value params)
      : method_(std::move(method)), params_(std::move(params)) {}
  template <MethodSpec Spec>
  AnySpec(const Spec& spec)  // implicit: a spec is a method with its parameters
      : AnySpec({std::shared_ptr<const Method>(), &method_of<Spec>()}, to_value(*Valid<Spec>(spec))) {}
  AnySpec(const Pipeline& pipeline);  // implicit too; in pipeline.cpp

  bool empty() const { return method_ == nullptr; }
  const Method& method() const { return *method_; }
  const std::shared_ptr<const Method>& shared() const { return method_; }
  const Value& params() const { return params_; }
  /// With all parameters, those that were not given at their defaults. Error names one that is wrong.
  AnySpec completed() const;
  /// "tree(depth=3)": the method with the parameters that are not at their defaults, as it is typed.
  std::string text() const;
  AnyModel fit(const Rows& rows, const FitOptions& options) const;

  bool operator==(const AnySpec& other) const { return method_ == other.method_ && params_ == other.params_; }

 private:
  std::shared_ptr<const Method> method_;
  Value params_;
};

/// What a text names, such as 'tree(depth=3)' or 'scale | logistic': an error shows it with a caret under the place.
AnySpec parse_method(std::string_view text, std::span<const Method* const> methods = catalog());

/// The parameters of a method, and of the methods that `params` choose inside it: "rounds", "base", "base.depth".
std::vector<ParamInfo> params_of(const Method& method, const Value& params);

template <>
struct Codec<AnySpec> {
  static Value write(const AnySpec& spec);
  static void read(AnySpec& field, const Value& value, const std::string& where);
  static void check(const AnySpec& spec, const Range&, const std::string& where);
};
template <>
struct detail::Describe<AnySpec> {
  static void kind(ParamInfo& info) {
    info.kind = ParamInfo::Kind::method;
    if (!info.initial.is_null()) info.initial = info.initial.at("kind");
  }
  static void parts(const std::string&, std::vector<ParamInfo>&) {}
};
/// A list of methods: stacking(lda, svm, ridge).
template <>
struct Codec<std::vector<AnySpec>> {
  static Value write(const std::vector<AnySpec>& specs);
  static void read(std::vector<AnySpec>& field, const Value& value, const std::string& where);
  static void check(const std::vector<AnySpec>& specs, const Range&, const std::string& where);
};
template <>
struct detail::Describe<std::vector<AnySpec>> {
  static void kind(ParamInfo& info) { info.kind = ParamInfo::Kind::methods; }
  static void parts(const std::string&, std::vector<ParamInfo>&) {}
};

/// A model inside a model, with all that its own file would hold of it.
template <>
struct Codec<AnyModel> {
  static Value write(const AnyModel& model);
  static void read(AnyModel& field, const Value& value, const std::string& where);
};
template <>
struct Codec<std::vector<AnyModel>> {
  static Value write(const std::vector<AnyModel>& models);
  static void read(std::vector<AnyModel>& field, const Value& value, const std::string& where);
};

}  // namespace lemma
