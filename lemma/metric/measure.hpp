// lemma/metric/measure.hpp: one number that judges a prediction, as front ends show it.
#pragma once
#include <array>
#include <lemma/core/matrix.hpp>
#include <lemma/core/value.hpp>
#include <optional>
#include <string>
#include <vector>

namespace lemma {

/// An interval that covers the true value in 95 of 100 samples of this size, if the rows are independent.
struct Bounds {
  double lower, upper;
};

/// A measure that is not defined on these rows (R² of a constant response) is NaN: null in JSON, NA in text.
struct Measure {
  std::string name;
  double value;
  std::string meaning;
  bool higher_is_better;
  std::optional<Bounds> bounds;  // where the rows' own spread tells how far the number can be trusted
};

/// Wilson's interval for a share p of n rows (1927): never outside [0, 1], and not of width 0 at p = 0 or 1, unlike
/// p ± z √(p (1 − p) / n). Nothing when there are no rows or p is not defined.
std::optional<Bounds> wilson(double p, double n);

/// Clopper and Pearson's (1934): every p under which so few, or so many, are not rarer than 2.5 % each. Exact, so that it covers at
/// least 95 of 100 for every p and n, and wider than Wilson's. Weights that are no whole numbers count as they are.
std::optional<Bounds> clopper_pearson(double p, double n);

/// p ± √(log(2 / 0.05) / 2n), inside [0, 1]: Hoeffding's (1963), which asks nothing of the rows but that they are independent.
std::optional<Bounds> hoeffding(double p, double n);

/// Which of them a share of the rows has.
enum class RateInterval { wilson, exact, hoeffding };
constexpr auto names_of(RateInterval) { return std::array<std::string_view, 3>{"wilson", "exact", "hoeffding"}; }
std::optional<Bounds> bounds_of_rate(double p, double n, RateInterval kind);

/// Mean ± z sd / √n of one number for each row, weights as frequencies. Nothing for fewer than two rows.
std::optional<Bounds> bounds_of_mean(const VectorView& values, const VectorView& weights = Vector());

/// "accuracy 0.95 [0.87, 0.98]"
std::string text_of(const Measure& measure);

/// {"accuracy": 0.95, …, "bounds": {"accuracy": [0.87, 0.98], …}}
Value to_value(const std::vector<Measure>& measures);

/// The measure of that name; nullptr when there is none.
const Measure* find_measure(const std::vector<Measure>& measures, std::string_view name);

namespace detail {

/// The weights, or ones. Error unless there is one usable weight for each of the n > 0 rows and some are above zero.
Vector frequencies(Index n, const VectorView& weights);
/// Error naming the row (counted from 1) of the first number that is NaN or infinite.
void require_numbers(const VectorView& values, std::string_view what);
/// Σ w v / Σ w
double mean(const VectorView& values, const VectorView& weights);
/// a / b, or NaN (not defined) where b is 0.
double share(double a, double b);

}  // namespace detail
}  // namespace lemma
