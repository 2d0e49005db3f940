// lemma/kernel/shared/pairs.hpp: several classes told apart by a machine for each pair of them.
#pragma once
#include <lemma/core/matrix.hpp>
#include <string>
#include <utility>
#include <vector>

namespace lemma {

/// (0, 1), (0, 2), …, (1, 2), …: the second is the positive one.
std::vector<std::pair<Index, Index>> class_pairs(Index classes);

/// `values`: f of each pair, a column each. A column for each class: the pairs it wins, and its sum of f brought between −⅓ and
/// ⅓, so that ties go to the larger sum.
Matrix scores_of_pairs(const Matrix& values, Index classes);

/// The name of the machine of a pair, {0} standing for the name of class 0.
std::string column_of_pair(Index negative, Index positive);

}  // namespace lemma
