// lemma/model/class_weights.cpp
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/model/class_weights.hpp>

namespace lemma {

std::vector<double> class_factors(std::string_view method, const ClassWeighting& weighting,
                                  const std::vector<double>& counts, const std::vector<std::string>& classes) {
  const std::size_t k = classes.size();
  const char* const how_many = k == 2 ? "two" : "at least two";
  double n = 0;
  for (std::size_t i = 0; i < k; ++i) {
    n += counts[i];
    if (!(counts[i] > 0))
      throw Error(fmt::format("{}: class '{}' has no rows with a positive weight; there must be {} classes", method,
                              classes[i], how_many));
  }
  std::vector<double> out(k, 1.0);
  if (const auto* given = std::get_if<std::vector<double>>(&weighting)) {
    if (given->size() != k)
      throw Error(fmt::format("{}: class_weights has {}, must have {}: for {}", method,
                              count_of(static_cast<Index>(given->size()), "number"), k, join_words(classes)));
    out = *given;
    for (const double factor : out)
      if (!(factor > 0))
        throw Error(fmt::format("{}: class_weights has a 0, and then {} is missing", method,
                                k == 2 ? "one of the two classes" : "a class"));
  } else if (std::get<ClassWeights>(weighting) == ClassWeights::balanced) {
    for (std::size_t i = 0; i < k; ++i) out[i] = n / (static_cast<double>(k) * counts[i]);
  }
  return out;
}

}  // namespace lemma
