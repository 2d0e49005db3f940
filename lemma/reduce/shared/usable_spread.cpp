// lemma/reduce/shared/usable_spread.cpp
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/math/column_moments.hpp>
#include <lemma/reduce/shared/usable_spread.hpp>

namespace lemma {
namespace {
constexpr double kLeastSpread = 1e-142, kGreatestSpread = 1e142;
}  // namespace

void require_usable_spread(std::string_view method, const Rows& rows, const VectorView& variances,
                           const Execution& execution) {
  if ((variances.array() > kLeastSpread * kLeastSpread).all() &&
      (variances.array() < kGreatestSpread * kGreatestSpread).all())
    return;
  const auto range = scan(rows, ColumnMoments(rows.width()), execution);
  for (Index j = 0; j < rows.width(); ++j) {
    const double spread = range.greatest()(j) - range.least()(j);
    if (spread == 0 || (spread > kLeastSpread && spread < kGreatestSpread)) continue;
    throw Error(
        fmt::format("{}: the values of '{}' reach from {:g} to {:g}, and the square of that is beyond the "
                    "range of numbers; put 'scale |' before it",
                    method, rows.features[at(j)], range.least()(j), range.greatest()(j)));
  }
}

}  // namespace lemma
