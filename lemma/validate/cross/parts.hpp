// lemma/validate/cross/parts.hpp: what the files of cross share. Inner header.
#pragma once
#include <lemma/validate/cross.hpp>

namespace lemma::crossing {

/// What is said of each row by the model without it, all at once from the model of all rows; nothing where the method has no
/// such form, or where more than the method has learned from the rows.
std::optional<FoldScore> left_out_in_closed_form(const Experiment& experiment, const CrossOptions& options);

/// Where all rows are judged together (leave-one-out, one holdout), the figures that have no formula for their interval get one by
/// drawing the rows that judge again.
void bound_pooled(const Experiment& experiment, const CrossOptions& options, CrossResult& result);

/// .632 and .632+ of every error that rows have one by one.
std::vector<BootstrapError> bootstrap_errors(const Experiment& experiment, const CrossResult& result,
                                             const CrossOptions& options);

}  // namespace lemma::crossing
