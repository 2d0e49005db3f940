// lemma/model/class_weights.hpp: how much a class counts, for methods that weigh mistakes by class.
#pragma once
#include <lemma/core/params.hpp>
#include <string_view>
#include <variant>
#include <vector>

namespace lemma {

/// How much a class counts: as its rows do, or such that all classes count the same.
enum class ClassWeights { equal, balanced };
constexpr auto names_of(ClassWeights) { return std::array<std::string_view, 2>{"equal", "balanced"}; }

/// Chosen by name, or a factor for each class in the order of the classes.
using ClassWeighting = std::variant<ClassWeights, std::vector<double>>;

/// The factor on the weights of the rows of each class; balanced: n / (K nₖ), for `counts` nₖ by weight. Error when a class
/// has no rows, or when there is not one positive number for each.
std::vector<double> class_factors(std::string_view method, const ClassWeighting& weighting,
                                  const std::vector<double>& counts, const std::vector<std::string>& classes);

}  // namespace lemma
