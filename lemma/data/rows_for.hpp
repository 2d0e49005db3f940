// lemma/data/rows_for.hpp: the rows that a design makes of data, wherever these lie.
#pragma once
#include <lemma/core/rows.hpp>
#include <lemma/data/design.hpp>
#include <lemma/data/row_selection.hpp>
#include <lemma/data/stream.hpp>
#include <lemma/data/use.hpp>
#include <optional>
#include <span>

namespace lemma {

/// What the rows are for, and what whoever reads them can do with them.
struct RowsUse {
  Use use = Use::training;
  std::string reader;              // who reads them, for errors: the method
  bool sparse = true;              // it takes them without their zeros
  bool blocks = true;              // it takes them block by block
  std::optional<Missing> missing;  // what becomes of rows with missing values; without it as in the training
  /// In the place of what the design says, one number for each row of the table. Empty: as the design says.
  std::span<const double> weights, precision, offset;
  std::span<const std::uint64_t> clusters;
  /// The numbers of a matrix are known to be all there: design_of_columns() has looked at them.
  bool all_there = false;
};

struct RowsOfData {
  std::unique_ptr<Rows> rows;
  RowSelection kept;               // which rows of the table they are
  std::vector<std::string> notes;  // rows dropped, values filled in; for training also what the design has left out
};

/// One way from data to rows for fitting, updating, verifying, judging and predicting: without their zeros where they lie so
/// and the formula takes columns as they stand, where they lie when they are a matrix of numbers, block by block when they take
/// more memory than is allowed (Error when the reader cannot work so), otherwise in memory. The numbers are the same, bit for bit.
/// The rows look at the data, which must outlive them.
RowsOfData rows_for(const Design& design, const TableStream& data, const RowsUse& use,
                    const std::optional<std::size_t>& memory = {}, const Execution& execution = {});

/// Whether the table and the matrix made of it take more memory than is allowed.
bool exceeds(const TableStream& data, const std::optional<std::size_t>& memory);

}  // namespace lemma
