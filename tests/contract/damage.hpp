// tests/contract/damage.hpp: wrong models: one number, truth or text of a right one changed, or two entries exchanged, however deep
// they lie.
#pragma once
#include <lemma/data/stream/rows.hpp>
#include <tests/contract/compare.hpp>
#include <tests/contract/data.hpp>

namespace lemma::contract {

/// A value in the place of another, and where: "points.dense", "[3] moved from 1 to 1.01".
struct Damage {
  std::string field, what;
  Value state;
};

/// The largest number in size; 1 when all are 0 or missing.
inline double size_of(const std::vector<double>& numbers) {
  double largest = 0;
  for (const double number : numbers)
    if (std::isfinite(number)) largest = std::max(largest, std::abs(number));
  return largest > 0 ? largest : 1;
}

/// Of a long array or list the first entries, the last, and some between.
inline std::vector<std::size_t> places_in(std::size_t count) {
  constexpr std::size_t kMost = 60;
  std::vector<std::size_t> out;
  for (std::size_t k = 0; k < std::min(count, kMost); ++k)
    out.push_back(count <= kMost ? k : k * (count - 1) / (kMost - 1));
  return out;
}

/// Each number moved by a hundredth of the largest, or made NaN; and the first pair that differs exchanged.
inline void damage_array(const Value::Array& array, std::vector<Damage>& out) {
  const auto& numbers = array.data;
  const double step = 0.01 * size_of(numbers);
  const auto add = [&](std::string what, std::vector<double> changed) {
    out.push_back({"", std::move(what), Value::Array{array.shape, std::move(changed)}});
  };
  for (const std::size_t i : places_in(numbers.size())) {
    if (!std::isfinite(numbers[i])) continue;
    for (const auto& [what, value] : {std::pair{"moved", numbers[i] + step}, {"made NaN", std::nan("")}}) {
      auto copy = numbers;
      copy[i] = value;
      add(fmt::format("[{}] {} from {:.6g} to {:.6g}", i, what, numbers[i], value), std::move(copy));
    }
  }
  for (std::size_t i = 0; i < numbers.size(); ++i)
    for (std::size_t j = i + 1; j < numbers.size(); ++j)
      if (std::abs(numbers[i] - numbers[j]) > step) {
        auto copy = numbers;
        std::swap(copy[i], copy[j]);
        add(fmt::format("[{}] and [{}] exchanged", i, j), std::move(copy));
        return;
      }
}

inline void damage_number(const Value& value, std::vector<Damage>& out) {
  const double number = value.as_double();
  if (!std::isfinite(number)) return;
  const double moved = value.is_integer() ? number + 1 : number + 0.01 * size_of({number});
  out.push_back({"", fmt::format("moved from {:.6g} to {:.6g}", number, moved),
                 value.is_integer() ? Value(static_cast<std::int64_t>(moved)) : Value(moved)});
}

inline std::vector<Damage> damages(const Value& value);

/// One of its entries damaged, the last one lost, and the first pair that differs exchanged.
inline void damage_list(const Value::List& list, std::vector<Damage>& out) {
  for (const std::size_t i : places_in(list.size()))
    for (Damage& each : damages(list[i])) {
      Value::List copy = list;
      copy[i] = std::move(each.state);
      out.push_back({std::move(each.field), fmt::format("[{}] {}", i, each.what), Value(std::move(copy))});
    }
  if (list.empty()) return;
  out.push_back({"", "without its last entry", Value(Value::List(list.begin(), list.end() - 1))});
  for (std::size_t i = 1; i < list.size(); ++i)
    if (!same_bits(list[0], list[i])) {
      Value::List copy = list;
      std::swap(copy[0], copy[i]);
      out.push_back({"", fmt::format("[0] and [{}] exchanged", i), Value(std::move(copy))});
      return;
    }
}

/// Of a model inside another: its certificate is no part of what was learned, no more than that of the model around it, but for the
/// claim; the way there and the words may be others on another machine.
inline bool is_told_only(const Value& object, const std::string& key) {
  const bool is_model = object.find("method") && object.find("state") && object.find("certificate");
  const bool is_certificate = object.find("strength") && object.find("tolerance");
  if (is_model) return key == "warnings";
  return is_certificate && key != "strength" && key != "kind" && key != "tolerance";
}

/// Every way in which one thing in a value is wrong.
inline std::vector<Damage> damages(const Value& value) {
  std::vector<Damage> out;
  if (value.is_array()) {
    damage_array(value.as_array(), out);
  } else if (value.is_number()) {
    damage_number(value, out);
  } else if (value.is_bool()) {
    out.push_back({"", "turned", Value(!value.as_bool())});
  } else if (value.is_string()) {
    std::string text = value.as_string();
    out.push_back({"", "a letter more", Value(text + "x")});
    if (text.empty()) return out;
    text[0] = text[0] == 'a' ? 'b' : 'a';
    out.push_back({"", "another first letter", Value(text)});
  } else if (value.is_list()) {
    damage_list(value.as_list(), out);
  } else if (value.is_object()) {
    for (const auto& [key, item] : value.as_object()) {
      if (is_told_only(value, key)) continue;
      for (Damage& each : damages(item)) {
        Value copy = value;
        copy.set(key, std::move(each.state));
        out.push_back({each.field.empty() ? key : key + "." + each.field, std::move(each.what), std::move(copy)});
      }
    }
  }
  return out;
}

/// The fields in which some damage goes unseen: the model loads, and its certificate holds on the rows of the fit.
inline Complaints unseen_damage(const TrainedModel& trained, const Table& table) {
  const DesignRows rows(trained.design, trained.design.train(table));
  const Method& method = trained.model->method();
  Complaints out;
  for (const auto& damage : damages(trained.model->save())) {
    if (!out.empty() && out.back().about == damage.field) continue;  // one complaint a field is enough
    const Evidence evidence{trained.model->certificate(), trained.model->warnings()};
    append(out, may_refuse(damage.field, [&] {
             const auto certificate = method.load(trained.model->params(), damage.state, evidence)->verify(rows, {});
             if (certificate.holds())
               append(out, {{damage.field, fmt::format("{}, and the certificate still holds: {}", damage.what,
                                                       certificate.message)}});
           }));
  }
  return out;
}

}  // namespace lemma::contract
