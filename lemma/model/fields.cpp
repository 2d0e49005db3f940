// lemma/model/fields.cpp
#include <cmath>
#include <fmt/core.h>
#include <lemma/model/fields.hpp>

namespace lemma {
namespace {

constexpr std::array<std::string_view, 4> kStrengths{"optimal", "stationary", "consistent", "none"};

}  // namespace

void Codec<Labels>::read(Labels& field, const Value& value, const std::string& where) {
  const Vector numbers = value.as_vector(where);
  field.resize(static_cast<std::size_t>(numbers.size()));
  for (Index i = 0; i < numbers.size(); ++i) {
    if (!(std::abs(numbers(i)) < 2e9) || numbers(i) != std::floor(numbers(i)))
      throw Error(fmt::format("{}[{}] is {}, must be a whole number", where, i, numbers(i)));
    field[static_cast<std::size_t>(i)] = static_cast<int>(numbers(i));
  }
}

std::vector<FieldInfo> to_infos(std::span<const PlainField> fields) {
  std::vector<FieldInfo> out;
  for (const PlainField& each : fields)
    out.push_back({std::string(each.name), std::string(each.meaning), each.shown, each.along});
  return out;
}

Value to_value(const Certificate& certificate) {
  Value out = Value::object();
  out.set("strength", kStrengths[static_cast<std::size_t>(certificate.strength)]);
  out.set("kind", certificate.kind);
  out.set("value", certificate.value);
  out.set("tolerance", certificate.tolerance);
  out.set("holds", certificate.claims() ? Value(certificate.holds()) : Value());
  out.set("iterations", certificate.iterations);
  out.set("stopped", certificate.stopped);
  out.set("message", certificate.message);
  if (certificate.error_bound) out.set("error_bound", *certificate.error_bound);
  return out;
}

Certificate certificate_from(const Value& value) {
  Certificate out;
  out.strength = static_cast<Strength>(
      choose("certificate strength", value.at("strength").as_string(), {kStrengths.begin(), kStrengths.end()}));
  out.kind = value.at("kind").as_string("certificate kind");
  out.value = value.at("value").as_double("certificate value");
  out.tolerance = value.at("tolerance").as_double("certificate tolerance");
  out.iterations = value.at("iterations").as_integer("certificate iterations");
  out.stopped = value.at("stopped").as_string("certificate stopped");
  out.message = value.at("message").as_string("certificate message");
  if (const Value* bound = value.find("error_bound")) out.error_bound = bound->as_double("certificate error_bound");
  return out;
}

}  // namespace lemma
