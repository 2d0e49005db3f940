// lemma/data/response_quantity.cpp
#include <cmath>
#include <lemma/data/design/parts.hpp>
#include <lemma/data/response_quantity.hpp>

namespace lemma {

std::vector<Quantity> response_quantities(const Design& design) {
  const Response& response = design.parts().response;
  if (response.kind == Response::Kind::numeric) return response.quantities;
  std::vector<Quantity> out;
  if (response.kind != Response::Kind::several) return out;
  std::size_t number = 0;
  for (const bool of_classes : response.of_classes)
    out.push_back(of_classes ? Quantity::number : response.quantities[number++]);
  return out;
}

double rounded_moment(double days, Quantity quantity) {
  constexpr double kSeconds = 86'400;
  if (quantity == Quantity::number) return days;
  return quantity == Quantity::date ? std::round(days) : std::round(days * kSeconds) / kSeconds;
}

}  // namespace lemma
