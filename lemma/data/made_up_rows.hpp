// lemma/data/made_up_rows.hpp: rows that several designs can be held against one another on, without any data.
#pragma once
#include <lemma/data/design.hpp>
#include <span>

namespace lemma {

/// A table of `count` rows with every column that the designs look at for x, from which each of them makes its columns: numbers
/// near the constants that the designs know (centres, breaks, the numbers of the formula), levels that they know, drawn at
/// random. Columns of such rows depend on each other as the terms do as functions, and not by chance. Fewer rows, or none,
/// where most draws lie outside the domain of a term, or a term takes texts.
Table made_up_rows(std::span<const Design* const> designs, Index count);

}  // namespace lemma
