// lemma/model/prior.cpp
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/model/prior.hpp>

namespace lemma {

void check_prior(std::string_view method, const PriorChoice& prior) {
  const auto* given = std::get_if<std::vector<double>>(&prior);
  if (!given) return;
  double sum = 0;
  for (const double p : *given) sum += p;
  if (!(std::abs(sum - 1) <= 1e-8)) throw Error(fmt::format("{}: prior sums to {:.10g}, must sum to 1", method, sum));
}

void check_prior(std::string_view method, const PriorChoice& prior, const std::vector<std::string>& classes) {
  const auto* given = std::get_if<std::vector<double>>(&prior);
  if (given && given->size() != classes.size())
    throw Error(fmt::format("{}: prior has {}, and there are {} classes: {}", method,
                            count_of(static_cast<Index>(given->size()), "number"), classes.size(),
                            join_words(classes)));
}

Vector prior_of(const PriorChoice& prior, const Vector& counts) {
  if (const auto* given = std::get_if<std::vector<double>>(&prior))
    return Eigen::Map<const Vector>(given->data(), static_cast<Index>(given->size()));
  if (std::get<Prior>(prior) == Prior::uniform)
    return Vector::Constant(counts.size(), 1.0 / static_cast<double>(counts.size()));
  return counts / counts.sum();
}

}  // namespace lemma
