// lemma/ensemble/shared/out_of_fold.hpp: what methods say of rows that they have not seen: each row is predicted by models fitted to
// the folds it is not in.
#pragma once
#include <cstdint>
#include <lemma/ensemble/shared/inside.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lemma::ensemble {

/// The fold of each row, from 0; −1 where the weight is 0. Equal rows are in one fold, since a copy of a row is not unseen; classes are
/// spread evenly. The folds depend on the seed and the values of the rows, not on their order. Error when there are too few rows.
Labels folds_of(std::string_view method, const TrainingRows& rows, int folds, std::uint64_t seed);

/// Of each method what its models say of rows they have not seen: of classes a column of probabilities each (1 for the class chosen,
/// where a method has none), of numbers one column. Rows of weight 0 have zeros.
struct OutOfFold {
  std::vector<Matrix> said;
  std::vector<bool> probable;  // whether it has probabilities
};
OutOfFold out_of_fold(std::string_view around, std::span<const AnySpec> methods, const TrainingRows& rows,
                      const Labels& fold, int folds, std::uint64_t seed, Progress* progress,
                      const Execution& execution);

/// What a model says of rows, laid out as OutOfFold::said.
Matrix said_of(const AnyModel& model, const MatrixView& x, Index classes, const Execution& execution = {});

/// Every method fitted to all rows, side by side.
std::vector<AnyModel> fit_all(std::string_view around, std::span<const AnySpec> methods, const TrainingRows& rows,
                              std::uint64_t seed, const Execution& execution);

/// Of each method out of its folds: the share of wrong classes, or the mean squared error.
Vector errors_of(const OutOfFold& from, const TrainingRows& rows);

/// A name for each method: lda, tree, tree_2.
std::vector<std::string> names_of_methods(std::span<const AnySpec> methods);

/// Fingerprint of rows in their order, below 2^52.
std::int64_t order_of(const TrainingRows& rows);
/// Whether the folds told are those of the rows; of rows in another order than that of the fit, whether each fold has as many.
bool same_folds(const Labels& told, const Labels& found, bool same_order);

/// Two that see different things: a plane, and a tree.
std::vector<AnySpec> usual_methods(bool of_classes);
/// What a method made of several needs of a table: what all of them take.
Needs needs_of_all(std::span<const AnySpec> methods, Needs usual);
/// The methods must all predict classes, or all numbers.
void check_methods(std::string_view around, std::span<const AnySpec> methods);

}  // namespace lemma::ensemble
