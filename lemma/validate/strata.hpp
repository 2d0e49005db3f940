// lemma/validate/strata.hpp: strata by several columns.
#pragma once
#include <lemma/data/table.hpp>
#include <string>
#include <vector>

namespace lemma {

/// One stratum for each combination of the columns in "u:v" (see strata_of). Empty: none.
std::vector<int> strata_by(const Table& table, const std::string& columns);

}  // namespace lemma
