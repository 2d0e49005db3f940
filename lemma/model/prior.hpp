// lemma/model/prior.hpp: prior probabilities of classes, for methods that weigh densities by them.
#pragma once
#include <array>
#include <lemma/core/matrix.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace lemma {

enum class Prior { proportions, uniform };
constexpr auto names_of(Prior) { return std::array<std::string_view, 2>{"proportions", "uniform"}; }

/// By name, or one number for each class in their order.
using PriorChoice = std::variant<Prior, std::vector<double>>;

/// Error unless the numbers given sum to 1.
void check_prior(std::string_view method, const PriorChoice& prior);
/// Error unless there is a number for each class, where there are numbers.
void check_prior(std::string_view method, const PriorChoice& prior, const std::vector<std::string>& classes);
/// π of each class; `counts` is the weight of each.
Vector prior_of(const PriorChoice& prior, const Vector& counts);

}  // namespace lemma
