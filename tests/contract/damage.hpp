// tests/contract/damage.hpp: wrong models: one number of a right one changed, or two of them exchanged.
#pragma once
#include <lemma/data/stream/rows.hpp>
#include <tests/contract/compare.hpp>
#include <tests/contract/data.hpp>

namespace lemma::contract {

struct Damage {
  std::string field, what;
  Value state;  // of the whole model
};

/// The largest number in size; 1 when all are 0 or missing.
inline double size_of(const std::vector<double>& numbers) {
  double largest = 0;
  for (const double number : numbers)
    if (std::isfinite(number)) largest = std::max(largest, std::abs(number));
  return largest > 0 ? largest : 1;
}

/// Each number moved by a hundredth of the largest, or made NaN; and the first pair that differs exchanged.
inline std::vector<std::pair<std::string, std::vector<double>>> damaged(const std::vector<double>& numbers) {
  std::vector<std::pair<std::string, std::vector<double>>> out;
  const double step = 0.01 * size_of(numbers);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (!std::isfinite(numbers[i])) continue;
    for (const auto& [what, value] : {std::pair{"moved", numbers[i] + step}, {"made NaN", std::nan("")}}) {
      auto copy = numbers;
      copy[i] = value;
      out.emplace_back(fmt::format("[{}] {} from {:.6g} to {:.6g}", i, what, numbers[i], value), copy);
    }
  }
  for (std::size_t i = 0; i < numbers.size(); ++i)
    for (std::size_t j = i + 1; j < numbers.size(); ++j)
      if (std::abs(numbers[i] - numbers[j]) > step) {
        auto copy = numbers;
        std::swap(copy[i], copy[j]);
        out.emplace_back(fmt::format("[{}] and [{}] exchanged", i, j), copy);
        i = j = numbers.size();
      }
  return out;
}

inline std::vector<Damage> damages(const Value& state) {
  std::vector<Damage> out;
  for (const auto& [field, value] : state.as_object()) {
    if (value.is_array()) {
      for (auto& [what, numbers] : damaged(value.as_array().data)) {
        Value copy = state;
        copy.set(field, Value::Array{value.as_array().shape, numbers});
        out.push_back({field, what, std::move(copy)});
      }
    } else if (value.is_number()) {
      const double number = value.as_double();
      if (!std::isfinite(number)) continue;
      const double moved = value.is_integer() ? number + 1 : number + 0.01 * size_of({number});
      Value copy = state;
      copy.set(field, value.is_integer() ? Value(static_cast<std::int64_t>(moved)) : Value(moved));
      out.push_back({field, fmt::format("moved from {:.6g} to {:.6g}", number, moved), std::move(copy)});
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
