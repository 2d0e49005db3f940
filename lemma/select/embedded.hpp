// lemma/select/embedded.hpp: columns chosen by what a model makes of them: where they join the lasso's path, what their loss costs
// its predictions, how often they are chosen again, and whether they beat copies that tell nothing.
#pragma once
#include <array>
#include <functional>
#include <lemma/model/any_spec.hpp>
#include <optional>

namespace lemma {

/// The largest λ at which each column has a coefficient on the path of the lasso (numbers) or of logistic regression with an l1
/// penalty (two classes), columns standardised; 0 for those that never join. The λ are a grid: columns that join between two of
/// them have the same one. `chosen`: the columns of the model that has the least BIC (lasso), or all that ever join (logistic).
struct PathEntries {
  Vector lambda;
  std::vector<Index> chosen;
};
PathEntries path_entries(const Rows& rows, int lambdas, const FitOptions& options);

/// How much worse the loss on these rows is (share of wrong classes, or mean squared error) when one column at a time is shuffled,
/// the mean of `repeats` shuffles and its standard deviation over them (Breiman 2001, Fisher et al. 2019). Rows that the model
/// was not fitted on tell what the column is worth for others. Of columns that tell the same, each seems worth little.
struct Importance {
  double loss = 0;  // of the rows as they are
  Vector mean, deviation;
};
Importance permutation_importance(const AnyModel& model, const Rows& rows, int repeats, std::uint64_t seed,
                                  const Execution& execution = {});

/// Some columns of rows, chosen by whatever means; the seed is one of its own for each sample.
using Selector = std::function<std::vector<Index>(const Rows& rows, std::uint64_t seed)>;

enum class StabilitySample { half, bootstrap };
constexpr auto names_of(StabilitySample) { return std::array<std::string_view, 2>{"half", "bootstrap"}; }

/// How often each column is chosen in `samples` samples of the rows: halves without replacement (Meinshausen and Bühlmann 2010),
/// or bootstrap samples. `mean_size` is the mean number q of columns chosen; for halves the expected number of columns that tell
/// nothing and are chosen in more than a share τ > ½ of the samples is at most q² / ((2τ − 1) p), if the choice treats columns
/// that tell nothing alike and is no worse than chance.
struct Stability {
  Vector share;
  double mean_size = 0;
  /// The bound above; nothing for τ ≤ ½ or bootstrap samples.
  std::optional<double> false_bound(double tau) const;
  StabilitySample sample = StabilitySample::half;
};
Stability stability(const Rows& rows, const Selector& select, int samples, StabilitySample sample, std::uint64_t seed,
                    const Execution& execution = {});

/// Knockoffs of fixed columns (Barber and Candès 2015): for each column one more that is as correlated with every other column, and
/// no more with the response than chance makes it. With W = λ_j − λ̃_j, signed, of where a column and its copy join the lasso's path,
/// the columns of W ≥ t are chosen, t the least with (1 + #{W ≤ −t}) / max(1, #{W ≥ t}) ≤ q: the expected share of false ones
/// is then at most q, whatever n, if y is linear in the columns with normal errors of one variance.
///
/// Error unless y is numbers, unweighted, and there are at least 2 p + 2 rows; or columns depend on each other.
struct Knockoffs {
  Vector w;
  double threshold = 0;  // infinite: none is chosen
  std::vector<Index> chosen;
  double separation =
      0;  // 2 (1 − correlation of a column with its copy); near 0 copies hardly differ, and little can be found
};
Knockoffs knockoffs(const Rows& rows, double q, const FitOptions& options);

}  // namespace lemma
