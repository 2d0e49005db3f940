// lemma/model/finite_or_missing.cpp
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/model/finite_or_missing.hpp>

namespace lemma {

void require_finite_or_missing(std::string_view method, const Rows& rows, const Execution& execution) {
  for_each_block(rows, execution, [&](const Block& block) {
    for (Index i = 0; i < block.rows(); ++i) {
      const Index place = block.first + i + 1;
      for (Index j = 0; j < block.x.cols(); ++j)
        if (std::isinf(block.x(i, j)))
          throw Error(fmt::format("{}: '{}' is infinite in row {}", method, rows.features[at(j)], place));
      if (!block.y.empty() && !std::isfinite(block.y[at(i)]))
        throw Error(fmt::format("{}: the response '{}' of row {} is missing or infinite", method, rows.target, place));
      const double w = block.weight_of(i);
      if (!(w >= 0 && std::isfinite(w)))
        throw Error(fmt::format("{}: the weight of row {} is {}, must be 0 or more", method, place, w));
    }
  });
}

}  // namespace lemma
