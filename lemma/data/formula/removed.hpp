// lemma/data/formula/removed.hpp: what a formula takes away.
#pragma once
#include <lemma/data/formula.hpp>

namespace lemma {

/// The columns behind its minus signs: `~ . - index - a:b` names index, a and b.
std::vector<Expression> removed_names(const Formula& formula);

/// Error, with a caret, when what stands behind a minus (`. - index - a:b`) names no column of the table. It need not be in
/// the model; but where there is no such column, a name is misspelt.
void check_removed(const Formula& formula, const Table& table);

/// "there is no column 'agee' in boston (did you mean 'age'?)"
std::string no_column(const std::string& name, const Table& table);

}  // namespace lemma
