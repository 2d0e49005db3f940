// lemma/ensemble/calibrate/folds.hpp: rows dealt into folds by their own values, and the scores that held-out rows get. Inner header.
#pragma once
#include <lemma/core/rows.hpp>
#include <lemma/ensemble/calibrate/maps.hpp>
#include <lemma/model/any_spec.hpp>

namespace lemma::calibrating {

/// The fold of each row, from 0 on. Within each class, rows that differ are dealt in turn in the order of their hashes; equal rows stay
/// together, and those without weight do not count. Error when a class has one row alone: without it nobody could learn the class.
std::vector<int> folds_of(const Rows& rows, int folds, const Execution& execution);

/// What a model says of rows as numbers that rise with the odds of a class: one column of two classes, else one a class. Decision
/// values, or logarithms of probabilities. Error when it gives neither.
Matrix scores_of(const AnyModel& model, const MatrixView& x);

/// Each row scored by the method fitted to the other folds, in the order of their hashes: the same for any order of the rows.
HeldOut held_out_scores(const AnySpec& base, int folds, const Rows& rows, const FitOptions& options);

}  // namespace lemma::calibrating
