// lemma/data/csv/open.hpp: the reader of DATA, where that is a CSV file.
#pragma once
#include <lemma/data/csv/reader.hpp>
#include <lemma/data/read.hpp>
#include <memory>

namespace lemma {

/// Nothing for anything else. options.rows is not looked at.
std::unique_ptr<csv::Reader> open_reader(const std::string& data, const ReadOptions& options);

}  // namespace lemma
