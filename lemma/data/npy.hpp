// lemma/data/npy.hpp: NumPy's .npy files (format versions 1, 2 and 3), one or two dimensions, little-endian numbers.
#pragma once
#include <lemma/core/matrix.hpp>
#include <lemma/core/parallel.hpp>
#include <lemma/data/csv/bytes.hpp>
#include <lemma/data/table.hpp>
#include <string>

namespace lemma {

/// What the header says. A vector is one column.
struct NpyHeader {
  char kind = 'f';       // f float, i integer, u unsigned, b truth value
  int bytes = 8;         // of one number
  bool fortran = false;  // columns lie together instead of rows
  Index rows = 0, columns = 0;
  std::uint64_t data = 0;  // offset of the first number
};

/// Checks every count against the bytes that are there. Error naming `source`.
NpyHeader read_npy_header(const Bytes& bytes, const std::string& source);

/// Rows [first, first + count) as numbers. NaN stays NaN; infinity, or an integer that a double can't hold, is an Error
/// naming the row and column.
Matrix read_npy_rows(const Bytes& bytes, const NpyHeader& header, Index first, Index count, const std::string& source);

Matrix read_npy_matrix(const std::string& path, const Execution& execution = {});  // no second copy in memory
Table read_npy(const std::string& path, const Execution& execution = {});          // columns x1 … xp; NaN is missing
void write_npy(const Matrix& x, const std::string& path);                          // float64, rows together, atomically
void write_npy(const Table& table, const std::string& path);  // Error where a column is not numeric

}  // namespace lemma
