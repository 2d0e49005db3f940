// lemma/model/one_vs_rest.cpp
#include <lemma/model/one_vs_rest.hpp>

namespace lemma {

Labels greatest_class(const MatrixView& values) {
  Labels out(static_cast<std::size_t>(values.rows()));
  for (Index i = 0; i < values.rows(); ++i) {
    Index best = 0;
    if (values.cols() == 1) best = values(i, 0) > 0 ? 1 : 0;
    else values.row(i).maxCoeff(&best);
    out[static_cast<std::size_t>(i)] = static_cast<int>(best);
  }
  return out;
}

}  // namespace lemma
