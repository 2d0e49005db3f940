// lemma/model/any_spec.cpp
#include <fmt/core.h>
#include <lemma/model/any_spec.hpp>
#include <lemma/model/pipeline.hpp>

namespace lemma {
namespace {

std::optional<AnySpec> method_in(const Value& value);

/// A value as it stands in brackets behind a method's name.
std::string written(const Value& value) {
  if (value.is_null()) return "auto";
  if (value.is_string()) return value.as_string();
  if (value.is_object() && value.find("kind")) {
    if (const auto method = method_in(value)) return method->text();
    std::string out;
    for (const auto& [key, item] : value.as_object())
      if (key != "kind") out += (out.empty() ? "" : ", ") + key + "=" + written(item);
    return value.at("kind").as_string() + (out.empty() ? "" : "(" + out + ")");
  }
  if (value.is_array() && value.as_array().shape.size() == 1 && value.as_array().data.size() == 1)
    return to_json(value.as_array().data.front(), -1);  // a list of one number is typed as that number
  return to_json(value, -1);
}

/// Methods as they are typed, one after the other and without a name; empty where it is no list of methods.
std::string methods_in(const Value& value) {
  std::string out;
  if (!value.is_list()) return out;
  for (const Value& each : value.as_list()) {
    const auto method = each.is_object() ? method_in(each) : std::nullopt;
    if (!method) return "";
    out += (out.empty() ? "" : ", ") + method->text();
  }
  return out;
}

/// "rounds=10, kernel.gamma=2": what differs from the defaults, parts by their paths.
std::string differences(const Value& params, const Value& defaults, const std::string& prefix) {
  std::string out;
  const auto add = [&](const std::string& text) {
    if (!text.empty()) out += (out.empty() ? "" : ", ") + text;
  };
  for (const auto& [key, value] : params.as_object()) {
    const Value* usual = defaults.find(key);
    if (usual && *usual == value) continue;
    if (value.is_object() && usual && usual->is_object() && !value.find("kind"))
      add(differences(value, *usual, prefix + key + "."));
    else if (const std::string methods = methods_in(value); !methods.empty()) add(methods);
    else add(prefix + key + "=" + written(value));
  }
  return out;
}

Value without_kind(const Value& value) {
  Value rest = Value::object();
  for (const auto& [key, item] : value.as_object())
    if (key != "kind") rest.set(key, item);
  return rest;
}

/// What stands in `over` in the place of what stands in `under`, object by object.
Value merged(Value under, const Value& over) {
  for (const auto& [key, item] : over.as_object()) {
    const Value* old = under.find(key);
    under.set(key, old && old->is_object() && item.is_object() && !item.find("kind") ? merged(*old, item) : item);
  }
  return under;
}

/// What a parameter names: an error says which parameter.
AnySpec named_at(const std::string& text, const std::string& where) {
  try {
    return parse_method(text);
  } catch (const Error& error) { throw Error(fmt::format("{}: {}", where, error.what())); }
}

AnySpec spec_from(const Value& value, const std::string& where) {
  if (value.is_string()) return named_at(value.as_string(), where);
  if (!value.is_object()) refuse(where, value, "a method, such as lda or svm(C=10)");
  const Value* kind = value.find("kind");
  if (!kind) refuse(where, value, "a method: its name stands under 'kind'");
  const AnySpec named = named_at(kind->as_string(where), where);
  return {named.shared(), merged(named.params(), without_kind(value))};
}

/// The method that a value describes; nothing where it is something else, such as a kernel.
std::optional<AnySpec> method_in(const Value& value) {
  try {
    return spec_from(value, "").completed();
  } catch (const Error&) { return {}; }
}

}  // namespace

AnySpec::AnySpec(const Pipeline& pipeline) : AnySpec(std::make_shared<Pipeline>(pipeline), pipeline.defaults()) {}

AnySpec AnySpec::completed() const {
  if (empty()) throw Error("no method was chosen");
  return {method_, method_->check(params_)};
}

std::string AnySpec::text() const {
  if (empty()) return "";
  if (const auto* pipeline = dynamic_cast<const Pipeline*>(method_.get())) {
    std::string out;
    for (std::size_t i = 0; i < pipeline->steps().size(); ++i)
      out += (i > 0 ? " | " : "") + AnySpec(pipeline->steps()[i].shared(), params_.at(pipeline->step_name(i))).text();
    return out;
  }
  const std::string inside = differences(params_, method_->defaults(), "");
  return method_->name() + (inside.empty() ? "" : "(" + inside + ")");
}

AnyModel AnySpec::fit(const Rows& rows, const FitOptions& options) const {
  if (empty()) throw Error("no method was chosen");
  return method_->fit(params_, rows, options);
}

AnySpec parse_method(std::string_view text, std::span<const Method* const> methods) {
  auto steps = parse_pipeline(text, methods);
  if (steps.size() == 1) return std::move(steps.front());
  return Pipeline(std::move(steps));
}

std::vector<ParamInfo> params_of(const Method& method, const Value& params) {
  std::vector<ParamInfo> out;
  for (const auto& info : method.params()) {
    out.push_back(info);
    const Value* chosen = params.is_object() ? params.find(info.name) : nullptr;
    if (info.kind != ParamInfo::Kind::method || !chosen || chosen->is_null()) continue;
    const AnySpec inner = spec_from(*chosen, info.name);
    for (ParamInfo part : params_of(inner.method(), inner.params())) {
      part.only_when = part.only_when.empty() ? "" : info.name + "." + part.only_when;
      part.name = info.name + "." + part.name;
      out.push_back(std::move(part));
    }
  }
  return out;
}

Value Codec<AnySpec>::write(const AnySpec& spec) {
  if (spec.empty()) return {};
  Value out = Value::object();
  out.set("kind", spec.method().name());
  for (const auto& [key, value] : spec.params().as_object()) out.set(key, value);
  return out;
}
void Codec<AnySpec>::read(AnySpec& field, const Value& value, const std::string& where) {
  field = value.is_null() ? AnySpec() : spec_from(value, where).completed();
}
void Codec<AnySpec>::check(const AnySpec& spec, const Range&, const std::string& where) {
  if (spec.empty()) throw Error(fmt::format("{} is not chosen; it is a method, such as lda or svm(C=10)", where));
}

Value Codec<std::vector<AnySpec>>::write(const std::vector<AnySpec>& specs) {
  Value::List out;
  for (const auto& spec : specs) out.push_back(Codec<AnySpec>::write(spec));
  return out;
}
void Codec<std::vector<AnySpec>>::read(std::vector<AnySpec>& field, const Value& value, const std::string& where) {
  field.clear();
  if (value.is_array() && value.as_array().data.empty()) return;
  if (!value.is_list()) return field.push_back(spec_from(value, where).completed());
  for (const Value& each : value.as_list(where)) field.push_back(spec_from(each, where).completed());
}
void Codec<std::vector<AnySpec>>::check(const std::vector<AnySpec>& specs, const Range& range,
                                        const std::string& where) {
  if (specs.empty()) throw Error(fmt::format("{} are not chosen; they are methods, such as lda, svm(C=10)", where));
  for (const auto& spec : specs) Codec<AnySpec>::check(spec, range, where);
}

Value Codec<AnyModel>::write(const AnyModel& model) {
  Value out = Value::object();
  out.set("method", model->method().name());
  out.set("params", model->params());
  out.set("state", model->save());
  out.set("certificate", to_value(model->certificate()));
  out.set("warnings", model->warnings());
  return out;
}
void Codec<AnyModel>::read(AnyModel& field, const Value& value, const std::string& where) {
  const AnySpec named = parse_method(value.at("method").as_string(where));
  Evidence evidence{certificate_from(value.at("certificate")), value.at("warnings").as_strings("warnings")};
  field = named.method().load(value.at("params"), value.at("state"), std::move(evidence));
}

Value Codec<std::vector<AnyModel>>::write(const std::vector<AnyModel>& models) {
  Value::List out;
  for (const auto& model : models) out.push_back(Codec<AnyModel>::write(model));
  return out;
}
void Codec<std::vector<AnyModel>>::read(std::vector<AnyModel>& field, const Value& value, const std::string& where) {
  field.clear();
  if (value.is_array() && value.as_array().data.empty()) return;
  for (const Value& each : value.as_list(where)) {
    AnyModel model;
    Codec<AnyModel>::read(model, each, where);
    field.push_back(std::move(model));
  }
}

}  // namespace lemma
