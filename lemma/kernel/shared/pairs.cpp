// lemma/kernel/shared/pairs.cpp
#include <fmt/core.h>
#include <lemma/kernel/shared/pairs.hpp>

namespace lemma {

std::vector<std::pair<Index, Index>> class_pairs(Index classes) {
  std::vector<std::pair<Index, Index>> out;
  for (Index k = 0; k < classes; ++k)
    for (Index l = k + 1; l < classes; ++l) out.emplace_back(k, l);
  return out;
}

Matrix scores_of_pairs(const Matrix& values, Index classes) {
  Matrix wins = Matrix::Zero(values.rows(), classes), sums = wins;
  const auto pairs = class_pairs(classes);
  for (std::size_t m = 0; m < pairs.size(); ++m) {
    const auto [negative, positive] = pairs[m];
    for (Index i = 0; i < values.rows(); ++i) {
      const double f = values(i, static_cast<Index>(m));
      wins(i, f > 0 ? positive : negative) += 1;
      sums(i, positive) += f;
      sums(i, negative) -= f;
    }
  }
  return wins.array() + sums.array() / (3 * (sums.array().abs() + 1));
}

std::string column_of_pair(Index negative, Index positive) {
  return fmt::format("{{{}}}_against_{{{}}}", positive, negative);
}

}  // namespace lemma
