// lemma/data/svmlight.hpp: LIBSVM / SVMlight files: "label index:value index:value … # comment", indices from 1.
#pragma once
#include <lemma/core/sparse.hpp>
#include <lemma/data/table.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace lemma {

struct SparseData {
  Csr x;
  std::vector<double> y;
  std::vector<std::string> notes;  // what the user should know: a qid that is ignored
  std::string source;
};

/// Indices must ascend and start at 1; values and labels must be finite numbers. An Error names file, line and place.
SparseData read_svmlight(const std::string& path);
SparseData parse_svmlight(std::string_view text, std::string source = "text");
std::string format_svmlight(const SparseData& data);
void write_svmlight(const SparseData& data, const std::string& path);  // atomically; .gz is packed

/// Columns y, x1 … xd with every zero written out. Error when that would take more bytes than the limit.
Table to_table(const SparseData& data, std::size_t most_bytes = std::size_t{4} << 30);
/// The numeric columns but the response become x, in their order; zeros are left out. Error on text, categories, missing.
SparseData to_sparse(const Table& table, std::string_view response = "y");

}  // namespace lemma
